// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Flow rules, and checksums of Ethernet frames */
#include "core/base/journal.h"
#include "harness_eth.h"

#define A 0x01010101
#define B 0x02020202
#define IP6_A "\xa0\xa1\0\0\0\0\0\0\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9"
#define IP6_B "\xb0\xb1\0\0\0\0\0\0\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9"

#define TCP 6
#define UDP 17
#define GRE 47
#define ESP 50

/* Frames to a multicast group, each with 100 bytes of data */

static struct eth_buf udp4(void)
{
	struct eth_buf buf;

	eth_begin(&buf, ETH_GROUP, 0x0800);
	eth_put_ipv4(&buf, A, B, UDP, 108);
	eth_put_udp(&buf, 1234, 5678, 100);
	eth_put_data(&buf, 100, 1);
	eth_fix(&buf, 14, 34);
	return buf;
}

static struct eth_buf tcp6(void)
{
	struct eth_buf buf;

	eth_begin(&buf, ETH_GROUP, 0x86dd);
	eth_put_ipv6(&buf, IP6_A, IP6_B, TCP, 120);
	eth_put_tcp(&buf, 1234, 5678, 7, 0x10);
	eth_put_data(&buf, 100, 2);
	eth_fix(&buf, 14, 54);
	return buf;
}

static struct eth_buf tagged(void)
{
	struct eth_buf buf;

	eth_begin(&buf, ETH_GROUP, 0x8100);
	eth_put16(&buf, 0x6123);
	eth_put16(&buf, 0x88b5);
	eth_put_data(&buf, 100, 3);
	return buf;
}

static void put_inner(struct eth_buf *buf, bool eth)
{
	if (eth) {
		eth_put(buf, "\x02\0\0\0\0\x0a", 6);
		eth_put(buf, "\x02\0\0\0\0\x0b", 6);
		eth_put16(buf, 0x0800);
	}
	eth_put_ipv4(buf, 0x0a000001, 0x0a000002, TCP, 120);
	eth_put_tcp(buf, 80, 443, 7, 0x10);
	eth_put_data(buf, 100, 4);
}

static struct eth_buf vxlan(void)
{
	struct eth_buf buf;

	eth_begin(&buf, ETH_GROUP, 0x0800);
	eth_put_ipv4(&buf, A, B, UDP, 8 + 8 + 14 + 140);
	eth_put_udp(&buf, 1234, 4789, 8 + 14 + 140);
	eth_put32(&buf, 0x08000000);
	eth_put32(&buf, 0x76adf1 << 8);
	put_inner(&buf, true);
	eth_fix(&buf, 14, 0);
	return buf;
}

static struct eth_buf gre(uint16_t flags)
{
	struct eth_buf buf;

	eth_begin(&buf, ETH_GROUP, 0x0800);
	eth_put_ipv4(&buf, A, B, GRE, 4 + (flags ? 4 : 0) + 140);
	eth_put16(&buf, flags);
	eth_put16(&buf, 0x0800);
	if (flags)
		eth_put32(&buf, 0x12345678);
	put_inner(&buf, false);
	eth_fix(&buf, 14, 0);
	return buf;
}

static struct eth_buf mpls(void)
{
	struct eth_buf buf;

	eth_begin(&buf, ETH_GROUP, 0x8847);
	eth_put32(&buf, 0x1234563f);
	eth_put32(&buf, 0xabcde13f);
	eth_put_ipv4(&buf, A, B, UDP, 108);
	eth_put_udp(&buf, 1234, 5678, 100);
	eth_put_data(&buf, 100, 1);
	return buf;
}

static struct eth_buf esp(void)
{
	struct eth_buf buf;

	eth_begin(&buf, ETH_GROUP, 0x0800);
	eth_put_ipv4(&buf, A, B, ESP, 100);
	eth_put32(&buf, 0xcafe0001);
	eth_put32(&buf, 0x00000007);
	eth_put_data(&buf, 92, 1);
	eth_fix(&buf, 14, 0);
	return buf;
}

/* Specs whose masks select all bits of a header */

static struct mynic_flow_spec spec(uint16_t type, const void *val, size_t len)
{
	struct mynic_flow_spec spec = { .type = type };

	memcpy(spec.val, val, len);
	memset(spec.mask, 0xff, len);
	return spec;
}

static struct mynic_flow_spec eth_spec(const void *dmac, uint16_t ethertype)
{
	struct mynic_flow_eth eth = { .ethertype = htobe16(ethertype) };
	struct mynic_flow_spec s;

	memcpy(eth.dmac, dmac, 6);
	memcpy(eth.smac, ETH_SENDER, 6);
	s = spec(MYNIC_FLOW_ETH, &eth, sizeof(eth));
	memset(s.mask + 14, 0, 2);
	return s;
}

