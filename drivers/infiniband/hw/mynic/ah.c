// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles, and the conversion between paths of verbs and address
 * vectors. The device has no object for an address handle.
 */
#include <rdma/mynic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "mynic.h"

/*
 * @attr must have the destination's MAC resolved. -EINVAL: the path has no GID.
 */
int mynic_av_from_attr(const struct ib_device *ibdev, struct mynic_av *av,
		       const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);

	if (attr->type != RDMA_AH_ATTR_TYPE_ROCE ||
	    !(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) ||
	    attr->sl > MYNIC_MAX_SL) {
		ibdev_dbg(ibdev,
			  "a path with flags %#x and SL %u: at most %u\n",
			  rdma_ah_get_ah_flags(attr), attr->sl, MYNIC_MAX_SL);
		return -EINVAL;
	}
	*av = (struct mynic_av){
		.hop_limit = grh->hop_limit,
		.traffic_class = grh->traffic_class,
		.flow_label = cpu_to_le32(grh->flow_label & 0xfffff),
		.sgid_index = cpu_to_le16(grh->sgid_index),
		.sl = attr->sl,
		.static_rate = attr->static_rate,
	};
	memcpy(av->dgid, grh->dgid.raw, sizeof(av->dgid));
	memcpy(av->dmac, attr->roce.dmac, sizeof(av->dmac));
	return 0;
}

void mynic_av_to_attr(const struct mynic_av *av, struct rdma_ah_attr *attr)
{
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(attr, MYNIC_PORT);
	rdma_ah_set_sl(attr, av->sl);
	rdma_ah_set_static_rate(attr, av->static_rate);
	rdma_ah_set_grh(attr, NULL, le32_to_cpu(av->flow_label),
			le16_to_cpu(av->sgid_index), av->hop_limit,
			av->traffic_class);
	rdma_ah_set_dgid_raw(attr, (void *)av->dgid);
	memcpy(attr->roce.dmac, av->dmac, sizeof(av->dmac));
}

/*
 * @udata is NULL for the kernel's address handles, for which this does not
 * sleep.
 */
int mynic_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init_attr,
		    struct ib_udata *udata)
{
	struct mynic_create_ah_resp resp = {};
	struct mynic_ah *ah = to_mah(ibah);
	int ret;

	ret = ib_is_udata_in_empty(udata);
	if (ret)
		return ret;
	ret = mynic_av_from_attr(ibah->device, &ah->av, init_attr->ah_attr);
	if (ret || !udata)
		return ret;
	memcpy(resp.dmac, ah->av.dmac, sizeof(resp.dmac));
	return ib_respond_udata(udata, resp);
}

int mynic_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	mynic_av_to_attr(&to_mah(ibah)->av, attr);
	return 0;
}

int mynic_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}
