// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Buffers that reach beyond their region, of which only the written part is
 * checked. A buffer of ROOM bytes begins LEFT bytes before the end of b's
 * region.
 */
#include "harness_eth.h"

#define LEFT 1024u
#define ROOM 4096u
#define GRH_LEN 40
#define QKEY 0x11111111

static struct mynic_sge beyond(const struct drv_pair *p)
{
	return drv_sge(p->b.mr, DRV_PAIR_MEM - LEFT, ROOM);
}

static void check_bounds(struct drv_cq *cq, uint64_t wr_id)
{
	CHECK_EQ(drv_expect(cq, wr_id, IBV_WC_LOC_PROT_ERR).vendor_err,
		 MYNIC_SYN_LKEY_BOUNDS);
}

static void send(struct drv_pair *p, uint32_t len)
{
	struct drv_wr wr = {
		.wr_id = len,
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p->a.mr, 0, len) },
		.remote_qpn = p->b.qp->number,
		.remote_qkey = QKEY,
		.av = drv_av(p->a.d, 1, DRV_GID_IPV6),
	};

	drv_post_send(p->a.qp, &wr);
}

/* @grh: bytes before the message */
static void check_receive(struct drv_pair *p, uint32_t grh)
{
	struct mynic_sge sge = beyond(p);
	const uint32_t lens[] = { 0, 1, LEFT - grh };

	drv_fill(p->a.mr->ptr, ROOM, 1);
	for (unsigned int i = 0; i < 3; i++) {
		drv_post_recv(p->b.qp, i, &sge, 1);
		send(p, lens[i]);
		drv_expect(p->b.recv_cq, i, IBV_WC_SUCCESS);
		CHECK_MEM(p->b.mr->ptr + DRV_PAIR_MEM - LEFT + grh,
			  p->a.mr->ptr, lens[i]);
	}
	drv_post_recv(p->b.qp, 9, &sge, 1);
	send(p, LEFT - grh + 1);
	check_bounds(p->b.recv_cq, 9);
}

TEST(recv_bounds_rc)
{
	struct drv_pair p = drv_rc_pair(NULL);

	check_receive(&p, 0);
	drv_expect(p.a.cq, 0, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, LEFT, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, LEFT + 1, IBV_WC_REM_OP_ERR);
}

/* Each packet of a message is checked over its own part */
TEST(recv_bounds_rc_packets)
{
	struct drv_path path = { .mtu = IBV_MTU_256 };
	struct drv_pair p = drv_rc_pair(&path);

	check_receive(&p, 0);
}

TEST(recv_bounds_uc)
{
	struct drv_pair p = drv_uc_pair(NULL);

	check_receive(&p, 0);
}

TEST(recv_bounds_ud)
{
	struct drv_pair p = drv_ud_pair();

	check_receive(&p, GRH_LEN);
}

/* The whole buffer is outside of the region, so the first byte fails */
TEST(recv_bounds_ud_no_grh)
{
	struct drv_pair p = drv_ud_pair();
	struct mynic_sge sge = drv_sge(p.b.mr, DRV_PAIR_MEM - 39, ROOM);

	drv_post_recv(p.b.qp, 1, &sge, 1);
	send(&p, 0);
	check_bounds(p.b.recv_cq, 1);
}

/* An element that the message does not reach is not checked */
TEST(recv_bounds_two_elements)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_sge sge[] = { drv_sge(p.b.mr, 0, 100), beyond(&p) };

	drv_post_recv(p.b.qp, 1, sge, 2);
	send(&p, 100 + LEFT);
	drv_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS);
	drv_post_recv(p.b.qp, 2, sge, 2);
	send(&p, 100 + LEFT + 1);
	check_bounds(p.b.recv_cq, 2);
}

/* Addresses that wrap are outside of the region as well */
TEST(recv_bounds_wrap)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_sge sge = { UINT64_MAX - 3, ROOM, p.b.mr->key };

	drv_post_recv(p.b.qp, 1, &sge, 1);
	send(&p, 8);
	check_bounds(p.b.recv_cq, 1);
}

