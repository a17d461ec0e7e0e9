# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Devices, contexts, and objects that several contexts share."""

import errno

from words import EINVAL, EOPNOTSUPP, EPERM
from words import Refused, Rule, Verb

EBADF = Refused(errno.EBADF)
EFAULT = Refused(errno.EFAULT)
ENOENT = Refused(errno.ENOENT)

# enum ibv_advise_mr_advice: those that there are
PREFETCH, PREFETCH_WRITE, PREFETCH_NO_FAULT = range(3)

HANDLE = Rule("handle", "the handle is one of the context's file",
              "ibv_import_pd(3)", ENOENT)

DEVICE_VERBS = (
    Verb("ibv_open_device", "open_device", "ibv_open_device(3)",
         "makes a context: what is made in one is not seen in another",
         makes="ctx"),
    Verb("ibv_import_device", "import_device", "ibv_import_device(3)",
         "makes a context that shares the file of another one", makes="ctx",
         uses=("ctx",), rules=(
             Rule("file", "cmd_fd is the file of a context",
                  "ibv_import_device(3)", EINVAL),)),
    Verb("ibv_close_device", "destroy", "ibv_open_device(3)",
         "ends a context", destroys="ctx"),
    Verb("ibv_query_device_ex", "query_device", "ibv_query_device_ex(3)",
         "tells what the device is able to do, which never changes", rules=(
             Rule("comp_mask", "comp_mask of the input is 0",
                  "ibv_query_device_ex(3)", EINVAL),)),
    Verb("ibv_query_port", "query_port", "ibv_query_port(3)",
         "tells the attributes of a port", rules=(
             Rule("port", "port_num is one of the device's ports",
                  "ibv_query_port(3)", EINVAL),)),
    Verb("ibv_query_rt_values_ex", "query_rt_values",
         "ibv_query_rt_values_ex(3)",
         "tells the device's time, which never goes back", rules=(
             Rule("comp_mask", "comp_mask has only IBV_VALUES_MASK_RAW_CLOCK",
                  "ibv_query_rt_values_ex(3)", EINVAL),)),
    Verb("ibv_import_pd", "import_pd", "ibv_import_pd(3)",
         "finds a protection domain of another context of the same file",
         makes="pd", uses=("ctx", "pd"), rules=(HANDLE,)),
    Verb("ibv_unimport_pd", "unimport", "ibv_import_pd(3)",
         "forgets a protection domain, and leaves it as it is"),
    Verb("ibv_import_mr", "import_mr", "ibv_import_mr(3)",
         "finds a memory region of another context of the same file",
         makes="mr", uses=("pd", "mr"), rules=(HANDLE,)),
    Verb("ibv_unimport_mr", "unimport", "ibv_import_mr(3)",
         "forgets a memory region, and leaves it as it is"),
    Verb("ibv_import_dm", "import_dm", "ibv_import_dm(3)",
         "finds device memory of another context of the same file",
         makes="dm", uses=("ctx", "dm"), rules=(HANDLE,)),
    Verb("ibv_unimport_dm", "unimport", "ibv_import_dm(3)",
         "forgets device memory, and leaves it as it is"),
    Verb("ibv_advise_mr", "advise_mr", "ibv_advise_mr(3)",
         "has memory of a region with IBV_ACCESS_ON_DEMAND found beforehand",
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
    Verb("ibv_reg_mr_iova2", "reg_mr", "ibv_reg_mr(3)",
         "as ibv_reg_mr_iova(), and a device need not know the rights of "
         "IBV_ACCESS_OPTIONAL_RANGE", makes="mr", uses=("pd",), rules=(
             Rule("iova", "address and hca_va have the same offset in a page",
                  "IBTA 10.6.2.5", EINVAL),)),
    Verb("ibv_reg_dmabuf_mr", "reg_dmabuf_mr", "ibv_reg_mr(3)",
         "lets the device use memory of a dma-buf", makes="mr", uses=("pd",),
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
    Verb("ibv_query_ece", "query_ece", "ibv_query_ece(3)",
         "tells the options of a connection: up to RTR those that can be "
         "had, then those that both ends have", uses=("qp",), rules=(
             Rule("qp_type", "the queue pair is of type RC, UC or XRC_SEND",
                  "ibv_query_ece(3): RETURN VALUE", EOPNOTSUPP),)),
    Verb("ibv_set_ece", "set_ece", "ibv_set_ece(3)",
         "asks for options of a connection, of which those that can be had "
         "are taken", uses=("qp",), rules=(
             Rule("qp_type", "the queue pair is of type RC, UC or XRC_SEND",
                  "ibv_set_ece(3): RETURN VALUE", EOPNOTSUPP),
             Rule("vendor", "vendor_id is what ibv_query_ece() told",
                  "ibv_set_ece(3): RETURN VALUE", EINVAL),
             Rule("comp_mask", "comp_mask is 0",
                  "ibv_set_ece(3): RETURN VALUE", EINVAL),
             Rule("state", "the queue pair is in RESET or INIT",
                  "ibv_set_ece(3)", EINVAL),)),
    Verb("ibv_modify_qp_rate_limit", "rate_limit",
         "ibv_modify_qp_rate_limit(3)",
         "limits how fast a queue pair sends", uses=("qp",), rules=(
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
    Verb("ibv_open_qp", "open_qp", "ibv_open_qp(3)",
         "makes one more handle of an XRC_RECV queue pair, which exists as "
         "long as one of them", makes="qp", uses=("xrcd", "qp"), rules=(
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
    "ib_uverbs_ex_modify_wq": "leaves a work queue in use for ever when it "
                              "refuses a state that there is not: "
                              "ibv_destroy_wq() returns EBUSY then",
}

# What manual pages, headers and the provider name, and mynic never has
DEVICE_ABSENT = {
    "event CLIENT_REREGISTER": "it comes from a subnet manager",
    "event LID_CHANGE": "RoCE has no LIDs",
    "event PATH_MIG": "mynic has no alternate paths",
    "event PATH_MIG_ERR": "mynic has no alternate paths",
    "event PKEY_CHANGE": "RoCE has one P_Key",
    "event SM_CHANGE": "RoCE has no subnet manager",
    "ibv_advise_mr(3) ENOMEM": "it depends on the memory of the host",
    "ibv_query_ece(3) EINVAL": "there is nothing to be invalid",
    "ibv_advise_mr(3) ENOSYS": "only old versions of libibverbs return it",
    "ibv_modify_qp_rate_limit(3) EOPNOTSUPP": "mynic has the verb",
    "ibv_modify_qp_rate_limit(3) ENOSYS":
        "only old versions of libibverbs return it",
}
