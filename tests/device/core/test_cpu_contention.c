// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Moves of the device to another processor */
#include <sched.h>

#include "harness_tap.h"
#include "host/cpu_contention.h"

#define QUICK 39999u
#define LONG 40000u
#define ROW 32u

static void sleep_quickly(struct cpu_contention *contention, unsigned int times)
{
	while (times--)
		CHECK(!cpu_contention_slept(contention, QUICK));
}

TEST(every_row_of_quick_wake_ups_counts)
{
	struct cpu_contention contention = { 0 };

	for (unsigned int i = 0; i < 3; i++) {
		sleep_quickly(&contention, ROW - 1);
		CHECK(cpu_contention_slept(&contention, QUICK));
	}
}

TEST(a_long_sleep_ends_the_row)
{
	struct cpu_contention contention = { 0 };

	for (unsigned int i = 0; i < 3; i++) {
		sleep_quickly(&contention, ROW - 1);
		CHECK(!cpu_contention_slept(&contention, LONG));
	}
	sleep_quickly(&contention, ROW - 1);
	CHECK(cpu_contention_slept(&contention, 0));
}

static cpu_set_t allowed_now(void)
{
	cpu_set_t set;

	CHECK_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
	return set;
}

TEST(moves_and_may_still_be_anywhere)
{
	cpu_set_t allowed = allowed_now();
	unsigned int tries = 20;
	unsigned int moves = 0;

	if (CPU_COUNT(&allowed) < 2)
		tap_skip("there is only one processor");
	for (unsigned int i = 0; i < tries; i++) {
		int cpu = sched_getcpu();
		cpu_set_t now;

		cpu_contention_move_away();
		/* The scheduler may sometimes have brought it back */
		moves += sched_getcpu() != cpu;
		now = allowed_now();
		CHECK(CPU_EQUAL(&now, &allowed));
	}
	CHECK(moves > tries / 2);
}

TEST(stays_where_it_has_to)
{
	cpu_set_t one, now;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	cpu_contention_move_away();
	CHECK_EQ(sched_getcpu(), cpu);
	now = allowed_now();
	CHECK(CPU_EQUAL(&now, &one));
}
