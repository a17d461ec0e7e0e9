// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The channels of the network interface. Each has a RAW_PACKET QP that sends, a
 * WQ that receives, a CQ for each, and one NAPI for both. With two CQs, sent
 * frames can be reclaimed in contexts in which nothing may be received.
 *
 * If the device cannot spread frames, the QP of the only channel receives, too.
 */
#include <linux/pci.h>

#include "cmd.h"
#include "netdev.h"

#define MYNIC_RESTART_DELAY (HZ / 4)

/* Completions and errors */

void mynic_restart_after(struct mynic_netdev *nd, unsigned long pause)
{
	bool first = !READ_ONCE(nd->broken);

	WRITE_ONCE(nd->broken, true);
	/* The first fault does not wait for what is left of a long pause. */
	if (first)
		mod_delayed_work(system_dfl_wq, &nd->restart_work, pause);
	else
		queue_delayed_work(system_dfl_wq, &nd->restart_work, pause);
}

/*
 * The queues have to be recreated. Wait a moment, so that a frame which is sent
 * again and again does not take all of the processor.
 */
void mynic_restart_soon(struct mynic_netdev *nd)
{
	mynic_restart_after(nd, MYNIC_RESTART_DELAY);
}

/*
 * With a budget of 0, netpoll only reclaims sent frames, with interrupts off.
 */
static int mynic_poll(struct napi_struct *napi, int budget)
{
	struct mynic_channel *ch =
		container_of(napi, struct mynic_channel, napi);
	struct mynic_polled sent = mynic_tx_poll(ch, budget);
	struct mynic_dev *mdev = ch->nd->mdev;
	struct mynic_polled received = {};

	if (!sent.nonsense && budget)
		received = mynic_rx_poll(ch, budget);
	mynic_moder_count(&ch->tx_moder, &sent);
	mynic_moder_count(&ch->rx_moder, &received);
	if (sent.failed || received.failed)
		mynic_restart_soon(ch->nd);
	if (sent.nonsense || received.nonsense)
		mynic_fail_device(mdev,
				  "it completes a frame that there is not");
	else if (sent.num >= ch->nd->setup.tx_slots || received.num == budget)
		return budget;
	if (!budget)
		return 0;
	received.num = min_t(unsigned int, received.num, budget - 1);
	mynic_moder_sample(&ch->rx_moder);
	mynic_moder_sample(&ch->tx_moder);
	if (napi_complete_done(napi, received.num) && !mynic_dead(mdev)) {
		mynic_cq_arm(mdev, &ch->rx_cq, false);
		mynic_cq_arm(mdev, &ch->tx_cq, false);
	}
	return received.num;
}

static void mynic_channel_comp(struct ib_cq *ibcq, void *context)
{
	struct mynic_channel *ch = context;

	napi_schedule(&ch->napi);
}

static void mynic_netdev_error(struct ib_event *event, void *context)
{
	struct mynic_netdev *nd = context;

	mynic_restart_soon(nd);
}

static void mynic_channel_cq_error(struct ib_event *event, void *context)
{
	struct mynic_channel *ch = context;

	mynic_netdev_error(event, ch->nd);
}

/* The queues */

static unsigned int mynic_channel_vector(const struct mynic_channel *ch)
{
	return ch->index % ch->nd->mdev->num_comp_eqs + 1;
}

static int mynic_create_cq_of(struct mynic_channel *ch, struct mynic_cq *cq,
			      u32 entries)
{
	const struct mynic_cq_init_attr attr = {
		.entries = entries,
		.comp_vector = mynic_channel_vector(ch),
		.kernel = true,
	};

	*cq = (struct mynic_cq){
		.ibcq = {
			.comp_handler = mynic_channel_comp,
			.event_handler = mynic_channel_cq_error,
			.cq_context = ch,
		},
	};
	return mynic_cq_init(ch->nd->mdev, cq, &attr);
}

static int mynic_create_qp_of(struct mynic_channel *ch)
{
	struct mynic_netdev *nd = ch->nd;
	struct ib_qp_cap cap = {
		.max_send_wr = nd->setup.tx_slots,
		.max_recv_wr = nd->spreads ? 0 : nd->setup.rx_slots,
		.max_send_sge = MYNIC_MAX_SGE,
		.max_recv_sge = nd->spreads ? 0 : MYNIC_RX_MAX_SGE,
	};
	const struct mynic_qp_init init = {
		.type = MYNIC_QP_RAW_PACKET,
		.flags = MYNIC_QP_KERNEL |
			 (mynic_strips_vlan(nd) ? MYNIC_QP_VLAN_STRIP : 0),
		.pdn = nd->pdn,
		.srqn = MYNIC_NO_SRQ,
		.send_cq = &ch->tx_cq,
		.recv_cq = &ch->rx_cq,
		.cap = &cap,
	};

	memset(&ch->qp, 0, sizeof(ch->qp));
	ch->qp.ibqp.event_handler = mynic_netdev_error;
	ch->qp.ibqp.qp_context = nd;
	ch->rq = &ch->qp.rq;
	return mynic_qp_init(nd->mdev, &ch->qp, &init);
}

static int mynic_create_rwq_of(struct mynic_channel *ch)
{
	struct mynic_netdev *nd = ch->nd;
	const struct mynic_rwq_init init = {
		.pdn = nd->pdn,
		.cqn = ch->rx_cq.cqn,
		.flags = MYNIC_WQ_KERNEL |
			 (mynic_strips_vlan(nd) ? MYNIC_WQ_VLAN_STRIP : 0),
		.kernel = true,
	};
	int ret;

	if (!nd->spreads)
		return 0;
	memset(&ch->rwq, 0, sizeof(ch->rwq));
	ch->rwq.ibwq.event_handler = mynic_netdev_error;
	ch->rwq.ibwq.wq_context = nd;
	ch->rq = &ch->rwq.rq;
	ret = mynic_rq_layout(NULL, &ch->rwq.rq, nd->setup.rx_slots,
			      MYNIC_RX_MAX_SGE);
	return ret ?: mynic_rwq_init(nd->mdev, &ch->rwq, &init);
}

