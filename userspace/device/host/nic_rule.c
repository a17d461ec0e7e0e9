// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The grammar of rules of NIC faults. The words of a rule are found first, and
 * their values parsed afterwards, because some depend on others.
 */

#include "nic_rule.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/util.h"
#include "core/base/verbs.h"
#include "core/function/fault.h"
#include "core/state/fault_types.h"
#include "mynic_names.h"
#include "mynic_regs.h"
#include "verbs_name.h"
#include "wire/rule_value.h"

/* Upper bound for the length of a rule. Its text may get a seed of 64 bits. */
#define RULE_SIZE (NIC_FAULT_TEXT_SIZE - 32)

#define MAX_QPN 0xffffff
#define DEFAULT_FLAP_NS 100000000
/*
 * More turns than that would have no time for anything else. A port that comes
 * up sooner raises events and interrupts, which may be the next occasions.
 */
#define MIN_EVERY_NS 1000000

_Static_assert(NIC_FAULT_RATE_ONE == RULE_VALUE_RATE_ONE, "units of rate");

enum key {
	KEY_KIND,
	KEY_ON,
	KEY_EVERY,
	KEY_QP,
	KEY_OPCODE,
	KEY_VECTOR,
	KEY_KEY,
	KEY_STATUS,
	KEY_TIME,
	KEY_AFTER,
	KEY_COUNT,
	KEY_RATE,
	KEY_SEED,
	NUM_KEYS,
};

static const char *const keys[NUM_KEYS] = {
	[KEY_KIND] = "kind",   [KEY_ON] = "on",		[KEY_EVERY] = "every",
	[KEY_QP] = "qp",       [KEY_OPCODE] = "opcode", [KEY_VECTOR] = "vector",
	[KEY_KEY] = "key",     [KEY_STATUS] = "status", [KEY_TIME] = "time",
	[KEY_AFTER] = "after", [KEY_COUNT] = "count",	[KEY_RATE] = "rate",
	[KEY_SEED] = "seed",
};

static const char *const occasions[] = {
	[NIC_FAULT_ON_COMPLETION] = "completion",
	[NIC_FAULT_ON_MESSAGE] = "message",
	[NIC_FAULT_ON_COMMAND] = "command",
	[NIC_FAULT_ON_INTERRUPT] = "interrupt",
	[NIC_FAULT_ON_TIMER] = "timer",
	[NIC_FAULT_ON_NOW] = "now",
};

/* clang-format off */
static const char *const commands[] = {
	MYNIC_CMD_NAMES(MYNIC_NAME_AT, MYNIC_NAME_AT)
};

static const char *const command_statuses[] = {
	MYNIC_AQ_STATUS_NAMES(MYNIC_NAME_AT, MYNIC_NAME_AT)
};

/* clang-format on */
static const char *const completions[] = {
	[IBV_WC_SEND] = "send",
	[IBV_WC_RDMA_WRITE] = "write",
	[IBV_WC_RDMA_READ] = "read",
	[IBV_WC_COMP_SWAP] = "cmp-swap",
	[IBV_WC_FETCH_ADD] = "fetch-add",
	[IBV_WC_BIND_MW] = "bind-mw",
	[IBV_WC_LOCAL_INV] = "local-inv",
	[IBV_WC_TSO] = "tso",
	[IBV_WC_FLUSH] = "flush",
	[IBV_WC_ATOMIC_WRITE] = "atomic-write",
	[MYNIC_WC_REG_MR] = "reg-mr",
	[IBV_WC_RECV] = "recv",
	[IBV_WC_DRIVER1] = "memcpy",
};

#define ON(occasion) (1u << NIC_FAULT_ON_##occasion)
#define OF_NIC \
	(ON(COMPLETION) | ON(COMMAND) | ON(INTERRUPT) | ON(TIMER) | ON(NOW))

/**
 * struct kind - what a kind of rule can have
 * @name: its name
 * @on: its occasions
 * @by_default: the occasion of a rule that names none
 * @needs: keys that it needs, one bit for each enum key
 * @has: keys that it has besides, likewise
 */
