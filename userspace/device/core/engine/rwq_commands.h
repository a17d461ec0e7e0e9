/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The commands for receive work queues. Those for their tables are in ethernet/. */
#ifndef MYNIC_RWQ_COMMANDS_H
#define MYNIC_RWQ_COMMANDS_H

struct admin_call;
struct nic;

/* Commands of the host; see admin.h */
int admin_create_wq(struct nic *nic, struct admin_call *call);
int admin_modify_wq(struct nic *nic, struct admin_call *call);
int admin_destroy_wq(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_RWQ_COMMANDS_H */
