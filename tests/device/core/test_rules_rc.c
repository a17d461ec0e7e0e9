// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rules of reliable connections in Documentation/transport-rules.rst. Tests
 * have the names of the rules.
 */
#include "harness_mock_peer.h"

#define MTU MOCK_MTU
#define MIN_RNR_TIMER 12

/* Check the consequences of a request that is refused */
static void check_refused(struct mock_peer *p, uint8_t syndrome, int32_t psn,
			  enum mynic_event event)
{
	mock_expect_ack(p, syndrome, psn);
	mock_expect_nothing(p);
	drv_expect_event(&p->b.d->event, event, p->b.qp->number);
	mock_no_event(p);
	CHECK_EQ(mock_state(p), IBV_QPS_ERR);
}

static void check_invalid(struct mock_peer *p, int32_t psn)
{
	check_refused(p, AETH_NAK_INVALID, psn, MYNIC_EVENT_QP_REQ_ERROR);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_TX_NAK_INVALID), 1);
}

static void check_access(struct mock_peer *p, int32_t psn)
{
	check_refused(p, AETH_NAK_ACCESS, psn, MYNIC_EVENT_QP_ACCESS_ERROR);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_TX_NAK_ACCESS), 1);
}

/*
 * Check that one packet to a new QP with a receive request is an invalid
 * request
 */
static void check_one_invalid(uint8_t opcode, uint32_t len)
{
	struct mock_peer *p = mock_rc();

	mock_recv(p, 1, 0, 4096);
	mock_send_opcode(p, opcode, 0, len);
	check_invalid(p, 0);
}

/* Check that a packet is ignored: no answer, and no change */
static void check_ignored(struct mock_peer *p, const struct packet *pkt)
{
	int32_t epsn = mock_epsn(p);

	mock_send(p, pkt);
	mock_expect_nothing(p);
	mock_no_event(p);
	drv_expect_none(p->b.recv_cq, 0);
	CHECK_EQ(mock_epsn(p), epsn);
	CHECK_EQ(mock_state(p), IBV_QPS_RTS);
}

static void say_ok(struct mock_peer *p, uint8_t opcode, int32_t psn,
		   uint32_t len)
{
	mock_send_opcode(p, opcode, psn, len);
	mock_expect_ack(p, 0, psn);
}

/* Send a packet that is only answered together with the next one */
static void say_quietly(struct mock_peer *p, uint8_t opcode, int32_t psn,
			uint32_t len)
{
	struct packet pkt = mock_packet(p, opcode, psn, len);

	pkt.roce.ack_req = false;
	mock_send(p, &pkt);
}

static struct packet write_first(struct mock_peer *p, int32_t psn,
				 uint32_t payload, uint32_t dma_len)
{
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_FIRST, psn, payload);

	pkt.roce.dma_len = dma_len;
	pkt.roce.ack_req = false;
	return pkt;
}

TEST(psn_expected)
{
	struct mock_peer *p = mock_rc();
	struct drv_path path = { .mtu = IBV_MTU_256, .rq_psn = 0xffffff };

	say_ok(p, BTH_RC_WRITE_ONLY, 0, 10);
	CHECK_EQ(mock_epsn(p), 1);
	mock_send_opcode(p, BTH_RC_READ_REQUEST, 1, 4 * MTU + 1);
	CHECK_EQ(mock_epsn(p), 6);
	p->next = p->num;
	say_ok(p, BTH_RC_WRITE_ONLY, 6, 10);
	drv_reset_qp(p->b.qp);
	drv_connect_to(p->b.qp, 0, p->a.qp->number, &path, IBV_QPS_RTS);
	say_ok(p, BTH_RC_WRITE_ONLY, -MOCK_PSN - 1, 10);
	CHECK_EQ(drv_query_qp(p->b.qp).rq_psn, 0);
	say_ok(p, BTH_RC_WRITE_ONLY, -MOCK_PSN, 10);
}

TEST(psn_duplicate)
{
	static const int32_t psns[] = { -1, -2, -1000, -0x7fffff, -0x800000 };
	struct mock_peer *p = mock_rc();

	memset(p->b.mr->ptr, 0xee, 100);
	for (unsigned int i = 0; i < ARRAY_SIZE(psns); i++) {
		mock_send_opcode(p, BTH_RC_WRITE_ONLY, psns[i], 10);
		mock_expect_ack(p, 0, -1);
		CHECK_EQ(mock_stat(p, MYNIC_STAT_DUPLICATE), i + 1);
	}
	CHECK_EQ(p->b.mr->ptr[0], 0xee);
	CHECK_EQ(mock_epsn(p), 0);
}

TEST(psn_future)
{
	static const int32_t psns[] = { 1, 2, 1000, 0x7fffff };

	for (unsigned int i = 0; i < ARRAY_SIZE(psns); i++) {
		struct mock_peer *p = mock_rc();

		memset(p->b.mr->ptr, 0xee, 100);
		mock_send_opcode(p, BTH_RC_WRITE_ONLY, psns[i], 10);
		mock_expect_ack(p, AETH_NAK_SEQ, 0);
		CHECK_EQ(mock_stat(p, MYNIC_STAT_OUT_OF_SEQUENCE), 1);
		CHECK_EQ(mock_stat(p, MYNIC_STAT_TX_NAK_SEQ), 1);
		CHECK_EQ(p->b.mr->ptr[0], 0xee);
		CHECK_EQ(mock_epsn(p), 0);
	}
}

TEST(nak_once_per_gap)
{
	struct mock_peer *p = mock_rc();

	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 2, 10);
	mock_expect_ack(p, AETH_NAK_SEQ, 0);
	for (int32_t psn = 1; psn < 10; psn++)
		mock_send_opcode(p, BTH_RC_WRITE_ONLY, psn, 10);
	mock_expect_nothing(p);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_OUT_OF_SEQUENCE), 10);
	say_ok(p, BTH_RC_WRITE_ONLY, 0, 10);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 2, 10);
	mock_expect_ack(p, AETH_NAK_SEQ, 1);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_TX_NAK_SEQ), 2);
}

