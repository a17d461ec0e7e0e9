// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The event loop: turns of NICs and wires, and the time to sleep. Whether a NIC
 * may run is decided in fair_share.c; how long to stay awake, in busy_poll.c.
 */

#include <sched.h>

#include "busy_poll.h"
#include "capture.h"
#include "clock.h"
#include "cpu_contention.h"
#include "core/base/util.h"
#include "core/nic.h"
#include "events.h"
#include "loop.h"
#include "switch.h"
#include "wire.h"
#include "wire_faults.h"
#include "wire/faults.h"

/*
 * Asking the kernel about clients and wires takes several times as long as
 * reading the doorbell records, which show most work first. Idle NICs have no
 * turns, so many looks take little time.
 */
#define LOOP_LOOKS_PER_WAIT 16

/* Rounds between two looks at the clients, so that none is starved */
#define LOOP_ROUNDS 8

/**
 * struct pace - when things happened, ns
 * @looked: a look at the clients
 * @now: the end of the last turn, so that a turn takes one look at the clock
 */
struct pace {
	uint64_t looked;
	uint64_t now;
};

/*
 * Runs one turn of a NIC. Queued packets come first, or the NIC could fill the
 * queue with packets to itself, but not in two turns in a row. Returns true if
 * there is more to do now.
 */
static bool loop_run_nic(struct switch_port *port)
{
	bool more = switch_deliver(port);

	port->sent_queued = more && !port->sent_queued;
	if (!port->sent_queued)
		more |= nic_run(port->nic);
	return more;
}

/*
 * A turn in which packets that were held have used up the time is over. They do
 * not get two in a row.
 */
static bool loop_run_faults(struct switch_port *port, uint64_t now)
{
	bool had_turn = port->faults_had_turn;

	port->faults_had_turn = !had_turn && wire_faults_are_due(port, now) &&
				wire_faults_run(port);
	return port->faults_had_turn;
}

/* Runs one turn of a port. Returns true if there is more to do now. */
static bool loop_run_port(struct switch_port *port, uint64_t now)
{
	if (loop_run_faults(port, now))
		return true;
	if (port->nic && loop_run_nic(port))
		return true;
	return wire_faults_are_due(port, now);
}

static bool loop_has_work(const struct switch_port *port, uint64_t now)
{
	if (wire_faults_are_due(port, now))
		return true;
	return port->nic &&
	       (switch_has_queued(port) || nic_next_event(port->nic) <= now);
}

/* The least that a NIC has had, of those with work and @port */
static uint64_t loop_least_share(const struct net_switch *sw,
				 const struct switch_port *port, uint64_t now)
{
	uint64_t least = port->share.used;

	for (unsigned int i = 0; i < sw->num; i++) {
		uint64_t used =
			fair_share_used(&sw->fair_clock, &sw->ports[i]->share);

		if (sw->ports[i]->nic && used < least &&
		    loop_has_work(sw->ports[i], now))
			least = used;
	}
	return least;
}

/*
 * Other NICs matter only if this one has had more than the last known minimum.
 * Wires have no shares.
 */
static bool loop_may_run(struct net_switch *sw, const struct switch_port *port,
			 uint64_t now)
{
	if (!port->nic || !fair_share_is_ahead(&sw->fair_clock, &port->share))
		return true;
	fair_clock_advance(&sw->fair_clock, loop_least_share(sw, port, now));
	return !fair_share_is_ahead(&sw->fair_clock, &port->share);
}

static bool loop_watch_nics(struct net_switch *sw)
{
	bool found = false;

	for (unsigned int i = 0; i < sw->num; i++)
		if (sw->ports[i]->nic)
			found |= nic_watch(sw->ports[i]->nic);
	return found;
}

static void loop_run_wires(const struct loop *loop)
{
	for (unsigned int i = 0; i < loop->num_wires; i++)
		wire_run(&loop->wires[i]);
}

/* Handles what has arrived from clients and wires during the turns of NICs */
static void loop_look_around(const struct loop *loop)
{
	events_wait(loop->events, EVENTS_NOT_AT_ALL);
	loop_run_wires(loop);
	loop_watch_nics(loop->sw);
}

static void loop_look_if_due(const struct loop *loop, struct pace *pace)
{
	if (pace->now - pace->looked < NIC_TURN_NS)
		return;
	loop_look_around(loop);
	pace->now = clock_ns();
	pace->looked = pace->now;
}

/*
 * Runs a turn of each port that has work, unless its NIC has had more than
 * others. Returns true if there is more to do now.
 */
