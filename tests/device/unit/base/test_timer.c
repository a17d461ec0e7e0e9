// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Timers, and PSNs */
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/base/psn.h"
#include "core/base/timer.h"
#include "harness_tap.h"

struct alarm {
	struct timer timer;
	struct timers *timers;
	unsigned int fired;
	uint64_t again;
};

static void ring(struct timer *timer)
{
	struct alarm *alarm = (struct alarm *)timer;

	alarm->fired++;
	if (alarm->again)
		timer_set(alarm->timers, timer, alarm->again);
}

static struct alarm *make(struct timers *timers, unsigned int num)
{
	struct alarm *alarms = tap_alloc(num * sizeof(*alarms));

	for (unsigned int i = 0; i < num; i++) {
		alarms[i].timers = timers;
		CHECK_EQ(timer_add(timers, &alarms[i].timer, ring), 0);
	}
	return alarms;
}

TEST(timers_none)
{
	struct mem mem = { .limit = SIZE_MAX };
	struct timers timers = { .mem = &mem };

	CHECK_EQ(timers_next(&timers), TIMER_NEVER);
	timers_run(&timers, 1000);
	make(&timers, 3);
	CHECK_EQ(timers_next(&timers), TIMER_NEVER);
	timers_free(&timers);
}

/* Many timers need memory only as long as they are there. */
TEST(timers_give_memory_back)
{
	struct mem mem = { .limit = SIZE_MAX };
	struct timers timers = { .mem = &mem };
	struct alarm *alarm = make(&timers, 1);
	size_t one = mem.used;
	struct alarm *many = make(&timers, 1000);

	CHECK(mem.used >= 1001 * sizeof(struct timer *));
	timer_set(&timers, &alarm->timer, 100);
	for (unsigned int i = 0; i < 1000; i++) {
		timer_set(&timers, &many[i].timer, 50 + i);
		/* There is no memory for less. */
		mem.limit = i < 900 ? mem.used : SIZE_MAX;
		timer_remove(&timers, &many[i].timer);
	}
	CHECK_EQ(mem.used, one);
	timers_run(&timers, 100);
	CHECK_EQ(alarm->fired, 1);
	timers_free(&timers);
	CHECK_EQ(mem.used, 0);
}

TEST(timers_fire_once_and_not_early)
{
	struct mem mem = { .limit = SIZE_MAX };
	struct timers timers = { .mem = &mem };
	struct alarm *alarm = make(&timers, 1);

	timer_set(&timers, &alarm->timer, 100);
	CHECK_EQ(timers_next(&timers), 100);
	timers_run(&timers, 99);
	CHECK_EQ(alarm->fired, 0);
	timers_run(&timers, 100);
	CHECK_EQ(alarm->fired, 1);
	CHECK(!timer_is_set(&alarm->timer));
	timers_run(&timers, 1000);
	CHECK_EQ(alarm->fired, 1);
	timers_free(&timers);
}

TEST(timers_put_off_and_brought_forward)
{
	struct mem mem = { .limit = SIZE_MAX };
	struct timers timers = { .mem = &mem };
	struct alarm *alarm = make(&timers, 2);

	timer_set(&timers, &alarm[0].timer, 100);
	timer_set(&timers, &alarm[1].timer, 150);
	timer_set(&timers, &alarm[0].timer, 200);
	timers_run(&timers, 199);
	CHECK_EQ(alarm[0].fired, 0);
	CHECK_EQ(alarm[1].fired, 1);
	CHECK_EQ(timers_next(&timers), 200);
	timer_set(&timers, &alarm[0].timer, 50);
	CHECK_EQ(timers_next(&timers), 50);
	timers_run(&timers, 50);
	CHECK_EQ(alarm[0].fired, 1);
	timers_free(&timers);
}

TEST(timers_stopped)
{
	struct mem mem = { .limit = SIZE_MAX };
	struct timers timers = { .mem = &mem };
	struct alarm *alarm = make(&timers, 1);

	timer_set(&timers, &alarm->timer, 100);
	timer_stop(&alarm->timer);
	timers_run(&timers, 100);
	CHECK_EQ(alarm->fired, 0);
	CHECK_EQ(timers_next(&timers), TIMER_NEVER);
	timer_set(&timers, &alarm->timer, 300);
	timer_stop(&alarm->timer);
	timer_set(&timers, &alarm->timer, 400);
	timers_run(&timers, 399);
	CHECK_EQ(alarm->fired, 0);
	timers_run(&timers, 400);
	CHECK_EQ(alarm->fired, 1);
	timers_free(&timers);
}