TEST(nak_acknowledges)
{
	struct mock_peer *p = mock_rc();

	say_quietly(p, BTH_RC_WRITE_ONLY, 0, 10);
	say_quietly(p, BTH_RC_WRITE_ONLY, 1, 10);
	mock_expect_nothing(p);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 3, 10);
	CHECK_EQ(mock_expect_ack(p, AETH_NAK_SEQ, 2), 2);
}

TEST(future_has_no_opcode)
{
	static const uint8_t opcodes[] = { 0x15, 0x1f, BTH_RC_SEND_MIDDLE,
					   BTH_RC_SEND_LAST_INV };

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct mock_peer *p = mock_rc();

		mock_send_opcode(p, opcodes[i], 1, 7);
		mock_expect_ack(p, AETH_NAK_SEQ, 0);
		CHECK_EQ(mock_state(p), IBV_QPS_RTS);
	}
}

TEST(reserved_opcode)
{
	for (uint8_t opcode = 0; opcode < 0x20; opcode++) {
		if (opcode == 0x15 || (opcode >= 0x18 && opcode < 0x1c) ||
		    opcode > 0x1d)
			check_one_invalid(opcode, 0);
	}
}

TEST(opcode_sequence)
{
	static const uint8_t first[] = {
		BTH_RC_SEND_FIRST,   BTH_RC_SEND_ONLY,	BTH_RC_SEND_ONLY_IMM,
		BTH_RC_WRITE_FIRST,  BTH_RC_WRITE_ONLY, BTH_RC_WRITE_ONLY_IMM,
		BTH_RC_READ_REQUEST, BTH_RC_CMP_SWAP,	BTH_RC_FETCH_ADD,
	};
	static const uint8_t send[] = { BTH_RC_SEND_MIDDLE, BTH_RC_SEND_LAST,
					BTH_RC_SEND_LAST_IMM };
	static const uint8_t write[] = { BTH_RC_WRITE_MIDDLE, BTH_RC_WRITE_LAST,
					 BTH_RC_WRITE_LAST_IMM };

	for (unsigned int i = 0; i < 3; i++) {
		check_one_invalid(send[i], MTU);
		check_one_invalid(write[i], MTU);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(first) + 3; i++) {
		bool begins = i < ARRAY_SIZE(first);
		unsigned int j = begins ? 0 : i - ARRAY_SIZE(first);
		struct mock_peer *p = mock_rc();
		struct packet pkt = write_first(p, 0, MTU, 1000);

		mock_recv(p, 1, 0, 4096);
		say_quietly(p, BTH_RC_SEND_FIRST, 0, MTU);
		mock_send_opcode(p, begins ? first[i] : write[j], 1, MTU);
		check_invalid(p, 1);
		drv_expect(p->b.recv_cq, 1, IBV_WC_LOC_QP_OP_ERR);
		p = mock_rc();
		mock_recv(p, 1, 0, 4096);
		pkt = write_first(p, 0, MTU, 1000);
		mock_send(p, &pkt);
		mock_send_opcode(p, begins ? first[i] : send[j], 1, MTU);
		check_invalid(p, 1);
	}
}

TEST(opcode_of_responses)
{
	static const uint8_t opcodes[] = {
		BTH_RC_READ_RESPONSE_FIRST,
		BTH_RC_READ_RESPONSE_MIDDLE,
		BTH_RC_READ_RESPONSE_LAST,
		BTH_RC_READ_RESPONSE_ONLY,
		BTH_RC_ACK,
		BTH_RC_ATOMIC_ACK,
	};
	struct drv_path path = { .mtu = IBV_MTU_256 };
	struct mock_peer *p = mock_rc();

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct packet pkt = mock_packet(p, opcodes[i], 0, MTU);

		if (!(opcode_info(opcodes[i])->flags & OPCODE_PAYLOAD))
			mock_payload(p, &pkt, 0, 0);
		check_ignored(p, &pkt);
		CHECK_EQ(mock_stat(p, MYNIC_STAT_GHOST), i + 1);
	}
	drv_reset_qp(p->b.qp);
	drv_connect_to(p->b.qp, 0, p->a.qp->number, &path, IBV_QPS_RTR);
	mock_send_opcode(p, BTH_RC_ACK, 0, 0);
	mock_expect_nothing(p);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_GHOST), ARRAY_SIZE(opcodes) + 1);
}

TEST(first_and_middle_are_full)
{
	static const uint32_t bad[] = { 0,	 1,	  MTU - 4, MTU - 1,
					MTU + 1, MTU + 4, 2 * MTU };

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		struct mock_peer *p = mock_rc();
		struct packet pkt = write_first(p, 0, bad[i], 2000);

		mock_send(p, &pkt);
		check_invalid(p, 0);
		p = mock_rc();
		pkt = write_first(p, 0, MTU, 2000);
		mock_send(p, &pkt);
		mock_send_opcode(p, BTH_RC_WRITE_MIDDLE, 1, bad[i]);
		check_invalid(p, 1);
		check_one_invalid(BTH_RC_SEND_FIRST, bad[i]);
		p = mock_rc();
		mock_recv(p, 1, 0, 4096);
		say_quietly(p, BTH_RC_SEND_FIRST, 0, MTU);
		mock_send_opcode(p, BTH_RC_SEND_MIDDLE, 1, bad[i]);
		check_invalid(p, 1);
	}
}

TEST(last_is_not_empty)
{
	static const uint8_t send[] = { BTH_RC_SEND_LAST,
					BTH_RC_SEND_LAST_IMM };
	static const uint32_t lens[] = { 0, 1, MTU - 1, MTU, MTU + 1 };

	for (unsigned int i = 0; i < ARRAY_SIZE(lens); i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(send); j++) {
			struct mock_peer *p = mock_rc();
			bool good = lens[i] && lens[i] <= MTU;

			mock_recv(p, 1, 0, 4096);
			say_quietly(p, BTH_RC_SEND_FIRST, 0, MTU);
			mock_send_opcode(p, send[j], 1, lens[i]);
			if (!good) {
				check_invalid(p, 1);
				continue;
			}
			mock_expect_ack(p, 0, 1);
			CHECK_EQ(drv_expect(p->b.recv_cq, 1, IBV_WC_SUCCESS)
					 .byte_len,
				 MTU + lens[i]);
		}
	}
	/* for a WRITE, the RETH would have to agree */
	for (unsigned int i = 0; i < ARRAY_SIZE(lens); i += 4) {
		struct mock_peer *p = mock_rc();
		struct packet pkt = write_first(p, 0, MTU, MTU + lens[i]);

		mock_send(p, &pkt);
		/* a message that ends here fails at once */
		if (!lens[i]) {
			check_invalid(p, 0);
			continue;
		}
		mock_send_opcode(p, BTH_RC_WRITE_LAST, 1, lens[i]);
		check_invalid(p, 1);
	}
}

