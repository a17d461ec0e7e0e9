// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Address handles: their MACs, and the commands to the kernel that they need */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "mynic.h"

#define SGID_INDEX 9

#define IPV4(a, b, c, d) { [10] = 0xff, 0xff, (a), (b), (c), (d) }

static const struct {
	uint8_t gid[16];
	uint8_t mac[6];
} groups[] = {
	{ IPV4(224, 0, 0, 1), { 0x01, 0x00, 0x5e, 0, 0, 1 } },
	{ IPV4(224, 128, 1, 2), { 0x01, 0x00, 0x5e, 0, 1, 2 } },
	{ IPV4(239, 255, 255, 255), { 0x01, 0x00, 0x5e, 0x7f, 255, 255 } },
	{ { 0xff, 0x02, [15] = 1 }, { 0x33, 0x33, 0, 0, 0, 1 } },
	{ { 0xff, 0x0e, [10] = 0xff, 0xff, 1, 2, 3, 4 },
	  { 0x33, 0x33, 1, 2, 3, 4 } },
	{ { 0xff, 0x12, 0x40, 0x1b, [12] = 0xe0, 0xab, 0xcd, 0xef },
	  { 0x33, 0x33, 0xe0, 0xab, 0xcd, 0xef } },
};

/* No groups, so that only the kernel knows the MAC */
static const uint8_t others[][16] = {
	IPV4(223, 255, 255, 255),
	IPV4(240, 0, 0, 1),
	{ [0] = 0xff - 1, 0x80, [8] = 2, 1, 2, 0xff, 0xfe, 3, 4, 5 },
	{ [0] = 0x20, 1, [12] = 224, 0, 0, 1 },
	{ [9] = 0xff, 0xff, 0xff, 224, 0, 0, 1 },
	{ [10] = 0xff, 0xfe, 224, 0, 0, 1 },
	{ [12] = 224, 0, 0, 1 },
};

static struct ibv_ah_attr attr_of(const uint8_t *gid)
{
	struct ibv_ah_attr attr = {
		.grh = { .flow_label = 0x12345,
			 .sgid_index = SGID_INDEX,
			 .hop_limit = 33,
			 .traffic_class = 0x77 },
		.sl = 5,
		.static_rate = IBV_RATE_40_GBPS,
		.is_global = 1,
		.port_num = 1,
	};

	memcpy(attr.grh.dgid.raw, gid, sizeof(attr.grh.dgid.raw));
	return attr;
}

static struct ibv_ah *create(struct ibv_pd *pd, struct ibv_ah_attr attr)
{
	struct ibv_ah *ah = ibv_create_ah(pd, &attr);

	CHECK(ah);
	return ah;
}

/* From here to expect_unasked(), the kernel refuses all commands. */
static void forbid_kernel(void)
{
	fake.fail = EPROTO;
}

static void expect_unasked(void)
{
	CHECK_EQ(fake.fail, EPROTO);
	fake.fail = 0;
}

static void destroy(struct ibv_ah *ah)
{
	CHECK_EQ(ibv_destroy_ah(ah), 0);
}

static void check_av(struct ibv_ah *ah, const uint8_t *gid, const uint8_t *mac)
{
	struct mynic_av expect = {
		.flow_label = htole32(0x12345),
		.sgid_index = htole16(SGID_INDEX),
		.hop_limit = 33,
		.traffic_class = 0x77,
		.sl = 5,
		.static_rate = IBV_RATE_40_GBPS,
	};

	memcpy(expect.dgid, gid, sizeof(expect.dgid));
	memcpy(expect.dmac, mac, sizeof(expect.dmac));
	CHECK_MEM(&to_mah(ah)->av, &expect, sizeof(expect));
}

TEST(multicast)
{
	struct fixture *f = fixture_open(8);
	struct ibv_ah *ah[ARRAY_SIZE(groups)], *first;

	fake_gids->valid[SGID_INDEX] = 1;
	first = create(f->pd, attr_of(groups[0].gid));
	check_av(first, groups[0].gid, groups[0].mac);
	forbid_kernel();
	for (int i = 0; i < ARRAY_SIZE(groups); i++) {
		ah[i] = create(f->pd, attr_of(groups[i].gid));
		check_av(ah[i], groups[i].gid, groups[i].mac);
	}
	/* in any order, the last one gives the source GID back */
	destroy(first);
	for (int i = 1; i < ARRAY_SIZE(groups); i++)
		destroy(ah[i]);
	expect_unasked();
	fake.fail = EBUSY;
	CHECK_EQ(ibv_destroy_ah(ah[0]), EBUSY);
	forbid_kernel();
	destroy(create(f->pd, attr_of(groups[0].gid)));
	expect_unasked();
	destroy(ah[0]);
}

