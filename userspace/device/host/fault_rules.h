/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rules of all faults, as the command line and the control socket have them:
 * those of wires, those of NICs, and presets.
 */
#ifndef MYNIC_HOST_FAULT_RULES_H
#define MYNIC_HOST_FAULT_RULES_H

#include <stdbool.h>

#include "wire_faults.h"

/**
 * fault_rules_add() - add a rule, or those of a preset
 * @all: wire faults of all ports, which have the numbers of all rules
 * @rule: "PORT,..."
 * @error: out: on failure, a description of the error
 *
 * Return: number of the first rule that was added; 0: failure.
 */
unsigned int fault_rules_add(struct wire_faults *all, const char *rule,
			     char error[WIRE_FAULTS_ERROR_SIZE]);

/* Removes a rule. Returns false if there is none. */
bool fault_rules_delete(struct wire_faults *all, unsigned int number);

void fault_rules_clear(struct wire_faults *all);

#endif /* MYNIC_HOST_FAULT_RULES_H */
