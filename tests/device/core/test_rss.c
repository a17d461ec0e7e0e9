// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Work queues, tables of them, and QPs that spread frames over a table */
#include "harness_eth.h"
#include "harness_rss.h"

#define TCP 6
#define UDP 17
#define MAX_WQS (1 << MYNIC_RWQ_TABLE_MAX_LOG_SIZE)

static uint8_t try_create_wq(struct drv_end *end, struct drv_qp *wq,
			     uint8_t flags)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_WQ };
	struct drv_qp_init init = {
		.type = MYNIC_QP_RAW_PACKET,
		.pdn = end->pdn,
		.send_cq = end->recv_cq,
		.recv_cq = end->recv_cq,
	};
	struct mynic_create_wq create;
	struct mynic_admin_cpl cpl;
	uint8_t status;

	drv_qp_layout(end->d, wq, &init);
	create = (struct mynic_create_wq){
		.buf = wq->create.buf,
		.rq_offset = wq->create.rq_offset,
		.dbrec_offset = wq->create.dbrec_offset,
		.uarn = wq->create.uarn,
		.pdn = end->pdn,
		.cqn = end->recv_cq->number,
		.log_size = wq->create.log_rq_size,
		.log_stride = wq->create.log_rq_stride,
		.flags = flags,
	};
	status = drv_admin_in(end->d, &cmd, &cpl, &create, sizeof(create));
	wq->number = cpl.number;
	return status;
}

/* Make an end whose QP is a WQ */
static struct drv_end wq_end(struct drv_end *end, uint8_t flags)
{
	struct drv_end wq = *end;

	wq.qp = tap_alloc(sizeof(*wq.qp));
	CHECK_EQ(try_create_wq(end, wq.qp, flags), 0);
	return wq;
}

static uint8_t modify_wq(struct drv_qp *wq, struct mynic_modify_wq body)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_WQ,
		.number = wq->number,
		.modify_wq = body,
	};

	return drv_admin(wq->d, &cmd, NULL);
}

static uint8_t set_state(struct drv_qp *wq, uint8_t state)
{
	return modify_wq(wq, (struct mynic_modify_wq){ .attr_mask = 1,
						       .state = state });
}

static uint8_t create_table(struct drv *d, const uint32_t *wqns, uint8_t log,
			    uint32_t *number)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_CREATE_RWQ_TABLE,
		.create_rwq_table.log_size = log,
	};
	struct mynic_admin_cpl cpl;
	uint8_t status;

	status = drv_admin_in(d, &cmd, &cpl, wqns, 4ul << log);
	*number = cpl.number;
	return status;
}

static uint8_t create_rss(struct drv_end *end, struct mynic_create_qp create,
			  struct drv_qp *qp)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_QP };
	struct mynic_admin_cpl cpl;
	uint8_t status;

	status = drv_admin_in(end->d, &cmd, &cpl, &create, sizeof(create));
	qp->d = end->d;
	qp->number = cpl.number;
	return status;
}

static struct mynic_create_qp rss_create(struct drv_end *end, uint32_t table,
					 uint32_t fields)
{
	struct mynic_create_qp create = {
		.pdn = end->pdn,
		.srqn = MYNIC_NO_SRQ,
		.type = MYNIC_QP_RAW_PACKET,
		.rx_hash_function = MYNIC_RX_HASH_TOEPLITZ,
		.rwq_tablen = table,
		.rx_hash_fields = fields,
	};

	memcpy(create.rx_hash_key, rss_known_key, sizeof(rss_known_key));
	return create;
}

/* struct rss - all of NIC b's WQs, in one table, with a rule for all frames */
struct rss {
	struct drv_pair p;
	struct drv_end wq[MAX_WQS];
	unsigned int num;
	uint32_t table;
	struct drv_qp qp;
	uint32_t flow;
};

static struct rss *rss_new(unsigned int log, uint32_t fields)
{
	struct mynic_create_flow body = { .flow_tag = 5 };
	struct rss *rss = tap_alloc(sizeof(*rss));
	uint32_t wqns[MAX_WQS];

