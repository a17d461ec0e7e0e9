# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tag matching: shared receive queues that look at the tags of messages."""

from words import EINVAL, ENOMEM
from words import Rule, Verb

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
    Verb("ibv_post_srq_ops", "post_srq_ops", "ibv_post_srq_ops(3)",
         "posts a list of operations to the list of tags of a shared receive "
         "queue: adding one, deleting one, telling how many unexpected "
         "messages were handled", uses=("srq",), rules=(
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
