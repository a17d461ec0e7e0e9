// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Flow rules. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "mynic.h"

/**
 * mynic_create_flow() - ibv_create_flow(3)
 * @qp: RAW_PACKET QP
 * @attr: the rule, with its specs behind it
 *
 * Return: the rule, or NULL with errno set.
 */
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

/**
 * mynic_destroy_flow() - ibv_destroy_flow(3)
 * @flow: the rule
 *
 * Return: 0 or a positive errno.
 */
int mynic_destroy_flow(struct ibv_flow *flow)
{
	int err;

	err = ibv_cmd_destroy_flow(flow);
	if (err)
		return err;
	free(flow);
	return 0;
}
