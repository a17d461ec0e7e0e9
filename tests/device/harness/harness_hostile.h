/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A guest, or a client in QEMU's place, that wants the whole device process for
 * itself, in every way that is known; and the world that it shares with a
 * victim. What it does is refused, or takes time: what comes of that is not
 * looked at here.
 */
#ifndef MYNIC_HARNESS_HOSTILE_H
#define MYNIC_HARNESS_HOSTILE_H

#include <stdbool.h>
#include <sys/types.h>

struct drv;

/**
 * struct hostile - a device process with a victim and a hostile guest
 * @quick: a few of everything, for tests that do not measure
 * @device: the process
 * @victim: two NICs, up
 * @nic: two NICs of the hostile guest, up, and a cable that it may use
 * @spare: socket of a fifth NIC, which is the hostile client's
 * @control: control socket
 * @wire: socket that the device takes frames at, as @wire_end's peer
 * @wire_end: a socket at the far end of the wire
 * @stream: socket of a second wire, where the device waits for a peer
 * @state: of the kind
 */
struct hostile {
	bool quick;
	pid_t device;
	struct drv *victim[2];
	struct drv *nic[2];
	const char *spare;
	const char *control;
	const char *wire;
	int wire_end;
	const char *stream;
	void *state;
};

/**
 * struct hostile_kind - a way to be hostile
 * @name: of a test
 * @text: what it is, in few words
 * @begin: prepare it; or NULL
 * @again: do it; short, and called again and again
 * @wire: there are the wires
 * @slow_file: the guest's memory is a file on a disk
 */
struct hostile_kind {
	const char *name;
	const char *text;
	void (*begin)(struct hostile *h);
	void (*again)(struct hostile *h);
	bool wire;
	bool slow_file;
};

/* Traffic and commands of a guest, and what a client does; the last is empty */
extern const struct hostile_kind hostile_traffic[];
extern const struct hostile_kind hostile_commands[];
extern const struct hostile_kind hostile_client[];

/** hostile_tests() - register a test for each kind: @run with it */
void hostile_tests(void (*run)(const void *kind));

/** hostile_world() - start a device process for a kind, with a victim */
struct hostile *hostile_world(const struct hostile_kind *kind, bool quick);

/** hostile_begin_small_writes() - small WRITEs on many queue pairs */
void hostile_begin_small_writes(struct hostile *h);

/** hostile_begin_broadcast() - TSO to everyone */
void hostile_begin_broadcast(struct hostile *h);

#endif /* MYNIC_HARNESS_HOSTILE_H */
