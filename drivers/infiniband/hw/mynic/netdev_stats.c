// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Statistics of the network interface. Channels count what they receive and send,
 * and the device counts the frames that never came here.
 */
#include <net/netdev_queues.h>

#include "cmd.h"
#include "netdev.h"

static const u8 mynic_drop_stats[MYNIC_NUM_DROPS] = {
	[MYNIC_DROPPED] = MYNIC_STAT_RX_ETH_DROPPED,
	[MYNIC_MISSED] = MYNIC_STAT_RX_DROP_OVERRUN,
};

int mynic_netdev_query_stats(struct net_device *ndev, u64 *values)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	struct mynic_drops *drops;
	unsigned int i;
	u64 value;
	int ret;

	mutex_lock(&nd->stats_lock);
	ret = mynic_cmd_query_stats(nd->mdev, 0, values);
	for (i = 0; i < MYNIC_NUM_DROPS && !ret; i++) {
		drops = &nd->drops[i];
		value = values[mynic_drop_stats[i]];
		atomic64_add(value - drops->last, &drops->total);
		drops->last = value;
	}
	mutex_unlock(&nd->stats_lock);
	return ret;
}

static void mynic_stats_work(struct work_struct *work)
{
	struct mynic_netdev *nd =
		container_of(work, struct mynic_netdev, stats_work);
	u64 values[MYNIC_NUM_STATS];

	mynic_netdev_query_stats(nd->ndev, values);
}

/* After a reset, the device counts from 0. */
void mynic_stats_forget(struct mynic_netdev *nd)
{
	unsigned int i;

	mutex_lock(&nd->stats_lock);
	for (i = 0; i < MYNIC_NUM_DROPS; i++)
		nd->drops[i].last = 0;
	mutex_unlock(&nd->stats_lock);
}

static void mynic_stats_add(struct rtnl_link_stats64 *stats,
			    const struct mynic_channel *ch)
{
	const struct mynic_rx_stats *rx = &ch->rx_stats;
	const struct mynic_tx_stats *tx = &ch->tx_stats;

	stats->rx_packets += u64_stats_read(&rx->packets);
	stats->rx_bytes += u64_stats_read(&rx->bytes);
	stats->rx_dropped += u64_stats_read(&rx->dropped);
	stats->rx_length_errors += u64_stats_read(&rx->length_errors);
	/* It includes the others. */
	stats->rx_errors += u64_stats_read(&rx->errors) +
			    u64_stats_read(&rx->length_errors);
	stats->tx_packets += u64_stats_read(&tx->packets);
	stats->tx_bytes += u64_stats_read(&tx->bytes);
	stats->tx_dropped += u64_stats_read(&tx->dropped);
	stats->tx_errors += u64_stats_read(&tx->errors);
}

/*
 * This may not sleep, so it starts a query whose result is for the next call.
 */
void mynic_get_stats64(struct net_device *ndev, struct rtnl_link_stats64 *stats)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	unsigned int i;

	for (i = 0; i < nd->max_channels; i++)
		mynic_stats_add(stats, &nd->channels[i]);
	stats->rx_dropped += atomic64_read(&nd->drops[MYNIC_DROPPED].total);
	stats->rx_missed_errors +=
		atomic64_read(&nd->drops[MYNIC_MISSED].total);
	schedule_work(&nd->stats_work);
}

const char *const mynic_own_stat_names[MYNIC_NUM_OWN_STATS] = {
	[MYNIC_QUEUE_RESTARTS] = "queue_restarts",
	[MYNIC_XDP_DROP] = "xdp_drop",
	[MYNIC_XDP_TX] = "xdp_tx",
	[MYNIC_XDP_REDIRECT] = "xdp_redirect",
	[MYNIC_XDP_FAILED] = "xdp_failed",
};

/* The RTNL is held. */
void mynic_stats_own(const struct mynic_netdev *nd,
		     u64 values[MYNIC_NUM_OWN_STATS])
{
	const struct mynic_rx_stats *rx;
	unsigned int i;

	memset(values, 0, MYNIC_NUM_OWN_STATS * sizeof(*values));
	values[MYNIC_QUEUE_RESTARTS] = nd->restarts;
	for (i = 0; i < nd->max_channels; i++) {
		rx = &nd->channels[i].rx_stats;
		values[MYNIC_XDP_DROP] += u64_stats_read(&rx->xdp_drop);
		values[MYNIC_XDP_TX] += u64_stats_read(&rx->xdp_tx);
		values[MYNIC_XDP_REDIRECT] += u64_stats_read(&rx->xdp_redirect);
		values[MYNIC_XDP_FAILED] += u64_stats_read(&rx->xdp_failed);
	}
}

/* Statistics of queues, for netlink */

static void mynic_get_rx_stats(struct net_device *ndev, int index,
			       struct netdev_queue_stats_rx *stats)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	const struct mynic_rx_stats *rx = &nd->channels[index].rx_stats;

	stats->packets = u64_stats_read(&rx->packets);
	stats->bytes = u64_stats_read(&rx->bytes);
	stats->alloc_fail = u64_stats_read(&rx->dropped);
	stats->csum_unnecessary = u64_stats_read(&rx->csum_ok);
}

static void mynic_get_tx_stats(struct net_device *ndev, int index,
			       struct netdev_queue_stats_tx *stats)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	const struct mynic_tx_stats *tx = &nd->channels[index].tx_stats;

	stats->packets = u64_stats_read(&tx->packets);
	stats->bytes = u64_stats_read(&tx->bytes);
	stats->stop = u64_stats_read(&tx->stop);
	stats->wake = u64_stats_read(&tx->wake);
}

/* What channels have counted that are no longer in use */
static void mynic_get_base_stats(struct net_device *ndev,
				 struct netdev_queue_stats_rx *rx,
				 struct netdev_queue_stats_tx *tx)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	struct netdev_queue_stats_rx one_rx;
	struct netdev_queue_stats_tx one_tx;
	unsigned int i;

	/* Only those that are set count. */
	rx->packets = 0;
	rx->bytes = 0;
	rx->alloc_fail = 0;
	rx->csum_unnecessary = 0;
	tx->packets = 0;
	tx->bytes = 0;
	tx->stop = 0;
	tx->wake = 0;
	for (i = nd->setup.num_channels; i < nd->max_channels; i++) {
		mynic_get_rx_stats(ndev, i, &one_rx);
		rx->packets += one_rx.packets;
		rx->bytes += one_rx.bytes;
		rx->alloc_fail += one_rx.alloc_fail;
		rx->csum_unnecessary += one_rx.csum_unnecessary;
		mynic_get_tx_stats(ndev, i, &one_tx);
		tx->packets += one_tx.packets;
		tx->bytes += one_tx.bytes;
		tx->stop += one_tx.stop;
		tx->wake += one_tx.wake;
	}
}

static const struct netdev_stat_ops mynic_stat_ops = {
	.get_queue_stats_rx = mynic_get_rx_stats,
	.get_queue_stats_tx = mynic_get_tx_stats,
	.get_base_stats = mynic_get_base_stats,
};

void mynic_stats_init(struct mynic_netdev *nd)
{
	INIT_WORK(&nd->stats_work, mynic_stats_work);
	disable_work(&nd->stats_work);
	mutex_init(&nd->stats_lock);
	nd->ndev->stat_ops = &mynic_stat_ops;
}

void mynic_stats_fini(struct mynic_netdev *nd)
{
	mutex_destroy(&nd->stats_lock);
}
