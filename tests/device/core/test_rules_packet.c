// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rules of Documentation/transport-rules.rst, "Any packet", and of unreliable
 * datagrams. Tests have the names of the rules.
 */
#include "harness_mock_peer.h"

#define GRH_LEN 40
#define NEW_GID 7

static const uint8_t stranger[6] = { 0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0xee };
static const uint8_t group6[16] = { 0xff, 0x0e, [12] = 0x81, 2, 3, 4 };
static const uint8_t group4[16] = { [10] = 0xff, 0xff, 239, 0x81, 2, 3 };
static const uint8_t mac6[6] = { 0x33, 0x33, 0x81, 2, 3, 4 };
static const uint8_t mac4[6] = { 0x01, 0x00, 0x5e, 0x01, 2, 3 };

/*
 * Check that the NIC ignores a packet that is not for it, and counts only that
 */
static void check_not_taken(struct mock_peer *p, const struct packet *pkt)
{
	uint64_t key = mock_stat(p, MYNIC_STAT_RX_DROP_KEY);
	uint64_t rdma = mock_stat(p, MYNIC_STAT_RX_RDMA_PACKETS);

	mock_send(p, pkt);
	mock_expect_nothing(p);
	drv_expect_none(p->b.recv_cq, 0);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_DROP_KEY), key + 1);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_RDMA_PACKETS), rdma);
}

static void check_dropped(struct mock_peer *p, const struct packet *pkt,
			  enum mynic_stat stat)
{
	uint64_t count = mock_stat(p, stat);
	uint64_t rdma = mock_stat(p, MYNIC_STAT_RX_RDMA_PACKETS);

	mock_send(p, pkt);
	mock_expect_nothing(p);
	drv_expect_none(p->b.recv_cq, 0);
	mock_no_event(p);
	CHECK_EQ(mock_stat(p, stat), count + 1);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_RDMA_PACKETS), rdma + 1);
}

static void check_executed(struct mock_peer *p, const struct packet *pkt)
{
	uint32_t psn = (pkt->roce.psn - MOCK_PSN) & 0xffffff;

	memset(p->b.mr->ptr, 0, pkt->payload_len);
	mock_send(p, pkt);
	mock_expect_ack(p, 0, psn);
	CHECK_MEM(p->b.mr->ptr, p->payload, pkt->payload_len);
}

static void set_gid(struct mock_peer *p, const uint8_t *gid, const uint8_t *mac,
		    uint16_t vlan)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_SET_GID,
		.number = NEW_GID,
		.set_gid.vlan = vlan,
	};

	memcpy(cmd.set_gid.gid, gid, 16);
	memcpy(cmd.set_gid.mac, mac, 6);
	CHECK_EQ(drv_admin(p->b.d, &cmd, NULL), 0);
}

/* Move the NIC's QP to RTR or RTS on another path */
static void set_path(struct mock_peer *p, unsigned int sgid_index,
		     enum ibv_qp_state state)
{
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_256,
		.dest_qpn = p->a.qp->number,
		.rq_psn = MOCK_PSN,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.av = drv_av(p->b.d, 0, DRV_GID_IPV6),
	};

	drv_reset_qp(p->b.qp);
	drv_connect_to(p->b.qp, 0, p->a.qp->number, &(struct drv_path){ 0 },
		       IBV_QPS_INIT);
	attr.av.sgid_index = sgid_index;
	CHECK_EQ(drv_modify_qp(p->b.qp, &attr), 0);
	if (state == IBV_QPS_RTR)
		return;
	attr = (struct mynic_qp_attr){
		.attr_mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			     IBV_QP_MAX_QP_RD_ATOMIC,
		.qp_state = state,
	};
	CHECK_EQ(drv_modify_qp(p->b.qp, &attr), 0);
}

/*
 * Have a RAW_PACKET QP of the NIC receive all frames, in @p->b.mr from 64 KiB
 * on
 */
#define FRAMES 65536

