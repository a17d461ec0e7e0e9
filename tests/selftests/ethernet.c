// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Ethernet for programs: RAW_PACKET QPs, flow rules, TSO, work queues */
#include <arpa/inet.h>
#include <linux/capability.h>
#include <sys/syscall.h>

#include "verbs.h"

#define GROUP { 0x01, 0x50, 0x56, 0x19, 0x20, 0xa7 }
#define ETH_LEN 14
#define IP_LEN 20
#define TCP_LEN 20
#define HEADERS (ETH_LEN + IP_LEN + TCP_LEN)
#define RECV_AT 0x10000
#define SLOT 0x1000
#define DPORT 5678

/* struct rule - a rule with a spec of each layer, and one that may be an action */
struct rule {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
	struct ibv_flow_spec_ipv4 ip;
	struct ibv_flow_spec_tcp_udp tcp;
	union {
		struct ibv_flow_spec_action_drop drop;
		struct ibv_flow_spec_action_tag tag;
		struct ibv_flow_spec_esp esp;
	};
};

static struct rule tcp_rule(uint16_t dport)
{
	struct rule rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			  .size = sizeof(rule),
			  .num_of_specs = 3,
			  .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH,
			 .size = sizeof(rule.eth),
			 .val.dst_mac = GROUP },
		.ip = { .type = IBV_FLOW_SPEC_IPV4, .size = sizeof(rule.ip) },
		.tcp = { .type = IBV_FLOW_SPEC_TCP,
			 .size = sizeof(rule.tcp),
			 .val.dst_port = htons(dport),
			 .mask.dst_port = 0xffff },
	};

	memset(rule.eth.mask.dst_mac, 0xff, 6);
	return rule;
}

/* Write a TCP packet to the group, with checksums of 0 */
static uint32_t put_frame(uint8_t *p, uint8_t host, uint16_t dport,
			  uint32_t len)
{
	static const uint8_t eth[ETH_LEN] = { 1,    0x50, 0x56, 0x19, 0x20,
					      0xa7, 2,	  0,	0,    0,
					      0,    1,	  8,	0 };
	uint8_t ip[IP_LEN] = { 0x45, 0, 0,   0, 0, 1,	 0,   0, 64, 6,
			       0,    0, 192, 0, 2, host, 192, 0, 2,  200 };
	uint8_t tcp[TCP_LEN] = {
		4, 1, dport >> 8, dport, 0,    0,    0,	   100,
		0, 0, 0,	  0,	 0x50, 0x18, 0xff, 0xff
	};
	uint16_t total = htons(IP_LEN + TCP_LEN + len);

	memcpy(ip + 2, &total, 2);
	memcpy(p, eth, ETH_LEN);
	memcpy(p + ETH_LEN, ip, IP_LEN);
	memcpy(p + ETH_LEN + IP_LEN, tcp, TCP_LEN);
	for (uint32_t i = 0; i < len; i++)
		p[HEADERS + i] = i * 5;
	return HEADERS + len;
}

static int send_frame(struct end *e, uint32_t len, unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)e->buf, len, e->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | flags,
	};
	struct ibv_wc wc;
	int err = ibv_post_send(e->qp, &wr, &bad);

	if (err)
		return err;
	return wait_wc(e->cq, &wc) ? wc.status : -1;
}

/* Drops the capability until the thread ends */
static bool drop_net_raw(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return false;
	data[0].effective &= ~(1u << CAP_NET_RAW);
	return !syscall(SYS_capset, &header, data);
}

FIXTURE(ethernet)
{
	struct end a;
	struct end b;
	struct ibv_flow *flow;
};

/* Frames go to a group, which rules on the same NIC receive, too */
FIXTURE_SETUP(ethernet)
{
	self->a.ctx = open_mynic(0);
	self->b.ctx = open_mynic(0);
	ASSERT_NE(self->a.ctx, NULL);
	ASSERT_NE(self->b.ctx, NULL);
	ASSERT_TRUE(make_end(&self->a, IBV_QPT_RAW_PACKET));
	ASSERT_TRUE(make_end(&self->b, IBV_QPT_RAW_PACKET));
	ASSERT_EQ(raw_to_rts(self->a.qp), 0);
	ASSERT_EQ(raw_to_rts(self->b.qp), 0);
}

