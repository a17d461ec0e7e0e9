// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The switch: forwarding of packets between ports, their queues, and link
 * states.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "clock.h"
#include "core/base/turn.h"
#include "core/nic.h"
#include "log.h"
#include "switch.h"
#include "core/packet/packet_copy.h"

/*
 * Bytes for about 1000 packets of the largest RoCE MTU; memory is only touched
 * as far as needed
 */
#define SWITCH_QUEUE_SIZE (4 << 20)

/* The way of packets that go to all other ports. Wires have the others */
#define FLOOD_WAY (NIC_WAYS - 1)

static void switch_enqueue(struct switch_port *to, const struct packet *pkt)
{
	struct packet_queue *queue = &to->filling;
	size_t size = packet_copy_size(pkt);

	if (size > SWITCH_QUEUE_SIZE - queue->used) {
		to->stats.rx_dropped++;
		nic_overrun(to->nic);
		log_line(to->log, "dropping packets, %" PRIu64 " so far",
			 to->stats.rx_dropped);
		return;
	}
	packet_copy(queue->buf + queue->used, pkt);
	queue->used += size;
}

/*
 * Direction, for the owner of the port, of packets that leave the switch there
 */
static enum fault_dir switch_out_dir(const struct switch_port *port)
{
	return port->nic ? FAULT_RX : FAULT_TX;
}

static enum fault_dir switch_in_dir(const struct switch_port *port)
{
	return port->nic ? FAULT_TX : FAULT_RX;
}

/* The NIC is inside a call, or earlier packets are waiting */
static bool switch_must_queue(const struct switch_port *to)
{
	return to->sending || switch_has_queued(to);
}

/* A packet leaves the switch. */
static void switch_output(struct switch_port *to, const struct packet *pkt)
{
	to->sw->packets++;
	if (to->capture && to->up)
		capture_packet(to->capture, pkt);
	if (!to->nic)
		to->send(to, pkt);
	else if (switch_must_queue(to))
		switch_enqueue(to, pkt);
	else
		to->sw->units += nic_receive(to->nic, pkt);
}

static void switch_send_to(struct switch_port *to, const struct packet *pkt)
{
	if (to->faults)
		faults_pass(to->faults, clock_ns(), switch_out_dir(to), pkt);
	else
		switch_output(to, pkt);
}

static bool switch_is_nic_at(const struct switch_port *port,
			     const uint8_t mac[6])
{
	return port->nic && !memcmp(nic_mac(port->nic), mac, 6);
}

static bool switch_send_to_nics(struct switch_port *from,
				const struct packet *pkt)
{
	struct net_switch *sw = from->sw;
	bool found = false;

	for (unsigned int i = 0; i < sw->num; i++) {
		struct switch_port *to = sw->ports[i];

		if (switch_is_nic_at(to, pkt->dmac)) {
			switch_send_to(to, pkt);
			found = true;
		}
	}
	return found;
}

static bool switch_send_to_wire(struct switch_port *from,
				const struct packet *pkt)
{
	struct net_switch *sw = from->sw;
	struct switch_port *to;

	if (!sw->num_wires)
		return false;
	to = mac_table_find(&sw->macs, pkt->dmac, sw->now);
	if (to && to != from) {
		switch_send_to(to, pkt);
		if (to->congested && !from->nic)
			from->held_by = to;
	}
	return to;
}

static bool switch_is_receiver(const struct switch_port *from,
			       const struct switch_port *to)
{
	return to != from &&
	       (to->nic ? nic_can_receive(to->nic) : to->up && !to->cut);
}

static unsigned int switch_num_receivers(const struct switch_port *from)
{
	const struct net_switch *sw = from->sw;
	unsigned int num = 0;

	for (unsigned int i = 0; i < sw->num; i++)
		num += switch_is_receiver(from, sw->ports[i]);
	return num;
}

/* Packets that go to all other ports wait only if there is room at none */
static bool switch_flood_is_full(const struct switch_port *from)
{
	const struct net_switch *sw = from->sw;
	bool found = false;

	for (unsigned int i = 0; i < sw->num; i++) {
		const struct switch_port *to = sw->ports[i];

		if (!switch_is_receiver(from, to))
			continue;
		if (!to->congested)
			return false;
		found = true;
	}
	return found;
}

/*
 * As nobody waits for it, such a packet must leave room for those that are meant
 * for this port alone
 */
static bool switch_flood_fits(struct switch_port *to, const struct packet *pkt)
{
	uint32_t len = packet_len(pkt);

	if (!to->crowded && !to->congested)
		return true;
	if (len > to->flood_room) {
		to->stats.tx_dropped++;
		return false;
	}
	to->flood_room -= len;
	return true;
}

