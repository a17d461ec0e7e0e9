// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The queue of a wire, and its flow control, in virtual time */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness_tap.h"
#include "harness_vfu.h"
#include "host/clock.h"
#include "host/events.h"
#include "core/nic.h"
#include "host/wire.h"
#include "wire/frame.h"

#define MSEC 1000000ULL

static struct net_switch sw;
static struct events events;
static struct wire out;

/*
 * A stand-in for a kind of wire: bytes that it can send, and bytes that it has
 * sent
 */
static size_t room;
static size_t sent;
static int broken;

static int open_up(struct wire *wire)
{
	wire_up(wire);
	return 0;
}

static int send_some(struct wire *wire)
{
	size_t n = frame_queue_used(&wire->tx);

	if (broken)
		return broken;
	if (n > room)
		n = room;
	room -= n;
	sent += n;
	frame_queue_consume(&wire->tx, n);
	return frame_queue_used(&wire->tx) ? -EAGAIN : 0;
}

static void nothing(struct wire *wire)
{
	(void)wire;
}

static const struct wire_kind kind = {
	.name = "test",
	.open = open_up,
	.flush = send_some,
	.try = nothing,
	.close = nothing,
};

static const struct wire_config config = { .kind = &kind, .name = "out" };

static struct switch_port in, third;

static void send_nothing(struct switch_port *port, const struct packet *pkt)
{
	(void)port;
	(void)pkt;
}

static struct log in_log = { .name = "in" };

static void end(void *arg)
{
	(void)arg;
	wire_close(&out);
	switch_disconnect(&in);
	events_release(&events);
}

/* Who is behind the wire: nobody else waits for it */
static const uint8_t far[6] = { 0x02, 1, 2, 3, 4, 5 };

static void setup(void)
{
	CHECK_EQ(events_init(&events), 0);
	in.name = "in";
	in.log = &in_log;
	in.send = send_nothing;
	CHECK_EQ(switch_connect(&sw, &in), 0);
	CHECK_EQ(wire_open(&out, &config, &events, &sw), 0);
	sw.now = 1000 * MSEC;
	mac_table_learn(&sw.macs, far, &out.port, sw.now);
	tap_at_end(end, NULL);
}

/* Send a frame of @len bytes to the wire. */
static void bring(size_t len)
{
	uint8_t frame[FRAME_MAX_LEN] = { 0 };
	struct packet pkt;

	memcpy(frame, far, sizeof(far));
	CHECK(frame_parse(frame, len, &pkt));
	switch_transmit(&in, &pkt);
}

static void bring_to_all(size_t len)
{
	uint8_t frame[FRAME_MAX_LEN] = { 0xff };
	struct packet pkt;

	CHECK(frame_parse(frame, len, &pkt));
	switch_transmit(&in, &pkt);
}

/* The socket becomes writable. */
static void writable(size_t bytes)
{
	room = bytes;
	wire_want_out(&out, false);
	wire_flush(&out);
}

TEST(frames_go_in_order_with_their_length)
{
	size_t at = 0;
	uint8_t *frame;

	setup();
	for (size_t len = 14; len < 200; len++)
		bring(len);
	for (size_t len = 14; len < 200; len++)
		CHECK_EQ(frame_queue_next(&out.tx, &at, &frame), len);
	CHECK_EQ(frame_queue_next(&out.tx, &at, &frame), 0);
	writable(SIZE_MAX);
	CHECK_EQ(sent, (14 + 199) * 186 / 2 + 186 * FRAME_PREFIX);
	CHECK_EQ(out.port.stats.tx_packets, 186);
	CHECK_EQ(out.port.stats.tx_bytes, (14 + 199) * 186 / 2);
	CHECK_EQ(out.port.stats.tx_dropped, 0);
}

