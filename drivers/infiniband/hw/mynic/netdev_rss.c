// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Spreading of received frames over the channels: a QP whose table names their
 * WQs. A table and its QP do not change, so another setting has new ones.
 */
#include <linux/ethtool.h>
#include <linux/log2.h>

#include "cmd.h"
#include "netdev.h"

void mynic_rss_spread_evenly(struct mynic_netdev *nd)
{
	u8 *indir = nd->rss_setting.indir;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(nd->rss_setting.indir); i++)
		indir[i] =
			ethtool_rxfh_indir_default(i, nd->setup.num_channels);
}

u32 mynic_get_rx_ring_count(struct net_device *ndev)
{
	return ndev->real_num_rx_queues;
}

/* The device's limits are known. */
void mynic_rss_init(struct mynic_netdev *nd)
{
	const struct mynic_caps *caps = &nd->mdev->caps;

	/* While the table changes, there are two. */
	nd->spreads = caps->caps & MYNIC_CAP_WQ_KERNEL && caps->max_wq &&
		      caps->max_rwq_table >= 2 && caps->max_rwq_table_size;
	if (nd->spreads)
		nd->log_table_size = min(ilog2(caps->max_rwq_table_size),
					 MYNIC_RWQ_TABLE_MAX_LOG_SIZE);
	netdev_rss_key_fill(nd->rss_setting.key, sizeof(nd->rss_setting.key));
	nd->rss_setting.fields = MYNIC_RX_HASH_FIELDS;
}

static int mynic_rss_create_qp(struct mynic_netdev *nd, struct mynic_rss *rss,
			       const struct mynic_rss_setting *setting)
{
	struct mynic_create_qp mbox = {
		.pdn = cpu_to_le32(nd->pdn),
		.srqn = cpu_to_le32(MYNIC_NO_SRQ),
		.type = MYNIC_QP_RAW_PACKET,
		.rx_hash_function = MYNIC_RX_HASH_TOEPLITZ,
		.rwq_tablen = cpu_to_le32(rss->tablen),
		.rx_hash_fields = cpu_to_le32(setting->fields),
	};

	memcpy(mbox.rx_hash_key, setting->key, sizeof(mbox.rx_hash_key));
	return mynic_cmd_create_qp(nd->mdev, &mbox, &rss->qpn);
}

/* The channels exist. */
int mynic_rss_create(struct mynic_netdev *nd, struct mynic_rss *rss,
		     const struct mynic_rss_setting *setting)
{
	__le32 wqns[ARRAY_SIZE(setting->indir)];
	unsigned int i;
	int ret;

	if (!nd->spreads) {
		rss->qpn = nd->channels[0].qp.qpn;
		return 0;
	}
	for (i = 0; i < BIT(nd->log_table_size); i++)
		wqns[i] = cpu_to_le32(nd->channels[setting->indir[i]].rwq.wqn);
	ret = mynic_cmd_create_rwq_table(nd->mdev, nd->log_table_size, wqns,
					 &rss->tablen);
	if (ret)
		return ret;
	ret = mynic_rss_create_qp(nd, rss, setting);
	if (ret)
		mynic_cmd_destroy_rwq_table(nd->mdev, rss->tablen);
	return ret;
}

void mynic_rss_destroy(struct mynic_netdev *nd, const struct mynic_rss *rss)
{
	if (!nd->spreads)
		return;
	mynic_cmd_destroy_qp(nd->mdev, rss->qpn);
	mynic_cmd_destroy_rwq_table(nd->mdev, rss->tablen);
}
