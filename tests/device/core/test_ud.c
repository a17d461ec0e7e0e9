// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Unreliable datagrams: UD and GSI QPs, address vectors, multicast */
#include "core/base/journal.h"
#include "harness_driver.h"

#define QKEY 0x11111111
#define GRH_LEN 40
#define MULTICAST_QPN 0xffffff

static struct drv_wr ud_wr(struct drv_pair *p, uint32_t len)
{
	struct drv_wr wr = drv_send_wr(&p->a, len);

	wr.remote_qpn = p->b.qp->number;
	wr.remote_qkey = QKEY;
	wr.av = drv_av(p->a.d, 1, DRV_GID_IPV6);
	return wr;
}

/*
 * Post a receive request of b for @len bytes at the start of its MR, filled
 * with 0xee
 */
static void post_recv(struct drv_pair *p, uint64_t wr_id, uint32_t len)
{
	struct mynic_sge sge = drv_sge(p->b.mr, 0, len);

	memset(p->b.mr->ptr, 0xee, 8192);
	drv_post_recv(p->b.qp, wr_id, &sge, 1);
}

static struct mynic_cqe check_received(struct drv_pair *p, uint64_t wr_id,
				       uint32_t len)
{
	struct mynic_cqe cqe = drv_expect(p->b.recv_cq, wr_id, IBV_WC_SUCCESS);

	CHECK_EQ(cqe.opcode, IBV_WC_RECV);
	CHECK_EQ(cqe.byte_len, len + GRH_LEN);
	CHECK_EQ(cqe.qp_num, p->b.qp->number);
	CHECK_EQ(cqe.src_qp, p->a.qp->number);
	CHECK(cqe.wc_flags & IBV_WC_GRH);
	CHECK_MEM(p->b.mr->ptr + GRH_LEN, p->a.mr->ptr, len);
	CHECK_EQ(p->b.mr->ptr[GRH_LEN + len], 0xee);
	return cqe;
}

static void check_message(struct drv_pair *p, uint32_t len)
{
	struct drv_wr wr = ud_wr(p, len);

	drv_fill(p->a.mr->ptr, len, len);
	post_recv(p, len, 8000);
	drv_post_send(p->a.qp, &wr);
	CHECK_EQ(drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS).opcode,
		 IBV_WC_SEND);
	check_received(p, len, len);
}

static void check_dropped(struct drv_pair *p, const struct drv_wr *wr,
			  enum mynic_stat stat)
{
	uint64_t count = drv_stat(p->b.d, stat);

	drv_post_send(p->a.qp, wr);
	drv_expect(p->a.cq, wr->wr_id, IBV_WC_SUCCESS);
	drv_expect_none(p->b.recv_cq, SEC);
	CHECK_EQ(drv_stat(p->b.d, stat), count + 1);
}

TEST(ud_all_lengths)
{
	struct drv_pair p = drv_ud_pair();

	for (uint32_t len = 0; len < 70; len++)
		check_message(&p, len);
	for (uint32_t len = 4080; len <= 4096; len++)
		check_message(&p, len);
}

TEST(ud_ipv6_header)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = ud_wr(&p, 100);
	const uint8_t *grh = p.b.mr->ptr;
	uint8_t gid[16];

	wr.av.traffic_class = 0xb8;
	wr.av.flow_label = 0x54321;
	wr.av.hop_limit = 7;
	post_recv(&p, 1, 8000);
	drv_post_send(p.a.qp, &wr);
	check_received(&p, 1, 100);
	CHECK_EQ(grh[0], 0x6b);
	CHECK_EQ(grh[1], 0x85);
	CHECK_EQ(grh[2], 0x43);
	CHECK_EQ(grh[3], 0x21);
	/* UDP 8, BTH 12, DETH 8, payload, ICRC 4 */
	CHECK_EQ(grh[4] << 8 | grh[5], 8 + 12 + 8 + 100 + 4);
	CHECK_EQ(grh[6], 17);
	CHECK_EQ(grh[7], 7);
	drv_gid(0, DRV_GID_IPV6, gid);
	CHECK_MEM(grh + 8, gid, 16);
	drv_gid(1, DRV_GID_IPV6, gid);
	CHECK_MEM(grh + 24, gid, 16);
}

