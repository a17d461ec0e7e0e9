// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Text of journal entries, for the log and the control socket. */
#include "journal_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "clock.h"
#include "core/base/util.h"
#include "core/base/verbs.h"
#include "core/packet/aeth.h"
#include "core/packet/packet.h"
#include "mynic_names.h"
#include "mynic_regs.h"
#include "nic_rule.h"
#include "stats.h"
#include "verbs_name.h"
#include "wire/opcode_name.h"

#define PSN_MASK 0xffffff

/* clang-format off */
static const char *const commands[] = {
	MYNIC_CMD_NAMES(MYNIC_NAME_AT, MYNIC_NAME_AT)
};

static const char *const command_statuses[] = {
	MYNIC_AQ_STATUS_NAMES(MYNIC_NAME_AT, MYNIC_NAME_AT)
};

static const char *const events[] = {
	MYNIC_EVENT_NAMES(MYNIC_NAME_AT, MYNIC_NAME_AT)
};

static const char *const stages[] = {
	MYNIC_PAGE_STAGE_NAMES(MYNIC_NAME_AT, MYNIC_NAME_AT)
};

static const char *const syndromes[] = {
	MYNIC_SYNDROME_NAMES(MYNIC_NAME_AT, MYNIC_NAME_AT)
};

/* clang-format on */
static const char *const naks[] = {
	[AETH_NAK_SEQUENCE] = "sequence",
	[AETH_NAK_INVALID_REQUEST] = "invalid request",
	[AETH_NAK_REMOTE_ACCESS] = "remote access",
	[AETH_NAK_REMOTE_OPERATION] = "remote operation",
};

static const char *const key_faults[] = {
	[JOURNAL_NO_KEY] = "no such key",
	[JOURNAL_NO_RIGHT] = "not allowed",
	[JOURNAL_NO_RANGE] = "out of the region",
};

static void journal_text_put_packet(const struct journal_entry *e, char *text,
				    size_t size)
{
	char opcode[OPCODE_NAME_SIZE];

	opcode_name(e->from, opcode);
	if (e->kind == JOURNAL_DROP) {
		snprintf(text, size, "drop qp=0x%x %s opcode=%s psn=0x%x",
			 e->number, stats_name(e->code), opcode, e->psn);
		return;
	}
	snprintf(
		text, size,
		"refused qp=0x%x %s opcode=%s psn=0x%x key=0x%x addr=0x%" PRIx64
		" length=%" PRIu64,
		e->number, NAME_AT(naks, e->code), opcode, e->psn, e->key,
		e->addr, e->length);
}

static void journal_text_put_memory(const struct journal_entry *e, char *text,
				    size_t size)
{
	const char *what;

	what = e->kind == JOURNAL_PAGE ? NAME_AT(stages, e->code) :
					 NAME_AT(key_faults, e->code);
	snprintf(text, size,
		 "%s qp=0x%x key=0x%x addr=0x%" PRIx64 " length=%" PRIu64
		 " %s%s",
		 e->kind == JOURNAL_PAGE ? "page" : "key", e->number, e->key,
		 e->addr, e->length, what,
		 e->kind == JOURNAL_PAGE && e->status ? " write" : "");
}

static void journal_text_put_count(const struct journal_entry *e, char *text,
				   size_t size)
{
	if (e->number)
		snprintf(text, size,
			 "count qp=0x%x %s unacked=0x%x expected=0x%x",
			 e->number, stats_name(e->code), e->psn & PSN_MASK,
			 e->expected & PSN_MASK);
	else
		snprintf(text, size, "count %s", stats_name(e->code));
}

static void journal_text_put_passing(const struct journal_entry *e, char *text,
				     size_t size)
{
	const char *way = e->kind == JOURNAL_SENT ? "sent" : "received";
	char opcode[OPCODE_NAME_SIZE];

	if (e->code != PACKET_ROCE) {
		snprintf(text, size, "%s frame length=%" PRIu64, way,
			 e->length);
		return;
	}
	opcode_name(e->from, opcode);
	snprintf(text, size,
		 "%s to=0x%x opcode=%s psn=0x%x length=%" PRIu64 " packets=%u",
		 way, e->number, opcode, e->psn, e->length, e->expected);
}

static void journal_text_put_traffic(const struct journal_entry *e, char *text,
				     size_t size)
{
	if (e->kind == JOURNAL_DOORBELL)
		snprintf(text, size, "doorbell qp=0x%x", e->number);
	else if (e->kind != JOURNAL_COMPLETION)
		journal_text_put_passing(e, text, size);
	else if (e->status)
		snprintf(text, size,
			 "completion qp=0x%x cq=0x%x wr_id=0x%" PRIx64 " %s",
			 e->number, e->key, e->addr,
			 verbs_status_name(e->status));
	else
		snprintf(text, size,
			 "completion qp=0x%x cq=0x%x wr_id=0x%" PRIx64
			 " SUCCESS %s length=%" PRIu64,
			 e->number, e->key, e->addr,
			 e->code ? "receive" : "send", e->length);
}

