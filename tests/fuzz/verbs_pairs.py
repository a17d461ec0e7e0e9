# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Queue pairs, their attributes and states; address handles, and groups."""

from dataclasses import replace

from headers import ACCESS, CONNECTED, QP_TYPES, RAW_PACKET, RC, SENDING, UC
from headers import UD, XRC_RECV, XRC_SEND
from verbs_ethernet import SPREADING
from verbs_posting import OPERATIONS
from words import EBUSY, EINVAL, ENODATA, EOPNOTSUPP
from words import MINUS, Argument, Flags, Returns, Rule, Span, Verb

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


# Attributes that a transition may have (IBTA table 91), on some types
OPTIONAL = {
    ("INIT", "INIT"): {
        RC: ("PKEY_INDEX", "PORT", "ACCESS_FLAGS"),
        UC: ("PKEY_INDEX", "PORT", "ACCESS_FLAGS"),
        UD: ("PKEY_INDEX", "PORT", "QKEY"),
        XRC_SEND: ("PKEY_INDEX", "PORT", "ACCESS_FLAGS"),
        XRC_RECV: ("PKEY_INDEX", "PORT", "ACCESS_FLAGS"),
    },
    ("INIT", "RTR"): {
        RC: ("ACCESS_FLAGS", "PKEY_INDEX"), UC: ("ACCESS_FLAGS", "PKEY_INDEX"),
        UD: ("PKEY_INDEX", "QKEY"), XRC_SEND: ("ACCESS_FLAGS", "PKEY_INDEX"),
        XRC_RECV: ("ACCESS_FLAGS", "PKEY_INDEX"),
    },
    ("RTR", "RTS"): {
        RC: ("ACCESS_FLAGS", "MIN_RNR_TIMER", "RATE_LIMIT"),
        UC: ("ACCESS_FLAGS", "RATE_LIMIT"), UD: ("QKEY", "RATE_LIMIT"),
        XRC_SEND: ("ACCESS_FLAGS", "RATE_LIMIT"),
        XRC_RECV: ("ACCESS_FLAGS", "MIN_RNR_TIMER"),
        RAW_PACKET: ("RATE_LIMIT",),
    },
    ("RTS", "RTS"): {
        RC: ("ACCESS_FLAGS", "MIN_RNR_TIMER", "RATE_LIMIT"),
        UC: ("ACCESS_FLAGS", "RATE_LIMIT"), UD: ("QKEY", "RATE_LIMIT"),
        XRC_SEND: ("ACCESS_FLAGS", "RATE_LIMIT"),
        XRC_RECV: ("ACCESS_FLAGS", "MIN_RNR_TIMER"),
        RAW_PACKET: ("RATE_LIMIT",),
    },
    ("SQD", "RTS"): {
        RC: ("ACCESS_FLAGS", "MIN_RNR_TIMER"), UC: ("ACCESS_FLAGS",),
        UD: ("QKEY",), XRC_SEND: ("ACCESS_FLAGS",),
        XRC_RECV: ("ACCESS_FLAGS", "MIN_RNR_TIMER"),
    },
    ("SQD", "SQD"): {
        RC: ("PORT", "AV", "TIMEOUT", "RETRY_CNT", "RNR_RETRY",
             "MAX_QP_RD_ATOMIC", "MAX_DEST_RD_ATOMIC", "PKEY_INDEX",
             "ACCESS_FLAGS", "MIN_RNR_TIMER"),
        # Not AV, either: see KERNEL in verbs_device.py
        UC: ("PKEY_INDEX", "ACCESS_FLAGS"),
        UD: ("PKEY_INDEX", "QKEY"),
        XRC_SEND: ("PORT", "AV", "TIMEOUT", "RETRY_CNT", "RNR_RETRY",
                   "MAX_QP_RD_ATOMIC", "PKEY_INDEX", "ACCESS_FLAGS"),
        XRC_RECV: ("PORT", "AV", "TIMEOUT", "MAX_DEST_RD_ATOMIC",
                   "PKEY_INDEX", "ACCESS_FLAGS", "MIN_RNR_TIMER"),
    },
    ("SQE", "RTS"): {UC: ("ACCESS_FLAGS",), UD: ("QKEY",)},
}


