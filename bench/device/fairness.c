// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Effect of a hostile guest or client on a victim in the same process: the time
 * of the victim's register reads, and its remaining bandwidth. Half of its
 * bandwidth alone is a fair share.
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness_hostile.h"
#include "traffic.h"

#define SIZE (64u << 10)
#define DEPTH 32
#define RUN_NS (500 * MSEC)
#define WARM_UP_NS (50 * MSEC)

/* The hostile guest gets the processor while there is nothing to poll */
#define NAP 50

#define NUM_READS 2000
#define READ_PAUSE 200
#define READ_LIMIT_NS (10 * SEC)

static struct traffic *fairness_victim_traffic(const struct hostile *h)
{
	return traffic_new(h->victim[0], h->victim[1],
			   &(struct traffic_config){
				   .opcode = IBV_WR_RDMA_WRITE,
				   .size = SIZE,
				   .num_qps = 1,
				   .depth = DEPTH,
				   .batch = DEPTH / 4,
				   .signal_every = 1,
			   });
}

/* Return: messages a second */
static double fairness_bandwidth(struct traffic *t)
{
	uint64_t start, num;

	traffic_run(t, WARM_UP_NS, NAP);
	start = bench_now();
	num = traffic_run(t, RUN_NS, NAP);
	return (double)num * SEC / (bench_now() - start);
}

static void fairness_report_reads(const char *row, uint64_t *times,
				  unsigned int num)
{
	static const char *const name = "fairness-register-read";

	qsort(times, num, sizeof(*times), bench_compare);
	bench_sample(name, row, "", "median", times[num / 2] / 1e3, "us");
	bench_sample(name, row, "", "p99", times[num * 99 / 100] / 1e3, "us");
	bench_sample(name, row, "", "max", times[num - 1] / 1e3, "us");
}

static void fairness_read_registers(const struct hostile *h, const char *row)
{
	uint64_t *times = tap_alloc(NUM_READS * sizeof(*times));
	uint64_t end = bench_now() + READ_LIMIT_NS;
	unsigned int num = 0;

	while (num < NUM_READS && bench_now() < end) {
		uint64_t start = bench_now();

		CHECK_EQ(sim_read32(h->victim[1]->n, MYNIC_REG_MAGIC),
			 MYNIC_MAGIC);
		times[num++] = bench_now() - start;
		usleep(READ_PAUSE);
	}
	fairness_report_reads(row, times, num);
}

/*
 * The hostile guest only gets the time that the victim leaves on their
 * processor. If a priority protects the measurement, it has the next lower one.
 */
static void fairness_stand_back(void)
{
	struct sched_param param;

	CHECK_EQ(sched_getparam(0, &param), 0);
	if (param.sched_priority > 1) {
		param.sched_priority--;
		CHECK_EQ(sched_setparam(0, &param), 0);
		return;
	}
	param.sched_priority = 0;
	CHECK_EQ(sched_setscheduler(0, SCHED_IDLE, &param), 0);
}

static pid_t fairness_be_hostile(struct hostile *h,
				 const struct hostile_kind *kind)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(0);
	fairness_stand_back();
	for (;;)
		kind->again(h);
}

static void fairness_end_hostile(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	if (!WIFSIGNALED(status))
		FAIL("the hostile guest has ended by itself");
}

static void fairness_measure(const void *with)
{
	const struct hostile_kind *kind = with;
	double alone, beside;
	struct hostile *h;
	struct traffic *t;
	pid_t pid;

	drv_features = MYNIC_FEATURE_DB_SUPPRESS;
	bench_use_processor(false);
	h = hostile_world(kind, false);
	bench_use_processor(true);
	t = fairness_victim_traffic(h);
	alone = fairness_bandwidth(t);
	if (kind->begin)
		kind->begin(h);
	pid = fairness_be_hostile(h, kind);
	beside = fairness_bandwidth(t);
	bench_sample("fairness-share", kind->text, "", "mynic",
		     100 * beside / (alone / 2), "%");
	fairness_read_registers(h, kind->text);
	fairness_end_hostile(pid);
}

__attribute__((constructor)) static void add_tests(void)
{
	hostile_tests(fairness_measure);
}
