// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The network interface: a RAW_PACKET QP with a CQ for each direction. With two
 * CQs, sent frames can be reclaimed in contexts in which nothing may be
 * received.
 *
 * Sending is in netdev_tx.c, receiving in netdev_rx.c. The ethtool operations
 * are in ethtool.c.
 */
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "cmd.h"
#include "netdev.h"

/*
 * A device that is alive makes room within this time, even on a slow machine.
 */
#define MYNIC_TX_TIMEOUT (30 * HZ)
#define MYNIC_RESTART_DELAY (HZ / 4)
/* Longest pause between attempts to start */
#define MYNIC_MAX_START_PAUSE (30 * HZ)

static const u8 mynic_drop_stats[MYNIC_NUM_DROPS] = {
	[MYNIC_DROPPED] = MYNIC_STAT_RX_ETH_DROPPED,
	[MYNIC_MISSED] = MYNIC_STAT_RX_DROP_OVERRUN,
};

static void mynic_tx_timeout(struct net_device *ndev, unsigned int queue)
{
	mynic_fail_device(mynic_netdev_mdev(ndev), "it sends no frames");
}

/* Completions */

static void mynic_restart_after(struct mynic_netdev *nd, unsigned long pause)
{
	WRITE_ONCE(nd->broken, true);
	queue_delayed_work(system_dfl_wq, &nd->restart_work, pause);
}

/*
 * The queues have to be recreated. Wait a moment, so that a frame which is sent
 * again and again does not take all of the processor.
 */
static void mynic_restart_soon(struct mynic_netdev *nd)
{
	mynic_restart_after(nd, MYNIC_RESTART_DELAY);
}

/*
 * With a budget of 0, netpoll only reclaims sent frames, with interrupts off.
 */
static int mynic_poll(struct napi_struct *napi, int budget)
{
	struct mynic_netdev *nd = container_of(napi, struct mynic_netdev, napi);
	struct mynic_polled sent = mynic_tx_poll(nd, budget);
	struct mynic_polled received = {};

	if (!sent.nonsense && budget)
		received = mynic_rx_poll(nd, budget);
	mynic_moder_count(&nd->tx_moder, &sent);
	mynic_moder_count(&nd->rx_moder, &received);
	if (sent.failed || received.failed)
		mynic_restart_soon(nd);
	if (sent.nonsense || received.nonsense)
		mynic_fail_device(nd->mdev,
				  "it completes a frame that there is not");
	else if (sent.num >= MYNIC_TX_SLOTS || received.num == budget)
		return budget;
	if (!budget)
		return 0;
	received.num = min_t(unsigned int, received.num, budget - 1);
	mynic_moder_sample(&nd->rx_moder);
	mynic_moder_sample(&nd->tx_moder);
	if (napi_complete_done(napi, received.num) && !mynic_dead(nd->mdev)) {
		mynic_cq_arm(nd->mdev, &nd->rx_cq, false);
		mynic_cq_arm(nd->mdev, &nd->tx_cq, false);
	}
	return received.num;
}

static void mynic_netdev_comp(struct ib_cq *ibcq, void *context)
{
	struct mynic_netdev *nd = context;

	napi_schedule(&nd->napi);
}

static void mynic_netdev_error(struct ib_event *event, void *context)
{
	struct mynic_netdev *nd = context;

	mynic_restart_soon(nd);
}

/* The queues */

static int mynic_create_cq_of(struct mynic_netdev *nd, struct mynic_cq *cq,
			      u32 entries)
{
	const struct mynic_cq_init_attr attr = {
		.entries = entries,
		.comp_vector = 1,
		.kernel = true,
	};

	*cq = (struct mynic_cq){
		.ibcq = {
			.comp_handler = mynic_netdev_comp,
			.event_handler = mynic_netdev_error,
			.cq_context = nd,
		},
	};
	return mynic_cq_init(nd->mdev, cq, &attr);
}

