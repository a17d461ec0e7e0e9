// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The time that a client and its NIC take: its accounting, and the end of
 * turns. The clock only goes on when it is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/turn.h"
#include "core/nic.h"
#include "harness_tap.h"
#include "harness_vfu.h"
#include "host/card.h"
#include "host/clock.h"
#include "host/commands.h"
#include "host/events.h"
#include "host/loop.h"
#include "host/wire_faults.h"

#define NUM_RESETS 100
#define NUM_DOORBELLS 500

static struct net_switch sw;
static struct events events;
static struct card cards[2];

/* Time in ns, and how far each look at it advances it */
static uint64_t now = NSEC_PER_SEC;
static uint64_t tick = 1;

/* In place of that of libc */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (clock == CLOCK_REALTIME)
		return syscall(SYS_clock_gettime, clock, ts);
	now += tick;
	ts->tv_sec = now / NSEC_PER_SEC;
	ts->tv_nsec = now % NSEC_PER_SEC;
	return 0;
}

static void close_all(void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < ARRAY_SIZE(cards); i++)
		card_close(&cards[i]);
	events_release(&events);
}

static const char *open_cards(void)
{
	const char *dir = device_dir();
	const char *path[ARRAY_SIZE(cards)];

	CHECK_EQ(events_init(&events), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(cards); i++) {
		struct card_config config = {
			.name = "nic",
			.mac = { 2, 0, 0, 0, 0, i },
			.mode = 0600,
			.max_maps = 16,
		};

		path[i] = tap_print("%s/nic%u", dir, i);
		config.path = path[i];
		CHECK_EQ(card_open(&cards[i], &config, &events, &sw), 0);
	}
	tap_at_end(close_all, NULL);
	return path[0];
}

/* Let the device continue until it has replied */
static void wait_for_reply(int fd)
{
	uint8_t reply[512];
	ssize_t n;

	do {
		events_wait(&events, EVENTS_NOT_AT_ALL);
		n = recv(fd, reply, sizeof(reply), MSG_DONTWAIT);
		CHECK(n);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			FAIL("no reply: %s", strerror(errno));
	} while (n < 0);
}

static void send_command(int fd, uint16_t command, const void *payload,
			 size_t len)
{
	struct vfu_header hdr = {
		.command = command,
		.size = sizeof(hdr) + len,
	};

	vfu_send(fd, &hdr, payload, len, NULL, 0);
}

/* Connect to the first NIC */
static int connect_client(void)
{
	struct vfu_version version = {};
	int fd = vfu_connect_path(open_cards());

	send_command(fd, VFU_VERSION, &version, sizeof(version));
	wait_for_reply(fd);
	return fd;
}

/*
 * Messages of a client count as time of its NIC, and do not take turns of
 * others.
 */
TEST(messages_count)
{
	struct vfu_device_info info = { .argsz = sizeof(info) };
	int fd = connect_client();
	uint64_t before;

	before = cards[0].port.share.used;
	for (unsigned int i = 0; i < NUM_RESETS; i++)
		vfu_post(fd, VFU_DEVICE_RESET, NULL, 0);
	send_command(fd, VFU_DEVICE_GET_INFO, &info, sizeof(info));
	wait_for_reply(fd);
	CHECK(cards[0].port.share.used > before);
	CHECK_EQ(cards[1].port.share.used, 0);
	close(fd);
}

