// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * writes careful|careless|sleeping: writes a text to memory, a letter with each
 * RDMA WRITE, one after the other, and prints it. Without care, any completion
 * counts as a success, which scripts/explore has to find. The other two differ in
 * how they wait: one polls, and one sleeps until there is an event.
 */
#include <errno.h>
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

int main(int argc, char **argv)
{
	bool careless = argc == 2 && !strcmp(argv[1], "careless");
	bool sleeping = argc == 2 && !strcmp(argv[1], "sleeping");
	struct ibv_qp *qp, *peer;
	struct example e;

	example_open(&e);
	if (sleeping)
		add_channel(&e);
	qp = example_create_qp(&e, IBV_QPT_RC, 0);
	peer = example_create_qp(&e, IBV_QPT_RC, 0);
	example_connect(&e, qp, peer->qp_num);
	example_connect(&e, peer, qp->qp_num);
	memcpy(e.memory, text, sizeof(text));
	for (unsigned int i = 0; i < NUM; i++) {
		if (sleeping)
			arm(&e);
		post(&e, qp, i);
		if (sleeping)
			sleep_and_wait(&e);
		else if (careless)
			wait_without_care(&e);
		else
			example_wait(&e);
	}
	printf("%s\n", e.memory + THERE);
	return 0;
}
