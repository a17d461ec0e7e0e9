/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * On-demand paging: regions whose pages come and go. What a QP was about to do
 * with a page that is not there waits until the host has said what became of
 * it: requests stay in the send queue, packets are kept, reads are answered
 * later.
 */
#ifndef MYNIC_PAGING_H
#define MYNIC_PAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "mynic_regs.h"

struct buf;
struct buf_window;
struct nic;
struct packet;
struct qp;

/**
 * struct page_fault - an access to a page that is not there
 * @key: the region's
 * @addr: as requests name it
 * @len: bytes that are going to be accessed from there on, at least 1
 * @write: the page has to be writable
 */
struct page_fault {
	uint32_t key;
	uint64_t addr;
	uint32_t len;
	bool write;
};

/**
 * struct paging_wait - what one stage of a QP waits for
 * @token: of the last event
 * @fault: what it was about
 */
struct paging_wait {
	uint32_t token;
	struct page_fault fault;
};

STAILQ_HEAD(held_packets, held_packet);

/**
 * struct paging - a QP's waits
 * @waiting: bit 1 << enum mynic_page_stage: it waits for RESUME
 * @failed: likewise, RESUME has said that the page cannot be had
 * @held_bytes: memory that @held takes
 * @held: packets that came while MYNIC_PAGE_RECV waited, the one that caused
 *	it first
 * @waits: by enum mynic_page_stage
 */
struct paging {
	uint8_t waiting;
	uint8_t failed;
	uint32_t held_bytes;
	struct held_packets held;
	struct paging_wait waits[MYNIC_PAGE_STAGES];
};

/**
 * paging_wait() - an access of a QP has met &nic.missing
 * @qp: the QP
 * @stage: what accessed
 *
 * Return: -EAGAIN: the host has been asked for it, and @stage waits; -EFAULT:
 * it is just that which cannot be had.
 */
int paging_wait(struct qp *qp, enum mynic_page_stage stage);

/** paging_waits() - is nothing to be done in this stage? */
static inline bool paging_waits(const struct paging *paging,
				enum mynic_page_stage stage)
{
	return paging->waiting & 1 << stage;
}

/** paging_passed() - a stage has done what it waited with */
static inline void paging_passed(struct paging *paging,
				 enum mynic_page_stage stage)
{
	paging->failed &= ~(1 << stage);
}

/** paging_holds() - have packets to go behind others that are kept? */
static inline bool paging_holds(const struct paging *paging)
{
	return paging_waits(paging, MYNIC_PAGE_RECV) ||
	       !STAILQ_EMPTY(&paging->held);
}

/** paging_hold() - keep a packet; if there is no room it is as if lost */
void paging_hold(struct qp *qp, const struct packet *pkt);

/**
 * paging_replay() - take the packets that were kept
 * @qp: the QP
 * @fn: takes one; if it has to wait again, the packet stays the first
 *
 * Return: true if there are more to take now.
 */
bool paging_replay(struct qp *qp,
		   void (*fn)(struct qp *qp, const struct packet *pkt));

/** paging_init() - of a new QP */
void paging_init(struct qp *qp);

/** paging_stop() - the QP neither sends nor receives any more: forget all */
void paging_stop(struct qp *qp);

#endif /* MYNIC_PAGING_H */