/* Doorbells have no more time than other messages, and none is lost */
TEST(doorbells_take_turns)
{
	struct {
		struct vfu_header hdr;
		struct vfu_region_access access;
		uint64_t value;
	} doorbells[NUM_DOORBELLS] = {};
	int fd = connect_client();
	uint64_t done = 0;

	for (unsigned int i = 0; i < NUM_DOORBELLS; i++) {
		doorbells[i].hdr = (struct vfu_header){
			.command = VFU_REGION_WRITE,
			.size = sizeof(doorbells[i]),
			.flags = VFU_NO_REPLY,
		};
		doorbells[i].access =
			(struct vfu_region_access){ MYNIC_UAR_CQ_DB,
						    MYNIC_BAR_UAR, 8 };
	}
	CHECK_EQ(send(fd, doorbells, sizeof(doorbells), MSG_NOSIGNAL),
		 sizeof(doorbells));
	tick = NIC_TURN_NS / 4;
	while (done < NUM_DOORBELLS) {
		uint64_t before = done;

		events_wait(&events, EVENTS_NOT_AT_ALL);
		done = nic_stat(cards[0].nic, MYNIC_STAT_BAD_DOORBELL);
		CHECK(done > before);
		CHECK(done - before <= 4 * TURN_LOOK);
	}
	CHECK_EQ(done, NUM_DOORBELLS);
	close(fd);
}

#define NUM_HELD 2000

/**
 * struct look - the event loop's looks at its clients
 * @source: event source that always has something
 * @packets: packets delivered at the last look
 * @most: packets between two looks
 * @stop: all packets have been delivered
 */
static struct look {
	struct event_source source;
	uint64_t packets;
	uint64_t most;
	bool stop;
} look;

static void look_ready(void *owner, uint32_t ready)
{
	struct look *l = owner;
	uint64_t packets = sw.packets - l->packets;

	(void)ready;
	l->packets = sw.packets;
	if (packets > l->most)
		l->most = packets;
	l->stop = sw.packets >= NUM_HELD;
}

static struct packet frame_from_first(void)
{
	struct packet pkt = {
		.kind = PACKET_ETH,
		.vlan = PACKET_NO_VLAN,
	};

	memcpy(pkt.smac, nic_mac(cards[0].nic), sizeof(pkt.smac));
	memcpy(pkt.dmac, nic_mac(cards[1].nic), sizeof(pkt.dmac));
	return pkt;
}

static struct wire_faults wire_faults;

static void end_faults(void *arg)
{
	(void)arg;
	wire_faults_release(&wire_faults);
}

/* Make the first NIC's port hold what it sends until 1 ms later */
static void hold_packets(unsigned int num)
{
	struct packet pkt = frame_from_first();
	char error[WIRE_FAULTS_ERROR_SIZE];

	cards[0].port.name = "sender";
	wire_faults_init(&wire_faults, &sw);
	tap_at_end(end_faults, NULL);
	CHECK(wire_faults_add(&wire_faults, "sender,kind=delay,time=1ms",
			      error));
	for (unsigned int i = 0; i < num; i++)
		switch_transmit(&cards[0].port, &pkt);
	CHECK_EQ(sw.packets, 0);
	now += NSEC_PER_SEC;
}

/*
 * Packets that wire faults have held are delivered in turns, with looks at the
 * clients in between, and charged to the NIC that sent them
 */
TEST(held_packets_take_turns)
{
	const struct loop loop = { .events = &events, .sw = &sw };
	int event = eventfd(1, EFD_CLOEXEC);

	open_cards();
	look.source = (struct event_source){ look_ready, &look };
	CHECK_EQ(events_add(&events, &look.source, event, EPOLLIN), 0);
	hold_packets(NUM_HELD);
	tick = NIC_TURN_NS / 4;
	loop_run(&loop, &look.stop);
	CHECK_EQ(sw.packets, NUM_HELD);
	CHECK(look.most <= 8 * TURN_LOOK);
	CHECK(cards[0].port.share.used >= tick);
	CHECK_EQ(cards[1].port.share.used, 0);
	close(event);
}

/* A packet that brings others along costs its sender as much as all of them */
TEST(packets_that_come_along_count)
{
	struct packet pkt;
	uint64_t units;

	open_cards();
	hold_packets(10);
	pkt = frame_from_first();
	units = sw.units;
	switch_transmit(&cards[0].port, &pkt);
	CHECK(sw.packets);
	CHECK(sw.units - units >= sw.packets);
}

