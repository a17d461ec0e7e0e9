// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The admin queue: fetching, checking and dispatching of commands. Each command
 * itself is in the file of its object.
 */

#include "admin.h"

#include <endian.h>
#include <string.h>

#include "base/journal.h"
#include "base/turn.h"
#include "base/util.h"
#include "device.h"
#include "engine/qp_attr.h"
#include "engine/qp_create.h"
#include "engine/rwq_commands.h"
#include "ethernet/eth.h"
#include "ethernet/flow.h"
#include "ethernet/rwq.h"
#include "function/eq.h"
#include "function/fatal.h"
#include "function/fault.h"
#include "function/gid.h"
#include "function/interrupt.h"
#include "function/port.h"
#include "memory/buf.h"
#include "memory/dm.h"
#include "memory/dma.h"
#include "memory/mkey.h"
#include "memory/pd.h"
#include "mynic_regs.h"
#include "qp/comp_cntr.h"
#include "qp/counters.h"
#include "qp/mcast.h"
#include "qp/odp.h"
#include "queue/cq.h"
#include "queue/srq.h"
#include "queue/xrcd.h"
#include "state/admin_types.h"
#include "state/fault_types.h"
#include "state/nic_types.h"

#define VECTOR 0
#define MBOX_ALIGN 8

/* Commands take long, so the clock is read after each */
#define COMMAND_UNITS TURN_LOOK

/**
 * struct command - checks for a command
 * @fn: executes it
 * @has_number: the number field is used; otherwise it must be 0
 * @flags: header flags that it accepts
 * @body_len: bytes of the body that are used; the rest must be 0
 * @in_used: bytes of the mailbox's struct that are used; the rest must be 0
 * @in_len: bytes of the mailbox's struct, 0 if the command has no input there
 * @out_len: bytes of the struct that is returned in the mailbox, or 0
 */
struct command {
	int (*fn)(struct nic *nic, struct admin_call *call);
	bool has_number;
	uint8_t flags;
	uint16_t body_len;
	uint16_t in_used;
	uint16_t in_len;
	uint16_t out_len;
};

static int admin_nop(struct nic *nic, struct admin_call *call)
{
	call->cpl.nop.clock = htole64(nic_now(nic));
	return MYNIC_AQ_OK;
}

#define BODY(type, reserved) .body_len = offsetof(struct type, reserved)
#define IN(type, reserved)                          \
	.in_used = offsetof(struct type, reserved), \
	.in_len = sizeof(struct type)

#define MAC_LIST_LEN (MYNIC_RX_MAX_MACS * 8)
#define WQN_LIST_LEN ((1 << MYNIC_RWQ_TABLE_MAX_LOG_SIZE) * sizeof(__le32))
#define SPEC_LIST_LEN (MYNIC_FLOW_MAX_SPECS * sizeof(struct mynic_flow_spec))

