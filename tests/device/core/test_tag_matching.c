// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Tag matching: SRQs with a list of tags, and messages that match them or not */
#include "core/packet/opcode.h"
#include "harness_driver.h"

#define HDR sizeof(struct ibv_tmh)
#define RNDV_HDR (sizeof(struct ibv_tmh) + sizeof(struct ibv_rvh))
#define MAX_TAGS 8
#define ALL UINT64_MAX
#define CTX 0x01020304
#define SIGNALED IBV_OPS_SIGNALED
#define SYNC IBV_OPS_TM_SYNC
#define MATCH IBV_WC_TM_MATCH
#define VALID IBV_WC_TM_DATA_VALID
#define SYNC_REQ IBV_WC_TM_SYNC_REQ

/* Offsets in b's memory of buffers for tags, and for messages without a tag */
#define TAG_AT(i) (0x40000 + (i) * 0x4000u)
#define RECV_AT(i) ((i) * 0x2000u)
/* Offset in a's memory of the data of a rendezvous */
#define DATA_AT 0x40000u

/* Two connections from a to b, whose receivers share an SRQ with tags */
struct tag_fixture {
	struct drv_pair p;
	struct drv_cq *cq; /* the SRQ's */
	struct drv_srq *srq;
	struct drv_qp *from[2];
	struct drv_qp *to[2];
};

static struct tag_fixture make_tags(const struct drv_path *path, bool with_sq,
				    uint32_t max_tags)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	struct tag_fixture t = { .p = drv_pair_unconnected(&init) };
	struct drv_qp_init at_a = {
		.type = MYNIC_QP_RC,
		.pdn = t.p.a.pdn,
		.send_cq = t.p.a.cq,
		.recv_cq = t.p.a.recv_cq,
	};
	struct drv_qp_init at_b = {
		.type = MYNIC_QP_RC,
		.pdn = t.p.b.pdn,
		.send_cq = t.p.b.cq,
		.recv_cq = t.p.b.recv_cq,
		.no_sq = !with_sq,
	};

	t.cq = drv_create_cq(t.p.b.d, max_tags > MAX_TAGS ? 9 : 7);
	t.srq = drv_create_tm_srq(t.p.b.d, t.p.b.pdn, t.cq, 5, max_tags);
	at_b.srq = t.srq;
	for (unsigned int i = 0; i < 2; i++) {
		t.from[i] = drv_create_qp(t.p.a.d, &at_a);
		t.to[i] = drv_create_qp(t.p.b.d, &at_b);
		drv_connect(t.from[i], t.to[i], path);
	}
	return t;
}

static struct tag_fixture make(const struct drv_path *path, bool with_sq)
{
	return make_tags(path, with_sq, MAX_TAGS);
}

static struct tag_fixture make_tm(void)
{
	return make(&(struct drv_path){ 0 }, false);
}

static struct mynic_query_srq query(struct tag_fixture *t)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_QUERY_SRQ,
		.number = t->srq->number,
	};
	struct mynic_admin_cpl cpl;

	CHECK_EQ(drv_admin(t->p.b.d, &cmd, &cpl), MYNIC_AQ_OK);
	return cpl.query_srq;
}

/* Check the completion of operation @wr_id */
static void expect_op(struct tag_fixture *t, uint64_t wr_id,
		      enum ibv_wc_opcode opcode, enum ibv_wc_status status,
		      unsigned int flags)
{
	struct mynic_cqe cqe = drv_expect(t->cq, wr_id, status);

	CHECK_EQ(cqe.opcode, opcode);
	CHECK_EQ(cqe.wc_flags, flags);
	CHECK_EQ(cqe.tag, 0);
}

static struct mynic_tag_wqe make_add(struct tag_fixture *t, unsigned int i,
				     uint64_t tag, uint64_t mask, uint32_t len)
{
	return (struct mynic_tag_wqe){
		.wr_id = 100 + i,
		.ctrl = IBV_WR_TAG_ADD,
		.handle = i,
		.num_sge = 1,
		.recv_wr_id = 200 + i,
		.tag = tag,
		.mask = mask,
		.sge = drv_sge(t->p.b.mr, TAG_AT(i), len),
	};
}

/* Add tag @i, unsignaled */
static void add(struct tag_fixture *t, unsigned int i, uint64_t tag,
		uint64_t mask, uint32_t len)
{
	struct mynic_tag_wqe wqe = make_add(t, i, tag, mask, len);

	drv_post_tag(t->srq, &wqe);
}

static void add_signaled(struct tag_fixture *t, unsigned int i, uint64_t tag,
			 unsigned int flags)
{
	struct mynic_tag_wqe wqe = make_add(t, i, tag, ALL, 0x4000);

	wqe.ctrl |= SIGNALED << MYNIC_TAG_FLAGS_SHIFT;
	drv_post_tag(t->srq, &wqe);
	expect_op(t, 100 + i, IBV_WC_TM_ADD, 0, flags);
}

static void del(struct tag_fixture *t, unsigned int i,
		enum ibv_wc_status status)
{
	struct mynic_tag_wqe wqe = {
		.wr_id = 300 + i,
		.ctrl = IBV_WR_TAG_DEL | SIGNALED << MYNIC_TAG_FLAGS_SHIFT,
		.handle = i,
	};

	drv_post_tag(t->srq, &wqe);
	expect_op(t, 300 + i, IBV_WC_TM_DEL, status, 0);
}

static void sync_to(struct tag_fixture *t, uint32_t count, unsigned int flags)
{
	struct mynic_tag_wqe wqe = {
		.wr_id = 400,
		.ctrl = IBV_WR_TAG_SYNC | (SIGNALED | SYNC)
						  << MYNIC_TAG_FLAGS_SHIFT,
		.unexpected_cnt = count,
	};

	drv_post_tag(t->srq, &wqe);
	expect_op(t, 400, IBV_WC_TM_SYNC, 0, flags);
}

static void post_recvs(struct tag_fixture *t, uint64_t first, unsigned int num)
{
	for (unsigned int i = 0; i < num; i++) {
		struct mynic_sge sge =
			drv_sge(t->p.b.mr, RECV_AT(first + i), 0x2000);

		drv_post_srq_recv(t->srq, first + i, &sge, 1);
	}
}

