// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An Ethernet frame, sent and received unchanged. A flow rule selects the
 * frames for the queue pair. Needs CAP_NET_RAW.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <stdio.h>
#include <string.h>

#include "example.h"

#define TO 4096
#define FRAME_LEN 100
#define ETHERTYPE 0x88b5 /* for local experiments */

int main(void)
{
	struct example e;
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			  .size = sizeof(rule),
			  .num_of_specs = 1,
			  .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH,
			 .size = sizeof(rule.eth),
			 .val = { .ether_type = htons(ETHERTYPE) },
			 .mask = { .ether_type = 0xffff } },
	};
	struct ether_header *frame;
	struct ibv_send_wr *bad;
	struct ibv_send_wr wr;
	struct ibv_flow *flow;
	struct ibv_sge sge;
	struct ibv_qp *qp;

	example_open(&e);
	qp = example_create_qp(&e, IBV_QPT_RAW_PACKET, 0);
	example_raw_to_rts(qp);
	example_mac(&e, rule.eth.val.dst_mac);
	memset(rule.eth.mask.dst_mac, 0xff, ETH_ALEN);
	flow = ibv_create_flow(qp, &rule.attr);
	must(!!flow, "ibv_create_flow()");
	example_post_recv(&e, qp, 1, TO, 2000);

	frame = (struct ether_header *)e.memory;
	memcpy(frame->ether_dhost, rule.eth.val.dst_mac, ETH_ALEN);
	memcpy(frame->ether_shost, rule.eth.val.dst_mac, ETH_ALEN);
	frame->ether_type = htons(ETHERTYPE);
	strcpy((char *)(frame + 1), "a frame");
	sge = (struct ibv_sge){ (uintptr_t)frame, FRAME_LEN, e.mr->lkey };
	wr = (struct ibv_send_wr){
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};
	errno = ibv_post_send(qp, &wr, &bad);
	must(!errno, "ibv_post_send()");

	must(example_wait(&e).byte_len == FRAME_LEN, "receiving");
	must(!memcmp(e.memory, e.memory + TO, FRAME_LEN), "what was received");
	printf("received: %s\n", e.memory + TO + sizeof(*frame));
	ibv_destroy_flow(flow);
	return 0;
}