static const struct command commands[] = {
	[MYNIC_CMD_NOP] = { admin_nop },
	[MYNIC_CMD_QUERY_DEVICE] = { admin_query_device,
				     .out_len =
					     sizeof(struct mynic_device_attr) },
	[MYNIC_CMD_QUERY_PORT] = { admin_query_port,
				   .out_len = sizeof(struct mynic_port_attr) },
	[MYNIC_CMD_MODIFY_PORT] = { admin_modify_port,
				    BODY(mynic_modify_port, reserved_0c) },
	[MYNIC_CMD_QUERY_STATS] = { admin_query_stats,
				    .flags = MYNIC_STATS_UNBOUND,
				    .out_len =
					    MYNIC_NUM_STATS * sizeof(__le64) },
	[MYNIC_CMD_SET_GID] = { admin_set_gid, true,
				BODY(mynic_set_gid, reserved_18) },
	[MYNIC_CMD_SET_RX] = { admin_set_rx, true,
			       BODY(mynic_set_rx, reserved_08),
			       .in_used = MAC_LIST_LEN,
			       .in_len = MAC_LIST_LEN },
	[MYNIC_CMD_CREATE_EQ] = { admin_create_eq,
				  BODY(mynic_create_eq, reserved_18) },
	[MYNIC_CMD_DESTROY_EQ] = { admin_destroy_eq, true },
	[MYNIC_CMD_ALLOC_PD] = { admin_alloc_pd },
	[MYNIC_CMD_DEALLOC_PD] = { admin_dealloc_pd, true },
	[MYNIC_CMD_ALLOC_XRCD] = { admin_alloc_xrcd },
	[MYNIC_CMD_DEALLOC_XRCD] = { admin_dealloc_xrcd, true },
	[MYNIC_CMD_CREATE_MKEY] = { admin_create_mkey,
				    .flags = MYNIC_MKEY_DMA |
					     MYNIC_MKEY_FAST_REG |
					     MYNIC_MKEY_MW1 | MYNIC_MKEY_MW2 |
					     MYNIC_MKEY_ODP | MYNIC_MKEY_DM,
				    .body_len =
					    sizeof(struct mynic_create_mkey) },
	[MYNIC_CMD_DESTROY_MKEY] = { admin_destroy_mkey, true },
	[MYNIC_CMD_MODIFY_MKEY] = { admin_modify_mkey, true,
				    .body_len =
					    sizeof(struct mynic_create_mkey) },
	[MYNIC_CMD_ALLOC_DM] = { admin_alloc_dm,
				 BODY(mynic_alloc_dm, reserved_09) },
	[MYNIC_CMD_FREE_DM] = { admin_free_dm, true },
	[MYNIC_CMD_QUERY_MKEY] = { admin_query_mkey, true,
				   .out_len = sizeof(struct mynic_query_mkey) },
	[MYNIC_CMD_SYNC_MKEY] = { admin_sync_mkey, true },
	[MYNIC_CMD_RESUME] = { admin_resume, true,
			       BODY(mynic_resume, reserved_06) },
	[MYNIC_CMD_CREATE_CQ] = { admin_create_cq,
				  .flags = MYNIC_CQ_IGNORE_OVERRUN,
				  BODY(mynic_create_cq, reserved_1f) },
	[MYNIC_CMD_DESTROY_CQ] = { admin_destroy_cq, true },
	[MYNIC_CMD_RESIZE_CQ] = { admin_resize_cq, true,
				  BODY(mynic_resize, reserved_19) },
	[MYNIC_CMD_MODIFY_CQ] = { admin_modify_cq, true,
				  BODY(mynic_modify_cq, reserved_04) },
	[MYNIC_CMD_QUERY_CQ] = { admin_query_cq, true,
				 .out_len = sizeof(struct mynic_query_cq) },
	[MYNIC_CMD_CREATE_SRQ] = { admin_create_srq,
				   .in_used = sizeof(struct mynic_create_srq),
				   .in_len = sizeof(struct mynic_create_srq) },
	[MYNIC_CMD_MODIFY_SRQ] = { admin_modify_srq, true,
				   BODY(mynic_modify_srq, reserved_04) },
	[MYNIC_CMD_QUERY_SRQ] = { admin_query_srq, true },
	[MYNIC_CMD_DESTROY_SRQ] = { admin_destroy_srq, true },
	[MYNIC_CMD_RESIZE_SRQ] = { admin_resize_srq, true,
				   BODY(mynic_resize, reserved_19) },
	[MYNIC_CMD_CREATE_QP] = { admin_create_qp,
				  IN(mynic_create_qp, reserved_6c) },
	[MYNIC_CMD_MODIFY_QP] = { admin_modify_qp, true,
				  IN(mynic_qp_attr, reserved_50) },
	[MYNIC_CMD_QUERY_QP] = { admin_query_qp, true,
				 .out_len = sizeof(struct mynic_qp_attr) },
	[MYNIC_CMD_DESTROY_QP] = { admin_destroy_qp, true },
	[MYNIC_CMD_ATTACH_MCAST] = { admin_attach_mcast, true,
				     BODY(mynic_mcast, reserved_10) },
	[MYNIC_CMD_DETACH_MCAST] = { admin_detach_mcast, true,
				     BODY(mynic_mcast, reserved_10) },
	[MYNIC_CMD_CREATE_FLOW] = { admin_create_flow,
				    BODY(mynic_create_flow, reserved_14),
				    .in_used = SPEC_LIST_LEN,
				    .in_len = SPEC_LIST_LEN },
	[MYNIC_CMD_DESTROY_FLOW] = { admin_destroy_flow, true },
	[MYNIC_CMD_CREATE_WQ] = { admin_create_wq,
				  IN(mynic_create_wq, reserved_27) },
	[MYNIC_CMD_MODIFY_WQ] = { admin_modify_wq, true,
				  BODY(mynic_modify_wq, reserved_08) },
	[MYNIC_CMD_DESTROY_WQ] = { admin_destroy_wq, true },
	[MYNIC_CMD_CREATE_RWQ_TABLE] = { admin_create_rwq_table,
					 BODY(mynic_create_rwq_table,
					      reserved_01),
					 .in_used = WQN_LIST_LEN,
					 .in_len = WQN_LIST_LEN },
	[MYNIC_CMD_DESTROY_RWQ_TABLE] = { admin_destroy_rwq_table, true },
	[MYNIC_CMD_CREATE_COUNTERS] = { admin_create_counters },
	[MYNIC_CMD_DESTROY_COUNTERS] = { admin_destroy_counters, true },
	[MYNIC_CMD_QUERY_COUNTERS] = { admin_query_counters, true,
				       .out_len = MYNIC_NUM_STATS *
						  sizeof(__le64) },
	[MYNIC_CMD_BIND_COUNTERS] = { admin_bind_counters, true,
				      BODY(mynic_bind_counters, reserved_04) },
	[MYNIC_CMD_CREATE_COMP_CNTR] = { admin_create_comp_cntr,
					 BODY(mynic_create_comp_cntr,
					      reserved_08) },
	[MYNIC_CMD_DESTROY_COMP_CNTR] = { admin_destroy_comp_cntr, true },
	[MYNIC_CMD_MODIFY_COMP_CNTR] = { admin_modify_comp_cntr, true,
					 BODY(mynic_modify_comp_cntr,
					      reserved_0a) },
	[MYNIC_CMD_ATTACH_COMP_CNTR] = { admin_attach_comp_cntr, true,
					 BODY(mynic_attach_comp_cntr,
					      reserved_08) },
};

