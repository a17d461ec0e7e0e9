// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* SEND over RC and UC: gathered from two places, and inline with immediate data */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "example.h"

#define TO 4096

static void send_two(struct example *e, enum ibv_qp_type type)
{
	struct ibv_qp *qp = example_create_qp(e, type, 0);
	struct ibv_qp *peer = example_create_qp(e, type, 0);
	struct ibv_sge parts[2] = {
		{ (uintptr_t)e->memory, 4, e->mr->lkey },
		{ (uintptr_t)e->memory + 100, 5, e->mr->lkey },
	};
	char text[] = "inline";
	struct ibv_sge text_sge = { .addr = (uintptr_t)text,
				    .length = sizeof(text) };
	struct ibv_send_wr second = {
		.wr_id = 2,
		.sg_list = &text_sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
		.imm_data = htonl(4711),
	};
	struct ibv_send_wr first = {
		.wr_id = 1,
		.next = &second,
		.sg_list = parts,
		.num_sge = 2,
		.opcode = IBV_WR_SEND,
	};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	example_connect(e, qp, peer->qp_num);
	example_connect(e, peer, qp->qp_num);
	example_post_recv(e, peer, 10, TO, 100);
	example_post_recv(e, peer, 11, TO + 100, 100);
	memset(e->memory + TO, 0, 200);
	memcpy(e->memory, "two ", 4);
	strcpy(e->memory + 100, "ends");

	errno = ibv_post_send(qp, &first, &bad);
	must(!errno, "ibv_post_send()");
	/* Inline data has been taken already */
	memset(text, 0, sizeof(text));

	for (int i = 0; i < 3; i++) {
		wc = example_wait(e);
		if (wc.opcode != IBV_WC_RECV)
			continue;
		must(wc.byte_len == (wc.wr_id == 10 ? 9 : sizeof(text)),
		     "length");
		if (wc.wc_flags & IBV_WC_WITH_IMM)
			must(ntohl(wc.imm_data) == 4711, "immediate data");
	}
	must(!strcmp(e->memory + TO, "two ends"), "gathering");
	must(!strcmp(e->memory + TO + 100, "inline"), "sending inline");
	printf("received: %s, %s\n", e->memory + TO, e->memory + TO + 100);
}

int main(void)
{
	struct example e;

	example_open(&e);
	send_two(&e, IBV_QPT_RC);
	send_two(&e, IBV_QPT_UC);
	return 0;
}