	rss->p = eth_raw_pair();
	rss->num = 1 << log;
	for (unsigned int i = 0; i < rss->num; i++) {
		rss->wq[i] = wq_end(&rss->p.b, 0);
		wqns[i] = rss->wq[i].qp->number;
		CHECK_EQ(set_state(rss->wq[i].qp, MYNIC_WQS_RDY), 0);
	}
	CHECK_EQ(create_table(rss->p.b.d, wqns, log, &rss->table), 0);
	CHECK_EQ(create_rss(&rss->p.b,
			    rss_create(&rss->p.b, rss->table, fields),
			    &rss->qp),
		 0);
	CHECK_EQ(eth_flow(&rss->qp, body, NULL, &rss->flow), 0);
	return rss;
}

static struct eth_buf ipv4_frame(uint8_t proto, uint32_t saddr, uint32_t daddr,
				 uint16_t sport, uint16_t dport)
{
	struct eth_buf buf;

	eth_begin(&buf, ETH_GROUP, 0x0800);
	if (proto == TCP) {
		eth_put_ipv4(&buf, saddr, daddr, TCP, 70);
		eth_put_tcp(&buf, sport, dport, 1, 0x10);
		eth_put_data(&buf, 50, 1);
	} else {
		eth_put_ipv4(&buf, saddr, daddr, UDP, 58);
		eth_put_udp(&buf, sport, dport, 50);
		eth_put_data(&buf, 50, 1);
	}
	return buf;
}

/* Check that the frame arrives at the WQ that the hash selects */
static void check_hash(struct rss *rss, const struct eth_buf *frame,
		       uint32_t hash)
{
	struct drv_end *wq = &rss->wq[hash & (rss->num - 1)];

	eth_post(wq, 3);
	eth_send_frame(&rss->p.a, frame, 0);
	CHECK_EQ(eth_expect(wq, 3, frame).flow_tag, 5);
}

#define IPV4 (MYNIC_RX_HASH_SRC_IPV4 | MYNIC_RX_HASH_DST_IPV4)
#define IPV6 (MYNIC_RX_HASH_SRC_IPV6 | MYNIC_RX_HASH_DST_IPV6)
#define PORTS_TCP (MYNIC_RX_HASH_SRC_PORT_TCP | MYNIC_RX_HASH_DST_PORT_TCP)
#define PORTS_UDP (MYNIC_RX_HASH_SRC_PORT_UDP | MYNIC_RX_HASH_DST_PORT_UDP)

/* 66.9.149.187:2794 to 161.142.100.80:1766, and 199.92.111.2:14230 to ... */
#define A_FROM 0x420995bb
#define A_TO 0xa18e6450
#define B_FROM 0xc75c6f02
#define B_TO 0x41458c53

TEST(rss_known_hashes_ipv4)
{
	struct rss *rss = rss_new(7, IPV4);
	struct eth_buf a = ipv4_frame(TCP, A_FROM, A_TO, 2794, 1766);
	struct eth_buf b = ipv4_frame(TCP, B_FROM, B_TO, 14230, 4739);

	check_hash(rss, &a, RSS_KNOWN_ADDRESSES);
	check_hash(rss, &b, 0xd718262a);
	rss = rss_new(7, IPV4 | PORTS_TCP);
	check_hash(rss, &a, RSS_KNOWN_WITH_PORTS);
	check_hash(rss, &b, 0xc626b0ea);
	/* as UDP it has no TCP ports */
	a = ipv4_frame(UDP, A_FROM, A_TO, 2794, 1766);
	check_hash(rss, &a, RSS_KNOWN_ADDRESSES);
	rss = rss_new(7, IPV4 | PORTS_UDP | PORTS_TCP | IPV6);
	check_hash(rss, &a, RSS_KNOWN_WITH_PORTS);
	/* fragments, the first one and others, are hashed without ports */
	a.data[20] = 0x20;
	check_hash(rss, &a, RSS_KNOWN_ADDRESSES);
	a.data[20] = 0;
	a.data[21] = 3;
	check_hash(rss, &a, RSS_KNOWN_ADDRESSES);
}

/*
 * Of a buffer that reaches beyond its region, only the part that a frame is
 * written to is checked
 */
