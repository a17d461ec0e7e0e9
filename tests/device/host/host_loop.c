// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The order of turns in the event loop, with functions in place of NICs */
#include <time.h>

#include "core/nic.h"
#include "harness_tap.h"
#include "host/events.h"
#include "host/log.h"
#include "host/loop.h"
#include "host/switch.h"

#define NUM_NICS 3
#define NUM_ROUNDS 300

/**
 * struct nic - a NIC that always has something for the same wire
 * @port: its port
 * @sent: how often there was room for it
 */
struct nic {
	struct switch_port port;
	unsigned int sent;
};

static struct log test_log = { .name = "test" };
static struct net_switch sw;
static struct nic nics[NUM_NICS];
static unsigned int num_turns;
static bool room, stop;

/* In place of that of libc. No turn takes long, so none is the last for a while. */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	static long now;

	(void)clock;
	*ts = (struct timespec){ .tv_sec = 1, .tv_nsec = ++now };
	return 0;
}

/* The peer makes room once for all NICs, and the first one takes it. */
bool nic_run(struct nic *nic)
{
	if (num_turns++ % NUM_NICS == 0)
		room = true;
	if (room)
		nic->sent++;
	room = false;
	stop = num_turns >= NUM_ROUNDS * NUM_NICS;
	return true;
}

uint64_t nic_next_event(const struct nic *nic)
{
	(void)nic;
	return 0;
}

bool nic_watch(struct nic *nic)
{
	(void)nic;
	return false;
}

bool nic_stop_watching(struct nic *nic)
{
	(void)nic;
	return false;
}

const uint8_t *nic_mac(const struct nic *nic)
{
	static const uint8_t mac[6] = { 2 };

	(void)nic;
	return mac;
}

const uint8_t *nic_permanent_mac(const struct nic *nic)
{
	return nic_mac(nic);
}

uint32_t nic_receive(struct nic *nic, const struct packet *pkt)
{
	(void)nic;
	(void)pkt;
	return 0;
}

bool nic_can_receive(const struct nic *nic)
{
	(void)nic;
	return true;
}

void nic_resume(struct nic *nic, unsigned int way)
{
	(void)nic;
	(void)way;
}

void nic_set_link(struct nic *nic, bool up)
{
	(void)nic;
	(void)up;
}

void nic_overrun(struct nic *nic)
{
	(void)nic;
}

TEST(room_of_a_wire_is_for_all_nics)
{
	struct events events;
	const struct loop loop = { .events = &events, .sw = &sw };

	CHECK_EQ(events_init(&events), 0);
	for (unsigned int i = 0; i < NUM_NICS; i++) {
		nics[i].port.name = "nic";
		nics[i].port.log = &test_log;
		nics[i].port.nic = &nics[i];
		CHECK_EQ(switch_connect(&sw, &nics[i].port), 0);
	}
	loop_run(&loop, &stop);
	for (unsigned int i = 0; i < NUM_NICS; i++) {
		CHECK(nics[i].sent >= NUM_ROUNDS / NUM_NICS - 2);
		switch_disconnect(&nics[i].port);
	}
	events_release(&events);
}
