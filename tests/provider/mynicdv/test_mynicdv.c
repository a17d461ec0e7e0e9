// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The functions of mynicdv.h, on the first mynic device as its own peer */
#include <errno.h>
#include <infiniband/mynicdv.h>
#include <poll.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mynic-abi.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/harness_tap.h"

#define BUF_SIZE (4u << 20)
#define PATIENCE 300

/*
 * struct world - a device, and objects of the tests
 * @buf: BUF_SIZE bytes under @mr
 */
struct world {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint8_t *buf;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	int gid_index;
	union ibv_gid gid;
};

static void find_gid(struct world *w)
{
	static const uint8_t ipv4[12] = { [10] = 0xff, 0xff };
	struct ibv_gid_entry entry;

	for (int i = 0; i < 256; i++) {
		if (!ibv_query_gid_ex(w->ctx, 1, i, &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    !memcmp(entry.gid.raw, ipv4, sizeof(ipv4))) {
			w->gid_index = i;
			w->gid = entry.gid;
			return;
		}
	}
	FAIL("no IPv4 GID");
}

static struct ibv_context *open_mynic(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i]; i++)
		if (mynicdv_is_supported(list[i]))
			return ibv_open_device(list[i]);
	FAIL("no mynic device");
}

static struct world *new_world(void)
{
	struct world *w = tap_alloc(sizeof(*w));

	w->ctx = open_mynic();
	CHECK(w->ctx);
	w->pd = ibv_alloc_pd(w->ctx);
	CHECK(w->pd);
	CHECK(!posix_memalign((void **)&w->buf, 4096, BUF_SIZE));
	memset(w->buf, 0, BUF_SIZE);
	w->mr = ibv_reg_mr(w->pd, w->buf, BUF_SIZE,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ);
	CHECK(w->mr);
	w->channel = ibv_create_comp_channel(w->ctx);
	CHECK(w->channel);
	w->cq = ibv_create_cq(w->ctx, 100, NULL, w->channel, 0);
	CHECK(w->cq);
	find_gid(w);
	return w;
}

static void fill(uint8_t *ptr, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		ptr[i] = (seed + i) * 2654435761u >> 13;
}

static void modify(struct ibv_qp *qp, struct ibv_qp_attr attr,
		   enum ibv_qp_state state, int mask)
{
	attr.qp_state = state;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask), 0);
}