TEST(rss_recv_bounds)
{
	struct rss *rss = rss_new(1, IPV4);
	struct eth_buf frame = ipv4_frame(TCP, A_FROM, A_TO, 2794, 1766);
	struct drv_end *wq = &rss->wq[RSS_KNOWN_ADDRESSES & 1];

	for (uint32_t short_of = 0; short_of < 2; short_of++) {
		struct mynic_sge sge = drv_sge(
			wq->mr, DRV_PAIR_MEM - frame.len + short_of, 4096);

		drv_post_recv(wq->qp, short_of, &sge, 1);
		eth_send_frame(&rss->p.a, &frame, 0);
		if (!short_of) {
			drv_expect(wq->recv_cq, 0, IBV_WC_SUCCESS);
			CHECK_MEM(wq->mr->ptr + DRV_PAIR_MEM - frame.len,
				  frame.data, frame.len);
			continue;
		}
		CHECK_EQ(drv_expect(wq->recv_cq, 1, IBV_WC_LOC_PROT_ERR)
				 .vendor_err,
			 MYNIC_SYN_LKEY_BOUNDS);
	}
}

/* A frame does not wait for a missing page: the WQ fails, and its host knows why */
TEST(rss_missing_page)
{
	struct rss *rss = rss_new(0, IPV4);
	struct eth_buf frame = ipv4_frame(TCP, A_FROM, A_TO, 2794, 1766);
	struct drv_end *wq = &rss->wq[0];
	struct mynic_create_mkey body = {
		.buf = { .levels = 1, .log_page_size = 12, .log_list_size = 12 },
		.iova = 0x7f0000000000ull,
		.length = DRV_PAGE,
		.pdn = wq->pdn,
		.access = IBV_ACCESS_LOCAL_WRITE,
	};
	struct mynic_sge sge = { .addr = body.iova, .length = DRV_PAGE };
	uint32_t key;

	body.buf.addr =
		sim_iova(wq->d->n, sim_alloc(wq->d->n, DRV_PAGE, DRV_PAGE));
	CHECK_EQ(drv_create_mkey(wq->d, &body, MYNIC_MKEY_ODP, &key),
		 MYNIC_AQ_OK);
	sge.lkey = key;
	drv_post_recv(wq->qp, 7, &sge, 1);
	eth_send_frame(&rss->p.a, &frame, 0);
	CHECK_EQ(drv_expect(wq->recv_cq, 7, IBV_WC_LOC_PROT_ERR).vendor_err,
		 MYNIC_SYN_DMA);
}

TEST(rss_known_hashes_ipv6)
{
	struct rss *rss = rss_new(7, IPV6 | PORTS_TCP);
	struct eth_buf frame;

	/* 3ffe:2501:200:1fff::7.2794 to 3ffe:2501:200:3::1.1766 */
	eth_begin(&frame, ETH_GROUP, 0x86dd);
	eth_put_ipv6(&frame, "\x3f\xfe\x25\x01\x02\0\x1f\xff\0\0\0\0\0\0\0\x07",
		     "\x3f\xfe\x25\x01\x02\0\0\x03\0\0\0\0\0\0\0\x01", TCP, 60);
	eth_put_tcp(&frame, 2794, 1766, 1, 0x10);
	eth_put_data(&frame, 40, 1);
	check_hash(rss, &frame, 0x40207d3d);
	rss = rss_new(7, IPV6);
	check_hash(rss, &frame, 0x2cc18cd5);
	/* none of the selected fields: the first WQ */
	rss = rss_new(7, IPV4);
	check_hash(rss, &frame, 0);
}

/* Frames without the hashed fields, or that end before them */
TEST(rss_without_what_is_hashed)
{
	struct rss *rss = rss_new(7, IPV4 | IPV6 | PORTS_TCP | PORTS_UDP);
	struct eth_buf whole = ipv4_frame(TCP, A_FROM, A_TO, 2794, 1766);
	struct eth_buf frame;

	/* neither IPv4 nor IPv6 */
	eth_begin(&frame, ETH_GROUP, 0x88b5);
	eth_put_data(&frame, 60, 1);
	check_hash(rss, &frame, 0);
	/* cut off within the TCP header, and within the IPv4 header */
	frame = whole;
	frame.len = 14 + 20 + 19;
	check_hash(rss, &frame, RSS_KNOWN_ADDRESSES);
	frame.len = 14 + 19;
	check_hash(rss, &frame, 0);
	/* an IPv4 header with the EtherType of IPv6 */
	frame = whole;
	frame.data[12] = 0x86;
	frame.data[13] = 0xdd;
	check_hash(rss, &frame, 0);
	/* the next frame is hashed as usual */
	check_hash(rss, &whole, RSS_KNOWN_WITH_PORTS);
}

