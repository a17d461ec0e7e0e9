// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Delivery of packets with many receivers, spread over several turns. Which
 * receivers there are is known in ethernet/ and rdma/ud.c.
 */

#include "qp/spread.h"

#include <sys/queue.h>

#include "base/mem.h"
#include "mynic_regs.h"
#include "packet/packet.h"
#include "packet/packet_copy.h"
#include "state/delivery_types.h"
#include "state/nic_types.h"

/* Number of rules or QPs up to which a packet is delivered at once */
#define AT_ONCE 16

/* Upper bound for the costs of waiting packets */
#define MAX_BYTES (1u << 20)

/**
 * struct spread_packet - a packet that is being delivered
 * @link: link in &spread.packets
 * @kind: kind of its receivers
 * @cost: result of packet_copy_cost(), which counts against the limits
 * @copy: result of packet_copy(), which needs the alignment
 */
struct spread_packet {
	STAILQ_ENTRY(spread_packet) link;
	const struct spread_kind *kind;
	uint32_t cost;
	uint64_t copy[];
};

void spread_init(struct spread *spread)
{
	STAILQ_INIT(&spread->packets);
}

static void spread_hold(struct nic *nic, const struct spread_kind *kind,
			const struct packet *pkt)
{
	size_t size = sizeof(struct spread_packet) + packet_copy_size(pkt);
	size_t cost = packet_copy_cost(size);
	struct spread *spread = &nic->spread;
	struct spread_packet *held = NULL;

	if (spread->bytes + cost <= MAX_BYTES)
		held = mem_alloc(&nic->mem, size);
	if (!held) {
		nic_count(nic, MYNIC_STAT_RX_DROP_OVERRUN);
		return;
	}
	held->kind = kind;
	held->cost = cost;
	packet_copy(held->copy, pkt);
	STAILQ_INSERT_TAIL(&spread->packets, held, link);
	spread->bytes += cost;
}

void spread_packet(struct nic *nic, const struct spread_kind *kind,
		   const struct packet *pkt)
{
	struct spread_place place = { 0 };

	if (STAILQ_EMPTY(&nic->spread.packets) &&
	    kind->num_takers(nic, pkt) <= AT_ONCE)
		kind->give(nic, pkt, &place);
	else
		spread_hold(nic, kind, pkt);
}

static void spread_drop_first(struct nic *nic)
{
	struct spread_packet *held = STAILQ_FIRST(&nic->spread.packets);
	struct spread *spread = &nic->spread;

	STAILQ_REMOVE_HEAD(&spread->packets, link);
	spread->bytes -= held->cost;
	spread->place = (struct spread_place){ .bounded = true };
	mem_free(&nic->mem, held);
}

bool spread_run(struct nic *nic)
{
	struct spread *spread = &nic->spread;
	const struct spread_packet *held;

	spread->place.bounded = true;
	while ((held = STAILQ_FIRST(&spread->packets))) {
		struct packet pkt;

		if (nic_turn_is_over(nic))
			return true;
		packet_load((void *)held->copy, &pkt);
		if (!held->kind->give(nic, &pkt, &spread->place))
			return true;
		nic_charge(nic, 1);
		spread_drop_first(nic);
	}
	return false;
}

void spread_free(struct nic *nic)
{
	while (!STAILQ_EMPTY(&nic->spread.packets))
		spread_drop_first(nic);
}
