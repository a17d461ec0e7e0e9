// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* RDMA between NICs of two processes, over each kind of wire */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness_driver.h"
#include "harness_vfu.h"
#include "remote_nic.h"

#define SPAWN(...) device_spawn((const char *const[]){ __VA_ARGS__, NULL })

#define NUM_QPS 16

/*
 * 2 s. Eight of these are enough for a peer that has to be started first, or
 * that gets no processor.
 */
#define PATIENT 19

/* RDMA WRITE or READ of @len bytes */
static void transfer(struct drv_end *from, struct drv_end *to,
		     enum ibv_wr_opcode opcode, uint32_t len)
{
	bool read = opcode == IBV_WR_RDMA_READ;
	struct drv_end *source = read ? to : from;
	struct drv_end *sink = read ? from : to;
	struct drv_wr wr = {
		.wr_id = len,
		.opcode = opcode,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(from->mr, 0, len) },
		.remote_addr = to->mr->addr,
		.rkey = to->mr->key,
	};

	drv_fill(source->mr->ptr, len, len);
	memset(sink->mr->ptr, 0, len);
	drv_post_send(from->qp, &wr);
	drv_expect(from->cq, len, IBV_WC_SUCCESS);
	CHECK_MEM(sink->mr->ptr, source->mr->ptr, len);
}

static void check_operations(struct drv_end *from, struct drv_end *to)
{
	static const uint32_t lens[] = { 0,    1,     3,      100,
					 4096, 70001, 500000, DRV_PAIR_MEM };

	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		transfer(from, to, IBV_WR_RDMA_WRITE, lens[i]);
		transfer(from, to, IBV_WR_RDMA_READ, lens[i]);
		drv_send_recv(from, to, lens[i]);
	}
}

static void check_nics(const struct drv_path *path)
{
	struct drv_pair p = drv_rc_pair(path);

	remote_wait_link(p.a.d);
	remote_wait_link(p.b.d);
	check_operations(&p.a, &p.b);
	check_operations(&p.b, &p.a);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RX_DROP_ICRC), 0);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_RX_DROP_ICRC), 0);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RX_DROP_HEADER), 0);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_RX_DROP_HEADER), 0);
}

static void check_wires(const char *wire_a, const char *wire_b)
{
	static const struct drv_path path = {
		.mtu = IBV_MTU_4096,
		.gid_index = DRV_GID_IPV4,
		.timeout = PATIENT,
	};

	SPAWN("--nic", remote_nic_arg(0), "--wire", wire_a);
	SPAWN("--nic", remote_nic_arg(1), "--wire", wire_b);
	check_nics(&path);
}

TEST(one_process)
{
	static const struct drv_path path = { .mtu = IBV_MTU_4096,
					      .timeout = PATIENT };

	SPAWN("--nic", remote_nic_arg(0), "--nic", remote_nic_arg(1));
	check_nics(&path);
}

TEST(stream)
{
	const char *dir = device_dir();

	check_wires(tap_print("stream,listen=%s/wire", dir),
		    tap_print("stream,connect=%s/wire", dir));
}

TEST(stream_over_tcp)
{
	unsigned int port = device_free_port(SOCK_STREAM);

	check_wires(tap_print("stream,connect=127.0.0.1:%u", port),
		    tap_print("stream,listen=127.0.0.1:%u", port));
}

TEST(dgram)
{
	const char *dir = device_dir();

	check_wires(tap_print("dgram,local=%s/a,remote=%s/b", dir, dir),
		    tap_print("dgram,local=%s/b,remote=%s/a", dir, dir));
}

TEST(udp)
{
	unsigned int a = device_free_port(SOCK_DGRAM);
	unsigned int b = device_free_port(SOCK_DGRAM);

	check_wires(device_udp_wire(a, b), device_udp_wire(b, a));
}

static bool command(const char *text)
{
	return !system(text);
}

TEST(packet)
{
	device_enter_namespace();
	if (!command("ip link add mine type veth peer name theirs 2>/dev/null"))
		tap_skip("this kernel has no veth");
	CHECK(command(
		"ip link set mine mtu 9216 up && ip link set theirs mtu 9216 up"));
	check_wires("packet,ifname=mine", "packet,ifname=theirs");
}