TEST(rss_one_field)
{
	struct rss *rss = rss_new(5, MYNIC_RX_HASH_SRC_IPV4);
	struct eth_buf a = ipv4_frame(TCP, A_FROM, A_TO, 2794, 1766);
	struct eth_buf b = ipv4_frame(UDP, A_FROM, B_TO, 1, 2);
	unsigned int at[2];

	/* frames that differ in other fields go to the same WQ */
	for (int i = 0; i < 2; i++) {
		for (unsigned int w = 0; w < rss->num; w++)
			eth_post(&rss->wq[w], w);
		eth_send_frame(&rss->p.a, i ? &b : &a, 0);
		for (at[i] = 0;; at[i]++) {
			struct mynic_cqe cqe;

			if (drv_poll(rss->p.b.recv_cq, &cqe)) {
				at[i] = cqe.wr_id;
				break;
			}
		}
	}
	CHECK_EQ(at[0], at[1]);
}

/* A frame is to arrive in memory that has no region */
static void check_dma_lkey(uint8_t flags, uint32_t status)
{
	struct drv_pair p = eth_raw_pair();
	struct drv_end wq = wq_end(&p.b, flags);
	struct eth_buf frame = ipv4_frame(UDP, A_FROM, A_TO, 1, 2);
	struct mynic_create_flow body = { 0 };
	uint8_t *to = sim_alloc(p.b.d->n, 2048, 64);
	struct mynic_sge sge = { sim_iova(p.b.d->n, to), 2048,
				 p.b.d->attr.dma_lkey };
	struct drv_qp qp;
	uint32_t table;

	CHECK_EQ(create_table(p.b.d, &wq.qp->number, 0, &table), 0);
	CHECK_EQ(create_rss(&p.b, rss_create(&p.b, table, 0), &qp), 0);
	CHECK_EQ(eth_flow(&qp, body, NULL, NULL), 0);
	CHECK_EQ(set_state(wq.qp, MYNIC_WQS_RDY), 0);
	drv_post_recv(wq.qp, 1, &sge, 1);
	eth_send_frame(&p.a, &frame, 0);
	drv_expect(wq.recv_cq, 1, status);
	if (!status)
		CHECK_MEM(to, frame.data, frame.len);
}

TEST(wq_dma_lkey)
{
	struct mynic_modify_wq change = { .attr_mask = 4,
					  .flags = MYNIC_WQ_KERNEL,
					  .flags_mask = MYNIC_WQ_KERNEL };
	struct drv_pair p = eth_raw_pair();
	struct drv_end wq = wq_end(&p.b, 0);

	check_dma_lkey(MYNIC_WQ_KERNEL, IBV_WC_SUCCESS);
	check_dma_lkey(0, IBV_WC_LOC_PROT_ERR);
	check_dma_lkey(MYNIC_WQ_VLAN_STRIP, IBV_WC_LOC_PROT_ERR);
	CHECK_EQ(modify_wq(wq.qp, change), MYNIC_AQ_NOT_SUPPORTED);
}

static uint8_t receive_port(struct drv_qp *qp)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_SET_RX,
		.number = qp->number,
		.set_rx.flags = MYNIC_RX_ENABLE | MYNIC_RX_PROMISC,
	};

	return drv_admin(qp->d, &cmd, NULL);
}

/* The QP named in SET_RX has a table, and then another QP takes its place */
TEST(rss_receives_for_the_port)
{
	struct drv_pair p = eth_raw_pair();
	struct drv_end wq[2] = { wq_end(&p.b, 0), wq_end(&p.b, 0) };
	struct eth_buf frame = ipv4_frame(UDP, A_FROM, A_TO, 1, 2);
	uint32_t table[2];
	struct drv_qp qp[2];

	for (unsigned int i = 0; i < 2; i++) {
		CHECK_EQ(set_state(wq[i].qp, MYNIC_WQS_RDY), 0);
		CHECK_EQ(create_table(p.b.d, &wq[i].qp->number, 0, &table[i]),
			 0);
		CHECK_EQ(create_rss(&p.b, rss_create(&p.b, table[i], IPV4),
				    &qp[i]),
			 0);
		CHECK_EQ(receive_port(&qp[i]), 0);
		eth_post(&wq[i], i);
		eth_send_frame(&p.a, &frame, 0);
		CHECK_EQ(eth_expect(&wq[i], i, &frame).flow_tag, 0);
	}
}