TEST(only_fits)
{
	static const uint32_t lens[] = { 0, 1, MTU - 1, MTU };
	struct mock_peer *p = mock_rc();

	for (unsigned int i = 0; i < ARRAY_SIZE(lens); i++) {
		say_ok(p, BTH_RC_WRITE_ONLY, 2 * i, lens[i]);
		mock_recv(p, 1, 0, 4096);
		mock_send_opcode(p, BTH_RC_SEND_ONLY, 2 * i + 1, lens[i]);
		mock_expect_ack(p, 0, 2 * i + 1);
		drv_expect(p->b.recv_cq, 1, IBV_WC_SUCCESS);
	}
	check_one_invalid(BTH_RC_WRITE_ONLY, MTU + 1);
	check_one_invalid(BTH_RC_WRITE_ONLY_IMM, MTU + 1);
	check_one_invalid(BTH_RC_SEND_ONLY, MTU + 1);
	check_one_invalid(BTH_RC_SEND_ONLY_IMM, 4096);
}

TEST(send_fits_the_receive)
{
	for (uint32_t room = 0; room < 3 * MTU; room += 100) {
		struct mock_peer *p = mock_rc();
		int32_t psn = room / MTU;

		mock_recv(p, 1, 0, room);
		memset(p->b.mr->ptr, 0xee, 4096);
		say_quietly(p, BTH_RC_SEND_FIRST, 0, MTU);
		say_quietly(p, BTH_RC_SEND_MIDDLE, 1, MTU);
		mock_send_opcode(p, BTH_RC_SEND_LAST, 2, MTU);
		CHECK_EQ(drv_expect(p->b.recv_cq, 1, IBV_WC_LOC_LEN_ERR)
				 .vendor_err,
			 MYNIC_SYN_RQ_LEN);
		/* the packet that does not fit is the one that fails */
		mock_expect_ack(p, AETH_NAK_INVALID, psn);
		mock_expect_nothing(p);
		mock_no_event(p);
		CHECK_EQ(mock_state(p), IBV_QPS_ERR);
		CHECK_EQ(p->b.mr->ptr[room], 0xee);
	}
}

TEST(write_as_long_as_announced)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = write_first(p, 0, MTU, MTU);

	/* FIRST of a message that needs only an ONLY */
	mock_send(p, &pkt);
	check_invalid(p, 0);
	/* MIDDLE that leaves no bytes for LAST */
	p = mock_rc();
	pkt = write_first(p, 0, MTU, 2 * MTU);
	mock_send(p, &pkt);
	mock_send_opcode(p, BTH_RC_WRITE_MIDDLE, 1, MTU);
	check_invalid(p, 1);
	for (int32_t wrong = -1; wrong <= 1; wrong += 2) {
		p = mock_rc();
		pkt = write_first(p, 0, MTU, 2 * MTU + 100);
		mock_send(p, &pkt);
		say_quietly(p, BTH_RC_WRITE_MIDDLE, 1, MTU);
		mock_send_opcode(p, BTH_RC_WRITE_LAST, 2, 100 + wrong);
		check_invalid(p, 2);
		p = mock_rc();
		pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 100);
		pkt.roce.dma_len += wrong;
		mock_send(p, &pkt);
		check_invalid(p, 0);
	}
}

TEST(reth_length)
{
	static const uint32_t lens[] = { 0x80000001, 0xffffffff };

	for (unsigned int i = 0; i < ARRAY_SIZE(lens); i++) {
		struct mock_peer *p = mock_rc();
		struct packet pkt = write_first(p, 0, MTU, lens[i]);

		mock_send(p, &pkt);
		check_invalid(p, 0);
		p = mock_rc();
		mock_send_opcode(p, BTH_RC_READ_REQUEST, 0, lens[i]);
		check_invalid(p, 0);
	}
}

static const struct {
	uint8_t opcode;
	uint32_t access;
	uint32_t len;
} rdma[] = {
	{ BTH_RC_WRITE_ONLY, IBV_ACCESS_REMOTE_WRITE, 8 },
	{ BTH_RC_WRITE_ONLY, IBV_ACCESS_REMOTE_WRITE, 0 },
	{ BTH_RC_WRITE_ONLY_IMM, IBV_ACCESS_REMOTE_WRITE, 8 },
	{ BTH_RC_READ_REQUEST, IBV_ACCESS_REMOTE_READ, 8 },
	{ BTH_RC_READ_REQUEST, IBV_ACCESS_REMOTE_READ, 0 },
	{ BTH_RC_CMP_SWAP, IBV_ACCESS_REMOTE_ATOMIC, 8 },
	{ BTH_RC_FETCH_ADD, IBV_ACCESS_REMOTE_ATOMIC, 8 },
};

TEST(access_flags)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(rdma); i++) {
		struct mock_peer *p = mock_rc();

		mock_recv(p, 1, 0, 100);
		mock_set_access(p, ACCESS_ALL & ~rdma[i].access);
		mock_send_opcode(p, rdma[i].opcode, 0, rdma[i].len);
		check_invalid(p, 0);
		p = mock_rc();
		mock_recv(p, 1, 0, 100);
		mock_set_access(p, rdma[i].access);
		mock_send_opcode(p, rdma[i].opcode, 0, rdma[i].len);
		CHECK(p->num);
		CHECK_EQ(mock_state(p), IBV_QPS_RTS);
	}
}

