// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The NIC's clock as a PTP hardware clock, and time stamps of frames by it. The
 * CLOCK of the device counts freely, and no reset affects it. What sets it or
 * changes its rate is arithmetic in here.
 */
#include <linux/net_tstamp.h>
#include <linux/ptp_clock_kernel.h>
#include <rdma/mynic-abi.h>

#include "cmd.h"
#include "netdev.h"

/* Rates have a 32-bit fraction. */
#define MYNIC_PTP_RATE_SHIFT 32
/* By how much the rate may be changed, in parts per billion */
#define MYNIC_PTP_MAX_ADJ 100000000

static struct mynic_ptp *to_mynic_ptp(struct ptp_clock_info *info)
{
	return container_of(info, struct mynic_ptp, info);
}

static struct mynic_netdev *mynic_ptp_netdev(struct mynic_ptp *ptp)
{
	return container_of(ptp, struct mynic_netdev, ptp);
}

/* The clock */

/*
 * A time stamp may be from before the base, which changes of the clock move.
 * Return: nanoseconds. The fraction goes to @frac.
 */
static u64 mynic_ptp_convert(const struct mynic_ptp *ptp, u64 cycles, u32 *frac)
{
	u64 since = cycles - ptp->base_cycles, ns = ptp->base_ns, part;

	if ((s64)since >= 0) {
		part = (u64)ptp->base_frac + lower_32_bits(since * ptp->rate);
		ns += mul_u64_u64_shr(since, ptp->rate, MYNIC_PTP_RATE_SHIFT);
	} else {
		part = (u64)ptp->base_frac - lower_32_bits(-since * ptp->rate);
		ns -= mul_u64_u64_shr(-since, ptp->rate, MYNIC_PTP_RATE_SHIFT);
	}
	/* @frac may be that of the base. */
	*frac = lower_32_bits(part);
	return ns + (s32)upper_32_bits(part);
}

/**
 * mynic_ptp_time() - what the clock showed at a completion
 * @ptp: clock
 * @cycles: time stamp of the completion
 *
 * Context: any but NMI.
 * Return: nanoseconds since the epoch of the clock.
 */
ktime_t mynic_ptp_time(struct mynic_ptp *ptp, u64 cycles)
{
	unsigned int seq;
	u32 frac;
	u64 ns;

	do {
		seq = read_seqbegin(&ptp->lock);
		ns = mynic_ptp_convert(ptp, cycles, &frac);
	} while (read_seqretry(&ptp->lock, seq));
	return ns_to_ktime(ns);
}

/*
 * Reading a register of a device that hangs would stop the processor. So have
 * the device answer a command first, which tells @cycles less exactly. May
 * sleep. Return: 0 or -EIO.
 */
static int mynic_ptp_ask(struct mynic_ptp *ptp, u64 *cycles)
{
	return mynic_cmd_nop(mynic_ptp_netdev(ptp)->mdev, cycles) || !*cycles ?
		       -EIO :
		       0;
}

/* Return: 0, or -EIO while the device is down. */
static int mynic_ptp_read(struct mynic_ptp *ptp, u64 *cycles,
			  struct ptp_system_timestamp *sts)
{
	struct mynic_dev *mdev = mynic_ptp_netdev(ptp)->mdev;

	if (mynic_dead(mdev))
		return -EIO;
	ptp_read_system_prets(sts);
	*cycles = readq(mdev->uar0 + MYNIC_UAR_CLOCK);
	ptp_read_system_postts(sts);
	return PCI_POSSIBLE_ERROR(*cycles) ? -EIO : 0;
}

static int mynic_ptp_gettimex64(struct ptp_clock_info *info,
				struct timespec64 *ts,
				struct ptp_system_timestamp *sts)
{
	struct mynic_ptp *ptp = to_mynic_ptp(info);
	u64 cycles;
	int ret;

	ret = mynic_ptp_ask(ptp, &cycles) ?: mynic_ptp_read(ptp, &cycles, sts);
	if (!ret)
		*ts = ktime_to_timespec64(mynic_ptp_time(ptp, cycles));
	return ret;
}

static int mynic_ptp_settime64(struct ptp_clock_info *info,
			       const struct timespec64 *ts)
{
	struct mynic_ptp *ptp = to_mynic_ptp(info);
	unsigned long flags;
	u64 cycles;
	int ret;

	ret = mynic_ptp_ask(ptp, &cycles);
	if (ret)
		return ret;
	write_seqlock_irqsave(&ptp->lock, flags);
	ptp->base_cycles = cycles;
	ptp->base_ns = timespec64_to_ns(ts);
	ptp->base_frac = 0;
	write_sequnlock_irqrestore(&ptp->lock, flags);
	return 0;
}

static int mynic_ptp_adjtime(struct ptp_clock_info *info, s64 delta)
{
	struct mynic_ptp *ptp = to_mynic_ptp(info);
	unsigned long flags;

	write_seqlock_irqsave(&ptp->lock, flags);
	ptp->base_ns += delta;
	write_sequnlock_irqrestore(&ptp->lock, flags);
	return 0;
}