static struct ibv_qp *new_rc(struct world *w, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = w->cq,
		.recv_cq = w->cq,
		.srq = srq,
		.cap = { .max_send_wr = 30,
			 .max_recv_wr = srq ? 0 : 30,
			 .max_send_sge = 4,
			 .max_recv_sge = 4,
			 .max_inline_data = 64 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(w->pd, &init);

	CHECK(qp);
	return qp;
}

static void connect_rc(struct world *w, struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = {
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1,
			     .grh = { .dgid = w->gid,
				      .sgid_index = w->gid_index,
				      .hop_limit = 64 },
			     .port_num = 1 },
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	modify(qp, attr, IBV_QPS_INIT,
	       IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	modify(qp, attr, IBV_QPS_RTR,
	       IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	modify(qp, attr, IBV_QPS_RTS,
	       IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		       IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static void wait_wc(struct ibv_cq *cq, struct ibv_wc *wc)
{
	time_t end = time(NULL) + PATIENCE;

	while (time(NULL) < end) {
		int n = ibv_poll_cq(cq, 1, wc);

		CHECK(n >= 0);
		if (n)
			return;
	}
	FAIL("no completion");
}

/* Use of queues without the library, by the addresses of mynicdv_init_obj(3) */

static void store_index(__le32 *record, uint32_t index)
{
	atomic_store_explicit((_Atomic(uint32_t) *)record, htole32(index),
			      memory_order_release);
}

static void ring_doorbell(void *doorbell, uint64_t number, uint32_t index)
{
	atomic_thread_fence(memory_order_seq_cst);
	*(volatile uint64_t *)doorbell =
		htole64(number << MYNIC_DB_NUMBER_SHIFT | index);
}

static struct mynicdv_qp dv_qp(struct ibv_qp *qp)
{
	struct mynicdv_qp out = { 0 };
	struct mynicdv_obj obj = { .qp = { qp, &out } };

	CHECK_EQ(mynicdv_init_obj(&obj, MYNICDV_OBJ_QP), 0);
	return out;
}

static struct mynicdv_cq dv_cq(struct ibv_cq *cq)
{
	struct mynicdv_cq out = { 0 };
	struct mynicdv_obj obj = { .cq = { cq, &out } };

	CHECK_EQ(mynicdv_init_obj(&obj, MYNICDV_OBJ_CQ), 0);
	return out;
}

static void *slot(const struct mynicdv_ring *ring)
{
	return ring->base + (ring->pi & (ring->num - 1)) * ring->stride;
}

static struct mynic_sge hw_sge(struct world *w, size_t offset, uint32_t len)
{
	return (struct mynic_sge){
		.addr = htole64((uintptr_t)w->buf + offset),
		.length = htole32(len),
		.lkey = htole32(w->mr->lkey),
	};
}

static struct mynic_cqe hand_poll(struct mynicdv_cq *cq)
{
	uint32_t index = cq->ci - cq->base;
	const struct mynic_cqe *cqe = &cq->ring[index & (cq->num - 1)];
	uint8_t phase = !(index & cq->num);
	time_t end = time(NULL) + PATIENCE;
	struct mynic_cqe found;

	while ((atomic_load_explicit((_Atomic(uint8_t) *)&cqe->phase,
				     memory_order_acquire) &
		1) != phase)
		if (time(NULL) >= end)
			FAIL("no completion");
	found = *cqe;
	store_index(&cq->dbrec->ci, ++cq->ci);
	return found;
}

static void hand_write(struct world *w, struct mynicdv_qp *qp, uint64_t wr_id,
		       size_t from, size_t to, uint32_t len)
{
	struct mynic_send_wqe *wqe = slot(&qp->sq);
	struct mynic_sge sge = hw_sge(w, from, len);

	*wqe = (struct mynic_send_wqe){
		.wr_id = htole64(wr_id),
		.ctrl = htole32(IBV_WR_RDMA_WRITE |
				IBV_SEND_SIGNALED << MYNIC_WQE_FLAGS_SHIFT),
		.remote_addr = htole64((uintptr_t)w->buf + to),
		.rkey = htole32(w->mr->rkey),
		.len = htole32(1),
	};
	memcpy((void *)wqe + MYNIC_WQE_DATA_RC, &sge, sizeof(sge));
	store_index(&qp->dbrec->sq_pi, ++qp->sq.pi);
	ring_doorbell(qp->doorbell, qp->qpn, qp->sq.pi);
}

TEST(query_device)
{
	struct world *w = new_world();
	struct {
		struct mynicdv_device_attr attr;
		uint8_t more[16];
	} a;

	CHECK_EQ(mynicdv_query_device(w->ctx, &a.attr, sizeof(a.attr)), 0);
	CHECK_EQ(a.attr.comp_mask, 0);
	CHECK_EQ(a.attr.max_sq_stride, MYNIC_SQ_MAX_STRIDE);
	CHECK_EQ(a.attr.max_rq_stride, MYNIC_RQ_MAX_STRIDE);
	CHECK_EQ(a.attr.driver_qp_types, 1 << MYNICDV_DRIVER_QP_MEMCPY);
	CHECK_EQ(a.attr.max_memcpy_size, 1u << 31);

	/* the struct of a newer application, and an invalid one */
	memset(&a, 0xee, sizeof(a));
	CHECK_EQ(mynicdv_query_device(w->ctx, &a.attr, sizeof(a)), 0);
	CHECK_EQ(a.attr.max_sq_stride, MYNIC_SQ_MAX_STRIDE);
	for (size_t i = 0; i < sizeof(a.more); i++)
		CHECK_EQ(a.more[i], 0);
	CHECK_EQ(mynicdv_query_device(w->ctx, &a.attr, 8), EINVAL);
}

TEST(init_obj)
{
	struct world *w = new_world();
	struct ibv_qp *qp = new_rc(w, NULL);
	struct mynicdv_qp out = dv_qp(qp);
	struct mynicdv_cq cq = dv_cq(w->cq);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct mynicdv_obj obj = { .qp = { qp, &out } };

	CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_CAP, &init), 0);
	CHECK_EQ(out.qpn, qp->qp_num);
	CHECK_EQ(out.sq.num, init.cap.max_send_wr);
	CHECK_EQ(out.sq.max_sge, init.cap.max_send_sge);
	CHECK_EQ(out.max_inline, init.cap.max_inline_data);
	CHECK_EQ(out.rq.num, init.cap.max_recv_wr);
	CHECK_EQ(out.rq.max_sge, init.cap.max_recv_sge);
	CHECK_EQ(out.sq.pi, 0);
	CHECK_EQ(out.rq.pi, 0);
	CHECK(out.dbrec && out.doorbell && out.sq.base && out.rq.base);
	CHECK_EQ(cq.num, w->cq->cqe);
	CHECK_EQ(cq.ci, 0);

	CHECK_EQ(mynicdv_init_obj(&obj, MYNICDV_OBJ_QP | 1 << 20), EINVAL);
	CHECK_EQ(mynicdv_init_obj(&obj, 0), 0);
	out.comp_mask = 1;
	CHECK_EQ(mynicdv_init_obj(&obj, MYNICDV_OBJ_QP), EINVAL);
}

/*
 * Programs that were compiled with the first version of mynicdv.h have shorter
 * structs. Nothing behind these is read or written
 */
TEST(older_program)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	const size_t obj_len = offsetof(struct mynicdv_obj, wq);
	const size_t srq_len = offsetof(struct mynicdv_srq, tags);
	struct world *w = new_world();
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4,
						    .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(w->pd, &init);
	uint8_t *end = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mynicdv_srq *out;
	struct mynicdv_obj *obj;

	CHECK(srq);
	CHECK(end != MAP_FAILED);
	end += page;
	CHECK_EQ(mprotect(end, page, PROT_NONE), 0);
	out = (struct mynicdv_srq *)(end - srq_len);
	obj = tap_alloc(sizeof(*obj));
	obj->srq.in = srq;
	obj->srq.out = out;
	CHECK_EQ(mynicdv_init_obj(obj, MYNICDV_OBJ_SRQ), 0);
	CHECK(out->dbrec);
	obj = (struct mynicdv_obj *)(end - obj_len);
	memset(obj, 0, obj_len);
	obj->cq.in = w->cq;
	obj->cq.out = tap_alloc(sizeof(*obj->cq.out));
	CHECK_EQ(mynicdv_init_obj(obj, MYNICDV_OBJ_CQ), 0);
	CHECK(obj->cq.out->ring);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
}

/* Many laps of both rings */
TEST(write_by_hand)
{
	struct world *w = new_world();
	struct ibv_qp *a = new_rc(w, NULL), *b = new_rc(w, NULL);
	struct mynicdv_qp qp;
	struct mynicdv_cq cq;
	uint8_t *dst = w->buf + BUF_SIZE / 2;

	connect_rc(w, a, b->qp_num);
	connect_rc(w, b, a->qp_num);
	qp = dv_qp(a);
	cq = dv_cq(w->cq);
	fill(w->buf, BUF_SIZE / 2, 1);
	for (unsigned int i = 0; i < 500; i++) {
		uint32_t len = i * 7 % 5000;
		struct mynic_cqe cqe;

		memset(dst, 0xee, len + 1);
		hand_write(w, &qp, i + 1000, i, BUF_SIZE / 2, len);
		cqe = hand_poll(&cq);
		CHECK_EQ(le64toh(cqe.wr_id), i + 1000);
		CHECK_EQ(le32toh(cqe.status), IBV_WC_SUCCESS);
		CHECK_EQ(le32toh(cqe.opcode), IBV_WC_RDMA_WRITE);
		CHECK_EQ(le32toh(cqe.qp_num), a->qp_num);
		CHECK(!memcmp(dst, w->buf + i, len));
		CHECK_EQ(dst[len], 0xee);
	}
	CHECK_EQ(le32toh(qp.dbrec->sq_ci), 500);
	/* the library knows nothing of these requests */
	CHECK_EQ(ibv_destroy_qp(a), 0);
	CHECK_EQ(ibv_destroy_qp(b), 0);
}

/* The application continues where the library has stopped */
TEST(goes_on_by_hand)
{
	struct world *w = new_world();
	struct ibv_qp *a = new_rc(w, NULL), *b = new_rc(w, NULL);
	struct ibv_sge sge = { (uintptr_t)w->buf, 8, w->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)w->buf + 64, w->mr->rkey },
	};
	struct ibv_send_wr *bad;
	struct mynicdv_qp qp;
	struct mynicdv_cq cq;
	struct ibv_wc wc;

	connect_rc(w, a, b->qp_num);
	connect_rc(w, b, a->qp_num);
	for (int i = 0; i < 133; i++) {
		CHECK_EQ(ibv_post_send(a, &wr, &bad), 0);
		wait_wc(w->cq, &wc);
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	}
	qp = dv_qp(a);
	cq = dv_cq(w->cq);
	CHECK_EQ(qp.sq.pi, 133);
	CHECK_EQ(cq.ci, 133);
	hand_write(w, &qp, 5, 0, 64, 8);
	CHECK_EQ(le64toh(hand_poll(&cq).wr_id), 5);
}

