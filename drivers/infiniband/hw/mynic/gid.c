// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The GID table of the device, and the page that tells processes which of its
 * entries are valid. An entry includes the source MAC and the VLAN.
 */
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

	lockdep_assert_held(&mdev->gid_lock);
	ret = mynic_cmd_set_gid(mdev, index, entry);
	if (!ret)
		mdev->gids[index] = *entry;
	return ret;
}

static void mynic_gid_valid(const struct ib_gid_attr *attr, u8 valid)
{
	struct mynic_gid_info *info =
		page_address(to_mib(attr->device)->gid_page);

	WRITE_ONCE(info->valid[attr->index], valid);
}

/*
 * If a VLAN has taken over the MAC of its lower interface, it follows each
 * change of that MAC, but later than the lower interface.
 */
static bool mynic_gid_follows(const struct ib_gid_attr *attr,
			      const struct net_device *below)
{
	const struct net_device *ndev;
	bool follows;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	follows = !IS_ERR(ndev) && is_vlan_dev(ndev) &&
		  ndev->addr_assign_type == NET_ADDR_STOLEN &&
		  vlan_dev_real_dev(ndev) == below;
	rcu_read_unlock();
	return follows;
}

/* gid_lock keeps the MAC of the interface unchanged. */
static int mynic_gid_entry(struct mynic_dev *mdev,
			   const struct ib_gid_attr *attr,
			   struct mynic_set_gid *entry)
{
	u16 vlan;
	int ret;

	lockdep_assert_held(&mdev->gid_lock);
	ret = rdma_read_gid_l2_fields(attr, &vlan, entry->mac);
	if (ret)
		return ret;
	if (mynic_gid_follows(attr, mdev->netdev))
		ether_addr_copy(entry->mac, mdev->netdev->dev_addr);
	memcpy(entry->gid, attr->gid.raw, sizeof(entry->gid));
	entry->vlan = cpu_to_le16(vlan);
	return 0;
}

int mynic_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct mynic_dev *mdev = to_mdev(attr->device);
	struct mynic_set_gid entry = {};
	int ret;

	mutex_lock(&mdev->gid_lock);
	ret = mynic_gid_entry(mdev, attr, &entry);
	if (!ret)
		ret = mynic_set_gid(mdev, attr->index, &entry);
	mutex_unlock(&mdev->gid_lock);
	if (!ret)
		mynic_gid_valid(attr, 1);
	return ret;
}

int mynic_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct mynic_set_gid entry = { .vlan = cpu_to_le16(MYNIC_NO_VLAN) };
	struct mynic_dev *mdev = to_mdev(attr->device);
	int ret;

	mynic_gid_valid(attr, 0);
	mutex_lock(&mdev->gid_lock);
	ret = mynic_set_gid(mdev, attr->index, &entry);
	mutex_unlock(&mdev->gid_lock);
	return ret;
}

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
 * mynic_gids_change_mac() - change the MAC of the network interface
 * @mdev: device, which is up
 * @addr: &struct sockaddr with the MAC
 *
 * The RDMA core replaces the GIDs that are made from the MAC. GIDs of IP
 * addresses keep their entry, whose source MAC is changed here.
 */
void mynic_gids_change_mac(struct mynic_dev *mdev, void *addr)
{
	u8 old[ETH_ALEN] __aligned(2);
	struct mynic_set_gid *entry;
	u16 vlan;
	u32 i;

	mutex_lock(&mdev->gid_lock);
	ether_addr_copy(old, mdev->netdev->dev_addr);
	eth_commit_mac_addr_change(mdev->netdev, addr);
	for (i = 0; i < MYNIC_MAX_GIDS; i++) {
		entry = &mdev->gids[i];
		if (!ether_addr_equal(entry->mac, old))
			continue;
		vlan = le16_to_cpu(entry->vlan);
		if (vlan != MYNIC_NO_VLAN &&
		    !mynic_vlan_follows(mdev->netdev, vlan))
			continue;
		ether_addr_copy(entry->mac, mdev->netdev->dev_addr);
		/*
		 * This fails only if the device is dead. Then it loses all GIDs
		 * anyway.
		 */
		mynic_cmd_set_gid(mdev, i, entry);
	}
	mutex_unlock(&mdev->gid_lock);
}