static int mynic_ptp_adjfine(struct ptp_clock_info *info, long scaled_ppm)
{
	struct mynic_ptp *ptp = to_mynic_ptp(info);
	unsigned long flags;
	u64 cycles;
	int ret;

	ret = mynic_ptp_ask(ptp, &cycles);
	if (ret)
		return ret;
	/* A time after this one must not be told with the old rate. */
	write_seqlock_irqsave(&ptp->lock, flags);
	ret = mynic_ptp_read(ptp, &cycles, NULL);
	if (!ret) {
		ptp->base_ns = mynic_ptp_convert(ptp, cycles, &ptp->base_frac);
		ptp->base_cycles = cycles;
		ptp->rate = adjust_by_scaled_ppm(ptp->nominal, scaled_ppm);
	}
	write_sequnlock_irqrestore(&ptp->lock, flags);
	return ret;
}

/* It has no signals. Kernels before 6.14 do not ask whether this is there. */
static int mynic_ptp_enable(struct ptp_clock_info *info,
			    struct ptp_clock_request *request, int on)
{
	return -EOPNOTSUPP;
}

static const struct ptp_clock_info mynic_ptp_info = {
	.owner = THIS_MODULE,
	.name = "mynic",
	.max_adj = MYNIC_PTP_MAX_ADJ,
	.adjfine = mynic_ptp_adjfine,
	.adjtime = mynic_ptp_adjtime,
	.gettimex64 = mynic_ptp_gettimex64,
	.settime64 = mynic_ptp_settime64,
	.enable = mynic_ptp_enable,
};

/*
 * The clock begins with the time of day. If there is none, or the kernel has no
 * PTP clocks, frames get no time stamps from the NIC.
 */
void mynic_ptp_register(struct mynic_netdev *nd)
{
	struct mynic_ptp *ptp = &nd->ptp;
	struct mynic_dev *mdev = nd->mdev;
	struct ptp_clock *clock;

	seqlock_init(&ptp->lock);
	if (!mdev->caps.clock_khz ||
	    mynic_ptp_read(ptp, &ptp->base_cycles, NULL))
		return;
	ptp->base_ns = ktime_get_real_ns();
	ptp->info = mynic_ptp_info;
	ptp->nominal = div_u64((u64)NSEC_PER_MSEC << MYNIC_PTP_RATE_SHIFT,
			       mdev->caps.clock_khz);
	ptp->rate = ptp->nominal;
	clock = ptp_clock_register(&ptp->info, &mdev->pdev->dev);
	if (IS_ERR(clock))
		dev_warn(&mdev->pdev->dev, "no PTP clock: %pe\n", clock);
	else
		ptp->clock = clock;
}

void mynic_ptp_unregister(struct mynic_netdev *nd)
{
	if (nd->ptp.clock)
		ptp_clock_unregister(nd->ptp.clock);
	nd->ptp.clock = NULL;
}

/* Time stamps of frames */

int mynic_get_ts_info(struct net_device *ndev,
		      struct kernel_ethtool_ts_info *info)
{
	const struct mynic_netdev *nd = netdev_priv(ndev);

	if (!nd->ptp.clock)
		return ethtool_op_get_ts_info(ndev, info);
	info->so_timestamping =
		SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE |
		SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_TX_HARDWARE |
		SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
	info->phc_index = ptp_clock_index(nd->ptp.clock);
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL);
	return 0;
}

int mynic_hwtstamp_get(struct net_device *ndev,
		       struct kernel_hwtstamp_config *config)
{
	const struct mynic_netdev *nd = netdev_priv(ndev);

	if (!nd->ptp.clock)
		return -EOPNOTSUPP;
	config->tx_type = nd->ptp.tx ? HWTSTAMP_TX_ON : HWTSTAMP_TX_OFF;
	config->rx_filter = nd->ptp.rx ? HWTSTAMP_FILTER_ALL :
					 HWTSTAMP_FILTER_NONE;
	return 0;
}

/*
 * All received frames get a time stamp when some are asked for. @extack stays
 * empty, as the core would log its text as an error.
 */
int mynic_hwtstamp_set(struct net_device *ndev,
		       struct kernel_hwtstamp_config *config,
		       struct netlink_ext_ack *extack)
{
	struct mynic_netdev *nd = netdev_priv(ndev);

	if (!nd->ptp.clock)
		return -EOPNOTSUPP;
	if (config->tx_type != HWTSTAMP_TX_OFF &&
	    config->tx_type != HWTSTAMP_TX_ON)
		return -ERANGE;
	if (config->rx_filter != HWTSTAMP_FILTER_NONE)
		config->rx_filter = HWTSTAMP_FILTER_ALL;
	WRITE_ONCE(nd->ptp.tx, config->tx_type == HWTSTAMP_TX_ON);
	WRITE_ONCE(nd->ptp.rx, config->rx_filter == HWTSTAMP_FILTER_ALL);
	return 0;
}
