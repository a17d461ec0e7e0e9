/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The NIC core as its own files see it. See nic.h for what the rest sees.
 *
 * The transport is called through transport.h, and there only; what it calls is
 * in the headers of the objects, and here.
 */
#ifndef MYNIC_CORE_H
#define MYNIC_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "admin.h"
#include "base/journal.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/timer.h"
#include "base/turn.h"
#include "base/verbs.h"
#include "ethernet/eth.h"
#include "ethernet/flow.h"
#include "function/event.h"
#include "function/gid.h"
#include "function/port.h"
#include "memory/dm.h"
#include "memory/dma.h"
#include "memory/mkey.h"
#include "memory/pd.h"
#include "mynic_regs.h"
#include "nic.h"
#include "qp/counters.h"
#include "qp/mcast.h"
#include "qp/paging.h"
#include "qp/qp.h"
#include "qp/spread.h"
#include "qp/xrcd.h"
#include "queue/cq.h"
#include "queue/srq.h"

/* Limits that more than one file needs; all are in QUERY_DEVICE */
#define NIC_MAX_QP 65536
#define NIC_MAX_RD_ATOMIC 128
#define NIC_NUM_UAR 8192
#define NIC_MAX_RATE_KBPS (PORT_SPEED_MBPS * 1000u)
#define NIC_QPN_GSI 1
#define NIC_QPN_FIRST 0x10
/* Of index 0, which is never given out */
#define NIC_DMA_LKEY 0x000000a5
#define NIC_NULL_LKEY 0x0000005a

/**
 * struct regs - BAR0 registers that hold something
 * @control: MYNIC_CONTROL_ENABLE since it was accepted
 * @status: MYNIC_STATUS_*
 * @fatal: enum mynic_fatal
 * @drv_features: accepted by the driver
 * @clock_hi: latched by reading CLOCK_LO
 */
struct regs {
	uint32_t control;
	uint32_t status;
	uint32_t fatal;
	uint64_t drv_features;
	uint32_t clock_hi;
};

/**
 * struct reset - how far a reset has come
 * @kind: of objects that are being freed, see nic.c
 * @number: of the next one
 */
struct reset {
	unsigned int kind;
	uint32_t number;
};

/**
 * struct nic - a NIC
 * @config: from nic_create()
 * @dma: guest memory
 * @regs: registers
 * @reset: while STATUS is 0
 * @mem: what objects and their work take
 * @admin: admin queue
 * @pds: by PDN
 * @xrcds: by XRCDN
 * @mkeys: by index
 * @dms: device memory in use, by number
 * @dm: device memory
 * @eqs: by EQN
 * @cqs: by CQN
 * @srqs: by SRQN
 * @qps: by QPN
 * @counters: sets of counters, by number
 * @async_eq: takes the asynchronous events; NULL: there is none yet
 * @comp_eqs: by MSI-X vector: takes the completion events of CQs whose host asks
 *	for that one, or NULL
 * @pending_events: objects whose events wait for room in @async_eq
 * @events_left: there is room for more of the events that wait
 * @failed_cqs: CQs whose QPs have to be told
 * @tag_queue: SRQs whose tag ring was rung for
 * @run_queue: QPs with work, taken round robin
 * @poll_queue: QPs that worked a moment ago, the first to be forgotten first
 * @num_polled: elements of @poll_queue
 * @dma_mkey: the region behind NIC_DMA_LKEY
 * @null_mkey: the region behind NIC_NULL_LKEY
 * @missing: the access to a paged region that has just met no page
 * @page_token: of the last page fault
 * @held_bytes: memory of all packets that wait for a page
 * @gids: GID table
 * @mcast: multicast groups
 * @port: the port
 * @eth: Ethernet receive filter
 * @flows: flow rules
 * @rwq_tables: receive WQ tables by number
 * @timers: the transport's
 * @flushes: what is being made persistent
 * @turn: the nic_run() that goes on
 * @spread: packets that are given to many
 * @num_keys: how many memory keys have been made
 * @sink: takes what is written to @null_mkey
 * @spare_reqs: room for requests, see sq.c
 * @stats: by enum mynic_stat
 * @bound_stats: the part of @stats that sets have counted
 * @journal: what happened last
 */
struct nic {
	struct nic_config config;
	struct dma dma;
	struct regs regs;
	struct reset reset;
	struct mem mem;
	struct admin admin;
	struct table pds;
	struct table xrcds;
	struct table mkeys;
	struct table dms;
	struct dm_pool dm;
	struct table eqs;
	struct table cqs;
	struct table srqs;
	struct table qps;
	struct table counters;
	struct eq *async_eq;
	struct eq *comp_eqs[MYNIC_MAX_VECTORS];
	struct event_sources pending_events;
	bool events_left;
	struct cq_queue failed_cqs;
	struct srq_queue tag_queue;
	struct qp_queue run_queue;
	struct qp_queue poll_queue;
	unsigned int num_polled;
	struct mkey dma_mkey;
	struct mkey null_mkey;
	struct page_fault missing;
	uint32_t page_token;
	uint32_t held_bytes;
	struct gid_table gids;
	struct mcast mcast;
	struct port port;
	struct eth eth;
	struct flows flows;
	struct table rwq_tables;
	struct timers timers;
	struct flushes flushes;
	struct turn turn;
	struct spread spread;
	uint64_t num_keys;
	uint8_t sink[65536];
	struct spare_reqs *spare_reqs[WQ_MAX_LOG_STRIDE + 1];
	uint64_t stats[MYNIC_NUM_STATS];
	uint64_t bound_stats[MYNIC_NUM_STATS];
	struct journal journal;
};

