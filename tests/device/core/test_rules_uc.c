// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rules of unreliable connections in Documentation/transport-rules.rst. Tests
 * have the names of the rules.
 */
#include "harness_mock_peer.h"

#define MTU MOCK_MTU

/* All that a test expects to be counted */
struct counts {
	uint64_t out_of_sequence;
	uint64_t sequence;
	uint64_t wqe;
	uint64_t key;
	uint64_t header;
	uint64_t qp;
};

static void check_counts(struct mock_peer *p, struct counts want)
{
	mock_expect_nothing(p);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_OUT_OF_SEQUENCE),
		 want.out_of_sequence);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_DROP_SEQUENCE), want.sequence);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_DROP_WQE), want.wqe);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_DROP_KEY), want.key);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_DROP_HEADER), want.header);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_DROP_QP), want.qp);
}

static void check_alive(struct mock_peer *p, struct counts want)
{
	check_counts(p, want);
	mock_no_event(p);
	drv_expect_none(p->b.recv_cq, 0);
	CHECK_EQ(mock_state(p), IBV_QPS_RTS);
}

/* Check that a message of one packet arrives, whatever was before */
static void check_message(struct mock_peer *p, uint64_t wr_id, int32_t psn)
{
	memset(p->b.mr->ptr, 0xee, 8 * MTU);
	mock_send_opcode(p, BTH_UC_SEND_ONLY, psn, 100);
	CHECK_EQ(drv_expect(p->b.recv_cq, wr_id, IBV_WC_SUCCESS).byte_len, 100);
	CHECK_MEM(p->b.mr->ptr, p->payload, 100);
	CHECK_EQ(p->b.mr->ptr[100], 0xee);
	CHECK_EQ(mock_epsn(p), psn + 1);
}

static void say_write(struct mock_peer *p, uint8_t opcode, int32_t psn,
		      uint32_t payload, uint32_t dma_len)
{
	struct packet pkt = mock_packet(p, opcode, psn, payload);

	pkt.roce.dma_len = dma_len;
	mock_send(p, &pkt);
}

TEST(uc_opcodes)
{
	struct mock_peer *p = mock_uc();

	for (unsigned int opcode = 0x2c; opcode < 0x40; opcode++)
		if (opcode != BTH_UC_SEND_LAST_INV &&
		    opcode != BTH_UC_SEND_ONLY_INV)
			mock_send_opcode(p, opcode, 0, 0);
	mock_send_opcode(p, BTH_RC_READ_REQUEST, 0, 8);
	mock_send_opcode(p, BTH_RC_ACK, 0, 0);
	CHECK_EQ(mock_epsn(p), 0);
	check_alive(p, (struct counts){ .qp = 20 });
}