static struct mynic_flow_spec ports(uint16_t type, uint16_t sport,
				    uint16_t dport)
{
	struct mynic_flow_ports ports = {
		.sport = htobe16(sport),
		.dport = htobe16(dport),
	};

	return spec(type, &ports, sizeof(ports));
}

static struct mynic_flow_spec ipv4(uint16_t type, uint32_t saddr,
				   uint32_t daddr, uint8_t proto)
{
	struct mynic_flow_ipv4 ip = {
		.saddr = htobe32(saddr),
		.daddr = htobe32(daddr),
		.proto = proto,
		.ttl = 64,
		.flags = 2,
	};

	return spec(type, &ip, sizeof(ip));
}

static struct mynic_flow_spec number(uint16_t type, uint32_t value)
{
	value = htobe32(value);
	return spec(type, &value, sizeof(value));
}

static void check_match(struct drv_pair *p, const struct eth_buf *frame,
			const struct mynic_flow_spec *specs, unsigned int num)
{
	struct mynic_create_flow body = { .flow_tag = 0xabc, .num_specs = num };
	uint32_t flow;

	CHECK_EQ(eth_flow(p->b.qp, body, specs, &flow), 0);
	eth_post(&p->b, num);
	eth_send_frame(&p->a, frame, 0);
	CHECK_EQ(eth_expect(&p->b, num, frame).flow_tag, 0xabc);
	CHECK_EQ(drv_number_cmd(p->b.d, MYNIC_CMD_DESTROY_FLOW, flow), 0);
}

/* The same with the first significant bit of the last spec inverted */
static void check_no_match(struct drv_pair *p, const struct eth_buf *frame,
			   const struct mynic_flow_spec *specs,
			   unsigned int num)
{
	struct mynic_create_flow body = { .num_specs = num };
	struct mynic_flow_spec other[8];
	uint64_t dropped = drv_stat(p->b.d, MYNIC_STAT_RX_ETH_DROPPED);
	struct mynic_flow_spec *last = &other[num - 1];
	unsigned int at = 0;
	uint32_t flow;

	memcpy(other, specs, num * sizeof(*specs));
	while (!last->mask[at])
		at++;
	last->val[at] ^= last->mask[at];
	CHECK_EQ(eth_flow(p->b.qp, body, other, &flow), 0);
	eth_send_frame(&p->a, frame, 0);
	drv_expect_none(p->b.recv_cq, SEC);
	CHECK_EQ(drv_stat(p->b.d, MYNIC_STAT_RX_ETH_DROPPED), dropped + 1);
	CHECK_EQ(drv_number_cmd(p->b.d, MYNIC_CMD_DESTROY_FLOW, flow), 0);
}

static void check_specs(struct drv_pair *p, const struct eth_buf *frame,
			const struct mynic_flow_spec *specs, unsigned int num)
{
	check_match(p, frame, specs, num);
	for (unsigned int i = 1; i <= num; i++)
		check_no_match(p, frame, specs, i);
}

TEST(flow_eth)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_flow_spec s = eth_spec(ETH_GROUP, 0x0800);
	struct eth_buf frame = udp4();

	check_specs(&p, &frame, &s, 1);
	/* the ethertype alone, and nothing at all */
	memset(s.mask, 0, 12);
	check_specs(&p, &frame, &s, 1);
	memset(s.mask, 0, sizeof(s.mask));
	check_match(&p, &frame, &s, 1);
	check_match(&p, &frame, &s, 0);
}

TEST(flow_vlan)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_flow_spec s = eth_spec(ETH_GROUP, 0x88b5);
	struct mynic_create_flow body = { .num_specs = 1 };
	struct eth_buf frame = tagged();
	struct eth_buf untagged = udp4();
	uint32_t flow;

	/* the ethertype behind the tag */
	check_specs(&p, &frame, &s, 1);
	memset(s.mask, 0, 14);
	memcpy(s.val + 14, "\x61\x23", 2);
	memcpy(s.mask + 14, "\x0f\xff", 2);
	check_specs(&p, &frame, &s, 1);
	/* VLAN 0 differs from no VLAN */
	memset(s.val + 14, 0, 2);
	CHECK_EQ(eth_flow(p.b.qp, body, &s, &flow), 0);
	eth_post(&p.b, 1);
	eth_send_frame(&p.a, &untagged, 0);
	drv_expect_none(p.b.recv_cq, SEC);
	frame.data[14] = 0;
	frame.data[15] = 0;
	eth_send_frame(&p.a, &frame, 0);
	eth_expect(&p.b, 1, &frame);
}

/*
 * A tag that the other NIC inserts is like one that was in the frame. This
 * holds on a wire with frames, and between NICs of a process.
 */
