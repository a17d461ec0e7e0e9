/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets with many receivers: frames for flow rules, datagrams for the QPs of
 * a group. With more than a few receivers the packet is copied and delivered
 * over several turns. Other work need not wait for all of the deliveries.
 */
#ifndef MYNIC_SPREAD_H
#define MYNIC_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

struct nic;
struct packet;
struct spread;
struct spread_place;

/**
 * struct spread_kind - kind of receivers
 * @num_takers: upper bound of the receivers of a packet
 * @give: deliver a packet from @place on; returns true if it is complete
 */
struct spread_kind {
	uint32_t (*num_takers)(const struct nic *nic, const struct packet *pkt);
	bool (*give)(struct nic *nic, const struct packet *pkt,
		     struct spread_place *place);
};

void spread_init(struct spread *spread);

/**
 * spread_packet() - deliver a packet to all of its receivers
 * @nic: the NIC
 * @kind: kind of receivers
 * @pkt: the packet, valid only during the call
 *
 * It is delivered at once if there are few receivers and no packet waits.
 */
void spread_packet(struct nic *nic, const struct spread_kind *kind,
		   const struct packet *pkt);

/* Delivers a limited number of copies. Returns true if there are more. */
bool spread_run(struct nic *nic);

/* Discards all waiting packets. */
void spread_free(struct nic *nic);

#endif /* MYNIC_SPREAD_H */
