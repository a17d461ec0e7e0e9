# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""How the runner calls verbs and arguments."""

import re

import verbs

# Those that are not called as the verb without "ibv_" and "_ex"
CALLS = {
    "ibv_ack_async_event": "get_async_event",
    "ibv_attach_counters_point_flow": "attach_counters",
    "ibv_create_comp_channel": "create_channel",
    "ibv_create_rwq_ind_table": "create_table",
    "ibv_end_poll": "poll",
    "ibv_modify_qp_rate_limit": "rate_limit",
    "ibv_next_poll": "poll",
    "ibv_poll_cq": "poll",
    "ibv_query_device": "query_device_basic",
    "ibv_query_gid_ex": "query_gid_ex",
    "ibv_reg_mr_iova": "reg_mr",
    "ibv_reg_mr_iova2": "reg_mr",
    "ibv_start_poll": "poll",
    "ibv_unimport_dm": "unimport",
    "ibv_unimport_mr": "unimport",
    "ibv_unimport_pd": "unimport",
    "ibv_wr_abort": "wr_batch",
    "ibv_wr_complete": "wr_batch",
}

# Arguments that are not called as in libibverbs
WORDS = {
    "ah_attr": "to",
    "ah_attr.grh.flow_label": "flow",
    "ah_attr.grh.traffic_class": "tc",
    "ah_attr.sl": "sl",
    "attr_mask": "mask",
    "comp_mask": "mask",
    "comp_vector": "vector",
    "counter_desc": "what",
    "cq_count": "count",
    "cq_period": "period",
    "create_flags": "flags",
    "cur_qp_state": "cur",
    "curr_wq_state": "cur",
    "dm_offset": "at",
    "dst_ip": "dst",
    "dst_port": "dport",
    "dest_qp_num": "dest",
    "en_sqd_async_notify": "notify",
    "ether_type": "ether",
    "is_global": "global",
    "gid_index": "index",
    "grh.flow_label": "flow",
    "grh.sgid_index": "sgid",
    "grh.hop_limit": "hop",
    "grh.traffic_class": "tc",
    "length": "len",
    "log_align_req": "align",
    "log_ind_tbl_size": "log",
    "max_burst_sz": "burst",
    "max_dest_rd_atomic": "dest_rd",
    "max_inline_data": "inline",
    "max_num_tags": "tags",
    "max_ops": "ops",
    "max_rd_atomic": "rd",
    "max_recv_sge": "rsge",
    "max_recv_wr": "rwr",
    "max_send_sge": "ssge",
    "max_send_wr": "swr",
    "max_sge": "sge",
    "max_tso_header": "tso",
    "max_wr": "wr",
    "min_rnr_timer": "min_rnr",
    "nevents": "n",
    "num_entries": "most",
    "oflags": "oflag",
    "path_mtu": "mtu",
    "pkey_index": "pkey",
    "port_num": "port",
    "qp_access_flags": "access",
    "qp_num": "number",
    "qp_type": "type",
    "rate_limit": "rate",
    "retry_cnt": "retry",
    "rnr_retry": "rnr",
    "rx_hash_fields_mask": "fields",
    "rx_hash_function": "function",
    "send_ops_flags": "ops",
    "solicited_only": "solicited",
    "sq_sig_all": "sig_all",
    "srq_type": "type",
    "src_ip": "src",
    "src_port": "sport",
    "srq_attr_mask": "mask",
    "srq_limit": "limit",
    "tcp_udp.type": "l4",
    "typical_pkt_sz": "packet",
    "vendor_id": "vendor",
    "vlan_tag": "vlan",
    "wq_state": "state",
    "wq_type": "type",
}
# The exceptions
WORDS_OF = {
    ("ibv_set_ece", "comp_mask"): "comp_mask",
}

BUILDERS = {op.opcode: op.builder for op in verbs.OPERATIONS}


def call(verb):
    """What the runner calls a verb"""
    if verb.destroys:
        return "destroy"
    return CALLS.get(verb.name,
                     verb.name.removeprefix("ibv_").removesuffix("_ex"))


def word(argument, verb=None):
    """What the runner calls an argument, of a verb"""
    return WORDS_OF.get((verb, argument.name),
                        WORDS.get(argument.name, argument.name))


def built(word):
    """The builder and the setters of a request in a critical section"""
    fields = dict(re.findall(r"(\w+)=([^,]*)", word.removeprefix("wr=")))
    setters = []
    if "ah" in fields:
        setters.append("ibv_wr_set_ud_addr")
    if "srqn" in fields:
        setters.append("ibv_wr_set_xrc_srqn")
    if "set" in fields:
        setters.append("ibv_wr_set_" + fields["set"])
    return BUILDERS[int(fields["op"])], setters
