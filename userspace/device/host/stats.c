// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Names of port counters, the same as in the driver. */

#include "stats.h"

#include <assert.h>

#include "core/base/util.h"
#include "mynic_regs.h"

static const char *const names[] = {
	[MYNIC_STAT_RX_PACKETS] = "rx_packets",
	[MYNIC_STAT_RX_BYTES] = "rx_bytes",
	[MYNIC_STAT_TX_PACKETS] = "tx_packets",
	[MYNIC_STAT_TX_BYTES] = "tx_bytes",
	[MYNIC_STAT_RX_ETH_PACKETS] = "rx_eth_packets",
	[MYNIC_STAT_TX_ETH_PACKETS] = "tx_eth_packets",
	[MYNIC_STAT_RX_ETH_DROPPED] = "rx_eth_dropped",
	[MYNIC_STAT_RX_RDMA_PACKETS] = "rx_rdma_packets",
	[MYNIC_STAT_TX_RDMA_PACKETS] = "tx_rdma_packets",
	[MYNIC_STAT_RX_RDMA_BYTES] = "rx_rdma_bytes",
	[MYNIC_STAT_TX_RDMA_BYTES] = "tx_rdma_bytes",
	[MYNIC_STAT_RX_DROP_QP] = "rx_drop_qp",
	[MYNIC_STAT_RX_DROP_KEY] = "rx_drop_key",
	[MYNIC_STAT_RX_DROP_HEADER] = "rx_drop_header",
	[MYNIC_STAT_RX_DROP_ICRC] = "rx_drop_icrc",
	[MYNIC_STAT_RX_DROP_OVERRUN] = "rx_drop_overrun",
	[MYNIC_STAT_RX_DROP_WQE] = "rx_drop_wqe",
	[MYNIC_STAT_RX_DROP_SEQUENCE] = "rx_drop_sequence",
	[MYNIC_STAT_DUPLICATE] = "duplicate_request",
	[MYNIC_STAT_OUT_OF_SEQUENCE] = "out_of_sequence",
	[MYNIC_STAT_GHOST] = "rx_ghost",
	[MYNIC_STAT_IMPLIED_NAK] = "implied_nak",
	[MYNIC_STAT_RX_NAK_SEQ] = "rx_nak_seq",
	[MYNIC_STAT_RX_NAK_RNR] = "rx_nak_rnr",
	[MYNIC_STAT_RX_NAK_INVALID] = "rx_nak_invalid",
	[MYNIC_STAT_RX_NAK_ACCESS] = "rx_nak_access",
	[MYNIC_STAT_RX_NAK_OPERATION] = "rx_nak_operation",
	[MYNIC_STAT_TX_NAK_SEQ] = "tx_nak_seq",
	[MYNIC_STAT_TX_NAK_RNR] = "tx_nak_rnr",
	[MYNIC_STAT_TX_NAK_INVALID] = "tx_nak_invalid",
	[MYNIC_STAT_TX_NAK_ACCESS] = "tx_nak_access",
	[MYNIC_STAT_TX_NAK_OPERATION] = "tx_nak_operation",
	[MYNIC_STAT_RX_ECN] = "rx_ecn_marked",
	[MYNIC_STAT_RX_CNP] = "rx_cnp",
	[MYNIC_STAT_TX_CNP] = "tx_cnp",
	[MYNIC_STAT_RATE_LIMITED] = "rate_limited",
	[MYNIC_STAT_RETRANSMIT] = "retransmit",
	[MYNIC_STAT_PROBE] = "retransmit_probe",
	[MYNIC_STAT_TIMEOUT] = "ack_timeout",
	[MYNIC_STAT_RETRY_EXCEEDED] = "retry_exceeded",
	[MYNIC_STAT_RNR_RETRY_EXCEEDED] = "rnr_retry_exceeded",
	[MYNIC_STAT_SEND_ERRORS] = "send_errors",
	[MYNIC_STAT_RECV_ERRORS] = "recv_errors",
	[MYNIC_STAT_CQ_OVERRUN] = "cq_overrun",
	[MYNIC_STAT_BAD_REGISTER] = "bad_register",
	[MYNIC_STAT_BAD_DOORBELL] = "bad_doorbell",
	[MYNIC_STAT_BAD_INDEX] = "bad_index",
	[MYNIC_STAT_BAD_COMMAND] = "bad_command",
	[MYNIC_STAT_BAD_WQE] = "bad_wqe",
	[MYNIC_STAT_BAD_DMA] = "bad_dma",
};

static_assert(ARRAY_SIZE(names) == MYNIC_NUM_STATS, "a counter has no name");

const char *stats_name(unsigned int stat)
{
	return names[stat];
}