/* Ask the kernel for the MAC of a destination */
static struct mynic_create_ah_resp
kernel_resolve(struct ibv_pd *pd, const struct ibv_ah_attr *attr)
{
	struct {
		struct ib_uverbs_create_ah_resp resp;
		struct mynic_create_ah_resp driver;
	} resp = { 0 };
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_ah cmd;
	} create = {
		.hdr = { IB_USER_VERBS_CMD_CREATE_AH, sizeof(create) / 4,
			 sizeof(resp) / 4 },
		.cmd = { .response = (uintptr_t)&resp,
			 .pd_handle = pd->handle,
			 .attr = { .grh = { .sgid_index = attr->grh.sgid_index },
				   .is_global = attr->is_global,
				   .port_num = attr->port_num } },
	};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_ah cmd;
	} destroy = {
		.hdr = { IB_USER_VERBS_CMD_DESTROY_AH, sizeof(destroy) / 4, 0 },
	};

	memcpy(create.cmd.attr.grh.dgid, &attr->grh.dgid, 16);
	CHECK_EQ(write(pd->context->cmd_fd, &create, sizeof(create)),
		 sizeof(create));
	destroy.cmd.ah_handle = resp.resp.ah_handle;
	CHECK_EQ(write(pd->context->cmd_fd, &destroy, sizeof(destroy)),
		 sizeof(destroy));
	return resp.driver;
}

static struct ibv_qp *new_ud(struct world *w)
{
	struct ibv_qp_attr attr = { .port_num = 1, .qkey = 1 };
	struct ibv_qp_init_attr init = {
		.send_cq = w->cq,
		.recv_cq = w->cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_qp *qp = ibv_create_qp(w->pd, &init);

