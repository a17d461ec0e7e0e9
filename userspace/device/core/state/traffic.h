/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Doorbells, packets and completions in the journal. They are there only if
 * somebody has asked for traffic, too (nic_journal_traffic()).
 */
#ifndef MYNIC_STATE_TRAFFIC_H
#define MYNIC_STATE_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/journal.h"
#include "state/nic_types.h"

struct mynic_cqe;
struct packet;

static inline bool traffic_is_noted(const struct nic *nic)
{
	return __builtin_expect(nic->journal.traffic, false);
}

/* The host has rung the doorbell of a QP. */
void traffic_note_doorbell(struct nic *nic, uint32_t qpn);

/* @kind: JOURNAL_SENT or JOURNAL_RECEIVED */
void traffic_note_packet(struct nic *nic, enum journal_kind kind,
			 const struct packet *pkt);

/* A completion in the CQ with the number @cqn. */
void traffic_note_completion(struct nic *nic, uint32_t cqn,
			     const struct mynic_cqe *cqe);

#endif /* MYNIC_STATE_TRAFFIC_H */
