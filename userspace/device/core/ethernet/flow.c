// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Flow rules: their commands, and matching of frames. The frame is parsed in
 * packet/headers.c and delivered in eth_rx.c.
 */

#include "ethernet/flow.h"

#include <endian.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/mac.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/util.h"
#include "ethernet/eth_rx.h"
#include "mynic_regs.h"
#include "packet/headers.h"
#include "packet/packet.h"
#include "qp/counters.h"
#include "qp/qp.h"
#include "state/ethernet_types.h"
#include "state/nic_types.h"

#define HEADER_LEN sizeof(((struct mynic_flow_spec *)0)->val)

#define FLOW_FLAGS (MYNIC_FLOW_DROP | MYNIC_FLOW_DONT_TRAP)

/*
 * Cost in units of a turn: specs that take one unit, and units of one delivery
 */
#define SPECS_PER_UNIT 4
#define DELIVERY_UNITS 2

/* Progress of a frame, in &spread_place.stage */
enum {
	STAGE_SNIFFERS,
	STAGE_RULES,
	STAGE_DEFAULTS,
};

#define IP_DONT_FRAGMENT 0x4000
#define IP_MORE_FRAGMENTS 0x2000

/* Bits of enum ib_ipv4_flags */
#define FLOW_DONT_FRAGMENT 0x2
#define FLOW_MORE_FRAGMENTS 0x4

/**
 * struct flow - a flow rule
 * @number: its number in DESTROY_FLOW
 * @age: number of rules that were created before it
 * @qp: RAW_PACKET QP that receives the frames
 * @tag: flow tag for completions
 * @priority: lower values are asked first
 * @type: enum mynic_flow_type
 * @flags: MYNIC_FLOW_*
 * @num_specs: elements of @specs
 * @counters: counter set of the frames that it matches, or NULL
 * @specs: conditions for a frame
 */
struct flow {
	uint32_t number;
	uint64_t age;
	struct qp *qp;
	uint32_t tag;
	uint16_t priority;
	uint8_t type;
	uint8_t flags;
	uint8_t num_specs;
	struct counters *counters;
	struct mynic_flow_spec specs[];
};

int flows_init(struct flows *flows, struct mem *mem)
{
	return table_init(&flows->numbers, mem, 1, TABLE_MAX_NUMBER,
			  FLOW_MAX_RULES);
}

/*
 * A header of a frame, in the format of specs. For fields that the frame does
 * not have (a tag, a key), the bytes in @absent are all ones.
 */
struct header {
	union {
		uint8_t bytes[HEADER_LEN];
		struct mynic_flow_eth eth;
		struct mynic_flow_ipv4 ipv4;
		struct mynic_flow_ipv6 ipv6;
		struct mynic_flow_ports ports;
		struct mynic_flow_esp esp;
		struct mynic_flow_vxlan vxlan;
		struct mynic_flow_gre gre;
		struct mynic_flow_mpls mpls;
	};
	uint8_t absent[HEADER_LEN];
};

static bool flow_get_eth(const struct layer *layer, struct header *header)
{
	if (!layer->eth)
		return false;
	memcpy(header->bytes, layer->eth, 2 * MAC_LEN);
	header->eth.ethertype = htobe16(layer->ethertype);
	if (layer->vlan == PACKET_NO_VLAN)
		memset(header->absent +
			       offsetof(struct mynic_flow_eth, vlan_tag),
		       0xff, sizeof(header->eth.vlan_tag));
	else
		header->eth.vlan_tag = htobe16(layer->vlan);
	return true;
}

static bool flow_get_ipv4(const struct layer *layer, struct header *header)
{
	const uint8_t *ip = layer->ipv4;
	uint16_t fragment;

	if (!ip)
		return false;
	fragment = headers_load_be16(ip + 6);
	header->ipv4 = (struct mynic_flow_ipv4){
		.saddr = htobe32(headers_load_be32(ip + 12)),
		.daddr = htobe32(headers_load_be32(ip + 16)),
		.proto = ip[9],
		.tos = ip[1],
		.ttl = ip[8],
	};
	if (fragment & IP_DONT_FRAGMENT)
		header->ipv4.flags |= FLOW_DONT_FRAGMENT;
	if (fragment & IP_MORE_FRAGMENTS)
		header->ipv4.flags |= FLOW_MORE_FRAGMENTS;
	return true;
}

static bool flow_get_ipv6(const struct layer *layer, struct header *header)
{
	const uint8_t *ip = layer->ipv6;

	if (!ip)
		return false;
	memcpy(header->ipv6.saddr, ip + 8, sizeof(header->ipv6.saddr));
	memcpy(header->ipv6.daddr, ip + 24, sizeof(header->ipv6.daddr));
	header->ipv6.flow_label = htobe32(headers_load_be32(ip) & 0xfffff);
	header->ipv6.next_header = ip[6];
	header->ipv6.traffic_class = headers_load_be32(ip) >> 20;
	header->ipv6.hop_limit = ip[7];
	return true;
}