static void check_tag(struct drv_end *end, uint64_t wr_id,
		      const struct eth_buf *want, uint16_t tci,
		      uint8_t stripped)
{
	struct mynic_cqe cqe = eth_expect(end, wr_id, want);

	CHECK_EQ(cqe.cvlan, tci);
	CHECK_EQ(cqe.sl, tci >> 13);
	CHECK_EQ(cqe.stripped, stripped);
}

TEST(rss_vlan_strip)
{
	struct drv_pair p = eth_raw_pair();
	struct drv_end wq = wq_end(&p.b, MYNIC_WQ_VLAN_STRIP);
	struct mynic_create_flow body = { 0 };
	struct mynic_modify_wq change = { .attr_mask = 4, .flags_mask = 1 };
	struct eth_buf frame, want;
	struct drv_qp qp;
	uint32_t table;

	CHECK_EQ(create_table(p.b.d, &wq.qp->number, 0, &table), 0);
	CHECK_EQ(create_rss(&p.b, rss_create(&p.b, table, 0), &qp), 0);
	CHECK_EQ(eth_flow(&qp, body, NULL, NULL), 0);
	CHECK_EQ(set_state(wq.qp, MYNIC_WQS_RDY), 0);
	eth_begin(&frame, ETH_GROUP, 0x8100);
	eth_put16(&frame, 0x6123);
	eth_put16(&frame, 0x88b5);
	eth_put_data(&frame, 100, 1);
	eth_begin(&want, ETH_GROUP, 0x88b5);
	eth_put_data(&want, 100, 1);
	eth_post(&wq, 1);
	eth_send_frame(&p.a, &frame, 0);
	check_tag(&wq, 1, &want, 0x6123, 4);
	/* frames without a tag stay as they are */
	eth_post(&wq, 2);
	eth_send_frame(&p.a, &want, 0);
	check_tag(&wq, 2, &want, 0, 0);
	/* no longer */
	CHECK_EQ(modify_wq(wq.qp, change), 0);
	eth_post(&wq, 3);
	eth_send_frame(&p.a, &frame, 0);
	check_tag(&wq, 3, &frame, 0x6123, 0);
}

TEST(raw_qp_vlan_strip)
{
	static const struct drv_qp_init init = {
		.type = MYNIC_QP_RAW_PACKET,
		.flags = MYNIC_QP_VLAN_STRIP,
	};
	struct drv_pair p = drv_pair_unconnected(&init);
	struct mynic_create_flow body = { 0 };
	struct eth_buf frame, want;

	eth_raw_up(p.a.qp);
	eth_raw_up(p.b.qp);
	CHECK_EQ(eth_flow(p.b.qp, body, NULL, NULL), 0);
	eth_begin(&frame, ETH_GROUP, 0x8100);
	eth_put32(&frame, 0x612388b5);
	eth_put_data(&frame, 100, 1);
	eth_begin(&want, ETH_GROUP, 0x88b5);
	eth_put_data(&want, 100, 1);
	eth_post(&p.b, 1);
	eth_send_frame(&p.a, &frame, 0);
	check_tag(&p.b, 1, &want, 0x6123, 4);
	/* a tag of zero is gone, too, which cvlan does not tell */
	memset(frame.data + 14, 0, 2);
	eth_post(&p.b, 2);
	eth_send_frame(&p.a, &frame, 0);
	check_tag(&p.b, 2, &want, 0, 4);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_RX_BYTES), 2 * frame.len);
	/* cut off within the tag: there is none */
	frame.len = 16;
	eth_post(&p.b, 3);
	eth_send_frame(&p.a, &frame, 0);
	check_tag(&p.b, 3, &frame, 0, 0);
}