TEST(uc_in_sequence)
{
	struct mock_peer *p = mock_uc();
	struct mynic_cqe cqe;
	struct mynic_eqe eqe;
	struct packet pkt;

	drv_arm(p->b.recv_cq, true);
	for (unsigned int i = 0; i < 6; i++)
		mock_recv(p, i, i * 1024, 1024);
	mock_send_opcode(p, BTH_UC_SEND_FIRST, 0, MTU);
	mock_send_opcode(p, BTH_UC_SEND_MIDDLE, 1, MTU);
	drv_expect_none(p->b.recv_cq, 0);
	mock_send_opcode(p, BTH_UC_SEND_LAST_IMM, 2, 7);
	cqe = drv_expect(p->b.recv_cq, 0, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.byte_len, 2 * MTU + 7);
	CHECK_EQ(cqe.opcode, IBV_WC_RECV);
	CHECK_EQ(cqe.wc_flags, IBV_WC_WITH_IMM);
	CHECK_EQ(cqe.imm_data, 0x12345678);
	CHECK_EQ(cqe.src_qp, 0);
	mock_send_opcode(p, BTH_UC_SEND_FIRST, 3, MTU);
	mock_send_opcode(p, BTH_UC_SEND_LAST, 4, MTU);
	CHECK_EQ(drv_expect(p->b.recv_cq, 1, IBV_WC_SUCCESS).wc_flags, 0);
	mock_send_opcode(p, BTH_UC_SEND_ONLY, 5, 0);
	drv_expect(p->b.recv_cq, 2, IBV_WC_SUCCESS);
	CHECK(!drv_eq_poll(&p->b.d->comp, &eqe));
	pkt = mock_packet(p, BTH_UC_SEND_ONLY_IMM, 6, 10);
	pkt.roce.solicited = true;
	mock_send(p, &pkt);
	drv_expect(p->b.recv_cq, 3, IBV_WC_SUCCESS);
	drv_expect_event(&p->b.d->comp, MYNIC_EVENT_COMP, p->b.recv_cq->number);
	memset(p->b.mr->ptr, 0, 4096);
	say_write(p, BTH_UC_WRITE_FIRST, 7, MTU, 2 * MTU + 5);
	mock_send_opcode(p, BTH_UC_WRITE_MIDDLE, 8, MTU);
	mock_send_opcode(p, BTH_UC_WRITE_LAST, 9, 5);
	CHECK_MEM(p->b.mr->ptr, p->payload, MTU);
	CHECK_MEM(p->b.mr->ptr + MTU, p->payload, MTU);
	CHECK_MEM(p->b.mr->ptr + 2 * MTU, p->payload, 5);
	say_write(p, BTH_UC_WRITE_FIRST, 10, MTU, MTU + 5);
	mock_send_opcode(p, BTH_UC_WRITE_LAST_IMM, 11, 5);
	cqe = drv_expect(p->b.recv_cq, 4, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK_EQ(cqe.byte_len, MTU + 5);
	CHECK_EQ(cqe.imm_data, 0x12345678);
	mock_send_opcode(p, BTH_UC_WRITE_ONLY, 12, 3);
	mock_send_opcode(p, BTH_UC_WRITE_ONLY_IMM, 13, 3);
	drv_expect(p->b.recv_cq, 5, IBV_WC_SUCCESS);
	check_alive(p, (struct counts){ 0 });
}

TEST(uc_gap_in_message)
{
	struct mock_peer *p = mock_uc();

	mock_recv(p, 1, 0, 4096);
	mock_send_opcode(p, BTH_UC_SEND_FIRST, 0, MTU);
	mock_send_opcode(p, BTH_UC_SEND_MIDDLE, 2, MTU);
	check_alive(p, (struct counts){ .out_of_sequence = 1, .sequence = 1 });
	mock_send_opcode(p, BTH_UC_SEND_MIDDLE, 3, MTU);
	mock_send_opcode(p, BTH_UC_SEND_LAST, 4, MTU);
	check_alive(p, (struct counts){ .out_of_sequence = 1, .sequence = 3 });
	check_message(p, 1, 5);
	/* the same in a WRITE; written bytes stay */
	mock_recv(p, 2, 0, 0);
	memset(p->b.mr->ptr, 0xee, 4096);
	say_write(p, BTH_UC_WRITE_FIRST, 6, MTU, 2 * MTU + 5);
	mock_send_opcode(p, BTH_UC_WRITE_LAST_IMM, 8, 5);
	CHECK_MEM(p->b.mr->ptr, p->payload, MTU);
	CHECK_EQ(p->b.mr->ptr[MTU], 0xee);
	/* a packet that comes twice is a gap, too */
	say_write(p, BTH_UC_WRITE_FIRST, 9, MTU, 2 * MTU + 5);
	mock_send_opcode(p, BTH_UC_WRITE_MIDDLE, 10, MTU);
	mock_send_opcode(p, BTH_UC_WRITE_MIDDLE, 10, MTU);
	mock_send_opcode(p, BTH_UC_WRITE_LAST_IMM, 11, 5);
	check_alive(p, (struct counts){ .out_of_sequence = 3, .sequence = 6 });
}

TEST(uc_gap_between_messages)
{
	static const int32_t psns[] = { 5,	   3,	      0x7fffff,
					-0x800000, -0x7ffff0, 0x3fffff };
	struct mock_peer *p = mock_uc();

	for (unsigned int i = 0; i < ARRAY_SIZE(psns); i++) {
		mock_recv(p, i, 0, 4096);
		memset(p->b.mr->ptr, 0xee, 4096);
		mock_send_opcode(p, BTH_UC_SEND_FIRST, psns[i], MTU);
		mock_send_opcode(p, BTH_UC_SEND_LAST, psns[i] + 1, 10);
		CHECK_EQ(drv_expect(p->b.recv_cq, i, IBV_WC_SUCCESS).byte_len,
			 MTU + 10);
		CHECK_EQ(mock_stat(p, MYNIC_STAT_OUT_OF_SEQUENCE), i + 1);
	}
	/* in a message */
	mock_recv(p, 0x77, 0, 4096);
	mock_send_opcode(p, BTH_UC_SEND_FIRST, 0, MTU);
	check_message(p, 0x77, 10);
	check_alive(p,
		    (struct counts){ .out_of_sequence = ARRAY_SIZE(psns) + 2 });
}

TEST(uc_psn_follows)
{
	static const struct counts want = {
		.out_of_sequence = 2,
		.sequence = 1,
		.wqe = 1,
		.header = 1,
	};
	struct mock_peer *p = mock_uc();

	/* dropped for each possible reason */
	mock_send_opcode(p, BTH_UC_SEND_LAST, 7, 10);
	CHECK_EQ(mock_epsn(p), 8);
	mock_send_opcode(p, BTH_UC_SEND_ONLY, 8, 10);
	CHECK_EQ(mock_epsn(p), 9);
	mock_send_opcode(p, BTH_UC_WRITE_ONLY, 9, MTU + 1);
	CHECK_EQ(mock_epsn(p), 10);
	mock_send_opcode(p, BTH_UC_WRITE_ONLY, 10, 10);
	CHECK_EQ(mock_epsn(p), 11);
	mock_send_opcode(p, BTH_UC_WRITE_ONLY, 0x7fffff, 10);
	CHECK_EQ(mock_epsn(p), -0x800000);
	check_alive(p, want);
}

TEST(uc_opcode_sequence)
{
	static const uint8_t rest[] = {
		BTH_UC_SEND_MIDDLE,  BTH_UC_SEND_LAST,	BTH_UC_SEND_LAST_IMM,
		BTH_UC_WRITE_MIDDLE, BTH_UC_WRITE_LAST, BTH_UC_WRITE_LAST_IMM
	};
	struct mock_peer *p = mock_uc();
	int32_t psn = 0;

	mock_recv(p, 1, 0, 4096);
	for (unsigned int i = 0; i < ARRAY_SIZE(rest); i++)
		mock_send_opcode(p, rest[i], psn++, MTU);
	check_alive(p, (struct counts){ .sequence = 6 });
	/* a packet of the other kind ends the message */
	for (unsigned int i = 0; i < ARRAY_SIZE(rest); i++) {
		bool send = i < 3;

		say_write(p, send ? BTH_UC_WRITE_FIRST : BTH_UC_SEND_FIRST,
			  psn++, MTU, 2 * MTU);
		mock_send_opcode(p, rest[i], psn++, MTU);
		mock_send_opcode(p, send ? BTH_UC_WRITE_LAST : BTH_UC_SEND_LAST,
				 psn++, MTU);
	}
	check_alive(p, (struct counts){ .sequence = 18 });
	/* a new one in the middle of another */
	mock_send_opcode(p, BTH_UC_SEND_FIRST, psn++, MTU);
	say_write(p, BTH_UC_WRITE_FIRST, psn++, MTU, 2 * MTU);
	check_message(p, 1, psn++);
	check_alive(p, (struct counts){ .sequence = 18 });
}

TEST(uc_receive_request_kept)
{
	struct mock_peer *p = mock_uc();
	struct drv_srq *srq = drv_create_srq(p->b.d, p->b.pdn, 4);
	struct drv_qp_init init = {
		.type = MYNIC_QP_UC,
		.pdn = p->b.pdn,
		.send_cq = p->b.cq,
		.recv_cq = p->b.recv_cq,
		.srq = srq,
	};
	struct drv_path path = { .mtu = IBV_MTU_256, .rq_psn = MOCK_PSN };
	struct mynic_sge sge = drv_sge(p->b.mr, 0, 4096);

	for (unsigned int i = 0; i < 2; i++) {
		if (i) {
			p->b.qp = drv_create_qp(p->b.d, &init);
			drv_connect_to(p->b.qp, 0, p->a.qp->number, &path,
				       IBV_QPS_RTS);
			drv_post_srq_recv(srq, 1, &sge, 1);
			drv_post_srq_recv(srq, 2, &sge, 1);
		} else {
			mock_recv(p, 1, 0, 4096);
			mock_recv(p, 2, 0, 4096);
		}
		mock_send_opcode(p, BTH_UC_SEND_FIRST, 0, MTU);
		mock_send_opcode(p, BTH_UC_SEND_LAST, 2, MTU);
		check_message(p, 1, 3);
		mock_send_opcode(p, BTH_UC_SEND_FIRST, 4, MTU);
		/* it serves a WRITE, too */
		mock_send_opcode(p, BTH_UC_WRITE_ONLY_IMM, 5, 10);
		CHECK_EQ(drv_expect(p->b.recv_cq, 2, IBV_WC_SUCCESS).byte_len,
			 10);
	}
	/* or is flushed */
	drv_post_srq_recv(srq, 3, &sge, 1);
	mock_send_opcode(p, BTH_UC_SEND_FIRST, 6, MTU);
	CHECK_EQ(drv_set_state(p->b.qp, IBV_QPS_ERR), 0);
	drv_expect(p->b.recv_cq, 3, IBV_WC_WR_FLUSH_ERR);
	drv_expect_event(&p->b.d->event, MYNIC_EVENT_LAST_WQE, p->b.qp->number);
}

TEST(uc_no_receive_request)
{
	struct mock_peer *p = mock_uc();

	mock_send_opcode(p, BTH_UC_SEND_ONLY, 0, 10);
	mock_send_opcode(p, BTH_UC_SEND_FIRST, 1, MTU);
	mock_recv(p, 1, 0, 4096);
	mock_send_opcode(p, BTH_UC_SEND_MIDDLE, 2, MTU);
	mock_send_opcode(p, BTH_UC_SEND_LAST, 3, MTU);
	check_alive(p, (struct counts){ .wqe = 2, .sequence = 2 });
	check_message(p, 1, 4);
	memset(p->b.mr->ptr, 0xee, 4096);
	say_write(p, BTH_UC_WRITE_FIRST, 5, MTU, MTU + 10);
	mock_send_opcode(p, BTH_UC_WRITE_LAST_IMM, 6, 10);
	mock_send_opcode(p, BTH_UC_WRITE_ONLY_IMM, 7, 10);
	CHECK_MEM(p->b.mr->ptr, p->payload, MTU);
	CHECK_EQ(p->b.mr->ptr[MTU], 0xee);
	check_alive(p, (struct counts){ .wqe = 4, .sequence = 2 });
}

TEST(uc_send_too_long)
{
	struct mock_peer *p = mock_uc();

	mock_recv(p, 1, 0, MTU + 100);
	mock_send_opcode(p, BTH_UC_SEND_FIRST, 0, MTU);
	mock_send_opcode(p, BTH_UC_SEND_MIDDLE, 1, MTU);
	mock_send_opcode(p, BTH_UC_SEND_LAST, 2, 1);
	check_alive(p, (struct counts){ .wqe = 1, .sequence = 1 });
	CHECK_EQ(p->b.mr->ptr[MTU + 100], 0);
	check_message(p, 1, 3);
}

TEST(uc_lengths)
{
	static const uint32_t bad[] = { 0, 1, MTU - 1, MTU + 1, 4096 };
	struct mock_peer *p = mock_uc();
	struct counts want = { 0 };
	int32_t psn = 0;

	mock_recv(p, 1, 0, 8192);
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		mock_send_opcode(p, BTH_UC_SEND_FIRST, psn++, bad[i]);
		mock_send_opcode(p, BTH_UC_SEND_LAST, psn++, 10);
		say_write(p, BTH_UC_WRITE_FIRST, psn++, bad[i], 2000);
		mock_send_opcode(p, BTH_UC_WRITE_LAST, psn++, 10);
		mock_send_opcode(p, BTH_UC_SEND_FIRST, psn++, MTU);
		mock_send_opcode(p, BTH_UC_SEND_MIDDLE, psn++, bad[i]);
		mock_send_opcode(p, BTH_UC_SEND_LAST, psn++, 10);
		want.header += 3;
		want.sequence += 3;
	}
	/* LAST: empty or too long; ONLY: too long */
	for (unsigned int i = 0; i < 2; i++) {
		mock_send_opcode(p, BTH_UC_SEND_FIRST, psn++, MTU);
		mock_send_opcode(p, BTH_UC_SEND_LAST, psn++, i ? MTU + 1 : 0);
	}
	mock_send_opcode(p, BTH_UC_SEND_ONLY, psn++, MTU + 1);
	mock_send_opcode(p, BTH_UC_WRITE_ONLY, psn++, MTU + 1);
	/* not the length in the RETH */
	say_write(p, BTH_UC_WRITE_ONLY, psn++, 10, 11);
	say_write(p, BTH_UC_WRITE_ONLY, psn++, 10, 9);
	say_write(p, BTH_UC_WRITE_FIRST, psn++, MTU, MTU);
	say_write(p, BTH_UC_WRITE_FIRST, psn++, MTU, 0x80000001);
	say_write(p, BTH_UC_WRITE_FIRST, psn++, MTU, MTU + 10);
	mock_send_opcode(p, BTH_UC_WRITE_LAST, psn++, 11);
	want.header += 9;
	check_alive(p, want);
	check_message(p, 1, psn);
}