static void take_frames(struct mock_peer *p, unsigned int num)
{
	struct drv_qp_init init = {
		.type = MYNIC_QP_RAW_PACKET,
		.pdn = p->b.pdn,
		.send_cq = p->b.cq,
		.recv_cq = p->b.cq,
	};
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_PORT,
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
	};
	struct drv_qp *qp = drv_create_qp(p->b.d, &init);
	struct mynic_sge sge = drv_sge(p->b.mr, FRAMES, 20000);
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_SET_RX,
		.number = qp->number,
		.set_rx.flags = MYNIC_RX_ENABLE | MYNIC_RX_PROMISC,
	};

	CHECK_EQ(drv_modify_qp(qp, &attr), 0);
	CHECK_EQ(drv_set_state(qp, IBV_QPS_RTR), 0);
	CHECK_EQ(drv_admin(p->b.d, &cmd, NULL), 0);
	for (unsigned int i = 0; i < num; i++)
		drv_post_recv(qp, 0xe0 + i, &sge, 1);
}

static void check_frame(struct mock_peer *p, struct packet *pkt, uint32_t len)
{
	uint64_t key = mock_stat(p, MYNIC_STAT_RX_DROP_KEY);
	uint8_t frame[10000];

	drv_fill(frame, len, len);
	pkt->frame = frame;
	pkt->frame_len = len;
	mock_send(p, pkt);
	CHECK_EQ(drv_expect(p->b.cq, 0xe0, IBV_WC_SUCCESS).byte_len, len);
	CHECK_MEM(p->b.mr->ptr + FRAMES, frame, len);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_DROP_KEY), key);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_ETH_PACKETS), 1);
}

TEST(own_mac)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 100);
	uint8_t gid[16];

	memcpy(pkt.dmac, stranger, 6);
	check_not_taken(p, &pkt);
	memset(pkt.dmac, 0xff, 6);
	check_not_taken(p, &pkt);
	take_frames(p, 1);
	memcpy(pkt.dmac, stranger, 6);
	check_frame(p, &pkt, 300);
	/* an entry may have its own MAC */
	drv_gid(1, DRV_GID_IPV6, gid);
	gid[9] = 0x55;
	set_gid(p, gid, stranger, MYNIC_NO_VLAN);
	set_path(p, NEW_GID, IBV_QPS_RTS);
	pkt.frame = NULL;
	memcpy(pkt.roce.dgid, gid, 16);
	check_executed(p, &pkt);
	memcpy(pkt.dmac, nic_mac(p->b.d->n->nic), 6);
	pkt.roce.psn++;
	check_executed(p, &pkt);
}

TEST(own_gid)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 100);

	pkt.roce.dgid[8] ^= 1;
	check_not_taken(p, &pkt);
	memset(pkt.roce.dgid, 0, 16);
	check_not_taken(p, &pkt);
	memcpy(pkt.roce.dgid, group6, 16);
	memcpy(pkt.dmac, mac6, 6);
	check_not_taken(p, &pkt);
	take_frames(p, 1);
	check_frame(p, &pkt, 1000);
}

TEST(own_vlan)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 100);
	uint8_t gid[16];

	pkt.vlan = 123;
	check_not_taken(p, &pkt);
	pkt.vlan = 5 << 13;
	check_executed(p, &pkt);
	/* the same GID in a VLAN */
	drv_gid(1, DRV_GID_IPV6, gid);
	set_gid(p, gid, nic_mac(p->b.d->n->nic), 123);
	set_path(p, NEW_GID, IBV_QPS_RTS);
	pkt.vlan = 5 << 13 | 123;
	check_executed(p, &pkt);
	pkt.vlan = 5 << 13 | 124;
	check_not_taken(p, &pkt);
	/* without a tag, it is for the NIC but not from the QP's peer */
	pkt.vlan = PACKET_NO_VLAN;
	check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_KEY);
	take_frames(p, 1);
	pkt.vlan = 124;
	check_frame(p, &pkt, 1000);
}

static struct packet group_packet(struct mock_peer *p, const uint8_t *gid,
				  const uint8_t *mac)
{
	struct packet pkt = mock_packet(p, BTH_UD_SEND_ONLY, 0, 50);

	CHECK_EQ(drv_mcast(p->b.qp, MYNIC_CMD_ATTACH_MCAST, gid), 0);
	memcpy(pkt.roce.dgid, gid, 16);
	memcpy(pkt.dmac, mac, 6);
	pkt.roce.dest_qpn = 0xffffff;
	return pkt;
}

