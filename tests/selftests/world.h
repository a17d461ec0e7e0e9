/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Objects of all kinds, each made and unmade by functions of the same types */
#ifndef MYNIC_SELFTEST_WORLD_H
#define MYNIC_SELFTEST_WORLD_H

#include <stdio.h>

#include "dmabuf.h"
#include "verbs.h"

/* Size of a region that needs more than one page of page addresses */
#define BIG (4 << 20)
/*
 * struct world - objects for the verbs
 * @e: with an RC QP that is not connected
 * @ud: with a UD QP, ready to receive
 * @raw: with a RAW_PACKET QP, ready to receive
 * @big: BIG bytes
 * @dmabuf: of BUF_SIZE bytes, or -1
 * @odd: toggled by verbs that change something to and fro
 */
struct world {
	struct end e;
	struct end ud;
	struct end raw;
	uint8_t *big;
	int dmabuf;
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;
	struct ibv_mr *odp;
	struct ibv_dm *dm;
	struct ibv_counters *counters;
	struct ibv_wq *wq;
	struct ibv_rwq_ind_table *table;
	bool odd;
};

/* Turns the result of a function that returns an error number into a pointer */
static inline void *made(struct world *w, int err)
{
	errno = err;
	return err ? NULL : w;
}

static inline void *make_context(struct world *w)
{
	return ibv_open_device(w->e.ctx->device);
}

static inline int unmake_context(struct world *w, void *object)
{
	return ibv_close_device(object);
}

static inline void *make_pd(struct world *w)
{
	return ibv_alloc_pd(w->e.ctx);
}

static inline int unmake_pd(struct world *w, void *object)
{
	return ibv_dealloc_pd(object);
}

static inline void *make_td(struct world *w)
{
	return ibv_alloc_td(w->e.ctx, &(struct ibv_td_init_attr){ 0 });
}

static inline int unmake_td(struct world *w, void *object)
{
	return ibv_dealloc_td(object);
}

static inline void *make_mr(struct world *w)
{
	return ibv_reg_mr(w->e.pd, w->e.buf, 64, IBV_ACCESS_LOCAL_WRITE);
}

static inline void *make_big_mr(struct world *w)
{
	return ibv_reg_mr(w->e.pd, w->big, BIG, IBV_ACCESS_LOCAL_WRITE);
}