	CHECK(qp);
	modify(qp, attr, IBV_QPS_INIT,
	       IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	modify(qp, attr, IBV_QPS_RTR, 0);
	modify(qp, attr, IBV_QPS_RTS, IBV_QP_SQ_PSN);
	return qp;
}

/* Address vector in a request to @ah */
static struct mynic_av av_of(struct world *w, struct ibv_ah *ah)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ah, .remote_qpn = 0xffffff },
	};
	struct ibv_qp *qp = new_ud(w);
	struct mynicdv_qp dv = dv_qp(qp);
	struct mynic_av av;
	struct ibv_wc wc;

	CHECK_EQ(ibv_post_send(qp, &wr, &bad), 0);
	/* with any result, because not each GID fits our own */
	wait_wc(w->cq, &wc);
	memcpy(&av, slot(&dv.sq) + MYNIC_WQE_EXT, sizeof(av));
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	return av;
}

/* The library's address vectors are those of the kernel */
TEST(address_vectors)
{
	static const union ibv_gid gids[] = {
		{ .raw = { [10] = 0xff, 0xff, 224, 0, 0, 1 } },
		{ .raw = { [10] = 0xff, 0xff, 224, 128, 255, 254 } },
		{ .raw = { [10] = 0xff, 0xff, 239, 255, 255, 255 } },
		{ .raw = { 0xff, 0x02, [15] = 1 } },
		{ .raw = { 0xff, 0x0e, [10] = 0xff, 0xff, 224, 1, 2, 3 } },
		{ .raw = { 0xff, 0x12, 0x40, 0x1b, [12] = 0xab, 0xcd, 1, 2 } },
		{ .raw = { 0 } }, /* our own: no group */
	};
	const unsigned int n = ARRAY_SIZE(gids);
	struct world *w = new_world();
	struct ibv_ah_attr path = {
		.is_global = 1,
		.port_num = 1,
		.sl = 5,
		.static_rate = IBV_RATE_10_GBPS,
		.grh = { .dgid = gids[0],
			 .sgid_index = w->gid_index,
			 .hop_limit = 9,
			 .traffic_class = 0xb8,
			 .flow_label = 0xabcde },
	};
	struct ibv_ah *first = ibv_create_ah(w->pd, &path), *ah;
	struct mynicdv_ah out = { 0 };
	struct mynicdv_obj obj = { .ah = { NULL, &out } };

	CHECK(first);
	for (unsigned int i = 0; i < n; i++) {
		struct mynic_create_ah_resp kernel;
		struct mynic_av av;

		path.grh.dgid = i == n - 1 ? w->gid : gids[i];
		kernel = kernel_resolve(w->pd, &path);
		ah = ibv_create_ah(w->pd, &path);
		CHECK(ah);
		av = av_of(w, ah);
		CHECK_MEM(av.dmac, kernel.dmac, 6);
		CHECK_MEM(av.dgid, &path.grh.dgid, 16);
		CHECK_EQ(av.hop_limit, 9);
		CHECK_EQ(av.traffic_class, 0xb8);
		CHECK_EQ(le32toh(av.flow_label), 0xabcde);
		CHECK_EQ(le16toh(av.sgid_index), w->gid_index);
		CHECK_EQ(av.sl, 5);
		CHECK_EQ(av.static_rate, IBV_RATE_10_GBPS);
		obj.ah.in = ah;
		CHECK_EQ(mynicdv_init_obj(&obj, MYNICDV_OBJ_AH), 0);
		CHECK_MEM(&out.av, &av, sizeof(av));
		CHECK_EQ(ibv_destroy_ah(ah), 0);
	}
	CHECK_EQ(ibv_destroy_ah(first), 0);
}

/* The ring of a CQ that was resized begins with the next completion */
TEST(poll_by_hand_after_resize)
{
	struct world *w = new_world();
	struct ibv_qp *a = new_rc(w, NULL), *b = new_rc(w, NULL);
	struct mynicdv_qp qp;
	struct mynicdv_cq cq;

	connect_rc(w, a, b->qp_num);
	connect_rc(w, b, a->qp_num);
	qp = dv_qp(a);
	for (unsigned int i = 0; i < 77; i++) {
		struct ibv_wc wc;

		hand_write(w, &qp, i, 0, 64, 8);
		wait_wc(w->cq, &wc);
		CHECK_EQ(wc.wr_id, i);
	}
	CHECK_EQ(ibv_resize_cq(w->cq, 20), 0);
	cq = dv_cq(w->cq);
	CHECK_EQ(cq.ci, 77);
	CHECK_EQ(cq.num, w->cq->cqe);
	for (unsigned int i = 0; i < 100; i++) {
		hand_write(w, &qp, i, 0, 64, 8);
		CHECK_EQ(le64toh(hand_poll(&cq).wr_id), i);
	}
}

/*
 * Ask for an event for the next solicited completion. The device has taken the
 * last request, because its event has come.
 */
static void hand_arm(struct mynicdv_cq *cq, uint64_t sequence)
{
	*(volatile __le64 *)&cq->dbrec->arm =
		htole64(MYNIC_ARM_VALID | MYNIC_ARM_SOLICITED |
			sequence << MYNIC_ARM_SEQ_SHIFT | cq->ci);
	ring_doorbell(cq->doorbell, cq->cqn, cq->ci);
}

