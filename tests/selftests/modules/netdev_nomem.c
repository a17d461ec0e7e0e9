// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Leaves no memory for new queues of a mynic's network interface while it is
 * loaded. For them, no page is low enough for the mask of the function.
 * It may also tell the interface that the queues that it has are in error.
 */
#include <linux/dma-mapping.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

static char *netdev;
module_param(netdev, charp, 0);
MODULE_PARM_DESC(netdev, "name of the network interface");

static unsigned long handler;
module_param(handler, ulong, 0);
MODULE_PARM_DESC(handler, "address of mynic_netdev_error(), or 0 for no error");

static unsigned int tries;
module_param(tries, uint, 0444);
MODULE_PARM_DESC(tries, "how often somebody wanted to make queues");

static struct device *netdev_nomem_parent;
static u64 netdev_nomem_mask;
/* The task that makes queues of the interface now */
static struct task_struct *netdev_nomem_maker;

static int netdev_nomem_enter(struct kretprobe_instance *instance,
			      struct pt_regs *regs)
{
	tries++;
	WRITE_ONCE(netdev_nomem_maker, current);
	return 0;
}

static int netdev_nomem_leave(struct kretprobe_instance *instance,
			      struct pt_regs *regs)
{
	WRITE_ONCE(netdev_nomem_maker, NULL);
	return 0;
}

/* The RDMA device may get memory meanwhile. */
static int netdev_nomem_alloc_enter(struct kretprobe_instance *instance,
				    struct pt_regs *regs)
{
	if (READ_ONCE(netdev_nomem_maker) != current)
		return 1;
	netdev_nomem_mask = netdev_nomem_parent->coherent_dma_mask;
	netdev_nomem_parent->coherent_dma_mask = PAGE_SIZE - 1;
	return 0;
}

static int netdev_nomem_alloc_leave(struct kretprobe_instance *instance,
				    struct pt_regs *regs)
{
	netdev_nomem_parent->coherent_dma_mask = netdev_nomem_mask;
	return 0;
}

/* The RTNL is held, so that one call is under way at a time. */
static struct kretprobe netdev_nomem_probe = {
	.kp.symbol_name = "mynic_netdev_start",
	.entry_handler = netdev_nomem_enter,
	.handler = netdev_nomem_leave,
};

static struct kretprobe netdev_nomem_alloc_probe = {
	.kp.symbol_name = "mynic_mem_alloc",
	.entry_handler = netdev_nomem_alloc_enter,
	.handler = netdev_nomem_alloc_leave,
};

static struct kretprobe *netdev_nomem_probes[] = {
	&netdev_nomem_probe,
	&netdev_nomem_alloc_probe,
};

static int netdev_nomem_find(void)
{
	struct net_device *ndev;

	ASSERT_RTNL();
	ndev = __dev_get_by_name(&init_net, netdev);
	if (!ndev || !ndev->dev.parent)
		return -ENODEV;
	netdev_nomem_parent = get_device(ndev->dev.parent);
	return 0;
}

static void netdev_nomem_break(void)
{
	void (*report)(struct ib_event *event, void *context) = (void *)handler;
	struct ib_event event = { .event = IB_EVENT_QP_FATAL };
	struct net_device *ndev;

	ASSERT_RTNL();
	ndev = __dev_get_by_name(&init_net, netdev);
	if (handler && ndev)
		report(&event, netdev_priv(ndev));
}

static int __init netdev_nomem_init(void)
{
	int ret;

	if (!netdev)
		return -EINVAL;
	rtnl_lock();
	ret = netdev_nomem_find();
	rtnl_unlock();
	if (ret)
		return ret;
	ret = register_kretprobes(netdev_nomem_probes,
				  ARRAY_SIZE(netdev_nomem_probes));
	if (ret) {
		put_device(netdev_nomem_parent);
		return ret;
	}
	rtnl_lock();
	netdev_nomem_break();
	rtnl_unlock();
	return 0;
}

static void __exit netdev_nomem_exit(void)
{
	unregister_kretprobes(netdev_nomem_probes,
			      ARRAY_SIZE(netdev_nomem_probes));
	put_device(netdev_nomem_parent);
}

module_init(netdev_nomem_init);
module_exit(netdev_nomem_exit);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("Takes memory from a network interface, for tests");
MODULE_LICENSE("Dual BSD/GPL");
