/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The interface of the core to its surroundings. The core has no sockets, no
 * vfio-user and no clock. A host accesses its registers and gives it memory and
 * interrupts. A wire carries its packets, and time is passed to it.
 *
 * All functions of one NIC are called from one thread. None is reentrant except
 * nic_receive(), which may be called inside another NIC's transmit().
 */
#ifndef MYNIC_NIC_H
#define MYNIC_NIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "packet/packet.h"

struct journal;
struct nic;
struct qp_info;

/* Time limit of a nic_run() in ns; it may be exceeded by one unit of work */
#define NIC_TURN_NS 200000

/* Ways on which packets may have to wait for room; a bit map has them all */
#define NIC_WAYS 64

/* Default limit of a NIC's memory in this process, in bytes */
#define NIC_MEMORY (256ull << 20)

/**
 * struct nic_ops - functions that the surroundings of a NIC provide
 * @raise_irq: signal MSI-X vector @vector; must not call the NIC
 * @transmit: send a packet, which is valid only during the call. A wire that
 *	loops it back to the same NIC has to queue it
 * @direct: whether transmit() of a unicast packet to @dmac passes it to exactly
 *	one other NIC, inside the call. Such a packet may be a train
 * @full_way: the way, 0 to NIC_WAYS - 1, that a packet to @dmac would go if it
 *	had room there. nic_resume() follows. Negative: it has. NULL: it always
 *	has
 * @may_have_mac: whether the NIC may take a MAC other than its permanent one,
 *	because nobody else has it. NULL: it may take any
 * @now: monotonic time in ns
 * @persist: make guest memory persistent, at pointers from nic_dma_map(). 0: it
 *	is; -EINPROGRESS: nic_persisted() will report the result, and must do so
 *	before the next call; any other value: it is not possible
 * @failed: the NIC has failed, and does nothing until it is reset; must not
 *	call the NIC, but for nic_journal(). NULL: nobody asks
 */
struct nic_ops {
	void (*raise_irq)(void *ctx, unsigned int vector);
	void (*transmit)(void *ctx, const struct packet *pkt);
	bool (*direct)(void *ctx, const uint8_t dmac[6]);
	int (*full_way)(void *ctx, const uint8_t dmac[6]);
	bool (*may_have_mac)(void *ctx, const uint8_t mac[6]);
	uint64_t (*now)(void *ctx);
	int (*persist)(void *ctx, const struct iovec *iov, unsigned int num);
	void (*failed)(void *ctx);
};

/**
 * struct nic_config - parameters of a NIC
 * @mac: permanent MAC
 * @memory: limit of its memory in bytes; 0: NIC_MEMORY
 * @seed: seed of its random numbers. Memory keys come from it, and the order of
 *	hash tables, so nobody else may know or guess it. The same seed and the
 *	same calls give the same run
 * @ops: see &struct nic_ops
 * @ctx: argument of all @ops
 */
struct nic_config {
	uint8_t mac[6];
	uint64_t memory;
	uint64_t seed;
	const struct nic_ops *ops;
	void *ctx;
};

/* Makes a NIC in the state after power-on. Returns NULL without memory. */
struct nic *nic_create(const struct nic_config *config);
void nic_destroy(struct nic *nic);

/**
 * nic_reset() - FLR or system reset; all state except for DMA maps is lost
 * @nic: the NIC
 *
 * nic_run() continues if there is much to free. Guest memory is not accessed
 * any more.
 */
void nic_reset(struct nic *nic);

/* PCI command register: the NIC has no DMA unless it is a bus master. */
void nic_set_bus_master(struct nic *nic, bool on);

/* Tells the NIC that its link has come up or gone down. */
void nic_set_link(struct nic *nic, bool up);

/* Whether the NIC takes packets: it works, and its port is open. */
bool nic_can_receive(const struct nic *nic);

/* Tells the NIC that a way has room, which it has found full. */
void nic_resume(struct nic *nic, unsigned int way);

/**
 * nic_bar_read() - handle a load of the host from BAR0 or BAR2
 * @nic: the NIC
 * @bar: MYNIC_BAR_REGS or MYNIC_BAR_UAR
 * @offset: byte offset in the BAR; any value, any alignment
 * @data: @len bytes, little-endian
 * @len: 1 to 8
 */
void nic_bar_read(struct nic *nic, int bar, uint64_t offset, void *data,
		  size_t len);

