// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The network interface: up and down, filters and link. Its queues are in
 * netdev_channel.c, what spreads frames over them in netdev_rss.c. Sending is in
 * netdev_tx.c, receiving in netdev_rx.c, and the ethtool operations in ethtool.c.
 */
#include <linux/bpf.h>
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/log2.h>
#include <linux/rtnetlink.h>

#include "cmd.h"
#include "netdev.h"

/*
 * A device that is alive makes room within this time, even on a slow machine.
 */
#define MYNIC_TX_TIMEOUT (30 * HZ)
/* Shortest and longest pause between attempts to start */
#define MYNIC_MIN_START_PAUSE (HZ / 4)
#define MYNIC_MAX_START_PAUSE (30 * HZ)

/*
 * The watchdog does not know of queues that are being made anew. They may go on
 * just now.
 */
static void mynic_tx_timeout(struct net_device *ndev, unsigned int queue)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	struct mynic_channel *ch = &nd->channels[queue];

	if (netif_xmit_stopped(mynic_tx_queue(ch)) && !mynic_tx_idle(ch))
		mynic_fail_device(nd->mdev, "it sends no frames");
}

/* Filters and link */

/*
 * Return: the number of addresses in @macs. If there are too many, a flag in
 * @flags makes the device receive more than needed.
 */
static u32 mynic_collect_macs(struct net_device *ndev,
			      struct mynic_rx_mac *macs, u32 *flags)
{
	struct netdev_hw_addr *ha;
	u32 n = 0;

	netif_addr_lock_bh(ndev);
	if (netdev_uc_count(ndev) > MYNIC_RX_MAX_MACS)
		*flags |= MYNIC_RX_PROMISC;
	else
		netdev_for_each_uc_addr(ha, ndev)
			ether_addr_copy(macs[n++].addr, ha->addr);
	if (netdev_mc_count(ndev) > MYNIC_RX_MAX_MACS - n)
		*flags |= MYNIC_RX_ALLMULTI;
	else
		netdev_for_each_mc_addr(ha, ndev)
			ether_addr_copy(macs[n++].addr, ha->addr);
	netif_addr_unlock_bh(ndev);
	return n;
}

static int mynic_update_rx_mode(struct mynic_netdev *nd)
{
	u32 flags = MYNIC_RX_ENABLE;
	u32 num;

	if (nd->ndev->flags & IFF_PROMISC)
		flags |= MYNIC_RX_PROMISC;
	if (nd->ndev->flags & IFF_ALLMULTI)
		flags |= MYNIC_RX_ALLMULTI;
	num = mynic_collect_macs(nd->ndev, nd->macs, &flags);
	return mynic_cmd_set_rx(nd->mdev, nd->rss.qpn, flags, nd->macs, num);
}

static void mynic_rx_mode_work(struct work_struct *work)
{
	struct mynic_netdev *nd =
		container_of(work, struct mynic_netdev, rx_mode_work);

	/*
	 * If the device has failed, that has been told. Filters are set again
	 * when it is back.
	 */
	if (mynic_update_rx_mode(nd) && !mynic_dead(nd->mdev))
		netdev_warn_once(nd->ndev, "cannot set receive filters\n");
}

static void mynic_set_rx_mode(struct net_device *ndev)
{
	struct mynic_netdev *nd = netdev_priv(ndev);

	schedule_work(&nd->rx_mode_work);
}

static void mynic_link_work(struct work_struct *work)
{
	struct mynic_netdev *nd =
		container_of(work, struct mynic_netdev, link_work);
	struct mynic_port_state ps;

	if (mynic_cmd_query_port(nd->mdev, &ps))
		return;
	WRITE_ONCE(nd->speed_mbps, ps.speed_mbps);
	if (ps.link_up)
		netif_carrier_on(nd->ndev);
	/* The device may have failed meanwhile, which turned the carrier off. */
	if (!ps.link_up || mynic_dead(nd->mdev))
		netif_carrier_off(nd->ndev);
}

/* The link may have changed. Callable from any context. */
void mynic_netdev_link_event(struct mynic_dev *mdev)
{
	struct mynic_netdev *nd = netdev_priv(mdev->netdev);

	schedule_work(&nd->link_work);
}

/* Channels */

