/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The clock of the process */
#ifndef MYNIC_HOST_CLOCK_H
#define MYNIC_HOST_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC 1000000000ULL

/* Monotonic time in ns. */
static inline uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

#endif /* MYNIC_HOST_CLOCK_H */
