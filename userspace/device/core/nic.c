// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The NIC as a whole: creation, reset, and the order of work in nic_run(). */

#include "nic.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "admin.h"
#include "base/journal.h"
#include "base/table.h"
#include "base/timer.h"
#include "base/util.h"
#include "base/verbs.h"
#include "engine/qp_create.h"
#include "engine/qp_run.h"
#include "engine/transport.h"
#include "ethernet/eth.h"
#include "ethernet/flow.h"
#include "ethernet/rwq.h"
#include "function/eq.h"
#include "function/port.h"
#include "memory/dm.h"
#include "memory/dma.h"
#include "memory/mkey.h"
#include "memory/mkey_table.h"
#include "memory/pd.h"
#include "mynic_regs.h"
#include "nic_faults.h"
#include "packet/packet.h"
#include "qp/comp_cntr.h"
#include "qp/counters.h"
#include "qp/room.h"
#include "qp/spread.h"
#include "queue/cq.h"
#include "queue/sq.h"
#include "queue/srq.h"
#include "queue/tm.h"
#include "queue/xrcd.h"
#include "state/admin_types.h"
#include "state/delivery_types.h"
#include "state/ethernet_types.h"
#include "state/function_types.h"
#include "state/memory_types.h"
#include "state/nic_types.h"
#include "state/traffic.h"

#define MAX_EQ 64
#define MAX_CQ 65536
#define MAX_SRQ 65536
#define MAX_PD 65536
#define MAX_XRCD 65536
#define MAX_RWQ_TABLE 4096
#define MAX_MKEY (1u << 20)
#define MAX_QPN 0xfffffe /* the last QPN is reserved for multicast */

/* Time for a reset inside the call; nic_run() does the rest */
#define RESET_AT_ONCE_NS 20000

/* STATUS is 0 from the request until the reset is over */
static bool nic_is_in_reset(const struct nic *nic)
{
	return !nic->regs.status;
}

/* Number 0 is never given out, because commands use it for "none" */
static bool nic_make_tables(struct nic *nic)
{
	return !table_init(&nic->eqs, &nic->mem, 1, MAX_EQ, MAX_EQ) &&
	       !table_init(&nic->cqs, &nic->mem, 1, TABLE_MAX_NUMBER, MAX_CQ) &&
	       !table_init(&nic->srqs, &nic->mem, 1, TABLE_MAX_NUMBER,
			   MAX_SRQ) &&
	       !table_init(&nic->pds, &nic->mem, 1, TABLE_MAX_NUMBER, MAX_PD) &&
	       !table_init(&nic->xrcds, &nic->mem, 1, TABLE_MAX_NUMBER,
			   MAX_XRCD) &&
	       !table_init(&nic->dms, &nic->mem, 1, TABLE_MAX_NUMBER,
			   DM_PAGES) &&
	       !mkey_table_init(&nic->mkeys, nic->config.seed, MAX_MKEY) &&
	       !flows_init(&nic->flows, &nic->mem) &&
	       !table_init(&nic->rwq_tables, &nic->mem, 1, TABLE_MAX_NUMBER,
			   MAX_RWQ_TABLE) &&
	       !table_init(&nic->counters, &nic->mem, 1, TABLE_MAX_NUMBER,
			   COUNTERS_MAX_SETS) &&
	       !table_init(&nic->comp_cntrs, &nic->mem, 1, TABLE_MAX_NUMBER,
			   COMP_CNTR_MAX) &&
	       !table_init(&nic->qps, &nic->mem, NIC_QPN_FIRST, MAX_QPN,
			   NIC_MAX_QP);
}

struct nic *nic_create(const struct nic_config *config)
{
	struct nic *nic = calloc(1, sizeof(*nic));