FIXTURE_TEARDOWN(ethernet)
{
	if (self->flow)
		EXPECT_EQ(ibv_destroy_flow(self->flow), 0);
	EXPECT_EQ(free_end(&self->a), 0);
	EXPECT_EQ(free_end(&self->b), 0);
	ibv_close_device(self->a.ctx);
	ibv_close_device(self->b.ctx);
}

TEST_F(ethernet, needs_cap_net_raw)
{
	struct ibv_qp *other = make_qp(&self->a, IBV_QPT_UD);
	struct rule rule = tcp_rule(DPORT);

	ASSERT_NE(other, NULL);
	ASSERT_TRUE(drop_net_raw());
	EXPECT_EQ(make_qp(&self->a, IBV_QPT_RAW_PACKET), NULL);
	EXPECT_EQ(errno, EPERM);
	EXPECT_EQ(ibv_create_flow(self->a.qp, &rule.attr), NULL);
	EXPECT_EQ(errno, EPERM);
	EXPECT_EQ(ibv_destroy_qp(other), 0);
}

TEST_F(ethernet, rule_and_checksums)
{
	struct rule rule = tcp_rule(DPORT);
	uint32_t len = put_frame(self->a.buf, 1, DPORT, 100);
	struct ibv_wc wc;

	self->flow = ibv_create_flow(self->b.qp, &rule.attr);
	ASSERT_NE(self->flow, NULL);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(post_recv(&self->b, i, RECV_AT, SLOT), 0);
	}
	/* checksums of 0 are wrong, and those of the device are right */
	ASSERT_EQ(send_frame(&self->a, len, 0), IBV_WC_SUCCESS);
	ASSERT_TRUE(wait_wc(self->b.cq, &wc));
	EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc.byte_len, len);
	EXPECT_EQ(wc.wc_flags & IBV_WC_IP_CSUM_OK, 0);
	EXPECT_EQ(memcmp(self->a.buf, self->b.buf + RECV_AT, len), 0);
	ASSERT_EQ(send_frame(&self->a, len, IBV_SEND_IP_CSUM), IBV_WC_SUCCESS);
	ASSERT_TRUE(wait_wc(self->b.cq, &wc));
	EXPECT_EQ(wc.wc_flags & IBV_WC_IP_CSUM_OK, IBV_WC_IP_CSUM_OK);
	EXPECT_EQ(memcmp(self->a.buf + HEADERS, self->b.buf + RECV_AT + HEADERS,
			 100),
		  0);
	/* other programs get frames to other ports */
	len = put_frame(self->a.buf, 1, DPORT + 1, 100);
	ASSERT_EQ(send_frame(&self->a, len, 0), IBV_WC_SUCCESS);
	EXPECT_EQ(ibv_poll_cq(self->b.cq, 1, &wc), 0);
}

TEST_F(ethernet, drop_and_tag)
{
	struct rule rule = tcp_rule(DPORT);
	struct ibv_flow *drop;
	uint32_t len = put_frame(self->a.buf, 1, DPORT, 100);
	struct ibv_wc wc;

	ASSERT_EQ(post_recv(&self->b, 1, RECV_AT, SLOT), 0);
	rule.attr.num_of_specs = 4;
	rule.attr.priority = 1;
	rule.tag = (struct ibv_flow_spec_action_tag){
		.type = IBV_FLOW_SPEC_ACTION_TAG,
		.size = sizeof(rule.tag),
		.tag_id = 0x1234,
	};
	self->flow = ibv_create_flow(self->b.qp, &rule.attr);
	ASSERT_NE(self->flow, NULL);
	rule.attr.priority = 0;
	rule.drop = (struct ibv_flow_spec_action_drop){
		.type = IBV_FLOW_SPEC_ACTION_DROP,
		.size = sizeof(rule.drop),
	};
	drop = ibv_create_flow(self->b.qp, &rule.attr);
	ASSERT_NE(drop, NULL);
	ASSERT_EQ(send_frame(&self->a, len, 0), IBV_WC_SUCCESS);
	EXPECT_EQ(ibv_poll_cq(self->b.cq, 1, &wc), 0);
	ASSERT_EQ(ibv_destroy_flow(drop), 0);
	ASSERT_EQ(send_frame(&self->a, len, 0), IBV_WC_SUCCESS);
	ASSERT_TRUE(wait_wc(self->b.cq, &wc));
	EXPECT_EQ(wc.wr_id, 1);
}

