// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mynicdv_wr_memcpy(3): the NIC copies memory within the host */
#include <errno.h>
#include <infiniband/mynicdv.h>
#include <stdio.h>
#include <string.h>

#include "example.h"

#define TO 32768

static struct ibv_qp *create_copier(struct example *e)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = e->cq,
		.cap = example_cap(),
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = e->pd,
	};
	struct mynicdv_qp_init_attr dv_attr = {
		.driver_qp_type = MYNICDV_DRIVER_QP_MEMCPY,
		.send_ops_flags = MYNICDV_QP_EX_WITH_MEMCPY,
	};
	struct ibv_qp_attr state = { 0 };
	struct ibv_qp *qp;

	attr.cap.max_recv_wr = 0;
	qp = mynicdv_create_qp(e->ctx, &attr, &dv_attr);
	must(!!qp, "mynicdv_create_qp()");
	for (int next = IBV_QPS_INIT; next <= IBV_QPS_RTS; next++) {
		state.qp_state = next;
		errno = ibv_modify_qp(qp, &state, IBV_QP_STATE);
		must(!errno, "ibv_modify_qp()");
	}
	return qp;
}

int main(void)
{
	struct mynicdv_qp_ex *dv;
	struct ibv_qp_ex *qpx;
	struct example e;

	example_open(&e);
	qpx = ibv_qp_to_qp_ex(create_copier(&e));
	dv = mynicdv_qp_ex_from_ibv_qp_ex(qpx);
	for (int i = 0; i < 20000; i++)
		e.memory[i] = 'a' + i % 26;

	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	mynicdv_wr_memcpy(dv, e.mr->lkey, (uintptr_t)e.memory + TO);
	ibv_wr_set_sge(qpx, e.mr->lkey, (uintptr_t)e.memory, 20000);
	errno = ibv_wr_complete(qpx);
	must(!errno, "ibv_wr_complete()");

	must(example_wait(&e).byte_len == 20000, "copying");
	must(!memcmp(e.memory, e.memory + TO, 20000), "what was copied");
	printf("copied: %.26s\n", e.memory + TO);
	return 0;
}
