// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Wire faults of a port: packets pass its rules, and may be held, changed,
 * copied or dropped. Rules are parsed in rule.c.
 */

#include "faults.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/splitmix.h"
#include "core/base/util.h"
#include "core/packet/packet.h"
#include "ecn.h"
#include "frame.h"
#include "hold.h"
#include "core/packet/packet_copy.h"
#include "rule.h"
#include "rule_value.h"

/*
 * How long a packet waits to be overtaken. A busy sender sends another one
 * sooner, and the timeouts that a loss would cause come later.
 */
#define OVERTAKE_NS 10000000

/*
 * Upper bound for the packets that one call of faults_pass() delivers. The rest
 * is left to faults_step(). Several packets must go, or a port whose packets
 * always come in time to wait behind others would never get rid of these.
 */
#define DELIVERIES_PER_PACKET 4

#define NUM_DIRS 2

#define NSEC_PER_SEC 1000000000ULL

/* Bytes of ",seed=" and 64 bits in decimal */
#define SEED_TEXT_SIZE 27

/**
 * struct bottleneck - a link of limited bandwidth
 * @free_at: time at which all accepted packets have been sent, ns
 * @rest: fraction that @free_at leaves out, in ns times bandwidth
 */
struct bottleneck {
	uint64_t free_at;
	uint64_t rest;
};

/**
 * struct active_rule - a rule of a port, with its state
 * @rule: the parsed rule
 * @text: text of the rule
 * @stats: counters of the rule
 * @random: state of the generators, one for each direction, so that neither
 *	direction depends on the packets of the other
 * @bottleneck: state of RULE_RATE, one for each direction
 */
struct active_rule {
	struct rule rule;
	char text[FAULTS_RULE_SIZE + SEED_TEXT_SIZE];
	struct fault_stats stats;
	uint64_t random[NUM_DIRS];
	struct bottleneck bottleneck[NUM_DIRS];
};

/**
 * struct lane - waiting packets of one direction
 * @hold: packets that wait for their time
 * @overtaken: packets that wait to be overtaken, the oldest first
 * @ready: packets that have been overtaken; they go before those of @hold
 * @running: a packet that was held is being delivered
 */
struct lane {
	struct hold hold;
	struct held_list overtaken;
	struct held_list ready;
	bool running;
};

/**
 * struct faults - wire faults of a port
 * @ops: functions of the surroundings
 * @ctx: argument of @ops
 * @rules: rules in their order
 * @num: number of @rules
 * @down: first rule that is RULE_DOWN, or NULL
 * @lanes: waiting packets, by enum fault_dir
 * @held_size: bytes of memory of waiting packets
 */
struct faults {
	const struct faults_ops *ops;
	void *ctx;
	struct active_rule *rules[FAULTS_MAX_RULES];
	unsigned int num;
	struct active_rule *down;
	struct lane lanes[NUM_DIRS];
	size_t held_size;
};

/**
 * struct passage - a packet that passes the rules
 * @faults: wire faults of the port
 * @dir: direction of the packet
 * @now: current time
 * @at: time at which the packet is delivered
 * @pkt: the packet, after the changes of the rules so far
 * @own: storage of @pkt once it has been changed
 * @bytes: frame of @own, if it has one; FRAME_MAX_LEN bytes
 * @next: index of the next rule
 * @copies: number of its copies, which share this counter
 * @holder: last rule that has held it
 * @overtaken: it waits to be overtaken
 * @left: packets that may still be delivered; shared like @copies
 */
struct passage {
	struct faults *faults;
	enum fault_dir dir;
	uint64_t now;
	uint64_t at;
	const struct packet *pkt;
	struct packet *own;
	uint8_t *bytes;
	unsigned int next;
	unsigned int *copies;
	struct active_rule *holder;
	bool overtaken;
	unsigned int *left;
};

static void faults_go_on(struct passage *p);

static void faults_tell(const struct passage *p, const struct active_rule *rule,
			const char *what)
{
	const struct faults *faults = p->faults;
	struct fault_event event = {
		.rule = rule->stats.number,
		.what = what,
		.dir = p->dir,
		.pkt = p->pkt,
	};

	if (faults->ops->applied)
		faults->ops->applied(faults->ctx, &event);
}

static void faults_applied(const struct passage *p, struct active_rule *rule,
			   const char *what)
{
	rule->stats.applied++;
	faults_tell(p, rule, what);
}

/*
 * Makes the bytes of the packet, which may then be changed, and returns their
 * number. No NIC or wire makes frames longer than FRAME_MAX_LEN
 */
