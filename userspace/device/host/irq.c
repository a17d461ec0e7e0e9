// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Interrupts: eventfds of MSI-X vectors, the pending bits, and which thread
 * signals the eventfds.
 */

#include <errno.h>

#include "clock.h"
#include "irq.h"

/* A signal that takes as long is slow, ns. It usually takes a microsecond. */
#define SLOW_NS 20000

/*
 * A slow signal has an effect for this many times its length. The next one is
 * then measured in processor time. If that is slow too, the helper takes over.
 */
#define HELPED_TIMES 1000

/* Time for signals of a client's request; the helper does the rest */
#define REQUEST_NS 50000

static uint64_t irq_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static void irq_job_work(struct helper_job *work)
{
	struct irq_job *job = (struct irq_job *)work;

	for (unsigned int i = 0; i < job->num; i++)
		signaller_signal(&job->signaller, job->fd[i]);
}

/* Gives the waiting vectors to the helper, unless it is busy with others */
static void irq_submit(struct irq_vectors *irq)
{
	struct irq_job *job = &irq->job;

	if (job->busy)
		return;
	job->num = 0;
	for (unsigned int i = 0; i < MYNIC_MAX_VECTORS; i++) {
		if (!(irq->waiting & 1U << i))
			continue;
		if (irq->fd[i] >= 0)
			job->fd[job->num++] = irq->fd[i];
		else
			irq->pending |= 1U << i;
	}
	irq->waiting = 0;
	if (!job->num)
		return;
	job->busy = true;
	/* The helper closes files only after the jobs submitted before */
	helper_submit(irq->helper, &job->job);
}

static void irq_job_done(struct helper_job *work)
{
	struct irq_job *job = (struct irq_job *)work;

	job->busy = false;
	irq_submit(job->irq);
}

int irq_init(struct irq_vectors *irq, struct helper *helper)
{
	int err;

	*irq = (struct irq_vectors){
		.helper = helper,
		.job = {
			.job = { .work = irq_job_work, .done = irq_job_done },
			.irq = irq,
		},
	};
	for (unsigned int i = 0; i < MYNIC_MAX_VECTORS; i++)
		irq->fd[i] = -1;
	err = signaller_init(&irq->signaller);
	return err ? err : signaller_init(&irq->job.signaller);
}

/* Signals an eventfd in this thread, and notes whether that was slow */
static void irq_signal_now(struct irq_vectors *irq, int fd, uint64_t now)
{
	bool suspected = now < irq->suspected_until;
	clockid_t clock = suspected ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
	uint64_t start = irq_clock(clock);
	uint64_t took;

	signaller_signal(&irq->signaller, fd);
	took = irq_clock(clock) - start;
	if (took < SLOW_NS)
		return;
	if (suspected)
		irq->helped_until = now + HELPED_TIMES * took;
	else
		irq->suspected_until = now + HELPED_TIMES * took;
}

static void irq_signal(struct irq_vectors *irq, unsigned int vector)
{
	uint64_t now = clock_ns();

	if (now >= irq->helped_until) {
		irq_signal_now(irq, irq->fd[vector], now);
		return;
	}
	irq->waiting |= 1U << vector;
	irq_submit(irq);
}

void irq_raise(struct irq_vectors *irq, unsigned int vector)
{
	if (!irq->enabled)
		return;
	if (irq->fd[vector] < 0)
		irq->pending |= 1U << vector;
	else
		irq_signal(irq, vector);
}

void irq_raise_all(struct irq_vectors *irq, uint32_t vectors)
{
	uint64_t end = clock_ns() + REQUEST_NS;

	while (vectors && clock_ns() < end) {
		irq_raise(irq, __builtin_ctz(vectors));
		vectors &= vectors - 1;
	}
	if (!irq->enabled)
		return;
	irq->waiting |= vectors;
	irq_submit(irq);
}

void irq_set_fd(struct irq_vectors *irq, unsigned int vector, int fd)
{
	if (irq->fd[vector] >= 0)
		helper_close(irq->helper, irq->fd[vector]);
	irq->fd[vector] = fd;
}

void irq_raise_pending(struct irq_vectors *irq)
{
	uint32_t vectors = 0;

	for (unsigned int i = 0; i < MYNIC_MAX_VECTORS; i++)
		if (irq->fd[i] >= 0)
			vectors |= irq->pending & 1U << i;
	irq->pending &= ~vectors;
	irq_raise_all(irq, vectors);
}

void irq_set_enabled(struct irq_vectors *irq, bool enabled)
{
	irq->enabled = enabled;
	if (enabled)
		return;
	irq->pending = 0;
	irq->waiting = 0;
}

void irq_release(struct irq_vectors *irq)
{
	for (unsigned int i = 0; i < MYNIC_MAX_VECTORS; i++)
		irq_set_fd(irq, i, -1);
}