static inline void *make_odp_mr(struct world *w)
{
	return ibv_reg_mr(w->e.pd, w->big, BIG,
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
}

static inline void *make_implicit_mr(struct world *w)
{
	return ibv_reg_mr(w->e.pd, NULL, SIZE_MAX,
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
}

static inline void *make_dmabuf_mr(struct world *w)
{
	return ibv_reg_dmabuf_mr(w->e.pd, 0, BUF_SIZE, 0, w->dmabuf,
				 IBV_ACCESS_LOCAL_WRITE);
}

static inline void *make_dm_mr(struct world *w)
{
	return ibv_reg_dm_mr(w->e.pd, w->dm, 0, 4096,
			     IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE);
}

static inline int unmake_mr(struct world *w, void *object)
{
	return ibv_dereg_mr(object);
}

static inline void *prefetch(struct world *w)
{
	return made(w, advise(w->e.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, w->big,
			      BIG, w->odp->lkey));
}

/* Move the region to other memory, which needs a new list of pages, or back */
static inline void *rereg(struct world *w)
{
	void *to = w->odd ? w->e.buf : w->big;
	size_t len = w->odd ? BUF_SIZE : BIG;

	if (ibv_rereg_mr(w->e.mr, IBV_REREG_MR_CHANGE_TRANSLATION, w->e.pd, to,
			 len, 0))
		return NULL;
	w->odd = !w->odd;
	return w;
}

static inline void *make_mw(struct world *w)
{
	return ibv_alloc_mw(w->e.pd, IBV_MW_TYPE_2);
}

static inline int unmake_mw(struct world *w, void *object)
{
	return ibv_dealloc_mw(object);
}

static inline void *make_dm(struct world *w)
{
	return ibv_alloc_dm(w->e.ctx,
			    &(struct ibv_alloc_dm_attr){ .length = 4096 });
}

static inline int unmake_dm(struct world *w, void *object)
{
	return ibv_free_dm(object);
}

static inline void *make_channel(struct world *w)
{
	return ibv_create_comp_channel(w->e.ctx);
}

static inline int unmake_channel(struct world *w, void *object)
{
	return ibv_destroy_comp_channel(object);
}

static inline void *make_cq(struct world *w)
{
	return ibv_create_cq(w->e.ctx, 1000, NULL, w->e.channel, 0);
}

static inline int unmake_cq(struct world *w, void *object)
{
	return ibv_destroy_cq(object);
}

static inline void *resize_cq(struct world *w)
{
	w->odd = !w->odd;
	return made(w, ibv_resize_cq(w->ud.cq, w->odd ? 2000 : 256));
}

static inline void *make_srq(struct world *w)
{
	struct ibv_srq_init_attr init = { .attr = { 1000, 2, 0 } };

	return ibv_create_srq(w->e.pd, &init);
}

static inline void *make_xrc_srq(struct world *w)
{
	return make_srq_in(&w->e, w->xrcd);
}

static inline int unmake_srq(struct world *w, void *object)
{
	return ibv_destroy_srq(object);
}

static inline void *resize_srq(struct world *w)
{
	struct ibv_srq_attr attr = { .max_wr = w->odd ? 16 : 2000 };

	w->odd = !w->odd;
	return made(w, ibv_modify_srq(w->srq, &attr, IBV_SRQ_MAX_WR));
}

static inline void *make_xrcd(struct world *w)
{
	return open_xrcd(w->e.ctx, -1, O_CREAT);
}

static inline int unmake_xrcd(struct world *w, void *object)
{
	return ibv_close_xrcd(object);
}

static inline void *make_rc(struct world *w)
{
	return make_qp(&w->e, IBV_QPT_RC);
}

static inline void *make_ud(struct world *w)
{
	return make_qp(&w->e, IBV_QPT_UD);
}

static inline void *make_raw(struct world *w)
{
	return make_qp(&w->e, IBV_QPT_RAW_PACKET);
}

static inline void *make_rss_qp(struct world *w)
{
	static uint8_t key[40];
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.pd = w->e.pd,
		.rwq_ind_tbl = w->table,
		.rx_hash_conf = { .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
				  .rx_hash_key_len = sizeof(key),
				  .rx_hash_key = key,
				  .rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 },
	};

	return ibv_create_qp_ex(w->e.ctx, &attr);
}

static inline int unmake_qp(struct world *w, void *object)
{
	return ibv_destroy_qp(object);
}

static inline int reset_qp(struct world *w, void *object)
{
	return to_reset(&w->e);
}

static inline void *connect_qp(struct world *w)
{
	return made(w, to_rts(&w->e, &w->e));
}

static inline void *query_qp(struct world *w)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return made(w, ibv_query_qp(w->e.qp, &attr, IBV_QP_STATE, &init));
}

static inline void *query_device(struct world *w)
{
	struct ibv_device_attr_ex attr;

	return made(w, ibv_query_device_ex(w->e.ctx, NULL, &attr));
}

static inline void *query_port(struct world *w)
{
	struct ibv_port_attr attr;

	return made(w, ibv_query_port(w->e.ctx, 1, &attr));
}

static inline void *make_ah(struct world *w)
{
	struct ibv_ah_attr attr = rc_attr(&w->e, &w->e).ah_attr;

	return ibv_create_ah(w->e.pd, &attr);
}

static inline int unmake_ah(struct world *w, void *object)
{
	return ibv_destroy_ah(object);
}

static const union ibv_gid group = { .raw = { 0xff, 0x0e, [15] = 0x77 } };

static inline void *attach(struct world *w)
{
	return made(w, ibv_attach_mcast(w->ud.qp, &group, 0));
}

static inline int detach(struct world *w, void *object)
{
	return ibv_detach_mcast(w->ud.qp, &group, 0);
}

