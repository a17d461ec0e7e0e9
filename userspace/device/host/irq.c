// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <fcntl.h>
#include <unistd.h>

#include "helper.h"
#include "irq.h"

void irq_init(struct irq_vectors *irq, struct helper *helper)
{
	*irq = (struct irq_vectors){ .helper = helper };
	for (unsigned int i = 0; i < MYNIC_MAX_VECTORS; i++)
		irq->fd[i] = -1;
}

static void signal_fd(int fd)
{
	static const uint64_t one = 1;

	/*
	 * A full counter is signalled already; what else can fail is the
	 * client's own loss.
	 */
	if (write(fd, &one, sizeof(one)) < 0)
		return;
}

void irq_raise(struct irq_vectors *irq, unsigned int vector)
{
	if (!irq->enabled)
		return;
	if (irq->fd[vector] < 0)
		irq->pending |= 1U << vector;
	else
		signal_fd(irq->fd[vector]);
}

void irq_set_fd(struct irq_vectors *irq, unsigned int vector, int fd)
{
	uint32_t bit = 1U << vector;

	if (irq->fd[vector] >= 0)
		helper_close(irq->helper, irq->fd[vector]);
	irq->fd[vector] = fd;
	if (fd < 0)
		return;
	/* A counter that is full must not stop who raises it. */
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	if (irq->pending & bit) {
		irq->pending &= ~bit;
		signal_fd(fd);
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
