// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Start and end of device processes for benchmarks, clocks, and samples. */
#include <errno.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "harness_vfu.h"
#include "remote_nic.h"

#define SPAWN(...) device_spawn((const char *const[]){ __VA_ARGS__, NULL })

static uint64_t bench_read_clock(clockid_t clock)
{
	struct timespec ts;

	CHECK_EQ(clock_gettime(clock, &ts), 0);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

uint64_t bench_now(void)
{
	return bench_read_clock(CLOCK_MONOTONIC);
}

uint64_t bench_cpu(pid_t pid)
{
	clockid_t clock;

	CHECK_EQ(clock_getcpuclockid(pid, &clock), 0);
	return bench_read_clock(clock);
}

int bench_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void bench_sample(const char *benchmark, const char *row, const char *x,
		  const char *subject, double value, const char *unit)
{
	if (dprintf(BENCH_SAMPLES_FD, "%s\t%s\t%s\t%s\t%.6g\t%s\n", benchmark,
		    row, x, subject, value, unit) < 0)
		FAIL("samples go to file descriptor %d: %s", BENCH_SAMPLES_FD,
		     strerror(errno));
}

void bench_use_processor(bool last)
{
	static cpu_set_t all;
	cpu_set_t one;

	if (!CPU_COUNT(&all))
		CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	if (CPU_COUNT(&all) < 2)
		FAIL("the device and its client need a processor each");
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &all))
			continue;
		if (last)
			CPU_ZERO(&one);
		if (!CPU_COUNT(&one))
			CPU_SET(i, &one);
	}
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void bench_bring_up(struct bench *b)
{
	b->sim = sim_new(2);
	for (int i = 0; i < 2; i++)
		b->nic[i] = drv_up(&b->sim->nics[i]);
	for (int i = 0; i < 2; i++)
		remote_wait_link(b->nic[i]);
}

struct bench bench_switch(bool suppress)
{
	const char *nic_a = remote_nic_arg(0);
	const char *nic_b = remote_nic_arg(1);
	struct bench b;

	/* A new process inherits it */
	bench_use_processor(false);
	b.pid[0] = SPAWN("--nic", nic_a, "--nic", nic_b);
	b.pid[1] = b.pid[0];
	bench_use_processor(true);
	b.subject = suppress ? "mynic" : "mynic, all doorbells";
	drv_features = suppress ? MYNIC_FEATURE_DB_SUPPRESS : 0;
	bench_bring_up(&b);
	return b;
}

struct bench bench_wire(const char *wire_a, const char *wire_b)
{
	const char *nic_a = remote_nic_arg(0);
	const char *nic_b = remote_nic_arg(1);
	struct bench b;

	b.pid[0] = SPAWN("--nic", nic_a, "--wire", wire_a);
	b.pid[1] = SPAWN("--nic", nic_b, "--wire", wire_b);
	bench_bring_up(&b);
	return b;
}