/*
 * struct tap - a QP beside that of an end, with an extended CQ
 * @e: the end, but with this QP
 * @cq: its CQ
 */
struct tap {
	struct end e;
	struct ibv_cq_ex *cq;
};

static bool make_tap(struct tap *tap, const struct end *e, uint32_t flags)
{
	struct ibv_cq_init_attr_ex cq = {
		.cqe = 16,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_CVLAN |
			    IBV_WC_EX_WITH_FLOW_TAG,
	};
	struct ibv_qp_init_attr_ex init = {
		.cap = { .max_recv_wr = 4, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.pd = e->pd,
		.create_flags = flags,
	};

	tap->e = *e;
	tap->cq = ibv_create_cq_ex(e->ctx, &cq);
	if (!tap->cq)
		return false;
	init.send_cq = ibv_cq_ex_to_cq(tap->cq);
	init.recv_cq = ibv_cq_ex_to_cq(tap->cq);
	tap->e.qp = ibv_create_qp_ex(e->ctx, &init);
	return tap->e.qp && !raw_to_rts(tap->e.qp);
}

/* Begin to read the next completion. Return: 0 or an error number */
static int next_of(struct tap *tap)
{
	struct ibv_poll_cq_attr attr = { 0 };
	time_t end = deadline();
	int err;

	do
		err = ibv_start_poll(tap->cq, &attr);
	while (err == ENOENT && time(NULL) < end);
	return err;
}

static int free_tap(struct tap *tap)
{
	int err = ibv_destroy_qp(tap->e.qp);

	return err ? err : ibv_destroy_cq(ibv_cq_ex_to_cq(tap->cq));
}

TEST_F(ethernet, flow_tag)
{
	static const uint32_t tags[] = { 0xfedcba, 0, 1 };
	uint32_t len = put_frame(self->a.buf, 1, DPORT, 100);
	struct tap tap;

	ASSERT_TRUE(make_tap(&tap, &self->b, 0));
	for (size_t i = 0; i < ARRAY_SIZE(tags); i++) {
		struct rule rule = tcp_rule(DPORT);
		struct ibv_flow *flow;

		rule.tag = (struct ibv_flow_spec_action_tag){
			.type = IBV_FLOW_SPEC_ACTION_TAG,
			.size = sizeof(rule.tag),
			.tag_id = tags[i],
		};
		rule.attr.num_of_specs = tags[i] ? 4 : 3;
		flow = ibv_create_flow(tap.e.qp, &rule.attr);
		ASSERT_NE(flow, NULL);
		ASSERT_EQ(post_recv(&tap.e, i, RECV_AT, SLOT), 0);
		ASSERT_EQ(send_frame(&self->a, len, 0), IBV_WC_SUCCESS);
		ASSERT_EQ(next_of(&tap), 0);
		EXPECT_EQ(tap.cq->status, IBV_WC_SUCCESS);
		EXPECT_EQ(tap.cq->wr_id, i);
		EXPECT_EQ(ibv_wc_read_flow_tag(tap.cq), tags[i]);
		EXPECT_EQ(ibv_wc_read_cvlan(tap.cq), 0);
		ibv_end_poll(tap.cq);
		ASSERT_EQ(ibv_destroy_flow(flow), 0);
	}
	EXPECT_EQ(free_tap(&tap), 0);
}

#define VLAN_TAG 4
#define VLAN_TCI 0x6123

/* Between the addresses and the type */
static uint32_t put_tagged_frame(uint8_t *p)
{
	static const uint8_t tag[VLAN_TAG] = { 0x81, 0, VLAN_TCI >> 8,
					       VLAN_TCI & 0xff };
	uint32_t len = put_frame(p + VLAN_TAG, 1, DPORT, 100);

	memmove(p, p + VLAN_TAG, 12);
	memcpy(p + 12, tag, VLAN_TAG);
	return VLAN_TAG + len;
}

TEST_F(ethernet, vlan_stripped_from_qp)
{
	uint32_t len = put_tagged_frame(self->a.buf);
	const uint8_t *sent = self->a.buf, *got = self->b.buf + RECV_AT;
	struct rule rule = tcp_rule(DPORT);
	struct ibv_device_attr_ex attr;
	struct tap tap;

	ASSERT_EQ(ibv_query_device_ex(self->b.ctx, NULL, &attr), 0);
	EXPECT_NE(attr.raw_packet_caps & IBV_RAW_PACKET_CAP_CVLAN_STRIPPING, 0);
	for (int strip = 0; strip < 2; strip++) {
		uint32_t gone = strip ? VLAN_TAG : 0;

		ASSERT_TRUE(
			make_tap(&tap, &self->b,
				 strip ? IBV_QP_CREATE_CVLAN_STRIPPING : 0));
		self->flow = ibv_create_flow(tap.e.qp, &rule.attr);
		ASSERT_NE(self->flow, NULL);
		ASSERT_EQ(post_recv(&tap.e, 1, RECV_AT, SLOT), 0);
		ASSERT_EQ(send_frame(&self->a, len, 0), IBV_WC_SUCCESS);
		ASSERT_EQ(next_of(&tap), 0);
		EXPECT_EQ(tap.cq->status, IBV_WC_SUCCESS);
		EXPECT_EQ(ibv_wc_read_cvlan(tap.cq), VLAN_TCI);
		EXPECT_EQ(ibv_wc_read_byte_len(tap.cq), len - gone);
		EXPECT_EQ(memcmp(sent, got, 12), 0);
		EXPECT_EQ(memcmp(sent + 12 + gone, got + 12, len - 12 - gone),
			  0);
		ibv_end_poll(tap.cq);
		ASSERT_EQ(ibv_destroy_flow(self->flow), 0);
		self->flow = NULL;
		ASSERT_EQ(free_tap(&tap), 0);
	}
}

TEST_F(ethernet, bad_rules)
{
	struct ibv_qp *ud = make_qp(&self->a, IBV_QPT_UD);
	struct rule rule;

#define EXPECT_REFUSED(qp, err)                                     \
	do {                                                        \
		errno = 0;                                          \
		EXPECT_EQ(ibv_create_flow((qp), &rule.attr), NULL); \
		EXPECT_EQ(errno, (err));                            \
	} while (0)

	ASSERT_NE(ud, NULL);
	rule = tcp_rule(DPORT);
	EXPECT_REFUSED(ud, EOPNOTSUPP);
	rule.attr.port = 2;
	EXPECT_REFUSED(self->b.qp, EINVAL);
	rule = tcp_rule(DPORT);
	rule.attr.type = 4;
	EXPECT_REFUSED(self->b.qp, EINVAL);
	rule = tcp_rule(DPORT);
	rule.attr.flags = IBV_FLOW_ATTR_FLAGS_EGRESS;
	EXPECT_REFUSED(self->b.qp, EOPNOTSUPP);
	rule = tcp_rule(DPORT);
	rule.attr.flags = 1 << 5;
	EXPECT_REFUSED(self->b.qp, EINVAL);
	rule = tcp_rule(DPORT);
	rule.attr.type = IBV_FLOW_ATTR_ALL_DEFAULT;
	rule.attr.flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP;
	EXPECT_REFUSED(self->b.qp, EINVAL);
	rule = tcp_rule(DPORT);
	rule.tcp.type = 0x4f;
	EXPECT_REFUSED(self->b.qp, EINVAL);
	EXPECT_EQ(ibv_destroy_qp(ud), 0);
}

/* The device does not change packets, so there are no flow actions */
TEST_F(ethernet, no_flow_actions)
{
	struct ibv_flow_action_esp_attr esp = { 0 };

	EXPECT_EQ(ibv_create_flow_action_esp(self->b.ctx, &esp), NULL);
	EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(ethernet, rule_holds_qp)
{
	struct rule rule = tcp_rule(DPORT);

	self->flow = ibv_create_flow(self->b.qp, &rule.attr);
	ASSERT_NE(self->flow, NULL);
	EXPECT_EQ(ibv_destroy_qp(self->b.qp), EBUSY);
}

static struct ibv_qp *make_tso_qp(struct end *e)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.cap = { .max_send_wr = 8,
			 .max_recv_wr = 8,
			 .max_send_sge = 3,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_MAX_TSO_HEADER,
		.pd = e->pd,
		.max_tso_header = HEADERS,
	};

	return ibv_create_qp_ex(e->ctx, &init);
}

TEST_F(ethernet, tso)
{
	struct rule rule = tcp_rule(DPORT);
	struct ibv_device_attr_ex attr;
	struct ibv_sge sge[3];
	struct ibv_send_wr *bad, wr = {
		.wr_id = 7,
		.sg_list = sge,
		.num_sge = 3,
		.opcode = IBV_WR_TSO,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_IP_CSUM,
	};
	struct ibv_qp *qp = make_tso_qp(&self->a);
	struct ibv_wc wc;

	ASSERT_NE(qp, NULL);
	ASSERT_EQ(ibv_query_device_ex(self->a.ctx, NULL, &attr), 0);
	EXPECT_GE(attr.tso_caps.max_tso, 4000);
	EXPECT_NE(attr.tso_caps.supported_qpts & 1 << IBV_QPT_RAW_PACKET, 0);
	EXPECT_NE(attr.tso_caps.supported_qpts & 1 << IBV_QPT_UD, 0);
	EXPECT_NE(attr.raw_packet_caps & IBV_RAW_PACKET_CAP_IP_CSUM, 0);
	ASSERT_EQ(raw_to_rts(qp), 0);
	self->flow = ibv_create_flow(self->b.qp, &rule.attr);
	ASSERT_NE(self->flow, NULL);
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(post_recv(&self->b, i, RECV_AT + i * SLOT, SLOT), 0);
	}

	put_frame(self->a.buf, 1, DPORT, 3500);
	for (int i = 0; i < 3; i++)
		sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)self->a.buf + HEADERS + i * 1200,
			.length = i < 2 ? 1200 : 1100,
			.lkey = self->a.mr->lkey,
		};
	wr.tso.hdr = self->a.buf;
	wr.tso.hdr_sz = HEADERS;
	wr.tso.mss = 1000;
	ASSERT_EQ(ibv_post_send(qp, &wr, &bad), 0);
	ASSERT_TRUE(wait_wc(self->a.cq, &wc));
	EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc.opcode, IBV_WC_TSO);
	for (int i = 0; i < 4; i++) {
		uint8_t *frame = self->b.buf + RECV_AT + i * SLOT;
		uint32_t len = i < 3 ? 1000 : 500;

		ASSERT_TRUE(wait_wc(self->b.cq, &wc));
		EXPECT_EQ(wc.wr_id, i);
		EXPECT_EQ(wc.byte_len, HEADERS + len);
		EXPECT_EQ(wc.wc_flags & IBV_WC_IP_CSUM_OK, IBV_WC_IP_CSUM_OK);
		EXPECT_EQ(memcmp(frame + HEADERS,
				 self->a.buf + HEADERS + i * 1000, len),
			  0);
		/* PSH is in the last segment only */
		EXPECT_EQ(frame[ETH_LEN + IP_LEN + 13], i < 3 ? 0x10 : 0x18);
	}
	EXPECT_EQ(ibv_destroy_qp(qp), 0);
}

