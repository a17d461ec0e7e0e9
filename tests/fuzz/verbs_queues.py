# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Completion queues, channels, events; shared receive queues; XRC domains."""

from dataclasses import replace

from verbs_memory import unused
from verbs_tags import TAGGING
from words import EAGAIN, EINVAL, ENOENT, EOPNOTSUPP
from words import Argument, Flags, Returns, Rule, Span, Verb

# ibv_create_cq_ex(3): fields of a completion
READERS = ("ibv_wc_read_opcode", "ibv_wc_read_vendor_err",
           "ibv_wc_read_byte_len", "ibv_wc_read_imm_data",
           "ibv_wc_read_invalidated_rkey", "ibv_wc_read_qp_num",
           "ibv_wc_read_wc_flags", "ibv_wc_read_src_qp", "ibv_wc_read_slid",
           "ibv_wc_read_sl", "ibv_wc_read_dlid_path_bits",
           "ibv_wc_read_completion_ts", "ibv_wc_read_completion_wallclock_ns",
           "ibv_wc_read_flow_tag", "ibv_wc_read_cvlan", "ibv_wc_read_tm_info")

CQE = Rule("cqe", "cqe is at least 1 and at most max_cqe",
           "ibv_create_cq(3); ibv_query_device(3)", EINVAL)
VECTOR = Rule("vector", "comp_vector is less than num_comp_vectors",
              "ibv_create_cq(3)", EINVAL)

# enum ibv_create_cq_wc_flags
WC_FLAGS = {
    "BYTE_LEN": 1 << 0, "IMM": 1 << 1, "QP_NUM": 1 << 2, "SRC_QP": 1 << 3,
    "SLID": 1 << 4, "SL": 1 << 5, "DLID_PATH_BITS": 1 << 6,
    "COMPLETION_TIMESTAMP": 1 << 7, "CVLAN": 1 << 8, "FLOW_TAG": 1 << 9,
    "TM_INFO": 1 << 10, "COMPLETION_TIMESTAMP_WALLCLOCK": 1 << 11,
}
CQ_ARGUMENTS = (
    Argument("cqe", "int", "completions that there is room for",
             (1, 8, 4096, "max_cqe"), {"cqe": (0, 1 << 30, "max_cqe+1")}),
    Argument("comp_vector", "int", "interrupt of its events", (0,),
             {"vector": (1 << 20, (1 << 31) - 1)}),
    Argument("channel", "struct ibv_comp_channel *", "for events, or NULL"),
    Argument("cq_context", "void *", "what events have"),
)
SRQ_SIZE = (
    Argument("max_wr", "uint32_t", "requests that there is room for",
             (64, 256, "max_srq_wr"),
             {"max_wr": (0, 1 << 30, "max_srq_wr+1")}),
    Argument("max_sge", "uint32_t", "SGEs of each", (1, 2, 4, "max_srq_sge"),
             {"max_sge": (1 << 20, "max_srq_sge+1")}),
    Argument("srq_limit", "uint32_t", "is left out of account"),
)
SRQ_RULES = (
    Rule("max_wr", "max_wr is at least 1 and at most max_srq_wr",
         "ibv_create_srq(3); ibv_query_device(3)", EINVAL),
    Rule("max_sge", "max_sge is at most max_srq_sge",
         "ibv_create_srq(3); ibv_query_device(3)", EINVAL),
)

