// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Parts of the transport that need no NIC: timers, PSNs, opcodes */
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/packet/opcode.h"
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

/* IBTA 9.2, lengths of the headers from the BTH to the payload */
TEST(opcode_header_lengths)
{
	static const struct {
		uint8_t opcode;
		unsigned int len;
	} table[] = {
		{ 0x00, 12 }, { 0x01, 12 }, { 0x02, 12 }, { 0x03, 16 },
		{ 0x04, 12 }, { 0x05, 16 }, { 0x06, 28 }, { 0x07, 12 },
		{ 0x08, 12 }, { 0x09, 16 }, { 0x0a, 28 }, { 0x0b, 32 },
		{ 0x0c, 28 }, { 0x0d, 16 }, { 0x0e, 12 }, { 0x0f, 16 },
		{ 0x10, 16 }, { 0x11, 16 }, { 0x12, 24 }, { 0x13, 40 },
		{ 0x14, 40 }, { 0x16, 16 }, { 0x17, 16 }, { 0x20, 12 },
		{ 0x21, 12 }, { 0x22, 12 }, { 0x23, 16 }, { 0x24, 12 },
		{ 0x25, 16 }, { 0x26, 28 }, { 0x27, 12 }, { 0x28, 12 },
		{ 0x29, 16 }, { 0x2a, 28 }, { 0x2b, 32 }, { 0x64, 20 },
		{ 0x65, 24 }, { 0x81, 12 }, { 0xa0, 16 }, { 0xa1, 16 },
		{ 0xa2, 16 }, { 0xa3, 20 }, { 0xa4, 16 }, { 0xa5, 20 },
		{ 0xa6, 32 }, { 0xa7, 16 }, { 0xa8, 16 }, { 0xa9, 20 },
		{ 0xaa, 32 }, { 0xab, 36 }, { 0xac, 32 }, { 0xad, 16 },
		{ 0xae, 12 }, { 0xaf, 16 }, { 0xb0, 16 }, { 0xb1, 16 },
		{ 0xb2, 24 }, { 0xb3, 44 }, { 0xb4, 44 }, { 0xb6, 20 },
		{ 0xb7, 20 }, { 0x36, 16 }, { 0x37, 16 }, { 0x1c, 32 },
		{ 0x1d, 28 }, { 0xbc, 36 }, { 0xbd, 32 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		const struct opcode_info *info = opcode_info(table[i].opcode);

		CHECK(info->class != OPCODE_RESERVED);
		CHECK_EQ(opcode_headers_len(info), table[i].len);
	}
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		bool known = false;

		for (unsigned int i = 0; i < ARRAY_SIZE(table); i++)
			known |= table[i].opcode == opcode;
		CHECK_EQ(opcode_info(opcode)->class != OPCODE_RESERVED, known);
	}
}
