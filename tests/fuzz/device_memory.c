// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Device memory, and regions of it */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

static int alloc_dm(const struct line *line, struct object *obj)
{
	struct node *node = node_of(line, &obj->node);
	struct ibv_alloc_dm_attr attr = {
		.length = number(line, "len", 0),
		.log_align_req = number(line, "align", 0),
	};

	errno = 0;
	return made(obj, ibv_alloc_dm(node->ctx, &attr));
}

static int reg_dm_mr(const struct line *line, struct object *obj)
{
	struct ibv_pd *pd = live(line, KIND_PD, must(line, "pd"));
	struct ibv_dm *dm = live(line, KIND_DM, must(line, "dm"));
	struct ibv_mr *mr;

	errno = 0;
	mr = ibv_reg_dm_mr(pd, dm, number(line, "at", 0),
			   number(line, "len", 0), number(line, "access", 0));
	if (mr) {
		obj->lkey = mr->lkey;
		obj->rkey = mr->rkey;
		obj->base = 0;
	}
	return made(obj, mr);
}

static uint8_t *buffer(const struct line *line, size_t *len)
{
	static _Thread_local uint8_t bytes[65536];

	*len = number(line, "len", 0);
	if (*len > sizeof(bytes))
		fail(line, "is too long");
	return bytes;
}

static int memcpy_to_dm(const struct line *line, struct object *obj)
{
	size_t len;
	uint8_t *mem = buffer(line, &len);

	(void)obj;
	pattern(mem, len, number(line, "seed", 0));
	return ibv_memcpy_to_dm(live(line, KIND_DM, line->target),
				number(line, "at", 0), mem, len);
}

static int memcpy_from_dm(const struct line *line, struct object *obj)
{
	size_t len;
	uint8_t *mem = buffer(line, &len);
	const char *expected = arg(line, "crc");
	uint32_t found;
	int err;

	(void)obj;
	err = ibv_memcpy_from_dm(mem, live(line, KIND_DM, line->target),
				 number(line, "at", 0), len);
	if (err || !expected)
		return err;
	found = crc32(mem, len);
	if (found != strtoul(expected, NULL, 0))
		fail(line, "the bytes have CRC %#x, expected %s", found,
		     expected);
	return 0;
}

bool device_memory_call(const struct line *line)
{
	static const struct call calls[] = {
		{ "alloc_dm", alloc_dm },
		{ "reg_dm_mr", reg_dm_mr },
		{ "memcpy_to_dm", memcpy_to_dm },
		{ "memcpy_from_dm", memcpy_from_dm },
	};

	return one_of(line, calls, sizeof(calls) / sizeof(*calls));
}
