// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The world of NIC cores: time, memory, interrupts, and the wire. */
#include <errno.h>
#include <libdeflate.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "harness_sim.h"
#include "wire/faults.h"
#include "wire/frame.h"
#include "core/packet/packet_copy.h"
#include "core/qp/path.h"

/* After so many rounds at one moment, the NICs never come to rest */
#define MAX_ROUNDS 20000000ul

/* Bytes of a train of the largest packets */
#define MAX_PAYLOAD (PACKET_QUANTUM * PATH_MAX_MTU)

struct sim_packet {
	struct sim_packet *next;
	uint64_t due;
	struct sim_nic *from;
	struct packet pkt;
	max_align_t data[];
};

static void raise_irq(void *ctx, unsigned int vector)
{
	struct sim_nic *n = ctx;

	if (vector >= MYNIC_MAX_VECTORS)
		FAIL("interrupt on vector %u", vector);
	n->irqs[vector]++;
}

static uint64_t now(void *ctx)
{
	struct sim_nic *n = ctx;

	n->sim->now += n->sim->tick;
	return n->sim->now;
}

static struct sim_packet *new_packet(size_t size)
{
	struct sim_packet *p = malloc(sizeof(*p) + size);

	if (!p)
		FAIL("no memory");
	return p;
}

static struct sim_packet *copy_packet(const struct packet *pkt)
{
	struct sim_packet *p;
	size_t len = 0;

	if (pkt->niov > PACKET_MAX_IOV)
		FAIL("packet with %u iovecs", pkt->niov);
	for (unsigned int i = 0; i < pkt->niov; i++)
		len += pkt->iov[i].iov_len;
	if (len != pkt->payload_len || len > MAX_PAYLOAD)
		FAIL("packet with payload_len %u and %zu bytes",
		     pkt->payload_len, len);
	p = new_packet(packet_copy_size(pkt));
	packet_copy(p->data, pkt);
	packet_load(p->data, &p->pkt);
	return p;
}

/* Convert a packet to the bytes of its frame and back */
static struct sim_packet *as_frame(const struct packet *pkt)
{
	struct sim_packet *p;
	struct frame frame;

	frame_build(&frame, pkt);
	p = new_packet(frame.len);
	frame_copy(&frame, (uint8_t *)p->data);
	if (!frame_parse((uint8_t *)p->data, frame.len, &p->pkt))
		FAIL("frame of %u bytes", frame.len);
	return p;
}

/* FNV-1a, by Fowler, Noll and Vo, over words */
static void trace(struct sim *sim, uint64_t value)
{
	sim->trace = (sim->trace ^ value) * 0x100000001b3;
}

/*
 * The frame has no ICRC yet. With it, the CRC of the whole would not depend on
 * what it is computed over.
 */
static void trace_frame(struct sim_nic *from, const struct packet *pkt)
{
	struct frame frame;
	uint32_t crc = 0;

	frame_build(&frame, pkt);
	for (unsigned int i = 0; i < frame.niov; i++)
		crc = libdeflate_crc32(crc, frame.iov[i].iov_base,
				       frame.iov[i].iov_len);
	trace(from->sim, from->sim->now);
	trace(from->sim, (uint64_t)crc << 32 | frame.len);
	trace(from->sim, from->index);
}

static void enqueue(struct sim *sim, struct sim_packet *p, uint64_t due)
{
	struct sim_packet **at = &sim->queue;

	p->due = due;
	while (*at && (*at)->due <= due)
		at = &(*at)->next;
	p->next = *at;
	*at = p;
}

void sim_inject(struct sim_nic *to, const struct packet *pkt)
{
	if (to->receiving)
		FAIL("packet for a NIC that is receiving one");
	to->receiving = true;
	to->units += nic_receive(to->nic, pkt);
	to->receiving = false;
}

static void arrive(struct sim_nic *to, const struct packet *pkt)
{
	struct sim_packet *p = NULL;

	if (to->sim->frames) {
		p = as_frame(pkt);
		pkt = &p->pkt;
	}
	if (to->faults)
		faults_pass(to->faults, to->sim->now, FAULT_RX, pkt);
	else
		sim_inject(to, pkt);
	free(p);
}

