// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* CQs and SRQs that move to another ring */
#include <stdlib.h>

#include "fixture.h"
#include "mynic.h"

/* Numbers of completed and polled completions of a CQ */
struct stream {
	struct fixture *f;
	struct ibv_cq *cq;
	uint32_t made;
	uint32_t seen;
};

static void complete(struct stream *s, uint32_t n)
{
	while (n--) {
		struct mynic_cqe cqe = {
			.wr_id = htole64(s->made),
			.qp_num = htole32(~s->made),
			.timestamp = htole64(7ULL * s->made),
		};

		fake_complete(&fake_cq, &cqe);
		s->made++;
	}
}

static void poll(struct stream *s, uint32_t n)
{
	struct ibv_wc wc;

	while (n--) {
		CHECK_EQ(ibv_poll_cq(s->cq, 1, &wc), 1);
		CHECK_EQ(wc.wr_id, s->seen);
		CHECK_EQ(wc.qp_num, ~s->seen);
		s->seen++;
		CHECK_EQ(le32toh(fake_cq.dbrec->ci), s->seen);
	}
}

static struct stream stream(int cqe)
{
	struct fixture *f = fixture_open(cqe);

	return (struct stream){ .f = f, .cq = f->cq };
}

static void check_resize(struct stream s)
{
	uint32_t size = s.cq->cqe;
	struct ibv_wc wc;

	for (uint32_t i = 0; i < 3000; i++) {
		uint32_t in, new_size = 1U << random() % 6;

		complete(&s, random() % (size - (s.made - s.seen) + 1));
		poll(&s, random() % (s.made - s.seen + 1));
		if (i % 10)
			continue;
		in = s.made - s.seen;
		if (in <= new_size) {
			CHECK_EQ(ibv_resize_cq(s.cq, new_size), 0);
			size = new_size;
		} else {
			CHECK_EQ(ibv_resize_cq(s.cq, new_size), EINVAL);
		}
		CHECK_EQ(s.cq->cqe, size);
	}
	poll(&s, s.made - s.seen);
	CHECK_EQ(ibv_poll_cq(s.cq, 1, &wc), 0);
}

TEST(cq_resize)
{
	check_resize(stream(4));
}

TEST(cq_resize_single_threaded)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};
	struct stream s = stream(4);
	struct ibv_cq_ex *cq = ibv_create_cq_ex(s.f->context, &attr);

	CHECK(cq);
	s.cq = ibv_cq_ex_to_cq(cq);
	check_resize(s);
	CHECK_EQ(ibv_destroy_cq(s.cq), 0);
}

TEST(cq_resize_that_fails)
{
	struct stream s = stream(8);
	struct ibv_wc wc;

	complete(&s, 11 - 8);
	poll(&s, 3);
	complete(&s, 6);
	/* no memory; memory that cannot be mapped; the device refuses */
	fake.fail = ENOMEM;
	CHECK_EQ(ibv_resize_cq(s.cq, 16), ENOMEM);
	fake.bad_map = true;
	CHECK_EQ(ibv_resize_cq(s.cq, 16), EINVAL);
	fake.bad_map = false;
	fake.fail_after = 1;
	fake.fail = EIO;
	CHECK_EQ(ibv_resize_cq(s.cq, 16), EIO);
	CHECK_EQ(ibv_resize_cq(s.cq, 4), EINVAL);
	CHECK_EQ(s.cq->cqe, 8);
	complete(&s, 2);
	poll(&s, 8);
	CHECK_EQ(ibv_poll_cq(s.cq, 1, &wc), 0);
	CHECK_EQ(ibv_resize_cq(s.cq, 4), 0);
	complete(&s, 4);
	poll(&s, 4);
}

static void check_arm(struct stream *s, uint64_t seq)
{
	uint64_t *rung = fake_uar(MYNIC_UAR_CQ_DB);

	CHECK_EQ(ibv_req_notify_cq(s->cq, 0), 0);
	CHECK_EQ(le64toh(fake_cq.dbrec->arm),
		 MYNIC_ARM_VALID | seq << MYNIC_ARM_SEQ_SHIFT | s->made);
	CHECK_EQ(le64toh(*rung), (uint64_t)fake_cq.resp.cqn << 32 | s->made);
	*rung = 0;
}

/* The index of the request is that of the next completion, in any ring */
TEST(cq_arm_after_resize)
{
	struct stream s = stream(8);

	for (uint32_t i = 0; i < 40; i++) {
		complete(&s, 3);
		CHECK_EQ(ibv_resize_cq(s.cq, i % 2 ? 4 : 16), 0);
		check_arm(&s, i * 2 + 1);
		complete(&s, 1);
		check_arm(&s, i * 2 + 2);
		poll(&s, 2 + i % 3);
		poll(&s, s.made - s.seen);
	}
}

