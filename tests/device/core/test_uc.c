// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Unreliable connections: messages, completions, states */
#include "core/packet/opcode.h"
#include "core/qp/qp.h"
#include "core/rdma/uc.h"
#include "core/state/queue_types.h"
#include "harness_driver.h"

static struct drv_wr a_wr(struct drv_pair *p, enum ibv_wr_opcode opcode,
			  uint32_t len)
{
	return (struct drv_wr){
		.wr_id = DRV_WR_ID,
		.opcode = opcode,
		.flags = IBV_SEND_SIGNALED,
		.imm = 0x12345678,
		.num_sge = 1,
		.sge = { drv_sge(p->a.mr, 0, len) },
		.remote_addr = p->b.mr->addr + 100,
		.rkey = p->b.mr->key,
	};
}

static enum sim_verdict check_opcode(struct sim *sim, struct sim_nic *from,
				     struct packet *pkt)
{
	(void)sim;
	/* nothing is answered */
	CHECK_EQ(from->index, 0);
	CHECK_EQ(pkt->roce.opcode >> 5, 1);
	CHECK(!pkt->roce.ack_req);
	return SIM_PASS;
}

static void check_messages(const struct drv_path *path, bool direct)
{
	struct drv_pair p = drv_uc_pair(path);
	uint32_t mtu = 128u << path->mtu;
	uint32_t lens[] = { 0,	     1,	      2,	   3,
			    mtu - 1, mtu,     mtu + 1,	   2 * mtu,
			    5 * mtu, 100001u, 64 * mtu - 1 };

	p.sim->direct = direct;
	if (!direct)
		p.sim->filter = check_opcode;
	for (unsigned int i = 0; i < ARRAY_SIZE(lens); i++) {
		struct drv_wr wr = a_wr(&p, IBV_WR_SEND, lens[i]);
		struct mynic_sge sge = drv_sge(p.b.mr, 0, lens[i]);
		struct mynic_cqe cqe;

		drv_send_recv(&p.a, &p.b, lens[i]);
		wr.opcode = IBV_WR_SEND_WITH_IMM;
		drv_post_recv(p.b.qp, 1, &sge, 1);
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
		cqe = drv_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS);
		CHECK_EQ(cqe.opcode, IBV_WC_RECV);
		CHECK_EQ(cqe.byte_len, lens[i]);
		CHECK_EQ(cqe.wc_flags, IBV_WC_WITH_IMM);
		CHECK_EQ(cqe.imm_data, 0x12345678);
		memset(p.b.mr->ptr, 0xee, lens[i] + 200);
		wr.opcode = IBV_WR_RDMA_WRITE;
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
		wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr.remote_addr += lens[i] + 3;
		drv_post_recv(p.b.qp, 2, NULL, 0);
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
		cqe = drv_expect(p.b.recv_cq, 2, IBV_WC_SUCCESS);
		CHECK_EQ(cqe.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
		CHECK_EQ(cqe.byte_len, lens[i]);
		CHECK_EQ(cqe.wc_flags, IBV_WC_WITH_IMM);
		CHECK_MEM(p.b.mr->ptr + 100, p.a.mr->ptr, lens[i]);
		CHECK_MEM(p.b.mr->ptr + 103 + lens[i], p.a.mr->ptr, lens[i]);
		CHECK_EQ(p.b.mr->ptr[99], 0xee);
		CHECK_EQ(p.b.mr->ptr[100 + lens[i]], 0xee);
	}
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_OUT_OF_SEQUENCE), 0);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_TX_PACKETS), 0);
}

TEST(uc_mtu_256)
{
	check_messages(&(struct drv_path){ .mtu = IBV_MTU_256 }, false);
}

TEST(uc_mtu_1024_ipv4_psn_wraps)
{
	static const struct drv_path path = {
		.mtu = IBV_MTU_1024,
		.gid_index = DRV_GID_IPV4,
		.sq_psn = 0xfffff8,
	};

	check_messages(&path, false);
}

TEST(uc_mtu_4096_direct_wire)
{
	check_messages(&(struct drv_path){ .mtu = IBV_MTU_4096 }, true);
}

