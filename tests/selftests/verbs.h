/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Common parts of the verbs tests: devices, queue pairs, connections */
#ifndef MYNIC_SELFTEST_VERBS_H
#define MYNIC_SELFTEST_VERBS_H

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define MYNIC_VENDOR_ID 0x1af4
#define MYNIC_DEVICE_ID 0x10f0

/* Time limit in seconds, generous for guests without KVM */
#define PATIENCE 300

/* Time limit of a test; that of the harness is shorter */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT (5 * PATIENCE)

#define BUF_SIZE (1 << 20)

/* Device @index among the mynics, opened; NULL if there are fewer */
static inline struct ibv_context *open_mynic(unsigned int index)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *found = NULL;

	for (int i = 0; list && list[i] && !found; i++) {
		struct ibv_context *ctx = ibv_open_device(list[i]);
		struct ibv_device_attr attr;

		if (!ctx)
			continue;
		if (!ibv_query_device(ctx, &attr) &&
		    attr.vendor_id == MYNIC_VENDOR_ID &&
		    attr.vendor_part_id == MYNIC_DEVICE_ID && index-- == 0)
			found = ctx;
		else
			ibv_close_device(ctx);
	}
	if (list)
		ibv_free_device_list(list);
	return found;
}

/* Before main(): kselftest's way to skip a test */
static inline __attribute__((constructor)) void skip_without_device(void)
{
	struct ibv_context *ctx = open_mynic(0);

	if (!ctx) {
		ksft_print_header();
		ksft_exit_skip("no mynic device\n");
	}
	ibv_close_device(ctx);
}

/* A function level reset; 0 or an errno */
static inline int write_reset(struct ibv_context *ctx)
{
	char path[IBV_SYSFS_PATH_MAX + 16];
	int fd, err;

	snprintf(path, sizeof(path), "%s/device/reset",
		 ctx->device->ibdev_path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	err = write(fd, "1", 1) == 1 ? 0 : errno;
	close(fd);
	return err;
}

/* Index of a GID that other mynics can reach: IPv4, not link-local */
static inline int find_gid(struct ibv_context *ctx)
{
	static const uint8_t ipv4[12] = { [10] = 0xff, 0xff };
	struct ibv_gid_entry entry;

	for (int i = 0; i < 256; i++)
		if (!ibv_query_gid_ex(ctx, 1, i, &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    !memcmp(entry.gid.raw, ipv4, sizeof(ipv4)))
			return i;
	return -1;
}

/* ... or an IPv6 one */
static inline int find_gid_ipv6(struct ibv_context *ctx)
{
	struct ibv_gid_entry entry;

	for (int i = 0; i < 256; i++)
		if (!ibv_query_gid_ex(ctx, 1, i, &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    entry.gid.raw[0] && entry.gid.raw[0] != 0xfe)
			return i;
	return -1;
}

/*
 * struct end - one end of a connection
 * @gid_index: local source GID
 */
struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint8_t *buf;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	int gid_index;
};

/* @srq may be NULL. */
static inline struct ibv_qp *make_qp_with(struct end *e, enum ibv_qp_type type,
					  struct ibv_srq *srq,
					  struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr init = {
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.srq = srq,
		.cap = cap,
		.qp_type = type,
	};

	return ibv_create_qp(e->pd, &init);
}

static inline struct ibv_qp *make_qp(struct end *e, enum ibv_qp_type type)
{
	struct ibv_qp_cap cap = { .max_send_wr = 64,
				  .max_recv_wr = 64,
				  .max_send_sge = 4,
				  .max_recv_sge = 4,
				  .max_inline_data = 64 };

	return make_qp_with(e, type, NULL, cap);
}

/* An SRQ for tag matching, with the CQ of @e */
static inline struct ibv_srq *make_tm_srq(struct end *e, uint32_t tags,
					  uint32_t ops)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 16, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.pd = e->pd,
		.cq = e->cq,
		.tm_cap = { .max_num_tags = tags, .max_ops = ops },
	};

	return ibv_create_srq_ex(e->ctx, &attr);
}