/**
 * nic_bar_write() - handle a store of the host to BAR0 or BAR2
 * @nic: the NIC
 * @bar: MYNIC_BAR_REGS or MYNIC_BAR_UAR
 * @offset: byte offset in the BAR; any value, any alignment
 * @data: @len bytes, little-endian
 * @len: 1 to 8
 *
 * Short work is done inside the call. nic_run() does the rest.
 */
void nic_bar_write(struct nic *nic, int bar, uint64_t offset, const void *data,
		   size_t len);

/**
 * nic_dma_map() - give the NIC access to guest memory
 * @nic: the NIC
 * @iova: DMA address of the first byte
 * @len: bytes
 * @ptr: the first byte in this process
 * @writable: the NIC may write to it
 *
 * Return: 0; -EEXIST: the range overlaps another map; -EINVAL: the range is
 * empty or wraps; -ENOMEM.
 */
int nic_dma_map(struct nic *nic, uint64_t iova, uint64_t len, void *ptr,
		bool writable);

/**
 * nic_dma_unmap() - remove all maps inside a range
 * @nic: the NIC
 * @iova: DMA address of the range
 * @len: bytes
 *
 * Afterwards the NIC has no pointers into them.
 *
 * Return: 0; -EINVAL: the range has only a part of some map.
 */
int nic_dma_unmap(struct nic *nic, uint64_t iova, uint64_t len);

/**
 * nic_run() - do a limited amount of the work that is due
 * @nic: the NIC
 *
 * It ends NIC_TURN_NS after it has begun, whatever the work is. The current
 * unit of work is finished: a packet or a train, an admin command, or a part of
 * a long command. The work of other NICs inside transmit() counts as its own.
 *
 * Return: true if there is more to do now.
 */
bool nic_run(struct nic *nic);

/**
 * nic_watch() - look for work that no doorbell has announced
 * @nic: the NIC
 *
 * It reads the doorbell records of queues that were active recently.
 *
 * Return: true if there is work for nic_run().
 */
bool nic_watch(struct nic *nic);

/**
 * nic_stop_watching() - prepare for a time without calls of nic_watch()
 * @nic: the NIC
 *
 * Afterwards, doorbells announce all work.
 *
 * Return: true if there is work for nic_run() already.
 */
bool nic_stop_watching(struct nic *nic);

/* When nic_run() next has work, in ns of now(); 0: at once; ~0: never. */
uint64_t nic_next_event(const struct nic *nic);

/**
 * nic_receive() - receive a packet from the wire
 * @nic: the NIC
 * @pkt: the packet, valid only during the call
 *
 * A packet for many receivers is copied, and nic_run() delivers it.
 *
 * Return: units of work, of about a microsecond each, beyond those that each
 * packet takes.
 */
uint32_t nic_receive(struct nic *nic, const struct packet *pkt);

/* Inside transmit(): charges @units that receivers have spent. */
void nic_spend(struct nic *nic, uint32_t units);

/**
 * nic_persisted() - report the result of &nic_ops.persist
 * @nic: the NIC
 * @err: 0 if the memory is persistent
 */
void nic_persisted(struct nic *nic, int err);

/* Counts a packet for the NIC that was lost because of missing buffers. */
void nic_overrun(struct nic *nic);

/* Bytes that objects and their work occupy. */
uint64_t nic_memory(const struct nic *nic);

/* Value of a counter; @stat is an enum mynic_stat. */
uint64_t nic_stat(const struct nic *nic, unsigned int stat);

/**
 * nic_next_qp() - look at a queue pair
 * @nic: the NIC
 * @number: in: where to start; out: QPN of the next QP from there on
 * @info: out: its state
 *
 * Return: false: there is none.
 */
bool nic_next_qp(const struct nic *nic, uint32_t *number, struct qp_info *info);

/**
 * nic_keep_journal() - begin an empty journal, or have none
 * @nic: the NIC
 * @on: begin one
 *
 * It outlives resets.
 *
 * Return: false: there is no memory for it.
 */
bool nic_keep_journal(struct nic *nic, bool on);

/* The journal, which must be on, has doorbells, packets and completions too. */
void nic_journal_traffic(struct nic *nic);

/* The journal; see base/journal.h. */
const struct journal *nic_journal(const struct nic *nic);

/* Current unicast MAC, for a switch and for log messages. */
const uint8_t *nic_mac(const struct nic *nic);

/* MAC after each reset. */
const uint8_t *nic_permanent_mac(const struct nic *nic);

#endif /* MYNIC_NIC_H */
