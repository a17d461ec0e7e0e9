// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pairs that are kept full of one request. */
#include "harness_load.h"

static unsigned int log2_of(unsigned int value)
{
	CHECK(value && !(value & (value - 1)));
	return __builtin_ctz(value);
}

struct load *load_new(struct drv *d, struct drv_qp_init init, unsigned int num,
		      unsigned int depth)
{
	struct load *load = tap_alloc(sizeof(*load));

	load->pdn = init.pdn;
	load->num = num;
	load->depth = depth;
	load->qp = tap_alloc(num * sizeof(*load->qp));
	load->done = tap_alloc(num * sizeof(*load->done));
	load->peer_qpn = tap_alloc(num * sizeof(*load->peer_qpn));
	load->cq = drv_create_cq(d, log2_of(num * depth));
	init.send_cq = load->cq;
	init.recv_cq = load->cq;
	init.log_sq_size = log2_of(depth);
	init.log_rq_size = 1;
	init.log_rq_stride = 5;
	for (unsigned int i = 0; i < num; i++)
		load->qp[i] = drv_create_qp(d, &init);
	return load;
}

void load_connect(struct load *load, struct drv *to,
		  const struct drv_path *path, bool nobody)
{
	struct drv_qp_init init = {
		.type = MYNIC_QP_RC,
		.pdn = drv_alloc_pd(to),
		.log_sq_size = 1,
		.log_sq_stride = 6,
		.log_rq_size = 1,
		.log_rq_stride = 5,
	};

	load->peer_pdn = init.pdn;
	load->path = *path;
	load->peer = to->n->index;
	init.send_cq = drv_create_cq(to, 4);
	init.recv_cq = init.send_cq;
	for (unsigned int i = 0; i < load->num; i++) {
		struct drv_qp *peer;

		if (nobody) {
			load->peer_qpn[i] = 0xabcdef;
			drv_connect_to(load->qp[i], load->peer, 0xabcdef, path,
				       IBV_QPS_RTS);
			continue;
		}
		peer = drv_create_qp(to, &init);
		load->peer_qpn[i] = peer->number;
		drv_connect(load->qp[i], peer, path);
	}
}

void load_fill(struct load *load, const struct drv_wr *wr)
{
	for (unsigned int i = 0; i < load->num; i++) {
		struct drv_wr copy = *wr;

		copy.wr_id = i;
		copy.flags |= IBV_SEND_SIGNALED;
		for (unsigned int slot = 0; slot < load->depth; slot++)
			drv_write_wqe(load->qp[i], &copy);
		load->qp[i]->sq_pi = 0;
	}
}

static void connect_again(struct load *load, unsigned int i)
{
	drv_reset_qp(load->qp[i]);
	load->done[i] = 0;
	drv_connect_to(load->qp[i], load->peer, load->peer_qpn[i], &load->path,
		       IBV_QPS_RTS);
}

void load_poll(struct load *load)
{
	struct mynic_cqe cqe;

	for (unsigned int n = 0; n < load->depth && drv_poll(load->cq, &cqe);
	     n++) {
		uint32_t i = cqe.wr_id;

		CHECK(i < load->num);
		load->done[i]++;
		/* Flushed ones follow the one that has failed */
		if (cqe.status && load->done[i] == load->qp[i]->sq_pi)
			connect_again(load, i);
	}
}

void load_again(struct load *load)
{
	load_poll(load);
	for (unsigned int i = 0; i < load->num; i++) {
		struct drv_qp *qp = load->qp[i];
		uint32_t end = load->done[i] + load->depth;

		if (qp->sq_pi == end)
			continue;
		qp->sq_pi = end;
		drv_ring(qp);
	}
}
