// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Hostile send requests of a guest */
#include <unistd.h>

#include "harness_eth.h"
#include "harness_hostile.h"
#include "harness_load.h"
#include "remote_nic.h"

#define MANY_QPS 512
#define FEW_QPS 16

#define TCP 6
#define ACK 0x10
#define MSS 60
#define SEGMENTS 1024
#define QKEY 0x11223344
#define MULTICAST_QPN 0xffffff
#define GROUP_SIZE 64

#define PAGED_ADDR 0x7f0000000000ull
#define PAGED_LEN (1u << 20)

/* Pages of a list, no two of which are adjacent */
#define LIST_PAGES 512

static void nothing(struct hostile *h)
{
	(void)h;
	usleep(1000);
}

static unsigned int many(const struct hostile *h)
{
	return h->quick ? FEW_QPS : MANY_QPS;
}

static void again(struct hostile *h)
{
	load_again(h->state);
}

static struct load *rc_load(struct hostile *h, unsigned int num,
			    unsigned int depth, unsigned int log_stride,
			    const struct drv_path *path, bool nobody)
{
	struct drv_qp_init init = {
		.type = MYNIC_QP_RC,
		.pdn = drv_alloc_pd(h->nic[0]),
		.log_sq_stride = log_stride,
	};
	struct load *load = load_new(h->nic[0], init, num, depth);

	load_connect(load, h->nic[1], path, nobody);
	h->state = load;
	return load;
}

static const struct drv_path standard = { .mtu = IBV_MTU_4096, .timeout = 19 };

static void big(struct hostile *h, enum ibv_wr_opcode opcode, uint32_t len,
		unsigned int num_qps)
{
	struct load *load = rc_load(h, num_qps, 8, 6, &standard, false);
	struct drv_mr *from = drv_reg_mr(h->nic[0], load->pdn, len, ACCESS_ALL);
	struct drv_mr *to =
		drv_reg_mr(h->nic[1], load->peer_pdn, len, ACCESS_ALL);
	struct drv_wr wr = {
		.opcode = opcode,
		.num_sge = 1,
		.sge = { drv_sge(from, 0, len) },
		.remote_addr = to->addr,
		.rkey = to->key,
	};

	load_fill(load, &wr);
}

static void begin_writes(struct hostile *h)
{
	big(h, IBV_WR_RDMA_WRITE, h->quick ? 64 << 10 : 4 << 20, 4);
}

static void begin_reads(struct hostile *h)
{
	big(h, IBV_WR_RDMA_READ, h->quick ? 64 << 10 : 4 << 20, 4);
}

static void begin_touched(struct hostile *h)
{
	big(h, IBV_WR_RDMA_WRITE, h->quick ? 1 << 20 : 128 << 20, 1);
}

/* The device has touched pages of all maps, and has to free them */
static void touched_again(struct hostile *h)
{
	struct load *load = h->state;

	load_again(load);
	while (load->done[0] != load->qp[0]->sq_pi) {
		usleep(10);
		load_poll(load);
	}
	remote_nic_remap(h->nic[1]->n->nic);
}

static const uint8_t eight[8];

void hostile_begin_small_writes(struct hostile *h)
{
	struct load *load = rc_load(h, many(h), 16, 6, &standard, false);
	struct drv_mr *to =
		drv_reg_mr(h->nic[1], load->peer_pdn, 64, ACCESS_ALL);
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_INLINE,
		.inline_data = eight,
		.inline_len = sizeof(eight),
		.remote_addr = to->addr,
		.rkey = to->key,
	};

	load_fill(load, &wr);
}

/* A region of scattered pages, described by lists of two levels */
static uint32_t scattered_key(struct drv *d, uint32_t pdn)
{
	struct mynic_create_mkey body = {
		.iova = PAGED_ADDR,
		.length = LIST_PAGES * DRV_PAGE,
		.pdn = pdn,
		.access = ACCESS_ALL,
	};
	uint8_t *mem = sim_alloc(d->n, body.length, DRV_PAGE);
	uint64_t page[LIST_PAGES];
	uint32_t key;

	for (unsigned int i = 0; i < LIST_PAGES; i++)
		page[i] = sim_iova(d->n, mem) +
			  i * 7 % LIST_PAGES * (uint64_t)DRV_PAGE;
	body.buf = drv_page_list(d, page, LIST_PAGES, 12, 2);
	CHECK_EQ(drv_create_mkey(d, &body, 0, &key), MYNIC_AQ_OK);
	return key;
}