static void mynic_destroy_channels(struct mynic_netdev *nd, unsigned int num)
{
	while (num--)
		mynic_channel_destroy(&nd->channels[num]);
	mynic_cmd_dealloc_pd(nd->mdev, nd->pdn);
}

static int mynic_create_channels(struct mynic_netdev *nd)
{
	unsigned int i;
	int ret;

	ret = mynic_cmd_alloc_pd(nd->mdev, &nd->pdn);
	if (ret)
		return ret;
	for (i = 0; i < nd->setup.num_channels; i++) {
		ret = mynic_channel_create(&nd->channels[i]);
		if (ret)
			goto err;
	}
	ret = mynic_rss_create(nd, &nd->rss, &nd->rss_setting);
	if (ret)
		goto err;
	return 0;

err:
	mynic_destroy_channels(nd, i);
	return ret;
}

static void mynic_stop_channels(struct mynic_netdev *nd, unsigned int num)
{
	while (num--)
		mynic_channel_stop(&nd->channels[num]);
	/* A poll arms its CQs after napi_disable() has stopped waiting for it. */
	synchronize_net();
}

static int mynic_start_channels(struct mynic_netdev *nd)
{
	unsigned int i;
	int ret;

	for (i = 0; i < nd->setup.num_channels; i++) {
		ret = mynic_channel_start(&nd->channels[i]);
		if (ret) {
			mynic_stop_channels(nd, i);
			return ret;
		}
	}
	return 0;
}

/* Up and down */

static int mynic_netdev_start(struct mynic_netdev *nd)
{
	struct mynic_dev *mdev = nd->mdev;
	int ret;

	ret = mynic_create_channels(nd);
	if (ret)
		goto err;
	ret = mynic_start_channels(nd);
	if (ret)
		goto err_rss;
	ret = mynic_cmd_modify_port(mdev, true, nd->ndev->dev_addr,
				    nd->setup.mtu);
	if (ret)
		goto err_channels;
	nd->port_up = true;
	/* The port may have been up before. This lets frames in. */
	ret = mynic_update_rx_mode(nd);
	if (ret)
		goto err_channels;
	/* Pairs with the acquire in mynic_tx_ready() */
	smp_store_release(&nd->running, true);
	netif_tx_wake_all_queues(nd->ndev);
	/* Changes while they were disabled have not been scheduled. */
	enable_and_queue_work(system_percpu_wq, &nd->link_work);
	enable_and_queue_work(system_percpu_wq, &nd->rx_mode_work);
	nd->start_pause = 0;
	return 0;

err_channels:
	mynic_stop_channels(nd, nd->setup.num_channels);
err_rss:
	mynic_rss_destroy(nd, &nd->rss);
	mynic_destroy_channels(nd, nd->setup.num_channels);
err:
	/* They may have failed already. */
	WRITE_ONCE(nd->broken, false);
	return ret;
}

/*
 * The queues go, to be made anew. The port and the carrier stay as they are, so
 * that neither RDMA nor a bond notices.
 */
static void mynic_netdev_pause(struct mynic_netdev *nd)
{
	struct mynic_dev *mdev = nd->mdev;

	if (!nd->running)
		goto out;
	/*
	 * Frames wait in the stack from now on. A poll or a sender that finds room
	 * may start a queue once more, so that a few are dropped.
	 */
	netif_tx_stop_all_queues(nd->ndev);
	/* netif_tx_disable() waits for all that have not seen this. */
	WRITE_ONCE(nd->running, false);
	netif_tx_disable(nd->ndev);
	disable_work_sync(&nd->link_work);
	disable_work_sync(&nd->rx_mode_work);
	mynic_stop_channels(nd, nd->setup.num_channels);
	/* A poll may have woken a queue. */
	netif_tx_disable(nd->ndev);
	/* An error does not matter, because the QP is destroyed next. */
	mynic_cmd_set_rx(mdev, nd->rss.qpn, 0, NULL, 0);
	mynic_rss_destroy(nd, &nd->rss);
	mynic_destroy_channels(nd, nd->setup.num_channels);
out:
	/* A restart that is still to come was for these queues. */
	WRITE_ONCE(nd->broken, false);
}