/* Requests of an SRQ and of a QP, and an event for the completion */
static void check_recv(bool with_srq)
{
	struct world *w = new_world();
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 20,
							.max_sge = 2 } };
	struct ibv_srq *srq = with_srq ? ibv_create_srq(w->pd, &srq_init) :
					 NULL;
	struct ibv_qp *a = new_rc(w, srq), *b = new_rc(w, srq);
	struct mynicdv_srq srq_out = { 0 };
	struct mynicdv_obj obj = { .srq = { srq, &srq_out } };
	struct mynicdv_cq cq;
	struct mynicdv_ring ring;
	__le32 *pi;

	CHECK(srq || !with_srq);
	connect_rc(w, a, b->qp_num);
	connect_rc(w, b, a->qp_num);
	cq = dv_cq(w->cq);
	if (with_srq) {
		CHECK_EQ(mynicdv_init_obj(&obj, MYNICDV_OBJ_SRQ), 0);
		ring = srq_out.rq;
		pi = &srq_out.dbrec->pi;
	} else {
		struct mynicdv_qp qp = dv_qp(b);

		ring = qp.rq;
		pi = &qp.dbrec->rq_pi;
	}
	CHECK(ring.num >= 20 && ring.max_sge >= 2);
	for (unsigned int i = 0; i < 100; i++) {
		struct ibv_sge sge = { (uintptr_t)w->buf, 1000, w->mr->lkey };
		struct ibv_send_wr wr = { .sg_list = &sge,
					  .num_sge = 1,
					  .opcode = IBV_WR_SEND,
					  .send_flags = IBV_SEND_SOLICITED };
		struct mynic_recv_wqe *wqe = slot(&ring);
		struct mynic_sge to = hw_sge(w, BUF_SIZE / 2, 2000);
		struct pollfd event = { .fd = w->channel->fd,
					.events = POLLIN };
		struct ibv_send_wr *bad;
		struct mynic_cqe cqe;
		struct ibv_cq *which;
		void *context;

		fill(w->buf, 1000, i);
		*wqe = (struct mynic_recv_wqe){ .wr_id = htole64(i),
						.num_sge = htole32(1) };
		memcpy(wqe + 1, &to, sizeof(to));
		store_index(pi, ++ring.pi);
		hand_arm(&cq, i + 1);
		CHECK_EQ(ibv_post_send(a, &wr, &bad), 0);
		CHECK_EQ(poll(&event, 1, PATIENCE * 1000), 1);
		CHECK_EQ(ibv_get_cq_event(w->channel, &which, &context), 0);
		ibv_ack_cq_events(which, 1);
		cqe = hand_poll(&cq);
		CHECK_EQ(le64toh(cqe.wr_id), i);
		CHECK_EQ(le32toh(cqe.status), IBV_WC_SUCCESS);
		CHECK_EQ(le32toh(cqe.byte_len), 1000);
		CHECK(!memcmp(w->buf, w->buf + BUF_SIZE / 2, 1000));
	}
}

TEST(receive_by_hand)
{
	check_recv(false);
}

TEST(receive_from_srq_by_hand)
{
	check_recv(true);
}

static void modify_wq(struct ibv_wq *wq, enum ibv_wq_state state)
{
	struct ibv_wq_attr attr = { .attr_mask = IBV_WQ_ATTR_STATE,
				    .wq_state = state };

	CHECK_EQ(ibv_modify_wq(wq, &attr), 0);
}

/* In the error state a WQ waits for the doorbell */
TEST(flush_wq_by_hand)
{
	struct world *w = new_world();
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = 4,
		.max_sge = 2,
		.pd = w->pd,
		.cq = w->cq,
	};
	struct ibv_wq *wq = ibv_create_wq(w->ctx, &init);
	struct mynicdv_wq out = { 0 };
	struct mynicdv_obj obj = { .wq = { wq, &out } };

	CHECK(wq);
	CHECK_EQ(mynicdv_init_obj(&obj, MYNICDV_OBJ_WQ), 0);
	CHECK_EQ(out.wqn, wq->wq_num);
	CHECK(out.rq.num >= 4 && out.rq.max_sge >= 2);
	CHECK_EQ(out.rq.pi, 0);
	modify_wq(wq, IBV_WQS_RDY);
	for (uint32_t i = 0; i < 3 * out.rq.num; i++) {
		struct mynic_recv_wqe *wqe = slot(&out.rq);
		struct ibv_wc wc;

		*wqe = (struct mynic_recv_wqe){ .wr_id = htole64(i) };
		store_index(&out.dbrec->rq_pi, ++out.rq.pi);
		if (!i)
			modify_wq(wq, IBV_WQS_ERR);
		else
			ring_doorbell(out.doorbell, out.wqn, 0);
		wait_wc(w->cq, &wc);
		CHECK_EQ(wc.wr_id, i);
		CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
		CHECK(out.dbrec->rq_ring);
	}
	CHECK_EQ(ibv_destroy_wq(wq), 0);
}

static void hand_tag(struct mynicdv_srq *srq, struct mynic_tag_wqe wqe)
{
	struct mynicdv_tags *tags = &srq->tags;

	tags->ring[tags->pi & (tags->num - 1)] = wqe;
	store_index(&tags->dbrec->pi, ++tags->pi);
	ring_doorbell(tags->doorbell, srq->srqn, tags->pi);
}