/* A request that the device did not find in the old record is in the new one */
TEST(cq_resize_takes_the_request_along)
{
	struct stream s = stream(8);
	uint64_t *rung = fake_uar(MYNIC_UAR_CQ_DB);
	__le64 request;

	complete(&s, 3);
	check_arm(&s, 1);
	request = fake_cq.dbrec->arm;
	CHECK_EQ(ibv_resize_cq(s.cq, 16), 0);
	CHECK_EQ(fake_cq.dbrec->arm, request);
	CHECK_EQ(le64toh(*rung) >> MYNIC_DB_NUMBER_SHIFT, fake_cq.resp.cqn);
	*rung = 0;
	fake_cq.dbrec->taken = request;
	CHECK_EQ(ibv_resize_cq(s.cq, 8), 0);
	CHECK_EQ(fake_cq.dbrec->arm, request);
	CHECK_EQ(*rung, 0);
	complete(&s, 1);
	check_arm(&s, 2);
}

TEST(cq_clean_after_resize)
{
	struct stream s = stream(4);
	struct ibv_wc wc;

	for (uint32_t i = 0; i < 20; i++) {
		complete(&s, 3);
		CHECK_EQ(ibv_resize_cq(s.cq, i % 2 ? 4 : 8), 0);
		complete(&s, 1);
		mynic_cq_clean(to_mcq(s.cq), ~(s.seen + 1));
		CHECK_EQ(ibv_poll_cq(s.cq, 1, &wc), 1);
		CHECK_EQ(wc.wr_id, s.seen);
		s.seen += 2;
		poll(&s, 2);
	}
}

/* Check requests that the device has not taken, and later ones */
static void check_srq(uint32_t taken, uint32_t posted)
{
	uint32_t size = 1U << fake_srq.resp.log_size;

	CHECK_EQ(le32toh(fake_srq.dbrec->pi), posted);
	CHECK_EQ(le32toh(fake_srq.dbrec->ci), taken);
	for (; taken != posted; taken++) {
		struct mynic_recv_wqe *wqe =
			fake_srq.ring + ((size_t)(taken & (size - 1))
					 << fake_srq.resp.log_stride);
		struct mynic_sge *sge = (struct mynic_sge *)(wqe + 1);

		CHECK_EQ(le64toh(wqe->wr_id), taken);
		CHECK_EQ(le32toh(wqe->num_sge), 2);
		CHECK_EQ(le64toh(sge[1].addr), 0x1000 + taken);
	}
}

static int post(struct ibv_srq *srq, uint32_t index)
{
	struct ibv_sge sge[2] = { { .length = 4 }, { .addr = 0x1000 + index } };
	struct ibv_recv_wr wr = {
		.wr_id = index,
		.sg_list = sge,
		.num_sge = 2,
	}, *bad;

	return ibv_post_srq_recv(srq, &wr, &bad);
}

static struct ibv_srq *open_srq(uint32_t max_wr)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = max_wr, .max_sge = 2 },
	};
	struct ibv_srq *srq = ibv_create_srq(fixture_open(8)->pd, &init);

	CHECK(srq);
	return srq;
}

TEST(srq_resize)
{
	struct ibv_srq *srq = open_srq(4);
	uint32_t size = 4, taken = 0, posted = 0;

	for (int i = 0; i < 3000; i++) {
		uint32_t n = random() % (size - (posted - taken) + 1);
		struct ibv_srq_attr attr = { .max_wr = 1U << random() % 6 };

		while (n--)
			CHECK_EQ(post(srq, posted++), 0);
		taken += random() % (posted - taken + 1);
		fake_srq.dbrec->ci = htole32(taken);
		if (i % 10)
			continue;
		if (posted - taken <= attr.max_wr) {
			CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), 0);
			size = attr.max_wr;
		} else {
			CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR),
				 EINVAL);
		}
		check_srq(taken, posted);
	}
	/* no more than there is room for */
	while (posted - taken < size)
		CHECK_EQ(post(srq, posted++), 0);
	CHECK_EQ(post(srq, posted), ENOMEM);
	check_srq(taken, posted);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
}

TEST(srq_resize_that_fails)
{
	struct ibv_srq_attr attr = { .max_wr = 16, .srq_limit = 3 };
	int both = IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT;
	struct ibv_srq *srq = open_srq(8);

	for (int i = 0; i < 6; i++)
		CHECK_EQ(post(srq, i), 0);
	fake.fail = ENOMEM;
	CHECK_EQ(ibv_modify_srq(srq, &attr, both), ENOMEM);
	fake.bad_map = true;
	CHECK_EQ(ibv_modify_srq(srq, &attr, both), EINVAL);
	fake.bad_map = false;
	fake.fail_after = 1;
	fake.fail = EIO;
	CHECK_EQ(ibv_modify_srq(srq, &attr, both), EIO);
	attr.max_wr = 4;
	CHECK_EQ(ibv_modify_srq(srq, &attr, both), EINVAL);
	check_srq(0, 6);
	CHECK_EQ(post(srq, 6), 0);
	CHECK_EQ(post(srq, 7), 0);
	CHECK_EQ(post(srq, 8), ENOMEM);
	CHECK_EQ(fake_srq.resp.log_size, 3);
	attr.max_wr = 16;
	CHECK_EQ(ibv_modify_srq(srq, &attr, both), 0);
	CHECK_EQ(post(srq, 8), 0);
	check_srq(0, 9);
	/* the limit alone is another command */
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
}
