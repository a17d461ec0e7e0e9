/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A process on the device's own processor can post requests only while the
 * device sleeps. It then has to wake the device for each request. This detects
 * the pattern from the length of sleeps.
 */
#ifndef MYNIC_HOST_CROWDING_H
#define MYNIC_HOST_CROWDING_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct crowding - history of sleeps; starts with zeroes
 * @wake_ups: number of sleeps in a row that ended almost at once
 */
struct crowding {
	unsigned int wake_ups;
};

/**
 * crowding_slept() - evaluate a sleep
 * @crowding: history of sleeps
 * @time: length of the sleep, ns
 *
 * Return: true if crowding_move_away() should be called.
 */
bool crowding_slept(struct crowding *crowding, uint64_t time);

/**
 * crowding_move_away() - move the calling thread to another processor
 *
 * Its affinity mask stays the same, so the scheduler may move it back. Nothing
 * happens if the mask has only one processor.
 */
void crowding_move_away(void);

#endif /* MYNIC_HOST_CROWDING_H */
