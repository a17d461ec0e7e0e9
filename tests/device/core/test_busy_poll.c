// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The decision when the device sleeps */
#include "harness_tap.h"
#include "host/busy_poll.h"

#define USEC 1000ull
#define MSEC (1000 * USEC)
#define AFTER_WORK (5 * USEC)
#define AFTER_INTERRUPT (400 * USEC)
#define SLICE (700 * USEC)
#define POLLED (10 * MSEC)
#define POLLED_MAX (320 * MSEC)

static struct busy_poll busy_poll;
static uint64_t now;

/* Raise an interrupt, which is followed by work @later ns afterwards */
static void interrupt_answered(uint64_t later)
{
	busy_poll_interrupt(&busy_poll, now);
	now += later;
	busy_poll_work(&busy_poll, now);
}

static void start(void)
{
	busy_poll = (struct busy_poll){ 0 };
	now = 3600 * 1000 * MSEC;
}

static void ends_after(uint64_t time)
{
	if (time)
		CHECK(!busy_poll_is_over(&busy_poll, now + time - 1));
	CHECK(busy_poll_is_over(&busy_poll, now + time));
}

TEST(ends_soon_behind_work)
{
	start();
	CHECK(busy_poll_is_over(&busy_poll, now));
	busy_poll_work(&busy_poll, now);
	CHECK(!busy_poll.yields);
	ends_after(AFTER_WORK);
}

TEST(ends_at_once_behind_an_interrupt)
{
	start();
	busy_poll_work(&busy_poll, now);
	busy_poll_interrupt(&busy_poll, now);
	ends_after(0);
}

TEST(goes_on_if_there_was_an_answer_last_time)
{
	start();
	interrupt_answered(AFTER_INTERRUPT - 1);
	busy_poll_interrupt(&busy_poll, now);
	CHECK(busy_poll.yields);
	ends_after(AFTER_INTERRUPT);
}

TEST(ends_at_once_if_there_was_none_in_time)
{
	start();
	interrupt_answered(0);
	interrupt_answered(AFTER_INTERRUPT);
	busy_poll_interrupt(&busy_poll, now);
	CHECK(!busy_poll.yields);
	ends_after(0);
}

TEST(only_the_first_work_is_the_answer)
{
	start();
	interrupt_answered(AFTER_INTERRUPT - 1);
	now += AFTER_INTERRUPT;
	busy_poll_work(&busy_poll, now);
	busy_poll_interrupt(&busy_poll, now);
	ends_after(AFTER_INTERRUPT);
}

TEST(an_answer_is_the_last_interrupts)
{
	start();
	interrupt_answered(0);
	busy_poll_interrupt(&busy_poll, now);
	now += AFTER_INTERRUPT;
	interrupt_answered(0);
	busy_poll_interrupt(&busy_poll, now);
	ends_after(AFTER_INTERRUPT);
}

TEST(yields_only_behind_an_interrupt)
{
	start();
	interrupt_answered(0);
	CHECK(!busy_poll.yields);
	busy_poll_interrupt(&busy_poll, now);
	CHECK(busy_poll.yields);
	busy_poll_work(&busy_poll, now);
	CHECK(!busy_poll.yields);
	ends_after(AFTER_WORK);
}

/*
 * Raise an interrupt, after which another process takes a time slice before the
 * answer
 */
static void slice_taken(void)
{
	busy_poll_interrupt(&busy_poll, now);
	CHECK(busy_poll.yields);
	busy_poll_yielded(&busy_poll, now, now + SLICE);
	now += SLICE;
	busy_poll_work(&busy_poll, now);
}

/* Check that it yields again after @time, and not before */
static void polled_for(uint64_t time)
{
	now += time - 1;
	interrupt_answered(0);
	busy_poll_interrupt(&busy_poll, now);
	CHECK(!busy_poll.yields);
	ends_after(0);
	now++;
	busy_poll_interrupt(&busy_poll, now);
	CHECK(busy_poll.yields);
	ends_after(AFTER_INTERRUPT);
}

TEST(does_not_give_way_to_who_polls)
{
	start();
	interrupt_answered(0);
	slice_taken();
	polled_for(POLLED);
}

TEST(gives_way_more_and_more_rarely_to_who_polls)
{
	start();
	interrupt_answered(0);
	for (uint64_t time = POLLED; time < POLLED_MAX; time *= 2) {
		slice_taken();
		polled_for(time);
	}
	for (int i = 0; i < 3; i++) {
		slice_taken();
		polled_for(POLLED_MAX);
	}
}

TEST(an_answer_shows_that_nobody_polls)
{
	start();
	interrupt_answered(0);
	slice_taken();
	polled_for(POLLED);
	slice_taken();
	polled_for(2 * POLLED);
	interrupt_answered(AFTER_INTERRUPT - 1);
	interrupt_answered(0);
	slice_taken();
	polled_for(POLLED);
}

TEST(gives_way_again_to_who_does_not)
{
	start();
	interrupt_answered(0);
	busy_poll_interrupt(&busy_poll, now);
	busy_poll_yielded(&busy_poll, now, now + SLICE - 1);
	now += SLICE;
	interrupt_answered(0);
	busy_poll_interrupt(&busy_poll, now);
	CHECK(busy_poll.yields);
}