static void switch_flood(struct switch_port *from, const struct packet *pkt)
{
	struct net_switch *sw = from->sw;
	bool alone = switch_num_receivers(from) < 2;

	for (unsigned int i = 0; i < sw->num; i++) {
		struct switch_port *to = sw->ports[i];

		if (to == from)
			continue;
		if (alone || switch_flood_fits(to, pkt))
			switch_send_to(to, pkt);
		/* The sender has counted one packet, and not each copy */
		sw->units++;
	}
	if (!from->nic && sw->num_congested && switch_flood_is_full(from))
		from->held_by = from;
}

static bool switch_is_mac_of(const struct switch_port *port,
			     const uint8_t mac[6])
{
	return switch_is_nic_at(port, mac) ||
	       (port->nic && !memcmp(nic_permanent_mac(port->nic), mac, 6));
}

bool switch_may_have_mac(const struct switch_port *port, const uint8_t mac[6])
{
	const struct net_switch *sw = port->sw;

	for (unsigned int i = 0; i < sw->num && !port->trusted; i++) {
		if (sw->ports[i] != port && switch_is_mac_of(sw->ports[i], mac))
			return false;
	}
	return true;
}

/*
 * A NIC uses the address of another NIC. Packets of a wire may have any
 * address.
 */
static bool switch_is_spoofed(const struct switch_port *from,
			      const uint8_t smac[6])
{
	return from->nic && memcmp(nic_mac(from->nic), smac, 6) &&
	       !switch_may_have_mac(from, smac);
}

/* A packet enters the switch. */
static void switch_input(struct switch_port *from, const struct packet *pkt)
{
	struct net_switch *sw = from->sw;
	bool multicast = pkt->dmac[0] & 1;

	if (from->capture)
		capture_packet(from->capture, pkt);
	if (switch_is_spoofed(from, pkt->smac)) {
		from->spoofed++;
		return;
	}
	if (!from->nic)
		mac_table_learn(&sw->macs, pkt->smac, from, sw->now);
	if (!multicast &&
	    (switch_send_to_nics(from, pkt) || switch_send_to_wire(from, pkt)))
		return;
	switch_flood(from, pkt);
}

void switch_transmit(struct switch_port *from, const struct packet *pkt)
{
	from->sending = true;
	if (from->faults)
		faults_pass(from->faults, clock_ns(), switch_in_dir(from), pkt);
	else
		switch_input(from, pkt);
	from->sending = false;
}

/* Whether the port has neither wire faults nor a capture */
static bool switch_is_plain(const struct switch_port *port)
{
	return !port->faults && !port->capture;
}

bool switch_is_direct(const struct switch_port *from, const uint8_t dmac[6])
{
	const struct net_switch *sw = from->sw;
	const struct switch_port *to = NULL;

	for (unsigned int i = 0; i < sw->num; i++) {
		const struct switch_port *port = sw->ports[i];

		if (!switch_is_nic_at(port, dmac))
			continue;
		if (to)
			return false;
		to = port;
	}
	return to && to != from && switch_is_plain(from) &&
	       switch_is_plain(to) && !switch_must_queue(to);
}

static bool switch_has_nic(const struct net_switch *sw, const uint8_t mac[6])
{
	for (unsigned int i = 0; i < sw->num; i++)
		if (switch_is_nic_at(sw->ports[i], mac))
			return true;
	return false;
}

int switch_full_way(const struct switch_port *from, const uint8_t dmac[6])
{
	const struct net_switch *sw = from->sw;
	const struct switch_port *to = NULL;

	if (!sw->num_congested)
		return -1;
	if (!(dmac[0] & 1)) {
		if (switch_has_nic(sw, dmac))
			return -1;
		to = mac_table_find(&sw->macs, dmac, sw->now);
	}
	if (to)
		return to->congested ? (int)to->way : -1;
	return switch_flood_is_full(from) ? FLOOD_WAY : -1;
}

static void switch_resume(const struct net_switch *sw, unsigned int way)
{
	for (unsigned int i = 0; i < sw->num; i++)
		if (sw->ports[i]->nic)
			nic_resume(sw->ports[i]->nic, way);
}

void switch_set_congested(struct switch_port *port, bool congested)
{
	struct net_switch *sw = port->sw;

	if (port->congested == congested)
		return;
	port->congested = congested;
	sw->num_congested += congested ? 1 : -1;
	if (congested)
		return;
	switch_resume(sw, port->way);
	switch_resume(sw, FLOOD_WAY);
}