/* Post a message of @len bytes, of which @hdr_len are its header */
static void post_raw(struct tag_fixture *t, unsigned int which, const void *hdr,
		     size_t hdr_len, uint32_t len)
{
	struct drv_wr wr = {
		.wr_id = 500,
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(t->p.a.mr, 0, len) },
	};

	/* The send completes before the memory is used again */
	drv_fill(t->p.a.mr->ptr, len > hdr_len ? len : hdr_len, len);
	memcpy(t->p.a.mr->ptr, hdr, hdr_len);
	drv_post_send(t->from[which], &wr);
}

static struct ibv_tmh make_header(enum ibv_tmh_op op, uint64_t tag)
{
	return (struct ibv_tmh){
		.opcode = op,
		.app_ctx = htobe32(CTX),
		.tag = htobe64(tag),
	};
}

static void send_eager(struct tag_fixture *t, unsigned int which, uint64_t tag,
		       uint32_t len)
{
	struct ibv_tmh tmh = make_header(IBV_TMH_EAGER, tag);

	post_raw(t, which, &tmh, sizeof(tmh), HDR + len);
	drv_expect(t->p.a.cq, 500, IBV_WC_SUCCESS);
}

static struct mynic_cqe expect_recv(struct tag_fixture *t, uint64_t wr_id,
				    enum ibv_wc_opcode opcode,
				    unsigned int flags, uint32_t len)
{
	struct mynic_cqe cqe = drv_expect(t->cq, wr_id, IBV_WC_SUCCESS);

	CHECK_EQ(cqe.opcode, opcode);
	CHECK_EQ(cqe.wc_flags, flags);
	CHECK_EQ(cqe.byte_len, len);
	if (!(flags & MATCH)) {
		CHECK_EQ(cqe.tag, 0);
		CHECK_EQ(cqe.tag_priv, 0);
	}
	return cqe;
}

static void expect_match(struct tag_fixture *t, unsigned int i, uint64_t tag,
			 unsigned int flags, uint32_t len)
{
	struct mynic_cqe cqe =
		expect_recv(t, 200 + i, IBV_WC_TM_RECV, flags, len);

	CHECK_EQ(cqe.tag, tag);
	CHECK_EQ(cqe.tag_priv, CTX);
}

/* Check that @len bytes of the last message have arrived for tag @i */
static void expect_eager(struct tag_fixture *t, unsigned int i, uint64_t tag,
			 uint32_t len)
{
	expect_match(t, i, tag, MATCH | VALID, len);
	CHECK_MEM(t->p.b.mr->ptr + TAG_AT(i), t->p.a.mr->ptr + HDR, len);
}

static void expect_whole(struct tag_fixture *t, uint64_t wr_id,
			 enum ibv_wc_opcode opcode, uint32_t len)
{
	expect_recv(t, wr_id, opcode, 0, len);
	CHECK_MEM(t->p.b.mr->ptr + RECV_AT(wr_id), t->p.a.mr->ptr, len);
}

TEST(tm_create)
{
	struct tag_fixture t = make_tm();
	struct drv *d = t.p.b.d;
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_SRQ };
	struct drv_qp_init init = {
		.type = MYNIC_QP_UC,
		.pdn = t.p.b.pdn,
		.send_cq = t.p.b.cq,
		.recv_cq = t.p.b.cq,
		.srq = t.srq,
	};
	struct mynic_create_srq good, bad;
	struct drv_buf buf;
	struct drv_qp qp;

	drv_buf_init(d, &buf, 1 << 16);
	good = (struct mynic_create_srq){
		.buf = buf.desc,
		.dbrec_offset = 4096,
		.log_size = 4,
		.log_stride = 6,
		.pdn = t.p.b.pdn,
		.type = MYNIC_SRQ_TM,
		.cqn = t.cq->number,
		.log_tag_size = 8,
		.max_tags = 1024,
		.tag_buf = buf.desc,
	};
#define TRY(field, value, status)                                        \
	do {                                                             \
		bad = good;                                              \
		bad.field = value;                                       \
		CHECK_EQ(drv_admin_in(d, &cmd, NULL, &bad, sizeof(bad)), \
			 MYNIC_AQ_##status);                             \
	} while (0)
	TRY(log_tag_size, 0, BAD_PARAM);
	TRY(log_tag_size, 9, BAD_PARAM);
	TRY(max_tags, 0, BAD_PARAM);
	TRY(max_tags, 1025, BAD_PARAM);
	TRY(xrcdn, 1, BAD_PARAM);
	TRY(cqn, 0, BAD_NUMBER);
	TRY(cqn, 77, BAD_NUMBER);
	TRY(tag_buf.levels, 3, BAD_PARAM);
	TRY(tag_buf.offset, 64, BAD_PARAM);
	TRY(tag_buf.addr, 1ull << 60, BAD_DMA);
#undef TRY
	CHECK_EQ(drv_admin_in(d, &cmd, NULL, &good, sizeof(good)), 0);
	CHECK_EQ(query(&t).type, MYNIC_SRQ_TM);

	/* only RC QPs can use it */
	cmd.opcode = MYNIC_CMD_CREATE_QP;
	drv_qp_layout(d, &qp, &init);
	CHECK_EQ(drv_admin_in(d, &cmd, NULL, &qp.create, sizeof(qp.create)),
		 MYNIC_AQ_BAD_PARAM);
	/* objects in use cannot be destroyed */
	cmd = (struct mynic_admin_cmd){ .opcode = MYNIC_CMD_DESTROY_SRQ,
					.number = t.srq->number };
	CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_BUSY);
	cmd = (struct mynic_admin_cmd){ .opcode = MYNIC_CMD_DESTROY_CQ,
					.number = t.cq->number };
	CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_BUSY);
}

TEST(tm_eager_first_match)
{
	struct tag_fixture t = make_tm();

	add_signaled(&t, 0, 7, 0);
	add(&t, 1, 5, ALL, 0x4000);
	add(&t, 2, 5, ALL, 0x4000);
	add(&t, 3, 0x500, 0xff00, 0x4000);
	add(&t, 4, 0, 0, 0x4000);
	/* a tag with bits outside of its mask matches nothing */
	add(&t, 5, 0x11, 0x10, 0x4000);
	drv_expect_none(t.cq, MSEC);
	CHECK_EQ(query(&t).num_tags, 6);

	send_eager(&t, 0, 5, 100);
	expect_eager(&t, 1, 5, 100);
	send_eager(&t, 1, 0x512, 0);
	expect_eager(&t, 3, 0x512, 0);
	send_eager(&t, 1, 5, 1000);
	expect_eager(&t, 2, 5, 1000);
	/* the first tag matches all, although another one fits better */
	send_eager(&t, 0, 5ull << 60, 1);
	expect_eager(&t, 4, 5ull << 60, 1);
	send_eager(&t, 0, 7, 64);
	expect_eager(&t, 0, 7, 64);
	CHECK_EQ(t.srq->tag_rec->done, 5);
	CHECK_EQ(t.srq->tag_rec->ci, 6);
	CHECK_EQ(query(&t).num_tags, 1);
	CHECK_EQ(t.srq->rec->ci, 0);
}

