// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A datagram, and an answer to its sender */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "example.h"

#define QKEY 0x1234
#define GRH 40 /* bytes of network header in front of a received datagram */
#define TO 4096

static void to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
				    .port_num = 1,
				    .qkey = QKEY };

	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				      IBV_QP_QKEY);
	must(!errno, "ibv_modify_qp() to INIT");
	attr.qp_state = IBV_QPS_RTR;
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	must(!errno, "ibv_modify_qp() to RTR");
	attr.qp_state = IBV_QPS_RTS;
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	must(!errno, "ibv_modify_qp() to RTS");
}

static void send_text(struct ibv_qp *qp, struct ibv_ah *ah, uint32_t qpn,
		      const char *text)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_INLINE;
	ibv_wr_send(qpx);
	ibv_wr_set_ud_addr(qpx, ah, qpn, QKEY);
	ibv_wr_set_inline_data(qpx, (void *)text, strlen(text) + 1);
	errno = ibv_wr_complete(qpx);
	must(!errno, "ibv_wr_complete()");
}

int main(void)
{
	struct example e;
	struct ibv_qp *qp, *peer;
	struct ibv_ah *ah, *back;
	struct ibv_wc wc;

	example_open(&e);
	qp = example_create_qp(&e, IBV_QPT_UD, IBV_QP_EX_WITH_SEND);
	peer = example_create_qp(&e, IBV_QPT_UD, IBV_QP_EX_WITH_SEND);
	to_rts(qp);
	to_rts(peer);
	example_post_recv(&e, peer, 1, TO, 200);
	example_post_recv(&e, qp, 2, TO + 200, 200);

	ah = example_ah(&e);
	send_text(qp, ah, peer->qp_num, "question");
	wc = example_wait(&e);
	must(wc.wr_id == 1 && wc.src_qp == qp->qp_num, "the sender's number");
	must(!strcmp(e.memory + TO + GRH, "question"), "the question");

	/* The network header has the sender's address */
	back = ibv_create_ah_from_wc(e.pd, &wc, (void *)(e.memory + TO), 1);
	must(!!back, "ibv_create_ah_from_wc()");
	send_text(peer, back, wc.src_qp, "answer");
	wc = example_wait(&e);
	must(wc.wr_id == 2 && wc.byte_len == GRH + 7, "the answer's length");
	must(!strcmp(e.memory + TO + 200 + GRH, "answer"), "the answer");
	printf("%s: %s\n", e.memory + TO + GRH, e.memory + TO + 200 + GRH);
	ibv_destroy_ah(back);
	ibv_destroy_ah(ah);
	return 0;
}
