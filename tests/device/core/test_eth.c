// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The Ethernet side: RAW_PACKET QPs and the receive filter */
#include "core/base/journal.h"
#include "harness_eth.h"

#define ETH_HLEN 14
#define MTU 9000
#define MAX_MTU 9216

static uint8_t set_rx(struct drv_end *e, uint32_t flags, const uint8_t *macs,
		      uint32_t num)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_SET_RX,
		.number = e->qp->number,
		.set_rx = { .flags = flags, .num_macs = num },
	};

	return drv_admin_in(e->d, &cmd, NULL, macs ? macs : (uint8_t *)"",
			    8 * num);
}

static struct drv_pair eth_pair(void)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RAW_PACKET,
						 .flags = MYNIC_QP_KERNEL };
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_PORT,
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
	};
	struct drv_pair p = drv_pair_unconnected(&init);
	struct drv_end *end[] = { &p.a, &p.b };

	for (unsigned int i = 0; i < 2; i++) {
		CHECK_EQ(drv_modify_qp(end[i]->qp, &attr), 0);
		CHECK_EQ(drv_set_state(end[i]->qp, IBV_QPS_RTR), 0);
		CHECK_EQ(drv_set_state(end[i]->qp, IBV_QPS_RTS), 0);
		CHECK_EQ(set_rx(end[i], MYNIC_RX_ENABLE, NULL, 0), 0);
		CHECK(nic_keep_journal(end[i]->d->n->nic, true));
	}
	return p;
}

/* Write a frame of @len bytes for @dmac to a's memory */
static void make_frame(struct drv_pair *p, const void *dmac, uint32_t len)
{
	uint8_t *frame = p->a.mr->ptr;

	drv_fill(frame, len, len);
	memcpy(frame, dmac, 6);
	memcpy(frame + 6, nic_mac(p->a.d->n->nic), 6);
	frame[12] = 0x88;
	frame[13] = 0xb5;
}

static void send_frame(struct drv_pair *p, uint32_t len)
{
	struct drv_wr wr = drv_send_wr(&p->a, len);

	drv_post_send(p->a.qp, &wr);
	drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
}

static void post_recv(struct drv_pair *p, uint64_t wr_id, uint32_t len)
{
	struct mynic_sge sge = drv_sge(p->b.mr, 0, len);

	memset(p->b.mr->ptr, 0xee, 10000);
	drv_post_recv(p->b.qp, wr_id, &sge, 1);
}

static void check_arrives(struct drv_pair *p, const void *dmac, uint32_t len)
{
	struct mynic_cqe cqe;

	make_frame(p, dmac, len);
	post_recv(p, len, MTU + 18);
	send_frame(p, len);
	cqe = drv_expect(p->b.recv_cq, len, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, IBV_WC_RECV);
	/* the wire may pad short frames */
	CHECK(cqe.byte_len == len || (len < 60 && cqe.byte_len == 60));
	CHECK_MEM(p->b.mr->ptr, p->a.mr->ptr, len);
	CHECK_EQ(p->b.mr->ptr[cqe.byte_len], 0xee);
}

/* Such frames are frequent, and would displace all else in the journal */
static void check_dropped(struct drv_pair *p, uint32_t len)
{
	const struct journal *journal = nic_journal(p->b.d->n->nic);
	uint64_t count = drv_stat(p->b.d, MYNIC_STAT_RX_ETH_DROPPED);
	uint64_t entries = journal->num;

	send_frame(p, len);
	drv_expect_none(p->b.recv_cq, SEC);
	CHECK_EQ(drv_stat(p->b.d, MYNIC_STAT_RX_ETH_DROPPED), count + 1);
	CHECK_EQ(journal->num, entries);
}

static void check_filtered(struct drv_pair *p, const void *dmac)
{
	make_frame(p, dmac, 100);
	check_dropped(p, 100);
}

static const uint8_t broadcast[6] = { 255, 255, 255, 255, 255, 255 };
static const uint8_t group[6] = { 0x01, 0x00, 0x5e, 0, 0, 0x42 };
static const uint8_t stranger[6] = { 0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0xee };