static void deliver(struct sim_nic *from, const struct packet *pkt)
{
	struct sim *sim = from->sim;
	bool known = false;

	for (unsigned int i = 0; i < sim->num_nics; i++)
		known |= !memcmp(pkt->dmac, nic_mac(sim->nics[i].nic), 6);
	for (unsigned int i = 0; i < sim->num_nics; i++) {
		struct sim_nic *to = &sim->nics[i];

		if (!memcmp(pkt->dmac, nic_mac(to->nic), 6) ||
		    (!known && to != from))
			arrive(to, pkt);
	}
}

enum sim_verdict sim_drop_all(struct sim *sim, struct sim_nic *from,
			      struct packet *pkt)
{
	(void)sim;
	(void)from;
	(void)pkt;
	return SIM_DROP;
}

uint64_t sim_random(struct sim *sim, uint64_t below)
{
	/* xorshift64*, by Marsaglia and Vigna */
	sim->random ^= sim->random >> 12;
	sim->random ^= sim->random << 25;
	sim->random ^= sim->random >> 27;
	return (sim->random * 0x2545f4914f6cdd1dull >> 16) % below;
}

/* Whether a packet from @n is delivered inside transmit() */
static bool is_direct(const struct sim_nic *n, const uint8_t dmac[6])
{
	return n->sim->direct && !n->sim->filter &&
	       memcmp(dmac, nic_mac(n->nic), 6);
}

static void put_on_wire(struct sim_nic *n, const struct packet *pkt)
{
	struct sim *sim = n->sim;
	enum sim_verdict verdict = SIM_PASS;
	struct sim_packet *p, *twin;
	uint64_t due = sim->now;

	if (is_direct(n, pkt->dmac)) {
		deliver(n, pkt);
		return;
	}
	p = copy_packet(pkt);
	p->from = n;
	if (sim->filter)
		verdict = sim->filter(sim, n, &p->pkt);
	if (verdict == SIM_PASS && sim->drop &&
	    sim_random(sim, 1000) < sim->drop)
		verdict = SIM_DROP;
	if (verdict == SIM_PASS && sim->duplicate &&
	    sim_random(sim, 1000) < sim->duplicate)
		verdict = SIM_DUPLICATE;
	switch (verdict) {
	case SIM_PASS:
		break;
	case SIM_DROP:
		free(p);
		return;
	case SIM_DUPLICATE:
		twin = copy_packet(&p->pkt);
		twin->from = n;
		enqueue(sim, twin, due);
		break;
	case SIM_DELAY:
		due += sim->delay;
		break;
	}
	if (sim->reorder && sim_random(sim, 1000) < sim->reorder)
		due += sim_random(sim, sim->delay);
	enqueue(sim, p, due);
}

static struct sim_nic *find_nic(struct sim *sim, const uint8_t dmac[6])
{
	for (unsigned int i = 0; i < sim->num_nics; i++) {
		if (!memcmp(dmac, nic_mac(sim->nics[i].nic), 6))
			return &sim->nics[i];
	}
	return NULL;
}

static void use_room(struct sim *sim, const struct packet *pkt)
{
	struct sim_nic *to = find_nic(sim, pkt->dmac);
	unsigned int num = packet_count(pkt);

	if (!to || to->room == SIM_MUCH_ROOM)
		return;
	to->room -= num < to->room ? num : to->room;
}

static void transmit(void *ctx, const struct packet *pkt)
{
	struct sim_nic *n = ctx;

	n->sent += packet_count(pkt);
	n->trains += !!pkt->train_mtu;
	use_room(n->sim, pkt);
	if (n->receiving)
		FAIL("a NIC transmits inside its nic_receive()");
	if (n->sim->frames)
		trace_frame(n, pkt);
	if (n->faults)
		faults_pass(n->faults, n->sim->now, FAULT_TX, pkt);
	else
		put_on_wire(n, pkt);
}

/* Whether the packet reaches one NIC, without conversion to a frame */
static bool direct(void *ctx, const uint8_t dmac[6])
{
	const struct sim_nic *n = ctx;
	const struct sim *sim = n->sim;
	bool known = false;

	if (sim->frames || n->faults || !is_direct(n, dmac))
		return false;
	for (unsigned int i = 0; i < sim->num_nics; i++) {
		const struct sim_nic *to = &sim->nics[i];

		if (memcmp(dmac, nic_mac(to->nic), 6))
			continue;
		if (known || to->faults)
			return false;
		known = true;
	}
	return known;
}

