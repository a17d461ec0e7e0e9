// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Multicast groups of UD queue pairs */
#include "cmd.h"

int mynic_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return mynic_cmd_attach_mcast(to_mdev(ibqp->device), to_mqp(ibqp)->qpn,
				      gid);
}

/*
 * A process may attach a QP to one group several times, with different LIDs,
 * but the device knows only one attachment. Report success when it is gone
 * already, as otherwise the QP could never be destroyed.
 */
int mynic_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	mynic_cmd_detach_mcast(to_mdev(ibqp->device), to_mqp(ibqp)->qpn, gid);
	return 0;
}