TEST(wq_states)
{
	struct rss *rss = rss_new(0, IPV4);
	struct drv_end *wq = &rss->wq[0];
	struct eth_buf frame = ipv4_frame(UDP, 1, 2, 3, 4);
	struct mynic_modify_wq body = { .attr_mask = 3, .state = 1 };
	struct mynic_cqe cqe;

	/* RESET: nothing is received, nothing is flushed */
	CHECK_EQ(set_state(wq->qp, MYNIC_WQS_RESET), 0);
	memset(wq->qp->rec, 0, sizeof(*wq->qp->rec));
	wq->qp->rq_pi = 0;
	eth_post(wq, 1);
	eth_send_frame(&rss->p.a, &frame, 0);
	drv_expect_none(wq->recv_cq, SEC);
	/* not the state of the WQ */
	body.cur_state = MYNIC_WQS_ERR;
	CHECK_EQ(modify_wq(wq->qp, body), MYNIC_AQ_BAD_STATE);
	body.cur_state = MYNIC_WQS_RESET;
	CHECK_EQ(modify_wq(wq->qp, body), 0);
	eth_send_frame(&rss->p.a, &frame, 0);
	eth_expect(wq, 1, &frame);
	/* ERR: old and new requests are flushed */
	eth_post(wq, 2);
	CHECK_EQ(set_state(wq->qp, MYNIC_WQS_ERR), 0);
	cqe = drv_expect(wq->recv_cq, 2, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(cqe.qp_num, wq->qp->number);
	CHECK_EQ(wq->qp->rec->rq_ring, 1);
	eth_post(wq, 3);
	drv_expect(wq->recv_cq, 3, IBV_WC_WR_FLUSH_ERR);
	eth_send_frame(&rss->p.a, &frame, 0);
	drv_expect_none(wq->recv_cq, SEC);
	CHECK_EQ(set_state(wq->qp, MYNIC_WQS_RDY), MYNIC_AQ_BAD_STATE);
	CHECK_EQ(set_state(wq->qp, MYNIC_WQS_RESET), 0);
	CHECK_EQ(wq->qp->rec->rq_ring, 0);
}

TEST(wq_faults)
{
	struct rss *rss = rss_new(1, IPV4);
	struct drv_end *wq = &rss->wq[0];
	struct drv *d = rss->p.b.d;
	struct eth_buf frame = ipv4_frame(UDP, 0, 0, 3, 4);
	struct mynic_sge sge = drv_sge(wq->mr, 0, 9000);

	/* a bad key ends one WQ, not the other */
	sge.lkey ^= 0x100;
	drv_post_recv(wq->qp, 1, &sge, 1);
	eth_send_frame(&rss->p.a, &frame, 0);
	CHECK_EQ(drv_expect(wq->recv_cq, 1, IBV_WC_LOC_PROT_ERR).qp_num,
		 wq->qp->number);
	eth_post(wq, 2);
	drv_expect(wq->recv_cq, 2, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(set_state(wq->qp, MYNIC_WQS_RDY), MYNIC_AQ_BAD_STATE);
	/* an impossible index: an event with the WQ's number */
	wq = &rss->wq[1];
	wq->qp->rec->rq_pi = 65;
	frame = ipv4_frame(UDP, 1u << 31, 0, 3, 4);
	for (uint32_t i = 0; i < 32; i++) {
		frame = ipv4_frame(UDP, 1u << i, 0, 3, 4);
		eth_send_frame(&rss->p.a, &frame, 0);
	}
	drv_expect_event(&d->event, MYNIC_EVENT_QP_FATAL, wq->qp->number);
	CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_INDEX), 1);
}

TEST(wq_is_no_qp)
{
	struct rss *rss = rss_new(0, IPV4);
	struct drv *d = rss->p.b.d;
	uint32_t wqn = rss->wq[0].qp->number;
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_QUERY_QP,
		.number = wqn,
	};
	struct mynic_create_flow body = { 0 };
	struct mynic_qp_attr attr = { .attr_mask = IBV_QP_STATE };
	uint32_t table;

	CHECK_EQ(drv_admin_out(d, &cmd, &attr, sizeof(attr)),
		 MYNIC_AQ_BAD_NUMBER);
	cmd.opcode = MYNIC_CMD_MODIFY_QP;
	attr = (struct mynic_qp_attr){ .attr_mask = IBV_QP_STATE };
	CHECK_EQ(drv_admin_in(d, &cmd, NULL, &attr, sizeof(attr)),
		 MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_QP, wqn),
		 MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(eth_flow(rss->wq[0].qp, body, NULL, NULL), MYNIC_AQ_BAD_PARAM);
	/* the opposite */
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_WQ, rss->p.b.qp->number),
		 MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(set_state(rss->p.b.qp, MYNIC_WQS_RDY), MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(create_table(d, &rss->p.b.qp->number, 0, &table),
		 MYNIC_AQ_BAD_NUMBER);
	/* a QP that spreads frames has no states */
	cmd.number = rss->qp.number;
	CHECK_EQ(drv_admin_in(d, &cmd, NULL, &attr, sizeof(attr)),
		 MYNIC_AQ_NOT_SUPPORTED);
	CHECK_EQ(drv_query_qp(&rss->qp).qp_state, IBV_QPS_RTR);
}

