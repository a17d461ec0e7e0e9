// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Wires on network interfaces, in a private network namespace. The test is the
 * neighbour, with a packet socket on the other interface.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "harness_tap.h"
#include "harness_vfu.h"

#define SPAWN(...) device_spawn((const char *const[]){ __VA_ARGS__, NULL })

/* Generous: only a process that never answers takes so long */
#define ANSWER_LIMIT 100

/* For experiments: no protocol uses it. */
#define ETHERTYPE 0x88b5

#define MAX_LEN 9300

/* Frames that a socket keeps for the device, and how often it must take them */
#define FRAMES 1000
#define ROUNDS 20

/* Number in all frames that are sent until one passes, and in no others */
#define HELLO 0xee

/* Start of the data that the checksum of UDP over IPv4 covers */
#define CSUM_START 34
#define CSUM_OFFSET 6

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
	char command[256];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command))
		FAIL("%s", command);
}

/*
 * Make a pair of joined interfaces, one of which is for the wire. Offloads are
 * off, because a wire needs complete frames.
 */
static void make_veth(void)
{
	device_enter_namespace();
	if (system("ip link add mine type veth peer name theirs 2>/dev/null"))
		tap_skip("this kernel has no veth");
	run("ip link set mine mtu 9216 up && ip link set theirs mtu 9216 up");
}

static void make_tap(void)
{
	int fd;

	device_enter_namespace();
	fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		tap_skip("/dev/net/tun cannot be opened");
	close(fd);
	run("ip tuntap add mine mode tap && ip link set mine mtu 9216 up");
}

/* Open a packet socket on an interface, for frames of the test only */
static int neighbour(const char *ifname)
{
	struct timeval limit = { .tv_sec = ANSWER_LIMIT };
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(ifname),
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	int one = 1;

	CHECK(fd >= 0);
	CHECK_EQ(setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one,
			    sizeof(one)),
		 0);
	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)),
		 0);
	CHECK_EQ(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static void make_frame(uint8_t *frame, size_t len, uint8_t number)
{
	memset(frame, 0xff, 6);
	memcpy(frame + 6, (uint8_t[]){ 2, 0, 0, 0, 0, 1 }, 6);
	frame[12] = ETHERTYPE >> 8;
	frame[13] = ETHERTYPE & 0xff;
	frame[14] = number;
	for (size_t i = 15; i < len; i++)
		frame[i] = number ^ i * 7 ^ len;
}

/* A stream wire, which always works */
struct stream {
	int fd;
};

static struct stream open_stream(const char *dir)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/stream", dir);
	return (struct stream){ vfu_connect_path(path) };
}

static void stream_send(struct stream *stream, const void *frame, size_t len)
{
	uint32_t prefix = htonl(len);

	CHECK_EQ(send(stream->fd, &prefix, 4, MSG_NOSIGNAL), 4);
	CHECK_EQ(send(stream->fd, frame, len, MSG_NOSIGNAL), len);
}

/* Frames from the host's own stack are ignored. */
static bool is_ours(const uint8_t *frame, size_t len)
{
	return len > 14 && frame[6] == 2 && !frame[7];
}

static size_t stream_receive_any(struct stream *stream, uint8_t *frame)
{
	uint32_t prefix;
	size_t len;

	CHECK_EQ(recv(stream->fd, &prefix, 4, MSG_WAITALL), 4);
	len = ntohl(prefix);
	CHECK(len <= MAX_LEN);
	CHECK_EQ(recv(stream->fd, frame, len, MSG_WAITALL), len);
	return len;
}

static size_t stream_receive(struct stream *stream, uint8_t *frame)
{
	size_t len;

	do {
		len = stream_receive_any(stream, frame);
	} while (!is_ours(frame, len) || frame[14] == HELLO);
	return len;
}

static size_t packet_receive(int fd, uint8_t *frame)
{
	ssize_t len;

	do {
		len = recv(fd, frame, MAX_LEN, 0);
		if (len < 0 && errno == ENETDOWN)
			continue;
		CHECK(len >= 0);
	} while (!is_ours(frame, len));
	return len;
}

