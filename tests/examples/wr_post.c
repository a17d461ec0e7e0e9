// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ibv_wr_post(3): two RDMA WRITEs in one batch, the second with immediate data */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "example.h"

#define TO 4096

int main(void)
{
	struct example e;
	struct ibv_qp *qp, *peer;
	struct ibv_qp_ex *qpx;
	struct ibv_wc wc;

	example_open(&e);
	qp = example_create_qp(&e, IBV_QPT_RC,
			       IBV_QP_EX_WITH_RDMA_WRITE |
				       IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM);
	peer = example_create_qp(&e, IBV_QPT_RC, 0);
	example_connect(&e, qp, peer->qp_num);
	example_connect(&e, peer, qp->qp_num);
	example_post_recv(&e, peer, 3, 0, 0);
	strcpy(e.memory, "first, second");

	qpx = ibv_qp_to_qp_ex(qp);
	ibv_wr_start(qpx);

	qpx->wr_id = 1;
	qpx->wr_flags = 0;
	ibv_wr_rdma_write(qpx, e.mr->rkey, (uintptr_t)e.memory + TO);
	ibv_wr_set_sge(qpx, e.mr->lkey, (uintptr_t)e.memory, 7);

	qpx->wr_id = 2;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write_imm(qpx, e.mr->rkey, (uintptr_t)e.memory + TO + 7,
			      htonl(4711));
	ibv_wr_set_sge(qpx, e.mr->lkey, (uintptr_t)e.memory + 7, 7);

	errno = ibv_wr_complete(qpx);
	must(!errno, "ibv_wr_complete()");

	/*
	 * One completion at the sender, because of SIGNALED, and one at the
	 * receiver
	 */
	for (int i = 0; i < 2; i++) {
		wc = example_wait(&e);
		if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM)
			must(ntohl(wc.imm_data) == 4711, "immediate data");
		else
			must(wc.wr_id == 2, "completion of the second");
	}
	must(!strcmp(e.memory + TO, "first, second"), "writing");
	printf("written: %s\n", e.memory + TO);
	return 0;
}
