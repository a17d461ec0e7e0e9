/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Who posts on the device's own processor can do so only while the device sleeps,
 * and then has to wake it up for each request.
 */
#ifndef MYNIC_HOST_CROWDING_H
#define MYNIC_HOST_CROWDING_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct crowding - what the last sleeps were like; all zero to begin with
 * @wake_ups: how often the thread was woken up as soon as it slept, in a row
 */
struct crowding {
	unsigned int wake_ups;
};

/**
 * crowding_slept() - judge a sleep
 * @crowding: see there
 * @time: how long it took, in ns
 *
 * Return: whether it is time for crowding_move_away().
 */
bool crowding_slept(struct crowding *crowding, uint64_t time);

/**
 * crowding_move_away() - take the calling thread to another processor
 *
 * The set of processors that it may be on stays as it is, so the scheduler is
 * free to bring it back; if that is a single one, nothing happens.
 */
void crowding_move_away(void);

#endif /* MYNIC_HOST_CROWDING_H */
