// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sends frames, for channels.sh and xdp.sh.
 *
 * frames flows ADDRESS NUMBER
 *	sends a datagram of each of so many flows.
 * frames fill NETDEV MAC NUMBER
 *	sends so many short frames as fast as they go. What there is no room for is
 *	lost.
 * frames lengths NETDEV MAC NUMBER [back]
 *	sends so many frames of each length. With "back", each has to come back
 *	before the next one is sent.
 * frames tagged NETDEV MAC
 *	sends a frame with a VLAN tag, which has to come back. The interface has
 *	taken the tag out then.
 * frames segments NETDEV MAC ETHERTYPE FIRST LENGTH
 *	sends a frame to be cut into TCP segments. Its IP header has this LENGTH,
 *	and FIRST in its first byte.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/ip6.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_PORT 20000
#define DISCARD_PORT 9
#define TYPE ETH_P_802_EX1 /* local experiments */
#define TAG 100
#define MSS 1000
#define MAX_IP_HEADER 60

/* xdp.sh knows how many there are. */
static const int lengths[] = { 46, 200, 256, 257, 1000, 1486, 1500 };

static unsigned long parse(const char *text, unsigned long most)
{
	char *end;
	unsigned long value = strtoul(text, &end, 0);

	if (*end || end == text || value > most)
		errx(2, "%s is no number up to %lu", text, most);
	return value;
}

static int send_flows(char **args)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(DISCARD_PORT),
	};
	unsigned long flows = parse(args[1], UINT16_MAX - FIRST_PORT);
	static const char data[100];

	if (inet_pton(AF_INET, args[0], &to.sin_addr) != 1)
		errx(2, "%s is no address", args[0]);
	for (unsigned long i = 0; i < flows; i++) {
		struct sockaddr_in from = {
			.sin_family = AF_INET,
			.sin_port = htons(FIRST_PORT + i),
		};
		int fd = socket(AF_INET, SOCK_DGRAM, 0);

		if (fd < 0 || bind(fd, (void *)&from, sizeof(from)) ||
		    sendto(fd, data, sizeof(data), 0, (void *)&to,
			   sizeof(to)) != sizeof(data))
			err(1, "flow %lu", i);
		close(fd);
	}
	return 0;
}

static void set(int fd, int option)
{
	int on = 1;

	if (setsockopt(fd, SOL_PACKET, option, &on, sizeof(on)))
		err(1, "packet socket option %d", option);
}

/* A socket for frames of a type on NETDEV, and the header of those to MAC */
static int open_frames(char **args, int type, struct ethhdr *header)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(type),
		.sll_ifindex = if_nametoindex(args[0]),
	};
	socklen_t len = sizeof(address);
	unsigned char *to = header->h_dest;
	int fd = socket(AF_PACKET, SOCK_RAW, htons(type));

	if (fd < 0 || !address.sll_ifindex ||
	    bind(fd, (void *)&address, sizeof(address)) ||
	    getsockname(fd, (void *)&address, &len))
		err(1, "%s", args[0]);
	if (sscanf(args[1], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &to[0], &to[1],
		   &to[2], &to[3], &to[4], &to[5]) != ETH_ALEN)
		errx(2, "%s is no MAC address", args[1]);
	memcpy(header->h_source, address.sll_addr, ETH_ALEN);
	header->h_proto = htons(TYPE);
	return fd;
}

/* Returns whether there was room for the frame. */
static bool try_to_send(int fd, const void *frame, size_t len)
{
	if (send(fd, frame, len, 0) == (ssize_t)len)
		return true;
	if (errno != ENOBUFS)
		err(1, "cannot send");
	return false;
}

static int fill(char **args)
{
	struct {
		struct ethhdr header;
		char data[50];
	} frame = {};
	unsigned long frames = parse(args[2], ULONG_MAX);
	int fd = open_frames(args, 0, &frame.header);

	set(fd, PACKET_QDISC_BYPASS);
	for (unsigned long i = 0; i < frames; i++)
		try_to_send(fd, &frame, sizeof(frame));
	return 0;
}

/*
 * Receives the next frame that comes from outside, with the control messages that
 * msg has room for. Returns its length, even if that is more than there is room for.
 */
static size_t next_frame(int fd, void *frame, size_t len, struct msghdr *msg)
{
	struct sockaddr_ll from;
	struct iovec iov = { .iov_base = frame, .iov_len = len };
	size_t room = msg->msg_controllen;
	ssize_t got;

	do {
		msg->msg_name = &from;
		msg->msg_namelen = sizeof(from);
		msg->msg_iov = &iov;
		msg->msg_iovlen = 1;
		msg->msg_controllen = room;
		got = recvmsg(fd, msg, MSG_TRUNC);
		if (got < 0)
			err(1, "cannot receive");
	} while (from.sll_pkttype == PACKET_OUTGOING ||
		 from.sll_protocol != htons(TYPE));
	return got;
}

/* Whether a frame is the one that was sent, on its way back */
static bool is_back(const struct ethhdr *got, const struct ethhdr *sent,
		    const void *data, size_t len)
{
	return !memcmp(got->h_dest, sent->h_source, ETH_ALEN) &&
	       !memcmp(got->h_source, sent->h_dest, ETH_ALEN) &&
	       got->h_proto == htons(TYPE) && !memcmp(got + 1, data, len);
}

