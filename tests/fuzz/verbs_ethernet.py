# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Ethernet: work queues, tables of them, flow rules, and their counters."""

from headers import FLOW_SPEC_TCP, FLOW_SPEC_UDP
from words import EBUSY, EINVAL, ENOMEM, EOPNOTSUPP
from words import Argument, Masked, Rule, Span, Verb

# Ports that frames and rules have
FLOW_PORTS = (1000, 2000, 0xffff)

# enum ibv_wq_state
WQ_STATES = ("RESET", "RDY", "ERR")


def wq_transition(old, new):
    """Whether a work queue's state can change so: errors end in RESET only"""
    return (old, new) != ("ERR", "RDY")


# What a queue pair that spreads frames over work queues must be
SPREADING = (
    Rule("rss_type", "with an indirection table the type is RAW_PACKET",
         "ibv_create_qp_ex(3)", EOPNOTSUPP),
    Rule("rss_fields", "the device hashes all of rx_hash_fields_mask",
         "ibv_create_qp_ex(3): enum ibv_rx_hash_fields", EOPNOTSUPP),
    Rule("rss_function", "rx_hash_function is IBV_RX_HASH_FUNC_TOEPLITZ",
         "ibv_create_qp_ex(3)", EOPNOTSUPP),
    Rule("rss_key", "rx_hash_key_len is 40",
         "ibv_create_qp_ex(3); ibv_query_device_ex(3)", EINVAL),
)

