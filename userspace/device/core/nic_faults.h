/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * NIC faults as a whole: their rules, and the effects that wait. Rules are
 * parsed outside of the core.
 */
#ifndef MYNIC_NIC_FAULTS_H
#define MYNIC_NIC_FAULTS_H

#include <stdbool.h>

#include "state/fault_types.h"

struct nic;

/**
 * nic_fault_add() - append a rule
 * @nic: the NIC
 * @rule: the rule, without state; &nic_fault.random is its seed
 *
 * Return: 0; -ENOSPC: there are NIC_FAULT_MAX already; -ENOMEM.
 */
int nic_fault_add(struct nic *nic, const struct nic_fault *rule);

/*
 * Whether a rule has an effect when it is added to a NIC that is enabled. One of
 * another occasion waits for it. One of a NIC that is not enabled waits, too:
 * nobody knows what its driver will make.
 */
bool nic_fault_has_target(const struct nic *nic, const struct nic_fault *rule);

/**
 * nic_fault_delete() - remove a rule
 * @nic: the NIC
 * @number: number of the rule
 *
 * What it holds back goes on at once, unless another rule holds it, too. A NIC
 * that it has let vanish is there again, as after power-on.
 *
 * Return: true if there was such a rule.
 */
bool nic_fault_delete(struct nic *nic, unsigned int number);

unsigned int nic_fault_num(const struct nic *nic);

/* The rule with index @i, 0 to nic_fault_num() - 1. */
const struct nic_fault *nic_fault_at(const struct nic *nic, unsigned int i);

/* Whether the NIC has vanished. */
bool nic_fault_is_gone(const struct nic *nic);

/*
 * Does what has waited, if it is due. Returns true if the NIC is there again,
 * and has to be reset.
 */
bool nic_faults_run(struct nic *nic);

/* The NIC is reset: what waits is forgotten, but for the port. */
void nic_faults_reset(struct nic *nic);

void nic_faults_free(struct nic *nic);

#endif /* MYNIC_NIC_FAULTS_H */
