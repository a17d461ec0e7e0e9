// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Port counters of performance management (IBTA volume 1, chapter 16), which
 * sysfs has in ports/1/counters. Those of the device are in stats.c.
 */
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "cmd.h"

/* Data is counted in units of four bytes. */
#define MYNIC_PMA_DATA_UNIT 4

static void mynic_pma_class_port_info(struct ib_class_port_info *info)
{
	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	/* The device does not count multicast packets apart from others. */
	info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH_NOIETF;
}

/* Counters stay at their largest value. */
static void mynic_pma_counters(struct net_device *ndev, const u64 *stats,
			       struct ib_pma_portcounters *counters)
{
	u64 overruns = stats[MYNIC_STAT_RX_DROP_OVERRUN];
	u64 errors = stats[MYNIC_STAT_RX_DROP_HEADER] +
		     stats[MYNIC_STAT_RX_DROP_ICRC] + overruns;
	u64 rx_data = stats[MYNIC_STAT_RX_RDMA_BYTES] / MYNIC_PMA_DATA_UNIT;
	u64 tx_data = stats[MYNIC_STAT_TX_RDMA_BYTES] / MYNIC_PMA_DATA_UNIT;
	u64 rx_packets = stats[MYNIC_STAT_RX_RDMA_PACKETS];
	u64 tx_packets = stats[MYNIC_STAT_TX_RDMA_PACKETS];
	u32 downed = atomic_read(&ndev->carrier_down_count);

	counters->port_select = MYNIC_PORT;
	counters->link_downed_counter = min(downed, U8_MAX);
	counters->port_rcv_errors = cpu_to_be16(min(errors, U16_MAX));
	counters->link_overrun_errors = min(overruns, 0xf);
	counters->port_xmit_data = cpu_to_be32(min(tx_data, U32_MAX));
	counters->port_rcv_data = cpu_to_be32(min(rx_data, U32_MAX));
	counters->port_xmit_packets = cpu_to_be32(min(tx_packets, U32_MAX));
	counters->port_rcv_packets = cpu_to_be32(min(rx_packets, U32_MAX));
}

static void mynic_pma_counters_ext(const u64 *stats,
				   struct ib_pma_portcounters_ext *counters)
{
	u64 rx_data = stats[MYNIC_STAT_RX_RDMA_BYTES] / MYNIC_PMA_DATA_UNIT;
	u64 tx_data = stats[MYNIC_STAT_TX_RDMA_BYTES] / MYNIC_PMA_DATA_UNIT;

	counters->port_select = MYNIC_PORT;
	counters->port_xmit_data = cpu_to_be64(tx_data);
	counters->port_rcv_data = cpu_to_be64(rx_data);
	counters->port_xmit_packets =
		cpu_to_be64(stats[MYNIC_STAT_TX_RDMA_PACKETS]);
	counters->port_rcv_packets =
		cpu_to_be64(stats[MYNIC_STAT_RX_RDMA_PACKETS]);
}

/*
 * All users may read sysfs. Their commands go one by one, so that they do not
 * fill the admin queue.
 */
static int mynic_pma_query(struct mynic_dev *mdev, u64 *stats)
{
	int ret;

	mutex_lock(&mdev->pma_lock);
	ret = mynic_cmd_query_stats(mdev, 0, stats);
	mutex_unlock(&mdev->pma_lock);
	return ret;
}

/*
 * Answers the RDMA core, which asks for sysfs. Peers are not told: the counters
 * are of this host, and RoCE has no subnet manager.
 */
int mynic_process_mad(struct ib_device *ibdev, int flags, u32 port,
		      const struct ib_wc *in_wc, const struct ib_grh *in_grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index)
{
	struct mynic_dev *mdev = to_mdev(ibdev);
	struct ib_pma_mad *reply = (struct ib_pma_mad *)out;
	u64 stats[MYNIC_NUM_STATS];

	if (in_wc || in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_SUCCESS;
	memset(out, 0, sizeof(*out));
	reply->mad_hdr = in->mad_hdr;
	reply->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		mynic_pma_class_port_info((void *)reply->data);
		break;
	case IB_PMA_PORT_COUNTERS:
		if (mynic_pma_query(mdev, stats))
			return IB_MAD_RESULT_FAILURE;
		mynic_pma_counters(mdev->netdev, stats, (void *)reply->data);
		break;
	case IB_PMA_PORT_COUNTERS_EXT:
		if (mynic_pma_query(mdev, stats))
			return IB_MAD_RESULT_FAILURE;
		mynic_pma_counters_ext(stats, (void *)reply->data);
		break;
	default:
		return IB_MAD_RESULT_SUCCESS;
	}
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
