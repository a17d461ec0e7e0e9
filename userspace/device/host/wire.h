/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Wires that leave the process: frames of the switch on a socket or a network
 * interface. wire.c has what all kinds have in common: the queue of frames,
 * link state, retries, and flow control. Documentation/wire.rst describes the
 * kinds.
 */
#ifndef MYNIC_HOST_WIRE_H
#define MYNIC_HOST_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "frame_queue.h"
#include "log.h"
#include "switch.h"

struct wire;

/* Bytes of an Ethernet header */
#define WIRE_MIN_FRAME 14

/* The time of an event that never comes */
#define WIRE_NEVER UINT64_MAX

/**
 * struct wire_config - what a wire is to be
 * @kind: see &struct wire_kind
 * @name: for people
 * @listen: stream: wait for the peer here
 * @connect: stream: the peer waits here
 * @local: dgram, udp: own address
 * @remote: dgram, udp: the peer's address
 * @ifname: tap, packet: network interface
 * @mode: permissions of a UNIX socket that is made
 *
 * What a kind does not need is NULL.
 */
struct wire_config {
	const struct wire_kind *kind;
	const char *name;
	const char *listen;
	const char *connect;
	const char *local;
	const char *remote;
	const char *ifname;
	unsigned int mode;
};

/**
 * struct wire_kind - one way for frames to leave the process
 * @name: on the command line
 * @open: get what does not depend on the peer; reports what cannot work with
 *	wire_error(). Return: 0 or -errno.
 * @try: the time has come that wire_try_in() or wire_try_later() has set
 * @ready: &wire.fd is ready to be read, or has an error, or &wire.backlog is
 *	set; does what wire_turn_is_over() lets it do
 * @writable: &wire.out_fd can be written to again, if it is waited for; NULL: that
 *	means no more than that the queue can be sent
 * @flush: send some of what is in the queue, in one system call that does not
 *	take long. Return: 0, -EAGAIN if nothing can be sent now, or why the peer
 *	is gone.
 * @drop: the wire has gone down; NULL: nothing to be done
 * @close: give back what @open got
 */
struct wire_kind {
	const char *name;
	int (*open)(struct wire *wire);
	void (*try)(struct wire *wire);
	void (*ready)(struct wire *wire);
	void (*writable)(struct wire *wire);
	int (*flush)(struct wire *wire);
	void (*drop)(struct wire *wire);
	void (*close)(struct wire *wire);
};

/**
 * struct wire - a wire
 * @port: where it is plugged in
 * @log: messages
 * @config: what it is to be
 * @events: event loop
 * @source: event source of @fd
 * @fd: what frames come in through, or -1
 * @mask: EPOLL* bits that @fd is waited for with
 * @out_fd: what frames go out through: @fd, or another file
 * @out_mask: EPOLL* bits that @out_fd is waited for with if it is another
 * @want_out: wait until @out_fd can be written to
 * @other: event source of @other_fd
 * @other_fd: what the kind waits for beside, or -1
 * @tx: frames to be sent
 * @stuck: @tx did not get shorter for so long that nobody is held any more
 * @held_since: since when senders are held, ns
 * @priv: the kind's own
 * @rx: input, a kind's own size
 * @rx_len: bytes in @rx
 * @rx_at: those of them that are done with
 * @backlog: there may be whole frames in @rx; no more is read before these
 * @had_turn: what is in @rx has only just come
 * @turn_end: when what comes in has had enough time, ns
 * @turn_work: what had been done when the clock was looked at for that
 * @told: the state in the log, to say each change once
 * @try_at: when to try again, ns
 * @try_wait: time until the next try after that, ns
 * @up_since: ns
 */
struct wire {
	struct switch_port port;
	struct log log;
	const struct wire_config *config;
	struct events *events;
	struct event_source source;
	int fd;
	uint32_t mask;
	int out_fd;
	uint32_t out_mask;
	bool want_out;
	struct event_source other;
	int other_fd;
	struct frame_queue tx;
	bool stuck;
	uint64_t held_since;
	void *priv;
	uint8_t *rx;
	size_t rx_len;
	size_t rx_at;
	bool backlog;
	bool had_turn;
	uint64_t turn_end;
	uint64_t turn_work;
	enum { WIRE_UNKNOWN, WIRE_DOWN, WIRE_UP } told;
	uint64_t try_at;
	uint64_t try_wait;
	uint64_t up_since;
};

extern const struct wire_kind wire_stream;
extern const struct wire_kind wire_dgram;
extern const struct wire_kind wire_udp;
extern const struct wire_kind wire_tap;
extern const struct wire_kind wire_packet;

/**
 * wire_open() - make a wire and plug it in
 * @wire: zeroed; must not move afterwards
 * @config: kept
 * @events: event loop
 * @sw: switch
 *
 * A peer that is not there is waited for. What cannot work is reported.
 *
 * Return: 0 or -errno.
 */
int wire_open(struct wire *wire, const struct wire_config *config,
	      struct events *events, struct net_switch *sw);
void wire_close(struct wire *wire);

/** wire_flush() - send what is queued, as much as there is time for */
void wire_flush(struct wire *wire);

/* Does the work that is due. */
void wire_run(struct wire *wire);

/* When wire_run() next has work, or WIRE_NEVER. */
uint64_t wire_next_event(struct wire *wire);

/* For the kinds of wires */

/* Reports that a wire cannot be made. Returns @err. */
int wire_error(struct wire *wire, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * wire_set_fd() - frames go through a file now
 * @wire: without a file
 * @fd: the file; closed by wire_drop_fd() or on failure
 *
 * Return: 0 or -errno.
 */
int wire_set_fd(struct wire *wire, int fd);

/** wire_drop_fd() - close the file, if there is one */
void wire_drop_fd(struct wire *wire);

/**
 * wire_set_out_fd() - frames go out through another file than they come in
 * @wire: has a file
 * @fd: the other; closed by wire_drop_out_fd() or on failure
 *
 * Return: 0 or -errno.
 */
int wire_set_out_fd(struct wire *wire, int fd);

/** wire_drop_out_fd() - close the other file, if there is one */
void wire_drop_out_fd(struct wire *wire);

/* Frames can pass from now on. */
void wire_up(struct wire *wire);

/**
 * wire_down() - frames cannot pass, or still not; what is queued is lost
 * @wire: the wire
 * @format: why
 */
void wire_down(struct wire *wire, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Has &wire_kind.try called, after a delay that grows each time. */
void wire_try_later(struct wire *wire);

/* Has &wire_kind.try called in @time ns. */
void wire_try_in(struct wire *wire, uint64_t time);

/*
 * Has &wire_kind.writable called, or the queue sent, when @out_fd is writable.
 */
void wire_want_out(struct wire *wire, bool want);

/**
 * wire_turn_is_over() - whether to leave what has come in to the next turn
 * @wire: the wire
 *
 * What one peer sends has NIC_TURN_NS at a time, like a NIC. To be asked behind
 * each frame: the clock is looked at once for some of them, or less if each goes
 * to many NICs.
 *
 * Return: whether its turn is over.
 */
bool wire_turn_is_over(struct wire *wire);

/* Takes a frame; anything else is counted. */
void wire_receive(struct wire *wire, const uint8_t *data, size_t len);

#endif /* MYNIC_HOST_WIRE_H */