/* A WQ that receives, with the CQ of @e */
static inline struct ibv_wq *make_rq(struct end *e)
{
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = 16,
		.max_sge = 1,
		.pd = e->pd,
		.cq = e->cq,
	};

	return ibv_create_wq(e->ctx, &init);
}

static inline struct ibv_xrcd *open_xrcd(struct ibv_context *ctx, int fd,
					 int oflags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = oflags,
	};

	return ibv_open_xrcd(ctx, &attr);
}

/* An SRQ of a domain, with the CQ of @e */
static inline struct ibv_srq *make_srq_in(struct end *e, struct ibv_xrcd *xrcd)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 16, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = e->pd,
		.xrcd = xrcd,
		.cq = e->cq,
	};

	return ibv_create_srq_ex(e->ctx, &attr);
}

/* A receiving QP of a domain */
static inline struct ibv_qp *make_tgt_in(struct end *e, struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrcd,
	};

	return ibv_create_qp_ex(e->ctx, &attr);
}

/* Create all of @e except ctx; false if something fails */
static inline bool make_end(struct end *e, enum ibv_qp_type type)
{
	e->gid_index = find_gid(e->ctx);
	e->pd = ibv_alloc_pd(e->ctx);
	if (e->gid_index < 0 || !e->pd)
		return false;
	if (posix_memalign((void **)&e->buf, 4096, BUF_SIZE))
		return false;
	memset(e->buf, 0, BUF_SIZE);
	e->mr = ibv_reg_mr(e->pd, e->buf, BUF_SIZE,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC);
	e->channel = ibv_create_comp_channel(e->ctx);
	if (!e->mr || !e->channel)
		return false;
	e->cq = ibv_create_cq(e->ctx, 256, NULL, e->channel, 0);
	if (!e->cq)
		return false;
	e->qp = make_qp(e, type);
	return e->qp;
}

/* Return: 0, or the first error number */
static inline int free_end(struct end *e)
{
	int err = 0;

#define FREE(what, how)                               \
	do {                                          \
		int one = e->what ? how(e->what) : 0; \
		e->what = NULL;                       \
		err = err ? err : one;                \
	} while (0)
	FREE(qp, ibv_destroy_qp);
	FREE(cq, ibv_destroy_cq);
	FREE(channel, ibv_destroy_comp_channel);
	FREE(mr, ibv_dereg_mr);
	FREE(pd, ibv_dealloc_pd);
#undef FREE
	free(e->buf);
	e->buf = NULL;
	return err;
}

/* A RAW_PACKET QP; 0, or the error number of the first step that fails */
static inline int raw_to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	int err;

	err = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT);
	attr.qp_state = IBV_QPS_RTR;
	err = err ? err : ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	return err ? err : ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

