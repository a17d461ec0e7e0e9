// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ethtool operations of the network interface */
#include <linux/ethtool.h>

#include "cmd.h"

static void mynic_get_drvinfo(struct net_device *ndev,
			      struct ethtool_drvinfo *info)
{
	u64 ver = mynic_netdev_mdev(ndev)->caps.fw_ver;

	snprintf(info->fw_version, sizeof(info->fw_version), "%u.%u.%u",
		 (u16)(ver >> 32), (u16)(ver >> 16), (u16)ver);
}

static int mynic_get_link_ksettings(struct net_device *ndev,
				    struct ethtool_link_ksettings *ks)
{
	ethtool_link_ksettings_zero_link_mode(ks, supported);
	ethtool_link_ksettings_zero_link_mode(ks, advertising);
	ks->base.speed = mynic_netdev_speed(ndev);
	ks->base.duplex = DUPLEX_FULL;
	ks->base.autoneg = AUTONEG_DISABLE;
	ks->base.port = PORT_OTHER;
	return 0;
}

static int mynic_get_sset_count(struct net_device *ndev, int sset)
{
	return sset == ETH_SS_STATS ? MYNIC_NUM_STATS : -EOPNOTSUPP;
}

static void mynic_get_strings(struct net_device *ndev, u32 sset, u8 *data)
{
	unsigned int i;

	if (sset != ETH_SS_STATS)
		return;
	for (i = 0; i < MYNIC_NUM_STATS; i++)
		ethtool_puts(&data, mynic_stat_descs[i].name);
}

static void mynic_get_ethtool_stats(struct net_device *ndev,
				    struct ethtool_stats *stats, u64 *data)
{
	if (mynic_netdev_query_stats(ndev, data))
		memset(data, 0, MYNIC_NUM_STATS * sizeof(*data));
}

const struct ethtool_ops mynic_ethtool_ops = {
	.get_drvinfo = mynic_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = mynic_get_link_ksettings,
	.get_sset_count = mynic_get_sset_count,
	.get_strings = mynic_get_strings,
	.get_ethtool_stats = mynic_get_ethtool_stats,
	.get_ts_info = ethtool_op_get_ts_info,
};
