// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Replaces files of the provider whose whole subject is missing in older
 * releases of rdma-core.
 */
#include <infiniband/driver.h>

/* Replaces comp_cntr.c, dmah.c and port.c. */
extern const struct verbs_context_ops mynic_comp_cntr_ops, mynic_dmah_ops,
	mynic_port_ops;
const struct verbs_context_ops mynic_comp_cntr_ops = {};
const struct verbs_context_ops mynic_dmah_ops = {};
const struct verbs_context_ops mynic_port_ops = {};