/* Send until a frame reaches the neighbour. */
static void wait_until_up_out(struct stream *stream, int fd,
			      const uint8_t hello[60])
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	unsigned int tries = 0;
	uint8_t frame[MAX_LEN];

	for (;;) {
		CHECK(++tries < 1000);
		stream_send(stream, hello, 60);
		CHECK(poll(&poll_fd, 1, 100) >= 0);
		if (!poll_fd.revents)
			continue;
		if (recv(fd, frame, MAX_LEN, 0) == 60 &&
		    !memcmp(frame, hello, 60))
			return;
	}
}

/*
 * Send from the neighbour until a frame arrives. Later frames of this kind are
 * ignored.
 */
static void wait_until_up_in(struct stream *stream, int fd,
			     const uint8_t hello[60])
{
	struct pollfd poll_fd = { .fd = stream->fd, .events = POLLIN };
	unsigned int tries = 0;
	uint8_t frame[MAX_LEN];

	for (;;) {
		CHECK(++tries < 1000);
		CHECK(send(fd, hello, 60, 0) == 60 || errno == ENETDOWN ||
		      errno == ENOBUFS);
		CHECK(poll(&poll_fd, 1, 100) >= 0);
		if (!poll_fd.revents)
			continue;
		if (stream_receive_any(stream, frame) == 60 &&
		    !memcmp(frame, hello, 60))
			return;
	}
}

/*
 * Wait for both directions, because each interface of a pair learns separately,
 * and a little later, that the other one is up. Outgoing frames come first:
 * they show that the wire knows its interface to be up.
 */
static void wait_until_up(struct stream *stream, int fd)
{
	static uint8_t number;
	uint8_t hello[60];

	make_frame(hello, sizeof(hello), HELLO);
	/* Late frames of an earlier call have other numbers */
	hello[15] = ++number;
	wait_until_up_out(stream, fd, hello);
	wait_until_up_in(stream, fd, hello);
}

static void to_neighbour(struct stream *stream, int fd, size_t len,
			 uint8_t number)
{
	uint8_t want[MAX_LEN], got[MAX_LEN];
	size_t n;

	make_frame(want, len, number);
	stream_send(stream, want, len);
	do
		n = packet_receive(fd, got);
	while (got[14] == HELLO);
	CHECK_EQ(n, len);
	CHECK_MEM(got, want, len);
}

static void from_neighbour(struct stream *stream, int fd, size_t len,
			   uint8_t number)
{
	uint8_t want[MAX_LEN], got[MAX_LEN];

	make_frame(want, len, number);
	CHECK_EQ(send(fd, want, len, 0), len);
	CHECK_EQ(stream_receive(stream, got), len);
	CHECK_MEM(got, want, len);
}

static void check_both_ways(struct stream *stream, int fd)
{
	static const size_t sizes[] = { 15, 60, 61, 1514, 4200, 9230 };

	wait_until_up(stream, fd);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		to_neighbour(stream, fd, sizes[i], i);
		from_neighbour(stream, fd, sizes[i], i);
	}
}

static struct stream spawn(const char *wire)
{
	const char *dir = device_dir();
	char stream[96];

	snprintf(stream, sizeof(stream), "stream,listen=%s/stream", dir);
	SPAWN("--wire", wire, "--wire", stream);
	return open_stream(dir);
}

TEST(packet_passes_frames)
{
	struct stream stream;

	make_veth();
	stream = spawn("packet,ifname=theirs");
	check_both_ways(&stream, neighbour("mine"));
}

/* A VLAN tag that the kernel has removed from the bytes */
TEST(packet_keeps_vlan_tags)
{
	static const uint8_t tag[4] = { 0x81, 0x00, 0x60, 0x05 };
	uint8_t plain[100], want[104], got[MAX_LEN];
	struct stream stream;
	int fd;

	make_veth();
	stream = spawn("packet,ifname=theirs");
	fd = neighbour("mine");
	wait_until_up(&stream, fd);
	make_frame(plain, sizeof(plain), 1);
	memcpy(want, plain, 12);
	memcpy(want + 12, tag, 4);
	memcpy(want + 16, plain + 12, sizeof(plain) - 12);
	CHECK_EQ(send(fd, want, sizeof(want), 0), sizeof(want));
	CHECK_EQ(stream_receive(&stream, got), sizeof(want));
	CHECK_MEM(got, want, sizeof(want));
}