TEST(zero_length)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 0);

	pkt.roce.rkey = 0;
	pkt.roce.remote_addr = ~0ull;
	mock_send(p, &pkt);
	CHECK_EQ(mock_expect_ack(p, 0, 0), 1);
	pkt.roce.opcode = BTH_RC_READ_REQUEST;
	pkt.roce.psn++;
	mock_send(p, &pkt);
	CHECK_EQ(mock_expect(p, BTH_RC_READ_RESPONSE_ONLY, 1)->len, 0);
	mock_recv(p, 1, 0, 0);
	pkt.roce.opcode = BTH_RC_WRITE_ONLY_IMM;
	pkt.roce.psn++;
	mock_send(p, &pkt);
	mock_expect_ack(p, 0, 2);
	CHECK_EQ(drv_expect(p->b.recv_cq, 1, IBV_WC_SUCCESS).byte_len, 0);
	CHECK_EQ(mock_epsn(p), 3);
}

static void break_key(struct mock_peer *p, struct packet *pkt, unsigned int way,
		      uint32_t access)
{
	switch (way) {
	case 0:
		pkt->roce.rkey ^= 1;
		break;
	case 1:
		pkt->roce.rkey ^= 0x100000;
		break;
	case 2:
		pkt->roce.rkey = drv_reg_mr(p->b.d, drv_alloc_pd(p->b.d), 4096,
					    ACCESS_ALL)
					 ->key;
		break;
	case 3:
		pkt->roce.rkey =
			drv_reg_mr(p->b.d, p->b.pdn, 4096, ACCESS_ALL & ~access)
				->key;
		break;
	case 4:
		pkt->roce.remote_addr -= 8;
		break;
	case 5:
		pkt->roce.remote_addr += DRV_PAIR_MEM;
		break;
	default:
		pkt->roce.remote_addr = -8ull;
	}
}

TEST(key)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(rdma); i++) {
		for (unsigned int way = 0; way < 7 && rdma[i].len; way++) {
			struct mock_peer *p = mock_rc();
			struct packet pkt =
				mock_packet(p, rdma[i].opcode, 0, rdma[i].len);

			mock_recv(p, 1, 0, 100);
			break_key(p, &pkt, way, rdma[i].access);
			mock_send(p, &pkt);
			check_access(p, 0);
		}
	}
	/* the first packet does not reach beyond the end */
	for (unsigned int beyond = 0; beyond < 2; beyond++) {
		struct mock_peer *p = mock_rc();
		struct packet pkt = write_first(p, 0, MTU, 2 * MTU);

		pkt.roce.remote_addr += DRV_PAIR_MEM - 2 * MTU + beyond;
		mock_send(p, &pkt);
		if (beyond) {
			check_access(p, 0);
			continue;
		}
		CHECK_EQ(drv_number_cmd(p->b.d, MYNIC_CMD_DESTROY_MKEY,
					p->b.mr->key >> 8),
			 0);
		mock_send_opcode(p, BTH_RC_WRITE_LAST, 1, MTU);
		check_access(p, 1);
	}
}

TEST(atomic_alignment)
{
	static const uint8_t opcodes[] = { BTH_RC_CMP_SWAP, BTH_RC_FETCH_ADD };

	for (unsigned int i = 0; i < 8; i++) {
		struct mock_peer *p = mock_rc();
		struct packet pkt = mock_packet(p, opcodes[i % 2], 0, 0);

		pkt.roce.remote_addr += i;
		/* the key does not matter */
		if (i > 5)
			pkt.roce.rkey ^= 1;
		mock_send(p, &pkt);
		if (i)
			check_invalid(p, 0);
		else
			mock_expect(p, BTH_RC_ATOMIC_ACK, 0);
	}
}

TEST(reads_outstanding)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt;

	/* four is what was agreed; all come before the NIC can answer one */
	for (int32_t psn = 0; psn < 4; psn++) {
		pkt = mock_packet(
			p, psn % 2 ? BTH_RC_FETCH_ADD : BTH_RC_READ_REQUEST,
			psn, 8);
		sim_inject(p->b.d->n, &pkt);
	}
	sim_settle(p->sim);
	for (int32_t psn = 0; psn < 4; psn++)
		mock_expect(p,
			    psn % 2 ? BTH_RC_ATOMIC_ACK :
				      BTH_RC_READ_RESPONSE_ONLY,
			    psn);
	for (int32_t psn = 4; psn < 9; psn++) {
		pkt = mock_packet(p, BTH_RC_READ_REQUEST, psn, 8);
		sim_inject(p->b.d->n, &pkt);
	}
	sim_settle(p->sim);
	for (int32_t psn = 4; psn < 8; psn++)
		mock_expect(p, BTH_RC_READ_RESPONSE_ONLY, psn);
	check_invalid(p, 8);
}

TEST(ack_on_request)
{
	struct mock_peer *p = mock_rc();

	say_quietly(p, BTH_RC_WRITE_ONLY, 0, 10);
	mock_expect_nothing(p);
	say_ok(p, BTH_RC_WRITE_ONLY, 1, 10);
	/* also in the middle of a message */
	mock_recv(p, 1, 0, 4096);
	mock_send_opcode(p, BTH_RC_SEND_FIRST, 2, MTU);
	mock_expect_ack(p, 1, 2);
	mock_send_opcode(p, BTH_RC_SEND_MIDDLE, 3, MTU);
	mock_expect_ack(p, 1, 3);
	drv_expect_none(p->b.recv_cq, 0);
	say_ok(p, BTH_RC_SEND_LAST, 4, 1);
	drv_expect(p->b.recv_cq, 1, IBV_WC_SUCCESS);
	mock_expect_nothing(p);
}

TEST(acks_coalesced)
{
	struct mock_peer *p = mock_rc();

	for (int32_t psn = 0; psn < 10; psn++) {
		struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, psn, 10);

		sim_inject(p->b.d->n, &pkt);
	}
	sim_settle(p->sim);
	CHECK_EQ(mock_expect_ack(p, 0, 9), 10);
	mock_expect_nothing(p);
}