TEST(flow_vlan_inserted)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_flow_spec s = eth_spec(ETH_GROUP, 0x0800);
	struct mynic_create_flow body = { .num_specs = 1, .flow_tag = 7 };
	struct eth_buf frame = udp4();
	struct drv_wr wr = drv_send_wr(&p.a, frame.len);
	struct mynic_cqe cqe;

	memcpy(s.val + 14, "\x61\x23", 2);
	memset(s.mask + 14, 0xff, 2);
	CHECK_EQ(eth_flow(p.b.qp, body, &s, NULL), 0);
	memcpy(p.a.mr->ptr, frame.data, frame.len);
	eth_insert_tag(&frame, 0x6123);
	for (unsigned int i = 0; i < 2; i++) {
		p.sim->frames = i;
		eth_post(&p.b, i);
		/* none, another VLAN, another priority */
		wr.vlan = 0;
		drv_post_send(p.a.qp, &wr);
		wr.vlan = 0x6124;
		drv_post_send(p.a.qp, &wr);
		wr.vlan = 0x4123;
		drv_post_send(p.a.qp, &wr);
		drv_expect_none(p.b.recv_cq, SEC);
		wr.vlan = 0x6123;
		drv_post_send(p.a.qp, &wr);
		cqe = eth_expect(&p.b, i, &frame);
		CHECK_EQ(cqe.flow_tag, 7);
		CHECK_EQ(cqe.cvlan, 0x6123);
		CHECK_EQ(cqe.sl, 3);
		CHECK(cqe.wc_flags & IBV_WC_IP_CSUM_OK);
	}
}

TEST(flow_ipv4_udp)
{
	struct drv_pair p = eth_raw_pair();
	struct eth_buf frame = udp4();
	struct mynic_flow_spec s[] = {
		eth_spec(ETH_GROUP, 0x0800),
		ipv4(MYNIC_FLOW_IPV4, A, B, UDP),
		ports(MYNIC_FLOW_UDP, 1234, 5678),
	};

	check_specs(&p, &frame, s, 3);
	check_specs(&p, &frame, s + 1, 1);
	check_specs(&p, &frame, s + 2, 1);
	/* a wrong checksum of IPv4 does not matter here */
	frame.data[24] ^= 0xff;
	check_specs(&p, &frame, s, 3);
}

TEST(flow_ipv6_tcp)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_flow_ipv6 ip = {
		.flow_label = htobe32(0x12345),
		.next_header = TCP,
		.traffic_class = 0xa5,
		.hop_limit = 64,
	};
	struct eth_buf frame = tcp6();
	struct mynic_flow_spec s[3];

	memcpy(ip.saddr, IP6_A, 16);
	memcpy(ip.daddr, IP6_B, 16);
	s[0] = eth_spec(ETH_GROUP, 0x86dd);
	s[1] = spec(MYNIC_FLOW_IPV6, &ip, 39);
	s[2] = ports(MYNIC_FLOW_TCP, 1234, 5678);
	check_specs(&p, &frame, s, 3);
}

TEST(flow_of_other_kinds)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_create_flow body = { .num_specs = 1 };
	struct mynic_flow_spec s[] = {
		{ .type = MYNIC_FLOW_IPV6 },
		{ .type = MYNIC_FLOW_TCP },
		{ .type = MYNIC_FLOW_ESP },
		{ .type = MYNIC_FLOW_VXLAN },
		{ .type = MYNIC_FLOW_GRE },
		{ .type = MYNIC_FLOW_MPLS },
		{ .type = MYNIC_FLOW_ETH | MYNIC_FLOW_INNER },
		{ .type = MYNIC_FLOW_IPV4 | MYNIC_FLOW_INNER },
		{ .type = MYNIC_FLOW_UDP | MYNIC_FLOW_INNER },
	};
	struct eth_buf frame = udp4();

	/* a spec without a mask still demands its header */
	for (unsigned int i = 0; i < ARRAY_SIZE(s); i++)
		CHECK_EQ(eth_flow(p.b.qp, body, &s[i], NULL), 0);
	eth_post(&p.b, 1);
	eth_send_frame(&p.a, &frame, 0);
	drv_expect_none(p.b.recv_cq, SEC);
}

TEST(flow_tunnels)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_flow_gre g = {
		.flags = htobe16(0x2000),
		.protocol = htobe16(0x0800),
		.key = htobe32(0x12345678),
	};
	struct mynic_flow_eth e = { .ethertype = htobe16(0x0800) };
	struct mynic_flow_spec s[] = {
		ipv4(MYNIC_FLOW_IPV4, A, B, UDP),
		number(MYNIC_FLOW_VXLAN, 0x76adf1),
		spec(MYNIC_FLOW_ETH | MYNIC_FLOW_INNER, &e, 14),
		ipv4(MYNIC_FLOW_IPV4 | MYNIC_FLOW_INNER, 0x0a000001, 0x0a000002,
		     TCP),
		ports(MYNIC_FLOW_TCP | MYNIC_FLOW_INNER, 80, 443),
	};
	struct mynic_create_flow body = { .num_specs = 1 };
	struct eth_buf frame = vxlan();
	uint32_t flow;

	memcpy(s[2].val, "\x02\0\0\0\0\x0a\x02\0\0\0\0\x0b", 12);
	check_specs(&p, &frame, s, 5);
	s[0] = ipv4(MYNIC_FLOW_IPV4, A, B, GRE);
	s[1] = spec(MYNIC_FLOW_GRE, &g, sizeof(g));
	s[2] = s[3];
	s[3] = s[4];
	frame = gre(0x2000);
	check_specs(&p, &frame, s, 4);
	/* a missing key differs from the key 0 */
	frame = gre(0);
	s[1] = (struct mynic_flow_spec){ .type = MYNIC_FLOW_GRE };
	check_specs(&p, &frame, s + 2, 2);
	check_match(&p, &frame, s, 4);
	memset(s[1].mask + 4, 0xff, 4);
	CHECK_EQ(eth_flow(p.b.qp, body, s + 1, &flow), 0);
	eth_send_frame(&p.a, &frame, 0);
	drv_expect_none(p.b.recv_cq, SEC);
}

