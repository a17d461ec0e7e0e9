/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The port: its link, its MTU, and the way out for packets. They come in
 * through engine/transport.h and ethernet/eth.h.
 */
#ifndef MYNIC_PORT_H
#define MYNIC_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "function/eq.h"

struct nic;
struct packet;

#define PORT_MAX_MTU 9216
/* Bytes of a frame beyond the MTU: Ethernet header and VLAN tag, without FCS */
#define PORT_FRAME_OVERHEAD 18
#define PORT_SPEED_MBPS 100000

/**
 * struct port - the only port of a NIC
 * @mac: current unicast MAC
 * @link: state of the link; survives resets
 * @up: the host has enabled the port; otherwise nothing is sent or received
 * @mtu: upper bound of the Ethernet payload, in bytes
 * @events: asynchronous events of the port
 */
struct port {
	uint8_t mac[6];
	bool link;
	bool up;
	uint32_t mtu;
	struct event_source events;
};

/* Restores the state after power-on, except for the link. */
void port_reset(struct nic *nic);

/* Whether packets can be sent and received. */
bool port_is_open(const struct nic *nic);

/**
 * port_transmit() - send a packet if the port is open
 * @nic: the NIC
 * @pkt: the complete packet; valid until this returns
 *
 * It counts TX_PACKETS and TX_BYTES. The caller counts all other TX_*.
 */
void port_transmit(struct nic *nic, const struct packet *pkt);

#endif /* MYNIC_PORT_H */
