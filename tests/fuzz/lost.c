// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Messages that a wire may lose: each arrives whole and right, or not at all */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runner.h"

#define MAX_MESSAGES 32
#define MAX_PIECES 8
#define MAX_LENGTH 65536

/**
 * struct message - what was sent
 * @opcode: of its receive completion
 * @len: of its data
 * @flags: IBV_WC_WITH_IMM, IBV_WC_GRH
 * @imm: with IBV_WC_WITH_IMM, in host order
 * @crc: of its data
 * @where: address that it is written to, or NULL if a receive request has it
 */
struct message {
	unsigned int opcode;
	uint32_t len;
	unsigned int flags;
	uint32_t imm;
	uint32_t crc;
	const uint8_t *where;
};

/**
 * struct receive - a receive request
 * @wr_id: of the request
 * @pieces: its memory, in parts
 * @lens: of each part
 * @num: of them
 * @null: some of it is no memory, so that its bytes are not known
 */
struct receive {
	uint64_t wr_id;
	const uint8_t *pieces[MAX_PIECES];
	uint32_t lens[MAX_PIECES];
	unsigned int num;
	bool null;
};

/**
 * struct arrival - what came of some messages
 * @line: the call
 * @messages: that were sent
 * @num_messages: how many
 * @receives: requests that were posted for them, in their order
 * @num_receives: how many
 * @header: bytes in front of a message
 * @from: queue pair that sends datagrams, or NULL
 * @flushed: a request was flushed: nothing can come any more
 */
struct arrival {
	const struct line *line;
	struct message messages[MAX_MESSAGES];
	unsigned int num_messages;
	struct receive receives[MAX_MESSAGES];
	unsigned int num_receives;
	uint32_t header;
	const struct ibv_qp *from;
	bool flushed;
};

/* OPCODE/LENGTH/FLAGS/IMM/CRC/NODE:OFFSET or - */
static void parse_message(const struct line *line, const char *text,
			  struct message *msg)
{
	char where[32];

	if (sscanf(text, "%u/%u/%u/%u/%u/%31s", &msg->opcode, &msg->len,
		   &msg->flags, &msg->imm, &msg->crc, where) != 6)
		fail(line, "malformed message %s", text);
	msg->where = NULL;
	if (where[0] != '-')
		msg->where = (uint8_t *)(uintptr_t)address(line, where);
}

/* WR_ID/- or WR_ID/NODE:OFFSET/LENGTH|... */
static void parse_receive(const struct line *line, char *text,
			  struct receive *recv)
{
	char *piece, *length, *save;

	*recv = (struct receive){ .wr_id = strtoull(text, &text, 0) };
	recv->null = !strcmp(text, "/-");
	if (recv->null)
		return;
	for (piece = strtok_r(text + 1, "|", &save); piece;
	     piece = strtok_r(NULL, "|", &save)) {
		length = strchr(piece, '/');
		if (!length || recv->num == MAX_PIECES)
			fail(line, "malformed receive request");
		recv->lens[recv->num] = strtoul(length + 1, NULL, 0);
		recv->pieces[recv->num++] =
			(uint8_t *)(uintptr_t)address(line, piece);
	}
}

static void parse_all(const struct line *line, struct arrival *arrival)
{
	for (unsigned int i = 0; i < line->num_args; i++) {
		char *text = line->args[i];

		if (arrival->num_messages == MAX_MESSAGES ||
		    arrival->num_receives == MAX_MESSAGES)
			fail(line, "too many messages");
		if (!strncmp(text, "msg=", 4))
			parse_message(
				line, text + 4,
				&arrival->messages[arrival->num_messages++]);
		else if (!strncmp(text, "recv=", 5))
			parse_receive(
				line, text + 5,
				&arrival->receives[arrival->num_receives++]);
	}
}

/* CRC of what a request has received, without the header in front of it */
static uint32_t crc_of(const struct receive *recv, uint32_t header,
		       uint32_t len)
{
	static _Thread_local uint8_t data[MAX_LENGTH];
	uint32_t have = 0;

	for (unsigned int i = 0; i < recv->num && have < header + len; i++) {
		uint32_t part = recv->lens[i];

		if (part > header + len - have)
			part = header + len - have;
		memcpy(data + have, recv->pieces[i], part);
		have += part;
	}
	return crc32(data + header, len);
}

static bool is_message(const struct arrival *arrival, const struct ibv_wc *wc,
		       const struct receive *recv, const struct message *msg)
{
	const unsigned int compared = IBV_WC_WITH_IMM | IBV_WC_WITH_INV;

	if (arrival->from && wc->src_qp != arrival->from->qp_num)
		return false;
	if (wc->opcode != msg->opcode ||
	    wc->byte_len != msg->len + arrival->header ||
	    (wc->wc_flags ^ msg->flags) & compared)
		return false;
	if (msg->flags & IBV_WC_WITH_IMM && ntohl(wc->imm_data) != msg->imm)
		return false;
	if (msg->where)
		return crc32(msg->where, msg->len) == msg->crc;
	return recv->null || wc->opcode != IBV_WC_RECV ||
	       crc_of(recv, arrival->header, msg->len) == msg->crc;
}

/* Any packet that can begin a message does, late or again (IBTA 9.9.3 D1). */
static void find_message(const struct arrival *arrival, const struct ibv_wc *wc,
			 const struct receive *recv)
{
	for (unsigned int i = 0; i < arrival->num_messages; i++)
		if (is_message(arrival, wc, recv, &arrival->messages[i]))
			return;
	fail(arrival->line,
	     "request %llu has a message of %u bytes that nobody sent, or not whole",
	     (unsigned long long)wc->wr_id, wc->byte_len);
}

static void check_one(struct arrival *arrival, const struct ibv_wc *wc,
		      unsigned int number)
{
	const struct receive *recv = &arrival->receives[number];

	if (number >= arrival->num_receives || wc->wr_id != recv->wr_id)
		fail(arrival->line, "request %llu completes",
		     (unsigned long long)wc->wr_id);
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		arrival->flushed = true;
	else if (wc->status || arrival->flushed)
		fail(arrival->line, "request %llu: %s",
		     (unsigned long long)wc->wr_id,
		     ibv_wc_status_str(wc->status));
	else
		find_message(arrival, wc, recv);
}

/* Each request completes once, as its queue pair has stopped. */
static void poll_all(struct arrival *arrival, struct ibv_cq *cq)
{
	time_t last = time(NULL);
	unsigned int seen = 0;
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(cq, 1, &wc);
		if (n < 0)
			fail(arrival->line, "polling returned %d", n);
		if (n) {
			check_one(arrival, &wc, seen++);
			last = time(NULL);
		} else if (time(NULL) - last > PATIENCE) {
			fail(arrival->line, "request %llu does not complete",
			     (unsigned long long)arrival->receives[seen].wr_id);
		}
	} while (n || seen < arrival->num_receives);
}

bool lost_call(const struct line *line)
{
	struct arrival arrival = { .line = line,
				   .header = number(line, "header", 0) };

	if (strcmp(line->verb, "poll_lossy"))
		return false;
	arrival.from = maybe(line, KIND_QP, "from");
	parse_all(line, &arrival);
	poll_all(&arrival, live(line, KIND_CQ, line->target));
	return true;
}