static uint32_t faults_make_bytes(struct passage *p)
{
	struct frame frame;

	if (p->pkt->frame == p->bytes)
		return p->pkt->frame_len;
	frame_build(&frame, p->pkt);
	frame_copy(&frame, p->bytes);
	return frame.len;
}

/* Parses the changed bytes again */
static void faults_parse_bytes(struct passage *p, uint32_t len)
{
	frame_parse(p->bytes, len, p->own);
	p->pkt = p->own;
}

static bool faults_drop(struct passage *p, struct active_rule *rule,
			uint64_t random)
{
	(void)random;
	faults_applied(p, rule, "drop");
	return false;
}

static bool faults_rule_down(struct passage *p, struct active_rule *rule,
			     uint64_t random)
{
	(void)random;
	faults_applied(p, rule, "down");
	return false;
}

static bool faults_duplicate(struct passage *p, struct active_rule *rule,
			     uint64_t random)
{
	struct passage copy = *p;

	(void)random;
	if (*p->copies == FAULTS_MAX_COPIES)
		return true;
	++*p->copies;
	faults_applied(p, rule, "duplicate");
	faults_go_on(&copy);
	return true;
}

static bool faults_reorder(struct passage *p, struct active_rule *rule,
			   uint64_t random)
{
	(void)random;
	faults_applied(p, rule, "reorder");
	p->holder = rule;
	if (rule->rule.time)
		p->at += rule->rule.time;
	else
		p->overtaken = true;
	return true;
}

static bool faults_delay(struct passage *p, struct active_rule *rule,
			 uint64_t random)
{
	(void)random;
	faults_applied(p, rule, "delay");
	p->holder = rule;
	p->at += rule->rule.time;
	return true;
}

/* Flips @num different bits of @bits (Floyd's algorithm). */
static void faults_flip_bits(uint8_t *data, uint64_t bits, unsigned int num,
			     uint64_t random)
{
	uint64_t chosen[RULE_MAX_BITS];

	for (unsigned int i = 0; i < num; i++) {
		uint64_t last = bits - num + i;
		uint64_t bit = splitmix_scale(splitmix_next(&random), last + 1);

		for (unsigned int j = 0; j < i; j++)
			if (chosen[j] == bit)
				bit = last;
		chosen[i] = bit;
		data[bit / 8] ^= 1 << bit % 8;
	}
}

static bool faults_corrupt(struct passage *p, struct active_rule *rule,
			   uint64_t random)
{
	uint32_t at = packet_eth_len(p->pkt);
	uint32_t len = faults_make_bytes(p);
	unsigned int num = rule->rule.bits;

	if (len == at)
		return true;
	if (num > (len - at) * 8)
		num = (len - at) * 8;
	faults_applied(p, rule, "corrupt");
	faults_flip_bits(p->bytes + at, (len - at) * 8, num, random);
	faults_parse_bytes(p, len);
	return true;
}

/*
 * Copies the headers, so that they can be changed, and refers to the same
 * payload
 */
static void faults_packet_refer(struct packet *to, const struct packet *pkt)
{
	memcpy(to, pkt, offsetof(struct packet, iov));
	memcpy(to->iov, pkt->iov, pkt->niov * sizeof(*pkt->iov));
}

static void faults_set_ce(struct passage *p, struct active_rule *rule)
{
	uint32_t at = packet_eth_len(p->pkt);
	uint32_t len;

	rule->stats.marked++;
	faults_tell(p, rule, "mark");
	if (p->pkt->kind == PACKET_ROCE && !p->pkt->frame) {
		if (p->pkt != p->own)
			faults_packet_refer(p->own, p->pkt);
		p->own->roce.traffic_class |= ECN_CE;
		p->pkt = p->own;
		return;
	}
	len = faults_make_bytes(p);
	ecn_set_ce(p->bytes + at);
	faults_parse_bytes(p, len);
}

static bool faults_mark(struct passage *p, struct active_rule *rule,
			uint64_t random)
{
	(void)random;
	rule->stats.applied++;
	faults_set_ce(p, rule);
	return true;
}

/*
 * The time at which the last packet will have been sent tells the length of the
 * queue. No list of packets is needed.
 */