#define NUM_RULES (2 * FAULTS_MAX_RULES)

/* Generous limit of the rules in a piece of an answer */
#define MOST_RULES 20

static struct commands commands;

static void end_commands(void *arg)
{
	(void)arg;
	commands_release(&commands);
}

/*
 * Execute a command. Return: lines with @what in its answer; @most: in one piece
 * at most
 */
static unsigned int answer_to(const char *command, const char *what,
			      unsigned int *most)
{
	struct commands_rest rest = {};
	unsigned int sum = 0;
	char line[64];
	bool first = true;

	snprintf(line, sizeof(line), "%s", command);
	*most = 0;
	do {
		unsigned int num = 0;
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);

		CHECK(out);
		if (first)
			commands_run(&commands, line, out, &rest);
		else
			commands_go_on(&rest, out);
		first = false;
		fclose(out);
		CHECK(!strstr(text, "error: "));
		for (const char *at = text; (at = strstr(at, what)); at++)
			num++;
		free(text);
		sum += num;
		if (num > *most)
			*most = num;
	} while (rest.step);
	return sum;
}

/* Nothing is beside a control socket that there is not. */
TEST(captures_beside_need_a_control_socket)
{
	char line[] = "capture-beside first x";
	struct commands_rest rest = {};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	CHECK(out);
	open_cards();
	cards[0].port.name = "first";
	cards[1].port.name = "second";
	commands_init(&commands, &sw, &events);
	tap_at_end(end_commands, NULL);
	commands_run(&commands, line, out, &rest);
	fclose(out);
	CHECK(!strcmp(text, "error: there is no control socket\n"));
	free(text);
}

/* However many rules there are, no piece of an answer shows many of them */
TEST(rules_are_shown_in_pieces)
{
	unsigned int most;

	open_cards();
	cards[0].port.name = "first";
	cards[1].port.name = "second";
	commands_init(&commands, &sw, &events);
	tap_at_end(end_commands, NULL);
	for (unsigned int i = 0; i < NUM_RULES; i++)
		CHECK_EQ(answer_to(i % 2 ? "fault add first,kind=drop" :
					   "fault add second,kind=drop",
				   "kind=drop", &most),
			 1);
	CHECK_EQ(answer_to("fault list", "kind=drop", &most), NUM_RULES);
	CHECK(most <= MOST_RULES);
	CHECK_EQ(answer_to("stats", "_applied", &most), NUM_RULES);
	CHECK(most <= MOST_RULES);
	CHECK_EQ(answer_to("stats first", "_applied", &most), NUM_RULES / 2);
	CHECK(most <= MOST_RULES);
	CHECK_EQ(answer_to("stats", "memory_bytes", &most), 2);
	CHECK_EQ(answer_to("fault clear", "ok", &most), 1);
	CHECK_EQ(answer_to("fault list", "kind=drop", &most), 0);
}

/* A refused connection may have files that take long to close */
TEST(helper_closes_refused_connections)
{
	struct rlimit limit, few;
	int fd, number;

	open_cards();
	fd = vfu_connect_path(cards[0].server.path);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	/* no number below the limit is free */
	few = limit;
	few.rlim_cur = fd + 1;
	for (number = 0; number < fd; number++)
		if (fcntl(number, F_GETFD) < 0)
			CHECK_EQ(dup2(0, number), number);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	events_wait(&events, EVENTS_NOT_AT_ALL);
	CHECK_EQ(cards[0].server.fd, -1);
	CHECK_EQ(cards[0].helper.num_files, 1);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	/* the next one is accepted, and refused ones end */
	CHECK_EQ(card_start(&cards[0]), 0);
	vfu_wait_end(fd);
	fd = vfu_connect_path(cards[0].server.path);
	events_wait(&events, EVENTS_NOT_AT_ALL);
	CHECK(cards[0].server.fd >= 0);
	CHECK(events.spare >= 0);
	close(fd);
}