static void check_datagram(struct mock_peer *p, const struct packet *pkt)
{
	memset(p->b.mr->ptr, 0, 1000);
	mock_recv(p, 1, 0, 1000);
	mock_send(p, pkt);
	CHECK_EQ(drv_expect(p->b.recv_cq, 1, IBV_WC_SUCCESS).byte_len,
		 GRH_LEN + pkt->payload_len);
	CHECK_MEM(p->b.mr->ptr + GRH_LEN, p->payload, pkt->payload_len);
}

TEST(group_mac)
{
	static const struct {
		const uint8_t *gid, *mac;
	} groups[] = { { group6, mac6 }, { group4, mac4 } };

	for (unsigned int i = 0; i < ARRAY_SIZE(groups); i++) {
		struct mock_peer *p = mock_ud();
		struct packet pkt =
			group_packet(p, groups[i].gid, groups[i].mac);

		check_datagram(p, &pkt);
		pkt.dmac[5] ^= 1;
		check_not_taken(p, &pkt);
		memcpy(pkt.dmac, nic_mac(p->b.d->n->nic), 6);
		check_not_taken(p, &pkt);
		memset(pkt.dmac, 0xff, 6);
		check_not_taken(p, &pkt);
		memcpy(pkt.dmac, groups[!i].mac, 6);
		check_not_taken(p, &pkt);
	}
}

TEST(group_vlan)
{
	struct mock_peer *p = mock_ud();
	struct packet pkt = group_packet(p, group6, mac6);
	uint8_t gid[16];

	pkt.vlan = 123;
	check_not_taken(p, &pkt);
	drv_gid(1, DRV_GID_IPV6, gid);
	gid[9] = 0x55;
	set_gid(p, gid, nic_mac(p->b.d->n->nic), 123);
	check_datagram(p, &pkt);
	pkt.vlan = 3 << 13;
	check_datagram(p, &pkt);
	pkt.vlan = PACKET_NO_VLAN;
	check_datagram(p, &pkt);
}

TEST(group_opcode)
{
	struct mock_peer *p = mock_ud();
	struct packet pkt = group_packet(p, group6, mac6);

	pkt.roce.dest_qpn = p->b.qp->number;
	check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_HEADER);
	pkt.roce.dest_qpn = 0xffffff;
	pkt.roce.opcode = BTH_UC_SEND_ONLY;
	check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_HEADER);
	pkt.roce.opcode = BTH_RC_SEND_ONLY;
	check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_HEADER);
}

TEST(pad_count)
{
	struct mock_peer *p = mock_rc();

	for (uint32_t len = 0; len < 8; len++) {
		for (uint8_t pad = 0; pad < 4; pad++) {
			struct packet pkt =
				mock_packet(p, BTH_RC_WRITE_ONLY, len, len);

			if (pad == pkt.roce.pad)
				continue;
			pkt.roce.pad = pad;
			check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_HEADER);
		}
		mock_send_opcode(p, BTH_RC_WRITE_ONLY, len, len);
		mock_expect_ack(p, 0, len);
	}
}

TEST(payload_where_none_is)
{
	static const uint8_t opcodes[] = { BTH_RC_READ_REQUEST, BTH_RC_ACK,
					   BTH_RC_ATOMIC_ACK, BTH_RC_CMP_SWAP,
					   BTH_RC_FETCH_ADD };
	struct mock_peer *p = mock_rc();

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct packet pkt = mock_packet(p, opcodes[i], 0, 8);

		mock_payload(p, &pkt, 0, 4);
		check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_HEADER);
	}
}

TEST(partition)
{
	static const uint16_t pkeys[] = { 0, 0x8000, 1, 0x8001, 0x7ffe, 0xfffe };
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 10);

	for (unsigned int i = 0; i < ARRAY_SIZE(pkeys); i++) {
		pkt.roce.pkey = pkeys[i];
		check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_KEY);
	}
	pkt.roce.pkey = 0x7fff;
	check_executed(p, &pkt);
	pkt.roce.pkey = 0xffff;
	pkt.roce.psn++;
	check_executed(p, &pkt);
}