static bool loop_run_round(const struct loop *loop, struct pace *pace)
{
	struct net_switch *sw = loop->sw;
	uint64_t packets = sw->packets;
	bool more = false;

	/* The first one may take all the room that a wire has */
	sw->first++;
	for (unsigned int i = 0; i < sw->num; i++) {
		struct switch_port *port = sw->ports[(sw->first + i) % sw->num];
		uint64_t now;

		if (!loop_has_work(port, pace->now))
			continue;
		if (!loop_may_run(sw, port, pace->now)) {
			more = true;
			continue;
		}
		more |= loop_run_port(port, pace->now);
		now = clock_ns();
		if (port->nic)
			fair_share_ran(&sw->fair_clock, &port->share,
				       now - pace->now);
		pace->now = now;
		loop_look_if_due(loop, pace);
	}
	/* A packet may be work for a NIC whose turn came before. */
	return more || sw->packets != packets;
}

/* Returns true if there is work, and no time to sleep. */
static bool loop_stop_watching_nics(struct net_switch *sw)
{
	bool found = false;

	for (unsigned int i = 0; i < sw->num; i++)
		if (sw->ports[i]->nic)
			found |= nic_stop_watching(sw->ports[i]->nic);
	return found;
}

/* Until when there is nothing to do, or EVENTS_NOT_AT_ALL */
static uint64_t loop_sleep_until(const struct loop *loop, uint64_t now)
{
	struct net_switch *sw = loop->sw;
	uint64_t next = EVENTS_FOREVER;

	for (unsigned int i = 0; i < sw->num; i++) {
		struct switch_port *port = sw->ports[i];

		if (port->faults)
			next = min_u64(next, faults_next_event(port->faults));
		if (port->nic)
			next = min_u64(next, nic_next_event(port->nic));
	}
	for (unsigned int i = 0; i < loop->num_wires; i++)
		next = min_u64(next, wire_next_event(&loop->wires[i]));
	return next > now ? next : EVENTS_NOT_AT_ALL;
}

/* Readers of captures should see packets at once. */
static void loop_flush_captures(const struct net_switch *sw)
{
	for (unsigned int i = 0; i < sw->num; i++)
		if (sw->ports[i]->capture)
			capture_flush(sw->ports[i]->capture);
}

static void loop_flush_wires(const struct loop *loop)
{
	for (unsigned int i = 0; i < loop->num_wires; i++)
		wire_flush(&loop->wires[i]);
}

static void loop_yield(struct busy_poll *busy_poll, uint64_t now)
{
	sched_yield();
	busy_poll_yielded(busy_poll, now, clock_ns());
}

void loop_run(const struct loop *loop, const bool *stop)
{
	struct cpu_contention contention = { 0 };
	struct net_switch *sw = loop->sw;
	struct busy_poll busy_poll = { 0 };
	unsigned int looks = 0;
	bool more = false;

	while (!*stop) {
		uint64_t now = clock_ns();
		uint64_t until = EVENTS_NOT_AT_ALL;
		uint64_t interrupts = sw->interrupts;
		uint64_t packets = sw->packets;
		bool worked = more;
		struct pace pace;

		if (!more && busy_poll_is_over(&busy_poll, now)) {
			loop_flush_captures(sw);
			if (!loop_stop_watching_nics(sw))
				until = loop_sleep_until(loop, now);
		} else if (!more && busy_poll.yields) {
			loop_yield(&busy_poll, now);
		}
		if (more || until || looks++ % LOOP_LOOKS_PER_WAIT == 0)
			events_wait(loop->events, until);
		if (until &&
		    cpu_contention_slept(&contention, clock_ns() - now))
			cpu_contention_move_away();
		sw->now = clock_ns();
		loop_run_wires(loop);
		switch_update_links(sw);
		worked |= loop_watch_nics(sw);
		pace.looked = sw->now;
		/* The first NIC is not charged for the input of wires */
		pace.now = loop->num_wires ? clock_ns() : sw->now;
		for (int i = 0; i < LOOP_ROUNDS; i++) {
			more = loop_run_round(loop, &pace);
			if (loop->num_wires) {
				loop_flush_wires(loop);
				/* Output of wires is not charged to the first NIC */
				pace.now = clock_ns();
				loop_look_if_due(loop, &pace);
			}
			if (!more)
				break;
			worked = true;
		}
		if (worked || sw->packets != packets)
			busy_poll_work(&busy_poll, clock_ns());
		if (sw->interrupts != interrupts)
			busy_poll_interrupt(&busy_poll, clock_ns());
	}
}
