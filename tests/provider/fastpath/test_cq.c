// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Polling, arming, and removing completions */
#include <sched.h>

#include "fixture.h"
#include "mynic.h"

/* Another value in every field, all different with @n */
static struct mynic_cqe make_cqe(uint32_t n)
{
	return (struct mynic_cqe){
		.wr_id = htole64(0xf000000000000000ULL + n),
		.status = htole32(IBV_WC_RNR_RETRY_EXC_ERR),
		.opcode = htole32(IBV_WC_RECV_RDMA_WITH_IMM),
		.vendor_err = htole32(0x1000 + n),
		.byte_len = htole32(0x80000000 + n),
		.imm_data = htobe32(0x01020304 + n),
		.qp_num = htole32(0xabc000 + n),
		.src_qp = htole32(0xdef000 + n),
		.wc_flags = htole32(IBV_WC_GRH | IBV_WC_WITH_IMM),
		.pkey_index = htole16(0x1111),
		.slid = htole16(0x2200 + (n & 0xff)),
		.sl = 7,
		.dlid_path_bits = 0x55,
		.cvlan = htole16(0x3333),
		.timestamp = htole64(0x4444444444444444ULL),
		.flow_tag = htole32(0x66666666),
	};
}

static void complete(struct fixture *f, uint32_t n)
{
	struct mynic_cqe cqe = make_cqe(n);

	fake_complete(&f->fake_cq, &cqe);
}

static void check_wc(const struct ibv_wc *wc, uint32_t n)
{
	CHECK_EQ(wc->wr_id, 0xf000000000000000ULL + n);
	CHECK_EQ(wc->status, IBV_WC_RNR_RETRY_EXC_ERR);
	CHECK_EQ(wc->opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK_EQ(wc->vendor_err, 0x1000 + n);
	CHECK_EQ(wc->byte_len, 0x80000000 + n);
	CHECK_EQ(wc->imm_data, htobe32(0x01020304 + n));
	CHECK_EQ(wc->qp_num, 0xabc000 + n);
	CHECK_EQ(wc->src_qp, 0xdef000 + n);
	CHECK_EQ(wc->wc_flags, IBV_WC_GRH | IBV_WC_WITH_IMM);
	CHECK_EQ(wc->pkey_index, 0x1111);
	CHECK_EQ(wc->slid, 0x2200 + (n & 0xff));
	CHECK_EQ(wc->sl, 7);
	CHECK_EQ(wc->dlid_path_bits, 0x55);
}

static uint32_t consumed(struct fixture *f)
{
	return le32toh(f->fake_cq.dbrec->ci);
}

TEST(poll)
{
	struct fixture *f = fixture_open(8);
	struct ibv_wc wc[8];
	uint32_t made = 0, seen = 0;

	CHECK_EQ(ibv_poll_cq(f->cq, 8, wc), 0);
	CHECK_EQ(consumed(f), 0);
	for (int round = 0; round < 100; round++) {
		int ready = round % 9, n;

		for (int i = 0; i < ready; i++)
			complete(f, made++);
		/* asks for none, for fewer, for all, and for too many */
		CHECK_EQ(ibv_poll_cq(f->cq, 0, wc), 0);
		n = ready < 3 ? ready : 3;
		CHECK_EQ(ibv_poll_cq(f->cq, 3, wc), n);
		for (int i = 0; i < n; i++)
			check_wc(&wc[i], seen++);
		CHECK_EQ(consumed(f), seen);
		CHECK_EQ(ibv_poll_cq(f->cq, 8, wc), ready - n);
		for (int i = 0; i < ready - n; i++)
			check_wc(&wc[i], seen++);
		CHECK_EQ(consumed(f), seen);
	}
	CHECK_EQ(seen, made);
}

/* A key is a number of the host, where immediate data are those of the wire. */
TEST(invalidated_key)
{
	struct fixture *f = fixture_open(8);
	const struct mynic_cqe cqe = {
		.opcode = htole32(IBV_WC_RECV),
		.invalidated_rkey = htole32(0x12345678),
		.wc_flags = htole32(IBV_WC_WITH_INV),
	};
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 8,
		.wc_flags = IBV_WC_EX_WITH_IMM,
	};
	struct ibv_poll_cq_attr poll_attr = {};
	struct ibv_cq_ex *cq_ex;
	struct ibv_wc wc;

	fake_complete(&f->fake_cq, &cqe);
	CHECK_EQ(ibv_poll_cq(f->cq, 1, &wc), 1);
	CHECK_EQ(wc.wc_flags, IBV_WC_WITH_INV);
	CHECK_EQ(wc.invalidated_rkey, 0x12345678);

	cq_ex = ibv_create_cq_ex(f->context, &attr);
	CHECK(cq_ex);
	fake_complete(&fake_cq, &cqe);
	CHECK_EQ(ibv_start_poll(cq_ex, &poll_attr), 0);
	CHECK_EQ(ibv_wc_read_invalidated_rkey(cq_ex), 0x12345678);
	ibv_end_poll(cq_ex);
	CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq_ex)), 0);
}

