// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* TSO requests, on RAW_PACKET and UD QPs */
#include "harness_eth.h"

#define TCP 6
#define FIN 0x01
#define PSH 0x08
#define ACK 0x10
#define CWR 0x80
#define QKEY 0x11223344
#define GRH_LEN 40
/* Of a RoCEv2 packet, as they count for the rate */
#define ROCE_HEADERS 78
#define KBPS 10000

/*
 * Post a request with the header @hdr and @len bytes from the start of the
 * memory
 */
static void post_tso(struct drv_end *end, struct drv_wr wr, const void *hdr,
		     uint16_t hdr_len, uint16_t mss)
{
	struct mynic_send_wqe *wqe;
	uint8_t *data;

	wr.opcode = IBV_WR_TSO;
	wr.flags |= IBV_SEND_SIGNALED;
	wqe = drv_write_wqe(end->qp, &wr);
	wqe->mss = mss;
	wqe->hdr_len = hdr_len;
	data = (uint8_t *)wqe + MYNIC_WQE_DATA_EXT;
	memmove(data + (hdr_len + 15) / 16 * 16, data,
		wr.num_sge * sizeof(wr.sge[0]));
	memcpy(data, hdr, hdr_len);
	drv_ring(end->qp);
}

static struct drv_wr one_sge(struct drv_end *end, uint32_t len)
{
	return (struct drv_wr){
		.wr_id = DRV_WR_ID,
		.num_sge = 1,
		.sge = { drv_sge(end->mr, 0, len) },
	};
}

static struct drv_pair raw_pair(void)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_create_flow body = { 0 };

	CHECK_EQ(eth_flow(p.b.qp, body, NULL, NULL), 0);
	return p;
}

enum form {
	IPV6 = 1,
	MORE = 2,
	INSERTED = 4, /* the device inserts a tag in front */
};

/*
 * Make the header of a TSO request, with @len as length of its IP packet. MORE
 * adds a VLAN tag and options.
 */
static void put_header(struct eth_buf *buf, unsigned int form, uint32_t id,
		       uint32_t seq, uint8_t flags, uint16_t len)
{
	bool ipv6 = form & IPV6;
	bool more = form & MORE;
	uint32_t tcp_len = more ? 32 : 20;
	uint32_t ip;

	if (more) {
		eth_begin(buf, ETH_GROUP, 0x8100);
		eth_put16(buf, 0x6123);
		eth_put16(buf, ipv6 ? 0x86dd : 0x0800);
	} else {
		eth_begin(buf, ETH_GROUP, ipv6 ? 0x86dd : 0x0800);
	}
	ip = buf->len;
	if (ipv6) {
		eth_put_ipv6(buf, "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1",
			     "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2", TCP,
			     tcp_len + len);
	} else {
		eth_put_ipv4(buf, 0x0a000001, 0x0a000002, TCP, tcp_len + len);
		buf->data[ip + 4] = id >> 8;
		buf->data[ip + 5] = id;
	}
	eth_put_tcp(buf, 80, 1234, seq, flags);
	if (!more)
		return;
	buf->data[buf->len - 20 + 12] = 0x80;
	eth_put(buf, "\1\1\x08\x0a\0\0\0\1\0\0\0\2", 12);
}

