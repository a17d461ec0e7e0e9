# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Calls between those of a step, which make rare pairs of verbs.

An aside is a call that needs no object of the step, behind those that make what
it needs. It has random numbers and objects of its own, so that the step does the
same with it and without it. At the end of the step its objects are gone.
"""

import collections
import itertools
import random
from dataclasses import dataclass

import verbs
from model import SOURCE
from objects import O_CREAT, STANDARD_WC
from ports import FAIL, Ports

# How often a call has an aside before it
SHARE = 0.05
# Of so many possible asides, drawn by chance, the rarest is taken.
CHOICE = 12
# Objects of asides have numbers from this one on, so that others keep theirs.
FIRST_NUMBER = 1 << 15
LENGTH = 64
LOCAL_WRITE = verbs.ACCESS["LOCAL_WRITE"]
# What programs call the kinds of objects, users first. A parent is a PD, too. Fixed
# regions cannot be registered anew.
NAMES = {"table": "table", "wq": "wq", "qp": "qp", "ah": "ah", "mw": "mw",
         "mr": "mr", "fixed": "mr", "srq": "srq", "xrcd": "xrcd", "cq": "cq",
         "channel": "channel", "parent": "pd", "td": "td", "dm": "dm",
         "pd": "pd", "counters": "counters", "ctx": "ctx"}
NODE = "node"


@dataclass(frozen=True)
class Aside:
    """A call

    verb: its name
    args: what the runner calls the arguments. One that is NODE or a kind stands
        for the device or for the object of that kind.
    makes: the kind of what it makes, or None
    target: NODE or the kind of what it is about, or None
    """

    verb: str
    args: dict
    makes: str = None
    target: str = None

    @property
    def uses(self):
        """The kinds of objects that there must be"""
        return {kind for kind in (*self.args.values(), self.target)
                if kind in NAMES}

    @property
    def destroys(self):
        return bool(verbs.NAMED[self.verb].destroys)


def _makers():
    dev = {"dev": NODE}
    pd = {"pd": "pd"}
    queue = {**dev, "cqe": 1, "vector": 0}
    region = {**pd, "at": SOURCE, "len": LENGTH, "access": LOCAL_WRITE}
    receives = {**pd, "wr": 1, "sge": 1}
    pair = {**pd, "scq": "cq", "rcq": "cq", "type": verbs.QP_TYPES[verbs.RC],
            "sig_all": 0, "swr": 1, "rwr": 1}
    yield from (
        ("pd", "ibv_alloc_pd", dev),
        ("ctx", "ibv_open_device", dev),
        ("ctx", "ibv_import_device", dev),
        ("channel", "ibv_create_comp_channel", dev),
        ("td", "ibv_alloc_td", {**dev, "mask": 0}),
        ("parent", "ibv_alloc_parent_domain", {**dev, **pd, "td": "td"}),
        ("dm", "ibv_alloc_dm", {**dev, "len": LENGTH, "align": 0}),
        ("xrcd", "ibv_open_xrcd", {**dev, "oflag": O_CREAT}),
        ("cq", "ibv_create_cq", queue),
        ("cq", "ibv_create_cq_ex", {**queue, "wc_flags": STANDARD_WC}),
        ("mr", "ibv_reg_mr", region),
        ("mr", "ibv_reg_mr_iova", {**region, "iova": SOURCE}),
        ("mr", "ibv_reg_mr_iova2", {**region, "iova": SOURCE, "second": 1}),
        ("fixed", "ibv_reg_dmabuf_mr", {**region, "iova": SOURCE}),
        ("fixed", "ibv_alloc_null_mr", pd),
        ("fixed", "ibv_reg_dm_mr", {
            **region, "dm": "dm", "at": 0,
            "access": verbs.access("LOCAL_WRITE", "ZERO_BASED")}),
        ("mw", "ibv_alloc_mw", {**pd, "type": 2}),
        ("srq", "ibv_create_srq", receives),
        ("srq", "ibv_create_srq_ex", {**receives, "xrcd": "xrcd", "cq": "cq"}),
        ("ah", "ibv_create_ah", {**pd, "to": 0}),
        ("qp", "ibv_create_qp", {**pair, "basic": 1}),
        ("qp", "ibv_create_qp_ex", pair),
        ("wq", "ibv_create_wq", {**receives, "cq": "cq", "flags": 0}),
        ("table", "ibv_create_rwq_ind_table", {**dev, "wq": "wq", "log": 0}),
        ("counters", "ibv_create_counters", dev),
    )


def _users():
    reset = {"state": verbs.STATES.index("RESET")}
    yield from (
        (NODE, "ibv_query_device", {}),
        (NODE, "ibv_query_device_ex", {"mask": 0}),
        (NODE, "ibv_query_gid", {"port": 1}),
        (NODE, "ibv_query_gid_ex", {"port": 1, "flags": 0}),
        (NODE, "ibv_query_pkey", {"port": 1, "index": 0}),
        (NODE, "ibv_get_pkey_index", {"port": 1, "pkey": 0xffff}),
        (NODE, "ibv_query_rt_values_ex", {"mask": 1}),
        ("dm", "ibv_memcpy_to_dm", {"at": 0, "len": LENGTH, "seed": 1}),
        ("dm", "ibv_memcpy_from_dm", {"at": 0, "len": LENGTH}),
        ("cq", "ibv_resize_cq", {"cqe": 2}),
        ("cq", "ibv_modify_cq", {"mask": 1, "count": 1, "period": 0}),
        ("cq", "ibv_req_notify_cq", {"solicited": 0}),
        ("cq", "ibv_poll_cq", {"ex": 0, "most": 1}),
        ("mr", "ibv_rereg_mr", {"flags": verbs.RIGHTS, "access": LOCAL_WRITE,
                                "pd": "pd", "at": SOURCE, "len": LENGTH}),
        ("srq", "ibv_query_srq", {"limit": 0}),
        ("srq", "ibv_modify_srq", {"mask": 1, "wr": 2, "limit": 0}),
        ("qp", "ibv_query_qp", reset),
        ("qp", "ibv_modify_qp", {**reset, "mask": verbs.ATTRIBUTES["STATE"]}),
        ("qp", "ibv_query_ece", {"options": verbs.ECE_OPTIONS}),
        ("qp", "ibv_query_qp_data_in_order", {"op": 0, "flags": 0}),
        ("wq", "ibv_modify_wq", {"state": 0}),
    )


DESTROYERS = {kind: Aside(verbs.DESTROYS[name], {}, target=kind)
              for kind, name in NAMES.items()}
ASIDES = (*(Aside(verb, args, makes=kind) for kind, verb, args in _makers()),
          *(Aside(verb, args, target=kind) for kind, verb, args in _users()),
          *DESTROYERS.values())
# What a critical section begins with, by its end
FIRST_VERB = {"ibv_wr_complete": "ibv_wr_start", "ibv_wr_abort": "ibv_wr_start"}


class Asides(Ports):
    """Makes asides, where the lines are those of one thread.

    asides: whether there are any
    """

    def __init__(self, *args, asides=True, **kwargs):
        super().__init__(*args, **kwargs)
        self.asides = asides
        # Random numbers of the step's asides; None where there are none
        self.aside_random = None
        self.is_first = True  # Whether the next call is the step's first
        # Names of their objects by kind, and which kinds these use
        self.spare, self.spare_uses = {}, {}
        self.spare_numbers = itertools.count(FIRST_NUMBER)

    def begin_asides(self, step):
        # Of a device that fails, nothing can be asked any more.
        if not self.asides or step == FAIL:
            return
        self.aside_random = random.Random(f"{self.seed}/{step}/asides")
        self.spare[NODE] = self.aside_random.randrange(2)
        self.is_first = True

    def end_asides(self):
        self.aside_random = None
        for kind in NAMES:
            if kind in self.spare:
                self.make_aside(DESTROYERS[kind])

    def host(self, node, *words):
        # While a link is down, no address is found.
        self.aside_random = None
        super().host(node, *words)

    def call(self, name, target, *words, **args):
        # What comes before the first depends on other steps.
        if self.aside_random and not self.is_first and not self.thread and \
                self.aside_random.random() < SHARE:
            self.make_aside_of(self.rare_aside(FIRST_VERB.get(name, name)))
        self.is_first = False
        super().call(name, target, *words, **args)

    def rare_aside(self, name):
        """One of those that are possible between the last verb and this one. Of the
        pairs that they would make, its pair was the rarest in the programs before.
        """
        def rarity(aside):
            pairs = [("pair", aside.verb, name)]
            if aside.uses <= set(self.spare):
                pairs.append(("pair", self.last_verb, aside.verb))
            return min(self.before[pair] for pair in pairs)

        return min(self.aside_random.sample(
            [aside for aside in ASIDES if self.is_possible(aside)], CHOICE), key=rarity)

    def is_possible(self, aside):
        """Whether the device has the verb and what it needs, and nobody has or needs
        what it makes or destroys
        """
        return aside.makes not in self.spare and self.device.has(aside.verb) and \
            all(kind in self.spare or self.makers(kind) for kind in aside.uses) and \
            not (aside.destroys and any(aside.target in uses
                                        for uses in self.spare_uses.values()))

    def makers(self, kind):
        """Those that make an object of a kind with this device"""
        return [aside for aside in ASIDES
                if aside.makes == kind and self.is_possible(aside)]

    def make_aside_of(self, aside):
        """Make what it needs, then the aside."""
        for kind in sorted(aside.uses):
            if kind not in self.spare:
                self.make_aside_of(self.aside_random.choice(self.makers(kind)))
        self.make_aside(aside)

    def make_aside(self, aside):
        target = self.spare.get(aside.target)
        if aside.makes:
            target = f"{NAMES[aside.makes]}{next(self.spare_numbers)}"
        args = {word: self.spare.get(value, value)
                for word, value in aside.args.items()}
        # A step draws rare values. What asides have makes no difference to it.
        reached, self.reached = self.reached, collections.Counter()
        super().call(aside.verb, target, **args)
        reached.update({what: count for what, count in self.reached.items()
                        if what[0] in ("verb", "pair")})
        self.reached = reached
        if aside.makes:
            self.spare[aside.makes] = target
            self.spare_uses[aside.makes] = aside.uses
        elif aside.destroys:
            del self.spare[aside.target], self.spare_uses[aside.target]
