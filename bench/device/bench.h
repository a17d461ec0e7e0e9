/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Common parts of the benchmarks of the device model: NICs in device processes,
 * clocks, and samples. A benchmark is a TEST(), which any error ends. TAP goes
 * to standard output, and samples to the file descriptor BENCH_SAMPLES_FD.
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
 * struct bench - two NICs with a connection
 * @subject: its name in samples
 * @sim: their world
 * @nic: drivers of the NICs
 * @pid: processes of the NICs, which may be the same
 */
struct bench {
	const char *subject;
	struct sim *sim;
	struct drv *nic[2];
	pid_t pid[2];
};

/**
 * bench_use_processor() - stay on one of the original processors
 * @last: use the last one instead of the first one
 */
void bench_use_processor(bool last);

/**
 * bench_switch() - start one process with two NICs on a processor of its own
 * @suppress: use doorbell suppression, as libmynic does
 *
 * Return: the NICs. The client has another processor.
 */
struct bench bench_switch(bool suppress);

/*
 * bench_wire() - start two processes with a NIC each; arguments are those of
 * --wire
 */
struct bench bench_wire(const char *wire_a, const char *wire_b);

/** bench_now() - monotonic time, ns */
uint64_t bench_now(void);

/** bench_cpu() - processor time of a process in ns; 0: this process */
uint64_t bench_cpu(pid_t pid);

/** bench_compare() - for qsort() of times */
int bench_compare(const void *a, const void *b);

/** bench_sample() - print one result; @x is a number or "" */
void bench_sample(const char *benchmark, const char *row, const char *x,
		  const char *subject, double value, const char *unit);

#endif /* MYNIC_BENCH_H */
