// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tells a mynic's network interface that its queues are in error. As long as the
 * module is loaded there is no memory for others: no page is low enough for the
 * mask of the function.
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
MODULE_PARM_DESC(handler, "address of mynic_netdev_error()");

static unsigned int tries;
module_param(tries, uint, 0444);
MODULE_PARM_DESC(tries, "how often somebody wanted to make queues");

static struct device *netdev_nomem_parent;
static u64 netdev_nomem_mask;

static int netdev_nomem_try(struct kprobe *probe, struct pt_regs *regs)
{
	tries++;
	return 0;
}

static struct kprobe netdev_nomem_probe = {
	.symbol_name = "mynic_netdev_start",
	.pre_handler = netdev_nomem_try,
};

static int netdev_nomem_break(void)
{
	void (*report)(struct ib_event *event, void *context) = (void *)handler;
	struct ib_event event = { .event = IB_EVENT_QP_FATAL };
	struct net_device *ndev;

	ASSERT_RTNL();
	ndev = __dev_get_by_name(&init_net, netdev);
	if (!ndev || !ndev->dev.parent)
		return -ENODEV;
	netdev_nomem_parent = get_device(ndev->dev.parent);
	netdev_nomem_mask = netdev_nomem_parent->coherent_dma_mask;
	netdev_nomem_parent->coherent_dma_mask = PAGE_SIZE - 1;
	report(&event, netdev_priv(ndev));
	return 0;
}

static int __init netdev_nomem_init(void)
{
	int ret;

	if (!handler || !netdev)
		return -EINVAL;
	ret = register_kprobe(&netdev_nomem_probe);
	if (ret)
		return ret;
	rtnl_lock();
	ret = netdev_nomem_break();
	rtnl_unlock();
	if (ret)
		unregister_kprobe(&netdev_nomem_probe);
	return ret;
}

static void __exit netdev_nomem_exit(void)
{
	netdev_nomem_parent->coherent_dma_mask = netdev_nomem_mask;
	put_device(netdev_nomem_parent);
	unregister_kprobe(&netdev_nomem_probe);
}

module_init(netdev_nomem_init);
module_exit(netdev_nomem_exit);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("Takes memory from a network interface, for tests");
MODULE_LICENSE("Dual BSD/GPL");