static void journal_text_put_fault(const struct journal_entry *e, char *text,
				   size_t size)
{
	int n = snprintf(text, size, "fault %u %s", e->key,
			 nic_rule_kind_name(e->code));

	if (e->number)
		snprintf(text + n, size - n, " qp=0x%x", e->number);
}

static void journal_text_put_nic(const struct journal_entry *e, char *text,
				 size_t size)
{
	if (e->kind == JOURNAL_RESET)
		snprintf(text, size, "reset");
	else if (e->kind == JOURNAL_ENABLED)
		snprintf(text, size, "enabled");
	else if (e->kind == JOURNAL_FATAL)
		snprintf(text, size, "fatal %u", e->code);
	else if (e->kind == JOURNAL_COMMAND)
		snprintf(text, size, "command %s number=0x%x %s created=0x%x",
			 NAME_AT(commands, e->code), e->number,
			 NAME_AT(command_statuses, e->status), e->key);
	else
		snprintf(text, size, "event %s number=0x%x",
			 NAME_AT(events,
				 min_u32(e->code, MYNIC_EVENT_PAGE_FAULT)),
			 e->number);
}

static void journal_text_put_state(const struct journal_entry *e, char *text,
				   size_t size)
{
	if (e->kind == JOURNAL_MODIFIED)
		snprintf(text, size, "state qp=0x%x %s to %s by MODIFY_QP",
			 e->number, verbs_state_name(e->from),
			 verbs_state_name(e->to));
	else
		snprintf(text, size, "state qp=0x%x %s to %s by the NIC%s%s",
			 e->number, verbs_state_name(e->from),
			 verbs_state_name(e->to), e->code ? ": " : "",
			 e->code ? NAME_AT(events, e->code) : "");
}

static void journal_text_put_error(const struct journal_entry *e, char *text,
				   size_t size)
{
	if (e->kind == JOURNAL_SEND_ERROR)
		snprintf(text, size,
			 "send error qp=0x%x %s %s syndrome=%s unacked=0x%x",
			 e->number, verbs_request_name(e->code),
			 verbs_status_name(e->status),
			 NAME_AT(syndromes, e->from), e->psn & PSN_MASK);
	else
		snprintf(text, size,
			 "receive error qp=0x%x %s syndrome=%s expected=0x%x",
			 e->number, verbs_status_name(e->status),
			 NAME_AT(syndromes, e->from), e->psn & PSN_MASK);
}

/* A switch, because the compiler tells of a kind that it lacks */
static void journal_text_put_what(const struct journal_entry *e, char *text,
				  size_t size)
{
	switch ((enum journal_kind)e->kind) {
	case JOURNAL_RESET:
	case JOURNAL_ENABLED:
	case JOURNAL_FATAL:
	case JOURNAL_COMMAND:
	case JOURNAL_EVENT:
		journal_text_put_nic(e, text, size);
		break;
	case JOURNAL_MODIFIED:
	case JOURNAL_MOVED:
		journal_text_put_state(e, text, size);
		break;
	case JOURNAL_SEND_ERROR:
	case JOURNAL_RECV_ERROR:
		journal_text_put_error(e, text, size);
		break;
	case JOURNAL_COUNT:
		journal_text_put_count(e, text, size);
		break;
	case JOURNAL_DROP:
	case JOURNAL_REFUSED:
		journal_text_put_packet(e, text, size);
		break;
	case JOURNAL_FAULT:
		journal_text_put_fault(e, text, size);
		break;
	case JOURNAL_DOORBELL:
	case JOURNAL_SENT:
	case JOURNAL_RECEIVED:
	case JOURNAL_COMPLETION:
		journal_text_put_traffic(e, text, size);
		break;
	case JOURNAL_KEY:
	case JOURNAL_PAGE:
		journal_text_put_memory(e, text, size);
		break;
	}
}

void journal_text(const struct journal_entry *entry,
		  char line[JOURNAL_LINE_SIZE])
{
	uint64_t second = NSEC_PER_SEC;
	int n = snprintf(line, JOURNAL_LINE_SIZE, "%" PRIu64 ".%09" PRIu64 " ",
			 entry->time / second, entry->time % second);

	journal_text_put_what(entry, line + n, JOURNAL_LINE_SIZE - n);
}