struct kind {
	const char *name;
	uint32_t on;
	enum nic_fault_on by_default;
	uint32_t needs;
	uint32_t has;
};

static const struct kind kinds[] = {
	[NIC_FAULT_COMPLETION] = { "completion", ON(COMPLETION),
				   NIC_FAULT_ON_COMPLETION, 1 << KEY_STATUS },
	[NIC_FAULT_QP_ERROR] = { "qp-error", ON(COMPLETION) | ON(NOW),
				 NIC_FAULT_ON_COMPLETION },
	[NIC_FAULT_RNR] = { "rnr", ON(MESSAGE), NIC_FAULT_ON_MESSAGE },
	[NIC_FAULT_COMMAND_ERROR] = { "command-error", ON(COMMAND),
				      NIC_FAULT_ON_COMMAND, 1 << KEY_STATUS },
	[NIC_FAULT_COMMAND_DELAY] = { "command-delay", ON(COMMAND),
				      NIC_FAULT_ON_COMMAND, 1 << KEY_TIME },
	[NIC_FAULT_IRQ_LOSE] = { "irq-lose", ON(INTERRUPT),
				 NIC_FAULT_ON_INTERRUPT },
	[NIC_FAULT_IRQ_DELAY] = { "irq-delay", ON(INTERRUPT),
				  NIC_FAULT_ON_INTERRUPT, 1 << KEY_TIME },
	[NIC_FAULT_REVOKE] = { "revoke",
			       ON(COMPLETION) | ON(COMMAND) | ON(TIMER) |
				       ON(NOW),
			       NIC_FAULT_ON_NOW, 0, 1 << KEY_KEY },
	[NIC_FAULT_FLAP] = { "flap", OF_NIC, NIC_FAULT_ON_NOW, 0,
			     1 << KEY_TIME },
	[NIC_FAULT_FATAL] = { "fatal", OF_NIC, NIC_FAULT_ON_NOW },
	[NIC_FAULT_VANISH] = { "vanish", OF_NIC, NIC_FAULT_ON_NOW },
};

/* Keys that only some occasions have */
static const uint32_t keys_of[] = {
	[NIC_FAULT_ON_COMPLETION] = 1 << KEY_QP | 1 << KEY_OPCODE,
	[NIC_FAULT_ON_MESSAGE] = 1 << KEY_QP,
	[NIC_FAULT_ON_COMMAND] = 1 << KEY_OPCODE,
	[NIC_FAULT_ON_INTERRUPT] = 1 << KEY_VECTOR,
	[NIC_FAULT_ON_TIMER] = 1 << KEY_EVERY,
	[NIC_FAULT_ON_NOW] = 0,
};

#define KEYS_OF_ALL                                                      \
	(1 << KEY_KIND | 1 << KEY_ON | 1 << KEY_AFTER | 1 << KEY_COUNT | \
	 1 << KEY_RATE | 1 << KEY_SEED)

/**
 * struct words - the values in the text of a rule
 * @copy: the text, in pieces
 * @value: value of each key, or NULL
 * @error: where errors are described
 */
struct words {
	char copy[RULE_SIZE];
	const char *value[NUM_KEYS];
	char *error;
};

static bool __attribute__((format(printf, 2, 3)))
nic_rule_wrong(const struct words *words, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(words->error, NIC_RULE_ERROR_SIZE, format, args);
	va_end(args);
	return false;
}

/* Index of a name in a table, or -1 */
static int nic_rule_find(const char *const *names, size_t num, const char *name)
{
	for (size_t i = 0; i < num; i++) {
		if (names[i] && !strcmp(names[i], name))
			return i;
	}
	return -1;
}

#define FIND(names, name) nic_rule_find(names, ARRAY_SIZE(names), name)

const char *nic_rule_kind_name(unsigned int kind)
{
	return kind < ARRAY_SIZE(kinds) ? kinds[kind].name : "unknown";
}

