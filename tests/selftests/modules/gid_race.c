// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Readers of the MAC for a new GID of a mynic are held up until the MAC has
 * changed, or for a while. It also tells how many GIDs have another MAC than the
 * network interface.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "mynic.h"

#define PATIENCE_MS 200

static char *device;
module_param(device, charp, 0);
MODULE_PARM_DESC(device, "RDMA device");

static struct mynic_dev *gid_race_mdev;

static int gid_race_enter(struct kretprobe_instance *instance,
			  struct pt_regs *regs)
{
	const struct ib_gid_attr *attr =
		(void *)regs_get_kernel_argument(regs, 0);

	return attr->device != &gid_race_mdev->ibdev->ibdev;
}

/* If the driver excludes changes meanwhile, the wait is in vain. */
static int gid_race_read(struct kretprobe_instance *instance,
			 struct pt_regs *regs)
{
	const struct net_device *ndev = gid_race_mdev->netdev;
	u8 mac[ETH_ALEN] __aligned(2);
	unsigned int i;

	ether_addr_copy(mac, ndev->dev_addr);
	for (i = 0; i < PATIENCE_MS; i++) {
		if (!ether_addr_equal(mac, ndev->dev_addr))
			break;
		mdelay(1);
	}
	return 0;
}

static struct kretprobe gid_race_probe = {
	.kp.symbol_name = "rdma_read_gid_l2_fields",
	.entry_handler = gid_race_enter,
	.handler = gid_race_read,
};

static int gid_race_stale(char *buffer, const struct kernel_param *param)
{
	struct mynic_dev *mdev = gid_race_mdev;
	const struct mynic_set_gid *entry;
	unsigned int i, stale = 0;

	mutex_lock(&mdev->gid_lock);
	for (i = 0; i < MYNIC_MAX_GIDS; i++) {
		entry = &mdev->gids[i];
		if (!is_zero_ether_addr(entry->mac) &&
		    !ether_addr_equal(entry->mac, mdev->netdev->dev_addr))
			stale++;
	}
	mutex_unlock(&mdev->gid_lock);
	return sysfs_emit(buffer, "%u\n", stale);
}

static const struct kernel_param_ops gid_race_stale_ops = {
	.get = gid_race_stale,
};

module_param_cb(stale, &gid_race_stale_ops, NULL, 0400);
MODULE_PARM_DESC(stale, "GIDs with another MAC than the network interface");

static int gid_race_add(struct ib_device *ibdev)
{
	if (!strcmp(dev_name(&ibdev->dev), device))
		gid_race_mdev = to_mdev(ibdev);
	return -EOPNOTSUPP;
}

/* The test does not remove the device while this module is loaded. */
static struct ib_client gid_race_client = {
	.name = "gid_race",
	.add = gid_race_add,
};

static int __init gid_race_init(void)
{
	int ret;

	if (!device)
		return -EINVAL;
	ret = ib_register_client(&gid_race_client);
	if (ret)
		return ret;
	ret = gid_race_mdev ? register_kretprobe(&gid_race_probe) : -ENODEV;
	if (ret)
		ib_unregister_client(&gid_race_client);
	return ret;
}

static void __exit gid_race_exit(void)
{
	unregister_kretprobe(&gid_race_probe);
	ib_unregister_client(&gid_race_client);
}

module_init(gid_race_init);
module_exit(gid_race_exit);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("Holds up who reads the MAC for a GID, for tests");
MODULE_LICENSE("Dual BSD/GPL");