/*
 * struct rss - a QP that spreads frames over four WQs, all with the CQ of an end
 */
struct rss {
	struct ibv_wq *wq[4];
	struct ibv_rwq_ind_table *table;
	struct ibv_qp *qp;
};

static int wq_to(struct ibv_wq *wq, enum ibv_wq_state state)
{
	struct ibv_wq_attr attr = {
		.attr_mask = IBV_WQ_ATTR_STATE,
		.wq_state = state,
	};

	return ibv_modify_wq(wq, &attr);
}

static int post_wq(struct end *e, struct ibv_wq *wq, uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)e->buf + RECV_AT, SLOT, e->mr->lkey };
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ibv_post_wq_recv(wq, &wr, &bad);
}

static struct ibv_qp *make_rss_qp(struct end *e, struct rss *rss,
				  enum ibv_qp_type type, uint64_t fields,
				  uint8_t key_len)
{
	static uint8_t key[40] = {
		0x2c, 0xc6, 0x81, 0xd1, 0x5b, 0xdb, 0xf4, 0xf7, 0xfc, 0xa2,
	};
	struct ibv_qp_init_attr_ex init = {
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.pd = e->pd,
		.rwq_ind_tbl = rss->table,
		.rx_hash_conf = { .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
				  .rx_hash_key_len = key_len,
				  .rx_hash_key = key,
				  .rx_hash_fields_mask = fields },
	};

	return ibv_create_qp_ex(e->ctx, &init);
}

