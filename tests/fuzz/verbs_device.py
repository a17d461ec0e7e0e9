# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Devices, contexts, and objects that several contexts share."""

from verbs_memory import HCA_VA, KNOWN_RIGHTS, MEMORY, REGION_LENGTH
from words import EBADF, EFAULT, EINVAL, EIO, ENODATA, ENOENT
from words import EOPNOTSUPP, EPERM
from words import MINUS, Argument, Returns, Rule, Verb

# enum ibv_advise_mr_advice: those that there are
PREFETCH, PREFETCH_WRITE, PREFETCH_NO_FAULT = range(3)

HANDLE = Rule("handle", "the handle is one of the context's file",
              "ibv_import_pd(3)", ENOENT)

# Rule of all calls that need the kernel and do not destroy. Programs break it with
# these.
ALIVE = Rule("alive", "the device has not failed since the context was made",
             "mynic(4): Health; Documentation/abi.rst: Lifetime", EIO)
FAILING = ("ibv_alloc_pd", "ibv_create_cq", "ibv_modify_qp", "ibv_query_port",
           "ibv_query_qp", "ibv_reg_mr")

IMPORTED = (
    Argument("handle", "uint32_t", "of the object in the kernel",
             wrong={"handle": (0xffffff,)}),
)

DEVICE_VERBS = (
    Verb("ibv_open_device", "ibv_open_device(3)",
         "makes a context: what is made in one is not seen in another",
         makes="ctx"),
    Verb("ibv_import_device", "ibv_import_device(3)",
         "makes a context that shares the file of another one", arguments=(
             Argument("cmd_fd", "int", "file of a context"),),
         makes="ctx",
         uses=("ctx",), rules=(
             Rule("file", "cmd_fd is the file of a context",
                  "ibv_import_device(3)", EINVAL),)),
    Verb("ibv_close_device", "ibv_open_device(3)",
         "ends a context", destroys="ctx"),
    Verb("ibv_query_device_ex", "ibv_query_device_ex(3)",
         "tells what the device is able to do, which never changes", arguments=(
             Argument("comp_mask", "uint32_t", "no bits yet", (0,),
                 {"comp_mask": (1, 1 << 31)}),
             Argument("attr", "struct ibv_device_attr_ex *", "where to write "
                 "it"),),
         rules=(
             Rule("comp_mask", "comp_mask of the input is 0",
                  "ibv_query_device_ex(3)", EINVAL),)),
    Verb("ibv_query_device", "ibv_query_device(3)",
         "tells some of what the device is able to do", (
             Argument("device_attr", "struct ibv_device_attr *",
                      "where to write it"),)),
    Verb("ibv_query_gid", "ibv_query_gid(3)",
         "tells an address of a port", (
             Argument("port_num", "uint8_t", "port", (1,),
                      {"port": (0, 2, 255)}),
             Argument("index", "int", "which of them",
                      wrong={"index": (1 << 20, -1)}),
             Argument("gid", "union ibv_gid *", "where to write it"),),
         returns=MINUS, rules=(
             Rule("port", "port_num is one of the device's ports",
                  "ibv_query_gid(3); IBTA 11.2.1.2", Returns(-1)),
             Rule("index", "index is less than gid_tbl_len",
                  "ibv_query_gid(3); ibv_query_port(3)", Returns(-1)),)),
    Verb("ibv_query_gid_ex", "ibv_query_gid_ex(3)",
         "tells an address of a port, and its type and network device", (
             Argument("port_num", "uint32_t", "port", (1,),
                      {"port": (0, 2, 255)}),
             Argument("gid_index", "uint32_t", "which of them",
                      wrong={"index": (1 << 20, (1 << 32) - 1),
                             "empty": (100,)}),
             Argument("entry", "struct ibv_gid_entry *", "where to write it"),
             Argument("flags", "uint32_t", "no bits yet", (0,),
                      {"flags": (1, 1 << 31)}),), rules=(
             Rule("port", "port_num is one of the device's ports",
                  "ibv_query_gid_ex(3): ERRORS", EINVAL),
             Rule("index", "gid_index is less than gid_tbl_len",
                  "ibv_query_gid_ex(3): ERRORS", EINVAL),
             Rule("empty", "there is an address at the index",
                  "ibv_query_gid_ex(3): ERRORS", ENODATA),
             Rule("flags", "flags is 0",
                  "the kernel's uverbs_std_types_device.c", EINVAL),)),
    Verb("ibv_query_pkey", "ibv_query_pkey(3)",
         "tells a P_Key of a port", (
             Argument("port_num", "uint8_t", "port", (1,),
                      {"port": (0, 2, 255)}),
             Argument("index", "int", "which of them", (0,),
                      {"index": (1, 1 << 20, -1)}),
             Argument("pkey", "__be16 *", "where to write it"),),
         returns=MINUS, rules=(
             Rule("port", "port_num is one of the device's ports",
                  "ibv_query_pkey(3); IBTA 11.2.1.2", Returns(-1)),
             Rule("index", "index is less than pkey_tbl_len",
                  "ibv_query_pkey(3); ibv_query_port(3)", Returns(-1)),)),
    Verb("ibv_get_pkey_index", "ibv_get_pkey_index(3)",
         "finds a P_Key of a port", (
             Argument("port_num", "uint8_t", "port", (1,),
                      {"port": (0, 2, 255)}),
             Argument("pkey", "__be16", "the P_Key", (0xffff,),
                      {"pkey": (0, 1)}),),
         returns="the index, or -1", rules=(
             Rule("port", "port_num is one of the device's ports",
                  "ibv_get_pkey_index(3)", Returns(-1)),
             Rule("pkey", "the port has the P_Key", "ibv_get_pkey_index(3)",
                  Returns(-1)),)),
    Verb("ibv_query_port", "ibv_query_port(3)",
         "tells the attributes of a port", arguments=(
             Argument("port_num", "uint8_t", "port", (1,), {"port": (0, 2,
                 255)}),
             Argument("port_attr", "struct ibv_port_attr *", "where to write "
                 "them"),),
         rules=(
             Rule("port", "port_num is one of the device's ports",
                  "ibv_query_port(3)", EINVAL),)),
    Verb("ibv_query_rt_values_ex", "ibv_query_rt_values_ex(3)",
         "tells the device's time, which never goes back", arguments=(
             Argument("comp_mask", "uint32_t", "1: RAW_CLOCK", (1,),
                 {"comp_mask": (2, 3, 1 << 31)}),),
         rules=(
             Rule("comp_mask", "comp_mask has only IBV_VALUES_MASK_RAW_CLOCK",
                  "ibv_query_rt_values_ex(3)", EINVAL),)),
    Verb("ibv_import_pd", "ibv_import_pd(3)",
         "finds a protection domain of another context of the same file",
         arguments=IMPORTED,
         makes="pd", uses=("ctx", "pd"), rules=(HANDLE,)),
    Verb("ibv_unimport_pd", "ibv_import_pd(3)",
         "forgets a protection domain, and leaves it as it is"),
    Verb("ibv_import_mr", "ibv_import_mr(3)",
         "finds a memory region of another context of the same file",
         arguments=IMPORTED,
         makes="mr", uses=("pd", "mr"), rules=(HANDLE,)),
    Verb("ibv_unimport_mr", "ibv_import_mr(3)",
         "forgets a memory region, and leaves it as it is"),
    Verb("ibv_import_dm", "ibv_import_dm(3)",
         "finds device memory of another context of the same file",
         arguments=IMPORTED,
         makes="dm", uses=("ctx", "dm"), rules=(HANDLE,)),
    Verb("ibv_unimport_dm", "ibv_import_dm(3)",
         "forgets device memory, and leaves it as it is"),
    Verb("ibv_advise_mr", "ibv_advise_mr(3)",
         "has memory of a region with IBV_ACCESS_ON_DEMAND found beforehand",
         arguments=(
             Argument("advice", "enum ibv_advise_mr_advice", "PREFETCH, "
                 "PREFETCH_WRITE, or PREFETCH_NO_FAULT", (0, 1, 2), {"advice":
                 (3, 255)}),
             Argument("flags", "uint32_t", "1: FLUSH", (0, 1), {"flags": (2,
                 1 << 31)}),
             Argument("sg_list", "struct ibv_sge *", "ranges and keys"),
             Argument("num_sge", "uint32_t", "their number"),),
         uses=("pd", "mr"), rules=(
             Rule("advice", "there is such an advice",
                  "ibv_advise_mr(3): RETURN VALUE", EOPNOTSUPP),
             Rule("flags", "flags has only IBV_ADVISE_MR_FLAG_FLUSH",
                  "ibv_advise_mr(3): RETURN VALUE", EINVAL),
             Rule("range", "the bytes are within the region",
                  "ibv_advise_mr(3): RETURN VALUE", EFAULT),
             Rule("on_demand", "the key is that of a region with "
                  "IBV_ACCESS_ON_DEMAND",
                  "ibv_advise_mr(3): RETURN VALUE", ENOENT),
             Rule("pd", "the region is in the protection domain",
                  "ibv_advise_mr(3): RETURN VALUE", EPERM),
             Rule("writable", "PREFETCH_WRITE: the region has "
                  "IBV_ACCESS_LOCAL_WRITE",
                  "ibv_advise_mr(3): RETURN VALUE", EPERM),)),
    Verb("ibv_reg_mr_iova2", "ibv_reg_mr(3)",
         "as ibv_reg_mr_iova(), and a device need not know the rights of "
         "IBV_ACCESS_OPTIONAL_RANGE", arguments=MEMORY + (HCA_VA,),
         makes="mr", uses=("pd",), rules=(
             Rule("iova", "address and hca_va have the same offset in a page",
                  "IBTA 10.6.2.5", EINVAL),
             KNOWN_RIGHTS,)),
    Verb("ibv_reg_dmabuf_mr", "ibv_reg_mr(3)",
         "lets the device use memory of a dma-buf", arguments=(
             Argument("offset", "uint64_t", "first byte in the dma-buf"),
             REGION_LENGTH,
             Argument("iova", "uint64_t", "what requests call it"),
             Argument("fd", "int", "file of the dma-buf", wrong={"open":
                 (-1,)}),
             Argument("access", "int", "rights"),),
         makes="mr", uses=("pd",),
         rules=(
             Rule("fd", "fd is a dma-buf", "ibv_reg_mr(3)", EINVAL),
             Rule("open", "fd is an open file", "ibv_reg_mr(3)", EBADF),
             Rule("range", "the bytes are within the dma-buf",
                  "ibv_reg_mr(3)", EINVAL),
             Rule("iova", "offset and iova have the same offset in a page",
                  "IBTA 10.6.2.5", EINVAL),
             Rule("access", "access has only the rights of local and remote "
                  "access: neither MW_BIND nor ZERO_BASED, nor those of FLUSH",
                  "the kernel's uverbs_std_types_mr.c", EINVAL),
             Rule("remote_needs_local",
                  "REMOTE_WRITE and REMOTE_ATOMIC only with LOCAL_WRITE",
                  "ibv_reg_mr(3)", EINVAL),)),
    Verb("ibv_query_ece", "ibv_query_ece(3)",
         "tells the options of a connection: up to RTR those that can be "
         "had, then those that both ends have", arguments=(
             Argument("ece", "struct ibv_ece *", "where to write them"),),
         uses=("qp",), rules=(
             Rule("qp_type", "the queue pair is of type RC, UC or XRC_SEND",
                  "ibv_query_ece(3): RETURN VALUE", EOPNOTSUPP),)),
    Verb("ibv_set_ece", "ibv_set_ece(3)",
         "asks for options of a connection, of which those that can be had "
         "are taken", arguments=(
             Argument("vendor_id", "uint32_t", "what ibv_query_ece() told",
                 wrong={"vendor": (1,)}),
             Argument("options", "uint32_t", "what is asked for", (0, 1, (1
                 << 32) - 1)),
             Argument("comp_mask", "uint32_t", "no bits yet", (),
                 {"comp_mask": (1,)}),),
         uses=("qp",), rules=(
             Rule("qp_type", "the queue pair is of type RC, UC or XRC_SEND",
                  "ibv_set_ece(3): RETURN VALUE", EOPNOTSUPP),
             Rule("vendor", "vendor_id is what ibv_query_ece() told",
                  "ibv_set_ece(3): RETURN VALUE", EINVAL),
             Rule("comp_mask", "comp_mask is 0",
                  "ibv_set_ece(3): RETURN VALUE", EINVAL),
             Rule("state", "the queue pair is in RESET or INIT",
                  "ibv_set_ece(3)", EINVAL),)),
    Verb("ibv_modify_qp_rate_limit", "ibv_modify_qp_rate_limit(3)",
         "limits how fast a queue pair sends", arguments=(
             Argument("rate_limit", "uint32_t", "kbit/s, or 0 for no limit",
                 (0, 10000000, "qp_rate_limit_max"), {"rate":
                 ("qp_rate_limit_max+1",)}),
             Argument("max_burst_sz", "uint32_t", "bytes of a burst", (),
                 {"burst": (64,)}),
             Argument("typical_pkt_sz", "uint16_t", "bytes of a packet", (),
                 {"packet": (64,)}),),
         uses=("qp",), rules=(
             Rule("qp_type", "the queue pair has a send queue",
                  "ibv_modify_qp_rate_limit(3): ERRORS", EINVAL),
             Rule("state", "the queue pair is in RTS",
                  "ibv_modify_qp_rate_limit(3): ERRORS", EINVAL),
             Rule("rate", "rate_limit is at most qp_rate_limit_max",
                  "ibv_modify_qp_rate_limit(3): ERRORS", EINVAL),
             Rule("burst", "max_burst_sz is 0: the device has no bursts",
                  "ibv_modify_qp_rate_limit(3): ERRORS", EINVAL),
             Rule("packet", "typical_pkt_sz is 0, likewise",
                  "ibv_modify_qp_rate_limit(3): ERRORS", EINVAL),)),
    Verb("ibv_open_qp", "ibv_open_qp(3)",
         "makes one more handle of an XRC_RECV queue pair, which exists as "
         "long as one of them", arguments=(
             Argument("comp_mask", "uint32_t", "1: QP_NUM, 2: XRCD, 4: "
                 "CONTEXT, 8: TYPE", (11,), {"comp_mask": (0, 7)}),
             Argument("qp_num", "uint32_t", "its number", (), {"number":
                 (0xfffffe,)}),
             Argument("xrcd", "struct ibv_xrcd *", "the XRC domain"),
             Argument("qp_type", "enum ibv_qp_type", "XRC_RECV", (10,),
                 {"type": (2,)}),),
         makes="qp", uses=("xrcd", "qp"), rules=(
             Rule("number", "the domain has a queue pair of the number",
                  "ibv_open_qp(3): NOTES", EINVAL),
             Rule("type", "qp_type is XRC_RECV",
                  "ibv_open_qp(3): NOTES", EINVAL),
             Rule("comp_mask", "comp_mask has domain, number and type",
                  "ibv_open_qp(3)", EINVAL),)),
)

