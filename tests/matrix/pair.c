// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Devices, and pairs of queue pairs between them */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/mynicdv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "matrix.h"

#define VENDOR_ID 0x1af4
#define DEVICE_ID 0x10f0
#define QKEY 0x11111111
#define FIRST_PSN 0xfffff0 /* so that they wrap soon */
#define QUEUE_LEN 64

#define ACCESS_ALL                                           \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |  \
	 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
	 IBV_ACCESS_MW_BIND | IBV_ACCESS_FLUSH_GLOBAL |      \
	 IBV_ACCESS_FLUSH_PERSISTENT)

static bool is_mynic(struct ibv_context *ctx)
{
	struct ibv_device_attr attr;

	return !ibv_query_device(ctx, &attr) && attr.vendor_id == VENDOR_ID &&
	       attr.vendor_part_id == DEVICE_ID;
}

static struct ibv_context *open_mynic(unsigned int index)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *found = NULL;

	for (int i = 0; list && list[i] && !found; i++) {
		struct ibv_context *ctx = ibv_open_device(list[i]);

		if (ctx && is_mynic(ctx) && index-- == 0)
			found = ctx;
		else if (ctx)
			ibv_close_device(ctx);
	}
	if (list)
		ibv_free_device_list(list);
	return found;
}

static bool find_gid(struct node *node)
{
	static const uint8_t ipv4[12] = { [10] = 0xff, 0xff };
	struct ibv_gid_entry entry;

	for (int i = 0; i < 256; i++) {
		if (ibv_query_gid_ex(node->ctx, 1, i, &entry, 0) ||
		    entry.gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    memcmp(entry.gid.raw, ipv4, sizeof(ipv4)))
			continue;
		node->gid_index = i;
		node->gid = entry.gid;
		return true;
	}
	return false;
}

const char *node_open(struct node *node, unsigned int index)
{
	node->ctx = open_mynic(index);
	if (!node->ctx)
		return "no such mynic";
	if (!find_gid(node))
		return "it has no IPv4 address";
	node->pd = ibv_alloc_pd(node->ctx);
	node->channel = ibv_create_comp_channel(node->ctx);
	if (!node->pd || !node->channel)
		return "no PD or completion channel";
	node->send_cq = ibv_create_cq(node->ctx, 2 * QUEUE_LEN, NULL, NULL, 0);
	node->recv_cq =
		ibv_create_cq(node->ctx, 2 * QUEUE_LEN, NULL, node->channel, 0);
	if (!node->send_cq || !node->recv_cq)
		return "no CQs";
	node->buf = aligned_alloc(4096, BUF_SIZE);
	if (!node->buf)
		return "no memory";
	node->mr = ibv_reg_mr(node->pd, node->buf, BUF_SIZE, ACCESS_ALL);
	return node->mr ? NULL : "no memory region with all rights";
}

static enum ibv_qp_type qp_type(enum type type)
{
	static const enum ibv_qp_type types[] = {
		[TYPE_RC] = IBV_QPT_RC,		 [TYPE_UC] = IBV_QPT_UC,
		[TYPE_UD] = IBV_QPT_UD,		 [TYPE_XRC] = IBV_QPT_XRC_SEND,
		[TYPE_RAW] = IBV_QPT_RAW_PACKET, [TYPE_DRIVER] = IBV_QPT_DRIVER,
	};

	return types[type];
}

struct ibv_qp *make_sender(struct node *node, enum type type, enum wr_api api,
			   uint64_t create)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = node->send_cq,
		.recv_cq = type == TYPE_XRC ? NULL : node->recv_cq,
		.cap = { .max_send_wr = QUEUE_LEN,
			 .max_recv_wr = type == TYPE_XRC ? 0 : QUEUE_LEN,
			 .max_send_sge = MAX_SGE,
			 .max_recv_sge = type == TYPE_XRC ? 0 : 2,
			 .max_inline_data = MAX_INLINE },
		.qp_type = qp_type(type),
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = node->pd,
	};
	struct mynicdv_qp_init_attr driver = {
		.driver_qp_type = MYNICDV_DRIVER_QP_MEMCPY,
	};

	if (api == API_WR) {
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.send_ops_flags = create;
	}
	if (create & IBV_QP_EX_WITH_TSO) {
		init.comp_mask |= IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
		init.max_tso_header = MAX_INLINE;
	}
	errno = 0;
	if (type != TYPE_DRIVER && !(create & CREATE_DRIVER1))
		return ibv_create_qp_ex(node->ctx, &init);
	init.send_ops_flags &= ~CREATE_DRIVER1;
	init.cap.max_recv_wr = 0;
	init.cap.max_recv_sge = 0;
	if (api == API_WR && create & CREATE_DRIVER1)
		driver.send_ops_flags = MYNICDV_QP_EX_WITH_MEMCPY;
	return mynicdv_create_qp(node->ctx, &init, &driver);
}