static void mynic_netdev_stop(struct mynic_netdev *nd)
{
	mynic_netdev_pause(nd);
	netif_carrier_off(nd->ndev);
	if (nd->port_up)
		mynic_cmd_modify_port(nd->mdev, false, nd->ndev->dev_addr,
				      nd->setup.mtu);
	nd->port_up = false;
}

/*
 * Start the interface, or later if there is no memory, or another NIC has taken
 * its address. It has no carrier until then. RDMA does not wait for it.
 */
static int mynic_netdev_start_later(struct mynic_netdev *nd)
{
	int ret = mynic_netdev_start(nd);

	if (ret)
		netif_carrier_off(nd->ndev);
	if (ret != -ENOMEM && ret != -EBUSY)
		return ret;
	if (!nd->start_pause && net_ratelimit())
		netdev_warn(nd->ndev, "cannot start yet: %pe\n", ERR_PTR(ret));
	nd->start_pause = clamp(2 * nd->start_pause,
				(unsigned long)MYNIC_MIN_START_PAUSE,
				(unsigned long)MYNIC_MAX_START_PAUSE);
	mynic_restart_after(nd, nd->start_pause);
	return 0;
}

static void mynic_netdev_must_start(struct mynic_netdev *nd)
{
	if (mynic_netdev_start_later(nd))
		mynic_fail_device(nd->mdev, "its Ethernet queues stay broken");
}

static void mynic_netdev_restart(struct mynic_netdev *nd)
{
	if (nd->running) {
		netdev_warn_once(nd->ndev, "queues are made again\n");
		nd->restarts++;
	}
	mynic_netdev_pause(nd);
	mynic_netdev_must_start(nd);
}

static void mynic_restart_work(struct work_struct *work)
{
	struct mynic_netdev *nd = container_of(
		to_delayed_work(work), struct mynic_netdev, restart_work);

	rtnl_lock();
	if (netif_running(nd->ndev) && netif_device_present(nd->ndev) &&
	    READ_ONCE(nd->broken) && !mynic_dead(nd->mdev))
		mynic_netdev_restart(nd);
	rtnl_unlock();
}

/* Prefer the queue whose interrupts come to the processor that sends. */
static void mynic_spread_senders(struct mynic_netdev *nd)
{
	unsigned int num = nd->setup.num_channels, i, cpu;
	cpumask_var_t cpus;

	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return;
	for (i = 0; i < num; i++) {
		cpumask_clear(cpus);
		for (cpu = i; cpu < nr_cpu_ids; cpu += num)
			cpumask_set_cpu(cpu, cpus);
		/* It is a default: without memory, the stack chooses. */
		netif_set_xps_queue(nd->ndev, cpus, i);
	}
	free_cpumask_var(cpus);
}

/* There are no queues. If that fails, the setup is unchanged. */
static int mynic_use_setup(struct mynic_netdev *nd,
			   const struct mynic_setup *setup)
{
	bool other = setup->num_channels != nd->setup.num_channels;
	int ret;

	if (other) {
		ret = netif_set_real_num_queues(nd->ndev, setup->num_channels,
						setup->num_channels);
		if (ret)
			return ret;
	}
	nd->setup = *setup;
	if (other && !netif_is_rxfh_configured(nd->ndev))
		mynic_rss_spread_evenly(nd);
	/* An interface that is never registered would keep this. */
	if (other && nd->ndev->reg_state == NETREG_REGISTERED)
		mynic_spread_senders(nd);
	return 0;
}

/* The setup has changed. Perhaps there is memory for this one. */
static void mynic_netdev_try_again(struct mynic_netdev *nd)
{
	if (READ_ONCE(nd->broken))
		mod_delayed_work(system_dfl_wq, &nd->restart_work, 0);
}

/*
 * Make the queues anew if there are any. If that fails, make them as they were,
 * as far as there is memory for that.
 */
int mynic_netdev_change(struct mynic_netdev *nd,
			const struct mynic_setup *setup)
{
	const struct mynic_setup old = nd->setup;
	bool running = nd->running;
	int ret;

	ASSERT_RTNL();
	if (running)
		mynic_netdev_pause(nd);
	ret = mynic_use_setup(nd, setup);
	if (!running) {
		if (!ret)
			mynic_netdev_try_again(nd);
		return ret;
	}
	if (!ret) {
		ret = mynic_netdev_start(nd);
		if (!ret)
			return 0;
		mynic_use_setup(nd, &old);
		/* There may be no memory to start now, and RDMA goes on. */
		if (nd->port_up)
			mynic_cmd_modify_port(nd->mdev, true,
					      nd->ndev->dev_addr, old.mtu);
	}
	mynic_netdev_must_start(nd);
	return ret;
}

