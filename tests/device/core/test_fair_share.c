// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Fair turns of different lengths */
#include "core/nic.h"
#include "harness_tap.h"
#include "host/clock.h"
#include "host/fair_share.h"

#define MAX_NICS 3
#define LONG 200000u
#define SHORT 25000u

/*
 * struct nic_load - a NIC with a simulated load
 * @turn: length of its turns, ns; 0: it has no work
 * @messages: time for messages of its client in each round, ns
 * @had: time of its turns and messages
 */
struct nic_load {
	uint64_t turn;
	uint64_t messages;
	struct fair_share share;
	uint64_t had;
};

struct world {
	struct fair_clock clock;
	struct nic_load nic[MAX_NICS];
};

static uint64_t least(const struct world *w, const struct nic_load *nic)
{
	uint64_t least = nic->share.used;

	for (int i = 0; i < MAX_NICS; i++) {
		uint64_t used = fair_share_used(&w->clock, &w->nic[i].share);

		if (w->nic[i].turn && used < least)
			least = used;
	}
	return least;
}

static bool may_run(struct world *w, const struct nic_load *nic)
{
	if (!fair_share_is_ahead(&w->clock, &nic->share))
		return true;
	fair_clock_advance(&w->clock, least(w, nic));
	return !fair_share_is_ahead(&w->clock, &nic->share);
}

/* Return: true if any NIC had a turn */
static bool run_round(struct world *w)
{
	bool ran = false;

	for (int i = 0; i < MAX_NICS; i++) {
		struct nic_load *nic = &w->nic[i];

		fair_share_spent(&w->clock, &nic->share, nic->messages);
		nic->had += nic->messages;
		if (!may_run(w, nic))
			continue;
		fair_share_ran(&w->clock, &nic->share, nic->turn);
		nic->had += nic->turn;
		ran |= nic->turn;
	}
	return ran;
}

static void run_rounds(struct world *w, unsigned int num)
{
	for (unsigned int i = 0; i < num; i++)
		CHECK(run_round(w));
}

/*
 * Check that both have had the same time since @before, except for a few turns
 */
static void check_same(const struct world *w, const struct world *before)
{
	uint64_t a = w->nic[0].had - before->nic[0].had;
	uint64_t b = w->nic[1].had - before->nic[1].had;

	if (a + 4 * LONG < b || b + 4 * LONG < a)
		FAIL("%llu and %llu ns", (unsigned long long)a,
		     (unsigned long long)b);
}

TEST(long_and_short_turns)
{
	static const struct world none;
	struct world w = { .nic = { { .turn = SHORT }, { .turn = LONG } } };

	run_rounds(&w, 1000);
	check_same(&w, &none);
}

/* It is NICs that share, not guests: one that has two of them has two shares */
TEST(two_nics_of_one_guest)
{
	struct world w = {
		.nic = { { .turn = SHORT }, { .turn = LONG }, { .turn = LONG } }
	};
	uint64_t guest;

	run_rounds(&w, 1000);
	guest = w.nic[1].had + w.nic[2].had;
	CHECK(guest + 4 * LONG >= 2 * w.nic[0].had);
	CHECK(guest <= 2 * w.nic[0].had + 4 * LONG);
}

TEST(turns_of_the_same_length_are_all_taken)
{
	struct world w = { .nic = { { .turn = SHORT }, { .turn = SHORT } } };

	run_rounds(&w, 100);
	CHECK_EQ(w.nic[0].had, 100 * SHORT);
	CHECK_EQ(w.nic[1].had, 100 * SHORT);
}

/* Work for a NIC outside of its turns counts, too */
TEST(messages_beside_turns)
{
	static const struct world none;
	struct world w = { .nic = { { .turn = LONG, .messages = SHORT },
				    { .turn = LONG } } };

	run_rounds(&w, 1000);
	check_same(&w, &none);
}

/*
 * A NIC that was alone owes nothing, and one that was absent has saved nothing
 */
TEST(late)
{
	struct world w = { .nic = { {}, { .turn = LONG } } };
	struct world before;

	run_rounds(&w, 1000);
	CHECK_EQ(w.nic[1].had, 1000 * LONG);
	before = w;
	w.nic[0].turn = SHORT;
	run_rounds(&w, 1000);
	check_same(&w, &before);
}

/* A NIC that has work now and then gets its turn at once */
TEST(now_and_then)
{
	struct world w = { .nic = { {}, { .turn = LONG } } };

	for (int i = 0; i < 100; i++) {
		uint64_t had = w.nic[0].had;

		run_rounds(&w, 50);
		w.nic[0].turn = SHORT;
		run_rounds(&w, 1);
		CHECK_EQ(w.nic[0].had, had + SHORT);
		w.nic[0].turn = 0;
	}
}

/* A NIC has its next turn soon, even after a very long one */
TEST(one_very_long_turn)
{
	struct world w = { .nic = { { .turn = SHORT }, { .turn = LONG } } };
	uint64_t had;

	run_rounds(&w, 100);
	w.nic[0].turn = 5 * NSEC_PER_SEC;
	run_rounds(&w, 1);
	w.nic[0].turn = SHORT;
	had = w.nic[0].had;
	for (uint64_t other = w.nic[1].had; w.nic[0].had == had;) {
		run_rounds(&w, 1);
		CHECK(w.nic[1].had - other <= 25000000);
	}
}
