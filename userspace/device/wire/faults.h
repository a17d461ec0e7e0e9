/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Faults that a wire can be made to have, by rules (Documentation/faults.rst):
 * loss, repetition, reordering, corruption, delay, a bottleneck, congestion
 * marks, and a cable that is pulled.
 *
 * All rules decide about a packet at the moment it arrives, in their order.
 * What they decide depends on their seeds and on the packets alone, not on
 * time, except for the length of a bottleneck's queue. Time comes with the
 * calls, so that a run in virtual time can be repeated exactly.
 */
#ifndef MYNIC_WIRE_FAULTS_H
#define MYNIC_WIRE_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packet;

/* Rules of one port */
#define FAULTS_MAX_RULES 64

/* Memory for packets that one port holds back, both directions together */
#define FAULTS_MAX_HELD (64 << 20)

/* How often one packet can be there because of duplicate rules */
#define FAULTS_MAX_COPIES 16

/* Room for what faults_add() says about a wrong rule */
#define FAULTS_ERROR_SIZE 160

/* The longest rule */
#define FAULTS_RULE_SIZE 256

/** enum fault_dir - as seen from what is plugged into the port */
enum fault_dir {
	FAULT_TX,
	FAULT_RX,
};

/**
 * struct fault_event - a rule was applied to a packet
 * @rule: number of the rule
 * @what: what was done: the rule's kind; of kind=rate "mark" or "queue full";
 *	"no room" if the packet had to be dropped because FAULTS_MAX_HELD was
 *	used up
 * @dir: direction
 * @pkt: the packet, as it came to the rule
 */
struct fault_event {
	unsigned int rule;
	const char *what;
	enum fault_dir dir;
	const struct packet *pkt;
};

/**
 * struct faults_ops - what faults ask of their surroundings
 * @deliver: a packet has come through, changed or not. It is valid only during
 *	the call. May call faults_pass() of the same port.
 * @applied: a rule was applied; NULL if nobody wants to know
 */
struct faults_ops {
	void (*deliver)(void *ctx, enum fault_dir dir,
			const struct packet *pkt);
	void (*applied)(void *ctx, const struct fault_event *event);
};

/**
 * struct fault_stats - what a rule has done
 * @number: of the rule
 * @text: the rule, with its seed
 * @down: it has the cable pulled
 * @matched: packets that it was meant for
 * @applied: how many of those it was applied to
 * @marked: how many of those got a CE mark
 * @queue_full: kind=rate: how many of those were dropped for a full queue
 * @no_room: packets that were dropped because FAULTS_MAX_HELD was used up when
 *	this rule was the last to hold them back
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
 * faults_create() - the faults of one port, without a rule
 * @ops: see &struct faults_ops; kept
 * @ctx: passed to @ops
 *
 * Return: NULL if there is no memory.
 */
struct faults *faults_create(const struct faults_ops *ops, void *ctx);

/** faults_destroy() - packets that are held back are lost; NULL is allowed */
void faults_destroy(struct faults *faults);

/**
 * faults_add() - add a rule behind those that are there
 * @faults: the faults of a port
 * @number: to call it by; unused
 * @rule: what follows "PORT," in the grammar, such as "kind=drop,rate=0.01"
 * @seed: if @rule has none
 * @error: says on failure what is wrong with the rule
 *
 * Return: 0, -EINVAL, -ENOSPC if there are FAULTS_MAX_RULES, or -ENOMEM.
 */
int faults_add(struct faults *faults, unsigned int number, const char *rule,
	       uint64_t seed, char error[FAULTS_ERROR_SIZE]);

/**
 * faults_delete() - remove a rule
 * @faults: the faults of a port
 * @number: of the rule
 *
 * Packets that it has delayed come when they would have come anyway.
 *
 * Return: whether there is a rule @number.
 */
bool faults_delete(struct faults *faults, unsigned int number);

/** faults_num_rules() - how many rules there are */
unsigned int faults_num_rules(const struct faults *faults);

/** faults_stats() - what rule @i, 0 to faults_num_rules() - 1, has done */
struct fault_stats faults_stats(const struct faults *faults, unsigned int i);

/**
 * faults_down() - whether a rule has the cable pulled
 * @faults: the faults of a port
 *
 * It changes only with faults_add() and faults_delete().
 *
 * Return: whether the link of what is plugged into the port is down; then no
 * packet passes.
 */
bool faults_down(const struct faults *faults);

/**
 * faults_pass() - a packet goes through the port
 * @faults: the port's faults
 * @now: ns; never goes back
 * @dir: which way
 * @pkt: needed only during the call
 *
 * Calls &faults_ops.deliver for it any number of times, in the call or later
 * from faults_run(), and before that for what has become due in the same
 * direction.
 */
void faults_pass(struct faults *faults, uint64_t now, enum fault_dir dir,
		 const struct packet *pkt);

/** faults_next_event() - when faults_run() next has work, or UINT64_MAX */
uint64_t faults_next_event(const struct faults *faults);

/** faults_run() - deliver the packets held back until @now or earlier */
void faults_run(struct faults *faults, uint64_t now);

#endif /* MYNIC_WIRE_FAULTS_H */