/* A frame as a stack sends it that leaves checksums to hardware */
TEST(packet_finishes_checksums)
{
	int fd, one = 1;
	struct stream stream;
	struct {
		struct virtio_net_hdr hdr;
		uint8_t frame[61];
	} message = {
		.hdr = {
			.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
			.csum_start = CSUM_START,
			.csum_offset = CSUM_OFFSET,
		},
	};
	const size_t len = sizeof(message.hdr) + sizeof(message.frame);
	const size_t at = CSUM_START + CSUM_OFFSET;
	uint8_t got[MAX_LEN];
	uint32_t sum = 0;

	make_veth();
	stream = spawn("packet,ifname=theirs");
	fd = neighbour("mine");
	wait_until_up(&stream, fd);
	CHECK_EQ(setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)),
		 0);
	make_frame(message.frame, sizeof(message.frame), 3);
	CHECK_EQ(send(fd, &message, len, 0), len);
	CHECK_EQ(stream_receive(&stream, got), sizeof(message.frame));
	/*
	 * RFC 1071: the sum included the old contents of the field, and
	 * replaced them. Without the field, all words add up to its value.
	 */
	for (size_t i = CSUM_START; i < sizeof(message.frame); i++)
		sum += message.frame[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	CHECK_EQ(got[at] << 8 | got[at + 1], ~sum & 0xffff);
	message.frame[at] = got[at];
	message.frame[at + 1] = got[at + 1];
	CHECK_MEM(got, message.frame, sizeof(message.frame));
}

/* Frames that the host itself sends do not arrive on the wire. */
TEST(packet_is_not_the_host)
{
	struct stream stream;
	uint8_t frame[60];
	int mine, theirs;

	make_veth();
	stream = spawn("packet,ifname=theirs");
	mine = neighbour("mine");
	theirs = neighbour("theirs");
	wait_until_up(&stream, mine);
	make_frame(frame, sizeof(frame), 1);
	CHECK_EQ(send(theirs, frame, sizeof(frame), 0), sizeof(frame));
	from_neighbour(&stream, mine, 60, 2);
}

static void check_interface_down_and_up(struct stream *stream,
					const char *ifname, int fd)
{
	for (int i = 0; i < 3; i++) {
		wait_until_up(stream, fd);
		run("ip link set %s down", ifname);
		run("ip link set %s up", ifname);
	}
	wait_until_up(stream, fd);
	from_neighbour(stream, fd, 1000, 1);
}

TEST(packet_follows_the_interface)
{
	struct stream stream;
	int fd;

	make_veth();
	run("ip link set theirs down");
	stream = spawn("packet,ifname=theirs");
	run("ip link set theirs up");
	fd = neighbour("mine");
	check_interface_down_and_up(&stream, "theirs", fd);
	check_interface_down_and_up(&stream, "mine", fd);
	/* Another interface gets the name. */
	run("ip link del theirs");
	run("ip link add mine type veth peer name theirs");
	run("ip link set mine mtu 9216 up && ip link set theirs mtu 9216 up");
	fd = neighbour("mine");
	wait_until_up(&stream, fd);
	from_neighbour(&stream, fd, 1000, 1);
}

TEST(tap_passes_frames)
{
	struct stream stream;

	make_tap();
	stream = spawn("tap,ifname=mine");
	check_both_ways(&stream, neighbour("mine"));
}

TEST(tap_is_made)
{
	struct stream stream;

	make_tap();
	stream = spawn("tap,ifname=made");
	run("ip link set made mtu 9216 up");
	check_both_ways(&stream, neighbour("made"));
}

TEST(tap_follows_the_interface)
{
	struct stream stream;
	int fd;

	make_tap();
	stream = spawn("tap,ifname=mine");
	fd = neighbour("mine");
	check_interface_down_and_up(&stream, "mine", fd);
	run("ip link del mine");
	run("ip tuntap add mine mode tap && ip link set mine mtu 9216 up");
	fd = neighbour("mine");
	wait_until_up(&stream, fd);
	from_neighbour(&stream, fd, 1000, 1);
}

