/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A NIC. The members that concern one wing are structs of their own. Its
 * interface to the rest of the process is nic.h.
 */
#ifndef MYNIC_NIC_TYPES_H
#define MYNIC_NIC_TYPES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/journal.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/timer.h"
#include "base/turn.h"
#include "mynic_regs.h"
#include "nic.h"
#include "state/admin_types.h"
#include "state/delivery_types.h"
#include "state/ethernet_types.h"
#include "state/fault_types.h"
#include "state/function_types.h"
#include "state/memory_types.h"
#include "state/qp_types.h"
#include "state/queue_types.h"
#include "state/waits_types.h"

struct cq;
struct eq;
struct spare_reqs;
struct srq;

/* Limits that several files need, and that QUERY_DEVICE reports */
#define NIC_MAX_QP 65536
#define NIC_MAX_RD_ATOMIC 128
#define NIC_NUM_UAR 8192
#define NIC_MAX_RATE_KBPS (PORT_SPEED_MBPS * 1000u)
/* QPN of the GSI QP, and the first one of other QPs */
#define NIC_QPN_GSI 1
#define NIC_QPN_FIRST 0x10
/* Keys with index 0, which no other key has */
#define NIC_DMA_LKEY 0x000000a5
#define NIC_NULL_LKEY 0x0000005a

TAILQ_HEAD(cq_queue, cq);
TAILQ_HEAD(srq_queue, srq);

/**
 * struct regs - BAR0 registers that have a state
 * @control: MYNIC_CONTROL_ENABLE, once it was accepted
 * @status: MYNIC_STATUS_*
 * @fatal: enum mynic_fatal
 * @drv_features: features that the driver has accepted
 * @clock_hi: upper half of the clock, latched by a read of CLOCK_LO
 */
struct regs {
	uint32_t control;
	uint32_t status;
	uint32_t fatal;
	uint64_t drv_features;
	uint32_t clock_hi;
};

/**
 * struct reset - progress of a reset
 * @kind: kind of the objects that are being freed, see nic.c
 * @number: number of the next object
 */
struct reset {
	unsigned int kind;
	uint32_t number;
};

/**
 * struct way - a way that packets may go
 * @waiting: QPs whose next packet had no room there
 * @num_resumes: how often it had room again
 */
struct way {
	struct qp_queue waiting;
	uint32_t num_resumes;
};

/**
 * struct rooms - all ways of a NIC
 * @ways: by number
 * @resuming: a bit for each way that may have room for those who wait
 * @last_way: way that last had a turn
 * @first: those who wait go first this time
 * @num_resumes: how often any of @ways had room again
 */
struct rooms {
	struct way ways[NIC_WAYS];
	uint64_t resuming;
	unsigned int last_way;
	bool first;
	uint32_t num_resumes;
};

/**
 * struct nic - a NIC
 * @config: argument of nic_create()
 * @dma: guest memory
 * @regs: registers
 * @reset: progress of a reset; used while STATUS is 0
 * @mem: accounting for objects and their work
 * @admin: admin queue
 * @pds: by PDN
 * @xrcds: by XRCDN
 * @mkeys: by index
 * @dms: allocated pieces of device memory, by number
 * @dm: the pool of device memory
 * @eqs: by EQN
 * @cqs: by CQN
 * @srqs: by SRQN
 * @qps: by QPN
 * @counters: counter sets, by number
 * @comp_cntrs: completion counters, by number
 * @async_eq: EQ for asynchronous events; NULL: there is none yet
 * @comp_eqs: by MSI-X vector: EQ for completion events of CQs whose host asks
 *	for that vector; or NULL
 * @pending_events: objects whose events wait for room in @async_eq
 * @events_left: some waiting events have room, and are still to be sent
 * @failed_cqs: CQs with QPs that do not know yet that the CQ has failed
 * @tag_queue: SRQs with a doorbell for their tag ring
 * @run_queue: QPs with work, in round-robin order
 * @rooms: QPs that wait for room where their packets go
 * @watch_queue: QPs that were active recently, the oldest first
 * @num_watched: elements of @watch_queue
 * @dma_mkey: the region behind NIC_DMA_LKEY
 * @null_mkey: the region behind NIC_NULL_LKEY
 * @page_token: token of the last page fault
 * @held_bytes: costs of all packets that wait for a page, see
 *	packet_copy_cost()
 * @gids: GID table
 * @mcast: multicast groups
 * @port: the port
 * @eth: Ethernet receive filter
 * @flows: flow rules
 * @rwq_tables: receive WQ tables by number
 * @timers: timers of the transport
 * @flushes: ranges that are being made persistent
 * @turn: limit of the current nic_run()
 * @spread: packets with many receivers
 * @sink: takes what is written to @null_mkey
 * @spare_reqs: unused memory for requests, see sq.c
 * @stats: counters, by enum mynic_stat
 * @bound_stats: part of @stats that was counted in counter sets
 * @journal: notes of rare events
 * @faults: NIC faults
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
	struct mkey_table mkeys;
	struct table dms;
	struct dm_pool dm;
	struct table eqs;
	struct table cqs;
	struct table srqs;
	struct table qps;
	struct table counters;
	struct table comp_cntrs;
	struct eq *async_eq;
	struct eq *comp_eqs[MYNIC_MAX_VECTORS];
	struct event_sources pending_events;
	bool events_left;
	struct cq_queue failed_cqs;
	struct srq_queue tag_queue;
	struct qp_queue run_queue;
	struct rooms rooms;
	struct qp_queue watch_queue;
	unsigned int num_watched;
	struct mkey dma_mkey;
	struct mkey null_mkey;
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
	uint8_t sink[65536];
	struct spare_reqs *spare_reqs[WQ_MAX_LOG_STRIDE + 1];
	uint64_t stats[MYNIC_NUM_STATS];
	uint64_t bound_stats[MYNIC_NUM_STATS];
	struct journal journal;
	struct nic_faults faults;
};

static inline uint64_t nic_now(const struct nic *nic)
{
	return nic->config.ops->now(nic->config.ctx);
}

/* Charges units of work, done or about to be done, to the current turn. */
static inline void nic_charge(struct nic *nic, uint32_t units)
{
	nic->turn.charged += units;
}

/* Reads the clock to find out whether the turn is over. */
void nic_look_at_clock(struct nic *nic);

/* Whether the rest of the work has to wait for the next nic_run(). */
static inline bool nic_turn_is_over(struct nic *nic)
{
	if (nic->turn.charged >= TURN_LOOK)
		nic_look_at_clock(nic);
	return nic->turn.over;
}

/* Grants a kind of work some units even if the turn is over. */
static inline void nic_grant(struct nic *nic)
{
	nic->turn.charged = 0;
	nic->turn.over = false;
}

/* Adds a rare event to the journal, if the journal is kept. */
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

static inline bool nic_enabled(const struct nic *nic)
{
	return nic->regs.status & MYNIC_STATUS_ENABLED;
}

#endif /* MYNIC_NIC_TYPES_H */
