/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Names for the numbers of mynic_regs.h, each written once. A list is given two
 * macros, which take a number and its name. The second macro is for the last
 * entry, as some users must not end with a comma.
 */
#ifndef MYNIC_NAMES_H
#define MYNIC_NAMES_H

/* clang-format off */

/* Give this for both macros to get a table of names by number. */
#define MYNIC_NAME_AT(number, name) [number] = name,

/* The same for a table of structs that have a name */
#define MYNIC_MEMBER_NAME_AT(number, text) [number].name = text,

#define MYNIC_CMD_NAMES(name, last) \
	name(MYNIC_CMD_NOP, "NOP") \
	name(MYNIC_CMD_QUERY_DEVICE, "QUERY_DEVICE") \
	name(MYNIC_CMD_QUERY_PORT, "QUERY_PORT") \
	name(MYNIC_CMD_MODIFY_PORT, "MODIFY_PORT") \
	name(MYNIC_CMD_QUERY_STATS, "QUERY_STATS") \
	name(MYNIC_CMD_SET_GID, "SET_GID") \
	name(MYNIC_CMD_SET_RX, "SET_RX") \
	name(MYNIC_CMD_CREATE_EQ, "CREATE_EQ") \
	name(MYNIC_CMD_DESTROY_EQ, "DESTROY_EQ") \
	name(MYNIC_CMD_ALLOC_PD, "ALLOC_PD") \
	name(MYNIC_CMD_DEALLOC_PD, "DEALLOC_PD") \
	name(MYNIC_CMD_ALLOC_XRCD, "ALLOC_XRCD") \
	name(MYNIC_CMD_DEALLOC_XRCD, "DEALLOC_XRCD") \
	name(MYNIC_CMD_CREATE_MKEY, "CREATE_MKEY") \
	name(MYNIC_CMD_DESTROY_MKEY, "DESTROY_MKEY") \
	name(MYNIC_CMD_MODIFY_MKEY, "MODIFY_MKEY") \
	name(MYNIC_CMD_QUERY_MKEY, "QUERY_MKEY") \
	name(MYNIC_CMD_ALLOC_DM, "ALLOC_DM") \
	name(MYNIC_CMD_FREE_DM, "FREE_DM") \
	name(MYNIC_CMD_SYNC_MKEY, "SYNC_MKEY") \
	name(MYNIC_CMD_RESUME, "RESUME") \
	name(MYNIC_CMD_CREATE_CQ, "CREATE_CQ") \
	name(MYNIC_CMD_DESTROY_CQ, "DESTROY_CQ") \
	name(MYNIC_CMD_RESIZE_CQ, "RESIZE_CQ") \
	name(MYNIC_CMD_MODIFY_CQ, "MODIFY_CQ") \
	name(MYNIC_CMD_QUERY_CQ, "QUERY_CQ") \
	name(MYNIC_CMD_CREATE_SRQ, "CREATE_SRQ") \
	name(MYNIC_CMD_MODIFY_SRQ, "MODIFY_SRQ") \
	name(MYNIC_CMD_QUERY_SRQ, "QUERY_SRQ") \
	name(MYNIC_CMD_DESTROY_SRQ, "DESTROY_SRQ") \
	name(MYNIC_CMD_RESIZE_SRQ, "RESIZE_SRQ") \
	name(MYNIC_CMD_CREATE_QP, "CREATE_QP") \
	name(MYNIC_CMD_MODIFY_QP, "MODIFY_QP") \
	name(MYNIC_CMD_QUERY_QP, "QUERY_QP") \
	name(MYNIC_CMD_DESTROY_QP, "DESTROY_QP") \
	name(MYNIC_CMD_ATTACH_MCAST, "ATTACH_MCAST") \
	name(MYNIC_CMD_DETACH_MCAST, "DETACH_MCAST") \
	name(MYNIC_CMD_CREATE_FLOW, "CREATE_FLOW") \
	name(MYNIC_CMD_DESTROY_FLOW, "DESTROY_FLOW") \
	name(MYNIC_CMD_CREATE_WQ, "CREATE_WQ") \
	name(MYNIC_CMD_MODIFY_WQ, "MODIFY_WQ") \
	name(MYNIC_CMD_DESTROY_WQ, "DESTROY_WQ") \
	name(MYNIC_CMD_CREATE_RWQ_TABLE, "CREATE_RWQ_TABLE") \
	name(MYNIC_CMD_DESTROY_RWQ_TABLE, "DESTROY_RWQ_TABLE") \
	name(MYNIC_CMD_CREATE_COUNTERS, "CREATE_COUNTERS") \
	name(MYNIC_CMD_DESTROY_COUNTERS, "DESTROY_COUNTERS") \
	name(MYNIC_CMD_QUERY_COUNTERS, "QUERY_COUNTERS") \
	name(MYNIC_CMD_BIND_COUNTERS, "BIND_COUNTERS") \
	name(MYNIC_CMD_CREATE_COMP_CNTR, "CREATE_COMP_CNTR") \
	name(MYNIC_CMD_DESTROY_COMP_CNTR, "DESTROY_COMP_CNTR") \
	name(MYNIC_CMD_MODIFY_COMP_CNTR, "MODIFY_COMP_CNTR") \
	last(MYNIC_CMD_ATTACH_COMP_CNTR, "ATTACH_COMP_CNTR")

