// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Time from doorbell to completion, for a device that is awake and for one that
 * sleeps, and half a round trip from memory to memory. A result is the median
 * of a run.
 */
#include <stdlib.h>

#include "harness_vfu.h"
#include "traffic.h"

#define ROUNDS 2000
#define WARM_UP 200

/* Long enough for the device to fall asleep */
#define PAUSE_NS (200 * USEC)

static const uint32_t sizes[] = { 2, 64 };

static double latency_median(uint64_t *times, unsigned int num)
{
	qsort(times, num, sizeof(*times), bench_compare);
	return times[num / 2];
}

static void latency_wait_ns(uint64_t ns)
{
	uint64_t end = bench_now() + ns;

	while (bench_now() < end)
		;
}

/* One message, to its completion */
static uint64_t latency_send_one(struct traffic *t)
{
	uint64_t start = bench_now();

	traffic_post(t, 0, 1);
	while (!traffic_poll(t))
		;
	start = bench_now() - start;
	if (t->config.opcode == IBV_WR_SEND)
		while (!traffic_poll_recv(t))
			;
	return start;
}

static void latency_measure(struct traffic *t, const char *row,
			    const char *subject, unsigned int num,
			    uint64_t pause)
{
	uint64_t times[ROUNDS];

	for (unsigned int i = 0; i < WARM_UP; i++)
		latency_send_one(t);
	for (unsigned int i = 0; i < num; i++) {
		latency_wait_ns(pause);
		times[i] = latency_send_one(t);
	}
	bench_sample("device-latency", row, tap_print("%u", t->config.size),
		     subject, latency_median(times, num), "ns");
}

static struct traffic *latency_one_qp(struct drv *from, struct drv *to,
				      enum ibv_wr_opcode opcode, uint32_t size)
{
	return traffic_new(from, to,
			   &(struct traffic_config){ .opcode = opcode,
						     .size = size,
						     .num_qps = 1,
						     .depth = 16,
						     .batch = 1,
						     .signal_every = 1 });
}

TEST(doorbell_to_completion)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		const char *awake;
		const char *asleep;
	} rows[] = {
		{ IBV_WR_RDMA_WRITE, "WRITE, awake", "WRITE, asleep" },
		{ IBV_WR_SEND, "SEND, awake", "SEND, asleep" },
		{ IBV_WR_RDMA_READ, "READ, awake", "READ, asleep" },
	};
	struct traffic *t[2][ARRAY_SIZE(rows)][ARRAY_SIZE(sizes)];
	struct bench b[2];

	for (int k = 0; k < 2; k++) {
		b[k] = bench_switch(!k);
		for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++)
			for (unsigned int j = 0; j < ARRAY_SIZE(sizes); j++)
				t[k][i][j] = latency_one_qp(b[k].nic[0],
							    b[k].nic[1],
							    rows[i].opcode,
							    sizes[j]);
	}
	for (int run = 0; run < BENCH_RUNS; run++) {
		for (unsigned int n = 0; n < ARRAY_SIZE(rows) * 2 * 2; n++) {
			unsigned int i = n / 4, j = n / 2 % 2, k = n % 2;

			latency_measure(t[k][i][j], rows[i].awake, b[k].subject,
					ROUNDS, 0);
			latency_measure(t[k][i][j], rows[i].asleep,
					b[k].subject, ROUNDS / 10, PAUSE_NS);
		}
	}
}

/* Wait until the peer has this message */
static void latency_arrival(struct traffic *t, uint32_t number)
{
	uint32_t slot = number & (t->config.depth - 1);
	const uint8_t *last = t->to + slot * t->stride + t->config.size - 1;

	if (t->config.opcode == IBV_WR_SEND)
		while (!traffic_poll_recv(t))
			;
	else
		while (__atomic_load_n(last, __ATOMIC_ACQUIRE) !=
		       (uint8_t)number)
			;
}

static void latency_send_number(struct traffic *t, uint32_t number)
{
	uint32_t slot = number & (t->config.depth - 1);

	t->from[slot * t->stride + t->config.size - 1] = number;
	while (t->posted)
		traffic_poll(t);
	traffic_post(t, 0, 1);
}

static void latency_ping_pong(struct traffic *there, struct traffic *back,
			      uint32_t *number, const char *row)
{
	uint64_t times[ROUNDS];

	for (unsigned int i = 0; i < WARM_UP + ROUNDS; i++, ++*number) {
		uint64_t start = bench_now();

		latency_send_number(there, *number);
		latency_arrival(there, *number);
		latency_send_number(back, *number);
		latency_arrival(back, *number);
		if (i >= WARM_UP)
			times[i - WARM_UP] = bench_now() - start;
	}
	bench_sample("device-ping-pong", row,
		     tap_print("%u", there->config.size), "mynic",
		     latency_median(times, ROUNDS) / 2, "ns");
}

TEST(half_round_trip)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		const char *row;
	} rows[] = {
		{ IBV_WR_RDMA_WRITE, "WRITE" },
		{ IBV_WR_SEND, "SEND" },
	};
	struct traffic *there[ARRAY_SIZE(rows)][ARRAY_SIZE(sizes)];
	struct traffic *back[ARRAY_SIZE(rows)][ARRAY_SIZE(sizes)];
	uint32_t number[ARRAY_SIZE(rows)][ARRAY_SIZE(sizes)] = {};
	struct bench b = bench_switch(true);

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(sizes); j++) {
			there[i][j] = latency_one_qp(b.nic[0], b.nic[1],
						     rows[i].opcode, sizes[j]);
			back[i][j] = latency_one_qp(b.nic[1], b.nic[0],
						    rows[i].opcode, sizes[j]);
		}
	}
	for (int run = 0; run < BENCH_RUNS; run++)
		for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++)
			for (unsigned int j = 0; j < ARRAY_SIZE(sizes); j++)
				latency_ping_pong(there[i][j], back[i][j],
						  &number[i][j], rows[i].row);
}
