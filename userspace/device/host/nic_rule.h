/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The grammar of rules of NIC faults (Documentation/nic-faults.rst). */
#ifndef MYNIC_HOST_NIC_RULE_H
#define MYNIC_HOST_NIC_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nic_fault;

/* Bytes for the description of an error in a rule */
#define NIC_RULE_ERROR_SIZE 160

/*
 * The value of kind= in the text of any rule, which is not terminated, or NULL.
 * @len: out: its length
 */
const char *nic_rule_kind_of(const char *text, size_t *len);

/* Whether the kind of a rule is that of a NIC fault. */
bool nic_rule_is_one(const char *text);

/**
 * nic_rule_parse() - parse a rule
 * @rule: result, without a number
 * @text: the part behind "NIC," in the grammar
 * @seed: seed for a text without one
 * @error: out: on failure, a description of the error
 *
 * Return: true for success.
 */
bool nic_rule_parse(struct nic_fault *rule, const char *text, uint64_t seed,
		    char error[NIC_RULE_ERROR_SIZE]);

/* Name of an enum nic_fault_kind */
const char *nic_rule_kind_name(unsigned int kind);

#endif /* MYNIC_HOST_NIC_RULE_H */
