// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The common part of all kinds of wires: their queue, link state, retries, and
 * flow control. Kinds are in wire_*.c.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "clock.h"
#include "core/base/turn.h"
#include "core/base/util.h"
#include "core/nic.h"
#include "wire.h"
#include "wire/frame.h"

#define MSEC 1000000ULL

/*
 * Large enough to make a system call worthwhile, and small enough for the cache
 */
#define FLUSH_BYTES (128 << 10)

/* A peer that takes all that is sent to it keeps nobody waiting for longer */
#define FLUSH_NS (NIC_TURN_NS / 2)

/*
 * Senders wait while the queue is longer than the first value, until it is
 * shorter than the second. There is a time limit, because a slow peer must not
 * block others for ever.
 */
#define HOLD_BYTES (512 << 10)
#define HOLD_END_BYTES (128 << 10)
#define HOLD_LIMIT (200 * MSEC)

/* Packets that go to several ports leave the rest to those that wait for room */
#define CROWDED_BYTES (256 << 10)

/* Times between attempts to reach the peer */
#define TRY_FIRST (10 * MSEC)
#define TRY_LAST (1000 * MSEC)

static struct wire *wire_from_port(struct switch_port *port)
{
	return container_of(port, struct wire, port);
}

static void wire_set_mask(struct wire *wire, int fd, uint32_t *mask,
			  uint32_t want)
{
	if (fd < 0 || *mask == want)
		return;
	*mask = want;
	events_change(wire->events, &wire->source, fd, want);
}

static void wire_update_mask(struct wire *wire)
{
	bool wait = switch_is_held(&wire->port) || wire->backlog;
	uint32_t in = wait ? 0 : EPOLLIN;
	uint32_t out = wire->want_out ? EPOLLOUT : 0;

	if (wire->out_fd == wire->fd) {
		wire_set_mask(wire, wire->fd, &wire->mask, in | out);
	} else {
		wire_set_mask(wire, wire->fd, &wire->mask, in);
		wire_set_mask(wire, wire->out_fd, &wire->out_mask, out);
	}
}

void wire_want_out(struct wire *wire, bool want)
{
	wire->want_out = want;
	wire_update_mask(wire);
}

static void wire_update_hold(struct wire *wire)
{
	size_t used = frame_queue_used(&wire->tx);
	struct switch_port *port = &wire->port;

	port->crowded = used >= CROWDED_BYTES;
	if (used <= HOLD_END_BYTES) {
		port->flood_room = SWITCH_FLOOD_ROOM;
		switch_set_congested(port, false);
		wire->stuck = false;
	} else if (used >= HOLD_BYTES && !port->congested && !wire->stuck) {
		switch_set_congested(port, true);
		wire->held_since = port->sw->now;
	}
}

/* Return: 0, -EAGAIN if some is left, or why the peer is gone */
static int wire_flush_for_a_while(struct wire *wire)
{
	uint64_t end = clock_ns() + FLUSH_NS;

	do {
		int err = wire->config->kind->flush(wire);

		if (err || !frame_queue_used(&wire->tx))
			return err;
	} while (clock_ns() < end);
	return -EAGAIN;
}

/* Whether frames can be sent now */
static bool wire_has_output(const struct wire *wire)
{
	return wire->port.up && !wire->want_out && frame_queue_used(&wire->tx);
}

void wire_flush(struct wire *wire)
{
	int err;

	if (!wire_has_output(wire))
		return;
	err = wire_flush_for_a_while(wire);
	wire_update_hold(wire);
	if (err == -EAGAIN)
		wire_want_out(wire, true);
	else if (err)
		wire_down(wire, "%s", strerror(-err));
}