/* The device must not sleep now: nothing else would wake it up for them. */
TEST(queued_frames_are_work)
{
	setup();
	room = SIZE_MAX;
	CHECK_EQ(wire_next_event(&out), WIRE_NEVER);
	bring(100);
	CHECK(wire_next_event(&out) <= sw.now);
	wire_flush(&out);
	CHECK_EQ(wire_next_event(&out), WIRE_NEVER);
	/* The file tells when there is room again. */
	room = 10;
	bring(100);
	wire_flush(&out);
	CHECK(out.want_out);
	CHECK_EQ(wire_next_event(&out), WIRE_NEVER);
}

static void bring_until_held(void)
{
	while (!switch_is_held(&in)) {
		CHECK(frame_queue_used(&out.tx) < 1 << 20);
		bring(4000);
	}
}

TEST(senders_wait_until_there_is_room)
{
	setup();
	bring_until_held();
	/*
	 * Room for a half is not enough to end the wait, to avoid frequent
	 * changes.
	 */
	writable(frame_queue_used(&out.tx) / 2);
	CHECK(switch_is_held(&in));
	writable(frame_queue_used(&out.tx));
	CHECK(!switch_is_held(&in));
	bring(4000);
	CHECK(!switch_is_held(&in));
}

/* Packets that go to others, too, must not keep senders to this wire waiting. */
TEST(packets_for_all_leave_room)
{
	size_t used;

	setup();
	/* A wire that all else goes to */
	third.name = "third";
	third.log = &in_log;
	third.send = send_nothing;
	CHECK_EQ(switch_connect(&sw, &third), 0);
	switch_set_up(&third, true);
	for (unsigned int i = 0; i < 1000; i++)
		bring_to_all(4000);
	CHECK(out.port.stats.tx_dropped);
	CHECK(!out.port.congested);
	used = frame_queue_used(&out.tx);
	CHECK(used < 400 << 10);
	/* As many fit again when it is short. */
	writable(SIZE_MAX);
	room = 0;
	for (unsigned int i = 0; i < 1000; i++)
		bring_to_all(4000);
	CHECK_EQ(frame_queue_used(&out.tx), used);
	/* They do not lengthen the wait for room either. */
	bring_until_held();
	for (unsigned int i = 0; i < 100; i++) {
		writable(16 << 10);
		bring_to_all(4000);
	}
	CHECK(!out.port.congested);
	switch_disconnect(&third);
}

/* The device must not sleep now: a wire that is not read wakes nobody up. */
TEST(wire_that_was_held_is_read_again)
{
	int fds[2];

	setup();
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	CHECK_EQ(wire_set_fd(&out, fds[0]), 0);
	switch_set_congested(&in, true);
	out.port.held_by = &in;
	wire_run(&out);
	CHECK_EQ(wire_next_event(&out), WIRE_NEVER);
	CHECK(!(out.mask & EPOLLIN));
	switch_set_congested(&in, false);
	CHECK(wire_next_event(&out) <= sw.now);
	wire_run(&out);
	CHECK(out.mask & EPOLLIN);
	CHECK_EQ(wire_next_event(&out), WIRE_NEVER);
	close(fds[1]);
}

/* Senders do not wait for ever, because they may have other peers. */
TEST(peer_that_does_not_read_holds_nobody_for_long)
{
	uint64_t since;

	setup();
	CHECK_EQ(wire_next_event(&out), WIRE_NEVER);
	bring_until_held();
	since = sw.now;
	CHECK(wire_next_event(&out) > since);
	CHECK(wire_next_event(&out) <= since + 1000 * MSEC);
	sw.now = wire_next_event(&out) - 1;
	wire_run(&out);
	CHECK(switch_is_held(&in));
	sw.now++;
	wire_run(&out);
	CHECK(!switch_is_held(&in));
	CHECK_EQ(wire_next_event(&out), WIRE_NEVER);
	/* From now on, frames that do not fit are lost. */
	while (!out.port.stats.tx_dropped) {
		bring(9000);
		CHECK(!switch_is_held(&in));
		CHECK(frame_queue_used(&out.tx) <= FRAME_QUEUE_LIMIT);
	}
	/*
	 * Senders are held again only after the peer has read the whole queue.
	 */
	writable(100000);
	bring(4000);
	CHECK(!switch_is_held(&in));
	writable(SIZE_MAX);
	room = 0;
	bring_until_held();
}