static bool make_rss(struct end *e, struct rss *rss)
{
	struct ibv_rwq_ind_table_init_attr init = {
		.log_ind_tbl_size = 2,
		.ind_tbl = rss->wq,
	};

	for (int i = 0; i < 4; i++) {
		rss->wq[i] = make_rq(e);
		if (!rss->wq[i])
			return false;
	}
	rss->table = ibv_create_rwq_ind_table(e->ctx, &init);
	if (!rss->table)
		return false;
	rss->qp = make_rss_qp(e, rss, IBV_QPT_RAW_PACKET, IBV_RX_HASH_SRC_IPV4,
			      40);
	return rss->qp;
}

static int free_rss(struct rss *rss)
{
	int err = ibv_destroy_qp(rss->qp);

	if (!err)
		err = ibv_destroy_rwq_ind_table(rss->table);
	for (int i = 0; i < 4 && !err; i++)
		err = ibv_destroy_wq(rss->wq[i]);
	return err;
}

TEST_F(ethernet, rss)
{
	struct rule rule = tcp_rule(DPORT);
	unsigned int used = 0, left = 16;
	uint32_t len;
	struct rss rss;
	struct ibv_wc wc;

	ASSERT_TRUE(make_rss(&self->b, &rss));
	self->flow = ibv_create_flow(rss.qp, &rule.attr);
	ASSERT_NE(self->flow, NULL);
	/* in RESET nothing can be posted */
	EXPECT_EQ(post_wq(&self->b, rss.wq[0], 0), EINVAL);
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(wq_to(rss.wq[i], IBV_WQS_RDY), 0);
		for (int k = 0; k < 16; k++) {
			ASSERT_EQ(post_wq(&self->b, rss.wq[i], i), 0);
		}
		EXPECT_EQ(post_wq(&self->b, rss.wq[i], i), ENOMEM);
	}
	for (int i = 0; i < 16; i++) {
		len = put_frame(self->a.buf, i, DPORT, 60);
		ASSERT_EQ(send_frame(&self->a, len, 0), IBV_WC_SUCCESS);
		ASSERT_TRUE(wait_wc(self->b.cq, &wc));
		ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
		EXPECT_EQ(wc.byte_len, len);
		EXPECT_EQ(wc.qp_num, rss.wq[wc.wr_id]->wq_num);
		EXPECT_EQ(memcmp(self->a.buf, self->b.buf + RECV_AT, len), 0);
		used |= 1 << wc.wr_id;
		left -= wc.wr_id == 0;
	}
	/* more than one, whichever they are */
	EXPECT_NE(used & (used - 1), 0);
	/* remaining requests are flushed */
	ASSERT_EQ(wq_to(rss.wq[0], IBV_WQS_ERR), 0);
	while (left--) {
		ASSERT_TRUE(wait_wc(self->b.cq, &wc));
		EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
		EXPECT_EQ(wc.qp_num, rss.wq[0]->wq_num);
	}
	ASSERT_EQ(post_wq(&self->b, rss.wq[0], 9), 0);
	ASSERT_TRUE(wait_wc(self->b.cq, &wc));
	EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(wq_to(rss.wq[0], IBV_WQS_RDY), EINVAL);
	EXPECT_EQ(wq_to(rss.wq[0], IBV_WQS_RESET), 0);
	EXPECT_EQ(wq_to(rss.wq[0], IBV_WQS_RDY), 0);
	EXPECT_EQ(post_wq(&self->b, rss.wq[0], 9), 0);

	ASSERT_EQ(ibv_destroy_flow(self->flow), 0);
	self->flow = NULL;
	EXPECT_EQ(free_rss(&rss), 0);
}

