/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_PORT_H
#define MYNIC_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "function/event.h"

struct nic;
struct packet;

#define PORT_MAX_MTU 9216
/* Of a frame beside the MTU: Ethernet header with VLAN tag; there is no FCS */
#define PORT_FRAME_OVERHEAD 18
#define PORT_SPEED_MBPS 100000

/**
 * struct port - the one port
 * @mac: unicast MAC in force
 * @link: the wire carries packets; survives resets
 * @up: the host wants it up; without it nothing is sent or received
 * @mtu: largest Ethernet payload
 * @events: its asynchronous events
 */
struct port {
	uint8_t mac[6];
	bool link;
	bool up;
	uint32_t mtu;
	struct event_source events;
};

/** port_reset() - as after power-on, but for the link */
void port_reset(struct nic *nic);

/** port_is_open() - packets pass in and out */
bool port_is_open(const struct nic *nic);

/**
 * port_transmit() - put a packet on the wire, if the port lets it pass
 * @nic: the NIC
 * @pkt: complete; valid until this returns
 *
 * Counts TX_PACKETS and TX_BYTES; the other TX_* are the caller's.
 */
void port_transmit(struct nic *nic, const struct packet *pkt);

#endif /* MYNIC_PORT_H */
