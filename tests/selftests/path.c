// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Attributes of a path: queries return them, and packets have them */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <pthread.h>
#include <rdma/mynic-hw.h>
#include <rdma/rdma_cma.h>

#include "verbs.h"

#define TCLASS 0xba
#define FLOW_LABEL 0xabcde
#define HOP_LIMIT 17
#define SL 5

#define GRH_SIZE 40

static void set_path(struct ibv_ah_attr *attr)
{
	attr->grh.traffic_class = TCLASS;
	attr->grh.flow_label = FLOW_LABEL;
	attr->grh.hop_limit = HOP_LIMIT;
	attr->sl = SL;
}

FIXTURE(connected)
{
	struct end e;
};

FIXTURE_VARIANT(connected)
{
	enum ibv_qp_type type;
};

FIXTURE_VARIANT_ADD(connected, rc){
	.type = IBV_QPT_RC,
};

FIXTURE_VARIANT_ADD(connected, uc){
	.type = IBV_QPT_UC,
};

FIXTURE_SETUP(connected)
{
	self->e.ctx = open_mynic(0);
	ASSERT_NE(self->e.ctx, NULL);
	ASSERT_TRUE(make_end(&self->e, variant->type));
}

FIXTURE_TEARDOWN(connected)
{
	EXPECT_EQ(free_end(&self->e), 0);
	EXPECT_EQ(ibv_close_device(self->e.ctx), 0);
}

TEST_F(connected, query)
{
	struct end *e = &self->e;
	struct ibv_qp_attr attr = rc_attr(e, e), got;
	struct ibv_qp_init_attr init;

	set_path(&attr.ah_attr);
	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	attr.qp_state = IBV_QPS_INIT;
	ASSERT_EQ(ibv_modify_qp(e->qp, &attr, init_mask(variant->type)), 0);
	attr.qp_state = IBV_QPS_RTR;
	ASSERT_EQ(ibv_modify_qp(e->qp, &attr, rtr_mask(variant->type)), 0);
	ASSERT_EQ(ibv_query_qp(e->qp, &got, IBV_QP_AV, &init), 0);
	EXPECT_EQ(got.ah_attr.is_global, 1);
	EXPECT_EQ(got.ah_attr.port_num, 1);
	EXPECT_EQ(got.ah_attr.sl, SL);
	EXPECT_EQ(got.ah_attr.grh.sgid_index, e->gid_index);
	EXPECT_EQ(got.ah_attr.grh.traffic_class, TCLASS);
	EXPECT_EQ(got.ah_attr.grh.flow_label, FLOW_LABEL);
	/* except the hop limit, which the RDMA core takes from the route */
	EXPECT_EQ(memcmp(&got.ah_attr.grh.dgid, &attr.ah_attr.grh.dgid, 16), 0);
}

FIXTURE(datagram)
{
	struct end e;
};

FIXTURE_SETUP(datagram)
{
	self->e.ctx = open_mynic(0);
	ASSERT_NE(self->e.ctx, NULL);
	ASSERT_TRUE(make_end(&self->e, IBV_QPT_UD));
	ASSERT_EQ(to_rts(&self->e, &self->e), 0);
}

FIXTURE_TEARDOWN(datagram)
{
	EXPECT_EQ(free_end(&self->e), 0);
	EXPECT_EQ(ibv_close_device(self->e.ctx), 0);
}

/* Sends a message from a QP to itself on a path. Return: its address handle */
static struct ibv_ah *send_by(struct end *e, struct ibv_ah_attr *path)
{
	struct ibv_sge sge = { (uintptr_t)e->buf + 4096, 8, e->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.wr.ud = { .ah = ibv_create_ah(e->pd, path),
			   .remote_qpn = e->qp->qp_num,
			   .remote_qkey = 0x11111111 },
	};

	if (!wr.wr.ud.ah)
		return NULL;
	errno = post_recv(e, 2, 0, 1024);
	if (!errno)
		errno = ibv_post_send(e->qp, &wr, &bad);
	if (!errno)
		return wr.wr.ud.ah;
	ibv_destroy_ah(wr.wr.ud.ah);
	return NULL;
}

/* The same; @wc: its completion */
static int send_to_itself(struct end *e, struct ibv_ah_attr *path,
			  struct ibv_wc *wc)
{
	struct ibv_ah *ah = send_by(e, path);
	bool arrived;

	if (!ah)
		return errno;
	arrived = wait_wc(e->cq, wc) && !wc->status && wc->wr_id == 2;
	ibv_destroy_ah(ah);
	return arrived ? 0 : ETIMEDOUT;
}

