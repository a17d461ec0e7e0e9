// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * NIC faults as a whole: their rules, what they hold back, and effects that
 * wait for a turn of their own. Which rule applies is decided in fault.c.
 */

#include "nic_faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "base/util.h"
#include "base/verbs.h"
#include "function/fatal.h"
#include "function/fault.h"
#include "function/port.h"
#include "memory/mkey.h"
#include "mynic_regs.h"
#include "qp/qp.h"
#include "qp/qp_error.h"
#include "state/nic_types.h"

unsigned int nic_fault_num(const struct nic *nic)
{
	return nic->faults.num;
}

const struct nic_fault *nic_fault_at(const struct nic *nic, unsigned int i)
{
	return &nic->faults.rules[i];
}

bool nic_fault_is_gone(const struct nic *nic)
{
	return nic->faults.gone;
}

static void nic_faults_update(struct nic_faults *faults)
{
	faults->occasions = 0;
	for (unsigned int i = 0; i < faults->num; i++)
		faults->occasions |= 1u << faults->rules[i].on;
	faults->next = 0;
}

int nic_fault_add(struct nic *nic, const struct nic_fault *rule)
{
	struct nic_faults *faults = &nic->faults;
	struct nic_fault *new;

	if (faults->num == NIC_FAULT_MAX)
		return -ENOSPC;
	if (!faults->rules)
		faults->rules = calloc(NIC_FAULT_MAX, sizeof(*rule));
	if (!faults->rules)
		return -ENOMEM;
	new = &faults->rules[faults->num++];
	*new = *rule;
	if (rule->on == NIC_FAULT_ON_TIMER)
		new->due = nic_now(nic) + rule->every;
	nic_faults_update(faults);
	return 0;
}

bool nic_fault_has_target(const struct nic *nic, const struct nic_fault *rule)
{
	const struct qp *qp;

	if (rule->on != NIC_FAULT_ON_NOW || !nic_enabled(nic))
		return true;
	switch (rule->kind) {
	case NIC_FAULT_QP_ERROR:
		qp = qp_find(nic, rule->qpn);
		return qp && qp->state != IBV_QPS_RESET;
	case NIC_FAULT_REVOKE:
		return mkey_is_revocable(nic, rule->key);
	default:
		return true;
	}
}

/* The port is down as long as any rule holds it down */
static void nic_faults_flap(struct nic *nic, uint64_t now)
{
	struct nic_faults *faults = &nic->faults;
	uint64_t until = 0;

	for (unsigned int i = 0; i < faults->num; i++)
		until = max_u64(until, faults->rules[i].until);
	faults->flap_until = until > now ? until : 0;
	port_flap(nic, faults->flap_until);
}

/* What a rule held back goes on, when it is no longer among the rules */
static void nic_faults_release(struct nic *nic, enum nic_fault_kind kind,
			       unsigned int number)
{
	struct nic_faults *faults = &nic->faults;

	switch (kind) {
	case NIC_FAULT_COMMAND_DELAY:
		if (faults->command_by == number)
			faults->command_until = 0;
		break;
	case NIC_FAULT_IRQ_DELAY:
		for (unsigned int i = 0; i < MYNIC_MAX_VECTORS; i++) {
			if (faults->late_by[i] == number)
				faults->late_until[i] = 0;
		}
		break;
	case NIC_FAULT_FLAP:
		nic_faults_flap(nic, nic_now(nic));
		break;
	case NIC_FAULT_VANISH:
		if (faults->gone_by == number)
			faults->back = faults->gone;
		break;
	default:
		break;
	}
}

bool nic_fault_delete(struct nic *nic, unsigned int number)
{
	struct nic_faults *faults = &nic->faults;
	enum nic_fault_kind kind;

	for (unsigned int i = 0; i < faults->num; i++) {
		if (faults->rules[i].number != number)
			continue;
		kind = faults->rules[i].kind;
		faults->num--;
		memmove(&faults->rules[i], &faults->rules[i + 1],
			(faults->num - i) * sizeof(faults->rules[i]));
		nic_faults_release(nic, kind, number);
		nic_faults_update(faults);
		return true;
	}
	return false;
}

void nic_faults_free(struct nic *nic)
{
	free(nic->faults.rules);
}

void nic_faults_reset(struct nic *nic)
{
	struct nic_faults *faults = &nic->faults;

	faults->command_met = false;
	faults->command_until = 0;
	faults->late = 0;
	for (unsigned int i = 0; i < faults->num; i++)
		faults->rules[i].pending = false;
}