TEST(flow_mpls_and_esp)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_flow_spec s[] = {
		number(MYNIC_FLOW_MPLS, 0x1234563f),
		ipv4(MYNIC_FLOW_IPV4, A, B, UDP),
	};
	struct mynic_flow_esp e = { .spi = htobe32(0xcafe0001),
				    .seq = htobe32(7) };
	struct eth_buf frame = mpls();

	check_specs(&p, &frame, s, 2);
	s[0] = spec(MYNIC_FLOW_ESP, &e, sizeof(e));
	frame = esp();
	check_specs(&p, &frame, s, 1);
}

/* Truncated frames do not match, and nothing is read beyond their end */
TEST(flow_truncated_frames)
{
	struct drv_pair p = eth_raw_pair();
	struct eth_buf frames[] = { udp4(),	 tcp6(), tagged(), vxlan(),
				    gre(0x2000), mpls(), esp() };
	struct mynic_flow_spec none = { .type = MYNIC_FLOW_ESP |
						MYNIC_FLOW_INNER };
	struct mynic_create_flow body = { .num_specs = 1 };

	CHECK_EQ(eth_flow(p.b.qp, body, &none, NULL), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(frames); i++) {
		while (frames[i].len > 14) {
			frames[i].len--;
			eth_send_frame(&p.a, &frames[i], IBV_SEND_IP_CSUM);
		}
	}
	drv_expect_none(p.b.recv_cq, SEC);
}

static void set_rx(struct drv_end *end, uint32_t flags)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_SET_RX,
		.number = end->qp->number,
		.set_rx.flags = flags,
	};

	CHECK_EQ(drv_admin_in(end->d, &cmd, NULL, "", 0), 0);
}

static struct drv_end second_end(struct drv_end *end)
{
	struct drv_end other = *end;
	struct drv_qp_init init = {
		.type = MYNIC_QP_RAW_PACKET,
		.pdn = end->pdn,
	};

	other.cq = drv_create_cq(end->d, 6);
	other.recv_cq = drv_create_cq(end->d, 6);
	init.send_cq = other.cq;
	init.recv_cq = other.recv_cq;
	other.qp = drv_create_qp(end->d, &init);
	other.mr = drv_reg_mr(end->d, end->pdn, DRV_PAIR_MEM,
			      IBV_ACCESS_LOCAL_WRITE);
	eth_raw_up(other.qp);
	return other;
}

TEST(flow_before_receiver_and_defaults_behind)
{
	struct drv_pair p = eth_raw_pair();
	struct drv_end user = second_end(&p.b);
	struct mynic_flow_spec s = eth_spec(ETH_GROUP, 0x0800);
	struct mynic_create_flow normal = { .num_specs = 1 };
	struct mynic_create_flow rest = { .type = MYNIC_FLOW_ALL_DEFAULT };
	struct eth_buf frame = udp4();
	struct eth_buf stranger = udp4();
	struct eth_buf other = tcp6();
	uint32_t flow;

	memcpy(stranger.data, "\x02\x11\x22\x33\x44\x55", 6);
	set_rx(&p.b, MYNIC_RX_ENABLE | MYNIC_RX_ALLMULTI);
	CHECK_EQ(eth_flow(user.qp, normal, &s, &flow), 0);
	CHECK_EQ(eth_flow(user.qp, rest, NULL, NULL), 0);
	/* the user gets what the rule matches, and the receiver other groups */
	eth_post(&user, 1);
	eth_send_frame(&p.a, &frame, 0);
	eth_expect(&user, 1, &frame);
	eth_post(&p.b, 2);
	eth_send_frame(&p.a, &other, 0);
	eth_expect(&p.b, 2, &other);
	/* the default gets the rest */
	eth_post(&user, 3);
	eth_send_frame(&p.a, &stranger, 0);
	eth_expect(&user, 3, &stranger);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_FLOW, flow), 0);
	eth_post(&p.b, 4);
	eth_send_frame(&p.a, &frame, 0);
	eth_expect(&p.b, 4, &frame);
	drv_expect_none(user.recv_cq, SEC);
}