static void check_raw(unsigned int form, uint32_t len, uint16_t mss,
		      uint16_t template_len)
{
	bool ipv6 = form & IPV6;
	bool more = form & MORE;
	struct drv_pair p = raw_pair();
	struct drv_wr wr = one_sge(&p.a, len);
	struct eth_buf header, want;
	uint32_t num = len ? (len + mss - 1) / mss : 1;
	uint32_t ip = more ? 18 : 14;
	uint32_t tcp = ip + (ipv6 ? 40 : 20);

	drv_fill(p.a.mr->ptr, len, len);
	put_header(&header, form, 0xfffe, 0xffffff00, CWR | ACK | PSH | FIN,
		   template_len);
	for (uint32_t i = 0; i < num; i++)
		eth_post(&p.b, i);
	if (form & INSERTED)
		wr.vlan = 0xe00b;
	post_tso(&p.a, wr, header.data, header.len, mss);
	for (uint32_t i = 0; i < num; i++) {
		uint32_t n = i + 1 < num ? mss : len - i * mss;
		uint8_t flags = ACK;

		if (i == 0)
			flags |= CWR;
		if (i + 1 == num)
			flags |= PSH | FIN;
		put_header(&want, form, 0xfffe + i, 0xffffff00 + i * mss, flags,
			   n);
		eth_put(&want, p.a.mr->ptr + i * mss, n);
		eth_fix(&want, ip, tcp);
		if (form & INSERTED)
			eth_insert_tag(&want, wr.vlan);
		CHECK(eth_expect(&p.b, i, &want).wc_flags & IBV_WC_IP_CSUM_OK);
	}
	CHECK_EQ(drv_expect(p.a.cq, DRV_WR_ID, 0).opcode, IBV_WC_TSO);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TX_ETH_PACKETS), num);
}

TEST(tso_ipv4)
{
	check_raw(0, 5000, 1000, 0);
	check_raw(MORE, 4999, 1000, 4999);
	check_raw(0, 1, 1448, 40000);
}

TEST(tso_ipv6)
{
	check_raw(IPV6, 5000, 1000, 0);
	check_raw(IPV6 | MORE, 4999, 1001, 3);
}

/* One segment, only a header, and as many segments as the memory has */
TEST(tso_lengths)
{
	check_raw(0, 1000, 1000, 0);
	check_raw(0, 1001, 1000, 0);
	check_raw(IPV6, 0, 1000, 0);
	check_raw(MORE, 49, 1, 0);
	check_raw(IPV6 | MORE, 65536, 8000, 0);
}

TEST(tso_vlan_inserted)
{
	check_raw(INSERTED, 5000, 1000, 0);
	check_raw(INSERTED | MORE, 4999, 1000, 0);
	check_raw(INSERTED | IPV6, 3000, 1440, 0);
}

/* A segment of many SGEs, and an SGE with many segments */
TEST(tso_gathered)
{
	struct drv_pair p = raw_pair();
	struct drv_wr wr = { .wr_id = DRV_WR_ID, .num_sge = 6 };
	struct eth_buf header, want;
	uint8_t data[1000];

	drv_fill(p.a.mr->ptr, 1000, 1);
	wr.sge[0] = drv_sge(p.a.mr, 0, 1);
	wr.sge[1] = drv_sge(p.a.mr, 1, 300);
	wr.sge[2] = drv_sge(p.a.mr, 500, 0);
	wr.sge[3] = drv_sge(p.a.mr, 301, 99);
	wr.sge[4] = drv_sge(p.a.mr, 400, 3);
	wr.sge[5] = drv_sge(p.a.mr, 403, 597);
	memcpy(data, p.a.mr->ptr, 1000);
	put_header(&header, 0, 1, 1, ACK, 0);
	for (int i = 0; i < 4; i++)
		eth_post(&p.b, i);
	post_tso(&p.a, wr, header.data, header.len, 280);
	for (int i = 0; i < 4; i++) {
		uint32_t n = i < 3 ? 280 : 160;

		put_header(&want, 0, 1 + i, 1 + i * 280, ACK, n);
		eth_put(&want, data + i * 280, n);
		eth_fix(&want, 14, 34);
		eth_expect(&p.b, i, &want);
	}
	drv_expect(p.a.cq, DRV_WR_ID, 0);
}

static void check_error(struct drv_end *end, struct drv_wr wr, const void *hdr,
			uint16_t hdr_len, uint16_t mss,
			enum ibv_wc_status status)
{
	uint64_t count = drv_stat(end->d, MYNIC_STAT_BAD_WQE);
	uint64_t sent = drv_stat(end->d, MYNIC_STAT_TX_PACKETS);

	post_tso(end, wr, hdr, hdr_len, mss);
	CHECK_EQ(drv_expect(end->cq, DRV_WR_ID, status).vendor_err,
		 MYNIC_SYN_BAD_LEN);
	CHECK_EQ(drv_stat(end->d, MYNIC_STAT_BAD_WQE), count + 1);
	CHECK_EQ(drv_stat(end->d, MYNIC_STAT_TX_PACKETS), sent);
	CHECK_EQ(drv_query_qp(end->qp).qp_state, IBV_QPS_SQE);
	CHECK_EQ(drv_set_state(end->qp, IBV_QPS_RTS), 0);
}

