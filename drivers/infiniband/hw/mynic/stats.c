// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Port counters, for "rdma statistic" and ethtool. Counter sets are in
 * qp_counter.c and counters.c.
 */
#include "cmd.h"

/* User space reads these names in "rdma statistic" and "ethtool -S". */
const struct rdma_stat_desc mynic_stat_descs[MYNIC_NUM_STATS] = {
	[MYNIC_STAT_RX_PACKETS].name = "rx_packets",
	[MYNIC_STAT_RX_BYTES].name = "rx_bytes",
	[MYNIC_STAT_TX_PACKETS].name = "tx_packets",
	[MYNIC_STAT_TX_BYTES].name = "tx_bytes",
	[MYNIC_STAT_RX_ETH_PACKETS].name = "rx_eth_packets",
	[MYNIC_STAT_TX_ETH_PACKETS].name = "tx_eth_packets",
	[MYNIC_STAT_RX_ETH_DROPPED].name = "rx_eth_dropped",
	[MYNIC_STAT_RX_RDMA_PACKETS].name = "rx_rdma_packets",
	[MYNIC_STAT_TX_RDMA_PACKETS].name = "tx_rdma_packets",
	[MYNIC_STAT_RX_RDMA_BYTES].name = "rx_rdma_bytes",
	[MYNIC_STAT_TX_RDMA_BYTES].name = "tx_rdma_bytes",
	[MYNIC_STAT_RX_DROP_QP].name = "rx_drop_qp",
	[MYNIC_STAT_RX_DROP_KEY].name = "rx_drop_key",
	[MYNIC_STAT_RX_DROP_HEADER].name = "rx_drop_header",
	[MYNIC_STAT_RX_DROP_ICRC].name = "rx_drop_icrc",
	[MYNIC_STAT_RX_DROP_OVERRUN].name = "rx_drop_overrun",
	[MYNIC_STAT_RX_DROP_WQE].name = "rx_drop_wqe",
	[MYNIC_STAT_RX_DROP_SEQUENCE].name = "rx_drop_sequence",
	[MYNIC_STAT_DUPLICATE].name = "duplicate_request",
	[MYNIC_STAT_OUT_OF_SEQUENCE].name = "out_of_sequence",
	[MYNIC_STAT_GHOST].name = "rx_ghost",
	[MYNIC_STAT_IMPLIED_NAK].name = "implied_nak",
	[MYNIC_STAT_RX_NAK_SEQ].name = "rx_nak_seq",
	[MYNIC_STAT_RX_NAK_RNR].name = "rx_nak_rnr",
	[MYNIC_STAT_RX_NAK_INVALID].name = "rx_nak_invalid",
	[MYNIC_STAT_RX_NAK_ACCESS].name = "rx_nak_access",
	[MYNIC_STAT_RX_NAK_OPERATION].name = "rx_nak_operation",
	[MYNIC_STAT_TX_NAK_SEQ].name = "tx_nak_seq",
	[MYNIC_STAT_TX_NAK_RNR].name = "tx_nak_rnr",
	[MYNIC_STAT_TX_NAK_INVALID].name = "tx_nak_invalid",
	[MYNIC_STAT_TX_NAK_ACCESS].name = "tx_nak_access",
	[MYNIC_STAT_TX_NAK_OPERATION].name = "tx_nak_operation",
	[MYNIC_STAT_RX_ECN].name = "rx_ecn_marked",
	[MYNIC_STAT_RX_CNP].name = "rx_cnp",
	[MYNIC_STAT_TX_CNP].name = "tx_cnp",
	[MYNIC_STAT_RATE_LIMITED].name = "rate_limited",
	[MYNIC_STAT_RETRANSMIT].name = "retransmit",
	[MYNIC_STAT_PROBE].name = "retransmit_probe",
	[MYNIC_STAT_TIMEOUT].name = "ack_timeout",
	[MYNIC_STAT_RETRY_EXCEEDED].name = "retry_exceeded",
	[MYNIC_STAT_RNR_RETRY_EXCEEDED].name = "rnr_retry_exceeded",
	[MYNIC_STAT_SEND_ERRORS].name = "send_errors",
	[MYNIC_STAT_RECV_ERRORS].name = "recv_errors",
	[MYNIC_STAT_CQ_OVERRUN].name = "cq_overrun",
	[MYNIC_STAT_BAD_REGISTER].name = "bad_register",
	[MYNIC_STAT_BAD_DOORBELL].name = "bad_doorbell",
	[MYNIC_STAT_BAD_INDEX].name = "bad_index",
	[MYNIC_STAT_BAD_COMMAND].name = "bad_command",
	[MYNIC_STAT_BAD_WQE].name = "bad_wqe",
	[MYNIC_STAT_BAD_DMA].name = "bad_dma",
};

struct rdma_hw_stats *mynic_alloc_hw_port_stats(struct ib_device *ibdev,
						u32 port)
{
	return rdma_alloc_hw_stats_struct(mynic_stat_descs, MYNIC_NUM_STATS,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/*
 * All counters are read, whatever @index asks for. There are none for port 0.
 */
int mynic_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index)
{
	int ret;

	if (!port)
		return -EOPNOTSUPP;
	/*
	 * Exclude the counter sets: the RDMA core adds those, of present and
	 * past QPs.
	 */
	ret = mynic_cmd_query_stats(to_mdev(ibdev), MYNIC_STATS_UNBOUND,
				    stats->value);
	return ret ?: MYNIC_NUM_STATS;
}