TEST(poll_wraps)
{
	struct fixture *f = fixture_open(4);
	struct mynic_cq *cq = to_mcq(f->cq);
	uint32_t index = 0xfffffff8;
	struct ibv_wc wc[4];

	/* as after 2^32 - 8 completions: a lap with phase 1 before its first */
	cq->ci = index;
	f->fake_cq.pi = index;
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 3; i++)
			complete(f, round * 3 + i);
		CHECK_EQ(ibv_poll_cq(f->cq, 4, wc), 3);
		for (int i = 0; i < 3; i++)
			check_wc(&wc[i], round * 3 + i);
		index += 3;
		CHECK_EQ(consumed(f), index);
	}
}

static uint64_t request(uint64_t seq, uint32_t index, uint64_t flags)
{
	return MYNIC_ARM_VALID | flags | seq << MYNIC_ARM_SEQ_SHIFT | index;
}

/* Check that the request is in the record, and the doorbell was rung */
static void check_request(struct fixture *f, uint64_t seq, uint32_t index,
			  uint64_t flags)
{
	uint64_t *rung = fake_uar(MYNIC_UAR_CQ_DB);

	CHECK_EQ(le64toh(f->fake_cq.dbrec->arm), request(seq, index, flags));
	CHECK_EQ(le64toh(*rung), (uint64_t)f->fake_cq.resp.cqn << 32 | index);
	*rung = 0;
}

TEST(arm)
{
	struct fixture *f = fixture_open(8);
	struct mynic_cq_dbrec *dbrec = f->fake_cq.dbrec;
	struct ibv_wc wc[2];

	CHECK_EQ(ibv_req_notify_cq(f->cq, 0), 0);
	check_request(f, 1, 0, 0);
	complete(f, 0);
	complete(f, 1);
	CHECK_EQ(ibv_poll_cq(f->cq, 2, wc), 2);
	CHECK_EQ(ibv_req_notify_cq(f->cq, 1), 0);
	check_request(f, 2, 2, MYNIC_ARM_SOLICITED);
	/*
	 * a request that the device has not taken is extended, without a
	 * doorbell
	 */
	CHECK_EQ(ibv_req_notify_cq(f->cq, 0), 0);
	check_request(f, 2, 2, 0);
	CHECK_EQ(ibv_req_notify_cq(f->cq, 0), 0);
	CHECK_EQ(ibv_req_notify_cq(f->cq, 1), 0);
	CHECK_EQ(*fake_uar(MYNIC_UAR_CQ_DB), 0);
	CHECK_EQ(le64toh(dbrec->arm), request(2, 2, 0));
	dbrec->taken = dbrec->arm;
	CHECK_EQ(ibv_req_notify_cq(f->cq, 1), 0);
	check_request(f, 3, 2, MYNIC_ARM_SOLICITED);
}

