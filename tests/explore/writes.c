// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * writes careful|careless|sleeping|watching: writes a text to memory, a letter
 * with each RDMA WRITE, one after the other, and prints it. Without care, any
 * completion counts as a success, which scripts/explore has to find. The others
 * differ in how they wait. One polls, one sleeps until there is an event, and one
 * polls and looks whether the NIC has failed.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "example.h"

#define THERE 4096

static const char text[] = "all of it";

#define NUM (sizeof(text) - 1)

static void post(struct example *e, struct ibv_qp *qp, unsigned int i)
{
	struct ibv_sge sge = { (uintptr_t)e->memory + i, 1, e->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = i,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)e->memory + THERE + i, e->mr->rkey },
	};
	struct ibv_send_wr *bad;

	errno = ibv_post_send(qp, &wr, &bad);
	must(!errno, "ibv_post_send()");
}

static void wait_with_care(struct example *e)
{
	example_wait(e);
}

static void wait_without_care(struct example *e)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(e->cq, 1, &wc))
		;
}

static void add_channel(struct example *e)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(e->ctx);

	must(!!channel, "ibv_create_comp_channel()");
	e->cq = ibv_create_cq(e->ctx, NUM, NULL, channel, 0);
	must(!!e->cq, "ibv_create_cq()");
}

static void arm(struct example *e)
{
	errno = ibv_req_notify_cq(e->cq, 0);
	must(!errno, "ibv_req_notify_cq()");
}

static void sleep_and_wait(struct example *e)
{
	struct ibv_cq *cq;
	void *context;

	must(!ibv_get_cq_event(e->cq->channel, &cq, &context),
	     "ibv_get_cq_event()");
	ibv_ack_cq_events(cq, 1);
	example_wait(e);
}

/* A NIC that has failed makes no completions, but an event. */
static void check_events(struct example *e)
{
	struct pollfd ready = { .fd = e->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	if (poll(&ready, 1, 0) <= 0)
		return;
	must(!ibv_get_async_event(e->ctx, &event), "ibv_get_async_event()");
	must(event.event_type != IBV_EVENT_DEVICE_FATAL, "the device");
	ibv_ack_async_event(&event);
}

static void watch_and_wait(struct example *e)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(e->cq, 1, &wc)))
		check_events(e);
	must(n == 1 && wc.status == IBV_WC_SUCCESS, "a request");
}

/**
 * struct mode - how the program waits
 * @name: argument of the program
 * @prepare: called before the queue pairs are made; may be NULL
 * @arm: called before a request is posted; may be NULL
 * @wait: waits for one completion
 */
struct mode {
	const char *name;
	void (*prepare)(struct example *e);
	void (*arm)(struct example *e);
	void (*wait)(struct example *e);
};

static const struct mode modes[] = {
	{ "careful", NULL, NULL, wait_with_care },
	{ "careless", NULL, NULL, wait_without_care },
	{ "sleeping", add_channel, arm, sleep_and_wait },
	{ "watching", NULL, NULL, watch_and_wait },
	{ NULL, NULL, NULL, NULL },
};

static const struct mode *find_mode(int argc, char **argv)
{
	const struct mode *mode = modes;

	errno = EINVAL;
	must(argc == 2, "the mode");
	while (mode->name && strcmp(argv[1], mode->name))
		mode++;
	must(!!mode->name, "the mode");
	return mode;
}

int main(int argc, char **argv)
{
	const struct mode *mode = find_mode(argc, argv);
	struct ibv_qp *qp, *peer;
	struct example e;

	example_open(&e);
	if (mode->prepare)
		mode->prepare(&e);
	qp = example_create_qp(&e, IBV_QPT_RC, 0);
	peer = example_create_qp(&e, IBV_QPT_RC, 0);
	example_connect(&e, qp, peer->qp_num);
	example_connect(&e, peer, qp->qp_num);
	memcpy(e.memory, text, sizeof(text));
	for (unsigned int i = 0; i < NUM; i++) {
		if (mode->arm)
			mode->arm(&e);
		post(&e, qp, i);
		mode->wait(&e);
	}
	printf("%s\n", e.memory + THERE);
	return 0;
}
