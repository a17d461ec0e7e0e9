/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Busy polling: how long the device stays awake without work. A wake-up costs several times
 * as much as a doorbell. It costs more on virtual processors, where sleeping
 * returns the processor to the host for some 30 us. But QEMU's threads and
 * other device models also need processors, and this thread depends on them.
 */
#ifndef MYNIC_HOST_BUSY_POLL_H
#define MYNIC_HOST_BUSY_POLL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct busy_poll - when to sleep; all zero to begin with
 * @until: the end of busy polling, in ns of clock_ns()
 * @interrupt: time of the last interrupt; 0: there was work since
 * @polled_until: presumed end of polling by another process on this processor
 * @polled: length of that presumption, ns; 0: the last one was wrong
 * @answered: work followed soon after the last interrupt
 * @yields: yield the processor between two looks for work, because the receiver
 *	of an interrupt may need it
 */
struct busy_poll {
	uint64_t until;
	uint64_t interrupt;
	uint64_t polled_until;
	uint64_t polled;
	bool answered;
	bool yields;
};

/* There was work at @now, in ns of clock_ns(). */
void busy_poll_work(struct busy_poll *busy_poll, uint64_t now);

/**
 * busy_poll_interrupt() - an interrupt was raised
 * @busy_poll: state
 * @now: time of the interrupt in ns of clock_ns()
 *
 * The receiver of the interrupt needs long to post again. QEMU's main thread
 * may need this processor to forward the interrupt. The device therefore
 * sleeps, or yields the processor while it looks for work.
 */
void busy_poll_interrupt(struct busy_poll *busy_poll, uint64_t now);

/* Returns true if it is time to sleep, provided that there is no work @now. */
bool busy_poll_is_over(const struct busy_poll *busy_poll, uint64_t now);

/**
 * busy_poll_yielded() - note that others had the processor
 * @busy_poll: state
 * @begin: start of that time in ns of clock_ns()
 * @end: end of that time
 *
 * A thread that forwards an interrupt or answers returns the processor soon. A
 * polling process keeps it for a time slice, and would get one each time.
 */
void busy_poll_yielded(struct busy_poll *busy_poll, uint64_t begin,
		       uint64_t end);

#endif /* MYNIC_HOST_BUSY_POLL_H */