static void wire_send(struct switch_port *port, const struct packet *pkt)
{
	struct wire *wire = wire_from_port(port);
	struct frame frame;

	if (!port->up) {
		port->stats.tx_dropped++;
		return;
	}
	frame_build(&frame, pkt);
	if (!frame_queue_put(&wire->tx, &frame)) {
		port->stats.tx_dropped++;
		log_line(&wire->log,
			 "dropping frames, the peer does not take them");
		return;
	}
	port->stats.tx_packets++;
	port->stats.tx_bytes += frame.len;
	if (frame_queue_used(&wire->tx) < FLUSH_BYTES)
		return;
	wire_flush(wire);
	wire_update_hold(wire);
}

void wire_receive(struct wire *wire, const uint8_t *data, size_t len)
{
	struct port_stats *stats = &wire->port.stats;
	struct packet pkt;

	if (!frame_parse(data, len, &pkt)) {
		stats->rx_bad++;
		return;
	}
	stats->rx_packets++;
	stats->rx_bytes += len;
	switch_transmit(&wire->port, &pkt);
}

static uint64_t wire_work_done(const struct wire *wire)
{
	const struct port_stats *stats = &wire->port.stats;
	const struct net_switch *sw = wire->port.sw;

	return stats->rx_packets + stats->rx_bad + sw->packets + sw->units;
}

bool wire_turn_is_over(struct wire *wire)
{
	uint64_t work = wire_work_done(wire);

	if (work - wire->turn_work < TURN_LOOK)
		return false;
	wire->turn_work = work;
	return clock_ns() >= wire->turn_end;
}

void wire_batch_begin(struct wire *wire, size_t num)
{
	wire->rx_len = num;
	wire->rx_at = 0;
	wire->backlog = num;
}

size_t wire_batch_next(struct wire *wire)
{
	size_t next = wire->rx_at++;

	wire->backlog = wire->rx_at < wire->rx_len;
	return next;
}

static void wire_take_turn(struct wire *wire)
{
	wire->turn_end = clock_ns() + NIC_TURN_NS;
	wire->turn_work = wire_work_done(wire);
	wire->config->kind->ready(wire);
}

static void wire_fd_ready(void *owner, uint32_t events)
{
	struct wire *wire = owner;

	/* The thread may have slept for long. */
	wire->port.sw->now = clock_ns();
	if (wire->fd >= 0 && events & EPOLLOUT && wire->want_out) {
		wire_want_out(wire, false);
		if (wire->config->kind->writable)
			wire->config->kind->writable(wire);
		wire_flush(wire);
	}
	if (wire->fd >= 0 && events & (EPOLLIN | EPOLLERR | EPOLLHUP)) {
		wire_take_turn(wire);
		wire->had_turn = true;
	}
	wire_update_mask(wire);
}

int wire_set_fd(struct wire *wire, int fd)
{
	int err;

	err = events_add(wire->events, &wire->source, fd, EPOLLIN);
	if (err) {
		close(fd);
		return err;
	}
	wire->fd = fd;
	wire->mask = EPOLLIN;
	wire->out_fd = fd;
	wire->want_out = false;
	wire->rx_len = 0;
	wire->rx_at = 0;
	wire->backlog = false;
	return 0;
}

void wire_drop_fd(struct wire *wire)
{
	if (wire->fd < 0)
		return;
	wire_drop_out_fd(wire);
	events_remove(wire->events, wire->fd);
	close(wire->fd);
	wire->fd = -1;
	wire->out_fd = -1;
	wire->want_out = false;
	wire->backlog = false;
}

int wire_set_out_fd(struct wire *wire, int fd)
{
	int err;

	err = events_add(wire->events, &wire->source, fd, 0);
	if (err) {
		close(fd);
		return err;
	}
	wire->out_fd = fd;
	wire->out_mask = 0;
	return 0;
}

void wire_drop_out_fd(struct wire *wire)
{
	if (wire->out_fd == wire->fd)
		return;
	events_remove(wire->events, wire->out_fd);
	close(wire->out_fd);
	wire->out_fd = wire->fd;
	wire->want_out = false;
}