static bool admin_is_zero(const uint8_t *bytes, size_t from, size_t to)
{
	while (from < to) {
		if (bytes[from++])
			return false;
	}
	return true;
}

/* The result in a mailbox is built on zeroes */
static int admin_read_mbox(const struct command *command,
			   struct admin_call *call, const uint8_t *host,
			   uint32_t len)
{
	memset(call->mbox, 0, sizeof(call->mbox));
	if (command->out_len)
		return MYNIC_AQ_OK;
	if (len)
		memcpy(call->mbox, host, len);
	if (!admin_is_zero(call->mbox, command->in_len, len))
		return MYNIC_AQ_NOT_SUPPORTED;
	if (!admin_is_zero(call->mbox, command->in_used, command->in_len))
		return MYNIC_AQ_BAD_PARAM;
	return MYNIC_AQ_OK;
}

static int admin_check_header(const struct command *command,
			      const struct mynic_admin_cmd *cmd)
{
	if (cmd->flags & ~command->flags)
		return MYNIC_AQ_NOT_SUPPORTED;
	if (!admin_is_zero(cmd->reserved_14, 0, sizeof(cmd->reserved_14)) ||
	    !admin_is_zero(cmd->body, command->body_len, sizeof(cmd->body)) ||
	    (cmd->number && !command->has_number))
		return MYNIC_AQ_BAD_PARAM;
	if (le32toh(cmd->mbox_len) > MYNIC_MBOX_SIZE ||
	    le64toh(cmd->mbox_addr) % MBOX_ALIGN)
		return MYNIC_AQ_BAD_PARAM;
	return MYNIC_AQ_OK;
}

static int admin_execute(struct nic *nic, struct admin_call *call)
{
	const struct mynic_admin_cmd *cmd = &call->cmd;
	uint32_t mbox_len = le32toh(cmd->mbox_len);
	const struct command *command;
	uint8_t *mbox = NULL;
	int status;

	if (cmd->opcode >= ARRAY_SIZE(commands) || !commands[cmd->opcode].fn)
		return MYNIC_AQ_BAD_OPCODE;
	command = &commands[cmd->opcode];
	status = admin_check_header(command, cmd);
	if (status)
		return status;
	if (mbox_len) {
		mbox = dma_ptr(nic, le64toh(cmd->mbox_addr), mbox_len,
			       command->out_len);
		if (!mbox)
			return MYNIC_AQ_BAD_DMA;
	}
	status = admin_read_mbox(command, call, mbox, mbox_len);
	if (status)
		return status;
	status = command->fn(nic, call);
	if (!status && command->out_len && mbox_len)
		memcpy(mbox, call->mbox, mbox_len);
	return status;
}

/* Commands that change nothing, such as the driver's signs of life */
static bool admin_only_asks(uint8_t opcode)
{
	switch (opcode) {
	case MYNIC_CMD_NOP:
	case MYNIC_CMD_QUERY_DEVICE:
	case MYNIC_CMD_QUERY_PORT:
	case MYNIC_CMD_QUERY_STATS:
	case MYNIC_CMD_QUERY_MKEY:
	case MYNIC_CMD_QUERY_CQ:
	case MYNIC_CMD_QUERY_SRQ:
	case MYNIC_CMD_QUERY_QP:
	case MYNIC_CMD_QUERY_COUNTERS:
		return true;
	default:
		return false;
	}
}

