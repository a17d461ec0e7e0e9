// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Waits of the event loop, and their cost */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "harness_tap.h"
#include "host/clock.h"
#include "host/events.h"

#define MSEC 1000000ULL
#define HOUR (3600 * NSEC_PER_SEC)

static struct events events;
static struct event_source source;
static unsigned int calls;
static int file;

static void count_call(void *owner, uint32_t ready)
{
	(void)owner;
	CHECK_EQ(ready, EPOLLIN);
	calls++;
}

static void start(void)
{
	CHECK_EQ(events_init(&events), 0);
	file = eventfd(0, EFD_NONBLOCK);
	CHECK(file >= 0);
	source.ready = count_call;
	CHECK_EQ(events_add(&events, &source, file, EPOLLIN), 0);
	calls = 0;
}

static void end(void)
{
	close(file);
	events_release(&events);
}

/* Wait until @until, which @file ends at once */
static void wait_interrupted(uint64_t until)
{
	unsigned int before = calls;

	CHECK_EQ(eventfd_write(file, 1), 0);
	events_wait(&events, until);
	CHECK_EQ(calls, before + 1);
	CHECK_EQ(eventfd_read(file, &(eventfd_t){ 0 }), 0);
}

/* Time until the timer is due, ns; 0: it is not set */
static uint64_t timer_left(void)
{
	struct itimerspec when;

	CHECK_EQ(timerfd_gettime(events.alarm, &when), 0);
	return when.it_value.tv_sec * NSEC_PER_SEC + when.it_value.tv_nsec;
}

TEST(waits_as_long_as_it_is_told)
{
	start();
	for (int i = 0; i < 3; i++) {
		uint64_t until = clock_ns() + 5 * MSEC;

		events_wait(&events, until);
		CHECK(clock_ns() >= until);
	}
	CHECK_EQ(calls, 0);
	end();
}

TEST(waits_not_at_all)
{
	start();
	events_wait(&events, EVENTS_NOT_AT_ALL);
	CHECK_EQ(timer_left(), 0);
	wait_interrupted(EVENTS_NOT_AT_ALL);
	end();
}

TEST(waits_for_a_file_forever)
{
	start();
	wait_interrupted(EVENTS_FOREVER);
	CHECK_EQ(timer_left(), 0);
	end();
}

TEST(an_earlier_time_counts)
{
	uint64_t until;

	start();
	wait_interrupted(clock_ns() + HOUR);
	until = clock_ns() + 5 * MSEC;
	events_wait(&events, until);
	CHECK(clock_ns() >= until);
	end();
}

TEST(a_time_that_is_put_off_ends_one_wait)
{
	unsigned int early = 0;
	uint64_t until;

	start();
	wait_interrupted(clock_ns() + 5 * MSEC);
	until = clock_ns() + 50 * MSEC;
	for (;;) {
		events_wait(&events, until);
		if (clock_ns() >= until)
			break;
		early++;
	}
	CHECK(early <= 1);
	end();
}

TEST(a_time_that_has_passed_ends_no_wait_twice)
{
	uint64_t ahead = MSEC;
	uint64_t until;

	start();
	/* If the machine is busy, the time may come in this wait. */
	do {
		until = clock_ns() + ahead;
		wait_interrupted(until);
		ahead *= 2;
	} while (events.alarm_due == EVENTS_FOREVER);
	while (clock_ns() < until)
		;
	events_wait(&events, EVENTS_FOREVER);
	wait_interrupted(EVENTS_FOREVER);
	CHECK_EQ(timer_left(), 0);
	end();
}

TEST(a_later_time_leaves_the_timer_alone)
{
	start();
	wait_interrupted(clock_ns() + HOUR);
	wait_interrupted(clock_ns() + 2 * HOUR);
	wait_interrupted(EVENTS_FOREVER);
	CHECK(timer_left() > 0);
	CHECK(timer_left() <= HOUR);
	end();
}