TEST(arm_sequence_wraps)
{
	struct fixture *f = fixture_open(8);
	struct mynic_cq_dbrec *dbrec = f->fake_cq.dbrec;

	dbrec->arm = htole64(request(MYNIC_ARM_SEQ_MASK, 0, 0));
	dbrec->taken = dbrec->arm;
	CHECK_EQ(ibv_req_notify_cq(f->cq, 0), 0);
	check_request(f, 0, 0, 0);
}

/* The event is for the next completion, not for one that is there already */
TEST(arm_with_completions)
{
	struct fixture *f = fixture_open(4);
	uint32_t made = 0;
	struct ibv_wc wc;

	for (uint32_t lap = 0; lap < 3; lap++) {
		for (uint32_t n = 0; n < 4; n++) {
			complete(f, made++);
			CHECK_EQ(ibv_req_notify_cq(f->cq, 0), 0);
			check_request(f, made, made, 0);
		}
		for (uint32_t n = 0; n < 4; n++)
			CHECK_EQ(ibv_poll_cq(f->cq, 1, &wc), 1);
	}
}

static void destroy_cq_ex(void *cq)
{
	CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

static struct ibv_cq_ex *open_cq_ex(struct fixture *f, int cqe, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.wc_flags = IBV_WC_STANDARD_FLAGS |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK |
			    IBV_WC_EX_WITH_CVLAN | IBV_WC_EX_WITH_FLOW_TAG,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = flags,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(f->context, &attr);

	CHECK(cq);
	tap_at_end(destroy_cq_ex, cq);
	f->fake_cq = fake_cq;
	return cq;
}

/*
 * The last usable processor; with processor 0, any number of vectors would give
 * the same result
 */
static int last_processor(void)
{
	int cpu = CPU_SETSIZE - 1;
	cpu_set_t set;

	CHECK_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
	while (!CPU_ISSET(cpu, &set))
		cpu--;
	return cpu;
}

/* The event interrupts the processor that asks for it */
TEST(arm_from_processor)
{
	struct fixture *f = fixture_open(8);
	int cpu = last_processor();
	struct ibv_cq_ex *cq;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	for (unsigned int num = 1; num <= MYNIC_ARM_VECTOR_MASK; num++) {
		uint64_t vector = cpu % num + 1;

		fake.num_vectors = num;
		cq = open_cq_ex(f, 4, 0);
		CHECK_EQ(ibv_req_notify_cq(ibv_cq_ex_to_cq(cq), 0), 0);
		check_request(f, 1, 0, vector << MYNIC_ARM_VECTOR_SHIFT);
	}
}

static void check_current(struct ibv_cq_ex *cq, uint32_t n)
{
	CHECK_EQ(cq->wr_id, 0xf000000000000000ULL + n);
	CHECK_EQ(cq->status, IBV_WC_RNR_RETRY_EXC_ERR);
	CHECK_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK_EQ(ibv_wc_read_vendor_err(cq), 0x1000 + n);
	CHECK_EQ(ibv_wc_read_byte_len(cq), 0x80000000 + n);
	CHECK_EQ(ibv_wc_read_imm_data(cq), htobe32(0x01020304 + n));
	CHECK_EQ(ibv_wc_read_qp_num(cq), 0xabc000 + n);
	CHECK_EQ(ibv_wc_read_src_qp(cq), 0xdef000 + n);
	CHECK_EQ(ibv_wc_read_wc_flags(cq), IBV_WC_GRH | IBV_WC_WITH_IMM);
	CHECK_EQ(ibv_wc_read_slid(cq), 0x2200 + (n & 0xff));
	CHECK_EQ(ibv_wc_read_sl(cq), 7);
	CHECK_EQ(ibv_wc_read_dlid_path_bits(cq), 0x55);
	CHECK_EQ(ibv_wc_read_completion_ts(cq), 0x4444444444444444ULL);
	CHECK_EQ(ibv_wc_read_cvlan(cq), 0x3333);
	CHECK_EQ(ibv_wc_read_flow_tag(cq), 0x66666666);
}

static void check_extended(uint32_t flags)
{
	struct fixture *f = fixture_open(8);
	struct ibv_cq_ex *cq = open_cq_ex(f, 8, flags);
	struct ibv_poll_cq_attr attr = {};
	uint32_t made = 0, seen = 0;
	struct ibv_wc wc;

	CHECK_EQ(ibv_start_poll(cq, &attr), ENOENT);
	for (int round = 0; round < 50; round++) {
		int ready = 1 + round % 8;

		for (int i = 0; i < ready; i++)
			complete(f, made++);
		CHECK_EQ(ibv_start_poll(cq, &attr), 0);
		check_current(cq, seen++);
		/* may be armed in the midst of it */
		CHECK_EQ(ibv_req_notify_cq(ibv_cq_ex_to_cq(cq), 0), 0);
		for (int i = 1; i < ready; i++) {
			CHECK_EQ(ibv_next_poll(cq), 0);
			check_current(cq, seen++);
		}
		CHECK_EQ(ibv_next_poll(cq), ENOENT);
		ibv_end_poll(cq);
		CHECK_EQ(consumed(f), seen);
		CHECK_EQ(ibv_start_poll(cq, &attr), ENOENT);
	}

	/* the other interface continues where this one ended */
	complete(f, made);
	CHECK_EQ(ibv_poll_cq(ibv_cq_ex_to_cq(cq), 1, &wc), 1);
	check_wc(&wc, made);
	made++;
	complete(f, made);
	CHECK_EQ(ibv_start_poll(cq, &attr), 0);
	check_current(cq, made);
	ibv_end_poll(cq);

	attr.comp_mask = 1;
	CHECK_EQ(ibv_start_poll(cq, &attr), EINVAL);
}

TEST(extended)
{
	check_extended(0);
}

TEST(extended_single_threaded)
{
	check_extended(IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
}

/* A CQ of a single thread does not take the lock */
TEST(single_threaded_takes_no_lock)
{
	struct fixture *f = fixture_open(8);
	struct ibv_cq_ex *cq =
		open_cq_ex(f, 8, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	struct mynic_cq *mcq = to_mcq(ibv_cq_ex_to_cq(cq));
	struct ibv_poll_cq_attr attr = {};
	struct ibv_wc wc;

	atomic_store(&mcq->lock, 1);
	atomic_store(&mcq->ring_lock, 1);
	complete(f, 0);
	complete(f, 1);
	CHECK_EQ(ibv_poll_cq(ibv_cq_ex_to_cq(cq), 1, &wc), 1);
	check_wc(&wc, 0);
	CHECK_EQ(ibv_start_poll(cq, &attr), 0);
	check_current(cq, 1);
	ibv_end_poll(cq);
	CHECK_EQ(ibv_start_poll(cq, &attr), ENOENT);
	CHECK_EQ(ibv_req_notify_cq(ibv_cq_ex_to_cq(cq), 0), 0);
}

TEST(wallclock)
{
	struct fixture *f = fixture_open(8);
	struct ibv_cq_ex *cq = open_cq_ex(f, 8, 0);
	struct ibv_poll_cq_attr attr = {};

	complete(f, 0);
	CHECK_EQ(ibv_start_poll(cq, &attr), 0);
	/* a clock of 500 MHz; before, at and behind the time of comparison */
	*fake_clock = (struct mynic_clock_info){
		.seq = 6,
		.shift = 10,
		.nsec = 1000000000000ULL,
		.cycles = 0x4444444444444444ULL,
		.mult = 2048,
	};
	CHECK_EQ(ibv_wc_read_completion_wallclock_ns(cq), 1000000000000ULL);
	fake_clock->cycles -= 1000000;
	CHECK_EQ(ibv_wc_read_completion_wallclock_ns(cq), 1000002000000ULL);
	fake_clock->cycles += 3000000;
	CHECK_EQ(ibv_wc_read_completion_wallclock_ns(cq), 999996000000ULL);
	/* an hour of a clock of 1 GHz */
	fake_clock->mult = 1 << 22;
	fake_clock->shift = 22;
	fake_clock->cycles -= 2000000 + 3600000000000ULL;
	CHECK_EQ(ibv_wc_read_completion_wallclock_ns(cq), 4600000000000ULL);
	ibv_end_poll(cq);
}

TEST(raw_clock)
{
	struct fixture *f = fixture_open(8);
	struct ibv_values_ex values = {
		.comp_mask = IBV_VALUES_MASK_RAW_CLOCK,
	};

	*fake_uar(MYNIC_UAR_CLOCK) = htole64(0x123456789abcdefULL);
	CHECK_EQ(ibv_query_rt_values_ex(f->context, &values), 0);
	CHECK_EQ(values.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	CHECK_EQ(values.raw_clock.tv_sec, 0);
	CHECK_EQ(values.raw_clock.tv_nsec, 0x123456789abcdefULL);
	/* values of a device that is gone, and of a closed page */
	*fake_uar(MYNIC_UAR_CLOCK) = ~0ULL;
	CHECK_EQ(ibv_query_rt_values_ex(f->context, &values), EIO);
	*fake_uar(MYNIC_UAR_CLOCK) = 0;
	CHECK_EQ(ibv_query_rt_values_ex(f->context, &values), EIO);
	values.comp_mask = 2;
	CHECK_EQ(ibv_query_rt_values_ex(f->context, &values), EINVAL);
	values.comp_mask = 0;
	CHECK_EQ(ibv_query_rt_values_ex(f->context, &values), 0);
}

TEST(ignore_overrun)
{
	check_extended(IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN);
}

TEST(moderation)
{
	struct fixture *f = fixture_open(8);
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = 4, .cq_period = 20 },
	};

	CHECK_EQ(ibv_modify_cq(f->cq, &attr), 0);
	fake.fail = EINVAL;
	CHECK_EQ(ibv_modify_cq(f->cq, &attr), EINVAL);
}

TEST(extended_refusals)
{
	struct fixture *f = fixture_open(8);
	struct ibv_cq_init_attr_ex attrs[] = {
		{ .cqe = 8, .wc_flags = 1ULL << 40 },
		{ .cqe = 8, .comp_mask = 1U << 31 },
		{ .cqe = 8,
		  .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		  .flags = 1U << 31 },
	};

	for (int i = 0; i < ARRAY_SIZE(attrs); i++) {
		errno = 0;
		CHECK(!ibv_create_cq_ex(f->context, &attrs[i]));
		CHECK_EQ(errno, EOPNOTSUPP);
	}
}

TEST(in_a_parent_domain)
{
	struct fixture *f = fixture_open(8);
	struct ibv_td_init_attr td_attr = {};
	struct ibv_td *td = ibv_alloc_td(f->context, &td_attr);
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 8,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
	};

	CHECK(td);
	/* it needs a parent domain */
	CHECK(!ibv_create_cq_ex(f->context, &attr));
	CHECK_EQ(errno, EINVAL);
	attr.parent_domain = f->pd;
	CHECK(!ibv_create_cq_ex(f->context, &attr));
	CHECK_EQ(errno, EINVAL);
	for (int i = 0; i < 2; i++) {
		struct ibv_parent_domain_init_attr init = {
			.pd = f->pd,
			.td = i ? td : NULL,
		};
		struct ibv_cq_ex *cq;

		attr.parent_domain = ibv_alloc_parent_domain(f->context, &init);
		CHECK(attr.parent_domain);
		cq = ibv_create_cq_ex(f->context, &attr);
		CHECK(cq);
		CHECK_EQ(to_mcq(ibv_cq_ex_to_cq(cq))->single_threaded, i);
		CHECK_EQ(ibv_dealloc_pd(attr.parent_domain), EBUSY);
		fake.fail = EBUSY;
		CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), EBUSY);
		CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
		/* nothing is left of one that could not be created */
		fake.fail = ENOMEM;
		CHECK(!ibv_create_cq_ex(f->context, &attr));
		CHECK_EQ(ibv_dealloc_pd(attr.parent_domain), 0);
	}
	CHECK_EQ(ibv_dealloc_td(td), 0);
}

