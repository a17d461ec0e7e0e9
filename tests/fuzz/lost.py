# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What does not arrive."""

import zlib

import verbs
from limits import Limits
from model import GRH, WC_GRH, WC_WITH_IMM
from posting import Need
from sending import FLAGS, VERB

# The time for an answer, by retry_cnt: all retries take some milliseconds
BRIEF_TIMEOUTS = (12, 11, 10, 10, 9, 9, 9, 9)
# What may be lost: no windows, which would be in a state that nobody knows
MESSAGES = ("SEND", "SEND_WITH_IMM", "RDMA_WRITE", "RDMA_WRITE_WITH_IMM")
MOST_MESSAGES = 10
FAR = (1 << 20, 1 << 22)  # between a PSN and one that nobody expects


class Lost(Limits):
    """Sends what nobody receives.

    lost_places: (node, at, len) that messages may have been written to
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.lost_places = []

    def unanswered(self, qp):
        """Requests to a queue pair that does not answer"""
        peer = qp.peer
        if peer.queue() or qp.deferred or \
                not self.device.keeps("ibv_post_send", "answer"):
            return
        if qp.type == verbs.XRC_SEND:
            self.aim(qp)
        self.replan()
        why = self.rarest_of([why for why in verbs.SILENT
                              if not self.device.differs(
                                  why.replace(" ", "_"))],
                             "silent", qp.type)
        requests = self.hopeless(qp, why)
        if not requests:
            return
        self.impair(qp, why)
        self.reach("silent", qp.type, why)
        self.post_in_calls(qp, requests)
        self.settle()
        if why == "gone":
            qp.peer = None
        self.query(qp)
        if why == "gone":
            self.destroy_thing(qp)
        else:
            self.recover(qp)

    def rarest_of(self, names, *what):
        """The one of some names that was reached the fewest times"""
        names = list(names)
        self.random.shuffle(names)
        return min(names, key=lambda name: self.count(*what, name))

    def hopeless(self, qp, why):
        """Requests of which the first fails, and the others are flushed"""
        requests = []
        for _ in range(self.random.randint(1, min(qp.caps["swr"] // 2, 4))):
            ops = [op for op in self.operations(qp.type)
                   if op.data not in ("bind", "none") and
                   not self.is_doomed(qp, op) and
                   # Responses to a duplicate are sent again
                   (op.data == "out" or not why.startswith("psn"))]
            op = self.random.choice(ops) if requests else min(
                ops, key=lambda op: self.times_broken(
                    qp, op, "ibv_wr_complete", "answer"))
            entry = self.hopeless_request(qp, op, not requests)
            if entry and not (entry[0].flags & FLAGS["FENCE"] and
                              self.device.differs("fenced_by_itself")):
                requests.append(entry)
        return requests

    def hopeless_request(self, qp, op, first):
        return self.entry(qp, op, "answer" if first else None, True)

    def entry(self, qp, op, rule=None, spared=False, lengths=None):
        """A request and how it is posted, or None if there is none

        rule: that it breaks
        spared: it changes nothing at the other end
        lengths: that it may have
        """
        batch = self.way(qp, op)
        if rule and (qp.ops or 0) & op.send_ops and self.chance(0.8):
            batch = 1  # each builder has the rule
        if not self.can_post(op, VERB[batch]):
            return None
        request = self.request(qp, op, batch)
        if not request or (lengths and request.length not in lengths):
            return None
        batch = self.settable(request, batch)
        fields = self.fields(qp, request, batch)
        if op.with_inv and not request.window:
            fields["inv"] = self.not_invalidable(qp.peer, True) or 0
        if spared and request.remote and request.length:
            request.spared = [(qp.peer.node, request.remote[1],
                               request.length)]
        if rule:
            request.wrong = verbs.rule(verbs.EXECUTION, rule)
            self.reach("rule", VERB[batch], rule)
            self.broke(VERB[batch], self.word(fields), rule)
        return request, fields, batch

    def impair(self, qp, why):
        """Bring a queue pair up anew, which loses its other end."""
        peer, psn = qp.peer, qp.psn
        retry = self.draw_attr("RETRY_CNT")
        if self.device.differs("retry_forever"):
            retry = min(retry, 6)
        if why == "psn before":
            psn -= self.random.randint(*FAR)
        elif why == "psn to come":
            psn += self.random.randint(*FAR)
        self.modify(peer, "RESET")
        self.modify(qp, "RESET")
        for state in ("INIT", "RTR"):
            self.modify(peer, state)
            self.modify(qp, state)
        self.modify(qp, "RTS", sq_psn=psn & 0xffffff, retry=retry,
                    timeout=BRIEF_TIMEOUTS[retry])
        if why == "gone":
            self.destroy_thing(peer)
            qp.peer = peer
        elif why == "INIT":
            self.modify(peer, "RESET")
            self.modify(peer, "INIT")
        elif why in ("RESET", "ERR"):
            self.modify(peer, why)
        else:
            self.modify(peer, "RTS")

    def differ(self, qp):
        """Requests between queue pairs with other path MTUs"""
        peer = qp.peer
        if qp.type == verbs.UD or self.loses(qp) or peer.state != "RTS" or \
                (qp.type == verbs.UC and self.ends_shared(peer)):
            return
        if qp.type == verbs.XRC_SEND:
            self.aim(qp)
        if peer.queue():
            self.clear(qp)
            return
        while peer.mtu == qp.mtu:
            peer.mtu = self.draw_attr("PATH_MTU")
        for end in (qp, peer):
            self.modify(end, "RESET")
        self.bring_up((qp, peer))
        self.replan()
        entries = self.misfits(qp)
        needs = [Need(request.length) for request, _, _ in entries
                 if request.op.receives and
                 not (request.wrong and qp.type == verbs.UC)]
        if self.is_unseen(qp, entries):
            entries.append(self.follower(qp))
            needs.append(Need(0))
        if entries and self.post_receives(peer, needs):
            self.post_counted(qp, entries)
            self.settle()
            self.query(peer)
        peer.mtu = qp.mtu
        self.recover(qp)

    def misfits(self, qp):
        """Requests that fit into a packet of either end, and one or, on UC,
        some that do not
        """
        entries = []
        least = 128 << min(qp.mtu, qp.peer.mtu)
        ops = [op for op in self.operations(qp.type)
               if op.data in ("in", "out") and not self.is_doomed(qp, op)]
        fitting = [op for op in ops if not op.with_inv]
        for _ in range(self.random.randint(1, min(qp.caps["swr"] // 2, 4))):
            entries.append(
                self.entry(qp, self.random.choice(fitting),
                           lengths=range(least + 1))
                if qp.type == verbs.UC and self.chance(0.5) or
                not self.lossy and self.chance(0.5)
                else self.misfit(qp, ops, least))
            if entries[-1] and entries[-1][0].wrong and qp.type != verbs.UC:
                break
        return [entry for entry in entries if entry]

    def misfit(self, qp, ops, least):
        """A request that does not fit"""
        def rule(op):
            if op.data == "in":
                return "response_mtu"
            return "path_mtu_dropped" if qp.type == verbs.UC else "path_mtu"

        verb = VERB[qp.ops is not None]
        ops = [op for op in ops if self.device.keeps(verb, rule(op))]
        if not ops:
            return None
        op = min(ops, key=lambda op: self.times_broken(
            qp, op, verb, rule(op)))
        for _ in range(8):
            entry = self.entry(qp, op, rule(op), op.data == "out",
                               range(least + 1, 1 << 31))
            if entry:
                return entry
            # There may be no window for that one, or no memory
            op = self.random.choice(ops)
        return None

    def send_some(self, qp):
        """Messages that may be lost, and the receive requests for them: each
        arrives whole and right, or not at all.
        """
        peer = qp.peer
        if peer.queue() or peer.state != "RTS":
            self.recover(qp)
            return
        if peer.rcq.armed and peer.rcq.channel:
            return  # nobody knows whether there will be an event
        self.replan()
        requests = self.some_messages(qp)
        longest = max((request.length for request, _, _ in requests
                       if request.op.receives == verbs.WC_RECV), default=0)
        if not requests or not self.post_receives(
                peer, (len(requests) + 2) * [Need(longest)]):
            return
        # The model does not know which of them are used
        receives = list(peer.receives)
        peer.receives.clear()
        messages = [self.message_word(qp, request)
                    for request, _, _ in requests if request.op.receives]
        self.forget_writes(peer, requests)
        self.post_in_calls(qp, requests)
        self.settle()
        self.take_arrived(peer, receives, messages)
        # What is on its way must not be of the next connection
        for thing in (qp, peer):
            self.destroy_thing(thing)

    def some_messages(self, qp):
        """Send requests, with the way to post each"""
        ops = [op for op in self.operations(qp.type) if op.name in MESSAGES]
        requests = []
        for _ in range(self.random.randint(1, min(qp.caps["swr"] // 2,
                                                  MOST_MESSAGES))):
            op = self.random.choice(ops)
            batch = self.way(qp, op)
            request = self.request(qp, op, batch)
            if request:
                batch = self.settable(request, batch)
                requests.append((request, self.fields(qp, request, batch),
                                 batch))
        return requests

    def message_word(self, qp, request):
        """What the runner must know of a message, to recognize it"""
        op, data = request.op, self.model.gather(qp.node, request.sges)
        flags = WC_WITH_IMM if op.with_imm else 0
        where = "-"
        if op.remote and request.length:
            where = f"{qp.peer.node}:{request.remote[1]}"
        if qp.type == verbs.UD:
            flags |= WC_GRH
        return (f"msg={op.receives}/{len(data)}/{flags}/"
                f"{request.imm if op.with_imm else 0}/{zlib.crc32(data)}/"
                f"{where}")

    def forget_writes(self, peer, requests):
        """What is written there may be all of it, some, or nothing."""
        for request, _, _ in requests:
            if request.remote and request.length:
                self.forget_place(peer.node, request.remote[1],
                                  request.length)

    def forget_place(self, node, at, length):
        self.lost_places.append((node, at, length))

    def take_arrived(self, peer, receives, messages):
        """Stop the queue pair that receives: each receive request has a whole
        message, or is flushed.
        """
        self.modify(peer, "ERR")
        words = []
        for receive in receives:
            places = "|".join(f"{peer.node}:{at}/{length}"
                              for _, at, length in receive.sges)
            null = any(mr.null for mr, _, _ in receive.sges)
            words.append(f"recv={receive.wr_id}/"
                         f"{'-' if null else places or '0:0/0'}")
            for mr, at, length in receive.sges:
                if length and not mr.null:
                    self.forget_place(peer.node, at, length)
        extra = GRH if peer.type == verbs.UD else 0
        self.line("poll_lossy", peer.rcq.name, (
            f"qp={peer.name}", f"header={extra}",
            *([f"from={peer.peer.name}"] if extra else ()),
            *words, *messages), 0)
        self.count_verb("ibv_poll_cq")
        self.model.touched += self.lost_places
        self.model.unknown += self.lost_places
        self.lost_places = []
        self.settle()