TEST(tso_bad_requests)
{
	struct drv_pair p = raw_pair();
	struct drv_wr wr = one_sge(&p.a, 5000);
	struct eth_buf h, bad;

	put_header(&h, MORE, 1, 1, ACK, 0);
	/* lengths */
	check_error(&p.a, wr, h.data, h.len, 0, IBV_WC_LOC_LEN_ERR);
	check_error(&p.a, wr, h.data, h.len, 9234 - h.len + 1,
		    IBV_WC_LOC_LEN_ERR);
	wr.vlan = 1;
	check_error(&p.a, wr, h.data, h.len, 9234 - h.len - 3,
		    IBV_WC_LOC_LEN_ERR);
	post_tso(&p.a, wr, h.data, h.len, 9234 - h.len - 4);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	wr.vlan = 0;
	post_tso(&p.a, wr, h.data, h.len, 9234 - h.len);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	check_error(&p.a, one_sge(&p.a, 65537), h.data, h.len, 1000,
		    IBV_WC_LOC_LEN_ERR);
	check_error(&p.a, one_sge(&p.a, 1025), h.data, h.len, 1,
		    IBV_WC_LOC_LEN_ERR);
	/* not a TCP header, a part of one, or more than one */
	for (uint16_t len = 0; len < h.len; len++)
		check_error(&p.a, wr, h.data, len, 1000, IBV_WC_LOC_QP_OP_ERR);
	bad = h;
	eth_put(&bad, "", 1);
	check_error(&p.a, wr, bad.data, bad.len, 1000, IBV_WC_LOC_QP_OP_ERR);
	bad = h;
	bad.data[18 + 9] = 17;
	check_error(&p.a, wr, bad.data, bad.len, 1000, IBV_WC_LOC_QP_OP_ERR);
	bad = h;
	bad.data[18 + 6] = 0x20;
	bad.data[18 + 7] = 0x01;
	check_error(&p.a, wr, bad.data, bad.len, 1000, IBV_WC_LOC_QP_OP_ERR);
	/* a header and SGEs that exceed the slot */
	check_error(&p.a, wr, h.data, 180, 1000, IBV_WC_LOC_QP_OP_ERR);
	wr.num_sge = 0;
	check_error(&p.a, wr, h.data, 193, 1000, IBV_WC_LOC_QP_OP_ERR);
}

TEST(tso_bad_memory)
{
	struct drv_pair p = raw_pair();
	struct drv_wr wr = one_sge(&p.a, 2000);
	struct eth_buf h;

	put_header(&h, 0, 1, 1, ACK, 0);
	wr.num_sge = 2;
	wr.sge[1] = drv_sge(p.a.mr, DRV_PAIR_MEM - 10, 11);
	eth_post(&p.b, 0);
	post_tso(&p.a, wr, h.data, h.len, 1000);
	CHECK_EQ(drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_PROT_ERR).vendor_err,
		 MYNIC_SYN_LKEY_BOUNDS);
}

TEST(tso_flags_and_types)
{
	struct drv_pair p = raw_pair();
	struct drv_pair rc = drv_rc_pair(NULL);
	struct drv_wr wr = {
		.opcode = IBV_WR_TSO,
		.flags = IBV_SEND_INLINE,
		.inline_len = 1,
		.inline_data = "",
	};

	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(drv_expect(p.a.cq, 0, IBV_WC_LOC_QP_OP_ERR).vendor_err,
		 MYNIC_SYN_BAD_FLAGS);
	wr.flags = 0;
	drv_post_send(rc.a.qp, &wr);
	CHECK_EQ(drv_expect(rc.a.cq, 0, IBV_WC_LOC_QP_OP_ERR).vendor_err,
		 MYNIC_SYN_BAD_OPCODE);
}

