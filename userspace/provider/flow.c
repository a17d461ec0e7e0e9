// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Flow rules, which libibverbs passes to the kernel. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "mynic.h"

struct ibv_flow *mynic_create_flow(struct ibv_qp *qp,
				   struct ibv_flow_attr *attr)
{
	struct ibv_flow *flow;
	int err;

	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return NULL;
	err = ibv_cmd_create_flow(qp, flow, attr, NULL, 0);
	if (err) {
		free(flow);
		errno = err;
		return NULL;
	}
	return flow;
}

int mynic_destroy_flow(struct ibv_flow *flow)
{
	int err;

	err = ibv_cmd_destroy_flow(flow);
	if (err)
		return err;
	free(flow);
	return 0;
}