ETHERNET_VERBS = (
    Verb("ibv_create_wq", "ibv_create_wq(3)",
         "makes a work queue for receiving", arguments=(
             Argument("wq_type", "enum ibv_wq_type", "RQ", (), {"type": (1,
                 255)}),
             Argument("max_wr", "uint32_t", "receive requests",
                 (16, "max_qp_wr"), {"max_wr": (0, 1 << 20, "max_qp_wr+1")}),
             Argument("max_sge", "uint32_t", "SGEs of each", (2,),
                 {"max_sge": (1 << 20, 1 << 31)}),
             Argument("pd", "struct ibv_pd *", "the protection domain"),
             Argument("cq", "struct ibv_cq *", "for completions"),
             Argument("create_flags", "uint32_t", "1: CVLAN_STRIPPING", (0,
                 1), {"flags": (2, 4, 16, 1 << 31)}),),
         makes="wq", uses=("pd", "cq"),
         rules=(
             Rule("max_wr", "max_wr is at least 1 and at most max_qp_wr",
                  "ibv_create_wq(3)", EINVAL),
             Rule("max_sge", "max_sge is at most that of the device",
                  "ibv_create_wq(3)", EINVAL),
             Rule("type", "wq_type is IBV_WQT_RQ", "ibv_create_wq(3)",
                  EINVAL),
             Rule("flags", "create_flags has only CVLAN_STRIPPING",
                  "ibv_create_wq(3)", EOPNOTSUPP),)),
    Verb("ibv_modify_wq", "ibv_modify_wq(3)",
         "changes the state of a work queue, or its flags", arguments=(
             Argument("attr_mask", "uint32_t", "which of the others are "
                 "there"),
             Argument("wq_state", "enum ibv_wq_state", "RESET, RDY, ERR", (0,
                 1, 2)),
             Argument("curr_wq_state", "enum ibv_wq_state", "the state "
                 "before", (0, 1, 2)),
             Argument("flags", "uint32_t", "1: CVLAN_STRIPPING", (0, 1),
                 {"flags": (2, 4, 1 << 31)}),
             Argument("flags_mask", "uint32_t", "flags to change"),),
         uses=("wq",), rules=(
             Rule("transition", "ERR is left for RESET only",
                  "ibv_modify_wq(3)", EINVAL),
             Rule("cur_state", "curr_wq_state is the state of the queue",
                  "ibv_modify_wq(3)", EINVAL),
             Rule("state", "there is such a state", "ibv_modify_wq(3)",
                  EINVAL, beyond="a fault of Linux: see KERNEL"),
             Rule("flags", "flags has only CVLAN_STRIPPING",
                  "ibv_modify_wq(3)", EOPNOTSUPP),)),
    Verb("ibv_destroy_wq", "ibv_create_wq(3)",
         "destroys a work queue", destroys="wq", rules=(
             Rule("unused", "it is in no table", "ibv_create_wq(3)",
                  EBUSY),)),
    Verb("ibv_post_wq_recv", "ibv_post_recv(3)",
         "posts a list of receive requests to a work queue", arguments=(
             Argument("wr", "struct ibv_recv_wr *", "as of ibv_post_recv()"),),
         uses=("wq",),
         rules=(
             Rule("num_sge", "num_sge is at most max_sge",
                  "ibv_create_wq(3)", EINVAL),
             Rule("room", "the queue has room", "ibv_create_wq(3)", ENOMEM),
             Rule("state", "the queue is not in RESET", "ibv_modify_wq(3)",
                  EINVAL),)),
    Verb("ibv_create_rwq_ind_table", "ibv_create_rwq_ind_table(3)",
         "makes a table of work queues",
         arguments=(
             Argument("log_ind_tbl_size", "uint32_t", "log2 of the number of "
                 "entries", (0, 1, 2), {"size": (8,)}),
             Argument("ind_tbl", "struct ibv_wq **", "the entries"),),
         makes="table", uses=("wq",), rules=(
             Rule("size", "log_ind_tbl_size is at most that of the device",
                  "ibv_create_rwq_ind_table(3); ibv_query_device_ex(3)",
                  EINVAL),)),
    Verb("ibv_destroy_rwq_ind_table", "ibv_create_rwq_ind_table(3)",
         "destroys a table", destroys="table",
         rules=(
             Rule("unused", "no queue pair uses it",
                  "ibv_create_rwq_ind_table(3)", EBUSY),)),
    Verb("ibv_create_flow", "ibv_create_flow(3)",
         "has a queue pair receive the frames that a rule matches",
         arguments=(
             Argument("type", "enum ibv_flow_attr_type", "0: NORMAL, 1: "
                 "ALL_DEFAULT, 2: MC_DEFAULT, 3: SNIFFER", (0, 1, 2, 3),
                 {"type": (4, 255)}),
             Argument("port", "uint8_t", "port", (), {"port": (0, 2, 255)}),
             Argument("priority", "uint16_t", "the lowest is asked first",
                 (0, 1, 2)),
             Argument("flags", "uint32_t", "2: DONT_TRAP", (0, 2), {"egress":
                 (4,)}),
             Argument("dst_mac", "uint8_t [6]", "address that the frame "
                 "goes to, here that of a group"),
             Argument("ether_type", "uint16_t", "what follows the last VLAN "
                 "tag", (0x0800, 0x86dd)),
             Argument("vlan_tag", "uint16_t", "the first VLAN tag, as "
                 "VALUE/MASK", (Masked(1, 0xfff), Masked(0x6000, 0xe000),
                 Masked(0x6123, 0xffff))),
             Argument("src_ip", "uint32_t", "address in the IPv4 header, as "
                 "VALUE/MASK", (Masked(0xc0000200, 0xffffff80),
                 Masked(0xc0000281, 0xffffff81),
                 Masked(0xc0000300, 0xffffff00))),
             Argument("dst_ip", "uint32_t", "the same of the other end",
                 (Masked(0xc00002c8, 0xffffffff),)),
             Argument("tcp_udp.type", "enum ibv_flow_spec_type",
                 "0x40: TCP, 0x41: UDP", (FLOW_SPEC_TCP, FLOW_SPEC_UDP),
                 {"spec": (0x70, 0xff)}),
             Argument("src_port", "uint16_t", "port of TCP or UDP",
                 FLOW_PORTS),
             Argument("dst_port", "uint16_t", "the same of the other end",
                 FLOW_PORTS),
             Argument("actions", "struct ibv_flow_spec", "tag, drop, or "
                 "counters"),),
         makes="flow", uses=("qp", "counters"), rules=(
             Rule("port", "port is one of the device's ports",
                  "ibv_create_flow(3): ERRORS", EINVAL),
             Rule("type", "there is such a type of rule",
                  "ibv_create_flow(3): ERRORS", EINVAL),
             Rule("qp_type", "the queue pair is of type RAW_PACKET",
                  "ibv_create_flow(3): NOTES", EOPNOTSUPP),
             Rule("egress", "flags does not have EGRESS: the device has no "
                  "rules for what it sends",
                  "ibv_create_flow(3)", EOPNOTSUPP),
             Rule("dont_trap", "DONT_TRAP only with IBV_FLOW_ATTR_NORMAL",
                  "ibv_create_flow(3): NOTES", EINVAL),
             Rule("drop", "the same of the action drop",
                  "Documentation/hardware/admin.rst: CREATE_FLOW", EINVAL),
             Rule("drop_dont_trap", "not both of them",
                  "Documentation/hardware/admin.rst: CREATE_FLOW", EINVAL),
             Rule("spec", "there is such a kind of header",
                  "ibv_create_flow(3): ERRORS", EINVAL),),
         effects="SNIFFER has a copy of what it matches. NORMAL takes a frame, or "
         "has a copy with DONT_TRAP. The others take what is left."),
    Verb("ibv_destroy_flow", "ibv_create_flow(3)",
         "ends a rule", destroys="flow"),
    Verb("ibv_create_counters", "ibv_create_counters(3)",
         "makes a set of counters", arguments=(
             Argument("comp_mask", "uint32_t", "no bits yet", (),
                 {"comp_mask": (1,)}),),
         makes="counters", rules=(
             Rule("comp_mask", "comp_mask is 0", "ibv_create_counters(3)",
                  EOPNOTSUPP),)),
    Verb("ibv_attach_counters_point_flow", "ibv_attach_counters_point_flow(3)",
         "says at which index a value is to be read", arguments=(
             Argument("counter_desc", "enum ibv_counter_description",
                 "PACKETS or BYTES", (0, 1), {"counter_desc": (2,)}),
             Argument("index", "uint32_t", "where it is read", (Span(0,
                 3),)),
             Argument("comp_mask", "uint32_t", "no bits yet", (),
                 {"comp_mask": (1,)}),),
         uses=("counters",),
         rules=(
             Rule("counter_desc", "there is such a value",
                  "ibv_attach_counters_point_flow(3): ERRORS", EOPNOTSUPP),
             Rule("comp_mask", "comp_mask is 0",
                  "ibv_attach_counters_point_flow(3)", EOPNOTSUPP),
             Rule("unbound", "no flow rule has the counters yet",
                  "ibv_attach_counters_point_flow(3): ERRORS", EBUSY),)),
    Verb("ibv_read_counters", "ibv_read_counters(3)",
         "reads counters, summed up at each index", arguments=(
             Argument("counters_value", "uint64_t *", "where to write them"),
             Argument("ncounters", "uint32_t", "how many"),
             Argument("flags", "uint32_t", "1: PREFER_CACHED", (0, 1)),),
         uses=("counters",),
         rules=(
             Rule("bound", "a flow rule has the counters",
                  "the kernel's uverbs_std_types_counters.c", EINVAL),
             Rule("ncounters", "the array has all indexes",
                  "ibv_read_counters(3)", EINVAL),)),
    Verb("ibv_destroy_counters", "ibv_create_counters(3)",
         "destroys a set of counters", destroys="counters", rules=(
             Rule("unused", "no flow rule has it", "ibv_create_counters(3)",
                  EBUSY),)),
)

# As verbs_device.ABSENT
ETHERNET_ABSENT = {
    "ibv_create_flow(3) ENOMEM": "it depends on the memory of the host",
    "ibv_create_flow(3) ENXIO": "only other devices return it",
    "ibv_create_flow(3) EPERM": "the runner has all rights",
    "ibv_create_counters(3) ENOMEM": "it depends on the memory of the host",
    "ibv_create_counters(3) ENOSYS":
        "only old versions of libibverbs return it",
    "ibv_create_counters(3) EINVAL": "it is for no counters at all",
    "ibv_read_counters(3) EOPNOTSUPP": "it is of another function",
    "ibv_attach_counters_point_flow(3) ENOMEM":
        "it depends on the memory of the host",
    "ibv_attach_counters_point_flow(3) EINVAL":
        "it is for no counters at all",
}