TEST(msn)
{
	struct mock_peer *p = mock_rc();

	mock_recv(p, 1, 0, 4096);
	CHECK_EQ(drv_query_qp(p->b.qp).rq_psn, MOCK_PSN);
	mock_send_opcode(p, BTH_RC_SEND_FIRST, 0, MTU);
	CHECK_EQ(mock_expect_ack(p, 1, 0), 0);
	mock_send_opcode(p, BTH_RC_SEND_LAST, 1, MTU);
	CHECK_EQ(mock_expect_ack(p, 0, 1), 1);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 2, 0);
	CHECK_EQ(mock_expect_ack(p, 0, 2), 2);
	mock_send_opcode(p, BTH_RC_READ_REQUEST, 3, 0);
	CHECK_EQ(mock_expect(p, BTH_RC_READ_RESPONSE_ONLY, 3)->hdr.aeth, 3);
	mock_send_opcode(p, BTH_RC_FETCH_ADD, 4, 0);
	CHECK_EQ(mock_expect(p, BTH_RC_ATOMIC_ACK, 4)->hdr.aeth, 4);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 2, 0);
	CHECK_EQ(mock_expect_ack(p, 0, 4), 4);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 6, 0);
	CHECK_EQ(mock_expect_ack(p, AETH_NAK_SEQ, 5), 4);
}

/* Check the response to a READ from the start of the memory */
static void check_read(struct mock_peer *p, int32_t psn, uint32_t offset,
		       uint32_t len)
{
	uint32_t num = len ? (len + MTU - 1) / MTU : 1;

	for (uint32_t i = 0; i < num; i++) {
		uint32_t n = len - i * MTU < MTU ? len - i * MTU : MTU;
		uint8_t opcode = BTH_RC_READ_RESPONSE_MIDDLE;
		const struct answer *answer;

		if (num == 1)
			opcode = BTH_RC_READ_RESPONSE_ONLY;
		else if (!i)
			opcode = BTH_RC_READ_RESPONSE_FIRST;
		else if (i == num - 1)
			opcode = BTH_RC_READ_RESPONSE_LAST;
		answer = mock_expect(p, opcode, psn + i);
		CHECK_EQ(answer->len, n);
		CHECK_MEM(answer->payload, p->b.mr->ptr + offset + i * MTU, n);
		if (opcode != BTH_RC_READ_RESPONSE_MIDDLE)
			CHECK_EQ(answer->hdr.aeth >> 24, 0);
	}
}

TEST(read_response)
{
	static const uint32_t lens[] = { 0, 1, 255, 256, 257, 512, 513, 2000 };
	struct mock_peer *p = mock_rc();
	int32_t psn = 0;

	drv_fill(p->b.mr->ptr, 4096, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(lens); i++) {
		/* only the response acknowledges the requests before it */
		struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, psn++, 0);

		sim_inject(p->b.d->n, &pkt);
		mock_send_opcode(p, BTH_RC_READ_REQUEST, psn, lens[i]);
		check_read(p, psn, 0, lens[i]);
		mock_expect_nothing(p);
		psn += lens[i] ? (lens[i] + MTU - 1) / MTU : 1;
		CHECK_EQ(mock_epsn(p), psn);
	}
}

TEST(responses_in_order)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_READ_REQUEST, 0, 600);

	drv_fill(p->b.mr->ptr, 4096, 1);
	sim_inject(p->b.d->n, &pkt);
	pkt = mock_packet(p, BTH_RC_FETCH_ADD, 3, 0);
	pkt.roce.remote_addr += 4096;
	sim_inject(p->b.d->n, &pkt);
	pkt = mock_packet(p, BTH_RC_READ_REQUEST, 4, 100);
	sim_inject(p->b.d->n, &pkt);
	pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 5, 10);
	pkt.roce.remote_addr += 8192;
	sim_inject(p->b.d->n, &pkt);
	pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 7, 10);
	sim_inject(p->b.d->n, &pkt);
	sim_settle(p->sim);
	check_read(p, 0, 0, 600);
	mock_expect(p, BTH_RC_ATOMIC_ACK, 3);
	check_read(p, 4, 0, 100);
	mock_expect_ack(p, AETH_NAK_SEQ, 6);
	mock_expect_nothing(p);
}

TEST(ack_in_rtr)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_RTR, IBV_QPS_RTS,
						    IBV_QPS_SQD };
	struct drv_path path = { .mtu = IBV_MTU_256, .rq_psn = MOCK_PSN };

	for (unsigned int i = 0; i < ARRAY_SIZE(states); i++) {
		struct mock_peer *p = mock_rc();

		drv_reset_qp(p->b.qp);
		drv_connect_to(p->b.qp, 0, p->a.qp->number, &path,
			       states[i] == IBV_QPS_RTR ? IBV_QPS_RTR :
							  IBV_QPS_RTS);
		if (states[i] == IBV_QPS_SQD)
			CHECK_EQ(drv_set_state(p->b.qp, IBV_QPS_SQD), 0);
		CHECK_EQ(mock_state(p), states[i]);
		say_ok(p, BTH_RC_WRITE_ONLY, 0, 10);
		mock_send_opcode(p, BTH_RC_READ_REQUEST, 1, 300);
		check_read(p, 1, 0, 300);
		mock_send_opcode(p, BTH_RC_FETCH_ADD, 3, 0);
		mock_expect(p, BTH_RC_ATOMIC_ACK, 3);
		mock_send_opcode(p, BTH_RC_SEND_ONLY, 4, 0);
		mock_expect_ack(p, AETH_RNR | MIN_RNR_TIMER, 4);
		mock_recv(p, 1, 0, 10);
		mock_send_opcode(p, BTH_RC_SEND_ONLY, 4, 0);
		mock_expect_ack(p, 0, 4);
		drv_expect(p->b.recv_cq, 1, IBV_WC_SUCCESS);
	}
}