/*
 * Completions of several QPs by a pattern: with the low bits of @pattern, 1
 * marks the QP that goes. The CQ starts at index @start.
 */
static void check_clean(struct fixture *f, struct ibv_qp *qp, uint32_t start,
			uint32_t pattern, uint32_t n)
{
	struct mynic_cq *cq = to_mcq(f->cq);
	uint32_t stay = 0, i, at = 0;
	struct ibv_wc wc[8];

	/* consume up to @start, so that laps and phases are real ones */
	while (f->fake_cq.pi != start) {
		complete(f, 0);
		CHECK_EQ(ibv_poll_cq(f->cq, 1, wc), 1);
	}
	for (i = 0; i < n; i++) {
		struct mynic_cqe cqe = make_cqe(i);

		if (pattern >> i & 1)
			cqe.qp_num = htole32(qp->qp_num);
		else
			stay++;
		fake_complete(&f->fake_cq, &cqe);
	}

	mynic_cq_clean(cq, qp->qp_num);
	CHECK_EQ(consumed(f), start + n - stay);
	/* one more comes behind those that stayed */
	if (stay < 8) {
		complete(f, n);
		stay++;
		n++;
	}
	CHECK_EQ(ibv_poll_cq(f->cq, 8, wc), stay);
	for (i = 0; i < n; i++)
		if (!(pattern >> i & 1))
			check_wc(&wc[at++], i);
	CHECK_EQ(at, stay);
	CHECK_EQ(ibv_poll_cq(f->cq, 8, wc), 0);
	CHECK_EQ(consumed(f), f->fake_cq.pi);
}

