// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Flow rules and their counters */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

#define MAX_VALUES 16

/* Specs stand one behind the other: a rule has room for one of each. */
struct rule {
	struct ibv_flow_attr attr;
	uint8_t specs[256];
};

static void *add_spec(struct rule *rule, enum ibv_flow_spec_type type,
		      size_t size)
{
	size_t at = rule->attr.size - sizeof(rule->attr);
	struct ibv_flow_spec *spec = (void *)(rule->specs + at);

	spec->hdr.type = type;
	spec->hdr.size = size;
	rule->attr.size += size;
	rule->attr.num_of_specs++;
	return spec;
}

/* VALUE/MASK, or only a value: returns it, and sets the mask. */
static uint32_t masked(const struct line *line, const char *name,
		       uint32_t *mask)
{
	const char *text = arg(line, name);
	const char *rest = text ? strchr(text, '/') : NULL;

	*mask = text ? UINT32_MAX : 0;
	if (rest)
		*mask = strtoul(rest + 1, NULL, 0);
	return text ? strtoul(text, NULL, 0) : 0;
}

/* Frames to a multicast address, see ethernet.py */
static void add_eth(const struct line *line, struct rule *rule)
{
	unsigned int group = number(line, "group", 0);
	uint32_t mask;
	const uint8_t mac[6] = {
		3, 0x11, 0x22, 0x33 + (group >> 8), 0x44, group
	};
	struct ibv_flow_spec_eth *eth =
		add_spec(rule, IBV_FLOW_SPEC_ETH, sizeof(*eth));

	memcpy(eth->val.dst_mac, mac, sizeof(mac));
	memset(eth->mask.dst_mac, 0xff, sizeof(mac));
	eth->val.ether_type = htons(masked(line, "ether", &mask));
	eth->mask.ether_type = htons(mask);
	eth->val.vlan_tag = htons(masked(line, "vlan", &mask));
	eth->mask.vlan_tag = htons(mask);
}

static void add_ipv4(const struct line *line, struct rule *rule)
{
	struct ibv_flow_spec_ipv4 *ip;
	uint32_t mask;

	if (!arg(line, "src") && !arg(line, "dst"))
		return;
	ip = add_spec(rule, IBV_FLOW_SPEC_IPV4, sizeof(*ip));
	ip->val.src_ip = htonl(masked(line, "src", &mask));
	ip->mask.src_ip = htonl(mask);
	ip->val.dst_ip = htonl(masked(line, "dst", &mask));
	ip->mask.dst_ip = htonl(mask);
}

static void add_ports(const struct line *line, struct rule *rule)
{
	struct ibv_flow_spec_tcp_udp *l4;
	uint32_t mask;

	if (!arg(line, "l4"))
		return;
	l4 = add_spec(rule, number(line, "l4", 0), sizeof(*l4));
	l4->val.src_port = htons(masked(line, "sport", &mask));
	l4->mask.src_port = htons(mask);
	l4->val.dst_port = htons(masked(line, "dport", &mask));
	l4->mask.dst_port = htons(mask);
}

static void add_actions(const struct line *line, struct rule *rule)
{
	struct ibv_flow_spec_counter_action *count;
	struct ibv_flow_spec_action_drop *drop;
	struct ibv_flow_spec_action_tag *tag;

	if (arg(line, "tag")) {
		tag = add_spec(rule, IBV_FLOW_SPEC_ACTION_TAG, sizeof(*tag));
		tag->tag_id = number(line, "tag", 0);
	}
	if (arg(line, "drop"))
		add_spec(rule, IBV_FLOW_SPEC_ACTION_DROP, sizeof(*drop));
	if (arg(line, "count")) {
		count = add_spec(rule, IBV_FLOW_SPEC_ACTION_COUNT,
				 sizeof(*count));
		count->counters = maybe(line, KIND_COUNTERS, "count");
	}
}

static int create_flow(const struct line *line, struct object *obj)
{
	struct rule rule = {
		.attr = { .type = number(line, "type", 0),
			  .size = sizeof(rule.attr),
			  .priority = number(line, "priority", 0),
			  .port = number(line, "port", 1),
			  .flags = number(line, "flags", 0) },
	};

	add_eth(line, &rule);
	add_ipv4(line, &rule);
	add_ports(line, &rule);
	add_actions(line, &rule);
	errno = 0;
	return made(obj, ibv_create_flow(live(line, KIND_QP, must(line, "qp")),
					 &rule.attr));
}

static int create_counters(const struct line *line, struct object *obj)
{
	struct ibv_counters_init_attr attr = {
		.comp_mask = number(line, "mask", 0),
	};
	struct node *node = node_of(line, &obj->node);

	errno = 0;
	return made(obj, ibv_create_counters(node->ctx, &attr));
}

static int attach_counters(const struct line *line, struct object *obj)
{
	struct ibv_counter_attach_attr attr = {
		.counter_desc = number(line, "what", 0),
		.index = number(line, "index", 0),
		.comp_mask = number(line, "mask", 0),
	};

	(void)obj;
	return ibv_attach_counters_point_flow(
		live(line, KIND_COUNTERS, line->target), &attr, NULL);
}

/* The values are separated by colons. */
static int read_counters(const struct line *line, struct object *obj)
{
	char *next = (char *)arg(line, "values");
	uint64_t values[MAX_VALUES];
	unsigned int n = number(line, "n", 1);
	int err;

	(void)obj;
	memset(values, 0xff, sizeof(values));
	err = ibv_read_counters(live(line, KIND_COUNTERS, line->target), values,
				n, number(line, "flags", 0));
	for (unsigned int i = 0; !err && next && i < n; i++) {
		uint64_t expected = strtoull(next, &next, 0);

		next++;
		if (values[i] != expected)
			fail(line, "value %u is %llu, expected %llu", i,
			     (unsigned long long)values[i],
			     (unsigned long long)expected);
	}
	return err;
}

bool flow_call(const struct line *line)
{
	static const struct call calls[] = {
		{ "create_flow", create_flow },
		{ "create_counters", create_counters },
		{ "attach_counters", attach_counters },
		{ "read_counters", read_counters },
	};

	return one_of(line, calls, sizeof(calls) / sizeof(*calls));
}
