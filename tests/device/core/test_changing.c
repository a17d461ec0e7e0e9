// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A guest that rewrites its queues, page lists and commands at any time, while
 * the NIC reads them. The sanitizers and other NICs show what this does to the
 * NIC
 */
#include <pthread.h>

#include "harness_driver.h"

#define ROUNDS 200
#define WRITES 100000
#define PAGES 4

/*
 * struct writer - a thread that rewrites memory
 * @mem, @num: the words
 * @good: what they were, which they often are again
 * @used, @num_used: those that are not 0, which it prefers: what is changed more
 *	often is changed sooner between two looks of the NIC
 * @written: how often it has written
 * @stop: it is to end
 */
struct writer {
	pthread_t thread;
	uint64_t *mem;
	uint64_t *good;
	size_t num;
	size_t *used;
	size_t num_used;
	uint64_t random;
	uint64_t written;
	bool stop;
};

/* sim_random() is of the main thread */
static uint64_t writer_random(struct writer *w, uint64_t below)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return (w->random >> 33) % below;
}

static size_t writer_place(struct writer *w)
{
	return writer_random(w, 16) ? w->used[writer_random(w, w->num_used)] :
				      writer_random(w, w->num);
}

static uint64_t writer_next(struct writer *w, size_t at)
{
	uint64_t value = w->good[at];

	switch (writer_random(w, 8)) {
	case 0:
		/* an address, a key or a length of something else */
		return w->good[writer_place(w)];
	case 1:
		return value ^ 1ull << writer_random(w, 64);
	case 2:
		return value + writer_random(w, 64) * 8;
	case 3:
		return writer_random(w, 64) | writer_random(w, 64) << 32;
	case 4:
		return writer_random(w, 1ull << 31) << 32 |
		       writer_random(w, 1ull << 31);
	default:
		return value;
	}
}