/* No frame is lost: the device goes from one QP with a table to the next. */
int mynic_netdev_change_rss(struct mynic_netdev *nd,
			    const struct mynic_rss_setting *setting)
{
	const struct mynic_rss old = nd->rss;
	struct mynic_rss rss;
	int ret = 0;

	ASSERT_RTNL();
	if (!nd->running)
		goto out;
	ret = mynic_rss_create(nd, &rss, setting);
	if (ret)
		return ret;
	disable_work_sync(&nd->rx_mode_work);
	nd->rss = rss;
	ret = mynic_update_rx_mode(nd);
	if (ret)
		nd->rss = old;
	mynic_rss_destroy(nd, ret ? &rss : &old);
	enable_and_queue_work(system_percpu_wq, &nd->rx_mode_work);
out:
	if (!ret)
		nd->rss_setting = *setting;
	return ret;
}

static int mynic_open(struct net_device *ndev)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	int ret = mynic_netdev_start(nd);

	if (ret)
		mynic_netdev_stop(nd);
	return ret;
}

static int mynic_close(struct net_device *ndev)
{
	mynic_netdev_stop(netdev_priv(ndev));
	return 0;
}

static int mynic_set_mac_address(struct net_device *ndev, void *addr)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	struct sockaddr *sa = addr;
	int ret;

	ret = eth_prepare_mac_addr_change(ndev, addr);
	if (ret)
		return ret;
	if (nd->port_up) {
		ret = mynic_cmd_modify_port(nd->mdev, true, sa->sa_data,
					    nd->setup.mtu);
		if (ret)
			return ret;
	}
	mynic_gids_change_mac(nd->mdev, addr);
	/* Another NIC may have had the old one. */
	mynic_netdev_try_again(nd);
	return 0;
}

static int mynic_change_mtu(struct net_device *ndev, int mtu)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	struct mynic_setup setup = nd->setup;
	int ret = 0;

	setup.mtu = mtu;
	if (nd->running && !mynic_rx_same_pages(&nd->setup, &setup))
		ret = mynic_netdev_change(nd, &setup);
	else if (nd->port_up)
		ret = mynic_cmd_modify_port(nd->mdev, true, ndev->dev_addr,
					    mtu);
	if (ret)
		return ret;
	nd->setup.mtu = mtu;
	WRITE_ONCE(ndev->mtu, mtu);
	mynic_netdev_try_again(nd);
	return 0;
}

/*
 * A completion does not say whether the tag was taken out of its frame, so the
 * queues are made anew.
 */
static int mynic_set_features(struct net_device *ndev,
			      netdev_features_t features)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	struct mynic_setup setup = nd->setup;

	setup.vlan_strip = features & NETIF_F_HW_VLAN_CTAG_RX;
	if (setup.vlan_strip == nd->setup.vlan_strip)
		return 0;
	return mynic_netdev_change(nd, &setup);
}

/* The largest MTU */
static u32 mynic_max_mtu(const struct mynic_netdev *nd, bool xdp)
{
	return min(nd->max_frame, mynic_rx_max_size(xdp)) - VLAN_ETH_HLEN;
}

/* The network core does not bear that this fails. */
static void mynic_end_xdp(struct mynic_netdev *nd,
			  const struct mynic_setup *setup)
{
	bool running = nd->running;

	if (running)
		mynic_netdev_pause(nd);
	nd->setup = *setup;
	if (running)
		mynic_netdev_must_start(nd);
	else
		mynic_netdev_try_again(nd);
}

/*
 * The queues are made anew for the first program, and when there is none any
 * more.
 */
static int mynic_set_xdp(struct mynic_netdev *nd, struct bpf_prog *prog,
			 struct netlink_ext_ack *extack)
{
	struct bpf_prog *old = nd->xdp_prog;
	struct mynic_setup setup = nd->setup;
	struct net_device *ndev = nd->ndev;
	u32 max_mtu = mynic_max_mtu(nd, prog);
	int ret;

