/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How long the device stays awake with nothing to do. To be woken up costs
 * several times what it costs to handle a doorbell, and more where processors
 * are virtual: there who sleeps gives the processor back, some 30 us. But QEMU's
 * threads and other device models need processors, too, and are what this one
 * waits for.
 */
#ifndef MYNIC_HOST_VIGIL_H
#define MYNIC_HOST_VIGIL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct vigil - when to sleep; all zero to begin with
 * @until: look around until then, as clock_ns()
 * @interrupt: when the last interrupt was raised, 0 if there was work since
 * @polled_until: somebody else polls on this processor, presumably until then
 * @polled: for how long that was presumed last, in ns; 0 if it was wrong
 * @answered: behind the last interrupt there was work soon
 * @polite: what it looks for comes from who got an interrupt, and may need this
 *	processor for that
 */
struct vigil {
	uint64_t until;
	uint64_t interrupt;
	uint64_t polled_until;
	uint64_t polled;
	bool answered;
	bool polite;
};

/** vigil_work() - there was something to do at @now, as clock_ns() */
void vigil_work(struct vigil *vigil, uint64_t now);

/**
 * vigil_interrupt() - an interrupt was raised
 * @vigil: see there
 * @now: when, as clock_ns()
 *
 * It takes long until who gets it has something to do, and QEMU's main thread
 * may wait for this processor to pass it on. So either there is nothing to look
 * around for, or it is done politely.
 */
void vigil_interrupt(struct vigil *vigil, uint64_t now);

/** vigil_is_over() - Return: whether to sleep if there is nothing to do @now */
bool vigil_is_over(const struct vigil *vigil, uint64_t now);

/**
 * vigil_gave_way() - others had the processor
 * @vigil: see there
 * @begin: since when, as clock_ns()
 * @end: until when
 *
 * Who has got it to pass on an interrupt, or to answer, gives it back soon. Who
 * polls keeps it for a time slice, and would get one each time.
 */
void vigil_gave_way(struct vigil *vigil, uint64_t begin, uint64_t end);

#endif /* MYNIC_HOST_VIGIL_H */