/* The memory of the queue suffices for any number of frames in succession. */
TEST(queue_that_never_gets_empty)
{
	setup();
	for (unsigned int i = 0; i < 200000; i++) {
		bring(14 + i * 7919 % 9000);
		if (frame_queue_used(&out.tx) > 3 << 20)
			writable(i * 104729 % (1 << 20));
		room = 0;
	}
	CHECK_EQ(out.port.stats.tx_dropped, 0);
	CHECK_EQ(out.port.stats.tx_bytes + FRAME_PREFIX * 200000,
		 sent + frame_queue_used(&out.tx));
}

TEST(full_queue_that_is_read_slowly)
{
	setup();
	for (unsigned int i = 0; i < 20000; i++) {
		bring(9000);
		writable(5000);
		room = 0;
		CHECK(frame_queue_used(&out.tx) <= FRAME_QUEUE_LIMIT);
	}
	CHECK(out.port.stats.tx_dropped);
	CHECK_EQ(out.port.stats.tx_packets + out.port.stats.tx_dropped, 20000);
}

static void bring_number(uint32_t number)
{
	uint8_t frame[9000] = { 0 };
	struct packet pkt;

	memcpy(frame, far, sizeof(far));
	memcpy(frame + 14, &number, sizeof(number));
	CHECK(frame_parse(frame, sizeof(frame), &pkt));
	switch_transmit(&in, &pkt);
}

/* Take the first frame out of the queue. Return: its number */
static uint32_t take_number(void)
{
	size_t at = out.tx.head;
	uint8_t *frame;
	uint32_t len = frame_queue_next(&out.tx, &at, &frame);
	uint32_t number;

	CHECK_EQ(len, 9000);
	CHECK(FRAME_PREFIX + len <= frame_queue_piece(&out.tx));
	memcpy(&number, frame + 14, sizeof(number));
	frame_queue_consume(&out.tx, FRAME_PREFIX + len);
	return number;
}

/* A peer that is slow makes it long. Moving it would take milliseconds */
TEST(long_queue_stays_where_it_is)
{
	const uint32_t length = 2000;

	setup();
	for (uint32_t i = 0; i < length; i++)
		bring_number(i);
	for (uint32_t i = length; i < 10 * length; i++) {
		size_t at = out.tx.head, before = at;
		uint8_t *frame, *again;

		CHECK(frame_queue_next(&out.tx, &at, &frame));
		bring_number(i);
		CHECK(frame_queue_next(&out.tx, &before, &again));
		CHECK(frame == again);
		CHECK_EQ(out.tx.head, at - FRAME_PREFIX - 9000);
		CHECK_EQ(take_number(), i - length);
	}
	for (uint32_t i = 9 * length; i < 10 * length; i++)
		CHECK_EQ(take_number(), i);
	CHECK_EQ(frame_queue_used(&out.tx), 0);
	CHECK_EQ(out.port.stats.tx_dropped, 0);
}

/* The caches stay warm for a short queue */
TEST(short_queue_stays_in_the_caches)
{
	setup();
	for (uint32_t i = 0; i < 20000; i++) {
		bring_number(i);
		CHECK(out.tx.tail < 2 << 20);
		if (i >= 10)
			CHECK_EQ(take_number(), i - 10);
	}
}

/* The lengths in a queue are not read when it is given up */
TEST(break_of_a_long_queue)
{
	setup();
	for (uint32_t i = 0; i < 2000; i++)
		bring_number(i);
	memset(out.tx.buf, 0, out.tx.tail);
	wire_down(&out, "test");
	CHECK_EQ(out.port.stats.tx_dropped, 2000);
}

