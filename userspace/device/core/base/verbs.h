/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Numbers of the verbs API that cross the hardware interface unchanged, as far
 * as the device acts on them. mynic-hw.h and mynic_regs.h refer to them as enum
 * ibv_* or enum ib_*.
 */
#ifndef MYNIC_VERBS_H
#define MYNIC_VERBS_H

enum ib_wr_opcode {
	IB_WR_RDMA_WRITE = 0,
	IB_WR_RDMA_WRITE_WITH_IMM = 1,
	IB_WR_SEND = 2,
	IB_WR_SEND_WITH_IMM = 3,
	IB_WR_RDMA_READ = 4,
	IB_WR_ATOMIC_CMP_AND_SWP = 5,
	IB_WR_ATOMIC_FETCH_AND_ADD = 6,
	IB_WR_LOCAL_INV = 7,
	IB_WR_BIND_MW = 8,
	IB_WR_SEND_WITH_INV = 9,
	IB_WR_TSO = 10,
	IB_WR_DRIVER1 = 11,
	IB_WR_FLUSH = 14,
	IB_WR_ATOMIC_WRITE = 15,
};

enum ib_send_flags {
	IB_SEND_FENCE = 1 << 0,
	IB_SEND_SIGNALED = 1 << 1,
	IB_SEND_SOLICITED = 1 << 2,
	IB_SEND_INLINE = 1 << 3,
	IB_SEND_IP_CSUM = 1 << 4,
};

enum ib_wc_status {
	IB_WC_SUCCESS = 0,
	IB_WC_LOC_LEN_ERR = 1,
	IB_WC_LOC_QP_OP_ERR = 2,
	IB_WC_LOC_EEC_OP_ERR = 3,
	IB_WC_LOC_PROT_ERR = 4,
	IB_WC_WR_FLUSH_ERR = 5,
	IB_WC_MW_BIND_ERR = 6,
	IB_WC_BAD_RESP_ERR = 7,
	IB_WC_LOC_ACCESS_ERR = 8,
	IB_WC_REM_INV_REQ_ERR = 9,
	IB_WC_REM_ACCESS_ERR = 10,
	IB_WC_REM_OP_ERR = 11,
	IB_WC_RETRY_EXC_ERR = 12,
	IB_WC_RNR_RETRY_EXC_ERR = 13,
	IB_WC_LOC_RDD_VIOL_ERR = 14,
	IB_WC_REM_INV_RD_REQ_ERR = 15,
	IB_WC_REM_ABORT_ERR = 16,
	IB_WC_INV_EECN_ERR = 17,
	IB_WC_INV_EEC_STATE_ERR = 18,
	IB_WC_FATAL_ERR = 19,
	IB_WC_RESP_TIMEOUT_ERR = 20,
	IB_WC_GENERAL_ERR = 21,
	IB_WC_TM_ERR = 22,
	IB_WC_TM_RNDV_INCOMPLETE = 23,
};

/* Values of enum ibv_wc_opcode; the kernel's differ */
enum ib_wc_opcode {
	IB_WC_SEND = 0,
	IB_WC_RDMA_WRITE = 1,
	IB_WC_RDMA_READ = 2,
	IB_WC_COMP_SWAP = 3,
	IB_WC_FETCH_ADD = 4,
	IB_WC_BIND_MW = 5,
	IB_WC_LOCAL_INV = 6,
	IB_WC_TSO = 7,
	IB_WC_FLUSH = 8,
	IB_WC_ATOMIC_WRITE = 9,
	IB_WC_RECV = 128,
	IB_WC_RECV_RDMA_WITH_IMM = 129,
	IB_WC_TM_ADD = 130,
	IB_WC_TM_DEL = 131,
	IB_WC_TM_SYNC = 132,
	IB_WC_TM_RECV = 133,
	IB_WC_TM_NO_TAG = 134,
	IB_WC_DRIVER1 = 135,
};

