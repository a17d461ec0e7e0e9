// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The GID table */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <rdma/ib_cache.h>
#include <rdma/mynic-abi.h>

#include "cmd.h"

static_assert(MYNIC_MAX_GIDS <= MYNIC_GID_INFO_ENTRIES);
static_assert(sizeof(struct mynic_gid_info) <= PAGE_SIZE);

static int mynic_set_gid(struct mynic_dev *mdev, u32 index,
			 const struct mynic_set_gid *entry)
{
	int ret;

	mutex_lock(&mdev->gid_lock);
	ret = mynic_cmd_set_gid(mdev, index, entry);
	if (!ret)
		mdev->gids[index] = *entry;
	mutex_unlock(&mdev->gid_lock);
	return ret;
}

static void mynic_gid_valid(const struct ib_gid_attr *attr, u8 valid)
{
	struct mynic_gid_info *info =
		page_address(to_mib(attr->device)->gid_page);

	WRITE_ONCE(info->valid[attr->index], valid);
}

/**
 * mynic_add_gid() - &ib_device_ops.add_gid
 * @attr: the GID, where in the table it goes, and its network interface
 * @context: not used
 *
 * Return: 0 or an errno.
 */
int mynic_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct mynic_set_gid entry = {};
	u16 vlan;
	int ret;

	ret = rdma_read_gid_l2_fields(attr, &vlan, entry.mac);
	if (ret)
		return ret;
	memcpy(entry.gid, attr->gid.raw, sizeof(entry.gid));
	entry.vlan = cpu_to_le16(vlan);
	ret = mynic_set_gid(to_mdev(attr->device), attr->index, &entry);
	if (!ret)
		mynic_gid_valid(attr, 1);
	return ret;
}

/**
 * mynic_del_gid() - &ib_device_ops.del_gid
 * @attr: where in the table the GID is
 * @context: not used
 *
 * Return: 0 or an errno.
 */
int mynic_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct mynic_set_gid entry = { .vlan = cpu_to_le16(MYNIC_NO_VLAN) };

	mynic_gid_valid(attr, 0);
	return mynic_set_gid(to_mdev(attr->device), attr->index, &entry);
}

/* Whether the VLAN takes over each new MAC of the interface below it */
static bool mynic_vlan_follows(struct net_device *ndev, u16 vlan)
{
	struct net_device *upper;
	bool follows;

	rcu_read_lock();
	upper = __vlan_find_dev_deep_rcu(ndev, htons(ETH_P_8021Q), vlan);
	follows = upper && upper->addr_assign_type == NET_ADDR_STOLEN;
	rcu_read_unlock();
	return follows;
}

/**
 * mynic_gids_change_mac() - the Ethernet interface has another MAC
 * @mdev: device, which is up
 * @from: its MAC before
 * @to: its MAC now
 *
 * The core replaces GIDs that are made of the MAC, but not those that stand for
 * addresses of the interface.
 */
void mynic_gids_change_mac(struct mynic_dev *mdev, const u8 *from, const u8 *to)
{
	struct mynic_set_gid *entry;
	u16 vlan;
	u32 i;

	mutex_lock(&mdev->gid_lock);
	for (i = 0; i < MYNIC_MAX_GIDS; i++) {
		entry = &mdev->gids[i];
		if (!ether_addr_equal(entry->mac, from))
			continue;
		vlan = le16_to_cpu(entry->vlan);
		if (vlan != MYNIC_NO_VLAN &&
		    !mynic_vlan_follows(mdev->netdev, vlan))
			continue;
		ether_addr_copy(entry->mac, to);
		/* This fails on a dead device only, which forgets them all */
		mynic_cmd_set_gid(mdev, i, entry);
	}
	mutex_unlock(&mdev->gid_lock);
}
