// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Accounting of the time that a client's messages take */
#include <errno.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness_tap.h"
#include "harness_vfu.h"
#include "host/card.h"
#include "host/events.h"

#define NUM_RESETS 100

static struct net_switch sw;
static struct events events;
static struct card cards[2];

static void close_all(void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < 2; i++)
		card_close(&cards[i]);
	events_release(&events);
}

static const char *open_cards(void)
{
	const char *dir = device_dir();
	const char *path[2];

	CHECK_EQ(events_init(&events), 0);
	for (unsigned int i = 0; i < 2; i++) {
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

/*
 * Messages of a client count as time of its NIC, and do not take turns of
 * others.
 */
TEST(messages_count)
{
	struct vfu_device_info info = { .argsz = sizeof(info) };
	struct vfu_version version = {};
	int fd = vfu_connect_path(open_cards());
	uint64_t before;

	send_command(fd, VFU_VERSION, &version, sizeof(version));
	wait_for_reply(fd);
	before = cards[0].port.share.used;
	for (unsigned int i = 0; i < NUM_RESETS; i++)
		vfu_post(fd, VFU_DEVICE_RESET, NULL, 0);
	send_command(fd, VFU_DEVICE_GET_INFO, &info, sizeof(info));
	wait_for_reply(fd);
	CHECK(cards[0].port.share.used > before);
	CHECK_EQ(cards[1].port.share.used, 0);
	close(fd);
}
