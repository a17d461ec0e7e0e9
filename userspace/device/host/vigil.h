/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How long the device stays awake without work. A wake-up costs several times
 * as much as a doorbell. It costs more on virtual processors, where sleeping
 * returns the processor to the host for some 30 us. But QEMU's threads and
 * other device models also need processors, and this thread depends on them.
 */
#ifndef MYNIC_HOST_VIGIL_H
#define MYNIC_HOST_VIGIL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct vigil - when to sleep; all zero to begin with
 * @until: end of the present vigil in ns of clock_ns()
 * @interrupt: time of the last interrupt; 0: there was work since
 * @polled_until: presumed end of polling by another process on this processor
 * @polled: length of that presumption, ns; 0: the last one was wrong
 * @answered: work followed soon after the last interrupt
 * @polite: yield the processor between looks, because the receiver of an
 * interrupt may need it
 */
struct vigil {
	uint64_t until;
	uint64_t interrupt;
	uint64_t polled_until;
	uint64_t polled;
	bool answered;
	bool polite;
};

/* There was work at @now, in ns of clock_ns(). */
void vigil_work(struct vigil *vigil, uint64_t now);

/**
 * vigil_interrupt() - an interrupt was raised
 * @vigil: state
 * @now: time of the interrupt in ns of clock_ns()
 *
 * The receiver of the interrupt needs long to post again. QEMU's main thread
 * may need this processor to forward the interrupt. The device therefore
 * sleeps, or yields the processor while it looks for work.
 */
void vigil_interrupt(struct vigil *vigil, uint64_t now);

/* Returns true if it is time to sleep, provided that there is no work @now. */
bool vigil_is_over(const struct vigil *vigil, uint64_t now);

/**
 * vigil_gave_way() - note that others had the processor
 * @vigil: state
 * @begin: start of that time in ns of clock_ns()
 * @end: end of that time
 *
 * A thread that forwards an interrupt or answers returns the processor soon. A
 * polling process keeps it for a time slice, and would get one each time.
 */
void vigil_gave_way(struct vigil *vigil, uint64_t begin, uint64_t end);

#endif /* MYNIC_HOST_VIGIL_H */
