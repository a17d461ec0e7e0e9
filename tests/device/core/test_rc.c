// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Reliable connections on a wire without faults */
#include "harness_driver.h"

#define MSG_PSN_MASK 0xffffff

/* Differences from multiples of a path MTU */
static const uint32_t around[] = { 0, 1, 2, 3, 4, 5, 7, 8 };

static void check_write(struct drv_pair *p, uint32_t len)
{
	struct drv_wr wr = drv_pair_wr(p, IBV_WR_RDMA_WRITE, len);
	struct mynic_cqe cqe;

	drv_fill(p->a.mr->ptr, len, len);
	memset(p->b.mr->ptr, 0, len + 1);
	drv_post_send(p->a.qp, &wr);
	cqe = drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, IBV_WC_RDMA_WRITE);
	CHECK_MEM(p->b.mr->ptr, p->a.mr->ptr, len);
	CHECK_EQ(p->b.mr->ptr[len], 0);
}

static void check_read(struct drv_pair *p, uint32_t len)
{
	struct drv_wr wr = drv_pair_wr(p, IBV_WR_RDMA_READ, len);
	struct mynic_cqe cqe;

	drv_fill(p->b.mr->ptr, len, len + 1);
	memset(p->a.mr->ptr, 0, len + 1);
	drv_post_send(p->a.qp, &wr);
	cqe = drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, IBV_WC_RDMA_READ);
	CHECK_EQ(cqe.byte_len, len);
	CHECK_MEM(p->a.mr->ptr, p->b.mr->ptr, len);
	CHECK_EQ(p->a.mr->ptr[len], 0);
}

static void check_write_imm(struct drv_pair *p, uint32_t len)
{
	struct drv_wr wr = drv_pair_wr(p, IBV_WR_RDMA_WRITE_WITH_IMM, len);
	struct mynic_cqe cqe;

	wr.imm = 0x11223344 + len;
	drv_fill(p->a.mr->ptr, len, len + 2);
	memset(p->b.mr->ptr, 0, len);
	drv_post_recv(p->b.qp, 5, NULL, 0);
	drv_post_send(p->a.qp, &wr);
	cqe = drv_expect(p->b.recv_cq, 5, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK_EQ(cqe.byte_len, len);
	CHECK_EQ(cqe.imm_data, wr.imm);
	CHECK(cqe.wc_flags & IBV_WC_WITH_IMM);
	CHECK_MEM(p->b.mr->ptr, p->a.mr->ptr, len);
	cqe = drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, IBV_WC_RDMA_WRITE);
}

static void check_send_imm(struct drv_pair *p, uint32_t len)
{
	struct drv_wr wr = drv_pair_wr(p, IBV_WR_SEND_WITH_IMM, len);
	struct mynic_sge sge = drv_sge(p->b.mr, 64, len);
	struct mynic_cqe cqe;

	wr.imm = 0x55667788 + len;
	drv_post_recv(p->b.qp, 6, &sge, 1);
	drv_post_send(p->a.qp, &wr);
	cqe = drv_expect(p->b.recv_cq, 6, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, IBV_WC_RECV);
	CHECK_EQ(cqe.byte_len, len);
	CHECK_EQ(cqe.imm_data, wr.imm);
	CHECK(cqe.wc_flags & IBV_WC_WITH_IMM);
	CHECK_MEM(p->b.mr->ptr + 64, p->a.mr->ptr, len);
	drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
}

static void check_all_sizes(struct drv_pair *p, uint32_t mtu)
{
	for (unsigned int packets = 0; packets < 4; packets++)
		for (unsigned int i = 0; i < ARRAY_SIZE(around); i++)
			for (int sign = -1; sign <= 1; sign += 2) {
				int64_t len = (int64_t)packets * mtu +
					      sign * (int64_t)around[i];

				if (len < 0)
					continue;
				drv_send_recv(&p->a, &p->b, len);
				check_send_imm(p, len);
				check_write(p, len);
				check_write_imm(p, len);
				check_read(p, len);
			}
	check_write(p, DRV_PAIR_MEM - 64);
	check_read(p, DRV_PAIR_MEM - 64);
	drv_send_recv(&p->b, &p->a, DRV_PAIR_MEM);
}

