// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects that one thread destroys as soon as another has ended their last use.
 * "make check-threads" runs this under ThreadSanitizer, which sees whether the
 * destroying thread may read what the other one has not written yet.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "fixture.h"
#include "mynic.h"

static void *allocate(struct ibv_pd *pd, void *context, size_t size,
		      size_t alignment, uint64_t type)
{
	return aligned_alloc(alignment, size);
}

static void release(struct ibv_pd *pd, void *context, void *p, uint64_t type)
{
	free(p);
}

static struct ibv_pd *alloc_parent(struct ibv_pd *pd, struct ibv_td *td)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = pd,
		.td = td,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
		.alloc = allocate,
		.free = release,
	};
	struct ibv_pd *parent = ibv_alloc_parent_domain(pd->context, &attr);

	CHECK(parent);
	return parent;
}

static void *dealloc_pd_when_free(void *pd)
{
	int err;

	while ((err = ibv_dealloc_pd(pd)) == EBUSY)
		sched_yield();
	CHECK_EQ(err, 0);
	return NULL;
}

static void *dealloc_td_when_free(void *td)
{
	int err;

	while ((err = ibv_dealloc_td(td)) == EBUSY)
		sched_yield();
	CHECK_EQ(err, 0);
	return NULL;
}

static pthread_t begin(void *(*function)(void *), void *arg)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, function, arg), 0);
	return thread;
}

TEST(parent_domain_after_its_qp)
{
	struct fixture *f = fixture_open(8);
	struct ibv_pd *parent = alloc_parent(f->pd, NULL);
	struct ibv_qp_init_attr attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap = { 1, 1, 1, 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(parent, &attr);
	pthread_t thread;

	CHECK(qp);
	thread = begin(dealloc_pd_when_free, parent);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

TEST(parent_domain_after_its_cq)
{
	struct fixture *f = fixture_open(8);
	struct ibv_pd *parent = alloc_parent(f->pd, NULL);
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
		.parent_domain = parent,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(f->context, &attr);
	pthread_t thread;

	CHECK(cq);
	thread = begin(dealloc_pd_when_free, parent);
	CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

TEST(domains_after_each_other)
{
	struct fixture *f = fixture_open(8);
	struct ibv_td_init_attr attr = {};
	struct ibv_td *td = ibv_alloc_td(f->context, &attr);
	struct ibv_pd *parent, *child;
	pthread_t threads[2];

	CHECK(td);
	parent = alloc_parent(f->pd, td);
	child = alloc_parent(parent, NULL);
	threads[0] = begin(dealloc_td_when_free, td);
	threads[1] = begin(dealloc_pd_when_free, parent);
	CHECK_EQ(ibv_dealloc_pd(child), 0);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
}
