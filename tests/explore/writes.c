// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * writes careful|careless: writes a text to memory, a letter with each RDMA
 * WRITE, one after the other, and prints it. Without care, any completion counts
 * as a success, which scripts/explore has to find.
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

int main(int argc, char **argv)
{
	bool careful = argc == 2 && !strcmp(argv[1], "careful");
	struct ibv_qp *qp, *peer;
	struct example e;

	example_open(&e);
	qp = example_create_qp(&e, IBV_QPT_RC, 0);
	peer = example_create_qp(&e, IBV_QPT_RC, 0);
	example_connect(&e, qp, peer->qp_num);
	example_connect(&e, peer, qp->qp_num);
	memcpy(e.memory, text, sizeof(text));
	for (unsigned int i = 0; i < NUM; i++) {
		post(&e, qp, i);
		if (careful)
			example_wait(&e);
		else
			wait_without_care(&e);
	}
	printf("%s\n", e.memory + THERE);
	return 0;
}