TEST(uc_inline)
{
	struct drv_pair p = drv_uc_pair(NULL);
	struct drv_wr wr = a_wr(&p, IBV_WR_RDMA_WRITE, 0);
	uint8_t data[200];

	drv_fill(data, sizeof(data), 9);
	wr.flags |= IBV_SEND_INLINE;
	wr.inline_data = data;
	wr.inline_len = sizeof(data);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	sim_settle(p.sim);
	CHECK_MEM(p.b.mr->ptr + 100, data, sizeof(data));
}

TEST(uc_unsignaled_and_solicited)
{
	struct drv_pair p = drv_uc_pair(NULL);
	struct drv_wr wr = a_wr(&p, IBV_WR_SEND, 10);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 100);
	struct mynic_eqe eqe;

	for (unsigned int i = 0; i < 3; i++)
		drv_post_recv(p.b.qp, i, &sge, 1);
	drv_arm(p.b.recv_cq, true);
	wr.flags = 0;
	drv_post_send(p.a.qp, &wr);
	sim_settle(p.sim);
	CHECK(!drv_eq_poll(&p.b.d->comp, &eqe));
	wr.flags = IBV_SEND_SOLICITED;
	drv_post_send(p.a.qp, &wr);
	drv_expect_event(&p.b.d->comp, MYNIC_EVENT_COMP, p.b.recv_cq->number);
	wr.flags = IBV_SEND_SIGNALED;
	wr.wr_id = 5;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, 5, IBV_WC_SUCCESS);
}

/* Requests complete when they are sent, received or not */
TEST(uc_completes_when_sent)
{
	struct drv_pair p = drv_uc_pair(NULL);
	struct drv_wr wr = a_wr(&p, IBV_WR_RDMA_WRITE, 500000);

	p.sim->drop = 1000;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TX_RDMA_PACKETS),
		 (500000 + 1023) / 1024);
	CHECK_EQ(drv_query_qp(p.a.qp).sq_psn, (500000 + 1023) / 1024);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TIMEOUT), 0);
}

TEST(uc_bad_opcodes)
{
	static const uint8_t opcodes[] = { IBV_WR_RDMA_READ,
					   IBV_WR_ATOMIC_CMP_AND_SWP,
					   IBV_WR_ATOMIC_FETCH_AND_ADD,
					   IBV_WR_TSO,
					   11,
					   0x20,
					   0x21,
					   0xff };

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct drv_pair p = drv_uc_pair(NULL);
		struct drv_wr wr = a_wr(&p, opcodes[i], 8);
		struct mynic_cqe cqe;

		drv_post_send(p.a.qp, &wr);
		cqe = drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_QP_OP_ERR);
		CHECK_EQ(cqe.vendor_err, MYNIC_SYN_BAD_OPCODE);
		CHECK_EQ(drv_query_qp(p.a.qp).qp_state, IBV_QPS_SQE);
	}
}

/* IBTA 10.3.1: only the send queue fails, and it can be restarted */
TEST(uc_local_error)
{
	struct drv_pair p =
		drv_uc_pair(&(struct drv_path){ .mtu = IBV_MTU_256 });
	struct drv_wr wr = a_wr(&p, IBV_WR_SEND, 600);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 100000);
	struct mynic_cqe cqe;

	drv_post_recv(p.b.qp, 1, &sge, 1);
	drv_post_recv(p.a.qp, 2, &(struct mynic_sge){ 0 }, 0);
	/* two packets have been sent when the bad key is found */
	wr.num_sge = 2;
	wr.sge[1] = drv_sge(p.a.mr, 0, 100);
	wr.sge[1].lkey ^= 1;
	drv_write_wqe(p.a.qp, &wr);
	wr.num_sge = 1;
	wr.wr_id = 0x78;
	wr.flags = 0;
	drv_post_send(p.a.qp, &wr);
	cqe = drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_PROT_ERR);
	CHECK_EQ(cqe.vendor_err, MYNIC_SYN_BAD_LKEY);
	drv_expect(p.a.cq, 0x78, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(drv_query_qp(p.a.qp).qp_state, IBV_QPS_SQE);
	drv_expect_none(p.b.recv_cq, SEC);
	/* receiving continues */
	wr = a_wr(&p, IBV_WR_SEND, 0);
	wr.num_sge = 0;
	drv_post_send(p.b.qp, &wr);
	drv_expect(p.b.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	drv_expect(p.a.recv_cq, 2, IBV_WC_SUCCESS);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_RTS), 0);
	CHECK_EQ(drv_query_qp(p.a.qp).sq_psn, 2);
	/* the peer receives the next message completely */
	drv_fill(p.a.mr->ptr, 1000, 3);
	wr = a_wr(&p, IBV_WR_SEND, 1000);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(drv_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS).byte_len, 1000);
	CHECK_MEM(p.b.mr->ptr, p.a.mr->ptr, 1000);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_OUT_OF_SEQUENCE), 0);
}

