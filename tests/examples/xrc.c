// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* One XRC connection, and messages for two shared receive queues */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "example.h"

#define TO 4096

static struct ibv_srq *create_srq(struct example *e, struct ibv_xrcd *xrcd,
				  unsigned int offset)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.xrcd = xrcd,
		.cq = e->cq,
		.pd = e->pd,
	};
	struct ibv_sge sge = { (uintptr_t)e->memory + offset, 100,
			       e->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = offset,
				  .sg_list = &sge,
				  .num_sge = 1 };
	struct ibv_recv_wr *bad;
	struct ibv_srq *srq;

	srq = ibv_create_srq_ex(e->ctx, &attr);
	must(!!srq, "ibv_create_srq_ex()");
	errno = ibv_post_srq_recv(srq, &wr, &bad);
	must(!errno, "ibv_post_srq_recv()");
	return srq;
}

static void send_to(struct example *e, struct ibv_qp *qp, struct ibv_srq *srq,
		    const char *text)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct ibv_wc wc;
	uint32_t srqn;

	errno = ibv_get_srq_num(srq, &srqn);
	must(!errno, "ibv_get_srq_num()");
	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_INLINE;
	ibv_wr_send(qpx);
	ibv_wr_set_xrc_srqn(qpx, srqn);
	ibv_wr_set_inline_data(qpx, (void *)text, strlen(text) + 1);
	errno = ibv_wr_complete(qpx);
	must(!errno, "ibv_wr_complete()");

	wc = example_wait(e);
	must(!strcmp(e->memory + wc.wr_id, text), "what the SRQ received");
	printf("SRQ %u received %s\n", srqn, text);
}

int main(void)
{
	struct example e;
	struct ibv_xrcd_init_attr xrcd_attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_qp_init_attr_ex target_attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};
	struct ibv_qp *qp, *target;
	struct ibv_srq *one, *two;
	struct ibv_xrcd *xrcd;

	example_open(&e);
	xrcd = ibv_open_xrcd(e.ctx, &xrcd_attr);
	must(!!xrcd, "ibv_open_xrcd()");
	one = create_srq(&e, xrcd, TO);
	two = create_srq(&e, xrcd, TO + 100);
	target_attr.xrcd = xrcd;
	target = ibv_create_qp_ex(e.ctx, &target_attr);
	must(!!target, "ibv_create_qp_ex()");
	qp = example_create_qp(&e, IBV_QPT_XRC_SEND, IBV_QP_EX_WITH_SEND);
	example_connect(&e, qp, target->qp_num);
	example_connect(&e, target, qp->qp_num);

	send_to(&e, qp, two, "two");
	send_to(&e, qp, one, "one");
	return 0;
}
