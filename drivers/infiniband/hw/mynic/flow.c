// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Flow rules: which RAW_PACKET QP receives which Ethernet frames */
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

/* The driver passes these values on unconverted. */
static_assert(MYNIC_FLOW_NORMAL == (int)IB_FLOW_ATTR_NORMAL);
static_assert(MYNIC_FLOW_ALL_DEFAULT == (int)IB_FLOW_ATTR_ALL_DEFAULT);
static_assert(MYNIC_FLOW_MC_DEFAULT == (int)IB_FLOW_ATTR_MC_DEFAULT);
static_assert(MYNIC_FLOW_SNIFFER == (int)IB_FLOW_ATTR_SNIFFER);
static_assert(MYNIC_FLOW_ETH == (int)IB_FLOW_SPEC_ETH);
static_assert(MYNIC_FLOW_IPV4 == (int)IB_FLOW_SPEC_IPV4);
static_assert(MYNIC_FLOW_IPV6 == (int)IB_FLOW_SPEC_IPV6);
static_assert(MYNIC_FLOW_ESP == (int)IB_FLOW_SPEC_ESP);
static_assert(MYNIC_FLOW_TCP == (int)IB_FLOW_SPEC_TCP);
static_assert(MYNIC_FLOW_UDP == (int)IB_FLOW_SPEC_UDP);
static_assert(MYNIC_FLOW_VXLAN == (int)IB_FLOW_SPEC_VXLAN_TUNNEL);
static_assert(MYNIC_FLOW_GRE == (int)IB_FLOW_SPEC_GRE);
static_assert(MYNIC_FLOW_MPLS == (int)IB_FLOW_SPEC_MPLS);
static_assert(MYNIC_FLOW_INNER == (int)IB_FLOW_SPEC_INNER);

/* The headers have the same layout, too, up to trailing reserved bytes. */
static_assert(sizeof(struct mynic_flow_eth) ==
	      sizeof(struct ib_flow_eth_filter));
static_assert(sizeof(struct mynic_flow_ipv4) ==
	      sizeof(struct ib_flow_ipv4_filter));
static_assert(offsetof(struct mynic_flow_ipv6, reserved_27) ==
	      offsetofend(struct ib_flow_ipv6_filter, hop_limit));
static_assert(sizeof(struct mynic_flow_ports) ==
	      sizeof(struct ib_flow_tcp_udp_filter));
static_assert(sizeof(struct mynic_flow_esp) ==
	      sizeof(struct ib_flow_esp_filter));
static_assert(sizeof(struct mynic_flow_vxlan) ==
	      sizeof(struct ib_flow_tunnel_filter));
static_assert(sizeof(struct mynic_flow_gre) ==
	      sizeof(struct ib_flow_gre_filter));
static_assert(sizeof(struct mynic_flow_mpls) ==
	      sizeof(struct ib_flow_mpls_filter));

static void mynic_flow_copy(struct mynic_flow_spec *hw, const void *val,
			    const void *mask, size_t size)
{
	memcpy(hw->val, val, size);
	memcpy(hw->mask, mask, size);
}