TEST(timers_cancelled)
{
	struct mem mem = { .limit = SIZE_MAX };
	struct timers timers = { .mem = &mem };
	struct alarm *alarm = make(&timers, 2);

	timer_set(&timers, &alarm[0].timer, 100);
	timer_set(&timers, &alarm[1].timer, 200);
	timer_cancel(&timers, &alarm[0].timer);
	CHECK(!timer_is_set(&alarm[0].timer));
	CHECK_EQ(timers_next(&timers), 200);
	timer_cancel(&timers, &alarm[0].timer);
	timers_run(&timers, 200);
	CHECK_EQ(alarm[0].fired, 0);
	CHECK_EQ(alarm[1].fired, 1);
	timer_set(&timers, &alarm[0].timer, 300);
	timers_run(&timers, 300);
	CHECK_EQ(alarm[0].fired, 1);
	timers_free(&timers);
}

TEST(timers_set_again_from_within)
{
	struct mem mem = { .limit = SIZE_MAX };
	struct timers timers = { .mem = &mem };
	struct alarm *alarm = make(&timers, 2);

	alarm[0].again = 11;
	timer_set(&timers, &alarm[0].timer, 1);
	timer_set(&timers, &alarm[1].timer, 5);
	timers_run(&timers, 10);
	CHECK_EQ(alarm[0].fired, 1);
	CHECK_EQ(alarm[1].fired, 1);
	timers_run(&timers, 11);
	CHECK_EQ(alarm[0].fired, 2);
	/* due again at once: the call still ends */
	CHECK_EQ(timers_next(&timers), 11);
	timers_free(&timers);
}

/* A call handles a limited number of timers, the earliest first */
TEST(timers_many)
{
	struct mem mem = { .limit = SIZE_MAX };
	struct timers timers = { .mem = &mem };
	struct alarm *alarms = make(&timers, 1000);
	unsigned int calls = 1, fired = 0;

	for (unsigned int i = 0; i < 1000; i++)
		timer_set(&timers, &alarms[i].timer, 1000 - i);
	while (timers_run(&timers, 1000)) {
		unsigned int before = fired;

		fired = 0;
		for (unsigned int i = 0; i < 1000; i++)
			fired += alarms[i].fired;
		CHECK(fired - before <= 100);
		CHECK_EQ(alarms[1000 - fired].fired, 1);
		CHECK_EQ(alarms[1000 - fired - 1].fired, 0);
		calls++;
	}
	CHECK(calls >= 10);
	for (unsigned int i = 0; i < 1000; i++)
		CHECK_EQ(alarms[i].fired, 1);
	timers_free(&timers);
	CHECK_EQ(mem.used, 0);
}

/* Comparison with a model that searches all timers */
TEST(timers_at_random)
{
	enum { NUM = 200 };
	struct mem mem = { .limit = SIZE_MAX };
	struct timers timers = { .mem = &mem };
	struct alarm *alarms = make(&timers, NUM);
	uint64_t due[NUM];
	unsigned int fired[NUM] = { 0 };
	bool there[NUM];
	uint64_t now = 0;

	srand(1);
	for (unsigned int i = 0; i < NUM; i++) {
		due[i] = TIMER_NEVER;
		there[i] = true;
	}
	for (int step = 0; step < 20000; step++) {
		unsigned int i = rand() % NUM;
		struct timer *timer = &alarms[i].timer;

		switch (there[i] ? rand() % 8 : 8) {
		case 0:
			timer_stop(timer);
			due[i] = TIMER_NEVER;
			break;
		case 1:
			timer_remove(&timers, timer);
			due[i] = TIMER_NEVER;
			there[i] = false;
			break;
		case 2:
			now += rand() % 20;
			timers_run(&timers, now);
			for (unsigned int j = 0; j < NUM; j++) {
				if (due[j] > now)
					continue;
				due[j] = TIMER_NEVER;
				fired[j]++;
			}
			break;
		case 8:
			CHECK_EQ(timer_add(&timers, timer, ring), 0);
			there[i] = true;
			break;
		default:
			due[i] = now + 1 + rand() % 200;
			timer_set(&timers, timer, due[i]);
		}
		for (unsigned int j = 0; j < NUM; j++) {
			CHECK_EQ(alarms[j].fired, fired[j]);
			CHECK(timers_next(&timers) <= due[j]);
		}
	}
	timers_free(&timers);
}

TEST(psn_wraps)
{
	CHECK_EQ(psn_add(0xffffff, 1), 0);
	CHECK_EQ(psn_add(0, -1), 0xffffff);
	CHECK(psn_diff(5, 5) == 0);
	CHECK(psn_diff(0, 0xffffff) == 1);
	CHECK(psn_diff(0xffffff, 0) == -1);
	CHECK(psn_diff(0x7fffff, 0) == 0x7fffff);
	CHECK(psn_diff(0x800000, 0) == -PSN_HALF);
	CHECK(psn_diff(0x123456, 0x923456) == -PSN_HALF);
	/* bits above the 24 of a PSN are ignored */
	CHECK(psn_diff(0x5000003, 0x1000001) == 2);
}
