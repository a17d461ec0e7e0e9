// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pairs as text, for the control socket. */
#include "qp_text.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/util.h"
#include "core/engine/qp_info.h"
#include "verbs_name.h"

#define RETRY_WITHOUT_LIMIT 7

static const char *const types[] = {
	[0] = "WQ",
	[MYNIC_QP_RC] = "RC",
	[MYNIC_QP_UC] = "UC",
	[MYNIC_QP_UD] = "UD",
	[MYNIC_QP_GSI] = "GSI",
	[MYNIC_QP_RAW_PACKET] = "RAW_PACKET",
	[MYNIC_QP_XRC_INI] = "XRC_SEND",
	[MYNIC_QP_XRC_TGT] = "XRC_RECV",
	[MYNIC_QP_DRIVER] = "DRIVER",
};

/**
 * struct wait_text - how a bit of enum qp_wait is called
 * @word: in a line of qp_text_line()
 * @text: in the lines of qp_text_all()
 */
struct wait_text {
	const char *word;
	const char *text;
};

static const struct wait_text wait_texts[QP_NUM_WAITS] = {
	{ "ack", "an acknowledgment of the peer" },
	{ "rnr", "the end of a pause: the peer had no receive request" },
	{ "credit", "a receive request of the peer" },
	{ "rate", "its rate" },
	{ "page-send", "a page of memory that it sends" },
	{ "page-recv", "a page of memory that it receives to" },
	{ "page-read", "a page of memory that the peer reads" },
	{ "flush", "memory to become persistent" },
	{ "room", "room on the wire, whose peer is slow" },
	{ "turn", "its turn" },
};

void qp_text_line(FILE *out, const char *port, const struct qp_info *info)
{
	const char *separator = " waits=";

	fprintf(out, "%s 0x%x %s %s", port, info->number,
		NAME_AT(types, info->type), verbs_state_name(info->state));
	if (info->connected)
		fprintf(out, " peer=0x%x", info->dest_qpn);
	if (info->has_sq)
		fprintf(out, " posted=%u sent=%u", info->posted, info->sent);
	for (unsigned int i = 0; i < QP_NUM_WAITS; i++) {
		if (!(info->waits & 1 << i))
			continue;
		fprintf(out, "%s%s", separator, wait_texts[i].word);
		separator = ",";
	}
	fputc('\n', out);
}

static void qp_text_row(FILE *out, const char *name)
{
	fprintf(out, "%-18s", name);
}

static void qp_text_time(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%03" PRIu64 " ms", ns / 1000000,
		ns / 1000 % 1000);
}

static void qp_text_peer(FILE *out, const struct qp_info *info)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char address[INET6_ADDRSTRLEN] = "";

	if (memcmp(info->dgid, mapped, sizeof(mapped)))
		inet_ntop(AF_INET6, info->dgid, address, sizeof(address));
	else
		inet_ntop(AF_INET, info->dgid + sizeof(mapped), address,
			  sizeof(address));
	qp_text_row(out, "peer");
	fprintf(out, "QP 0x%x at %s, path MTU %u\n", info->dest_qpn, address,
		info->path_mtu);
}

static void qp_text_requests(FILE *out, const struct qp_info *info)
{
	qp_text_row(out, "send requests");
	fprintf(out, "%u posted, %u of them sent", info->posted, info->sent);
	if (info->sent)
		fprintf(out, "; the oldest: %s",
			verbs_request_name(info->oldest));
	fputc('\n', out);
}

static void qp_text_retries(FILE *out, const struct qp_info *info)
{
	qp_text_row(out, "retries left");
	fprintf(out, "%u after timeouts, ", info->retries);
	if (info->rnr_retries == RETRY_WITHOUT_LIMIT)
		fputs("any number after RNR NAKs\n", out);
	else
		fprintf(out, "%u after RNR NAKs\n", info->rnr_retries);
}

static void qp_text_requester(FILE *out, const struct qp_info *info)
{
	qp_text_row(out, "sending");
	fprintf(out,
		"next PSN 0x%x, not acknowledged from 0x%x, window %u packets",
		info->psn, info->una, info->window);
	if (info->rtt) {
		fputs(", round trip ", out);
		qp_text_time(out, info->rtt);
	}
	fputc('\n', out);
	qp_text_retries(out, info);
}

static void qp_text_receiving(FILE *out, const struct qp_info *info)
{
	if (info->connected) {
		qp_text_row(out, "receiving");
		fprintf(out,
			"PSN 0x%x expected, %u messages, %u answers owed\n",
			info->epsn, info->messages, info->answers);
	}
	if (info->srqn != MYNIC_NO_SRQ) {
		qp_text_row(out, "receive requests");
		fprintf(out, "those of SRQ 0x%x\n", info->srqn);
	} else if (info->has_rq) {
		qp_text_row(out, "receive requests");
		fprintf(out, "%u taken\n", info->received);
	}
}

static void qp_text_cqs(FILE *out, const struct qp_info *info)
{
	if (!info->send_cqn && !info->recv_cqn)
		return;
	qp_text_row(out, "CQs");
	if (info->send_cqn)
		fprintf(out, "0x%x for sends%s", info->send_cqn,
			info->recv_cqn ? ", " : "");
	if (info->recv_cqn)
		fprintf(out, "0x%x for receives", info->recv_cqn);
	fputc('\n', out);
}

static void qp_text_ack(FILE *out, const struct qp_info *info)
{
	fputs(", silent for ", out);
	qp_text_time(out, info->silent);
	if (info->retry_in == ~0ull) {
		fputs(", without a timeout", out);
		return;
	}
	fputs(", timeout in ", out);
	qp_text_time(out, info->retry_in);
}

static void qp_text_detail(FILE *out, const struct qp_info *info, uint32_t wait)
{
	if (wait == QP_WAIT_ACK) {
		qp_text_ack(out, info);
		return;
	}
	if (wait == QP_WAIT_RNR) {
		fputs(", in ", out);
		qp_text_time(out, info->pause);
		return;
	}
	for (unsigned int stage = 0; stage < MYNIC_PAGE_STAGES; stage++)
		if (wait == (uint32_t)QP_WAIT_PAGE << stage)
			fprintf(out, ": key 0x%x, address 0x%" PRIx64,
				info->page[stage].key, info->page[stage].addr);
}

static void qp_text_waits(FILE *out, const struct qp_info *info)
{
	for (unsigned int i = 0; i < QP_NUM_WAITS; i++) {
		if (!(info->waits & 1u << i))
			continue;
		qp_text_row(out, "waits for");
		fputs(wait_texts[i].text, out);
		qp_text_detail(out, info, 1u << i);
		fputc('\n', out);
	}
	if (!info->waits) {
		qp_text_row(out, "waits for");
		fputs("nothing\n", out);
	}
}

void qp_text_all(FILE *out, const struct qp_info *info)
{
	qp_text_row(out, info->type ? "QP" : "WQ");
	fprintf(out, "0x%x\n", info->number);
	qp_text_row(out, "type");
	fprintf(out, "%s\n", NAME_AT(types, info->type));
	qp_text_row(out, "state");
	fprintf(out, "%s\n", verbs_state_name(info->state));
	if (info->connected)
		qp_text_peer(out, info);
	if (info->has_sq)
		qp_text_requests(out, info);
	if (info->reliable && info->connected)
		qp_text_requester(out, info);
	qp_text_receiving(out, info);
	qp_text_cqs(out, info);
	if (info->rate) {
		qp_text_row(out, "rate");
		fprintf(out, "%" PRIu64 " bit/s\n", info->rate);
	}
	qp_text_waits(out, info);
}
