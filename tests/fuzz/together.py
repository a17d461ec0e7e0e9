# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Several threads of a program that make calls at the same time.

The order of two threads' calls is free. No call may depend on another thread:
each thread has requests, memory and new objects of its own. The queues are
shared. Messages can come in any order, and are all the same.
"""

import verbs
from model import SOURCE, Request
from objects import KINDS
from posting import Need
from sending import FLAGS
from tags import Tags

MOST = 4  # threads
PARTS = MOST + 1  # of a queue: one is for none of them
OWN = ("RDMA_WRITE", "RDMA_READ", "ATOMIC_CMP_AND_SWP", "ATOMIC_FETCH_AND_ADD")
MESSAGES = ("SEND", "SEND_WITH_IMM")


class Together(Tags):
    """Writes lines for threads."""

    def work_together(self, qp):
        """Threads share a queue pair, and make objects"""
        if self.loses(qp):
            return
        if qp.type == verbs.XRC_SEND:
            self.aim(qp)
        if qp.peer.queue():
            self.clear(qp)
            return
        self.replan()
        threads = range(1, self.random.randint(2, MOST) + 1)
        message = self.message(qp)
        messages = 0
        if self.locked(qp):
            # No thread fills it, in any order
            messages = min(qp.caps["swr"], self.room(qp.peer)) // PARTS
        messages = self.random.randint(0, min(messages, 8)) if message else 0
        early = self.chance(0.5) or not self.locked(qp.peer.srq or qp.peer)
        if early or qp.type == verbs.XRC_SEND:
            needs = [Need(message.length)] * messages * len(threads) \
                if message else []
            if not self.post_receives(qp.peer, needs):
                return
            self.arm_some(qp.scq, qp.peer.rcq)
            self.post_together(qp, message, messages, threads)
        elif messages:
            self.receive_together(qp, message, messages, threads)
        self.settle()

    @staticmethod
    def room(qp):
        """How many receive requests there is room for"""
        return qp.srq.max_wr if qp.srq else qp.caps["rwr"]

    def message(self, qp):
        """What all messages of all threads are, or None"""
        op = verbs.OPERATION[self.random.choice(MESSAGES)]
        length = self.length(op, qp, False)
        sges = self.sges(qp.pd, SOURCE, length, qp.caps["ssge"])
        if sges is None:
            return None
        return Request(0, op, 0, sges, imm=self.random.getrandbits(32))

    def post_together(self, qp, message, messages, threads):
        """Threads post to a queue pair, or make something."""
        busy = self.locked(qp) and qp.caps["swr"] > PARTS
        polling = busy and self.locked(qp.scq) and self.chance(0.5)
        shared = {kind: list(things) for kind, things in self.things.items()}
        made = []
        for self.thread in threads:
            self.only(shared)
            if not busy or self.chance(0.35):
                made += self.make_alone(shared)
                continue
            self.post_some(qp, message, messages, polling)
        if polling:
            self.thread = len(threads) + 1
            self.poll_only(qp)
        self.thread = None
        self.only(shared)
        for thing in made:
            self.things[thing.kind].append(thing)
        # It is known to be done if all before are
        self.post_last(qp)

    def only(self, things):
        """A thread knows nothing of what another one makes."""
        for kind in list(self.things):
            self.things[kind] = list(things.get(kind, ()))

    def poll_only(self, qp):
        """A thread polls what others post."""
        completions = self.model.completions.pop(qp.scq, None)
        if completions:
            self.poll_expected(qp.scq, completions)
            self.reach("together", "poll and post")

    def post_some(self, qp, message, messages, polling):
        """What one thread posts"""
        requests = []
        for _ in range(messages):
            request = Request(self.next_id(), message.op, self.flags(),
                              message.sges, imm=message.imm)
            requests.append(request)
        for _ in range(self.random.randint(0, qp.caps["swr"] // PARTS -
                                           messages)):
            ops = [verbs.OPERATION[name] for name in OWN
                   if qp.type in verbs.OPERATION[name].on and
                   not self.is_doomed(qp, verbs.OPERATION[name])]
            request = self.request(qp, self.random.choice(ops)) \
                if ops else None
            if request:
                requests.append(request)
        self.random.shuffle(requests)
        entries = []
        for request in requests:
            if polling:
                request.flags |= FLAGS["SIGNALED"]
            batch = self.settable(request, self.way(qp, request.op))
            self.reach("together", ("ibv_post_send", "ibv_wr_complete")[batch])
            entries.append((request, self.fields(qp, request, batch), batch))
        self.post_in_groups(qp, entries)

    def post_in_groups(self, qp, entries):
        """As post_in_calls(), without another request at the end"""
        while entries:
            number = self.random.randint(1, len(entries))
            batch = entries[0][2]
            group = []
            while entries and len(group) < number and entries[0][2] == batch:
                group.append(entries.pop(0))
            self.post_group(qp, group, batch)

    def flags(self):
        return sum(FLAGS[name] for name in ("FENCE", "SIGNALED", "SOLICITED")
                   if self.chance(0.3))

    def receive_together(self, qp, message, messages, threads):
        """Threads post receive requests, and then messages come."""
        peer = qp.peer
        number = 0
        for self.thread in threads:
            # All have the same room: which of them takes a message is free
            needs = [Need(message.length, exactly=True)] * messages
            if self.post_receives(peer, needs):
                number += messages
                self.reach("together", "ibv_post_srq_recv" if peer.srq else
                           "ibv_post_recv")
        self.thread = None
        # None is looked at before all are taken
        for _ in range(number):
            request = Request(self.next_id(), message.op, self.flags(),
                              message.sges, imm=message.imm)
            batch = self.settable(request, self.way(qp, request.op))
            self.post_group(qp, [(request, self.fields(qp, request, batch),
                                  batch)], batch)
        self.post_last(qp)

    # Objects

    def make_alone(self, shared):
        """What a thread makes, in objects that were there before. Return it."""
        for _ in range(self.random.randint(1, 6)):
            self.pick(
                self.make_pd, self.make_td, self.make_mr, self.make_special,
                self.make_cq, self.make_window, self.make_channel,
                self.make_queue, self.make_null_mr, self.refused_cq,
                self.refused_qp, self.refused_mw, self.refused_xrcd,
                self.make_pair_end, self.open_close, self.ask,
                self.fill_srq)()
        self.reach("together", "make")
        for kind in KINDS:
            for thing in list(self.things[kind]):
                if thing not in shared.get(kind, ()) and \
                        (kind == "qp" or self.chance(0.5)) and \
                        not getattr(thing, "loose", 0):
                    self.destroy_thing(thing)
        return [thing for kind in list(self.things)
                for thing in self.things[kind]
                if thing not in shared.get(kind, ())]

    def make_window(self):
        self.make_mw(self.any("pd"), self.random.choice((1, 2)))

    def make_queue(self):
        self.make_srq(self.any("pd"))

    def make_pair_end(self):
        """A queue pair without another one"""
        qp = self.make_qp(
            self.random.choice([qp_type for qp_type in verbs.SENDING
                                if self.device.has(qp_type)]),
            self.some_node())
        qp.mtu = qp.rnr = qp.psn = 0
        self.step(qp, "INIT")