/* Frames from one TAP interface arrive at the other. */
TEST(tap)
{
	device_enter_namespace();
	if (access("/dev/net/tun", R_OK | W_OK))
		tap_skip("/dev/net/tun cannot be opened");
	CHECK(command(
		"ip tuntap add mine mode tap && ip link set mine mtu 9216 up"));
	check_wires("tap,ifname=mine", "packet,ifname=mine");
}

/* Over IPv6, with small packets, and through a process without NICs */
TEST(through_a_switch)
{
	static const struct drv_path path = {
		.mtu = IBV_MTU_256,
		.gid_index = DRV_GID_IPV6,
		.timeout = PATIENT,
	};
	const char *dir = device_dir();

	SPAWN("--wire", tap_print("stream,listen=%s/a", dir), "--wire",
	      tap_print("dgram,local=%s/s,remote=%s/b", dir, dir));
	SPAWN("--nic", remote_nic_arg(0), "--wire",
	      tap_print("stream,connect=%s/a", dir));
	SPAWN("--nic", remote_nic_arg(1), "--wire",
	      tap_print("dgram,local=%s/b,remote=%s/s", dir, dir));
	check_nics(&path);
}

static void kill_qemu(void *arg)
{
	pid_t pid = *(pid_t *)arg;

	kill(pid, SIGTERM);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
}

/* QEMU without a machine, as a hub between its network back ends */
static void spawn_qemu(const char *stream, const char *dgram)
{
	pid_t *pid = tap_alloc(sizeof(*pid));

	*pid = fork();
	CHECK(*pid >= 0);
	if (!*pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("qemu-system-x86_64", "qemu-system-x86_64", "-machine",
		       "none", "-nodefaults", "-display", "none", "-netdev",
		       stream, "-netdev", "hubport,id=h1,hubid=0,netdev=s",
		       "-netdev", dgram, "-netdev",
		       "hubport,id=h2,hubid=0,netdev=d", NULL);
		_exit(127);
	}
	tap_at_end(kill_qemu, pid);
}

/* QEMU's back ends with the same framing as the wires */
TEST(through_back_ends_of_qemu)
{
	static const struct drv_path path = { .mtu = IBV_MTU_4096,
					      .timeout = PATIENT };
	const char *dir = device_dir();
	const char *stream, *dgram;

	if (system("qemu-system-x86_64 --version >/dev/null 2>&1"))
		tap_skip("there is no qemu-system-x86_64");
	SPAWN("--nic", remote_nic_arg(0), "--wire",
	      tap_print("stream,listen=%s/a", dir));
	SPAWN("--nic", remote_nic_arg(1), "--wire",
	      tap_print("dgram,local=%s/b,remote=%s/q", dir, dir));
	stream = tap_print(
		"stream,id=s,server=off,addr.type=unix,addr.path=%s/a", dir);
	dgram = tap_print(
		"dgram,id=d,local.type=unix,local.path=%s/q,remote.type=unix,remote.path=%s/b",
		dir, dir);
	spawn_qemu(stream, dgram);
	check_nics(&path);
	unlink(tap_print("%s/q", dir));
}

TEST(unreliable_datagrams)
{
	const char *dir = device_dir();
	struct drv_pair p;

	SPAWN("--nic", remote_nic_arg(0), "--wire",
	      tap_print("stream,listen=%s/wire", dir));
	SPAWN("--nic", remote_nic_arg(1), "--wire",
	      tap_print("stream,connect=%s/wire", dir));
	p = drv_ud_pair();
	remote_wait_link(p.a.d);
	remote_wait_link(p.b.d);
	for (uint32_t len = 1; len <= 1000; len += 111) {
		struct mynic_sge sge = drv_sge(p.b.mr, 0, len + 40);
		struct drv_wr wr = {
			.wr_id = 1,
			.opcode = IBV_WR_SEND,
			.flags = IBV_SEND_SIGNALED,
			.num_sge = 1,
			.sge = { drv_sge(p.a.mr, 0, len) },
			.remote_qpn = p.b.qp->number,
			.remote_qkey = 0x11111111,
			.av = drv_av(p.a.d, 1, DRV_GID_IPV4),
		};

		drv_fill(p.a.mr->ptr, len, len);
		drv_post_recv(p.b.qp, 2, &sge, 1);
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
		CHECK_EQ(drv_expect(p.b.recv_cq, 2, IBV_WC_SUCCESS).byte_len,
			 len + 40);
		CHECK_MEM(p.b.mr->ptr + 40, p.a.mr->ptr, len);
	}
}

