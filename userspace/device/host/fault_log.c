// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Lines on stderr about applied rules of wire faults. */

#include <inttypes.h>
#include <stdio.h>

#include "core/packet/packet.h"
#include "fault_log.h"
#include "log.h"
#include "wire/opcode_name.h"

static int fault_log_format_packet(char *text, size_t size,
				   const struct packet *pkt)
{
	char opcode[OPCODE_NAME_SIZE];

	if (pkt->kind == PACKET_ETH)
		return snprintf(text, size, "ethertype 0x%04x length %" PRIu32,
				pkt->ethertype, packet_len(pkt));
	if (pkt->defect != PACKET_SOUND)
		return snprintf(text, size, "damaged roce length %" PRIu32,
				packet_len(pkt));
	opcode_name(pkt->roce.opcode, opcode);
	return snprintf(text, size, "%s qp 0x%06" PRIx32 " psn %" PRIu32,
			opcode, pkt->roce.dest_qpn, pkt->roce.psn);
}

void fault_log(struct fault_log *log, const char *port,
	       const struct fault_event *event)
{
	char text[LOG_LINE_SIZE];
	int len = 0;

	if (!log->on)
		return;
	if (log->lost)
		len = snprintf(text, sizeof(text),
			       "mynic-device: %" PRIu64 " faults not shown\n",
			       log->lost);
	len += snprintf(text + len, sizeof(text) - len,
			"mynic-device: %s: fault %u: %s %s ", port, event->rule,
			event->what, event->dir == FAULT_TX ? "tx" : "rx");
	len += fault_log_format_packet(text + len, sizeof(text) - len,
				       event->pkt);
	text[len++] = '\n';
	log->lost = log_write(text, len) ? 0 : log->lost + 1;
}
