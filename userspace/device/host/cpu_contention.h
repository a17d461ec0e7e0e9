/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A process on the device's own processor can post requests only while the
 * device sleeps. It then has to wake the device for each request. This detects
 * the pattern from the length of sleeps.
 */
#ifndef MYNIC_HOST_CPU_CONTENTION_H
#define MYNIC_HOST_CPU_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct cpu_contention - history of sleeps; starts with zeroes
 * @wake_ups: number of sleeps in a row that ended almost at once
 */
struct cpu_contention {
	unsigned int wake_ups;
};

/**
 * cpu_contention_slept() - evaluate a sleep
 * @contention: history of sleeps
 * @time: length of the sleep, ns
 *
 * Return: true if cpu_contention_move_away() should be called.
 */
bool cpu_contention_slept(struct cpu_contention *contention, uint64_t time);

/**
 * cpu_contention_move_away() - move the calling thread to another processor
 *
 * Its affinity mask stays the same, so the scheduler may move it back. Nothing
 * happens if the mask has only one processor.
 */
void cpu_contention_move_away(void);

#endif /* MYNIC_HOST_CPU_CONTENTION_H */
