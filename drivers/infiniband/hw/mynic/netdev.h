/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the files of the network interface share. */
#ifndef MYNIC_NETDEV_H
#define MYNIC_NETDEV_H

#include <linux/dim.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/ptp_clock_kernel.h>
#include <net/xdp.h>

#include "mynic.h"

/* Queues beyond this have no use for one interface. */
#define MYNIC_MAX_CHANNELS 16
/* Slots of the rings of a channel, by default, at least and at most */
#define MYNIC_RX_SLOTS 1024
#define MYNIC_TX_SLOTS 512
#define MYNIC_MIN_SLOTS 64U
#define MYNIC_MAX_SLOTS 8192U

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
 * struct mynic_rx_stats - what a channel has received; written by NAPI
 * @packets: frames for which there was memory, whatever became of them
 * @bytes: their bytes
 * @csum_ok: frames whose checksums the device has found right
 * @dropped: frames for which there was no memory
 * @length_errors: frames with an impossible length
 * @errors: receive requests that have failed
 * @xdp_drop: frames that an XDP program has dropped, or did not know what to do
 *	with
 * @xdp_tx: frames that it has sent back
 * @xdp_redirect: frames that it has sent elsewhere
 * @xdp_failed: frames that could not be sent where it wanted
 */
struct mynic_rx_stats {
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t csum_ok;
	u64_stats_t dropped;
	u64_stats_t length_errors;
	u64_stats_t errors;
	u64_stats_t xdp_drop;
	u64_stats_t xdp_tx;
	u64_stats_t xdp_redirect;
	u64_stats_t xdp_failed;
};

/**
 * struct mynic_tx_stats - what a channel has sent
 * @packets: frames; written by NAPI, like all up to @wake
 * @bytes: their bytes
 * @errors: send requests that have failed
 * @wake: how often the queue went on
 * @stop: how often it was full; written under the lock of transmission, like
 *	what follows
 * @dropped: frames that the device was not told of, or has not ended
 */
struct mynic_tx_stats {
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t errors;
	u64_stats_t wake;
	u64_stats_t stop;
	u64_stats_t dropped;
};

/**
 * struct mynic_channel - a queue for each direction, and what belongs to them
 * @nd: the interface
 * @index: of both queues
 * @napi: both directions
 * @rx_cq: completions of receive requests
 * @tx_cq: completions of send requests
 * @rx_moder: interrupt moderation of @rx_cq
 * @tx_moder: interrupt moderation of @tx_cq
 * @qp: sends. The producer index of its send queue is that of the last request
 *	that the device was told of
 * @rwq: receives, if frames are spread
 * @rq: the receive ring: that of @rwq or of @qp
 * @xdp_rxq: what XDP knows of the receive queue
 * @xdp_sent: NAPI has frames of XDP in the send ring that the device was not
 *	told of
 * @xdp_redirected: NAPI has frames of XDP that have not left yet
 * @rx_bufs: receive buffers
 * @tx_bufs: frames in the send ring; NULL: there is none. Changes while
 *	transmission is disabled
 * @tx_next: index of the next send request; under the lock of transmission
 * @rx_stats: what it has received since the interface was created
 * @tx_stats: what it has sent
 */
struct mynic_channel {
	struct mynic_netdev *nd;
	unsigned int index;
	struct napi_struct napi;
	struct mynic_cq rx_cq;
	struct mynic_cq tx_cq;
	struct mynic_moder rx_moder;
	struct mynic_moder tx_moder;
	struct mynic_qp qp;
	struct mynic_rwq rwq;
	struct mynic_queue *rq;
	struct xdp_rxq_info xdp_rxq;
	bool xdp_sent;
	bool xdp_redirected;
	struct mynic_rx_bufs *rx_bufs;
	struct mynic_tx_bufs *tx_bufs;
	u32 tx_next;
	struct mynic_rx_stats rx_stats;
	struct mynic_tx_stats tx_stats;
};

/**
 * struct mynic_rss_setting - which channel receives a frame
 * @indir: channel, by the hash modulo the table's size
 * @key: Toeplitz key
 * @fields: MYNIC_RX_HASH_*
 */
struct mynic_rss_setting {
	u8 indir[1 << MYNIC_RWQ_TABLE_MAX_LOG_SIZE];
	u8 key[MYNIC_RX_HASH_KEY_LEN];
	u32 fields;
};

/**
 * struct mynic_rss - objects that spread received frames
 * @tablen: table of WQs
 * @qpn: QP with the table
 */
struct mynic_rss {
	u32 tablen;
	u32 qpn;
};

