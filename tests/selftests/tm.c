// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Tag matching: SRQs with a list of tags, refused calls, and messages */
#include <infiniband/tm_types.h>
#include <signal.h>
#include <sys/wait.h>

#include "verbs.h"

#define TAGS 8
#define LEN 100000 /* of a rendezvous */
#define TAG_AT 0x10000 /* offset of the buffer of a tag */
#define RECV_AT 0x1000 /* offset of buffers for other messages */
#define RECV_LEN 0x1000
#define TAG 0x1122334455667788ULL

/*
 * struct pair - two connected ends on one device
 * @from: sends, and has an RQ
 * @to: receives; its QP has the SRQ, whose CQ is @to.cq
 */
struct pair {
	struct end from;
	struct end to;
	struct ibv_srq *srq;
};

static struct ibv_qp *make_receiver(struct pair *p, enum ibv_qp_type type)
{
	return make_qp_with(&p->to, type, p->srq, (struct ibv_qp_cap){});
}

static bool make_pair(struct pair *p)
{
	p->from.ctx = open_mynic(0);
	p->to.ctx = p->from.ctx;
	if (!p->from.ctx || !make_end(&p->from, IBV_QPT_RC) ||
	    !make_end(&p->to, IBV_QPT_RC))
		return false;
	/* it is to have another one */
	if (ibv_destroy_qp(p->to.qp))
		return false;
	p->to.qp = NULL;
	p->srq = make_tm_srq(&p->to, TAGS, TAGS);
	if (!p->srq)
		return false;
	p->to.qp = make_receiver(p, IBV_QPT_RC);
	return p->to.qp && !to_rts(&p->from, &p->to) &&
	       !to_rts(&p->to, &p->from);
}

static int free_pair(struct pair *p)
{
	int err = ibv_destroy_qp(p->to.qp);

	p->to.qp = NULL;
	if (!err)
		err = ibv_destroy_srq(p->srq);
	if (!err)
		err = free_end(&p->to);
	if (!err)
		err = free_end(&p->from);
	return err ? err : ibv_close_device(p->from.ctx);
}

static int add_tag(struct pair *p, uint64_t tag, uint32_t len, uint32_t *handle)
{
	struct ibv_sge sge = { (uintptr_t)p->to.buf + TAG_AT, len,
			       p->to.mr->lkey };
	struct ibv_ops_wr *bad, wr = {
		.wr_id = 1,
		.opcode = IBV_WR_TAG_ADD,
		.flags = IBV_OPS_SIGNALED,
		.tm.add = { .recv_wr_id = 2,
			    .sg_list = &sge,
			    .num_sge = 1,
			    .tag = tag,
			    .mask = UINT64_MAX },
	};
	int err = ibv_post_srq_ops(p->srq, &wr, &bad);

	*handle = wr.tm.handle;
	return err;
}

static int other_op(struct pair *p, enum ibv_ops_wr_opcode opcode,
		    uint32_t handle, uint32_t count)
{
	struct ibv_ops_wr *bad, wr = {
		.wr_id = 3,
		.opcode = opcode,
		.flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC,
		.tm = { .unexpected_cnt = count, .handle = handle },
	};

	return ibv_post_srq_ops(p->srq, &wr, &bad);
}