TEST(ud_ipv4_header)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = ud_wr(&p, 101);
	const uint8_t *grh = p.b.mr->ptr;
	uint32_t sum = 0;

	wr.av = drv_av(p.a.d, 1, DRV_GID_IPV4);
	wr.av.traffic_class = 0x48;
	wr.av.hop_limit = 3;
	post_recv(&p, 1, 8000);
	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(check_received(&p, 1, 101).sl, MYNIC_NETWORK_IPV4);
	for (int i = 0; i < 20; i++)
		CHECK_EQ(grh[i], 0);
	CHECK_EQ(grh[20], 0x45);
	CHECK_EQ(grh[21], 0x48);
	/* with 3 bytes of padding */
	CHECK_EQ(grh[22] << 8 | grh[23], 20 + 8 + 12 + 8 + 104 + 4);
	CHECK_EQ(grh[28], 3);
	CHECK_EQ(grh[29], 17);
	CHECK_MEM(grh + 32, "\x0a\0\0\x01", 4);
	CHECK_MEM(grh + 36, "\x0a\0\0\x02", 4);
	for (int i = 20; i < 40; i += 2)
		sum += grh[i] << 8 | grh[i + 1];
	CHECK_EQ((sum & 0xffff) + (sum >> 16), 0xffff);
}

TEST(ud_immediate)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = ud_wr(&p, 64);
	struct mynic_cqe cqe;

	wr.opcode = IBV_WR_SEND_WITH_IMM;
	wr.imm = 0xaabbccdd;
	post_recv(&p, 1, 8000);
	drv_post_send(p.a.qp, &wr);
	cqe = check_received(&p, 1, 64);
	CHECK_EQ(cqe.wc_flags, IBV_WC_GRH | IBV_WC_WITH_IMM);
	CHECK_EQ(cqe.imm_data, 0xaabbccdd);
}

TEST(ud_inline)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = ud_wr(&p, 0);

	drv_fill(p.a.mr->ptr, 192, 3);
	wr.flags |= IBV_SEND_INLINE;
	wr.inline_data = p.a.mr->ptr;
	wr.inline_len = 192;
	post_recv(&p, 1, 8000);
	drv_post_send(p.a.qp, &wr);
	check_received(&p, 1, 192);
}

TEST(ud_loopback)
{
	struct drv_pair p = drv_ud_pair();
	struct mynic_sge sge = drv_sge(p.a.mr, 4096, 200);
	struct drv_wr wr = ud_wr(&p, 64);

	/* to itself */
	wr.remote_qpn = p.a.qp->number;
	wr.av = drv_av(p.a.d, 0, DRV_GID_IPV6);
	drv_fill(p.a.mr->ptr, 64, 9);
	drv_post_recv(p.a.qp, 5, &sge, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(drv_expect(p.a.recv_cq, 5, 0).byte_len, 104);
	CHECK_MEM(p.a.mr->ptr + 4096 + GRH_LEN, p.a.mr->ptr, 64);
}

TEST(ud_qkeys)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = ud_wr(&p, 10);

	post_recv(&p, 1, 8000);
	wr.remote_qkey = QKEY + 1;
	check_dropped(&p, &wr, MYNIC_STAT_RX_DROP_KEY);
	/* with bit 31, the QP's own is sent, which is right here */
	wr.remote_qkey = 0x80000000 | 0x22222222;
	drv_post_send(p.a.qp, &wr);
	check_received(&p, 1, 10);
}

TEST(ud_privileged_qkey_cannot_be_sent)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = ud_wr(&p, 10);

	drv_reset_qp(p.b.qp);
	drv_ud_up(p.b.qp, 0x80010000, IBV_QPS_RTS);
	post_recv(&p, 1, 8000);
	wr.remote_qkey = 0x80010000;
	check_dropped(&p, &wr, MYNIC_STAT_RX_DROP_KEY);
}

TEST(ud_no_such_qp)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = ud_wr(&p, 10);

	wr.remote_qpn = 0x123456;
	check_dropped(&p, &wr, MYNIC_STAT_RX_DROP_QP);
	wr.remote_qpn = 0;
	check_dropped(&p, &wr, MYNIC_STAT_RX_DROP_QP);
	drv_reset_qp(p.b.qp);
	drv_ud_up(p.b.qp, QKEY, IBV_QPS_INIT);
	wr.remote_qpn = p.b.qp->number;
	check_dropped(&p, &wr, MYNIC_STAT_RX_DROP_QP);
}