/* Attributes that the transition to INIT needs */
static inline int init_mask(enum ibv_qp_type type)
{
	return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
	       (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
}

static inline int rtr_mask(enum ibv_qp_type type)
{
	int mask = IBV_QP_STATE;

	if (type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;
	if (type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return mask;
}

static inline int rts_mask(enum ibv_qp_type type)
{
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return mask;
}

/* Attributes for all transitions, connected to @peer */
static inline struct ibv_qp_attr rc_attr(const struct end *e,
					 const struct end *peer)
{
	struct ibv_qp_attr attr = {
		.path_mtu = IBV_MTU_1024,
		.qkey = 0x11111111,
		.rq_psn = 100,
		.sq_psn = 100,
		.dest_qp_num = peer->qp->qp_num,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.port_num = 1,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = { .is_global = 1,
			     .port_num = 1,
			     .grh = { .sgid_index = e->gid_index,
				      .hop_limit = 64 } },
	};

	ibv_query_gid(peer->ctx, 1, peer->gid_index, &attr.ah_attr.grh.dgid);
	return attr;
}

static inline int to_reset(const struct end *e)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	return ibv_modify_qp(e->qp, &attr, IBV_QP_STATE);
}

static inline int to_rts(const struct end *e, const struct end *peer)
{
	struct ibv_qp_attr attr = rc_attr(e, peer);
	enum ibv_qp_type type = e->qp->qp_type;
	int err;

	attr.qp_state = IBV_QPS_INIT;
	if (type == IBV_QPT_UC) /* it has no more than that */
		attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	err = ibv_modify_qp(e->qp, &attr, init_mask(type));
	if (err)
		return err;
	attr.qp_state = IBV_QPS_RTR;
	err = ibv_modify_qp(e->qp, &attr, rtr_mask(type));
	if (err)
		return err;
	attr.qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(e->qp, &attr, rts_mask(type));
}

static inline int advise(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
			 const void *addr, uint32_t len, uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)addr, len, lkey };

	return ibv_advise_mr(pd, advice, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
}

static inline time_t deadline(void)
{
	return time(NULL) + PATIENCE;
}

/* Value of a counter of the port in sysfs, or -1 */
static inline long long counter(struct ibv_context *ctx, const char *name)
{
	char path[IBV_SYSFS_PATH_MAX + 64], text[32] = { 0 };
	int fd;

	snprintf(path, sizeof(path), "%s/ports/1/hw_counters/%s",
		 ctx->device->ibdev_path, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = '-';
	close(fd);
	return text[0] == '-' ? -1 : atoll(text);
}

/* Wait until a counter has the value; sysfs may be some milliseconds late */
static inline bool wait_counter(struct ibv_context *ctx, const char *name,
				long long value)
{
	time_t end = deadline();

	while (counter(ctx, name) != value)
		if (time(NULL) >= end)
			return false;
	return true;
}

/* Wait for the event that reports the fatal error of the device */
static inline bool wait_fatal(struct ibv_context *ctx)
{
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	time_t end = deadline();

	while (time(NULL) < end) {
		if (poll(&fd, 1, 1000) != 1)
			continue;
		if (ibv_get_async_event(ctx, &event))
			return false;
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			return true;
	}
	return false;
}

/* The next completion; false if none comes */
static inline bool wait_wc(struct ibv_cq *cq, struct ibv_wc *wc)
{
	time_t end = deadline();

	while (time(NULL) < end)
		if (ibv_poll_cq(cq, 1, wc) == 1)
			return true;
	return false;
}

static inline int post(const struct end *e, enum ibv_wr_opcode opcode,
		       uint64_t wr_id, uint32_t at, uint32_t len,
		       const struct end *peer)
{
	struct ibv_sge sge = { (uintptr_t)e->buf + at, len, e->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (peer) {
		wr.wr.rdma.remote_addr = (uintptr_t)peer->buf + at;
		wr.wr.rdma.rkey = peer->mr->rkey;
	}
	return ibv_post_send(e->qp, &wr, &bad);
}

static inline int post_recv(const struct end *e, uint64_t wr_id, uint32_t at,
			    uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)e->buf + at, len, e->mr->lkey };
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ibv_post_recv(e->qp, &wr, &bad);
}

/*
 * One RDMA WRITE of @len bytes from @e to @peer, with a check of the data.
 * Return: 0 on success
 */
static inline int check_write(const struct end *e, const struct end *peer,
			      uint32_t len)
{
	struct ibv_wc wc;

	for (uint32_t i = 0; i < len; i++)
		e->buf[i] = i * 7 + len;
	memset(peer->buf, 0, len);
	if (post(e, IBV_WR_RDMA_WRITE, 0x77, 0, len, peer))
		return -1;
	if (!wait_wc(e->cq, &wc) || wc.wr_id != 0x77)
		return -2;
	if (wc.status)
		return wc.status;
	return memcmp(e->buf, peer->buf, len) ? -3 : 0;
}

#endif /* MYNIC_SELFTEST_VERBS_H */