/* Give all vectors of the first NIC the same eventfd */
static int give_vectors(struct irq_vectors *irq)
{
	int event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	irq_set_enabled(irq, true);
	for (unsigned int i = 0; i < MYNIC_MAX_VECTORS; i++)
		irq_set_fd(irq, i, fcntl(event, F_DUPFD_CLOEXEC, 0));
	return event;
}

/* Wait for one signal of the helper, and until its job has ended */
static void wait_for_signal(int event, const struct irq_vectors *irq)
{
	struct pollfd wait = { event, POLLIN, 0 };

	CHECK_EQ(poll(&wait, 1, -1), 1);
	while (irq->job.busy)
		events_wait(&events, EVENTS_NOT_AT_ALL);
}

/*
 * An eventfd that is slow again, by the time of the thread, is left to the
 * helper, with all others of its NIC
 */
TEST(slow_eventfds_have_a_helper)
{
	struct irq_vectors *irq = &cards[0].pci.irq;
	int event;

	open_cards();
	event = give_vectors(irq);
	tick = 100000;
	irq_raise(irq, 0);
	CHECK_EQ(vfu_signals(event), 1);
	irq_raise(irq, 1);
	CHECK_EQ(vfu_signals(event), 1);
	irq_raise(irq, 2);
	irq_raise(irq, 3);
	CHECK_EQ(vfu_signals(event), 0);
	CHECK_EQ(card_start(&cards[0]), 0);
	wait_for_signal(event, irq);
	CHECK(!irq->waiting);
	CHECK_EQ(vfu_signals(event), 2);
	/* the others have lost little of their time until it has a chance */
	CHECK(irq->helped_until - now >= 900 * tick);
	now = irq->helped_until;
	irq_raise(irq, 2);
	CHECK_EQ(vfu_signals(event), 1);
}

/* A thread that was interrupted once does not make an eventfd slow */
TEST(interrupted_signal_is_not_slow)
{
	struct irq_vectors *irq = &cards[0].pci.irq;
	int event;

	open_cards();
	event = give_vectors(irq);
	tick = 100000;
	irq_raise(irq, 0);
	CHECK(irq->suspected_until > now);
	tick = 1;
	for (unsigned int i = 0; i < 10; i++)
		irq_raise(irq, 0);
	CHECK_EQ(vfu_signals(event), 11);
	CHECK_EQ(irq->helped_until, 0);
}

/* A request for all vectors does not signal all of them in this thread */
TEST(requested_interrupts_take_turns)
{
	struct irq_vectors *irq = &cards[0].pci.irq;
	uint64_t done;
	int event;

	open_cards();
	event = give_vectors(irq);
	tick = 4000;
	irq_raise_all(irq, UINT32_MAX);
	CHECK_EQ(irq->helped_until, 0);
	done = vfu_signals(event);
	CHECK(done > 0 && done < MYNIC_MAX_VECTORS / 2);
	CHECK_EQ(card_start(&cards[0]), 0);
	while (done < MYNIC_MAX_VECTORS) {
		wait_for_signal(event, irq);
		done += vfu_signals(event);
	}
	CHECK_EQ(done, MYNIC_MAX_VECTORS);
}

/* Vectors that wait for the helper are lost or kept like others */
TEST(waiting_vectors_without_files)
{
	struct irq_vectors *irq = &cards[0].pci.irq;
	int event;

	open_cards();
	event = give_vectors(irq);
	irq->helped_until = UINT64_MAX;
	irq_raise(irq, 0);
	irq_raise(irq, 1);
	irq_release(irq);
	CHECK_EQ(card_start(&cards[0]), 0);
	wait_for_signal(event, irq);
	/* the one that the helper had not begun with */
	CHECK_EQ(vfu_signals(event), 1);
	CHECK_EQ(irq->pending, 2);
	give_vectors(irq);
	irq->waiting = 4;
	irq_set_enabled(irq, false);
	CHECK_EQ(irq->pending, 0);
	CHECK_EQ(irq->waiting, 0);
}