static int mynic_flow_header(struct mynic_flow_spec *hw,
			     const union ib_flow_spec *spec)
{
	hw->type = cpu_to_le16(spec->type);
	switch (spec->type & ~IB_FLOW_SPEC_INNER) {
	case IB_FLOW_SPEC_ETH:
		mynic_flow_copy(hw, &spec->eth.val, &spec->eth.mask,
				sizeof(struct mynic_flow_eth));
		return 0;
	case IB_FLOW_SPEC_IPV4:
		mynic_flow_copy(hw, &spec->ipv4.val, &spec->ipv4.mask,
				sizeof(struct mynic_flow_ipv4));
		return 0;
	case IB_FLOW_SPEC_IPV6:
		mynic_flow_copy(hw, &spec->ipv6.val, &spec->ipv6.mask,
				offsetof(struct mynic_flow_ipv6, reserved_27));
		return 0;
	case IB_FLOW_SPEC_ESP:
		mynic_flow_copy(hw, &spec->esp.val, &spec->esp.mask,
				sizeof(struct mynic_flow_esp));
		return 0;
	case IB_FLOW_SPEC_TCP:
	case IB_FLOW_SPEC_UDP:
		mynic_flow_copy(hw, &spec->tcp_udp.val, &spec->tcp_udp.mask,
				sizeof(struct mynic_flow_ports));
		return 0;
	case IB_FLOW_SPEC_VXLAN_TUNNEL:
		mynic_flow_copy(hw, &spec->tunnel.val, &spec->tunnel.mask,
				sizeof(struct mynic_flow_vxlan));
		return 0;
	case IB_FLOW_SPEC_GRE:
		mynic_flow_copy(hw, &spec->gre.val, &spec->gre.mask,
				sizeof(struct mynic_flow_gre));
		return 0;
	case IB_FLOW_SPEC_MPLS:
		mynic_flow_copy(hw, &spec->mpls.val, &spec->mpls.mask,
				sizeof(struct mynic_flow_mpls));
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/* The RDMA core has checked the sizes of the specs. */
static int mynic_flow_specs(const struct ib_device *ibdev,
			    struct mynic_create_flow *body,
			    struct mynic_flow_spec *hw,
			    const struct ib_flow_attr *attr)
{
	const union ib_flow_spec *spec = attr->flows;
	struct ib_counters *counters;
	unsigned int i;
	int ret;

	for (i = 0; i < attr->num_of_specs; i++) {
		switch ((u32)spec->type) {
		case IB_FLOW_SPEC_ACTION_TAG:
			body->flow_tag = cpu_to_le32(spec->flow_tag.tag_id);
			break;
		case IB_FLOW_SPEC_ACTION_COUNT:
			if (body->counters) {
				ibdev_dbg(ibdev,
					  "a flow rule with two counters\n");
				return -EINVAL;
			}
			counters = spec->flow_count.counters;
			body->counters =
				cpu_to_le32(to_mcounters(counters)->number);
			break;
		case IB_FLOW_SPEC_ACTION_DROP:
			body->flags |= MYNIC_FLOW_DROP;
			break;
		default:
			ret = mynic_flow_header(&hw[body->num_specs++], spec);
			if (ret)
				return ret;
		}
		spec = (const void *)spec + spec->size;
	}
	return 0;
}

/* -EOPNOTSUPP: the device lacks support. -EINVAL: the rule is invalid. */
struct ib_flow *mynic_create_flow(struct ib_qp *ibqp, struct ib_flow_attr *attr,
				  struct ib_udata *udata)
{
	struct mynic_dev *mdev = to_mdev(ibqp->device);
	struct mynic_create_flow body = {
		.qpn = cpu_to_le32(to_mqp(ibqp)->qpn),
		.priority = cpu_to_le16(attr->priority),
		.type = attr->type,
	};
	struct mynic_flow_spec *specs;
	struct mynic_flow *flow;
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ERR_PTR(ret);
	if (attr->port != MYNIC_PORT || attr->type > IB_FLOW_ATTR_SNIFFER ||
	    attr->num_of_specs > MYNIC_FLOW_MAX_SPECS) {
		ibdev_dbg(ibqp->device,
			  "a flow rule of type %d for port %u with %u parts\n",
			  attr->type, attr->port, attr->num_of_specs);
		return ERR_PTR(-EINVAL);
	}
	if (ibqp->qp_type != IB_QPT_RAW_PACKET ||
	    attr->flags & ~IB_FLOW_ATTR_FLAGS_DONT_TRAP) {
		ibdev_dbg(ibqp->device,
			  "a flow rule with flags %#x for a QP of type %d\n",
			  attr->flags, ibqp->qp_type);
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (attr->flags & IB_FLOW_ATTR_FLAGS_DONT_TRAP)
		body.flags |= MYNIC_FLOW_DONT_TRAP;

	flow = kzalloc_obj(*flow);
	specs = kzalloc_objs(*specs, MYNIC_FLOW_MAX_SPECS);
	ret = -ENOMEM;
	if (!flow || !specs)
		goto err;
	ret = mynic_flow_specs(ibqp->device, &body, specs, attr);
	if (ret)
		goto err;
	ret = mynic_cmd_create_flow(mdev, &body, specs, &flow->number);
	if (ret)
		goto err;
	kfree(specs);
	return &flow->ibflow;

err:
	kfree(specs);
	kfree(flow);
	return ERR_PTR(ret);
}

int mynic_destroy_flow(struct ib_flow *ibflow)
{
	struct mynic_flow *flow = to_mflow(ibflow);

	mynic_cmd_destroy_flow(to_mdev(ibflow->device), flow->number);
	kfree(flow);
	return 0;
}
