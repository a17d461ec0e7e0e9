// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Attributes of the RDMA device and of its port, as verbs report them */
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include <rdma/mynic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

/*
 * IBTA encoding: 4.096 us * 2^16 = 268 ms, in which a process answers even on a
 * busy host.
 */
#define MYNIC_LOCAL_ACK_DELAY 16

#define MYNIC_DEVICE_CAPS                                            \
	(IB_DEVICE_CURR_QP_STATE_MOD | IB_DEVICE_PORT_ACTIVE_EVENT | \
	 IB_DEVICE_RAW_IP_CSUM | IB_DEVICE_RC_RNR_NAK_GEN |          \
	 IB_DEVICE_SRQ_RESIZE | IB_DEVICE_SYS_IMAGE_GUID)

static u64 mynic_device_cap_flags(const struct mynic_caps *caps)
{
	u64 flags = MYNIC_DEVICE_CAPS;

	if (caps->max_xrcd)
		flags |= IB_DEVICE_XRC;
	if (caps->caps & MYNIC_CAP_ATOMIC_WRITE)
		flags |= IB_DEVICE_ATOMIC_WRITE;
	if (caps->caps & MYNIC_CAP_FLUSH_GLOBAL)
		flags |= IB_DEVICE_FLUSH_GLOBAL;
	if (caps->caps & MYNIC_CAP_FLUSH_PERSISTENT)
		flags |= IB_DEVICE_FLUSH_PERSISTENT;
	if (caps->max_flow)
		flags |= IB_DEVICE_MANAGED_FLOW_STEERING;
	/*
	 * A window of type 2 can be used through one QP, whose PD is always
	 * that of the window. Types 2A and 2B do not differ then, and both are
	 * reported.
	 */
	if (caps->max_mw)
		flags |= IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2A |
			 IB_DEVICE_MEM_WINDOW_TYPE_2B;
	if (caps->max_fast_reg_pages)
		flags |= IB_DEVICE_MEM_MGT_EXTENSIONS;
	return flags;
}

static void mynic_raw_packet_caps(const struct mynic_caps *caps,
				  struct ib_device_attr *attr)
{
	attr->raw_packet_caps = IB_RAW_PACKET_CAP_IP_CSUM |
				IB_RAW_PACKET_CAP_CVLAN_STRIPPING;
	attr->max_wq_type_rq = caps->max_wq;
	if (caps->max_wq)
		attr->rss_caps.supported_qpts = BIT(IB_QPT_RAW_PACKET);
	attr->rss_caps.max_rwq_indirection_tables = caps->max_rwq_table;
	attr->rss_caps.max_rwq_indirection_table_size =
		caps->max_rwq_table_size;
}

static void mynic_tm_caps(const struct mynic_caps *caps, struct ib_tm_caps *tm)
{
	if (!caps->max_tags)
		return;
	tm->max_rndv_hdr_size = caps->max_rndv_hdr;
	tm->max_num_tags = caps->max_tags;
	tm->flags = IB_TM_CAP_RNDV_RC;
	tm->max_ops = caps->max_tag_ops;
	tm->max_sge = 1;
}