static bool faults_rate(struct passage *p, struct active_rule *rule,
			uint64_t random)
{
	struct bottleneck *link = &rule->bottleneck[p->dir];
	uint64_t bandwidth = rule->rule.bandwidth;
	uint32_t len = packet_len(p->pkt);
	uint64_t waiting = 0;
	uint64_t work;

	(void)random;
	rule->stats.applied++;
	if (link->free_at > p->at) {
		waiting = (__uint128_t)(link->free_at - p->at) * bandwidth /
			  (8 * NSEC_PER_SEC);
	} else {
		link->free_at = p->at;
		link->rest = 0;
	}
	if (waiting && waiting + len > rule->rule.queue) {
		rule->stats.queue_full++;
		faults_tell(p, rule, "queue full");
		return false;
	}
	if (waiting > rule->rule.ecn && ecn_capable(p->pkt))
		faults_set_ce(p, rule);
	work = len * 8 * NSEC_PER_SEC + link->rest;
	link->free_at += work / bandwidth;
	link->rest = work % bandwidth;
	p->at = link->free_at;
	p->holder = rule;
	return true;
}

/*
 * One function for each kind of rule. They return whether the packet goes on.
 * @random is for this packet and rule alone.
 */
static bool (*const appliers[])(struct passage *p, struct active_rule *rule,
				uint64_t random) = {
	[RULE_DROP] = faults_drop,	 [RULE_DUPLICATE] = faults_duplicate,
	[RULE_REORDER] = faults_reorder, [RULE_CORRUPT] = faults_corrupt,
	[RULE_DELAY] = faults_delay,	 [RULE_RATE] = faults_rate,
	[RULE_MARK] = faults_mark,	 [RULE_DOWN] = faults_rule_down,
};

static bool faults_is_for(const struct passage *p,
			  const struct active_rule *rule)
{
	return rule_selects(&rule->rule, p->dir, p->pkt) &&
	       (rule->rule.kind != RULE_MARK || ecn_capable(p->pkt));
}

/* Returns true if the packet goes on */
static bool faults_apply(struct passage *p, struct active_rule *rule)
{
	uint64_t random;

	if (!faults_is_for(p, rule))
		return true;
	if (rule->stats.matched++ < rule->rule.after ||
	    rule->stats.applied >= rule->rule.count)
		return true;
	random = splitmix_next(&rule->random[p->dir]);
	if (splitmix_scale(random, RULE_VALUE_RATE_ONE) >= rule->rule.rate)
		return true;
	return appliers[rule->rule.kind](p, rule, random);
}

static void faults_deliver(struct faults *faults, enum fault_dir dir,
			   const struct packet *pkt)
{
	struct fault_event event = { .what = "down", .dir = dir, .pkt = pkt };

	if (!faults->down) {
		faults->ops->deliver(faults->ctx, dir, pkt);
		return;
	}
	/* The cable was pulled while the packet was on it. */
	faults->down->stats.applied++;
	event.rule = faults->down->stats.number;
	if (faults->ops->applied)
		faults->ops->applied(faults->ctx, &event);
}

/* Copies a packet that is to wait, or returns NULL if there is no room */
static struct held *faults_hold(const struct passage *p)
{
	struct faults *faults = p->faults;
	size_t size = held_size(p->pkt);
	struct held *held = NULL;

	if (size <= FAULTS_MAX_HELD - faults->held_size)
		held = held_create(p->pkt, p->at);
	if (held)
		faults->held_size += size;
	return held;
}

static void faults_no_room(const struct passage *p)
{
	p->holder->stats.no_room++;
	faults_tell(p, p->holder, "no room");
}

static void faults_deliver_held(struct faults *faults, enum fault_dir dir,
				struct held *held)
{
	struct packet pkt;

	packet_load(held->copy, &pkt);
	faults->held_size -= held_size(&pkt);
	faults_deliver(faults, dir, &pkt);
	STAILQ_CONCAT(&faults->lanes[dir].ready, &held->followers);
	free(held);
}

/* When the next step of a lane is due, or UINT64_MAX */
static uint64_t faults_lane_next(const struct lane *lane)
{
	const struct held *oldest = STAILQ_FIRST(&lane->overtaken);
	uint64_t next = hold_next(&lane->hold);

	if (!STAILQ_EMPTY(&lane->ready))
		return 0;
	return oldest && oldest->until < next ? oldest->until : next;
}

/*
 * A packet has been overtaken. It was delayed as well if it is due only after
 * others.
 */
static void faults_step_ready(struct faults *faults, enum fault_dir dir,
			      uint64_t now)
{
	struct lane *lane = &faults->lanes[dir];
	struct held *held = STAILQ_FIRST(&lane->ready);

	STAILQ_REMOVE_HEAD(&lane->ready, link);
	if (held->at <= now && held->at <= hold_next(&lane->hold))
		faults_deliver_held(faults, dir, held);
	else
		hold_add(&lane->hold, held);
}