TEST(flow_multicast_default)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_create_flow body = { .type = MYNIC_FLOW_MC_DEFAULT };
	struct eth_buf frame = udp4();
	struct eth_buf unicast = udp4();

	memcpy(unicast.data, "\x02\x11\x22\x33\x44\x55", 6);
	CHECK_EQ(eth_flow(p.b.qp, body, NULL, NULL), 0);
	eth_post(&p.b, 1);
	eth_send_frame(&p.a, &unicast, 0);
	drv_expect_none(p.b.recv_cq, SEC);
	eth_send_frame(&p.a, &frame, 0);
	eth_expect(&p.b, 1, &frame);
}

TEST(flow_priorities)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_flow_spec s = eth_spec(ETH_GROUP, 0x0800);
	struct eth_buf frame = udp4();
	static const uint16_t priorities[] = { 7, 65535, 3, 3, 5 };
	uint32_t flow[5];
	/* number of the rule that is next when earlier ones are gone */
	static const unsigned int order[] = { 2, 3, 4, 0, 1 };

	for (unsigned int i = 0; i < 5; i++) {
		struct mynic_create_flow body = {
			.priority = priorities[i],
			.flow_tag = i + 1,
			.num_specs = 1,
		};

		CHECK_EQ(eth_flow(p.b.qp, body, &s, &flow[i]), 0);
	}
	for (unsigned int i = 0; i < 5; i++) {
		eth_post(&p.b, i);
		eth_send_frame(&p.a, &frame, 0);
		CHECK_EQ(eth_expect(&p.b, i, &frame).flow_tag, order[i] + 1);
		drv_expect_none(p.b.recv_cq, SEC);
		CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_FLOW,
					flow[order[i]]),
			 0);
	}
}

/* The oldest of equal rules gets a frame, whichever others were destroyed */
TEST(flow_equal_priorities)
{
	/* rule to be destroyed, and the oldest one afterwards */
	static const unsigned int gone[] = { 5, 1, 3, 0, 2 };
	static const unsigned int oldest[] = { 0, 0, 0, 2, 4 };
	struct drv_pair p = eth_raw_pair();
	struct mynic_flow_spec s = eth_spec(ETH_GROUP, 0x0800);
	struct eth_buf frame = udp4();
	uint32_t flow[6];

	for (unsigned int i = 0; i < ARRAY_SIZE(flow); i++) {
		struct mynic_create_flow body = { .flow_tag = i + 1,
						  .num_specs = 1 };

		CHECK_EQ(eth_flow(p.b.qp, body, &s, &flow[i]), 0);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(gone); i++) {
		CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_FLOW,
					flow[gone[i]]),
			 0);
		eth_post(&p.b, i);
		eth_send_frame(&p.a, &frame, 0);
		CHECK_EQ(eth_expect(&p.b, i, &frame).flow_tag, oldest[i] + 1);
		drv_expect_none(p.b.recv_cq, SEC);
	}
}

TEST(flow_drop)
{
	struct drv_pair p = eth_raw_pair();
	struct drv_end user = second_end(&p.b);
	struct mynic_create_flow body = { .flags = MYNIC_FLOW_DROP,
					  .num_specs = 1 };
	struct mynic_flow_spec s = ports(MYNIC_FLOW_UDP, 1234, 5678);
	struct eth_buf frame = udp4();
	struct eth_buf other = tcp6();
	uint64_t dropped;

	set_rx(&p.b, MYNIC_RX_ENABLE | MYNIC_RX_PROMISC);
	CHECK_EQ(eth_flow(user.qp, body, &s, NULL), 0);
	CHECK(nic_keep_journal(p.b.d->n->nic, true));
	eth_post(&p.b, 1);
	eth_post(&user, 2);
	dropped = drv_stat(p.b.d, MYNIC_STAT_RX_ETH_DROPPED);
	eth_send_frame(&p.a, &frame, 0);
	drv_expect_none(p.b.recv_cq, SEC);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_RX_ETH_DROPPED), dropped + 1);
	CHECK_EQ(nic_journal(p.b.d->n->nic)->num, 0);
	eth_send_frame(&p.a, &other, 0);
	eth_expect(&p.b, 1, &other);
	drv_expect_none(user.recv_cq, SEC);
}