static struct drv_wr ud_wr(struct drv_pair *p, uint32_t len)
{
	struct drv_wr wr = one_sge(&p->a, len);

	wr.remote_qpn = p->b.qp->number;
	wr.remote_qkey = QKEY;
	wr.av = drv_av(p->a.d, 1, DRV_GID_IPV6);
	return wr;
}

static struct drv_pair ud_pair(void)
{
	struct drv_pair p = drv_ud_pair();

	drv_reset_qp(p.a.qp);
	drv_reset_qp(p.b.qp);
	drv_ud_up(p.a.qp, QKEY, IBV_QPS_RTS);
	drv_ud_up(p.b.qp, QKEY, IBV_QPS_RTS);
	return p;
}

TEST(tso_ud)
{
	struct drv_pair p = ud_pair();
	struct drv_wr wr = ud_wr(&p, 2500);
	uint8_t *got = p.b.mr->ptr;

	drv_fill(p.a.mr->ptr, 2500, 1);
	wr.flags = IBV_SEND_SOLICITED;
	for (int i = 0; i < 3; i++) {
		struct mynic_sge sge = drv_sge(p.b.mr, i * 4096, 4096);

		drv_post_recv(p.b.qp, i, &sge, 1);
	}
	post_tso(&p.a, wr, "a header of its own", 19, 1000);
	for (int i = 0; i < 3; i++, got += 4096) {
		uint32_t n = i < 2 ? 1000 : 500;

		CHECK_EQ(drv_expect(p.b.recv_cq, i, 0).byte_len,
			 GRH_LEN + 19 + n);
		CHECK_MEM(got + GRH_LEN, "a header of its own", 19);
		CHECK_MEM(got + GRH_LEN + 19, p.a.mr->ptr + i * 1000, n);
	}
	CHECK_EQ(drv_expect(p.a.cq, DRV_WR_ID, 0).opcode, IBV_WC_TSO);
	drv_expect_none(p.b.recv_cq, SEC);
}

static void limit_rate(struct drv_end *end)
{
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_RATE_LIMIT,
		.rate_limit = KBPS,
	};

	CHECK_EQ(drv_modify_qp(end->qp, &attr), MYNIC_AQ_OK);
}

/*
 * Check that each request with a header and segments of 10 bytes takes the time
 * of @bytes. The last one delays nothing
 */
