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

/* Bytes of an Ethernet header, and of the shortest frame */
#define WIRE_MIN_FRAME 14

/* Time of an event that never comes */
#define WIRE_NEVER UINT64_MAX

/**
 * struct wire_config - properties of a new wire
 * @kind: see &struct wire_kind
 * @name: name in messages and commands
 * @listen: stream: address at which to wait for the peer
 * @connect: stream: address at which the peer waits
 * @local: dgram, udp: own address
 * @remote: dgram, udp: the peer's address
 * @ifname: tap, packet: network interface
 * @mode: permissions of UNIX sockets that are created
 *
 * Strings that a kind does not need are NULL.
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
 * struct wire_kind - functions of one kind of wire
 * @name: name on the command line
 * @open: make all that does not depend on the peer. Errors are reported by
 * wire_error(). Return: 0 or -errno.
 * @try: called at the time that wire_try_in() or wire_try_later() has set
 * @ready: called if &wire.fd is readable or has an error, or &wire.backlog is
 * set. Works until wire_turn_is_over().
 * @writable: called after wire_want_out() when &wire.out_fd is writable. NULL:
 * the queue is sent then.
 * @flush: send a part of the queue, in one short system call. Return: 0;
 * -EAGAIN: nothing can be sent now; or the reason why the peer is gone.
 * @drop: called when the wire has gone down; may be NULL
 * @close: undo @open
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
 * @port: port of the switch
 * @log: messages
 * @config: its properties
 * @events: event loop
 * @source: event source of @fd
 * @fd: file that frames arrive at, or -1
 * @mask: EPOLL* bits that the event loop waits for at @fd
 * @out_fd: file that frames are sent to: @fd or another one
 * @out_mask: the same for @out_fd, if it is another file
 * @want_out: wait until @out_fd is writable
 * @other: event source of @other_fd
 * @other_fd: another file that the kind waits for, or -1
 * @tx: queue of frames to be sent
 * @stuck: @tx has not become shorter for so long that senders no longer wait
 * @held_since: time since which senders wait, ns
 * @priv: state of the kind
 * @rx: buffer for input; its size depends on the kind
 * @rx_len: bytes in @rx, or frames that arrived in one system call
 * @rx_at: how many of these have been handled
 * @backlog: @rx may have whole frames, which come before more input
 * @had_turn: the input in @rx has arrived in this turn
 * @turn_end: end of the turn, ns
 * @turn_work: work that had been done when the clock was last read
 * @told: last state that was logged, so that each change is logged once
 * @try_at: time of the next attempt, ns
 * @try_wait: delay of the attempt after that, ns
 * @up_since: time when it last came up, ns
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
 * wire_open() - make a wire and connect it to the switch
 * @wire: zeroed; must not move afterwards
 * @config: properties; must stay valid
 * @events: event loop
 * @sw: switch
 *
 * The peer may come later. Other errors are reported.
 *
 * Return: 0 or -errno.
 */
int wire_open(struct wire *wire, const struct wire_config *config,
	      struct events *events, struct net_switch *sw);
void wire_close(struct wire *wire);

/** wire_flush() - send as much of the queue as there is time for */
void wire_flush(struct wire *wire);

/* Does the work that is due. */
void wire_run(struct wire *wire);

/* Time at which wire_run() or wire_flush() has work, or WIRE_NEVER. */
uint64_t wire_next_event(struct wire *wire);

/* Functions for the kinds of wires */

/* Reports that a wire cannot be made. Returns @err. */
int wire_error(struct wire *wire, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * wire_set_fd() - set the file that frames pass through
 * @wire: a wire without a file
 * @fd: the file; closed by wire_drop_fd() or on failure
 *
 * Return: 0 or -errno.
 */
int wire_set_fd(struct wire *wire, int fd);

/** wire_drop_fd() - close the file of frames, if there is one */
void wire_drop_fd(struct wire *wire);

/**
 * wire_set_out_fd() - set another file that frames are sent to
 * @wire: a wire with a file
 * @fd: the other file; closed by wire_drop_out_fd() or on failure
 *
 * Return: 0 or -errno.
 */
int wire_set_out_fd(struct wire *wire, int fd);

/** wire_drop_out_fd() - close the other file, if there is one */
void wire_drop_out_fd(struct wire *wire);

/* Marks the wire as up: frames can pass. */
void wire_up(struct wire *wire);

/**
 * wire_down() - mark a wire as down; queued frames are lost
 * @wire: the wire
 * @format: reason, for the log
 */
void wire_down(struct wire *wire, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Has &wire_kind.try called, after a delay that grows each time. */
void wire_try_later(struct wire *wire);

/* Has &wire_kind.try called in @time ns. */
void wire_try_in(struct wire *wire, uint64_t time);

/*
 * Has &wire_kind.writable called, or the queue sent, once @out_fd is writable.
 */
void wire_want_out(struct wire *wire, bool want);

/**
 * wire_turn_is_over() - check whether to leave more input to the next turn
 * @wire: the wire
 *
 * The input of a peer gets NIC_TURN_NS at a time, like a NIC. Must be called
 * after each frame. The clock is read once for several frames, and more often
 * if frames go to many NICs.
 *
 * Return: true if the turn is over.
 */
bool wire_turn_is_over(struct wire *wire);

/* Notes that @num frames have arrived in one system call. */
void wire_batch_begin(struct wire *wire, size_t num);

/* Index of the next frame of &wire.backlog, which is now handled. */
size_t wire_batch_next(struct wire *wire);

/* Forwards a frame. Input of another size is counted as bad. */
void wire_receive(struct wire *wire, const uint8_t *data, size_t len);

#endif /* MYNIC_HOST_WIRE_H */