int mynic_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata)
{
	struct mynic_dev *mdev = to_mdev(ibdev);
	const struct mynic_caps *caps = &mdev->caps;
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = caps->fw_ver;
	attr->sys_image_guid = caps->node_guid;
	attr->max_mr_size = caps->max_mr_size;
	attr->page_size_cap = caps->page_size_cap;
	attr->vendor_id = mdev->pdev->vendor;
	attr->vendor_part_id = mdev->pdev->device;
	attr->hw_ver = mdev->pdev->revision;
	attr->max_qp = caps->max_qp;
	attr->max_qp_wr = caps->max_qp_wr;
	attr->device_cap_flags = mynic_device_cap_flags(caps);
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	if (IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING) &&
	    caps->caps & MYNIC_CAP_ODP) {
		attr->kernel_cap_flags |= IBK_ON_DEMAND_PAGING;
		mynic_odp_caps(mdev, &attr->odp_caps);
	}
	attr->max_send_sge = MYNIC_MAX_SGE;
	attr->max_recv_sge = MYNIC_MAX_SGE;
	attr->max_sge_rd = MYNIC_MAX_SGE;
	attr->max_cq = caps->max_cq;
	attr->max_cqe = caps->max_cqe;
	attr->max_mr = caps->max_mkey;
	attr->max_mw = caps->max_mw;
	attr->max_fast_reg_page_list_len = caps->max_fast_reg_pages;
	attr->max_pd = caps->max_pd;
	attr->max_qp_rd_atom = caps->max_rd_atomic;
	attr->max_qp_init_rd_atom = caps->max_rd_atomic;
	attr->max_res_rd_atom =
		min_t(u64, (u64)caps->max_rd_atomic * caps->max_qp, S32_MAX);
	attr->atomic_cap = IB_ATOMIC_HCA;
	attr->max_mcast_grp = caps->max_mcast_grp;
	attr->max_mcast_qp_attach = caps->max_mcast_qp_attach;
	attr->max_total_mcast_qp_attach =
		min_t(u64, (u64)caps->max_mcast_grp * caps->max_mcast_qp_attach,
		      S32_MAX);
	/* Address handles use no memory of the device. */
	attr->max_ah = S32_MAX;
	attr->max_dm_size = caps->dm_size;
	attr->max_srq = caps->max_srq;
	attr->max_srq_wr = caps->max_srq_wr;
	attr->max_srq_sge = MYNIC_MAX_SGE;
	attr->max_pkeys = 1;
	mynic_raw_packet_caps(caps, attr);
	mynic_tm_caps(caps, &attr->tm_caps);
	attr->local_ca_ack_delay = MYNIC_LOCAL_ACK_DELAY;
	attr->timestamp_mask = U64_MAX;
	attr->hca_core_clock = caps->clock_khz;
	attr->cq_caps.max_cq_moderation_count = U16_MAX;
	attr->cq_caps.max_cq_moderation_period = U16_MAX;
	return 0;
}

void mynic_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	u64 ver = to_mdev(ibdev)->caps.fw_ver;

	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%u", (u16)(ver >> 32),
		 (u16)(ver >> 16), (u16)ver);
}

/* The RDMA core shows the description, and asks for this when it is written. */
int mynic_modify_device(struct ib_device *ibdev, int mask,
			struct ib_device_modify *modify)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ibdev->node_desc, modify->node_desc,
		       sizeof(ibdev->node_desc));
	return 0;
}

/* -ENODEV: there is no network interface. */
int mynic_query_port(struct ib_device *ibdev, u32 port,
		     struct ib_port_attr *attr)
{
	struct net_device *ndev;

	ndev = ib_device_get_netdev(ibdev, port);
	if (!ndev)
		return -ENODEV;
	attr->state = ib_get_curr_port_state(ndev);
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = iboe_get_mtu(READ_ONCE(ndev->mtu));
	if (attr->state == IB_PORT_ACTIVE)
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	else if (netif_running(ndev))
		attr->phys_state = IB_PORT_PHYS_STATE_POLLING;
	else
		attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	dev_put(ndev);
	attr->gid_tbl_len = to_mdev(ibdev)->caps.max_gid;
	attr->ip_gids = 1;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = MYNIC_MAX_MSG_SIZE;
	attr->pkey_tbl_len = 1;
	attr->max_vl_num = 1;
	return ib_get_eth_speed(ibdev, port, &attr->active_speed,
				&attr->active_width);
}

/* @speed is in units of 100 Mbit/s. A port that is down keeps its speed. */
int mynic_query_port_speed(struct ib_device *ibdev, u32 port, u64 *speed)
{
	struct mynic_port_state ps;
	int ret;

	ret = mynic_cmd_query_port(to_mdev(ibdev), &ps);
	if (ret)
		return ret;
	*speed = ps.speed_mbps / 100;
	return 0;
}

int mynic_get_port_immutable(struct ib_device *ibdev, u32 port,
			     struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP |
				    RDMA_CORE_PORT_RAW_PACKET;
	immutable->gid_tbl_len = to_mdev(ibdev)->caps.max_gid;
	immutable->pkey_tbl_len = 1;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

enum rdma_link_layer mynic_get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

/* RoCE has only the default partition. */
int mynic_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

/*
 * Return the bits of enum mynic_ece_option that QPs may negotiate with their
 * peers.
 */
u32 mynic_ece_options(const struct mynic_dev *mdev)
{
	BUILD_BUG_ON(MYNIC_ECE_OPTION_ECN != MYNIC_ECE_ECN);
	return mdev->caps.caps & MYNIC_CAP_ECE ? MYNIC_ECE_OPTION_ECN : 0;
}
