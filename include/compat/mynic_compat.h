/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Parts of Linux 7.3 that the driver uses and older kernels lack, by the version
 * that brought them. Some parts use those above them. Builds out of the tree include
 * this before everything else. No version tells of post_destroy_cq: Kbuild does.
 */
#ifndef MYNIC_COMPAT_H
#define MYNIC_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 3, 0)

#include <linux/dim.h>
#include <linux/dma-mapping.h>
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/pci.h>
#include <linux/uaccess.h>
#include <rdma/ib_umem.h>
#include <net/devlink.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)

/* A sample is passed by value. */
#define net_dim(dim, sample) net_dim(dim, *(sample))

/* NAPI has no settings of its own that could be kept. */
#define netif_napi_add_config(dev, napi, poll, index) \
	netif_napi_add(dev, napi, poll)

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)

/* Since 6.14 the RDMA core handles port events. Before, drivers did. */

static inline enum ib_port_state ib_get_curr_port_state(struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev) ? IB_PORT_ACTIVE :
							       IB_PORT_DOWN;
}

/*
 * ib_device_get_by_netdev() takes RDMA_DRIVER_UNKNOWN for any driver, so it
 * could find a device that is stacked on the netdev. Ours has the parent of the
 * netdev. The devices of network namespaces do not keep that parent.
 */
static inline int mynic_is_ibdev(struct device *dev, void *unused)
{
	struct ib_device *ibdev;

	if (!dev->class || strcmp(dev->class->name, "infiniband"))
		return false;
	ibdev = rdma_device_to_ibdev(dev);
	return dev == &ibdev->dev && ibdev->ops.owner == THIS_MODULE;
}

static inline struct ib_device *mynic_netdev_ibdev(struct net_device *ndev)
{
	struct ib_device *ibdev;
	struct device *dev;

	dev = device_find_child(ndev->dev.parent, NULL, mynic_is_ibdev);
	if (!dev)
		return NULL;
	ibdev = rdma_device_to_ibdev(dev);
	if (!ib_device_try_get(ibdev))
		ibdev = NULL;
	put_device(dev);
	return ibdev;
}

static inline int mynic_port_notify(struct notifier_block *nb,
				    unsigned long action, void *data)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(data);
	struct ib_event event = { .element.port_num = 1 };
	struct ib_device *ibdev;

	/*
	 * The carrier is off when the interface goes up, so a change follows
	 * NETDEV_UP.
	 */
	if (action != NETDEV_CHANGE && action != NETDEV_DOWN)
		return NOTIFY_DONE;
	ibdev = mynic_netdev_ibdev(ndev);
	if (!ibdev)
		return NOTIFY_DONE;
	event.device = ibdev;
	event.event = ib_get_curr_port_state(ndev) == IB_PORT_ACTIVE ?
			      IB_EVENT_PORT_ACTIVE :
			      IB_EVENT_PORT_ERR;
	ib_dispatch_event(&event);
	ib_device_put(ibdev);
	return NOTIFY_DONE;
}

static inline int mynic_register(struct pci_driver *driver,
				 struct notifier_block *nb)
{
	int ret;

	ret = register_netdevice_notifier(nb);
	if (ret)
		return ret;
	ret = pci_register_driver(driver);
	if (ret)
		unregister_netdevice_notifier(nb);
	return ret;
}

static inline void mynic_unregister(struct pci_driver *driver,
				    struct notifier_block *nb)
{
	pci_unregister_driver(driver);
	unregister_netdevice_notifier(nb);
}

#undef module_pci_driver
#define module_pci_driver(driver)                      \
	static struct notifier_block mynic_port_nb = { \
		.notifier_call = mynic_port_notify,    \
	};                                             \
	module_driver(driver, mynic_register, mynic_unregister, &mynic_port_nb)

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)

/* Binding a QP to a counter takes no port. The device has one port only. */
#define mynic_qp_counter_bind_qp(counter, qp, port) \
	mynic_qp_counter_bind_qp(counter, qp)
#define mynic_qp_counter_unbind_qp(qp, port) mynic_qp_counter_unbind_qp(qp)

/*
 * The RDMA core allocates struct rdma_counter by itself. Store the size in a
 * member that the driver sets anyway, and the initialiser in a flag, as 0.
 */
#define size_rdma_counter size_ib_pd
#define counter_init uverbs_no_driver_id_binding
#define mynic_qp_counter_init(counter) mynic_no_qp_counter_init(counter)
enum { mynic_qp_counter_init };

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)

/* Older kernels pass these bits on to programs, but have no names for them. */
#define IB_ODP_SUPPORT_FLUSH BIT(6)
#define IB_ODP_SUPPORT_ATOMIC_WRITE BIT(7)

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)

/*
 * Older kernels have no DMA handles: registration gets none. The operations are
 * stored where a 0 changes nothing, like those of counters above.
 */
struct ib_dmah {
	struct ib_device *device;
	u8 valid_fields;
};

enum {
	IB_DMAH_CPU_ID_EXISTS,
	IB_DMAH_MEM_TYPE_EXISTS,
	IB_DMAH_PH_EXISTS,
};