TEST(uc_source_gid_that_is_gone)
{
	struct drv_pair p = drv_uc_pair(NULL);
	struct drv_wr wr = a_wr(&p, IBV_WR_SEND, 8);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_SET_GID };

	CHECK_EQ(drv_admin(p.a.d, &cmd, NULL), 0);
	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_QP_OP_ERR).vendor_err,
		 MYNIC_SYN_BAD_GID);
	CHECK_EQ(drv_query_qp(p.a.qp).qp_state, IBV_QPS_SQE);
}

/* The present message is sent completely, and the next one waits */
TEST(uc_sqd)
{
	struct drv_pair p =
		drv_uc_pair(&(struct drv_path){ .mtu = IBV_MTU_256 });
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY,
		.qp_state = IBV_QPS_SQD,
		.sq_drained_event = 1,
	};
	struct drv_wr wr = a_wr(&p, IBV_WR_RDMA_WRITE, 900000);

	drv_fill(p.a.mr->ptr, 900000, 5);
	drv_write_wqe(p.a.qp, &wr);
	wr.wr_id = 0x78;
	drv_post_send(p.a.qp, &wr);
	nic_run(p.a.d->n->nic);
	CHECK(p.a.d->n->sent > 0);
	CHECK_EQ(drv_modify_qp(p.a.qp, &attr), 0);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	drv_expect_event(&p.a.d->event, MYNIC_EVENT_SQ_DRAINED, p.a.qp->number);
	CHECK_EQ(drv_query_qp(p.a.qp).sq_drained_event, 0);
	CHECK_MEM(p.b.mr->ptr + 100, p.a.mr->ptr, 900000);
	drv_expect_none(p.a.cq, SEC);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_RTS), 0);
	drv_expect(p.a.cq, 0x78, IBV_WC_SUCCESS);
}

TEST(uc_flush_in_order)
{
	struct drv_pair p = drv_uc_pair(NULL);
	struct drv_wr wr = a_wr(&p, IBV_WR_SEND, 10);
	struct mynic_sge sge = drv_sge(p.a.mr, 0, 10);

	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_ERR), 0);
	for (uint64_t i = 0; i < 20; i++) {
		wr.wr_id = i;
		wr.flags = 0;
		drv_post_send(p.a.qp, &wr);
		drv_post_recv(p.a.qp, 100 + i, &sge, 1);
	}
	for (uint64_t i = 0; i < 20; i++)
		drv_expect(p.a.cq, i, IBV_WC_WR_FLUSH_ERR);
	for (uint64_t i = 0; i < 20; i++)
		drv_expect(p.a.recv_cq, 100 + i, IBV_WC_WR_FLUSH_ERR);
}

TEST(uc_query)
{
	struct drv_pair p = drv_uc_pair(&(struct drv_path){
		.mtu = IBV_MTU_2048, .sq_psn = 0x123456, .rq_psn = 0x654321 });
	struct mynic_qp_attr attr = drv_query_qp(p.a.qp);
	struct mynic_av av = drv_av(p.a.d, 1, 0);

	CHECK_EQ(attr.qp_state, IBV_QPS_RTS);
	CHECK_EQ(attr.path_mtu, IBV_MTU_2048);
	CHECK_EQ(attr.sq_psn, 0x123456);
	CHECK_EQ(attr.rq_psn, 0x654321);
	CHECK_EQ(attr.dest_qpn, p.b.qp->number);
	CHECK_EQ(attr.access_flags, ACCESS_ALL);
	CHECK_MEM(&attr.av, &av, sizeof(av));
	CHECK_EQ(attr.timeout, 0);
	CHECK_EQ(attr.retry_cnt, 0);
	CHECK_EQ(attr.max_rd_atomic, 0);
	CHECK_EQ(attr.max_dest_rd_atomic, 0);
}

