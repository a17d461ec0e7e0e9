/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A world for NIC cores: virtual time, memory for each NIC, a log of
 * interrupts, and a wire. The wire can lose, repeat and reorder packets by rule
 * or by seed. A packet crosses it unchanged, or converted to the bytes of a
 * frame and back.
 */
#ifndef MYNIC_HARNESS_SIM_H
#define MYNIC_HARNESS_SIM_H

#include <mynic_regs.h>

#include "core/nic.h"
#include "harness_tap.h"

/* The tests store little-endian fields as plain integers */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "little-endian");

#define SIM_MAX_NICS 4
#define SIM_MEM_SIZE (512ull << 20)

#define USEC 1000ull
#define MSEC (1000 * USEC)
#define SEC (1000 * MSEC)

struct faults;
struct sim;

/*
 * struct sim_nic - a NIC and its machine
 * @mem: memory of the machine
 * @iova: DMA address of @mem
 * @used: bytes of @mem that have been allocated
 * @irqs: interrupts by vector
 * @sent: transmitted packets, before the faults of the wire
 * @trains: trains among them; each counts once here
 * @room: packets that still have room on their way to it; set by sim_set_room()
 * @receiving: inside nic_receive()
 * @units: work for received packets, see nic_receive()
 * @faults: wire faults of its cable, or NULL
 * @persisted: bytes that it has asked to make persistent
 * @persist_err: result of that
 * @persist_later: the result comes with sim_persisted()
 * @persisting: a result is outstanding
 */
struct sim_nic {
	struct sim *sim;
	struct nic *nic;
	unsigned int index;
	uint8_t *mem;
	uint64_t iova;
	size_t used;
	uint64_t irqs[MYNIC_MAX_VECTORS];
	uint64_t sent;
	uint64_t trains;
	unsigned int room;
	bool receiving;
	uint64_t units;
	struct faults *faults;
	uint64_t persisted;
	int persist_err;
	bool persist_later;
	bool persisting;
};

enum sim_verdict { SIM_PASS, SIM_DROP, SIM_DUPLICATE, SIM_DELAY };

struct sim_packet;

/*
 * struct sim - the world
 * @now: virtual time, ns
 * @tick: time that passes between two reads of the clock by a NIC, ns
 * @direct: packets without faults are delivered inside transmit(), as by a
 * switch in the same process. Then NICs may send trains
 * @frames: packets are converted to the bytes of their frames and back
 * @trace: with @frames: hash of the times and bytes of all sent packets
 * @filter: called for each sent packet, which it may change. NULL: SIM_PASS
 * @delay: time for which SIM_DELAY holds a packet, ns
 * @drop: random loss, permille
 * @duplicate: random repetition, permille
 * @reorder: random delay of up to @delay, permille
 * @random: state of sim_random()
 */
struct sim {
	uint64_t now;
	uint64_t tick;
	unsigned int num_nics;
	struct sim_nic nics[SIM_MAX_NICS];
	bool direct;
	bool frames;
	uint64_t trace;
	enum sim_verdict (*filter)(struct sim *sim, struct sim_nic *from,
				   struct packet *pkt);
	void *filter_arg;
	uint64_t delay;
	unsigned int drop, duplicate, reorder;
	uint64_t random;
	struct sim_packet *queue;
};

/*
 * sim_new() - make a world with @nics NICs on one wire, until the end of the
 * test
 */
struct sim *sim_new(unsigned int nics);

/*
 * sim_new_small() - sim_new() with NICs whose objects may take @memory bytes
 * each
 */
struct sim *sim_new_small(unsigned int nics, uint64_t memory);

/** sim_free() - free a world before the end of the test */
void sim_free(struct sim *sim);

/** sim_drop_all() - a &sim.filter: no packet arrives */
enum sim_verdict sim_drop_all(struct sim *sim, struct sim_nic *from,
			      struct packet *pkt);

/** sim_random() - a random number below @below */
uint64_t sim_random(struct sim *sim, uint64_t below);

/*
 * sim_fault() - add a fault to a NIC's cable
 * @rule: rule as in Documentation/faults.rst, without the port
 * @seed: seed of the rule's random numbers
 */
void sim_fault(struct sim_nic *n, const char *rule, uint64_t seed);

/** sim_inject() - deliver a packet that no NIC has sent */
void sim_inject(struct sim_nic *to, const struct packet *pkt);

/** sim_settle() - do all work that is due, while time stands still */
void sim_settle(struct sim *sim);

/*
 * sim_step() - do all work that is due, then advance the time to the next event
 *
 * Return: false if there is no next event before @until.
 */
bool sim_step(struct sim *sim, uint64_t until);

/** sim_run() - let @ns of time pass */
void sim_run(struct sim *sim, uint64_t ns);

/*
 * sim_alloc() - allocate zeroed memory of the machine; @align is a power of two
 */
void *sim_alloc(struct sim_nic *n, size_t size, size_t align);

/** sim_iova() - DMA address of memory from sim_alloc() */
uint64_t sim_iova(const struct sim_nic *n, const void *ptr);

/*
 * sim_map(), sim_unmap() - map or unmap all memory of the machine for the NIC
 */
void sim_map(struct sim_nic *n);
void sim_unmap(struct sim_nic *n);

uint32_t sim_read32(struct sim_nic *n, unsigned int reg);
void sim_write32(struct sim_nic *n, unsigned int reg, uint32_t value);

/** sim_doorbell() - store 8 bytes to a UAR page */
void sim_doorbell(struct sim_nic *n, uint32_t uarn, unsigned int offset,
		  uint32_t number, uint32_t index);

/* Let time pass until @cond holds, or fail after @ns */
#define SIM_WAIT_FOR(world, cond, ns)                                 \
	do {                                                          \
		struct sim *world_ = (world);                         \
		uint64_t until_ = world_->now + (ns);                 \
		sim_settle(world_);                                   \
		while (!(cond))                                       \
			if (!sim_step(world_, until_) && !(cond))     \
				FAIL("waited in vain for %s", #cond); \
	} while (0)

#define SIM_WAIT(world, cond) SIM_WAIT_FOR(world, cond, 1000 * SEC)

/* Makes room for @num packets that go to a NIC. */
void sim_set_room(struct sim_nic *n, unsigned int num);

#define SIM_MUCH_ROOM (~0u)

/*
 * sim_persisted() - report the outstanding result of making memory persistent
 */
void sim_persisted(struct sim_nic *n);

#endif /* MYNIC_HARNESS_SIM_H */