TEST(eth_all_lengths)
{
	struct drv_pair p = eth_pair();

	for (uint32_t len = ETH_HLEN; len < 200; len++)
		check_arrives(&p, nic_mac(p.b.d->n->nic), len);
	check_arrives(&p, nic_mac(p.b.d->n->nic), 1514);
	check_arrives(&p, nic_mac(p.b.d->n->nic), MTU + 14);
	check_arrives(&p, nic_mac(p.b.d->n->nic), MTU + 18);
}

TEST(eth_bad_lengths)
{
	struct drv_pair p = eth_pair();
	static const uint32_t len[] = { 0, 13, MAX_MTU + 19, 100000 };

	for (unsigned int i = 0; i < ARRAY_SIZE(len); i++) {
		struct drv_wr wr = drv_send_wr(&p.a, len[i]);

		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_LEN_ERR);
		CHECK_EQ(drv_query_qp(p.a.qp).qp_state, IBV_QPS_SQE);
		CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_RTS), 0);
	}
	check_arrives(&p, nic_mac(p.b.d->n->nic), 100);
}

TEST(eth_gathered)
{
	struct drv_pair p = eth_pair();
	struct drv_wr wr = drv_send_wr(&p.a, 5);

	make_frame(&p, nic_mac(p.b.d->n->nic), 1000);
	wr.num_sge = 3;
	wr.sge[1] = drv_sge(p.a.mr, 5, 20);
	wr.sge[2] = drv_sge(p.a.mr, 25, 975);
	post_recv(&p, 1, MTU + 18);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(drv_expect(p.b.recv_cq, 1, 0).byte_len, 1000);
	CHECK_MEM(p.b.mr->ptr, p.a.mr->ptr, 1000);
}

TEST(eth_inline)
{
	struct drv_pair p = eth_pair();
	struct drv_wr wr = drv_send_wr(&p.a, 0);

	make_frame(&p, nic_mac(p.b.d->n->nic), 192);
	wr.flags |= IBV_SEND_INLINE;
	wr.inline_data = p.a.mr->ptr;
	wr.inline_len = 192;
	post_recv(&p, 1, MTU + 18);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS);
	CHECK_MEM(p.b.mr->ptr, p.a.mr->ptr, 192);
}

TEST(eth_filter)
{
	struct drv_pair p = eth_pair();
	uint8_t macs[3][8] = { { 1, 2, 3, 4, 5, 6 } };

	check_arrives(&p, broadcast, 100);
	post_recv(&p, 1, MTU + 18);
	check_filtered(&p, group);
	check_filtered(&p, stranger);
	/* each setting replaces the one before */
	memcpy(macs[2], group, 6);
	CHECK_EQ(set_rx(&p.b, MYNIC_RX_ENABLE, macs[0], 3), 0);
	make_frame(&p, group, 100);
	send_frame(&p, 100);
	drv_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS);
	CHECK_EQ(set_rx(&p.b, MYNIC_RX_ENABLE | MYNIC_RX_ALLMULTI, NULL, 0), 0);
	check_arrives(&p, group, 100);
	post_recv(&p, 2, MTU + 18);
	check_filtered(&p, stranger);
	CHECK_EQ(set_rx(&p.b, MYNIC_RX_ENABLE | MYNIC_RX_PROMISC, NULL, 0), 0);
	make_frame(&p, stranger, 100);
	send_frame(&p, 100);
	drv_expect(p.b.recv_cq, 2, IBV_WC_SUCCESS);
	check_arrives(&p, group, 100);
	/* off */
	CHECK_EQ(set_rx(&p.b, 0, NULL, 0), 0);
	post_recv(&p, 3, MTU + 18);
	make_frame(&p, nic_mac(p.b.d->n->nic), 100);
	send_frame(&p, 100);
	drv_expect_none(p.b.recv_cq, SEC);
}

