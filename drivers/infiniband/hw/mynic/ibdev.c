// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The RDMA device: its operations, its registration and its removal */
#include <linux/module.h>
#include <rdma/mynic-abi.h>

#include "mynic.h"

static const struct ib_device_ops mynic_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = MYNIC_UVERBS_ABI_VERSION,
	.uverbs_robust_udata = 1,

	.add_gid = mynic_add_gid,
	.advise_mr = mynic_advise_mr,
	.alloc_dm = mynic_alloc_dm,
	.alloc_hw_port_stats = mynic_alloc_hw_port_stats,
	.alloc_mr = mynic_alloc_mr,
	.alloc_mw = mynic_alloc_mw,
	.alloc_pd = mynic_alloc_pd,
	.alloc_ucontext = mynic_alloc_ucontext,
	.alloc_xrcd = mynic_alloc_xrcd,
	.attach_mcast = mynic_attach_mcast,
	.create_ah = mynic_create_ah,
	.create_cq = mynic_create_cq,
	.create_flow = mynic_create_flow,
	.create_qp = mynic_create_qp,
	.create_rwq_ind_table = mynic_create_rwq_ind_table,
	.create_srq = mynic_create_srq,
	.create_user_ah = mynic_create_ah,
	.create_wq = mynic_create_wq,
	.dealloc_dm = mynic_dealloc_dm,
	.dealloc_mw = mynic_dealloc_mw,
	.dealloc_pd = mynic_dealloc_pd,
	.dealloc_ucontext = mynic_dealloc_ucontext,
	.dealloc_xrcd = mynic_dealloc_xrcd,
	.del_gid = mynic_del_gid,
	.dereg_mr = mynic_dereg_mr,
	.destroy_ah = mynic_destroy_ah,
	.destroy_cq = mynic_destroy_cq,
	.pre_destroy_cq = mynic_pre_destroy_cq,
	.post_destroy_cq = mynic_post_destroy_cq,
	.destroy_flow = mynic_destroy_flow,
	.destroy_qp = mynic_destroy_qp,
	.destroy_rwq_ind_table = mynic_destroy_rwq_ind_table,
	.destroy_srq = mynic_destroy_srq,
	.destroy_wq = mynic_destroy_wq,
	.detach_mcast = mynic_detach_mcast,
	.disassociate_ucontext = mynic_disassociate_ucontext,
	.drain_rq = mynic_drain_rq,
	.drain_sq = mynic_drain_sq,
	.get_dev_fw_str = mynic_get_dev_fw_str,
	.get_dma_mr = mynic_get_dma_mr,
	.get_hw_stats = mynic_get_hw_stats,
	.get_link_layer = mynic_get_link_layer,
	.get_port_immutable = mynic_get_port_immutable,
	.map_mr_sg = mynic_map_mr_sg,
	.mmap = mynic_mmap,
	.mmap_free = mynic_mmap_free,
	.modify_cq = mynic_modify_cq,
	.modify_device = mynic_modify_device,
	.modify_qp = mynic_modify_qp,
	.modify_srq = mynic_modify_srq,
	.modify_wq = mynic_modify_wq,
	.poll_cq = mynic_poll_cq,
	.post_recv = mynic_post_recv,
	.post_send = mynic_post_send,
	.post_srq_recv = mynic_post_srq_recv,
	.process_mad = mynic_process_mad,
	.query_ah = mynic_query_ah,
	.query_device = mynic_query_device,
	.query_pkey = mynic_query_pkey,
	.query_port = mynic_query_port,
	.query_port_speed = mynic_query_port_speed,
	.query_qp = mynic_query_qp,
	.query_srq = mynic_query_srq,
	.query_ucontext = mynic_query_ucontext,
	.reg_dm_mr = mynic_reg_dm_mr,
	.reg_user_mr = mynic_reg_user_mr,
	.reg_user_mr_dmabuf = mynic_reg_user_mr_dmabuf,
	.req_notify_cq = mynic_req_notify_cq,
	.rereg_user_mr = mynic_rereg_user_mr,
	.resize_user_cq = mynic_resize_user_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, mynic_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, mynic_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, mynic_mw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, mynic_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, mynic_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_rwq_ind_table, mynic_rwq_table, ibtable),
	INIT_RDMA_OBJ_SIZE(ib_srq, mynic_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, mynic_ucontext, ibucontext),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, mynic_xrcd, ibxrcd),
};

