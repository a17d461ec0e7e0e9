// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The common part of the examples: opening, connecting, completions and errors.
 */
#include "example.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define MYNIC_VENDOR_ID 0x1af4
#define MYNIC_DEVICE_ID 0x10f0

void must(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "%s failed: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static struct ibv_context *open_first(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device_attr attr;
	struct ibv_context *ctx;

	for (int i = 0; list && list[i]; i++) {
		ctx = ibv_open_device(list[i]);
		if (ctx && !ibv_query_device(ctx, &attr) &&
		    attr.vendor_id == MYNIC_VENDOR_ID &&
		    attr.vendor_part_id == MYNIC_DEVICE_ID)
			return ctx;
	}
	return NULL;
}

/* RoCEv2 over IPv4: an address that needs no neighbour discovery */
static int find_gid(struct example *e)
{
	static const uint8_t ipv4[12] = { [10] = 0xff, 0xff };
	struct ibv_gid_entry entry;

	for (int i = 0; i < 256; i++) {
		if (ibv_query_gid_ex(e->ctx, 1, i, &entry, 0) ||
		    entry.gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    memcmp(entry.gid.raw, ipv4, sizeof(ipv4)))
			continue;
		e->gid = entry.gid;
		return i;
	}
	return -1;
}

void example_open(struct example *e)
{
	e->ctx = open_first();
	must(!!e->ctx, "opening a mynic device");
	e->gid_index = find_gid(e);
	must(e->gid_index >= 0, "looking for an IPv4 address");
	e->pd = ibv_alloc_pd(e->ctx);
	must(!!e->pd, "ibv_alloc_pd()");
	e->cq = ibv_create_cq(e->ctx, 64, NULL, NULL, 0);
	must(!!e->cq, "ibv_create_cq()");
	e->memory = aligned_alloc(4096, MEMORY_SIZE);
	must(!!e->memory, "aligned_alloc()");
	memset(e->memory, 0, MEMORY_SIZE);
	e->mr = ibv_reg_mr(e->pd, e->memory, MEMORY_SIZE,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC);
	must(!!e->mr, "ibv_reg_mr()");
}

struct ibv_qp_cap example_cap(void)
{
	return (struct ibv_qp_cap){
		.max_send_wr = 16,
		.max_recv_wr = 16,
		.max_send_sge = 4,
		.max_recv_sge = 4,
		.max_inline_data = 64,
	};
}

struct ibv_qp *example_create_qp(struct example *e, enum ibv_qp_type type,
				 uint64_t send_ops)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.cap = example_cap(),
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = e->pd,
		.send_ops_flags = send_ops,
	};
	struct ibv_qp *qp;

	if (send_ops)
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	qp = ibv_create_qp_ex(e->ctx, &attr);
	must(!!qp, "ibv_create_qp_ex()");
	return qp;
}

static void modify(struct ibv_qp *qp, struct ibv_qp_attr *attr,
		   enum ibv_qp_state state, int mask)
{
	attr->qp_state = state;
	errno = ibv_modify_qp(qp, attr, IBV_QP_STATE | mask);
	must(!errno, "ibv_modify_qp()");
}

static struct ibv_ah_attr path(struct example *e)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.grh = { .dgid = e->gid,
			 .sgid_index = e->gid_index,
			 .hop_limit = 64 },
		.port_num = 1,
	};
}

void example_connect(struct example *e, struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = {
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer,
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = path(e),
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
	enum ibv_qp_type type = qp->qp_type;
	int sends = IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		    IBV_QP_MAX_QP_RD_ATOMIC;
	int receives = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	int timeout = IBV_QP_TIMEOUT;

	if (type == IBV_QPT_UC || type == IBV_QPT_XRC_RECV)
		sends = 0;
	if (type == IBV_QPT_UC || type == IBV_QPT_XRC_SEND)
		receives = 0;
	if (type == IBV_QPT_UC)
		timeout = 0;
	modify(qp, &attr, IBV_QPS_INIT,
	       IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	modify(qp, &attr, IBV_QPS_RTR,
	       IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       receives);
	modify(qp, &attr, IBV_QPS_RTS, IBV_QP_SQ_PSN | timeout | sends);
}

void example_raw_to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .port_num = 1 };

	modify(qp, &attr, IBV_QPS_INIT, IBV_QP_PORT);
	modify(qp, &attr, IBV_QPS_RTR, 0);
	modify(qp, &attr, IBV_QPS_RTS, 0);
}

/* The network interface has it */
void example_mac(const struct example *e, uint8_t *mac)
{
	struct ibv_gid_entry entry;
	struct ifreq ifr = { 0 };
	int fd, err;

	err = ibv_query_gid_ex(e->ctx, 1, e->gid_index, &entry, 0);
	must(!err && if_indextoname(entry.ndev_ifindex, ifr.ifr_name),
	     "looking for the network interface");
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	must(fd >= 0 && !ioctl(fd, SIOCGIFHWADDR, &ifr), "asking for the MAC");
	memcpy(mac, ifr.ifr_hwaddr.sa_data, 6);
	close(fd);
}

struct ibv_wc example_wait(struct example *e)
{
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(e->cq, 1, &wc);
	} while (!n);
	must(n > 0, "ibv_poll_cq()");
	if (wc.status) {
		fprintf(stderr, "request %llu: %s\n",
			(unsigned long long)wc.wr_id,
			ibv_wc_status_str(wc.status));
		exit(EXIT_FAILURE);
	}
	return wc;
}

struct ibv_ah *example_ah(struct example *e)
{
	struct ibv_ah_attr attr = path(e);
	struct ibv_ah *ah = ibv_create_ah(e->pd, &attr);

	must(!!ah, "ibv_create_ah()");
	return ah;
}

void example_post_recv(struct example *e, struct ibv_qp *qp, uint64_t wr_id,
		       unsigned int offset, unsigned int len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)e->memory + offset,
		.length = len,
		.lkey = e->mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_recv_wr *bad;

	errno = ibv_post_recv(qp, &wr, &bad);
	must(!errno, "ibv_post_recv()");
}
