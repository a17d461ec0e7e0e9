/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Rules of NIC faults (Documentation/nic-faults.rst), and what they hold. */
#ifndef MYNIC_FAULT_TYPES_H
#define MYNIC_FAULT_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "mynic_regs.h"

/* Upper bound for the rules of a NIC */
#define NIC_FAULT_MAX 64

/* Bytes of a rule's text, with its end */
#define NIC_FAULT_TEXT_SIZE 288

/* Value of &struct nic_fault.rate for "always" */
#define NIC_FAULT_RATE_ONE 1000000000

enum nic_fault_kind {
	NIC_FAULT_COMPLETION,
	NIC_FAULT_QP_ERROR,
	NIC_FAULT_RNR,
	NIC_FAULT_COMMAND_ERROR,
	NIC_FAULT_COMMAND_DELAY,
	NIC_FAULT_IRQ_LOSE,
	NIC_FAULT_IRQ_DELAY,
	/* From here on, they wait for the next turn */
	NIC_FAULT_REVOKE,
	NIC_FAULT_FLAP,
	NIC_FAULT_FATAL,
	NIC_FAULT_VANISH,
};

enum nic_fault_on {
	NIC_FAULT_ON_COMPLETION,
	NIC_FAULT_ON_MESSAGE,
	NIC_FAULT_ON_COMMAND,
	NIC_FAULT_ON_INTERRUPT,
	NIC_FAULT_ON_TIMER,
	NIC_FAULT_ON_NOW,
};

/**
 * struct nic_fault - a rule of NIC faults, with its state
 * @text: the rule as somebody wrote it, with its seed
 * @number: number of the rule, for the journal
 * @kind: its effect
 * @on: its occasions
 * @qpn: selects a QP; -1: any
 * @opcode: completion: enum ibv_wc_opcode; command: enum mynic_aq_opcode; -1:
 *	any
 * @vector: selects an MSI-X vector; -1: any
 * @key: memory key; -1: that of the newest region
 * @status: NIC_FAULT_COMPLETION: enum ibv_wc_status; NIC_FAULT_COMMAND_ERROR:
 *	enum mynic_aq_status
 * @time: how long something is late or down, ns
 * @every: NIC_FAULT_ON_TIMER: time between two occasions, ns
 * @after: number of selected occasions to skip first
 * @count: upper bound for the number of times that it is applied
 * @rate: probability, in units of 1 / NIC_FAULT_RATE_ONE
 * @random: state of the generator; its seed at first
 * @matched: occasions that it has selected
 * @applied: occasions that it was applied to
 * @due: NIC_FAULT_ON_TIMER, NIC_FAULT_ON_NOW: time of the next occasion
 * @until: NIC_FAULT_FLAP: it holds the port down until then
 * @pending: its effect waits for the next turn
 */
struct nic_fault {
	char text[NIC_FAULT_TEXT_SIZE];
	unsigned int number;
	enum nic_fault_kind kind;
	enum nic_fault_on on;
	int32_t qpn;
	int16_t opcode;
	int16_t vector;
	int64_t key;
	uint8_t status;
	uint64_t time;
	uint64_t every;
	uint64_t after;
	uint64_t count;
	uint32_t rate;
	uint64_t random;
	uint64_t matched;
	uint64_t applied;
	uint64_t due;
	uint64_t until;
	bool pending;
};

/**
 * struct nic_faults - the NIC faults of a NIC
 * @occasions: occasions that rules wait for; bits 1 << enum nic_fault_on
 * @rules: NIC_FAULT_MAX rules in their order; NULL: there was none yet
 * @num: number of @rules
 * @next: time of the next work, or TIMER_NEVER
 * @command_met: the rules have seen the command at &admin.ci
 * @command_until: commands wait until then; 0: they do not
 * @command_by: number of the rule that they wait for
 * @late: interrupts that are late; bits 1 << vector
 * @late_until: when they are raised
 * @late_by: numbers of the rules that hold them
 * @flap_until: when the port comes up again; 0: no rule holds it down
 * @gone: the NIC has vanished
 * @gone_by: number of the rule that it has vanished by
 * @back: it comes back in the next turn
 */
struct nic_faults {
	uint32_t occasions;
	struct nic_fault *rules;
	unsigned int num;
	uint64_t next;
	bool command_met;
	uint64_t command_until;
	unsigned int command_by;
	uint32_t late;
	uint64_t late_until[MYNIC_MAX_VECTORS];
	unsigned int late_by[MYNIC_MAX_VECTORS];
	uint64_t flap_until;
	bool gone;
	unsigned int gone_by;
	bool back;
};

_Static_assert(MYNIC_MAX_VECTORS <= 32, "nic_faults.late is too small");

#endif /* MYNIC_FAULT_TYPES_H */