static void check_mtu(enum ibv_mtu mtu, unsigned int gid, uint32_t psn)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){
		.mtu = mtu, .gid_index = gid, .sq_psn = psn, .rq_psn = 1 });

	check_all_sizes(&p, 128u << mtu);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RETRANSMIT), 0);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TIMEOUT), 0);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_OUT_OF_SEQUENCE), 0);
}

TEST(rc_mtu_256)
{
	check_mtu(IBV_MTU_256, DRV_GID_IPV6, 0);
}

TEST(rc_mtu_512_ipv4)
{
	check_mtu(IBV_MTU_512, DRV_GID_IPV4, 0);
}

TEST(rc_mtu_1024_psn_wraps)
{
	check_mtu(IBV_MTU_1024, DRV_GID_IPV6, MSG_PSN_MASK - 100);
}

TEST(rc_mtu_2048_psn_wraps_at_once)
{
	check_mtu(IBV_MTU_2048, DRV_GID_IPV4, MSG_PSN_MASK);
}

TEST(rc_mtu_4096)
{
	check_mtu(IBV_MTU_4096, DRV_GID_IPV6, 0x800000 - 20);
}

/* A message of three packets begins at each PSN before the wrap */
TEST(rc_psn_wraps_everywhere)
{
	for (uint32_t back = 0; back < 6; back++) {
		struct drv_pair p = drv_rc_pair(&(struct drv_path){
			.mtu = IBV_MTU_256,
			.sq_psn = (MSG_PSN_MASK - back) & MSG_PSN_MASK,
			.rq_psn = (MSG_PSN_MASK - back) & MSG_PSN_MASK });

		check_write(&p, 700);
		check_read(&p, 700);
		drv_send_recv(&p.b, &p.a, 700);
	}
}

/* Packets are delivered inside transmit(), as between NICs of one process */
TEST(rc_direct_wire)
{
	struct drv_pair p = drv_rc_pair(NULL);

	p.sim->direct = true;
	check_all_sizes(&p, 1024);
}

TEST(rc_loopback_to_the_same_nic)
{
	struct drv_pair p = { .sim = sim_new(1) };
	struct drv_qp_init init = { .type = MYNIC_QP_RC };

	p.a.d = drv_up(&p.sim->nics[0]);
	p.a.pdn = drv_alloc_pd(p.a.d);
	p.a.cq = drv_create_cq(p.a.d, 6);
	p.a.recv_cq = p.a.cq;
	p.a.mr = drv_reg_mr(p.a.d, p.a.pdn, DRV_PAIR_MEM, ACCESS_ALL);
	p.b = p.a;
	p.b.mr = drv_reg_mr(p.a.d, p.a.pdn, DRV_PAIR_MEM, ACCESS_ALL);
	p.b.cq = drv_create_cq(p.a.d, 6);
	p.b.recv_cq = p.b.cq;
	init.pdn = p.a.pdn;
	init.send_cq = p.a.cq;
	init.recv_cq = p.a.cq;
	p.a.qp = drv_create_qp(p.a.d, &init);
	init.send_cq = p.b.cq;
	init.recv_cq = p.b.cq;
	p.b.qp = drv_create_qp(p.a.d, &init);
	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
	check_all_sizes(&p, 1024);
}

TEST(rc_gather_and_scatter)
{
	static const struct drv_qp_init init = {
		.type = MYNIC_QP_RC,
		.log_sq_stride = 9,
		.log_rq_stride = 9,
	};
	struct drv_pair p = drv_pair_unconnected(&init);

	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
	for (int round = 0; round < 200; round++) {
		unsigned int out = 1 + sim_random(p.sim, 28);
		unsigned int in = 1 + sim_random(p.sim, 30);
		struct drv_wr wr = {
			.wr_id = round,
			.opcode = IBV_WR_SEND,
			.flags = IBV_SEND_SIGNALED,
			.num_sge = out,
		};
		struct mynic_sge sge[30];
		uint8_t *data = tap_alloc(65536);
		uint32_t len = 0, at = 0;

		drv_fill(p.a.mr->ptr, 65536, round);
		memset(p.b.mr->ptr, 0, 131072);
		for (unsigned int i = 0; i < out; i++) {
			uint32_t part = sim_random(p.sim, 500);
			uint32_t from = sim_random(p.sim, 60000);

			wr.sge[i] = drv_sge(p.a.mr, from, part);
			memcpy(data + len, p.a.mr->ptr + from, part);
			len += part;
		}
		/* each in a separate range; the last one takes the rest */
		for (unsigned int i = 0; i < in; i++)
			sge[i] = drv_sge(p.b.mr, 2000 * i,
					 i < in - 1 ? sim_random(p.sim, 900) :
						      20000);
		drv_post_recv(p.b.qp, round, sge, in);
		drv_post_send(p.a.qp, &wr);
		CHECK_EQ(drv_expect(p.b.recv_cq, round, 0).byte_len, len);
		drv_expect(p.a.cq, round, IBV_WC_SUCCESS);
		for (unsigned int i = 0; i < in; i++) {
			uint32_t part = sge[i].length;

			part = part < len - at ? part : len - at;
			CHECK_MEM(p.b.mr->ptr + 2000 * i, data + at, part);
			at += part;
		}
		CHECK_EQ(at, len);
	}
}

