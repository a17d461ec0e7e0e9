/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The admin queue. Every command is a function that lives with the object it
 * is about; admin.c has the table of them and does what they have in common.
 */
#ifndef MYNIC_ADMIN_H
#define MYNIC_ADMIN_H

#include <stdbool.h>
#include <stdint.h>

#include "mynic_regs.h"

struct nic;

/*
 * What a command returns beside enum mynic_aq_status: it has been carried out
 * in part, and is to be called again in the next turn. It takes no harm if the
 * host has put another command in its place by then.
 */
#define ADMIN_AGAIN (-1)

/**
 * struct admin - the queue's two rings
 * @cmd_addr: DMA address of the command ring
 * @cpl_addr: DMA address of the completion ring
 * @log_size: log2 of the slots in either
 * @pi: producer index of the doorbell
 * @ci: next command to fetch
 * @cpl: next completion to write
 * @arm: completions that AQ_ARM said the host has read
 * @armed: it is to be told of more
 */
struct admin {
	uint64_t cmd_addr;
	uint64_t cpl_addr;
	uint32_t log_size;
	uint32_t pi;
	uint32_t ci;
	uint32_t cpl;
	uint32_t arm;
	bool armed;
};

/**
 * struct admin_call - a command while it is carried out
 * @cmd: private copy; reserved fields, unused body and flags are checked
 * @cpl: completion, zeroed; a command sets the number or the body
 * @mbox: the mailbox, zeroed behind what the host gave; in or out
 * @query_mkey: the mailbox of that command
 * @query_cq: the mailbox of that command
 * @create_srq: the mailbox of that command
 * @create_qp: the mailbox of that command
 * @qp_attr: the mailbox of MODIFY_QP and QUERY_QP
 * @device_attr: the mailbox of QUERY_DEVICE
 * @port_attr: the mailbox of QUERY_PORT
 * @stats: the mailbox of QUERY_STATS and QUERY_COUNTERS
 * @macs: the mailbox of SET_RX
 * @flow_specs: the mailbox of CREATE_FLOW
 * @create_wq: the mailbox of that command
 * @wqns: the mailbox of CREATE_RWQ_TABLE
 */
struct admin_call {
	struct mynic_admin_cmd cmd;
	struct mynic_admin_cpl cpl;
	union {
		uint8_t mbox[MYNIC_MBOX_SIZE];
		struct mynic_query_mkey query_mkey;
		struct mynic_query_cq query_cq;
		struct mynic_create_srq create_srq;
		struct mynic_create_qp create_qp;
		struct mynic_qp_attr qp_attr;
		struct mynic_device_attr device_attr;
		struct mynic_port_attr port_attr;
		__le64 stats[MYNIC_NUM_STATS];
		uint8_t macs[MYNIC_RX_MAX_MACS][8];
		struct mynic_flow_spec flow_specs[MYNIC_FLOW_MAX_SPECS];
		struct mynic_create_wq create_wq;
		__le32 wqns[1 << MYNIC_RWQ_TABLE_MAX_LOG_SIZE];
	};
};

/* All return enum mynic_aq_status or, where it says so, ADMIN_AGAIN */
int admin_query_device(struct nic *nic, struct admin_call *call);
int admin_query_port(struct nic *nic, struct admin_call *call);
int admin_modify_port(struct nic *nic, struct admin_call *call);
int admin_query_stats(struct nic *nic, struct admin_call *call);
int admin_set_gid(struct nic *nic, struct admin_call *call);
int admin_set_rx(struct nic *nic, struct admin_call *call);
int admin_create_eq(struct nic *nic, struct admin_call *call);
int admin_destroy_eq(struct nic *nic, struct admin_call *call);
int admin_alloc_pd(struct nic *nic, struct admin_call *call);
int admin_dealloc_pd(struct nic *nic, struct admin_call *call);
int admin_alloc_xrcd(struct nic *nic, struct admin_call *call);
int admin_dealloc_xrcd(struct nic *nic, struct admin_call *call);
int admin_create_mkey(struct nic *nic, struct admin_call *call);
int admin_destroy_mkey(struct nic *nic, struct admin_call *call);
int admin_modify_mkey(struct nic *nic, struct admin_call *call);
int admin_alloc_dm(struct nic *nic, struct admin_call *call);
int admin_free_dm(struct nic *nic, struct admin_call *call);
int admin_query_mkey(struct nic *nic, struct admin_call *call);
int admin_sync_mkey(struct nic *nic, struct admin_call *call);
int admin_resume(struct nic *nic, struct admin_call *call);
int admin_create_cq(struct nic *nic, struct admin_call *call);
int admin_destroy_cq(struct nic *nic, struct admin_call *call);
int admin_resize_cq(struct nic *nic, struct admin_call *call);
int admin_modify_cq(struct nic *nic, struct admin_call *call);
int admin_query_cq(struct nic *nic, struct admin_call *call);
int admin_create_srq(struct nic *nic, struct admin_call *call);
int admin_modify_srq(struct nic *nic, struct admin_call *call);
int admin_query_srq(struct nic *nic, struct admin_call *call);
int admin_destroy_srq(struct nic *nic, struct admin_call *call);
int admin_resize_srq(struct nic *nic, struct admin_call *call);
int admin_create_qp(struct nic *nic, struct admin_call *call);
int admin_modify_qp(struct nic *nic, struct admin_call *call);
int admin_query_qp(struct nic *nic, struct admin_call *call);
int admin_destroy_qp(struct nic *nic, struct admin_call *call);
int admin_attach_mcast(struct nic *nic, struct admin_call *call);
int admin_detach_mcast(struct nic *nic, struct admin_call *call);
int admin_create_flow(struct nic *nic, struct admin_call *call);
int admin_destroy_flow(struct nic *nic, struct admin_call *call);
int admin_create_wq(struct nic *nic, struct admin_call *call);
int admin_modify_wq(struct nic *nic, struct admin_call *call);
int admin_destroy_wq(struct nic *nic, struct admin_call *call);
int admin_create_rwq_table(struct nic *nic, struct admin_call *call);
int admin_destroy_rwq_table(struct nic *nic, struct admin_call *call);
int admin_create_counters(struct nic *nic, struct admin_call *call);
int admin_destroy_counters(struct nic *nic, struct admin_call *call);
int admin_query_counters(struct nic *nic, struct admin_call *call);
int admin_bind_counters(struct nic *nic, struct admin_call *call);

/** admin_doorbell() - the AQ_DOORBELL register was written */
void admin_doorbell(struct nic *nic, uint32_t pi);

/** admin_arm() - the AQ_ARM register was written */
void admin_arm(struct nic *nic, uint32_t ci);

/** admin_run() - carry out some commands; true if there are more */
bool admin_run(struct nic *nic);

#endif /* MYNIC_ADMIN_H */
