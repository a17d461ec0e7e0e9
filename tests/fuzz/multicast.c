// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Multicast groups */
#include <stdlib.h>
#include <string.h>

#include "runner.h"

/*
 * The multicast group that a call names. Its group= is 256 times the number of
 * the program, and the last byte of the address. A larger number stands for an
 * address that is no group's.
 */
union ibv_gid group(const struct line *line)
{
	unsigned int number = strtoul(must(line, "group"), NULL, 0);

	if (number > 0xffff)
		return program->nodes[0].gid;
	return (union ibv_gid){
		.raw = { [10] = 0xff, 0xff, 239, 1, 2 + (number >> 8), number }
	};
}

bool multicast_call(const struct line *line)
{
	bool attach = !strcmp(line->verb, "attach_mcast");
	union ibv_gid gid;
	struct ibv_qp *qp;

	if (!attach && strcmp(line->verb, "detach_mcast"))
		return false;
	qp = live(line, KIND_QP, line->target);
	gid = group(line);
	expect_errno(line, attach ? ibv_attach_mcast(qp, &gid, 0) :
				    ibv_detach_mcast(qp, &gid, 0));
	return true;
}
