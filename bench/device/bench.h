/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the benchmarks of the device model share: NICs in device processes of
 * their own, clocks, and samples. A benchmark is a TEST(): what goes wrong ends
 * it. TAP goes to standard output, samples to the file descriptor
 * BENCH_SAMPLES_FD.
 */
#ifndef MYNIC_BENCH_H
#define MYNIC_BENCH_H

#include <stdint.h>
#include <sys/types.h>

#include "harness_driver.h"

#define BENCH_SAMPLES_FD 3

/* Bytes of a cache line */
#define BENCH_LINE 64u

/* Repetitions of each measurement */
#define BENCH_RUNS 5

/**
 * struct bench - two NICs, and what is between them
 * @subject: what samples are to call it
 * @sim: their world
 * @nic: their drivers
 * @pid: the processes that they are in; the same if that is one
 */
struct bench {
	const char *subject;
	struct sim *sim;
	struct drv *nic[2];
	pid_t pid[2];
};

/**
 * bench_use_processor() - stay on one of the processors that there were at first
 * @last: on the last one, and not on the first
 */
void bench_use_processor(bool last);

/**
 * bench_switch() - two NICs of one process, which has a processor to itself
 * @suppress: leave out doorbells that the device does not need, as libmynic does
 *
 * Return: the NICs. The client has another processor.
 */
struct bench bench_switch(bool suppress);

/** bench_wire() - two NICs of two processes; arguments as those of --wire */
struct bench bench_wire(const char *wire_a, const char *wire_b);

/** bench_now() - monotonic time, ns */
uint64_t bench_now(void);

/** bench_cpu() - processor time that a process has taken, 0: this one; ns */
uint64_t bench_cpu(pid_t pid);

/** bench_sample() - one result; @x is a number or "" */
void bench_sample(const char *benchmark, const char *row, const char *x,
		  const char *subject, double value, const char *unit);

#endif /* MYNIC_BENCH_H */