TEST(tm_eager_several_packets)
{
	struct tag_fixture t =
		make(&(struct drv_path){ .mtu = IBV_MTU_256 }, false);
	struct ibv_tmh tmh = make_header(IBV_TMH_EAGER, 9);
	struct drv_wr wr = {
		.wr_id = 500,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.flags = IBV_SEND_SIGNALED,
		.imm = 0x12345678,
		.num_sge = 14,
	};

	add(&t, 0, 9, ALL, 0x4000);
	add(&t, 1, 8, ALL, 0x4000);
	send_eager(&t, 0, 9, 3000);
	expect_match(&t, 0, 9, MATCH, 0);
	expect_recv(&t, 200, IBV_WC_TM_RECV, VALID, 3000);
	CHECK_MEM(t.p.b.mr->ptr + TAG_AT(0), t.p.a.mr->ptr + HDR, 3000);
	CHECK_EQ(t.srq->tag_rec->done, 1);

	/* the header in pieces */
	add(&t, 0, 9, ALL, 0x4000);
	drv_fill(t.p.a.mr->ptr, 1000, 3);
	memcpy(t.p.a.mr->ptr, &tmh, sizeof(tmh));
	for (unsigned int i = 0; i < 13; i++)
		wr.sge[i] = drv_sge(t.p.a.mr, i, 1);
	wr.sge[13] = drv_sge(t.p.a.mr, 13, 1000 - 13);
	drv_post_send(t.from[1], &wr);
	expect_match(&t, 0, 9, MATCH, 0);
	CHECK_EQ(expect_recv(&t, 200, IBV_WC_TM_RECV, VALID | IBV_WC_WITH_IMM,
			     1000 - HDR)
			 .imm_data,
		 0x12345678);
	CHECK_MEM(t.p.b.mr->ptr + TAG_AT(0), t.p.a.mr->ptr + HDR, 1000 - HDR);
}

TEST(tm_no_tag)
{
	static const uint8_t ops[] = { IBV_TMH_NO_TAG, IBV_TMH_FIN, 4, 0x7f,
				       0xff };
	struct tag_fixture t = make_tm();
	struct ibv_tmh tmh;

	add(&t, 0, 0, 0, 0x4000);
	post_recvs(&t, 0, 30);
	for (unsigned int i = 0; i < sizeof(ops); i++) {
		tmh = make_header(ops[i], 5);
		post_raw(&t, 0, &tmh, sizeof(tmh), 100);
		expect_whole(&t, i, IBV_WC_TM_NO_TAG, 100);
	}
	/* too short for a header */
	for (uint32_t len = 0; len < HDR; len += 5) {
		tmh = make_header(IBV_TMH_EAGER, 5);
		post_raw(&t, 0, &tmh, len, len);
		expect_whole(&t, 5 + len / 5, IBV_WC_TM_NO_TAG, len);
	}
	/* a rendezvous that is too short, and one that is too long */
	tmh = make_header(IBV_TMH_RNDV, 5);
	post_raw(&t, 0, &tmh, sizeof(tmh), RNDV_HDR - 1);
	expect_whole(&t, 9, IBV_WC_TM_NO_TAG, RNDV_HDR - 1);
	post_raw(&t, 0, &tmh, sizeof(tmh), 257);
	expect_whole(&t, 10, IBV_WC_TM_NO_TAG, 257);
	post_raw(&t, 0, &tmh, sizeof(tmh), 8000);
	expect_whole(&t, 11, IBV_WC_TM_NO_TAG, 8000);
	/* these messages were not unexpected */
	CHECK_EQ(query(&t).unexpected_cnt, 0);
	send_eager(&t, 0, 5, 10);
	expect_eager(&t, 0, 5, 10);
}

TEST(tm_unexpected_until_synchronized)
{
	struct tag_fixture t = make_tm();

	post_recvs(&t, 0, 8);
	add_signaled(&t, 0, 1, 0);
	send_eager(&t, 0, 2, 50);
	expect_whole(&t, 0, IBV_WC_TM_RECV, HDR + 50);
	/* old tags still match, but new ones do not */
	add_signaled(&t, 1, 2, SYNC_REQ);
	send_eager(&t, 0, 2, 51);
	expect_whole(&t, 1, IBV_WC_TM_RECV, HDR + 51);
	send_eager(&t, 1, 1, 52);
	expect_eager(&t, 0, 1, 52);
	/* a count of the past, and one of the future */
	sync_to(&t, 1, SYNC_REQ);
	sync_to(&t, 3, SYNC_REQ);
	send_eager(&t, 0, 2, 53);
	expect_whole(&t, 2, IBV_WC_TM_RECV, HDR + 53);
	CHECK_EQ(query(&t).unexpected_cnt, 3);
	CHECK_EQ(query(&t).handled_cnt, 3);
	sync_to(&t, 3, 0);
	send_eager(&t, 0, 2, 54);
	expect_eager(&t, 1, 2, 54);
	/* an addition can synchronize as well, which includes its own tag */
	send_eager(&t, 0, 2, 55);
	expect_whole(&t, 3, IBV_WC_TM_RECV, HDR + 55);
	add(&t, 2, 3, ALL, 0x4000);
	add_signaled(&t, 3, 2, SYNC_REQ);
	{
		struct mynic_tag_wqe wqe = make_add(&t, 4, 4, ALL, 100);

		wqe.ctrl |= SYNC << MYNIC_TAG_FLAGS_SHIFT;
		wqe.unexpected_cnt = 4;
		drv_post_tag(t.srq, &wqe);
	}
	for (unsigned int i = 2; i < 5; i++) {
		static const uint64_t tags[] = { 0, 0, 3, 2, 4 };

		send_eager(&t, 0, tags[i], 60);
		expect_eager(&t, i, tags[i], 60);
	}
	drv_expect_none(t.cq, MSEC);
}