static void nic_faults_raise_late(struct nic *nic, uint64_t now)
{
	struct nic_faults *faults = &nic->faults;

	for (unsigned int i = 0; i < MYNIC_MAX_VECTORS; i++) {
		if (!(faults->late & 1u << i) || faults->late_until[i] > now)
			continue;
		faults->late &= ~(1u << i);
		nic->config.ops->raise_irq(nic->config.ctx, i);
	}
}

static void nic_faults_vanish(struct nic *nic, unsigned int number)
{
	nic->faults.gone = true;
	nic->faults.gone_by = number;
	nic->faults.late = 0;
	nic->dma.generation++;
	/* It is not enabled, and not being reset */
	nic->regs.status = MYNIC_STATUS_FATAL;
}

static void nic_faults_apply(struct nic *nic, struct nic_fault *rule,
			     uint64_t now)
{
	switch (rule->kind) {
	case NIC_FAULT_REVOKE:
		mkey_revoke(nic, rule->key);
		break;
	case NIC_FAULT_FLAP:
		rule->until = now + rule->time;
		nic_faults_flap(nic, now);
		break;
	case NIC_FAULT_FATAL:
		nic_fatal(nic, MYNIC_FATAL_INTERNAL);
		break;
	case NIC_FAULT_VANISH:
		nic_faults_vanish(nic, rule->number);
		break;
	default:
		break;
	}
}

/* A rule of its own time has an occasion. Returns when the next one is due */
static uint64_t nic_faults_meet_time(struct nic *nic, struct nic_fault *rule,
				     uint64_t now)
{
	const struct nic_occasion occasion = { .on = rule->on };
	struct qp *qp = NULL;

	if (rule->kind == NIC_FAULT_QP_ERROR)
		qp = qp_find(nic, rule->qpn);
	if (nic_fault_meet_one(nic, rule, &occasion) && qp)
		qp_to_error(nic, qp, MYNIC_EVENT_QP_FATAL);
	return rule->on == NIC_FAULT_ON_TIMER ? now + rule->every : TIMER_NEVER;
}

/* A rule without a target waits for a command that makes it one */
static bool nic_faults_has_time(const struct nic *nic,
				const struct nic_fault *rule)
{
	return rule->on == NIC_FAULT_ON_TIMER ||
	       (rule->on == NIC_FAULT_ON_NOW &&
		nic_fault_has_target(nic, rule));
}

/* An effect may end the NIC, and with it those of later rules */
static void nic_faults_run_rules(struct nic *nic, uint64_t now)
{
	struct nic_faults *faults = &nic->faults;

	for (unsigned int i = 0; i < faults->num && nic_enabled(nic); i++) {
		struct nic_fault *rule = &faults->rules[i];

		if (rule->due <= now && nic_faults_has_time(nic, rule))
			rule->due = nic_faults_meet_time(nic, rule, now);
		if (!rule->pending)
			continue;
		rule->pending = false;
		nic_faults_apply(nic, rule, now);
	}
}

static uint64_t nic_faults_next(const struct nic *nic)
{
	const struct nic_faults *faults = &nic->faults;
	uint64_t next = TIMER_NEVER;

	if (faults->command_until)
		next = faults->command_until;
	if (faults->flap_until)
		next = min_u64(next, faults->flap_until);
	for (unsigned int i = 0; i < MYNIC_MAX_VECTORS; i++) {
		if (faults->late & 1u << i)
			next = min_u64(next, faults->late_until[i]);
	}
	for (unsigned int i = 0; i < faults->num && nic_enabled(nic); i++) {
		const struct nic_fault *rule = &faults->rules[i];

		if (nic_faults_has_time(nic, rule))
			next = min_u64(next, rule->due);
		if (rule->pending)
			next = 0;
	}
	return next;
}

/* Returns true if the NIC is there again, and needs a reset */
static bool nic_faults_come_back(struct nic_faults *faults)
{
	bool back = faults->back;

	if (back)
		faults->gone = false;
	faults->back = false;
	return back;
}

bool nic_faults_run(struct nic *nic)
{
	struct nic_faults *faults = &nic->faults;
	uint64_t now;

	if (faults->next == TIMER_NEVER)
		return false;
	now = nic_now(nic);
	if (now < faults->next)
		return false;
	/* What happens in here may set it to an earlier time */
	faults->next = TIMER_NEVER;
	if (faults->command_until <= now)
		faults->command_until = 0;
	if (faults->flap_until && faults->flap_until <= now)
		nic_faults_flap(nic, now);
	nic_faults_raise_late(nic, now);
	nic_faults_run_rules(nic, now);
	faults->next = nic_faults_next(nic);
	return nic_faults_come_back(faults);
}