/**
 * struct mynic_setup - what the queues are made with
 * @num_channels: channels in use
 * @rx_slots: slots of each receive ring, a power of two
 * @tx_slots: slots of each send ring, a power of two
 * @mtu: the MTU, for which the buffers are large enough
 * @vlan_strip: the device takes VLAN tags out of received frames
 * @xdp: a program sees received frames, each of which is in one page
 */
struct mynic_setup {
	unsigned int num_channels;
	u32 rx_slots;
	u32 tx_slots;
	u32 mtu;
	bool vlan_strip;
	bool xdp;
};

/**
 * struct mynic_ptp - the NIC's clock, and whether frames get time stamps by it
 * @info: what the kernel calls
 * @clock: the PTP hardware clock, or NULL
 * @lock: protects what the clock shows, which is up to @rate
 * @base_cycles: a value of the device's CLOCK
 * @base_ns: what the clock showed then, in nanoseconds
 * @base_frac: the fraction of one, in units of 2^-32
 * @rate: nanoseconds per cycle, with a 32-bit fraction
 * @nominal: the same while nobody has changed it
 * @rx: received frames get time stamps; changes under the RTNL, like @tx
 * @tx: so do frames whose senders ask for it
 */
struct mynic_ptp {
	struct ptp_clock_info info;
	struct ptp_clock *clock;
	seqlock_t lock; /* all up to rate */
	u64 base_cycles;
	u64 base_ns;
	u32 base_frac;
	u64 rate;
	u64 nominal;
	bool rx;
	bool tx;
};

/**
 * struct mynic_netdev - private part of the interface
 * @mdev: device
 * @ndev: interface
 * @link_work: asks the device for the link state; disabled unless @running
 * @rx_mode_work: sets the receive filter; disabled unless @running
 * @speed_mbps: link speed in Mbit/s
 * @max_frame: bytes of the largest frame
 * @pdn: protection domain
 * @log_table_size: log2 of the entries in a table of WQs
 * @spreads: whether the device can spread frames. Otherwise there is one channel
 * @rss_setting: how frames are spread; changes under the RTNL
 * @rss: the objects for it
 * @xdp_prog: program that sees received frames; not NULL while NAPI polls queues
 *	for it
 * @macs: buffer for the device's receive filters; used by whoever may set them
 * @running: whether the queues exist. Changes under the RTNL. Transmission reads
 *	it without, as frames may come though a start has failed.
 * @port_up: whether the device's port is up, with the MAC of the interface and
 *	the MTU of @setup. It can be while there are no queues; protected by the
 *	RTNL
 * @start_pause: jiffies between attempts to start, 0 if the last one succeeded;
 *	protected by the RTNL
 * @broken: the queues that exist have failed, or there was no memory for queues
 * @restarts: how often queues have failed and were made anew; changes under the
 *	RTNL
 * @restart_work: recreates the queues if they are @broken
 * @stats_work: reads the device's counters; disabled unless it is attached
 * @stats_lock: serialises reading; protects @drops
 * @drops: frames that never came here, by reason
 * @ptp: the clock
 * @setup: what the queues are made with; changes under the RTNL and, but for
 *	the MTU, while there are none
 * @max_slots: slots that a ring may have
 * @usable_channels: channels that the device has room for
 * @max_channels: channels that there may be
 * @channels: all of them. Their settings and statistics last.
 */
