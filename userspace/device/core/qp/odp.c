// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * On-demand paging: page faults of QPs, RESUME, and the packets that wait. The
 * page tables are in memory/page_table.c.
 */

#include "qp/odp.h"

#include <endian.h>
#include <stdint.h>

#include "base/journal.h"
#include "base/mem.h"
#include "base/util.h"
#include "function/eq.h"
#include "packet/packet.h"
#include "packet/packet_copy.h"
#include "qp/qp.h"
#include "state/nic_types.h"
#include "state/qp_types.h"
#include "state/waits_types.h"

/* Costs of packets that may wait for a page: of one QP, and of all */
#define QP_HELD_BYTES (2u << 20)
#define NIC_HELD_BYTES (64u << 20)

/* Most page faults are answered earlier, and the peer does not notice them */
#define LONG_WAIT_NS 20000000

/* Packets handled in one run, so that other QPs need not wait */
#define QUANTUM 64

/**
 * struct held_packet - a packet that waits for a page
 * @link: link in &odp.held
 * @cost: result of packet_copy_cost(), which counts against the limits
 * @copy: result of packet_copy(), which needs the alignment
 */
struct held_packet {
	STAILQ_ENTRY(held_packet) link;
	uint32_t cost;
	uint64_t copy[];
};

static bool odp_is_same(const struct page_fault *a, const struct page_fault *b)
{
	return a->key == b->key && a->addr == b->addr && a->write == b->write;
}

static void odp_note_wait(const struct qp *qp, enum mynic_page_stage stage)
{
	const struct page_fault *fault = &qp->odp.waits[stage].fault;
	const struct journal_entry entry = {
		.kind = JOURNAL_PAGE,
		.code = stage,
		.status = fault->write,
		.number = qp->number,
		.key = fault->key,
		.addr = fault->addr,
		.length = fault->len,
	};

	nic_note(qp->nic, &entry);
}

enum outcome odp_wait(struct qp *qp, enum mynic_page_stage stage,
		      const struct page_fault *fault)
{
	struct odp_wait *wait = &qp->odp.waits[stage];
	struct odp *odp = &qp->odp;
	struct nic *nic = qp->nic;
	uint8_t bit = 1 << stage;

	if (odp->waiting & bit)
		return OUTCOME_WAIT;
	if (odp->failed & bit && odp_is_same(&wait->fault, fault)) {
		odp->failed &= ~bit;
		return OUTCOME_DMA;
	}
	odp->waiting |= bit;
	odp->failed &= ~bit;
	wait->fault = *fault;
	wait->token = ++nic->page_token;
	wait->since = nic_now(nic);
	odp_note_wait(qp, stage);
	eq_raise(nic, &qp->events, MYNIC_EVENT_PAGE_FAULT + stage);
	return OUTCOME_WAIT;
}

bool odp_waits_long(const struct qp *qp, enum mynic_page_stage stage)
{
	const struct odp *odp = &qp->odp;

	return odp_waits(odp, stage) &&
	       nic_now(qp->nic) - odp->waits[stage].since >= LONG_WAIT_NS;
}

void odp_hold(struct qp *qp, const struct packet *pkt)
{
	size_t size = sizeof(struct held_packet) + packet_copy_size(pkt);
	size_t cost = packet_copy_cost(size);
	struct odp *odp = &qp->odp;
	struct held_packet *held = NULL;
	struct nic *nic = qp->nic;

	if (odp->held_bytes + cost <= QP_HELD_BYTES &&
	    nic->held_bytes + cost <= NIC_HELD_BYTES)
		held = mem_alloc(&nic->mem, size);
	if (!held) {
		nic_count(nic, MYNIC_STAT_RX_DROP_OVERRUN);
		return;
	}
	held->cost = cost;
	packet_copy(held->copy, pkt);
	STAILQ_INSERT_TAIL(&odp->held, held, link);
	odp->held_bytes += cost;
	nic->held_bytes += cost;
}