static void come_through(void *ctx, enum fault_dir dir,
			 const struct packet *pkt)
{
	struct sim_nic *n = ctx;

	if (dir == FAULT_TX)
		put_on_wire(n, pkt);
	else
		sim_inject(n, pkt);
}

static const struct faults_ops faults_ops = { .deliver = come_through };

void sim_fault(struct sim_nic *n, const char *rule, uint64_t seed)
{
	char error[FAULTS_ERROR_SIZE];

	if (!n->faults)
		n->faults = faults_create(&faults_ops, n);
	CHECK(n->faults);
	if (faults_add(n->faults, faults_num_rules(n->faults) + 1, rule, seed,
		       error))
		FAIL("%s: %s", rule, error);
}

static int persist(void *ctx, const struct iovec *iov, unsigned int num)
{
	struct sim_nic *n = ctx;

	CHECK(!n->persisting);
	for (unsigned int i = 0; i < num; i++) {
		const uint8_t *ptr = iov[i].iov_base;

		CHECK(ptr >= n->mem &&
		      ptr + iov[i].iov_len <= n->mem + SIM_MEM_SIZE);
		n->persisted += iov[i].iov_len;
	}
	n->persisting = n->persist_later;
	return n->persisting ? -EINPROGRESS : n->persist_err;
}

void sim_persisted(struct sim_nic *n)
{
	CHECK(n->persisting);
	n->persisting = false;
	nic_persisted(n->nic, n->persist_err);
}

static int full_way(void *ctx, const uint8_t dmac[6])
{
	struct sim_nic *n = ctx;
	const struct sim_nic *to = find_nic(n->sim, dmac);

	return to && !to->room ? (int)(to - n->sim->nics) : -1;
}

void sim_set_room(struct sim_nic *n, unsigned int num)
{
	struct sim *sim = n->sim;

	n->room = num;
	for (unsigned int i = 0; i < sim->num_nics && num; i++)
		nic_resume(sim->nics[i].nic, n - sim->nics);
}

static const struct nic_ops ops = {
	.raise_irq = raise_irq,
	.transmit = transmit,
	.direct = direct,
	.full_way = full_way,
	.now = now,
	.persist = persist,
};

void *sim_alloc(struct sim_nic *n, size_t size, size_t align)
{
	size_t at = (n->used + align - 1) & ~(align - 1);

	if (at + size > SIM_MEM_SIZE)
		FAIL("the machine's memory is used up");
	n->used = at + size;
	return n->mem + at;
}

uint64_t sim_iova(const struct sim_nic *n, const void *ptr)
{
	return n->iova + ((const uint8_t *)ptr - n->mem);
}

/* Two adjacent maps, so that some ranges cross their border */
void sim_map(struct sim_nic *n)
{
	size_t half = SIM_MEM_SIZE / 2;

	CHECK_EQ(nic_dma_map(n->nic, n->iova, half, n->mem, true), 0);
	CHECK_EQ(nic_dma_map(n->nic, n->iova + half, half, n->mem + half, true),
		 0);
}

void sim_unmap(struct sim_nic *n)
{
	CHECK_EQ(nic_dma_unmap(n->nic, n->iova, SIM_MEM_SIZE), 0);
}

void sim_free(struct sim *sim)
{
	for (unsigned int i = 0; i < sim->num_nics; i++) {
		nic_destroy(sim->nics[i].nic);
		faults_destroy(sim->nics[i].faults);
		munmap(sim->nics[i].mem, SIM_MEM_SIZE);
	}
	sim->num_nics = 0;
	while (sim->queue) {
		struct sim_packet *p = sim->queue;

		sim->queue = p->next;
		free(p);
	}
}

static void end(void *sim)
{
	sim_free(sim);
}

struct sim *sim_new(unsigned int nics)
{
	return sim_new_small(nics, 0);
}

struct sim *sim_new_small(unsigned int nics, uint64_t memory)
{
	struct sim *sim = tap_alloc(sizeof(*sim));