# Faults of Linux that the descriptions are not held to
KERNEL = {
    "ib_uverbs_open_qp": "gives what it opens no file for events: the "
                         "asynchronous events of a queue pair that only "
                         "ibv_open_qp() has left are lost",
    "modify_qp() of uverbs": "adds IB_QP_PORT to IB_QP_AV from SQD to SQD, "
                             "which UC does not take there: UC cannot change "
                             "its path",
    "ib_uverbs_ex_modify_wq": "leaves a work queue in use for ever when it "
                              "refuses a state that there is not: "
                              "ibv_destroy_wq() returns EBUSY then",
}

# What manual pages, headers and the provider name, and mynic never has
DEVICE_ABSENT = {
    "ibv_create_flow_action_esp": "mynic has no IPsec",
    "ibv_destroy_flow_action": "mynic has no IPsec",
    "ibv_modify_flow_action_esp": "mynic has no IPsec",
    "event CLIENT_REREGISTER": "it comes from a subnet manager",
    "event LID_CHANGE": "RoCE has no LIDs",
    "event PATH_MIG": "mynic has no alternate paths",
    "event PATH_MIG_ERR": "mynic has no alternate paths",
    "event PKEY_CHANGE": "RoCE has one P_Key",
    "event SM_CHANGE": "RoCE has no subnet manager",
    "ibv_advise_mr(3) ENOMEM": "it depends on the memory of the host",
    "ibv_rereg_mr(3) IBV_REREG_MR_ERR_DONT_FORK_NEW":
        "the kernel would have to refuse madvise()",
    "ibv_rereg_mr(3) IBV_REREG_MR_ERR_DO_FORK_OLD": "the same",
    "ibv_rereg_mr(3) IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW": "the same",
    "ibv_query_ece(3) EINVAL": "there is nothing to be invalid",
    "ibv_advise_mr(3) ENOSYS": "only old versions of libibverbs return it",
    "ibv_modify_qp_rate_limit(3) EOPNOTSUPP": "mynic has the verb",
    "ibv_modify_qp_rate_limit(3) ENOSYS":
        "only old versions of libibverbs return it",
}