TEST(eth_filter_bad)
{
	struct drv_pair p = eth_pair();
	uint8_t macs[MYNIC_RX_MAX_MACS + 1][8] = { { 0 } };
	struct drv_end *b = &p.b;
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_SET_RX,
		.number = 0x123456,
		.set_rx.flags = MYNIC_RX_ENABLE,
	};

	CHECK_EQ(drv_admin(b->d, &cmd, NULL), MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(set_rx(b, 8 | MYNIC_RX_ENABLE, NULL, 0),
		 MYNIC_AQ_NOT_SUPPORTED);
	CHECK_EQ(set_rx(b, MYNIC_RX_PROMISC, NULL, 0), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(set_rx(b, 0, macs[0], 1), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(set_rx(b, MYNIC_RX_ENABLE, macs[0], MYNIC_RX_MAX_MACS + 1),
		 MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(set_rx(b, MYNIC_RX_ENABLE, macs[0], MYNIC_RX_MAX_MACS), 0);
	/* more than the mailbox holds */
	cmd.number = b->qp->number;
	cmd.set_rx.num_macs = 3;
	CHECK_EQ(drv_admin_in(b->d, &cmd, NULL, macs, 16), MYNIC_AQ_BAD_PARAM);
	cmd.set_rx.num_macs = 0xffffffff;
	CHECK_EQ(drv_admin_in(b->d, &cmd, NULL, macs, 16), MYNIC_AQ_BAD_PARAM);
	macs[1][7] = 1;
	CHECK_EQ(set_rx(b, MYNIC_RX_ENABLE, macs[0], 2), MYNIC_AQ_BAD_PARAM);
	check_arrives(&p, nic_mac(b->d->n->nic), 100);
}

TEST(eth_no_receive_request)
{
	struct drv_pair p = eth_pair();

	check_filtered(&p, nic_mac(p.b.d->n->nic));
	/* one that is too short stays */
	post_recv(&p, 1, 99);
	check_filtered(&p, nic_mac(p.b.d->n->nic));
	make_frame(&p, nic_mac(p.b.d->n->nic), 99);
	send_frame(&p, 99);
	CHECK_EQ(drv_expect(p.b.recv_cq, 1, 0).byte_len, 99);
}

TEST(eth_longer_than_mtu)
{
	struct drv_pair p = eth_pair();

	post_recv(&p, 1, MAX_MTU + 18);
	make_frame(&p, nic_mac(p.b.d->n->nic), MTU + 19);
	check_dropped(&p, MTU + 19);
}

TEST(eth_own_mac_follows_modify_port)
{
	struct drv_pair p = eth_pair();
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_PORT,
		.modify_port = { .up = 1,
				 .mac = { 0x02, 1, 2, 3, 4, 5 },
				 .mtu = MTU },
	};
	uint8_t old[6];

	memcpy(old, nic_mac(p.b.d->n->nic), 6);
	CHECK_EQ(drv_admin(p.b.d, &cmd, NULL), 0);
	check_arrives(&p, cmd.modify_port.mac, 100);
	/* the wire floods it to b, which no longer receives it */
	post_recv(&p, 1, MTU + 18);
	check_filtered(&p, old);
}

TEST(eth_port_down)
{
	struct drv_pair p = eth_pair();
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_PORT,
		.modify_port = { .mtu = MTU },
	};

	memcpy(cmd.modify_port.mac, nic_mac(p.b.d->n->nic), 6);
	CHECK_EQ(drv_admin(p.b.d, &cmd, NULL), 0);
	post_recv(&p, 1, MTU + 18);
	make_frame(&p, broadcast, 100);
	send_frame(&p, 100);
	drv_expect_none(p.b.recv_cq, SEC);
	/* it does not send either, but requests complete */
	cmd.modify_port.up = 1;
	cmd.number = 0;
	CHECK_EQ(drv_admin(p.b.d, &cmd, NULL), 0);
	send_frame(&p, 100);
	drv_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS);
}

TEST(eth_vlan_in_line)
{
	struct drv_pair p = eth_pair();

	make_frame(&p, nic_mac(p.b.d->n->nic), 200);
	memcpy(p.a.mr->ptr + 12, "\x81\x00\x60\x7b\x88\xb5", 6);
	post_recv(&p, 1, MTU + 18);
	send_frame(&p, 200);
	CHECK_EQ(drv_expect(p.b.recv_cq, 1, 0).byte_len, 200);
	CHECK_MEM(p.b.mr->ptr, p.a.mr->ptr, 200);
}

/*
 * Send @len bytes of the frame in a's memory. @want is what the wire carries
 * after the addresses, and then the frame goes on
 */