static inline void *make_wq(struct world *w)
{
	return make_rq(&w->e);
}

static inline int unmake_wq(struct world *w, void *object)
{
	return ibv_destroy_wq(object);
}

static inline void *modify_wq(struct world *w)
{
	struct ibv_wq_attr attr = {
		.attr_mask = IBV_WQ_ATTR_STATE,
		.wq_state = w->odd ? IBV_WQS_RESET : IBV_WQS_RDY,
	};
	int err = ibv_modify_wq(w->wq, &attr);

	w->odd ^= !err;
	return made(w, err);
}

static inline void *make_table(struct world *w)
{
	struct ibv_rwq_ind_table_init_attr init = { .ind_tbl = &w->wq };

	return ibv_create_rwq_ind_table(w->e.ctx, &init);
}

static inline int unmake_table(struct world *w, void *object)
{
	return ibv_destroy_rwq_ind_table(object);
}

static inline void *make_counters(struct world *w)
{
	return ibv_create_counters(w->e.ctx,
				   &(struct ibv_counters_init_attr){ 0 });
}

static inline int unmake_counters(struct world *w, void *object)
{
	return ibv_destroy_counters(object);
}

struct rule {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
	struct ibv_flow_spec_counter_action count;
} __attribute__((packed));

static inline void *make_flow(struct world *w)
{
	struct rule rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			  .size = sizeof(rule),
			  .num_of_specs = 2,
			  .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH,
			 .size = sizeof(rule.eth),
			 .val.dst_mac = { 0x03, 0x11, 0x22, 0x33, 0x44, 0x66 },
			 .mask.dst_mac = { 255, 255, 255, 255, 255, 255 } },
		.count = { .type = IBV_FLOW_SPEC_ACTION_COUNT,
			   .size = sizeof(rule.count),
			   .counters = w->counters },
	};

	return ibv_create_flow(w->raw.qp, (void *)&rule);
}

static inline int unmake_flow(struct world *w, void *object)
{
	return ibv_destroy_flow(object);
}

static inline bool make_world(struct world *w)
{
	struct ibv_counter_attach_attr packets = {
		.counter_desc = IBV_COUNTER_PACKETS,
	};
	uint8_t *mem;

	w->e.ctx = open_mynic(0);
	w->ud.ctx = w->e.ctx;
	w->raw.ctx = w->e.ctx;
	w->big = mmap(NULL, BIG, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	w->dmabuf = make_dmabuf(BUF_SIZE, &mem);
	if (!w->e.ctx || !make_end(&w->e, IBV_QPT_RC) ||
	    !make_end(&w->ud, IBV_QPT_UD) || to_rts(&w->ud, &w->ud) ||
	    !make_end(&w->raw, IBV_QPT_RAW_PACKET) || raw_to_rts(w->raw.qp) ||
	    w->big == MAP_FAILED || w->dmabuf < 0)
		return false;
	w->xrcd = make_xrcd(w);
	w->srq = make_srq(w);
	w->odp = make_odp_mr(w);
	w->dm = make_dm(w);
	w->counters = make_counters(w);
	w->wq = make_wq(w);
	w->table = w->wq ? make_table(w) : NULL;
	return w->xrcd && w->srq && w->odp && w->dm && w->counters &&
	       w->table &&
	       !ibv_attach_counters_point_flow(w->counters, &packets, NULL);
}

static inline int free_world(struct world *w)
{
	int err = 0;

	err |= unmake_table(w, w->table);
	err |= unmake_wq(w, w->wq);
	err |= unmake_counters(w, w->counters);
	err |= unmake_dm(w, w->dm);
	err |= unmake_mr(w, w->odp);
	err |= unmake_srq(w, w->srq);
	err |= unmake_xrcd(w, w->xrcd);
	err |= free_end(&w->raw);
	err |= free_end(&w->ud);
	err |= free_end(&w->e);
	return err | ibv_close_device(w->e.ctx);
}

#endif /* MYNIC_SELFTEST_WORLD_H */