TEST(ud_no_receive_request)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = ud_wr(&p, 10);

	check_dropped(&p, &wr, MYNIC_STAT_RX_DROP_WQE);
	check_message(&p, 10);
}

TEST(ud_receive_request_too_short)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = ud_wr(&p, 100);

	post_recv(&p, 1, 139);
	check_dropped(&p, &wr, MYNIC_STAT_RX_DROP_WQE);
	/* the receive request waits for a message that fits */
	wr = ud_wr(&p, 99);
	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(drv_expect(p.b.recv_cq, 1, 0).byte_len, 139);
}

/* Lost messages do not matter to later ones */
TEST(ud_receives_in_rtr)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_UD };
	struct drv_pair p = drv_pair_unconnected(&init);

	drv_ud_up(p.a.qp, QKEY, IBV_QPS_RTS);
	drv_ud_up(p.b.qp, QKEY, IBV_QPS_RTR);
	check_message(&p, 100);
}

/*
 * Check a bad request: the QP goes to SQE, flushes the rest, and still
 * receives; RTS restarts it
 */
static void check_sqe(struct drv_pair *p, const struct drv_wr *wr,
		      enum ibv_wc_status status, enum mynic_syndrome syndrome)
{
	struct drv_wr good = ud_wr(p, 10);
	struct mynic_sge sge = drv_sge(p->a.mr, 4096, 4096);
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_CUR_STATE,
		.qp_state = IBV_QPS_RTS,
		.cur_qp_state = IBV_QPS_SQE,
	};

	good.wr_id = 0x88;
	drv_write_wqe(p->a.qp, wr);
	drv_post_send(p->a.qp, &good);
	CHECK_EQ(drv_expect(p->a.cq, DRV_WR_ID, status).vendor_err, syndrome);
	drv_expect(p->a.cq, 0x88, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(drv_query_qp(p->a.qp).qp_state, IBV_QPS_SQE);
	/* posted in SQE: flushed */
	drv_post_send(p->a.qp, &good);
	drv_expect(p->a.cq, 0x88, IBV_WC_WR_FLUSH_ERR);
	/* b to a works */
	good.remote_qpn = p->a.qp->number;
	good.av = drv_av(p->b.d, 0, DRV_GID_IPV6);
	good.num_sge = 0;
	drv_post_recv(p->a.qp, 3, &sge, 1);
	drv_post_send(p->b.qp, &good);
	drv_expect(p->a.recv_cq, 3, IBV_WC_SUCCESS);
	drv_expect(p->b.cq, 0x88, IBV_WC_SUCCESS);
	CHECK_EQ(drv_modify_qp(p->a.qp, &attr), MYNIC_AQ_OK);
	check_message(p, 50);
}

TEST(ud_message_longer_than_mtu)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = ud_wr(&p, 4097);

	check_sqe(&p, &wr, IBV_WC_LOC_LEN_ERR, MYNIC_SYN_BAD_LEN);
}

TEST(ud_bad_opcodes)
{
	struct drv_pair p = drv_ud_pair();
	static const enum ibv_wr_opcode op[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_LOCAL_INV
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(op); i++) {
		struct drv_wr wr = ud_wr(&p, 8);

		wr.opcode = op[i];
		check_sqe(&p, &wr, IBV_WC_LOC_QP_OP_ERR, MYNIC_SYN_BAD_OPCODE);
	}
}

TEST(ud_bad_address_vectors)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = ud_wr(&p, 8);

	wr.av.sgid_index = 200;
	check_sqe(&p, &wr, IBV_WC_LOC_QP_OP_ERR, MYNIC_SYN_BAD_GID);
	wr.av.sgid_index = 0xffff;
	check_sqe(&p, &wr, IBV_WC_LOC_QP_OP_ERR, MYNIC_SYN_BAD_GID);
	/* IPv4 source for an IPv6 destination */
	wr.av.sgid_index = DRV_GID_IPV4;
	check_sqe(&p, &wr, IBV_WC_LOC_QP_OP_ERR, MYNIC_SYN_BAD_GID);
}

TEST(ud_bad_lkey)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = ud_wr(&p, 8);

	wr.sge[0].lkey ^= 1;
	check_sqe(&p, &wr, IBV_WC_LOC_PROT_ERR, MYNIC_SYN_BAD_LKEY);
}

