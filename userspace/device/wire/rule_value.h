/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Values in the text of a rule: numbers, times and probabilities. */
#ifndef MYNIC_WIRE_RULE_VALUE_H
#define MYNIC_WIRE_RULE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* Units of a probability: one stands for "always" */
#define RULE_VALUE_RATE_ONE 1000000000

/**
 * struct rule_unit - a unit that may follow a number
 * @name: its name
 * @factor: what the number is multiplied with
 */
struct rule_unit {
	const char *name;
	uint64_t factor;
};

/*
 * rule_value_digits() - parse the beginning of a text: decimal or 0x..., no sign
 * and no space
 *
 * Return: a pointer behind it, or NULL.
 */
const char *rule_value_digits(const char *text, uint64_t *value);

/* Parses a number from @min to @max. */
bool rule_value_number(const char *text, uint64_t min, uint64_t max,
		       uint64_t *value);

/**
 * rule_value_with_unit() - parse a number with a unit
 * @text: the text
 * @units: units, with @num elements
 * @num: number of @units
 * @max: upper bound of the result
 * @value: out: the product
 *
 * Return: false if it is not one, or is 0.
 */
bool rule_value_with_unit(const char *text, const struct rule_unit *units,
			  unsigned int num, uint64_t max, uint64_t *value);

/* Parses a time up to 60 s, in ns. */
bool rule_value_time(const char *text, uint64_t *ns);

/* Parses 0 to 1 with up to 9 decimals, in units of 1 / RULE_VALUE_RATE_ONE. */
bool rule_value_rate(const char *text, uint32_t *rate);

#endif /* MYNIC_WIRE_RULE_VALUE_H */