static void admin_note(struct nic *nic, const struct admin_call *call,
		       int status)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_COMMAND,
		.code = call->cmd.opcode,
		.status = status,
		.number = le32toh(call->cmd.number),
		.key = le32toh(call->cpl.number),
	};

	if (status || !admin_only_asks(call->cmd.opcode))
		nic_note(nic, &entry);
}

/*
 * Lets the rules of NIC faults see a command, once. Returns what it ends with,
 * ADMIN_AGAIN if it has to wait, or MYNIC_AQ_OK if it is to be executed
 */
static int admin_meet_fault(struct nic *nic, uint8_t opcode)
{
	const struct nic_occasion occasion = {
		.on = NIC_FAULT_ON_COMMAND,
		.number = opcode,
	};
	const struct nic_fault *rule;

	if (!nic_fault_waits(nic, NIC_FAULT_ON_COMMAND) ||
	    nic->faults.command_met)
		return MYNIC_AQ_OK;
	nic->faults.command_met = true;
	rule = nic_fault_meet(nic, &occasion);
	if (!rule)
		return MYNIC_AQ_OK;
	if (rule->kind == NIC_FAULT_COMMAND_ERROR)
		return rule->status;
	nic->faults.command_until = nic_now(nic) + rule->time;
	nic->faults.command_by = rule->number;
	nic_fault_wake(nic, nic->faults.command_until);
	return ADMIN_AGAIN;
}

/* Returns false after a fatal error, or if the command needs another turn */
static bool admin_run_one(struct nic *nic)
{
	struct admin *aq = &nic->admin;
	uint32_t mask = (1u << aq->log_size) - 1;
	const struct mynic_admin_cmd *cmd;
	struct mynic_admin_cpl *cpl;
	struct admin_call call;
	int status;

	cmd = dma_ptr(nic, aq->cmd_addr + (aq->ci & mask) * sizeof(*cmd),
		      sizeof(*cmd), false);
	cpl = dma_ptr(nic, aq->cpl_addr + (aq->cpl & mask) * sizeof(*cpl),
		      sizeof(*cpl), true);
	if (!cmd || !cpl) {
		nic_fatal(nic, MYNIC_FATAL_AQ_DMA);
		return false;
	}
	memcpy(&call.cmd, cmd, sizeof(call.cmd));
	__asm__ __volatile__("" : : : "memory");
	call.cpl = (struct mynic_admin_cpl){ 0 };
	status = admin_meet_fault(nic, call.cmd.opcode);
	if (!status)
		status = admin_execute(nic, &call);
	if (status == ADMIN_AGAIN || !nic_enabled(nic))
		return false;
	call.cpl.status = status;
	if (status)
		nic->stats[MYNIC_STAT_BAD_COMMAND]++;
	admin_note(nic, &call, status);
	call.cpl.id = call.cmd.id;
	call.cpl.opcode = call.cmd.opcode;
	call.cpl.phase = ~(aq->cpl >> aq->log_size) & 1;
	buf_publish(cpl, &call.cpl, sizeof(call.cpl));
	nic->faults.command_met = false;
	/* A rule may have waited for what the command has made */
	if (nic_fault_waits(nic, NIC_FAULT_ON_NOW))
		nic_fault_wake(nic, 0);
	aq->ci++;
	aq->cpl++;
	return true;
}

void admin_doorbell(struct nic *nic, uint32_t pi)
{
	struct admin *aq = &nic->admin;

	if (pi - aq->ci > 1u << aq->log_size)
		nic_fatal(nic, MYNIC_FATAL_AQ_INDEX);
	else
		aq->pi = pi;
}

static void admin_signal_host(struct nic *nic)
{
	struct admin *aq = &nic->admin;

	if (!aq->armed || aq->cpl == aq->arm)
		return;
	aq->armed = false;
	interrupt_raise(nic, VECTOR);
}

void admin_arm(struct nic *nic, uint32_t ci)
{
	nic->admin.arm = ci;
	nic->admin.armed = true;
	admin_signal_host(nic);
}

bool admin_has_work(const struct nic *nic)
{
	return nic->admin.ci != nic->admin.pi && !nic->faults.command_until;
}

bool admin_run(struct nic *nic)
{
	while (admin_has_work(nic) && !nic_turn_is_over(nic)) {
		if (!admin_run_one(nic))
			break;
		nic_charge(nic, COMMAND_UNITS);
	}
	if (nic_enabled(nic))
		admin_signal_host(nic);
	return admin_has_work(nic);
}
