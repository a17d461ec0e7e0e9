/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The Ethernet switch that joins the NICs of the process and the wires that
 * leave it. It asks each NIC for its MAC, and learns what is behind a wire.
 *
 * A packet is handed over in the sender's call if it can be, payload and all
 * still in the sender's guest memory. It cannot be when the receiver is itself
 * inside a transmit() further up the stack (it sent the packet, or it caused
 * the sender to send it), because a NIC is not reentrant. Then it is copied
 * into a queue, and so is everything for that receiver until the queue is
 * empty, so that packets keep their order. A wire is done with the packet when
 * it returns.
 */
#ifndef MYNIC_HOST_SWITCH_H
#define MYNIC_HOST_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fair_share.h"
#include "mac_table.h"
#include "wire/faults.h"

struct capture;
struct log;
struct nic;
struct packet;

/* Each NIC can be on the stack once. */
#define SWITCH_MAX_PORTS 64

/**
 * struct packet_queue - copies of packets, one behind the other
 * @buf: SWITCH_QUEUE_SIZE bytes
 * @used: bytes in use
 * @at: where the first packet is that has not been delivered
 */
struct packet_queue {
	uint8_t *buf;
	size_t used;
	size_t at;
};

/**
 * struct port_stats - what passed a port
 * @tx_packets: frames that a wire took
 * @tx_bytes: bytes of these
 * @tx_dropped: frames that a wire did not take: no room, or it was down
 * @rx_packets: frames that came in from a wire
 * @rx_bytes: bytes of these
 * @rx_dropped: what came for a NIC and found no room in its queue
 * @rx_bad: what came in from a wire and is no frame: too short or too long
 *
 * The directions are those of the port's owner. A NIC counts its packets
 * itself.
 */
struct port_stats {
	uint64_t tx_packets;
	uint64_t tx_bytes;
	uint64_t tx_dropped;
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t rx_dropped;
	uint64_t rx_bad;
};

/**
 * struct switch_port - where a NIC or a wire is plugged in
 * @name: for people
 * @log: messages
 * @nic: the NIC, or NULL: a wire
 * @send: put a packet on the wire; NULL for a NIC
 * @up: of a wire: frames can pass; changed by switch_set_up()
 * @cut: somebody pulled the cable; changed by switch_set_cut()
 * @congested: of a wire: who sends to it had better wait
 * @held_by: the wire that the port's owner had better wait for
 * @faults: what happens to packets on their way through the port, in both
 *	directions; NULL: nothing. Their deliver() calls switch_pass().
 * @capture: records what is on the cable: what the owner sends and has come
 *	through the faults, and what the owner really gets; NULL: nothing does
 * @stats: counters
 * @sw: the switch
 * @sending: the NIC is inside transmit()
 * @filling: takes copies for the NIC
 * @draining: gives them to the NIC; filled by exchange with @filling
 * @trusted: a NIC that may have the MAC of another one, and send from it
 * @spoofed: packets of a NIC that claimed to be another one, and were dropped
 * @gave_way: the NIC's last turn was taken by these packets
 * @share: what the NIC has had of the process's time
 */
struct switch_port {
	const char *name;
	struct log *log;
	struct nic *nic;
	void (*send)(struct switch_port *port, const struct packet *pkt);
	bool up;
	bool cut;
	bool congested;
	struct switch_port *held_by;
	struct faults *faults;
	struct capture *capture;
	struct port_stats stats;
	struct net_switch *sw;
	bool sending;
	struct packet_queue filling;
	struct packet_queue draining;
	bool trusted;
	uint64_t spoofed;
	bool gave_way;
	struct fair_share share;
};

/**
 * struct net_switch - the switch
 * @ports: ports in use
 * @num: of @ports
 * @num_wires: those of @ports that are wires
 * @packets: handed over so far; tells whether a NIC may have got work
 * @units: that NICs took to receive packets so far, see nic_receive()
 * @interrupts: raised by its NICs so far
 * @now: ns, monotonic; kept by who runs the switch, exact to a second or so
 * @fair_clock: for the turns of its NICs
 * @link_changed: switch_update_links() has something to do
 * @macs: what is behind the wires
 */
struct net_switch {
	struct switch_port *ports[SWITCH_MAX_PORTS];
	unsigned int num;
	unsigned int num_wires;
	uint64_t packets;
	uint64_t units;
	uint64_t interrupts;
	uint64_t now;
	struct fair_clock fair_clock;
	bool link_changed;
	struct mac_table macs;
};

/**
 * switch_connect() - plug a NIC or a wire in
 * @sw: the switch
 * @port: with @name, @log and either @nic or @send set and the rest zero; must
 *	not move afterwards. A wire is down at first.
 *
 * Return: 0, -ENOSPC if all ports are taken, or -ENOMEM.
 */
int switch_connect(struct net_switch *sw, struct switch_port *port);

/** switch_disconnect() - unplug it */
void switch_disconnect(struct switch_port *port);

/**
 * switch_transmit() - a NIC sends a packet, or one has come in from a wire
 * @from: its port
 * @pkt: needed only during the call
 *
 * Unicast goes to the NIC with that MAC, the sender's own included, or else to
 * the wire that it was learned from; if there is neither, and multicast, to
 * all ports but the sender's. Nothing goes back to the wire it came from.
 */
void switch_transmit(struct switch_port *from, const struct packet *pkt);

/**
 * switch_is_direct() - implement &nic_ops.direct
 * @from: a NIC's port
 * @dmac: unicast MAC
 *
 * Return: true if the packet goes to exactly one other NIC, in the call.
 */
bool switch_is_direct(const struct switch_port *from, const uint8_t dmac[6]);

/**
 * switch_pass() - a packet has come through a port's faults
 * @port: the port
 * @dir: which way, as seen from the port's owner
 * @pkt: needed only during the call
 */
void switch_pass(struct switch_port *port, enum fault_dir dir,
		 const struct packet *pkt);

/**
 * switch_may_have_mac() - whether a MAC is no other NIC's
 * @port: of the NIC that wants it
 * @mac: the MAC
 *
 * Those of others are the ones that they have, and their permanent ones.
 *
 * Return: whether it may have it; a trusted one may always.
 */
bool switch_may_have_mac(const struct switch_port *port, const uint8_t mac[6]);

/**
 * switch_deliver() - give a NIC the packets queued for it so far
 * @port: the NIC's
 *
 * As many as it takes in NIC_TURN_NS.
 *
 * Return: true if there are more.
 */
bool switch_deliver(struct switch_port *port);

/** switch_has_queued() - whether switch_deliver() has something to do */
static inline bool switch_has_queued(const struct switch_port *port)
{
	return port->filling.used || port->draining.used;
}

/** switch_set_up() - frames can pass a wire, or cannot any more */
void switch_set_up(struct switch_port *port, bool up);

/* Pulls a port's cable, or plugs it in again. */
void switch_set_cut(struct switch_port *port, bool cut);

/**
 * switch_has_link() - whether a NIC's port has a link
 * @port: the port
 *
 * Return: true if its cable is not pulled, and some other port is up or there
 * is no wire at all.
 */
bool switch_has_link(const struct switch_port *port);

/**
 * switch_update_links() - tell the NICs whether they have a link
 * @sw: the switch
 *
 * Not to be called from inside a NIC.
 */
void switch_update_links(struct net_switch *sw);

/* Whether the owner of the port should not send now. */
static inline bool switch_is_held(struct switch_port *port)
{
	if (port->held_by && !port->held_by->congested)
		port->held_by = NULL;
	return port->held_by;
}

#endif /* MYNIC_HOST_SWITCH_H */