/* A wire that drops all packets with an opcode */
static enum sim_verdict drop_opcode(struct sim *sim, struct sim_nic *from,
				    struct packet *pkt)
{
	const uint8_t *opcode = sim->filter_arg;

	(void)from;
	return pkt->kind == PACKET_ROCE && pkt->roce.opcode == *opcode ?
		       SIM_DROP :
		       SIM_PASS;
}

static void drop(struct tag_fixture *t, const uint8_t *opcode)
{
	t->p.sim->filter = opcode ? drop_opcode : NULL;
	t->p.sim->filter_arg = (void *)opcode;
}

/*
 * A message counts as unexpected from its first packet, before its completion
 */
TEST(tm_unexpected_from_its_first_packet)
{
	struct tag_fixture t =
		make(&(struct drv_path){ .mtu = IBV_MTU_256 }, false);
	struct ibv_tmh tmh = make_header(IBV_TMH_EAGER, 6);
	static const uint8_t last = BTH_RC_SEND_LAST;

	post_recvs(&t, 0, 2);
	drop(&t, &last);
	post_raw(&t, 0, &tmh, sizeof(tmh), 8000);
	SIM_WAIT(t.p.sim, query(&t).unexpected_cnt);
	add_signaled(&t, 0, 6, SYNC_REQ);
	CHECK_EQ(drv_set_state(t.to[0], IBV_QPS_ERR), MYNIC_AQ_OK);
	/* flushed messages do not count, because the host cannot know them */
	drv_expect(t.cq, 0, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(query(&t).unexpected_cnt, 0);
	drop(&t, NULL);
	send_eager(&t, 1, 6, 10);
	expect_eager(&t, 0, 6, 10);
}

TEST(tm_delete)
{
	struct tag_fixture t = make_tm();

	add(&t, 0, 1, ALL, 64);
	add(&t, 1, 1, ALL, 64);
	add(&t, 2, 1, ALL, 64);
	del(&t, 1, IBV_WC_SUCCESS);
	del(&t, 1, IBV_WC_TM_ERR);
	del(&t, 77, IBV_WC_TM_ERR);
	send_eager(&t, 0, 1, 10);
	expect_eager(&t, 0, 1, 10);
	/* too late */
	del(&t, 0, IBV_WC_TM_ERR);
	send_eager(&t, 0, 1, 10);
	expect_eager(&t, 2, 1, 10);
	CHECK_EQ(t.srq->tag_rec->done, 3);
	CHECK_EQ(query(&t).num_tags, 0);
}

TEST(tm_list_is_full)
{
	struct tag_fixture t = make_tm();

	for (unsigned int i = 0; i < MAX_TAGS; i++)
		add(&t, i, i, ALL, 0x100);
	drv_expect_none(t.cq, MSEC);
	add(&t, 8, 8, ALL, 0x100);
	expect_op(&t, 108, IBV_WC_TM_ADD, IBV_WC_TM_ERR, 0);
	CHECK_EQ(t.srq->tag_rec->done, 1);
	CHECK_EQ(query(&t).num_tags, MAX_TAGS);
	del(&t, 3, IBV_WC_SUCCESS);
	add_signaled(&t, 8, 8, 0);
	CHECK_EQ(t.srq->tag_rec->done, 2);
}

TEST(tm_bad_operations)
{
	struct tag_fixture t = make_tm();
	struct mynic_tag_wqe wqe = make_add(&t, 0, 1, ALL, 64);
	struct mynic_eqe eqe;

	wqe.num_sge = 2;
	drv_post_tag(t.srq, &wqe);
	expect_op(&t, 100, IBV_WC_TM_ADD, IBV_WC_TM_ERR, 0);
	wqe.num_sge = 1;
	wqe.ctrl = 3;
	drv_post_tag(t.srq, &wqe);
	expect_op(&t, 100, 0, IBV_WC_LOC_QP_OP_ERR, 0);
	wqe.ctrl = IBV_WR_TAG_ADD | 4 << MYNIC_TAG_FLAGS_SHIFT;
	drv_post_tag(t.srq, &wqe);
	expect_op(&t, 100, IBV_WC_TM_ADD, IBV_WC_LOC_QP_OP_ERR, 0);
	CHECK_EQ(drv_stat(t.p.b.d, MYNIC_STAT_BAD_WQE), 2);
	CHECK_EQ(t.srq->tag_rec->done, 2);

	/* a doorbell on another page, and one for another kind of SRQ */
	sim_doorbell(t.p.b.d->n, t.srq->uarn + 1, MYNIC_UAR_TAG_DB,
		     t.srq->number, 0);
	sim_doorbell(t.p.b.d->n, t.srq->uarn, MYNIC_UAR_TAG_DB,
		     drv_create_srq(t.p.b.d, t.p.b.pdn, 4)->number, 0);
	sim_doorbell(t.p.b.d->n, t.srq->uarn, MYNIC_UAR_TAG_DB, 0xffffff, 0);
	CHECK_EQ(drv_stat(t.p.b.d, MYNIC_STAT_BAD_DOORBELL), 3);
	CHECK(!drv_eq_poll(&t.p.b.d->event, &eqe));

	/* more operations than there is room for */
	t.srq->tag_pi += 32;
	drv_post_tag(t.srq, &wqe);
	drv_expect_event(&t.p.b.d->event, MYNIC_EVENT_SRQ_ERROR, t.srq->number);
	CHECK_EQ(drv_stat(t.p.b.d, MYNIC_STAT_BAD_INDEX), 1);
	drv_expect_none(t.cq, MSEC);
}

TEST(tm_buffer_too_small)
{
	struct tag_fixture t =
		make(&(struct drv_path){ .mtu = IBV_MTU_256 }, false);
	struct ibv_tmh tmh = make_header(IBV_TMH_EAGER, 1);

	add(&t, 0, 1, ALL, 64);
	add(&t, 1, 2, ALL, 1000);
	add(&t, 2, 2, ALL, 0x4000);
	send_eager(&t, 0, 1, 64);
	expect_eager(&t, 0, 1, 64);
	tmh = make_header(IBV_TMH_EAGER, 2);
	post_raw(&t, 0, &tmh, sizeof(tmh), HDR + 1001);
	drv_expect(t.p.a.cq, 500, IBV_WC_REM_INV_REQ_ERR);
	expect_match(&t, 1, 2, MATCH, 0);
	drv_expect(t.cq, 201, IBV_WC_LOC_LEN_ERR);
	CHECK_EQ(drv_query_qp(t.to[0]).qp_state, IBV_QPS_ERR);
	/* the other connection goes on */
	send_eager(&t, 1, 2, 60);
	expect_eager(&t, 2, 2, 60);
	CHECK_EQ(t.srq->tag_rec->done, 3);
}

TEST(tm_bad_buffer)
{
	struct tag_fixture t = make_tm();
	struct mynic_tag_wqe wqe = make_add(&t, 0, 1, ALL, 64);
	struct ibv_tmh tmh = make_header(IBV_TMH_EAGER, 1);

	wqe.sge.lkey ^= 0x100;
	drv_post_tag(t.srq, &wqe);
	post_raw(&t, 0, &tmh, sizeof(tmh), 40);
	drv_expect(t.p.a.cq, 500, IBV_WC_REM_OP_ERR);
	drv_expect(t.cq, 200, IBV_WC_LOC_PROT_ERR);
	CHECK_EQ(query(&t).num_tags, 0);
}

/* Send a rendezvous request of @total bytes, for @len bytes at DATA_AT */
static void send_rndv(struct tag_fixture *t, unsigned int which, uint64_t tag,
		      uint32_t len, uint32_t total, uint32_t rkey)
{
	struct {
		struct ibv_tmh tmh;
		struct ibv_rvh rvh;
	} hdr = {
		.tmh = make_header(IBV_TMH_RNDV, tag),
		.rvh = {
			.va = htobe64(t->p.a.mr->addr + DATA_AT),
			.rkey = htobe32(rkey),
			.len = htobe32(len),
		},
	};

	post_raw(t, which, &hdr, sizeof(hdr), total);
}

static void post_fin_recv(struct tag_fixture *t, unsigned int which)
{
	struct mynic_sge sge = drv_sge(t->p.a.mr, 0x20000, 64);

	drv_post_recv(t->from[which], 600 + which, &sge, 1);
}

static void expect_fin(struct tag_fixture *t, unsigned int which)
{
	struct mynic_cqe cqe =
		drv_expect(t->p.a.recv_cq, 600 + which, IBV_WC_SUCCESS);
	struct ibv_tmh *tmh = (void *)(t->p.a.mr->ptr + 0x20000);

	CHECK_EQ(cqe.opcode, IBV_WC_RECV);
	CHECK_EQ(cqe.byte_len, RNDV_HDR);
	CHECK_EQ(tmh->opcode, IBV_TMH_FIN);
	/* all other fields are those of the request */
	CHECK_MEM(&tmh->app_ctx, t->p.a.mr->ptr + 4, RNDV_HDR - 4);
}

static void do_rndv(struct tag_fixture *t, unsigned int which, unsigned int i,
		    uint32_t len, uint32_t total)
{
	add(t, i, 10 + i, ALL, 0x4000);
	drv_fill(t->p.a.mr->ptr + DATA_AT, len, i + len);
	post_fin_recv(t, which);
	send_rndv(t, which, 10 + i, len, total, t->p.a.mr->key);
	drv_expect(t->p.a.cq, 500, IBV_WC_SUCCESS);
	expect_match(t, i, 10 + i, MATCH, 0);
	expect_recv(t, 200 + i, IBV_WC_TM_RECV, VALID, len);
	CHECK_MEM(t->p.b.mr->ptr + TAG_AT(i), t->p.a.mr->ptr + DATA_AT, len);
	expect_fin(t, which);
}

TEST(tm_rendezvous)
{
	struct tag_fixture t =
		make(&(struct drv_path){ .mtu = IBV_MTU_256 }, false);

	for (unsigned int i = 0; i < 40; i++)
		do_rndv(&t, i & 1, i % 8, 1 + 400 * i, RNDV_HDR + 5 * i);
	do_rndv(&t, 0, 3, 0, 256);
	CHECK_EQ(t.srq->tag_rec->done, 41);
	CHECK_EQ(query(&t).num_tags, 0);
	/* The NIC's own requests on the QP have no completions */
	drv_expect_none(t.p.b.cq, MSEC);
	drv_expect_none(t.p.b.recv_cq, MSEC);
}

TEST(tm_rendezvous_with_loss)
{
	struct tag_fixture t = make(&(struct drv_path){ .mtu = IBV_MTU_256,
							.timeout = 8,
							.max_rd_atomic = 1 },
				    false);

	t.p.sim->drop = 50;
	t.p.sim->duplicate = 30;
	t.p.sim->reorder = 30;
	t.p.sim->delay = 20 * USEC;
	for (unsigned int i = 0; i < 24; i++)
		do_rndv(&t, i & 1, i % 8, 0x4000 - i, RNDV_HDR);
	CHECK(drv_stat(t.p.b.d, MYNIC_STAT_RETRANSMIT) > 0);
}

/* Many at once are executed one after the other, on both connections */
TEST(tm_rendezvous_queue)
{
	struct tag_fixture t = make_tm();

	drv_fill(t.p.a.mr->ptr + DATA_AT, 0x4000, 1);
	for (unsigned int i = 0; i < 8; i++) {
		add(&t, i, i, ALL, 0x4000);
		post_fin_recv(&t, i & 1);
	}
	for (unsigned int i = 0; i < 8; i++) {
		send_rndv(&t, i & 1, i, 0x4000, RNDV_HDR, t.p.a.mr->key);
		drv_expect(t.p.a.cq, 500, IBV_WC_SUCCESS);
	}
	SIM_WAIT(t.p.sim, t.srq->tag_rec->done == 8);
	for (unsigned int i = 0; i < 16; i++) {
		struct mynic_cqe cqe;

		SIM_WAIT(t.p.sim, drv_poll(t.cq, &cqe));
		CHECK_EQ(cqe.status, 0);
		CHECK_EQ(cqe.opcode, IBV_WC_TM_RECV);
	}
	for (unsigned int i = 0; i < 8; i++)
		CHECK_MEM(t.p.b.mr->ptr + TAG_AT(i), t.p.a.mr->ptr + DATA_AT,
			  0x4000);
}

static void expect_incomplete(struct tag_fixture *t, unsigned int i,
			      uint32_t len)
{
	struct mynic_cqe cqe =
		drv_expect(t->cq, 200 + i, IBV_WC_TM_RNDV_INCOMPLETE);

	CHECK_EQ(cqe.opcode, IBV_WC_TM_RECV);
	CHECK_EQ(cqe.wc_flags, MATCH | VALID);
	CHECK_EQ(cqe.tag, 10 + i);
	CHECK_EQ(cqe.byte_len, len);
	CHECK_MEM(t->p.b.mr->ptr + TAG_AT(i), t->p.a.mr->ptr, len);
}

TEST(tm_rendezvous_is_left_to_software)
{
	struct tag_fixture t = make_tm();

	/* too much data for the buffer; the request does not fit either */
	add(&t, 0, 10, ALL, 100);
	send_rndv(&t, 0, 10, 101, 120, t.p.a.mr->key);
	expect_incomplete(&t, 0, 100);
	CHECK_EQ(t.p.b.mr->ptr[TAG_AT(0) + 100], 0);
	add(&t, 1, 11, ALL, 64);
	send_rndv(&t, 0, 11, UINT32_MAX, RNDV_HDR, t.p.a.mr->key);
	expect_incomplete(&t, 1, RNDV_HDR);
	/* it fits the buffer, but exceeds a READ */
	add(&t, 2, 12, ALL, UINT32_MAX);
	send_rndv(&t, 0, 12, 0x80000001, RNDV_HDR, t.p.a.mr->key);
	expect_incomplete(&t, 2, RNDV_HDR);
	CHECK_EQ(t.srq->tag_rec->done, 3);
	/* a READ could do it, but the peer has less memory */
	add(&t, 3, 13, ALL, UINT32_MAX);
	send_rndv(&t, 0, 13, 0x80000000, RNDV_HDR, t.p.a.mr->key);
	expect_match(&t, 3, 13, MATCH, 0);
	drv_expect(t.cq, 203, IBV_WC_REM_ACCESS_ERR);
	CHECK_EQ(drv_query_qp(t.to[0]).qp_state, IBV_QPS_ERR);
	CHECK_EQ(drv_query_qp(t.to[1]).qp_state, IBV_QPS_RTS);

	/* an application that uses the send queue itself */
	t = make(&(struct drv_path){ 0 }, true);
	add(&t, 0, 10, ALL, 0x4000);
	send_rndv(&t, 0, 10, 1000, RNDV_HDR, t.p.a.mr->key);
	expect_incomplete(&t, 0, RNDV_HDR);
	drv_expect_none(t.p.b.cq, MSEC);
}

/* What ends the wait for a FIN that the peer does not take */
enum fin_ends { FIN_IS_TAKEN, FIN_IN_ERROR, FIN_IN_RESET, FIN_DESTROYED };

/* With one tag there may be one FIN, whichever QP of the SRQ sends it */
static void too_many_fins(enum fin_ends end)
{
	struct tag_fixture t =
		make_tags(&(struct drv_path){ .rnr_retry = 7 }, false, 1);
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_DESTROY_QP,
		.number = t.to[0]->number,
	};

	add(&t, 0, 10, ALL, 0x4000);
	send_rndv(&t, 0, 10, 1000, RNDV_HDR, t.p.a.mr->key);
	drv_expect(t.p.a.cq, 500, IBV_WC_SUCCESS);
	expect_match(&t, 0, 10, MATCH, 0);
	expect_recv(&t, 200, IBV_WC_TM_RECV, VALID, 1000);
	sim_run(t.p.sim, MSEC);
	add(&t, 1, 11, ALL, 0x4000);
	send_rndv(&t, 1, 11, 1000, RNDV_HDR, t.p.a.mr->key);
	drv_expect(t.p.a.cq, 500, IBV_WC_SUCCESS);
	expect_incomplete(&t, 1, RNDV_HDR);
	CHECK_EQ(query(&t).num_tags, 0);
	switch (end) {
	case FIN_IS_TAKEN:
		post_fin_recv(&t, 0);
		drv_expect(t.p.a.recv_cq, 600, IBV_WC_SUCCESS);
		/* and its ACK is here */
		sim_run(t.p.sim, MSEC);
		break;
	case FIN_IN_ERROR:
		CHECK_EQ(drv_set_state(t.to[0], IBV_QPS_ERR), MYNIC_AQ_OK);
		break;
	case FIN_IN_RESET:
		CHECK_EQ(drv_set_state(t.to[0], IBV_QPS_RESET), MYNIC_AQ_OK);
		break;
	case FIN_DESTROYED:
		CHECK_EQ(drv_admin(t.p.b.d, &cmd, NULL), MYNIC_AQ_OK);
		break;
	}
	/* Operations that had their completions get no others */
	drv_expect_none(t.cq, MSEC);
	do_rndv(&t, 1, 2, 100, RNDV_HDR);
}

