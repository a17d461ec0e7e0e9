// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Interrupts: eventfds of MSI-X vectors, and the pending bits. */

#include "helper.h"
#include "irq.h"
#include "signaller.h"

void irq_init(struct irq_vectors *irq, struct helper *helper)
{
	*irq = (struct irq_vectors){ .helper = helper };
	for (unsigned int i = 0; i < MYNIC_MAX_VECTORS; i++)
		irq->fd[i] = -1;
}

void irq_raise(struct irq_vectors *irq, unsigned int vector)
{
	if (!irq->enabled)
		return;
	if (irq->fd[vector] < 0)
		irq->pending |= 1U << vector;
	else
		signaller_signal(irq->fd[vector]);
}

void irq_set_fd(struct irq_vectors *irq, unsigned int vector, int fd)
{
	uint32_t bit = 1U << vector;

	if (irq->fd[vector] >= 0)
		helper_close(irq->helper, irq->fd[vector]);
	irq->fd[vector] = fd;
	if (fd < 0)
		return;
	if (irq->pending & bit) {
		irq->pending &= ~bit;
		signaller_signal(fd);
	}
}

void irq_set_enabled(struct irq_vectors *irq, bool enabled)
{
	irq->enabled = enabled;
	if (!enabled)
		irq->pending = 0;
}

void irq_release(struct irq_vectors *irq)
{
	for (unsigned int i = 0; i < MYNIC_MAX_VECTORS; i++)
		irq_set_fd(irq, i, -1);
}
