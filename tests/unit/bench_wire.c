// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How fast RDMA WRITEs go between two device processes, over each kind of
 * wire. No test: it asserts nothing about time.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "harness_driver.h"
#include "harness_vfu.h"
#include "remote_nic.h"

#define SPAWN(...) device_spawn((const char *const[]){ __VA_ARGS__, NULL })

#define SECONDS 3
#define MESSAGE (64u << 10)
#define QUEUE 32

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static double cpu_seconds(pid_t pid)
{
	return (double)device_cpu_ticks(pid) / sysconf(_SC_CLK_TCK);
}

static uint64_t write_for(struct drv_pair *p, struct drv_qp *qp,
			  double duration)
{
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p->a.mr, 0, MESSAGE) },
		.remote_addr = p->b.mr->addr,
		.rkey = p->b.mr->key,
	};
	double end = seconds() + duration;
	unsigned int posted = 0;
	uint64_t bytes = 0;
	struct mynic_cqe cqe;

	while (posted || seconds() < end) {
		while (drv_poll(p->a.cq, &cqe)) {
			CHECK_EQ(cqe.status, IBV_WC_SUCCESS);
			bytes += MESSAGE;
			posted--;
		}
		if (seconds() < end && posted <= QUEUE / 2) {
			while (posted < QUEUE) {
				drv_write_wqe(qp, &wr);
				posted++;
			}
			drv_ring(qp);
		}
		usleep(200);
	}
	return bytes;
}

static void measure(const char *name, pid_t a, pid_t b)
{
	struct drv_path path = { .mtu = IBV_MTU_4096, .timeout = 19 };
	double cpu_a, cpu_b, time;
	struct drv_pair p;
	uint64_t bytes;

	p = drv_rc_pair(&path);
	remote_wait_link(p.a.d);
	remote_wait_link(p.b.d);
	write_for(&p, p.a.qp, 0.3);
	cpu_a = cpu_seconds(a);
	cpu_b = cpu_seconds(b);
	time = seconds();
	bytes = write_for(&p, p.a.qp, SECONDS);
	time = seconds() - time;
	tap_note(
		"%s: %.0f MB/s, cpu %.0f%% + %.0f%%, retransmitted %llu, timeouts %llu",
		name, bytes / time / 1e6, (cpu_seconds(a) - cpu_a) / time * 100,
		(cpu_seconds(b) - cpu_b) / time * 100,
		(unsigned long long)drv_stat(p.a.d, MYNIC_STAT_RETRANSMIT),
		(unsigned long long)drv_stat(p.a.d, MYNIC_STAT_TIMEOUT));
}

/* Two NICs of one process, or, with wires, of two */
static void bench(const char *name, const char *wire_a, const char *wire_b)
{
	const char *nic_a = remote_nic_arg(0);
	const char *nic_b = remote_nic_arg(1);
	pid_t a, b;

	if (wire_a) {
		a = SPAWN("--nic", nic_a, "--wire", wire_a);
		b = SPAWN("--nic", nic_b, "--wire", wire_b);
	} else {
		a = SPAWN("--nic", nic_a, "--nic", nic_b);
		b = a;
	}
	measure(name, a, b);
}

TEST(in_process)
{
	bench("in one process", NULL, NULL);
}

TEST(stream_unix)
{
	const char *dir = device_dir();

	bench("stream, UNIX", tap_print("stream,listen=%s/wire", dir),
	      tap_print("stream,connect=%s/wire", dir));
}

TEST(stream_tcp)
{
	unsigned int port = device_free_port(SOCK_STREAM);

	bench("stream, TCP", tap_print("stream,listen=127.0.0.1:%u", port),
	      tap_print("stream,connect=127.0.0.1:%u", port));
}

TEST(dgram)
{
	const char *dir = device_dir();

	bench("dgram", tap_print("dgram,local=%s/a,remote=%s/b", dir, dir),
	      tap_print("dgram,local=%s/b,remote=%s/a", dir, dir));
}

TEST(udp)
{
	unsigned int a = device_free_port(SOCK_DGRAM);
	unsigned int b = device_free_port(SOCK_DGRAM);

	bench("udp", device_udp_wire(a, b), device_udp_wire(b, a));
}