static inline uint64_t nic_now(const struct nic *nic)
{
	return nic->config.ops->now(nic->config.ctx);
}

/** nic_charge() - some units of the turn's work have been done, or will be */
static inline void nic_charge(struct nic *nic, uint32_t units)
{
	nic->turn.charged += units;
}

/** nic_look_at_clock() - find out whether the turn is over */
void nic_look_at_clock(struct nic *nic);

/** nic_turn_is_over() - whether to leave what is left to the next nic_run() */
static inline bool nic_turn_is_over(struct nic *nic)
{
	if (nic->turn.charged >= TURN_LOOK)
		nic_look_at_clock(nic);
	return nic->turn.over;
}

/** nic_grant() - let a kind of work go on a bit, however late it is */
static inline void nic_grant(struct nic *nic)
{
	nic->turn.charged = 0;
	nic->turn.over = false;
}

/** nic_note() - tell the journal, if somebody wants it, of what is rare */
static inline void nic_note(struct nic *nic, const struct journal_entry *entry)
{
	if (__builtin_expect(!!nic->journal.entries, false))
		journal_add(&nic->journal, nic_now(nic), entry);
}

static inline void nic_count(struct nic *nic, enum mynic_stat stat)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_COUNT,
		.code = stat,
	};

	nic->stats[stat]++;
	nic_note(nic, &entry);
}

/** counters_add() - what the NIC has counted is the QP's: count it in its set */
static inline void counters_add(struct qp *qp, enum mynic_stat stat, uint64_t n)
{
	if (!qp->counters)
		return;
	qp->counters->values[stat] += n;
	qp->nic->bound_stats[stat] += n;
}

/** qp_add() - as qp_count(), but of what is no news for the journal */
static inline void qp_add(struct qp *qp, enum mynic_stat stat)
{
	qp->nic->stats[stat]++;
	counters_add(qp, stat, 1);
}

/** qp_count() - as nic_count(), for the QP's set, too */
static inline void qp_count(struct qp *qp, enum mynic_stat stat)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_COUNT,
		.code = stat,
		.number = qp->number,
		.psn = qp->req.una,
		.expected = qp->resp.epsn,
	};

	qp_add(qp, stat);
	nic_note(qp->nic, &entry);
}

static inline bool nic_enabled(const struct nic *nic)
{
	return nic->regs.status & MYNIC_STATUS_ENABLED;
}

/**
 * dma_find() - the map that a DMA address is in
 * @nic: the NIC
 * @iova: DMA address
 *
 * Return: the map, valid as long as a pointer of dma_ptr(); NULL, which is not
 * counted, if nothing is present there or the NIC is no bus master.
 */
static inline const struct dma_map *dma_find(struct nic *nic, uint64_t iova)
{
	const struct dma *dma = &nic->dma;

	if (!dma->bus_master || !(nic->regs.status & MYNIC_STATUS_READY))
		return NULL;
	if (dma->last < dma->num) {
		const struct dma_map *map = &dma->maps[dma->last];

		if (iova - map->iova < map->len)
			return map;
	}
	return dma_search(nic, iova);
}

/**
 * buf_ptr() - host pointer to a part of a buf
 * @nic: the NIC
 * @buf: the memory
 * @window: the caller's window on it
 * @offset: in the buf
 * @len: bytes, at least 1
 * @write: the NIC is going to write there
 *
 * See buf_check() on what is in one piece.
 *
 * Return: the pointer, or NULL (counted as BAD_DMA).
 */
static inline void *buf_ptr(struct nic *nic, const struct buf *buf,
			    struct buf_window *window, uint64_t offset,
			    uint32_t len, bool write)
{
	void *ptr = buf_window_ptr(&nic->dma, window, offset, len, write);

	return ptr ? ptr : buf_find(nic, buf, window, offset, len, write);
}

/**
 * ring_slot() - host pointer to a slot
 * @nic: the NIC
 * @ring: the ring
 * @index: free-running index of the slot
 * @write: the NIC is going to write there
 *
 * Return: the pointer, or NULL (counted as BAD_DMA).
 */
static inline void *ring_slot(struct nic *nic, struct ring *ring,
			      uint32_t index, bool write)
{
	uint64_t slot = index & (ring_size(ring) - 1);

	return buf_ptr(nic, ring->buf, &ring->window,
		       ring->offset + (slot << ring->log_stride),
		       1u << ring->log_stride, write);
}

#endif /* MYNIC_CORE_H */