TEST(unicast)
{
	static const uint8_t dmac[] = FAKE_DMAC;
	struct fixture *f = fixture_open(8);
	struct ibv_ah *group, *ah;

	fake_gids->valid[SGID_INDEX] = 1;
	group = create(f->pd, attr_of(groups[0].gid));
	for (int i = 0; i < ARRAY_SIZE(others); i++) {
		struct ibv_ah_attr attr = attr_of(others[i]);

		fake.fail = EHOSTUNREACH;
		CHECK(!ibv_create_ah(f->pd, &attr));
		CHECK_EQ(errno, EHOSTUNREACH);
		ah = create(f->pd, attr);
		check_av(ah, others[i], dmac);
		fake.fail = EBUSY;
		CHECK_EQ(ibv_destroy_ah(ah), EBUSY);
		destroy(ah);
	}
	destroy(group);
}

/* Each source GID of each PD needs one address handle of the kernel. */
TEST(kernel_is_asked_once)
{
	struct fixture *f = fixture_open(8);
	struct ibv_parent_domain_init_attr parent_attr = { .pd = f->pd };
	struct ibv_pd *pd = ibv_alloc_pd(f->context), *parent;
	struct ibv_ah_attr attr = attr_of(groups[3].gid);
	struct ibv_ah *ah[4];

	CHECK(pd);
	memset(fake_gids->valid, 1, sizeof(fake_gids->valid));
	ah[0] = create(f->pd, attr);
	fake.fail = EDQUOT;
	CHECK(!ibv_create_ah(pd, &attr));
	CHECK_EQ(errno, EDQUOT);
	ah[1] = create(pd, attr);
	attr.grh.sgid_index = 255;
	fake.fail = EDQUOT;
	CHECK(!ibv_create_ah(f->pd, &attr));
	CHECK_EQ(errno, EDQUOT);
	ah[2] = create(f->pd, attr);

	/* a parent domain is its PD to the kernel */
	parent = ibv_alloc_parent_domain(f->context, &parent_attr);
	CHECK(parent);
	forbid_kernel();
	ah[3] = create(parent, attr);
	expect_unasked();
	for (int i = 0; i < ARRAY_SIZE(ah); i++)
		destroy(ah[i]);
	CHECK_EQ(ibv_dealloc_pd(parent), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
}

static void refused(struct fixture *f, struct ibv_ah_attr attr)
{
	fake.fail = EINVAL;
	CHECK(!ibv_create_ah(f->pd, &attr));
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(fake.fail, 0);
}

TEST(kernel_refuses)
{
	struct fixture *f = fixture_open(8);
	struct ibv_ah_attr good = attr_of(groups[3].gid), attr;
	struct ibv_ah *ah, *other;

	refused(f, good);
	ah = create(f->pd, good);
	/* the entry of the table is gone, or about to go */
	refused(f, good);
	fake_gids->valid[SGID_INDEX] = 1;
	attr = good;
	attr.port_num = 0;
	refused(f, attr);
	attr.port_num = 2;
	refused(f, attr);
	attr = good;
	attr.sl = 8;
	refused(f, attr);
	attr = good;
	attr.is_global = 0;
	refused(f, attr);
	forbid_kernel();
	other = create(f->pd, good);
	expect_unasked();
	destroy(ah);
	destroy(other);
}

TEST(without_gid_page)
{
	struct ibv_ah_attr attr = attr_of(groups[0].gid);
	struct ibv_ah *ah, *other;
	struct fixture *f;

	fake.no_gid_page = true;
	f = fixture_open(8);
	ah = create(f->pd, attr);
	refused(f, attr);
	other = create(f->pd, attr);
	CHECK_EQ(fake.live, 4);
	destroy(ah);
	destroy(other);
}