static int nic_rule_find_kind(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strncmp(kinds[i].name, name, len) && !kinds[i].name[len])
			return i;
	}
	return -1;
}

const char *nic_rule_kind_of(const char *text, size_t *len)
{
	while (text && strncmp(text, "kind=", 5)) {
		text = strchr(text, ',');
		if (text)
			text++;
	}
	if (!text)
		return NULL;
	*len = strcspn(text + 5, ",");
	return text + 5;
}

bool nic_rule_is_one(const char *text)
{
	size_t len;
	const char *kind = nic_rule_kind_of(text, &len);

	return kind && nic_rule_find_kind(kind, len) >= 0;
}

static bool nic_rule_split(struct words *words, const char *text)
{
	size_t len = strlen(text);
	char *rest = words->copy;
	char *item;

	if (len >= sizeof(words->copy))
		return nic_rule_wrong(words,
				      "a rule has at most %zu characters",
				      sizeof(words->copy) - 1);
	memcpy(words->copy, text, len + 1);
	while ((item = strsep(&rest, ","))) {
		const char *name = strsep(&item, "=");
		int key = FIND(keys, name);

		if (key < 0)
			return nic_rule_wrong(
				words, "there is no key \"%.32s\"", name);
		if (!item || !*item)
			return nic_rule_wrong(words, "%s has no value", name);
		if (words->value[key])
			return nic_rule_wrong(words, "%s is given twice", name);
		words->value[key] = item;
	}
	return true;
}

static uint32_t nic_rule_given(const struct words *words)
{
	uint32_t given = 0;

	for (unsigned int i = 0; i < NUM_KEYS; i++)
		given |= (words->value[i] ? 1u : 0u) << i;
	return given;
}

static bool nic_rule_parse_on(struct nic_fault *rule, const struct words *words)
{
	const struct kind *kind = &kinds[rule->kind];
	const char *name = words->value[KEY_ON];
	int on = kind->by_default;

	if (name)
		on = FIND(occasions, name);
	else if (words->value[KEY_EVERY])
		on = NIC_FAULT_ON_TIMER;
	if (on < 0 || !(kind->on & 1u << on))
		return nic_rule_wrong(words,
				      "kind=%s has no occasion \"%.32s\"",
				      kind->name, name ? name : "timer");
	rule->on = on;
	return true;
}

/* Whether a rule has the keys that it needs, and no others */
static bool nic_rule_check_keys(const struct nic_fault *rule,
				const struct words *words)
{
	const struct kind *kind = &kinds[rule->kind];
	uint32_t needs = kind->needs;
	uint32_t has = KEYS_OF_ALL | kind->has | keys_of[rule->on];
	uint32_t given = nic_rule_given(words);

	if (rule->on == NIC_FAULT_ON_TIMER)
		needs |= 1 << KEY_EVERY;
	if (rule->kind == NIC_FAULT_QP_ERROR && rule->on == NIC_FAULT_ON_NOW)
		needs |= 1 << KEY_QP;
	if (needs & ~given)
		return nic_rule_wrong(words, "kind=%s,on=%s needs %s",
				      kind->name, occasions[rule->on],
				      keys[__builtin_ctz(needs & ~given)]);
	given &= ~(has | needs);
	if (given)
		return nic_rule_wrong(words, "%s is not for kind=%s,on=%s",
				      keys[__builtin_ctz(given)], kind->name,
				      occasions[rule->on]);
	return true;
}

static bool nic_rule_parse_opcode(struct nic_fault *rule, const char *value)
{
	rule->opcode = rule->on == NIC_FAULT_ON_COMMAND ?
			       FIND(commands, value) :
			       FIND(completions, value);
	return rule->opcode >= 0;
}

static bool nic_rule_parse_wc_status(struct nic_fault *rule, const char *value)
{
	for (unsigned int i = 0; i <= UINT8_MAX; i++) {
		if (nic_fault_outcome(i, false) &&
		    !strcmp(verbs_status_name(i), value)) {
			rule->status = i;
			return true;
		}
	}
	return false;
}