#define MYNIC_AQ_STATUS_NAMES(name, last) \
	name(MYNIC_AQ_OK, "OK") \
	name(MYNIC_AQ_BAD_OPCODE, "BAD_OPCODE") \
	name(MYNIC_AQ_BAD_PARAM, "BAD_PARAM") \
	name(MYNIC_AQ_BAD_NUMBER, "BAD_NUMBER") \
	name(MYNIC_AQ_BAD_STATE, "BAD_STATE") \
	name(MYNIC_AQ_BUSY, "BUSY") \
	name(MYNIC_AQ_NO_RESOURCE, "NO_RESOURCE") \
	name(MYNIC_AQ_BAD_DMA, "BAD_DMA") \
	last(MYNIC_AQ_NOT_SUPPORTED, "NOT_SUPPORTED")

#define MYNIC_EVENT_NAMES(name, last) \
	name(MYNIC_EVENT_COMP, "COMP") \
	name(MYNIC_EVENT_CQ_ERROR, "CQ_ERROR") \
	name(MYNIC_EVENT_QP_FATAL, "QP_FATAL") \
	name(MYNIC_EVENT_QP_REQ_ERROR, "QP_REQ_ERROR") \
	name(MYNIC_EVENT_QP_ACCESS_ERROR, "QP_ACCESS_ERROR") \
	name(MYNIC_EVENT_COMM_EST, "COMM_EST") \
	name(MYNIC_EVENT_SQ_DRAINED, "SQ_DRAINED") \
	name(MYNIC_EVENT_LAST_WQE, "LAST_WQE") \
	name(MYNIC_EVENT_SRQ_LIMIT, "SRQ_LIMIT") \
	name(MYNIC_EVENT_SRQ_ERROR, "SRQ_ERROR") \
	name(MYNIC_EVENT_PORT_UP, "PORT_UP") \
	name(MYNIC_EVENT_PORT_DOWN, "PORT_DOWN") \
	last(MYNIC_EVENT_PAGE_FAULT, "PAGE_FAULT")

#define MYNIC_PAGE_STAGE_NAMES(name, last) \
	name(MYNIC_PAGE_SEND, "send") \
	name(MYNIC_PAGE_RECV, "recv") \
	last(MYNIC_PAGE_READ, "read")

/* Port counters, as "rdma statistic", "ethtool -S" and mynic-ctl(8) show them */
#define MYNIC_STAT_NAMES(name, last) \
	name(MYNIC_STAT_RX_PACKETS, "rx_packets") \
	name(MYNIC_STAT_RX_BYTES, "rx_bytes") \
	name(MYNIC_STAT_TX_PACKETS, "tx_packets") \
	name(MYNIC_STAT_TX_BYTES, "tx_bytes") \
	name(MYNIC_STAT_RX_ETH_PACKETS, "rx_eth_packets") \
	name(MYNIC_STAT_TX_ETH_PACKETS, "tx_eth_packets") \
	name(MYNIC_STAT_RX_ETH_DROPPED, "rx_eth_dropped") \
	name(MYNIC_STAT_RX_RDMA_PACKETS, "rx_rdma_packets") \
	name(MYNIC_STAT_TX_RDMA_PACKETS, "tx_rdma_packets") \
	name(MYNIC_STAT_RX_RDMA_BYTES, "rx_rdma_bytes") \
	name(MYNIC_STAT_TX_RDMA_BYTES, "tx_rdma_bytes") \
	name(MYNIC_STAT_RX_DROP_QP, "rx_drop_qp") \
	name(MYNIC_STAT_RX_DROP_KEY, "rx_drop_key") \
	name(MYNIC_STAT_RX_DROP_HEADER, "rx_drop_header") \
	name(MYNIC_STAT_RX_DROP_ICRC, "rx_drop_icrc") \
	name(MYNIC_STAT_RX_DROP_OVERRUN, "rx_drop_overrun") \
	name(MYNIC_STAT_RX_DROP_WQE, "rx_drop_wqe") \
	name(MYNIC_STAT_RX_DROP_SEQUENCE, "rx_drop_sequence") \
	name(MYNIC_STAT_DUPLICATE, "duplicate_request") \
	name(MYNIC_STAT_OUT_OF_SEQUENCE, "out_of_sequence") \
	name(MYNIC_STAT_GHOST, "rx_ghost") \
	name(MYNIC_STAT_IMPLIED_NAK, "implied_nak") \
	name(MYNIC_STAT_RX_NAK_SEQ, "rx_nak_seq") \
	name(MYNIC_STAT_RX_NAK_RNR, "rx_nak_rnr") \
	name(MYNIC_STAT_RX_NAK_INVALID, "rx_nak_invalid") \
	name(MYNIC_STAT_RX_NAK_ACCESS, "rx_nak_access") \
	name(MYNIC_STAT_RX_NAK_OPERATION, "rx_nak_operation") \
	name(MYNIC_STAT_TX_NAK_SEQ, "tx_nak_seq") \
	name(MYNIC_STAT_TX_NAK_RNR, "tx_nak_rnr") \
	name(MYNIC_STAT_TX_NAK_INVALID, "tx_nak_invalid") \
	name(MYNIC_STAT_TX_NAK_ACCESS, "tx_nak_access") \
	name(MYNIC_STAT_TX_NAK_OPERATION, "tx_nak_operation") \
	name(MYNIC_STAT_RX_ECN, "rx_ecn_marked") \
	name(MYNIC_STAT_RX_CNP, "rx_cnp") \
	name(MYNIC_STAT_TX_CNP, "tx_cnp") \
	name(MYNIC_STAT_RATE_LIMITED, "rate_limited") \
	name(MYNIC_STAT_RETRANSMIT, "retransmit") \
	name(MYNIC_STAT_PROBE, "retransmit_probe") \
	name(MYNIC_STAT_TIMEOUT, "ack_timeout") \
	name(MYNIC_STAT_RETRY_EXCEEDED, "retry_exceeded") \
	name(MYNIC_STAT_RNR_RETRY_EXCEEDED, "rnr_retry_exceeded") \
	name(MYNIC_STAT_SEND_ERRORS, "send_errors") \
	name(MYNIC_STAT_RECV_ERRORS, "recv_errors") \
	name(MYNIC_STAT_CQ_OVERRUN, "cq_overrun") \
	name(MYNIC_STAT_BAD_REGISTER, "bad_register") \
	name(MYNIC_STAT_BAD_DOORBELL, "bad_doorbell") \
	name(MYNIC_STAT_BAD_INDEX, "bad_index") \
	name(MYNIC_STAT_BAD_COMMAND, "bad_command") \
	name(MYNIC_STAT_BAD_WQE, "bad_wqe") \
	last(MYNIC_STAT_BAD_DMA, "bad_dma")