/* Tags are added and deleted, over many laps of the ring */
TEST(tags_by_hand)
{
	struct world *w = new_world();
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.pd = w->pd,
		.cq = w->cq,
		.tm_cap = { .max_num_tags = 4, .max_ops = 4 },
	};
	struct ibv_srq *srq = ibv_create_srq_ex(w->ctx, &init);
	struct mynicdv_srq out = { .comp_mask = MYNICDV_SRQ_MASK_TAGS };
	struct mynicdv_obj obj = { .srq = { srq, &out } };
	uint32_t signaled = IBV_OPS_SIGNALED << MYNIC_TAG_FLAGS_SHIFT;
	struct ibv_wc wc;

	CHECK(srq);
	CHECK_EQ(mynicdv_init_obj(&obj, MYNICDV_OBJ_SRQ), 0);
	CHECK(out.tags.num >= 4 && out.tags.max_tags >= 4);
	CHECK_EQ(out.tags.pi, 0);
	CHECK_EQ(out.tags.handle, 0);
	for (uint32_t i = 0; i < 3 * out.tags.num; i++) {
		struct mynic_tag_wqe add = {
			.wr_id = htole64(2 * i),
			.ctrl = htole32(IBV_WR_TAG_ADD | signaled),
			.handle = htole32(i),
			.tag = htole64(i),
		};
		struct mynic_tag_wqe del = {
			.wr_id = htole64(2 * i + 1),
			.ctrl = htole32(IBV_WR_TAG_DEL | signaled),
			.handle = htole32(i),
		};

		hand_tag(&out, add);
		wait_wc(w->cq, &wc);
		CHECK_EQ(wc.wr_id, 2 * i);
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		CHECK_EQ(wc.opcode, IBV_WC_TM_ADD);
		CHECK_EQ(le32toh(out.tags.dbrec->done), i);
		hand_tag(&out, del);
		wait_wc(w->cq, &wc);
		CHECK_EQ(wc.wr_id, 2 * i + 1);
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		CHECK_EQ(wc.opcode, IBV_WC_TM_DEL);
		CHECK_EQ(le32toh(out.tags.dbrec->done), i + 1);
	}
	out.comp_mask = 2;
	CHECK_EQ(mynicdv_init_obj(&obj, MYNICDV_OBJ_SRQ), EINVAL);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
}

/* An SRQ without tag matching has no tag ring */
TEST(no_tags)
{
	struct world *w = new_world();
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4,
						    .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(w->pd, &init);
	struct mynicdv_srq out = { .comp_mask = MYNICDV_SRQ_MASK_TAGS };
	struct mynicdv_obj obj = { .srq = { srq, &out } };

	CHECK(srq);
	CHECK_EQ(mynicdv_init_obj(&obj, MYNICDV_OBJ_SRQ), 0);
	CHECK(!out.tags.ring);
	CHECK_EQ(out.tags.num, 0);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
}

TEST(device_memory_by_hand)
{
	struct world *w = new_world();
	struct ibv_alloc_dm_attr attr = { .length = 100 };
	struct ibv_dm *dm = ibv_alloc_dm(w->ctx, &attr);
	struct mynicdv_dm out = { 0 };
	struct mynicdv_obj obj = { .dm = { dm, &out } };
	uint64_t seen;

	CHECK(dm);
	CHECK_EQ(mynicdv_init_obj(&obj, MYNICDV_OBJ_DM), 0);
	CHECK_EQ(out.length, 100);
	*(volatile uint64_t *)(out.buf + 88) = 0x0123456789abcdef;
	CHECK_EQ(ibv_memcpy_from_dm(&seen, dm, 88, sizeof(seen)), 0);
	CHECK_EQ(seen, 0x0123456789abcdef);
	out.comp_mask = 1;
	CHECK_EQ(mynicdv_init_obj(&obj, MYNICDV_OBJ_DM), EINVAL);
	CHECK_EQ(ibv_free_dm(dm), 0);
}

/* DRIVER QPs */

static struct ibv_qp *create_copier(struct world *w, struct ibv_qp_cap *cap,
				    struct mynicdv_qp_init_attr *dv_attr)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = w->cq,
		.cap = *cap,
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = w->pd,
	};
	struct ibv_qp *qp;

	errno = 0;
	qp = mynicdv_create_qp(w->ctx, &attr, dv_attr);
	*cap = attr.cap;
	return qp;
}

static struct ibv_qp *new_copier(struct world *w, uint64_t ops)
{
	struct mynicdv_qp_init_attr dv_attr = {
		.driver_qp_type = MYNICDV_DRIVER_QP_MEMCPY,
		.send_ops_flags = ops,
	};
	struct ibv_qp_cap cap = { .max_send_wr = 30,
				  .max_send_sge = 4,
				  .max_inline_data = 100 };
	struct ibv_qp *qp = create_copier(w, &cap, &dv_attr);
	struct ibv_qp_attr attr = { 0 };

	if (!qp)
		FAIL("mynicdv_create_qp(): %s", strerror(errno));
	CHECK(cap.max_send_wr >= 30 && cap.max_inline_data >= 100);
	for (int state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++)
		modify(qp, attr, state, 0);
	return qp;
}

