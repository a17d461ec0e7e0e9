// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Operations on the list of tags of a shared receive queue */
#include <stdlib.h>
#include <string.h>

#include "runner.h"

#define MAX_OPS 64
#define MAX_HANDLES 65536

/**
 * struct operation - an operation as a program has it
 * @wr: for ibv_post_srq_ops()
 * @sge: of a tag
 * @save: number that a later operation calls the tag by, or -1
 */
struct operation {
	struct ibv_ops_wr wr;
	struct ibv_sge sge;
	long save;
};

static _Thread_local uint32_t handles[MAX_HANDLES];

/* ADDRESS/LENGTH/KEY */
static void set_sge(const struct line *line, struct operation *op, char *text)
{
	char *length = strchr(text, '/');
	char *keys = length ? strchr(length + 1, '/') : NULL;

	if (!keys)
		fail(line, "malformed SGE %s", text);
	*length++ = *keys++ = 0;
	op->sge = (struct ibv_sge){ address(line, text),
				    strtoul(length, NULL, 0),
				    lkey(line, keys) };
	op->wr.tm.add.num_sge = 1;
}

static void set_tag_field(const struct line *line, struct operation *op,
			  const char *name, char *value)
{
	struct ibv_ops_wr *wr = &op->wr;
	uint64_t n = strtoull(value, NULL, 0);

	if (!strcmp(name, "id"))
		wr->wr_id = n;
	else if (!strcmp(name, "opcode"))
		wr->opcode = n;
	else if (!strcmp(name, "flags"))
		wr->flags = n;
	else if (!strcmp(name, "count"))
		wr->tm.unexpected_cnt = n;
	else if (!strcmp(name, "recv"))
		wr->tm.add.recv_wr_id = n;
	else if (!strcmp(name, "tag"))
		wr->tm.add.tag = n;
	else if (!strcmp(name, "mask"))
		wr->tm.add.mask = n;
	else if (!strcmp(name, "sges"))
		wr->tm.add.num_sge = strtol(value, NULL, 0);
	else if (!strcmp(name, "sge"))
		set_sge(line, op, value);
	else if (!strcmp(name, "save"))
		op->save = n % MAX_HANDLES;
	else if (!strcmp(name, "of"))
		wr->tm.handle = handles[n % MAX_HANDLES];
	else
		fail(line, "operation with %s", name);
}

static void parse_operation(const struct line *line, char *text,
			    struct operation *op)
{
	char *name, *value;

	*op = (struct operation){ .save = -1 };
	op->wr.tm.add.sg_list = &op->sge;
	while ((name = next_field(line, &text, &value)))
		set_tag_field(line, op, name, value);
}

static void save_handles(const struct operation *ops, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (ops[i].save >= 0)
			handles[ops[i].save] = ops[i].wr.tm.handle;
}

bool tag_call(const struct line *line)
{
	static _Thread_local struct operation ops[MAX_OPS];
	struct ibv_ops_wr *bad = NULL;
	unsigned int n = 0;
	int err;

	if (strcmp(line->verb, "post_srq_ops"))
		return false;
	for (unsigned int i = 0; i < line->num_args && n < MAX_OPS; i++) {
		if (strncmp(line->args[i], "op=", 3))
			continue;
		parse_operation(line, line->args[i] + 3, &ops[n]);
		if (n)
			ops[n - 1].wr.next = &ops[n].wr;
		n++;
	}
	err = ibv_post_srq_ops(live(line, KIND_SRQ, line->target), &ops[0].wr,
			       &bad);
	save_handles(ops, err ? 0 : n);
	expect_posted(line, err,
		      bad ? (const struct operation *)bad - ops : -1);
	return true;
}