/* The first message to arrive takes the first entry of an SRQ */
TEST(uc_with_an_srq)
{
	struct drv_pair p =
		drv_pair_unconnected(&(struct drv_qp_init){ .type = 2 });
	struct drv_srq *srq = drv_create_srq(p.b.d, p.b.pdn, 4);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 5000);
	struct drv_qp_init init = {
		.type = MYNIC_QP_UC,
		.pdn = p.b.pdn,
		.send_cq = p.b.cq,
		.recv_cq = p.b.recv_cq,
		.srq = srq,
	};
	struct drv_wr wr = a_wr(&p, IBV_WR_SEND, 5000);

	p.b.qp = drv_create_qp(p.b.d, &init);
	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
	for (unsigned int i = 0; i < 2; i++)
		drv_post_srq_recv(srq, i, &sge, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(drv_expect(p.b.recv_cq, 0, IBV_WC_SUCCESS).byte_len, 5000);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS);
	CHECK_EQ(drv_set_state(p.b.qp, IBV_QPS_ERR), 0);
	drv_expect_event(&p.b.d->event, MYNIC_EVENT_LAST_WQE, p.b.qp->number);
}

/* Whatever the wire does, no wrong data is delivered, and nothing hangs */
TEST(uc_on_a_bad_wire)
{
	struct drv_pair p =
		drv_uc_pair(&(struct drv_path){ .mtu = IBV_MTU_256 });
	struct drv_wr wr = a_wr(&p, IBV_WR_SEND_WITH_IMM, 0);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 4096);
	unsigned int arrived = 0;
	struct mynic_cqe cqe;

	p.sim->drop = 30;
	p.sim->duplicate = 30;
	p.sim->reorder = 30;
	p.sim->delay = USEC;
	for (unsigned int i = 0; i < 32; i++)
		drv_post_recv(p.b.qp, i, &sge, 1);
	for (unsigned int i = 1; i <= 3000; i++) {
		wr.imm = i;
		wr.sge[0].length = i;
		drv_fill(p.a.mr->ptr, i, i);
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
		sim_run(p.sim, 2 * USEC);
		while (drv_poll(p.b.recv_cq, &cqe)) {
			CHECK_EQ(cqe.status, 0);
			CHECK_EQ(cqe.imm_data, i);
			CHECK_EQ(cqe.byte_len, i);
			CHECK_MEM(p.b.mr->ptr, p.a.mr->ptr, i);
			drv_post_recv(p.b.qp, cqe.wr_id, &sge, 1);
			arrived++;
		}
	}
	CHECK(arrived > 1000 && arrived < 3000);
	CHECK(drv_stat(p.b.d, MYNIC_STAT_RX_DROP_SEQUENCE) > 0);
	CHECK(drv_stat(p.b.d, MYNIC_STAT_OUT_OF_SEQUENCE) > 0);
	CHECK_EQ(drv_query_qp(p.b.qp).qp_state, IBV_QPS_RTS);
}

/* The queue refuses them before; none may be sent as another operation */
TEST(uc_sends_no_other_opcodes)
{
	struct drv_pair p = drv_uc_pair(NULL);
	struct qp *qp = qp_find(p.a.d->n->nic, p.a.qp->number);

	for (unsigned int op = 0; op <= MYNIC_WQE_OPCODE_MASK; op++) {
		struct send_req req = { .opcode = op };
		bool has_packets =
			op == IBV_WR_SEND || op == IBV_WR_SEND_WITH_IMM ||
			op == IBV_WR_SEND_WITH_INV || op == IBV_WR_RDMA_WRITE ||
			op == IBV_WR_RDMA_WRITE_WITH_IMM;

		CHECK_EQ(uc_send(qp, &req),
			 has_packets ? OUTCOME_OK : OUTCOME_BAD_OPCODE);
	}
}