/* Send buffers are checked completely */
TEST(recv_bounds_not_of_sends)
{
	struct drv_path path = { .mtu = IBV_MTU_256 };
	struct drv_pair p = drv_rc_pair(&path);
	struct drv_wr wr = {
		.wr_id = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.num_sge = 1,
		.sge = { drv_sge(p.a.mr, DRV_PAIR_MEM - LEFT, ROOM) },
		.remote_addr = p.b.mr->addr,
		.rkey = p.b.mr->key,
	};

	memset(p.b.mr->ptr, 0xee, LEFT);
	drv_fill(p.a.mr->ptr + DRV_PAIR_MEM - LEFT, LEFT, 1);
	drv_post_send(p.a.qp, &wr);
	check_bounds(p.a.cq, 1);
	CHECK_EQ(p.b.mr->ptr[0], 0xee);
}

TEST(recv_bounds_srq)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct drv_qp_init at_b = {
		.type = MYNIC_QP_RC,
		.pdn = p.b.pdn,
		.send_cq = p.b.cq,
		.recv_cq = p.b.recv_cq,
		.srq = drv_create_srq(p.b.d, p.b.pdn, 4),
	};
	struct mynic_sge sge = beyond(&p);

	p.b.qp = drv_create_qp(p.b.d, &at_b);
	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
	drv_post_srq_recv(at_b.srq, 1, &sge, 1);
	drv_post_srq_recv(at_b.srq, 2, &sge, 1);
	send(&p, LEFT);
	drv_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS);
	send(&p, LEFT + 1);
	check_bounds(p.b.recv_cq, 2);
}

/* A connection whose receiver has an SRQ with tags */
struct tagged {
	struct drv_pair p;
	struct drv_cq *cq;
	struct drv_srq *srq;
};

static struct tagged make_tagged(enum ibv_mtu mtu)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	struct tagged t = { .p = drv_pair_unconnected(&init) };
	struct drv_qp_init at_b = {
		.type = MYNIC_QP_RC,
		.pdn = t.p.b.pdn,
		.send_cq = t.p.b.cq,
		.recv_cq = t.p.b.recv_cq,
		.no_sq = true,
	};

	t.cq = drv_create_cq(t.p.b.d, 7);
	t.srq = drv_create_tm_srq(t.p.b.d, t.p.b.pdn, t.cq, 5, 8);
	at_b.srq = t.srq;
	t.p.b.qp = drv_create_qp(t.p.b.d, &at_b);
	drv_connect(t.p.a.qp, t.p.b.qp, &(struct drv_path){ .mtu = mtu });
	return t;
}

static void add_tags(struct tagged *t)
{
	struct mynic_tag_wqe wqe = {
		.ctrl = IBV_WR_TAG_ADD,
		.num_sge = 1,
		.sge = beyond(&t->p),
	};

	for (uint32_t i = 0; i < 2; i++) {
		wqe.handle = i;
		wqe.recv_wr_id = i;
		drv_post_tag(t->srq, &wqe);
	}
}

/* Send @len bytes that begin with @header */
static void send_tagged(struct tagged *t, const void *header,
			uint32_t header_len, uint32_t len)
{
	drv_fill(t->p.a.mr->ptr, len, len);
	memcpy(t->p.a.mr->ptr, header, header_len);
	send(&t->p, len);
}

static void expect_written(struct tagged *t, const uint8_t *from, uint32_t len)
{
	CHECK_MEM(t->p.b.mr->ptr + DRV_PAIR_MEM - LEFT, from, len);
}

static const enum ibv_mtu mtus[] = { IBV_MTU_256, IBV_MTU_4096 };

/*
 * The header of a message that a tag takes is not written. Its first packet has
 * a completion of its own if there are others.
 */