TEST(rc_read_scatters)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC,
						 .log_sq_stride = 9 };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct drv_wr wr;

	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ .mtu = IBV_MTU_256 });
	wr = drv_pair_wr(&p, IBV_WR_RDMA_READ, 0);
	wr.num_sge = 28;
	for (unsigned int i = 0; i < 28; i++)
		wr.sge[i] = drv_sge(p.a.mr, i * 1000, 333);
	drv_fill(p.b.mr->ptr, 28 * 333, 2);
	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(drv_expect(p.a.cq, DRV_WR_ID, 0).byte_len, 28 * 333);
	for (unsigned int i = 0; i < 28; i++)
		CHECK_MEM(p.a.mr->ptr + i * 1000, p.b.mr->ptr + i * 333, 333);
}

TEST(rc_inline)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC,
						 .log_sq_stride = 9 };
	struct drv_pair p = drv_pair_unconnected(&init);
	uint8_t data[480];
	struct drv_wr wr;

	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ .mtu = IBV_MTU_256 });
	for (uint32_t len = 0; len <= sizeof(data); len++) {
		struct mynic_sge sge = drv_sge(p.b.mr, 4096, len);

		drv_fill(data, len, len);
		wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 0);
		wr.flags |= IBV_SEND_INLINE;
		wr.inline_data = data;
		wr.inline_len = len;
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
		CHECK_MEM(p.b.mr->ptr, data, len);
		wr.opcode = IBV_WR_SEND;
		drv_post_recv(p.b.qp, len, &sge, 1);
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.b.recv_cq, len, IBV_WC_SUCCESS);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
		CHECK_MEM(p.b.mr->ptr + 4096, data, len);
	}
}

/* A slot may be written again once sq_ci has passed it */
TEST(rc_unsignaled)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 8);

	for (uint64_t i = 0; i < 1000; i++) {
		SIM_WAIT(p.sim, p.a.qp->sq_pi - p.a.qp->rec->sq_ci < 64);
		wr.wr_id = i;
		wr.flags = i % 100 == 99 ? IBV_SEND_SIGNALED : 0;
		drv_post_send(p.a.qp, &wr);
		if (i % 100 == 99)
			drv_expect(p.a.cq, i, IBV_WC_SUCCESS);
	}
	drv_expect_none(p.a.cq, SEC);
}

TEST(rc_sig_all)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC,
						 .flags = MYNIC_QP_SIG_ALL };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 8);

	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
	wr.flags = 0;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
}

TEST(rc_completions_in_order)
{
	struct drv_pair p = drv_rc_pair(NULL);
	static const enum ibv_wr_opcode op[] = { IBV_WR_RDMA_READ,
						 IBV_WR_RDMA_WRITE,
						 IBV_WR_ATOMIC_FETCH_AND_ADD,
						 IBV_WR_SEND };
	struct mynic_sge sge = drv_sge(p.b.mr, 8192, 8);

	for (uint64_t i = 0; i < 64; i++) {
		struct drv_wr wr = drv_pair_wr(&p, op[i % 4], 8);

		wr.wr_id = i;
		if (wr.opcode == IBV_WR_SEND)
			drv_post_recv(p.b.qp, i, &sge, 1);
		drv_post_send(p.a.qp, &wr);
	}
	for (uint64_t i = 0; i < 64; i++)
		drv_expect(p.a.cq, i, IBV_WC_SUCCESS);
	for (uint64_t i = 3; i < 64; i += 4)
		drv_expect(p.b.recv_cq, i, IBV_WC_SUCCESS);
}

