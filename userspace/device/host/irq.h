/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * MSI-X as the vfio-user client leaves it to us: one eventfd per vector. The
 * vector table and its masks are the client's.
 */
#ifndef MYNIC_HOST_IRQ_H
#define MYNIC_HOST_IRQ_H

#include <stdbool.h>
#include <stdint.h>

#include "mynic_regs.h"

struct helper;

/**
 * struct irq_vectors - the vectors of a function
 * @helper: closes eventfds
 * @fd: eventfd of each, or -1
 * @pending: raised while there was no eventfd, by bit; also the PBA
 * @enabled: MSI-X Enable in configuration space
 *
 * To enable one more vector QEMU takes all eventfds away and sets them again,
 * so one that is raised in between has to wait.
 */
struct irq_vectors {
	struct helper *helper;
	int fd[MYNIC_MAX_VECTORS];
	uint32_t pending;
	bool enabled;
};

_Static_assert(MYNIC_MAX_VECTORS <= 32, "irq_vectors.pending is too small");

void irq_init(struct irq_vectors *irq, struct helper *helper);

/** irq_raise() - signal a vector, now or when it has an eventfd again */
void irq_raise(struct irq_vectors *irq, unsigned int vector);

/**
 * irq_set_fd() - what signals a vector from now on
 * @irq: vectors of the function
 * @vector: below MYNIC_MAX_VECTORS
 * @fd: eventfd, and nothing else, owned by @irq from here on; -1 for none
 */
void irq_set_fd(struct irq_vectors *irq, unsigned int vector, int fd);

/** irq_set_enabled() - without MSI-X Enable interrupts are lost, not kept */
void irq_set_enabled(struct irq_vectors *irq, bool enabled);

/** irq_release() - close all eventfds; what is pending stays so */
void irq_release(struct irq_vectors *irq);

#endif /* MYNIC_HOST_IRQ_H */