TEST(clean)
{
	struct fixture *f = fixture_open(8);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 4, 1);
	uint32_t start = 0;

	for (uint32_t n = 0; n <= 8; n++) {
		for (uint32_t pattern = 0; pattern < 1U << n; pattern++) {
			check_clean(f, qp, start, pattern, n);
			/* all offsets in the ring, and both phases */
			start = f->fake_cq.pi + pattern % 3;
		}
	}
}

TEST(reset_and_destroy_clean)
{
	struct fixture *f = fixture_open(8);
	struct fake_cq recv_fake;
	struct ibv_cq *recv_cq = ibv_create_cq(f->context, 8, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = {
		.send_cq = f->cq,
		.recv_cq = recv_cq,
		.cap = { .max_send_wr = 4,
			 .max_recv_wr = 4,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct mynic_cqe cqe = make_cqe(1);
	struct ibv_wc wc[8];
	struct ibv_qp *qp;

	CHECK(recv_cq);
	recv_fake = fake_cq;
	qp = ibv_create_qp(f->pd, &attr);
	CHECK(qp);
	for (int i = 0; i < 2; i++) {
		cqe.qp_num = htole32(qp->qp_num);
		fake_complete(&f->fake_cq, &cqe);
		fake_complete(&recv_fake, &cqe);
		complete(f, 2);
		cqe = make_cqe(3);
		fake_complete(&recv_fake, &cqe);
		if (i == 0)
			fixture_set_state(qp, IBV_QPS_RESET);
		else
			CHECK_EQ(ibv_destroy_qp(qp), 0);
		CHECK_EQ(ibv_poll_cq(f->cq, 8, wc), 1);
		check_wc(wc, 2);
		CHECK_EQ(ibv_poll_cq(recv_cq, 8, wc), 1);
		check_wc(wc, 3);
	}
	CHECK_EQ(ibv_destroy_cq(recv_cq), 0);
}
