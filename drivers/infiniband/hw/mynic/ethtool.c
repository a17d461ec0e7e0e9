// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ethtool operations of the network interface */
#include <linux/ethtool.h>
#include <linux/log2.h>

#include "cmd.h"
#include "netdev.h"

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
	return sset == ETH_SS_STATS ? MYNIC_NUM_STATS + MYNIC_NUM_OWN_STATS :
				      -EOPNOTSUPP;
}

static void mynic_get_strings(struct net_device *ndev, u32 sset, u8 *data)
{
	unsigned int i;

	if (sset != ETH_SS_STATS)
		return;
	for (i = 0; i < MYNIC_NUM_STATS; i++)
		ethtool_puts(&data, mynic_stat_descs[i].name);
	for (i = 0; i < MYNIC_NUM_OWN_STATS; i++)
		ethtool_puts(&data, mynic_own_stat_names[i]);
}

static void mynic_get_ethtool_stats(struct net_device *ndev,
				    struct ethtool_stats *stats, u64 *data)
{
	if (mynic_netdev_query_stats(ndev, data))
		memset(data, 0, MYNIC_NUM_STATS * sizeof(*data));
	mynic_stats_own(netdev_priv(ndev), data + MYNIC_NUM_STATS);
}

/* Settings of a channel. Those of channel 0 are shown for the interface. */
static void mynic_show_coalesce(const struct mynic_channel *ch,
				struct ethtool_coalesce *coal)
{
	coal->use_adaptive_rx_coalesce = ch->rx_moder.setting.adaptive;
	coal->rx_coalesce_usecs = ch->rx_moder.setting.usecs;
	coal->rx_max_coalesced_frames = ch->rx_moder.setting.frames;
	coal->use_adaptive_tx_coalesce = ch->tx_moder.setting.adaptive;
	coal->tx_coalesce_usecs = ch->tx_moder.setting.usecs;
	coal->tx_max_coalesced_frames = ch->tx_moder.setting.frames;
}

static int mynic_get_coalesce(struct net_device *ndev,
			      struct ethtool_coalesce *coal,
			      struct kernel_ethtool_coalesce *kernel_coal,
			      struct netlink_ext_ack *extack)
{
	const struct mynic_netdev *nd = netdev_priv(ndev);

	mynic_show_coalesce(&nd->channels[0], coal);
	return 0;
}

static bool mynic_channel_running(const struct mynic_channel *ch)
{
	return ch->nd->running && ch->index < ch->nd->setup.num_channels;
}

/* If it fails, nothing has changed. */
static int mynic_change_coalesce(struct mynic_channel *ch,
				 const struct ethtool_coalesce *coal)
{
	const struct mynic_moder_setting old_rx = ch->rx_moder.setting;
	bool running = mynic_channel_running(ch);
	const struct mynic_moder_setting rx = {
		.adaptive = coal->use_adaptive_rx_coalesce,
		.usecs = coal->rx_coalesce_usecs,
		.frames = coal->rx_max_coalesced_frames,
	};
	const struct mynic_moder_setting tx = {
		.adaptive = coal->use_adaptive_tx_coalesce,
		.usecs = coal->tx_coalesce_usecs,
		.frames = coal->tx_max_coalesced_frames,
	};
	int ret;

	ret = mynic_moder_change(&ch->rx_moder, running, &rx);
	if (ret)
		return ret;
	ret = mynic_moder_change(&ch->tx_moder, running, &tx);
	if (ret)
		mynic_moder_undo(&ch->rx_moder, running, &old_rx);
	return ret;
}

/**
 * struct mynic_moder_settings - those of a channel
 * @rx: of received frames
 * @tx: of sent frames
 */
struct mynic_moder_settings {
	struct mynic_moder_setting rx;
	struct mynic_moder_setting tx;
};

/* Change all channels. If it fails, none has changed. */
static int mynic_change_all_coalesce(struct mynic_netdev *nd,
				     const struct ethtool_coalesce *coal)
{
	struct mynic_channel *ch = nd->channels;
	struct mynic_moder_settings *old;
	unsigned int i;
	int ret = 0;

	old = kzalloc_objs(*old, nd->max_channels);
	if (!old)
		return -ENOMEM;
	for (i = 0; i < nd->max_channels; i++) {
		old[i].rx = ch[i].rx_moder.setting;
		old[i].tx = ch[i].tx_moder.setting;
		ret = mynic_change_coalesce(&ch[i], coal);
		if (ret)
			break;
	}
	while (ret && i--) {
		mynic_moder_undo(&ch[i].rx_moder, mynic_channel_running(&ch[i]),
				 &old[i].rx);
		mynic_moder_undo(&ch[i].tx_moder, mynic_channel_running(&ch[i]),
				 &old[i].tx);
	}
	kfree(old);
	return ret;
}

