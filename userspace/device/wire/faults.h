/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Faults that a wire can be made to have, by rules (Documentation/faults.rst).
 * They are loss, repetition, reordering, corruption, delay, a bottleneck,
 * congestion marks, and a cable that is pulled.
 *
 * All rules decide about a packet at the moment it arrives, in their order.
 * Their decisions depend on their seeds and on the packets alone, not on time,
 * except for the length of a bottleneck's queue. Time comes with the calls, so
 * that a run in virtual time can be repeated exactly.
 */
#ifndef MYNIC_WIRE_FAULTS_H
#define MYNIC_WIRE_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packet;

/* Upper bound for the rules of a port */
#define FAULTS_MAX_RULES 64

/*
 * Upper bound for the memory of held packets of a port, both directions
 * together
 */
#define FAULTS_MAX_HELD (64 << 20)

/* Upper bound for the copies of a packet that duplicate rules make */
#define FAULTS_MAX_COPIES 16

/* Bytes for the description of an error in a rule */
#define FAULTS_ERROR_SIZE 160

/* Upper bound for the length of a rule */
#define FAULTS_RULE_SIZE 256

/* Directions as seen by the owner of the port. */
enum fault_dir {
	FAULT_TX,
	FAULT_RX,
};

/**
 * struct fault_event - a rule was applied to a packet
 * @rule: number of the rule
 * @what: the effect: the rule's kind; for kind=rate "mark" or "queue full"; "no
 *	room" if the packet was dropped because of FAULTS_MAX_HELD
 * @dir: direction
 * @pkt: the packet, before the rule
 */
struct fault_event {
	unsigned int rule;
	const char *what;
	enum fault_dir dir;
	const struct packet *pkt;
};

/**
 * struct faults_ops - functions that the surroundings of a port provide
 * @deliver: take a packet that has passed, changed or not. It is valid only
 *	during the call. The function may call faults_pass() of the same port
 * @applied: note that a rule was applied; may be NULL
 */
struct faults_ops {
	void (*deliver)(void *ctx, enum fault_dir dir,
			const struct packet *pkt);
	void (*applied)(void *ctx, const struct fault_event *event);
};

/**
 * struct fault_stats - counters of a rule
 * @number: number of the rule
 * @text: the rule, with its seed
 * @down: the rule holds the link down
 * @matched: packets that the rule selects
 * @applied: packets that it was applied to
 * @marked: packets that got a CE mark
 * @queue_full: kind=rate: packets that were dropped because the queue was full
 * @no_room: packets that this rule held last, and that were dropped because of
 *	FAULTS_MAX_HELD
 */
struct fault_stats {
	unsigned int number;
	const char *text;
	bool down;
	uint64_t matched;
	uint64_t applied;
	uint64_t marked;
	uint64_t queue_full;
	uint64_t no_room;
};

struct faults;

/**
 * faults_create() - make the wire faults of a port, without rules
 * @ops: functions of the surroundings; must stay valid
 * @ctx: argument of @ops
 *
 * Return: NULL if there is no memory.
 */
struct faults *faults_create(const struct faults_ops *ops, void *ctx);

/* Held packets are lost. NULL is allowed. */
void faults_destroy(struct faults *faults);

/**
 * faults_add() - append a rule
 * @faults: wire faults of the port
 * @number: number of the rule, not in use
 * @rule: the part behind "PORT," in the grammar, such as "kind=drop,rate=0.01"
 * @seed: seed for a rule without one
 * @error: out: on failure, a description of the error
 *
 * Return: 0; -EINVAL; -ENOSPC: there are FAULTS_MAX_RULES already; -ENOMEM.
 */
int faults_add(struct faults *faults, unsigned int number, const char *rule,
	       uint64_t seed, char error[FAULTS_ERROR_SIZE]);

/**
 * faults_delete() - remove a rule
 * @faults: wire faults of the port
 * @number: number of the rule
 *
 * Packets that it has delayed are delivered at the same time as before.
 *
 * Return: true if there was such a rule.
 */
bool faults_delete(struct faults *faults, unsigned int number);

/* Removes all rules, or those that hold the link down. */
void faults_clear(struct faults *faults, bool only_down);

unsigned int faults_num_rules(const struct faults *faults);

/* Counters of the rule with index @i, 0 to faults_num_rules() - 1. */
struct fault_stats faults_stats(const struct faults *faults, unsigned int i);

/**
 * faults_down() - check whether a rule holds the link down
 * @faults: wire faults of the port
 *
 * It changes only with faults_add() and faults_delete().
 *
 * Return: true if the link is down; then no packet passes.
 */
bool faults_down(const struct faults *faults);

/**
 * faults_pass() - pass a packet through a port
 * @faults: wire faults of the port
 * @now: current time in ns; must not go back
 * @dir: direction of the packet
 * @pkt: the packet, valid only during the call
 *
 * It calls &faults_ops.deliver any number of times for the packet, during the
 * call or later from faults_step(). Packets of the same direction that are due
 * are delivered before. A call delivers only a few packets; if more are due, the
 * packet waits behind them.
 */
void faults_pass(struct faults *faults, uint64_t now, enum fault_dir dir,
		 const struct packet *pkt);

/* Time at which faults_step() has work, or UINT64_MAX. */
uint64_t faults_next_event(const struct faults *faults);

/**
 * faults_step() - handle one of the packets that are due
 * @faults: wire faults of the port
 * @now: current time
 *
 * It takes as long as delivering the packet takes, however many there are.
 *
 * Return: false if none was due.
 */
bool faults_step(struct faults *faults, uint64_t now);

#endif /* MYNIC_WIRE_FAULTS_H */
