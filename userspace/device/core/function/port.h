/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The port: its link, its MTU, and the way out for packets. They come in
 * through engine/transport.h and ethernet/eth.h.
 */
#ifndef MYNIC_PORT_H
#define MYNIC_PORT_H

#include <stdbool.h>

struct admin_call;
struct nic;
struct packet;

/* Restores the state after power-on, except for the link. */
void port_reset(struct nic *nic);

/* Takes the link down, whatever the wire says, or ends that. */
void port_flap(struct nic *nic, bool down);

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

/* Commands of the host; see admin.h */
int admin_query_port(struct nic *nic, struct admin_call *call);
int admin_modify_port(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_PORT_H */
