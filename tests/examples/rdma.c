// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RDMA WRITE, then an RDMA READ of the same memory, and a request that waits
 * for it by FENCE
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "example.h"

#define THERE 4096
#define BACK 8192

int main(void)
{
	struct example e;
	struct ibv_qp *qp, *peer;
	struct ibv_sge from, to;
	struct ibv_send_wr write, read;
	struct ibv_send_wr *bad;

	example_open(&e);
	qp = example_create_qp(&e, IBV_QPT_RC, 0);
	peer = example_create_qp(&e, IBV_QPT_RC, 0);
	example_connect(&e, qp, peer->qp_num);
	example_connect(&e, peer, qp->qp_num);
	for (int i = 0; i < 3000; i++)
		e.memory[i] = 'a' + i % 26;

	from = (struct ibv_sge){ (uintptr_t)e.memory, 3000, e.mr->lkey };
	to = (struct ibv_sge){ (uintptr_t)e.memory + BACK, 3000, e.mr->lkey };
	read = (struct ibv_send_wr){
		.wr_id = 2,
		.sg_list = &to,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)e.memory + THERE, e.mr->rkey },
	};
	/* Requests of a QP are executed in order: the READ sees the WRITE. */
	write = (struct ibv_send_wr){
		.wr_id = 1,
		.next = &read,
		.sg_list = &from,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)e.memory + THERE, e.mr->rkey },
	};
	errno = ibv_post_send(qp, &write, &bad);
	must(!errno, "ibv_post_send()");
	must(example_wait(&e).byte_len == 3000, "reading");
	must(!memcmp(e.memory, e.memory + BACK, 3000), "reading back");

	/* The second WRITE sends the data of the READ, so it needs FENCE. */
	memset(e.memory + BACK, 0, 3000);
	memset(e.memory + THERE + 10000, 0, 3000);
	write.next = NULL;
	write.sg_list = &to;
	write.send_flags = IBV_SEND_FENCE | IBV_SEND_SIGNALED;
	write.wr.rdma.remote_addr += 10000;
	read.next = &write;
	errno = ibv_post_send(qp, &read, &bad);
	must(!errno, "ibv_post_send()");
	must(example_wait(&e).wr_id == 2, "reading first");
	must(example_wait(&e).wr_id == 1, "writing second");
	must(!memcmp(e.memory, e.memory + THERE + 10000, 3000), "the fence");
	printf("there and back: %.26s\n", e.memory + BACK);
	return 0;
}