TEST(tap_that_is_in_use)
{
	const char *text;

	make_tap();
	SPAWN("--wire", "tap,ifname=mine");
	text = device_fail(
		(const char *[]){ "--wire", "tap,ifname=mine", NULL }, 1);
	CHECK(strstr(text, "cannot attach to TAP interface mine: "));
	CHECK(strstr(text, "busy"));
}

TEST(tap_that_is_something_else)
{
	const char *text;

	make_tap();
	text = device_fail((const char *[]){ "--wire", "tap,ifname=lo", NULL },
			   1);
	CHECK(strstr(text, "cannot attach to TAP interface lo: "));
}

/* More frames than an interface takes at once; all that arrive are whole. */
TEST(many_frames_at_once)
{
	uint8_t frame[MAX_LEN], want[MAX_LEN], last[60];
	struct stream stream;
	int fd;

	make_veth();
	stream = spawn("packet,ifname=theirs");
	fd = neighbour("mine");
	wait_until_up(&stream, fd);
	for (unsigned int i = 0; i < 20000; i++) {
		make_frame(frame, 4000, i % 200);
		stream_send(&stream, frame, 4000);
	}
	make_frame(last, sizeof(last), 0xdd);
	for (;;) {
		size_t len;

		/* The last frame may be lost, too. */
		stream_send(&stream, last, sizeof(last));
		len = packet_receive(fd, frame);
		/* That of wait_until_up() comes late on a busy machine. */
		if (frame[14] == HELLO)
			continue;
		make_frame(want, len, frame[14]);
		CHECK_MEM(frame, want, len);
		if (frame[14] == 0xdd)
			break;
	}
}

/*
 * Frames that come while the device does not run: more than it takes in a turn.
 * The turn may end within a batch of them, the rest of which must not be lost.
 */
TEST(packet_goes_on_after_its_turn)
{
	const char *dir = device_dir();
	uint8_t frame[MAX_LEN];
	struct stream stream;
	char wire[96];
	pid_t pid;
	int fd;

	make_veth();
	snprintf(wire, sizeof(wire), "stream,listen=%s/stream", dir);
	pid = SPAWN("--wire", "packet,ifname=theirs", "--wire", wire);
	stream = open_stream(dir);
	fd = neighbour("mine");
	wait_until_up(&stream, fd);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		CHECK_EQ(kill(pid, SIGSTOP), 0);
		for (unsigned int i = 0; i < FRAMES; i++) {
			make_frame(frame, 60, i % 200);
			CHECK_EQ(send(fd, frame, 60, 0), 60);
		}
		CHECK_EQ(kill(pid, SIGCONT), 0);
		for (unsigned int i = 0; i < FRAMES; i++) {
			CHECK_EQ(stream_receive(&stream, frame), 60);
			CHECK_EQ(frame[14], i % 200);
		}
	}
}

/*
 * With only one port for all connections, a socket that connects to it is
 * connected to itself, and then nobody can listen there.
 */
TEST(tcp_does_not_meet_itself)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(40000),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	const char *range = "/proc/sys/net/ipv4/ip_local_port_range";
	int fd, one = 1;

	device_enter_namespace();
	run("ip link set lo up && echo 40000 40000 >%s", range);
	SPAWN("--wire", "stream,connect=127.0.0.1:40000");
	run("echo 40001 50000 >%s", range);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)),
		 0);
	/* The device may try again before other ports are available. */
	while (bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		usleep(1000);
	CHECK_EQ(listen(fd, 1), 0);
	CHECK(accept(fd, NULL, NULL) >= 0);
}

TEST(idle_takes_no_time)
{
	const char *dir = device_dir();
	char wire[96];
	struct stream stream;
	pid_t pid;

	make_veth();
	snprintf(wire, sizeof(wire), "stream,listen=%s/stream", dir);
	pid = SPAWN("--wire", "packet,ifname=theirs", "--wire", wire);
	stream = open_stream(dir);
	wait_until_up(&stream, neighbour("mine"));
	device_wait_idle(pid);
}
