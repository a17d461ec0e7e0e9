/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The Ethernet switch that joins the NICs and the wires of the process. It asks
 * each NIC for its MAC address, and learns which addresses are behind a wire.
 *
 * If possible, the receiver gets a packet within the sender's call, while the
 * payload is still in the sender's guest memory. This is impossible while the
 * receiver itself is inside transmit() further up the stack, because a NIC is
 * not reentrant. The packet is then copied into a queue. All later packets for
 * that receiver follow it until the queue is empty, so that their order stays
 * the same. A wire takes a packet completely before it returns.
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

/* Limits the depth of the stack, on which each NIC can be once. */
#define SWITCH_MAX_PORTS 64

/* Bytes of packets for several ports that a wire takes beyond its measure */
#define SWITCH_FLOOD_ROOM (64 << 10)

/**
 * struct packet_queue - copies of packets in one buffer
 * @buf: SWITCH_QUEUE_SIZE bytes
 * @used: bytes in use
 * @at: offset of the first packet that has not been delivered
 */
struct packet_queue {
	uint8_t *buf;
	size_t used;
	size_t at;
};

/**
 * struct port_stats - counters of a port
 * @tx_packets: frames that a wire accepted
 * @tx_bytes: bytes of these
 * @tx_dropped: frames that a wire dropped: no room, or it was down
 * @rx_packets: frames that arrived from a wire
 * @rx_bytes: bytes of these
 * @rx_dropped: packets for a NIC whose queue had no room
 * @rx_bad: input from a wire that is too short or too long for a frame
 *
 * Directions are as seen by the owner of the port. A NIC counts its packets
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
 * struct switch_port - a port, with its NIC or wire
 * @name: name in messages and commands
 * @log: messages
 * @nic: the NIC; NULL: the port has a wire
 * @send: sends a packet on the wire; NULL for a NIC
 * @up: wire: frames can pass; changed by switch_set_up()
 * @cut: the cable is pulled; changed by switch_set_cut()
 * @congested: wire: its senders should wait; changed by switch_set_congested()
 * @crowded: wire: packets that go to several ports should leave room for others
 * @flood_room: wire: bytes that it still takes of these while it is @crowded or
 *	@congested; the wire makes it SWITCH_FLOOD_ROOM again
 * @way: wire: number among &nic_ops.full_way
 * @held_by: wire: congested wire that it should wait for. Itself: it should wait
 *	while all others are congested. NULL: it need not wait
 * @faults: wire faults of the port, or NULL. Their deliver() calls
 * switch_pass().
 * @capture: capture of packets that have passed the wire faults, or NULL
 * @stats: counters
 * @sw: the switch
 * @sending: the NIC is in transmit()
 * @filling: queue that new copies for the NIC go to
 * @draining: queue that the NIC gets packets from; exchanged with @filling
 * @trusted: the NIC may use the MAC of another NIC, and send from it
 * @spoofed: dropped packets of the NIC that had the MAC of another one
 * @sent_queued: the NIC's last turn went to queued packets
 * @faults_had_turn: the port's last turn went to packets that had been held
 * @share: processor time of the NIC
 */
struct switch_port {
	const char *name;
	struct log *log;
	struct nic *nic;
	void (*send)(struct switch_port *port, const struct packet *pkt);
	bool up;
	bool cut;
	bool congested;
	bool crowded;
	uint32_t flood_room;
	unsigned int way;
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
	bool sent_queued;
	bool faults_had_turn;
	struct fair_share share;
};

/**
 * struct net_switch - the switch
 * @ports: ports in use
 * @num: number of @ports
 * @first: goes up by one each round; says which port has the first turn
 * @num_wires: number of wires among @ports
 * @num_congested: number of congested wires among @ports
 * @packets: packets delivered so far; a change means that NICs may have work
 * @units: work so far for packets that were received, see nic_receive(), and
 *	for copies to several ports
 * @interrupts: interrupts of its NICs so far
 * @now: monotonic time in ns, exact to a second or so; the event loop updates
 * it
 * @fair_clock: reference time of its NICs
 * @link_changed: switch_update_links() has something to do
 * @macs: addresses behind wires
 */
