/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Events, GIDs and the port, as function/ has them. */
#ifndef MYNIC_FUNCTION_TYPES_H
#define MYNIC_FUNCTION_TYPES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct eq;
struct mynic_eqe;

/**
 * struct event_source - an object that asynchronous events are about
 * @link: link in &nic.pending_events while @pending is not 0
 * @pending: bit n: event n of enum mynic_event is still to be delivered
 * @number: number of the object
 * @describe: fills in what an event has besides its type and number, or NULL
 */
struct event_source {
	TAILQ_ENTRY(event_source) link;
	uint32_t pending;
	uint32_t number;
	void (*describe)(const struct event_source *source,
			 struct mynic_eqe *eqe);
};

TAILQ_HEAD(event_sources, event_source);

/**
 * struct comp_source - an object that completion events are about
 * @link: link in &eq.pending_comps while @pending is set
 * @pending: its event waits for room
 * @number: number of the object
 * @eq: EQ of its events for which @vector names no other
 * @vector: MSI-X vector that the host has named; 0: that of @eq
 */
struct comp_source {
	TAILQ_ENTRY(comp_source) link;
	bool pending;
	uint32_t number;
	struct eq *eq;
	uint8_t vector;
};

TAILQ_HEAD(comp_sources, comp_source);

#define GID_TABLE_SIZE 256

/**
 * struct gid_entry - a source address for packets
 * @gid: IPv6 address, or IPv4 as ::ffff:a.b.c.d; all zeroes: the entry is empty
 * @mac: source MAC
 * @vlan: VLAN id, or MYNIC_NO_VLAN, which equals PACKET_NO_VLAN
 */
struct gid_entry {
	uint8_t gid[16];
	uint8_t mac[6];
	uint16_t vlan;
};

/**
 * struct gid_table - the GIDs of the port
 * @entries: entries by sgid_index
 * @used: all entries from this index on are empty
 */
struct gid_table {
	struct gid_entry entries[GID_TABLE_SIZE];
	unsigned int used;
};

#define PORT_MAX_MTU 9216
/* Bytes of a frame beyond the MTU: Ethernet header and VLAN tag, without FCS */
#define PORT_FRAME_OVERHEAD 18
#define PORT_SPEED_MBPS 100000

/**
 * struct port - the only port of a NIC
 * @mac: current unicast MAC
 * @carrier: state of the wire; survives resets, like the next two
 * @flaps: a NIC fault holds the link down
 * @link: state of the link: @carrier without @flaps
 * @up: the host has enabled the port; otherwise nothing is sent or received
 * @mtu: upper bound of the Ethernet payload, in bytes
 * @events: asynchronous events of the port
 */
struct port {
	uint8_t mac[6];
	bool carrier;
	bool flaps;
	bool link;
	bool up;
	uint32_t mtu;
	struct event_source events;
};

#endif /* MYNIC_FUNCTION_TYPES_H */
