// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * On-demand paging: page faults of QPs, RESUME, and the packets that wait. The
 * page tables are in memory/page_table.c.
 */

#include "qp/paging.h"

#include <errno.h>

#include "base/util.h"
#include "core.h"
#include "packet/packet_copy.h"

/* Costs of packets that may wait for a page: of one QP, and of all */
#define QP_HELD_BYTES (2u << 20)
#define NIC_HELD_BYTES (64u << 20)

/* Most page faults are answered earlier, and the peer does not notice them */
#define LONG_WAIT_NS 20000000

/* Packets handled in one run, so that other QPs need not wait */
#define QUANTUM 64

/**
 * struct held_packet - a packet that waits for a page
 * @link: link in &paging.held
 * @cost: result of packet_copy_cost(), which counts against the limits
 * @copy: result of packet_copy(), which needs the alignment
 */
struct held_packet {
	STAILQ_ENTRY(held_packet) link;
	uint32_t cost;
	uint64_t copy[];
};

static bool paging_is_same(const struct page_fault *a,
			   const struct page_fault *b)
{
	return a->key == b->key && a->addr == b->addr && a->write == b->write;
}

static void paging_note_wait(const struct qp *qp, enum mynic_page_stage stage)
{
	const struct page_fault *fault = &qp->paging.waits[stage].fault;
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

int paging_wait(struct qp *qp, enum mynic_page_stage stage,
		const struct page_fault *fault)
{
	struct paging_wait *wait = &qp->paging.waits[stage];
	struct paging *paging = &qp->paging;
	struct nic *nic = qp->nic;
	uint8_t bit = 1 << stage;

	if (paging->waiting & bit)
		return -EAGAIN;
	if (paging->failed & bit && paging_is_same(&wait->fault, fault)) {
		paging->failed &= ~bit;
		return -EFAULT;
	}
	paging->waiting |= bit;
	paging->failed &= ~bit;
	wait->fault = *fault;
	wait->token = ++nic->page_token;
	wait->since = nic_now(nic);
	paging_note_wait(qp, stage);
	event_raise(nic, &qp->events, MYNIC_EVENT_PAGE_FAULT + stage);
	return -EAGAIN;
}

bool paging_waits_long(const struct qp *qp, enum mynic_page_stage stage)
{
	const struct paging *paging = &qp->paging;

	return paging_waits(paging, stage) &&
	       nic_now(qp->nic) - paging->waits[stage].since >= LONG_WAIT_NS;
}

void paging_hold(struct qp *qp, const struct packet *pkt)
{
	size_t size = sizeof(struct held_packet) + packet_copy_size(pkt);
	size_t cost = packet_copy_cost(size);
	struct paging *paging = &qp->paging;
	struct held_packet *held = NULL;
	struct nic *nic = qp->nic;

	if (paging->held_bytes + cost <= QP_HELD_BYTES &&
	    nic->held_bytes + cost <= NIC_HELD_BYTES)
		held = mem_alloc(&nic->mem, size);
	if (!held) {
		nic_count(nic, MYNIC_STAT_RX_DROP_OVERRUN);
		return;
	}
	held->cost = cost;
	packet_copy(held->copy, pkt);
	STAILQ_INSERT_TAIL(&paging->held, held, link);
	paging->held_bytes += cost;
	nic->held_bytes += cost;
}

static struct held_packet *paging_take_first(struct qp *qp)
{
	struct held_packet *held = STAILQ_FIRST(&qp->paging.held);

	STAILQ_REMOVE_HEAD(&qp->paging.held, link);
	qp->paging.held_bytes -= held->cost;
	qp->nic->held_bytes -= held->cost;
	return held;
}

static void paging_put_first(struct qp *qp, struct held_packet *held)
{
	STAILQ_INSERT_HEAD(&qp->paging.held, held, link);
	qp->paging.held_bytes += held->cost;
	qp->nic->held_bytes += held->cost;
}

bool paging_replay(struct qp *qp,
		   void (*fn)(struct qp *qp, const struct packet *pkt))
{
	struct paging *paging = &qp->paging;

	for (unsigned int i = 0; i < QUANTUM; i++) {
		struct held_packet *held;
		struct packet pkt;

		if (paging_waits(paging, MYNIC_PAGE_RECV) ||
		    STAILQ_EMPTY(&paging->held))
			return false;
		/*
		 * The packet may end the QP and free all waiting packets, so it
		 * leaves the queue first
		 */
		held = paging_take_first(qp);
		packet_load(held->copy, &pkt);
		fn(qp, &pkt);
		if (paging_waits(paging, MYNIC_PAGE_RECV)) {
			paging_put_first(qp, held);
			return false;
		}
		paging_passed(paging, MYNIC_PAGE_RECV);
		mem_free(&qp->nic->mem, held);
		nic_charge(qp->nic, 1);
		if (nic_turn_is_over(qp->nic))
			break;
	}
	return !STAILQ_EMPTY(&paging->held);
}

/* Fills in the fields of a page fault event */
static void paging_describe(const struct event_source *source,
			    struct mynic_eqe *eqe)
{
	const struct qp *qp = container_of(source, struct qp, events);
	const struct paging_wait *wait;

	if (eqe->type < MYNIC_EVENT_PAGE_FAULT)
		return;
	wait = &qp->paging.waits[eqe->type - MYNIC_EVENT_PAGE_FAULT];
	eqe->flags = wait->fault.write ? MYNIC_PAGE_FAULT_WRITE : 0;
	eqe->addr = htole64(wait->fault.addr);
	eqe->key = htole32(wait->fault.key);
	eqe->length = htole32(wait->fault.len);
	eqe->token = htole32(wait->token);
}

void paging_init(struct qp *qp)
{
	qp->events.describe = paging_describe;
	qp->paging = (struct paging){ 0 };
	STAILQ_INIT(&qp->paging.held);
}

void paging_stop(struct qp *qp)
{
	while (!STAILQ_EMPTY(&qp->paging.held))
		mem_free(&qp->nic->mem, paging_take_first(qp));
	qp->paging.waiting = 0;
	qp->paging.failed = 0;
	event_cancel(qp->nic, &qp->events,
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
	if (!(qp->paging.waiting & bit) ||
	    le32toh(cmd->token) != qp->paging.waits[cmd->stage].token)
		return MYNIC_AQ_BAD_STATE;
	qp->paging.waiting &= ~bit;
	if (cmd->failed)
		qp->paging.failed |= bit;
	qp_schedule(nic, qp);
	return MYNIC_AQ_OK;
}