TEST_F(ethernet, rss_order_of_destruction)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct rss rss;

	ASSERT_TRUE(make_rss(&self->b, &rss));
	EXPECT_EQ(ibv_destroy_rwq_ind_table(rss.table), EBUSY);
	EXPECT_EQ(ibv_destroy_wq(rss.wq[3]), EBUSY);
	EXPECT_EQ(ibv_destroy_cq(self->b.cq), EBUSY);
	EXPECT_EQ(ibv_modify_qp(rss.qp, &attr, IBV_QP_STATE | IBV_QP_PORT),
		  EOPNOTSUPP);
	EXPECT_EQ(free_rss(&rss), 0);
}

TEST_F(ethernet, vlan_stripped_from_wq)
{
	uint32_t len = put_tagged_frame(self->a.buf);
	struct ibv_wq_attr attr = {
		.attr_mask = IBV_WQ_ATTR_FLAGS,
		.flags_mask = IBV_WQ_FLAGS_CVLAN_STRIPPING,
	};
	struct rule rule = tcp_rule(DPORT);
	struct ibv_wc wc;
	struct rss rss;

	ASSERT_TRUE(make_rss(&self->b, &rss));
	self->flow = ibv_create_flow(rss.qp, &rule.attr);
	ASSERT_NE(self->flow, NULL);
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(wq_to(rss.wq[i], IBV_WQS_RDY), 0);
		for (int k = 0; k < 3; k++) {
			ASSERT_EQ(post_wq(&self->b, rss.wq[i], i), 0);
		}
	}
	/* as it was made, then with, then without */
	for (int k = 0; k < 3; k++) {
		ASSERT_EQ(send_frame(&self->a, len, 0), IBV_WC_SUCCESS);
		ASSERT_TRUE(wait_wc(self->b.cq, &wc));
		EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
		EXPECT_EQ(wc.byte_len, k == 1 ? len - VLAN_TAG : len);
		attr.flags = k == 0 ? IBV_WQ_FLAGS_CVLAN_STRIPPING : 0;
		for (int i = 0; i < 4; i++) {
			ASSERT_EQ(ibv_modify_wq(rss.wq[i], &attr), 0);
		}
	}
	ASSERT_EQ(ibv_destroy_flow(self->flow), 0);
	self->flow = NULL;
	EXPECT_EQ(free_rss(&rss), 0);
}