	if (ndev->mtu > max_mtu) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "the MTU is %u, and with XDP at most %u",
				       ndev->mtu, max_mtu);
		return -EOPNOTSUPP;
	}
	setup.xdp = prog;
	if (prog)
		WRITE_ONCE(nd->xdp_prog, prog);
	if (prog && !old) {
		ret = mynic_netdev_change(nd, &setup);
		if (ret) {
			WRITE_ONCE(nd->xdp_prog, NULL);
			return ret;
		}
	}
	if (!prog && old)
		mynic_end_xdp(nd, &setup);
	WRITE_ONCE(nd->xdp_prog, prog);
	WRITE_ONCE(ndev->max_mtu, max_mtu);
	if (old)
		bpf_prog_put(old);
	return 0;
}

static int mynic_bpf(struct net_device *ndev, struct netdev_bpf *bpf)
{
	if (bpf->command != XDP_SETUP_PROG)
		return -EINVAL;
	return mynic_set_xdp(netdev_priv(ndev), bpf->prog, bpf->extack);
}

static const struct net_device_ops mynic_netdev_ops = {
	.ndo_open = mynic_open,
	.ndo_stop = mynic_close,
	.ndo_start_xmit = mynic_start_xmit,
	.ndo_features_check = mynic_features_check,
	.ndo_set_rx_mode = mynic_set_rx_mode,
	.ndo_tx_timeout = mynic_tx_timeout,
	.ndo_set_mac_address = mynic_set_mac_address,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_change_mtu = mynic_change_mtu,
	.ndo_set_features = mynic_set_features,
	.ndo_bpf = mynic_bpf,
	.ndo_xdp_xmit = mynic_xdp_xmit,
	.ndo_get_stats64 = mynic_get_stats64,
	.ndo_hwtstamp_get = mynic_hwtstamp_get,
	.ndo_hwtstamp_set = mynic_hwtstamp_set,
};

/*
 * What the device has room for. It leaves most of its objects to those who use
 * RDMA.
 */
static struct mynic_setup mynic_learn_limits(struct mynic_netdev *nd)
{
	const struct mynic_caps *caps = &nd->mdev->caps;
	u32 slots = min3(caps->max_cqe, caps->max_qp_wr, MYNIC_MAX_SLOTS);

	mynic_rss_init(nd);
	nd->usable_channels = 1;
	if (nd->spreads)
		nd->usable_channels = clamp(
			min3(caps->max_cq, caps->max_qp, caps->max_wq) / 8, 1U,
			nd->max_channels);
	nd->max_slots = rounddown_pow_of_two(max(slots, MYNIC_MIN_SLOTS));
	return (struct mynic_setup){
		.num_channels = nd->usable_channels,
		.rx_slots = min(MYNIC_RX_SLOTS, nd->max_slots),
		.tx_slots = min(MYNIC_TX_SLOTS, nd->max_slots),
		.mtu = nd->ndev->mtu,
		.vlan_strip = true,
	};
}

static void mynic_netdev_init(struct mynic_netdev *nd)
{
	struct net_device *ndev = nd->ndev;
	unsigned int i;

	INIT_WORK(&nd->link_work, mynic_link_work);
	disable_work(&nd->link_work);
	INIT_WORK(&nd->rx_mode_work, mynic_rx_mode_work);
	disable_work(&nd->rx_mode_work);
	INIT_DELAYED_WORK(&nd->restart_work, mynic_restart_work);
	mynic_stats_init(nd);

	SET_NETDEV_DEV(ndev, &nd->mdev->pdev->dev);
	ndev->netdev_ops = &mynic_netdev_ops;
	ndev->watchdog_timeo = MYNIC_TX_TIMEOUT;
	ndev->min_mtu = ETH_MIN_MTU;
	ndev->priv_flags |= IFF_UNICAST_FLT | IFF_LIVE_ADDR_CHANGE;
	netif_carrier_off(ndev);
	for (i = 0; i < nd->max_channels; i++)
		mynic_channel_init(nd, i);
}