static void *writer_run(void *arg)
{
	struct writer *w = arg;

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		size_t at = writer_place(w);

		__atomic_store_n(&w->mem[at], writer_next(w, at),
				 __ATOMIC_RELAXED);
		__atomic_add_fetch(&w->written, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* From now on it writes to the @len bytes at @mem */
static void writer_start(struct writer *w, void *mem, size_t len)
{
	w->mem = mem;
	w->num = len / sizeof(*w->mem);
	w->good = tap_alloc(len);
	memcpy(w->good, mem, len);
	w->used = tap_alloc(w->num * sizeof(*w->used));
	w->num_used = 0;
	for (size_t i = 0; i < w->num; i++)
		if (w->good[i])
			w->used[w->num_used++] = i;
	w->written = 0;
	w->stop = false;
	CHECK_EQ(pthread_create(&w->thread, NULL, writer_run, w), 0);
}

static bool writer_is_done(struct writer *w)
{
	return __atomic_load_n(&w->written, __ATOMIC_RELAXED) >= WRITES;
}

static void writer_stop(struct writer *w)
{
	__atomic_store_n(&w->stop, true, __ATOMIC_RELAXED);
	CHECK_EQ(pthread_join(w->thread, NULL), 0);
}

/* A NIC whose guest does this, and two of others */
struct world {
	struct sim *sim;
	struct sim_nic *n;
	struct drv_pair others;
	struct writer writer;
};

static struct world new_world(void)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	struct sim *sim = sim_new(3);
	struct world w = {
		.sim = sim,
		.n = &sim->nics[0],
		.others = drv_pair_on(drv_up(&sim->nics[1]),
				      drv_up(&sim->nics[2]), &init),
		.writer.random = 17,
	};

	drv_connect(w.others.a.qp, w.others.b.qp, &(struct drv_path){ 0 });
	return w;
}

static void check_others(struct world *w)
{
	drv_send_recv(&w->others.a, &w->others.b, 5000);
	drv_send_recv(&w->others.b, &w->others.a, 5000);
}

/* A reset helps, whatever has become of the NIC */
static void check_reset(struct world *w)
{
	CHECK_EQ(drv_number_cmd(drv_up(w->n), MYNIC_CMD_NOP, 0), 0);
	check_others(w);
}

/*
 * struct queues - what is rewritten: a connection of a NIC with itself
 * @mr: a region that has lists of its pages
 * @odp: a region with a page table
 */
struct queues {
	struct drv_cq *cq;
	struct drv_srq *srq;
	struct drv_qp *qp[2];
	struct mynic_sge mr;
	struct mynic_sge odp;
};

static struct mynic_sge make_region(struct drv *d, uint32_t pdn, uint8_t flags)
{
	struct mynic_create_mkey body = {
		.iova = 0x40000000,
		.length = PAGES * DRV_PAGE,
		.pdn = pdn,
		.access = ACCESS_ALL,
	};
	uint64_t pages[PAGES], *list;
	struct mynic_sge sge = { .addr = body.iova, .length = 64 };

	for (unsigned int i = 0; i < PAGES; i++)
		pages[i] = sim_iova(d->n, sim_alloc(d->n, DRV_PAGE, DRV_PAGE));
	if (flags == MYNIC_MKEY_ODP) {
		list = sim_alloc(d->n, DRV_PAGE, DRV_PAGE);
		for (unsigned int i = 0; i < PAGES; i++)
			list[i] = pages[i] | MYNIC_PAGE_PRESENT |
				  MYNIC_PAGE_WRITABLE;
		body.buf = (struct mynic_buf){ .addr = sim_iova(d->n, list),
					       .levels = 1,
					       .log_page_size = 12,
					       .log_list_size = 12 };
	} else {
		body.buf = drv_page_list(d, pages, PAGES, 12, 2);
	}
	CHECK_EQ(drv_create_mkey(d, &body, flags, &sge.lkey), 0);
	return sge;
}

static void post_all(struct queues *q, struct sim *sim)
{
	for (unsigned int i = 0; i < 8; i++) {
		static const uint8_t data[64];
		struct mynic_sge sge = i % 2 ? q->mr : q->odp;
		struct drv_wr wr = {
			.opcode = i % 4 == 3 ? sim_random(sim, 7) : i % 4,
			.flags = IBV_SEND_SIGNALED,
			.num_sge = 2,
			.sge = { sge, i % 4 ? q->mr : q->odp },
			.remote_addr = q->mr.addr,
			.rkey = i % 3 ? q->mr.lkey : q->odp.lkey,
			.inline_data = data,
			.inline_len = sizeof(data),
		};

		if (i % 4 == 2)
			wr.flags |= IBV_SEND_INLINE;
		sge.length = DRV_PAGE;
		drv_post_srq_recv(q->srq, i, &sge, 1);
		drv_post_recv(q->qp[1], i, &sge, 1);
		drv_write_wqe(q->qp[0], &wr);
		drv_write_wqe(q->qp[1], &wr);
	}
	for (unsigned int i = 0; i < 2; i++)
		q->qp[i]->rec->sq_pi = q->qp[i]->sq_pi;
}

/* Of those that nobody empties only such ones live on */
static struct drv_cq *make_cq(struct drv *d, uint8_t flags)
{
	struct drv_cq *cq = drv_create_cq(d, 4);
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_CREATE_CQ,
		.flags = flags,
		.create_cq = { .buf = cq->buf.desc,
			       .dbrec_offset = drv_cq_ring_bytes(cq->log_size),
			       .uarn = cq->uarn,
			       .eqn = d->comp.number,
			       .log_size = cq->log_size },
	};
	struct mynic_admin_cpl cpl;

	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_CQ, cq->number), 0);
	CHECK_EQ(drv_admin(d, &cmd, &cpl), 0);
	cq->number = cpl.number;
	return cq;
}

/* In turn: page lists of each depth, and CQs that fail or do not */
static struct queues make_queues(struct drv *d, unsigned int round)
{
	uint32_t pdn = drv_alloc_pd(d);
	struct drv_qp_init init = { .type = MYNIC_QP_RC,
				    .pdn = pdn,
				    .log_sq_size = 3,
				    .log_rq_size = 3 };
	struct queues q;

	d->levels = round % 3;
	q.cq = make_cq(d, round % 2 ? 0 : MYNIC_CQ_IGNORE_OVERRUN);
	q.srq = drv_create_tm_srq(d, pdn, q.cq, 4, 8);
	q.mr = make_region(d, pdn, 0);
	q.odp = make_region(d, pdn, MYNIC_MKEY_ODP);
	init.send_cq = q.cq;
	init.recv_cq = q.cq;
	q.qp[1] = drv_create_qp(d, &init);
	init.srq = q.srq;
	q.qp[0] = drv_create_qp(d, &init);
	return q;
}

/* From any state to RTS, unless it fails again on the way */
static void try_connect(struct drv_qp *qp, const struct drv_qp *peer)
{
	static const uint32_t masks[] = {
		0,
		IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
	};
	struct mynic_qp_attr attr = {
		.port_num = 1,
		.access_flags = ACCESS_ALL,
		.av = drv_av(qp->d, 0, DRV_GID_IPV6),
		.path_mtu = IBV_MTU_1024,
		.dest_qpn = peer->number,
		.max_dest_rd_atomic = 4,
		.max_rd_atomic = 4,
		.timeout = 1,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(masks); i++) {
		attr.attr_mask = IBV_QP_STATE | masks[i];
		attr.qp_state = IBV_QPS_RESET + i;
		if (drv_modify_qp(qp, &attr))
			return;
	}
}

