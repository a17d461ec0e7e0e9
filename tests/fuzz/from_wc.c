// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Address handles from the completions of datagrams */
#include <stdlib.h>
#include <string.h>

#include "runner.h"

#define ECN 3 /* bits of the traffic class that may change on the way */

/* What is before a datagram; with flip= a byte of it is another. */
static struct ibv_grh header(const struct line *line)
{
	struct ibv_grh grh;

	memcpy(&grh, (void *)(uintptr_t)address(line, must(line, "grh")),
	       sizeof(grh));
	if (arg(line, "flip"))
		((uint8_t *)&grh)[number(line, "flip", 0) % sizeof(grh)] ^= 64;
	return grh;
}

/*
 * To the sender, as it has sent, but for the service level: see poll.c. The IPv4
 * header has no flow label, and a hop limit of 0 is sent as another one.
 */
static void check_path(const struct line *line, const struct node *node,
		       const struct ibv_ah_attr *path)
{
	struct ibv_ah_attr expected = path_make(line, node);
	const struct ibv_wc *wc = &program->datagram;
	unsigned int hops = number(line, "hop", HOP_LIMIT);

	expected.grh.hop_limit = hops ? hops : HOP_LIMIT;
	expected.grh.traffic_class &= ~ECN;
	expected.grh.traffic_class |= path->grh.traffic_class & ECN;
	expected.sl = wc->sl;
	expected.dlid = wc->slid;
	expected.src_path_bits = wc->dlid_path_bits;
	path_compare(line, path, &expected);
}

static int init_ah(const struct line *line)
{
	unsigned int index = strtoul(line->target, NULL, 0) % NUM_NODES;
	struct node *node = &program->nodes[index];
	struct ibv_grh grh = header(line);
	struct ibv_ah_attr path;
	int err;

	err = ibv_init_ah_from_wc(node->ctx, number(line, "port", 0),
				  &program->datagram, &grh, &path);
	if (!err)
		check_path(line, node, &path);
	return err;
}

static int create_ah(const struct line *line)
{
	struct object *obj = object(line, line->target);
	struct ibv_grh grh = header(line);

	obj->node = object(line, must(line, "pd"))->node;
	obj->ptr = ibv_create_ah_from_wc(live(line, KIND_PD, must(line, "pd")),
					 &program->datagram, &grh,
					 number(line, "port", 0));
	return obj->ptr ? 0 : -1;
}

bool from_wc_call(const struct line *line)
{
	if (!strcmp(line->verb, "init_ah_from_wc"))
		expect_returned(line, init_ah(line));
	else if (!strcmp(line->verb, "create_ah_from_wc"))
		expect_returned(line, create_ah(line));
	else
		return false;
	return true;
}