static bool mynic_coalesce_fits(const struct ethtool_coalesce *coal)
{
	return max(coal->rx_coalesce_usecs, coal->tx_coalesce_usecs) <=
		       U16_MAX &&
	       max(coal->rx_max_coalesced_frames,
		   coal->tx_max_coalesced_frames) <= U16_MAX;
}

static int mynic_set_coalesce(struct net_device *ndev,
			      struct ethtool_coalesce *coal,
			      struct kernel_ethtool_coalesce *kernel_coal,
			      struct netlink_ext_ack *extack)
{
	if (!mynic_coalesce_fits(coal)) {
		NL_SET_ERR_MSG(extack, "at most 65535 usecs and frames");
		return -EINVAL;
	}
	return mynic_change_all_coalesce(netdev_priv(ndev), coal);
}

static int mynic_get_per_queue_coalesce(struct net_device *ndev, u32 queue,
					struct ethtool_coalesce *coal)
{
	const struct mynic_netdev *nd = netdev_priv(ndev);

	if (queue >= nd->setup.num_channels)
		return -EINVAL;
	mynic_show_coalesce(&nd->channels[queue], coal);
	return 0;
}

static int mynic_set_per_queue_coalesce(struct net_device *ndev, u32 queue,
					struct ethtool_coalesce *coal)
{
	struct mynic_netdev *nd = netdev_priv(ndev);

	if (queue >= nd->setup.num_channels || !mynic_coalesce_fits(coal))
		return -EINVAL;
	return mynic_change_coalesce(&nd->channels[queue], coal);
}

/* Queues */

static void mynic_get_channels(struct net_device *ndev,
			       struct ethtool_channels *channels)
{
	const struct mynic_netdev *nd = netdev_priv(ndev);

	channels->max_combined = nd->usable_channels;
	channels->combined_count = nd->setup.num_channels;
}

static int mynic_set_channels(struct net_device *ndev,
			      struct ethtool_channels *channels)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	struct mynic_setup setup = nd->setup;

	setup.num_channels = channels->combined_count;
	return mynic_netdev_change(nd, &setup);
}

static void mynic_get_ringparam(struct net_device *ndev,
				struct ethtool_ringparam *ring,
				struct kernel_ethtool_ringparam *kernel_ring,
				struct netlink_ext_ack *extack)
{
	const struct mynic_netdev *nd = netdev_priv(ndev);

	ring->rx_max_pending = nd->max_slots;
	ring->tx_max_pending = nd->max_slots;
	ring->rx_pending = nd->setup.rx_slots;
	ring->tx_pending = nd->setup.tx_slots;
}

static u32 mynic_round_slots(u32 slots)
{
	return roundup_pow_of_two(max(slots, MYNIC_MIN_SLOTS));
}

/* The network core has checked that they are not more than the maximum. */
static int mynic_set_ringparam(struct net_device *ndev,
			       struct ethtool_ringparam *ring,
			       struct kernel_ethtool_ringparam *kernel_ring,
			       struct netlink_ext_ack *extack)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	struct mynic_setup setup = nd->setup;

	setup.rx_slots = mynic_round_slots(ring->rx_pending);
	setup.tx_slots = mynic_round_slots(ring->tx_pending);
	return mynic_netdev_change(nd, &setup);
}

/* Which queue receives a frame */

static u32 mynic_get_rxfh_key_size(struct net_device *ndev)
{
	const struct mynic_netdev *nd = netdev_priv(ndev);

	return nd->spreads ? MYNIC_RX_HASH_KEY_LEN : 0;
}

static u32 mynic_get_rxfh_indir_size(struct net_device *ndev)
{
	const struct mynic_netdev *nd = netdev_priv(ndev);

	return nd->spreads ? BIT(nd->log_table_size) : 0;
}

static int mynic_get_rxfh(struct net_device *ndev,
			  struct ethtool_rxfh_param *rxfh)
{
	const struct mynic_netdev *nd = netdev_priv(ndev);
	const struct mynic_rss_setting *setting = &nd->rss_setting;
	unsigned int i;

	if (!nd->spreads)
		return -EOPNOTSUPP;
	rxfh->hfunc = ETH_RSS_HASH_TOP;
	for (i = 0; rxfh->indir && i < BIT(nd->log_table_size); i++)
		rxfh->indir[i] = setting->indir[i];
	if (rxfh->key)
		memcpy(rxfh->key, setting->key, sizeof(setting->key));
	return 0;
}