static bool open_srq(struct pair *pair)
{
	struct ibv_xrcd_init_attr domain = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = QUEUE_LEN, .max_sge = 2 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = pair->b->pd,
		.cq = pair->b->recv_cq,
	};

	pair->xrcd = ibv_open_xrcd(pair->b->ctx, &domain);
	init.xrcd = pair->xrcd;
	if (!pair->xrcd)
		return false;
	pair->srq = ibv_create_srq_ex(pair->b->ctx, &init);
	return pair->srq && !ibv_get_srq_num(pair->srq, &pair->srqn);
}

/* A QP without another end has no attribute but the state. */
static bool start_alone(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {};

	for (int state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
		attr.qp_state = state;
		if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
			return false;
	}
	return true;
}

static bool open_receiver(struct pair *pair)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};

	if (pair->type != TYPE_XRC) {
		pair->peer = make_sender(pair->b, pair->type, API_POST_SEND, 0);
		return pair->peer;
	}
	if (!open_srq(pair))
		return false;
	init.xrcd = pair->xrcd;
	pair->peer = ibv_create_qp_ex(pair->b->ctx, &init);
	return pair->peer;
}

static bool is_connected(enum type type)
{
	return type == TYPE_RC || type == TYPE_UC || type == TYPE_XRC;
}

static bool is_reliable(enum type type)
{
	return type == TYPE_RC || type == TYPE_XRC;
}

static struct ibv_ah_attr path(const struct node *from, const struct node *to)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = to->gid,
			 .sgid_index = from->gid_index,
			 .hop_limit = 64 },
	};
}

static int to_init(struct ibv_qp *qp, enum type type)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = QKEY,
		.qp_access_flags = type == TYPE_UC ?
					   IBV_ACCESS_REMOTE_WRITE :
					   ACCESS_ALL & ~IBV_ACCESS_MW_BIND,
	};
	int mask = IBV_QP_STATE | IBV_QP_PORT;

	if (type == TYPE_RAW)
		return ibv_modify_qp(qp, &attr, mask);
	mask |= IBV_QP_PKEY_INDEX;
	mask |= type == TYPE_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	return ibv_modify_qp(qp, &attr, mask);
}

static int to_rtr(struct ibv_qp *qp, enum type type, const struct node *from,
		  const struct node *to, uint32_t dest_qp_num)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = path(from, to),
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = dest_qp_num,
		.rq_psn = FIRST_PSN,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
	};
	int mask = IBV_QP_STATE;

	if (is_connected(type))
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;
	if (is_reliable(type) && qp->qp_type != IBV_QPT_XRC_SEND)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(qp, &attr, mask);
}

static int to_rts(struct ibv_qp *qp, enum type type)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = FIRST_PSN,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
	};
	int mask = IBV_QP_STATE;

	if (type != TYPE_RAW)
		mask |= IBV_QP_SQ_PSN;
	if (is_reliable(type))
		mask |= IBV_QP_TIMEOUT;
	if (is_reliable(type) && qp->qp_type != IBV_QPT_XRC_RECV)
		mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return ibv_modify_qp(qp, &attr, mask);
}

static bool connect_qp(struct ibv_qp *qp, enum type type,
		       const struct node *from, const struct node *to,
		       uint32_t dest_qp_num)
{
	return !to_init(qp, type) && !to_rtr(qp, type, from, to, dest_qp_num) &&
	       !to_rts(qp, type);
}

