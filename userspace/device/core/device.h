/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What a NIC has, and what it has counted, for the host. */
#ifndef MYNIC_DEVICE_H
#define MYNIC_DEVICE_H

struct admin_call;
struct nic;

/* Commands of the host; see admin.h */
int admin_query_device(struct nic *nic, struct admin_call *call);
int admin_query_stats(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_DEVICE_H */
