/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A guest, or a client in QEMU's place, that tries all known ways to keep
 * others from the device process. It shares the simulated world with a victim.
 * Its attempts may fail or take time; these functions do not check their
 * results.
 */
#ifndef MYNIC_HARNESS_HOSTILE_H
#define MYNIC_HARNESS_HOSTILE_H

#include <stdbool.h>
#include <sys/types.h>

struct drv;

/**
 * struct hostile - a device process with a victim and a hostile guest
 * @quick: do little of everything, for tests that do not measure
 * @device: the process
 * @victim: two NICs, up
 * @nic: two NICs of the hostile guest, up, with a cable that it may use
 * @spare: socket of a fifth NIC, for the hostile client
 * @control: control socket
 * @wire: socket at which the device accepts frames, the peer of @wire_end
 * @wire_end: a socket at the far end of the wire
 * @stream: socket of a second wire, at which the device waits for a peer
 * @state: state of the kind
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
 * @name: name of the test
 * @text: short description
 * @begin: prepares it, or NULL
 * @again: does it; short, and called again and again
 * @wire: the device has the wires
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

/* Kinds of traffic, commands and clients. The last element of each is empty. */
extern const struct hostile_kind hostile_traffic[];
extern const struct hostile_kind hostile_commands[];
extern const struct hostile_kind hostile_client[];

/** hostile_tests() - register a test for each kind, which calls @run with it */
void hostile_tests(void (*run)(const void *kind));

/** hostile_world() - start a device process for a kind, with a victim */
struct hostile *hostile_world(const struct hostile_kind *kind, bool quick);

/** hostile_begin_small_writes() - begin small WRITEs on many queue pairs */
void hostile_begin_small_writes(struct hostile *h);

/** hostile_begin_broadcast() - begin TSO to the broadcast address */
void hostile_begin_broadcast(struct hostile *h);

/** hostile_begin_frames() - begin TSO to an address */
void hostile_begin_frames(struct hostile *h, const void *dmac);

#endif /* MYNIC_HARNESS_HOSTILE_H */
