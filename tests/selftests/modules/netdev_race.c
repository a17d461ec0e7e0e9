// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Takes a mynic's network interface down and up while its queues report an
 * error. Loading succeeds if the new queues are left alone, as the error was not
 * theirs.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

#define PATIENCE_MS 60000

static char *netdev;
module_param(netdev, charp, 0);
MODULE_PARM_DESC(netdev, "name of the network interface");

static unsigned long handler;
module_param(handler, ulong, 0);
MODULE_PARM_DESC(handler, "address of mynic_netdev_error()");

static bool during;
module_param(during, bool, 0);
MODULE_PARM_DESC(during, "the error comes while the interface is taken down");

static struct net_device *netdev_race_ndev;
static struct task_struct *netdev_race_closer;
static unsigned int netdev_race_starts;
static unsigned int netdev_race_restarts;

/* The driver has the queues made anew a while later. */
static void netdev_race_report(void)
{
	void (*report)(struct ib_event *event, void *context) = (void *)handler;
	struct ib_event event = { .event = IB_EVENT_QP_FATAL };

	report(&event, netdev_priv(netdev_race_ndev));
}

/* The interface receives nothing more, and its queues end next. */
static int netdev_race_set_rx(struct kprobe *probe, struct pt_regs *regs)
{
	if (current == netdev_race_closer)
		netdev_race_report();
	return 0;
}

static struct kprobe netdev_race_set_rx_probe = {
	.symbol_name = "mynic_cmd_set_rx",
	.pre_handler = netdev_race_set_rx,
};

/* The RTNL is held, so that one call is under way at a time. */
static int netdev_race_start(struct kprobe *probe, struct pt_regs *regs)
{
	WRITE_ONCE(netdev_race_starts, netdev_race_starts + 1);
	return 0;
}

static struct kprobe netdev_race_start_probe = {
	.symbol_name = "mynic_netdev_start",
	.pre_handler = netdev_race_start,
};

static int netdev_race_restarted(struct kretprobe_instance *instance,
				 struct pt_regs *regs)
{
	WRITE_ONCE(netdev_race_restarts, netdev_race_restarts + 1);
	return 0;
}

static struct kretprobe netdev_race_restart_probe = {
	.kp.symbol_name = "mynic_restart_work",
	.handler = netdev_race_restarted,
};

static struct kprobe *netdev_race_probes[] = {
	&netdev_race_set_rx_probe,
	&netdev_race_start_probe,
};

static int netdev_race_register(void)
{
	int ret;

	ret = register_kprobes(netdev_race_probes,
			       ARRAY_SIZE(netdev_race_probes));
	if (ret)
		return ret;
	ret = register_kretprobe(&netdev_race_restart_probe);
	if (ret)
		unregister_kprobes(netdev_race_probes,
				   ARRAY_SIZE(netdev_race_probes));
	return ret;
}

static void netdev_race_unregister(void)
{
	unregister_kretprobe(&netdev_race_restart_probe);
	unregister_kprobes(netdev_race_probes, ARRAY_SIZE(netdev_race_probes));
}

static int netdev_race_down_and_up(void)
{
	ASSERT_RTNL();
	netdev_race_ndev = __dev_get_by_name(&init_net, netdev);
	if (!netdev_race_ndev)
		return -ENODEV;
	if (during)
		netdev_race_closer = current;
	else
		netdev_race_report();
	dev_close(netdev_race_ndev);
	netdev_race_closer = NULL;
	return dev_open(netdev_race_ndev, NULL);
}

static int netdev_race_run(void)
{
	unsigned int i;
	int ret;

	rtnl_lock();
	ret = netdev_race_down_and_up();
	rtnl_unlock();
	if (ret)
		return ret;
	for (i = 0; i < PATIENCE_MS && !READ_ONCE(netdev_race_restarts); i++)
		usleep_range(1000, 2000);
	if (!READ_ONCE(netdev_race_restarts))
		return -ETIMEDOUT;
	pr_info("netdev_race: queues were made %u times\n", netdev_race_starts);
	return netdev_race_starts == 1 ? 0 : -EBADMSG;
}

static int __init netdev_race_init(void)
{
	int ret;

	if (!netdev || !handler)
		return -EINVAL;
	ret = netdev_race_register();
	if (ret)
		return ret;
	ret = netdev_race_run();
	if (ret)
		netdev_race_unregister();
	return ret;
}

static void __exit netdev_race_exit(void)
{
	netdev_race_unregister();
}

module_init(netdev_race_init);
module_exit(netdev_race_exit);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("An error of Ethernet queues that end, for tests");
MODULE_LICENSE("Dual BSD/GPL");