static void check_inserted(struct drv_pair *p, uint16_t vlan, uint32_t len,
			   unsigned int flags, const void *want, uint32_t extra)
{
	struct drv_wr wr = drv_send_wr(&p->a, len);

	wr.vlan = vlan;
	wr.flags |= flags;
	if (flags & IBV_SEND_INLINE) {
		wr.inline_data = p->a.mr->ptr;
		wr.inline_len = len;
	}
	post_recv(p, 1, MTU + 18);
	drv_post_send(p->a.qp, &wr);
	drv_expect(p->a.cq, wr.wr_id, IBV_WC_SUCCESS);
	CHECK_EQ(drv_expect(p->b.recv_cq, 1, 0).byte_len, len + extra);
	CHECK_MEM(p->b.mr->ptr, p->a.mr->ptr, 12);
	CHECK_MEM(p->b.mr->ptr + 12, want, extra);
	CHECK_MEM(p->b.mr->ptr + 12 + extra, p->a.mr->ptr + 12, len - 12);
	CHECK_EQ(p->b.mr->ptr[len + extra], 0xee);
}

TEST(eth_vlan_inserted)
{
	struct drv_pair p = eth_pair();

	make_frame(&p, nic_mac(p.b.d->n->nic), MTU + 14);
	check_inserted(&p, 0x607b, 200, 0, "\x81\x00\x60\x7b", 4);
	check_inserted(&p, 0x0001, 15, 0, "\x81\x00\x00\x01", 4);
	check_inserted(&p, 0x8000, 64, IBV_SEND_INLINE, "\x81\x00\x80\x00", 4);
	check_inserted(&p, 0x0fff, MTU + 14, 0, "\x81\x00\x0f\xff", 4);
	check_inserted(&p, 0, 200, 0, "", 0);
	check_inserted(&p, 0xffff, 200, 0, "", 0);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TX_BYTES),
		 204 + 19 + 68 + MTU + 18 + 200 + 200);
}

/* The frame's own tags stay behind the one that is inserted */
TEST(eth_vlan_inserted_before_another)
{
	struct drv_pair p = eth_pair();

	make_frame(&p, nic_mac(p.b.d->n->nic), 200);
	memcpy(p.a.mr->ptr + 12, "\x81\x00\x60\x7b\x81\x00\x00\x05", 8);
	check_inserted(&p, 0x2002, 200, 0, "\x81\x00\x20\x02", 4);
	check_inserted(&p, 0x2002, 16, 0, "\x81\x00\x20\x02", 4);
	check_inserted(&p, 0x2002, 17, IBV_SEND_INLINE, "\x81\x00\x20\x02", 4);
}

/* The Ethernet header, before whose end the tag goes, is in several SGEs */
TEST(eth_vlan_inserted_in_gathered_frame)
{
	static const uint32_t first[] = { 1, 5, 11, 12, 13 };
	struct drv_pair p = eth_pair();
	struct drv_wr wr = drv_send_wr(&p.a, 0);
	uint8_t *got = p.b.mr->ptr;

	make_frame(&p, nic_mac(p.b.d->n->nic), 1000);
	wr.vlan = 0x607b;
	wr.num_sge = 3;
	wr.sge[2] = drv_sge(p.a.mr, 17, 983);
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(first); i++) {
		uint32_t len = first[i / 2];

		wr.sge[0] = drv_sge(p.a.mr, 0, len);
		wr.sge[1] = drv_sge(p.a.mr, len, 17 - len);
		wr.flags = IBV_SEND_SIGNALED | (i % 2 ? IBV_SEND_IP_CSUM : 0);
		post_recv(&p, 1, MTU + 18);
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, wr.wr_id, IBV_WC_SUCCESS);
		CHECK_EQ(drv_expect(p.b.recv_cq, 1, 0).byte_len, 1004);
		CHECK_MEM(got, p.a.mr->ptr, 12);
		CHECK_MEM(got + 12, "\x81\x00\x60\x7b", 4);
		CHECK_MEM(got + 16, p.a.mr->ptr + 12, 988);
	}
}