TEST(tm_rendezvous_too_many_fins)
{
	too_many_fins(FIN_IS_TAKEN);
	too_many_fins(FIN_IN_ERROR);
	too_many_fins(FIN_IN_RESET);
	too_many_fins(FIN_DESTROYED);
}

/* More than can be in flight or flushed at a time */
#define MANY 100
#define MANY_LEN 512u

/* MANY of them, all of whose READs get lost */
static struct tag_fixture many_rndv(void)
{
	static const uint8_t read = BTH_RC_READ_REQUEST;
	struct tag_fixture t =
		make_tags(&(struct drv_path){ .timeout = 12 }, false, MANY);

	drop(&t, &read);
	for (unsigned int i = 0; i < MANY; i++) {
		struct mynic_tag_wqe wqe = make_add(&t, i, 10 + i, ALL, 0);

		wqe.sge = drv_sge(t.p.b.mr, TAG_AT(0) + i * MANY_LEN, MANY_LEN);
		drv_post_tag(t.srq, &wqe);
		send_rndv(&t, 0, 10 + i, MANY_LEN - i, RNDV_HDR, t.p.a.mr->key);
		drv_expect(t.p.a.cq, 500, IBV_WC_SUCCESS);
		expect_match(&t, i, 10 + i, MATCH, 0);
	}
	CHECK_EQ(query(&t).num_tags, MANY);
	drv_expect_none(t.cq, MSEC);
	return t;
}