/* IBTA 9.7.7.2.2 */
static const uint32_t credit_table[] = {
	0,    1,    2,	  3,	4,    6,     8,	    12,	   16,	  24,	32,
	48,   64,   96,	  128,	192,  256,   384,   512,   768,	  1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

TEST(credits)
{
	struct drv_pair pair = drv_pair_unconnected(&(struct drv_qp_init){
		.type = MYNIC_QP_RC, .log_rq_size = 15, .log_rq_stride = 5 });
	struct drv_path path = { .mtu = IBV_MTU_256, .rq_psn = MOCK_PSN };
	struct mock_peer *p = mock_new(&pair);
	struct drv_srq *srq = drv_create_srq(p->b.d, p->b.pdn, 4);
	struct drv_qp_init init = {
		.type = MYNIC_QP_RC,
		.pdn = p->b.pdn,
		.send_cq = p->b.cq,
		.recv_cq = p->b.recv_cq,
		.srq = srq,
	};
	uint32_t posted = 0;
	int32_t psn = 0;

	drv_connect_to(p->b.qp, 0, p->a.qp->number, &path, IBV_QPS_RTS);
	for (unsigned int code = 0; code < ARRAY_SIZE(credit_table); code++) {
		uint32_t more = credit_table[code];

		/* one less gives the code below */
		for (; posted + 1 < more; posted++)
			drv_post_recv(p->b.qp, posted, NULL, 0);
		if (code > 1) {
			mock_send_opcode(p, BTH_RC_WRITE_ONLY, psn, 0);
			mock_expect_ack(p, code - 1, psn++);
		}
		for (; posted < more; posted++)
			drv_post_recv(p->b.qp, posted, NULL, 0);
		mock_send_opcode(p, BTH_RC_WRITE_ONLY, psn, 0);
		mock_expect_ack(p, code, psn++);
		p->num = 0;
		p->next = 0;
	}
	/* the same in responses */
	mock_send_opcode(p, BTH_RC_READ_REQUEST, psn, 0);
	CHECK_EQ(mock_expect(p, BTH_RC_READ_RESPONSE_ONLY, psn++)->hdr.aeth >>
			 24,
		 30);
	mock_send_opcode(p, BTH_RC_FETCH_ADD, psn, 0);
	CHECK_EQ(mock_expect(p, BTH_RC_ATOMIC_ACK, psn++)->hdr.aeth >> 24, 30);
	/* one is used up */
	mock_send_opcode(p, BTH_RC_SEND_ONLY, psn, 0);
	mock_expect_ack(p, 29, psn++);

	p->b.qp = drv_create_qp(p->b.d, &init);
	drv_connect_to(p->b.qp, 0, p->a.qp->number, &path, IBV_QPS_RTS);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 0, 0);
	mock_expect_ack(p, 31, 0);
	drv_post_srq_recv(srq, 1, NULL, 0);
	mock_send_opcode(p, BTH_RC_SEND_ONLY, 1, 0);
	mock_expect_ack(p, 31, 1);
}

TEST(duplicate_send)
{
	struct mock_peer *p = mock_rc();

	mock_recv(p, 1, 0, 4096);
	mock_recv(p, 2, 0, 4096);
	say_quietly(p, BTH_RC_SEND_FIRST, 0, MTU);
	mock_send_opcode(p, BTH_RC_SEND_LAST, 1, MTU);
	mock_expect_ack(p, 1, 1);
	drv_expect(p->b.recv_cq, 1, IBV_WC_SUCCESS);
	memset(p->b.mr->ptr, 0xee, 4096);
	for (int32_t psn = 0; psn < 2; psn++) {
		mock_send_opcode(p, psn ? BTH_RC_SEND_LAST : BTH_RC_SEND_FIRST,
				 psn, MTU);
		CHECK_EQ(mock_expect_ack(p, 1, 1), 1);
	}
	drv_expect_none(p->b.recv_cq, 0);
	CHECK_EQ(p->b.mr->ptr[0], 0xee);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_DUPLICATE), 2);
	mock_send_opcode(p, BTH_RC_SEND_ONLY, 2, 10);
	mock_expect_ack(p, 0, 2);
	drv_expect(p->b.recv_cq, 2, IBV_WC_SUCCESS);
}

TEST(duplicate_write)
{
	struct mock_peer *p = mock_rc();

	mock_recv(p, 1, 0, 0);
	mock_recv(p, 2, 0, 0);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY_IMM, 0, 10);
	mock_expect_ack(p, 1, 0);
	drv_expect(p->b.recv_cq, 1, IBV_WC_SUCCESS);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 1, 10);
	mock_expect_ack(p, 1, 1);
	memset(p->b.mr->ptr, 0xee, 10);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY_IMM, 0, 10);
	CHECK_EQ(mock_expect_ack(p, 1, 1), 2);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 1, 10);
	CHECK_EQ(mock_expect_ack(p, 1, 1), 2);
	drv_expect_none(p->b.recv_cq, 0);
	CHECK_EQ(p->b.mr->ptr[0], 0xee);
}

TEST(duplicate_read)
{
	struct mock_peer *p = mock_rc();

	drv_fill(p->b.mr->ptr, 4096, 1);
	mock_send_opcode(p, BTH_RC_READ_REQUEST, 0, 600);
	check_read(p, 0, 0, 600);
	say_ok(p, BTH_RC_WRITE_ONLY, 3, 0);
	drv_fill(p->b.mr->ptr, 4096, 2);
	mock_send_opcode(p, BTH_RC_READ_REQUEST, 0, 600);
	check_read(p, 0, 0, 600);
	mock_expect_nothing(p);
	CHECK_EQ(mock_epsn(p), 4);
	CHECK_EQ(p->answers[p->num - 1].hdr.aeth, 2);
	say_ok(p, BTH_RC_WRITE_ONLY, 4, 0);
}

TEST(duplicate_read_part)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_READ_REQUEST, 0, 1000);

	drv_fill(p->b.mr->ptr, 4096, 1);
	mock_send(p, &pkt);
	check_read(p, 0, 0, 1000);
	pkt.roce.psn += 2;
	pkt.roce.remote_addr += 2 * MTU;
	pkt.roce.dma_len -= 2 * MTU;
	mock_send(p, &pkt);
	check_read(p, 2, 2 * MTU, 1000 - 2 * MTU);
	pkt.roce.psn++;
	pkt.roce.remote_addr += MTU;
	pkt.roce.dma_len -= MTU;
	mock_send(p, &pkt);
	check_read(p, 3, 3 * MTU, 1000 - 3 * MTU);
	/* or from the middle */
	pkt.roce.psn -= 2;
	pkt.roce.remote_addr -= 2 * MTU;
	pkt.roce.dma_len = MTU;
	mock_send(p, &pkt);
	check_read(p, 1, MTU, MTU);
	mock_expect_nothing(p);
}