TEST_F(ethernet, rss_refused)
{
	struct ibv_rwq_ind_table_init_attr init = { .log_ind_tbl_size = 8 };
	struct ibv_wq *wqs[256];
	struct ibv_wq_attr attr = { .attr_mask = IBV_WQ_ATTR_FLAGS };
	struct rss rss;

	ASSERT_TRUE(make_rss(&self->b, &rss));
	EXPECT_EQ(make_rss_qp(&self->b, &rss, IBV_QPT_UD, IBV_RX_HASH_SRC_IPV4,
			      40),
		  NULL);
	EXPECT_EQ(errno, EOPNOTSUPP);
	EXPECT_EQ(make_rss_qp(&self->b, &rss, IBV_QPT_RAW_PACKET,
			      IBV_RX_HASH_INNER, 40),
		  NULL);
	EXPECT_EQ(errno, EOPNOTSUPP);
	EXPECT_EQ(make_rss_qp(&self->b, &rss, IBV_QPT_RAW_PACKET,
			      IBV_RX_HASH_SRC_IPV4, 39),
		  NULL);
	EXPECT_EQ(errno, EINVAL);
	for (int i = 0; i < 256; i++)
		wqs[i] = rss.wq[i % 4];
	init.ind_tbl = wqs;
	EXPECT_EQ(ibv_create_rwq_ind_table(self->b.ctx, &init), NULL);
	EXPECT_EQ(errno, EINVAL);
	attr.flags = IBV_WQ_FLAGS_SCATTER_FCS;
	attr.flags_mask = IBV_WQ_FLAGS_SCATTER_FCS;
	EXPECT_EQ(ibv_modify_wq(rss.wq[0], &attr), EOPNOTSUPP);
	EXPECT_EQ(free_rss(&rss), 0);
}

TEST_HARNESS_MAIN