TEST(tm_rendezvous_many)
{
	struct tag_fixture t = many_rndv();

	drv_fill(t.p.a.mr->ptr + DATA_AT, MANY_LEN, 1);
	drop(&t, NULL);
	for (unsigned int i = 0; i < MANY; i++) {
		/* The FIN has the same memory as the last one */
		post_fin_recv(&t, 0);
		expect_recv(&t, 200 + i, IBV_WC_TM_RECV, VALID, MANY_LEN - i);
		CHECK_MEM(t.p.b.mr->ptr + TAG_AT(0) + i * MANY_LEN,
			  t.p.a.mr->ptr + DATA_AT, MANY_LEN - i);
		drv_expect(t.p.a.recv_cq, 600, IBV_WC_SUCCESS);
	}
	CHECK_EQ(t.srq->tag_rec->done, MANY);
	do_rndv(&t, 0, 3, 100, RNDV_HDR);
}

TEST(tm_rendezvous_many_in_error)
{
	struct tag_fixture t = many_rndv();

	CHECK_EQ(drv_set_state(t.to[0], IBV_QPS_ERR), MYNIC_AQ_OK);
	for (unsigned int i = 0; i < MANY; i++) {
		struct mynic_cqe cqe =
			drv_expect(t.cq, 200 + i, IBV_WC_WR_FLUSH_ERR);

		CHECK_EQ(cqe.vendor_err, MYNIC_SYN_FLUSHED);
		CHECK_EQ(cqe.opcode, IBV_WC_TM_RECV);
		CHECK_EQ(cqe.qp_num, t.to[0]->number);
		CHECK_EQ(cqe.wc_flags, 0);
		CHECK_EQ(cqe.byte_len, 0);
	}
	drv_expect_none(t.cq, MSEC);
	CHECK_EQ(t.srq->tag_rec->done, MANY);
	CHECK_EQ(drv_stat(t.p.b.d, MYNIC_STAT_RECV_ERRORS), MANY);
	/* The QP is reset */
	drop(&t, NULL);
	drv_reset_qp(t.from[0]);
	drv_reset_qp(t.to[0]);
	drv_connect(t.from[0], t.to[0], &(struct drv_path){ 0 });
	do_rndv(&t, 0, 3, 100, RNDV_HDR);
}