TEST(gsi_datagrams)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_GSI,
						 .flags = MYNIC_QP_KERNEL };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct drv_wr wr = ud_wr(&p, 256);

	CHECK_EQ(p.a.qp->number, 1);
	drv_ud_up(p.a.qp, 0x80010000, IBV_QPS_RTS);
	drv_ud_up(p.b.qp, 0x80010000, IBV_QPS_RTS);
	drv_fill(p.a.mr->ptr, 256, 7);
	post_recv(&p, 1, 296 + 40);
	wr.remote_qkey = 0x80010000;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	check_received(&p, 1, 256);
}

static const uint8_t group6[16] = { 0xff, 0x0e, [15] = 0x42 };
static const uint8_t group4[16] = { [10] = 0xff, 0xff, 239, 1, 2, 3 };

static struct drv_wr mcast_wr(struct drv_pair *p, const uint8_t *gid)
{
	struct drv_wr wr = ud_wr(p, 64);
	bool ipv4 = gid == group4;

	wr.remote_qpn = MULTICAST_QPN;
	wr.av.sgid_index = ipv4 ? DRV_GID_IPV4 : DRV_GID_IPV6;
	memcpy(wr.av.dgid, gid, 16);
	memcpy(wr.av.dmac,
	       ipv4 ? "\x01\x00\x5e\x01\x02\x03" : "\x33\x33\x00\x00\x00\x42",
	       6);
	return wr;
}

static void check_multicast(const uint8_t *gid)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = mcast_wr(&p, gid);
	struct mynic_sge sge = drv_sge(p.a.mr, 4096, 200);

	drv_fill(p.a.mr->ptr, 64, 1);
	post_recv(&p, 1, 8000);
	CHECK(nic_keep_journal(p.b.d->n->nic, true));
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	drv_expect_none(p.b.recv_cq, SEC);
	/* Packets to unknown groups are not counted */
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_RX_DROP_KEY), 1);
	CHECK_EQ(nic_journal(p.b.d->n->nic)->num, 0);
	CHECK_EQ(drv_mcast(p.b.qp, MYNIC_CMD_ATTACH_MCAST, gid), 0);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	check_received(&p, 1, 64);
	/* the sender is a member, too, and each gets one copy */
	CHECK_EQ(drv_mcast(p.a.qp, MYNIC_CMD_ATTACH_MCAST, gid), 0);
	drv_post_recv(p.a.qp, 2, &sge, 1);
	drv_post_recv(p.a.qp, 3, &sge, 1);
	post_recv(&p, 4, 8000);
	post_recv(&p, 5, 8000);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(drv_expect(p.a.recv_cq, 2, 0).byte_len, 104);
	check_received(&p, 4, 64);
	drv_expect_none(p.a.recv_cq, SEC);
	drv_expect_none(p.b.recv_cq, 0);
	CHECK_EQ(drv_mcast(p.b.qp, MYNIC_CMD_DETACH_MCAST, gid), 0);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.recv_cq, 3, IBV_WC_SUCCESS);
	drv_expect_none(p.b.recv_cq, SEC);
}

TEST(mcast_ipv6)
{
	check_multicast(group6);
}

TEST(mcast_ipv4)
{
	check_multicast(group4);
}

TEST(mcast_members_of_one_nic)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = mcast_wr(&p, group6);
	struct drv_qp_init init = {
		.type = MYNIC_QP_UD,
		.pdn = p.b.pdn,
		.send_cq = p.b.cq,
		.recv_cq = p.b.recv_cq,
	};
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 200);
	struct drv_qp *qp[64];
	struct mynic_cqe cqe;
	bool seen[64] = { false };

	for (unsigned int i = 0; i < ARRAY_SIZE(qp); i++) {
		qp[i] = drv_create_qp(p.b.d, &init);
		drv_ud_up(qp[i], QKEY, IBV_QPS_RTR);
		CHECK_EQ(drv_mcast(qp[i], MYNIC_CMD_ATTACH_MCAST, group6), 0);
		/* one of them cannot receive it, but the others do */
		if (i != 3)
			drv_post_recv(qp[i], i, &sge, 1);
	}
	CHECK_EQ(drv_mcast(p.b.qp, MYNIC_CMD_ATTACH_MCAST, group6),
		 MYNIC_AQ_NO_RESOURCE);
	drv_post_send(p.a.qp, &wr);
	for (unsigned int i = 1; i < ARRAY_SIZE(qp); i++) {
		SIM_WAIT(p.sim, drv_poll(p.b.recv_cq, &cqe));
		CHECK_EQ(cqe.status, 0);
		CHECK(cqe.wr_id < 64 && !seen[cqe.wr_id]);
		seen[cqe.wr_id] = true;
	}
	CHECK(!seen[3]);
	/* a destroyed QP leaves the group */
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_QP, qp[0]->number), 0);
	CHECK_EQ(drv_mcast(p.b.qp, MYNIC_CMD_ATTACH_MCAST, group6), 0);
}

