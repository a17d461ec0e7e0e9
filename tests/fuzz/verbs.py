# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The verbs, each described once.

Nothing here knows of the fuzzer. To add a verb, describe it here; `fuzz-verbs
--coverage` then says what is missing to call it.
"""

from words import EAGAIN, EBUSY, EINVAL, ENOENT, ENOMEM, EOPNOTSUPP
from words import EPERM
from words import Dropped, Event, Fails, Operation, Returns, Rule, Step
from words import Verb
from verbs_device import DEVICE_ABSENT, DEVICE_VERBS
from verbs_device import PREFETCH, PREFETCH_NO_FAULT  # noqa: F401
from verbs_device import PREFETCH_WRITE  # noqa: F401
from verbs_ethernet import ETHERNET_ABSENT, ETHERNET_VERBS, SPREADING
from verbs_ethernet import WQ_STATES, wq_transition  # noqa: F401
from verbs_tags import TAG_ADD, TAG_DEL, TAG_SYNC  # noqa: F401
from verbs_tags import TAG_VERBS, TAGGING
from verbs_tags import WC_TM_ADD, WC_TM_NO_TAG, WC_TM_RECV  # noqa: F401

RC, UC, UD = "RC", "UC", "UD"
XRC_SEND, XRC_RECV = "XRC_SEND", "XRC_RECV"
RAW_PACKET = "RAW_PACKET"
QP_TYPES = {RC: 2, UC: 3, UD: 4, RAW_PACKET: 8, XRC_SEND: 9, XRC_RECV: 10}
CONNECTED = (RC, UC, XRC_SEND)
RELIABLE = (RC, XRC_SEND)
SENDING = (RC, UC, UD, XRC_SEND)
CUTTING = (UD, RAW_PACKET)
WITH_RECEIVE_QUEUE = (RC, UC, UD)

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


def access(*rights):
    """Several rights"""
    return sum(ACCESS[right] for right in rights)


FLAGS = {"FENCE": 1, "SIGNALED": 2, "SOLICITED": 4, "INLINE": 8, "IP_CSUM": 16}

# enum ibv_wc_status
STATUS = {
    "SUCCESS": 0,
    "LOC_LEN_ERR": 1,
    "LOC_QP_OP_ERR": 2,
    "LOC_PROT_ERR": 4,
    "WR_FLUSH_ERR": 5,
    "MW_BIND_ERR": 6,
    "LOC_ACCESS_ERR": 8,
    "REM_INV_REQ_ERR": 9,
    "REM_ACCESS_ERR": 10,
    "REM_OP_ERR": 11,
    "RNR_RETRY_EXC_ERR": 13,
    "TM_ERR": 22,
}

# enum ibv_wc_opcode
WC_SEND, WC_WRITE, WC_READ, WC_COMP_SWAP, WC_FETCH_ADD = range(5)
WC_BIND_MW, WC_LOCAL_INV = 5, 6
WC_TSO, WC_FLUSH, WC_ATOMIC_WRITE = 7, 8, 9
WC_RECV, WC_RECV_RDMA_WITH_IMM = 128, 129

OPERATIONS = (
    Operation("RDMA_WRITE", 0, CONNECTED, "ibv_wr_rdma_write", 1 << 0, "out",
              WC_WRITE, remote="REMOTE_WRITE"),
    Operation("RDMA_WRITE_WITH_IMM", 1, CONNECTED, "ibv_wr_rdma_write_imm",
              1 << 1, "out", WC_WRITE, receives=WC_RECV_RDMA_WITH_IMM,
              remote="REMOTE_WRITE", with_imm=True),
    Operation("SEND", 2, SENDING + (RAW_PACKET,), "ibv_wr_send", 1 << 2, "out", WC_SEND,
              receives=WC_RECV),
    Operation("SEND_WITH_IMM", 3, SENDING, "ibv_wr_send_imm", 1 << 3,
              "out", WC_SEND, receives=WC_RECV, with_imm=True),
    Operation("RDMA_READ", 4, RELIABLE, "ibv_wr_rdma_read", 1 << 4, "in",
              WC_READ, remote="REMOTE_READ"),
    Operation("ATOMIC_CMP_AND_SWP", 5, RELIABLE, "ibv_wr_atomic_cmp_swp", 1 << 5,
              "fetch", WC_COMP_SWAP, remote="REMOTE_ATOMIC"),
    Operation("ATOMIC_FETCH_AND_ADD", 6, RELIABLE, "ibv_wr_atomic_fetch_add",
              1 << 6, "fetch", WC_FETCH_ADD, remote="REMOTE_ATOMIC"),
    Operation("LOCAL_INV", 7, CONNECTED, "ibv_wr_local_inv", 1 << 7, "none",
              WC_LOCAL_INV),
    Operation("BIND_MW", 8, CONNECTED, "ibv_wr_bind_mw", 1 << 8, "bind",
              WC_BIND_MW),
    Operation("SEND_WITH_INV", 9, CONNECTED, "ibv_wr_send_inv", 1 << 9, "out",
              WC_SEND, receives=WC_RECV, with_inv=True),
    Operation("TSO", 10, CUTTING, "ibv_wr_send_tso", 1 << 10, "cut",
              WC_TSO, receives=WC_RECV),
    Operation("ATOMIC_WRITE", 15, RELIABLE, "ibv_wr_atomic_write", 1 << 12,
              "store", WC_ATOMIC_WRITE, remote="REMOTE_WRITE"),
    # struct ibv_send_wr has no fields for it
    Operation("FLUSH", 14, RELIABLE, "ibv_wr_flush", 1 << 11, "flush",
              WC_FLUSH, remote="FLUSH_GLOBAL, FLUSH_PERSISTENT, as asked for",
              posted_by=("ibv_wr_complete",)),
)

# enum ibv_placement_type, and the right that each needs
PLACEMENTS = {1: "FLUSH_GLOBAL", 2: "FLUSH_PERSISTENT"}
# enum ibv_selectivity_level
FLUSH_RANGE, FLUSH_MR = 0, 1


def flush_right(placement):
    """The rights that placements need"""
    return sum(ACCESS[right] for bit, right in PLACEMENTS.items()
               if placement & bit)


# Queue pairs that libibverbs alone cannot make, and their operation: the runner
# has no other library, and does not call it
DRIVER = "DRIVER"
DRIVER_OPERATIONS = (
    Operation("DRIVER1", 11, (DRIVER,), "mynicdv_wr_memcpy", 0, "out", 135),
)

OPERATION = {operation.name: operation for operation in OPERATIONS}

# States in which no send request can be posted, IBTA 10.3.1
CANNOT_SEND = ("RESET", "INIT", "RTR")

# ibv_wr_post(3): setters
SETTERS = ("ibv_wr_set_xrc_srqn", "ibv_wr_set_sge", "ibv_wr_set_sge_list", "ibv_wr_set_inline_data",
           "ibv_wr_set_inline_data_list", "ibv_wr_set_ud_addr")

# ibv_create_cq_ex(3): fields of a completion
READERS = ("ibv_wc_read_opcode", "ibv_wc_read_vendor_err",
           "ibv_wc_read_byte_len", "ibv_wc_read_imm_data",
           "ibv_wc_read_invalidated_rkey", "ibv_wc_read_qp_num",
           "ibv_wc_read_wc_flags", "ibv_wc_read_src_qp", "ibv_wc_read_slid",
           "ibv_wc_read_sl", "ibv_wc_read_dlid_path_bits",
           "ibv_wc_read_completion_ts", "ibv_wc_read_completion_wallclock_ns",
           "ibv_wc_read_flow_tag", "ibv_wc_read_cvlan", "ibv_wc_read_tm_info")

# States of a queue pair's critical section
SECTION_STATES = {
    "idle": "nothing open",
    "open": "critical section, no request",
    "built": "request built, data to be set",
    "broken": "first error kept",
}

# ibv_wr_post(3): all requests of a section are posted, or none. An error shows
# at its end, and of several errors the first.
SECTION = (
    Step("idle", "ibv_wr_start", "open"),
    Step("open", "builder", "built"),
    Step("built", "builder", "built"),
    Step("built", "setter", "built"),
    Step("open", "error", "broken"),
    Step("built", "error", "broken"),
    Step("broken", "builder", "broken"),
    Step("broken", "setter", "broken"),
    Step("broken", "error", "broken"),
    Step("open", "ibv_wr_complete", "idle", "0"),
    Step("built", "ibv_wr_complete", "idle", "0, all posted"),
    Step("broken", "ibv_wr_complete", "idle", "the error, nothing posted"),
    Step("open", "ibv_wr_abort", "idle"),
    Step("built", "ibv_wr_abort", "idle", "nothing posted"),
    Step("broken", "ibv_wr_abort", "idle", "nothing posted"),
)

EVENTS = (
    Event("CQ_ERR", 0, "a completion does not fit into a completion queue",
          "ibv_get_async_event(3)"),
    Event("QP_FATAL", 1, "a queue pair's completion queue is in error",
          "ibv_get_async_event(3)"),
    Event("QP_REQ_ERR", 2,
          "a request from the other end is invalid, and no receive request "
          "tells of it", "ibv_get_async_event(3)"),
    Event("QP_ACCESS_ERR", 3,
          "a request from the other end violates rights of access",
          "ibv_get_async_event(3)"),
    Event("COMM_EST", 4, "a queue pair in RTR receives its first request",
          "ibv_get_async_event(3)"),
    Event("SQ_DRAINED", 5,
          "all requests that had begun in RTS are done, and the transition "
          "to SQD had en_sqd_async_notify", "ibv_modify_qp(3)"),
    Event("SRQ_LIMIT_REACHED", 15,
          "a shared receive queue has fewer requests than srq_limit",
          "ibv_modify_srq(3): NOTES"),
    Event("QP_LAST_WQE_REACHED", 16,
          "a queue pair in ERR takes no more from its shared receive queue",
          "ibv_get_async_event(3)"),
    Event("WQ_FATAL", 19, "a work queue's completion queue is in error",
          "ibv_get_async_event(3)"),
    Event("DEVICE_FATAL", 8, "the device has failed",
          "ibv_get_async_event(3)",
          beyond="only the host can make a device fail"),
    Event("PORT_ACTIVE", 9, "a port's link is there",
          "ibv_get_async_event(3)",
          beyond="only the host, or the network device, changes a link"),
    Event("PORT_ERR", 10, "a port's link is gone",
          "ibv_get_async_event(3)",
          beyond="only the host, or the network device, changes a link"),
    Event("SRQ_ERR", 14, "a shared receive queue cannot be used any more",
          "ibv_get_async_event(3)",
          beyond="libibverbs keeps all entries of such a queue valid"),
    Event("GID_CHANGE", 18, "an address of a port is new, or gone",
          "ibv_get_async_event(3)",
          beyond="addresses are those of the network device"),
)

EVENT = {event.name: event for event in EVENTS}

# What a request must be when it is posted
POSTING = (
    Rule("opcode", "the type of the queue pair has the opcode",
         "ibv_post_send(3): table of opcodes", EINVAL),
    Rule("num_sge", "num_sge is at most cap.max_send_sge",
         "ibv_create_qp(3): max_send_sge", EINVAL),
    Rule("inline_length", "inline data is at most cap.max_inline_data long",
         "ibv_create_qp(3): max_inline_data", EINVAL),
    Rule("inline_opcode", "IBV_SEND_INLINE: only for Send, RDMA Write and "
         "Atomic Write",
         "ibv_post_send(3): IBV_SEND_INLINE", EINVAL),
    Rule("tso_header", "the header of a TSO has at least 1 byte and at most "
         "max_tso_header", "ibv_create_qp_ex(3): max_tso_header", EINVAL,
         on=CUTTING),
    Rule("tso_mss", "the mss of a TSO is not 0", "ibv_post_send(3): mss",
         EINVAL, on=CUTTING),
    Rule("room", "the send queue has room", "ibv_create_qp(3): max_send_wr",
         ENOMEM),
    Rule("state", "the queue pair is in RTS, SQD, SQE or ERR",
         "IBTA 10.3.1, 11.4.1.1", EINVAL),
)

# What a request to bind a window must be, as far as it is looked at when it is
# posted
BINDING = (
    Rule("bind_pd", "region and window have the same protection domain",
         "IBTA 10.6.7.2", EPERM, on=CONNECTED),
    Rule("bind_null", "the region is no null region",
         "ibv_alloc_null_mr(3)", EOPNOTSUPP, on=CONNECTED),
    Rule("bind_region", "the region has IBV_ACCESS_MW_BIND",
         "ibv_reg_mr(3): IBV_ACCESS_MW_BIND", EINVAL, on=CONNECTED),
    Rule("bind_zero_based", "the region does not have IBV_ACCESS_ZERO_BASED",
         "IBTA 10.6.7.2", EINVAL, on=CONNECTED),
    Rule("bind_local_write",
         "REMOTE_WRITE and REMOTE_ATOMIC only if the region has LOCAL_WRITE",
         "ibv_bind_mw(3): mw_access_flags", EINVAL, on=CONNECTED),
    Rule("bind_access", "mw_access_flags has only flags of windows",
         "ibv_bind_mw(3): mw_access_flags", EINVAL, on=CONNECTED),
    Rule("bind_type", "each way to bind has its type of window",
         "ibv_bind_mw(3): NOTES", EINVAL, on=CONNECTED),
)

# With ibv_bind_mw() no length unbinds, and it chooses the key
BINDING_TYPE_2 = BINDING + (
    Rule("bind_length", "length is not 0",
         "ibv_alloc_mw(3)", EINVAL, on=CONNECTED),
    Rule("bind_key", "only the low 8 bits of rkey are new",
         "IBTA 10.6.7.2", EINVAL, on=CONNECTED),
)
BINDING_TYPE_1 = BINDING + (
    Rule("bind_flags", "send_flags has only FENCE and SIGNALED",
         "ibv_bind_mw(3): send_flags", EINVAL, on=CONNECTED),
)

# What must hold when a request to bind a window is executed
BINDING_EXECUTION = (
    Rule("window_pd", "the window is in the queue pair's protection domain",
         "IBTA 10.6.7.2", Fails("MW_BIND_ERR"), on=CONNECTED),
    Rule("window_bounds", "the bytes are within the region",
         "IBTA 10.6.7.2", Fails("MW_BIND_ERR"), on=CONNECTED),
)

REMOTE_ACCESS = Fails("REM_ACCESS_ERR", peer_stops=True, event="QP_ACCESS_ERR")
INVALID_REQUEST = Fails("REM_INV_REQ_ERR", peer_stops=True, event="QP_REQ_ERR")

# What must hold when a request is executed
EXECUTION = (
    Rule("lkey", "each SGE names a key",
         "IBTA 10.6.3.2, 11.6.2", Fails("LOC_PROT_ERR")),
    Rule("lkey_pd", "the region is in the queue pair's protection domain",
         "IBTA 10.6.3.2", Fails("LOC_PROT_ERR")),
    Rule("local_bounds", "each SGE is within the region",
         "IBTA 10.6.3.2", Fails("LOC_PROT_ERR")),
    Rule("local_write", "what is written to has IBV_ACCESS_LOCAL_WRITE",
         "ibv_reg_mr(3); IBTA 10.6.3.2", Fails("LOC_PROT_ERR"), on=RELIABLE),
    Rule("rkey", "rkey is a key of the other end",
         "IBTA 9.7.4.1.5", REMOTE_ACCESS, on=RELIABLE),
    Rule("remote_bounds", "the remote range is within the region",
         "IBTA 9.7.4.1.5", REMOTE_ACCESS, on=RELIABLE),
    Rule("remote_right", "the region has the right that the operation needs",
         "ibv_reg_mr(3); IBTA 9.7.4.1.5", REMOTE_ACCESS, on=RELIABLE),
    Rule("atomic_alignment", "an atomic's address is a multiple of 8",
         "IBTA 9.7.4.1.6", INVALID_REQUEST, on=RELIABLE),
    Rule("atomic_length", "an atomic's data is one SGE of 8 bytes",
         "IBTA 9.4.5, A19; ibv_post_send(3)", Fails("LOC_LEN_ERR"),
         on=RELIABLE),
    Rule("qp_right", "the other end's qp_access_flags have the right that the "
         "operation needs", "ibv_modify_qp(3); IBTA 9.7.4.1.5, A19",
         INVALID_REQUEST, on=RELIABLE),
    Rule("receive_length", "a message is not longer than the receive request",
         "IBTA 9.7.4.1.6, 11.6.2",
         Fails("REM_INV_REQ_ERR", peer="LOC_LEN_ERR", peer_stops=True),
         on=RELIABLE),
    Rule("receive", "there is a receive request, or rnr_retry is 7",
         "IBTA 9.7.5.2.8", Fails("RNR_RETRY_EXC_ERR"), on=RELIABLE),
    Rule("receive_lkey", "the SGEs of the receive request name keys",
         "IBTA 9.7.4.1.7", Fails("REM_OP_ERR", peer="LOC_PROT_ERR",
                                 peer_stops=True), on=RELIABLE),
    Rule("tso_length", "a TSO has at most max_tso bytes of data, and makes at "
         "most 1024 segments",
         "ibv_query_device_ex(3): tso_caps; "
         "Documentation/hardware/ethernet.rst: Segmentation",
         Fails("LOC_LEN_ERR"), on=CUTTING),
    Rule("tso_packet", "the header and mss fit into a packet",
         "Documentation/hardware/ethernet.rst: Segmentation",
         Fails("LOC_LEN_ERR"), on=CUTTING),
    Rule("tso_form", "the header begins with Ethernet and ends with TCP",
         "ibv_wr_post(3): ibv_wr_send_tso()", Fails("LOC_QP_OP_ERR"),
         on=(RAW_PACKET,)),
    Rule("flags", "IBV_SEND_IP_CSUM: only on datagrams",
         "ibv_post_send(3): IBV_SEND_IP_CSUM", Fails("LOC_QP_OP_ERR"),
         on=CONNECTED),
    Rule("srqn", "remote_srqn is an XRC SRQ in the other end's domain",
         "IBTA A14", INVALID_REQUEST, on=(XRC_SEND,)),
    Rule("qkey", "remote_qkey is the other end's Q_Key",
         "IBTA 9.6.1.1.5", Dropped(), on=(UD,)),
    Rule("remote_window",
         "a window is bound, and if it is of type 2, through the other end",
         "IBTA 10.6.7.2", REMOTE_ACCESS, on=RELIABLE),
    Rule("window_bound", "a window of type 2 is not bound already",
         "ibv_alloc_mw(3); IBTA 10.6.7.2", Fails("MW_BIND_ERR"), on=CONNECTED),
    Rule("invalidate", "IBV_WR_LOCAL_INV names a window of type 2",
         "ibv_alloc_mw(3); IBTA 10.6.7.2", Fails("MW_BIND_ERR"), on=CONNECTED),
    Rule("invalidate_qp", "it is not bound through another queue pair",
         "IBTA 10.6.7.2", Fails("MW_BIND_ERR"), on=CONNECTED),
    Rule("invalidate_remote", "IBV_WR_SEND_WITH_INV names a window of type 2 "
         "that is bound through the other end",
         "IBTA 9.4.1", Fails("REM_ACCESS_ERR", peer="LOC_ACCESS_ERR",
                             peer_stops=True, event="QP_ACCESS_ERR"),
         on=RELIABLE),
) + BINDING_EXECUTION

# What ibv_wr_flush() must be
FLUSHING = (
    Rule("flush_type", "type is GLOBAL, PERSISTENT, or both",
         "IBTA A19", Fails("LOC_QP_OP_ERR"), on=RELIABLE),
    Rule("flush_level", "level is RANGE or MR", "IBTA A19",
         Fails("LOC_QP_OP_ERR"), on=RELIABLE),
    Rule("flush_length", "len is at most the longest message",
         "ibv_query_port(3): max_msg_sz; IBTA A19", Fails("LOC_LEN_ERR"),
         on=RELIABLE),
)

# What a receive request must be
RECEIVING = (
    Rule("num_sge", "num_sge is at most cap.max_recv_sge",
         "ibv_create_qp(3): max_recv_sge", EINVAL),
    Rule("room", "the receive queue has room",
         "ibv_create_qp(3): max_recv_wr", ENOMEM),
    Rule("state", "the queue pair is not in RESET",
         "IBTA 10.3.1, 11.4.1.2", EINVAL),
)


# ibv_modify_qp(3): attributes that a transition takes, by type
REQUIRED = {
    ("RESET", "INIT"): {
        RC: ("PKEY_INDEX", "PORT", "ACCESS_FLAGS"),
        UC: ("PKEY_INDEX", "PORT", "ACCESS_FLAGS"),
        UD: ("PKEY_INDEX", "PORT", "QKEY"),
        XRC_SEND: ("PKEY_INDEX", "PORT", "ACCESS_FLAGS"),
        XRC_RECV: ("PKEY_INDEX", "PORT", "ACCESS_FLAGS"),
        RAW_PACKET: ("PORT",),
    },
    ("INIT", "RTR"): {
        RC: ("AV", "PATH_MTU", "DEST_QPN", "RQ_PSN", "MAX_DEST_RD_ATOMIC",
             "MIN_RNR_TIMER"),
        UC: ("AV", "PATH_MTU", "DEST_QPN", "RQ_PSN"),
        UD: (),
        XRC_SEND: ("AV", "PATH_MTU", "DEST_QPN", "RQ_PSN"),
        XRC_RECV: ("AV", "PATH_MTU", "DEST_QPN", "RQ_PSN",
                   "MAX_DEST_RD_ATOMIC", "MIN_RNR_TIMER"),
        RAW_PACKET: (),
    },
    ("RTR", "RTS"): {
        RC: ("SQ_PSN", "TIMEOUT", "RETRY_CNT", "RNR_RETRY",
             "MAX_QP_RD_ATOMIC"),
        UC: ("SQ_PSN",),
        UD: ("SQ_PSN",),
        XRC_SEND: ("SQ_PSN", "TIMEOUT", "RETRY_CNT", "RNR_RETRY",
                   "MAX_QP_RD_ATOMIC"),
        XRC_RECV: ("SQ_PSN", "TIMEOUT"),
        RAW_PACKET: (),
    },
    ("RTS", "SQD"): {qp_type: () for qp_type in QP_TYPES},
    ("SQD", "RTS"): {qp_type: () for qp_type in QP_TYPES},
    ("SQE", "RTS"): {UC: (), UD: (), RAW_PACKET: ()},
}

ATTRIBUTES = {
    "STATE": 1 << 0, "CUR_STATE": 1 << 1, "ACCESS_FLAGS": 1 << 3,
    "PKEY_INDEX": 1 << 4, "PORT": 1 << 5, "QKEY": 1 << 6, "AV": 1 << 7,
    "PATH_MTU": 1 << 8, "TIMEOUT": 1 << 9, "RETRY_CNT": 1 << 10,
    "RNR_RETRY": 1 << 11, "EN_SQD_ASYNC_NOTIFY": 1 << 2, "RQ_PSN": 1 << 12, "MAX_QP_RD_ATOMIC": 1 << 13,
    "MIN_RNR_TIMER": 1 << 15, "SQ_PSN": 1 << 16,
    "MAX_DEST_RD_ATOMIC": 1 << 17, "DEST_QPN": 1 << 20,
}


def transition(qp_type, old, new):
    """Attributes that a transition requires, or None if there is no such one.

    Any state can go to RESET and to ERR (IBTA 10.3.1), but that Linux refuses
    to take a queue pair from RESET to ERR (ib_modify_qp_is_ok()).
    """
    if (old, new) == ("RESET", "ERR"):
        return None
    if new in ("RESET", "ERR"):
        return ()
    if old == new and new in ("INIT", "RTS", "SQD"):
        return ()
    return REQUIRED.get((old, new), {}).get(qp_type)


# Attributes that ibv_query_qp() tells, as the runner calls them
TOLD = {
    "ACCESS_FLAGS": "access", "QKEY": "qkey", "PATH_MTU": "mtu",
    "TIMEOUT": "timeout", "RETRY_CNT": "retry", "RNR_RETRY": "rnr",
    "MAX_QP_RD_ATOMIC": "rd", "MIN_RNR_TIMER": "min_rnr",
    "MAX_DEST_RD_ATOMIC": "dest_rd", "DEST_QPN": "dest", "AV": "to",
}

# Values that are too small or too large, likewise
INVALID = {
    "PKEY_INDEX": ("pkey", (1, 0xffff)), "PORT": ("port", (0, 2, 255)),
    "PATH_MTU": ("mtu", (0, 6)), "TIMEOUT": ("timeout", (32, 255)),
    "RETRY_CNT": ("retry", (8, 255)), "RNR_RETRY": ("rnr", (8, 255)),
    "MIN_RNR_TIMER": ("min_rnr", (32, 255)),
    "MAX_QP_RD_ATOMIC": ("rd", (255,)),
    "MAX_DEST_RD_ATOMIC": ("dest_rd", (255,)),
}

# Attributes that a transition neither requires nor takes, to any new state
REFUSED = {
    "RESET": ("PATH_MTU", "SQ_PSN", "ACCESS_FLAGS"),
    "INIT": ("PATH_MTU", "DEST_QPN", "TIMEOUT", "SQ_PSN"),
    "RTR": ("TIMEOUT", "RETRY_CNT", "SQ_PSN", "MAX_QP_RD_ATOMIC"),
    "RTS": ("PATH_MTU", "DEST_QPN", "RQ_PSN"),
    "SQD": ("PATH_MTU", "DEST_QPN", "RQ_PSN", "SQ_PSN"),
    "ERR": ("PATH_MTU", "DEST_QPN", "QKEY"),
}

# Attributes that ib_uverbs takes out of the mask: half of an XRC connection has
# no use for them, and modify_qp_mask() in the kernel lets both halves name all
LEFT_OUT = {
    XRC_SEND: ("MAX_DEST_RD_ATOMIC", "MIN_RNR_TIMER"),
    XRC_RECV: ("MAX_QP_RD_ATOMIC", "RETRY_CNT", "RNR_RETRY"),
}

# Transitions that may say which state they begin in
WITH_CUR_STATE = (("RTR", "RTS"), ("RTS", "RTS"), ("SQE", "RTS"),
                  ("SQD", "RTS"))

MODIFYING = (
    Rule("transition", "the queue pair's state can change to the new one",
         "ibv_modify_qp(3); IBTA 11.2.5.2", EINVAL),
    Rule("required", "all attributes that the transition requires are there",
         "ibv_modify_qp(3); IBTA table 91", EINVAL),
    Rule("refused", "no attributes are there that the transition does not take",
         "ibv_modify_qp(3): NOTES; IBTA, Modify Queue Pair", EINVAL),
    Rule("value", "each attribute has a value that there is",
         "ibv_modify_qp(3): NOTES; IBTA, Modify Queue Pair", EINVAL),
    Rule("cur_state", "cur_qp_state is the state of the queue pair",
         "ibv_modify_qp(3); IBTA, Modify Queue Pair", EINVAL),
)


def rule(rules, name):
    """The rule with a name"""
    return next(each for each in rules if each.name == name)


def access_broken(flags):
    """The rule of ibv_reg_mr() that rights break, or None"""
    remote = access("REMOTE_WRITE", "REMOTE_ATOMIC")
    if flags & remote and not flags & ACCESS["LOCAL_WRITE"]:
        return "remote_needs_local"
    if flags & ACCESS["ON_DEMAND"] and flags & ACCESS["MW_BIND"]:
        return "on_demand_bind"
    return None


def dmabuf_access_broken(flags):
    """The rule of ibv_reg_dmabuf_mr() that rights break, or None"""
    if flags & access("MW_BIND", "ZERO_BASED", "FLUSH_GLOBAL",
                      "FLUSH_PERSISTENT"):
        return "access"
    return access_broken(flags)


def writable(flags):
    """Whether memory with these rights is written to"""
    return bool(flags & access("LOCAL_WRITE", "REMOTE_WRITE", "REMOTE_ATOMIC",
                               "MW_BIND"))


# enum ibv_rereg_mr_flags, and error codes
TRANSLATION, PD, RIGHTS = 1, 2, 4
REREG_INPUT, REREG_CMD = Returns(-1), Returns(-4)

CQE = Rule("cqe", "cqe is at least 1 and at most max_cqe",
           "ibv_create_cq(3); ibv_query_device(3)", EINVAL)
VECTOR = Rule("vector", "comp_vector is less than num_comp_vectors",
              "ibv_create_cq(3)", EINVAL)


def unused(what, page):
    """An object is not destroyed while others use it."""
    return (Rule("unused", f"no object uses the {what}", page, EBUSY),)


QP_CREATION = (
    Rule("max_wr", "max_send_wr and max_recv_wr are at most max_qp_wr",
         "ibv_create_qp(3); ibv_query_device(3)", EINVAL),
    Rule("max_sge", "max_send_sge and max_recv_sge are at most max_sge",
         "ibv_create_qp(3); ibv_query_device(3)", EINVAL),
    Rule("max_inline_data", "the device has room for the inline data",
         "ibv_create_qp(3)", EINVAL),
    Rule("type", "the device has queue pairs of the type",
         "ibv_create_qp(3)", EOPNOTSUPP),
)

VERBS = (
    Verb("ibv_alloc_pd", "alloc_pd", "ibv_alloc_pd(3)",
         "makes a protection domain", makes="pd"),
    Verb("ibv_dealloc_pd", "destroy", "ibv_alloc_pd(3)",
         "destroys a protection domain or a parent domain", destroys="pd",
         rules=unused("protection domain", "ibv_alloc_pd(3)")),
    Verb("ibv_alloc_td", "alloc_td", "ibv_alloc_td(3)",
         "makes a thread domain: what is made in it needs no locks",
         makes="td", rules=(
             Rule("comp_mask", "comp_mask is 0", "ibv_alloc_td(3)",
                  EOPNOTSUPP),)),
    Verb("ibv_dealloc_td", "destroy", "ibv_alloc_td(3)",
         "destroys a thread domain", destroys="td",
         rules=unused("thread domain", "ibv_alloc_td(3)")),
    Verb("ibv_alloc_parent_domain", "alloc_parent_domain",
         "ibv_alloc_parent_domain(3)",
         "makes a protection domain with a thread domain and an allocator",
         makes="parent", uses=("pd", "td"), rules=(
             Rule("pd", "there is a protection domain",
                  "ibv_alloc_parent_domain(3): ARGUMENTS", EINVAL),
             Rule("allocators", "both alloc and free are there, or neither",
                  "ibv_alloc_parent_domain(3): ARGUMENTS", EINVAL),
             Rule("comp_mask", "comp_mask has only flags that there are",
                  "ibv_alloc_parent_domain(3)", EOPNOTSUPP),)),
    Verb("ibv_alloc_dm", "alloc_dm", "ibv_alloc_dm(3)",
         "takes memory of the device", makes="dm", rules=(
             Rule("length", "length is at least 1",
                  "ibv_alloc_dm(3)", EINVAL),
             Rule("room", "length is at most max_dm_size",
                  "ibv_alloc_dm(3): NOTES", ENOMEM),
             Rule("align", "log_align_req is less than 64",
                  "ibv_alloc_dm(3)", EINVAL),)),
    Verb("ibv_free_dm", "destroy", "ibv_alloc_dm(3)",
         "gives memory of the device back", destroys="dm",
         rules=unused("memory", "ibv_alloc_dm(3): NOTES")),
    Verb("ibv_memcpy_to_dm", "memcpy_to_dm", "ibv_alloc_dm(3)",
         "copies bytes to memory of the device", uses=("dm",), rules=(
             Rule("range", "the bytes are within the memory",
                  "ibv_alloc_dm(3)", EINVAL),)),
    Verb("ibv_memcpy_from_dm", "memcpy_from_dm", "ibv_alloc_dm(3)",
         "copies bytes from memory of the device", uses=("dm",), rules=(
             Rule("range", "the bytes are within the memory",
                  "ibv_alloc_dm(3)", EINVAL),)),
    Verb("ibv_reg_dm_mr", "reg_dm_mr", "ibv_alloc_dm(3)",
         "lets requests use memory of the device", makes="mr",
         uses=("pd", "dm"), rules=(
             Rule("zero_based", "access has IBV_ACCESS_ZERO_BASED",
                  "ibv_alloc_dm(3): Device memory registration", EINVAL),
             Rule("range", "the bytes are within the memory",
                  "ibv_alloc_dm(3)", EINVAL),
             Rule("remote_needs_local",
                  "REMOTE_WRITE and REMOTE_ATOMIC only with LOCAL_WRITE",
                  "ibv_reg_mr(3)", EINVAL),)),
    Verb("ibv_reg_mr", "reg_mr", "ibv_reg_mr(3)",
         "lets the device use memory", makes="mr", uses=("pd",), rules=(
             Rule("remote_needs_local",
                  "REMOTE_WRITE and REMOTE_ATOMIC only with LOCAL_WRITE",
                  "ibv_reg_mr(3)", EINVAL),
             Rule("on_demand_bind", "ON_DEMAND only without MW_BIND",
                  "Documentation/abi.rst: Memory region", EOPNOTSUPP),)),
    Verb("ibv_reg_mr_iova", "reg_mr", "ibv_reg_mr(3)",
         "lets the device use memory under other addresses", makes="mr",
         uses=("pd",), rules=(
             Rule("iova", "address and hca_va have the same offset in a page",
                  "IBTA 10.6.2.5", EINVAL),)),
    Verb("ibv_alloc_null_mr", "alloc_null_mr", "ibv_alloc_null_mr(3)",
         "makes a region of zeroes", makes="mr", uses=("pd",)),
    Verb("ibv_rereg_mr", "rereg_mr", "ibv_rereg_mr(3)",
         "changes a memory region", uses=("mr", "pd"), rules=(
             Rule("flags", "flags has only those that there are",
                  "ibv_rereg_mr(3)", REREG_INPUT),
             Rule("range", "with CHANGE_TRANSLATION there is some memory",
                  "ibv_rereg_mr(3)", REREG_INPUT),
             Rule("access", "access is 0 but with CHANGE_ACCESS",
                  "ibv_rereg_mr(3)", REREG_INPUT),
             Rule("null", "it is no null region",
                  "ibv_alloc_null_mr(3)", REREG_INPUT),
             Rule("on_demand", "it does not have IBV_ACCESS_ON_DEMAND",
                  "Documentation/abi.rst: Memory region", REREG_CMD),
             Rule("dma_buf", "it is not of a dma-buf",
                  "libibverbs' ibv_rereg_mr()", REREG_INPUT),
             Rule("remote_needs_local",
                  "REMOTE_WRITE and REMOTE_ATOMIC only with LOCAL_WRITE",
                  "ibv_reg_mr(3)", REREG_CMD),
             Rule("writable", "memory that was not to be written to stays so",
                  "Documentation/abi.rst: Memory region", REREG_CMD),
             Rule("unbound", "no window is bound to it",
                  "IBTA 10.6.7.2", REREG_CMD),)),
    Verb("ibv_dereg_mr", "destroy", "ibv_reg_mr(3)",
         "takes memory back from the device", destroys="mr",
         rules=unused("memory region", "ibv_alloc_mw(3)")),
    Verb("ibv_alloc_mw", "alloc_mw", "ibv_alloc_mw(3)",
         "makes a memory window", makes="mw", uses=("pd",), rules=(
             Rule("type", "the type is 1 or 2", "ibv_alloc_mw(3)", EINVAL),)),
    Verb("ibv_dealloc_mw", "destroy", "ibv_alloc_mw(3)",
         "destroys a memory window, bound or not", destroys="mw"),
    Verb("ibv_bind_mw", "bind_mw", "ibv_bind_mw(3)",
         "posts a request to bind a window of type 1", uses=("qp", "mw"),
         rules=BINDING_TYPE_1 + BINDING_EXECUTION + (
             Rule("room", "the send queue has room",
                  "ibv_create_qp(3): max_send_wr", ENOMEM),
             Rule("state", "the queue pair is in RTS, SQD, SQE or ERR",
                  "IBTA 10.3.1, 11.4.1.1", EINVAL),
             Rule("qp_type", "the queue pair is of type UC, RC or XRC_SEND",
                  "ibv_bind_mw(3)", EINVAL),)),
    Verb("ibv_create_cq", "create_cq", "ibv_create_cq(3)",
         "makes a completion queue", makes="cq", uses=("channel",),
         rules=(CQE, VECTOR)),
    Verb("ibv_create_cq_ex", "create_cq", "ibv_create_cq_ex(3)",
         "makes a completion queue with extended polling", makes="cq",
         uses=("channel",), rules=(
             CQE, VECTOR,
             Rule("wc_flags", "wc_flags has only flags that there are",
                  "ibv_create_cq_ex(3): enum ibv_create_cq_wc_flags",
                  EOPNOTSUPP),
             Rule("parent_domain", "parent_domain is a parent domain",
                  "ibv_create_cq_ex(3)", EINVAL),)),
    Verb("ibv_destroy_cq", "destroy", "ibv_create_cq(3)",
         "destroys a completion queue", destroys="cq",
         rules=unused("completion queue", "ibv_create_cq(3)")),
    Verb("ibv_resize_cq", "resize_cq", "ibv_resize_cq(3)",
         "changes the size of a completion queue", uses=("cq",), rules=(
             CQE,
             Rule("unpolled", "cqe is at least the number of completions "
                  "that were not polled", "ibv_resize_cq(3)", EINVAL),)),
    Verb("ibv_modify_cq", "modify_cq", "ibv_modify_cq(3)",
         "lets events wait for several completions", uses=("cq",), rules=(
             Rule("mask", "attr_mask is IBV_CQ_ATTR_MODERATE",
                  "ibv_modify_cq(3)", EINVAL),)),
    Verb("ibv_create_comp_channel", "create_channel",
         "ibv_create_comp_channel(3)",
         "makes a channel for events of completion queues", makes="channel"),
    Verb("ibv_destroy_comp_channel", "destroy", "ibv_create_comp_channel(3)",
         "destroys a channel", destroys="channel",
         rules=unused("channel", "ibv_create_comp_channel(3): NOTES")),
    Verb("ibv_req_notify_cq", "req_notify_cq", "ibv_req_notify_cq(3)",
         "asks for one event, of the next completion or of the next that is "
         "solicited or an error", uses=("cq",)),
    Verb("ibv_get_cq_event", "get_cq_event", "ibv_get_cq_event(3)",
         "takes an event of a completion queue", uses=("channel",), rules=(
             Rule("event", "there is an event, or the channel may block",
                  "ibv_get_cq_event(3)", Returns(-1)),)),
    Verb("ibv_ack_cq_events", "ack_cq_events", "ibv_get_cq_event(3)",
         "says that events were handled, which lets go of the completion "
         "queue", uses=("cq",)),
    Verb("ibv_get_async_event", "get_async_event", "ibv_get_async_event(3)",
         "takes an asynchronous event", rules=(
             Rule("event", "there is an event, or the file may block",
                  "ibv_get_async_event(3)", Returns(-1)),)),
    Verb("ibv_ack_async_event", "get_async_event", "ibv_get_async_event(3)",
         "says that an event was handled, which lets go of its object"),
    Verb("ibv_create_srq", "create_srq", "ibv_create_srq(3)",
         "makes a shared receive queue", makes="srq", uses=("pd",)),
    Verb("ibv_destroy_srq", "destroy", "ibv_create_srq(3)",
         "destroys a shared receive queue", destroys="srq",
         rules=unused("shared receive queue", "ibv_create_srq(3)")),
    Verb("ibv_modify_srq", "modify_srq", "ibv_modify_srq(3)",
         "resizes a shared receive queue, or sets its limit", uses=("srq",),
         rules=(
             Rule("mask", "srq_attr_mask has only MAX_WR and LIMIT",
                  "ibv_modify_srq(3)", EOPNOTSUPP),
             Rule("max_wr", "max_wr is at least 1 and at most max_srq_wr",
                  "ibv_modify_srq(3); ibv_query_device(3)", EINVAL),
             Rule("outstanding",
                  "max_wr is at least the number of requests in the queue",
                  "IBTA, Modify Shared Receive Queue", EINVAL),
             Rule("limit", "srq_limit is at most max_wr",
                  "IBTA, Modify Shared Receive Queue", EINVAL),)),
    Verb("ibv_query_srq", "query_srq", "ibv_query_srq(3)",
         "tells the attributes of a shared receive queue, and 0 as the limit "
         "once there was an event", uses=("srq",)),
    Verb("ibv_open_xrcd", "open_xrcd", "ibv_open_xrcd(3)",
         "opens an XRC domain", makes="xrcd", rules=(
             Rule("exists", "the file has a domain, or there is O_CREAT",
                  "ibv_open_xrcd(3)", EAGAIN),
             Rule("excl", "the file has no domain, or there is no O_EXCL",
                  "ibv_open_xrcd(3)", EINVAL),)),
    Verb("ibv_close_xrcd", "destroy", "ibv_open_xrcd(3)",
         "closes an XRC domain", destroys="xrcd",
         rules=unused("domain", "ibv_open_xrcd(3): NOTES")),
    Verb("ibv_create_srq_ex", "create_srq", "ibv_create_srq_ex(3)",
         "makes an XRC shared receive queue, or one that looks at the tags of "
         "messages", makes="srq", uses=("pd", "xrcd", "cq"), rules=TAGGING),
    Verb("ibv_get_srq_num", "get_srq_num", "ibv_get_srq_num(3)",
         "tells what requests name an XRC shared receive queue by",
         uses=("srq",), rules=(
             Rule("xrc", "it is an XRC shared receive queue",
                  "ibv_get_srq_num(3)", EINVAL),)),
    Verb("ibv_create_qp", "create_qp", "ibv_create_qp(3)",
         "makes a queue pair", makes="qp", uses=("pd", "cq", "srq"),
         rules=QP_CREATION),
    Verb("ibv_create_qp_ex", "create_qp", "ibv_create_qp_ex(3)",
         "makes a queue pair", makes="qp", uses=("pd", "cq"),
         rules=QP_CREATION + SPREADING + (
             Rule("send_ops", "the type of the queue pair has all operations",
                  "ibv_wr_post(3): USAGE", EOPNOTSUPP),
             Rule("max_tso_header", "max_tso_header is 0 if the type has no "
                  "TSO", "ibv_create_qp_ex(3): max_tso_header",
                  EOPNOTSUPP),)),
    Verb("ibv_destroy_qp", "destroy", "ibv_create_qp(3)",
         "destroys a queue pair", destroys="qp"),
    Verb("ibv_modify_qp", "modify_qp", "ibv_modify_qp(3)",
         "changes the state of a queue pair", uses=("qp",), rules=MODIFYING),
    Verb("ibv_query_qp", "query_qp", "ibv_query_qp(3)",
         "tells the attributes of a queue pair", uses=("qp",)),
    Verb("ibv_create_ah", "create_ah", "ibv_create_ah(3)",
         "makes an address handle", makes="ah", uses=("pd",)),
    Verb("ibv_destroy_ah", "destroy", "ibv_create_ah(3)",
         "destroys an address handle", destroys="ah"),
    Verb("ibv_attach_mcast", "attach_mcast", "ibv_attach_mcast(3)",
         "has a queue pair receive what is sent to a group; once or several "
         "times is the same", uses=("qp",), rules=(
             Rule("qp_type", "the queue pair is of type UD",
                  "ibv_attach_mcast(3): NOTES", EINVAL),
             Rule("group", "gid is that of a group", "ibv_attach_mcast(3)",
                  EINVAL),)),
    Verb("ibv_detach_mcast", "detach_mcast", "ibv_attach_mcast(3)",
         "ends that", uses=("qp",), rules=(
             Rule("qp_type", "the queue pair is of type UD",
                  "ibv_attach_mcast(3): NOTES", EINVAL),
             Rule("attached", "the queue pair is attached to the group",
                  "IBTA, Detach QP from Multicast Group", EINVAL),)),
    Verb("ibv_post_send", "post_send", "ibv_post_send(3)",
         "posts a list of send requests", uses=("qp",),
         rules=POSTING + BINDING_TYPE_2 + EXECUTION),
    Verb("ibv_wr_complete", "wr_batch", "ibv_wr_post(3)",
         "posts all requests of a critical section", uses=("qp",),
         rules=POSTING + BINDING_TYPE_2 + EXECUTION + FLUSHING),
    Verb("ibv_wr_abort", "wr_batch", "ibv_wr_post(3)",
         "discards all requests of a critical section", uses=("qp",)),
    Verb("ibv_post_recv", "post_recv", "ibv_post_recv(3)",
         "posts a list of receive requests", uses=("qp",), rules=RECEIVING),
    Verb("ibv_post_srq_recv", "post_srq_recv", "ibv_post_srq_recv(3)",
         "posts a list of receive requests to a shared queue", uses=("srq",),
         rules=RECEIVING[:2]),
    Verb("ibv_poll_cq", "poll", "ibv_poll_cq(3)",
         "takes completions", uses=("cq",)),
    Verb("ibv_start_poll", "poll", "ibv_create_cq_ex(3)",
         "begins to take completions, field by field", uses=("cq",), rules=(
             Rule("not_empty", "there is a completion",
                  "ibv_create_cq_ex(3)", ENOENT),)),
    Verb("ibv_next_poll", "poll", "ibv_create_cq_ex(3)",
         "goes on to the next completion", uses=("cq",), rules=(
             Rule("not_empty", "there is a completion",
                  "ibv_create_cq_ex(3)", ENOENT),)),
    Verb("ibv_end_poll", "poll", "ibv_create_cq_ex(3)",
         "ends what ibv_start_poll() began", uses=("cq",)),
) + DEVICE_VERBS + ETHERNET_VERBS + TAG_VERBS
ABSENT = {**DEVICE_ABSENT, **ETHERNET_ABSENT}

NAMED = {verb.name: verb for verb in VERBS}
DESTROYS = {verb.destroys: verb.name for verb in VERBS if verb.destroys}
DESTROYS["parent"] = "ibv_dealloc_pd"