/* The ports are at the same place in TCP and UDP */
static bool flow_get_ports(const uint8_t *l4, struct header *header)
{
	if (!l4)
		return false;
	header->ports.sport = htobe16(headers_load_be16(l4));
	header->ports.dport = htobe16(headers_load_be16(l4 + 2));
	return true;
}

static bool flow_get_esp(const struct layer *layer, struct header *header)
{
	if (layer->proto != IPPROTO_ESP || !layer->payload ||
	    layer->payload_len < sizeof(header->esp))
		return false;
	memcpy(&header->esp, layer->payload, sizeof(header->esp));
	return true;
}

static bool flow_get_vxlan(const struct headers *headers, struct header *header)
{
	if (!headers->vxlan)
		return false;
	header->vxlan.vni = htobe32(headers_load_be32(headers->vxlan + 4) >> 8);
	return true;
}

static bool flow_get_gre(const struct headers *headers, struct header *header)
{
	const uint8_t *gre = headers->gre;
	uint16_t flags;

	if (!gre)
		return false;
	flags = headers_load_be16(gre);
	memcpy(header->bytes, gre, 4);
	if (!(flags & GRE_KEY))
		memset(header->absent + offsetof(struct mynic_flow_gre, key),
		       0xff, sizeof(header->gre.key));
	else if (flags & (GRE_CSUM | GRE_ROUTING))
		memcpy(&header->gre.key, gre + 8, sizeof(header->gre.key));
	else
		memcpy(&header->gre.key, gre + 4, sizeof(header->gre.key));
	return true;
}

static bool flow_get_mpls(const struct layer *layer, struct header *header)
{
	if (!layer->mpls)
		return false;
	memcpy(&header->mpls, layer->mpls, sizeof(header->mpls));
	return true;
}

/* Returns true if the frame has such a header */
static bool flow_get_header(const struct headers *headers, uint16_t type,
			    struct header *header)
{
	const struct layer *layer = &headers->outer;

	if (type & MYNIC_FLOW_INNER)
		layer = &headers->inner;
	switch (type & ~MYNIC_FLOW_INNER) {
	case MYNIC_FLOW_ETH:
		return flow_get_eth(layer, header);
	case MYNIC_FLOW_IPV4:
		return flow_get_ipv4(layer, header);
	case MYNIC_FLOW_IPV6:
		return flow_get_ipv6(layer, header);
	case MYNIC_FLOW_ESP:
		return flow_get_esp(layer, header);
	case MYNIC_FLOW_TCP:
		return flow_get_ports(layer->tcp, header);
	case MYNIC_FLOW_UDP:
		return flow_get_ports(layer->udp, header);
	case MYNIC_FLOW_VXLAN:
		return flow_get_vxlan(headers, header);
	case MYNIC_FLOW_GRE:
		return flow_get_gre(headers, header);
	default:
		return flow_get_mpls(layer, header);
	}
}

static bool flow_spec_matches(const struct mynic_flow_spec *spec,
			      const struct headers *headers)
{
	struct header header = { 0 };

	if (!flow_get_header(headers, le16toh(spec->type), &header))
		return false;
	for (unsigned int i = 0; i < sizeof(spec->val); i++) {
		if (spec->mask[i] & header.absent[i] ||
		    spec->mask[i] & (spec->val[i] ^ header.bytes[i]))
			return false;
	}
	return true;
}

static bool flow_matches(const struct flow *flow, const struct eth_frame *frame)
{
	if (flow->type == MYNIC_FLOW_MC_DEFAULT &&
	    !mac_is_multicast(frame->data))
		return false;
	for (unsigned int i = 0; i < flow->num_specs; i++) {
		if (!flow_spec_matches(&flow->specs[i], &frame->headers))
			return false;
	}
	return true;
}

/* Returns true if no later rule may have the frame */
static bool flow_apply_one(struct flow *flow, const struct eth_frame *frame)
{
	if (!flow_matches(flow, frame))
		return false;
	nic_charge(flow->qp->nic, DELIVERY_UNITS);
	if (flow->counters) {
		flow->counters->values[MYNIC_STAT_RX_PACKETS]++;
		flow->counters->values[MYNIC_STAT_RX_BYTES] += frame->len;
	}
	if (flow->flags & MYNIC_FLOW_DROP)
		qp_count_quietly(flow->qp, MYNIC_STAT_RX_ETH_DROPPED);
	else
		eth_deliver(flow->qp, frame, flow->tag);
	return flow->type != MYNIC_FLOW_SNIFFER &&
	       !(flow->flags & MYNIC_FLOW_DONT_TRAP);
}

