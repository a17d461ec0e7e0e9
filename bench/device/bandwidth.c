// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bandwidth of one queue pair, from 8 bytes to 4 MiB, through the switch of one
 * process and through each kind of wire between two. The switch is compared
 * with memcpy() in the client. Both use the same buffers in the same order, and
 * find them in the same caches. On a busy machine, the processor time of each
 * is the better measure.
 */
#include <string.h>
#include <sys/socket.h>

#include "harness_vfu.h"
#include "traffic.h"

#define MIN_SIZE 8u
#define MAX_SIZE (4u << 20)
#define NUM_SIZES 20

/* Sizes that are also measured with scattered pages */
static const uint32_t scattered_sizes[] = { 64u << 10, 1u << 20 };

/* Bytes of the buffers of a queue pair, whose number has bounds */
#define FOOTPRINT (8u << 20)
#define MIN_DEPTH 2
#define MAX_DEPTH 32

#define RUN_NS (50 * MSEC)
#define WARM_UP_NS (10 * MSEC)

#define WIRE_RUN_NS (100 * MSEC)
/* The client naps, because two devices need the processors */
#define WIRE_NAP 50

static struct traffic *bandwidth_one_qp(const struct bench *b,
					enum ibv_wr_opcode opcode,
					uint32_t size, bool scattered)
{
	unsigned int depth = FOOTPRINT / size;

	if (depth > MAX_DEPTH)
		depth = MAX_DEPTH;
	return traffic_new(b->nic[0], b->nic[1],
			   &(struct traffic_config){
				   .opcode = opcode,
				   .scattered = scattered,
				   .size = size,
				   .num_qps = 1,
				   .depth = depth,
				   .batch = depth / 2,
				   .signal_every = 1,
			   });
}

static void bandwidth_report(const char *benchmark, const char *row,
			     const struct traffic *t, const char *subject,
			     double num, uint64_t ns)
{
	uint32_t size = t->config.size;

	/* Bytes in a microsecond are megabytes in a second */
	bench_sample(benchmark, row, tap_print("%u", size), subject,
		     num * size * USEC / ns, "MB/s");
}

static void bandwidth_copy_message(const struct traffic *t, size_t offset)
{
	bool read = t->config.opcode == IBV_WR_RDMA_READ;
	const uint8_t *from = read ? t->to : t->from;
	uint8_t *to = read ? t->from : t->to;
	uint32_t size = t->config.size;

	if (!t->config.scattered) {
		memcpy(to + offset, from + offset, size);
		return;
	}
	for (uint32_t done = 0; done < size; done += DRV_PAGE) {
		size_t place = traffic_place(t, offset + done);

		memcpy(to + place, from + place, DRV_PAGE);
	}
}

/*
 * Cache lines that several processors have read since the last write can be
 * read faster. Without this, the first copy would speed up the next one.
 */
