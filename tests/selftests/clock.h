/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Readers of the clock page */
#ifndef MYNIC_SELFTEST_CLOCK_H
#define MYNIC_SELFTEST_CLOCK_H

#include <rdma/mynic-abi.h>
#include <stdatomic.h>
#include <unistd.h>

#include "verbs.h"

static inline bool clock_is_there(const struct mynic_clock_info *info)
{
	return !(atomic_load((const _Atomic(uint32_t) *)&info->seq) & 1);
}

/* Wait until the device has told its time, or is dead. */
static inline bool wait_clock(const struct mynic_clock_info *info)
{
	time_t end = deadline();

	while (!clock_is_there(info)) {
		if (time(NULL) >= end)
			return false;
		usleep(1000);
	}
	return true;
}

#endif /* MYNIC_SELFTEST_CLOCK_H */