static int mynic_set_rxfh(struct net_device *ndev,
			  struct ethtool_rxfh_param *rxfh,
			  struct netlink_ext_ack *extack)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	struct mynic_rss_setting setting = nd->rss_setting;
	unsigned int i;

	if (!nd->spreads)
		return -EOPNOTSUPP;
	if (rxfh->hfunc != ETH_RSS_HASH_NO_CHANGE &&
	    rxfh->hfunc != ETH_RSS_HASH_TOP) {
		NL_SET_ERR_MSG(extack, "only the Toeplitz hash");
		return -EOPNOTSUPP;
	}
	for (i = 0; rxfh->indir && i < BIT(nd->log_table_size); i++)
		setting.indir[i] = rxfh->indir[i];
	if (rxfh->key)
		memcpy(setting.key, rxfh->key, sizeof(setting.key));
	return mynic_netdev_change_rss(nd, &setting);
}

/* The device has a switch for the ports of TCP, and one for those of UDP. */
static u32 mynic_port_fields(u32 flow_type)
{
	switch (flow_type) {
	case TCP_V4_FLOW:
	case TCP_V6_FLOW:
		return MYNIC_RX_HASH_SRC_PORT_TCP | MYNIC_RX_HASH_DST_PORT_TCP;
	case UDP_V4_FLOW:
	case UDP_V6_FLOW:
		return MYNIC_RX_HASH_SRC_PORT_UDP | MYNIC_RX_HASH_DST_PORT_UDP;
	default:
		return 0;
	}
}

#define MYNIC_RXH_IP (RXH_IP_SRC | RXH_IP_DST)
#define MYNIC_RXH_PORTS (RXH_L4_B_0_1 | RXH_L4_B_2_3)

static int mynic_get_rxfh_fields(struct net_device *ndev,
				 struct ethtool_rxfh_fields *fields)
{
	const struct mynic_netdev *nd = netdev_priv(ndev);

	if (!nd->spreads)
		return -EOPNOTSUPP;
	fields->data = fields->flow_type == ETHER_FLOW ? 0 : MYNIC_RXH_IP;
	if (nd->rss_setting.fields & mynic_port_fields(fields->flow_type))
		fields->data |= MYNIC_RXH_PORTS;
	return 0;
}

static int mynic_set_rxfh_fields(struct net_device *ndev,
				 const struct ethtool_rxfh_fields *fields,
				 struct netlink_ext_ack *extack)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	struct mynic_rss_setting setting = nd->rss_setting;
	u32 ports = mynic_port_fields(fields->flow_type);

	if (!nd->spreads)
		return -EOPNOTSUPP;
	if (!ports || (fields->data != MYNIC_RXH_IP &&
		       fields->data != (MYNIC_RXH_IP | MYNIC_RXH_PORTS))) {
		NL_SET_ERR_MSG(extack, "only sd and sdfn, for TCP and UDP");
		return -EOPNOTSUPP;
	}
	setting.fields &= ~ports;
	if (fields->data & MYNIC_RXH_PORTS)
		setting.fields |= ports;
	return mynic_netdev_change_rss(nd, &setting);
}

const struct ethtool_ops mynic_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_USECS |
				     ETHTOOL_COALESCE_MAX_FRAMES |
				     ETHTOOL_COALESCE_USE_ADAPTIVE,
	.get_drvinfo = mynic_get_drvinfo,
	.get_coalesce = mynic_get_coalesce,
	.set_coalesce = mynic_set_coalesce,
	.get_per_queue_coalesce = mynic_get_per_queue_coalesce,
	.set_per_queue_coalesce = mynic_set_per_queue_coalesce,
	.get_channels = mynic_get_channels,
	.set_channels = mynic_set_channels,
	.get_ringparam = mynic_get_ringparam,
	.set_ringparam = mynic_set_ringparam,
	.get_rx_ring_count = mynic_get_rx_ring_count,
	.get_rxfh_key_size = mynic_get_rxfh_key_size,
	.get_rxfh_indir_size = mynic_get_rxfh_indir_size,
	.get_rxfh = mynic_get_rxfh,
	.set_rxfh = mynic_set_rxfh,
	.get_rxfh_fields = mynic_get_rxfh_fields,
	.set_rxfh_fields = mynic_set_rxfh_fields,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = mynic_get_link_ksettings,
	.get_sset_count = mynic_get_sset_count,
	.get_strings = mynic_get_strings,
	.get_ethtool_stats = mynic_get_ethtool_stats,
	.get_ts_info = mynic_get_ts_info,
};