TEST(uc_key)
{
	struct mock_peer *p = mock_uc();
	struct packet pkt = mock_packet(p, BTH_UC_WRITE_ONLY_IMM, 0, 10);
	struct mynic_qp_attr attr = { .attr_mask = IBV_QP_ACCESS_FLAGS };

	mock_recv(p, 1, 0, 1000);
	memset(p->b.mr->ptr, 0xee, 4096);
	pkt.roce.rkey ^= 1;
	mock_send(p, &pkt);
	pkt = mock_packet(p, BTH_UC_WRITE_FIRST, 1, MTU);
	pkt.roce.dma_len = 2 * MTU;
	pkt.roce.remote_addr += DRV_PAIR_MEM - 2 * MTU + 1;
	mock_send(p, &pkt);
	mock_send_opcode(p, BTH_UC_WRITE_LAST, 2, MTU);
	check_alive(p, (struct counts){ .key = 2, .sequence = 1 });
	CHECK_EQ(p->b.mr->ptr[0], 0xee);
	/* zero length needs no key, but the access right of the QP */
	pkt = mock_packet(p, BTH_UC_WRITE_ONLY, 3, 0);
	pkt.roce.rkey ^= 1;
	mock_send(p, &pkt);
	check_alive(p, (struct counts){ .key = 2, .sequence = 1 });
	CHECK_EQ(drv_modify_qp(p->b.qp, &attr), 0);
	pkt.roce.psn++;
	mock_send(p, &pkt);
	mock_send_opcode(p, BTH_UC_WRITE_ONLY, 5, 10);
	check_alive(p, (struct counts){ .key = 4, .sequence = 1 });
	CHECK_EQ(p->b.mr->ptr[0], 0xee);
	check_message(p, 1, 6);
}

