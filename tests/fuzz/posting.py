# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Posting, in lists and critical sections."""

from dataclasses import dataclass, replace

import verbs
from model import GRH, SINK, TARGET, Receive, Request
from sending import BIND, FLAGS, UNKNOWN_KEY, VERB, Requests
from words import Dropped, Fails

# Rules that leave the receive request to the next message, and are broken with
# such a message behind
LEAVES_RECEIVE = ("receive_length_dropped", "invalidate_remote_dropped")


@dataclass
class Need:
    """A receive request that is needed.

    length: bytes of the message
    exactly: it must have no more room
    broken: its keys must not be known
    sge: the only SGE that it has instead, or None
    """

    length: int
    exactly: bool = False
    broken: bool = False
    sge: str = None


class Posting(Requests):
    """Posts requests and what they need at the other end."""

    def post_receives(self, qp, needs):
        """Post receive requests; return whether there was memory for them."""
        receives = []
        verb = "ibv_post_srq_recv" if qp.srq else "ibv_post_recv"
        extra = GRH if qp.type == verbs.UD else 0
        most = qp.srq.max_sge if qp.srq else qp.caps["rsge"]
        for need in needs:
            length = need.length + extra
            if not need.exactly:
                length += self.draw(verb, "length")
            sges = self.sges(qp.pd, SINK, length, most, "LOCAL_WRITE",
                             argument=(verb, "num_sge"), sender=qp.peer)
            if sges is None:
                return False
            receives.append(Receive(self.next_id(), sges))
        words = [self.word({
            "id": receive.wr_id,
            "sges": need.sge or "|".join(
                f"{mr.address(at)}/{length}/{mr.name}" +
                (UNKNOWN_KEY if need.broken else "")
                for mr, at, length in receive.sges)})
            for receive, need in zip(receives, needs)]
        broken, bad = None, None
        if self.chance(0.05):
            broken, bad = "num_sge", len(words)
            words.append(self.word({
                "id": self.next_id(),
                **self.too_many_sges(verb, "num_sge", "recv_sge")}))
        if words:
            self.call(verb, qp.srq.name if qp.srq else qp.name, *words,
                      broken=broken, bad=bad)
        if words and not qp.srq:
            self.reach("posted", "ibv_post_recv", qp.state)
        for receive in receives:
            if qp.srq:
                qp.srq.receives.append(receive)
            else:
                self.model.receive(qp, receive)
        return True

    def post_early(self, qp):
        """Post where the state does not let"""
        if qp.type not in verbs.SENDING:
            return
        word = self.word({"id": self.next_id(), "op": 2})
        if qp.state in verbs.CANNOT_SEND:
            self.call("ibv_post_send", qp.name, word, broken="state", bad=0)
            self.reach("posted", "ibv_post_send", qp.state)
            mw = self.any("mw", node=qp.node, type=1)
            if mw:
                self.call("ibv_bind_mw", qp.name,
                          self.word({"id": self.next_id(), "mw": mw.name}),
                          broken="qp_type" if qp.type == verbs.UD else "state")
            if qp.ops is not None and qp.type != verbs.UD:
                self.call("ibv_wr_complete", qp.name, word, broken="state")
                self.reach("posted", "ibv_wr_complete", qp.state)
        if qp.state == "RESET" and self.has_receive_queue(qp):
            self.call("ibv_post_recv", qp.name,
                      self.word({"id": self.next_id()}), broken="state", bad=0)
            self.reach("posted", "ibv_post_recv", qp.state)
        if qp.srq and qp.type in verbs.WITH_RECEIVE_QUEUE:
            self.call("ibv_post_recv", qp.name,
                      self.word({"id": self.next_id()}), broken="srq", bad=0)

    @staticmethod
    def has_receive_queue(qp):
        return qp.type in verbs.WITH_RECEIVE_QUEUE and not qp.srq

    def post_here(self, qp):
        """Post one request each way, in a state other than RTS"""
        self.post_early(qp)
        if qp.type in verbs.SENDING and not qp.deferred and \
                qp.state not in verbs.CANNOT_SEND:
            self.post_last(qp, qp.ops is not None and self.chance(0.5))
        if qp.state != "RESET" and self.has_receive_queue(qp) and \
                len(qp.receives) < 4 and not (
                    qp.state == "ERR" and self.device.differs("flush_waits")):
            self.post_receives(qp, [Need(0)])

    def way(self, qp, op):
        """How to post a request: an index of VERB"""
        if op.data == "bind" and self.chance(0.4):
            return BIND
        if not self.can_post(op, "ibv_post_send"):
            return int(qp.ops is not None and qp.ops & op.send_ops != 0)
        return int(qp.ops is not None and qp.ops & op.send_ops != 0 and
                   self.chance(0.6))

    def can_post(self, op, verb):
        """Whether a verb posts requests of an operation"""
        return verb in op.posted_by and self.device.has(f"{verb}/{op.name}")

    def clear(self, qp):
        """Receive requests are left over, whose lengths do not fit."""
        srq = qp.peer.srq
        if not srq:
            self.recover(qp)
            return
        if not srq.xrcd:
            for user in [user for user in self.things["qp"]
                         if user.srq is srq]:
                self.destroy_thing(user)
        self.destroy_thing(srq)

    def burst(self, qp):
        """Some requests from one queue pair, and what they need"""
        if self.loses(qp):
            self.send_some(qp)
            return
        self.replan()
        if qp.type == verbs.XRC_SEND:
            self.aim(qp)
        if qp.peer.queue():
            self.clear(qp)
            return
        room = min(qp.caps["swr"] // 2, 16)
        ops = self.operations(qp.type)
        # Windows are scarce
        ops += [op for op in ops if op.with_inv or op.data == "bind"]
        requests, lengths = [], []
        spoiled = False
        for _ in range(self.random.randint(1, room)):
            op = self.random.choice(ops)
            if self.chance(0.1):
                op = min(ops, key=lambda op: self.count(
                    "operation", qp.type, op.name, "ibv_wr_complete"))
            doomed = self.is_doomed(qp, op)
            if doomed and (spoiled or self.chance(0.7) or
                           not self.device.keeps(VERB[0], "rd_atomic")):
                continue
            if spoiled and op.data in ("bind", "none"):
                continue  # flushed, but executed if the error comes later
            batch = self.way(qp, op)
            if not self.can_post(op, VERB[batch]) and batch != BIND:
                continue
            request = self.request(qp, op, batch)
            if not request:
                continue
            batch = self.settable(request, batch)
            fields = self.fields(qp, request, batch)
            if doomed:
                self.doom_counted(request, fields, VERB[batch])
                spoiled = True
            if op.with_inv and not request.window:
                if spoiled or self.chance(0.9) or \
                        not self.doom(qp, request, fields, VERB[batch]):
                    continue
                spoiled = True
            if not spoiled and self.is_due(qp, op, VERB[batch]):
                spoiled = self.spoil(qp, request, fields, VERB[batch])
            if request.without or (self.lossy and request.stops_both) or (
                    qp.type not in verbs.RELIABLE and
                    self.model.may_come_late(qp, request)):
                # Requests before it might need the right, too. Or their ACKs
                # may be lost, and the other end has stopped. Or it is stopped
                # before they arrive: see stop_expecting().
                requests, lengths = [], []
            requests.append((request, fields, batch))
            if op.receives:
                lengths += self.needed(request)
            if request.wrong and request.wrong.name in LEAVES_RECEIVE:
                requests.append(self.follower(qp))
            if request.wrong and self.is_last(request):
                break
        if self.is_unseen(qp, requests):
            requests.append(self.follower(qp))
            lengths.append(Need(0))
        if not requests:
            return
        limit = qp.peer.srq.max_wr if qp.peer.srq else qp.peer.caps["rwr"]
        if len(lengths) >= limit:
            return
        self.arm_some(qp.scq, qp.rcq, qp.peer.scq, qp.peer.rcq)
        if not self.post_receives(qp.peer, lengths):
            return
        if qp.peer.srq and self.chance(0.4):
            self.limit_srq(qp.peer.srq)
        self.restrict(qp.peer, requests)
        restricted = any(request.without for request, _, _ in requests)
        self.post_counted(qp, requests)
        self.settle()
        if restricted and qp.peer.state == "RTS":
            self.modify(qp.peer, "RTS", more=("ACCESS_FLAGS",))

    @staticmethod
    def is_unseen(qp, requests):
        """Whether no completion at the other end tells that all requests have
        arrived, though a message behind them could
        """
        unseen = False
        if qp.type in verbs.RELIABLE:
            return False
        for request, _, _ in requests:
            outcome = request.outcome
            if isinstance(outcome, Fails):
                return False
            if isinstance(outcome, Dropped):
                if outcome.peer or outcome.waits:
                    return False
                unseen = True
            elif request.op.receives:
                unseen = False
            elif request.op.data == "out":
                unseen = True
        return unseen

    def post_counted(self, qp, requests):
        """As post_in_calls(), and compare what the other end's port counts."""
        counted = {getattr(request.outcome, "counter", None)
                   for request, _, _ in requests} - {None}
        self.post_in_calls(qp, requests)
        if counted and self.counts_drops():
            self.compare_drops(qp.peer.node)
            for name in counted:
                self.reach("counted", name)

    def follower(self, qp):
        """A message without data, after one that nobody sees arrive"""
        request = Request(self.next_id(), verbs.OPERATION["SEND"],
                          FLAGS["SIGNALED"])
        return request, self.fields(qp, request), 0

    def doom_counted(self, request, fields, verb):
        """It needs a max_rd_atomic that is not 0."""
        request.wrong = verbs.rule(verbs.EXECUTION, "rd_atomic")
        self.reach("rule", verb, "rd_atomic")
        self.broke(verb, self.word(fields), "rd_atomic")

    def may_be_busy(self, qp):
        """Whether a queue pair can be destroyed while it sends"""
        return (qp.type in (verbs.RC, verbs.UC) and qp.state == "RTS" and
                qp.peer and qp.peer.state == "RTS" and
                not (qp.srq or qp.peer.srq or qp.peer.receives) and
                not any(cq.armed and cq.channel for cq in (qp.scq, qp.rcq)))

    def destroy_busy(self):
        """Destroy a queue pair whose requests are still executed, perhaps: of
        the type with which that was done the fewest times.
        """
        able = [qp for qp in self.things["qp"] if self.may_be_busy(qp)]
        if not able or self.device.differs("completions_stay"):
            return
        self.random.shuffle(able)
        qp = min(able, key=lambda qp: self.count("busy", qp.type))
        peer = qp.peer
        self.replan()
        if not self.post_receives(qp, [Need(64)]):
            return
        for _ in range(self.random.randint(1, qp.caps["swr"])):
            op = verbs.OPERATION["RDMA_WRITE"]
            request = self.request(qp, op)
            if not request:
                break
            self.call("ibv_post_send", qp.name,
                      self.word(self.fields(qp, request)))
            self.model.unknown.append((peer.node, request.remote[1],
                                       request.length))
        # What is on its way ends with the other one.
        for thing in (qp, peer):
            self.destroy_thing(thing)
        self.reach("busy", qp.type)
        self.settle()

    def restrict(self, peer, requests):
        """Take the right away that a request needs, before all of them"""
        for request, _, _ in requests:
            if request.without:
                self.modify(peer, "RTS", more=("ACCESS_FLAGS",),
                            access=self.attributes(peer)["access"] &
                            ~request.without)

    def needed(self, request):
        """Lengths of the receive requests for a request"""
        wrong = None
        if request.wrong:
            wrong = request.wrong.name.removesuffix("_dropped")
            if wrong != "receive_lkey" and \
                    request.wrong.name not in LEAVES_RECEIVE and \
                    isinstance(request.wrong.otherwise, Dropped):
                return []
        if wrong == "receive":
            return []
        if wrong == "receive_length":
            length = request.length - 1
            if self.chance(0.5):
                length = self.random.randint(0, length)
            return [Need(length, exactly=True)]
        header = request.tso[1] if request.tso else 0
        return [Need(header + length, broken=wrong == "receive_lkey",
                     sge=request.receive)
                for _, length in request.segments]

    @staticmethod
    def is_last(request):
        """Whether nothing may follow a request that breaks a rule"""
        # Requests behind a response that cannot be stored may be executed. The
        # receive request of another must not serve this one. Others may need the
        # right that UC does not have.
        return request.op.data in ("in", "fetch") or request.wrong.name in (
            "receive", "receive_dropped", "receive_lkey_dropped",
            "qp_right_dropped",
            *LEAVES_RECEIVE)

    def post_in_calls(self, qp, requests):
        """Post in lists and critical sections of any length"""
        last = None
        while requests:
            number = self.random.randint(1, len(requests))
            batch = requests[0][2]
            group = []
            if batch == BIND:
                number = 1
            while requests and len(group) < number and \
                    requests[0][2] == batch:
                group.append(requests.pop(0))
            last = self.post_group(qp, group, batch) or last
        if last and not qp.sig_all and not last.flags & FLAGS["SIGNALED"] \
                and qp.state == "RTS":
            self.post_last(qp)

    def post_group(self, qp, group, batch):
        """One call. Return the last request that was posted."""
        broken, bad = None, None
        binds = [at for at, (request, _, _) in enumerate(group)
                 if request.op.data == "bind"]
        if self.chance(0.25 if binds else 0.12):
            bad = self.random.choice(binds or range(len(group)))
            request, fields, _ = group[bad]
            fields = dict(fields)
            broken = self.refuse(qp, fields, request, batch)
            if broken:
                # The bad one is added, as those that are good have receives
                group.insert(bad, (None, fields, batch))
        for request, fields, _ in group:
            if request and request.wrong:
                fields["rule"] = request.wrong.name
        words = [self.word(fields) for _, fields, _ in group]
        good = [entry for entry in group if entry[0]]
        if batch == 1:
            self.end_sections(qp, words, broken, (bad,))
        if not broken:
            self.call(VERB[batch], qp.name, *words,
                      beside=self.beside(qp) if batch == 1 else None)
        elif batch == BIND:
            for word in words:
                self.call(VERB[batch], qp.name, word, broken=broken)
                broken = None
        elif batch:
            self.call(VERB[batch], qp.name, *words, broken=broken,
                      wrong=(bad,))
            self.call(VERB[batch], qp.name,
                      *(self.word(fields) for _, fields, _ in good))
        else:
            self.call(VERB[batch], qp.name, *words, broken=broken, bad=bad)
            self.call(VERB[batch], qp.name, *words[bad + 1:])
        for request, _, _ in good:
            self.reach("operation", qp.type, request.op.name, VERB[batch])
            self.reach("posted", VERB[batch], qp.state)
            self.model.send(qp, request)
        return good[-1][0]

    def beside(self, qp):
        """Another queue pair, a critical section of which is open, too"""
        if self.thread or self.chance(0.9):
            return None
        found = [other for other in self.things["qp"] if other is not qp and
                 other.ops is not None]
        if not found:
            return None
        self.reach("together", "sections")
        return self.random.choice(found).name

    def end_sections(self, qp, words, broken, wrong):
        """Critical sections that post nothing; the requests are posted later"""
        if self.chance(0.05):
            self.call("ibv_wr_abort", qp.name, *words, abort=1,
                      error=broken, wrong=wrong)
        if self.chance(0.05):
            self.call("ibv_wr_complete", qp.name)
        if self.chance(0.05):
            self.call("ibv_wr_abort", qp.name, abort=1)

    def empty(self, qp):
        """A signaled request without data, and its fields"""
        name = "SEND" if qp.type == verbs.UD else "RDMA_WRITE"
        request = Request(self.next_id(), verbs.OPERATION[name],
                          FLAGS["SIGNALED"])
        fields = {"id": request.wr_id, "op": request.op.opcode,
                  "flags": request.flags}
        if qp.type == verbs.UD:
            # To nobody
            fields.update(ah=qp.ah.name, qpn=0xfffffe, qkey=0)
            request.wrong = replace(verbs.rule(verbs.EXECUTION, "qkey"),
                                    otherwise=Dropped())
        else:
            request.remote = (None, TARGET)
        if qp.type == verbs.XRC_SEND:
            if not qp.peer.srq:
                self.aim(qp)
            fields["srqn"] = qp.peer.srq.name
        return request, fields

    def post_last(self, qp, batch=False):
        """One that is signaled, so that all before are known to be done"""
        if qp.type == verbs.UD and not qp.ah:
            return
        request, fields = self.empty(qp)
        self.call(VERB[batch], qp.name, self.word(fields))
        self.reach("posted", VERB[batch], qp.state)
        self.model.send(qp, request)