TEST(recv_bounds_tag)
{
	static const struct ibv_tmh header = { .opcode = IBV_TMH_EAGER };

	for (unsigned int i = 0; i < 2; i++) {
		struct tagged t = make_tagged(mtus[i]);
		bool packets = mtus[i] == IBV_MTU_256;

		add_tags(&t);
		send_tagged(&t, &header, sizeof(header), sizeof(header) + LEFT);
		if (packets)
			drv_expect(t.cq, 0, IBV_WC_SUCCESS);
		drv_expect(t.cq, 0, IBV_WC_SUCCESS);
		expect_written(&t, t.p.a.mr->ptr + sizeof(header), LEFT);
		send_tagged(&t, &header, sizeof(header),
			    sizeof(header) + LEFT + 1);
		if (packets)
			drv_expect(t.cq, 1, IBV_WC_SUCCESS);
		check_bounds(t.cq, 1);
	}
}

/* Without a tag, a receive request takes the message with its header */
TEST(recv_bounds_no_tag)
{
	static const struct ibv_tmh header = { .opcode = IBV_TMH_EAGER };

	for (unsigned int i = 0; i < 2; i++) {
		struct tagged t = make_tagged(mtus[i]);
		struct mynic_sge sge = beyond(&t.p);

		drv_post_srq_recv(t.srq, 3, &sge, 1);
		drv_post_srq_recv(t.srq, 4, &sge, 1);
		send_tagged(&t, &header, sizeof(header), LEFT);
		drv_expect(t.cq, 3, IBV_WC_SUCCESS);
		expect_written(&t, t.p.a.mr->ptr, LEFT);
		send_tagged(&t, &header, sizeof(header), LEFT + 1);
		check_bounds(t.cq, 4);
	}
}

/* The announced data, not the tag's buffer, is what a rendezvous writes */
TEST(recv_bounds_rendezvous)
{
	struct tagged t = make_tagged(IBV_MTU_256);
	struct mynic_sge fin = drv_sge(t.p.a.mr, ROOM, 64);
	struct {
		struct ibv_tmh tmh;
		struct ibv_rvh rvh;
	} header = {
		.tmh = { .opcode = IBV_TMH_RNDV },
		.rvh = {
			.va = htobe64(t.p.a.mr->addr + 2 * ROOM),
			.rkey = htobe32(t.p.a.mr->key),
		},
	};

	add_tags(&t);
	drv_post_recv(t.p.a.qp, 0, &fin, 1);
	drv_fill(t.p.a.mr->ptr + 2 * ROOM, ROOM, 2);
	header.rvh.len = htobe32(LEFT);
	send_tagged(&t, &header, sizeof(header), sizeof(header));
	/* the message, then its data */
	drv_expect(t.cq, 0, IBV_WC_SUCCESS);
	drv_expect(t.cq, 0, IBV_WC_SUCCESS);
	expect_written(&t, t.p.a.mr->ptr + 2 * ROOM, LEFT);
	drv_expect(t.p.a.recv_cq, 0, IBV_WC_SUCCESS);
	header.rvh.len = htobe32(LEFT + 1);
	send_tagged(&t, &header, sizeof(header), sizeof(header));
	drv_expect(t.cq, 1, IBV_WC_SUCCESS);
	check_bounds(t.cq, 1);
}

/* The sender of a frame decides its length */
TEST(recv_bounds_raw)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_sge sge = beyond(&p);
	struct eth_buf buf;

	CHECK_EQ(eth_flow(p.b.qp,
			  (struct mynic_create_flow){ .qpn = p.b.qp->number },
			  NULL, NULL),
		 0);
	for (uint32_t more = 0; more < 2; more++) {
		eth_begin(&buf, ETH_GROUP, 0x88b5);
		eth_put_data(&buf, LEFT - buf.len + more, 1);
		drv_post_recv(p.b.qp, more, &sge, 1);
		eth_send_frame(&p.a, &buf, 0);
		if (more)
			check_bounds(p.b.recv_cq, more);
		else
			drv_expect(p.b.recv_cq, more, IBV_WC_SUCCESS);
	}
}