TEST(tm_rendezvous_unexpected)
{
	struct tag_fixture t = make_tm();

	post_recvs(&t, 0, 1);
	send_rndv(&t, 0, 10, 1000, 200, t.p.a.mr->key);
	expect_whole(&t, 0, IBV_WC_TM_RECV, 200);
	CHECK_EQ(query(&t).unexpected_cnt, 1);
}

/* The peer refuses the key. Rendezvous that wait behind it are not lost */
TEST(tm_rendezvous_bad_key)
{
	static const uint8_t read = BTH_RC_READ_REQUEST;
	struct tag_fixture t = make_tm();

	for (unsigned int i = 0; i < 3; i++)
		add(&t, i, 10 + i, ALL, 0x4000);
	drop(&t, &read);
	for (unsigned int i = 0; i < 2; i++) {
		send_rndv(&t, 0, 10 + i, 1000, RNDV_HDR,
			  t.p.a.mr->key ^ (i ? 0 : 0x100));
		drv_expect(t.p.a.cq, 500, IBV_WC_SUCCESS);
		expect_match(&t, i, 10 + i, MATCH, 0);
	}
	drop(&t, NULL);
	drv_expect(t.cq, 200, IBV_WC_REM_ACCESS_ERR);
	drv_expect(t.cq, 201, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(drv_query_qp(t.to[0]).qp_state, IBV_QPS_ERR);
	CHECK_EQ(query(&t).num_tags, 1);
	/* the other connection goes on */
	do_rndv(&t, 1, 5, 100, RNDV_HDR);
}

/*
 * The peer has no receive request for the FIN. The data has arrived, and the
 * connection fails
 */
TEST(tm_rendezvous_without_fin)
{
	struct tag_fixture t =
		make(&(struct drv_path){ .rnr_retry = 1 }, false);

	add(&t, 0, 10, ALL, 0x4000);
	add(&t, 1, 11, ALL, 0x4000);
	send_rndv(&t, 0, 10, 1000, RNDV_HDR, t.p.a.mr->key);
	drv_expect(t.p.a.cq, 500, IBV_WC_SUCCESS);
	send_rndv(&t, 0, 11, 1000, RNDV_HDR, t.p.a.mr->key);
	drv_expect(t.p.a.cq, 500, IBV_WC_SUCCESS);
	expect_match(&t, 0, 10, MATCH, 0);
	expect_recv(&t, 200, IBV_WC_TM_RECV, VALID, 1000);
	expect_match(&t, 1, 11, MATCH, 0);
	/* it was waiting for that FIN */
	drv_expect(t.cq, 201, IBV_WC_WR_FLUSH_ERR);
	drv_expect_event(&t.p.b.d->event, MYNIC_EVENT_QP_FATAL,
			 t.to[0]->number);
	CHECK_EQ(t.srq->tag_rec->done, 2);
	CHECK_EQ(query(&t).num_tags, 0);
}

/*
 * During the READ, or before the peer has taken the FIN, the QP goes to @state
 * or is destroyed (-1).
 */
static void interrupt(int state, bool fin)
{
	static const uint8_t response = BTH_RC_READ_RESPONSE_LAST;
	struct tag_fixture t =
		make(&(struct drv_path){ .mtu = IBV_MTU_256 }, false);
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_DESTROY_QP,
		.number = t.to[0]->number,
	};
	unsigned int num = 0;
	struct mynic_cqe cqe;

	for (unsigned int i = 0; i < 4; i++)
		add(&t, i, 10 + i, ALL, 0x4000);
	drop(&t, fin ? NULL : &response);
	for (unsigned int i = 0; i < 3; i++) {
		send_rndv(&t, 0, 10 + i, 0x4000, RNDV_HDR, t.p.a.mr->key);
		drv_expect(t.p.a.cq, 500, IBV_WC_SUCCESS);
	}
	/* the second one cannot begin before the peer has the FIN */
	if (fin)
		SIM_WAIT(t.p.sim, t.srq->tag_rec->done == 1);
	CHECK_EQ(query(&t).num_tags, fin ? 3 : 4);
	drop(&t, NULL);
	if (state < 0)
		CHECK_EQ(drv_admin(t.p.b.d, &cmd, NULL), MYNIC_AQ_OK);
	else
		CHECK_EQ(drv_set_state(t.to[0], state), MYNIC_AQ_OK);
	sim_run(t.p.sim, SEC);
	CHECK_EQ(query(&t).num_tags, 1);
	CHECK_EQ(t.srq->tag_rec->done, 3);
	while (drv_poll(t.cq, &cqe))
		num += state == IBV_QPS_ERR &&
		       cqe.status == IBV_WC_WR_FLUSH_ERR;
	CHECK_EQ(num, state != IBV_QPS_ERR ? 0 : fin ? 2 : 3);
	do_rndv(&t, 1, 5, 100, RNDV_HDR);
}