static void bandwidth_forget_readers(const struct traffic *t)
{
#if defined(__x86_64__)
	size_t len = t->num_pages * (size_t)DRV_PAGE;

	for (size_t i = 0; i < len; i += BENCH_LINE) {
		__builtin_ia32_clflush(t->from + i);
		__builtin_ia32_clflush(t->to + i);
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#else
	(void)t;
#endif
}

static uint64_t bandwidth_copy_for(const struct traffic *t, uint64_t ns)
{
	unsigned int mask = t->config.depth - 1;
	uint64_t start = bench_now();
	uint64_t num = 0;

	while (bench_now() - start < ns) {
		/*
		 * Work between two reads of the clock, much longer than a read
		 */
		uint64_t end = num + 1 + (64u << 10) / t->config.size;

		for (; num < end; num++)
			bandwidth_copy_message(t, (num & mask) * t->stride);
	}
	return num;
}

static void bandwidth_by_memcpy(const struct traffic *t, const char *row)
{
	uint64_t start, cpu, num;

	bandwidth_forget_readers(t);
	bandwidth_copy_for(t, WARM_UP_NS);
	cpu = bench_cpu(0);
	start = bench_now();
	num = bandwidth_copy_for(t, RUN_NS);
	bandwidth_report("device-bw", row, t, "memcpy", num,
			 bench_now() - start);
	bandwidth_report("device-bw-one-core", row, t, "memcpy", num,
			 bench_cpu(0) - cpu);
}

static void bandwidth_by_device(const struct bench *b, struct traffic *t,
				const char *row)
{
	uint64_t start, cpu, num;

	bandwidth_forget_readers(t);
	traffic_run(t, WARM_UP_NS, 0);
	cpu = bench_cpu(b->pid[0]);
	start = bench_now();
	num = traffic_run(t, RUN_NS, 0);
	bandwidth_report("device-bw", row, t, "mynic", num,
			 bench_now() - start);
	bandwidth_report("device-bw-one-core", row, t, "mynic", num,
			 bench_cpu(b->pid[0]) - cpu);
}

static void bandwidth_compare(const struct bench *b, struct traffic **t,
			      unsigned int num, const char *row)
{
	for (int run = 0; run < BENCH_RUNS; run++) {
		for (unsigned int i = 0; i < num; i++) {
			bandwidth_by_device(b, t[i], row);
			bandwidth_by_memcpy(t[i], row);
		}
	}
}

static void bandwidth_through_switch(enum ibv_wr_opcode opcode, const char *row)
{
	struct bench b = bench_switch(true);
	struct traffic *t[NUM_SIZES];

	for (int i = 0; i < NUM_SIZES; i++)
		t[i] = bandwidth_one_qp(&b, opcode, MIN_SIZE << i, false);
	bandwidth_compare(&b, t, NUM_SIZES, row);
}

static void bandwidth_from_pages(enum ibv_wr_opcode opcode, const char *row)
{
	struct traffic *t[ARRAY_SIZE(scattered_sizes)];
	struct bench b = bench_switch(true);

	for (unsigned int i = 0; i < ARRAY_SIZE(t); i++)
		t[i] = bandwidth_one_qp(&b, opcode, scattered_sizes[i], true);
	bandwidth_compare(&b, t, ARRAY_SIZE(t), row);
}

TEST(bandwidth_write)
{
	bandwidth_through_switch(IBV_WR_RDMA_WRITE, "WRITE");
}

TEST(bandwidth_read)
{
	bandwidth_through_switch(IBV_WR_RDMA_READ, "READ");
}

TEST(bandwidth_write_pages)
{
	bandwidth_from_pages(IBV_WR_RDMA_WRITE, "WRITE, scattered pages");
}

TEST(bandwidth_read_pages)
{
	bandwidth_from_pages(IBV_WR_RDMA_READ, "READ, scattered pages");
}

static void bandwidth_by_wire(struct traffic *t, const char *kind)
{
	uint64_t start, num;

	traffic_run(t, WARM_UP_NS, WIRE_NAP);
	start = bench_now();
	num = traffic_run(t, WIRE_RUN_NS, WIRE_NAP);
	bandwidth_report("device-wire-bw", "WRITE", t, kind, num,
			 bench_now() - start);
}

static void bandwidth_through_wire(const char *kind, const char *wire_a,
				   const char *wire_b)
{
	struct bench b = bench_wire(wire_a, wire_b);
	struct traffic *t[NUM_SIZES];

	for (int i = 0; i < NUM_SIZES; i++)
		t[i] = bandwidth_one_qp(&b, IBV_WR_RDMA_WRITE, MIN_SIZE << i,
					false);
	for (int run = 0; run < BENCH_RUNS; run++)
		for (int i = 0; i < NUM_SIZES; i++)
			bandwidth_by_wire(t[i], kind);
}

TEST(wire_stream_unix)
{
	const char *dir = device_dir();

	bandwidth_through_wire("stream unix",
			       tap_print("stream,listen=%s/wire", dir),
			       tap_print("stream,connect=%s/wire", dir));
}

TEST(wire_stream_tcp)
{
	unsigned int port = device_free_port(SOCK_STREAM);

	bandwidth_through_wire("stream tcp",
			       tap_print("stream,listen=127.0.0.1:%u", port),
			       tap_print("stream,connect=127.0.0.1:%u", port));
}

TEST(wire_dgram)
{
	const char *dir = device_dir();

	bandwidth_through_wire(
		"dgram", tap_print("dgram,local=%s/a,remote=%s/b", dir, dir),
		tap_print("dgram,local=%s/b,remote=%s/a", dir, dir));
}

TEST(wire_udp)
{
	unsigned int a = device_free_port(SOCK_DGRAM);
	unsigned int b = device_free_port(SOCK_DGRAM);

	bandwidth_through_wire("udp", device_udp_wire(a, b),
			       device_udp_wire(b, a));
}