def optional(qp_type, old, new):
    """Attributes that a transition may have"""
    return OPTIONAL.get((old, new), {}).get(qp_type, ())


# Attributes that a transition neither requires nor takes, to any new state
REFUSED = {
    "RESET": ("PATH_MTU", "SQ_PSN", "ACCESS_FLAGS", "ALT_PATH",
              "CAP", "RATE_LIMIT"),
    "INIT": ("PATH_MTU", "DEST_QPN", "TIMEOUT", "SQ_PSN", "ALT_PATH",
             "CAP", "RATE_LIMIT"),
    "RTR": ("TIMEOUT", "RETRY_CNT", "SQ_PSN", "MAX_QP_RD_ATOMIC", "ALT_PATH",
            "CAP", "RATE_LIMIT"),
    "RTS": ("PATH_MTU", "DEST_QPN", "RQ_PSN", "ALT_PATH",
            "CAP"),
    "SQD": ("PATH_MTU", "DEST_QPN", "RQ_PSN", "SQ_PSN", "ALT_PATH",
            "CAP", "RATE_LIMIT"),
    "ERR": ("PATH_MTU", "DEST_QPN", "QKEY", "ALT_PATH",
            "CAP", "RATE_LIMIT"),
}

# Attributes that ib_uverbs takes out of the mask. Half of an XRC connection has no
# use for them. modify_qp_mask() in the kernel lets both halves name all.
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
         "ibv_modify_qp(3): NOTES; IBTA 11.2.5.2", EINVAL),
    Rule("value", "each attribute has a value that there is",
         "ibv_modify_qp(3): NOTES; IBTA 11.2.5.2", EINVAL),
    Rule("migration", "path_mig_state is not there: the device has no "
         "alternate paths", "IBTA 17.2.8", EOPNOTSUPP),
    Rule("spreading", "the queue pair has no indirection table: such a one has "
         "no states", "ibv_create_qp_ex(3): rwq_ind_tbl", EOPNOTSUPP),
    Rule("cur_state", "cur_qp_state is the state of the queue pair",
         "ibv_modify_qp(3); IBTA 11.2.5.2", EINVAL),
)


PSNS = (0, 0x7fffff, 0xffffff, Span(0, 0xffffff))
REMOTE_RIGHTS = {name: bit for name, bit in ACCESS.items()
                 if name.startswith(("REMOTE", "FLUSH"))}
SENDS = ("RC", "XRC_SEND")
RECEIVES = ("RC", "XRC_RECV")
CONNECTIONS = CONNECTED + (XRC_RECV,)

