# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Posting: ibv_post_send(3), ibv_wr_post(3), and receive requests.

A row of OPERATIONS is a kind of send request. ARGUMENTS are what requests of
all kinds are told; the rules say which of them go with which operation.
"""

from dataclasses import replace

from headers import ACCESS, CONNECTED, CUTTING, FLUSH_MR, FLUSH_RANGE
from headers import PLACEMENTS, RAW_PACKET, RC, RELIABLE, SENDING, UC, UD
from headers import WC_ATOMIC_WRITE, WC_BIND_MW, WC_COMP_SWAP, WC_FETCH_ADD
from headers import WC_FLUSH, WC_LOCAL_INV, WC_OPCODES, WC_READ, WC_RECV
from headers import WC_RECV_RDMA_WITH_IMM, WC_SEND, WC_TSO, WC_WRITE
from headers import XRC_SEND
from words import EINVAL, ENOMEM, EOPNOTSUPP, EPERM, NOTHING
from words import Argument, Data, Dropped, Fails, Flag, Flags, Operation
from words import Rule, Span, Step, Verb

DATA = {
    "out": Data("SGEs or inline data are sent", True, True, True, True),
    "in": Data("SGEs are written to", True, False, True, False),
    "fetch": Data("one SGE of 8 bytes is written to", True, False, True,
                  False),
    "store": Data("8 bytes are sent: one SGE, inline data, or from the builder",
                  True, True),
    "cut": Data("SGEs behind a header are sent in segments", True, False, True,
                False),
    "flush": Data("placement, level, and length of the range"),
    "bind": Data("a window, and where to bind it"),
    "none": Data("none"),
}

OPERATIONS = (
    Operation("RDMA_WRITE", 0, CONNECTED, "ibv_wr_rdma_write", 1 << 0, "out",
              WC_WRITE, remote="REMOTE_WRITE"),
    Operation("RDMA_WRITE_WITH_IMM", 1, CONNECTED, "ibv_wr_rdma_write_imm",
              1 << 1, "out", WC_WRITE, receives=WC_RECV_RDMA_WITH_IMM,
              remote="REMOTE_WRITE", with_imm=True),
    Operation("SEND", 2, SENDING + (RAW_PACKET,), "ibv_wr_send", 1 << 2,
              "out", WC_SEND,
              receives=WC_RECV),
    Operation("SEND_WITH_IMM", 3, SENDING, "ibv_wr_send_imm", 1 << 3,
              "out", WC_SEND, receives=WC_RECV, with_imm=True),
    Operation("RDMA_READ", 4, RELIABLE, "ibv_wr_rdma_read", 1 << 4, "in",
              WC_READ, remote="REMOTE_READ"),
    Operation("ATOMIC_CMP_AND_SWP", 5, RELIABLE, "ibv_wr_atomic_cmp_swp",
              1 << 5,
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

OPERATION = {operation.name: operation for operation in OPERATIONS}

# Queue pairs that libibverbs alone cannot make, and their operation: the runner
# has no other library, and does not call it
DRIVER = "DRIVER"
DRIVER_OPERATIONS = (
    Operation("DRIVER1", 11, (DRIVER,), "mynicdv_wr_memcpy", 0, "out",
              WC_OPCODES["DRIVER1"]),
)

# States in which no send request can be posted, IBTA 10.3.1
CANNOT_SEND = ("RESET", "INIT", "RTR")


def names(wanted):
    """The operations of which something is true"""
    return tuple(op.name for op in OPERATIONS if wanted(op))


ALL = names(lambda op: True)
TSO_ONLY = ("TSO",)
WITH_SGES = names(lambda op: DATA[op.data].sges)
SCATTERING = names(lambda op: op.data in ("in", "fetch"))
ATOMIC = names(lambda op: op.is_atomic)
FETCHING = names(lambda op: op.data == "fetch")
# Those that max_rd_atomic limits
COUNTED = names(lambda op: op.data in ("in", "fetch", "store", "flush"))
INLINE = names(lambda op: op.may_be_inline)
NOT_INLINE = names(lambda op: not op.may_be_inline)
SENT = names(lambda op: op.data == "out")
WITH_PACKETS = names(lambda op: op.data not in ("bind", "none"))
RECEIVED = names(lambda op: op.receives and op.data != "cut")
WITH_IMM = names(lambda op: op.with_imm)
KEYS = names(lambda op: op.with_inv or op.data == "none")
# Those to an address of the other end. RDMA_WRITE_WITH_IMM has the same rules,
# but the standard leaves open whether the receive request is used up then.
REMOTE = names(lambda op: op.remote and not op.receives)
REMOTE_ALL = names(lambda op: op.remote)
# Those whose data go to a receive request
MESSAGES = names(lambda op: op.receives == WC_RECV and op.data != "cut")
SENDS_ON_UD = names(lambda op: UD in op.on)

SEND_FLAGS = (
    Flag("FENCE", 1, "the request waits for reads and atomics before it; UC and "
         "UD have none, so that it has no effect there",
         "ibv_post_send(3): IBV_SEND_FENCE; IBTA 10.8.3.3", ALL, SENDING),
    Flag("SIGNALED", 2, "the request has a completion; with sq_sig_all, or if "
         "it fails, it has one anyway", "ibv_post_send(3): IBV_SEND_SIGNALED",
         ALL, SENDING + (RAW_PACKET,)),
    Flag("SOLICITED", 4, "the completion at the other end has an event that "
         "was asked for with solicited_only",
         "ibv_post_send(3): IBV_SEND_SOLICITED; ibv_req_notify_cq(3)",
         names(lambda op: op.receives), SENDING),
    Flag("INLINE", 8, "ibv_post_send() copies the data; keys do not matter. "
         "Builders ignore it: they have setters for inline data",
         "ibv_post_send(3): IBV_SEND_INLINE; ibv_wr_post(3): Flags", INLINE,
         SENDING + (RAW_PACKET,)),
    Flag("IP_CSUM", 16, "checksums of IPv4, TCP and UDP are put in on "
         "RAW_PACKET; no effect on UD; elsewhere the request fails with "
         "LOC_QP_OP_ERR", "ibv_post_send(3): IBV_SEND_IP_CSUM",
         ("SEND", "SEND_WITH_IMM", "TSO"), (UD, RAW_PACKET)),
)
FLAGS = {flag.name: flag.value for flag in SEND_FLAGS}

# Why a queue pair does not answer: its state; it was destroyed; it expects
# another PSN, which was before or is still to come
SILENT = ("RESET", "INIT", "ERR", "gone", "psn before", "psn to come")

# What a request must be when it is posted
POSTING = (
    Rule("opcode", "the type of the queue pair has the opcode",
         "ibv_post_send(3): table of opcodes", EINVAL),
    Rule("num_sge", "num_sge is at least 0 and at most cap.max_send_sge",
         "ibv_create_qp(3): max_send_sge", EINVAL),
    Rule("inline_length", "inline data is at most cap.max_inline_data long",
         "ibv_create_qp(3): max_inline_data", EINVAL,
         ops=INLINE),
    Rule("inline_opcode", "IBV_SEND_INLINE: only for Send, RDMA Write and "
         "Atomic Write",
         "ibv_post_send(3): IBV_SEND_INLINE", EINVAL,
         ops=NOT_INLINE),
    Rule("tso_header", "the header of a TSO has at least 1 byte and at most "
         "max_tso_header", "ibv_create_qp_ex(3): max_tso_header", EINVAL,
         on=CUTTING,
         ops=TSO_ONLY),
    Rule("tso_mss", "the mss of a TSO is not 0", "ibv_post_send(3): mss",
         EINVAL, on=CUTTING,
         ops=TSO_ONLY),
    Rule("room", "the send queue has room", "ibv_create_qp(3): max_send_wr",
         ENOMEM),
    Rule("state", "the queue pair is in RTS, SQD, SQE or ERR",
         "IBTA 10.3.1, 11.4.1.1", EINVAL),
)

# What a request to bind a window must be, as far as it is looked at when it is
# posted
BINDING = (
    Rule("bind_pd", "region and window have the same protection domain",
         "IBTA 10.6.7.2", EPERM, on=CONNECTED,
         ops=("BIND_MW",)),
    Rule("bind_null", "the region is no null region",
         "ibv_alloc_null_mr(3)", EOPNOTSUPP, on=CONNECTED,
         ops=("BIND_MW",)),
    Rule("bind_region", "the region has IBV_ACCESS_MW_BIND",
         "ibv_reg_mr(3): IBV_ACCESS_MW_BIND", EINVAL, on=CONNECTED,
         ops=("BIND_MW",)),
    Rule("bind_zero_based", "the region does not have IBV_ACCESS_ZERO_BASED",
         "IBTA 10.6.7.2", EINVAL, on=CONNECTED,
         ops=("BIND_MW",)),
    Rule("bind_local_write",
         "REMOTE_WRITE and REMOTE_ATOMIC only if the region has LOCAL_WRITE",
         "ibv_bind_mw(3): mw_access_flags", EINVAL, on=CONNECTED,
         ops=("BIND_MW",)),
    Rule("bind_access", "mw_access_flags has only flags of windows",
         "ibv_bind_mw(3): mw_access_flags", EINVAL, on=CONNECTED,
         ops=("BIND_MW",)),
    Rule("bind_type", "each way to bind has its type of window",
         "ibv_bind_mw(3): NOTES", EINVAL, on=CONNECTED,
         ops=("BIND_MW",)),
)

# With ibv_bind_mw() no length unbinds, and it chooses the key
BINDING_TYPE_2 = BINDING + (
    Rule("bind_length", "length is not 0",
         "ibv_alloc_mw(3)", EINVAL, on=CONNECTED,
         ops=("BIND_MW",)),
    Rule("bind_key", "only the low 8 bits of rkey are new",
         "IBTA 10.6.7.2", EINVAL, on=CONNECTED,
         ops=("BIND_MW",)),
)
BINDING_TYPE_1 = BINDING + (
    Rule("bind_flags", "send_flags has only FENCE and SIGNALED",
         "ibv_bind_mw(3): send_flags", EINVAL, on=CONNECTED,
         ops=("BIND_MW",)),
)

# What must hold when a request to bind a window is executed
BINDING_EXECUTION = (
    Rule("window_pd", "the window is in the queue pair's protection domain",
         "IBTA 10.6.7.2", Fails("MW_BIND_ERR"), on=CONNECTED,
         ops=("BIND_MW",)),
    Rule("window_bounds", "the bytes are within the region",
         "IBTA 10.6.7.2", Fails("MW_BIND_ERR"), on=CONNECTED,
         ops=("BIND_MW",)),
)

REMOTE_ACCESS = Fails("REM_ACCESS_ERR", peer_stops=True, event="QP_ACCESS_ERR")
INVALID_REQUEST = Fails("REM_INV_REQ_ERR", peer_stops=True, event="QP_REQ_ERR")
# Documentation/hardware/counters.rst says what is counted
BAD_KEY = Dropped(counter="rx_drop_key")
NOT_TAKEN = Dropped(waits=True, counter="rx_drop_wqe")
# The other packets of the message count as out of sequence
BAD_LENGTH = Dropped(counter="rx_drop_header")

# What must hold when a request is executed
EXECUTION = (
    Rule("lkey", "each SGE names a key",
         "IBTA 10.6.3.2, 11.6.2", Fails("LOC_PROT_ERR"),
         ops=WITH_SGES),
    Rule("lkey_pd", "the region is in the queue pair's protection domain",
         "IBTA 10.6.3.2", Fails("LOC_PROT_ERR"),
         ops=WITH_SGES),
    Rule("local_bounds", "each SGE is within the region",
         "IBTA 10.6.3.2", Fails("LOC_PROT_ERR"),
         ops=WITH_SGES),
    Rule("local_write", "what is written to has IBV_ACCESS_LOCAL_WRITE",
         "ibv_reg_mr(3); IBTA 10.6.3.2", Fails("LOC_PROT_ERR"), on=RELIABLE,
         ops=SCATTERING),
    Rule("rkey", "rkey is a key of the other end",
         "IBTA 9.7.4.1.5", REMOTE_ACCESS, on=RELIABLE,
         ops=REMOTE),
    Rule("remote_bounds", "the remote range is within the region",
         "IBTA 9.7.4.1.5", REMOTE_ACCESS, on=RELIABLE,
         ops=REMOTE),
    Rule("remote_right", "the region has the right that the operation needs",
         "ibv_reg_mr(3); IBTA 9.7.4.1.5", REMOTE_ACCESS, on=RELIABLE,
         ops=REMOTE),
    Rule("atomic_alignment", "an atomic's address is a multiple of 8",
         "IBTA 9.7.4.1.6", INVALID_REQUEST, on=RELIABLE,
         ops=ATOMIC),
    Rule("atomic_length", "an atomic's data is one SGE of 8 bytes",
         "IBTA 9.4.5, A19; ibv_post_send(3)", Fails("LOC_LEN_ERR"),
         on=RELIABLE,
         ops=ATOMIC),
    Rule("qp_right", "the other end's qp_access_flags have the right that the "
         "operation needs", "ibv_modify_qp(3); IBTA 9.7.4.1.5, A19",
         INVALID_REQUEST, on=RELIABLE,
         ops=REMOTE),
    Rule("rd_atomic", "the queue pair's max_rd_atomic is not 0",
         "ibv_modify_qp(3); Documentation/hardware/completions.rst",
         Fails("LOC_QP_OP_ERR"), on=RELIABLE, ops=COUNTED),
    Rule("receive_length", "a message is not longer than the receive request",
         "IBTA 9.7.4.1.6, 11.6.2",
         Fails("REM_INV_REQ_ERR", peer="LOC_LEN_ERR", peer_stops=True),
         on=RELIABLE,
         ops=MESSAGES),
    Rule("receive", "there is a receive request before the request was sent "
         "again rnr_retry times, or rnr_retry is 7",
         "ibv_modify_qp(3); IBTA 9.7.5.2.8", Fails("RNR_RETRY_EXC_ERR"),
         on=RELIABLE, ops=RECEIVED),
    Rule("answer", "the other end answers before the request was sent again "
         "retry_cnt times", "ibv_modify_qp(3); IBTA 9.7.6.1",
         Fails("RETRY_EXC_ERR", unheard=True), on=RELIABLE,
         ops=WITH_PACKETS),
    Rule("path_mtu", "a message is no longer than the path_mtu of either end, "
         "if these are not the same", "IBTA 9.7.4.1.6", INVALID_REQUEST,
         on=RELIABLE, ops=SENT),
    Rule("path_mtu_dropped", "the same on UC", "IBTA 9.9.3 D", BAD_LENGTH,
         on=(UC,), ops=SENT),
    Rule("response_mtu", "what is read is no longer, either",
         "IBTA 9.7.5.2; Documentation/transport-rules.rst",
         Fails("BAD_RESP_ERR"), on=RELIABLE, ops=("RDMA_READ",)),
    Rule("receive_lkey", "the SGEs of the receive request name keys",
         "IBTA 9.7.4.1.7", Fails("REM_OP_ERR", peer="LOC_PROT_ERR",
                                 peer_stops=True), on=RELIABLE,
         ops=MESSAGES),
    Rule("receive_pd", "their regions are in the domain of the queue pair or "
         "shared receive queue", "IBTA 10.6.3.2",
         Fails("REM_OP_ERR", peer="LOC_PROT_ERR", peer_stops=True),
         on=RELIABLE, ops=MESSAGES),
    Rule("receive_bounds", "each of them is within its region",
         "IBTA 10.6.3.2",
         Fails("REM_OP_ERR", peer="LOC_PROT_ERR", peer_stops=True),
         on=RELIABLE, ops=MESSAGES),
    Rule("receive_write", "their regions have IBV_ACCESS_LOCAL_WRITE",
         "ibv_reg_mr(3); IBTA 10.6.3.2",
         Fails("REM_OP_ERR", peer="LOC_PROT_ERR", peer_stops=True),
         on=RELIABLE, ops=MESSAGES),
    Rule("message_length", "a datagram is not longer than the path MTU",
         "IBTA C10-93.1.1: nothing is sent, and there is no error; "
         "Documentation/hardware/completions.rst: LOC_LEN_ERR, which mynic "
         "chose", Fails("LOC_LEN_ERR"),
         on=(UD,), ops=MESSAGES),
    Rule("tso_length", "a TSO has at most max_tso bytes of data, and makes at "
         "most 1024 segments",
         "ibv_query_device_ex(3): tso_caps; "
         "Documentation/hardware/ethernet.rst: Segmentation",
         Fails("LOC_LEN_ERR"), on=CUTTING,
         ops=TSO_ONLY),
    Rule("tso_packet", "the header and mss fit into a packet",
         "Documentation/hardware/ethernet.rst: Segmentation",
         Fails("LOC_LEN_ERR"), on=CUTTING,
         ops=TSO_ONLY),
    Rule("tso_form", "the header begins with Ethernet and ends with TCP",
         "ibv_wr_post(3): ibv_wr_send_tso()", Fails("LOC_QP_OP_ERR"),
         on=(RAW_PACKET,),
         ops=TSO_ONLY),
    Rule("flags", "IBV_SEND_IP_CSUM: only on datagrams",
         "ibv_post_send(3): IBV_SEND_IP_CSUM", Fails("LOC_QP_OP_ERR"),
         on=CONNECTED),
    Rule("srqn", "remote_srqn is an XRC SRQ in the other end's domain",
         "IBTA A14", INVALID_REQUEST, on=(XRC_SEND,),
         ops=WITH_PACKETS),
    Rule("qkey", "remote_qkey is the other end's Q_Key",
         "IBTA 9.6.1.1.5", BAD_KEY, on=(UD,)),
    Rule("receive_dropped", "there is a receive request",
         "IBTA 9.9.3 D", NOT_TAKEN, on=(UC, UD), ops=RECEIVED),
    Rule("receive_length_dropped", "a message is not longer than the receive "
         "request, which the next message has otherwise", "IBTA 9.9.3 D",
         Dropped(counter="rx_drop_wqe"), on=(UC, UD), ops=MESSAGES),
    Rule("receive_lkey_dropped", "the SGEs of the receive request name keys",
         "IBTA 9.9.3 A", Dropped(peer="LOC_PROT_ERR"), on=(UC,), ops=MESSAGES),
    Rule("rkey_dropped", "rkey is a key of the other end", "IBTA 9.9.3 D",
         BAD_KEY, on=(UC,), ops=("RDMA_WRITE",)),
    Rule("remote_bounds_dropped", "the remote range is within the region",
         "IBTA 9.9.3 D", BAD_KEY, on=(UC,), ops=("RDMA_WRITE",)),
    Rule("remote_right_dropped", "the region has IBV_ACCESS_REMOTE_WRITE",
         "ibv_reg_mr(3); IBTA 9.9.3 D", BAD_KEY, on=(UC,),
         ops=("RDMA_WRITE",)),
    Rule("qp_right_dropped", "the other end's qp_access_flags have "
         "IBV_ACCESS_REMOTE_WRITE", "ibv_modify_qp(3); IBTA 9.9.3 D",
         BAD_KEY, on=(UC,), ops=("RDMA_WRITE",)),
    Rule("invalidate_remote_dropped", "IBV_WR_SEND_WITH_INV names a window of "
         "type 2 that is bound through the other end. The next message has "
         "the receive request otherwise",
         "Documentation/transport-rules.rst: invalidate_uc", BAD_KEY,
         on=(UC,), ops=("SEND_WITH_INV",)),
    Rule("remote_window",
         "a window is bound, and if it is of type 2, through the other end",
         "IBTA 10.6.7.2", REMOTE_ACCESS, on=RELIABLE,
         ops=REMOTE),
    Rule("window_bound", "a window of type 2 is not bound already",
         "ibv_alloc_mw(3); IBTA 10.6.7.2", Fails("MW_BIND_ERR"), on=CONNECTED,
         ops=("BIND_MW",)),
    Rule("invalidate", "IBV_WR_LOCAL_INV names a window of type 2",
         "ibv_alloc_mw(3); IBTA 10.6.7.2", Fails("MW_BIND_ERR"), on=CONNECTED,
         ops=("LOCAL_INV",)),
    Rule("invalidate_qp", "it is not bound through another queue pair",
         "IBTA 10.6.7.2", Fails("MW_BIND_ERR"), on=CONNECTED,
         ops=("LOCAL_INV",)),
    Rule("invalidate_remote", "IBV_WR_SEND_WITH_INV names a window of type 2 "
         "that is bound through the other end",
         "IBTA 9.4.1", Fails("REM_ACCESS_ERR", peer="LOC_ACCESS_ERR",
                             peer_stops=True, event="QP_ACCESS_ERR"),
         on=RELIABLE,
         ops=("SEND_WITH_INV",)),
) + BINDING_EXECUTION

# What ibv_wr_flush() must be
FLUSHING = (
    Rule("flush_type", "type is GLOBAL, PERSISTENT, or both",
         "IBTA A19", Fails("LOC_QP_OP_ERR"), on=RELIABLE,
         ops=("FLUSH",)),
    Rule("flush_level", "level is RANGE or MR", "IBTA A19",
         Fails("LOC_QP_OP_ERR"), on=RELIABLE,
         ops=("FLUSH",)),
    Rule("flush_length", "len is at most the longest message",
         "ibv_query_port(3): max_msg_sz; IBTA A19", Fails("LOC_LEN_ERR"),
         on=RELIABLE,
         ops=("FLUSH",)),
)

# Which setters go with a builder
SETTING = (
    Rule("set_data", "the operation has data: BIND_MW and LOCAL_INV have none",
         "ibv_wr_post(3): WORK REQUESTS", EINVAL, on=CONNECTED,
         ops=names(lambda op: op.data in ("bind", "none"))),
    Rule("set_ud_addr", "the queue pair is of type UD",
         "ibv_wr_post(3): QP Specific setters", EINVAL, on=CONNECTED),
    Rule("set_xrc_srqn", "the queue pair is of type XRC_SEND",
         "ibv_wr_post(3): QP Specific setters", EINVAL, on=(RC, UC, UD)),
)

# What a receive request must be
RECEIVING = (
    Rule("num_sge", "num_sge is at least 0 and at most cap.max_recv_sge",
         "ibv_create_qp(3): max_recv_sge", EINVAL),
    Rule("room", "the receive queue has room",
         "ibv_create_qp(3): max_recv_wr", ENOMEM),
    Rule("state", "the queue pair is not in RESET",
         "IBTA 10.3.1, 11.4.1.2", EINVAL),
    Rule("srq", "the queue pair has no shared receive queue",
         "ibv_post_recv(3): NOTES", EINVAL),
)

RIGHTS_OF_WINDOWS = {name: ACCESS[name] for name in (
    "REMOTE_WRITE", "REMOTE_READ", "REMOTE_ATOMIC", "ZERO_BASED")}
ANY_64 = (0, 1, (1 << 64) - 1, Span(0, (1 << 64) - 1))
ANY_32 = (Span(0, (1 << 32) - 1),)

# The sum of the lengths of all SGEs
LENGTHS = (0, 1, 8, "path_mtu - 1", "path_mtu", "path_mtu + 1",
           "2 path_mtu - 1", "2 path_mtu", "2 path_mtu + 1", "4 path_mtu",
           Span(0, "longest"))
INLINE_LENGTHS = (Span(0, "max_inline_data"),)

WR_ID = Argument("wr_id", "uint64_t", "what the completion has")
SGE_ADDR = Argument("addr", "uint64_t", "first byte, in the region of lkey",
                    ops=WITH_SGES)
LENGTH = Argument("length", "uint32_t", "bytes of an SGE; here of all of them",
                  LENGTHS, ops=WITH_SGES)
INLINE_LENGTH = Argument(
    "inline length", "uint32_t", "the same with IBV_SEND_INLINE",
    INLINE_LENGTHS, {"inline_length": ("max_inline_data + 1", 65536)},
    ops=INLINE)
LKEY = Argument("lkey", "uint32_t", "key of a region, in the domain of the "
                "queue pair", ops=WITH_SGES)
NUM_SGE = Argument(
    "num_sge", "int", "number of SGEs", (Span(0, "max_send_sge"),),
    {"num_sge": ("max_send_sge + 1", 100000, -1)}, ops=WITH_SGES)
RKEY = Argument("rkey", "uint32_t", "key of a region or a window of the other "
                "end", ops=REMOTE_ALL)
REMOTE_ADDR = Argument("remote_addr", "uint64_t", "first byte there, in the "
                       "range of the key", ops=REMOTE_ALL)
IMM_DATA = Argument("imm_data", "__be32", "what the completion at the other "
                    "end has", ANY_32, ops=WITH_IMM)
INVALIDATE_RKEY = Argument(
    "invalidate_rkey", "uint32_t", "key of a window of type 2, at the other "
    "end or, of LOCAL_INV, at this one", ops=KEYS)
COMPARE_ADD = Argument("compare_add", "uint64_t", "what the 8 bytes are "
                       "compared with, or what is added", ANY_64,
                       ops=FETCHING)
SWAP = Argument("swap", "uint64_t", "what is stored if they are the same",
                ANY_64, ops=("ATOMIC_CMP_AND_SWP",))
AH = Argument("ah", "struct ibv_ah *", "where to", on=(UD,), ops=SENDS_ON_UD)
REMOTE_QPN = Argument("remote_qpn", "uint32_t", "to which queue pair",
                      on=(UD,), ops=SENDS_ON_UD)
REMOTE_QKEY = Argument("remote_qkey", "uint32_t", "its Q_Key", on=(UD,),
                       ops=SENDS_ON_UD)
REMOTE_SRQN = Argument("remote_srqn", "uint32_t", "number of an XRC shared "
                       "receive queue", wrong={"srqn": (0, 0xfffffe)},
                       on=(XRC_SEND,), ops=WITH_PACKETS)
WINDOW = Argument("mw", "struct ibv_mw *", "the window", ops=("BIND_MW",))
NEW_KEY = Argument(
    "new rkey", "uint32_t", "new key of the window: its old one with other low "
    "bits. The values here are bits that are turned over", (Span(0, 255),),
    {"bind_key": (1 << 8, 1 << 31, 0xffffff00)}, ops=("BIND_MW",))
BIND_MR = Argument("mr", "struct ibv_mr *", "the region to bind it to",
                   ops=("BIND_MW",))
BIND_ADDR = Argument("bind addr", "uint64_t", "first byte in the region",
                     ops=("BIND_MW",))
BIND_LENGTH = Argument(
    "bind length", "uint64_t", "bytes in the region",
    (Span(1, "rest of the region"),), {"bind_length": (0,)},
    ops=("BIND_MW",))
BIND_ACCESS = Argument(
    "mw_access_flags", "unsigned int", "rights of the window",
    (Flags(RIGHTS_OF_WINDOWS),),
    {"bind_access": (ACCESS["MW_BIND"], ACCESS["ON_DEMAND"], 1 << 31)},
    ops=("BIND_MW",))
HDR = Argument("hdr", "void *", "the header, in memory of the process",
               on=CUTTING, ops=TSO_ONLY)
HDR_SZ = Argument(
    "hdr_sz", "uint16_t", "bytes of the header", (1, "max_tso_header"),
    {"tso_header": (0, "max_tso_header + 1", 65535)}, on=CUTTING,
    ops=TSO_ONLY)
MSS = Argument("mss", "uint16_t", "bytes of data in each segment",
               (1, 100, "room in a packet"), {"tso_mss": (0,)}, on=CUTTING,
               ops=TSO_ONLY)
FLUSH_LEN = Argument(
    "len", "size_t", "bytes of the range", (0, 1, 4096, Span(0, 16384)),
    {"flush_length": ((1 << 31) + 1, 1 << 32, (1 << 64) - 1)},
    ops=("FLUSH",))
FLUSH_TYPE = Argument(
    "type", "uint8_t", "placements: GLOBAL, PERSISTENT, or both",
    tuple(range(1, sum(PLACEMENTS) + 1)), {"flush_type": (0, 4, 128)},
    ops=("FLUSH",))
FLUSH_LEVEL = Argument("level", "uint8_t", "RANGE, or MR for the whole region",
                       (FLUSH_RANGE, FLUSH_MR), {"flush_level": (2, 3, 128)},
                       ops=("FLUSH",))
BIND_FLAGS = Argument(
    "send_flags", "unsigned int", "flags of the request",
    (Flags({name: FLAGS[name] for name in ("FENCE", "SIGNALED")}),),
    {"bind_flags": (FLAGS["SOLICITED"], FLAGS["INLINE"], 1 << 31)})
OPCODE = Argument(
    "opcode", "enum ibv_wr_opcode", "the operation",
    tuple(op.opcode for op in OPERATIONS
          if "ibv_post_send" in op.posted_by),
    {"opcode": (11, 12, 13, 14, 16, 255)})

ARGUMENTS = (
    WR_ID, OPCODE, NUM_SGE, SGE_ADDR, LENGTH, INLINE_LENGTH, LKEY,
    Argument("send_flags", "unsigned int", "see the table of flags",
             (Flags(FLAGS),)),
    IMM_DATA, INVALIDATE_RKEY, REMOTE_ADDR, RKEY, COMPARE_ADD, SWAP, AH,
    REMOTE_QPN, REMOTE_QKEY, REMOTE_SRQN, WINDOW, NEW_KEY, BIND_MR, BIND_ADDR,
    BIND_LENGTH, BIND_ACCESS, HDR, HDR_SZ, MSS,
)

# The arguments of each builder
BUILT_FROM = {
    "SEND": (), "SEND_WITH_IMM": (IMM_DATA,),
    "SEND_WITH_INV": (INVALIDATE_RKEY,), "TSO": (HDR, HDR_SZ, MSS),
    "RDMA_WRITE": (RKEY, REMOTE_ADDR), "RDMA_READ": (RKEY, REMOTE_ADDR),
    "RDMA_WRITE_WITH_IMM": (RKEY, REMOTE_ADDR, IMM_DATA),
    "ATOMIC_CMP_AND_SWP": (RKEY, REMOTE_ADDR, COMPARE_ADD, SWAP),
    "ATOMIC_FETCH_AND_ADD": (RKEY, REMOTE_ADDR, COMPARE_ADD),
    "ATOMIC_WRITE": (RKEY, REMOTE_ADDR, Argument(
        "atomic_wr", "const void *", "8 bytes, which are copied")),
    "FLUSH": (RKEY, REMOTE_ADDR, FLUSH_LEN, FLUSH_TYPE, FLUSH_LEVEL),
    "LOCAL_INV": (INVALIDATE_RKEY,),
    "BIND_MW": (WINDOW, NEW_KEY, BIND_MR, BIND_ADDR, BIND_LENGTH,
                BIND_ACCESS),
}


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

# Rules of what a setter sets
IN_SETTERS = {
    "lkey", "lkey_pd", "local_bounds", "local_write", "atomic_length",
    "num_sge", "inline_length", "inline_opcode", "qkey", "srqn", "receive",
    "receive_length", "receive_lkey", "receive_pd", "receive_bounds",
    "receive_write", "message_length", "room", "state", "receive_dropped",
    "receive_length_dropped", "receive_lkey_dropped",
    *(rule.name for rule in SETTING),
}
SEND_RULES = POSTING + BINDING_TYPE_2 + EXECUTION + FLUSHING + SETTING


def _rules(wanted):
    return tuple(rule for rule in SEND_RULES if rule.name in wanted)


def _wr_flags(op):
    """The flags that the queue pair has when a builder is called"""
    flags = {flag.name: flag.value for flag in SEND_FLAGS
             if op.name in flag.ops and flag.name != "INLINE" and
             set(flag.on) & set(op.on) - {RAW_PACKET}}
    return Argument("wr_flags", "unsigned int", "a field of struct ibv_qp_ex",
                    (Flags(flags),))


def _builder(op):
    """The function of ibv_wr_post(3) that makes requests of an operation"""
    rules = tuple(
        rule for rule in SEND_RULES if rule.name not in IN_SETTERS and
        rule.is_for(None, op.name) and
        (not rule.on or set(rule.on) & set(op.on)) and
        # All types but those of CANNOT_SEND have some operations
        (rule.name != "opcode" or set(SENDING) - set(op.on)))
    return Verb(
        op.builder, "ibv_wr_post(3)",
        f"begins a request, {op.name}, with the wr_id and wr_flags of the "
        "queue pair", BUILT_FROM[op.name] + (WR_ID, _wr_flags(op)),
        rules,
        uses=("qp", "mw", "mr") if op.data == "bind" else ("qp",),
        effects="It is posted with the others by ibv_wr_complete().",
        returns=NOTHING, refusal=KEPT)


def _setter(name, does, arguments, rules):
    return Verb(name, "ibv_wr_post(3)", does, arguments, _rules(rules),
                uses=("qp",), effects="It is about the last request that a "
                "builder began.", returns=NOTHING, refusal=KEPT)


KEPT = ("the queue pair keeps the error, and ibv_wr_complete() returns the "
        "first one")
SGE_RULES = ("lkey", "lkey_pd", "local_bounds", "local_write",
             "atomic_length", "set_data")
SETTERS = (
    _setter("ibv_wr_set_sge", "has the data in one SGE",
            (LKEY, SGE_ADDR, LENGTH), SGE_RULES),
    _setter("ibv_wr_set_sge_list", "has the data in a list of SGEs",
            (NUM_SGE, LKEY, SGE_ADDR, replace(LENGTH, legal=())),
            SGE_RULES + ("num_sge",)),
    _setter("ibv_wr_set_inline_data", "copies the data",
            (replace(SGE_ADDR, says="first byte"), INLINE_LENGTH),
            ("inline_length", "inline_opcode")),
    _setter("ibv_wr_set_inline_data_list", "copies the data from several "
            "places", (
                replace(NUM_SGE, name="num_buf", type="size_t",
                        says="number of places", wrong={},
                        legal=(Span(0, "max_send_sge"),)),
                replace(SGE_ADDR, says="first byte of each"),
                replace(INLINE_LENGTH, legal=())),
            ("inline_length", "inline_opcode")),
    _setter("ibv_wr_set_ud_addr", "says where to send a datagram",
            (AH, REMOTE_QPN, REMOTE_QKEY), ("qkey", "set_ud_addr")),
    _setter("ibv_wr_set_xrc_srqn", "says which shared receive queue receives",
            (REMOTE_SRQN,), ("srqn", "set_xrc_srqn")),
)

RECEIVED_INTO = (
    WR_ID,
    replace(NUM_SGE, legal=(Span(0, "max_recv_sge"),), ops=(),
            wrong={"num_sge": ("max_recv_sge + 1", 100000, -1)}),
    replace(SGE_ADDR, ops=()),
    Argument("length", "uint32_t", "bytes of an SGE; here how many more than "
             "the message has", (0, 1, 100)),
    replace(LKEY, ops=()),
)
LIST = ("the requests before the one that breaks the rule are posted, and "
        "bad_wr is that one")

POSTING_VERBS = (
    Verb("ibv_post_send", "ibv_post_send(3)",
         "posts a list of send requests", ARGUMENTS,
         POSTING + BINDING_TYPE_2 + EXECUTION, uses=("qp", "ah", "mw", "mr"),
         effects="Each request is executed, and completes as the tables of "
         "operations and of execution say. In SQD it waits for RTS. In SQE "
         "and ERR it completes with WR_FLUSH_ERR.", refusal=LIST),
    Verb("ibv_wr_start", "ibv_wr_post(3)",
         "begins a critical section: the queue pair is locked until it ends",
         uses=("qp",), returns=NOTHING),
    *(_builder(op) for op in OPERATIONS),
    *SETTERS,
    Verb("ibv_wr_complete", "ibv_wr_post(3)",
         "posts all requests of a critical section, and ends it", (),
         SEND_RULES, uses=("qp",),
         effects="As ibv_post_send().",
         refusal="none of the requests is posted"),
    Verb("ibv_wr_abort", "ibv_wr_post(3)",
         "discards all requests of a critical section, and ends it",
         uses=("qp",), returns=NOTHING),
    Verb("ibv_bind_mw", "ibv_bind_mw(3)",
         "posts a request to bind a window of type 1",
         (WINDOW, WR_ID, BIND_FLAGS, BIND_MR, BIND_ADDR,
          replace(BIND_LENGTH, wrong={}, ops=(),
                  legal=(0, Span(1, "rest of the region"))), BIND_ACCESS),
         BINDING_TYPE_1 + BINDING_EXECUTION + (
             Rule("room", "the send queue has room",
                  "ibv_create_qp(3): max_send_wr", ENOMEM),
             Rule("state", "the queue pair is in RTS, SQD, SQE or ERR",
                  "IBTA 10.3.1, 11.4.1.1", EINVAL),
             Rule("qp_type", "the queue pair is of type UC, RC or XRC_SEND",
                  "ibv_bind_mw(3)", EINVAL),), uses=("qp", "mw", "mr"),
         effects="The window has a new rkey at once. It shows the bytes when "
         "the request is executed, which completes as BIND_MW. Length 0 "
         "unbinds it."),
    Verb("ibv_post_recv", "ibv_post_recv(3)",
         "posts a list of receive requests", RECEIVED_INTO, RECEIVING,
         uses=("qp",), effects="Each request takes one message, and completes "
         "then. In ERR it completes with WR_FLUSH_ERR.", refusal=LIST),
    Verb("ibv_post_srq_recv", "ibv_post_srq_recv(3)",
         "posts a list of receive requests to a shared queue", RECEIVED_INTO,
         RECEIVING[:2], uses=("srq",), effects="Each request takes one message "
         "of any of its queue pairs, and completes then.", refusal=LIST),
)
