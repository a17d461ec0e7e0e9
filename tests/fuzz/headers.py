# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Names and numbers of the headers of libibverbs."""

RC, UC, UD = "RC", "UC", "UD"
XRC_SEND, XRC_RECV = "XRC_SEND", "XRC_RECV"
RAW_PACKET = "RAW_PACKET"
QP_TYPES = {RC: 2, UC: 3, UD: 4, RAW_PACKET: 8, XRC_SEND: 9, XRC_RECV: 10}
CONNECTED = (RC, UC, XRC_SEND)
RELIABLE = (RC, XRC_SEND)
SENDING = (RC, UC, UD, XRC_SEND)
CUTTING = (UD, RAW_PACKET)
WITH_RECEIVE_QUEUE = (RC, UC, UD)

# Of enum ibv_flow_spec_type
FLOW_SPEC_TCP, FLOW_SPEC_UDP = 0x40, 0x41

STATES = ("RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR")

# Only the queue pair itself goes to SQE, and reliable ones never do (IBTA
# 10.3.1)
STATES_OF = {
    qp_type: tuple(state for state in STATES
                   if state != "SQE" or qp_type in (UC, UD, RAW_PACKET))
    for qp_type in QP_TYPES
}

ACCESS = {
    "LOCAL_WRITE": 1 << 0,
    "REMOTE_WRITE": 1 << 1,
    "REMOTE_READ": 1 << 2,
    "REMOTE_ATOMIC": 1 << 3,
    "MW_BIND": 1 << 4,
    "ZERO_BASED": 1 << 5,
    "ON_DEMAND": 1 << 6,
    "FLUSH_GLOBAL": 1 << 8,
    "FLUSH_PERSISTENT": 1 << 9,
}
RELAXED_ORDERING = 1 << 20

# What ibv_query_ece() tells of a queue pair that has no connection yet
ECE_OPTIONS = 1


# What min_rnr_timer means, in milliseconds, as far as it is short (IBTA table 45)
RNR_TIMES = {
    1: 0.01, 2: 0.02, 3: 0.03, 4: 0.04, 5: 0.06, 6: 0.08, 7: 0.12, 8: 0.16,
    9: 0.24, 10: 0.32, 11: 0.48, 12: 0.64, 13: 0.96, 14: 1.28, 15: 1.92,
    16: 2.56, 17: 3.84, 18: 5.12, 19: 7.68, 20: 10.24,
}


def access(*rights):
    """Several rights"""
    return sum(ACCESS[right] for right in rights)


# enum ibv_wc_status
STATUS = {
    "SUCCESS": 0,
    "LOC_LEN_ERR": 1,
    "LOC_QP_OP_ERR": 2,
    "LOC_PROT_ERR": 4,
    "WR_FLUSH_ERR": 5,
    "MW_BIND_ERR": 6,
    "BAD_RESP_ERR": 7,
    "LOC_ACCESS_ERR": 8,
    "REM_INV_REQ_ERR": 9,
    "REM_ACCESS_ERR": 10,
    "REM_OP_ERR": 11,
    "RETRY_EXC_ERR": 12,
    "RNR_RETRY_EXC_ERR": 13,
    "TM_ERR": 22,
    "TM_RNDV_INCOMPLETE": 23,
}

# enum ibv_wc_opcode
WC_OPCODES = {
    "SEND": 0, "RDMA_WRITE": 1, "RDMA_READ": 2, "COMP_SWAP": 3, "FETCH_ADD": 4,
    "BIND_MW": 5, "LOCAL_INV": 6, "TSO": 7, "FLUSH": 8, "ATOMIC_WRITE": 9,
    "RECV": 128, "RECV_RDMA_WITH_IMM": 129, "DRIVER1": 135,
}
WC_SEND = WC_OPCODES["SEND"]
WC_WRITE = WC_OPCODES["RDMA_WRITE"]
WC_READ = WC_OPCODES["RDMA_READ"]
WC_COMP_SWAP = WC_OPCODES["COMP_SWAP"]
WC_FETCH_ADD = WC_OPCODES["FETCH_ADD"]
WC_BIND_MW = WC_OPCODES["BIND_MW"]
WC_LOCAL_INV = WC_OPCODES["LOCAL_INV"]
WC_TSO = WC_OPCODES["TSO"]
WC_FLUSH = WC_OPCODES["FLUSH"]
WC_ATOMIC_WRITE = WC_OPCODES["ATOMIC_WRITE"]
WC_RECV = WC_OPCODES["RECV"]
WC_RECV_RDMA_WITH_IMM = WC_OPCODES["RECV_RDMA_WITH_IMM"]

# enum ibv_placement_type, and the right that each needs
PLACEMENTS = {1: "FLUSH_GLOBAL", 2: "FLUSH_PERSISTENT"}
# enum ibv_selectivity_level
FLUSH_RANGE, FLUSH_MR = 0, 1


def flush_right(placement):
    """The rights that placements need"""
    return sum(ACCESS[right] for bit, right in PLACEMENTS.items()
               if placement & bit)