TEST(flow_copies)
{
	struct drv_pair p = eth_raw_pair();
	struct drv_end first = second_end(&p.b);
	struct drv_end second = second_end(&p.b);
	struct drv_end sniffer = second_end(&p.b);
	struct mynic_create_flow copy = { .flags = MYNIC_FLOW_DONT_TRAP };
	struct mynic_create_flow normal = { .priority = 1 };
	struct mynic_create_flow sniff = { .type = MYNIC_FLOW_SNIFFER,
					   .flow_tag = 9 };
	struct eth_buf frame = udp4();

	set_rx(&p.b, MYNIC_RX_ENABLE | MYNIC_RX_PROMISC);
	CHECK_EQ(eth_flow(first.qp, copy, NULL, NULL), 0);
	CHECK_EQ(eth_flow(second.qp, normal, NULL, NULL), 0);
	CHECK_EQ(eth_flow(sniffer.qp, sniff, NULL, NULL), 0);
	CHECK_EQ(eth_flow(p.b.qp, sniff, NULL, NULL), 0);
	eth_post(&first, 1);
	eth_post(&second, 2);
	eth_post(&sniffer, 3);
	eth_post(&p.b, 4);
	eth_send_frame(&p.a, &frame, 0);
	eth_expect(&first, 1, &frame);
	eth_expect(&second, 2, &frame);
	eth_expect(&sniffer, 3, &frame);
	/* once as a sniffer; as the port's receiver it comes too late */
	CHECK_EQ(eth_expect(&p.b, 4, &frame).flow_tag, 9);
	drv_expect_none(p.b.recv_cq, SEC);
	/* a QP without a receive request does not affect others */
	eth_post(&second, 5);
	eth_send_frame(&p.a, &frame, 0);
	eth_expect(&second, 5, &frame);
}

/*
 * Multicast frames also go to rules of the sending NIC, but not back to the
 * sender
 */
TEST(flow_own_multicast)
{
	struct drv_pair p = eth_raw_pair();
	struct drv_end user = second_end(&p.a);
	struct mynic_create_flow body = { .num_specs = 1 };
	struct mynic_flow_spec s = eth_spec(ETH_GROUP, 0x0800);
	struct eth_buf frame = udp4();
	struct eth_buf unicast = udp4();

	set_rx(&p.a, MYNIC_RX_ENABLE | MYNIC_RX_PROMISC);
	CHECK_EQ(eth_flow(user.qp, body, &s, NULL), 0);
	CHECK_EQ(eth_flow(p.b.qp, body, &s, NULL), 0);
	eth_post(&p.a, 1);
	eth_post(&user, 2);
	eth_post(&p.b, 3);
	eth_send_frame(&p.a, &frame, 0);
	eth_expect(&user, 2, &frame);
	eth_expect(&p.b, 3, &frame);
	drv_expect_none(p.a.recv_cq, SEC);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RX_PACKETS), 0);
	memcpy(unicast.data, "\x02\x11\x22\x33\x44\x55", 6);
	s = eth_spec(unicast.data, 0x0800);
	CHECK_EQ(eth_flow(user.qp, body, &s, NULL), 0);
	eth_post(&user, 4);
	eth_send_frame(&p.a, &unicast, 0);
	drv_expect_none(user.recv_cq, SEC);
	/* to itself, and too long for the port */
	s = eth_spec(ETH_GROUP, 0x0800);
	CHECK_EQ(eth_flow(p.a.qp, body, &s, NULL), 0);
	frame.len = 9234;
	eth_send_frame(&p.a, &frame, 0);
	drv_expect_none(user.recv_cq, SEC);
}

TEST(flow_counts)
{
	struct drv_pair p = eth_raw_pair();
	struct drv *d = p.b.d;
	uint32_t set = drv_create_counters(d), drop, take;
	struct mynic_flow_spec s = eth_spec(ETH_GROUP, 0x0800);
	struct mynic_create_flow body = {
		.num_specs = 1,
		.flags = MYNIC_FLOW_DROP,
		.counters = set,
	};
	struct eth_buf frame = udp4();

	/* Rules that drop, conflict, or exceed the limit of the QP */
	CHECK_EQ(eth_flow(p.b.qp, body, &s, &drop), 0);
	eth_send_frame(&p.a, &frame, 0);
	sim_settle(p.sim);
	CHECK_EQ(drv_counter(d, set, MYNIC_STAT_RX_PACKETS), 1);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_FLOW, drop), 0);
	body.flags = 0;
	CHECK_EQ(eth_flow(p.b.qp, body, &s, &take), 0);
	eth_post(&p.b, 1);
	eth_send_frame(&p.a, &frame, 0);
	eth_expect(&p.b, 1, &frame);
	eth_send_frame(&p.a, &frame, 0);
	sim_settle(p.sim);
	CHECK_EQ(drv_counter(d, set, MYNIC_STAT_RX_PACKETS), 3);
	CHECK_EQ(drv_counter(d, set, MYNIC_STAT_RX_BYTES), 3 * frame.len);

	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_COUNTERS, set),
		 MYNIC_AQ_BUSY);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_FLOW, take), 0);
	eth_send_frame(&p.a, &frame, 0);
	sim_settle(p.sim);
	CHECK_EQ(drv_counter(d, set, MYNIC_STAT_RX_PACKETS), 3);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_COUNTERS, set), 0);
	CHECK_EQ(eth_flow(p.b.qp, body, &s, NULL), MYNIC_AQ_BAD_NUMBER);
}