TEST_F(datagram, ipv4)
{
	struct end *e = &self->e;
	struct ibv_ah_attr path = rc_attr(e, e).ah_attr;
	const struct iphdr *ip = (void *)(e->buf + 20);
	struct ibv_wc wc;

	set_path(&path);
	ASSERT_EQ(send_to_itself(e, &path, &wc), 0);
	EXPECT_EQ(wc.byte_len, GRH_SIZE + 8);
	EXPECT_TRUE(wc.wc_flags & IBV_WC_GRH);
	EXPECT_EQ(wc.sl, MYNIC_NETWORK_IPV4);
	EXPECT_EQ(e->buf[20] >> 4, 4);
	EXPECT_EQ(ip->tos, TCLASS);
	EXPECT_EQ(ip->ttl, HOP_LIMIT);
	EXPECT_EQ(ip->protocol, IPPROTO_UDP);
	EXPECT_EQ(memcmp(&ip->daddr, path.grh.dgid.raw + 12, 4), 0);
	/* no packet has a hop limit of 0 */
	path.grh.hop_limit = 0;
	ASSERT_EQ(send_to_itself(e, &path, &wc), 0);
	EXPECT_EQ(ip->ttl, 64);
}

TEST_F(datagram, ipv6)
{
	struct end *e = &self->e;
	const struct ip6_hdr *ip = (void *)e->buf;
	struct ibv_ah_attr path;
	struct ibv_wc wc;

	e->gid_index = find_gid_ipv6(e->ctx);
	if (e->gid_index < 0)
		SKIP(return, "no global IPv6 address");
	path = rc_attr(e, e).ah_attr;
	set_path(&path);
	ASSERT_EQ(send_to_itself(e, &path, &wc), 0);
	EXPECT_EQ(wc.sl, MYNIC_NETWORK_IPV6);
	EXPECT_EQ(ntohl(ip->ip6_flow), 6 << 28 | TCLASS << 20 | FLOW_LABEL);
	EXPECT_EQ(ip->ip6_hlim, HOP_LIMIT);
	EXPECT_EQ(ip->ip6_nxt, IPPROTO_UDP);
	EXPECT_EQ(memcmp(&ip->ip6_dst, &path.grh.dgid, 16), 0);
	EXPECT_EQ(memcmp(&ip->ip6_src, &path.grh.dgid, 16), 0);
}

/* The two ends of a connection that rdma_cm makes from a device to itself */
struct connection {
	struct rdma_cm_id *listener;
	struct rdma_cm_id *server;
	struct rdma_cm_id *client;
	pthread_t acceptor;
	bool accepting;
};

static struct ibv_qp_init_attr cm_qp = {
	.cap = { 4, 4, 1, 1, 0 },
	.qp_type = IBV_QPT_RC,
};

static void *accept_one(void *arg)
{
	struct connection *c = arg;
	struct ibv_qp_init_attr init = cm_qp;

	if (rdma_get_request(c->listener, &c->server))
		return "rdma_get_request";
	if (rdma_create_qp(c->server, NULL, &init))
		return "rdma_create_qp of the server";
	if (rdma_accept(c->server, NULL))
		return "rdma_accept";
	return NULL;
}

/* Return: NULL, or the step that failed */
static const char *connect_with_tos(struct connection *c,
				    struct sockaddr_in *addr, uint8_t tos)
{
	struct ibv_qp_init_attr init = cm_qp;
	void *failed;

	if (rdma_create_id(NULL, &c->listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(c->listener, (struct sockaddr *)addr) ||
	    rdma_listen(c->listener, 1))
		return "rdma_listen";
	addr->sin_port = rdma_get_src_port(c->listener);
	if (pthread_create(&c->acceptor, NULL, accept_one, c))
		return "pthread_create";
	c->accepting = true;
	if (rdma_create_id(NULL, &c->client, NULL, RDMA_PS_TCP) ||
	    rdma_set_option(c->client, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos,
			    sizeof(tos)))
		return "RDMA_OPTION_ID_TOS";
	if (rdma_resolve_addr(c->client, NULL, (struct sockaddr *)addr, 10000))
		return "rdma_resolve_addr";
	if (rdma_resolve_route(c->client, 10000))
		return "rdma_resolve_route";
	if (rdma_create_qp(c->client, NULL, &init))
		return "rdma_create_qp";
	if (rdma_connect(c->client, NULL))
		return "rdma_connect";
	if (pthread_join(c->acceptor, &failed))
		return "pthread_join";
	c->accepting = false;
	return failed;
}

static void close_connection(struct connection *c)
{
	if (c->accepting) {
		pthread_cancel(c->acceptor);
		pthread_join(c->acceptor, NULL);
	}
	if (c->client) {
		if (c->client->qp)
			rdma_destroy_qp(c->client);
		rdma_destroy_id(c->client);
	}
	if (c->server) {
		if (c->server->qp)
			rdma_destroy_qp(c->server);
		rdma_destroy_id(c->server);
	}
	if (c->listener)
		rdma_destroy_id(c->listener);
}

TEST_F(datagram, rdma_cm_type_of_service)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	struct connection c = { 0 };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	union ibv_gid gid;
	const char *failed;

