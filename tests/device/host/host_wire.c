// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Wires over sockets, of a process without NICs. The test is the peer of the
 * wire under test, and of a stream wire that always works.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness_tap.h"
#include "harness_vfu.h"
#include "host/frame_queue.h"
#include "wire/frame.h"

#define SPAWN(...) device_spawn((const char *const[]){ __VA_ARGS__, NULL })

/* Generous: only a process that never answers takes so long */
#define ANSWER_LIMIT 100

/* For experiments: no protocol uses it. */
#define ETHERTYPE 0x88b5

/**
 * struct end - the test's end of a wire
 * @fd: socket
 * @is_stream: the length precedes each frame
 */
struct end {
	int fd;
	bool is_stream;
};

static int new_socket(int family, int type)
{
	struct timeval limit = { .tv_sec = ANSWER_LIMIT };
	int fd = socket(family, type | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)),
		 0);
	return fd;
}

static struct sockaddr_in inet_addr_of(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
}

static struct end connect_unix(const char *path)
{
	return (struct end){ vfu_connect_path(path), true };
}

static struct end accept_on(int listener)
{
	struct timeval limit = { .tv_sec = ANSWER_LIMIT };
	int fd = accept(listener, NULL, NULL);

	CHECK(fd >= 0);
	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)),
		 0);
	return (struct end){ fd, true };
}

