// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* FETCH & ADD and COMPARE & SWAP on a variable of the peer */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "example.h"

#define OLD 8

static uint64_t run(struct example *e, struct ibv_qp *qp,
		    enum ibv_wr_opcode opcode, uint64_t compare_add,
		    uint64_t swap)
{
	uint64_t *old = (uint64_t *)(e->memory + OLD);
	struct ibv_sge sge = { (uintptr_t)old, sizeof(*old), e->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { .remote_addr = (uintptr_t)e->memory,
			       .compare_add = compare_add,
			       .swap = swap,
			       .rkey = e->mr->rkey },
	};
	struct ibv_send_wr *bad;

	errno = ibv_post_send(qp, &wr, &bad);
	must(!errno, "ibv_post_send()");
	example_wait(e);
	return *old;
}

int main(void)
{
	struct example e;
	struct ibv_qp *qp, *peer;
	volatile uint64_t *variable;
	uint64_t old;

	example_open(&e);
	qp = example_create_qp(&e, IBV_QPT_RC, 0);
	peer = example_create_qp(&e, IBV_QPT_RC, 0);
	example_connect(&e, qp, peer->qp_num);
	example_connect(&e, peer, qp->qp_num);

	variable = (uint64_t *)e.memory;
	*variable = 100;
	old = run(&e, qp, IBV_WR_ATOMIC_FETCH_AND_ADD, 11, 0);
	must(old == 100 && *variable == 111, "adding");
	old = run(&e, qp, IBV_WR_ATOMIC_CMP_AND_SWP, 5, 6);
	must(old == 111 && *variable == 111, "swapping what is not equal");
	old = run(&e, qp, IBV_WR_ATOMIC_CMP_AND_SWP, 111, 42);
	must(old == 111 && *variable == 42, "swapping what is equal");
	printf("the variable is now %" PRIu64 "\n", *variable);
	return 0;
}