static const struct uapi_definition mynic_uapi_defs[] = {
	UAPI_DEF_CHAIN(mynic_comp_cntr_defs),
	UAPI_DEF_CHAIN(mynic_dm_defs),
	UAPI_DEF_CHAIN(mynic_pd_defs),
	UAPI_DEF_CHAIN(mynic_ucontext_defs),
	{},
};

int mynic_ib_register(struct mynic_dev *mdev)
{
	struct device *dev = &mdev->pdev->dev;
	struct mynic_ib_dev *mib;
	struct ib_device *ibdev;
	int ret;

	mib = ib_alloc_device(mynic_ib_dev, ibdev);
	if (!mib)
		return -ENOMEM;
	mib->mdev = mdev;
	ibdev = &mib->ibdev;
	mib->gid_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!mib->gid_page) {
		ret = -ENOMEM;
		goto err_dealloc;
	}
	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->node_guid = mdev->caps.node_guid;
	memcpy(ibdev->node_desc, mdev->node_desc, sizeof(mdev->node_desc));
	ibdev->phys_port_cnt = 1;
	/* Vector 0 stands for the vector of the processor that arms the CQ. */
	ibdev->num_comp_vectors = mdev->num_comp_eqs + 1;
	ibdev->local_dma_lkey = mdev->caps.dma_lkey;
	ibdev->dev.parent = dev;
	ib_set_device_ops(ibdev, &mynic_dev_ops);
	ibdev->driver_def = mynic_uapi_defs;
	ib_set_device_ops(ibdev, &mynic_restrack_ops);
	ib_set_device_ops(ibdev, &mynic_dmah_ops);
	if (mdev->caps.max_counters)
		ib_set_device_ops(ibdev, &mynic_qp_counter_ops);
	if (mdev->caps.max_comp_cntr)
		ib_set_device_ops(ibdev, &mynic_comp_cntr_ops);
	if (mdev->caps.max_counters && mdev->caps.max_flow)
		ib_set_device_ops(ibdev, &mynic_counters_ops);
	ret = ib_device_set_netdev(ibdev, mdev->netdev, MYNIC_PORT);
	if (ret)
		goto err_page;
	ret = ib_register_device(ibdev, mdev->ibdev_name, dev);
	if (ret == -ENFILE)
		ret = ib_register_device(ibdev, MYNIC_IB_NAME, dev);
	if (ret)
		goto err_page;
	mdev->ibdev = mib;
	mynic_tell_start(mdev);
	return 0;

err_page:
	put_page(mib->gid_page);
err_dealloc:
	ib_dealloc_device(ibdev);
	return ret;
}

/* Wait until all users have let go. The device may be dead. */
void mynic_ib_unregister(struct mynic_dev *mdev)
{
	const char *name;

	ib_unregister_device(&mdev->ibdev->ibdev);
	mynic_tell_stop(mdev);
	/*
	 * The device may have been renamed, but no longer is. A name with '%'
	 * would be taken for a pattern.
	 */
	name = dev_name(&mdev->ibdev->ibdev.dev);
	if (!strchr(name, '%'))
		strscpy(mdev->ibdev_name, name);
	memcpy(mdev->node_desc, mdev->ibdev->ibdev.node_desc,
	       sizeof(mdev->node_desc));
	mynic_clock_stop(mdev);
	mynic_dm_flush(mdev);
	put_page(mdev->ibdev->gid_page);
	ib_dealloc_device(&mdev->ibdev->ibdev);
	mdev->ibdev = NULL;
}