TEST(wq_order_of_destruction)
{
	struct rss *rss = rss_new(1, IPV4);
	struct drv *d = rss->p.b.d;
	uint32_t wqn = rss->wq[1].qp->number;

	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_WQ, wqn), MYNIC_AQ_BUSY);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_RWQ_TABLE, rss->table),
		 MYNIC_AQ_BUSY);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_QP, rss->qp.number),
		 MYNIC_AQ_BUSY);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_CQ,
				rss->p.b.recv_cq->number),
		 MYNIC_AQ_BUSY);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_FLOW, rss->flow), 0);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_QP, rss->qp.number), 0);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_RWQ_TABLE, rss->table), 0);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_RWQ_TABLE, rss->table),
		 MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_WQ, wqn), 0);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_WQ, wqn),
		 MYNIC_AQ_BAD_NUMBER);
}

/* All objects are freed, whatever the order of their numbers */
TEST(wq_reset)
{
	struct rss *rss = rss_new(3, IPV4);

	for (unsigned int i = 0; i < rss->num; i++)
		eth_post(&rss->wq[i], i);
	drv_reset(rss->p.b.d->n);
}

TEST(wq_bad_commands)
{
	struct drv_pair p = eth_raw_pair();
	struct drv_end wq = wq_end(&p.b, 0);
	struct drv_qp other = { 0 };
	uint32_t wqns[2 * MAX_WQS];
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_CREATE_RWQ_TABLE,
		.create_rwq_table.log_size = 1,
	};
	struct mynic_modify_wq body = { .attr_mask = 8 };
	uint32_t table;

	CHECK_EQ(try_create_wq(&p.b, &other, 2), MYNIC_AQ_NOT_SUPPORTED);
	CHECK_EQ(modify_wq(wq.qp, body), MYNIC_AQ_NOT_SUPPORTED);
	body = (struct mynic_modify_wq){ .attr_mask = 4, .flags_mask = 2 };
	CHECK_EQ(modify_wq(wq.qp, body), MYNIC_AQ_NOT_SUPPORTED);
	CHECK_EQ(set_state(wq.qp, 3), MYNIC_AQ_BAD_PARAM);
	body = (struct mynic_modify_wq){ .attr_mask = 2, .cur_state = 3 };
	CHECK_EQ(modify_wq(wq.qp, body), MYNIC_AQ_BAD_PARAM);
	for (int i = 0; i < 2 * MAX_WQS; i++)
		wqns[i] = wq.qp->number;
	/* one WQ many times */
	CHECK_EQ(create_table(p.b.d, wqns, 7, &table), 0);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_RWQ_TABLE, table), 0);
	CHECK_EQ(create_table(p.b.d, wqns, 8, &table), MYNIC_AQ_NOT_SUPPORTED);
	CHECK_EQ(drv_admin_in(p.b.d, &cmd, NULL, wqns, 4), MYNIC_AQ_BAD_PARAM);
	cmd.create_rwq_table.log_size = 255;
	CHECK_EQ(drv_admin_in(p.b.d, &cmd, NULL, wqns, 4), MYNIC_AQ_BAD_PARAM);
	wqns[1] = 0xfffff0;
	CHECK_EQ(create_table(p.b.d, wqns, 1, &table), MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_WQ, wq.qp->number), 0);
}

