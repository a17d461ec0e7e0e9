// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The GID table */
#include <rdma/ib_cache.h>

#include "cmd.h"

/**
 * mynic_add_gid() - &ib_device_ops.add_gid
 * @attr: the GID, where in the table it goes, and its network interface
 * @context: not used
 *
 * Return: 0 or an errno.
 */
int mynic_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct mynic_set_gid entry = {};
	u16 vlan;
	int ret;

	ret = rdma_read_gid_l2_fields(attr, &vlan, entry.mac);
	if (ret)
		return ret;
	memcpy(entry.gid, attr->gid.raw, sizeof(entry.gid));
	entry.vlan = cpu_to_le16(vlan);
	return mynic_cmd_set_gid(to_mdev(attr->device), attr->index, &entry);
}

/**
 * mynic_del_gid() - &ib_device_ops.del_gid
 * @attr: where in the table the GID is
 * @context: not used
 *
 * Return: 0 or an errno.
 */
int mynic_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct mynic_set_gid entry = { .vlan = cpu_to_le16(MYNIC_NO_VLAN) };

	return mynic_cmd_set_gid(to_mdev(attr->device), attr->index, &entry);
}
