# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Protection domains, memory regions and windows, and memory of the device."""

from dataclasses import replace

from headers import ACCESS, access
from words import EBUSY, EINVAL, ENOMEM, EOPNOTSUPP
from words import Argument, Flags, Returns, Rule, Verb

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


def unused(what, page):
    """An object is not destroyed while others use it."""
    return (Rule("unused", f"no object uses the {what}", page, EBUSY),)


REGION_LENGTH = Argument("length", "size_t", "bytes",
                         (1, 8, 4096, 65536, 131072))
MEMORY = (
    Argument("addr", "void *", "first byte"),
    REGION_LENGTH,
    Argument("access", "int", "rights", (Flags(ACCESS),),
             {"access": (1 << 12, 1 << 30)}),
)
KNOWN_RIGHTS = Rule("access", "access has only rights that there are, and "
                    "those that a device need not know: bits 20 to 29",
                    "verbs.h: IBV_ACCESS_OPTIONAL_RANGE; errno: the RDMA core's "
                    "ib_check_mr_access()", EINVAL)
HCA_VA = Argument("hca_va", "uint64_t", "what requests call the first byte")
COPIED = (
    Argument("dm_offset", "uint64_t", "first byte in the memory"),
    Argument("host_addr", "void *", "first byte in the process"),
    Argument("length", "size_t", "bytes, a multiple of 4"),
)