static int listen_unix(const char *path)
{
	struct sockaddr_un addr = device_address(path);
	int fd = new_socket(AF_UNIX, SOCK_STREAM);

	CHECK_EQ(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	CHECK_EQ(listen(fd, 1), 0);
	return fd;
}

static struct end bind_dgram(const char *path)
{
	struct sockaddr_un addr = device_address(path);
	int fd = new_socket(AF_UNIX, SOCK_DGRAM);

	CHECK_EQ(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return (struct end){ fd, false };
}

/* Fill a frame with bytes that depend on its length and number */
static void make_frame(uint8_t *frame, size_t len, uint32_t number)
{
	memset(frame, 0xff, 6);
	memcpy(frame + 6, (uint8_t[]){ 2, 0, 0, 0, 0, 1 }, 6);
	frame[12] = ETHERTYPE >> 8;
	frame[13] = ETHERTYPE & 0xff;
	for (size_t i = 14; i < len; i++)
		frame[i] = (number >> i % 4 * 8) ^ i * 7 ^ len;
}

/* The number of a frame that make_frame() has made */
static uint32_t frame_number(const uint8_t *frame, size_t len)
{
	uint32_t number = 0;

	for (size_t i = 16; i < 20; i++)
		number |= (uint32_t)(uint8_t)(frame[i] ^ i * 7 ^ len)
			  << i % 4 * 8;
	return number;
}

static void send_bytes(struct end *end, const void *data, size_t len)
{
	CHECK_EQ(send(end->fd, data, len, MSG_NOSIGNAL), len);
}

static void send_raw(struct end *end, const void *frame, size_t len)
{
	uint32_t prefix = htonl(len);

	if (end->is_stream)
		send_bytes(end, &prefix, sizeof(prefix));
	send_bytes(end, frame, len);
}

static void send_frame(struct end *end, size_t len, uint32_t number)
{
	uint8_t frame[FRAME_MAX_LEN];

	make_frame(frame, len, number);
	send_raw(end, frame, len);
}

static size_t receive_raw(struct end *end, uint8_t *frame)
{
	uint32_t prefix;
	ssize_t n;

	if (!end->is_stream) {
		n = recv(end->fd, frame, FRAME_MAX_LEN, 0);
		CHECK(n > 0);
		return n;
	}
	CHECK_EQ(recv(end->fd, &prefix, 4, MSG_WAITALL), 4);
	CHECK(ntohl(prefix) <= FRAME_MAX_LEN);
	n = recv(end->fd, frame, ntohl(prefix), MSG_WAITALL);
	CHECK_EQ(n, ntohl(prefix));
	return n;
}

/* The next frame that make_frame() has made */
static size_t receive(struct end *end, uint8_t *frame)
{
	size_t len;

	do
		len = receive_raw(end, frame);
	while (frame[0] != 0xff);
	return len;
}

static void expect_frame(struct end *end, size_t len, uint32_t number)
{
	uint8_t want[FRAME_MAX_LEN], got[FRAME_MAX_LEN];

	make_frame(want, len, number);
	CHECK_EQ(receive(end, got), len);
	CHECK_MEM(got, want, len);
}

static void pass(struct end *from, struct end *to, size_t len, uint32_t number)
{
	send_frame(from, len, number);
	expect_frame(to, len, number);
}

/* Bytes of a hello: the addresses, the EtherType, and a number behind them */
#define HELLO_SIZE 60

static void send_hello(struct end *from, uint8_t number)
{
	uint8_t hello[HELLO_SIZE] = { 0x03, [11] = 2,
				      ETHERTYPE >> 8, [14] = number };

	send_raw(from, hello, sizeof(hello));
}

static bool has_input(struct end *end, int limit_ms)
{
	struct pollfd poll_fd = { .fd = end->fd, .events = POLLIN };

	CHECK(poll(&poll_fd, 1, limit_ms) >= 0);
	return poll_fd.revents;
}

static bool receive_hello(struct end *end, uint8_t number)
{
	uint8_t frame[FRAME_MAX_LEN];

	return receive_raw(end, frame) == HELLO_SIZE && frame[0] == 0x03 &&
	       frame[14] == number;
}

/*
 * Send until a frame arrives, because a wire comes up some time after its peer.
 * receive() ignores later frames of this kind. A frame that is left from an
 * earlier call does not count: the wire may have gone down since.
 */
static void wait_until_up(struct end *from, struct end *to)
{
	static uint8_t number;
	unsigned int tries = 0;

	number++;
	do {
		CHECK(++tries < 1000);
		send_hello(from, number);
	} while (!has_input(to, 100) || !receive_hello(to, number));
}

/* Frames of all sizes and many at once, in both directions */
static void check_both_ways(struct end *a, struct end *b)
{
	static const size_t sizes[] = { 14, 15, 59, 60, 1514, 4200, 9234 };

	wait_until_up(a, b);
	wait_until_up(b, a);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		pass(a, b, sizes[i], i);
		pass(b, a, sizes[i], i);
	}
	for (uint32_t i = 0; i < 300; i++) {
		for (uint32_t j = 0; j < 5; j++)
			send_frame(a, 14 + (i * 31 + j) % 9000, i + j);
		for (uint32_t j = 0; j < 5; j++)
			expect_frame(b, 14 + (i * 31 + j) % 9000, i + j);
	}
}

TEST(stream_listens)
{
	const char *dir = device_dir();
	struct end a, b;

	SPAWN("--wire", tap_print("stream,listen=%s/a", dir), "--wire",
	      tap_print("stream,listen=%s/b", dir));
	a = connect_unix(tap_print("%s/a", dir));
	b = connect_unix(tap_print("%s/b", dir));
	check_both_ways(&a, &b);
}

TEST(stream_connects)
{
	const char *dir = device_dir();
	const char *path = tap_print("%s/a", dir);
	int listener = listen_unix(path);
	struct end a, b;

	SPAWN("--wire", tap_print("stream,connect=%s", path), "--wire",
	      tap_print("stream,listen=%s/b", dir));
	a = accept_on(listener);
	b = connect_unix(tap_print("%s/b", dir));
	check_both_ways(&a, &b);
	unlink(path);
}

TEST(tcp_listens)
{
	unsigned int port = device_free_port(SOCK_STREAM);
	struct sockaddr_in addr = inet_addr_of(port);
	const char *dir = device_dir();
	struct end a, b;

	SPAWN("--wire", tap_print("stream,listen=127.0.0.1:%u", port), "--wire",
	      tap_print("stream,listen=%s/b", dir));
	a = (struct end){ new_socket(AF_INET, SOCK_STREAM), true };
	CHECK_EQ(connect(a.fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	b = connect_unix(tap_print("%s/b", dir));
	check_both_ways(&a, &b);
}

/* Two processes, started in either order */
static void check_pair(const char *wire_a, const char *wire_b)
{
	const char *dir = device_dir();
	struct end a, b;

	SPAWN("--wire", wire_a, "--wire", tap_print("stream,listen=%s/a", dir));
	SPAWN("--wire", tap_print("stream,listen=%s/b", dir), "--wire", wire_b);
	a = connect_unix(tap_print("%s/a", dir));
	b = connect_unix(tap_print("%s/b", dir));
	check_both_ways(&a, &b);
}

TEST(tcp_pair)
{
	unsigned int port = device_free_port(SOCK_STREAM);

	check_pair(tap_print("stream,connect=127.0.0.1:%u", port),
		   tap_print("stream,listen=127.0.0.1:%u", port));
}

TEST(tcp_pair_over_ipv6)
{
	struct sockaddr_in6 addr = {
		.sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	unsigned int port = device_free_port(SOCK_STREAM);
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		tap_skip("this machine has no IPv6");
	close(fd);
	check_pair(tap_print("stream,listen=[::1]:%u", port),
		   tap_print("stream,connect=[::1]:%u", port));
}

TEST(dgram_pair)
{
	const char *dir = device_dir();

	check_pair(tap_print("dgram,local=%s/1,remote=%s/2", dir, dir),
		   tap_print("dgram,local=%s/2,remote=%s/1", dir, dir));
}

TEST(udp_pair)
{
	unsigned int a = device_free_port(SOCK_DGRAM);
	unsigned int b = device_free_port(SOCK_DGRAM);

	check_pair(device_udp_wire(a, b), device_udp_wire(b, a));
}

/* QEMU does not connect its socket, and sends to the path. */
TEST(dgram_with_an_unconnected_peer)
{
	const char *dir = device_dir();
	const char *path = tap_print("%s/peer", dir);
	struct sockaddr_un addr = device_address(tap_print("%s/own", dir));
	uint8_t frame[100];
	struct end a, b;

	a = bind_dgram(path);
	SPAWN("--wire", tap_print("dgram,local=%s/own,remote=%s", dir, path),
	      "--wire", tap_print("stream,listen=%s/b", dir));
	b = connect_unix(tap_print("%s/b", dir));
	wait_until_up(&b, &a);
	make_frame(frame, sizeof(frame), 5);
	CHECK_EQ(sendto(a.fd, frame, sizeof(frame), 0, (struct sockaddr *)&addr,
			sizeof(addr)),
		 sizeof(frame));
	expect_frame(&b, sizeof(frame), 5);
	unlink(path);
}

/* The listening peer restarts, and then the connecting one. */
TEST(stream_peers_come_and_go)
{
	const char *dir = device_dir();
	const char *path = tap_print("%s/a", dir);
	struct end a, b;

	SPAWN("--wire", tap_print("stream,connect=%s", path), "--wire",
	      tap_print("stream,listen=%s/b", dir));
	b = connect_unix(tap_print("%s/b", dir));
	for (int i = 0; i < 4; i++) {
		int listener = listen_unix(path);

		a = accept_on(listener);
		wait_until_up(&b, &a);
		pass(&a, &b, 1000, i);
		close(a.fd);
		close(listener);
		unlink(path);
		/*
		 * Frames that are sent meanwhile are lost, and nothing else
		 * happens.
		 */
		for (int j = 0; j < 100; j++)
			send_frame(&b, 1000, j);
	}
	for (int i = 0; i < 10; i++) {
		int listener = i ? -1 : listen_unix(path);

		if (!i)
			a = accept_on(listener);
		close(b.fd);
		b = connect_unix(tap_print("%s/b", dir));
		wait_until_up(&a, &b);
		pass(&b, &a, 1000, i);
		close(listener);
	}
	unlink(path);
}

TEST(dgram_peer_comes_and_goes)
{
	const char *dir = device_dir();
	const char *path = tap_print("%s/peer", dir);
	struct end b;

	SPAWN("--wire", tap_print("dgram,local=%s/own,remote=%s", dir, path),
	      "--wire", tap_print("stream,listen=%s/b", dir));
	b = connect_unix(tap_print("%s/b", dir));
	for (int i = 0; i < 3; i++) {
		struct end a = bind_dgram(path);

		wait_until_up(&b, &a);
		close(a.fd);
		unlink(path);
	}
}

/* A restarted peer sends first, to a wire that has not noticed its absence. */
TEST(dgram_peer_that_is_back_is_heard)
{
	const char *dir = device_dir();
	const char *path = tap_print("%s/peer", dir);
	struct sockaddr_un addr = device_address(tap_print("%s/own", dir));
	uint8_t frame[100];
	struct end a, b;

	a = bind_dgram(path);
	SPAWN("--wire", tap_print("dgram,local=%s/own,remote=%s", dir, path),
	      "--wire", tap_print("stream,listen=%s/b", dir));
	b = connect_unix(tap_print("%s/b", dir));
	wait_until_up(&b, &a);
	for (uint32_t i = 0; i < 3; i++) {
		close(a.fd);
		unlink(path);
		a = bind_dgram(path);
		make_frame(frame, sizeof(frame), i);
		CHECK_EQ(sendto(a.fd, frame, sizeof(frame), 0,
				(struct sockaddr *)&addr, sizeof(addr)),
			 sizeof(frame));
		expect_frame(&b, sizeof(frame), i);
	}
	wait_until_up(&b, &a);
	unlink(path);
}

TEST(udp_peer_comes_and_goes)
{
	const char *dir = device_dir();
	unsigned int own_port = device_free_port(SOCK_DGRAM);
	unsigned int peer_port = device_free_port(SOCK_DGRAM);
	struct sockaddr_in own = inet_addr_of(own_port);
	struct sockaddr_in peer = inet_addr_of(peer_port);
	struct end b;

	SPAWN("--wire", device_udp_wire(own_port, peer_port), "--wire",
	      tap_print("stream,listen=%s/b", dir));
	b = connect_unix(tap_print("%s/b", dir));
	for (int i = 0; i < 3; i++) {
		struct end a = { new_socket(AF_INET, SOCK_DGRAM), false };

		CHECK_EQ(bind(a.fd, (struct sockaddr *)&peer, sizeof(peer)), 0);
		CHECK_EQ(connect(a.fd, (struct sockaddr *)&own, sizeof(own)),
			 0);
		wait_until_up(&b, &a);
		pass(&a, &b, 500, i);
		close(a.fd);
		/* The frame is refused, which reveals the absence. */
		send_frame(&b, 60, 0);
	}
}

/* Datagrams from others than the peer are ignored. */
TEST(udp_from_a_stranger)
{
	const char *dir = device_dir();
	unsigned int own_port = device_free_port(SOCK_DGRAM);
	unsigned int peer_port = device_free_port(SOCK_DGRAM);
	struct sockaddr_in own = inet_addr_of(own_port);
	struct sockaddr_in peer = inet_addr_of(peer_port);
	struct end a = { new_socket(AF_INET, SOCK_DGRAM), false };
	struct end stranger = { new_socket(AF_INET, SOCK_DGRAM), false };
	struct end b;

	CHECK_EQ(bind(a.fd, (struct sockaddr *)&peer, sizeof(peer)), 0);
	SPAWN("--wire", device_udp_wire(own_port, peer_port), "--wire",
	      tap_print("stream,listen=%s/b", dir));
	b = connect_unix(tap_print("%s/b", dir));
	CHECK_EQ(connect(a.fd, (struct sockaddr *)&own, sizeof(own)), 0);
	CHECK_EQ(connect(stranger.fd, (struct sockaddr *)&own, sizeof(own)), 0);
	wait_until_up(&a, &b);
	send_frame(&stranger, 777, 1);
	pass(&a, &b, 500, 2);
}

TEST(one_peer_at_a_time)
{
	const char *dir = device_dir();
	struct end a, b, second;
	char none;

	SPAWN("--wire", tap_print("stream,listen=%s/a", dir), "--wire",
	      tap_print("stream,listen=%s/b", dir));
	a = connect_unix(tap_print("%s/a", dir));
	b = connect_unix(tap_print("%s/b", dir));
	wait_until_up(&a, &b);
	second = connect_unix(tap_print("%s/a", dir));
	send_frame(&second, 100, 7);
	for (uint32_t i = 0; i < 100; i++) {
		pass(&a, &b, 60, i);
		pass(&b, &a, 60, i);
	}
	CHECK_EQ(recv(second.fd, &none, 1, MSG_DONTWAIT), -1);
	close(a.fd);
	expect_frame(&b, 100, 7);
	pass(&b, &second, 60, 1);
}

/* Each bad length ends its connection, and nothing else. */
TEST(bad_lengths)
{
	static const uint32_t bad[] = { 0,     1,	   13,	      9235,
					65536, 0x80000000, UINT32_MAX };
	const char *dir = device_dir();
	struct end b, c;

	SPAWN("--wire", tap_print("stream,listen=%s/a", dir), "--wire",
	      tap_print("stream,listen=%s/b", dir), "--wire",
	      tap_print("stream,listen=%s/c", dir));
	b = connect_unix(tap_print("%s/b", dir));
	c = connect_unix(tap_print("%s/c", dir));
	wait_until_up(&b, &c);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct end a = connect_unix(tap_print("%s/a", dir));
		uint32_t prefix = htonl(bad[i]);

		send_frame(&a, 1000, i);
		expect_frame(&b, 1000, i);
		expect_frame(&c, 1000, i);
		send_bytes(&a, &prefix, sizeof(prefix));
		vfu_wait_end(a.fd);
		pass(&b, &c, 1000, i);
	}
}

/* The wire waits for the rest of a frame, and others do not. */
TEST(frames_in_pieces)
{
	const char *dir = device_dir();
	uint8_t frame[FRAME_PREFIX + 3000] = {};
	struct end a, b, c;

	SPAWN("--wire", tap_print("stream,listen=%s/a", dir), "--wire",
	      tap_print("stream,listen=%s/b", dir), "--wire",
	      tap_print("stream,listen=%s/c", dir));
	a = connect_unix(tap_print("%s/a", dir));
	b = connect_unix(tap_print("%s/b", dir));
	c = connect_unix(tap_print("%s/c", dir));
	wait_until_up(&b, &c);
	frame[2] = 3000 >> 8;
	frame[3] = 3000 & 0xff;
	make_frame(frame + FRAME_PREFIX, 3000, 9);
	for (size_t at = 0; at < sizeof(frame); at++) {
		send_bytes(&a, frame + at, 1);
		if (at % 500 == 2)
			pass(&b, &c, 60, at);
	}
	expect_frame(&b, 3000, 9);
	/* A part of a frame, and the end of the connection */
	send_bytes(&a, frame, 2000);
	close(a.fd);
	a = connect_unix(tap_print("%s/a", dir));
	send_frame(&a, 100, 3);
	expect_frame(&b, 100, 3);
}

/* Datagrams that are too short, too long, or empty */
TEST(bad_datagrams)
{
	const char *dir = device_dir();
	const char *path = tap_print("%s/peer", dir);
	struct sockaddr_un addr = device_address(tap_print("%s/own", dir));
	uint8_t data[20000];
	struct end a, b;

	a = bind_dgram(path);
	SPAWN("--wire", tap_print("dgram,local=%s/own,remote=%s", dir, path),
	      "--wire", tap_print("stream,listen=%s/b", dir));
	b = connect_unix(tap_print("%s/b", dir));
	wait_until_up(&b, &a);
	CHECK_EQ(connect(a.fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	memset(data, 0xff, sizeof(data));
	for (size_t len = 0; len < 14; len++)
		send_bytes(&a, data, len);
	send_bytes(&a, data, FRAME_MAX_LEN + 1);
	send_bytes(&a, data, sizeof(data));
	pass(&a, &b, FRAME_MAX_LEN, 1);
	unlink(path);
}

/* The peer only accepts frames from the socket that it is connected to. */
TEST(dgram_with_a_connected_peer)
{
	const char *dir = device_dir();
	const char *path = tap_print("%s/peer", dir);
	struct sockaddr_un addr = device_address(tap_print("%s/own", dir));
	struct end b;

	SPAWN("--wire", tap_print("dgram,local=%s/own,remote=%s", dir, path),
	      "--wire", tap_print("stream,listen=%s/b", dir));
	b = connect_unix(tap_print("%s/b", dir));
	for (int i = 0; i < 3; i++) {
		struct end a = bind_dgram(path);

		if (i) {
			wait_until_up(&b, &a);
			/* As if the wait had sent one more than it needed */
			send_hello(&b, 0);
			CHECK(has_input(&a, ANSWER_LIMIT * 1000));
		}
		CHECK_EQ(connect(a.fd, (struct sockaddr *)&addr, sizeof(addr)),
			 0);
		check_both_ways(&a, &b);
		close(a.fd);
		unlink(path);
	}
}

/*
 * A peer that does not read: frames are lost, but those that arrive are whole
 * and in order. Meanwhile the process does all other work.
 */
static void check_overload(struct end *a, struct end *b, struct end *c)
{
	uint8_t got[FRAME_MAX_LEN], want[FRAME_MAX_LEN];
	const uint32_t num = 6000;
	const size_t len = 9000;
	uint32_t sent, next = 0;
	uint32_t lost = 0;

	wait_until_up(b, c);
	wait_until_up(b, a);
	/* More than its queue and its socket take */
	CHECK(num * len > 2 * FRAME_QUEUE_LIMIT);
	for (sent = 0; sent < num; sent++)
		pass(b, c, len, sent);
	while (next < num) {
		uint32_t number;

		CHECK_EQ(receive(a, got), len);
		number = frame_number(got, len);
		CHECK(number >= next && number < sent);
		make_frame(want, len, number);
		CHECK_MEM(got, want, len);
		lost += number - next;
		next = number + 1;
		pass(b, c, len, sent++);
	}
	tap_note("%u of %u lost", lost, sent);
	CHECK(lost);
}

TEST(stream_peer_that_does_not_read)
{
	const char *dir = device_dir();
	struct end a, b, c;

	SPAWN("--wire", tap_print("stream,listen=%s/a", dir), "--wire",
	      tap_print("stream,listen=%s/b", dir), "--wire",
	      tap_print("stream,listen=%s/c", dir));
	a = connect_unix(tap_print("%s/a", dir));
	b = connect_unix(tap_print("%s/b", dir));
	c = connect_unix(tap_print("%s/c", dir));
	check_overload(&a, &b, &c);
}

TEST(dgram_peer_that_does_not_read)
{
	const char *dir = device_dir();
	const char *path = tap_print("%s/peer", dir);
	struct end a, b, c;

	a = bind_dgram(path);
	SPAWN("--wire", tap_print("dgram,local=%s/own,remote=%s", dir, path),
	      "--wire", tap_print("stream,listen=%s/b", dir), "--wire",
	      tap_print("stream,listen=%s/c", dir));
	b = connect_unix(tap_print("%s/b", dir));
	c = connect_unix(tap_print("%s/c", dir));
	check_overload(&a, &b, &c);
	unlink(path);
}

/* A burst that fits in the queue arrives completely. */
TEST(burst_loses_nothing)
{
	const char *dir = device_dir();
	const uint32_t num = 4500;
	const size_t len = 4200;
	struct end a, b;
	pid_t pid;

	SPAWN("--wire", tap_print("stream,listen=%s/a", dir), "--wire",
	      tap_print("stream,listen=%s/b", dir));
	a = connect_unix(tap_print("%s/a", dir));
	b = connect_unix(tap_print("%s/b", dir));
	wait_until_up(&b, &a);
	CHECK(num * (FRAME_PREFIX + len) < FRAME_QUEUE_LIMIT);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		for (uint32_t i = 0; i < num; i++)
			send_frame(&b, len, i);
		_exit(0);
	}
	for (uint32_t i = 0; i < num; i++)
		expect_frame(&a, len, i);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
}

static void expect_error(const char *wire, const char *what, const char *why)
{
	const char *text;

	text = device_fail((const char *[]){ "--wire", wire, NULL }, 1);
	if (!strstr(text, what) || !strstr(text, why))
		FAIL("%s: says \"%s\", not \"%s\" and \"%s\"", wire, text, what,
		     why);
}

TEST(what_cannot_work_is_reported)
{
	const char *dir = device_dir();
	const char *lively = tap_print("stream,listen=%s/lively", dir);
	const char *lively_tcp = tap_print("stream,listen=127.0.0.1:%u",
					   device_free_port(SOCK_STREAM));
	char longer[200] = "";

	SPAWN("--wire", lively, "--wire", lively_tcp);
	memset(longer, 'x', 150);
	expect_error(lively, "wire1: cannot listen on ", "already in use");
	expect_error(lively_tcp,
		     "wire1: cannot listen on 127.0.0.1:", "already in use");
	expect_error("stream,listen=/nonexistent/x,name=uplink",
		     "uplink: cannot listen on /nonexistent/x: ", "No such");
	expect_error(tap_print("stream,listen=/tmp/%s", longer),
		     "cannot listen on", "too long");
	expect_error(tap_print("stream,connect=/tmp/%s", longer),
		     "cannot connect to", "too long");
	expect_error("stream,connect=nowhere",
		     "cannot connect to nowhere: ", "HOST:PORT");
	expect_error("stream,connect=127.0.0.1:port", "cannot connect to ", "");
	expect_error("stream,listen=192.0.2.1:47924", "cannot listen on ",
		     "Cannot assign");
	expect_error(tap_print("dgram,local=/nonexistent/x,remote=%s/y", dir),
		     "cannot bind to /nonexistent/x: ", "No such");
	expect_error(tap_print("dgram,local=%s/x,remote=/tmp/%s", dir, longer),
		     "cannot send to", "too long");
	expect_error("udp,local=192.0.2.1:47925,remote=127.0.0.1:1",
		     "cannot bind to 192.0.2.1:47925: ", "Cannot assign");
	expect_error("udp,local=127.0.0.1:47925,remote=[::1]:1",
		     "cannot use 127.0.0.1:47925: ", "amily");
	expect_error("udp,local=::1:47925,remote=[::1]:1", "cannot use ",
		     "HOST:PORT");
	expect_error("tap,ifname=longerthanfifteen",
		     "cannot attach to TAP interface longerthanfifteen: ",
		     "too long");
	expect_error("packet,ifname=nonexistent0",
		     "cannot use interface nonexistent0: ", "No such device");
}

TEST(wrong_usage)
{
	static const char *const wires[] = {
		"",
		"cable",
		"stream",
		"stream,listen",
		"stream,listen=",
		"stream,listen=/tmp/a,connect=/tmp/b",
		"stream,local=/tmp/a",
		"stream,listen=/tmp/a,colour=red",
		"stream,listen=/tmp/a,name=",
		"stream,listen=/tmp/a,name=a:b",
		"stream,listen=/tmp/a,name=abcdefghijklmnopqrstuvwxyz012345",
		"dgram,local=/tmp/a",
		"dgram,remote=/tmp/a",
		"udp,local=:1",
		"tap",
		"packet,ifname=lo,local=x",
	};

	static const char *const same_name[] = {
		"--wire", "stream,listen=/tmp/a",
		"--wire", "stream,listen=/tmp/b,name=wire1",
		NULL,
	};

	for (size_t i = 0; i < ARRAY_SIZE(wires); i++)
		device_fail((const char *[]){ "--wire", wires[i], NULL }, 2);
	device_fail(same_name, 2);
}

/* Silent and absent peers take no processor time. */
TEST(idle_takes_no_time)
{
	const char *dir = device_dir();
	struct end a, b;
	pid_t pid;

	pid = SPAWN("--wire", tap_print("stream,listen=%s/a", dir), "--wire",
		    tap_print("stream,listen=%s/b", dir), "--wire",
		    tap_print("stream,listen=%s/c", dir));
	a = connect_unix(tap_print("%s/a", dir));
	b = connect_unix(tap_print("%s/b", dir));
	wait_until_up(&a, &b);
	device_wait_idle(pid);
}