	sim->now = 1 * SEC;
	sim->random = 1;
	sim->delay = 10 * USEC;
	sim->num_nics = nics;
	for (unsigned int i = 0; i < nics; i++) {
		struct sim_nic *n = &sim->nics[i];
		struct nic_config config = {
			.mac = { 0x02, 0x6d, 0x79, 0x6e, 0x69, i + 1 },
			.memory = memory,
			.seed = i + 1,
			.ops = &ops,
			.ctx = n,
		};

		n->sim = sim;
		n->index = i;
		n->iova = (i + 1ull) << 33;
		n->room = SIM_MUCH_ROOM;
		n->mem = mmap(NULL, SIM_MEM_SIZE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			      0);
		CHECK(n->mem != MAP_FAILED);
		/* so that no queue is at the start of a map */
		n->used = 4096;
		n->nic = nic_create(&config);
		CHECK(n->nic);
		sim_map(n);
		nic_set_bus_master(n->nic, true);
		nic_set_link(n->nic, true);
	}
	tap_at_end(end, sim);
	return sim;
}

static uint64_t num_sent(const struct sim *sim)
{
	uint64_t num = 0;

	for (unsigned int i = 0; i < sim->num_nics; i++)
		num += sim->nics[i].sent;
	return num;
}

static bool run_once(struct sim *sim)
{
	uint64_t before = num_sent(sim);
	bool more = false;

	for (unsigned int i = 0; i < sim->num_nics; i++) {
		more |= nic_run(sim->nics[i].nic);
		while (sim->nics[i].faults &&
		       faults_step(sim->nics[i].faults, sim->now))
			;
	}
	while (sim->queue && sim->queue->due <= sim->now) {
		struct sim_packet *p = sim->queue;

		sim->queue = p->next;
		deliver(p->from, &p->pkt);
		free(p);
		more = true;
	}
	/* A packet can be work for a NIC that had its turn before. */
	if (more || num_sent(sim) != before)
		return true;
	for (unsigned int i = 0; i < sim->num_nics; i++)
		more |= nic_watch(sim->nics[i].nic);
	return more;
}

void sim_settle(struct sim *sim)
{
	unsigned long rounds = 0;

	while (run_once(sim))
		if (++rounds > MAX_ROUNDS)
			FAIL("the NICs never come to rest");
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Nobody polls while time passes. */
static void go_to_sleep(struct sim *sim)
{
	bool found = false;

	for (unsigned int i = 0; i < sim->num_nics; i++)
		found |= nic_stop_watching(sim->nics[i].nic);
	if (found)
		sim_settle(sim);
}

bool sim_step(struct sim *sim, uint64_t until)
{
	uint64_t next;

	go_to_sleep(sim);
	next = sim->queue ? sim->queue->due : ~0ull;
	for (unsigned int i = 0; i < sim->num_nics; i++) {
		const struct sim_nic *n = &sim->nics[i];

		next = earlier(next, nic_next_event(n->nic));
		if (n->faults)
			next = earlier(next, faults_next_event(n->faults));
	}
	if (next > until)
		return false;
	/* a NIC whose event is overdue must not stop the clock */
	sim->now = next > sim->now ? next : sim->now + 1;
	sim_settle(sim);
	return true;
}

void sim_run(struct sim *sim, uint64_t ns)
{
	uint64_t until = sim->now + ns;

	sim_settle(sim);
	while (sim->now < until && sim_step(sim, until))
		;
	sim->now = until > sim->now ? until : sim->now;
	sim_settle(sim);
}

uint32_t sim_read32(struct sim_nic *n, unsigned int reg)
{
	uint32_t value;

	nic_bar_read(n->nic, MYNIC_BAR_REGS, reg, &value, sizeof(value));
	return value;
}

void sim_write32(struct sim_nic *n, unsigned int reg, uint32_t value)
{
	nic_bar_write(n->nic, MYNIC_BAR_REGS, reg, &value, sizeof(value));
}

void sim_doorbell(struct sim_nic *n, uint32_t uarn, unsigned int offset,
		  uint32_t number, uint32_t index)
{
	uint64_t value = index | (uint64_t)number << MYNIC_DB_NUMBER_SHIFT;

	nic_bar_write(n->nic, MYNIC_BAR_UAR,
		      (uint64_t)uarn * MYNIC_UAR_SIZE + offset, &value,
		      sizeof(value));
}