# The attributes of ibv_modify_qp(3) and ibv_query_qp(3)
ATTRS = (
    Argument("qp_state", "enum ibv_qp_state", "the new state", mask="STATE"),
    Argument("cur_qp_state", "enum ibv_qp_state", "the state before",
             mask="CUR_STATE"),
    Argument("en_sqd_async_notify", "uint8_t", "whether an event tells that "
             "the send queue is drained", (1,), mask="EN_SQD_ASYNC_NOTIFY"),
    Argument("qp_access_flags", "unsigned int", "what the other end may do",
             (Flags(REMOTE_RIGHTS),), mask="ACCESS_FLAGS", on=CONNECTIONS),
    Argument("pkey_index", "uint16_t", "index of the P_Key, of which RoCE has "
             "one", (0,), {"value": (1, 0xffff)}, mask="PKEY_INDEX"),
    Argument("port_num", "uint8_t", "port", (1,), {"value": (0, 2, 255)},
             mask="PORT"),
    Argument("qkey", "uint32_t", "Q_Key; those with the highest bit are for "
             "privileged processes", (Span(0, (1 << 31) - 1),), mask="QKEY",
             on=(UD,)),
    Argument("ah_attr", "struct ibv_ah_attr", "address of the other end",
             mask="AV", on=CONNECTIONS),
    Argument("path_mtu", "enum ibv_mtu", "bytes of data in a packet: 256, "
             "512, 1024, 2048, 4096", (1, 2, 3, 4, 5), {"value": (0, 6)},
             mask="PATH_MTU", on=CONNECTIONS),
    Argument("timeout", "uint8_t", "time for an answer, 4.096 us * 2^timeout, "
             "or 0 for ever", (0, "long enough", 31), {"value": (32, 255)},
             mask="TIMEOUT", on=("RC", "XRC_SEND", "XRC_RECV")),
    Argument("retry_cnt", "uint8_t", "how often a request without an answer "
             "is sent again", (Span(0, 7),), {"value": (8, 255)},
             mask="RETRY_CNT", on=SENDS),
    Argument("rnr_retry", "uint8_t", "how often the other end may have no "
             "receive request; 7 for ever", (Span(0, 7),),
             {"value": (8, 255)}, mask="RNR_RETRY", on=SENDS),
    Argument("rq_psn", "uint32_t", "first PSN that is received, 24 bits",
             mask="RQ_PSN", on=CONNECTIONS),
    Argument("sq_psn", "uint32_t", "first PSN that is sent, 24 bits", PSNS,
             mask="SQ_PSN"),
    Argument("max_rd_atomic", "uint8_t", "reads and atomics outstanding",
             (0, 1, Span(2, "max_qp_init_rd_atom")), {"value": (255,)},
             mask="MAX_QP_RD_ATOMIC", on=SENDS),
    Argument("max_dest_rd_atomic", "uint8_t", "those of the other end",
             ("those of the other end", "max_qp_rd_atom"), {"value": (255,)},
             mask="MAX_DEST_RD_ATOMIC", on=RECEIVES),
    Argument("min_rnr_timer", "uint8_t", "how long the other end waits if "
             "there is no receive request", (1, Span(0, 31)),
             {"value": (32, 255)}, mask="MIN_RNR_TIMER", on=RECEIVES),
    Argument("dest_qp_num", "uint32_t", "number of the other queue pair",
             mask="DEST_QPN", on=CONNECTIONS),
    Argument("rate_limit", "uint32_t", "kbit/s, or 0 for no limit",
             (0, 10000000, "qp_rate_limit_max"),
             {"value": ("qp_rate_limit_max+1",)}, mask="RATE_LIMIT",
             on=SENDING + (RAW_PACKET,)),
    Argument("path_mig_state", "enum ibv_mig_state", "alternate path",
             wrong={"migration": (0,)}, mask="PATH_MIG_STATE"),
)
# What struct ibv_ah_attr has beside the address. Of the traffic class, the two bits
# that ECN changes on the way are 0.
AH_PATH = (
    Argument("sl", "uint8_t", "service level: the priority of a VLAN tag",
             (0, Span(1, 7))),
    Argument("grh.traffic_class", "uint8_t", "class of the IP header",
             (0, 4, 252)),
    Argument("grh.flow_label", "uint32_t", "chooses the way, 20 bits",
             (0, Span(1, 0xfffff))),
)
# The kernel chooses that of queue pairs
AH_HOPS = Argument("grh.hop_limit", "uint8_t",
                   "TTL of the IP header; 0 is sent as 64", (0, 1, 64, 255))
PATH = tuple(Argument(f"ah_attr.{part.name}", part.type, part.says, part.legal,
                      mask="AV", on=CONNECTIONS) for part in AH_PATH)