/* A packet has waited to be overtaken in vain. */
static void faults_step_overtaken(struct lane *lane)
{
	struct held *held = STAILQ_FIRST(&lane->overtaken);

	STAILQ_REMOVE_HEAD(&lane->overtaken, link);
	if (held->at < held->until)
		held->at = held->until;
	hold_add(&lane->hold, held);
}

/* Handles one packet of a lane, which must be due */
static void faults_step_lane(struct faults *faults, enum fault_dir dir,
			     uint64_t now)
{
	struct lane *lane = &faults->lanes[dir];
	const struct held *oldest = STAILQ_FIRST(&lane->overtaken);

	lane->running = true;
	if (!STAILQ_EMPTY(&lane->ready))
		faults_step_ready(faults, dir, now);
	else if (oldest && oldest->until <= hold_next(&lane->hold))
		faults_step_overtaken(lane);
	else
		faults_deliver_held(faults, dir, hold_take(&lane->hold));
	lane->running = false;
}

/*
 * Handles packets that are due, at most @left. If one of them is being delivered,
 * the outer call goes on.
 */
static void faults_run_lane(struct faults *faults, enum fault_dir dir,
			    uint64_t now, unsigned int *left)
{
	struct lane *lane = &faults->lanes[dir];

	while (!lane->running && *left && faults_lane_next(lane) <= now) {
		--*left;
		faults_step_lane(faults, dir, now);
	}
}

static void faults_wait_to_be_overtaken(struct passage *p)
{
	struct held *held = faults_hold(p);

	if (!held) {
		faults_no_room(p);
		return;
	}
	held->until = p->now + OVERTAKE_NS;
	STAILQ_INSERT_TAIL(&p->faults->lanes[p->dir].overtaken, held, link);
}

/*
 * Whether a packet may leave at once. It may not if others should have left
 * before it, unless there is no room to wait.
 */
static bool faults_may_leave(const struct passage *p)
{
	const struct lane *lane = &p->faults->lanes[p->dir];

	return p->at <= p->now && *p->left && faults_lane_next(lane) > p->now;
}

/* The packet overtakes those that wait for that */
static void faults_leave(struct passage *p)
{
	struct lane *lane = &p->faults->lanes[p->dir];
	struct held *held = NULL;

	if (!faults_may_leave(p))
		held = faults_hold(p);
	if (held) {
		STAILQ_CONCAT(&held->followers, &lane->overtaken);
		hold_add(&lane->hold, held);
	} else if (p->at <= p->now) {
		if (*p->left)
			--*p->left;
		faults_deliver(p->faults, p->dir, p->pkt);
		STAILQ_CONCAT(&lane->ready, &lane->overtaken);
	} else {
		faults_no_room(p);
	}
}

/* Applies the rules from @p->next on. */
static void faults_apply_rest(struct passage *p)
{
	const struct faults *faults = p->faults;

	while (p->next < faults->num)
		if (!faults_apply(p, faults->rules[p->next++]))
			return;
	if (p->overtaken)
		faults_wait_to_be_overtaken(p);
	else
		faults_leave(p);
}

static void faults_go_on(struct passage *p)
{
	uint8_t bytes[FRAME_MAX_LEN];
	struct packet own;

	p->own = &own;
	p->bytes = bytes;
	faults_apply_rest(p);
	/* The passage lives on, but not the packet */
	p->own = NULL;
	p->bytes = NULL;
}

void faults_pass(struct faults *faults, uint64_t now, enum fault_dir dir,
		 const struct packet *pkt)
{
	unsigned int left = DELIVERIES_PER_PACKET;
	unsigned int copies = 1;
	struct passage passage = {
		.faults = faults,
		.dir = dir,
		.now = now,
		.at = now,
		.pkt = pkt,
		.copies = &copies,
		.left = &left,
	};

	faults_run_lane(faults, dir, now, &left);
	faults_go_on(&passage);
	faults_run_lane(faults, dir, now, &left);
}

uint64_t faults_next_event(const struct faults *faults)
{
	return min_u64(faults_lane_next(&faults->lanes[FAULT_TX]),
		       faults_lane_next(&faults->lanes[FAULT_RX]));
}

