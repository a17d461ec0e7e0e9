// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Trains: several packets that pass the switch as one */
#include "core/packet/opcode.h"
#include "harness_mock_peer.h"

#define MTU MOCK_MTU

/* Packets that one end has sent or received */
struct traffic {
	uint64_t packets;
	uint64_t bytes;
	uint64_t rdma_packets;
	uint64_t rdma_bytes;
};

static struct traffic sent(struct drv *d)
{
	return (struct traffic){ drv_stat(d, MYNIC_STAT_TX_PACKETS),
				 drv_stat(d, MYNIC_STAT_TX_BYTES),
				 drv_stat(d, MYNIC_STAT_TX_RDMA_PACKETS),
				 drv_stat(d, MYNIC_STAT_TX_RDMA_BYTES) };
}

static struct traffic received(struct drv *d)
{
	return (struct traffic){ drv_stat(d, MYNIC_STAT_RX_PACKETS),
				 drv_stat(d, MYNIC_STAT_RX_BYTES),
				 drv_stat(d, MYNIC_STAT_RX_RDMA_PACKETS),
				 drv_stat(d, MYNIC_STAT_RX_RDMA_BYTES) };
}

/* Make a request between @from and @to, and check the counters of both */
static void transfer(struct drv_pair *p, enum ibv_wr_opcode opcode,
		     uint32_t len, struct traffic counts[2])
{
	bool is_read = opcode == IBV_WR_RDMA_READ;
	struct drv_end *from = is_read ? &p->b : &p->a;
	struct drv_end *to = is_read ? &p->a : &p->b;
	struct mynic_sge sge = drv_sge(p->b.mr, 0, len);
	struct drv_wr wr = {
		.opcode = opcode,
		.flags = IBV_SEND_SIGNALED,
		.imm = 0x1234,
		.num_sge = 1,
		.sge = { drv_sge(p->a.mr, 0, len) },
		.remote_addr = p->b.mr->addr,
		.rkey = p->b.mr->key,
	};

	drv_fill(from->mr->ptr, len, len);
	memset(to->mr->ptr, 0, len);
	if (!is_read && opcode != IBV_WR_RDMA_WRITE)
		drv_post_recv(p->b.qp, 0, &sge, 1);
	drv_post_send(p->a.qp, &wr);
	drv_expect(p->a.cq, 0, IBV_WC_SUCCESS);
	if (!is_read && opcode != IBV_WR_RDMA_WRITE)
		drv_expect(p->b.recv_cq, 0, IBV_WC_SUCCESS);
	CHECK_MEM(to->mr->ptr, from->mr->ptr, len);
	counts[0] = sent(from->d);
	counts[1] = received(to->d);
}

static void check_same(enum ibv_mtu mtu, enum ibv_wr_opcode opcode)
{
	static const uint32_t sizes[] = { 1,	 257,	8192,	65535,
					  65536, 65537, 131072, 300001 };
	struct drv_path path = { .mtu = mtu };
	struct drv_pair single = drv_rc_pair(&path);
	struct drv_pair joined = drv_rc_pair(&path);
	struct traffic a[2], b[2];

	joined.sim->direct = true;
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		transfer(&single, opcode, sizes[i], a);
		transfer(&joined, opcode, sizes[i], b);
		CHECK_MEM(b, a, sizeof(a));
	}
	CHECK_EQ(single.a.d->n->trains + single.b.d->n->trains, 0);
	CHECK(joined.a.d->n->trains + joined.b.d->n->trains > 0);
	CHECK_EQ(drv_stat(joined.a.d, MYNIC_STAT_RETRANSMIT), 0);
}

TEST(count_as_their_packets)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND,	   IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		check_same(IBV_MTU_256, opcodes[i]);
		check_same(IBV_MTU_1024, opcodes[i]);
		check_same(IBV_MTU_4096, opcodes[i]);
	}
}