/*
 * All queued frames are lost and counted, including one that was sent in part.
 */
TEST(break_loses_what_is_queued)
{
	setup();
	for (int i = 0; i < 10; i++)
		bring(1000);
	writable(2 * (1000 + FRAME_PREFIX) + 1);
	broken = -EPIPE;
	wire_want_out(&out, false);
	wire_flush(&out);
	CHECK(!out.port.up);
	CHECK_EQ(out.port.stats.tx_dropped, 8);
	CHECK_EQ(frame_queue_used(&out.tx), 0);
	bring(1000);
	CHECK_EQ(out.port.stats.tx_dropped, 9);
	CHECK_EQ(out.port.stats.tx_packets, 10);
}

static unsigned int calls;

/* A system call that takes long for a few frames */
static int send_slowly(struct wire *wire)
{
	uint64_t end = clock_ns() + NIC_TURN_NS / 8;
	size_t at = wire->tx.head;
	uint8_t *frame;
	uint32_t len = frame_queue_next(&wire->tx, &at, &frame);

	calls++;
	while (clock_ns() < end)
		;
	frame_queue_consume(&wire->tx, FRAME_PREFIX + len);
	return 0;
}

/*
 * A wire that accepts everything gets only a part at a time, because others
 * need turns.
 */
TEST(flush_ends_by_the_clock)
{
	static const struct wire_kind slow = {
		.name = "slow",
		.open = open_up,
		.flush = send_slowly,
		.try = nothing,
		.close = nothing,
	};
	static const struct wire_config slow_config = { .kind = &slow,
							.name = "out" };

	setup();
	out.config = &slow_config;
	for (int i = 0; i < 100; i++)
		bring(100);
	wire_flush(&out);
	CHECK(calls > 0 && calls < 50);
	/* The rest is sent when the file is writable, which it is */
	CHECK(out.want_out);
	while (frame_queue_used(&out.tx)) {
		unsigned int before = calls;

		writable(0);
		CHECK(calls > before && calls - before < 50);
	}
	CHECK(!out.want_out);
	CHECK_EQ(calls, 100);
}

#define SMALL_FRAMES 1000

static struct wire stream;
static unsigned int passed;

/* A port whose packets take long, like those to many NICs */
static void take_long(struct switch_port *port, const struct packet *pkt)
{
	uint64_t end = clock_ns() + NIC_TURN_NS / 8;

	(void)port;
	CHECK_EQ(pkt->smac[4] << 8 | pkt->smac[5], passed);
	passed++;
	while (clock_ns() < end)
		;
}

/* Send broadcasts of 14 bytes, as many as are read at once */
static void send_small_frames(int fd)
{
	struct {
		uint32_t prefix;
		uint8_t frame[14];
	} __attribute__((packed)) frames[SMALL_FRAMES];

	for (unsigned int i = 0; i < SMALL_FRAMES; i++) {
		frames[i].prefix = htonl(14);
		memset(frames[i].frame, 0xff, 6);
		memcpy(frames[i].frame + 6,
		       (uint8_t[]){ 2, 0, 0, 0, i >> 8, i, 0x88, 0xb5 }, 8);
	}
	CHECK_EQ(send(fd, frames, sizeof(frames), MSG_NOSIGNAL),
		 sizeof(frames));
}

static void end_stream(void *arg)
{
	(void)arg;
	wire_close(&stream);
	switch_disconnect(&in);
	events_release(&events);
}