TEST(duplicate_read_too_long)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_READ_REQUEST, 0, 1000);

	mock_send(p, &pkt);
	p->next = p->num;
	pkt.roce.dma_len = 4 * MTU + 1;
	check_ignored(p, &pkt);
	pkt.roce.dma_len = 0x80000000;
	check_ignored(p, &pkt);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_DUPLICATE), 2);
}

TEST(duplicate_read_bad)
{
	struct mock_peer *p = mock_rc();

	mock_send_opcode(p, BTH_RC_READ_REQUEST, 0, 1000);
	p->next = p->num;
	for (unsigned int way = 0; way < 7; way++) {
		struct packet pkt =
			mock_packet(p, BTH_RC_READ_REQUEST, 0, 1000);

		break_key(p, &pkt, way, IBV_ACCESS_REMOTE_READ);
		check_ignored(p, &pkt);
	}
	CHECK_EQ(mock_stat(p, MYNIC_STAT_TX_NAK_ACCESS), 0);
}

TEST(duplicate_atomic)
{
	struct mock_peer *p = mock_rc();
	uint64_t *word = (uint64_t *)p->b.mr->ptr;
	struct packet pkt;

	*word = 100;
	for (int32_t psn = 0; psn < 4; psn++) {
		pkt = mock_packet(p, BTH_RC_FETCH_ADD, psn, 0);
		pkt.roce.swap_add = 1;
		mock_send(p, &pkt);
		CHECK_EQ(
			mock_expect(p, BTH_RC_ATOMIC_ACK, psn)->hdr.atomic_orig,
			100 + psn);
	}
	for (int32_t psn = 0; psn < 4; psn++) {
		const struct answer *answer;

		pkt = mock_packet(p, BTH_RC_FETCH_ADD, psn, 0);
		pkt.roce.swap_add = 1;
		/* nothing of it is checked again */
		pkt.roce.rkey ^= 1;
		mock_send(p, &pkt);
		answer = mock_expect(p, BTH_RC_ATOMIC_ACK, psn);
		CHECK_EQ(answer->hdr.atomic_orig, 100 + psn);
		CHECK_EQ(answer->hdr.aeth & 0xffffff, psn + 1);
	}
	CHECK_EQ(*word, 104);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_DUPLICATE), 4);
}

TEST(duplicate_atomic_unknown)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_FETCH_ADD, -1, 0);
	uint64_t *word = (uint64_t *)p->b.mr->ptr;

	*word = 100;
	check_ignored(p, &pkt);
	say_ok(p, BTH_RC_WRITE_ONLY, 0, 0);
	pkt.roce.psn++;
	check_ignored(p, &pkt);
	/* one more than there is room for */
	for (int32_t psn = 1; psn <= 5; psn++) {
		mock_send_opcode(p, BTH_RC_FETCH_ADD, psn, 0);
		mock_expect(p, BTH_RC_ATOMIC_ACK, psn);
	}
	pkt.roce.psn++;
	check_ignored(p, &pkt);
	pkt.roce.psn++;
	mock_send(p, &pkt);
	mock_expect(p, BTH_RC_ATOMIC_ACK, 2);
	CHECK_EQ(*word, 100);
}

TEST(duplicate_reserved)
{
	struct mock_peer *p = mock_rc();

	for (unsigned int opcode = 0x18; opcode < 0x20; opcode++) {
		struct packet pkt = mock_packet(p, opcode, -1, 0);

		check_ignored(p, &pkt);
	}
}

TEST(duplicate_after_nak)
{
	struct mock_peer *p = mock_rc();

	drv_fill(p->b.mr->ptr, 4096, 1);
	mock_send_opcode(p, BTH_RC_READ_REQUEST, 0, 600);
	check_read(p, 0, 0, 600);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 4, 10);
	mock_expect_ack(p, AETH_NAK_SEQ, 3);
	mock_send_opcode(p, BTH_RC_READ_REQUEST, 0, 600);
	check_read(p, 0, 0, 600);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 2, 10);
	mock_expect_ack(p, 0, 2);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 5, 10);
	mock_expect_nothing(p);
	mock_send_opcode(p, BTH_RC_SEND_ONLY, 3, 10);
	mock_expect_ack(p, AETH_RNR | MIN_RNR_TIMER, 3);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 2, 10);
	mock_expect_ack(p, 0, 2);
}

TEST(rnr)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = write_first(p, 0, MTU, MTU + 10);

	mock_send_opcode(p, BTH_RC_SEND_ONLY, 0, 10);
	mock_expect_ack(p, AETH_RNR | MIN_RNR_TIMER, 0);
	mock_send_opcode(p, BTH_RC_SEND_FIRST, 0, MTU);
	mock_expect_ack(p, AETH_RNR | MIN_RNR_TIMER, 0);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY_IMM, 0, 10);
	mock_expect_ack(p, AETH_RNR | MIN_RNR_TIMER, 0);
	CHECK_EQ(mock_epsn(p), 0);
	mock_send(p, &pkt);
	mock_send_opcode(p, BTH_RC_WRITE_LAST_IMM, 1, 10);
	CHECK_EQ(mock_expect_ack(p, AETH_RNR | MIN_RNR_TIMER, 1), 0);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_TX_NAK_RNR), 4);
	mock_recv(p, 1, 0, 0);
	mock_send_opcode(p, BTH_RC_WRITE_LAST_IMM, 1, 10);
	CHECK_EQ(mock_expect_ack(p, 0, 1), 1);
	CHECK_EQ(drv_expect(p->b.recv_cq, 1, IBV_WC_SUCCESS).byte_len,
		 MTU + 10);
}

TEST(rnr_drops_what_follows)
{
	struct mock_peer *p = mock_rc();

	mock_send_opcode(p, BTH_RC_SEND_ONLY, 0, 10);
	mock_expect_ack(p, AETH_RNR | MIN_RNR_TIMER, 0);
	mock_recv(p, 1, 0, 100);
	mock_recv(p, 2, 0, 100);
	for (int32_t psn = 1; psn < 5; psn++)
		mock_send_opcode(p, BTH_RC_SEND_ONLY, psn, 10);
	mock_expect_nothing(p);
	drv_expect_none(p->b.recv_cq, 0);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_TX_NAK_SEQ), 0);
	mock_send_opcode(p, BTH_RC_SEND_ONLY, 0, 10);
	mock_expect_ack(p, 1, 0);
	drv_expect(p->b.recv_cq, 1, IBV_WC_SUCCESS);
	mock_send_opcode(p, BTH_RC_SEND_ONLY, 2, 10);
	mock_expect_ack(p, AETH_NAK_SEQ, 1);
}