bool switch_is_held(struct switch_port *port)
{
	const struct switch_port *by = port->held_by;

	if (by && (by == port ? !switch_flood_is_full(port) : !by->congested))
		port->held_by = NULL;
	return port->held_by;
}

void switch_pass(struct switch_port *port, enum fault_dir dir,
		 const struct packet *pkt)
{
	if (dir == switch_in_dir(port))
		switch_input(port, pkt);
	else
		switch_output(port, pkt);
}

/* Returns true if all packets are delivered */
static bool switch_drain(struct switch_port *port)
{
	struct packet_queue *queue = &port->draining;
	uint64_t end = clock_ns() + NIC_TURN_NS;
	unsigned int units = 0;

	while (queue->at < queue->used) {
		struct packet pkt;

		if (units >= TURN_LOOK) {
			if (clock_ns() >= end)
				return false;
			units = 0;
		}
		queue->at += packet_load(queue->buf + queue->at, &pkt);
		units += 1 + nic_receive(port->nic, &pkt);
	}
	queue->used = 0;
	queue->at = 0;
	return true;
}

bool switch_deliver(struct switch_port *port)
{
	struct packet_queue empty = port->draining;

	if (!empty.used) {
		if (!port->filling.used)
			return false;
		port->draining = port->filling;
		port->filling = empty;
	}
	return !switch_drain(port) || port->filling.used;
}

void switch_set_up(struct switch_port *port, bool up)
{
	if (port->up == up)
		return;
	port->up = up;
	port->sw->link_changed = true;
	if (up)
		switch_resume(port->sw, FLOOD_WAY);
	else
		mac_table_forget(&port->sw->macs, port);
}

void switch_set_cut(struct switch_port *port, bool cut)
{
	port->cut = cut;
	port->sw->link_changed = true;
}

bool switch_has_link(const struct switch_port *port)
{
	const struct net_switch *sw = port->sw;

	if (port->cut)
		return false;
	if (!sw->num_wires)
		return true;
	for (unsigned int i = 0; i < sw->num; i++) {
		const struct switch_port *other = sw->ports[i];

		if (other != port && other->up && !other->cut)
			return true;
	}
	return false;
}

void switch_update_links(struct net_switch *sw)
{
	if (!sw->link_changed)
		return;
	sw->link_changed = false;
	for (unsigned int i = 0; i < sw->num; i++)
		if (sw->ports[i]->nic)
			nic_set_link(sw->ports[i]->nic,
				     switch_has_link(sw->ports[i]));
}

static int switch_queues_init(struct switch_port *port)
{
	port->filling.buf = malloc(SWITCH_QUEUE_SIZE);
	port->draining.buf = malloc(SWITCH_QUEUE_SIZE);
	if (port->filling.buf && port->draining.buf)
		return 0;
	free(port->filling.buf);
	free(port->draining.buf);
	return -ENOMEM;
}

static bool switch_has_way(const struct net_switch *sw, unsigned int way)
{
	for (unsigned int i = 0; i < sw->num; i++)
		if (!sw->ports[i]->nic && sw->ports[i]->way == way)
			return true;
	return false;
}

/* With a NIC, who alone asks for it, a switch has no more wires than ways. */
static unsigned int switch_free_way(const struct net_switch *sw)
{
	unsigned int way = 0;

	while (way < FLOOD_WAY && switch_has_way(sw, way))
		way++;
	return way;
}

int switch_connect(struct net_switch *sw, struct switch_port *port)
{
	int err;

	if (sw->num == SWITCH_MAX_PORTS)
		return -ENOSPC;
	if (port->nic) {
		err = switch_queues_init(port);
		if (err)
			return err;
		port->up = true;
	} else {
		port->way = switch_free_way(sw);
		port->flood_room = SWITCH_FLOOD_ROOM;
		sw->num_wires++;
	}
	port->sw = sw;
	sw->ports[sw->num++] = port;
	sw->link_changed = true;
	return 0;
}

void switch_disconnect(struct switch_port *port)
{
	struct net_switch *sw = port->sw;

	switch_set_congested(port, false);
	for (unsigned int i = 0; i < sw->num; i++)
		if (sw->ports[i] == port)
			sw->ports[i--] = sw->ports[--sw->num];
	if (!port->nic)
		sw->num_wires--;
	mac_table_forget(&sw->macs, port);
	sw->link_changed = true;
	free(port->filling.buf);
	free(port->draining.buf);
}