static struct held_packet *odp_take_first(struct qp *qp)
{
	struct held_packet *held = STAILQ_FIRST(&qp->odp.held);

	STAILQ_REMOVE_HEAD(&qp->odp.held, link);
	qp->odp.held_bytes -= held->cost;
	qp->nic->held_bytes -= held->cost;
	return held;
}

static void odp_put_first(struct qp *qp, struct held_packet *held)
{
	STAILQ_INSERT_HEAD(&qp->odp.held, held, link);
	qp->odp.held_bytes += held->cost;
	qp->nic->held_bytes += held->cost;
}

bool odp_replay(struct qp *qp,
		void (*fn)(struct qp *qp, const struct packet *pkt))
{
	struct odp *odp = &qp->odp;

	for (unsigned int i = 0; i < QUANTUM; i++) {
		struct held_packet *held;
		struct packet pkt;

		if (odp_waits(odp, MYNIC_PAGE_RECV) || STAILQ_EMPTY(&odp->held))
			return false;
		/*
		 * The packet may end the QP and free all waiting packets, so it
		 * leaves the queue first
		 */
		held = odp_take_first(qp);
		packet_load(held->copy, &pkt);
		fn(qp, &pkt);
		if (odp_waits(odp, MYNIC_PAGE_RECV)) {
			odp_put_first(qp, held);
			return false;
		}
		odp_passed(odp, MYNIC_PAGE_RECV);
		mem_free(&qp->nic->mem, held);
		nic_charge(qp->nic, 1);
		if (nic_turn_is_over(qp->nic))
			break;
	}
	return !STAILQ_EMPTY(&odp->held);
}

/* Fills in the fields of a page fault event */
static void odp_describe(const struct event_source *source,
			 struct mynic_eqe *eqe)
{
	const struct qp *qp = container_of(source, struct qp, events);
	const struct odp_wait *wait;

	if (eqe->type < MYNIC_EVENT_PAGE_FAULT)
		return;
	wait = &qp->odp.waits[eqe->type - MYNIC_EVENT_PAGE_FAULT];
	eqe->flags = wait->fault.write ? MYNIC_PAGE_FAULT_WRITE : 0;
	eqe->addr = htole64(wait->fault.addr);
	eqe->key = htole32(wait->fault.key);
	eqe->length = htole32(wait->fault.len);
	eqe->token = htole32(wait->token);
}

void odp_init(struct qp *qp)
{
	qp->events.describe = odp_describe;
	qp->odp = (struct odp){ 0 };
	STAILQ_INIT(&qp->odp.held);
}

void odp_stop(struct qp *qp)
{
	while (!STAILQ_EMPTY(&qp->odp.held))
		mem_free(&qp->nic->mem, odp_take_first(qp));
	qp->odp.waiting = 0;
	qp->odp.failed = 0;
	eq_cancel(qp->nic, &qp->events,
		  ((1u << MYNIC_PAGE_STAGES) - 1) << MYNIC_EVENT_PAGE_FAULT);
}

int admin_resume(struct nic *nic, struct admin_call *call)
{
	const struct mynic_resume *cmd = &call->cmd.resume;
	struct qp *qp = qp_find(nic, le32toh(call->cmd.number));
	uint8_t bit;

	if (cmd->stage >= MYNIC_PAGE_STAGES || cmd->failed > 1)
		return MYNIC_AQ_BAD_PARAM;
	if (!qp)
		return MYNIC_AQ_BAD_NUMBER;
	bit = 1 << cmd->stage;
	if (!(qp->odp.waiting & bit) ||
	    le32toh(cmd->token) != qp->odp.waits[cmd->stage].token)
		return MYNIC_AQ_BAD_STATE;
	qp->odp.waiting &= ~bit;
	if (cmd->failed)
		qp->odp.failed |= bit;
	qp_schedule(nic, qp);
	return MYNIC_AQ_OK;
}