TEST(receive_request_bad)
{
	for (unsigned int way = 0; way < 3; way++) {
		struct mock_peer *p = mock_rc();
		struct mynic_sge sge = drv_sge(p->b.mr, 0, 100);
		enum ibv_wc_status status = IBV_WC_LOC_PROT_ERR;

		if (way == 0)
			sge.lkey ^= 1;
		else if (way == 1)
			sge.addr += DRV_PAIR_MEM;
		drv_post_recv(p->b.qp, 1, &sge, 1);
		if (way == 2) {
			struct mynic_recv_wqe *wqe = drv_buf_at(
				&p->b.qp->buf, p->b.qp->create.rq_offset);

			wqe->num_sge = 200;
			status = IBV_WC_LOC_QP_OP_ERR;
		}
		mock_send_opcode(p, BTH_RC_SEND_ONLY, 0, 10);
		mock_expect_ack(p, AETH_NAK_OPERATION, 0);
		drv_expect(p->b.recv_cq, 1, status);
		mock_no_event(p);
		CHECK_EQ(mock_state(p), IBV_QPS_ERR);
	}
}

TEST(receive_completion)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_SEND_ONLY_IMM, 0, 77);
	struct mynic_cqe cqe;
	struct mynic_eqe eqe;

	drv_arm(p->b.recv_cq, true);
	for (unsigned int i = 0; i < 3; i++)
		mock_recv(p, i, 0, 1000);
	mock_send(p, &pkt);
	cqe = drv_expect(p->b.recv_cq, 0, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, IBV_WC_RECV);
	CHECK_EQ(cqe.byte_len, 77);
	CHECK_EQ(cqe.wc_flags, IBV_WC_WITH_IMM);
	CHECK_EQ(cqe.imm_data, 0x12345678);
	CHECK_EQ(cqe.src_qp, 0);
	CHECK_MEM(p->b.mr->ptr, p->payload, 77);
	CHECK(!drv_eq_poll(&p->b.d->comp, &eqe));
	/* SE counts in the last packet alone */
	pkt = mock_packet(p, BTH_RC_SEND_FIRST, 1, MTU);
	pkt.roce.solicited = true;
	mock_send(p, &pkt);
	mock_send_opcode(p, BTH_RC_SEND_LAST, 2, 1);
	cqe = drv_expect(p->b.recv_cq, 1, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.byte_len, MTU + 1);
	CHECK_EQ(cqe.wc_flags, 0);
	CHECK(!drv_eq_poll(&p->b.d->comp, &eqe));
	pkt = mock_packet(p, BTH_RC_WRITE_ONLY_IMM, 3, 5);
	pkt.roce.solicited = true;
	mock_send(p, &pkt);
	cqe = drv_expect(p->b.recv_cq, 2, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK_EQ(cqe.byte_len, 5);
	drv_expect_event(&p->b.d->comp, MYNIC_EVENT_COMP, p->b.recv_cq->number);
}

TEST(invalid_request)
{
	struct mock_peer *p = mock_rc();
	struct mynic_cqe cqe;

	mock_recv(p, 1, 0, 4096);
	mock_recv(p, 2, 0, 4096);
	say_quietly(p, BTH_RC_SEND_FIRST, 0, MTU);
	mock_send_opcode(p, BTH_RC_SEND_FIRST, 1, MTU);
	check_invalid(p, 1);
	cqe = drv_expect(p->b.recv_cq, 1, IBV_WC_LOC_QP_OP_ERR);
	CHECK_EQ(cqe.vendor_err, MYNIC_SYN_RQ_INVALID);
	drv_expect(p->b.recv_cq, 2, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RECV_ERRORS), 2);
}

TEST(remote_access)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = write_first(p, 0, MTU, MTU + 10);
	struct mynic_cqe cqe;

	mock_recv(p, 1, 0, 4096);
	mock_send(p, &pkt);
	CHECK_EQ(drv_number_cmd(p->b.d, MYNIC_CMD_DESTROY_MKEY,
				p->b.mr->key >> 8),
		 0);
	mock_send_opcode(p, BTH_RC_WRITE_LAST_IMM, 1, 10);
	check_access(p, 1);
	cqe = drv_expect(p->b.recv_cq, 1, IBV_WC_LOC_ACCESS_ERR);
	CHECK_EQ(cqe.vendor_err, MYNIC_SYN_RQ_ACCESS);
}

TEST(remote_operational)
{
	struct mock_peer *p = mock_rc();
	uint64_t page = p->b.d->n->iova + SIM_MEM_SIZE / 2;
	struct mynic_create_mkey body = {
		.buf = drv_page_list(p->b.d, &page, 1, 12, 1),
		.length = 4096,
		.pdn = p->b.pdn,
		.access = ACCESS_ALL,
	};
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 10);

	CHECK_EQ(drv_create_mkey(p->b.d, &body, 0, &pkt.roce.rkey), 0);
	CHECK_EQ(nic_dma_unmap(p->b.d->n->nic, page, SIM_MEM_SIZE / 2), 0);
	pkt.roce.remote_addr = 0;
	mock_send(p, &pkt);
	check_refused(p, AETH_NAK_OPERATION, 0, MYNIC_EVENT_QP_FATAL);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_TX_NAK_OPERATION), 1);
}

TEST(nothing_after_a_fatal_nak)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 10);

	memset(p->b.mr->ptr, 0xee, 10);
	pkt.roce.rkey ^= 1;
	sim_inject(p->b.d->n, &pkt);
	/* before the NAK has been sent */
	for (int32_t psn = -1; psn < 3; psn++) {
		pkt = mock_packet(p, BTH_RC_WRITE_ONLY, psn, 10);
		sim_inject(p->b.d->n, &pkt);
	}
	sim_settle(p->sim);
	check_access(p, 0);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 0, 10);
	mock_expect_nothing(p);
	CHECK_EQ(p->b.mr->ptr[0], 0xee);
}