int mynic_netdev_alloc(struct mynic_dev *mdev)
{
	unsigned int num = min(mdev->num_vectors - 1, MYNIC_MAX_CHANNELS);
	struct mynic_netdev *nd;
	struct net_device *ndev;

	ndev = alloc_etherdev_mqs(struct_size(nd, channels, num), num, num);
	if (!ndev)
		return -ENOMEM;
	nd = netdev_priv(ndev);
	nd->max_channels = num;
	nd->mdev = mdev;
	nd->ndev = ndev;
	mynic_netdev_init(nd);
	mdev->netdev = ndev;
	return 0;
}

void mynic_netdev_free(struct mynic_dev *mdev)
{
	mynic_stats_fini(netdev_priv(mdev->netdev));
	free_netdev(mdev->netdev);
}

int mynic_netdev_register(struct mynic_dev *mdev)
{
	struct net_device *ndev = mdev->netdev;
	struct mynic_netdev *nd = netdev_priv(ndev);
	struct mynic_port_state ps;
	struct mynic_setup setup;
	int ret;

	ret = mynic_cmd_query_port(mdev, &ps);
	if (ret)
		return ret;
	nd->speed_mbps = ps.speed_mbps;
	ndev->max_mtu =
		min(ps.max_mtu, mynic_rx_max_size(false) - VLAN_ETH_HLEN);
	nd->max_frame = ndev->max_mtu + VLAN_ETH_HLEN;
	ndev->hw_features = NETIF_F_RXCSUM;
	mynic_tx_set_features(nd);
	/* Frames of a VLAN have no further tag that the device would take out. */
	ndev->hw_features |= NETIF_F_HW_VLAN_CTAG_RX;
	ndev->features |= NETIF_F_HW_VLAN_CTAG_RX;
	ndev->xdp_features = NETDEV_XDP_ACT_BASIC | NETDEV_XDP_ACT_REDIRECT |
			     NETDEV_XDP_ACT_NDO_XMIT;
	if (is_valid_ether_addr(ps.mac))
		eth_hw_addr_set(ndev, ps.mac);
	else
		eth_hw_addr_random(ndev);
	setup = mynic_learn_limits(nd);
	ret = mynic_use_setup(nd, &setup);
	if (ret)
		return ret;
	mynic_ptp_register(nd);
	enable_work(&nd->stats_work);
	ret = register_netdev(ndev);
	if (ret)
		goto err;
	rtnl_lock();
	mynic_spread_senders(nd);
	rtnl_unlock();
	return 0;

err:
	disable_work_sync(&nd->stats_work);
	mynic_ptp_unregister(nd);
	return ret;
}

/* The RDMA device is gone. The device may be up or down. */
void mynic_netdev_unregister(struct mynic_dev *mdev)
{
	struct mynic_netdev *nd = netdev_priv(mdev->netdev);

	disable_delayed_work_sync(&nd->restart_work);
	unregister_netdev(mdev->netdev);
	disable_work_sync(&nd->stats_work);
	mynic_ptp_unregister(nd);
}

/* Take the device away from the interface. The device may be dead. */
void mynic_netdev_detach(struct mynic_dev *mdev)
{
	struct mynic_netdev *nd = netdev_priv(mdev->netdev);

	rtnl_lock();
	netif_device_detach(mdev->netdev);
	disable_work_sync(&nd->stats_work);
	mynic_netdev_stop(nd);
	rtnl_unlock();
}

int mynic_netdev_attach(struct mynic_dev *mdev)
{
	struct net_device *ndev = mdev->netdev;
	struct mynic_netdev *nd = netdev_priv(ndev);
	int ret = 0;

	rtnl_lock();
	if (netif_running(ndev))
		ret = mynic_netdev_start_later(nd);
	if (ret) {
		mynic_netdev_stop(nd);
	} else {
		mynic_stats_forget(nd);
		enable_work(&nd->stats_work);
		netif_device_attach(ndev);
	}
	rtnl_unlock();
	return ret;
}

struct mynic_dev *mynic_netdev_mdev(struct net_device *ndev)
{
	struct mynic_netdev *nd = netdev_priv(ndev);

	return nd->mdev;
}

u32 mynic_netdev_speed(struct net_device *ndev)
{
	struct mynic_netdev *nd = netdev_priv(ndev);

	return READ_ONCE(nd->speed_mbps);
}