TEST(tm_rendezvous_in_error)
{
	interrupt(IBV_QPS_ERR, false);
	interrupt(IBV_QPS_ERR, true);
}

TEST(tm_rendezvous_reset)
{
	interrupt(IBV_QPS_RESET, false);
	interrupt(IBV_QPS_RESET, true);
}

TEST(tm_rendezvous_destroyed)
{
	interrupt(-1, false);
	interrupt(-1, true);
}

static uint64_t below(struct tag_fixture *t, uint64_t n)
{
	return sim_random(t->p.sim, n);
}

static struct mynic_tag_wqe random_wqe(struct tag_fixture *t)
{
	static const uint64_t masks[] = { 0, 1, 3, ALL };
	uint32_t len = below(t, 8) ? below(t, 0x4000) : below(t, UINT32_MAX);
	uint32_t flags = below(t, 16) ? below(t, 4) : below(t, 256);
	uint64_t mask = masks[below(t, 4)];

	return (struct mynic_tag_wqe){
		.ctrl = below(t, below(t, 8) ? 3 : 256) | flags << 8,
		.unexpected_cnt = query(t).unexpected_cnt - !below(t, 8),
		.handle = below(t, 16),
		.num_sge = below(t, below(t, 8) ? 2 : 1000),
		.tag = below(t, 4) & mask,
		.mask = mask,
		.sge = { .addr = t->p.b.mr->addr + below(t, DRV_PAIR_MEM),
			 .length = len,
			 .lkey = t->p.b.mr->key ^ (below(t, 32) ? 0 : 0x100) },
	};
}

static void send_random(struct tag_fixture *t)
{
	struct {
		struct ibv_tmh tmh;
		struct ibv_rvh rvh;
	} hdr = {
		.tmh = make_header(below(t, 6), below(t, 4)),
		.rvh = {
			.va = htobe64(t->p.a.mr->addr + below(t, DRV_PAIR_MEM)),
			.rkey = htobe32(t->p.a.mr->key ^
					(below(t, 32) ? 0 : 0x100)),
			.len = htobe32(below(t, below(t, 16) ? 3000 :
							       UINT32_MAX)),
		},
	};

	post_raw(t, below(t, 2), &hdr, below(t, sizeof(hdr) + 1),
		 below(t, below(t, 2) ? 64 : 3000));
}

static void drain(struct drv_cq *cq)
{
	struct mynic_cqe cqe;

	while (drv_poll(cq, &cqe))
		;
}

/* With arbitrary operations and messages, no tag is lost or counted twice */
TEST(tm_garbage)
{
	static const struct drv_path path = {
		.mtu = IBV_MTU_256, .timeout = 5, .retry_cnt = 2, .rnr_retry = 1
	};
	struct tag_fixture t = make(&path, false);
	uint32_t adds = 0, times = 0;
	struct mynic_tag_wqe wqe;

	t.p.sim->drop = 10;
	for (unsigned int i = 0; i < 6000; i++) {
		switch (below(&t, 4)) {
		case 0:
			wqe = random_wqe(&t);
			adds += !(wqe.ctrl & MYNIC_TAG_OPCODE_MASK);
			drv_post_tag(t.srq, &wqe);
			break;
		case 1:
			if (t.srq->pi - t.srq->rec->ci < 32)
				post_recvs(&t, below(&t, 16), 1);
			post_fin_recv(&t, below(&t, 2));
			break;
		default:
			send_random(&t);
		}
		sim_run(t.p.sim, below(&t, 100 * USEC));
		drain(t.cq);
		drain(t.p.a.cq);
		drain(t.p.a.recv_cq);
		CHECK_EQ(t.srq->tag_rec->done + query(&t).num_tags, adds);
		for (unsigned int j = 0; j < 2; j++) {
			if (drv_query_qp(t.to[j]).qp_state == IBV_QPS_RTS &&
			    drv_query_qp(t.from[j]).qp_state == IBV_QPS_RTS)
				continue;
			drv_reset_qp(t.from[j]);
			drv_reset_qp(t.to[j]);
			drv_connect(t.from[j], t.to[j], &path);
			times++;
		}
	}
	tap_note("%u times in error", times);
	CHECK(times > 10);
	CHECK(adds > 100);
	CHECK_EQ(query(&t).dead, 0);
}

/*
 * The CQ belongs to the SRQ. Its overrun ends the SRQ and its QPs, and nothing
 * else
 */
TEST(tm_cq_overrun)
{
	struct tag_fixture t = make_tm();
	struct mynic_tag_wqe wqe = {
		.ctrl = IBV_WR_TAG_SYNC | SIGNALED << MYNIC_TAG_FLAGS_SHIFT,
	};
	struct drv_eq *eq = &t.p.b.d->event;
	struct mynic_eqe eqe;
	unsigned int num = 0;

	add(&t, 0, 1, ALL, 64);
	for (unsigned int i = 0; i <= 128; i++) {
		SIM_WAIT(t.p.sim, t.srq->tag_rec->ci == t.srq->tag_pi);
		drv_post_tag(t.srq, &wqe);
	}
	drv_expect_event(eq, MYNIC_EVENT_CQ_ERROR, t.cq->number);
	SIM_WAIT(t.p.sim, query(&t).dead);
	for (unsigned int i = 0; i < 2; i++)
		CHECK_EQ(drv_query_qp(t.to[i]).qp_state, IBV_QPS_ERR);
	while (drv_eq_poll(eq, &eqe))
		num += eqe.type == MYNIC_EVENT_SRQ_ERROR &&
		       eqe.number == t.srq->number;
	CHECK_EQ(num, 1);
	CHECK_EQ(drv_query_qp(t.p.b.qp).qp_state, IBV_QPS_RESET);
}