#define dmah ((struct ib_dmah *)NULL)
#define alloc_dmah uverbs_no_driver_id_binding
#define dealloc_dmah uverbs_abi_ver
#define size_ib_dmah size_ib_pd
#define mynic_alloc_dmah(ibdmah, attrs) mynic_no_alloc_dmah(ibdmah, attrs)
#define mynic_dealloc_dmah(ibdmah, attrs) mynic_no_dealloc_dmah(ibdmah, attrs)
enum { mynic_alloc_dmah };
enum { mynic_dealloc_dmah };

#define mynic_reg_user_mr(pd, start, length, iova, access, dmah, udata) \
	mynic_reg_user_mr(pd, start, length, iova, access, udata)
#define mynic_reg_user_mr_dmabuf(pd, offset, length, iova, fd, access, dmah, \
				 attrs)                                      \
	mynic_reg_user_mr_dmabuf(pd, offset, length, iova, fd, access, attrs)

#endif

#ifdef MYNIC_NO_PRE_DESTROY_CQ

/*
 * Since 6.17, and in some stable kernels before it, kernel CQs are destroyed in
 * two steps. Kbuild looks for them. Elsewhere destroy_cq is all.
 */
#define pre_destroy_cq uverbs_no_driver_id_binding
#define post_destroy_cq uverbs_no_driver_id_binding
#define mynic_pre_destroy_cq(ibcq) mynic_no_pre_destroy_cq(ibcq)
#define mynic_post_destroy_cq(ibcq) mynic_no_post_destroy_cq(ibcq)
enum { mynic_pre_destroy_cq };
enum { mynic_post_destroy_cq };

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)

/* The grace period is a parameter rather than a member of the operations. */
#define devlink_health_reporter_create(devlink, ops, priv) \
	devlink_health_reporter_create(devlink, ops, 0, priv)

/*
 * The number of receive queues is one of the questions of another operation. The
 * driver's own answer is not used.
 */
#define get_rx_ring_count get_rxnfc

static inline int mynic_get_rx_ring_count(struct net_device *ndev,
					  struct ethtool_rxnfc *info,
					  u32 *rules)
{
	if (info->cmd != ETHTOOL_GRXRINGS)
		return -EOPNOTSUPP;
	info->data = ndev->real_num_rx_queues;
	return 0;
}

#define mynic_get_rx_ring_count(ndev) mynic_no_rx_ring_count(ndev)

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)

/*
 * Processes cannot ask for the speed of a port. The table of operations that has
 * it has no counters, whose size is set elsewhere.
 */
#define query_port_speed size_ib_counters
#define mynic_query_port_speed(ibdev, port, speed) \
	mynic_no_query_port_speed(ibdev, port, speed)
enum { mynic_query_port_speed };

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)

/* struct ib_udata has these rules for requests and responses since 7.1. */

static inline int ib_is_udata_in_empty(struct ib_udata *udata)
{
	int ret;

	if (!udata || !udata->inlen)
		return 0;
	ret = check_zeroed_user(udata->inbuf, udata->inlen);
	if (ret < 0)
		return ret;
	return ret ? 0 : -EOPNOTSUPP;
}

static inline int mynic_copy_validate_udata_in(struct ib_udata *udata,
					       void *req, size_t size,
					       size_t minimum)
{
	if (udata->inlen < minimum)
		return -EINVAL;
	if (udata->inlen > size &&
	    !ib_is_udata_cleared(udata, size, udata->inlen - size))
		return -EOPNOTSUPP;
	return ib_copy_from_udata(req, udata, min(size, udata->inlen));
}

#define ib_copy_validate_udata_in(udata, req, end_member)        \
	mynic_copy_validate_udata_in(udata, &(req), sizeof(req), \
				     offsetofend(typeof(req), end_member))

static inline int mynic_respond_udata(struct ib_udata *udata, const void *resp,
				      size_t size)
{
	size_t len = min(size, udata->outlen);

	if (copy_to_user(udata->outbuf, resp, len) ||
	    clear_user(udata->outbuf + len, udata->outlen - len))
		return -EFAULT;
	return 0;
}

#define ib_respond_udata(udata, resp) \
	mynic_respond_udata(udata, &(resp), sizeof(resp))

/*
 * Older kernels have no uverbs_robust_udata. Turning off the binding to a
 * driver_id has no effect on a device without one.
 */
#define uverbs_robust_udata uverbs_no_driver_id_binding

/* The operation has another name, and its number is signed. */
#define resize_user_cq resize_cq
#define mynic_resize_user_cq(cq, entries, udata) \
	mynic_resize_user_cq(cq, int cqe, udata)

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)

#define ib_umem_get_va ib_umem_get

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 6)

/* 7.2.4 lacks it, and 7.2.6 has it. */
static inline int ib_no_udata_io(struct ib_udata *udata)
{
	int ret;

	ret = ib_is_udata_in_empty(udata);
	if (ret || !udata)
		return ret;
	return clear_user(udata->outbuf, udata->outlen) ? -EFAULT : 0;
}

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 3, 0) && \
	!defined(DMA_ATTR_REQUIRE_COHERENT)