TEST(flow_bad_commands)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_flow_spec s = eth_spec(ETH_GROUP, 0x0800);
	struct mynic_create_flow body = { .num_specs = 1 };
	struct mynic_create_flow bad;
	struct mynic_flow_spec many[MYNIC_FLOW_MAX_SPECS + 1] = { 0 };
	struct mynic_flow_spec bad_spec;
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_FLOW };
	uint32_t flow;

	for (int i = 0; i <= MYNIC_FLOW_MAX_SPECS; i++)
		many[i] = s;
	bad = body;
	bad.num_specs = MYNIC_FLOW_MAX_SPECS;
	CHECK_EQ(eth_flow(p.b.qp, bad, many, &flow), 0);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_FLOW, flow), 0);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_FLOW, flow),
		 MYNIC_AQ_BAD_NUMBER);
	bad.num_specs = MYNIC_FLOW_MAX_SPECS + 1;
	CHECK(eth_flow(p.b.qp, bad, many, NULL));

	bad = body;
	bad.type = 4;
	CHECK_EQ(eth_flow(p.b.qp, bad, &s, NULL), MYNIC_AQ_NOT_SUPPORTED);
	bad = body;
	bad.flags = 4;
	CHECK_EQ(eth_flow(p.b.qp, bad, &s, NULL), MYNIC_AQ_NOT_SUPPORTED);
	bad.flags = MYNIC_FLOW_DROP | MYNIC_FLOW_DONT_TRAP;
	CHECK_EQ(eth_flow(p.b.qp, bad, &s, NULL), MYNIC_AQ_BAD_PARAM);
	bad.flags = MYNIC_FLOW_DONT_TRAP;
	bad.type = MYNIC_FLOW_SNIFFER;
	CHECK_EQ(eth_flow(p.b.qp, bad, &s, NULL), MYNIC_AQ_BAD_PARAM);
	bad = body;
	bad.reserved_0d[0] = 1;
	CHECK_EQ(eth_flow(p.b.qp, bad, &s, NULL), MYNIC_AQ_BAD_PARAM);

	static const uint16_t types[] = { 0,	 0x21,	0x32,	0x42,
					  0x150, 0x151, 0x1000, 0x2020 };
	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		bad_spec = (struct mynic_flow_spec){ .type = types[i] };
		CHECK_EQ(eth_flow(p.b.qp, body, &bad_spec, NULL),
			 MYNIC_AQ_NOT_SUPPORTED);
	}
	bad_spec = s;
	bad_spec.reserved_02[5] = 1;
	CHECK_EQ(eth_flow(p.b.qp, body, &bad_spec, NULL), MYNIC_AQ_BAD_PARAM);
	bad_spec = s;
	bad_spec.mask[16] = 1;
	CHECK_EQ(eth_flow(p.b.qp, body, &bad_spec, NULL), MYNIC_AQ_BAD_PARAM);
	bad_spec = (struct mynic_flow_spec){ .type = MYNIC_FLOW_IPV6 };
	bad_spec.val[39] = 1;
	CHECK_EQ(eth_flow(p.b.qp, body, &bad_spec, NULL), MYNIC_AQ_BAD_PARAM);

	/* fewer specs in the mailbox than the body says, and no such QP */
	cmd.create_flow = body;
	cmd.create_flow.qpn = p.b.qp->number;
	CHECK_EQ(drv_admin_in(p.b.d, &cmd, NULL, &s, sizeof(s) - 1),
		 MYNIC_AQ_BAD_PARAM);
	cmd.create_flow.qpn = 0xfffff;
	CHECK_EQ(drv_admin_in(p.b.d, &cmd, NULL, &s, sizeof(s)),
		 MYNIC_AQ_BAD_NUMBER);
}

TEST(flow_needs_raw_packet_qp_and_holds_it)
{
	struct drv_pair p = eth_raw_pair();
	struct drv_pair ud = drv_ud_pair();
	struct mynic_create_flow body = { 0 };
	uint32_t flow;

	CHECK_EQ(eth_flow(ud.a.qp, body, NULL, NULL), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(eth_flow(p.b.qp, body, NULL, &flow), 0);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_QP, p.b.qp->number),
		 MYNIC_AQ_BUSY);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_FLOW, flow), 0);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_QP, p.b.qp->number),
		 0);
}

TEST(flow_limit_and_reset)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_create_flow body = { .type = MYNIC_FLOW_MC_DEFAULT };

	for (uint32_t i = 0; i < p.b.d->attr.max_flow; i++)
		CHECK_EQ(eth_flow(p.b.qp, body, NULL, NULL), 0);
	CHECK_EQ(eth_flow(p.b.qp, body, NULL, NULL), MYNIC_AQ_NO_RESOURCE);
	drv_reset(p.b.d->n);
}