static void check_rate(struct drv_end *end, struct drv_wr wr, const void *hdr,
		       uint16_t hdr_len, uint32_t bytes)
{
	struct sim *sim = end->d->sim;
	uint64_t due = 3 * bytes * 8000000ull / KBPS;
	uint64_t begin;

	/* Nothing from before delays the first one */
	sim_run(sim, SEC);
	begin = sim->now;
	for (int i = 0; i < 4; i++)
		post_tso(end, wr, hdr, hdr_len, 10);
	for (int i = 0; i < 4; i++)
		drv_expect(end->cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK(sim->now - begin + 50 * USEC >= due);
	CHECK(sim->now - begin < due + MSEC);
}

/* The header of each segment counts, and so does the tag that is inserted */
TEST(tso_rate)
{
	struct drv_pair p = raw_pair();
	struct drv_wr wr = one_sge(&p.a, 995);
	struct eth_buf h;

	put_header(&h, IPV6, 1, 1, ACK, 0);
	limit_rate(&p.a);
	check_rate(&p.a, wr, h.data, h.len, 995 + 100 * h.len);
	wr.vlan = 5;
	check_rate(&p.a, wr, h.data, h.len, 995 + 100 * (h.len + 4));
	wr.num_sge = 0;
	check_rate(&p.a, wr, h.data, h.len, h.len + 4);
}

TEST(tso_ud_rate)
{
	struct drv_pair p = ud_pair();

	limit_rate(&p.a);
	check_rate(&p.a, ud_wr(&p, 995), "header", 6,
		   995 + 100 * (6 + ROCE_HEADERS));
	check_rate(&p.a, ud_wr(&p, 1), "", 0, 1 + ROCE_HEADERS);
}

/* Bad requests fail at once, and those behind them do not wait */
static void check_bad_rate(struct drv_end *end, struct drv_wr wr,
			   const void *hdr, uint16_t hdr_len)
{
	static const uint32_t len[] = { 0x80000000, 0x7fffffff, 65537, 1025 };
	struct sim *sim = end->d->sim;
	uint64_t begin;

	limit_rate(end);
	begin = sim->now;
	for (unsigned int i = 0; i < ARRAY_SIZE(len); i++) {
		wr.sge[0].length = len[i];
		check_error(end, wr, hdr, hdr_len, 0, IBV_WC_LOC_LEN_ERR);
		check_error(end, wr, hdr, hdr_len, 1, IBV_WC_LOC_LEN_ERR);
		check_error(end, wr, hdr, hdr_len, 0xffff, IBV_WC_LOC_LEN_ERR);
	}
	wr.sge[0].length = 1;
	post_tso(end, wr, hdr, hdr_len, 1);
	drv_expect(end->cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK(sim->now - begin < MSEC);
}

TEST(tso_rate_of_bad_requests)
{
	struct drv_pair p = raw_pair();
	struct drv_wr wr = one_sge(&p.a, 0);
	struct eth_buf h;

	wr.vlan = 5;
	put_header(&h, IPV6, 1, 1, ACK, 0);
	check_bad_rate(&p.a, wr, h.data, h.len);
	p = ud_pair();
	check_bad_rate(&p.a, ud_wr(&p, 0), "header", 6);
}

TEST(tso_ud_bad_requests)
{
	struct drv_pair p = ud_pair();
	struct drv_wr wr = ud_wr(&p, 5000);

	check_error(&p.a, wr, "header", 6, 0, IBV_WC_LOC_LEN_ERR);
	check_error(&p.a, wr, "header", 6, 4091, IBV_WC_LOC_LEN_ERR);
	wr.av.sgid_index = 200;
	post_tso(&p.a, wr, "header", 6, 1000);
	CHECK_EQ(drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_QP_OP_ERR).vendor_err,
		 MYNIC_SYN_BAD_GID);
}

/* Of a request with 100 segments, the rest waits when there is no room for it */
static void check_room(struct drv_pair *p)
{
	struct sim_nic *n = p->a.d->n;
	uint64_t sent;

	/* A part of it, as time passes */
	p->sim->tick = 50 * USEC;
	while (!n->sent)
		nic_run(n->nic);
	p->sim->tick = 0;
	sent = n->sent;
	CHECK(sent < 100);
	sim_set_room(p->b.d->n, 0);
	drv_expect_none(p->a.cq, SEC);
	CHECK_EQ(n->sent, sent);
	sim_set_room(p->b.d->n, SIM_MUCH_ROOM);
	drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(n->sent, 100);
}

TEST(tso_without_room)
{
	struct drv_pair p = ud_pair();
	struct drv_wr wr = ud_wr(&p, 100 * 64);

	post_tso(&p.a, wr, "header", 6, 64);
	check_room(&p);
}

TEST(tso_frames_without_room)
{
	struct drv_pair p = raw_pair();
	struct drv_wr wr = one_sge(&p.a, 100 * 64);
	struct eth_buf h;

	put_header(&h, 0, 1, 1, ACK, 0);
	memcpy(h.data, nic_mac(p.b.d->n->nic), 6);
	post_tso(&p.a, wr, h.data, h.len, 64);
	check_room(&p);
}

/* A request that has not begun does not delay the end of the others */
TEST(tso_without_room_is_not_drained)
{
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY,
		.qp_state = IBV_QPS_SQD,
		.sq_drained_event = 1,
	};
	struct drv_pair p = ud_pair();
	struct drv_wr wr = ud_wr(&p, 100 * 64);

	sim_set_room(p.b.d->n, 0);
	post_tso(&p.a, wr, "header", 6, 64);
	sim_run(p.sim, MSEC);
	CHECK_EQ(drv_modify_qp(p.a.qp, &attr), MYNIC_AQ_OK);
	drv_expect_event(&p.a.d->event, MYNIC_EVENT_SQ_DRAINED, p.a.qp->number);
	CHECK_EQ(p.a.d->n->sent, 0);
}