/*
 * Older kernels cannot refuse a bounce buffer, but tell whether they use one.
 */

#include <linux/dma-map-ops.h>
#include <linux/swiotlb.h>

#define DMA_ATTR_REQUIRE_COHERENT BIT(31)

static inline dma_addr_t mynic_dma_map_page_attrs(struct device *dev,
						  struct page *page,
						  size_t offset, size_t size,
						  enum dma_data_direction dir,
						  unsigned long attrs)
{
	if (attrs & DMA_ATTR_REQUIRE_COHERENT &&
	    (!dev_is_dma_coherent(dev) || is_swiotlb_force_bounce(dev)))
		return DMA_MAPPING_ERROR;
	return dma_map_page_attrs(dev, page, offset, size, dir,
				  attrs & ~DMA_ATTR_REQUIRE_COHERENT);
}

#define dma_map_page_attrs mynic_dma_map_page_attrs

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 3, 0)

/* Older kernels cannot register a region on a dma-buf again. */
static inline int mynic_umem_check_rereg(struct ib_umem *umem, int flags,
					 int access)
{
	if (umem && umem->is_dmabuf)
		return -EOPNOTSUPP;
	return ib_umem_check_rereg(umem, flags, access);
}

#define ib_umem_check_rereg mynic_umem_check_rereg

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 3, 0)

/* Older kernels have no completion counters. */
struct ib_comp_cntr {
	struct ib_device *device;
};

struct ib_comp_cntr_caps {
	u64 max_value;
	u32 max_counters;
	u32 supported_qp_attach_ops;
};

struct ib_qp_attach_comp_cntr_attr {
	u32 op_mask;
};

enum ib_comp_cntr_entry {
	IB_COMP_CNTR_ENTRY_COMP,
	IB_COMP_CNTR_ENTRY_ERR,
};

enum ib_comp_cntr_modify_op {
	IB_COMP_CNTR_MODIFY_OP_SET,
	IB_COMP_CNTR_MODIFY_OP_INC,
};

enum ib_qp_attach_comp_cntr_op {
	IB_QP_ATTACH_COMP_CNTR_OP_SEND = 1 << 0,
	IB_QP_ATTACH_COMP_CNTR_OP_RECV = 1 << 1,
	IB_QP_ATTACH_COMP_CNTR_OP_RDMA_READ = 1 << 2,
	IB_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ = 1 << 3,
	IB_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE = 1 << 4,
	IB_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE = 1 << 5,
};

/*
 * The operations are stored as sizes of 0, which are ignored, and the size in a
 * member that the driver has set before. Members of other structs that have the
 * name of an operation get another one, too, wherever they are used.
 */
#define create_comp_cntr size_ib_ah
#define destroy_comp_cntr size_ib_cq
#define modify_comp_cntr size_ib_mw
#define qp_attach_comp_cntr size_ib_qp
#define query_comp_cntr_caps size_ib_srq
#define read_comp_cntr size_ib_ucontext
#define size_ib_comp_cntr size_ib_pd
#define mynic_create_comp_cntr(ibcc, attrs) \
	mynic_no_create_comp_cntr(ibcc, attrs)
#define mynic_destroy_comp_cntr(ibcc) mynic_no_destroy_comp_cntr(ibcc)
#define mynic_modify_comp_cntr(ibcc, entry, op, value) \
	mynic_no_modify_comp_cntr(ibcc, entry, op, value)
#define mynic_qp_attach_comp_cntr(ibqp, ibcc, attr) \
	mynic_no_qp_attach_comp_cntr(ibqp, ibcc, attr)
#define mynic_query_comp_cntr_caps(ibdev, caps, attrs) \
	mynic_no_query_comp_cntr_caps(ibdev, caps, attrs)
#define mynic_read_comp_cntr(ibcc, entry, value) \
	mynic_no_read_comp_cntr(ibcc, entry, value)
enum { mynic_create_comp_cntr };
enum { mynic_destroy_comp_cntr };
enum { mynic_modify_comp_cntr };
enum { mynic_qp_attach_comp_cntr };
enum { mynic_query_comp_cntr_caps };
enum { mynic_read_comp_cntr };

/* The attribute of the driver has no method. Its definition is an end. */
enum {
	UVERBS_OBJECT_COMP_CNTR = U16_MAX,
	UVERBS_METHOD_COMP_CNTR_CREATE = 0,
};

#undef UAPI_DEF_CHAIN_OBJ_TREE
#define UAPI_DEF_CHAIN_OBJ_TREE(object, tree)                      \
	{                                                          \
		.kind = (int)(object) == UVERBS_OBJECT_COMP_CNTR ? \
				UAPI_DEF_END :                     \
				UAPI_DEF_CHAIN_OBJ_TREE,           \
		.object_start = { .object_id = (object) },         \
		.chain_obj_tree = (tree),                          \
	}

#endif

#endif /* MYNIC_COMPAT_H */