TEST(no_such_qp)
{
	static const uint32_t qpns[] = { 0, 1, 2, 0xfffffe, 0xffffff };
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 10);

	for (unsigned int i = 0; i < ARRAY_SIZE(qpns); i++) {
		pkt.roce.dest_qpn = qpns[i];
		check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_QP);
	}
}

TEST(other_service)
{
	/* the services of the upper three bits, 0 for RC, 1 for UC, 3 for UD */
	static const uint8_t own[] = { 0, 1, 3 };
	struct mock_peer *qps[] = { mock_rc(), mock_uc(), mock_ud() };

	for (unsigned int i = 0; i < ARRAY_SIZE(qps); i++) {
		for (unsigned int opcode = 0; opcode < 256; opcode++) {
			struct packet pkt = mock_packet(qps[i], opcode, 0, 0);

			/* CNP is for any connected QP */
			if (opcode >> 5 != own[i] && opcode != BTH_CNP)
				check_dropped(qps[i], &pkt,
					      MYNIC_STAT_RX_DROP_QP);
		}
		CHECK_EQ(mock_state(qps[i]), IBV_QPS_RTS);
	}
}

TEST(before_rtr)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 10);

	drv_reset_qp(p->b.qp);
	check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_QP);
	drv_connect_to(p->b.qp, 0, p->a.qp->number, &(struct drv_path){ 0 },
		       IBV_QPS_INIT);
	check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_QP);
	set_path(p, DRV_GID_IPV6, IBV_QPS_RTR);
	check_executed(p, &pkt);
}

TEST(in_error)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 10);

	CHECK_EQ(drv_set_state(p->b.qp, IBV_QPS_ERR), 0);
	check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_QP);
	pkt.roce.psn--;
	check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_QP);
	pkt.roce.psn += 2;
	check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_QP);
}

TEST(beyond_mtu)
{
	struct mock_peer *p = mock_rc();
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_PORT,
		.modify_port = { .up = 1, .mtu = 300 },
	};
	/* IPv6, UDP, BTH, RETH, ICRC: 80 bytes; Ethernet: 14 */
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 224);
	struct packet eth = {
		.kind = PACKET_ETH,
		.vlan = PACKET_NO_VLAN,
		.ethertype = 0x88b5,
	};
	uint8_t frame[400] = { 0 };

	memcpy(cmd.modify_port.mac, nic_mac(p->b.d->n->nic), 6);
	CHECK_EQ(drv_admin(p->b.d, &cmd, NULL), 0);
	check_executed(p, &pkt);
	pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 1, 225);
	mock_send(p, &pkt);
	mock_expect_nothing(p);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_DROP_HEADER), 1);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_RDMA_PACKETS), 1);
	/* the same for frames with and without a list */
	take_frames(p, 1);
	memcpy(eth.dmac, nic_mac(p->b.d->n->nic), 6);
	mock_payload(p, &eth, 0, 305);
	mock_send(p, &eth);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_ETH_DROPPED), 1);
	eth.frame = frame;
	eth.frame_len = 319;
	mock_send(p, &eth);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_ETH_DROPPED), 2);
	check_frame(p, &eth, 318);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_ETH_DROPPED), 2);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_PACKETS), 5);
}

TEST(connected_gids)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 10);
	struct packet bad = pkt;

	bad.roce.sgid[15] ^= 1;
	check_dropped(p, &bad, MYNIC_STAT_RX_DROP_KEY);
	drv_gid(0, DRV_GID_IPV4, bad.roce.sgid);
	check_dropped(p, &bad, MYNIC_STAT_RX_DROP_KEY);
	bad = pkt;
	drv_gid(1, DRV_GID_IPV4, bad.roce.dgid);
	check_dropped(p, &bad, MYNIC_STAT_RX_DROP_KEY);
	check_executed(p, &pkt);
	p = mock_uc();
	pkt = mock_packet(p, BTH_UC_WRITE_ONLY, 0, 10);
	pkt.roce.sgid[15] ^= 1;
	check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_KEY);
	CHECK_EQ(mock_epsn(p), 0);
}