	if (!nic)
		return NULL;
	nic->dm.mem = calloc(1, DM_SIZE);
	if (!nic->dm.mem) {
		free(nic);
		return NULL;
	}
	nic->config = *config;
	nic->mem.limit = config->memory ? config->memory : NIC_MEMORY;
	nic->timers.mem = &nic->mem;
	nic->dma.generation = 1;
	nic->faults.next = TIMER_NEVER;
	TAILQ_INIT(&nic->pending_events);
	TAILQ_INIT(&nic->failed_cqs);
	TAILQ_INIT(&nic->tag_queue);
	TAILQ_INIT(&nic->run_queue);
	TAILQ_INIT(&nic->watch_queue);
	TAILQ_INIT(&nic->flushes.waiting);
	spread_init(&nic->spread);
	rooms_init(nic);
	for (int i = 0; i < MCAST_BUCKETS; i++)
		LIST_INIT(&nic->mcast.buckets[i]);
	nic->dma_mkey = (struct mkey){
		.valid = true,
		.key = NIC_DMA_LKEY,
		.access = IBV_ACCESS_LOCAL_WRITE,
		.length = UINT64_MAX,
		.all_dma = true,
	};
	nic->null_mkey = (struct mkey){
		.valid = true,
		.key = NIC_NULL_LKEY,
		.access = IBV_ACCESS_LOCAL_WRITE,
		.length = UINT64_MAX,
		.all_dma = true,
		.null = true,
	};
	if (!nic_make_tables(nic)) {
		nic_destroy(nic);
		return NULL;
	}
	nic_reset(nic);
	return nic;
}

/*
 * Objects are freed before what they refer to. WQs are the exception: they are
 * QPs, and go before their tables
 */
static bool (*const free_one[])(struct nic *nic, uint32_t *number) = {
	flows_free_one, qps_free_one, rwq_tables_free_one, srqs_free_one,
	cqs_free_one,	eqs_free_one, mkeys_free_one,	   dms_free_one,
	xrcds_free_one, pds_free_one, counters_free_one,   comp_cntrs_free_one,
};

/* Returns true if all objects are gone */
static bool nic_free_objects(struct nic *nic)
{
	struct reset *reset = &nic->reset;

	while (reset->kind < ARRAY_SIZE(free_one)) {
		if (nic_turn_is_over(nic))
			return false;
		nic_charge(nic, 1);
		if (free_one[reset->kind](nic, &reset->number))
			continue;
		reset->kind++;
		reset->number = 0;
	}
	return true;
}

static void nic_end_reset(struct nic *nic)
{
	timers_free(&nic->timers);
	sq_free_spares(nic);
	nic->admin = (struct admin){ 0 };
	nic->gids = (struct gid_table){ 0 };
	nic->eth = (struct eth){ 0 };
	port_reset(nic);
	nic->events_left = false;
	memset(nic->stats, 0, sizeof(nic->stats));
	memset(nic->bound_stats, 0, sizeof(nic->bound_stats));
	nic->regs.status = MYNIC_STATUS_READY;
}

/* Returns true if there is more to do */
static bool nic_run_reset(struct nic *nic)
{
	nic_grant(nic);
	if (!nic_free_objects(nic))
		return true;
	nic_end_reset(nic);
	return false;
}

void nic_reset(struct nic *nic)
{
	/*
	 * A second request does not start again, because no object was created
	 * since
	 */
	bool goes_on = nic_is_in_reset(nic);

	nic->regs = (struct regs){ 0 };
	nic_note(nic, &(struct journal_entry){ .kind = JOURNAL_RESET });
	nic->dma.generation++;
	nic_faults_reset(nic);
	if (!goes_on) {
		spread_free(nic);
		nic->reset = (struct reset){ 0 };
	}
	nic->turn.end = nic_now(nic) + RESET_AT_ONCE_NS;
	nic_run_reset(nic);
}

void nic_destroy(struct nic *nic)
{
	nic->reset = (struct reset){ 0 };
	spread_free(nic);
	do {
		nic_grant(nic);
	} while (!nic_free_objects(nic));
	table_free(&nic->counters);
	table_free(&nic->comp_cntrs);
	table_free(&nic->eqs);
	table_free(&nic->cqs);
	table_free(&nic->srqs);
	table_free(&nic->pds);
	table_free(&nic->xrcds);
	mkey_table_free(&nic->mkeys);
	table_free(&nic->dms);
	free(nic->dm.mem);
	table_free(&nic->qps);
	table_free(&nic->flows.numbers);
	table_free(&nic->rwq_tables);
	timers_free(&nic->timers);
	sq_free_spares(nic);
	dma_free(&nic->dma);
	journal_end(&nic->journal);
	nic_faults_free(nic);
	free(nic);
}

static bool nic_run_timers(struct nic *nic)
{
	/* A look at the clock costs as much as a small packet */
	return timers_run(&nic->timers, nic->turn.end - NIC_TURN_NS);
}

/*
 * Work before the commands. It leaves them half of the turn: their host takes a
 * device that needs long for one for broken, and resets it
 */