TEST(mcast_bad)
{
	struct drv_pair p = drv_ud_pair();
	static const struct drv_qp_init rc = { .type = MYNIC_QP_RC };
	struct drv_qp_init init = rc;
	uint8_t unicast[16] = { 0xfe, 0x80, [15] = 1 };
	uint8_t unicast4[16] = { [10] = 0xff, 0xff, 10, 1, 2, 3 };

	init.pdn = p.a.pdn;
	init.send_cq = p.a.cq;
	init.recv_cq = p.a.cq;
	CHECK_EQ(drv_mcast(p.a.qp, MYNIC_CMD_ATTACH_MCAST, unicast),
		 MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(drv_mcast(p.a.qp, MYNIC_CMD_ATTACH_MCAST, unicast4),
		 MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(drv_mcast(p.a.qp, MYNIC_CMD_DETACH_MCAST, group6),
		 MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(drv_mcast(drv_create_qp(p.a.d, &init), MYNIC_CMD_ATTACH_MCAST,
			   group6),
		 MYNIC_AQ_BAD_PARAM);
	/* a second attachment changes nothing */
	CHECK_EQ(drv_mcast(p.a.qp, MYNIC_CMD_ATTACH_MCAST, group6), 0);
	CHECK_EQ(drv_mcast(p.a.qp, MYNIC_CMD_ATTACH_MCAST, group6), 0);
	CHECK_EQ(drv_mcast(p.a.qp, MYNIC_CMD_DETACH_MCAST, group6), 0);
	CHECK_EQ(drv_mcast(p.a.qp, MYNIC_CMD_DETACH_MCAST, group6),
		 MYNIC_AQ_BAD_PARAM);
}

TEST(mcast_group_limit)
{
	struct drv_pair p = drv_ud_pair();
	uint8_t gid[16] = { 0xff, 0x0e };

	for (uint32_t i = 0; i <= p.a.d->attr.max_mcast_grp; i++) {
		memcpy(gid + 12, &i, 4);
		CHECK_EQ(drv_mcast(p.a.qp, MYNIC_CMD_ATTACH_MCAST, gid),
			 i < p.a.d->attr.max_mcast_grp ? MYNIC_AQ_OK :
							 MYNIC_AQ_NO_RESOURCE);
	}
}

TEST(ud_flush_in_order)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = ud_wr(&p, 10);

	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_ERR), MYNIC_AQ_OK);
	for (uint64_t i = 0; i < 20; i++) {
		wr.wr_id = i;
		wr.flags = 0;
		drv_post_send(p.a.qp, &wr);
	}
	for (uint64_t i = 0; i < 20; i++)
		drv_expect(p.a.cq, i, IBV_WC_WR_FLUSH_ERR);
}

TEST(ud_vlan)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = ud_wr(&p, 10);
	struct drv *end[] = { p.a.d, p.b.d };
	struct mynic_cqe cqe;

	for (unsigned int i = 0; i < 2; i++) {
		struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_SET_GID,
					       .number = 9 };

		drv_gid(i, DRV_GID_IPV6, cmd.set_gid.gid);
		cmd.set_gid.gid[8] = 0x99;
		memcpy(cmd.set_gid.mac, nic_mac(p.sim->nics[i].nic), 6);
		cmd.set_gid.vlan = 123;
		CHECK_EQ(drv_admin(end[i], &cmd, NULL), 0);
	}
	wr.av.sgid_index = 9;
	wr.av.dgid[8] = 0x99;
	wr.av.sl = 5;
	post_recv(&p, 1, 8000);
	drv_post_send(p.a.qp, &wr);
	cqe = check_received(&p, 1, 10);
	CHECK_EQ(cqe.sl, MYNIC_NETWORK_IPV6);
	CHECK_EQ(cqe.cvlan, 5 << 13 | 123);
}
