// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages of 64 bytes a second through the switch of one process, over 1 to
 * 4096 queue pairs in turn. The processor time of device and client for each
 * message is measured, too.
 */
#include "traffic.h"

#define RUN_NS (200 * MSEC)
#define WARM_UP_NS (50 * MSEC)

static const unsigned int counts[] = { 1, 16, 256, 4096 };

static void rate_measure(const struct bench *b, struct traffic *t,
			 const char *row)
{
	const char *qps = tap_print("%u", t->config.num_qps);
	uint64_t time, device, client;
	double num;

	traffic_run(t, WARM_UP_NS, 0);
	device = bench_cpu(b->pid[0]);
	client = bench_cpu(0);
	time = bench_now();
	num = traffic_run(t, RUN_NS, 0);
	time = bench_now() - time;
	device = bench_cpu(b->pid[0]) - device;
	client = bench_cpu(0) - client;
	bench_sample("device-rate", row, qps, b->subject, num * SEC / time,
		     "messages/s");
	bench_sample("device-rate-one-core", row, qps, b->subject,
		     num * SEC / device, "messages/s");
	bench_sample("device-client-cpu", row, qps, b->subject, client / num,
		     "ns");
}

static void rate(const char *row, enum ibv_wr_opcode opcode, bool inline_data,
		 unsigned int signal_every, unsigned int num_buffers)
{
	struct traffic_config config = {
		.opcode = opcode,
		.inline_data = inline_data,
		.size = 64,
		.depth = 32,
		.num_buffers = num_buffers,
		.batch = 16,
		.signal_every = signal_every,
	};
	struct traffic *t[2][ARRAY_SIZE(counts)];
	struct bench b[2];

	for (int i = 0; i < 2; i++) {
		b[i] = bench_switch(!i);
		for (unsigned int j = 0; j < ARRAY_SIZE(counts); j++) {
			config.num_qps = counts[j];
			t[i][j] =
				traffic_new(b[i].nic[0], b[i].nic[1], &config);
		}
	}
	for (int run = 0; run < BENCH_RUNS; run++)
		for (unsigned int j = 0; j < ARRAY_SIZE(counts); j++)
			for (int i = 0; i < 2; i++)
				rate_measure(&b[i], t[i][j], row);
}

TEST(rate_write)
{
	rate("WRITE", IBV_WR_RDMA_WRITE, false, 1, 0);
}

/*
 * Cost of more QPs, without that of more memory: as many buffers as 16 QPs have
 */
TEST(rate_write_same_buffers)
{
	rate("WRITE, 512 buffers", IBV_WR_RDMA_WRITE, false, 1, 512);
}

TEST(rate_write_inline)
{
	rate("WRITE inline", IBV_WR_RDMA_WRITE, true, 1, 0);
}

TEST(rate_write_unsignaled)
{
	rate("WRITE, 1 of 16 signaled", IBV_WR_RDMA_WRITE, false, 16, 0);
}

TEST(rate_send)
{
	rate("SEND", IBV_WR_SEND, false, 1, 0);
}

TEST(rate_read)
{
	rate("READ", IBV_WR_RDMA_READ, false, 1, 0);
}
