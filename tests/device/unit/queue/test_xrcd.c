// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* XRC domains, without a NIC: their commands, and what targets take from SRQs */
#include <endian.h>
#include <stdlib.h>

#include "core/queue/srq.h"
#include "core/queue/xrcd.h"
#include "core/state/admin_types.h"
#include "core/state/nic_types.h"
#include "harness_tap.h"

#define LIMIT 3

static struct nic *make_nic(void)
{
	struct nic *nic = calloc(1, sizeof(*nic));

	CHECK(nic);
	nic->mem.limit = 1 << 20;
	CHECK_EQ(table_init(&nic->xrcds, &nic->mem, 1, TABLE_MAX_NUMBER, LIMIT),
		 0);
	CHECK_EQ(table_init(&nic->srqs, &nic->mem, 1, TABLE_MAX_NUMBER, LIMIT),
		 0);
	return nic;
}

static void free_nic(struct nic *nic)
{
	uint32_t number = 0;

	while (xrcds_free_one(nic, &number))
		;
	table_free(&nic->srqs);
	table_free(&nic->xrcds);
	CHECK_EQ(nic->mem.used, 0);
	free(nic);
}

static struct xrcd *alloc(struct nic *nic)
{
	struct admin_call call = { 0 };

	if (admin_alloc_xrcd(nic, &call))
		return NULL;
	return table_lookup(&nic->xrcds, le32toh(call.cpl.number));
}

static int dealloc(struct nic *nic, uint32_t number)
{
	struct admin_call call = { .cmd = { .number = htole32(number) } };

	return admin_dealloc_xrcd(nic, &call);
}

TEST(domains_have_a_limit)
{
	struct nic *nic = make_nic();
	struct xrcd *first = alloc(nic);

	CHECK(first);
	for (unsigned int i = 1; i < LIMIT; i++)
		CHECK(alloc(nic));
	CHECK(!alloc(nic));
	CHECK_EQ(dealloc(nic, first->number), MYNIC_AQ_OK);
	CHECK(alloc(nic));
	CHECK_EQ(dealloc(nic, 0), MYNIC_AQ_BAD_NUMBER);
	free_nic(nic);
}

TEST(domains_in_use_stay)
{
	struct nic *nic = make_nic();
	struct xrcd *xrcd = alloc(nic);

	CHECK(xrcd);
	xrcd->num_srqs = 1;
	CHECK_EQ(dealloc(nic, xrcd->number), MYNIC_AQ_BUSY);
	xrcd->num_srqs = 0;
	CHECK_EQ(dealloc(nic, xrcd->number), MYNIC_AQ_OK);
	free_nic(nic);
}

/* A request names an SRQ. That of another domain does not exist for it. */
TEST(srqs_of_other_domains_are_hidden)
{
	struct nic *nic = make_nic();
	struct xrcd *xrcd = alloc(nic), *other = alloc(nic);
	struct qp qp = { .nic = nic, .xrcd = xrcd };
	struct srq srq = { .xrcd = other, .pd = (void *)&qp };
	uint32_t number;

	CHECK(xrcd && other);
	CHECK_EQ(table_add(&nic->srqs, &srq, &number), 0);
	CHECK(!xrc_srq_find(&qp, number));
	CHECK(!xrc_pd(&qp, number));
	srq.xrcd = xrcd;
	CHECK(xrc_srq_find(&qp, number) == &srq);
	CHECK(xrc_pd(&qp, number) == srq.pd);
	CHECK(!xrc_srq_find(&qp, number + 1));
	table_remove(&nic->srqs, number);
	free_nic(nic);
}

/* A target has the protection domain and the CQ of the SRQ it takes from. */
TEST(targets_move_between_srqs)
{
	struct nic *nic = make_nic();
	struct srq a = { .pd = (void *)nic, .cq = (void *)nic }, b = { 0 };
	struct qp qp = { .nic = nic };

	LIST_INIT(&a.targets);
	LIST_INIT(&b.targets);
	xrc_bind(&qp, &a);
	CHECK(qp.pd == a.pd);
	CHECK(qp.recv_cq == a.cq);
	CHECK(LIST_FIRST(&a.targets) == &qp);
	xrc_bind(&qp, &b);
	CHECK(!qp.pd);
	CHECK(LIST_EMPTY(&a.targets));
	CHECK(!xrc_unbind_some(nic, &b));
	CHECK(!qp.srq);
	CHECK(LIST_EMPTY(&b.targets));
	free_nic(nic);
}