TEST(uc_receive_request_bad)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct mock_peer *p = mock_uc();
		struct mynic_sge sge = drv_sge(p->b.mr, 0, 1000);

		sge.lkey ^= 1;
		drv_post_recv(p->b.qp, 1, &sge, 1);
		drv_post_recv(p->b.qp, 2, &sge, 1);
		if (i) {
			struct mynic_recv_wqe *wqe = drv_buf_at(
				&p->b.qp->buf, p->b.qp->create.rq_offset);

			wqe->num_sge = 200;
		}
		mock_send_opcode(p, BTH_UC_SEND_ONLY, 0, 10);
		drv_expect(p->b.recv_cq, 1,
			   i ? IBV_WC_LOC_QP_OP_ERR : IBV_WC_LOC_PROT_ERR);
		drv_expect(p->b.recv_cq, 2, IBV_WC_WR_FLUSH_ERR);
		CHECK_EQ(mock_state(p), IBV_QPS_ERR);
		check_counts(p, (struct counts){ 0 });
		mock_no_event(p);
	}
}

TEST(uc_memory_gone)
{
	struct mock_peer *p = mock_uc();
	uint64_t page = p->b.d->n->iova + SIM_MEM_SIZE / 2;
	struct mynic_create_mkey body = {
		.buf = drv_page_list(p->b.d, &page, 1, 12, 1),
		.length = 4096,
		.pdn = p->b.pdn,
		.access = ACCESS_ALL,
	};
	struct packet pkt = mock_packet(p, BTH_UC_WRITE_ONLY_IMM, 0, 10);
	struct mynic_cqe cqe;

	mock_recv(p, 1, 0, 1000);
	CHECK_EQ(drv_create_mkey(p->b.d, &body, 0, &pkt.roce.rkey), 0);
	CHECK_EQ(nic_dma_unmap(p->b.d->n->nic, page, SIM_MEM_SIZE / 2), 0);
	pkt.roce.remote_addr = 0;
	mock_send(p, &pkt);
	cqe = drv_expect(p->b.recv_cq, 1, IBV_WC_LOC_QP_OP_ERR);
	CHECK_EQ(cqe.vendor_err, MYNIC_SYN_DMA);
	drv_expect_event(&p->b.d->event, MYNIC_EVENT_QP_FATAL, p->b.qp->number);
	CHECK_EQ(mock_state(p), IBV_QPS_ERR);
}

