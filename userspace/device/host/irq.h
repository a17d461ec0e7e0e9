/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * MSI-X on our side of vfio-user: one eventfd for each vector. The vector table
 * and its masks are the client's.
 */
#ifndef MYNIC_HOST_IRQ_H
#define MYNIC_HOST_IRQ_H

#include <stdbool.h>
#include <stdint.h>

#include "helper.h"
#include "mynic_regs.h"
#include "signaller.h"

/**
 * struct irq_job - eventfds that the helper signals
 * @job: job of the helper
 * @irq: vectors that they belong to
 * @signaller: for the helper's thread
 * @fd: the eventfds
 * @num: number of @fd
 * @busy: the job has not finished
 */
struct irq_job {
	struct helper_job job;
	struct irq_vectors *irq;
	struct signaller signaller;
	int fd[MYNIC_MAX_VECTORS];
	unsigned int num;
	bool busy;
};

/**
 * struct irq_vectors - the vectors of a function
 * @helper: thread that closes eventfds, and signals slow ones
 * @signaller: for the thread of the NICs
 * @fd: eventfd of each vector, or -1
 * @pending: bits of vectors that were raised without an eventfd; also the PBA
 * @enabled: MSI-X Enable in configuration space
 * @job: vectors that the helper signals now
 * @waiting: bits of vectors that it has to signal next
 * @suspected_until: a signal has taken long. Until then, they are timed by the
 *	processor time of the thread, which may have been interrupted
 * @helped_until: a signal was slow. Until then, the helper signals all
 *
 * To enable another vector, QEMU removes all eventfds and sets them again.
 * Interrupts in between have to wait.
 *
 * The kernel wakes all who wait for an eventfd in the context of the one who
 * signals it. A client can have any number wait, and then lets the thread of
 * the NICs wait. Therefore, after a signal that was slow, all vectors of a NIC
 * are left to its helper. That time is so much longer that others lose little.
 */
struct irq_vectors {
	struct helper *helper;
	struct signaller signaller;
	int fd[MYNIC_MAX_VECTORS];
	uint32_t pending;
	bool enabled;
	struct irq_job job;
	uint32_t waiting;
	uint64_t suspected_until;
	uint64_t helped_until;
};

_Static_assert(MYNIC_MAX_VECTORS <= 32, "irq_vectors.pending is too small");

/* Returns 0 or -errno. */
int irq_init(struct irq_vectors *irq, struct helper *helper);

/* Signals a vector, or keeps it pending until it has an eventfd. */
void irq_raise(struct irq_vectors *irq, unsigned int vector);

/* Signals several vectors, or has the helper do what takes too long. */
void irq_raise_all(struct irq_vectors *irq, uint32_t vectors);

/**
 * irq_set_fd() - set the eventfd of a vector
 * @irq: vectors of the function
 * @vector: below MYNIC_MAX_VECTORS
 * @fd: an eventfd, of no other type, which @irq owns from now on; -1: none
 */
void irq_set_fd(struct irq_vectors *irq, unsigned int vector, int fd);

/* Raises pending vectors that have an eventfd now. */
void irq_raise_pending(struct irq_vectors *irq);

/* Without MSI-X Enable, interrupts are lost and not kept pending. */
void irq_set_enabled(struct irq_vectors *irq, bool enabled);

/* Closes all eventfds. Pending bits stay. */
void irq_release(struct irq_vectors *irq);

#endif /* MYNIC_HOST_IRQ_H */