/* Frames wait for the turn of their wire, in their order. */
TEST(small_frames_take_turns)
{
	static struct wire_config stream_config = { .kind = &wire_stream,
						    .name = "stream",
						    .mode = 0600 };
	unsigned int turns = 0;
	int fd;

	stream_config.listen = tap_print("%s/stream", device_dir());
	CHECK_EQ(events_init(&events), 0);
	in.name = "in";
	in.log = &in_log;
	in.send = take_long;
	in.up = true;
	CHECK_EQ(switch_connect(&sw, &in), 0);
	CHECK_EQ(wire_open(&stream, &stream_config, &events, &sw), 0);
	tap_at_end(end_stream, NULL);
	fd = vfu_connect_path(stream_config.listen);
	wire_run(&stream);
	while (!stream.port.up)
		events_wait(&events, EVENTS_NOT_AT_ALL);
	send_small_frames(fd);
	while (passed < SMALL_FRAMES) {
		unsigned int before = passed;

		/*
		 * The event loop must not sleep while frames are in the input
		 */
		if (wire_next_event(&stream) == WIRE_NEVER)
			events_wait(&events, EVENTS_NOT_AT_ALL);
		else
			wire_run(&stream);
		CHECK(passed - before <= 50);
		turns += passed > before;
	}
	CHECK(turns >= SMALL_FRAMES / 50);
	close(fd);
	while (stream.port.up)
		events_wait(&events, EVENTS_NOT_AT_ALL);
}

#define NUM_MEMBERS 8
#define NUM_DATAGRAMS 64

static struct wire dgram;
static struct switch_port members[NUM_MEMBERS];
static unsigned int copies;

/* All copies of a frame take a turn */
static void take_an_eighth(struct switch_port *port, const struct packet *pkt)
{
	uint64_t end = clock_ns() + NIC_TURN_NS / NUM_MEMBERS;

	(void)port;
	CHECK_EQ(pkt->smac[5], copies / NUM_MEMBERS);
	copies++;
	while (clock_ns() < end)
		;
}

static void end_dgram(void *arg)
{
	(void)arg;
	wire_close(&dgram);
	for (unsigned int i = 0; i < NUM_MEMBERS; i++)
		switch_disconnect(&members[i]);
	events_release(&events);
}

/* Open the wire. Return: its peer's socket */
static int open_dgram(void)
{
	static struct wire_config dgram_config = { .kind = &wire_dgram,
						   .name = "dgram",
						   .mode = 0600 };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr;

	dgram_config.local = tap_print("%s/dgram", device_dir());
	dgram_config.remote = tap_print("%s/peer", device_dir());
	addr = device_address(dgram_config.remote);
	CHECK_EQ(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	CHECK_EQ(events_init(&events), 0);
	for (unsigned int i = 0; i < NUM_MEMBERS; i++) {
		members[i].name = "member";
		members[i].log = &in_log;
		members[i].send = take_an_eighth;
		members[i].up = true;
		CHECK_EQ(switch_connect(&sw, &members[i]), 0);
	}
	CHECK_EQ(wire_open(&dgram, &dgram_config, &events, &sw), 0);
	tap_at_end(end_dgram, NULL);
	CHECK(dgram.port.up);
	addr = device_address(dgram_config.local);
	CHECK_EQ(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

/* Datagrams take turns, too, if several arrive in one system call. */
TEST(datagrams_take_turns)
{
	uint8_t frame[14] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2 };
	unsigned int posted = 0;
	int fd = open_dgram();

	while (copies < NUM_DATAGRAMS * NUM_MEMBERS) {
		unsigned int before = copies;

		while (posted < NUM_DATAGRAMS) {
			frame[11] = posted;
			if (send(fd, frame, sizeof(frame), MSG_DONTWAIT) < 0)
				break;
			posted++;
		}
		if (wire_next_event(&dgram) == WIRE_NEVER)
			events_wait(&events, EVENTS_NOT_AT_ALL);
		else
			wire_run(&dgram);
		CHECK(copies - before <= 4 * NUM_MEMBERS);
	}
	CHECK_EQ(dgram.port.stats.rx_packets, NUM_DATAGRAMS);
	close(fd);
	CHECK_EQ(unlink(dgram.config->remote), 0);
}
