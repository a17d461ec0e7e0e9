/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* MODIFY_QP and QUERY_QP. */
#ifndef MYNIC_QP_ATTR_H
#define MYNIC_QP_ATTR_H

struct admin_call;
struct nic;

/* Commands of the host; see admin.h */
int admin_modify_qp(struct nic *nic, struct admin_call *call);
int admin_query_qp(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_QP_ATTR_H */