bool faults_step(struct faults *faults, uint64_t now)
{
	uint64_t tx = faults_lane_next(&faults->lanes[FAULT_TX]);
	uint64_t rx = faults_lane_next(&faults->lanes[FAULT_RX]);

	if (min_u64(tx, rx) > now)
		return false;
	faults_step_lane(faults, rx < tx ? FAULT_RX : FAULT_TX, now);
	return true;
}

struct faults *faults_create(const struct faults_ops *ops, void *ctx)
{
	struct faults *faults = calloc(1, sizeof(*faults));

	if (!faults)
		return NULL;
	faults->ops = ops;
	faults->ctx = ctx;
	for (unsigned int i = 0; i < NUM_DIRS; i++) {
		STAILQ_INIT(&faults->lanes[i].overtaken);
		STAILQ_INIT(&faults->lanes[i].ready);
	}
	return faults;
}

static void faults_free_list(struct held_list *list)
{
	struct held *held;

	while ((held = STAILQ_FIRST(list))) {
		STAILQ_REMOVE_HEAD(list, link);
		free(held);
	}
}

static void faults_free_lane(struct lane *lane)
{
	struct held *held;

	faults_free_list(&lane->overtaken);
	faults_free_list(&lane->ready);
	while (lane->hold.root) {
		held = hold_take(&lane->hold);
		faults_free_list(&held->followers);
		free(held);
	}
}

void faults_destroy(struct faults *faults)
{
	if (!faults)
		return;
	for (unsigned int i = 0; i < NUM_DIRS; i++)
		faults_free_lane(&faults->lanes[i]);
	for (unsigned int i = 0; i < faults->num; i++)
		free(faults->rules[i]);
	free(faults);
}

static void faults_find_down(struct faults *faults)
{
	faults->down = NULL;
	for (unsigned int i = 0; i < faults->num && !faults->down; i++)
		if (faults->rules[i]->rule.kind == RULE_DOWN)
			faults->down = faults->rules[i];
}

static void faults_init_text(struct active_rule *rule, const char *text)
{
	snprintf(rule->text, sizeof(rule->text), "%s", text);
	if (!rule_has_seed(&rule->rule) && rule->rule.kind != RULE_DOWN)
		snprintf(rule->text + strlen(text),
			 sizeof(rule->text) - strlen(text), ",seed=%" PRIu64,
			 rule->rule.seed);
}

int faults_add(struct faults *faults, unsigned int number, const char *text,
	       uint64_t seed, char error[FAULTS_ERROR_SIZE])
{
	struct active_rule *rule;
	uint64_t state;
	int err;

	if (faults->num == FAULTS_MAX_RULES) {
		snprintf(error, FAULTS_ERROR_SIZE, "there are %d rules already",
			 FAULTS_MAX_RULES);
		return -ENOSPC;
	}
	rule = calloc(1, sizeof(*rule));
	if (!rule) {
		snprintf(error, FAULTS_ERROR_SIZE, "no memory");
		return -ENOMEM;
	}
	err = rule_parse(&rule->rule, text, seed, error);
	if (err) {
		free(rule);
		return err;
	}
	faults_init_text(rule, text);
	rule->stats.number = number;
	rule->stats.text = rule->text;
	rule->stats.down = rule->rule.kind == RULE_DOWN;
	state = rule->rule.seed;
	for (unsigned int i = 0; i < NUM_DIRS; i++)
		rule->random[i] = splitmix_next(&state);
	faults->rules[faults->num++] = rule;
	faults_find_down(faults);
	return 0;
}

bool faults_delete(struct faults *faults, unsigned int number)
{
	for (unsigned int i = 0; i < faults->num; i++) {
		if (faults->rules[i]->stats.number != number)
			continue;
		free(faults->rules[i]);
		faults->num--;
		memmove(&faults->rules[i], &faults->rules[i + 1],
			(faults->num - i) * sizeof(faults->rules[i]));
		faults_find_down(faults);
		return true;
	}
	return false;
}

void faults_clear(struct faults *faults, bool only_down)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < faults->num; i++) {
		struct active_rule *rule = faults->rules[i];

		if (only_down && !rule->stats.down)
			faults->rules[kept++] = rule;
		else
			free(rule);
	}
	faults->num = kept;
	faults_find_down(faults);
}

unsigned int faults_num_rules(const struct faults *faults)
{
	return faults->num;
}

struct fault_stats faults_stats(const struct faults *faults, unsigned int i)
{
	return faults->rules[i]->stats;
}

bool faults_down(const struct faults *faults)
{
	return faults->down;
}