QUEUE_VERBS = (
    Verb("ibv_create_cq", "ibv_create_cq(3)",
         "makes a completion queue", arguments=CQ_ARGUMENTS,
         makes="cq", uses=("channel",),
         rules=(CQE, VECTOR)),
    Verb("ibv_create_cq_ex", "ibv_create_cq_ex(3)",
         "makes a completion queue with extended polling",
         arguments=CQ_ARGUMENTS + (
             Argument("wc_flags", "uint64_t", "fields that can be read",
                      (Flags(WC_FLAGS),), {"wc_flags": (1 << 20, 1 << 63)}),
             Argument("comp_mask", "uint32_t",
                      "whether there are flags and a parent_domain",
                      wrong={"comp_mask": (4, 1 << 31)}),
             Argument("flags", "uint32_t",
                      "1: SINGLE_THREADED, 2: IGNORE_OVERRUN", (1, 2, 3),
                      {"flags": (4, 1 << 31)}),
             Argument("parent_domain", "struct ibv_pd *",
                      "says in which threads it is used")),
         makes="cq",
         uses=("channel",), rules=(
             CQE, VECTOR,
             Rule("wc_flags", "wc_flags has only flags that there are",
                  "ibv_create_cq_ex(3): enum ibv_create_cq_wc_flags",
                  EOPNOTSUPP),
             Rule("comp_mask", "comp_mask has only bits that there are",
                  "ibv_create_cq_ex(3): comp_mask", EOPNOTSUPP),
             Rule("flags", "flags has only those that there are",
                  "ibv_create_cq_ex(3): enum ibv_create_cq_attr_flags",
                  EOPNOTSUPP),
             Rule("parent_domain", "parent_domain is a parent domain",
                  "ibv_create_cq_ex(3)", EINVAL),)),
    Verb("ibv_destroy_cq", "ibv_create_cq(3)",
         "destroys a completion queue", destroys="cq",
         rules=unused("completion queue", "ibv_create_cq(3)")),
    Verb("ibv_resize_cq", "ibv_resize_cq(3)",
         "changes the size of a completion queue", arguments=(
             replace(CQ_ARGUMENTS[0], legal=(1024, 4096, 8193), wrong={"cqe":
                 (0, 1 << 30, "max_cqe+1"), "unpolled": (1,)}),),
         uses=("cq",), rules=(
             CQE,
             Rule("unpolled", "cqe is at least the number of completions "
                  "that were not polled", "ibv_resize_cq(3)", EINVAL),)),
    Verb("ibv_modify_cq", "ibv_modify_cq(3)",
         "lets events wait for several completions", arguments=(
             Argument("attr_mask", "uint32_t", "1: MODERATE", (1,), {"mask":
                 (0, 2, 3, 1 << 31)}),
             Argument("cq_count", "uint16_t", "completions that an event "
                 "waits for", (0, 1, 3, 0xffff)),
             Argument("cq_period", "uint16_t", "microseconds that it waits at "
                 "most", (0, 1, 1000)),),
         uses=("cq",), rules=(
             Rule("mask", "attr_mask is IBV_CQ_ATTR_MODERATE",
                  "ibv_modify_cq(3)", EINVAL),)),
    Verb("ibv_create_comp_channel", "ibv_create_comp_channel(3)",
         "makes a channel for events of completion queues", makes="channel"),
    Verb("ibv_destroy_comp_channel", "ibv_create_comp_channel(3)",
         "destroys a channel", destroys="channel",
         rules=unused("channel", "ibv_create_comp_channel(3): NOTES")),
    Verb("ibv_req_notify_cq", "ibv_req_notify_cq(3)",
         "asks for one event, of the next completion or of the next that is "
         "solicited or an error", arguments=(
             Argument("solicited_only", "int", "not 0: only of solicited "
                 "completions and errors", (0, 1, -1)),),
         uses=("cq",)),
    Verb("ibv_get_cq_event", "ibv_get_cq_event(3)",
         "takes an event of a completion queue", arguments=(
             Argument("cq", "struct ibv_cq **", "where to write the queue"),
             Argument("cq_context", "void **", "where to write its context"),),
         uses=("channel",), rules=(
             Rule("event", "there is an event, or the channel may block",
                  "ibv_get_cq_event(3)", Returns(-1)),)),
    Verb("ibv_ack_cq_events", "ibv_get_cq_event(3)",
         "says that events were handled, which lets go of the completion "
         "queue", arguments=(
             Argument("nevents", "unsigned int", "how many", (Span(1,
                 "taken"),)),),
         uses=("cq",)),
    Verb("ibv_get_async_event", "ibv_get_async_event(3)",
         "takes an asynchronous event", arguments=(
             Argument("event", "struct ibv_async_event *", "where to write "
                 "it"),),
         rules=(
             Rule("event", "there is an event, or the file may block",
                  "ibv_get_async_event(3)", Returns(-1)),)),
    Verb("ibv_ack_async_event", "ibv_get_async_event(3)",
         "says that an event was handled, which lets go of its object",
         arguments=(
             Argument("event", "struct ibv_async_event *", "the event"),)),
    Verb("ibv_create_srq", "ibv_create_srq(3)",
         "makes a shared receive queue", arguments=SRQ_SIZE,
         makes="srq", uses=("pd",), rules=SRQ_RULES),
    Verb("ibv_destroy_srq", "ibv_create_srq(3)",
         "destroys a shared receive queue", destroys="srq",
         rules=unused("shared receive queue", "ibv_create_srq(3)")),
    Verb("ibv_modify_srq", "ibv_modify_srq(3)",
         "resizes a shared receive queue, or sets its limit", arguments=(
             Argument("srq_attr_mask", "int", "1: MAX_WR, 2: LIMIT", (0, 1,
                 2, 3), {"mask": (4, 5, 1 << 30)}),
             Argument("max_wr", "uint32_t", "requests that there is room "
                 "for", (64, 100, 256), {"max_wr": (0, 1 << 30),
                 "outstanding": (1,)}),
             Argument("srq_limit", "uint32_t", "with fewer there is an "
                 "event", (0, 1, 4, "max_wr"), {"limit": (1 << 30,)}),),
         uses=("srq",),
         rules=(
             Rule("mask", "srq_attr_mask has only MAX_WR and LIMIT",
                  "ibv_modify_srq(3)", EOPNOTSUPP),
             Rule("max_wr", "max_wr is at least 1 and at most max_srq_wr",
                  "ibv_modify_srq(3); ibv_query_device(3)", EINVAL),
             Rule("outstanding",
                  "max_wr is at least the number of requests in the queue",
                  "IBTA 11.2.3.3", EINVAL),
             Rule("limit", "srq_limit is at most max_wr",
                  "IBTA 11.2.3.3", EINVAL),)),
    Verb("ibv_query_srq", "ibv_query_srq(3)",
         "tells the attributes of a shared receive queue, and 0 as the limit "
         "once there was an event", arguments=(
             Argument("srq_attr", "struct ibv_srq_attr *", "where to write "
                 "them"),),
         uses=("srq",)),
    Verb("ibv_open_xrcd", "ibv_open_xrcd(3)",
         "opens an XRC domain", arguments=(
             Argument("fd", "int", "file that the domain belongs to, or -1"),
             Argument("oflags", "int", "O_CREAT and O_EXCL, as of open(2)",
                 (0, 0o100, 0o300)),),
         makes="xrcd", rules=(
             Rule("exists", "the file has a domain, or there is O_CREAT",
                  "ibv_open_xrcd(3)", EAGAIN),
             Rule("excl", "the file has no domain, or there is no O_EXCL",
                  "ibv_open_xrcd(3)", EINVAL),)),
    Verb("ibv_close_xrcd", "ibv_open_xrcd(3)",
         "closes an XRC domain", destroys="xrcd",
         rules=unused("domain", "ibv_open_xrcd(3): NOTES")),
    Verb("ibv_create_srq_ex", "ibv_create_srq_ex(3)",
         "makes an XRC shared receive queue, or one that looks at the tags of "
         "messages", arguments=SRQ_SIZE + (
             Argument("srq_type", "enum ibv_srq_type", "XRC or TM",
                      wrong={"type": (3, 255)}),
             Argument("pd", "struct ibv_pd *", "the protection domain"),
             Argument("xrcd", "struct ibv_xrcd *", "the XRC domain"),
             Argument("cq", "struct ibv_cq *", "for completions"),
             Argument("max_num_tags", "uint32_t", "tags in the list", (8,),
                      {"max_num_tags": (0, 1 << 30)}),
             Argument("max_ops", "uint32_t",
                      "operations that are outstanding", (8,),
                      {"max_ops": (0, 1 << 30)})),
         makes="srq", uses=("pd", "xrcd", "cq"), rules=SRQ_RULES + TAGGING + (
             Rule("type", "there is such a type", "ibv_create_srq_ex(3)",
                  EOPNOTSUPP),)),
    Verb("ibv_get_srq_num", "ibv_get_srq_num(3)",
         "tells what requests name an XRC shared receive queue by",
         arguments=(
             Argument("srq_num", "uint32_t *", "where to write it"),),
         uses=("srq",), rules=(
             Rule("xrc", "it is an XRC shared receive queue",
                  "ibv_get_srq_num(3)", EINVAL),)),
    Verb("ibv_poll_cq", "ibv_poll_cq(3)",
         "takes completions", arguments=(
             Argument("num_entries", "int", "how many at most", (1, 3, 64)),
             Argument("wc", "struct ibv_wc *", "where to write them"),),
         uses=("cq",)),
    Verb("ibv_start_poll", "ibv_create_cq_ex(3)",
         "begins to take completions, field by field", arguments=(
             Argument("comp_mask", "uint32_t", "0"),),
         uses=("cq",), rules=(
             Rule("not_empty", "there is a completion",
                  "ibv_create_cq_ex(3)", ENOENT),)),
    Verb("ibv_next_poll", "ibv_create_cq_ex(3)",
         "goes on to the next completion", uses=("cq",), rules=(
             Rule("not_empty", "there is a completion",
                  "ibv_create_cq_ex(3)", ENOENT),)),
    Verb("ibv_end_poll", "ibv_create_cq_ex(3)",
         "ends what ibv_start_poll() began", uses=("cq",)),
)