/* With a fence, a write behind a read does not change what the read returns */
TEST(rc_fence)
{
	struct drv_pair p = drv_rc_pair(NULL);

	for (int i = 0; i < 20; i++) {
		struct drv_wr rd = drv_pair_wr(&p, IBV_WR_RDMA_READ, 5000);
		struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 5000);

		drv_fill(p.b.mr->ptr, 5000, i);
		memset(p.a.mr->ptr, 0xee, 5000);
		/* sends what the read has brought, elsewhere */
		wr.flags |= IBV_SEND_FENCE;
		wr.remote_addr += 65536;
		drv_write_wqe(p.a.qp, &rd);
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
		CHECK_MEM(p.b.mr->ptr + 65536, p.b.mr->ptr, 5000);
	}
}

static uint64_t atomic(struct drv_pair *p, enum ibv_wr_opcode op,
		       uint64_t compare_add, uint64_t swap)
{
	uint64_t *result = (uint64_t *)p->a.mr->ptr;
	struct drv_wr wr = drv_pair_wr(p, op, 8);
	struct mynic_cqe cqe;

	wr.compare_add = compare_add;
	wr.swap = swap;
	*result = 0x5555555555555555;
	drv_post_send(p->a.qp, &wr);
	cqe = drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.byte_len, 8);
	CHECK_EQ(cqe.opcode, op == IBV_WR_ATOMIC_CMP_AND_SWP ?
				     IBV_WC_COMP_SWAP :
				     IBV_WC_FETCH_ADD);
	return *result;
}

TEST(rc_atomics)
{
	struct drv_pair p = drv_rc_pair(NULL);
	uint64_t *word = (uint64_t *)p.b.mr->ptr;

	*word = ~0ull - 1;
	CHECK_EQ(atomic(&p, IBV_WR_ATOMIC_FETCH_AND_ADD, 5, 0), ~0ull - 1);
	CHECK_EQ(*word, 3);
	CHECK_EQ(atomic(&p, IBV_WR_ATOMIC_CMP_AND_SWP, 3, 1ull << 63), 3);
	CHECK_EQ(*word, 1ull << 63);
	CHECK_EQ(atomic(&p, IBV_WR_ATOMIC_CMP_AND_SWP, 3, 9), 1ull << 63);
	CHECK_EQ(*word, 1ull << 63);
}

/* More reads and atomics than the peer allows at a time */
TEST(rc_reads_beyond_rd_atomic)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .max_rd_atomic = 1, .mtu = IBV_MTU_256 });
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 8);
	uint64_t *word = (uint64_t *)p.b.mr->ptr;

	for (uint64_t i = 0; i < 60; i++) {
		wr.wr_id = i;
		wr.opcode = i % 2 ? IBV_WR_RDMA_READ :
				    IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.compare_add = 1;
		wr.sge[0] = drv_sge(p.a.mr, i * 8, 8);
		drv_post_send(p.a.qp, &wr);
	}
	for (uint64_t i = 0; i < 60; i++)
		drv_expect(p.a.cq, i, IBV_WC_SUCCESS);
	CHECK_EQ(*word, 30);
	for (uint64_t i = 0; i < 60; i++)
		CHECK_EQ(((uint64_t *)p.a.mr->ptr)[i], (i + 1) / 2);
}

