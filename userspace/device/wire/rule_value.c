// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Values in the text of a rule: numbers, times and probabilities. */

#include "rule_value.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/util.h"

/*
 * Upper bound for holding a packet, because all transports have given up by
 * then
 */
#define MAX_TIME (60 * 1000000000ULL)

const char *rule_value_digits(const char *text, uint64_t *value)
{
	int base = !strncasecmp(text, "0x", 2) ? 16 : 10;
	char *end;

	if (base == 16)
		text += 2;
	if (!isxdigit((unsigned char)*text))
		return NULL;
	errno = 0;
	*value = strtoull(text, &end, base);
	return errno || end == text ? NULL : end;
}

bool rule_value_number(const char *text, uint64_t min, uint64_t max,
		       uint64_t *value)
{
	const char *end = rule_value_digits(text, value);

	return end && !*end && *value >= min && *value <= max;
}

bool rule_value_with_unit(const char *text, const struct rule_unit *units,
			  unsigned int num, uint64_t max, uint64_t *value)
{
	const char *end = rule_value_digits(text, value);

	for (unsigned int i = 0; end && i < num; i++) {
		if (strcasecmp(end, units[i].name))
			continue;
		if (!*value || *value > max / units[i].factor)
			return false;
		*value *= units[i].factor;
		return true;
	}
	return false;
}

bool rule_value_time(const char *text, uint64_t *ns)
{
	static const struct rule_unit units[] = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
	};

	return rule_value_with_unit(text, units, ARRAY_SIZE(units), MAX_TIME,
				    ns);
}

bool rule_value_rate(const char *text, uint32_t *rate)
{
	uint32_t digit = RULE_VALUE_RATE_ONE;

	if (*text != '0' && *text != '1')
		return false;
	*rate = (*text++ - '0') * RULE_VALUE_RATE_ONE;
	if (!*text)
		return true;
	if (*text++ != '.' || !*text)
		return false;
	for (; *text; text++) {
		digit /= 10;
		if (!isdigit((unsigned char)*text) || !digit)
			return false;
		*rate += (*text - '0') * digit;
	}
	return *rate <= RULE_VALUE_RATE_ONE;
}
