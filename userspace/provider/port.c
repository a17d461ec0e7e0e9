// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What the newest libibverbs asks of a port. The rest is in verbs.c. */
#include <config.h>

#include "mynic.h"

const struct verbs_context_ops mynic_port_ops = {
	.query_port_speed = ibv_cmd_query_port_speed,
};
