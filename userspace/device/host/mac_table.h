/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a switch has learned: behind which port a MAC is. The table is bounded:
 * in a full set the entry that was not heard of for longest makes room, so who
 * invents addresses costs others no more than that their frames are flooded.
 */
#ifndef MYNIC_HOST_MAC_TABLE_H
#define MYNIC_HOST_MAC_TABLE_H

#include <stdint.h>

struct switch_port;

#define MAC_TABLE_SETS 1024
#define MAC_TABLE_WAYS 4

/* After that long without a frame from it an address is forgotten, ns */
#define MAC_TABLE_AGE (300 * 1000000000ULL)

/**
 * struct mac_entry - one address
 * @port: where it is; NULL: the entry is free
 * @seen: when it was last heard of, ns
 * @mac: the address
 */
struct mac_entry {
	struct switch_port *port;
	uint64_t seen;
	uint8_t mac[6];
};

/** struct mac_table - all addresses; zeroed, it is empty */
struct mac_table {
	struct mac_entry sets[MAC_TABLE_SETS][MAC_TABLE_WAYS];
};

/**
 * mac_table_learn() - a frame came from an address
 * @table: the table
 * @mac: the address; nothing is learned if it is multicast or zero
 * @port: where the frame came in
 * @now: ns, monotonic
 */
void mac_table_learn(struct mac_table *table, const uint8_t mac[6],
		     struct switch_port *port, uint64_t now);

/** mac_table_find() - Return: the port that an address is behind, or NULL */
struct switch_port *mac_table_find(const struct mac_table *table,
				   const uint8_t mac[6], uint64_t now);

/** mac_table_forget() - forget all that is behind a port */
void mac_table_forget(struct mac_table *table, const struct switch_port *port);

#endif /* MYNIC_HOST_MAC_TABLE_H */