static void begin_sges(struct hostile *h)
{
	struct load *load = rc_load(h, 64, 8, 9, &standard, false);
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.num_sge = 28,
		.remote_addr = PAGED_ADDR,
		.rkey = scattered_key(h->nic[1], load->peer_pdn),
	};

	for (unsigned int i = 0; i < wr.num_sge; i++)
		wr.sge[i] = (struct mynic_sge){
			.addr = PAGED_ADDR + (i + 1) * DRV_PAGE - 64,
			.length = 128,
			.lkey = scattered_key(h->nic[0], load->pdn),
		};
	load_fill(load, &wr);
}

static void begin_rnr(struct hostile *h)
{
	static const struct drv_path path = {
		.mtu = IBV_MTU_4096,
		.timeout = 19,
		.rnr_retry = 7,
		.min_rnr_timer = 1,
	};
	struct load *load = rc_load(h, many(h), 16, 6, &path, false);
	struct drv_wr wr = {
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_INLINE,
		.inline_data = eight,
		.inline_len = sizeof(eight),
	};

	load_fill(load, &wr);
}

static void begin_timeouts(struct hostile *h)
{
	static const struct drv_path path = {
		.mtu = IBV_MTU_4096,
		.timeout = 1,
		.retry_cnt = 7,
	};
	struct load *load = rc_load(h, many(h), 16, 6, &path, true);
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_INLINE,
		.inline_data = eight,
		.inline_len = sizeof(eight),
	};

	load_fill(load, &wr);
}

static uint32_t paged_key(struct drv *d, uint32_t pdn)
{
	struct mynic_create_mkey body = {
		.buf = { .levels = 1, .log_page_size = 12, .log_list_size = 12 },
		.iova = PAGED_ADDR,
		.length = PAGED_LEN,
		.pdn = pdn,
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			  IBV_ACCESS_REMOTE_READ,
	};
	uint32_t key;

	body.buf.addr = sim_iova(d->n, sim_alloc(d->n, DRV_PAGE, DRV_PAGE));
	CHECK_EQ(drv_create_mkey(d, &body, MYNIC_MKEY_ODP, &key), MYNIC_AQ_OK);
	return key;
}

static void begin_faults(struct hostile *h)
{
	struct load *load = rc_load(h, 64, 8, 6, &standard, false);
	struct drv_mr *from =
		drv_reg_mr(h->nic[0], load->pdn, PAGED_LEN, ACCESS_ALL);
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.num_sge = 1,
		.sge = { drv_sge(from, 0, PAGED_LEN) },
		.remote_addr = PAGED_ADDR,
		.rkey = paged_key(h->nic[1], load->peer_pdn),
	};

	load_fill(load, &wr);
}

/* Claim that the pages are present, although they are not */
static void resume_all(struct drv *d)
{
	struct mynic_eqe eqe;

	for (int i = 0; i < 8 && drv_eq_poll(&d->event, &eqe); i++) {
		struct mynic_admin_cmd cmd = {
			.opcode = MYNIC_CMD_RESUME,
			.number = eqe.number,
			.resume = { .token = eqe.token,
				    .stage =
					    eqe.type - MYNIC_EVENT_PAGE_FAULT },
		};

		drv_eq_release(&d->event);
		if (eqe.type >= MYNIC_EVENT_PAGE_FAULT)
			drv_admin(d, &cmd, NULL);
	}
	drv_eq_ring(&d->event);
}

static void fault_again(struct hostile *h)
{
	load_again(h->state);
	resume_all(h->nic[0]);
	resume_all(h->nic[1]);
}