TEST(rss_bad_commands)
{
	struct rss *rss = rss_new(0, IPV4);
	struct drv_end *b = &rss->p.b;
	struct mynic_create_qp good = rss_create(b, rss->table, IPV4);
	struct mynic_create_qp bad;
	struct drv_qp qp;

	bad = good;
	bad.rwq_tablen = 0xfff;
	CHECK_EQ(create_rss(b, bad, &qp), MYNIC_AQ_BAD_NUMBER);
	bad = good;
	bad.pdn = 0xfff;
	CHECK_EQ(create_rss(b, bad, &qp), MYNIC_AQ_BAD_NUMBER);
	bad = good;
	bad.rx_hash_function = 2;
	CHECK_EQ(create_rss(b, bad, &qp), MYNIC_AQ_BAD_PARAM);
	bad = good;
	bad.rx_hash_fields = 0x100;
	CHECK_EQ(create_rss(b, bad, &qp), MYNIC_AQ_BAD_PARAM);
	bad = good;
	bad.type = MYNIC_QP_UD;
	CHECK_EQ(create_rss(b, bad, &qp), MYNIC_AQ_BAD_PARAM);
	bad = good;
	bad.log_sq_stride = 7;
	CHECK_EQ(create_rss(b, bad, &qp), MYNIC_AQ_BAD_PARAM);
	bad = good;
	bad.reserved_3b = 1;
	CHECK_EQ(create_rss(b, bad, &qp), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(create_rss(b, good, &qp), 0);
	CHECK_EQ(drv_number_cmd(b->d, MYNIC_CMD_DESTROY_QP, qp.number), 0);
}

/* Each field for RSS is refused on a QP without it */
TEST(rss_fields_without_table)
{
	struct drv_pair p = eth_raw_pair();
	struct drv_qp_init init = {
		.type = MYNIC_QP_RAW_PACKET,
		.pdn = p.b.pdn,
		.send_cq = p.b.cq,
		.recv_cq = p.b.recv_cq,
	};
	struct mynic_create_qp bad;
	struct drv_qp layout, qp;

	drv_qp_layout(p.b.d, &layout, &init);
	bad = layout.create;
	bad.rx_hash_function = MYNIC_RX_HASH_TOEPLITZ;
	CHECK_EQ(create_rss(&p.b, bad, &qp), MYNIC_AQ_BAD_PARAM);
	bad = layout.create;
	bad.reserved_3b = 1;
	CHECK_EQ(create_rss(&p.b, bad, &qp), MYNIC_AQ_BAD_PARAM);
	bad = layout.create;
	bad.rx_hash_fields = MYNIC_RX_HASH_SRC_IPV4;
	CHECK_EQ(create_rss(&p.b, bad, &qp), MYNIC_AQ_BAD_PARAM);
	for (unsigned int i = 0; i < sizeof(bad.rx_hash_key); i++) {
		bad = layout.create;
		bad.rx_hash_key[i] = 1;
		CHECK_EQ(create_rss(&p.b, bad, &qp), MYNIC_AQ_BAD_PARAM);
	}
	CHECK_EQ(create_rss(&p.b, layout.create, &qp), 0);
}

/* Make a NIC with a table, whose objects may take @limit bytes */
static struct drv_end small_end(uint64_t limit, uint32_t *table)
{
	struct sim *sim = sim_new_small(1, limit);
	struct drv_end end = { .d = drv_up(&sim->nics[0]) };
	struct drv_end wq;

	end.pdn = drv_alloc_pd(end.d);
	end.recv_cq = drv_create_cq(end.d, 6);
	wq = wq_end(&end, 0);
	CHECK_EQ(create_table(end.d, &wq.qp->number, 0, table), 0);
	return end;
}

/* Too little memory for each part of the QP in turn */
TEST(rss_without_memory)
{
	uint64_t before, needed;
	struct drv_end end;
	struct drv_qp qp;
	uint32_t table;

	end = small_end(0, &table);
	CHECK_EQ(create_rss(&end, rss_create(&end, table, IPV4), &qp), 0);
	needed = nic_memory(end.d->n->nic);
	CHECK_EQ(drv_number_cmd(end.d, MYNIC_CMD_DESTROY_QP, qp.number), 0);
	/* Its number may have enlarged the table of QPs, which stays */
	CHECK_EQ(create_rss(&end, rss_create(&end, table, IPV4), &qp), 0);
	CHECK_EQ(nic_memory(end.d->n->nic), needed);
	for (uint64_t less = 1; less < 200; less += 16) {
		end = small_end(needed - less, &table);
		/* malloc() may have given some more bytes than the first time */
		before = nic_memory(end.d->n->nic);
		CHECK_EQ(create_rss(&end, rss_create(&end, table, IPV4), &qp),
			 MYNIC_AQ_NO_RESOURCE);
		CHECK_EQ(nic_memory(end.d->n->nic), before);
		CHECK_EQ(drv_number_cmd(end.d, MYNIC_CMD_DESTROY_RWQ_TABLE,
					table),
			 0);
	}
}