static bool csum_ok(struct drv_pair *p, const struct eth_buf *frame)
{
	eth_post(&p->b, 1);
	eth_send_frame(&p->a, frame, 0);
	return eth_expect(&p->b, 1, frame).wc_flags & IBV_WC_IP_CSUM_OK;
}

TEST(csum_received)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_create_flow body = { 0 };
	struct eth_buf frames[] = { udp4(), tcp6() };
	struct eth_buf frame = esp();

	CHECK_EQ(eth_flow(p.b.qp, body, NULL, NULL), 0);
	/* each bit behind the Ethernet header is covered, more or less */
	for (unsigned int i = 0; i < 2; i++) {
		CHECK(csum_ok(&p, &frames[i]));
		frames[i].data[frames[i].len - 1] ^= 1;
		CHECK(!csum_ok(&p, &frames[i]));
		frames[i].data[frames[i].len - 1] ^= 1;
		frames[i].data[30] ^= 0x10;
		CHECK(!csum_ok(&p, &frames[i]));
		frames[i].data[30] ^= 0x10;
		/* bytes after the packet are padding of the wire */
		frames[i].len += 7;
		CHECK(csum_ok(&p, &frames[i]));
		frames[i].len -= 7 + 1;
		CHECK(!csum_ok(&p, &frames[i]));
	}
	/* neither UDP nor TCP: not known */
	CHECK(!csum_ok(&p, &frame));
	frame = tagged();
	CHECK(!csum_ok(&p, &frame));
	/* a fragment: not known */
	frame = udp4();
	frame.data[20] = 0x20;
	eth_fix(&frame, 14, 0);
	CHECK(!csum_ok(&p, &frame));
	/* UDP without a checksum */
	frame = udp4();
	frame.data[40] = 0;
	frame.data[41] = 0;
	CHECK(csum_ok(&p, &frame));
}

TEST(csum_sent)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_create_flow body = { 0 };
	struct eth_buf frames[] = { udp4(),	 tcp6(), tagged(),
				    gre(0x2000), esp(),	 mpls() };
	struct eth_buf zeroed;
	struct drv_wr wr = {
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE | IBV_SEND_IP_CSUM,
		.inline_len = 60,
	};

	CHECK_EQ(eth_flow(p.b.qp, body, NULL, NULL), 0);
	eth_fix(&frames[5], 22, 42);
	for (unsigned int i = 0; i < 6; i++) {
		zeroed = frames[i];
		if (i == 0)
			memset(zeroed.data + 40, 0x55, 2);
		if (i == 1)
			memset(zeroed.data + 14 + 40 + 16, 0x55, 2);
		if (i == 0 || i == 3 || i == 4)
			memset(zeroed.data + 24, 0xaa, 2);
		if (i == 5)
			memset(zeroed.data + 32, 0xaa, 2);
		eth_post(&p.b, i);
		eth_send_frame(&p.a, &zeroed, IBV_SEND_IP_CSUM);
		eth_expect(&p.b, i, &frames[i]);
		/* the host's memory does not change */
		CHECK_MEM(p.a.mr->ptr, zeroed.data, zeroed.len);
	}
	/* inline: a UDP packet of 18 bytes of data */
	eth_begin(&zeroed, ETH_GROUP, 0x0800);
	eth_put_ipv4(&zeroed, A, B, UDP, 26);
	eth_put_udp(&zeroed, 1, 2, 18);
	eth_put_data(&zeroed, 18, 5);
	eth_post(&p.b, 9);
	wr.inline_data = zeroed.data;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, 0, IBV_WC_SUCCESS);
	eth_fix(&zeroed, 14, 34);
	eth_expect(&p.b, 9, &zeroed);
}

/* The sum of such a UDP packet is 0, which would mean that there is none */
TEST(csum_zero)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_create_flow body = { 0 };
	struct eth_buf frame;
	uint16_t sum;

	CHECK_EQ(eth_flow(p.b.qp, body, NULL, NULL), 0);
	eth_begin(&frame, ETH_GROUP, 0x0800);
	eth_put_ipv4(&frame, A, B, UDP, 10);
	eth_put_udp(&frame, 1, 2, 2);
	eth_put16(&frame, 0);
	sum = ~eth_csum(&frame, 14, 34);
	frame.data[42] = sum >> 8;
	frame.data[43] = sum;
	eth_post(&p.b, 1);
	eth_send_frame(&p.a, &frame, IBV_SEND_IP_CSUM);
	eth_fix(&frame, 14, 0);
	frame.data[40] = 0xff;
	frame.data[41] = 0xff;
	eth_expect(&p.b, 1, &frame);
}

TEST(csum_flag_elsewhere)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = {
		.wr_id = 1,
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED | IBV_SEND_IP_CSUM,
	};

	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(drv_expect(p.a.cq, 1, IBV_WC_LOC_QP_OP_ERR).vendor_err,
		 MYNIC_SYN_BAD_FLAGS);
}