void wire_up(struct wire *wire)
{
	if (wire->port.up)
		return;
	wire->up_since = clock_ns();
	wire->try_at = WIRE_NEVER;
	switch_set_up(&wire->port, true);
	log_line(&wire->log, "up");
	wire->told = WIRE_UP;
}

static void wire_say_down(struct wire *wire, const char *format, va_list args)
{
	char why[256];

	if (wire->told == WIRE_DOWN)
		return;
	wire->told = WIRE_DOWN;
	vsnprintf(why, sizeof(why), format, args);
	log_line(&wire->log, "down: %s", why);
}

void wire_down(struct wire *wire, const char *format, ...)
{
	uint64_t now = clock_ns();
	va_list args;

	va_start(args, format);
	wire_say_down(wire, format, args);
	va_end(args);
	if (wire->port.up) {
		/*
		 * A connection that breaks at once must not be retried at once.
		 */
		if (now - wire->up_since > TRY_LAST)
			wire->try_wait = TRY_FIRST;
		switch_set_up(&wire->port, false);
	}
	wire->port.stats.tx_dropped += frame_queue_clear(&wire->tx);
	wire_update_hold(wire);
	if (wire->config->kind->drop)
		wire->config->kind->drop(wire);
}

void wire_try_in(struct wire *wire, uint64_t time)
{
	wire->try_at = clock_ns() + time;
}

void wire_try_later(struct wire *wire)
{
	wire_try_in(wire, wire->try_wait);
	wire->try_wait *= 2;
	if (wire->try_wait > TRY_LAST)
		wire->try_wait = TRY_LAST;
}

void wire_run(struct wire *wire)
{
	uint64_t now = wire->port.sw->now;

	if (wire->port.congested && now - wire->held_since >= HOLD_LIMIT) {
		switch_set_congested(&wire->port, false);
		wire->stuck = true;
	}
	if (now >= wire->try_at) {
		wire->try_at = WIRE_NEVER;
		wire->config->kind->try(wire);
	}
	if (wire->backlog && !wire->had_turn && !switch_is_held(&wire->port))
		wire_take_turn(wire);
	wire->had_turn = false;
	wire_update_mask(wire);
}

uint64_t wire_next_event(struct wire *wire)
{
	uint64_t next = wire->try_at;

	/* It is read again, or goes on with what it has read */
	if ((wire->backlog || !(wire->mask & EPOLLIN)) && wire->fd >= 0 &&
	    !switch_is_held(&wire->port))
		return 0;
	/* They came after the last flush, from another wire. */
	if (wire_has_output(wire))
		return 0;
	if (wire->port.congested && wire->held_since + HOLD_LIMIT < next)
		next = wire->held_since + HOLD_LIMIT;
	return next;
}

int wire_error(struct wire *wire, int err, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log_line(&wire->log, "cannot %s: %s", text, strerror(-err));
	return err;
}

int wire_open(struct wire *wire, const struct wire_config *config,
	      struct events *events, struct net_switch *sw)
{
	int err;

	wire->log.name = config->name;
	wire->config = config;
	wire->events = events;
	wire->source = (struct event_source){ wire_fd_ready, wire };
	wire->fd = -1;
	wire->out_fd = -1;
	wire->other_fd = -1;
	wire->try_at = WIRE_NEVER;
	wire->try_wait = TRY_FIRST;
	wire->port.name = config->name;
	wire->port.log = &wire->log;
	wire->port.send = wire_send;
	err = frame_queue_init(&wire->tx);
	if (err)
		return wire_error(wire, err, "get memory");
	err = switch_connect(sw, &wire->port);
	if (err) {
		wire_error(wire, err, "be plugged in");
		goto err_queue;
	}
	err = config->kind->open(wire);
	if (err)
		goto err_port;
	return 0;

err_port:
	switch_disconnect(&wire->port);
err_queue:
	frame_queue_free(&wire->tx);
	return err;
}

void wire_close(struct wire *wire)
{
	wire->config->kind->close(wire);
	switch_disconnect(&wire->port);
	frame_queue_free(&wire->tx);
}