static int mynic_create_queues(struct mynic_netdev *nd)
{
	struct ib_qp_cap cap = {
		.max_send_wr = MYNIC_TX_SLOTS,
		.max_recv_wr = MYNIC_RX_SLOTS,
		.max_send_sge = MYNIC_MAX_SGE,
		.max_recv_sge = MYNIC_RX_MAX_SGE,
	};
	struct mynic_qp_init init = {
		.type = MYNIC_QP_RAW_PACKET,
		.flags = MYNIC_QP_KERNEL,
		.srqn = MYNIC_NO_SRQ,
		.send_cq = &nd->tx_cq,
		.recv_cq = &nd->rx_cq,
		.cap = &cap,
	};
	struct mynic_dev *mdev = nd->mdev;
	int ret;

	memset(&nd->qp, 0, sizeof(nd->qp));
	nd->qp.ibqp.event_handler = mynic_netdev_error;
	nd->qp.ibqp.qp_context = nd;

	ret = mynic_cmd_alloc_pd(mdev, &nd->pdn);
	if (ret)
		return ret;
	ret = mynic_create_cq_of(nd, &nd->rx_cq, MYNIC_RX_SLOTS);
	if (ret)
		goto err_pd;
	ret = mynic_create_cq_of(nd, &nd->tx_cq, MYNIC_TX_SLOTS);
	if (ret)
		goto err_rx_cq;
	init.pdn = nd->pdn;
	ret = mynic_qp_init(mdev, &nd->qp, &init);
	if (ret)
		goto err_tx_cq;
	return 0;

err_tx_cq:
	mynic_cq_fini(mdev, &nd->tx_cq);
err_rx_cq:
	mynic_cq_fini(mdev, &nd->rx_cq);
err_pd:
	mynic_cmd_dealloc_pd(mdev, nd->pdn);
	return ret;
}

static void mynic_destroy_queues(struct mynic_netdev *nd)
{
	mynic_qp_fini(nd->mdev, &nd->qp);
	mynic_cq_fini(nd->mdev, &nd->tx_cq);
	mynic_cq_fini(nd->mdev, &nd->rx_cq);
	mynic_cmd_dealloc_pd(nd->mdev, nd->pdn);
}