static bool nic_rule_parse_status(struct nic_fault *rule, const char *value)
{
	int status;

	if (rule->kind == NIC_FAULT_COMPLETION)
		return nic_rule_parse_wc_status(rule, value);
	status = FIND(command_statuses, value);
	rule->status = status;
	return status > MYNIC_AQ_OK;
}

static bool nic_rule_parse_value(struct nic_fault *rule, enum key key,
				 const char *value)
{
	uint64_t number;

	switch (key) {
	case KEY_EVERY:
		return rule_value_time(value, &rule->every) &&
		       rule->every >= MIN_EVERY_NS;
	case KEY_QP:
		if (!rule_value_number(value, 0, MAX_QPN, &number))
			return false;
		rule->qpn = number;
		return true;
	case KEY_OPCODE:
		return nic_rule_parse_opcode(rule, value);
	case KEY_VECTOR:
		if (!rule_value_number(value, 0, MYNIC_MAX_VECTORS - 1,
				       &number))
			return false;
		rule->vector = number;
		return true;
	case KEY_KEY:
		if (!rule_value_number(value, 0, UINT32_MAX, &number))
			return false;
		rule->key = number;
		return true;
	case KEY_STATUS:
		return nic_rule_parse_status(rule, value);
	case KEY_TIME:
		return rule_value_time(value, &rule->time);
	case KEY_AFTER:
		return rule_value_number(value, 0, UINT64_MAX, &rule->after);
	case KEY_COUNT:
		return rule_value_number(value, 1, UINT64_MAX, &rule->count);
	case KEY_RATE:
		return rule_value_rate(value, &rule->rate);
	case KEY_SEED:
		return rule_value_number(value, 0, UINT64_MAX, &rule->random);
	default:
		return true;
	}
}

static bool nic_rule_parse_words(struct nic_fault *rule,
				 const struct words *words)
{
	for (unsigned int i = 0; i < NUM_KEYS; i++) {
		const char *value = words->value[i];

		if (value && !nic_rule_parse_value(rule, i, value))
			return nic_rule_wrong(words,
					      "%s: \"%.32s\" is not possible",
					      keys[i], value);
	}
	if (rule->kind == NIC_FAULT_FLAP && rule->time < MIN_EVERY_NS)
		return nic_rule_wrong(words, "kind=%s needs time=1ms or more",
				      kinds[rule->kind].name);
	return true;
}

static bool nic_rule_parse_kind(struct nic_fault *rule,
				const struct words *words)
{
	const char *value = words->value[KEY_KIND];
	int kind = value ? nic_rule_find_kind(value, strlen(value)) : -1;

	rule->kind = kind;
	return kind >= 0 ||
	       nic_rule_wrong(words, "there is no such kind of NIC fault");
}

bool nic_rule_parse(struct nic_fault *rule, const char *text, uint64_t seed,
		    char error[NIC_RULE_ERROR_SIZE])
{
	struct words words = { .error = error };

	*rule = (struct nic_fault){
		.qpn = -1,
		.opcode = -1,
		.vector = -1,
		.key = -1,
		.time = DEFAULT_FLAP_NS,
		.count = UINT64_MAX,
		.rate = NIC_FAULT_RATE_ONE,
		.random = seed,
	};
	if (!nic_rule_split(&words, text) ||
	    !nic_rule_parse_kind(rule, &words) ||
	    !nic_rule_parse_on(rule, &words) ||
	    !nic_rule_check_keys(rule, &words) ||
	    !nic_rule_parse_words(rule, &words))
		return false;
	snprintf(rule->text, sizeof(rule->text), "%s", text);
	if (!words.value[KEY_SEED])
		snprintf(rule->text + strlen(text),
			 sizeof(rule->text) - strlen(text), ",seed=%" PRIu64,
			 seed);
	return true;
}