static void mynic_destroy_rwq_of(struct mynic_channel *ch)
{
	if (ch->nd->spreads)
		mynic_rwq_fini(ch->nd->mdev, &ch->rwq);
}

static int mynic_enable_qp(struct mynic_channel *ch)
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
		ret = mynic_cmd_modify_qp(ch->nd->mdev, ch->qp.qpn, &attr);
		if (ret)
			return ret;
	}
	return 0;
}

static int mynic_enable_rwq(struct mynic_channel *ch)
{
	const struct mynic_modify_wq body = {
		.attr_mask = cpu_to_le32(IB_WQ_STATE),
		.state = IB_WQS_RDY,
	};

	if (!ch->nd->spreads)
		return 0;
	return mynic_cmd_modify_wq(ch->nd->mdev, ch->rwq.wqn, &body);
}

static int mynic_create_queues(struct mynic_channel *ch)
{
	const struct mynic_setup *setup = &ch->nd->setup;
	struct mynic_dev *mdev = ch->nd->mdev;
	int ret;

	ret = mynic_create_cq_of(ch, &ch->rx_cq, setup->rx_slots);
	if (ret)
		return ret;
	ret = mynic_create_cq_of(ch, &ch->tx_cq, setup->tx_slots);
	if (ret)
		goto err_rx_cq;
	ret = mynic_create_qp_of(ch);
	if (ret)
		goto err_tx_cq;
	ret = mynic_create_rwq_of(ch);
	if (ret)
		goto err_qp;
	return 0;

err_qp:
	mynic_qp_fini(mdev, &ch->qp);
err_tx_cq:
	mynic_cq_fini(mdev, &ch->tx_cq);
err_rx_cq:
	mynic_cq_fini(mdev, &ch->rx_cq);
	return ret;
}

static void mynic_destroy_queues(struct mynic_channel *ch)
{
	struct mynic_dev *mdev = ch->nd->mdev;

	mynic_destroy_rwq_of(ch);
	mynic_qp_fini(mdev, &ch->qp);
	mynic_cq_fini(mdev, &ch->tx_cq);
	mynic_cq_fini(mdev, &ch->rx_cq);
}

/* The channel */

void mynic_channel_init(struct mynic_netdev *nd, unsigned int index)
{
	struct mynic_channel *ch = &nd->channels[index];

	ch->nd = nd;
	ch->index = index;
	mynic_moder_init(&ch->rx_moder, nd->mdev, &ch->rx_cq, true);
	mynic_moder_init(&ch->tx_moder, nd->mdev, &ch->tx_cq, false);
	netif_napi_add_config(nd->ndev, &ch->napi, mynic_poll, index);
}

/* Make the queues. They can work, but the interface gives them nothing yet. */
int mynic_channel_create(struct mynic_channel *ch)
{
	int ret;

	ret = mynic_rx_alloc(ch);
	if (ret)
		return ret;
	ret = mynic_tx_alloc(ch);
	if (ret)
		goto err_rx;
	ret = mynic_create_queues(ch);
	if (ret)
		goto err_tx;
	ret = mynic_enable_qp(ch);
	if (ret)
		goto err_queues;
	ret = mynic_enable_rwq(ch);
	if (ret)
		goto err_queues;
	mynic_rx_post_all(ch);
	return 0;

err_queues:
	mynic_destroy_queues(ch);
err_tx:
	mynic_tx_free(ch);
err_rx:
	mynic_rx_free(ch);
	return ret;
}

/* Transmission is disabled, and the channel has been stopped. */
void mynic_channel_destroy(struct mynic_channel *ch)
{
	mynic_destroy_queues(ch);
	mynic_tx_free(ch);
	mynic_rx_free(ch);
}

static void mynic_channel_set_napi(struct mynic_channel *ch,
				   struct napi_struct *napi)
{
	struct net_device *ndev = ch->nd->ndev;

	netif_queue_set_napi(ndev, ch->index, NETDEV_QUEUE_TYPE_RX, napi);
	netif_queue_set_napi(ndev, ch->index, NETDEV_QUEUE_TYPE_TX, napi);
}

/* Let NAPI poll the queues. */
int mynic_channel_start(struct mynic_channel *ch)
{
	struct mynic_dev *mdev = ch->nd->mdev;
	int ret;

	ret = mynic_moder_start(&ch->rx_moder);
	if (ret)
		return ret;
	ret = mynic_moder_start(&ch->tx_moder);
	if (ret) {
		mynic_moder_stop(&ch->rx_moder);
		return ret;
	}
	netif_napi_set_irq(&ch->napi, pci_irq_vector(mdev->pdev,
						     mynic_channel_vector(ch)));
	napi_enable(&ch->napi);
	mynic_channel_set_napi(ch, &ch->napi);
	mynic_cq_arm(mdev, &ch->rx_cq, false);
	mynic_cq_arm(mdev, &ch->tx_cq, false);
	return 0;
}

void mynic_channel_stop(struct mynic_channel *ch)
{
	mynic_channel_set_napi(ch, NULL);
	napi_disable(&ch->napi);
	mynic_moder_stop(&ch->tx_moder);
	mynic_moder_stop(&ch->rx_moder);
}