static void check_wc(struct world *w, struct ibv_qp *qp,
		     enum ibv_wc_status status)
{
	struct ibv_wc wc;

	wait_wc(w->cq, &wc);
	CHECK_EQ(wc.wr_id, 0x77);
	CHECK_EQ(wc.status, status);
	CHECK_EQ(wc.qp_num, qp->qp_num);
	if (!status)
		CHECK_EQ(wc.opcode, IBV_WC_DRIVER1);
}

static const uint32_t lens[] = {
	0,    1,    2,	  7,	 8,	63,    64,	100,	 4095,
	4096, 4097, 8192, 65535, 65536, 65537, 1000000, 2000000,
};

#define DST (BUF_SIZE / 2 + 64)

static void before_copy(struct world *w, uint32_t len)
{
	fill(w->buf, len, len);
	memset(w->buf + DST - 64, 0xee, len + 64 < 2000000 ? len + 128 : len);
}

static void after_copy(struct world *w, uint32_t len)
{
	CHECK(!memcmp(w->buf, w->buf + DST, len));
	CHECK_EQ(w->buf[DST - 1], 0xee);
	if (len + 64 < 2000000)
		CHECK_EQ(w->buf[DST + len], 0xee);
}

TEST(memcpy_builder)
{
	struct world *w = new_world();
	struct ibv_qp *qp = new_copier(w, MYNICDV_QP_EX_WITH_MEMCPY);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct mynicdv_qp_ex *dv = mynicdv_qp_ex_from_ibv_qp_ex(qpx);

	CHECK(qpx && dv);
	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		uint32_t len = lens[i];
		struct ibv_sge list[3] = {
			{ (uintptr_t)w->buf, len / 3, w->mr->lkey },
			{ (uintptr_t)w->buf + len / 3, 0, w->mr->lkey },
			{ (uintptr_t)w->buf + len / 3, len - len / 3,
			  w->mr->lkey },
		};
		struct ibv_data_buf bufs[2] = {
			{ w->buf, len / 3 },
			{ w->buf + len / 3, len - len / 3 },
		};

		for (int how = 0; how < (len <= 100 ? 4 : 2); how++) {
			before_copy(w, len);
			ibv_wr_start(qpx);
			qpx->wr_id = 0x77;
			qpx->wr_flags = IBV_SEND_SIGNALED;
			mynicdv_wr_memcpy(dv, w->mr->lkey,
					  (uintptr_t)w->buf + DST);
			if (how == 0)
				ibv_wr_set_sge(qpx, w->mr->lkey,
					       (uintptr_t)w->buf, len);
			else if (how == 1)
				ibv_wr_set_sge_list(qpx, 3, list);
			else if (how == 2)
				ibv_wr_set_inline_data(qpx, w->buf, len);
			else
				ibv_wr_set_inline_data_list(qpx, 2, bufs);
			CHECK_EQ(ibv_wr_complete(qpx), 0);
			check_wc(w, qp, IBV_WC_SUCCESS);
			after_copy(w, len);
		}
	}
}

static int post_copy(struct world *w, struct ibv_qp *qp, uint32_t len,
		     uint32_t lkey, uint64_t dst)
{
	struct ibv_sge sge = { (uintptr_t)w->buf, len, w->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = 0x77,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_DRIVER1,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { dst, lkey },
	};
	struct ibv_send_wr *bad = NULL;

	return ibv_post_send(qp, &wr, &bad);
}

TEST(memcpy_post_send)
{
	struct world *w = new_world();
	struct ibv_qp *qp = new_copier(w, 0);

	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		before_copy(w, lens[i]);
		CHECK_EQ(post_copy(w, qp, lens[i], w->mr->lkey,
				   (uintptr_t)w->buf + DST),
			 0);
		check_wc(w, qp, IBV_WC_SUCCESS);
		after_copy(w, lens[i]);
	}
}

TEST(memcpy_by_hand)
{
	struct world *w = new_world();
	struct ibv_qp *qp = new_copier(w, 0);
	struct mynicdv_qp out = dv_qp(qp);
	struct mynic_send_wqe *wqe = slot(&out.sq);
	struct mynic_sge sge = hw_sge(w, 0, 5000);

	CHECK_EQ(out.rq.num, 0);
	before_copy(w, 5000);
	*wqe = (struct mynic_send_wqe){
		.wr_id = htole64(0x77),
		.ctrl = htole32(IBV_WR_DRIVER1 |
				IBV_SEND_SIGNALED << MYNIC_WQE_FLAGS_SHIFT),
		.remote_addr = htole64((uintptr_t)w->buf + DST),
		.rkey = htole32(w->mr->lkey),
		.len = htole32(1),
	};
	memcpy((void *)wqe + MYNIC_WQE_DATA_EXT, &sge, sizeof(sge));
	store_index(&out.dbrec->sq_pi, ++out.sq.pi);
	ring_doorbell(out.doorbell, out.qpn, out.sq.pi);
	check_wc(w, qp, IBV_WC_SUCCESS);
	after_copy(w, 5000);
}