TEST(uc_in_sqe)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_RTR, IBV_QPS_SQD,
						    IBV_QPS_SQE };
	struct drv_path path = { .mtu = IBV_MTU_256, .rq_psn = MOCK_PSN };

	for (unsigned int i = 0; i < ARRAY_SIZE(states); i++) {
		struct mock_peer *p = mock_uc();
		struct drv_wr wr = { .opcode = 0xff };

		drv_reset_qp(p->b.qp);
		drv_connect_to(p->b.qp, 0, p->a.qp->number, &path,
			       states[i] == IBV_QPS_RTR ? IBV_QPS_RTR :
							  IBV_QPS_RTS);
		if (states[i] == IBV_QPS_SQD)
			CHECK_EQ(drv_set_state(p->b.qp, IBV_QPS_SQD), 0);
		else if (states[i] == IBV_QPS_SQE)
			drv_post_send(p->b.qp, &wr);
		sim_settle(p->sim);
		CHECK_EQ(mock_state(p), states[i]);
		mock_recv(p, 1, 0, 1000);
		check_message(p, 1, 0);
	}
}

/* The same as in test_uc.c, seen from the wire */
TEST(uc_completes_when_sent)
{
	struct mock_peer *p = mock_uc();
	struct drv_wr wr = {
		.wr_id = 5,
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p->b.mr, 0, 2 * MTU + 1) },
	};

	drv_post_send(p->b.qp, &wr);
	drv_expect(p->b.cq, 5, IBV_WC_SUCCESS);
	CHECK_EQ(p->num, 3);
	CHECK_EQ(p->answers[0].hdr.opcode, BTH_UC_SEND_FIRST);
	CHECK_EQ(p->answers[1].hdr.opcode, BTH_UC_SEND_MIDDLE);
	CHECK_EQ(p->answers[2].hdr.opcode, BTH_UC_SEND_LAST);
	for (unsigned int i = 0; i < 3; i++) {
		CHECK_EQ(p->answers[i].hdr.psn, i);
		CHECK(!p->answers[i].hdr.ack_req);
	}
}

TEST(uc_local_error)
{
	struct mock_peer *p = mock_uc();
	struct drv_wr wr = {
		.wr_id = 5,
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 2,
		.sge = { drv_sge(p->b.mr, 0, 2 * MTU),
			 drv_sge(p->b.mr, 0, 10) },
	};

	wr.sge[1].lkey ^= 1;
	drv_write_wqe(p->b.qp, &wr);
	wr.num_sge = 1;
	wr.wr_id = 6;
	drv_post_send(p->b.qp, &wr);
	drv_expect(p->b.cq, 5, IBV_WC_LOC_PROT_ERR);
	drv_expect(p->b.cq, 6, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(mock_state(p), IBV_QPS_SQE);
	CHECK_EQ(p->num, 2);
	CHECK_EQ(drv_set_state(p->b.qp, IBV_QPS_RTS), 0);
	wr.sge[0].length = 10;
	drv_post_send(p->b.qp, &wr);
	drv_expect(p->b.cq, 6, IBV_WC_SUCCESS);
	CHECK_EQ(p->num, 3);
	CHECK_EQ(p->answers[2].hdr.opcode, BTH_UC_SEND_ONLY);
	CHECK_EQ(p->answers[2].hdr.psn, 2);
}