/*
 * The wire between two NICs goes down while they have much to send. Their links
 * go down, and when it is back, all arrives.
 */
TEST(wire_that_comes_back)
{
	static const struct drv_path path = { .mtu = IBV_MTU_1024,
					      .timeout = PATIENT };
	const char *dir = device_dir();
	const char *const args[] = {
		"--wire", tap_print("stream,listen=%s/a", dir),
		"--wire", tap_print("stream,listen=%s/b", dir),
		NULL,
	};
	pid_t middle = device_spawn(args);
	struct drv_pair p;

	SPAWN("--nic", remote_nic_arg(0), "--wire",
	      tap_print("stream,connect=%s/a", dir));
	SPAWN("--nic", remote_nic_arg(1), "--wire",
	      tap_print("stream,connect=%s/b", dir));
	p = drv_rc_pair(&path);
	remote_wait_link(p.a.d);
	remote_wait_link(p.b.d);
	/* Ignore events from the start. */
	while (drv_eq_poll(&p.a.d->event, &(struct mynic_eqe){}))
		drv_eq_release(&p.a.d->event);
	for (int i = 0; i < 3; i++) {
		struct drv_wr wr = {
			.wr_id = i,
			.opcode = IBV_WR_RDMA_WRITE,
			.flags = IBV_SEND_SIGNALED,
			.num_sge = 1,
			.sge = { drv_sge(p.a.mr, 0, DRV_PAIR_MEM) },
			.remote_addr = p.b.mr->addr,
			.rkey = p.b.mr->key,
		};

		drv_fill(p.a.mr->ptr, DRV_PAIR_MEM, i);
		drv_write_wqe(p.a.qp, &wr);
		drv_ring(p.a.qp);
		device_end(middle);
		middle = device_spawn(args);
		drv_expect(p.a.cq, i, IBV_WC_SUCCESS);
		CHECK_MEM(p.b.mr->ptr, p.a.mr->ptr, DRV_PAIR_MEM);
		drv_expect_event(&p.a.d->event, MYNIC_EVENT_PORT_DOWN, 1);
		drv_expect_event(&p.a.d->event, MYNIC_EVENT_PORT_UP, 1);
		drv_send_recv(&p.b, &p.a, 10000);
	}
}

/* More than a socket takes: the NIC waits, and nothing is lost. */
TEST(many_qps_lose_nothing)
{
	static const struct drv_path path = { .mtu = IBV_MTU_4096,
					      .timeout = PATIENT };
	const char *dir = device_dir();
	struct drv_qp *qps[NUM_QPS];
	struct drv_pair p;

	SPAWN("--nic", remote_nic_arg(0), "--wire",
	      tap_print("stream,listen=%s/wire", dir));
	SPAWN("--nic", remote_nic_arg(1), "--wire",
	      tap_print("stream,connect=%s/wire", dir));
	p = drv_rc_pair(&path);
	remote_wait_link(p.a.d);
	remote_wait_link(p.b.d);
	for (int i = 0; i < NUM_QPS; i++) {
		struct drv_qp_init init = {
			.type = MYNIC_QP_RC,
			.pdn = p.a.pdn,
			.send_cq = p.a.cq,
			.recv_cq = p.a.recv_cq,
		};
		struct drv_qp *peer;

		qps[i] = drv_create_qp(p.a.d, &init);
		init.pdn = p.b.pdn;
		init.send_cq = p.b.cq;
		init.recv_cq = p.b.recv_cq;
		peer = drv_create_qp(p.b.d, &init);
		drv_connect(qps[i], peer, &path);
	}
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < NUM_QPS; i++) {
			struct drv_wr wr = {
				.opcode = IBV_WR_RDMA_WRITE,
				.flags = IBV_SEND_SIGNALED,
				.num_sge = 1,
				.sge = { drv_sge(p.a.mr, 0, DRV_PAIR_MEM) },
				.remote_addr = p.b.mr->addr,
				.rkey = p.b.mr->key,
			};

			drv_write_wqe(qps[i], &wr);
			drv_write_wqe(qps[i], &wr);
			drv_ring(qps[i]);
		}
		for (int i = 0; i < 2 * NUM_QPS; i++)
			drv_expect(p.a.cq, 0, IBV_WC_SUCCESS);
	}
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_OUT_OF_SEQUENCE), 0);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_TX_NAK_SEQ), 0);
}