struct net_switch {
	struct switch_port *ports[SWITCH_MAX_PORTS];
	unsigned int num;
	unsigned int first;
	unsigned int num_wires;
	unsigned int num_congested;
	uint64_t packets;
	uint64_t units;
	uint64_t interrupts;
	uint64_t now;
	struct fair_clock fair_clock;
	bool link_changed;
	struct mac_table macs;
};

/**
 * switch_connect() - connect a NIC or a wire
 * @sw: the switch
 * @port: port with @name, @log, and either @nic or @send set, and the rest
 * zero; must not move afterwards. A wire is down at first.
 *
 * Return: 0; -ENOSPC: all ports are in use; or -ENOMEM.
 */
int switch_connect(struct net_switch *sw, struct switch_port *port);

/** switch_disconnect() - disconnect a NIC or a wire */
void switch_disconnect(struct switch_port *port);

/**
 * switch_transmit() - forward a packet from a NIC or a wire
 * @from: port that the packet comes from
 * @pkt: the packet, valid only during the call
 *
 * A unicast packet goes to the NIC that has the address, even if it is the
 * sender. Otherwise it goes to the wire that the address was learned from. If
 * there is neither, it goes to all ports except @from, as multicast packets do.
 * No packet goes back to its wire.
 */
void switch_transmit(struct switch_port *from, const struct packet *pkt);

/**
 * switch_is_direct() - implement &nic_ops.direct
 * @from: port of a NIC
 * @dmac: unicast destination
 *
 * Return: true if a packet would go to exactly one other NIC, within the call.
 */
bool switch_is_direct(const struct switch_port *from, const uint8_t dmac[6]);

/**
 * switch_full_way() - implement &nic_ops.full_way
 * @from: port of a NIC
 * @dmac: destination
 *
 * Packets that go to several ports have a way of their own. It is full if all
 * these ports are congested wires.
 *
 * Return: the way that has no room, or -1.
 */
int switch_full_way(const struct switch_port *from, const uint8_t dmac[6]);

/* Notes whether senders to a wire should wait. If not, NICs try again. */
void switch_set_congested(struct switch_port *port, bool congested);

/**
 * switch_pass() - forward a packet that has passed the wire faults of a port
 * @port: the port
 * @dir: direction as seen by the owner of the port
 * @pkt: the packet, valid only during the call
 */
void switch_pass(struct switch_port *port, enum fault_dir dir,
		 const struct packet *pkt);

/**
 * switch_may_have_mac() - check whether a NIC may use a MAC address
 * @port: port of the NIC
 * @mac: the address
 *
 * The present and the permanent addresses of other NICs are taken.
 *
 * Return: true if the address is free, or the NIC is trusted.
 */
bool switch_may_have_mac(const struct switch_port *port, const uint8_t mac[6]);

/**
 * switch_deliver() - deliver the packets in the queue of a NIC
 * @port: port of the NIC
 *
 * It stops after NIC_TURN_NS.
 *
 * Return: true if packets are left.
 */
bool switch_deliver(struct switch_port *port);

/** switch_has_queued() - check whether the queue of a NIC has packets */
static inline bool switch_has_queued(const struct switch_port *port)
{
	return port->filling.used || port->draining.used;
}

/** switch_set_up() - note whether frames can pass a wire */
void switch_set_up(struct switch_port *port, bool up);

/* Pulls the cable of a port, or puts it back. */
void switch_set_cut(struct switch_port *port, bool cut);

/**
 * switch_has_link() - check whether the port of a NIC has a link
 * @port: the port
 *
 * Return: true if its cable is not pulled, and another port is up or there are
 * no wires.
 */
bool switch_has_link(const struct switch_port *port);

/**
 * switch_update_links() - update the link state of the NICs
 * @sw: the switch
 *
 * Must not be called from within a NIC.
 */
void switch_update_links(struct net_switch *sw);

/* Whether a wire should not be read now. */
bool switch_is_held(struct switch_port *port);

#endif /* MYNIC_HOST_SWITCH_H */