/* Values of enum ibv_wc_flags; the kernel's differ */
enum ib_wc_flags {
	IB_WC_GRH = 1 << 0,
	IB_WC_WITH_IMM = 1 << 1,
	IB_WC_IP_CSUM_OK = 1 << 2,
	IB_WC_WITH_INV = 1 << 3,
	IB_WC_TM_SYNC_REQ = 1 << 4,
	IB_WC_TM_MATCH = 1 << 5,
	IB_WC_TM_DATA_VALID = 1 << 6,
};

/* Values of enum ibv_ops_wr_opcode */
enum ib_ops_wr_opcode {
	IB_WR_TAG_ADD = 0,
	IB_WR_TAG_DEL = 1,
	IB_WR_TAG_SYNC = 2,
};

enum ib_ops_flags {
	IB_OPS_SIGNALED = 1 << 0,
	IB_OPS_TM_SYNC = 1 << 1,
};

/* Values of struct ibv_tmh.opcode */
enum ib_tmh_op {
	IB_TMH_NO_TAG = 0,
	IB_TMH_RNDV = 1,
	IB_TMH_FIN = 2,
	IB_TMH_EAGER = 3,
};

enum ib_access_flags {
	IB_ACCESS_LOCAL_WRITE = 1 << 0,
	IB_ACCESS_REMOTE_WRITE = 1 << 1,
	IB_ACCESS_REMOTE_READ = 1 << 2,
	IB_ACCESS_REMOTE_ATOMIC = 1 << 3,
	IB_ACCESS_MW_BIND = 1 << 4,
	IB_ACCESS_ZERO_BASED = 1 << 5,
	IB_ACCESS_FLUSH_GLOBAL = 1 << 8,
	IB_ACCESS_FLUSH_PERSISTENT = 1 << 9,
	IB_ACCESS_OPTIONAL_FIRST = 1 << 20,
	IB_ACCESS_OPTIONAL_LAST = 1 << 29,
};

enum ib_placement_type {
	IB_FLUSH_GLOBAL = 1 << 0,
	IB_FLUSH_PERSISTENT = 1 << 1,
};

enum ib_selectivity_level {
	IB_FLUSH_RANGE = 0,
	IB_FLUSH_MR = 1,
};

enum ib_mtu {
	IB_MTU_256 = 1,
	IB_MTU_512 = 2,
	IB_MTU_1024 = 3,
	IB_MTU_2048 = 4,
	IB_MTU_4096 = 5,
};

enum ib_qp_state {
	IB_QPS_RESET,
	IB_QPS_INIT,
	IB_QPS_RTR,
	IB_QPS_RTS,
	IB_QPS_SQD,
	IB_QPS_SQE,
	IB_QPS_ERR,
	IB_NUM_QP_STATES,
};

enum ib_qp_attr_mask {
	IB_QP_STATE = 1 << 0,
	IB_QP_CUR_STATE = 1 << 1,
	IB_QP_EN_SQD_ASYNC_NOTIFY = 1 << 2,
	IB_QP_ACCESS_FLAGS = 1 << 3,
	IB_QP_PKEY_INDEX = 1 << 4,
	IB_QP_PORT = 1 << 5,
	IB_QP_QKEY = 1 << 6,
	IB_QP_AV = 1 << 7,
	IB_QP_PATH_MTU = 1 << 8,
	IB_QP_TIMEOUT = 1 << 9,
	IB_QP_RETRY_CNT = 1 << 10,
	IB_QP_RNR_RETRY = 1 << 11,
	IB_QP_RQ_PSN = 1 << 12,
	IB_QP_MAX_QP_RD_ATOMIC = 1 << 13,
	IB_QP_ALT_PATH = 1 << 14,
	IB_QP_MIN_RNR_TIMER = 1 << 15,
	IB_QP_SQ_PSN = 1 << 16,
	IB_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
	IB_QP_PATH_MIG_STATE = 1 << 18,
	IB_QP_CAP = 1 << 19,
	IB_QP_DEST_QPN = 1 << 20,
	IB_QP_RATE_LIMIT = 1 << 25,
};

#endif /* MYNIC_VERBS_H */