struct mynic_netdev {
	struct mynic_dev *mdev;
	struct net_device *ndev;
	struct work_struct link_work;
	struct work_struct rx_mode_work;
	u32 speed_mbps;
	u32 max_frame;
	u32 pdn;
	u8 log_table_size;
	bool spreads;
	struct mynic_rss_setting rss_setting;
	struct mynic_rss rss;
	struct bpf_prog *xdp_prog;
	struct mynic_rx_mac macs[MYNIC_RX_MAX_MACS];
	bool running;
	bool port_up;
	unsigned long start_pause;
	bool broken;
	u64 restarts;
	struct delayed_work restart_work;
	struct work_struct stats_work;
	struct mutex stats_lock; /* drops */
	struct mynic_drops drops[MYNIC_NUM_DROPS];
	struct mynic_ptp ptp;
	struct mynic_setup setup;
	u32 max_slots;
	unsigned int usable_channels;
	unsigned int max_channels;
	struct mynic_channel channels[] __counted_by(max_channels);
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

/* An XDP program must see the tag, or what it sends would lose it. */
static inline bool mynic_strips_vlan(const struct mynic_netdev *nd)
{
	return nd->setup.vlan_strip && !nd->setup.xdp;
}

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

int mynic_tx_alloc(struct mynic_channel *ch);
void mynic_tx_free(struct mynic_channel *ch);
void mynic_tx_set_features(struct mynic_netdev *nd);
netdev_features_t mynic_features_check(struct sk_buff *skb,
				       struct net_device *ndev,
				       netdev_features_t features);
netdev_tx_t mynic_start_xmit(struct sk_buff *skb, struct net_device *ndev);
bool mynic_tx_send_xdp(struct mynic_channel *ch, struct xdp_frame *frame,
		       bool own);
bool mynic_tx_ready(const struct mynic_channel *ch);
bool mynic_tx_idle(const struct mynic_channel *ch);
void mynic_tx_flush(struct mynic_channel *ch);
struct netdev_queue *mynic_tx_queue(const struct mynic_channel *ch);
struct mynic_polled mynic_tx_poll(struct mynic_channel *ch, int budget);

/* Receiving */

/* SGEs of a receive request */
#define MYNIC_RX_MAX_SGE 3

u32 mynic_rx_max_size(bool xdp);
bool mynic_rx_same_pages(const struct mynic_setup *setup,
			 const struct mynic_setup *other);
int mynic_rx_alloc(struct mynic_channel *ch);
void mynic_rx_free(struct mynic_channel *ch);
void mynic_rx_post_all(struct mynic_channel *ch);
struct mynic_polled mynic_rx_poll(struct mynic_channel *ch,
				  unsigned int budget);

/* XDP */

u32 mynic_xdp_run(struct mynic_channel *ch, struct bpf_prog *prog,
		  struct xdp_buff *xdp);
bool mynic_xdp_forward(struct mynic_channel *ch, struct bpf_prog *prog,
		       struct xdp_buff *xdp, u32 act);
void mynic_xdp_flush(struct mynic_channel *ch);
int mynic_xdp_xmit(struct net_device *ndev, int num, struct xdp_frame **frames,
		   u32 flags);

/* The clock and time stamps */

void mynic_ptp_register(struct mynic_netdev *nd);
void mynic_ptp_unregister(struct mynic_netdev *nd);
ktime_t mynic_ptp_time(struct mynic_ptp *ptp, u64 cycles);
int mynic_get_ts_info(struct net_device *ndev,
		      struct kernel_ethtool_ts_info *info);
int mynic_hwtstamp_get(struct net_device *ndev,
		       struct kernel_hwtstamp_config *config);
int mynic_hwtstamp_set(struct net_device *ndev,
		       struct kernel_hwtstamp_config *config,
		       struct netlink_ext_ack *extack);

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
void mynic_moder_undo(struct mynic_moder *moder, bool running,
		      const struct mynic_moder_setting *setting);

/* Channels */

void mynic_restart_after(struct mynic_netdev *nd, unsigned long pause);
void mynic_restart_soon(struct mynic_netdev *nd);
void mynic_channel_init(struct mynic_netdev *nd, unsigned int index);
int mynic_channel_create(struct mynic_channel *ch);
void mynic_channel_destroy(struct mynic_channel *ch);
int mynic_channel_start(struct mynic_channel *ch);
void mynic_channel_stop(struct mynic_channel *ch);

/* Spreading received frames over the channels */

void mynic_rss_init(struct mynic_netdev *nd);
void mynic_rss_spread_evenly(struct mynic_netdev *nd);
u32 mynic_get_rx_ring_count(struct net_device *ndev);
int mynic_rss_create(struct mynic_netdev *nd, struct mynic_rss *rss,
		     const struct mynic_rss_setting *setting);
void mynic_rss_destroy(struct mynic_netdev *nd, const struct mynic_rss *rss);

/* Changes of settings, with the RTNL held */

int mynic_netdev_change(struct mynic_netdev *nd,
			const struct mynic_setup *setup);
int mynic_netdev_change_rss(struct mynic_netdev *nd,
			    const struct mynic_rss_setting *setting);

/* Statistics */

/* Those of the driver in "ethtool -S" */
enum mynic_own_stat {
	MYNIC_QUEUE_RESTARTS,
	MYNIC_XDP_DROP,
	MYNIC_XDP_TX,
	MYNIC_XDP_REDIRECT,
	MYNIC_XDP_FAILED,
	MYNIC_NUM_OWN_STATS
};

extern const char *const mynic_own_stat_names[MYNIC_NUM_OWN_STATS];

void mynic_stats_init(struct mynic_netdev *nd);
void mynic_stats_own(const struct mynic_netdev *nd,
		     u64 values[MYNIC_NUM_OWN_STATS]);
void mynic_stats_fini(struct mynic_netdev *nd);
void mynic_stats_forget(struct mynic_netdev *nd);
void mynic_get_stats64(struct net_device *ndev,
		       struct rtnl_link_stats64 *stats);

#endif /* MYNIC_NETDEV_H */