static uint32_t len_of(struct packet *pkt, uint8_t opcode, uint32_t payload)
{
	pkt->roce.opcode = opcode;
	pkt->roce.pad = -payload & 3;
	pkt->payload_len = payload;
	return packet_len(pkt);
}

/* @opcodes: first, middle, last, only */
static void check_len(const uint8_t opcodes[4], bool ipv4, uint16_t vlan)
{
	struct packet pkt = { .kind = PACKET_ROCE, .vlan = vlan };
	uint32_t len, first, middle, last;

	drv_gid(0, ipv4 ? DRV_GID_IPV4 : DRV_GID_IPV6, pkt.roce.dgid);
	first = len_of(&pkt, opcodes[0], MTU);
	middle = len_of(&pkt, opcodes[1], MTU);
	last = len_of(&pkt, opcodes[2], 5);
	pkt.train_mtu = MTU;
	len = len_of(&pkt, opcodes[3], 3 * MTU + 5);
	CHECK_EQ(len, first + 2 * middle + last);
	CHECK_EQ(packet_count(&pkt), 4);
	CHECK(packet_longest(&pkt) >= first);
	CHECK_EQ(len_of(&pkt, opcodes[0], 2 * MTU), first + middle);
	CHECK_EQ(len_of(&pkt, opcodes[1], 2 * MTU), 2 * middle);
	CHECK_EQ(len_of(&pkt, opcodes[2], MTU + 5), middle + last);
}

TEST(length_is_that_of_their_packets)
{
	static const uint8_t opcodes[][4] = {
		{ BTH_RC_SEND_FIRST, BTH_RC_SEND_MIDDLE, BTH_RC_SEND_LAST,
		  BTH_RC_SEND_ONLY },
		{ BTH_RC_SEND_FIRST, BTH_RC_SEND_MIDDLE, BTH_RC_SEND_LAST_INV,
		  BTH_RC_SEND_ONLY_INV },
		{ BTH_RC_WRITE_FIRST, BTH_RC_WRITE_MIDDLE,
		  BTH_RC_WRITE_LAST_IMM, BTH_RC_WRITE_ONLY_IMM },
		{ BTH_RC_READ_RESPONSE_FIRST, BTH_RC_READ_RESPONSE_MIDDLE,
		  BTH_RC_READ_RESPONSE_LAST, BTH_RC_READ_RESPONSE_ONLY },
		{ BTH_XRC_WRITE_FIRST, BTH_XRC_WRITE_MIDDLE, BTH_XRC_WRITE_LAST,
		  BTH_XRC_WRITE_ONLY },
		{ BTH_XRC_READ_RESPONSE_FIRST, BTH_XRC_READ_RESPONSE_MIDDLE,
		  BTH_XRC_READ_RESPONSE_LAST, BTH_XRC_READ_RESPONSE_ONLY },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		check_len(opcodes[i], false, PACKET_NO_VLAN);
		check_len(opcodes[i], true, PACKET_NO_VLAN);
		check_len(opcodes[i], false, 5);
	}
}

/* The largest number of pieces: each element crosses a page */
TEST(scattered)
{
	struct drv_path path = { .mtu = IBV_MTU_4096 };
	struct drv_qp_init init = {
		.type = MYNIC_QP_RC,
		.log_sq_stride = 9,
		.log_rq_stride = 9,
	};
	struct drv_pair p = drv_pair_unconnected(&init);
	struct drv_wr wr = { .opcode = IBV_WR_SEND,
			     .flags = IBV_SEND_SIGNALED };
	struct mynic_sge recv[31];
	const uint32_t len = 65400;
	uint32_t left = len;

	drv_connect(p.a.qp, p.b.qp, &path);
	p.sim->direct = true;
	drv_fill(p.a.mr->ptr, DRV_PAIR_MEM, 1);
	for (uint32_t i = 0; i < 30; i++)
		wr.sge[wr.num_sge++] =
			drv_sge(p.a.mr, i * 12288 + 4000, len / 30);
	for (uint32_t i = 0; i < 31; i++) {
		uint32_t n = i < 30 ? len / 31 : left;

		recv[i] = drv_sge(p.b.mr, i * 8192 + 3000, n);
		left -= n;
	}
	drv_post_recv(p.b.qp, 1, recv, 31);
	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(drv_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS).byte_len, len);
	drv_expect(p.a.cq, 0, IBV_WC_SUCCESS);
	CHECK_EQ(p.a.d->n->trains, 1);
	for (uint32_t at = 0; at < len; at++) {
		uint32_t n = len / 31, i = at / n < 30 ? at / n : 30;
		uint8_t *from = p.a.mr->ptr + at / (len / 30) * 12288 + 4000 +
				at % (len / 30);

		CHECK_EQ(p.b.mr->ptr[i * 8192 + 3000 + (at - i * n)], *from);
	}
}

