# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The verbs, each described once.

Nothing here knows of the fuzzer. A verb is described in the file verbs_*.py of its
family; Documentation/fuzzing.rst, "Adding something", has the rest.
"""

from dataclasses import replace

from headers import *  # noqa: F401, F403
from verbs_memory import *  # noqa: F401, F403
from verbs_memory import MEMORY_VERBS
from verbs_pairs import *  # noqa: F401, F403
from verbs_pairs import PAIR_VERBS
from verbs_queues import *  # noqa: F401, F403
from verbs_queues import QUEUE_VERBS
from verbs_posting import *  # noqa: F401, F403
from verbs_posting import POSTING_VERBS
from words import Event
from verbs_device import ALIVE, DEVICE_ABSENT, DEVICE_VERBS, FAILING
from verbs_device import PREFETCH, PREFETCH_NO_FAULT  # noqa: F401
from verbs_device import PREFETCH_WRITE  # noqa: F401
from verbs_ethernet import ETHERNET_ABSENT, ETHERNET_VERBS
from verbs_ethernet import FLOW_PORTS, WQ_STATES  # noqa: F401
from verbs_ethernet import wq_transition  # noqa: F401
from verbs_tags import TAG_ADD, TAG_DEL, TAG_SYNC  # noqa: F401
from verbs_tags import TAG_VERBS
from verbs_tags import WC_TM_ADD, WC_TM_NO_TAG, WC_TM_RECV  # noqa: F401

EVENTS = (
    Event("CQ_ERR", 0, "a completion does not fit into a completion queue",
          "ibv_get_async_event(3)"),
    Event("QP_FATAL", 1, "a queue pair's completion queue is in error",
          "ibv_get_async_event(3)"),
    Event("QP_REQ_ERR", 2,
          "a request from the other end is invalid, and no receive request "
          "tells of it", "ibv_get_async_event(3)"),
    Event("QP_ACCESS_ERR", 3,
          "a request from the other end violates rights of access",
          "ibv_get_async_event(3)"),
    Event("COMM_EST", 4, "a queue pair in RTR receives its first request",
          "ibv_get_async_event(3)"),
    Event("SQ_DRAINED", 5,
          "all requests that had begun in RTS are done, and the transition "
          "to SQD had en_sqd_async_notify", "ibv_modify_qp(3)"),
    Event("SRQ_LIMIT_REACHED", 15,
          "a shared receive queue has fewer requests than srq_limit",
          "ibv_modify_srq(3): NOTES"),
    Event("QP_LAST_WQE_REACHED", 16,
          "a queue pair in ERR takes no more from its shared receive queue",
          "ibv_get_async_event(3)"),
    Event("WQ_FATAL", 19, "a work queue's completion queue is in error",
          "ibv_get_async_event(3)"),
    Event("DEVICE_FATAL", 8, "the device has failed",
          "ibv_get_async_event(3)"),
    Event("PORT_ACTIVE", 9, "a port's link is there",
          "ibv_get_async_event(3)"),
    Event("PORT_ERR", 10, "a port's link is gone",
          "ibv_get_async_event(3)"),
    Event("SRQ_ERR", 14, "a shared receive queue cannot be used any more",
          "ibv_get_async_event(3)",
          beyond="libibverbs keeps all entries of such a queue valid"),
    Event("GID_CHANGE", 18, "an address of a port is new, or gone",
          "ibv_get_async_event(3)"),
)

EVENT = {event.name: event for event in EVENTS}

def rule(rules, name):
    """The rule with a name"""
    return next(each for each in rules if each.name == name)


VERBS = tuple(
    replace(verb, rules=verb.rules + (ALIVE,)) if verb.name in FAILING else verb
    for verb in MEMORY_VERBS + QUEUE_VERBS + PAIR_VERBS + POSTING_VERBS +
    DEVICE_VERBS + ETHERNET_VERBS + TAG_VERBS)
ABSENT = {**DEVICE_ABSENT, **ETHERNET_ABSENT}

NAMED = {verb.name: verb for verb in VERBS}
DESTROYS = {verb.destroys: verb.name for verb in VERBS if verb.destroys}
DESTROYS["parent"] = "ibv_dealloc_pd"