/* States of enum ib_qp_state, or of enum ibv_qp_state outside the kernel */
#ifdef __KERNEL__
#define MYNIC_QPS(state) IB_QPS_##state
#else
#define MYNIC_QPS(state) IBV_QPS_##state
#endif

#define MYNIC_QP_STATE_NAMES(name, last) \
	name(MYNIC_QPS(RESET), "RESET") \
	name(MYNIC_QPS(INIT), "INIT") \
	name(MYNIC_QPS(RTR), "RTR") \
	name(MYNIC_QPS(RTS), "RTS") \
	name(MYNIC_QPS(SQD), "SQD") \
	name(MYNIC_QPS(SQE), "SQE") \
	last(MYNIC_QPS(ERR), "ERR")

/* Syndromes, the vendor_err of completions */
#define MYNIC_SYNDROME_NAMES(name, last) \
	name(MYNIC_SYN_NONE, "NONE") \
	name(MYNIC_SYN_BAD_OPCODE, "BAD_OPCODE") \
	name(MYNIC_SYN_BAD_FLAGS, "BAD_FLAGS") \
	name(MYNIC_SYN_BAD_LEN, "BAD_LEN") \
	name(MYNIC_SYN_BAD_LKEY, "BAD_LKEY") \
	name(MYNIC_SYN_LKEY_BOUNDS, "LKEY_BOUNDS") \
	name(MYNIC_SYN_BAD_GID, "BAD_GID") \
	name(MYNIC_SYN_DMA, "DMA") \
	name(MYNIC_SYN_REMOTE_ACCESS, "REMOTE_ACCESS") \
	name(MYNIC_SYN_REMOTE_INVALID, "REMOTE_INVALID") \
	name(MYNIC_SYN_REMOTE_OP, "REMOTE_OP") \
	name(MYNIC_SYN_RETRY, "RETRY") \
	name(MYNIC_SYN_RNR_RETRY, "RNR_RETRY") \
	name(MYNIC_SYN_BAD_RESPONSE, "BAD_RESPONSE") \
	name(MYNIC_SYN_RQ_LEN, "RQ_LEN") \
	name(MYNIC_SYN_RQ_INVALID, "RQ_INVALID") \
	name(MYNIC_SYN_RQ_ACCESS, "RQ_ACCESS") \
	name(MYNIC_SYN_FLUSHED, "FLUSHED") \
	name(MYNIC_SYN_BAD_MKEY, "BAD_MKEY") \
	name(MYNIC_SYN_MKEY_ACCESS, "MKEY_ACCESS") \
	last(MYNIC_SYN_MKEY_BOUNDS, "MKEY_BOUNDS")

/* clang-format on */

#endif /* MYNIC_NAMES_H */