MEMORY_VERBS = (
    Verb("ibv_alloc_pd", "ibv_alloc_pd(3)",
         "makes a protection domain", makes="pd"),
    Verb("ibv_dealloc_pd", "ibv_alloc_pd(3)",
         "destroys a protection domain or a parent domain", destroys="pd",
         rules=unused("protection domain", "ibv_alloc_pd(3)")),
    Verb("ibv_alloc_td", "ibv_alloc_td(3)",
         "makes a thread domain: what is made in it needs no locks",
         arguments=(
             Argument("comp_mask", "uint32_t", "no bits yet", (0,),
                 {"comp_mask": (1, 1 << 31)}),),
         makes="td", rules=(
             Rule("comp_mask", "comp_mask is 0", "ibv_alloc_td(3)",
                  EOPNOTSUPP),)),
    Verb("ibv_dealloc_td", "ibv_alloc_td(3)",
         "destroys a thread domain", destroys="td",
         rules=unused("thread domain", "ibv_alloc_td(3)")),
    Verb("ibv_alloc_parent_domain", "ibv_alloc_parent_domain(3)",
         "makes a protection domain with a thread domain and an allocator",
         arguments=(
             Argument("pd", "struct ibv_pd *", "the protection domain"),
             Argument("td", "struct ibv_td *", "a thread domain, or NULL"),
             Argument("comp_mask", "uint32_t", "1: ALLOCATORS, 2: "
                 "PD_CONTEXT", (2, 3), {"comp_mask": (4, 1 << 31)}),
             Argument("alloc", "function", "allocates memory for the "
                 "provider"),
             Argument("free", "function", "frees it"),),
         makes="parent", uses=("pd", "td"), rules=(
             Rule("pd", "there is a protection domain",
                  "ibv_alloc_parent_domain(3): ARGUMENTS", EINVAL),
             Rule("allocators", "both alloc and free are there, or neither",
                  "ibv_alloc_parent_domain(3): ARGUMENTS", EINVAL),
             Rule("comp_mask", "comp_mask has only flags that there are",
                  "ibv_alloc_parent_domain(3)", EOPNOTSUPP),)),
    Verb("ibv_alloc_dm", "ibv_alloc_dm(3)",
         "takes memory of the device", arguments=(
             Argument("length", "size_t", "bytes", (4, 64, 100, 4096, 12288),
                 {"length": (0,), "room": (1 << 40,)}),
             Argument("log_align_req", "uint32_t", "log2 of the alignment of "
                 "its address", (0, 3, 6, 12), {"align": (64,)}),),
         makes="dm", rules=(
             Rule("length", "length is at least 1",
                  "ibv_alloc_dm(3)", EINVAL),
             Rule("room", "length is at most max_dm_size",
                  "ibv_alloc_dm(3): NOTES", ENOMEM),
             Rule("align", "log_align_req is less than 64",
                  "ibv_alloc_dm(3)", EINVAL),)),
    Verb("ibv_free_dm", "ibv_alloc_dm(3)",
         "gives memory of the device back", destroys="dm",
         rules=unused("memory", "ibv_alloc_dm(3): NOTES")),
    Verb("ibv_memcpy_to_dm", "ibv_alloc_dm(3)",
         "copies bytes to memory of the device", arguments=COPIED,
         uses=("dm",), rules=(
             Rule("range", "the bytes are within the memory",
                  "ibv_alloc_dm(3)", EINVAL),)),
    Verb("ibv_memcpy_from_dm", "ibv_alloc_dm(3)",
         "copies bytes from memory of the device", arguments=COPIED,
         uses=("dm",), rules=(
             Rule("range", "the bytes are within the memory",
                  "ibv_alloc_dm(3)", EINVAL),)),
    Verb("ibv_reg_dm_mr", "ibv_alloc_dm(3)",
         "lets requests use memory of the device", arguments=(
             Argument("dm", "struct ibv_dm *", "the memory"),
             Argument("dm_offset", "uint64_t", "first byte in it"),
             Argument("length", "size_t", "bytes"),
             Argument("access", "unsigned int", "rights",
                 (access("LOCAL_WRITE", "REMOTE_WRITE", "REMOTE_READ",
                 "REMOTE_ATOMIC", "ZERO_BASED"),), {"zero_based":
                 (ACCESS["LOCAL_WRITE"],), "remote_needs_local":
                 (access("REMOTE_WRITE", "ZERO_BASED"),)}),),
         makes="mr",
         uses=("pd", "dm"), rules=(
             Rule("zero_based", "access has IBV_ACCESS_ZERO_BASED",
                  "ibv_alloc_dm(3): Device memory registration", EINVAL),
             Rule("range", "the bytes are within the memory",
                  "ibv_alloc_dm(3)", EINVAL),
             Rule("remote_needs_local",
                  "REMOTE_WRITE and REMOTE_ATOMIC only with LOCAL_WRITE",
                  "ibv_reg_mr(3)", EINVAL),)),
    Verb("ibv_reg_mr", "ibv_reg_mr(3)",
         "lets the device use memory", arguments=MEMORY,
         makes="mr", uses=("pd",), rules=(
             Rule("remote_needs_local",
                  "REMOTE_WRITE and REMOTE_ATOMIC only with LOCAL_WRITE",
                  "ibv_reg_mr(3)", EINVAL),
             Rule("on_demand_bind", "ON_DEMAND only without MW_BIND",
                  "Documentation/abi.rst: Memory region", EOPNOTSUPP),
             KNOWN_RIGHTS,)),
    Verb("ibv_reg_mr_iova", "ibv_reg_mr(3)",
         "lets the device use memory under other addresses",
         arguments=MEMORY + (HCA_VA,),
         makes="mr",
         uses=("pd",), rules=(
             Rule("iova", "address and hca_va have the same offset in a page",
                  "IBTA 10.6.2.5", EINVAL),
             KNOWN_RIGHTS,)),
    Verb("ibv_alloc_null_mr", "ibv_alloc_null_mr(3)",
         "makes a region of zeroes", makes="mr", uses=("pd",)),
    Verb("ibv_rereg_mr", "ibv_rereg_mr(3)",
         "changes a memory region", arguments=(
             Argument("flags", "int", "1: CHANGE_TRANSLATION, 2: CHANGE_PD, "
                 "4: CHANGE_ACCESS", tuple(range(1, 8)), {"flags": (8, 1 <<
                 30)}),
             Argument("pd", "struct ibv_pd *", "the new domain"),
             Argument("addr", "void *", "the new memory"),
             replace(REGION_LENGTH, wrong={"range": (0,)}),
             Argument("access", "int", "the new rights"),),
         uses=("mr", "pd"), rules=(
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
    Verb("ibv_dereg_mr", "ibv_reg_mr(3)",
         "takes memory back from the device", destroys="mr",
         rules=unused("memory region", "ibv_alloc_mw(3)")),
    Verb("ibv_alloc_mw", "ibv_alloc_mw(3)",
         "makes a memory window", arguments=(
             Argument("type", "enum ibv_mw_type", "the type", (1, 2),
                 {"type": (0, 3, 255)}),),
         makes="mw", uses=("pd",), rules=(
             Rule("type", "the type is 1 or 2", "ibv_alloc_mw(3)", EINVAL),)),
    Verb("ibv_dealloc_mw", "ibv_alloc_mw(3)",
         "destroys a memory window, bound or not", destroys="mw"),
)