/* Those to a group come back, to flow rules of the same NIC */
TEST(eth_vlan_inserted_in_own_group_frame)
{
	struct drv_pair p = eth_raw_pair();
	struct drv_wr wr = drv_send_wr(&p.a, MTU + 14);
	struct mynic_create_flow body = { 0 };
	struct eth_buf buf;

	CHECK_EQ(eth_flow(p.a.qp, body, NULL, NULL), 0);
	eth_begin(&buf, ETH_GROUP, 0x88b5);
	eth_put_data(&buf, MTU, 1);
	memcpy(p.a.mr->ptr, buf.data, buf.len);
	eth_insert_tag(&buf, 0x2005);
	wr.vlan = 0x2005;
	eth_post(&p.a, 5);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, wr.wr_id, IBV_WC_SUCCESS);
	CHECK_EQ(eth_expect(&p.a, 5, &buf).cvlan, 0x2005);
	wr.sge[0].length++;
	eth_post(&p.a, 6);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, wr.wr_id, IBV_WC_SUCCESS);
	drv_expect_none(p.a.recv_cq, SEC);
}

/* The rest of the extension means nothing yet */
TEST(eth_vlan_inserted_beside_garbage)
{
	struct drv_pair p = eth_pair();
	struct drv_wr wr = drv_send_wr(&p.a, 100);
	struct mynic_eth_ext *ext;

	make_frame(&p, nic_mac(p.b.d->n->nic), 100);
	wr.vlan = 0x0123;
	post_recv(&p, 1, MTU + 18);
	ext = drv_write_wqe(p.a.qp, &wr) + MYNIC_WQE_EXT;
	memset(ext->reserved_02, 0xff, sizeof(ext->reserved_02));
	drv_ring(p.a.qp);
	drv_expect(p.a.cq, wr.wr_id, IBV_WC_SUCCESS);
	CHECK_EQ(drv_expect(p.b.recv_cq, 1, 0).byte_len, 104);
	CHECK_MEM(p.b.mr->ptr + 12, "\x81\x00\x01\x23\x88\xb5", 6);
}

TEST(eth_vlan_inserted_too_long)
{
	struct drv_pair p = eth_pair();
	struct drv_wr wr = drv_send_wr(&p.a, MAX_MTU + 18);

	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, wr.wr_id, IBV_WC_SUCCESS);
	wr = drv_send_wr(&p.a, MAX_MTU + 14);
	wr.vlan = 7;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, wr.wr_id, IBV_WC_SUCCESS);
	wr = drv_send_wr(&p.a, MAX_MTU + 15);
	wr.vlan = 7;
	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(drv_expect(p.a.cq, wr.wr_id, IBV_WC_LOC_LEN_ERR).vendor_err,
		 MYNIC_SYN_BAD_LEN);
}

/* The checksums are those of the frame without the tag */
TEST(eth_vlan_inserted_with_checksums)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_create_flow body = { 0 };
	struct drv_wr wr;
	struct eth_buf buf;

	CHECK_EQ(eth_flow(p.b.qp, body, NULL, NULL), 0);
	eth_begin(&buf, ETH_GROUP, 0x0800);
	eth_put_ipv4(&buf, 0x0a000001, 0x0a000002, 17, 308);
	eth_put_udp(&buf, 1, 2, 300);
	eth_put_data(&buf, 300, 1);
	memcpy(p.a.mr->ptr, buf.data, buf.len);
	wr = drv_send_wr(&p.a, buf.len);
	wr.flags |= IBV_SEND_IP_CSUM;
	wr.vlan = 0x4321;
	eth_post(&p.b, 5);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, wr.wr_id, IBV_WC_SUCCESS);
	eth_fix(&buf, 14, 34);
	eth_insert_tag(&buf, wr.vlan);
	CHECK(eth_expect(&p.b, 5, &buf).wc_flags & IBV_WC_IP_CSUM_OK);
}

TEST(eth_counters)
{
	struct drv_pair p = eth_pair();

	for (int i = 0; i < 7; i++)
		check_arrives(&p, nic_mac(p.b.d->n->nic), 1000);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TX_ETH_PACKETS), 7);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TX_PACKETS), 7);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TX_BYTES), 7000);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_RX_ETH_PACKETS), 7);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_RX_PACKETS), 7);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_RX_BYTES), 7000);
}

TEST(eth_receiver_destroyed)
{
	struct drv_pair p = eth_pair();

	post_recv(&p, 1, MTU + 18);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_QP, p.b.qp->number),
		 0);
	make_frame(&p, broadcast, 100);
	send_frame(&p, 100);
	drv_expect_none(p.b.recv_cq, SEC);
}
