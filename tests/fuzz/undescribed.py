# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What there is, and verbs.py does not describe, with the reason.

Functions of verbs.h and of the provider, opcodes, builders, readers of
completions, errnos of manual pages, and asynchronous events. The list only
becomes shorter.
"""

TEXT = "makes a text of a number; no device has a part in it"
NUMBER = "makes a number of a number; no device has a part in it"
CAST = "gives the same object another type"
LIST = "is of the list of devices; the runner opens devices with it"
WHOLE = "is about the whole process, before its first call"
HANDLE = "is of DMA handles, which the guests' libibverbs does not have"
COUNTER = "is of completion counters, which the guests' libibverbs does not " \
          "have"

UNDESCRIBED = {
    "ibv_alloc_dmah": HANDLE,
    "ibv_cq_ex_to_cq": CAST,
    "ibv_create_comp_cntr": COUNTER,
    "ibv_dealloc_dmah": HANDLE,
    "ibv_destroy_comp_cntr": COUNTER,
    "ibv_event_type_str": TEXT,
    "ibv_flow_label_to_udp_sport": NUMBER,
    "ibv_fork_init": WHOLE,
    "ibv_free_device_list": LIST,
    "ibv_get_device_guid": LIST,
    "ibv_get_device_index": LIST,
    "ibv_get_device_list": LIST,
    "ibv_get_device_name": LIST,
    "ibv_inc_comp_cntr": COUNTER,
    "ibv_inc_err_comp_cntr": COUNTER,
    "ibv_inc_rkey": NUMBER,
    "ibv_is_fork_initialized": WHOLE,
    "ibv_is_qpt_supported": NUMBER,
    "ibv_node_type_str": TEXT,
    "ibv_port_state_str": TEXT,
    "ibv_qp_attach_comp_cntr": COUNTER,
    "ibv_qp_to_qp_ex": CAST,
    "ibv_query_comp_cntr_caps": COUNTER,
    "ibv_query_gid_table": "tells what ibv_query_gid_ex() tells of each entry",
    "ibv_query_port_speed": "is not in the guests' libibverbs",
    "ibv_rate_to_mbps": NUMBER,
    "ibv_rate_to_mult": NUMBER,
    "ibv_read_comp_cntr": COUNTER,
    "ibv_read_err_comp_cntr": COUNTER,
    "ibv_reg_mr_ex": HANDLE,
    "ibv_resolve_eth_l2_from_gid": "asks the network of the host, not the "
                                   "device",
    "ibv_set_comp_cntr": COUNTER,
    "ibv_set_err_comp_cntr": COUNTER,
    "ibv_static_providers": "is for programs that are linked statically",
    "ibv_wc_status_str": TEXT,
    "ibv_wr_opcode_str": TEXT,
    "opcode DRIVER1": "libibverbs alone cannot make its queue pairs",
}
