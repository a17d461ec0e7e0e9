/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The NIC core as its surroundings see it. The core knows no sockets, no
 * vfio-user and no clock: a host drives its registers and gives it memory and
 * interrupts, a wire carries its packets, time comes with the calls. All
 * functions of one NIC are called from one thread and none is reentrant, but
 * for nic_receive(), which may be called from inside another NIC's transmit().
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

/** How long a nic_run() takes, ns; one more unit of work may come on top */
#define NIC_TURN_NS 200000

/** What a NIC may take of the process's memory if it is not told, bytes */
#define NIC_MEMORY (256ull << 20)

/**
 * struct nic_ops - what a NIC asks of its surroundings
 * @raise_irq: signal MSI-X vector @vector; must not call the NIC
 * @transmit: put a packet on the wire. The packet is only valid during the
 *	call. A wire that loops it back to the same NIC has to queue it.
 * @direct: whether transmit() of a unicast packet to @dmac hands it to another
 *	NIC, in the call, and nobody else; such a packet may be a train
 * @now: nanoseconds, monotonic
 * @may_have_mac: whether the NIC may take a MAC other than its permanent one:
 *	it is not somebody else's. NULL: any
 * @persist: make guest memory, at pointers that were given with nic_dma_map(),
 *	as lasting as what it is kept in. 0: it is; -EINPROGRESS: it is going to
 *	be, and nic_persisted() is called, before which this is not called again;
 *	else it cannot be
 * @failed: the NIC has failed, and does nothing until it is reset; must not
 *	call the NIC, but for nic_journal(). NULL: nobody asks
 */
struct nic_ops {
	void (*raise_irq)(void *ctx, unsigned int vector);
	void (*transmit)(void *ctx, const struct packet *pkt);
	bool (*direct)(void *ctx, const uint8_t dmac[6]);
	bool (*may_have_mac)(void *ctx, const uint8_t mac[6]);
	uint64_t (*now)(void *ctx);
	int (*persist)(void *ctx, const struct iovec *iov, unsigned int num);
	void (*failed)(void *ctx);
};

/**
 * struct nic_config - what makes one NIC differ from another
 * @mac: permanent MAC
 * @memory: bytes that objects and their work may take; 0: NIC_MEMORY
 * @seed: start of the NIC's own random numbers (none where chance would do
 *	harm: the same seed and the same calls give the same run)
 * @ops: see &struct nic_ops
 * @ctx: passed to @ops
 */
struct nic_config {
	uint8_t mac[6];
	uint64_t memory;
	uint64_t seed;
	const struct nic_ops *ops;
	void *ctx;
};

/** nic_create() - a NIC after power-on; NULL if there is no memory */
struct nic *nic_create(const struct nic_config *config);
void nic_destroy(struct nic *nic);

/**
 * nic_reset() - FLR or system reset: all state but the maps is lost
 * @nic: the NIC
 *
 * Where there is much of it, nic_run() goes on with that. No guest memory is
 * touched any more.
 */
void nic_reset(struct nic *nic);

/** nic_set_bus_master() - PCI command register: without it there is no DMA */
void nic_set_bus_master(struct nic *nic, bool on);

/** nic_set_link() - the wire came up or went down */
void nic_set_link(struct nic *nic, bool up);

/**
 * nic_bar_read() - load from BAR0 or BAR2 by the host
 * @nic: the NIC
 * @bar: MYNIC_BAR_REGS or MYNIC_BAR_UAR
 * @offset: byte offset in the BAR; any value, any alignment
 * @data: @len bytes, little-endian
 * @len: 1 to 8
 */
void nic_bar_read(struct nic *nic, int bar, uint64_t offset, void *data,
		  size_t len);