static bool nic_run_before_commands(struct nic *nic)
{
	bool more;

	if (!admin_has_work(nic)) {
		nic_grant(nic);
		return tms_run(nic);
	}
	nic->turn.end -= NIC_TURN_NS / 2;
	nic_grant(nic);
	/*
	 * Doorbells before a command take effect before it. Those of QPs that
	 * wait for room do not: their host must not wait for a peer
	 */
	qps_run_each(nic);
	nic_grant(nic);
	more = tms_run(nic);
	nic->turn.end += NIC_TURN_NS / 2;
	return more;
}

bool nic_run(struct nic *nic)
{
	/*
	 * The order matters. A CQ's failure is handled first among these, and
	 * QPs see what QPs have sent
	 */
	static bool (*const kinds[])(struct nic *nic) = {
		nic_run_before_commands, admin_run,  cqs_run, eqs_run,
		nic_run_timers,		 spread_run, qps_run,
	};
	bool more = false;

	if (nic_faults_run(nic))
		nic_reset(nic);
	if (!nic_enabled(nic) && !nic_is_in_reset(nic))
		return false;
	nic->turn.end = nic_now(nic) + NIC_TURN_NS;
	if (nic_is_in_reset(nic))
		return nic_run_reset(nic);
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds) && nic_enabled(nic);
	     i++) {
		nic_grant(nic);
		more |= kinds[i](nic);
	}
	return more && nic_enabled(nic);
}

bool nic_watch(struct nic *nic)
{
	return nic_enabled(nic) && qps_watch(nic);
}

bool nic_stop_watching(struct nic *nic)
{
	return nic_enabled(nic) && qps_stop_watching(nic);
}

static uint64_t nic_next_work(const struct nic *nic)
{
	if (nic_is_in_reset(nic))
		return 0;
	if (!nic_enabled(nic))
		return TIMER_NEVER;
	if (admin_has_work(nic) || !TAILQ_EMPTY(&nic->failed_cqs) ||
	    !TAILQ_EMPTY(&nic->tag_queue) || nic->events_left ||
	    !STAILQ_EMPTY(&nic->spread.packets))
		return 0;
	if (!TAILQ_EMPTY(&nic->run_queue) || nic->rooms.resuming)
		return 0;
	return timers_next(&nic->timers);
}

uint64_t nic_next_event(const struct nic *nic)
{
	return min_u64(nic_next_work(nic), nic->faults.next);
}

static void nic_drop_long_frame(struct nic *nic, const struct packet *pkt)
{
	if (pkt->kind == PACKET_ETH)
		nic->stats[MYNIC_STAT_RX_ETH_DROPPED]++;
	else
		nic_count(nic, MYNIC_STAT_RX_DROP_HEADER);
}

uint32_t nic_receive(struct nic *nic, const struct packet *pkt)
{
	uint32_t charged = nic->turn.charged;
	uint32_t len = packet_len(pkt);

	if (!port_is_open(nic))
		return 0;
	nic->stats[MYNIC_STAT_RX_PACKETS] += packet_count(pkt);
	nic->stats[MYNIC_STAT_RX_BYTES] += len;
	if (traffic_is_noted(nic))
		traffic_note_packet(nic, JOURNAL_RECEIVED, pkt);
	if (pkt->train_mtu)
		len = packet_longest(pkt);
	if (len > nic->port.mtu + PORT_FRAME_OVERHEAD)
		nic_drop_long_frame(nic, pkt);
	else if (pkt->defect == PACKET_BAD_HEADER)
		nic_count(nic, MYNIC_STAT_RX_DROP_HEADER);
	else if (pkt->defect == PACKET_BAD_ICRC)
		nic_count(nic, MYNIC_STAT_RX_DROP_ICRC);
	else if (pkt->kind == PACKET_ROCE)
		transport_receive(nic, pkt);
	else
		eth_receive(nic, pkt);
	return nic->turn.charged - charged;
}

void nic_spend(struct nic *nic, uint32_t units)
{
	nic_charge(nic, units);
}

void nic_overrun(struct nic *nic)
{
	nic_count(nic, MYNIC_STAT_RX_DROP_OVERRUN);
}

uint64_t nic_memory(const struct nic *nic)
{
	return nic->mem.used;
}

uint64_t nic_stat(const struct nic *nic, unsigned int stat)
{
	return nic->stats[stat];
}

bool nic_keep_journal(struct nic *nic, bool on)
{
	if (on)
		return journal_begin(&nic->journal);
	journal_end(&nic->journal);
	return true;
}

void nic_journal_traffic(struct nic *nic)
{
	nic->journal.traffic = true;
}

const struct journal *nic_journal(const struct nic *nic)
{
	return &nic->journal;
}
