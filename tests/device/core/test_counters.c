// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters that other tests do not check. Those of the responder are in
 * test_rules_*.c, and those of the host's errors in test_regs.c and others.
 */
#include "core/nic.h"
#include "harness_mock_peer.h"

/* Make a mock peer and a NIC that has sent a WRITE and waits for an answer */
static struct mock_peer *mock_asked(void)
{
	struct mock_peer *p = mock_rc();
	struct drv_wr wr = {
		.wr_id = 5,
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p->b.mr, 0, 10) },
	};

	drv_write_wqe(p->b.qp, &wr);
	wr.wr_id = 6;
	drv_post_send(p->b.qp, &wr);
	sim_settle(p->sim);
	CHECK_EQ(p->num, 2);
	return p;
}

static void mock_nak(struct mock_peer *p, uint8_t syndrome)
{
	struct packet pkt = mock_packet(p, BTH_RC_ACK, 0, 0);

	pkt.roce.psn = 0;
	pkt.roce.aeth = (uint32_t)syndrome << 24;
	mock_send(p, &pkt);
}

TEST(count_naks_that_end_a_request)
{
	static const struct {
		uint8_t syndrome;
		enum mynic_stat stat;
		enum ibv_wc_status status;
	} naks[] = {
		{ AETH_NAK_INVALID, MYNIC_STAT_RX_NAK_INVALID,
		  IBV_WC_REM_INV_REQ_ERR },
		{ AETH_NAK_ACCESS, MYNIC_STAT_RX_NAK_ACCESS,
		  IBV_WC_REM_ACCESS_ERR },
		{ AETH_NAK_OPERATION, MYNIC_STAT_RX_NAK_OPERATION,
		  IBV_WC_REM_OP_ERR },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(naks); i++) {
		struct mock_peer *p = mock_asked();

		mock_nak(p, naks[i].syndrome);
		drv_expect(p->b.cq, 5, naks[i].status);
		drv_expect(p->b.cq, 6, IBV_WC_WR_FLUSH_ERR);
		for (unsigned int j = 0; j < ARRAY_SIZE(naks); j++)
			CHECK_EQ(mock_stat(p, naks[j].stat), i == j);
		/* flushes are errors, too */
		CHECK_EQ(mock_stat(p, MYNIC_STAT_SEND_ERRORS), 2);
		CHECK_EQ(mock_stat(p, MYNIC_STAT_RECV_ERRORS), 0);
	}
}

TEST(count_naks_that_do_not)
{
	struct mock_peer *p = mock_asked();

	mock_nak(p, AETH_NAK_SEQ);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_NAK_SEQ), 1);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RETRANSMIT), 2);
	mock_nak(p, AETH_RNR | 1);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_NAK_RNR), 1);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_SEND_ERRORS), 0);
}

TEST(count_receive_errors)
{
	struct mock_peer *p = mock_rc();

	for (unsigned int i = 0; i < 3; i++)
		mock_recv(p, i, 0, 10);
	CHECK_EQ(drv_set_state(p->b.qp, IBV_QPS_ERR), 0);
	for (unsigned int i = 0; i < 3; i++)
		drv_expect(p->b.recv_cq, i, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RECV_ERRORS), 3);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_SEND_ERRORS), 0);
}

/* The NIC counts the defects that the wire has found in frames */
TEST(count_defects)
{
	static const struct {
		enum packet_defect defect;
		enum mynic_stat stat;
	} defects[] = {
		{ PACKET_BAD_HEADER, MYNIC_STAT_RX_DROP_HEADER },
		{ PACKET_BAD_ICRC, MYNIC_STAT_RX_DROP_ICRC },
	};
	static uint8_t frame[100];

	for (unsigned int i = 0; i < ARRAY_SIZE(defects); i++) {
		struct mock_peer *p = mock_rc();
		struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 10);

		pkt.frame = frame;
		pkt.frame_len = sizeof(frame);
		pkt.defect = defects[i].defect;
		mock_send(p, &pkt);
		mock_expect_nothing(p);
		CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_DROP_HEADER), i == 0);
		CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_DROP_ICRC), i == 1);
		CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_PACKETS), 1);
		CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_BYTES), sizeof(frame));
		CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_RDMA_PACKETS), 0);
		CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_ETH_DROPPED), 0);
		CHECK_EQ(mock_epsn(p), 0);
	}
}

TEST(count_overruns)
{
	struct mock_peer *p = mock_rc();

	for (unsigned int i = 0; i < 3; i++)
		nic_overrun(p->b.d->n->nic);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_DROP_OVERRUN), 3);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_PACKETS), 0);
}

/* All bytes of frames count, and the payload of RoCEv2 packets */
TEST(count_bytes)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 11);
	/* Ethernet, IPv6, UDP, BTH; RETH and padding, or AETH; ICRC */
	uint32_t rx = 14 + 40 + 8 + 12 + 16 + 11 + 1 + 4;
	uint32_t tx = 14 + 40 + 8 + 12 + 4 + 4;

	mock_send(p, &pkt);
	pkt.vlan = 0;
	pkt.roce.psn++;
	mock_send(p, &pkt);
	CHECK_EQ(p->num, 2);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_PACKETS), 2);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_BYTES), 2 * rx + 4);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_RDMA_PACKETS), 2);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_RDMA_BYTES), 22);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_TX_PACKETS), 2);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_TX_BYTES), 2 * tx);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_TX_RDMA_PACKETS), 2);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_TX_RDMA_BYTES), 0);
}

TEST(count_congestion_notifications)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 0);
	struct packet cnp = mock_packet(p, BTH_CNP, 0, 16);

	pkt.roce.traffic_class = 3;
	mock_send(p, &pkt);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_ECN), 1);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_TX_CNP), 1);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_CNP), 0);
	cnp.roce.becn = true;
	mock_send(p, &cnp);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_CNP), 1);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_TX_CNP), 1);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_DUPLICATE), 0);
}
