// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tag matching: the receiver posts a buffer for each tag. A short message
 * brings its data. A long one only announces it. The device then reads the
 * data, and tells the sender when it is done.
 */
#include <endian.h>
#include <errno.h>
#include <infiniband/tm_types.h>
#include <stdio.h>
#include <string.h>

#include "example.h"

#define BUFFER 4096 /* of the tag */
#define DATA 8192 /* of the sender */
#define FIN 16384 /* buffer for the sender's notice that its data was read */
#define TAG 0x5ca1ab1e

static struct ibv_cq_ex *create_cq(struct example *e)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 64,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_TM_INFO,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(e->ctx, &attr);

	must(!!cq, "ibv_create_cq_ex()");
	return cq;
}

static struct ibv_srq *create_srq(struct example *e, struct ibv_cq_ex *cq)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 16, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.pd = e->pd,
		.cq = ibv_cq_ex_to_cq(cq),
		.tm_cap = { .max_num_tags = 16, .max_ops = 16 },
	};
	struct ibv_srq *srq = ibv_create_srq_ex(e->ctx, &attr);

	must(!!srq, "ibv_create_srq_ex()");
	return srq;
}

/* The device uses its send queue for long messages */
static struct ibv_qp *create_receiver(struct example *e, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.srq = srq,
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(e->pd, &attr);

	must(!!qp, "ibv_create_qp()");
	return qp;
}

/* The next completion, which is open until ibv_end_poll() */
static void wait_for(struct ibv_cq_ex *cq, enum ibv_wc_opcode opcode,
		     unsigned int flags)
{
	struct ibv_poll_cq_attr attr = { 0 };

	while ((errno = ibv_start_poll(cq, &attr)) == ENOENT)
		;
	must(!errno && !cq->status, "completion");
	must(ibv_wc_read_opcode(cq) == opcode, "what has completed");
	must(ibv_wc_read_wc_flags(cq) == flags, "how it has completed");
}

static void add_tag(struct example *e, struct ibv_srq *srq,
		    struct ibv_cq_ex *cq)
{
	struct ibv_sge sge = { (uintptr_t)e->memory + BUFFER, BUFFER,
			       e->mr->lkey };
	struct ibv_ops_wr *bad, wr = {
		.opcode = IBV_WR_TAG_ADD,
		.flags = IBV_OPS_SIGNALED,
		.tm.add = { .sg_list = &sge,
			    .num_sge = 1,
			    .tag = TAG,
			    .mask = 0xffffffff },
	};

	errno = ibv_post_srq_ops(srq, &wr, &bad);
	must(!errno, "ibv_post_srq_ops()");
	wait_for(cq, IBV_WC_TM_ADD, 0);
	ibv_end_poll(cq);
}

static void send(struct example *e, struct ibv_qp *qp, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)e->memory, len, e->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND,
		.sg_list = &sge,
		.num_sge = 1,
	};

	errno = ibv_post_send(qp, &wr, &bad);
	must(!errno, "ibv_post_send()");
}

static void send_short(struct example *e, struct ibv_qp *qp, const char *text)
{
	struct ibv_tmh tmh = { .opcode = IBV_TMH_EAGER, .tag = htobe64(TAG) };

	memcpy(e->memory, &tmh, sizeof(tmh));
	strcpy(e->memory + sizeof(tmh), text);
	send(e, qp, sizeof(tmh) + strlen(text) + 1);
}

static void send_word(struct example *e, struct ibv_qp *qp, const char *text)
{
	struct ibv_tmh tmh = { .opcode = IBV_TMH_RNDV, .tag = htobe64(TAG) };
	struct ibv_rvh rvh = {
		.va = htobe64((uintptr_t)e->memory + DATA),
		.rkey = htobe32(e->mr->rkey),
		.len = htobe32(strlen(text) + 1),
	};

	strcpy(e->memory + DATA, text);
	memcpy(e->memory, &tmh, sizeof(tmh));
	memcpy(e->memory + sizeof(tmh), &rvh, sizeof(rvh));
	send(e, qp, sizeof(tmh) + sizeof(rvh));
}

int main(void)
{
	struct ibv_wc_tm_info info;
	struct ibv_qp *from, *to;
	struct ibv_cq_ex *cq;
	struct ibv_srq *srq;
	struct example e;

	example_open(&e);
	cq = create_cq(&e);
	srq = create_srq(&e, cq);
	from = example_create_qp(&e, IBV_QPT_RC, 0);
	to = create_receiver(&e, srq);
	example_connect(&e, from, to->qp_num);
	example_connect(&e, to, from->qp_num);

	add_tag(&e, srq, cq);
	send_short(&e, from, "a short message");
	wait_for(cq, IBV_WC_TM_RECV, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
	ibv_wc_read_tm_info(cq, &info);
	must(info.tag == TAG, "the tag");
	ibv_end_poll(cq);
	printf("tag %#llx: %s\n", (unsigned long long)info.tag,
	       e.memory + BUFFER);

	add_tag(&e, srq, cq);
	example_post_recv(&e, from, 1, FIN, 64);
	send_word(&e, from, "a long message");
	wait_for(cq, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
	ibv_end_poll(cq);
	wait_for(cq, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID);
	ibv_end_poll(cq);
	must(!strcmp(e.memory + BUFFER, "a long message"), "fetching");
	printf("fetched: %s\n", e.memory + BUFFER);
	while (example_wait(&e).wr_id != 1)
		;
	must(e.memory[FIN] == IBV_TMH_FIN, "telling the sender");

	return ibv_destroy_qp(to) || ibv_destroy_srq(srq) ||
	       ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
}