TEST(memcpy_errors)
{
	struct world *w = new_world();
	struct ibv_qp *qp = new_copier(w, 0);
	struct ibv_mr *ro = ibv_reg_mr(w->pd, w->buf, BUF_SIZE, 0);
	struct ibv_pd *other_pd = ibv_alloc_pd(w->ctx);
	struct ibv_mr *other =
		ibv_reg_mr(other_pd, w->buf, BUF_SIZE, IBV_ACCESS_LOCAL_WRITE);
	const struct {
		uint32_t lkey;
		uint64_t dst;
	} bad[] = {
		{ w->mr->lkey ^ 0xff, (uintptr_t)w->buf },
		{ ro->lkey, (uintptr_t)w->buf },
		{ other->lkey, (uintptr_t)w->buf },
		{ w->mr->lkey, (uintptr_t)w->buf - 1 },
		{ w->mr->lkey, (uintptr_t)w->buf + BUF_SIZE - 99 },
		{ w->mr->lkey, UINT64_MAX },
	};
	struct ibv_qp_attr attr = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct ibv_qp_init_attr init;

		CHECK_EQ(post_copy(w, qp, 100, bad[i].lkey, bad[i].dst), 0);
		check_wc(w, qp, IBV_WC_LOC_PROT_ERR);
		CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
		CHECK_EQ(attr.qp_state, IBV_QPS_SQE);
		CHECK_EQ(init.qp_type, IBV_QPT_DRIVER);
		modify(qp, attr, IBV_QPS_RTS, 0);
		CHECK_EQ(post_copy(w, qp, 100, w->mr->lkey,
				   (uintptr_t)w->buf + DST),
			 0);
		check_wc(w, qp, IBV_WC_SUCCESS);
	}
}

/* DRIVER QPs take only DRIVER1, and other QPs do not */
TEST(memcpy_refused_when_posted)
{
	struct world *w = new_world();
	struct ibv_qp *qp = new_copier(w, 0);
	struct ibv_qp *rc = new_rc(w, NULL);
	struct ibv_send_wr *bad;

	for (int opcode = 0; opcode <= IBV_WR_ATOMIC_WRITE; opcode++) {
		struct ibv_send_wr wr = { .opcode = opcode };

		if (opcode == IBV_WR_DRIVER1)
			continue;
		bad = NULL;
		CHECK_EQ(ibv_post_send(qp, &wr, &bad), EINVAL);
		CHECK(bad == &wr);
	}
	connect_rc(w, rc, rc->qp_num);
	CHECK_EQ(post_copy(w, rc, 100, w->mr->lkey, (uintptr_t)w->buf), EINVAL);
}

TEST(driver_qp_states)
{
	struct world *w = new_world();
	struct ibv_qp *qp = new_copier(w, 0);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .port_num = 1 };

	/* a useless attribute, and an illegal transition */
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
	attr.qp_state = IBV_QPS_INIT;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);

	modify(qp, attr, IBV_QPS_ERR, 0);
	CHECK_EQ(post_copy(w, qp, 100, w->mr->lkey, (uintptr_t)w->buf + DST),
		 0);
	check_wc(w, qp, IBV_WC_WR_FLUSH_ERR);
	modify(qp, attr, IBV_QPS_RESET, 0);
	CHECK_EQ(post_copy(w, qp, 100, w->mr->lkey, (uintptr_t)w->buf + DST),
		 EINVAL);
	for (int state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++)
		modify(qp, attr, state, 0);
	before_copy(w, 3000);
	CHECK_EQ(post_copy(w, qp, 3000, w->mr->lkey, (uintptr_t)w->buf + DST),
		 0);
	check_wc(w, qp, IBV_WC_SUCCESS);
	after_copy(w, 3000);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}

TEST(driver_qp_refused)
{
	struct world *w = new_world();
	struct mynicdv_qp_init_attr good = {
		.driver_qp_type = MYNICDV_DRIVER_QP_MEMCPY,
	};
	struct mynicdv_qp_init_attr bad;
	struct ibv_qp_cap cap = { .max_send_wr = 1, .max_send_sge = 1 };
	struct ibv_qp_cap with_rq = { .max_send_wr = 1, .max_recv_wr = 1 };
	struct ibv_qp_init_attr plain = {
		.send_cq = w->cq,
		.recv_cq = w->cq,
		.cap = cap,
		.qp_type = IBV_QPT_DRIVER,
	};

	CHECK(!create_copier(w, &with_rq, &good));
	CHECK_EQ(errno, EINVAL);
	bad = good;
	bad.driver_qp_type = 2;
	CHECK(!create_copier(w, &cap, &bad));
	CHECK_EQ(errno, EOPNOTSUPP);
	bad = good;
	bad.send_ops_flags = 1 << 7;
	CHECK(!create_copier(w, &cap, &bad));
	CHECK_EQ(errno, EOPNOTSUPP);
	bad = good;
	bad.comp_mask = 1;
	CHECK(!create_copier(w, &cap, &bad));
	CHECK_EQ(errno, EINVAL);
	/* a QP without a purpose is refused */
	errno = 0;
	CHECK(!ibv_create_qp(w->pd, &plain));
	CHECK_EQ(errno, EOPNOTSUPP);
}
