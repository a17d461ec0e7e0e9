# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tag matching: shared receive queues that look at the tags of messages."""

from words import EINVAL, ENOMEM
from words import Argument, Rule, Verb

# enum ibv_ops_wr_opcode, and the opcodes of their completions
TAG_ADD, TAG_DEL, TAG_SYNC = range(3)
WC_TM_ADD, WC_TM_DEL, WC_TM_SYNC, WC_TM_RECV, WC_TM_NO_TAG = range(130, 135)

# What a shared receive queue with tags must be
TAGGING = (
    Rule("max_num_tags", "max_num_tags is at least 1 and at most that of the "
         "device", "ibv_create_srq_ex(3); ibv_query_device_ex(3)", EINVAL),
    Rule("max_ops", "max_ops is at least 1 and at most that of the device",
         "ibv_create_srq_ex(3); ibv_query_device_ex(3)", EINVAL),
)

TAG_VERBS = (
    Verb("ibv_post_srq_ops", "ibv_post_srq_ops(3)",
         "posts a list of operations to the list of tags of a shared receive "
         "queue: adding one, deleting one, telling how many unexpected "
         "messages were handled", arguments=(
             Argument("wr_id", "uint64_t", "what the completion has"),
             Argument("opcode", "enum ibv_ops_wr_opcode", "ADD, DEL, SYNC",
                 (0, 1, 2), {"opcode": (3, 255)}),
             Argument("flags", "int", "1: SIGNALED, 2: TM_SYNC", (0, 1, 2,
                 3), {"flags": (4, 1 << 30)}),
             Argument("unexpected_cnt", "uint32_t", "messages without a tag "
                 "that were handled"),
             Argument("handle", "uint32_t", "of the tag; ADD writes it"),
             Argument("recv_wr_id", "uint64_t", "what the completion of the "
                 "message has"),
             Argument("sg_list", "struct ibv_sge *", "where to put it"),
             Argument("num_sge", "int", "SGEs", (1,), {"num_sge": (2, -1)}),
             Argument("tag", "uint64_t", "tag, after mask"),
             Argument("mask", "uint64_t", "bits that count", (0, 0xff, (1 <<
                 64) - 1)),),
         uses=("srq",), rules=(
             Rule("srq_type", "the queue is of type IBV_SRQT_TM",
                  "ibv_post_srq_ops(3)", EINVAL),
             Rule("opcode", "there is such an operation",
                  "ibv_post_srq_ops(3)", EINVAL),
             Rule("flags", "flags has only SIGNALED and TM_SYNC",
                  "ibv_post_srq_ops(3)", EINVAL),
             Rule("num_sge", "num_sge is at most tm_caps.max_sge",
                  "ibv_post_srq_ops(3); ibv_query_device_ex(3)", EINVAL),
             Rule("tags", "the list has fewer than max_num_tags tags",
                  "ibv_post_srq_ops(3): max_num_tags", ENOMEM),
             Rule("room", "fewer than max_ops operations are outstanding",
                  "ibv_create_srq_ex(3): max_ops", ENOMEM),)),
)
