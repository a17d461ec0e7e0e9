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
 * A process may have attached the QP to one group several times, with other LIDs:
 * the device knows of one. A QP whose attachments could not all be taken back
 * could not be destroyed either.
 *
 * Return: 0, as the QP is not in the group in any case.
 */
int mynic_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	mynic_cmd_detach_mcast(to_mdev(ibqp->device), to_mqp(ibqp)->qpn, gid);
	return 0;
}
