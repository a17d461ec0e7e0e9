// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process that rings doorbells of others' queues, and writes garbage to its
 * page
 */
#include <rdma/mynic-hw.h>
#include <sys/mman.h>

#include "context.h"
#include "verbs.h"

/* Map the doorbell page of a separate context, made without libibverbs */
static volatile uint64_t *map_uar(struct ibv_context *ctx)
{
	struct context_resp r;
	int fd = open_context(ctx, &r);
	uint8_t *page;

	if (fd < 0)
		return NULL;
	page = mmap(NULL, r.driver.uar_mmap_size, PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, r.driver.uar_mmap_key);
	if (page == MAP_FAILED)
		return NULL;
	return (void *)(page + r.driver.uar_offset);
}

static uint64_t doorbell(uint32_t number, uint32_t index)
{
	return index | (uint64_t)number << MYNIC_DB_NUMBER_SHIFT;
}

FIXTURE(doorbell)
{
	struct end e;
	volatile uint64_t *uar;
};

FIXTURE_SETUP(doorbell)
{
	self->e.ctx = open_mynic(0);
	ASSERT_NE(self->e.ctx, NULL);
	ASSERT_TRUE(make_end(&self->e, IBV_QPT_RC));
	ASSERT_EQ(to_rts(&self->e, &self->e), 0);
	self->uar = map_uar(self->e.ctx);
	ASSERT_NE(self->uar, NULL);
}

FIXTURE_TEARDOWN(doorbell)
{
	EXPECT_EQ(free_end(&self->e), 0);
	EXPECT_EQ(ibv_close_device(self->e.ctx), 0);
}

/* The device counts each of them as bad, which it does not with those it obeys */
TEST_F(doorbell, foreign_queues)
{
	struct end *e = &self->e;
	long long before = counter(e->ctx, "bad_doorbell");

	ASSERT_GE(before, 0);
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t qpn = i % 2 ? e->qp->qp_num : i;

		self->uar[MYNIC_UAR_QP_DB / 8] = doorbell(qpn, i);
		self->uar[MYNIC_UAR_CQ_DB / 8] = doorbell(i, 0);
		/* the kernel's, and on page 0 only */
		self->uar[MYNIC_UAR_EQ_DB / 8] = doorbell(i % 4, i);
	}
	EXPECT_TRUE(wait_counter(e->ctx, "bad_doorbell", before + 3 * 200));
	for (int i = 0; i < 10; i++)
		EXPECT_EQ(check_write(e, e, 5000), 0);
}

TEST_F(doorbell, garbage)
{
	struct end *e = &self->e;

	for (unsigned int i = 0; i < MYNIC_UAR_SIZE / 8; i++) {
		self->uar[i] = ~0ull;
		((volatile uint32_t *)self->uar)[i] = 0x12345678;
		((volatile uint8_t *)self->uar)[i * 8 + 3] = 0xff;
		/* the only value that can be read there */
		if (i == MYNIC_UAR_CLOCK / 8)
			continue;
		EXPECT_EQ(self->uar[i], 0);
	}
	for (int i = 0; i < 10; i++)
		EXPECT_EQ(check_write(e, e, 5000), 0);
}

/* Other processes can neither take nor cause an event */
TEST_F(doorbell, foreign_completion_events)
{
	struct end *e = &self->e;
	struct pollfd fd = { .fd = e->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	for (uint32_t i = 0; i < 4096; i++)
		self->uar[MYNIC_UAR_CQ_DB / 8] = doorbell(i, 0);
	ASSERT_EQ(check_write(e, e, 100), 0);
	EXPECT_EQ(poll(&fd, 1, 0), 0);
	ASSERT_EQ(ibv_req_notify_cq(e->cq, 0), 0);
	for (uint32_t i = 0; i < 4096; i++)
		self->uar[MYNIC_UAR_CQ_DB / 8] = doorbell(i, 0x7fffffff);
	ASSERT_EQ(check_write(e, e, 100), 0);
	ASSERT_EQ(poll(&fd, 1, PATIENCE * 1000), 1);
	ASSERT_EQ(ibv_get_cq_event(e->channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
}

TEST_HARNESS_MAIN
