// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Work queues, tables of them, and queue pairs that spread what they receive */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

#define MAX_TABLE 256

static int create_wq(const struct line *line, struct object *obj)
{
	struct ibv_pd *pd = live(line, KIND_PD, must(line, "pd"));
	struct ibv_wq_init_attr attr = {
		.wq_type = number(line, "type", IBV_WQT_RQ),
		.max_wr = number(line, "wr", 1),
		.max_sge = number(line, "sge", 1),
		.pd = pd,
		.cq = live(line, KIND_CQ, must(line, "cq")),
		.create_flags = number(line, "flags", 0),
	};

	if (attr.create_flags)
		attr.comp_mask = IBV_WQ_INIT_ATTR_FLAGS;
	obj->node = object(line, must(line, "pd"))->node;
	errno = 0;
	obj->ptr = ibv_create_wq(pd->context, &attr);
	obj->cap.max_recv_wr = attr.max_wr;
	obj->cap.max_recv_sge = attr.max_sge;
	return made(obj, obj->ptr);
}

static int modify_wq(const struct line *line, struct object *obj)
{
	struct ibv_wq_attr attr = {
		.wq_state = number(line, "state", 0),
		.curr_wq_state = number(line, "cur", 0),
		.flags = number(line, "flags", 0),
		.flags_mask = number(line, "mask", 0),
	};

	(void)obj;
	if (arg(line, "state"))
		attr.attr_mask |= IBV_WQ_ATTR_STATE;
	if (arg(line, "cur"))
		attr.attr_mask |= IBV_WQ_ATTR_CURR_STATE;
	if (arg(line, "mask"))
		attr.attr_mask |= IBV_WQ_ATTR_FLAGS;
	return ibv_modify_wq(live(line, KIND_WQ, line->target), &attr);
}

/* Its queues are in their order; what there is too little of is repeated. */
static int create_table(const struct line *line, struct object *obj)
{
	struct ibv_wq *wqs[MAX_TABLE];
	struct ibv_rwq_ind_table_init_attr attr = {
		.log_ind_tbl_size = number(line, "log", 0),
		.ind_tbl = wqs,
	};
	struct node *node = node_of(line, &obj->node);
	unsigned int n = 0;

	for (unsigned int i = 0; i < line->num_args && n < MAX_TABLE; i++)
		if (!strncmp(line->args[i], "wq=", 3))
			wqs[n++] = live(line, KIND_WQ, line->args[i] + 3);
	for (unsigned int i = n; n && i < MAX_TABLE; i++)
		wqs[i] = wqs[i % n];
	errno = 0;
	return made(obj, ibv_create_rwq_ind_table(node->ctx, &attr));
}

static uint8_t hex_byte(const char *text)
{
	char digits[3] = { text[0], text[1], 0 };

	return strtoul(digits, NULL, 16);
}

/** unhex() - read bytes that are written as two digits each; returns how many */
size_t unhex(const char *text, uint8_t *bytes, size_t room)
{
	size_t n = strlen(text) / 2;

	for (size_t i = 0; i < n && i < room; i++)
		bytes[i] = hex_byte(text + 2 * i);
	return n < room ? n : room;
}

/** create_rss_qp() - a queue pair with the table that the line names */
int create_rss_qp(const struct line *line, struct object *obj)
{
	uint8_t key[64];
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = number(line, "type", 0),
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.pd = live(line, KIND_PD, must(line, "pd")),
		.rwq_ind_tbl = live(line, KIND_TABLE, must(line, "table")),
		.rx_hash_conf = {
			.rx_hash_function = number(line, "function", 0),
			.rx_hash_key_len =
				unhex(must(line, "key"), key, sizeof(key)),
			.rx_hash_key = key,
			.rx_hash_fields_mask = number(line, "fields", 0),
		},
	};

	obj->node = object(line, must(line, "pd"))->node;
	obj->ex = false;
	errno = 0;
	return made(obj, ibv_create_qp_ex(attr.pd->context, &attr));
}

bool wq_call(const struct line *line)
{
	static const struct call calls[] = {
		{ "create_wq", create_wq },
		{ "modify_wq", modify_wq },
		{ "create_table", create_table },
	};

	return one_of(line, calls, sizeof(calls) / sizeof(*calls));
}
