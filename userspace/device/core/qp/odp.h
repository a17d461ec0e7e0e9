/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * On-demand paging: regions whose pages come and go. A QP that meets a missing
 * page waits until the host has answered. Requests stay in the send queue,
 * packets are held, and READs are answered later.
 */
#ifndef MYNIC_ODP_H
#define MYNIC_ODP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/outcome.h"
#include "mynic_regs.h"
#include "state/waits_types.h"

struct admin_call;
struct nic;
struct packet;
struct qp;

/**
 * odp_wait() - handle an access that has met a missing page
 * @qp: the QP
 * @stage: stage that made the access
 * @fault: the access, with all that will follow it
 *
 * Return: OUTCOME_WAIT: the host was asked for the page, and the stage waits;
 * OUTCOME_DMA: the host has said that this page is not available.
 */
enum outcome odp_wait(struct qp *qp, enum mynic_page_stage stage,
		      const struct page_fault *fault);

/* Whether a stage has to wait for a page. */
static inline bool odp_waits(const struct odp *odp, enum mynic_page_stage stage)
{
	return odp->waiting & 1 << stage;
}

/*
 * Whether a stage waits for so long that the peer must be told, because its
 * retries would run out.
 */
bool odp_waits_long(const struct qp *qp, enum mynic_page_stage stage);

/* A stage has completed the access that it waited with. */
static inline void odp_passed(struct odp *odp, enum mynic_page_stage stage)
{
	odp->failed &= ~(1 << stage);
}

/* Whether new packets must wait behind others. */
static inline bool odp_holds(const struct odp *odp)
{
	return odp_waits(odp, MYNIC_PAGE_RECV) || !STAILQ_EMPTY(&odp->held);
}

/* Holds a packet. Without room it is dropped like a lost packet. */
void odp_hold(struct qp *qp, const struct packet *pkt);

/**
 * odp_replay() - handle held packets
 * @qp: the QP
 * @fn: handles one packet; the packet stays the first if it has to wait again
 *
 * Return: true if more can be handled now.
 */
bool odp_replay(struct qp *qp,
		void (*fn)(struct qp *qp, const struct packet *pkt));

void odp_init(struct qp *qp);

/*
 * The QP neither sends nor receives any more; all waits end and packets are
 * freed.
 */
void odp_stop(struct qp *qp);

/* Commands of the host; see admin.h */
int admin_resume(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_ODP_H */