static enum flow_result flow_apply(struct nic *nic,
				   const struct flow_list *list,
				   const struct eth_frame *frame,
				   struct spread_place *place)
{
	while (place->rule < list->num) {
		struct flow *flow = list->flows[place->rule];

		if (place->bounded && nic_turn_is_over(nic))
			return FLOW_STOPPED;
		nic_charge(nic, 1 + flow->num_specs / SPECS_PER_UNIT);
		place->rule++;
		if (flow_apply_one(flow, frame))
			return FLOW_TAKEN;
	}
	place->rule = 0;
	place->stage++;
	return FLOW_PASSED;
}

enum flow_result flow_steer(struct nic *nic, const struct eth_frame *frame,
			    struct spread_place *place)
{
	enum flow_result result = FLOW_PASSED;

	if (place->stage == STAGE_SNIFFERS)
		result = flow_apply(nic, &nic->flows.sniffers, frame, place);
	if (!result && place->stage == STAGE_RULES)
		result = flow_apply(nic, &nic->flows.rules, frame, place);
	return result;
}

enum flow_result flow_steer_rest(struct nic *nic, const struct eth_frame *frame,
				 struct spread_place *place)
{
	return flow_apply(nic, &nic->flows.defaults, frame, place);
}

/* Bytes of the header in a spec; 0 for an unknown type */
static unsigned int flow_header_len(uint16_t type)
{
	switch (type & ~MYNIC_FLOW_INNER) {
	case MYNIC_FLOW_ETH:
		return sizeof(struct mynic_flow_eth);
	case MYNIC_FLOW_IPV4:
		return sizeof(struct mynic_flow_ipv4);
	case MYNIC_FLOW_IPV6:
		return offsetof(struct mynic_flow_ipv6, reserved_27);
	case MYNIC_FLOW_ESP:
		return sizeof(struct mynic_flow_esp);
	case MYNIC_FLOW_TCP:
	case MYNIC_FLOW_UDP:
		return sizeof(struct mynic_flow_ports);
	case MYNIC_FLOW_VXLAN:
		return type & MYNIC_FLOW_INNER ?
			       0 :
			       sizeof(struct mynic_flow_vxlan);
	case MYNIC_FLOW_GRE:
		return type & MYNIC_FLOW_INNER ? 0 :
						 sizeof(struct mynic_flow_gre);
	case MYNIC_FLOW_MPLS:
		return sizeof(struct mynic_flow_mpls);
	default:
		return 0;
	}
}

static int flow_check_spec(const struct mynic_flow_spec *spec)
{
	unsigned int len = flow_header_len(le16toh(spec->type));
	uint8_t rest = 0;

	if (!len)
		return MYNIC_AQ_NOT_SUPPORTED;
	for (unsigned int i = 0; i < sizeof(spec->reserved_02); i++)
		rest |= spec->reserved_02[i];
	for (unsigned int i = len; i < sizeof(spec->val); i++)
		rest |= spec->val[i] | spec->mask[i];
	return rest ? MYNIC_AQ_BAD_PARAM : MYNIC_AQ_OK;
}

static int flow_check(const struct mynic_admin_cmd *cmd,
		      const struct mynic_flow_spec *specs)
{
	const struct mynic_create_flow *body = &cmd->create_flow;
	int status = MYNIC_AQ_OK;

	if (body->type > MYNIC_FLOW_SNIFFER || body->flags & ~FLOW_FLAGS)
		return MYNIC_AQ_NOT_SUPPORTED;
	if (body->num_specs > MYNIC_FLOW_MAX_SPECS ||
	    body->num_specs * sizeof(*specs) > le32toh(cmd->mbox_len) ||
	    (body->type != MYNIC_FLOW_NORMAL && body->flags) ||
	    body->flags == FLOW_FLAGS || body->reserved_0d[0] ||
	    body->reserved_0d[1] || body->reserved_0d[2])
		return MYNIC_AQ_BAD_PARAM;
	for (unsigned int i = 0; i < body->num_specs && !status; i++)
		status = flow_check_spec(&specs[i]);
	return status;
}

static unsigned int flow_stage_of(const struct flow *flow)
{
	switch (flow->type) {
	case MYNIC_FLOW_SNIFFER:
		return STAGE_SNIFFERS;
	case MYNIC_FLOW_NORMAL:
		return STAGE_RULES;
	default:
		return STAGE_DEFAULTS;
	}
}

