// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A record in the peer's memory, and a mark that is set when it is there */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "example.h"

#define RECORD 4096
#define MARK 8192
#define LEN 3000

int main(void)
{
	struct example e;
	struct ibv_qp *qp, *peer;
	struct ibv_qp_attr attr = {
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_FLUSH_GLOBAL,
	};
	const uint64_t number = 4711;
	volatile uint64_t *mark;
	struct ibv_qp_ex *qpx;
	struct ibv_mr *mr;
	uintptr_t there;

	example_open(&e);
	mr = ibv_reg_mr(e.pd, e.memory, MEMORY_SIZE,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				IBV_ACCESS_FLUSH_GLOBAL);
	must(!!mr, "ibv_reg_mr()");
	qp = example_create_qp(&e, IBV_QPT_RC,
			       IBV_QP_EX_WITH_RDMA_WRITE |
				       IBV_QP_EX_WITH_FLUSH |
				       IBV_QP_EX_WITH_ATOMIC_WRITE);
	peer = example_create_qp(&e, IBV_QPT_RC, 0);
	example_connect(&e, qp, peer->qp_num);
	example_connect(&e, peer, qp->qp_num);
	errno = ibv_modify_qp(peer, &attr, IBV_QP_ACCESS_FLAGS);
	must(!errno, "ibv_modify_qp()");
	for (int i = 0; i < LEN; i++)
		e.memory[i] = 'a' + i % 26;
	mark = (uint64_t *)(e.memory + MARK);
	there = (uintptr_t)e.memory;

	/* The mark follows the record, when all can see it, and changes at once */
	qpx = ibv_qp_to_qp_ex(qp);
	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = 0;
	ibv_wr_rdma_write(qpx, mr->rkey, there + RECORD);
	ibv_wr_set_sge(qpx, mr->lkey, (uintptr_t)e.memory, LEN);
	qpx->wr_id = 2;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_flush(qpx, mr->rkey, there + RECORD, LEN, IBV_FLUSH_GLOBAL,
		     IBV_FLUSH_RANGE);
	qpx->wr_id = 3;
	ibv_wr_atomic_write(qpx, mr->rkey, there + MARK, &number);
	errno = ibv_wr_complete(qpx);
	must(!errno, "ibv_wr_complete()");

	must(example_wait(&e).opcode == IBV_WC_FLUSH, "flushing");
	must(!memcmp(e.memory, e.memory + RECORD, LEN), "what was flushed");
	must(example_wait(&e).opcode == IBV_WC_ATOMIC_WRITE, "marking");
	must(*mark == number, "the mark");
	printf("record %" PRIu64 ": %.26s\n", *mark, e.memory + RECORD);
	return 0;
}