static int post_srq_recv(struct pair *p)
{
	struct ibv_sge sge = { (uintptr_t)p->to.buf + RECV_AT, RECV_LEN,
			       p->to.mr->lkey };
	struct ibv_recv_wr *bad, wr = {
		.wr_id = 4,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ibv_post_srq_recv(p->srq, &wr, &bad);
}

static void set_header(struct pair *p, enum ibv_tmh_op op, uint64_t tag)
{
	struct ibv_tmh tmh = { .opcode = op, .tag = htobe64(tag) };

	memcpy(p->from.buf, &tmh, sizeof(tmh));
	for (int i = sizeof(tmh); i < 200; i++)
		p->from.buf[i] = i;
}

static int send_eager(struct pair *p, uint64_t tag)
{
	set_header(p, IBV_TMH_EAGER, tag);
	return post(&p->from, IBV_WR_SEND, 5, 0, 200, NULL);
}

static int send_rndv(struct pair *p, uint64_t tag, uint32_t len)
{
	struct ibv_rvh rvh = {
		.va = htobe64((uintptr_t)p->from.buf + TAG_AT),
		.rkey = htobe32(p->from.mr->rkey),
		.len = htobe32(len),
	};

	set_header(p, IBV_TMH_RNDV, tag);
	memcpy(p->from.buf + sizeof(struct ibv_tmh), &rvh, sizeof(rvh));
	for (uint32_t i = 0; i < len; i++)
		p->from.buf[TAG_AT + i] = i * 7 + len;
	return post(&p->from, IBV_WR_SEND, 5, 0, 32, NULL);
}

/* The next completion is this one, and a success */
static bool completes(struct ibv_cq *cq, uint64_t wr_id,
		      enum ibv_wc_opcode opcode, unsigned int flags,
		      uint32_t len)
{
	struct ibv_wc wc;

	return wait_wc(cq, &wc) && !wc.status && wc.wr_id == wr_id &&
	       wc.opcode == opcode && wc.wc_flags == flags &&
	       (wc.byte_len == len || opcode == IBV_WC_SEND);
}

static bool is_added(struct pair *p, uint64_t tag, uint32_t len)
{
	uint32_t handle;

	return !add_tag(p, tag, len, &handle) &&
	       completes(p->to.cq, 1, IBV_WC_TM_ADD, 0, 0);
}

static bool is_matched(struct pair *p, uint64_t tag)
{
	return !send_eager(p, tag) &&
	       completes(p->from.cq, 5, IBV_WC_SEND, 0, 0) &&
	       completes(p->to.cq, 2, IBV_WC_TM_RECV,
			 IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID, 184) &&
	       !memcmp(p->to.buf + TAG_AT, p->from.buf + 16, 184);
}

static bool is_unexpected(struct pair *p, uint64_t tag)
{
	return !send_eager(p, tag) &&
	       completes(p->from.cq, 5, IBV_WC_SEND, 0, 0) &&
	       completes(p->to.cq, 4, IBV_WC_TM_RECV, 0, 200) &&
	       !memcmp(p->to.buf + RECV_AT, p->from.buf, 200);
}

static bool does_rendezvous(struct pair *p, uint64_t tag)
{
	return !post_recv(&p->from, 6, 0x800, 64) && !send_rndv(p, tag, LEN) &&
	       completes(p->from.cq, 5, IBV_WC_SEND, 0, 0) &&
	       completes(p->to.cq, 2, IBV_WC_TM_RECV, IBV_WC_TM_MATCH, 0) &&
	       completes(p->to.cq, 2, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID,
			 LEN) &&
	       !memcmp(p->to.buf + TAG_AT, p->from.buf + TAG_AT, LEN) &&
	       completes(p->from.cq, 6, IBV_WC_RECV, 0, 32) &&
	       p->from.buf[0x800] == IBV_TMH_FIN &&
	       !memcmp(p->from.buf + 0x801, p->from.buf + 1, 31);
}

TEST(refused)
{
	struct ibv_device_attr_ex attr;
	struct pair p = { 0 };

	ASSERT_TRUE(make_pair(&p));
	ASSERT_EQ(ibv_query_device_ex(p.to.ctx, NULL, &attr), 0);
	EXPECT_EQ(attr.tm_caps.flags, IBV_TM_CAP_RC);
	EXPECT_EQ(attr.tm_caps.max_sge, 1);
	EXPECT_GE(attr.tm_caps.max_rndv_hdr_size, 32);

	EXPECT_EQ(make_tm_srq(&p.to, 0, TAGS), NULL);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(make_tm_srq(&p.to, attr.tm_caps.max_num_tags + 1, TAGS),
		  NULL);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(make_tm_srq(&p.to, TAGS, 0), NULL);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(make_tm_srq(&p.to, TAGS, attr.tm_caps.max_ops + 1), NULL);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(make_receiver(&p, IBV_QPT_UD), NULL);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(make_receiver(&p, IBV_QPT_UC), NULL);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(ibv_destroy_srq(p.srq), EBUSY);
	EXPECT_EQ(ibv_destroy_cq(p.to.cq), EBUSY);
	EXPECT_EQ(free_pair(&p), 0);
}

TEST(messages)
{
	struct pair p = { 0 };
	uint32_t handle;

	ASSERT_TRUE(make_pair(&p));
	ASSERT_EQ(post_srq_recv(&p), 0);
	ASSERT_TRUE(is_added(&p, TAG, 4096));
	EXPECT_TRUE(is_matched(&p, TAG));
	EXPECT_TRUE(is_unexpected(&p, TAG));

	/* not for messages until the host knows of that one */
	ASSERT_EQ(add_tag(&p, TAG, 4096, &handle), 0);
	EXPECT_TRUE(
		completes(p.to.cq, 1, IBV_WC_TM_ADD, IBV_WC_TM_SYNC_REQ, 0));
	ASSERT_EQ(other_op(&p, IBV_WR_TAG_SYNC, 0, 1), 0);
	EXPECT_TRUE(completes(p.to.cq, 3, IBV_WC_TM_SYNC, 0, 0));
	EXPECT_TRUE(is_matched(&p, TAG));

	ASSERT_EQ(add_tag(&p, TAG, 4096, &handle), 0);
	EXPECT_TRUE(completes(p.to.cq, 1, IBV_WC_TM_ADD, 0, 0));
	ASSERT_EQ(other_op(&p, IBV_WR_TAG_DEL, handle, 1), 0);
	EXPECT_TRUE(completes(p.to.cq, 3, IBV_WC_TM_DEL, 0, 0));

	for (int i = 0; i < 3 * TAGS; i++) {
		ASSERT_TRUE(is_added(&p, i, LEN));
		EXPECT_TRUE(does_rendezvous(&p, i));
	}
	EXPECT_EQ(free_pair(&p), 0);
}

/* Functions of other SRQs */
TEST(resize_and_limit)
{
	struct ibv_srq_attr attr = { .max_wr = 100, .srq_limit = 50 };
	struct ibv_async_event event;
	struct pair p = { 0 };

	ASSERT_TRUE(make_pair(&p));
	ASSERT_EQ(post_srq_recv(&p), 0);
	ASSERT_TRUE(is_added(&p, TAG, 4096));
	ASSERT_EQ(ibv_modify_srq(p.srq, &attr, IBV_SRQ_MAX_WR), 0);
	ASSERT_EQ(ibv_query_srq(p.srq, &attr), 0);
	EXPECT_GE(attr.max_wr, 100);
	EXPECT_TRUE(is_unexpected(&p, TAG + 1));
	EXPECT_TRUE(is_matched(&p, TAG));
	attr.srq_limit = 50;
	ASSERT_EQ(ibv_modify_srq(p.srq, &attr, IBV_SRQ_LIMIT), 0);
	ASSERT_EQ(ibv_get_async_event(p.to.ctx, &event), 0);
	EXPECT_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	EXPECT_EQ(event.element.srq, p.srq);
	ibv_ack_async_event(&event);
	EXPECT_EQ(free_pair(&p), 0);
}

/* Die during a rendezvous whose FIN is not received */
static int die(int out)
{
	struct pair p = { 0 };

	if (!make_pair(&p))
		return 1;
	for (int i = 0; i < TAGS; i++)
		if (!is_added(&p, i, LEN) || send_rndv(&p, i, LEN) ||
		    !completes(p.from.cq, 5, IBV_WC_SEND, 0, 0) ||
		    !completes(p.to.cq, 2, IBV_WC_TM_RECV, IBV_WC_TM_MATCH, 0))
			return 2;
		else if (!i && !completes(p.to.cq, 2, IBV_WC_TM_RECV,
					  IBV_WC_TM_DATA_VALID, LEN))
			return 3;
	if (write(out, "", 1) != 1)
		return 4;
	for (;;)
		pause();
}

TEST(killed)
{
	struct pair p = { 0 };
	int status, fd[2];
	pid_t pid;
	char c;

	ASSERT_EQ(pipe(fd), 0);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(die(fd[1]));
	close(fd[1]);
	ASSERT_EQ(read(fd[0], &c, 1), 1);
	ASSERT_EQ(kill(pid, SIGKILL), 0);
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	ASSERT_TRUE(make_pair(&p));
	ASSERT_TRUE(is_added(&p, TAG, LEN));
	EXPECT_TRUE(does_rendezvous(&p, TAG));
	EXPECT_EQ(free_pair(&p), 0);
}

TEST_HARNESS_MAIN
