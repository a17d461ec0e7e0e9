// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Multicast groups */
#include "cmd.h"

/**
 * mynic_attach_mcast() - &ib_device_ops.attach_mcast
 * @ibqp: UD QP
 * @gid: group
 * @lid: not used on Ethernet
 *
 * Return: 0 or an errno.
 */
int mynic_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return mynic_cmd_attach_mcast(to_mdev(ibqp->device), to_mqp(ibqp)->qpn,
				      gid);
}

/**
 * mynic_detach_mcast() - &ib_device_ops.detach_mcast
 * @ibqp: UD QP
 * @gid: group
 * @lid: not used on Ethernet
 *
 * Return: 0, also when the device is dead, or an errno.
 */
int mynic_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct mynic_dev *mdev = to_mdev(ibqp->device);
	int ret;

	ret = mynic_cmd_detach_mcast(mdev, to_mqp(ibqp)->qpn, gid);
	return mynic_dead(mdev) ? 0 : ret;
}