TEST(communication_established)
{
	struct mock_peer *p = mock_rc();

	set_path(p, DRV_GID_IPV6, IBV_QPS_RTR);
	mock_send_opcode(p, BTH_RC_ACK, 0, 0);
	mock_no_event(p);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 0, 10);
	mock_expect_ack(p, 0, 0);
	drv_expect_event(&p->b.d->event, MYNIC_EVENT_COMM_EST, p->b.qp->number);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 1, 10);
	mock_expect_ack(p, 0, 1);
	mock_no_event(p);
	p = mock_rc();
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 0, 10);
	mock_no_event(p);
}

TEST(congestion_mark)
{
	struct {
		struct mock_peer *p;
		uint8_t opcode;
	} qps[] = {
		{ mock_rc(), BTH_RC_WRITE_ONLY },
		{ mock_uc(), BTH_UC_WRITE_ONLY },
		{ mock_ud(), BTH_UD_SEND_ONLY },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(qps); i++) {
		struct mock_peer *p = qps[i].p;

		for (unsigned int ecn = 0; ecn < 4; ecn++) {
			struct packet pkt =
				mock_packet(p, qps[i].opcode, ecn, 10);

			pkt.roce.traffic_class = 0xfc | ecn;
			/* the packet is not accepted */
			pkt.roce.pkey = 1;
			mock_send(p, &pkt);
			CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_ECN), 0);
			pkt.roce.pkey = 0xffff;
			mock_send(p, &pkt);
			CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_ECN), ecn == 3);
		}
	}
}

TEST(ud_qkey)
{
	struct mock_peer *p = mock_ud();
	struct packet pkt = mock_packet(p, BTH_UD_SEND_ONLY, 0, 10);

	mock_recv(p, 1, 0, 100);
	pkt.roce.qkey ^= 1;
	check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_KEY);
	pkt.roce.qkey ^= 0x80000001;
	check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_KEY);
}

TEST(ud_no_receive_request)
{
	struct mock_peer *p = mock_ud();
	struct packet pkt = mock_packet(p, BTH_UD_SEND_ONLY, 0, 10);

	check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_WQE);
	check_datagram(p, &pkt);
}

TEST(ud_too_long)
{
	struct mock_peer *p = mock_ud();
	struct packet pkt = mock_packet(p, BTH_UD_SEND_ONLY, 0, 61);

	mock_recv(p, 7, 0, 100);
	check_dropped(p, &pkt, MYNIC_STAT_RX_DROP_WQE);
	mock_send_opcode(p, BTH_UD_SEND_ONLY, 0, 60);
	drv_expect(p->b.recv_cq, 7, IBV_WC_SUCCESS);
}

TEST(ud_psn)
{
	static const int32_t psns[] = { 0, 0, 5, -1, 0x7fffff, -0x800000 };
	struct mock_peer *p = mock_ud();

	for (unsigned int i = 0; i < ARRAY_SIZE(psns); i++) {
		struct packet pkt =
			mock_packet(p, BTH_UD_SEND_ONLY, psns[i], 10);

		check_datagram(p, &pkt);
	}
}

TEST(ud_completion)
{
	struct mock_peer *p = mock_ud();
	struct packet pkt = mock_packet(p, BTH_UD_SEND_ONLY_IMM, 0, 10);
	struct mynic_cqe cqe;

	mock_recv(p, 1, 0, 100);
	pkt.vlan = 6 << 13;
	pkt.roce.src_qpn = 0xabcdef;
	mock_send(p, &pkt);
	cqe = drv_expect(p->b.recv_cq, 1, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.src_qp, 0xabcdef);
	CHECK_EQ(cqe.sl, MYNIC_NETWORK_IPV6);
	CHECK_EQ(cqe.cvlan, 6 << 13);
	CHECK_EQ(cqe.imm_data, 0x12345678);
	CHECK_EQ(cqe.wc_flags, IBV_WC_GRH | IBV_WC_WITH_IMM);
	CHECK_EQ(p->b.mr->ptr[0] >> 4, 6);
	CHECK_MEM(p->b.mr->ptr + 8, pkt.roce.sgid, 16);
	CHECK_MEM(p->b.mr->ptr + 24, pkt.roce.dgid, 16);
	CHECK_MEM(p->b.mr->ptr + GRH_LEN, p->payload, 10);
}