static struct flow_list *flow_list_of(struct nic *nic, const struct flow *flow)
{
	switch (flow_stage_of(flow)) {
	case STAGE_SNIFFERS:
		return &nic->flows.sniffers;
	case STAGE_RULES:
		return &nic->flows.rules;
	default:
		return &nic->flows.defaults;
	}
}

static bool flow_is_before(const struct flow *a, const struct flow *b)
{
	return a->priority < b->priority ||
	       (a->priority == b->priority && a->age < b->age);
}

/* How many rules of a list are asked before @flow, which need not be in it */
static uint32_t flow_place(const struct flow_list *list,
			   const struct flow *flow)
{
	uint32_t low = 0, high = list->num;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (flow_is_before(list->flows[middle], flow))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * A rule has come (@by 1) or gone (-1) at @index. A frame that waits goes on
 * where it was.
 */
static void flow_spread_shift(struct nic *nic, const struct flow *flow,
			      uint32_t index, int by)
{
	struct spread_place *place = &nic->spread.place;

	if (place->stage == flow_stage_of(flow) && index < place->rule)
		place->rule += by;
}

static void flow_insert(struct nic *nic, struct flow *flow)
{
	struct flow_list *list = flow_list_of(nic, flow);
	uint32_t index = flow_place(list, flow);
	struct flow **at = &list->flows[index];

	memmove(at + 1, at, (list->num++ - index) * sizeof(*at));
	*at = flow;
	flow_spread_shift(nic, flow, index, 1);
}

static void flow_take_out(struct nic *nic, struct flow *flow)
{
	struct flow_list *list = flow_list_of(nic, flow);
	uint32_t index = flow_place(list, flow);
	struct flow **at = &list->flows[index];

	memmove(at, at + 1, (--list->num - index) * sizeof(*at));
	flow_spread_shift(nic, flow, index, -1);
}

int admin_create_flow(struct nic *nic, struct admin_call *call)
{
	const struct mynic_create_flow *body = &call->cmd.create_flow;
	size_t size = body->num_specs * sizeof(call->flow_specs[0]);
	struct counters *set = NULL;
	struct flow *flow;
	struct qp *qp;
	int status;

	status = flow_check(&call->cmd, call->flow_specs);
	if (status)
		return status;
	qp = qp_find(nic, le32toh(body->qpn));
	if (!qp)
		return MYNIC_AQ_BAD_NUMBER;
	if (qp->type != MYNIC_QP_RAW_PACKET)
		return MYNIC_AQ_BAD_PARAM;
	if (body->counters) {
		set = table_lookup(&nic->counters, le32toh(body->counters));
		if (!set)
			return MYNIC_AQ_BAD_NUMBER;
	}
	flow = mem_alloc(&nic->mem, sizeof(*flow) + size);
	if (!flow)
		return MYNIC_AQ_NO_RESOURCE;
	flow->age = nic->flows.num_made++;
	flow->qp = qp;
	flow->tag = le32toh(body->flow_tag);
	flow->priority = le16toh(body->priority);
	flow->type = body->type;
	flow->flags = body->flags;
	flow->num_specs = body->num_specs;
	flow->counters = set;
	memcpy(flow->specs, call->flow_specs, size);
	if (table_add(&nic->flows.numbers, flow, &flow->number)) {
		mem_free(&nic->mem, flow);
		return MYNIC_AQ_NO_RESOURCE;
	}
	flow_insert(nic, flow);
	qp->num_flows++;
	if (set)
		set->users++;
	call->cpl.number = htole32(flow->number);
	return MYNIC_AQ_OK;
}

static void flow_destroy(struct nic *nic, struct flow *flow)
{
	flow_take_out(nic, flow);
	table_remove(&nic->flows.numbers, flow->number);
	flow->qp->num_flows--;
	if (flow->counters)
		flow->counters->users--;
	mem_free(&nic->mem, flow);
}

int admin_destroy_flow(struct nic *nic, struct admin_call *call)
{
	struct flow *flow =
		table_lookup(&nic->flows.numbers, le32toh(call->cmd.number));

	if (!flow)
		return MYNIC_AQ_BAD_NUMBER;
	flow_destroy(nic, flow);
	return MYNIC_AQ_OK;
}

/* The last of a list goes first, so that no other has to move */
bool flows_free_one(struct nic *nic, uint32_t *number)
{
	struct flow_list *lists[] = { &nic->flows.sniffers, &nic->flows.rules,
				      &nic->flows.defaults };

	(void)number;
	for (unsigned int i = 0; i < ARRAY_SIZE(lists); i++) {
		if (lists[i]->num) {
			flow_destroy(nic, lists[i]->flows[lists[i]->num - 1]);
			return true;
		}
	}
	return false;
}
