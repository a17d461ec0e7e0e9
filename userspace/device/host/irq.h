/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * MSI-X on our side of vfio-user: one eventfd for each vector. The vector table
 * and its masks are the client's.
 */
#ifndef MYNIC_HOST_IRQ_H
#define MYNIC_HOST_IRQ_H

#include <stdbool.h>
#include <stdint.h>

#include "mynic_regs.h"

struct helper;

/**
 * struct irq_vectors - the vectors of a function
 * @helper: thread that closes eventfds
 * @fd: eventfd of each vector, or -1
 * @pending: bits of vectors that were raised without an eventfd; also the PBA
 * @enabled: MSI-X Enable in configuration space
 *
 * To enable another vector, QEMU removes all eventfds and sets them again.
 * Interrupts in between have to wait.
 */
struct irq_vectors {
	struct helper *helper;
	int fd[MYNIC_MAX_VECTORS];
	uint32_t pending;
	bool enabled;
};

_Static_assert(MYNIC_MAX_VECTORS <= 32, "irq_vectors.pending is too small");

void irq_init(struct irq_vectors *irq, struct helper *helper);

/* Signals a vector, or keeps it pending until it has an eventfd. */
void irq_raise(struct irq_vectors *irq, unsigned int vector);

/**
 * irq_set_fd() - set the eventfd of a vector
 * @irq: vectors of the function
 * @vector: below MYNIC_MAX_VECTORS
 * @fd: an eventfd, of no other type, which @irq owns from now on; -1: none
 */
void irq_set_fd(struct irq_vectors *irq, unsigned int vector, int fd);

/* Without MSI-X Enable, interrupts are lost and not kept pending. */
void irq_set_enabled(struct irq_vectors *irq, bool enabled);

/* Closes all eventfds. Pending bits stay. */
void irq_release(struct irq_vectors *irq);

#endif /* MYNIC_HOST_IRQ_H */