	ASSERT_EQ(ibv_query_gid(self->e.ctx, 1, self->e.gid_index, &gid), 0);
	memcpy(&addr.sin_addr, gid.raw + 12, 4);
	failed = connect_with_tos(&c, &addr, TCLASS & ~3);
	EXPECT_EQ(failed, NULL)
	TH_LOG("%s: errno %d", failed, errno);
	if (!failed) {
		EXPECT_EQ(ibv_query_qp(c.client->qp, &attr, IBV_QP_AV, &init),
			  0);
		EXPECT_EQ(attr.ah_attr.grh.traffic_class, TCLASS & ~3);
		EXPECT_EQ(ibv_query_qp(c.server->qp, &attr, IBV_QP_AV, &init),
			  0);
		EXPECT_EQ(attr.ah_attr.grh.traffic_class, TCLASS & ~3);
	}
	close_connection(&c);
}

static int run(const char *format, const char *argument)
{
	char command[256];

	snprintf(command, sizeof(command), format, argument);
	return system(command);
}

/* The service level is the priority in the VLAN's tag */
FIXTURE(vlan)
{
	struct end e;
	struct ibv_cq_ex *cq;
	bool made;
};

/* Give @e a CQ that reports the VLAN tag */
static struct ibv_cq_ex *tell_vlan(struct end *e)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16,
		.wc_flags = IBV_WC_EX_WITH_CVLAN,
	};

	if (ibv_destroy_qp(e->qp) || ibv_destroy_cq(e->cq))
		return NULL;
	e->qp = NULL;
	e->cq = ibv_cq_ex_to_cq(ibv_create_cq_ex(e->ctx, &attr));
	if (e->cq)
		e->qp = make_qp(e, IBV_QPT_UD);
	return e->qp ? (struct ibv_cq_ex *)e->cq : NULL;
}

static int find_gid_of(struct ibv_context *ctx, const char *netdev)
{
	struct ibv_gid_entry entry;
	time_t end = deadline();

	while (time(NULL) < end)
		for (int i = 0; i < 256; i++)
			if (!ibv_query_gid_ex(ctx, 1, i, &entry, 0) &&
			    entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
			    entry.gid.raw[11] == 0xff &&
			    entry.ndev_ifindex == if_nametoindex(netdev))
				return i;
	return -1;
}

FIXTURE_SETUP(vlan)
{
	char netdev[IF_NAMESIZE];
	struct ibv_gid_entry entry;

	self->e.ctx = open_mynic(0);
	ASSERT_NE(self->e.ctx, NULL);
	ASSERT_TRUE(make_end(&self->e, IBV_QPT_UD));
	self->cq = tell_vlan(&self->e);
	ASSERT_NE(self->cq, NULL);
	ASSERT_EQ(to_rts(&self->e, &self->e), 0);
	ASSERT_EQ(ibv_query_gid_ex(self->e.ctx, 1, self->e.gid_index, &entry,
				   0),
		  0);
	ASSERT_NE(if_indextoname(entry.ndev_ifindex, netdev), NULL);
	ASSERT_EQ(run("ip link add link %s name mynictest.9 type vlan id 9",
		      netdev),
		  0);
	self->made = true;
	ASSERT_EQ(run("ip address add 198.51.100.9/24 dev %s", "mynictest.9"),
		  0);
	ASSERT_EQ(run("ip link set %s up", "mynictest.9"), 0);
	self->e.gid_index = find_gid_of(self->e.ctx, "mynictest.9");
	ASSERT_GE(self->e.gid_index, 0);
}

FIXTURE_TEARDOWN(vlan)
{
	if (self->made)
		EXPECT_EQ(run("ip link delete %s", "mynictest.9"), 0);
	EXPECT_EQ(free_end(&self->e), 0);
	EXPECT_EQ(ibv_close_device(self->e.ctx), 0);
}

TEST_F(vlan, priority)
{
	struct ibv_ah_attr path = rc_attr(&self->e, &self->e).ah_attr;

	for (path.sl = 0; path.sl < 8; path.sl++) {
		struct ibv_ah *ah = send_by(&self->e, &path);
		struct ibv_poll_cq_attr attr = {};
		time_t end = deadline();

		ASSERT_NE(ah, NULL);
		while (ibv_start_poll(self->cq, &attr)) {
			ASSERT_LT(time(NULL), end);
		}
		EXPECT_EQ(self->cq->status, IBV_WC_SUCCESS);
		EXPECT_EQ(self->cq->wr_id, 2);
		EXPECT_EQ(ibv_wc_read_cvlan(self->cq), path.sl << 13 | 9);
		ibv_end_poll(self->cq);
		EXPECT_EQ(ibv_destroy_ah(ah), 0);
	}
	/* the largest priority of a tag is exceeded */
	EXPECT_EQ(ibv_create_ah(self->e.pd, &path), NULL);
	EXPECT_EQ(errno, EINVAL);
}

TEST_HARNESS_MAIN
