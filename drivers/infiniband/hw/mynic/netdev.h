/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the files of the network interface share. */
#ifndef MYNIC_NETDEV_H
#define MYNIC_NETDEV_H

#include <linux/dim.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>

#include "mynic.h"

#define MYNIC_RX_SLOTS 1024
#define MYNIC_TX_SLOTS 512

/* Element of the mailbox of SET_RX */
struct mynic_rx_mac {
	u8 addr[ETH_ALEN];
	u8 reserved_06[2];
};

static_assert(sizeof(struct mynic_rx_mac) == 8);

enum {
	MYNIC_DROPPED, /* filtered, or there was no buffer */
	MYNIC_MISSED, /* between the wire and the device */
	MYNIC_NUM_DROPS,
};

/**
 * struct mynic_drops - frames that the device has dropped
 * @total: since the interface was created
 * @last: the device's counter when it was last read; a reset clears it
 */
struct mynic_drops {
	atomic64_t total;
	u64 last;
};

struct mynic_rx_bufs;
struct mynic_tx_bufs;

/**
 * struct mynic_moder_setting - how long interrupts are delayed
 * @adaptive: as the kernel finds best; what follows does not count
 * @usecs: microseconds at most; 0: not at all
 * @frames: until so many frames have completed; 0: no limit
 */
struct mynic_moder_setting {
	bool adaptive;
	u32 usecs;
	u32 frames;
};

/**
 * struct mynic_moder - interrupt moderation of a CQ
 * @mdev: device
 * @cq: CQ
 * @rx: whether it is for received frames
 * @setting: the setting; changes under the RTNL
 * @dim: what the kernel has measured
 * @events: interrupts; used by NAPI, like all that follows
 * @frames: frames that have completed
 * @bytes: their bytes
 */
struct mynic_moder {
	struct mynic_dev *mdev;
	struct mynic_cq *cq;
	bool rx;
	struct mynic_moder_setting setting;
	struct dim dim;
	u16 events;
	u64 frames;
	u64 bytes;
};

/**
 * struct mynic_netdev - private part of the interface
 * @mdev: device
 * @ndev: interface
 * @napi: both directions
 * @link_work: asks the device for the link state; disabled unless @running
 * @rx_mode_work: sets the receive filter; disabled unless @running
 * @speed_mbps: link speed in Mbit/s
 * @max_frame: bytes of the largest frame
 * @pdn: protection domain
 * @rx_cq: completions of receive requests
 * @tx_cq: completions of send requests
 * @rx_moder: interrupt moderation of @rx_cq
 * @tx_moder: interrupt moderation of @tx_cq
 * @qp: the QP. The producer index of its send queue is that of the last
 *	request that the device was told of
 * @rx_bufs: receive buffers
 * @tx_bufs: frames in the send ring
 * @tx_next: index of the next send request; under the lock of transmission
 * @macs: buffer for the device's receive filters; used by whoever may set them
 * @running: whether the queues exist. Changes under the RTNL. Transmission reads
 *	it without, as frames may come though a start has failed.
 * @start_pause: jiffies between attempts to start, 0 if the last one succeeded;
 *	protected by the RTNL
 * @broken: the queues that exist have failed, or there was no memory for queues
 * @restart_work: recreates the queues if they are @broken
 * @stats_work: reads the device's counters; disabled unless it is attached
 * @stats_lock: serialises reading; protects all that follows
 * @drops: frames that never came here, by reason
 */
struct mynic_netdev {
	struct mynic_dev *mdev;
	struct net_device *ndev;
	struct napi_struct napi;
	struct work_struct link_work;
	struct work_struct rx_mode_work;
	u32 speed_mbps;
	u32 max_frame;
	u32 pdn;
	struct mynic_cq rx_cq;
	struct mynic_cq tx_cq;
	struct mynic_moder rx_moder;
	struct mynic_moder tx_moder;
	struct mynic_qp qp;
	struct mynic_rx_bufs *rx_bufs;
	struct mynic_tx_bufs *tx_bufs;
	u32 tx_next;
	struct mynic_rx_mac macs[MYNIC_RX_MAX_MACS];
	bool running;
	unsigned long start_pause;
	bool broken;
	struct delayed_work restart_work;
	struct work_struct stats_work;
	struct mutex stats_lock; /* drops */
	struct mynic_drops drops[MYNIC_NUM_DROPS];
};

/**
 * struct mynic_polled - what polling a queue has found
 * @num: requests that have completed
 * @bytes: bytes of their frames
 * @failed: some of them failed, so the queues are to be made anew
 * @nonsense: the device has completed a request that there is not
 */
struct mynic_polled {
	unsigned int num;
	unsigned int bytes;
	bool failed;
	bool nonsense;
};

/* A piece of memory that the driver has mapped itself */
static inline void mynic_netdev_fill_sge(const struct mynic_netdev *nd,
					 struct mynic_sge *sge, dma_addr_t dma,
					 u32 length)
{
	sge->addr = cpu_to_le64(dma);
	sge->length = cpu_to_le32(length);
	sge->lkey = cpu_to_le32(nd->mdev->caps.dma_lkey);
}

/* Sending */

/*
 * SGEs of a send request. So many fit behind the longest header of a TSO
 * request.
 */
#define MYNIC_TX_MAX_SGE 19U
#define MYNIC_TX_MAX_HEADER                         \
	(MYNIC_SQ_MAX_STRIDE - MYNIC_WQE_DATA_EXT - \
	 MYNIC_TX_MAX_SGE * sizeof(struct mynic_sge))

int mynic_tx_alloc(struct mynic_netdev *nd);
void mynic_tx_free(struct mynic_netdev *nd);
void mynic_tx_set_features(struct mynic_netdev *nd);
netdev_features_t mynic_features_check(struct sk_buff *skb,
				       struct net_device *ndev,
				       netdev_features_t features);
netdev_tx_t mynic_start_xmit(struct sk_buff *skb, struct net_device *ndev);
struct mynic_polled mynic_tx_poll(struct mynic_netdev *nd, int budget);

/* Receiving */

/* SGEs of a receive request */
#define MYNIC_RX_MAX_SGE 3

u32 mynic_rx_max_size(void);
int mynic_rx_alloc(struct mynic_netdev *nd);
void mynic_rx_free(struct mynic_netdev *nd);
void mynic_rx_post_all(struct mynic_netdev *nd);
struct mynic_polled mynic_rx_poll(struct mynic_netdev *nd, unsigned int budget);

/* Interrupt moderation */

void mynic_moder_init(struct mynic_moder *moder, struct mynic_dev *mdev,
		      struct mynic_cq *cq, bool rx);
int mynic_moder_start(struct mynic_moder *moder);
void mynic_moder_stop(struct mynic_moder *moder);
void mynic_moder_count(struct mynic_moder *moder,
		       const struct mynic_polled *polled);
void mynic_moder_sample(struct mynic_moder *moder);
int mynic_moder_change(struct mynic_moder *moder, bool running,
		       const struct mynic_moder_setting *setting);

#endif /* MYNIC_NETDEV_H */
