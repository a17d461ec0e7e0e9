// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ways into the error state: one that the argument names, or all. The program
 * prints the resulting completions and events, and compares them with
 * Documentation/errors.rst, which shows how to find the cause.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "example.h"

#define TO 4096
#define LENGTH 200
/* Longer than any event takes */
#define PATIENCE_MS 500

/**
 * struct pair - two queue pairs that are connected, of this one device
 * @e: the device
 * @cq: of @from
 * @from: sends
 * @to: receives
 */
struct pair {
	struct example *e;
	struct ibv_cq *cq;
	struct ibv_qp *from;
	struct ibv_qp *to;
};

static struct ibv_qp *create(struct example *e, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = example_cap(),
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_qp *qp = ibv_create_qp(e->pd, &attr);

	must(!!qp, "ibv_create_qp()");
	return qp;
}

/* As example_connect(), but it soon gives up */
static void connect_to(struct example *e, struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer,
		.min_rnr_timer = 1,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = {
				.dgid = e->gid,
				.sgid_index = e->gid_index,
				.hop_limit = 1,
			},
		},
		.timeout = 8,
		.retry_cnt = 1,
		.rnr_retry = 1,
	};

	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				      IBV_QP_ACCESS_FLAGS);
	must(!errno, "INIT");
	attr.qp_state = IBV_QPS_RTR;
	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				      IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				      IBV_QP_MAX_DEST_RD_ATOMIC |
				      IBV_QP_MIN_RNR_TIMER);
	must(!errno, "RTR");
	attr.qp_state = IBV_QPS_RTS;
	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				      IBV_QP_MAX_QP_RD_ATOMIC);
	must(!errno, "RTS");
}

static void move(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	must(!errno, "ibv_modify_qp()");
}

static void post(struct pair *p, enum ibv_wr_opcode opcode, uint32_t lkey,
		 uint32_t rkey, uint64_t addr)
{
	struct ibv_sge sge = { (uintptr_t)p->e->memory, LENGTH, lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.wr.rdma = { .remote_addr = addr, .rkey = rkey },
	};
	struct ibv_send_wr *bad;

	errno = ibv_post_send(p->from, &wr, &bad);
	must(!errno, "ibv_post_send()");
}

static void send_message(struct pair *p)
{
	post(p, IBV_WR_SEND, p->e->mr->lkey, 0, 0);
}

static void write_to(struct pair *p, uint32_t rkey, uint64_t addr)
{
	post(p, IBV_WR_RDMA_WRITE, p->e->mr->lkey, rkey, addr);
}

static void remote_key(struct pair *p)
{
	write_to(p, p->e->mr->rkey + 1, (uintptr_t)p->e->memory + TO);
}

static void remote_right(struct pair *p)
{
	struct ibv_mr *mr = ibv_reg_mr(p->e->pd, p->e->memory, MEMORY_SIZE,
				       IBV_ACCESS_LOCAL_WRITE);

	must(!!mr, "ibv_reg_mr()");
	write_to(p, mr->rkey, (uintptr_t)p->e->memory + TO);
}

static void remote_range(struct pair *p)
{
	write_to(p, p->e->mr->rkey,
		 (uintptr_t)p->e->memory + MEMORY_SIZE - LENGTH / 2);
}

static void length(struct pair *p)
{
	example_post_recv(p->e, p->to, 2, TO, LENGTH / 2);
	send_message(p);
}

static void rnr(struct pair *p)
{
	send_message(p);
}

static void retry(struct pair *p)
{
	move(p->to, IBV_QPS_RESET);
	send_message(p);
}

static void local_key(struct pair *p)
{
	post(p, IBV_WR_SEND, p->e->mr->lkey + 1, 0, 0);
}

static void flush(struct pair *p)
{
	example_post_recv(p->e, p->from, 2, TO, LENGTH);
	move(p->from, IBV_QPS_ERR);
}

/* More completions than there is room for, as nobody polls */
static void overrun(struct pair *p)
{
	for (int i = 0; i < 8; i++)
		write_to(p, p->e->mr->rkey, (uintptr_t)p->e->memory + TO);
}

#define EVENT(type) (1u << IBV_EVENT_##type)
/* The port may have events of its own */
#define ERROR_EVENTS                                           \
	(EVENT(CQ_ERR) | EVENT(QP_FATAL) | EVENT(QP_REQ_ERR) | \
	 EVENT(QP_ACCESS_ERR))