/* After an RNR NAK, the train is sent again as packets */
TEST(not_ready)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 20000);
	struct drv_wr wr = {
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p.a.mr, 0, 20000) },
	};

	p.sim->direct = true;
	drv_post_send(p.a.qp, &wr);
	sim_settle(p.sim);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_TX_NAK_RNR), 1);
	drv_fill(p.a.mr->ptr, 20000, 3);
	drv_post_recv(p.b.qp, 7, &sge, 1);
	drv_expect(p.b.recv_cq, 7, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, 0, IBV_WC_SUCCESS);
	CHECK_MEM(p.b.mr->ptr, p.a.mr->ptr, 20000);
}

static struct packet train(struct mock_peer *p, uint8_t opcode, int32_t psn,
			   uint32_t len)
{
	struct packet pkt = mock_packet(p, opcode, psn, len);

	pkt.train_mtu = MTU;
	return pkt;
}

TEST(takes_as_many_psns)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = train(p, BTH_RC_WRITE_ONLY, 0, 3 * MTU + 1);

	drv_fill(p->payload, sizeof(p->payload), 5);
	mock_send(p, &pkt);
	CHECK_EQ(mock_expect_ack(p, 0, 3), 1);
	CHECK_EQ(mock_epsn(p), 4);
	CHECK_MEM(p->b.mr->ptr, p->payload, 3 * MTU + 1);
}

TEST(once_more)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = train(p, BTH_RC_WRITE_ONLY, 0, 3 * MTU + 1);

	mock_send(p, &pkt);
	mock_expect_ack(p, 0, 3);
	drv_fill(p->payload, sizeof(p->payload), 6);
	p->b.mr->ptr[0] = ~p->payload[0];
	mock_send(p, &pkt);
	mock_expect_ack(p, 0, 3);
	CHECK_EQ(p->b.mr->ptr[0], (uint8_t)~p->payload[0]);
	CHECK_EQ(mock_epsn(p), 4);
}

TEST(behind_a_gap)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = train(p, BTH_RC_WRITE_ONLY, 2, 3 * MTU + 1);

	mock_send(p, &pkt);
	mock_expect_ack(p, AETH_NAK_SEQ, 0);
	CHECK_EQ(mock_epsn(p), 0);
}

static void check_refused(uint8_t opcode, uint32_t len, uint32_t train_mtu)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = train(p, opcode, 0, len);

	pkt.roce.dma_len = 8 * MTU;
	pkt.train_mtu = train_mtu;
	mock_send(p, &pkt);
	mock_expect_ack(p, AETH_NAK_INVALID, 0);
	CHECK_EQ(mock_state(p), IBV_QPS_ERR);
}

TEST(of_a_wrong_length)
{
	check_refused(BTH_RC_WRITE_FIRST, 4 * MTU, MTU / 2);
	check_refused(BTH_RC_WRITE_FIRST, 4 * MTU, 2 * MTU);
	check_refused(BTH_RC_WRITE_FIRST, 4 * MTU - 4, MTU);
	check_refused(BTH_RC_WRITE_ONLY, 4 * MTU, MTU);
}
