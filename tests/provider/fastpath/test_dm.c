// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Device memory: legal copies, and the copied data */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

#define LENGTH 100

static struct ibv_dm *alloc_dm(struct fixture *f)
{
	struct ibv_alloc_dm_attr attr = { .length = LENGTH };
	struct ibv_dm *dm = ibv_alloc_dm(f->context, &attr);

	CHECK(dm);
	return dm;
}

TEST(dm_copies)
{
	struct fixture *f = fixture_open(8);
	struct ibv_dm *dm = alloc_dm(f);
	char src[LENGTH + 1], dst[LENGTH + 1];

	for (size_t i = 0; i < sizeof(src); i++)
		src[i] = i * 7 + 1;
	/* the host's side at any address */
	for (size_t at = 0; at < LENGTH; at += 4)
		for (size_t len = 0; len <= LENGTH - at; len += 4) {
			memset(dst, 0, sizeof(dst));
			CHECK_EQ(ibv_memcpy_to_dm(dm, at, src + 1, len), 0);
			CHECK_EQ(ibv_memcpy_from_dm(dst + 1, dm, at, len), 0);
			CHECK_EQ(memcmp(dst + 1, src + 1, len), 0);
			CHECK(len == LENGTH || !dst[1 + len]);
		}
	CHECK_EQ(ibv_free_dm(dm), 0);
}

TEST(dm_bad_copies)
{
	struct fixture *f = fixture_open(8);
	static const struct {
		uint64_t offset;
		size_t length;
	} bad[] = {
		{ 3, 4 },      { 4, 3 },	  { 0, LENGTH + 4 },
		{ LENGTH, 4 }, { LENGTH + 4, 0 }, { 4, LENGTH },
		{ ~3ULL, 4 },  { 4, ~(size_t)3 },
	};
	struct ibv_dm *dm = alloc_dm(f);
	char buf[2 * LENGTH] = {};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK_EQ(ibv_memcpy_to_dm(dm, bad[i].offset, buf,
					  bad[i].length),
			 EINVAL);
		CHECK_EQ(ibv_memcpy_from_dm(buf, dm, bad[i].offset,
					    bad[i].length),
			 EINVAL);
	}
	CHECK_EQ(ibv_free_dm(dm), 0);
}

TEST(dm_errors)
{
	struct fixture *f = fixture_open(8);
	struct ibv_alloc_dm_attr attr = { .length = LENGTH };
	int live = fake.live;
	struct ibv_dm *dm;
	struct ibv_mr *mr;

	fake.fail = ENOMEM;
	CHECK(!ibv_alloc_dm(f->context, &attr));
	CHECK_EQ(errno, ENOMEM);
	fake.bad_map = true;
	CHECK(!ibv_alloc_dm(f->context, &attr));
	CHECK_EQ(errno, EINVAL);
	fake.bad_map = false;
	attr.comp_mask = 1;
	CHECK(!ibv_alloc_dm(f->context, &attr));
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(fake.live, live);

	dm = alloc_dm(f);
	fake.fail = EPERM;
	CHECK(!ibv_reg_dm_mr(f->pd, dm, 0, 8, IBV_ACCESS_ZERO_BASED));
	CHECK_EQ(errno, EPERM);
	mr = ibv_reg_dm_mr(f->pd, dm, 0, 8, IBV_ACCESS_ZERO_BASED);
	CHECK(mr);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	fake.fail = EBUSY;
	CHECK_EQ(ibv_free_dm(dm), EBUSY);
	CHECK_EQ(ibv_free_dm(dm), 0);
	CHECK_EQ(fake.live, live);
}