/**
 * struct cause - a way into the error state
 * @name: argument of the program
 * @run: causes the error
 * @from: status of the completion at &pair.from; 0: there is none
 * @to: likewise at &pair.to
 * @events: 1 << enum ibv_event_type of each event
 */
struct cause {
	const char *name;
	void (*run)(struct pair *p);
	enum ibv_wc_status from;
	enum ibv_wc_status to;
	unsigned int events;
};

static const struct cause causes[] = {
	{ "remote-key", remote_key, IBV_WC_REM_ACCESS_ERR, 0,
	  EVENT(QP_ACCESS_ERR) },
	{ "remote-right", remote_right, IBV_WC_REM_ACCESS_ERR, 0,
	  EVENT(QP_ACCESS_ERR) },
	{ "remote-range", remote_range, IBV_WC_REM_ACCESS_ERR, 0,
	  EVENT(QP_ACCESS_ERR) },
	{ "length", length, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR, 0 },
	{ "rnr", rnr, IBV_WC_RNR_RETRY_EXC_ERR, 0, 0 },
	{ "retry", retry, IBV_WC_RETRY_EXC_ERR, 0, 0 },
	{ "local-key", local_key, IBV_WC_LOC_PROT_ERR, 0, 0 },
	{ "flush", flush, IBV_WC_WR_FLUSH_ERR, 0, 0 },
	{ "overrun", overrun, 0, 0, EVENT(CQ_ERR) | EVENT(QP_FATAL) },
};

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	errno = ibv_query_qp(qp, &attr, IBV_QP_STATE, &init);
	must(!errno, "ibv_query_qp()");
	return attr.qp_state;
}

/* Returns 1 << enum ibv_event_type of each event */
static unsigned int show_events(struct pair *p)
{
	struct pollfd fd = { .fd = p->e->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	unsigned int events = 0;

	while (poll(&fd, 1, PATIENCE_MS) > 0) {
		must(!ibv_get_async_event(p->e->ctx, &event),
		     "ibv_get_async_event()");
		printf("event: %s\n", ibv_event_type_str(event.event_type));
		events |= 1u << event.event_type;
		ibv_ack_async_event(&event);
	}
	return events & ERROR_EVENTS;
}

/* Returns the only status, or 0 */
static enum ibv_wc_status show_completions(struct ibv_cq *cq)
{
	enum ibv_wc_status status = 0;
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) > 0) {
		printf("completion: qp 0x%x: %s (%d), vendor_err %u\n",
		       wc.qp_num, ibv_wc_status_str(wc.status), wc.status,
		       wc.vendor_err);
		must(!status, "only one completion");
		status = wc.status;
	}
	return status;
}

static void show(struct example *e, const struct cause *cause)
{
	struct pair p = { .e = e };

	/* So few entries that an overrun is easy */
	p.cq = ibv_create_cq(e->ctx, 4, NULL, NULL, 0);
	must(!!p.cq, "ibv_create_cq()");
	p.from = create(e, p.cq);
	p.to = create(e, e->cq);
	connect_to(e, p.from, p.to->qp_num);
	connect_to(e, p.to, p.from->qp_num);
	printf("%s: qp 0x%x to qp 0x%x\n", cause->name, p.from->qp_num,
	       p.to->qp_num);
	cause->run(&p);
	while (state_of(p.from) != IBV_QPS_ERR)
		poll(NULL, 0, 1);
	must(show_events(&p) == cause->events, "the events");
	if (cause->run != overrun)
		must(show_completions(p.cq) == cause->from,
		     "the sender's status");
	must(show_completions(e->cq) == cause->to, "the receiver's status");
	errno = ibv_destroy_qp(p.from);
	must(!errno, "ibv_destroy_qp()");
	errno = ibv_destroy_qp(p.to);
	must(!errno, "ibv_destroy_qp()");
	errno = ibv_destroy_cq(p.cq);
	must(!errno, "ibv_destroy_cq()");
}

int main(int argc, char **argv)
{
	unsigned int shown = 0;
	struct example e;

	example_open(&e);
	for (unsigned int i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
		if (argc > 1 && strcmp(argv[1], causes[i].name))
			continue;
		show(&e, &causes[i]);
		shown++;
	}
	must(shown, "a cause of this name");
	return 0;
}
