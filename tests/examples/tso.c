// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * TCP segmentation: one header and a long payload become frames of the right
 * size, each with its length, sequence number and checksums. Needs CAP_NET_RAW.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

#include "example.h"

#define TO 16384
#define FRAME_ROOM 2048
#define PAYLOAD 3500
#define MSS 1000
#define NUM_FRAMES 4
#define PORT 4711
#define FIRST_SEQ 1000

struct header {
	struct ether_header eth;
	struct iphdr ip;
	struct tcphdr tcp;
} __attribute__((packed));

static struct ibv_qp *create_qp(struct example *e)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.cap = example_cap(),
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_MAX_TSO_HEADER |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = e->pd,
		.max_tso_header = sizeof(struct header),
		.send_ops_flags = IBV_QP_EX_WITH_TSO,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(e->ctx, &attr);

	must(!!qp, "ibv_create_qp_ex()");
	example_raw_to_rts(qp);
	return qp;
}

static struct ibv_flow *steer(struct ibv_qp *qp, const uint8_t *mac)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
		struct ibv_flow_spec_tcp_udp tcp;
	} rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			  .size = sizeof(rule),
			  .num_of_specs = 2,
			  .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) },
		.tcp = { .type = IBV_FLOW_SPEC_TCP,
			 .size = sizeof(rule.tcp),
			 .val = { .dst_port = htons(PORT) },
			 .mask = { .dst_port = 0xffff } },
	};
	struct ibv_flow *flow;

	memcpy(rule.eth.val.dst_mac, mac, ETH_ALEN);
	memset(rule.eth.mask.dst_mac, 0xff, ETH_ALEN);
	flow = ibv_create_flow(qp, &rule.attr);
	must(!!flow, "ibv_create_flow()");
	return flow;
}

static struct header make_header(const uint8_t *mac)
{
	struct header h = {
		.eth = { .ether_type = htons(ETHERTYPE_IP) },
		.ip = { .version = 4,
			.ihl = 5,
			.ttl = 64,
			.protocol = IPPROTO_TCP,
			.saddr = htonl(0xc0000201),
			.daddr = htonl(0xc0000202) },
		.tcp = { .source = htons(PORT),
			 .dest = htons(PORT),
			 .seq = htonl(FIRST_SEQ),
			 .doff = 5,
			 .ack = 1 },
	};

	memcpy(h.eth.ether_dhost, mac, ETH_ALEN);
	memcpy(h.eth.ether_shost, mac, ETH_ALEN);
	return h;
}

static void check_frame(const struct example *e, unsigned int i,
			const struct ibv_wc *wc)
{
	const char *frame = e->memory + TO + i * FRAME_ROOM;
	uint32_t len = i < NUM_FRAMES - 1 ? MSS : PAYLOAD % MSS;
	struct header h;

	memcpy(&h, frame, sizeof(h));
	must(wc->wr_id == i && wc->byte_len == sizeof(h) + len, "length");
	must(ntohs(h.ip.tot_len) == sizeof(h.ip) + sizeof(h.tcp) + len,
	     "length in the header");
	must(ntohl(h.tcp.seq) == FIRST_SEQ + i * MSS, "sequence number");
	must(!memcmp(frame + sizeof(h), e->memory + i * MSS, len), "payload");
	printf("segment %u: %u bytes\n", ntohl(h.tcp.seq), len);
}

int main(void)
{
	struct example e;
	struct ibv_qp_ex *qpx;
	struct ibv_flow *flow;
	struct header h;
	struct ibv_qp *qp;
	uint8_t mac[ETH_ALEN];

	example_open(&e);
	example_mac(&e, mac);
	qp = create_qp(&e);
	flow = steer(qp, mac);
	for (unsigned int i = 0; i < NUM_FRAMES; i++)
		example_post_recv(&e, qp, i, TO + i * FRAME_ROOM, FRAME_ROOM);
	for (int i = 0; i < PAYLOAD; i++)
		e.memory[i] = 'a' + i % 26;
	h = make_header(mac);

	qpx = ibv_qp_to_qp_ex(qp);
	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_IP_CSUM;
	ibv_wr_send_tso(qpx, &h, sizeof(h), MSS);
	ibv_wr_set_sge(qpx, e.mr->lkey, (uintptr_t)e.memory, PAYLOAD);
	errno = ibv_wr_complete(qpx);
	must(!errno, "ibv_wr_complete()");

	for (unsigned int i = 0; i < NUM_FRAMES; i++) {
		struct ibv_wc wc = example_wait(&e);

		check_frame(&e, i, &wc);
	}
	ibv_destroy_flow(flow);
	return 0;
}
