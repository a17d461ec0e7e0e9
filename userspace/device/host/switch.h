/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The Ethernet switch between the NICs of the process. It learns nothing: it
 * asks each NIC for its MAC.
 *
 * A packet is handed over in the sender's call if it can be, payload and all
 * still in the sender's guest memory. It cannot be when the receiver is itself
 * inside a transmit() further up the stack (it sent the packet, or it caused
 * the sender to send it), because a NIC is not reentrant. Then it is copied
 * into a queue, and so is everything for that receiver until the queue is
 * empty, so that packets keep their order.
 */
#ifndef MYNIC_HOST_SWITCH_H
#define MYNIC_HOST_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log;
struct nic;
struct packet;

/* Every NIC can be on the stack once. */
#define SWITCH_MAX_PORTS 64

/**
 * struct packet_queue - copies of packets, one behind the other
 * @buf: SWITCH_QUEUE_SIZE bytes
 * @used: bytes in use
 */
struct packet_queue {
	uint8_t *buf;
	size_t used;
};

/**
 * struct switch_port - where a NIC is plugged in
 * @sw: the switch
 * @nic: the NIC
 * @log: messages
 * @sending: the NIC is inside transmit()
 * @filling: takes copies
 * @draining: gives them to the NIC; filled by exchange with @filling
 * @dropped: packets for which @filling had no room
 */
struct switch_port {
	struct net_switch *sw;
	struct nic *nic;
	struct log *log;
	bool sending;
	struct packet_queue filling;
	struct packet_queue draining;
	uint64_t dropped;
};

/**
 * struct net_switch - the switch
 * @ports: ports in use
 * @num: of @ports
 * @packets: handed over so far; tells whether a NIC may have got work
 */
struct net_switch {
	struct switch_port *ports[SWITCH_MAX_PORTS];
	unsigned int num;
	uint64_t packets;
};

/**
 * switch_connect() - plug a NIC in
 * @sw: the switch
 * @port: to be set up; must not move afterwards
 * @nic: the NIC
 * @log: the NIC's messages
 *
 * Return: 0, -ENOSPC if all ports are taken, or -ENOMEM.
 */
int switch_connect(struct net_switch *sw, struct switch_port *port,
		   struct nic *nic, struct log *log);

/** switch_disconnect() - unplug it */
void switch_disconnect(struct switch_port *port);

/**
 * switch_transmit() - a NIC sends a packet
 * @from: its port
 * @pkt: needed only during the call
 *
 * Unicast goes to the port with that MAC, the sender's own included; if there
 * is none, and multicast, to all ports but the sender's.
 */
void switch_transmit(struct switch_port *from, const struct packet *pkt);

/** switch_deliver() - give a NIC the packets queued for it so far */
void switch_deliver(struct switch_port *port);

#endif /* MYNIC_HOST_SWITCH_H */
