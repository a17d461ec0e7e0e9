// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The time that a client and its NIC take: its accounting, and the end of
 * turns. The clock only goes on when it is read.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <string.h>
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
#include "host/events.h"

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
		doorbells[i].access = (struct vfu_region_access){
			MYNIC_UAR_CQ_DB, MYNIC_BAR_UAR, 8
		};
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
