// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Flow rules, which libibverbs passes to the kernel. Each keeps its counter set
 * from being changed.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "mynic.h"

/**
 * struct mynic_flow - flow rule
 * @ibv_flow: libibverbs' part
 * @counters: counter set of the rule, or NULL
 */
struct mynic_flow {
	struct ibv_flow ibv_flow;
	struct ibv_counters *counters;
};

/* Return the counter set that a rule names, or NULL. */
static struct ibv_counters *
mynic_flow_counters(const struct ibv_flow_attr *attr)
{
	const struct ibv_flow_spec *spec = (const void *)(attr + 1);
	int i;

	for (i = 0; i < attr->num_of_specs; i++) {
		if (spec->hdr.type == IBV_FLOW_SPEC_ACTION_COUNT)
			return spec->flow_count.counters;
		spec = (const void *)spec + spec->hdr.size;
	}
	return NULL;
}

struct ibv_flow *mynic_create_flow(struct ibv_qp *qp,
				   struct ibv_flow_attr *attr)
{
	struct mynic_flow *flow;
	int err;

	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return NULL;
	flow->counters = mynic_flow_counters(attr);
	if (flow->counters)
		mynic_counters_bind(flow->counters);
	err = ibv_cmd_create_flow(qp, &flow->ibv_flow, attr, NULL, 0);
	if (err) {
		if (flow->counters)
			mynic_counters_unbind(flow->counters);
		free(flow);
		errno = err;
		return NULL;
	}
	return &flow->ibv_flow;
}

int mynic_destroy_flow(struct ibv_flow *ibflow)
{
	struct mynic_flow *flow =
		container_of(ibflow, struct mynic_flow, ibv_flow);
	int err;

	err = ibv_cmd_destroy_flow(ibflow);
	if (err)
		return err;
	if (flow->counters)
		mynic_counters_unbind(flow->counters);
	free(flow);
	return 0;
}
