/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The admin queue, and a command that is being executed. */
#ifndef MYNIC_ADMIN_TYPES_H
#define MYNIC_ADMIN_TYPES_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>

#include "mynic_regs.h"

/*
 * Returned by a command that was executed in part, and needs to be called again
 * in the next turn. The host may have replaced the command by then, so each
 * call checks it again.
 */
#define ADMIN_AGAIN (-1)

/**
 * struct admin - the two rings of the admin queue
 * @cmd_addr: DMA address of the command ring
 * @cpl_addr: DMA address of the completion ring
 * @log_size: log2 of the number of slots of each ring
 * @pi: producer index of the last doorbell
 * @ci: index of the next command
 * @cpl: index of the next completion
 * @arm: number of completions the host has read, from AQ_ARM
 * @armed: the next completion raises an interrupt
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
 * struct admin_call - a command that is being executed
 * @cmd: private copy, with reserved fields, unused body and flags checked
 * @cpl: completion, zeroed; the command sets the number or the body
 * @mbox: mailbox, zeroed behind the host's input; for input or output
 * @query_mkey: mailbox of QUERY_MKEY
 * @query_cq: mailbox of QUERY_CQ
 * @create_srq: mailbox of CREATE_SRQ
 * @create_qp: mailbox of CREATE_QP
 * @qp_attr: mailbox of MODIFY_QP and QUERY_QP
 * @device_attr: mailbox of QUERY_DEVICE
 * @port_attr: mailbox of QUERY_PORT
 * @stats: mailbox of QUERY_STATS and QUERY_COUNTERS
 * @macs: mailbox of SET_RX
 * @flow_specs: mailbox of CREATE_FLOW
 * @create_wq: mailbox of CREATE_WQ
 * @wqns: mailbox of CREATE_RWQ_TABLE
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

#endif /* MYNIC_ADMIN_TYPES_H */