static void begin_flush(struct hostile *h)
{
	uint32_t len = h->quick ? 64 << 10 : 4 << 20;
	struct load *load = rc_load(h, 2, 8, 7, &standard, false);
	struct drv_mr *from = drv_reg_mr(h->nic[0], load->pdn, len, ACCESS_ALL);
	struct drv_mr *to =
		drv_reg_mr(h->nic[1], load->peer_pdn, len, ACCESS_ALL);
	struct drv_wr write = {
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(from, 0, len) },
		.remote_addr = to->addr,
		.rkey = to->key,
	};
	struct drv_wr flush = {
		.opcode = IBV_WR_FLUSH,
		.flush = { .length = len,
			   .placement = IBV_FLUSH_PERSISTENT,
			   .selectivity = IBV_FLUSH_RANGE },
		.remote_addr = to->addr,
		.rkey = to->key,
	};

	load_fill(load, &flush);
	/* Every other request is a WRITE, so that each FLUSH has work */
	for (unsigned int i = 0; i < load->num; i++) {
		write.wr_id = i;
		for (unsigned int slot = 0; slot < load->depth; slot += 2) {
			load->qp[i]->sq_pi = slot;
			drv_write_wqe(load->qp[i], &write);
		}
		load->qp[i]->sq_pi = 0;
	}
}

/* Turn the requests in all slots into TSO, with a header before the SGE */
static void make_tso(struct load *load, const void *hdr, uint16_t hdr_len)
{
	for (unsigned int i = 0; i < load->num; i++) {
		struct drv_qp *qp = load->qp[i];

		for (unsigned int slot = 0; slot < load->depth; slot++) {
			uint8_t *wqe = drv_buf_at(&qp->buf,
						  qp->create.sq_offset +
							  ((size_t)slot << 8));
			struct mynic_send_wqe *head = (void *)wqe;
			uint8_t *data = wqe + MYNIC_WQE_DATA_EXT;

			head->mss = MSS;
			head->hdr_len = hdr_len;
			memmove(data + (hdr_len + 15) / 16 * 16, data,
				sizeof(struct mynic_sge));
			memcpy(data, hdr, hdr_len);
		}
	}
}

static void tso_fill(struct hostile *h, struct load *load, struct drv_wr wr,
		     const void *hdr, uint16_t hdr_len)
{
	uint32_t len = MSS * (h->quick ? 64 : SEGMENTS);
	struct drv_mr *mr = drv_reg_mr(h->nic[0], load->pdn, len, ACCESS_ALL);

	wr.opcode = IBV_WR_TSO;
	wr.num_sge = 1;
	wr.sge[0] = drv_sge(mr, 0, len);
	load_fill(load, &wr);
	make_tso(load, hdr, hdr_len);
}

static struct load *raw_tso(struct hostile *h, const void *dmac)
{
	struct drv_qp_init init = {
		.type = MYNIC_QP_RAW_PACKET,
		.pdn = drv_alloc_pd(h->nic[0]),
		.log_sq_stride = 8,
	};
	struct load *load = load_new(h->nic[0], init, 4, 8);
	struct eth_buf header;

	h->state = load;
	for (unsigned int i = 0; i < load->num; i++)
		eth_raw_up(load->qp[i]);
	eth_begin(&header, dmac, 0x0800);
	eth_put_ipv4(&header, 0x0a000001, 0x0a000002, TCP, 20 + MSS);
	eth_put_tcp(&header, 80, 1234, 1, ACK);
	tso_fill(h, load, (struct drv_wr){}, header.data, header.len);
	return load;
}

static struct drv_qp *raw_receiver(struct drv *d)
{
	struct drv_cq *cq = drv_create_cq(d, 4);
	struct drv_qp_init init = {
		.type = MYNIC_QP_RAW_PACKET,
		.pdn = drv_alloc_pd(d),
		.send_cq = cq,
		.recv_cq = cq,
	};
	struct drv_qp *qp = drv_create_qp(d, &init);

	eth_raw_up(qp);
	return qp;
}

/* Only the last spec of each rule rejects the frame */
static void begin_rules(struct hostile *h)
{
	struct mynic_flow_spec specs[MYNIC_FLOW_MAX_SPECS] = {};
	struct mynic_create_flow body = { .num_specs = ARRAY_SIZE(specs) };
	struct drv_qp *qp = raw_receiver(h->nic[1]);
	unsigned int num = h->quick ? 64 : 4096;

	for (unsigned int i = 0; i < ARRAY_SIZE(specs); i++)
		specs[i].type = MYNIC_FLOW_IPV4;
	specs[ARRAY_SIZE(specs) - 1].val[0] = 1;
	specs[ARRAY_SIZE(specs) - 1].mask[0] = 0xff;
	for (unsigned int i = 0; i < num; i++)
		if (eth_flow(qp, body, specs, NULL))
			break; /* more than the NIC may have */
	raw_tso(h, nic_mac(h->nic[1]->n->nic));
}