/* Everything begins again, as it soon fails */
static void use_queues(struct queues *q)
{
	struct drv *d = q->qp[0]->d;

	for (unsigned int i = 0; i < 2; i++) {
		try_connect(q->qp[i], q->qp[!i]);
		sim_doorbell(d->n, 1, MYNIC_UAR_QP_DB, q->qp[i]->number, 8);
	}
	sim_doorbell(d->n, 1, MYNIC_UAR_TAG_DB, q->srq->number, 1);
	sim_doorbell(d->n, 1, MYNIC_UAR_CQ_DB, q->cq->number, 0);
	sim_run(d->sim, 20 * USEC);
}

TEST(changing_queues)
{
	struct world w = new_world();
	size_t used = w.n->used;
	uint64_t done = 0;

	w.sim->random = 19;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct drv *d = drv_up(w.n);
		size_t first = w.n->used;
		struct queues q = make_queues(d, i);

		post_all(&q, w.sim);
		drv_post_tag(q.srq,
			     &(struct mynic_tag_wqe){ .ctrl = IBV_WR_TAG_ADD,
						      .num_sge = 1,
						      .sge = q.mr,
						      .mask = ~0ull });
		writer_start(&w.writer, w.n->mem + first, w.n->used - first);
		do
			use_queues(&q);
		while (!writer_is_done(&w.writer));
		writer_stop(&w.writer);
		check_others(&w);
		done += nic_stat(w.n->nic, MYNIC_STAT_RX_RDMA_BYTES);
		memset(w.n->mem + used, 0, w.n->used - used);
		w.n->used = used;
	}
	/* Not all was nonsense */
	CHECK(done > ROUNDS);
	check_reset(&w);
}

/* Commands of every kind that has a buffer or a mailbox, all of them good */
static void write_commands(struct drv *d, const struct queues *q)
{
	const struct mynic_create_qp *create = &q->qp[0]->create;
	const struct mynic_admin_cmd list[] = {
		{ .opcode = MYNIC_CMD_CREATE_QP, .mbox_len = sizeof(*create) },
		{ .opcode = MYNIC_CMD_QUERY_STATS,
		  .mbox_len = MYNIC_MBOX_SIZE / 2 },
		{ .opcode = MYNIC_CMD_CREATE_MKEY,
		  .create_mkey = { .buf = create->buf,
				   .length = DRV_PAGE,
				   .pdn = create->pdn } },
		{ .opcode = MYNIC_CMD_CREATE_SRQ, .mbox_len = sizeof(*create) },
		{ .opcode = MYNIC_CMD_MODIFY_QP,
		  .number = q->qp[0]->number,
		  .mbox_len = sizeof(struct mynic_qp_attr) },
		{ .opcode = MYNIC_CMD_SET_RX, .mbox_len = sizeof(*create) },
		{ .opcode = MYNIC_CMD_CREATE_FLOW,
		  .mbox_len = sizeof(*create) },
		{ .opcode = MYNIC_CMD_QUERY_QP,
		  .number = q->qp[1]->number,
		  .mbox_len = sizeof(struct mynic_qp_attr) },
	};

	memcpy(d->mbox, create, sizeof(*create));
	for (unsigned int i = 0; i < 1u << d->aq_log_size; i++) {
		d->cmd[i] = list[i % ARRAY_SIZE(list)];
		if (d->cmd[i].mbox_len)
			d->cmd[i].mbox_addr = sim_iova(d->n, d->mbox);
		if (d->cmd[i].opcode == MYNIC_CMD_QUERY_STATS ||
		    d->cmd[i].opcode == MYNIC_CMD_QUERY_QP)
			d->cmd[i].mbox_addr += MYNIC_MBOX_SIZE / 2;
	}
}

TEST(changing_commands)
{
	struct world w = new_world();
	size_t used = w.n->used;
	unsigned int made = 0;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct drv *d = drv_up(w.n);
		struct queues q = make_queues(d, i);
		uint64_t before = nic_memory(w.n->nic);

		write_commands(d, &q);
		/* the rings, too, where nobody waits for anything */
		writer_start(&w.writer, d->cmd,
			     w.n->mem + w.n->used - (uint8_t *)d->cmd);
		do {
			d->aq_pi += 8;
			drv_admin_ring(d);
			sim_run(w.sim, 20 * USEC);
		} while (!writer_is_done(&w.writer));
		writer_stop(&w.writer);
		made += nic_memory(w.n->nic) > before;
		check_others(&w);
		memset(w.n->mem + used, 0, w.n->used - used);
		w.n->used = used;
	}
	/* Not all was nonsense */
	CHECK(made > ROUNDS / 2);
	check_reset(&w);
}
