// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The limit of a turn, and traffic in the journal, of a NIC that is only a struct */
#include <stdlib.h>

#include "core/packet/packet.h"
#include "core/state/nic_types.h"
#include "core/state/traffic.h"
#include "harness_tap.h"

struct clock {
	uint64_t now;
	unsigned int looks;
};

static uint64_t look(void *ctx)
{
	struct clock *clock = ctx;

	clock->looks++;
	return clock->now;
}

static const struct nic_ops ops = { .now = look };

static struct nic *make_nic(struct clock *clock)
{
	struct nic *nic = calloc(1, sizeof(*nic));

	CHECK(nic);
	nic->config.ops = &ops;
	nic->config.ctx = clock;
	return nic;
}

/* The clock is read once for TURN_LOOK units, and not for less. */
TEST(turns_look_rarely_at_the_clock)
{
	struct clock clock = { .now = 100 };
	struct nic *nic = make_nic(&clock);

	nic->turn.end = 200;
	for (unsigned int i = 0; i < 10 * TURN_LOOK; i++) {
		nic_charge(nic, 1);
		CHECK(!nic_turn_is_over(nic));
	}
	CHECK_EQ(clock.looks, 10);
	clock.now = 200;
	CHECK(!nic_turn_is_over(nic));
	nic_charge(nic, TURN_LOOK);
	CHECK(nic_turn_is_over(nic));
	CHECK_EQ(clock.looks, 11);
	free(nic);
}

/* Another kind of work gets some units even then, and no more. */
TEST(turns_that_are_over_grant_some_work)
{
	struct clock clock = { .now = 200 };
	struct nic *nic = make_nic(&clock);

	nic->turn.end = 100;
	nic_charge(nic, TURN_LOOK);
	CHECK(nic_turn_is_over(nic));
	nic_grant(nic);
	for (unsigned int i = 1; i < TURN_LOOK; i++) {
		nic_charge(nic, 1);
		CHECK(!nic_turn_is_over(nic));
	}
	nic_charge(nic, 1);
	CHECK(nic_turn_is_over(nic));
	free(nic);
}

/* A packet with a defect has no numbers that could be trusted. */
TEST(traffic_of_a_defective_packet)
{
	struct packet pkt = {
		.kind = PACKET_ROCE,
		.roce = { .dest_qpn = 7, .opcode = 4, .psn = 9 },
	};
	struct clock clock = { .now = 5 };
	struct nic *nic = make_nic(&clock);
	const struct journal_entry *e;

	CHECK(journal_begin(&nic->journal));
	traffic_note_packet(nic, JOURNAL_RECEIVED, &pkt);
	pkt.defect = PACKET_BAD_ICRC;
	traffic_note_packet(nic, JOURNAL_RECEIVED, &pkt);
	e = journal_at(&nic->journal, 0);
	CHECK_EQ(e->kind, JOURNAL_RECEIVED);
	CHECK_EQ(e->time, 5);
	CHECK_EQ(e->code, PACKET_ROCE);
	CHECK_EQ(e->number, 7);
	CHECK_EQ(e->from, 4);
	CHECK_EQ(e->psn, 9);
	e = journal_at(&nic->journal, 1);
	CHECK_EQ(e->code, PACKET_ETH);
	CHECK_EQ(e->number, 0);
	CHECK_EQ(e->psn, 0);
	journal_end(&nic->journal);
	free(nic);
}
