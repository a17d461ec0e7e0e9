# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Queues that are filled to the last entry, and beyond."""

import lines
import verbs
from model import Cq, Thing
from posting import Posting


class Limits(Posting):
    """Fills queues, and asks for one entry more."""

    def overflow(self, qp):
        """Fill a queue, and one more"""
        if qp.state == "INIT" and self.has_receive_queue(qp) and \
                not qp.receives:
            self.call("ibv_post_recv", qp.name, self.word({"id": 0}),
                      broken="room", bad="room", overflow=1)
            self.modify(qp, "RESET")
            self.modify(qp, "INIT")
        if qp.state != "RTS" or qp.sig_all or \
                qp.type not in verbs.SENDING or \
                not self.device.keeps("ibv_post_send", "room"):
            return
        request, fields = self.empty(qp)
        fields["flags"] = 0
        word = self.word(fields)
        if qp.ops is not None:
            self.overflow_after_error(qp, request, fields)
            self.call("ibv_wr_complete", qp.name, word, broken="room",
                      overflow=1)
        # The runner has the last that fits signaled
        self.call("ibv_post_send", qp.name, word, broken="room", bad="room",
                  overflow=1)
        self.model.send(qp, request)
        self.settle()

    def overflow_after_error(self, qp, request, fields):
        """Of two errors in a critical section, the first counts"""
        bad = dict(fields)
        if self.has_setter("sge_list") and \
                self.device.keeps("ibv_wr_complete", "num_sge") and \
                self.refuses("num_sge", qp, bad, request, 1):
            self.call("ibv_wr_complete", qp.name, self.word(bad),
                      self.word(fields), broken="num_sge", wrong=(0, 1),
                      overflow=1)

    def fill(self, qp):
        """Fill a queue that nothing is taken from, and post more"""
        if qp.sig_all or (qp.state, qp.peer.state) != ("RTS", "RTS") or \
                not self.device.has("SQD"):
            return
        self.modify(qp, "SQD")
        request, fields = self.empty(qp)
        fields["flags"] = 0
        word = self.word(fields)
        self.call("ibv_post_send", qp.name, word, broken="room", bad="room",
                  overflow=1)
        self.model.send(qp, request)
        for _ in range(self.random.randint(1, 3)):
            self.call("ibv_post_send", qp.name, word, word, broken="room",
                      bad=0)
            if qp.ops is not None:
                self.call("ibv_wr_complete", qp.name, word, broken="room")
            mw = self.any("mw", pd=qp.pd, type=1)
            if mw and qp.type != verbs.UD:
                self.call("ibv_bind_mw", qp.name,
                          self.word({"id": 0, "mw": mw.name}), broken="room")
        self.modify(qp, "RTS")
        self.settle()

    def fill_srq(self):
        """Fill a shared receive queue, and post more"""
        srq = self.make_srq(self.any("pd"))
        word = self.word({"id": 0})
        self.call("ibv_post_srq_recv", srq.name, word, broken="room",
                  bad="room", overflow=1)
        self.call("ibv_post_srq_recv", srq.name, word, word, broken="room",
                  bad=0)
        self.call("ibv_modify_srq", srq.name, broken="outstanding", mask=1,
                  wr=1)
        self.destroy_thing(srq)

    def extremes(self):
        """Queues as large as the device can make them, and one larger"""
        pd = self.any("pd")
        for make in (self.extreme_qp, self.extreme_qp, self.extreme_srq):
            make(pd)
        self.extreme_inline(pd)
        if self.chance(0.3):
            self.extreme_cq(pd)
        elif self.chance(0.3) and self.device.has("ibv_create_flow"):
            self.extreme_wq(pd)

    def seldom_value(self, found):
        """The one of some (verb, argument, limit) that was the rarest"""
        self.random.shuffle(found)
        return min(found, key=lambda what: self.count("value", *what))

    def extreme(self, verb, name, args, argument, limit, rule):
        """One more than a limit, and then the limit"""
        word = lines.word(verbs.NAMED[verb].argument(argument))
        self.call(verb, name, broken=rule, **{**args, word: f"{limit}+1"})
        self.call(verb, name, **{**args, word: limit})

    def extreme_qp(self, pd):
        cq = self.large_cq(pd.node)
        qp = self.name("qp")
        verb, argument, limit = self.seldom_value([
            (verb, argument, limit)
            for verb in ("ibv_create_qp", "ibv_create_qp_ex")
            for argument, limit in (
                ("max_send_wr", "max_qp_wr"), ("max_recv_wr", "max_qp_wr"),
                ("max_send_sge", "max_sge"), ("max_recv_sge", "max_sge"))])
        args = {"pd": pd.name, "scq": cq.name, "rcq": cq.name, "swr": 1,
                "rwr": 1, "type": self.random.choice((2, 3, 4)),
                "basic": 1 if verb == "ibv_create_qp" else None}
        self.extreme(verb, qp, args, argument, limit,
                     "max_sge" if limit == "max_sge" else "max_wr")
        self.call("ibv_query_qp", qp, state=0)
        self.call("ibv_destroy_qp", qp)

    def extreme_inline(self, pd):
        """As much inline data as the type can have, and one byte more"""
        cq = self.large_cq(pd.node)
        qp = self.name("qp")
        name, limit = "max_inline_data", "max_inline"
        verb, _, _ = self.seldom_value([
            (verb, name, limit)
            for verb in ("ibv_create_qp", "ibv_create_qp_ex")])
        qp_type = self.random.choice([
            qp_type for qp_type in verbs.SENDING if self.device.has(qp_type)])
        most = self.most_inline(qp_type)
        args = {"pd": pd.name, "scq": cq.name, "swr": 1,
                "rcq": cq.name if qp_type != verbs.XRC_SEND else None,
                "type": verbs.QP_TYPES[qp_type],
                "basic": 1 if verb == "ibv_create_qp" else None}
        self.call(verb, qp, broken=name, inline=most + 1, **args)
        self.reach("wrong", verb, name, f"{limit} + 1")
        self.call(verb, qp, inline=most, **args)
        self.reach("value", verb, name, limit)
        self.call("ibv_query_qp", qp, state=0)
        self.call("ibv_destroy_qp", qp)

    def extreme_srq(self, pd):
        srq = self.name("srq")
        args = {"pd": pd.name, "wr": 64, "sge": 1}
        found = ["ibv_create_srq"]
        if self.device.has("ibv_open_xrcd"):
            found.append("ibv_create_srq_ex")
        verb, argument, limit = self.seldom_value([
            (verb, argument, limit) for verb in found
            for argument, limit in (("max_wr", "max_srq_wr"),
                                    ("max_sge", "max_srq_sge"))])
        if verb == "ibv_create_srq_ex":
            args.update(xrcd=self.make_xrcd(pd.node).name,
                        cq=self.large_cq(pd.node).name)
        self.extreme(verb, srq, args, argument, limit, argument)
        self.call("ibv_query_srq", srq, limit=0)
        self.call("ibv_destroy_srq", srq)

    def extreme_cq(self, pd):
        cq = Cq(self.name("cq"), pd.node, ex=self.chance(0.5))
        self.create_cq(cq, "cqe", cqe="max_cqe+1")
        self.create_cq(cq, cqe="max_cqe")
        self.call("ibv_resize_cq", cq.name, broken="cqe", cqe="max_cqe+1")
        self.call("ibv_destroy_cq", cq.name)

    def extreme_wq(self, pd):
        wq = self.name("wq")
        args = {"pd": pd.name, "cq": self.large_cq(pd.node).name, "sge": 1}
        self.extreme("ibv_create_wq", wq, args, "max_wr", "max_qp_wr",
                     "max_wr")
        self.call("ibv_destroy_wq", wq)

    def crowd(self):
        """Fill a completion queue of its own, an entry at a time"""
        node = self.some_node()
        channel = self.any("channel", node=node) or self.make_channel(node)
        cq = self.make_cq(node, self.random.choice((1, 3, 8)), channel)
        qp = self.connect(self.random.choice((verbs.RC, verbs.UC)), node,
                          scq=cq, swr=64)
        self.settle()
        # The event of each tells that it is there
        there = self.random.choice((cq.cqe, self.random.randint(0, cq.cqe)))
        for _ in range(there):
            self.arm(cq)
            self.resize_crowded(cq, there)
            self.arm(cq, solicited=False)
            self.post_last(qp)
            self.take_events()
        if self.chance(0.5):
            self.overrun(cq, qp, there)
        else:
            self.settle()
        self.destroy_thing(qp)
        self.destroy_thing(cq)

    def resize_crowded(self, cq, enough):
        """Another size, or a destroy in vain, while completions are there"""
        there = len(self.model.completions.get(cq, ()))
        # A queue may have more entries than were asked for
        if there > 2 and self.chance(0.6):
            self.call("ibv_resize_cq", cq.name, broken="unpolled", cqe=1)
        # Completions stay, because the queue is in use
        if there and self.chance(0.6):
            self.destroy_thing(cq)
        if self.chance(0.3):
            cq.cqe = self.random.randint(enough, 16)
            self.call("ibv_resize_cq", cq.name, cqe=cq.cqe)

    def overrun(self, cq, qp, there):
        """More completions than there are entries"""
        wq = self.idle_wq(qp, cq) if self.device.has("ibv_create_wq") else None
        _, fields = self.empty(qp)
        self.call("ibv_post_send", qp.name, self.word(fields), crowd=cq.name,
                  there=there)
        self.model.move_psns(qp)
        self.model.completions.pop(cq, None)
        self.model.events.append((cq, "CQ_ERR"))
        if not self.device.differs("overrun_goes_on"):
            self.model.events.append((qp, "QP_FATAL"))
            self.model.stop(qp)
        if wq:
            self.model.events.append((wq, "WQ_FATAL"))
        self.settle()
        self.query(qp)
        if wq:
            self.call("ibv_destroy_wq", wq.name)

    def idle_wq(self, qp, cq):
        """A work queue that uses a completion queue, but receives nothing"""
        wq = Thing(self.name("wq"), cq.node)
        self.call("ibv_create_wq", wq.name, pd=qp.pd.name, cq=cq.name, wr=1,
                  sge=1)
        self.call("ibv_modify_wq", wq.name,
                  state=verbs.WQ_STATES.index("RDY"))
        return wq