static int send_lengths(char **args)
{
	struct {
		struct ethhdr header;
		unsigned char data[ETH_DATA_LEN];
	} frame = {}, got;
	unsigned long frames = parse(args[2], ULONG_MAX);
	bool back = args[3];
	int fd = open_frames(args, TYPE, &frame.header);

	/* A queueing discipline drops frames that have waited for long. */
	set(fd, PACKET_QDISC_BYPASS);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		for (unsigned long n = 0; n < frames; n++) {
			size_t len = sizeof(frame.header) + lengths[i];
			struct msghdr msg = {};
			size_t found;

			if (getrandom(frame.data, lengths[i], 0) != lengths[i])
				err(1, "no random numbers");
			while (!try_to_send(fd, &frame, len))
				;
			if (!back)
				continue;
			found = next_frame(fd, &got, sizeof(got), &msg);
			if (found != len || !is_back(&got.header, &frame.header,
						     frame.data, lengths[i]))
				errx(1, "%zu bytes came back as %zu others",
				     len, found);
		}
	return 0;
}

static int send_tagged(char **args)
{
	struct {
		struct ethhdr header;
		__be16 tag, type;
		unsigned char data[200];
	} frame = {};
	struct {
		struct ethhdr header;
		unsigned char data[ETH_DATA_LEN];
	} got;
	union {
		struct cmsghdr first;
		char room[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	} control;
	struct msghdr msg = { .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct tpacket_auxdata *aux;
	struct cmsghdr *cmsg;
	/*
	 * Sockets for one type of frames get them after the kernel has forgotten
	 * the tag.
	 */
	int fd = open_frames(args, ETH_P_ALL, &frame.header);
	size_t len;

	set(fd, PACKET_AUXDATA);
	frame.header.h_proto = htons(ETH_P_8021Q);
	frame.tag = htons(TAG);
	frame.type = htons(TYPE);
	for (size_t i = 0; i < sizeof(frame.data); i++)
		frame.data[i] = i;
	if (!try_to_send(fd, &frame, sizeof(frame)))
		errx(1, "there is no room");
	len = next_frame(fd, &got, sizeof(got), &msg);
	if (len != sizeof(got.header) + sizeof(frame.data) ||
	    !is_back(&got.header, &frame.header, frame.data,
		     sizeof(frame.data)))
		errx(1, "%zu other bytes came back", len);
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg || cmsg->cmsg_level != SOL_PACKET ||
	    cmsg->cmsg_type != PACKET_AUXDATA)
		errx(1, "nothing is known of a tag");
	aux = (void *)CMSG_DATA(cmsg);
	if (!(aux->tp_status & TP_STATUS_VLAN_VALID) || aux->tp_vlan_tci != TAG)
		errx(1, "status %#x, tag %d", aux->tp_status, aux->tp_vlan_tci);
	return 0;
}

static int send_segments(char **args)
{
	unsigned long type = parse(args[2], UINT16_MAX);
	unsigned long size = parse(args[4], MAX_IP_HEADER);
	bool old = type == ETH_P_IP;
	struct {
		struct virtio_net_hdr vnet;
		struct ethhdr header;
		unsigned char rest[4096];
	} frame = {};
	const unsigned int data = 3000;
	unsigned int start = sizeof(frame.header) + size;
	struct tcphdr tcp = { .source = htons(1),
			      .dest = htons(2),
			      .doff = 5,
			      .ack = 1,
			      .window = htons(1000) };
	size_t len;
	int fd;

	fd = open_frames(args, 0, &frame.header);
	set(fd, PACKET_VNET_HDR);
	frame.header.h_proto = htons(type);
	frame.vnet = (struct virtio_net_hdr){
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = old ? VIRTIO_NET_HDR_GSO_TCPV4 :
				  VIRTIO_NET_HDR_GSO_TCPV6,
		.hdr_len = start + sizeof(tcp),
		.gso_size = MSS,
		.csum_start = start,
		.csum_offset = offsetof(struct tcphdr, check),
	};
	if (old) {
		struct iphdr *ip = (void *)frame.rest;

		ip->tot_len = htons(size + sizeof(tcp) + data);
		ip->ttl = 64;
		ip->protocol = IPPROTO_TCP;
	} else {
		struct ip6_hdr *ip = (void *)frame.rest;

		ip->ip6_plen = htons(sizeof(tcp) + data);
		ip->ip6_nxt = IPPROTO_TCP;
		ip->ip6_hlim = 64;
	}
	frame.rest[0] = parse(args[3], UINT8_MAX);
	memcpy(frame.rest + size, &tcp, sizeof(tcp));
	len = sizeof(frame.vnet) + start + sizeof(tcp) + data;
	if (send(fd, &frame, len, 0) != (ssize_t)len)
		err(1, "cannot send");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int args;
		int (*run)(char **args);
	} kinds[] = {
		{ "flows", 2, send_flows },	  { "fill", 3, fill },
		{ "lengths", 3, send_lengths },	  { "tagged", 2, send_tagged },
		{ "segments", 5, send_segments },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (argc > 1 && !strcmp(argv[1], kinds[i].name) &&
		    argc >= 2 + kinds[i].args)
			return kinds[i].run(argv + 2);
	errx(2, "see the comment in frames.c");
}
