/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * MAC addresses that the switch has learned, and their ports. The table has a
 * fixed size. In a full set, an address replaces the oldest one of the port that
 * has the most there; among several, of its own port. A sender of invented
 * addresses thus leaves others their share.
 */
#ifndef MYNIC_HOST_MAC_TABLE_H
#define MYNIC_HOST_MAC_TABLE_H

#include <stdint.h>

struct switch_port;

#define MAC_TABLE_SETS 1024
#define MAC_TABLE_WAYS 4

/* Lifetime in ns of an address that sends no frames */
#define MAC_TABLE_AGE (300 * 1000000000ULL)

/**
 * struct mac_entry - one address
 * @port: port of the address; NULL: the entry is free
 * @seen: time of its last frame, ns
 * @mac: the address
 */
struct mac_entry {
	struct switch_port *port;
	uint64_t seen;
	uint8_t mac[6];
};

/* The MAC table; zeroes are an empty table. */
struct mac_table {
	struct mac_entry sets[MAC_TABLE_SETS][MAC_TABLE_WAYS];
};

/**
 * mac_table_learn() - note the port of a source address
 * @table: the table
 * @mac: the address; multicast and zero are ignored
 * @port: port that has received the frame
 * @now: monotonic time, ns
 */
void mac_table_learn(struct mac_table *table, const uint8_t mac[6],
		     struct switch_port *port, uint64_t now);

/* Returns the port of an address, or NULL. */
struct switch_port *mac_table_find(const struct mac_table *table,
				   const uint8_t mac[6], uint64_t now);

/* Forgets all addresses of a port. */
void mac_table_forget(struct mac_table *table, const struct switch_port *port);

#endif /* MYNIC_HOST_MAC_TABLE_H */