# enum ibv_qp_attr_mask
ATTRIBUTES = {
    "STATE": 1 << 0, "CUR_STATE": 1 << 1, "EN_SQD_ASYNC_NOTIFY": 1 << 2,
    "ACCESS_FLAGS": 1 << 3, "PKEY_INDEX": 1 << 4, "PORT": 1 << 5,
    "QKEY": 1 << 6, "AV": 1 << 7, "PATH_MTU": 1 << 8, "TIMEOUT": 1 << 9,
    "RETRY_CNT": 1 << 10, "RNR_RETRY": 1 << 11, "RQ_PSN": 1 << 12,
    "MAX_QP_RD_ATOMIC": 1 << 13, "ALT_PATH": 1 << 14,
    "MIN_RNR_TIMER": 1 << 15, "SQ_PSN": 1 << 16,
    "MAX_DEST_RD_ATOMIC": 1 << 17, "PATH_MIG_STATE": 1 << 18, "CAP": 1 << 19,
    "DEST_QPN": 1 << 20, "RATE_LIMIT": 1 << 25,
}
ATTR = {attr.mask: attr for attr in ATTRS}


TOO_MANY = (1 << 28, (1 << 32) - 1)
# Bytes of inline data that there is room for in the largest slot, of 512 bytes:
# Documentation/hardware/work-queues.rst
MAX_INLINE = {qp_type: 512 - (32 if qp_type in (RC, UC) else 64)
              for qp_type in SENDING}
CAPS = (
    Argument("max_send_wr", "uint32_t", "requests in the send queue",
             (2, 16, 64, "max_qp_wr"),
             {"max_wr": (*TOO_MANY, "max_qp_wr+1")}, on=SENDING + (RAW_PACKET,)),
    Argument("max_recv_wr", "uint32_t", "requests in the receive queue",
             (16, 64, "max_qp_wr"),
             {"max_wr": (*TOO_MANY, "max_qp_wr+1")}),
    Argument("max_send_sge", "uint32_t", "SGEs of a send request",
             (1, 2, 4, "max_sge"), {"max_sge": (*TOO_MANY, "max_sge+1")},
             on=SENDING + (RAW_PACKET,)),
    Argument("max_recv_sge", "uint32_t", "SGEs of a receive request",
             (1, 2, 4, "max_sge"), {"max_sge": (*TOO_MANY, "max_sge+1")}),
    Argument("max_inline_data", "uint32_t", "bytes of inline data",
             (0, 16, 64, 200, "max_inline"),
             {"max_inline_data": (*TOO_MANY, "max_inline + 1")},
             on=SENDING + (RAW_PACKET,)),
)
# Of enum ibv_qp_create_flags
CVLAN_STRIPPING = 1 << 9
INIT_ATTR = (
    Argument("send_cq", "struct ibv_cq *", "for completions of send requests"),
    Argument("recv_cq", "struct ibv_cq *", "for those of receive requests"),
    Argument("srq", "struct ibv_srq *", "where receive requests come from, or "
             "NULL"),
    *CAPS,
    Argument("qp_type", "enum ibv_qp_type", "the type",
             tuple(number for name, number in QP_TYPES.items()
                   if name != XRC_RECV), {"type": (0, 1, 5, 254)}),
    Argument("sq_sig_all", "int", "whether each send request has a completion",
             (0, 1)),
)
INIT_ATTR_EX = INIT_ATTR + (
    Argument("comp_mask", "uint32_t", "which of the others are there",
             wrong={"comp_mask": (1 << 20, 1 << 31)}),
    Argument("pd", "struct ibv_pd *", "the protection domain"),
    Argument("create_flags", "uint32_t", "CVLAN_STRIPPING",
             (CVLAN_STRIPPING,),
             {"create_flags": (1 << 1, 1 << 8, 1 << 10, 1 << 11, 1 << 31)},
             on=(RAW_PACKET,)),
    Argument("xrcd", "struct ibv_xrcd *", "the XRC domain", on=(XRC_RECV,)),
    Argument("send_ops_flags", "uint64_t", "operations that builders are for",
             (Flags({op.name: op.send_ops for op in OPERATIONS}),)),
    Argument("max_tso_header", "uint16_t", "bytes of the header of a TSO",
             (0, 1, 54, 128), {"max_tso_header": (54,)},
             on=(UD, RAW_PACKET)),
    Argument("rwq_ind_tbl", "struct ibv_rwq_ind_table *", "table of work "
             "queues that receive", on=(RAW_PACKET,)),
    Argument("rx_hash_function", "uint8_t", "what spreads frames over them",
             (1,), {"rss_function": (0, 2)}, on=(RAW_PACKET,)),
    Argument("rx_hash_key", "uint8_t *", "40 bytes", on=(RAW_PACKET,)),
    Argument("rx_hash_fields_mask", "uint64_t", "fields of frames that count",
             (0, 1, 3, 64, 192, 195), {"rss_fields": (1 << 8, 1 << 31)},
             on=(RAW_PACKET,)),
)

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