static int mynic_enable_qp(struct mynic_netdev *nd)
{
	static const enum ib_qp_state path[] = { IB_QPS_INIT, IB_QPS_RTR,
						 IB_QPS_RTS };
	struct mynic_qp_attr attr = {};
	unsigned int i;
	u32 mask;
	int ret;

	for (i = 0; i < ARRAY_SIZE(path); i++) {
		mask = IB_QP_STATE;
		if (path[i] == IB_QPS_INIT) {
			mask |= IB_QP_PORT;
			attr.port_num = MYNIC_PORT;
		}
		attr.attr_mask = cpu_to_le32(mask);
		attr.qp_state = path[i];
		ret = mynic_cmd_modify_qp(nd->mdev, nd->qp.qpn, &attr);
		if (ret)
			return ret;
	}
	mynic_rx_post_all(nd);
	return 0;
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
	return mynic_cmd_set_rx(nd->mdev, nd->qp.qpn, flags, nd->macs, num);
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

/* Counters */

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
static void mynic_forget_stats(struct mynic_netdev *nd)
{
	unsigned int i;

	mutex_lock(&nd->stats_lock);
	for (i = 0; i < MYNIC_NUM_DROPS; i++)
		nd->drops[i].last = 0;
	mutex_unlock(&nd->stats_lock);
}

/*
 * This may not sleep, so it starts a query whose result is for the next call.
 */
static void mynic_get_stats64(struct net_device *ndev,
			      struct rtnl_link_stats64 *stats)
{
	struct mynic_netdev *nd = netdev_priv(ndev);

	dev_get_tstats64(ndev, stats);
	stats->rx_dropped += atomic64_read(&nd->drops[MYNIC_DROPPED].total);
	stats->rx_missed_errors +=
		atomic64_read(&nd->drops[MYNIC_MISSED].total);
	schedule_work(&nd->stats_work);
}

/* Up and down */

static int mynic_start_moders(struct mynic_netdev *nd)
{
	int ret;

	ret = mynic_moder_start(&nd->rx_moder);
	if (ret)
		return ret;
	ret = mynic_moder_start(&nd->tx_moder);
	if (ret)
		mynic_moder_stop(&nd->rx_moder);
	return ret;
}

static void mynic_stop_moders(struct mynic_netdev *nd)
{
	mynic_moder_stop(&nd->tx_moder);
	mynic_moder_stop(&nd->rx_moder);
}

static int mynic_netdev_start(struct mynic_netdev *nd)
{
	struct mynic_dev *mdev = nd->mdev;
	int ret;

	ret = mynic_rx_alloc(nd);
	if (ret)
		return ret;
	ret = mynic_tx_alloc(nd);
	if (ret)
		goto err_bufs;
	ret = mynic_create_queues(nd);
	if (ret)
		goto err_tx_bufs;
	ret = mynic_enable_qp(nd);
	if (ret)
		goto err_queues;
	ret = mynic_update_rx_mode(nd);
	if (ret)
		goto err_queues;
	ret = mynic_start_moders(nd);
	if (ret)
		goto err_queues;
	napi_enable(&nd->napi);
	mynic_cq_arm(mdev, &nd->rx_cq, false);
	mynic_cq_arm(mdev, &nd->tx_cq, false);
	ret = mynic_cmd_modify_port(mdev, true, nd->ndev->dev_addr,
				    nd->ndev->mtu);
	if (ret)
		goto err_napi;
	/* Pairs with the acquire in mynic_start_xmit() */
	smp_store_release(&nd->running, true);
	netif_start_queue(nd->ndev);
	/* Changes while they were disabled have not been scheduled. */
	enable_and_queue_work(system_percpu_wq, &nd->link_work);
	enable_and_queue_work(system_percpu_wq, &nd->rx_mode_work);
	return 0;

err_napi:
	napi_disable(&nd->napi);
	mynic_stop_moders(nd);
err_queues:
	mynic_destroy_queues(nd);
	/* They may have failed already. */
	WRITE_ONCE(nd->broken, false);
err_tx_bufs:
	mynic_tx_free(nd);
err_bufs:
	mynic_rx_free(nd);
	return ret;
}

static void mynic_netdev_stop(struct mynic_netdev *nd)
{
	struct mynic_dev *mdev = nd->mdev;

	if (!nd->running)
		goto out;
	/* netif_tx_disable() waits for all that have not seen this. */
	WRITE_ONCE(nd->running, false);
	disable_work_sync(&nd->link_work);
	disable_work_sync(&nd->rx_mode_work);
	netif_carrier_off(nd->ndev);
	/* In this order, because polling wakes the transmit queue. */
	napi_disable(&nd->napi);
	mynic_stop_moders(nd);
	netif_tx_disable(nd->ndev);
	/* Errors do not matter, because the QP is destroyed next. */
	mynic_cmd_modify_port(mdev, false, nd->ndev->dev_addr, nd->ndev->mtu);
	mynic_cmd_set_rx(mdev, nd->qp.qpn, 0, NULL, 0);
	mynic_destroy_queues(nd);
	mynic_tx_free(nd);
	mynic_rx_free(nd);
out:
	/* A restart that is still to come was for these queues. */
	WRITE_ONCE(nd->broken, false);
}

/*
 * Start the interface, or later if there is no memory, or another NIC has taken
 * its address. It has no carrier until then. RDMA does not wait for it.
 */
static int mynic_netdev_start_later(struct mynic_netdev *nd)
{
	int ret = mynic_netdev_start(nd);

	if (ret != -ENOMEM && ret != -EBUSY) {
		nd->start_pause = 0;
		return ret;
	}
	if (!nd->start_pause && net_ratelimit())
		netdev_warn(nd->ndev, "cannot start yet: %pe\n", ERR_PTR(ret));
	nd->start_pause = clamp(2 * nd->start_pause,
				(unsigned long)MYNIC_RESTART_DELAY,
				(unsigned long)MYNIC_MAX_START_PAUSE);
	mynic_restart_after(nd, nd->start_pause);
	return 0;
}

static void mynic_netdev_restart(struct mynic_netdev *nd)
{
	int ret;

	if (nd->running)
		netdev_warn_once(nd->ndev, "queues are made again\n");
	mynic_netdev_stop(nd);
	ret = mynic_netdev_start_later(nd);
	if (ret)
		mynic_fail_device(nd->mdev, "its Ethernet queues stay broken");
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

static int mynic_open(struct net_device *ndev)
{
	return mynic_netdev_start(netdev_priv(ndev));
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
	if (nd->running) {
		ret = mynic_cmd_modify_port(nd->mdev, true, sa->sa_data,
					    ndev->mtu);
		if (ret)
			return ret;
	}
	mynic_gids_change_mac(nd->mdev, addr);
	return 0;
}

static int mynic_change_mtu(struct net_device *ndev, int mtu)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	int ret;

	if (nd->running) {
		ret = mynic_cmd_modify_port(nd->mdev, true, ndev->dev_addr,
					    mtu);
		if (ret)
			return ret;
	}
	WRITE_ONCE(ndev->mtu, mtu);
	return 0;
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
	.ndo_get_stats64 = mynic_get_stats64,
};

int mynic_netdev_alloc(struct mynic_dev *mdev)
{
	struct mynic_netdev *nd;
	struct net_device *ndev;

	ndev = alloc_etherdev(sizeof(*nd));
	if (!ndev)
		return -ENOMEM;
	nd = netdev_priv(ndev);
	nd->mdev = mdev;
	nd->ndev = ndev;
	INIT_WORK(&nd->link_work, mynic_link_work);
	disable_work(&nd->link_work);
	INIT_WORK(&nd->rx_mode_work, mynic_rx_mode_work);
	disable_work(&nd->rx_mode_work);
	INIT_DELAYED_WORK(&nd->restart_work, mynic_restart_work);
	INIT_WORK(&nd->stats_work, mynic_stats_work);
	disable_work(&nd->stats_work);
	mutex_init(&nd->stats_lock);
	mynic_moder_init(&nd->rx_moder, mdev, &nd->rx_cq, true);
	mynic_moder_init(&nd->tx_moder, mdev, &nd->tx_cq, false);

	SET_NETDEV_DEV(ndev, &mdev->pdev->dev);
	ndev->netdev_ops = &mynic_netdev_ops;
	ndev->watchdog_timeo = MYNIC_TX_TIMEOUT;
	ndev->min_mtu = ETH_MIN_MTU;
	ndev->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
	ndev->priv_flags |= IFF_UNICAST_FLT | IFF_LIVE_ADDR_CHANGE;
	netif_carrier_off(ndev);
	netif_napi_add(ndev, &nd->napi, mynic_poll);
	mdev->netdev = ndev;
	return 0;
}

void mynic_netdev_free(struct mynic_dev *mdev)
{
	struct mynic_netdev *nd = netdev_priv(mdev->netdev);

	mutex_destroy(&nd->stats_lock);
	free_netdev(mdev->netdev);
}

int mynic_netdev_register(struct mynic_dev *mdev)
{
	struct net_device *ndev = mdev->netdev;
	struct mynic_netdev *nd = netdev_priv(ndev);
	struct mynic_port_state ps;
	int ret;

	ret = mynic_cmd_query_port(mdev, &ps);
	if (ret)
		return ret;
	nd->speed_mbps = ps.speed_mbps;
	ndev->max_mtu = min(ps.max_mtu, mynic_rx_max_size() - VLAN_ETH_HLEN);
	nd->max_frame = ndev->max_mtu + VLAN_ETH_HLEN;
	ndev->hw_features = NETIF_F_RXCSUM;
	mynic_tx_set_features(nd);
	if (is_valid_ether_addr(ps.mac))
		eth_hw_addr_set(ndev, ps.mac);
	else
		eth_hw_addr_random(ndev);
	enable_work(&nd->stats_work);
	ret = register_netdev(ndev);
	if (ret)
		disable_work_sync(&nd->stats_work);
	return ret;
}

/* The RDMA device is gone. The device may be up or down. */
void mynic_netdev_unregister(struct mynic_dev *mdev)
{
	struct mynic_netdev *nd = netdev_priv(mdev->netdev);

	disable_delayed_work_sync(&nd->restart_work);
	unregister_netdev(mdev->netdev);
	disable_work_sync(&nd->stats_work);
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
	if (!ret) {
		mynic_forget_stats(nd);
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