static bool steer(struct pair *pair)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			  .size = sizeof(rule),
			  .num_of_specs = 1,
			  .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) },
	};

	memcpy(rule.eth.val.dst_mac, raw_mac, sizeof(raw_mac));
	memset(rule.eth.mask.dst_mac, 0xff, sizeof(raw_mac));
	pair->flow = ibv_create_flow(pair->peer, &rule.attr);
	return pair->flow;
}

/*
 * A receiving QP of XRC has no send queue, so another QP of its node binds
 * windows. It needs no peer, because binding takes no packets.
 */
static bool open_binder(struct pair *pair)
{
	if (pair->type != TYPE_XRC) {
		pair->binder = pair->peer;
		return true;
	}
	pair->binder = make_sender(pair->b, TYPE_RC, API_POST_SEND, 0);
	return pair->binder && connect_qp(pair->binder, TYPE_RC, pair->b,
					  pair->a, pair->qp->qp_num);
}

static uint64_t all_ops(enum type type)
{
	uint64_t create = 0;

	for (unsigned int i = 0; i < num_ops; i++)
		if (op_on_type(&ops[i], type))
			create |= ops[i].create;
	return create;
}

bool pair_open(struct pair *pair, enum type type, enum wr_api api,
	       struct node *a, struct node *b)
{
	struct ibv_ah_attr attr = path(a, b);

	*pair = (struct pair){ .type = type, .a = a, .b = b };
	pair->qp = make_sender(a, type, api, all_ops(type));
	if (!pair->qp)
		return false;
	if (api == API_WR)
		pair->qpx = ibv_qp_to_qp_ex(pair->qp);
	if (type == TYPE_DRIVER) {
		pair->b = a;
		return start_alone(pair->qp);
	}
	if (!open_receiver(pair))
		return false;
	if (type == TYPE_UD) {
		pair->ah = ibv_create_ah(a->pd, &attr);
		if (!pair->ah)
			return false;
	}
	if (!connect_qp(pair->peer, type, b, a, pair->qp->qp_num) ||
	    !connect_qp(pair->qp, type, a, b, pair->peer->qp_num))
		return false;
	return type == TYPE_RAW ? steer(pair) : open_binder(pair);
}

static void drain(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) > 0)
		;
}

void pair_close(struct pair *pair)
{
	if (pair->flow && ibv_destroy_flow(pair->flow))
		wrong("a flow rule cannot be destroyed");
	if (pair->ah && ibv_destroy_ah(pair->ah))
		wrong("an address handle cannot be destroyed");
	if (pair->binder && pair->binder != pair->peer &&
	    ibv_destroy_qp(pair->binder))
		wrong("the QP that binds cannot be destroyed");
	if (pair->qp && ibv_destroy_qp(pair->qp))
		wrong("the sending QP cannot be destroyed");
	if (pair->peer && ibv_destroy_qp(pair->peer))
		wrong("the receiving QP cannot be destroyed");
	if (pair->srq && ibv_destroy_srq(pair->srq))
		wrong("the SRQ cannot be destroyed");
	if (pair->xrcd && ibv_close_xrcd(pair->xrcd))
		wrong("the XRC domain cannot be closed");
	drain(pair->a->send_cq);
	drain(pair->b->recv_cq);
}

uint32_t pair_remote_qpn(const struct pair *pair)
{
	return pair->peer ? pair->peer->qp_num : 0;
}

uint8_t *pair_target(const struct pair *pair)
{
	return pair->b->buf + (pair->a == pair->b ? BUF_SIZE / 2 : 0);
}

uint32_t pair_key(const struct pair *pair, const struct ibv_mr *mr)
{
	return pair->type == TYPE_DRIVER ? mr->lkey : mr->rkey;
}

int pair_post_recv(struct pair *pair, struct ibv_mr *mr, void *addr,
		   uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)addr, length, mr->lkey };
	struct ibv_recv_wr *bad, wr = {
		.wr_id = RECV_ID,
		.sg_list = &sge,
		.num_sge = 1,
	};

	if (pair->srq)
		return ibv_post_srq_recv(pair->srq, &wr, &bad);
	return ibv_post_recv(pair->peer, &wr, &bad);
}
