// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Contexts, and what devices tell of themselves */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runner.h"

#define DEFAULT_PKEY 0xffff

static int open_device(const struct line *line, struct object *obj)
{
	struct node *node = node_of(line, &obj->node);

	errno = 0;
	return made(obj, open_named(ibv_get_device_name(node->ctx->device)));
}

/* With file= it is a file that is no context's. */
static int import_device(const struct line *line, struct object *obj)
{
	struct node *node = node_of(line, &obj->node);
	struct ibv_context *ctx;
	int fd;

	if (arg(line, "file"))
		fd = memfd_create("no context", MFD_CLOEXEC);
	else
		fd = dup(node->ctx->cmd_fd);
	if (fd < 0)
		fail(line, "%s", strerror(errno));
	errno = 0;
	ctx = ibv_import_device(fd);
	if (!ctx)
		close(fd);
	return made(obj, ctx);
}

/* The target of a query is the number of a device. */
static struct node *target(const struct line *line, unsigned int *index)
{
	*index = line->target[0] - '0';
	if (*index >= NUM_NODES || line->target[1])
		fail(line, "there is no such device");
	return &program->nodes[*index];
}

static int query_device(const struct line *line)
{
	static _Thread_local struct ibv_device_attr_ex first[NUM_NODES];
	struct ibv_query_device_ex_input input = {
		.comp_mask = number(line, "mask", 0),
	};
	struct ibv_device_attr_ex attr = { 0 };
	unsigned int index;
	struct node *node = target(line, &index);
	int err;

	err = ibv_query_device_ex(node->ctx, &input, &attr);
	if (err)
		return err;
	if (!attr.orig_attr.max_qp || !attr.orig_attr.max_cqe ||
	    attr.orig_attr.phys_port_cnt != 1)
		fail(line, "is able to do nothing");
	if (!first[index].orig_attr.max_qp)
		first[index] = attr;
	if (memcmp(&first[index], &attr, sizeof(attr)))
		fail(line, "is able to do other things than before");
	return 0;
}

static int query_port(const struct line *line)
{
	struct ibv_port_attr attr = { 0 };
	unsigned int index;
	struct node *node = target(line, &index);
	int err;

	err = ibv_query_port(node->ctx, number(line, "port", 0), &attr);
	if (err)
		return err;
	if (attr.state != number(line, "state", IBV_PORT_ACTIVE) ||
	    attr.link_layer != IBV_LINK_LAYER_ETHERNET ||
	    attr.active_mtu > attr.max_mtu || attr.gid_tbl_len < 1)
		fail(line, "is in state %u, with MTU %u of %u", attr.state,
		     attr.active_mtu, attr.max_mtu);
	if (attr.max_msg_sz < 128u << attr.active_mtu)
		fail(line, "has messages of %u bytes, and packets of %u",
		     attr.max_msg_sz, 128u << attr.active_mtu);
	return 0;
}

static int query_rt_values(const struct line *line)
{
	static _Thread_local uint64_t last[NUM_NODES];
	struct ibv_values_ex values = { .comp_mask = number(line, "mask", 0) };
	unsigned int index;
	struct node *node = target(line, &index);
	int err;

	err = ibv_query_rt_values_ex(node->ctx, &values);
	if (err)
		return err;
	if ((uint64_t)values.raw_clock.tv_nsec < last[index])
		fail(line, "time goes back");
	last[index] = values.raw_clock.tv_nsec;
	return 0;
}

static int query_gid(const struct line *line)
{
	unsigned int index;
	struct node *node = target(line, &index);
	union ibv_gid gid;
	int err = ibv_query_gid(node->ctx, number(line, "port", 0),
				number(line, "index", node->gid_index), &gid);

	if (!err && memcmp(&gid, &node->gid, sizeof(gid)))
		fail(line, "has another address");
	return err;
}

static int query_gid_ex(const struct line *line)
{
	unsigned int index;
	struct node *node = target(line, &index);
	struct ibv_gid_entry entry;
	int err = ibv_query_gid_ex(node->ctx, number(line, "port", 0),
				   number(line, "index", node->gid_index),
				   &entry, number(line, "flags", 0));

	if (!err &&
	    (entry.gid_type != IBV_GID_TYPE_ROCE_V2 || entry.port_num != 1 ||
	     memcmp(&entry.gid, &node->gid, sizeof(entry.gid))))
		fail(line, "has another address, or another type");
	return err;
}

/* Whether 198.51.100.ADDR is an address of the port, in one entry */
static int find_gid(const struct line *line)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, 0xff, 198, 51, 100 } };
	struct ibv_gid_entry entry;
	unsigned int index, n = 0;
	struct node *node = target(line, &index);
	struct ibv_port_attr attr;

	if (ibv_query_port(node->ctx, 1, &attr))
		fail(line, "has no port");
	gid.raw[15] = number(line, "addr", 0);
	for (int i = 0; i < attr.gid_tbl_len; i++)
		n += !ibv_query_gid_ex(node->ctx, 1, i, &entry, 0) &&
		     entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		     !memcmp(&entry.gid, &gid, sizeof(gid));
	return n;
}

static int query_pkey(const struct line *line)
{
	unsigned int index;
	struct node *node = target(line, &index);
	__be16 pkey = 0;
	int err = ibv_query_pkey(node->ctx, number(line, "port", 0),
				 number(line, "index", 0), &pkey);

	if (!err && pkey != htons(DEFAULT_PKEY))
		fail(line, "is %x", ntohs(pkey));
	return err;
}

static int get_pkey_index(const struct line *line)
{
	unsigned int index;
	struct node *node = target(line, &index);

	return ibv_get_pkey_index(node->ctx, number(line, "port", 0),
				  htons(number(line, "pkey", 0)));
}

static int query_device_basic(const struct line *line)
{
	struct ibv_device_attr attr = { 0 };
	unsigned int index;
	struct node *node = target(line, &index);
	int err = ibv_query_device(node->ctx, &attr);

	if (!err && (!attr.max_qp || !attr.max_cqe || attr.phys_port_cnt != 1))
		fail(line, "is able to do nothing");
	return err;
}

static bool ask_call(const struct line *line)
{
	if (!strcmp(line->verb, "query_gid"))
		expect_returned(line, query_gid(line));
	else if (!strcmp(line->verb, "query_gid_ex"))
		expect_errno(line, query_gid_ex(line));
	else if (!strcmp(line->verb, "find_gid"))
		expect_returned(line, find_gid(line));
	else if (!strcmp(line->verb, "query_pkey"))
		expect_returned(line, query_pkey(line));
	else if (!strcmp(line->verb, "get_pkey_index"))
		expect_returned(line, get_pkey_index(line));
	else if (!strcmp(line->verb, "query_device_basic"))
		expect_errno(line, query_device_basic(line));
	else
		return false;
	return true;
}

bool device_call(const struct line *line)
{
	static const struct call calls[] = {
		{ "open_device", open_device },
		{ "import_device", import_device },
	};

	if (!strcmp(line->verb, "query_device"))
		expect_errno(line, query_device(line));
	else if (!strcmp(line->verb, "query_port"))
		expect_errno(line, query_port(line));
	else if (!strcmp(line->verb, "query_rt_values"))
		expect_errno(line, query_rt_values(line));
	else
		return ask_call(line) ||
		       one_of(line, calls, sizeof(calls) / sizeof(*calls));
	return true;
}