/**
 * nic_bar_write() - store to BAR0 or BAR2 by the host
 * @nic: the NIC
 * @bar: MYNIC_BAR_REGS or MYNIC_BAR_UAR
 * @offset: byte offset in the BAR; any value, any alignment
 * @data: @len bytes, little-endian
 * @len: 1 to 8
 *
 * A write does its work at once only if that is short; otherwise it leaves it
 * to nic_run().
 */
void nic_bar_write(struct nic *nic, int bar, uint64_t offset, const void *data,
		   size_t len);

/**
 * nic_dma_map() - give the NIC access to guest memory
 * @nic: the NIC
 * @iova: DMA address of the first byte
 * @len: bytes
 * @ptr: where this process has it
 * @writable: whether the NIC may write there
 *
 * Return: 0, -EEXIST if the range overlaps a mapped one, -ENOMEM, or -EINVAL
 * for an empty or wrapping range.
 */
int nic_dma_map(struct nic *nic, uint64_t iova, uint64_t len, void *ptr,
		bool writable);

/**
 * nic_dma_unmap() - take back all maps inside a range
 * @nic: the NIC
 * @iova: DMA address of the range
 * @len: bytes
 *
 * The NIC holds no pointer into them when this returns.
 *
 * Return: 0, or -EINVAL if the range cuts a map in two.
 */
int nic_dma_unmap(struct nic *nic, uint64_t iova, uint64_t len);

/**
 * nic_run() - do a bounded piece of the work that is due
 * @nic: the NIC
 *
 * It ends by the clock, NIC_TURN_NS after it has begun, whatever it does. What
 * it is just doing then, one unit of work, is finished: a packet or a train, an
 * admin command, or a part of a command that is long. What it gives to other
 * NICs inside transmit() counts as its own work.
 *
 * Return: true if there is more to do now.
 */
bool nic_run(struct nic *nic);

/**
 * nic_poll() - look for work that was not announced by a doorbell
 * @nic: the NIC
 *
 * Reads the doorbell records of recently active queues.
 *
 * Return: true if there was any; nic_run() will do it.
 */
bool nic_poll(struct nic *nic);

/**
 * nic_stop_polling() - nic_poll() will not be called for a while
 * @nic: the NIC
 *
 * From now on all work is announced by a doorbell.
 *
 * Return: true if there was any until now; nic_run() will do it.
 */
bool nic_stop_polling(struct nic *nic);

/** nic_next_event() - when nic_run() next has work (now()'s scale), or ~0 */
uint64_t nic_next_event(const struct nic *nic);

/**
 * nic_receive() - a packet came in from the wire; consumed in the call
 * @nic: the NIC
 * @pkt: the packet
 *
 * A packet that many are to get is copied, and given to them by nic_run().
 *
 * Return: units of work, of a microsecond or so, that it took beyond what each
 * packet takes.
 */
uint32_t nic_receive(struct nic *nic, const struct packet *pkt);

/** nic_spend() - inside transmit(): others took @units for what the NIC sends */
void nic_spend(struct nic *nic, uint32_t units);

/**
 * nic_persisted() - what &nic_ops.persist has begun is over
 * @nic: the NIC
 * @err: 0: the memory is as lasting as what it is kept in
 */
void nic_persisted(struct nic *nic, int err);

/** nic_overrun() - a packet for the NIC was lost for want of buffers */
void nic_overrun(struct nic *nic);

/** nic_memory() - bytes that objects and their work take now */
uint64_t nic_memory(const struct nic *nic);

/** nic_stat() - a counter; @stat is an enum mynic_stat */
uint64_t nic_stat(const struct nic *nic, unsigned int stat);

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

/** nic_journal() - the journal; see base/journal.h */
const struct journal *nic_journal(const struct nic *nic);

/** nic_mac() - the unicast MAC in force, for a switch and for messages */
const uint8_t *nic_mac(const struct nic *nic);

/** nic_permanent_mac() - the MAC that it has after each reset */
const uint8_t *nic_permanent_mac(const struct nic *nic);

#endif /* MYNIC_NIC_H */
