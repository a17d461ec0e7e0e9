// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Paths of queue pairs, and of address handles */
#include <string.h>

#include "runner.h"

/**
 * path_make() - the path that a line describes
 * @line: the call
 * @from: the device that it begins at
 *
 * Return: the path, with the hop limit that the kernel chooses for queue pairs.
 */
struct ibv_ah_attr path_make(const struct line *line, const struct node *from)
{
	const struct node *to =
		&program->nodes[number(line, "to", 0) % NUM_NODES];

	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.sl = number(line, "sl", 0),
		.grh = { .dgid = to->gid,
			 .sgid_index = number(line, "sgid", from->gid_index),
			 .hop_limit = HOP_LIMIT,
			 .traffic_class = number(line, "tc", 0),
			 .flow_label = number(line, "flow", 0) },
	};
}

/** path_compare() - fail unless a path is as it should be, in all fields */
void path_compare(const struct line *line, const struct ibv_ah_attr *path,
		  const struct ibv_ah_attr *expected)
{
	const struct ibv_global_route *grh = &path->grh;
	const struct ibv_global_route *other = &expected->grh;

	if (memcmp(&grh->dgid, &other->dgid, sizeof(grh->dgid)) ||
	    grh->sgid_index != other->sgid_index)
		fail(line, "has other addresses");
	if (path->is_global != expected->is_global ||
	    path->port_num != expected->port_num ||
	    path->static_rate != expected->static_rate)
		fail(line, "has GRH %u, port %u, static rate %u",
		     path->is_global, path->port_num, path->static_rate);
	if (grh->hop_limit != other->hop_limit ||
	    grh->flow_label != other->flow_label ||
	    grh->traffic_class != other->traffic_class)
		fail(line,
		     "has hop limit %u, flow label %#x, traffic class %u, expected %u, %#x, %u",
		     grh->hop_limit, grh->flow_label, grh->traffic_class,
		     other->hop_limit, other->flow_label, other->traffic_class);
	if (path->sl != expected->sl || path->dlid != expected->dlid ||
	    path->src_path_bits != expected->src_path_bits)
		fail(line,
		     "has service level %u, LID %#x, path bits %#x, expected %u, %#x, %#x",
		     path->sl, path->dlid, path->src_path_bits, expected->sl,
		     expected->dlid, expected->src_path_bits);
}