TEST(rc_both_directions)
{
	struct drv_pair p =
		drv_rc_pair(&(struct drv_path){ .mtu = IBV_MTU_256 });
	struct drv_end *end[] = { &p.a, &p.b };
	unsigned int done = 0;
	struct mynic_cqe cqe;

	drv_fill(p.a.mr->ptr, 100000, 1);
	drv_fill(p.b.mr->ptr, 100000, 2);
	for (unsigned int i = 0; i < 40; i++)
		for (unsigned int e = 0; e < 2; e++) {
			struct drv_end *to = end[!e];
			struct drv_wr wr = {
				.opcode = i % 2 ? IBV_WR_RDMA_READ :
						  IBV_WR_RDMA_WRITE,
				.flags = IBV_SEND_SIGNALED,
				.num_sge = 1,
				.sge = { drv_sge(end[e]->mr, i % 2 ? 500000 : 0,
						 10000) },
				.remote_addr =
					to->mr->addr + (i % 2 ? 0 : 200000),
				.rkey = to->mr->key,
			};

			drv_post_send(end[e]->qp, &wr);
		}
	while (done < 80) {
		SIM_WAIT(p.sim,
			 drv_poll(p.a.cq, &cqe) || drv_poll(p.b.cq, &cqe));
		CHECK_EQ(cqe.status, 0);
		done++;
	}
	CHECK_MEM(p.b.mr->ptr + 200000, p.a.mr->ptr, 10000);
	CHECK_MEM(p.a.mr->ptr + 200000, p.b.mr->ptr, 10000);
	CHECK_MEM(p.b.mr->ptr + 500000, p.a.mr->ptr, 10000);
	CHECK_MEM(p.a.mr->ptr + 500000, p.b.mr->ptr, 10000);
}

TEST(rc_two_gigabyte_limit)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 0);

	/* 2^31 bytes are legal in length, but not within the region */
	wr.sge[0].length = 1u << 31;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_PROT_ERR);
	drv_reset_qp(p.a.qp);
	drv_reset_qp(p.b.qp);
	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
	wr.sge[0].length = (1u << 31) + 1;
	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_LEN_ERR).vendor_err,
		 MYNIC_SYN_BAD_LEN);
}

TEST(rc_comm_established_event)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 8);

	drv_connect_to(p.b.qp, 0, p.a.qp->number, &(struct drv_path){ 0 },
		       IBV_QPS_RTR);
	drv_connect_to(p.a.qp, 1, p.b.qp->number, &(struct drv_path){ 0 },
		       IBV_QPS_RTS);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	drv_expect_event(&p.b.d->event, MYNIC_EVENT_COMM_EST, p.b.qp->number);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK(!drv_eq_poll(&p.b.d->event, &(struct mynic_eqe){ 0 }));
}

static enum sim_verdict check_headers(struct sim *sim, struct sim_nic *from,
				      struct packet *pkt)
{
	const struct drv_pair *p = sim->filter_arg;
	uint8_t gid[16];

	CHECK_EQ(pkt->kind, PACKET_ROCE);
	CHECK_MEM(pkt->smac, nic_mac(from->nic), 6);
	CHECK_MEM(pkt->dmac, nic_mac(sim->nics[!from->index].nic), 6);
	CHECK_EQ(pkt->vlan, PACKET_NO_VLAN);
	drv_gid(from->index, DRV_GID_IPV4, gid);
	CHECK_MEM(pkt->roce.sgid, gid, 16);
	drv_gid(!from->index, DRV_GID_IPV4, gid);
	CHECK_MEM(pkt->roce.dgid, gid, 16);
	CHECK_EQ(pkt->roce.hop_limit, 64);
	CHECK_EQ(pkt->roce.pkey, 0xffff);
	CHECK(pkt->roce.udp_sport >= 0xc000);
	CHECK_EQ(pkt->roce.dest_qpn,
		 from->index ? p->a.qp->number : p->b.qp->number);
	CHECK_EQ(pkt->roce.pad, -pkt->payload_len & 3);
	CHECK(pkt->payload_len <= 1024);
	return SIM_PASS;
}

TEST(rc_packet_headers)
{
	struct drv_pair p =
		drv_rc_pair(&(struct drv_path){ .gid_index = DRV_GID_IPV4 });

	p.sim->filter = check_headers;
	p.sim->filter_arg = &p;
	check_all_sizes(&p, 1024);
}

TEST(rc_counters)
{
	struct drv_pair p = drv_rc_pair(NULL);
	uint64_t packets = drv_stat(p.a.d, MYNIC_STAT_TX_RDMA_PACKETS);
	uint64_t bytes = drv_stat(p.a.d, MYNIC_STAT_TX_RDMA_BYTES);

	check_write(&p, 10000);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TX_RDMA_BYTES) - bytes, 10000);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TX_RDMA_PACKETS) - packets, 10);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_RX_RDMA_BYTES), 10000);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_RX_RDMA_PACKETS), 10);
	CHECK(drv_stat(p.b.d, MYNIC_STAT_RX_BYTES) > 10000);
	CHECK(drv_stat(p.a.d, MYNIC_STAT_TX_PACKETS) >= 10);
}