# What ibv_query_qp_data_in_order(3) can be asked about
ORDERED = tuple(op.opcode for op in OPERATIONS
                if op.name in ("SEND", "RDMA_WRITE", "RDMA_READ"))
FROM_WC = (
    Argument("port_num", "uint8_t", "port", (1,), {"port": (0, 2, 255)}),
    Argument("wc", "struct ibv_wc *", "the completion"),
    Argument("grh", "struct ibv_grh *", "the 40 bytes before the datagram"),
)
FROM_WC_RULES = (
    Rule("port", "port_num is one of the device's ports",
         "ibv_create_ah_from_wc(3); IBTA 11.2.2.1", Returns(-1)),
    Rule("version", "grh has a header of IPv4 or IPv6", "IBTA A17",
         Returns(-1)),
    Rule("address", "its destination is an address of the port",
         "ibv_create_ah_from_wc(3)", Returns(-1)),
    Rule("group", "its destination is no group, which nothing is sent from",
         "ibv_create_ah_from_wc(3); IBTA 10.5.2", Returns(-1)),
)

PAIR_VERBS = (
    Verb("ibv_create_qp", "ibv_create_qp(3)",
         "makes a queue pair", INIT_ATTR, QP_CREATION, makes="qp",
         uses=("pd", "cq", "srq"), effects="It is in RESET. cap has at least "
         "what was asked for."),
    Verb("ibv_create_qp_ex", "ibv_create_qp_ex(3)",
         "makes a queue pair", INIT_ATTR_EX, makes="qp",
         uses=("pd", "cq", "srq", "xrcd", "table"),
         effects="It is in RESET. cap has at least what was asked for.",
         rules=QP_CREATION + SPREADING + (
             Rule("send_ops", "the type of the queue pair has all operations",
                  "ibv_wr_post(3): USAGE", EOPNOTSUPP),
             Rule("comp_mask", "comp_mask has only bits that there are",
                  "ibv_create_qp_ex(3): comp_mask", EOPNOTSUPP),
             Rule("create_flags", "create_flags has only CVLAN_STRIPPING, "
                  "and that on RAW_PACKET",
                  "ibv_create_qp_ex(3): create_flags", EOPNOTSUPP),
             Rule("max_tso_header", "max_tso_header is 0 if the type has no "
                  "TSO", "ibv_create_qp_ex(3): max_tso_header",
                  EOPNOTSUPP),)),
    Verb("ibv_destroy_qp", "ibv_create_qp(3)",
         "destroys a queue pair", destroys="qp",
         effects="Its requests and its completions are gone. Windows of type "
         "2 that are bound through it are unbound.",
         rules=(Rule("attached", "it is attached to no multicast group",
                     "ibv_create_qp(3): NOTES", EBUSY),)),
    Verb("ibv_modify_qp", "ibv_modify_qp(3)",
         "changes the state and the attributes of a queue pair", ATTRS + PATH,
         MODIFYING, uses=("qp",), effects="RESET forgets all requests and "
         "completions. ERR completes all requests with WR_FLUSH_ERR. SQD "
         "keeps those that are posted until RTS."),
    Verb("ibv_query_qp", "ibv_query_qp(3)",
         "tells the attributes of a queue pair", (
             Argument("attr", "struct ibv_qp_attr *", "where to write them"),
             Argument("attr_mask", "int", "which are wanted; all are told"),
             Argument("init_attr", "struct ibv_qp_init_attr *",
                      "where to write what it was made with"),),
         uses=("qp",)),
    Verb("ibv_create_ah", "ibv_create_ah(3)",
         "makes an address handle", (
             Argument("dlid", "uint16_t", "has no effect on RoCE"),
             Argument("is_global", "uint8_t", "whether there is a GRH", (1,),
                      {"is_global": (0,)}),
             Argument("port_num", "uint8_t", "port", (1,),
                      {"port": (0, 2, 255)}),
             Argument("grh.dgid", "union ibv_gid", "address of the other end, "
                      "or of a group"),
             Argument("grh.sgid_index", "uint8_t", "which address of this end",
                      wrong={"sgid_index": (255,)}),
             replace(AH_PATH[0], wrong={"sl": (8, 255)}),
             *AH_PATH[1:], AH_HOPS),
         makes="ah", uses=("pd",), rules=(
             Rule("is_global", "on RoCE there is a GRH",
                  "ibv_create_ah(3): is_global", EINVAL),
             Rule("port", "port_num is one of the device's ports",
                  "ibv_create_ah(3); IBTA 11.2.2.1", EINVAL),
             Rule("sgid_index", "the port has an address at sgid_index",
                  "ibv_create_ah(3): sgid_index; errno: the RDMA core's "
                  "rdma_get_gid_attr()", ENODATA),
             Rule("sl", "sl is at most 7", "IBTA A17.4.2; IEEE 802.1Q: PCP",
                  EINVAL),)),
    Verb("ibv_init_ah_from_wc", "ibv_create_ah_from_wc(3)",
         "tells the address of the sender of a datagram", FROM_WC + (
             Argument("ah_attr", "struct ibv_ah_attr *", "where to write it"),),
         returns=MINUS, rules=FROM_WC_RULES),
    Verb("ibv_create_ah_from_wc", "ibv_create_ah_from_wc(3)",
         "makes an address handle of the sender of a datagram", FROM_WC,
         makes="ah", uses=("pd",), returns="the object, or NULL",
         rules=FROM_WC_RULES),
    Verb("ibv_query_qp_data_in_order", "ibv_query_qp_data_in_order(3)",
         "tells whether data of a message is written in order, of which mynic "
         "guarantees nothing", (
             Argument("op", "enum ibv_wr_opcode", "operation", ORDERED),
             Argument("flags", "uint32_t", "1: RETURN_CAPS", (0, 1)),),
         uses=("qp",), returns="0: no order"),
    Verb("ibv_destroy_ah", "ibv_create_ah(3)",
         "destroys an address handle", destroys="ah"),
    Verb("ibv_attach_mcast", "ibv_attach_mcast(3)",
         "has a queue pair receive what is sent to a group; once or several "
         "times is the same",
         (Argument("gid", "const union ibv_gid *", "address of the group"),
          Argument("lid", "uint16_t", "has no effect on RoCE")),
         uses=("qp",), rules=(
             Rule("qp_type", "the queue pair is of type UD",
                  "ibv_attach_mcast(3): NOTES", EINVAL),
             Rule("group", "gid is that of a group", "ibv_attach_mcast(3)",
                  EINVAL),)),
    Verb("ibv_detach_mcast", "ibv_attach_mcast(3)",
         "ends that",
         (Argument("gid", "const union ibv_gid *", "address of the group"),
          Argument("lid", "uint16_t", "has no effect on RoCE")),
         uses=("qp",), rules=(
             Rule("qp_type", "the queue pair is of type UD",
                  "ibv_attach_mcast(3): NOTES", EINVAL),
             Rule("attached", "the queue pair is attached to the group",
                  "IBTA 11.3.2", EINVAL),)),
)
