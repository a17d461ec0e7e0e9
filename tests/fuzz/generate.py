# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Writes programs for the runner: legal and slightly illegal sequences.

Each call is chosen at random among those that are possible, or is made wrong
by breaking one of its rules. The model says what must come of it.

A program is a list of steps. Each has random numbers of its own, so that a
step can be left out and those behind it still do much the same.
"""


import itertools

import verbs
from asides import Asides
from model import SINK, SOURCE, TARGET
from objects import KINDS
from ports import FAIL

MAX_QPS = 24
RIGHTS = verbs.access("LOCAL_WRITE", "REMOTE_WRITE", "REMOTE_READ",
                      "REMOTE_ATOMIC", "MW_BIND", "FLUSH_GLOBAL",
                      "FLUSH_PERSISTENT")
TYPES = 3 * (verbs.RC,) + (verbs.UC, verbs.UD) + 2 * (verbs.XRC_SEND,)


class Generator(Asides):
    """Writes one program."""

    def begin(self):
        for node in range(2):
            self.begin_drops(node)
            self.make_channel(node)
            for at in range(0, 1 << 20, 32768):
                self.refill(node, at, 32768, at >> 15)
            for _ in range(2):
                pd = self.make_pd(node)
                for area in (SOURCE, SINK, TARGET):
                    self.make_mr(pd, area, self.rights(RIGHTS))
                    self.make_mr(pd, area, self.rights(RIGHTS))
                    self.make_mr(pd, area)
                self.pick(self.make_null_mr)(pd)
                self.make_cq(node)

    def one(self):
        """Something"""
        qp_type = self.random.choice([
            qp_type for qp_type in TYPES if self.device.has(qp_type)])
        ready = [qp for qp in self.things["qp"]
                 if qp.peer and qp.type == qp_type]
        qp = self.random.choice(ready) if ready else None
        what = self.random.random()
        if not qp or (what < 0.02 and len(self.things["qp"]) < MAX_QPS):
            self.connect(qp_type)
        elif what < 0.04:
            self.destroy(self.random.choice(KINDS))
        elif what < 0.05:
            self.make_mr()
        elif what < 0.06:
            self.pick(*4 * (self.rereg_mr,), self.make_null_mr,
                      self.refused_mw)()
        elif what < 0.063:
            self.refused_qp()
        elif what < 0.067:
            self.pick(self.ask, self.open_close, self.open_qp,
                      self.make_special)()
        elif what < 0.0705:
            self.pick(self.make_pd, self.make_td,
                      *2 * (self.make_parent,))()
        elif what < 0.073:
            self.random.choice(2 * (self.make_cq,) + (self.make_channel,))()
        elif what < 0.075:
            self.refused_cq()
        elif what < 0.077:
            self.pick(self.refused_xrcd, self.get_srq_num, self.fill_srq)()
        elif what < 0.0785:
            self.extremes()
        elif what < 0.087:
            self.pick(*3 * (self.modify_srq,), self.resize_cq,
                      self.modify_cq, self.crowd, self.copy_dm)()
        elif what < 0.094:
            self.pick(*2 * (self.query, self.adjust), self.set_ece,
                      self.limit_rate, self.data_in_order)(qp)
        elif what < 0.115:
            self.wander(qp.peer if qp.peer.type == verbs.XRC_RECV and
                        self.chance(0.5) else qp)
        elif qp.state == "SQE" and self.chance(0.8):
            self.wander(qp)
        elif qp.state != "RTS" or qp.peer.state == "ERR":
            self.recover(qp)
        elif what < 0.125:
            self.random.choice((self.overflow, self.fill))(qp)
        elif what < 0.131:
            self.destroy_busy()
        elif what < 0.141:
            self.pick(self.use_dm, self.multicast, self.share)(qp)
        elif what < 0.149:
            self.pick(self.ethernet)()
        elif what < 0.153:
            self.pick(self.tag_matching)()
        elif what < 0.154 and self.alone:
            self.pick(self.disturb)()
        elif what < 0.17 and qp.peer.state == "RTS":
            self.work_together(qp)
        elif what < 0.178 and qp.type in verbs.RELIABLE:
            self.unanswered(qp)
        elif what < (0.24 if qp.type == verbs.UC else 0.188):
            # UC drops, and counts, what does not fit
            self.differ(qp)
        elif what < 0.24 and qp.type == verbs.UD:
            self.answer(qp)
        elif qp.peer.state in ("RTS", "SQE"):
            self.burst(qp)

    def end(self):
        """All goes, users first."""
        for kind in KINDS:
            for thing in list(self.things[kind]):
                self.destroy_thing(thing)
        if self.counts_drops():
            for node in range(2):
                self.compare_drops(node, last=1)

    def take_step(self, step):
        """Take a step; return the first line behind it."""
        self.random.seed(f"{self.seed}/{step}")
        self.begin_asides(step)
        if step == FAIL:
            self.fail_device()
        else:
            self.one()
        self.end_asides()
        return self.written

    def run(self, calls, steps=None):
        """Write a program.

        calls: end behind the step with which there are so many
        steps: the only steps to take; all, if it is None

        Return: the numbers of the steps, and the first line behind each.
        """
        taken = []
        self.begin()
        numbers = itertools.count() if steps is None else steps
        for step in numbers:
            taken.append((step, self.take_step(step)))
            if steps is None and self.written >= calls:
                break
        if steps is None and self.may_fail():
            taken.append((FAIL, self.take_step(FAIL)))
        self.end()
        return taken