void hostile_begin_frames(struct hostile *h, const void *dmac)
{
	raw_tso(h, dmac);
}

void hostile_begin_broadcast(struct hostile *h)
{
	raw_receiver(h->nic[1]);
	raw_tso(h, "\xff\xff\xff\xff\xff\xff");
}

static const uint8_t group[16] = { 0xff, 0x0e, [15] = 0x42 };

static void make_members(struct drv *d, unsigned int num)
{
	struct drv_qp_init init = {
		.type = MYNIC_QP_UD,
		.pdn = drv_alloc_pd(d),
		.log_sq_size = 1,
		.log_sq_stride = 7,
		.log_rq_size = 6,
		.log_rq_stride = 5,
	};

	/* Nobody polls the completions, so the CQ overruns */
	init.send_cq = drv_create_cq(d, 12);
	init.recv_cq = init.send_cq;
	for (unsigned int i = 0; i < num; i++) {
		struct drv_qp *qp = drv_create_qp(d, &init);

		drv_ud_up(qp, QKEY, IBV_QPS_RTS);
		CHECK_EQ(drv_mcast(qp, MYNIC_CMD_ATTACH_MCAST, group),
			 MYNIC_AQ_OK);
	}
}

static void begin_multicast(struct hostile *h)
{
	struct drv_qp_init init = {
		.type = MYNIC_QP_UD,
		.pdn = drv_alloc_pd(h->nic[0]),
		.log_sq_stride = 8,
	};
	struct load *load = load_new(h->nic[0], init, h->quick ? 2 : 16, 8);
	struct drv_wr wr = {
		.remote_qpn = MULTICAST_QPN,
		.remote_qkey = QKEY,
		.av = { .hop_limit = 64 },
	};

	h->state = load;
	for (unsigned int i = 0; i < load->num; i++)
		drv_ud_up(load->qp[i], QKEY, IBV_QPS_RTS);
	memcpy(wr.av.dgid, group, sizeof(group));
	memcpy(wr.av.dmac, "\x33\x33\x00\x00\x00\x42", 6);
	make_members(h->nic[0], h->quick ? 8 : GROUP_SIZE);
	make_members(h->nic[1], h->quick ? 8 : GROUP_SIZE);
	tso_fill(h, load, wr, eight, sizeof(eight));
}

const struct hostile_kind hostile_traffic[] = {
	{ "idle", "nothing", .again = nothing },
	{ "big_writes", "WRITEs of 4 MiB", .begin = begin_writes,
	  .again = again },
	{ "big_reads", "READs of 4 MiB", .begin = begin_reads, .again = again },
	{ "small_writes", "WRITEs of 8 bytes, 512 QPs",
	  .begin = hostile_begin_small_writes, .again = again },
	{ "many_sges", "30 SGEs a request, long page lists",
	  .begin = begin_sges, .again = again },
	{ "rnr_storm", "SENDs that nobody receives, 512 QPs",
	  .begin = begin_rnr, .again = again },
	{ "timeouts", "requests that nobody answers, 512 QPs",
	  .begin = begin_timeouts, .again = again },
	{ "page_faults", "page faults that bring no page",
	  .begin = begin_faults, .again = fault_again },
	{ "tso_rules", "TSO against 4096 rules of 16 specs",
	  .begin = begin_rules, .again = again },
	{ "tso_multicast", "TSO of 16 UD QPs to a group of 64",
	  .begin = begin_multicast, .again = again },
	{ "tso_broadcast", "TSO to all, the victim too",
	  .begin = hostile_begin_broadcast, .again = again },
	{ "slow_flush", "FLUSH to a file on a disk", .slow_file = true,
	  .begin = begin_flush, .again = again },
	{ "touched_maps", "maps of 128 MiB that were written, unmapped",
	  .begin = begin_touched, .again = touched_again },
	{},
};
