# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Events, and the queues that they are about: sizes, limits, channels."""

import verbs
from model import Channel
from objects import CQE, Objects

MAX_WR, LIMIT = 1, 2


class Events(Objects):
    """Asks for events, takes and acknowledges them; changes queues."""

    def make_channel(self, node=None):
        node = self.some_node(node)
        channel = Channel(self.name("channel"), node)
        self.call("ibv_create_comp_channel", channel.name, dev=node)
        return self.keep(channel)

    def arm(self, cq, solicited=None):
        """Ask for an event of what is completed from now on."""
        if solicited is None:
            solicited = self.chance(0.4)
        self.call("ibv_req_notify_cq", cq.name,
                  solicited=self.random.choice((1, -1)) if solicited else 0)
        cq.arm(solicited)

    def arm_some(self, *cqs):
        """Ask for events of some of these, sometimes twice."""
        for cq in cqs:
            while cq and self.chance(0.3):
                self.arm(cq)

    def take_events(self):
        """Take all events that are due."""
        for channel in self.things["channel"]:
            due = [cq for cq in self.things["cq"] if cq.channel is channel
                   for _ in range(cq.due)]
            if due or self.chance(0.02):
                self.take_from(channel, due)
        for node in range(2):
            due = [(thing, name) for thing, name in self.model.events
                   if thing.node == node and not thing.deaf and
                   self.device.has(name)]
            if due or self.chance(0.1):
                self.take_async(node, due)
        self.model.events.clear()

    def take_from(self, channel, cqs):
        # The runner asks for one more than there are
        self.call("ibv_get_cq_event", channel.name,
                  *(f"cq={cq.name}" for cq in cqs), broken="event")
        for cq in cqs:
            cq.due -= 1
            cq.unacked += 1
            if self.chance(0.7):
                self.acknowledge(cq)

    def take_async(self, node, due):
        """The runner asks for one more than there are, here too."""
        for _, name in due:
            self.reach("event", name)
        self.call("ibv_get_async_event", node, *(
            f"ev={verbs.EVENT[name].number}/{thing.name}"
            for thing, name in due),
            *(f"other={event.number}" for event in verbs.EVENTS
              if not self.device.has(event.name) or
              event.name == "QP_LAST_WQE_REACHED" and
              self.device.differs("last_wqe_again")),
            broken="event", late=1 if self.lossy else None)
        if due:
            self.reach("verb", "ibv_ack_async_event")

    def acknowledge(self, cq):
        """Acknowledge all events, which destroying the queue waits for."""
        while cq.unacked:
            number = self.draw("ibv_ack_cq_events", "nevents",
                               taken=cq.unacked)
            self.call("ibv_ack_cq_events", cq.name, n=number)
            cq.unacked -= number

    def settle_before_reset(self, qp):
        """RESET forgets completions, but perhaps not the events of them."""
        if self.model.events or self.device.differs("completions_stay") or any(
                cq.channel and any(completion.qp is qp
                                   for completion in completions)
                for cq, completions in self.model.completions.items()):
            self.settle()

    def resize_cq(self):
        """Another size, or one that cannot be"""
        cq = self.any("cq")
        if not cq:
            return
        if self.chance(0.3):
            self.call_wrong("ibv_resize_cq", cq.name, {}, rules=("cqe",))
            return
        cq.cqe = self.draw("ibv_resize_cq", "cqe")
        self.call("ibv_resize_cq", cq.name, cqe=cq.cqe)

    def modify_cq(self):
        cq = self.any("cq")
        if not cq:
            return
        if self.chance(0.3):
            self.call_wrong("ibv_modify_cq", cq.name, {})
        self.call("ibv_modify_cq", cq.name,
                  mask=self.draw("ibv_modify_cq", "attr_mask"),
                  count=self.draw("ibv_modify_cq", "cq_count"),
                  period=self.draw("ibv_modify_cq", "cq_period"))

    def modify_srq(self):
        """Resize a shared receive queue, or set its limit, or neither."""
        srq = self.any("srq")
        if not srq:
            return
        self.settle()
        self.refused_srq(srq)
        mask = self.draw("ibv_modify_srq", "srq_attr_mask")
        wr = self.draw("ibv_modify_srq", "max_wr")
        if self.device.differs("limit_first"):
            wr = max(wr, srq.limit)
        if srq.limit > wr:
            mask |= LIMIT
        size = wr if mask & MAX_WR else srq.max_wr
        most = min(size, srq.max_wr - 1) \
            if self.device.differs("limit_first") else size
        limit = self.draw("ibv_modify_srq", "srq_limit", max_wr=most)
        self.call("ibv_modify_srq", srq.name, mask=mask, wr=wr, limit=limit)
        srq.max_wr = size
        if mask & LIMIT:
            srq.limit = limit
            if not self.device.differs("limit_later"):
                self.model.check_limit(srq)
        self.settle()
        self.query_srq(srq)

    def limit_srq(self, srq):
        """Have the event come when some of the requests there are taken."""
        srq.limit = self.random.randint(0, len(srq.receives))
        self.call("ibv_modify_srq", srq.name, mask=LIMIT, limit=srq.limit)
        self.query_srq(srq)
        if srq.limit:
            self.refused_srq(srq)

    def refused_srq(self, srq):
        """Each rule of ibv_modify_srq() is broken, which changes nothing."""
        broken = self.random.choice((None, "mask", "max_wr", "limit",
                                     "outstanding"))
        if not broken or broken == "outstanding" and len(srq.receives) <= 2:
            return
        self.call_wrong("ibv_modify_srq", srq.name, {
            "mask": LIMIT if broken == "limit" else MAX_WR, "wr": srq.max_wr,
            "limit": 0}, rules=(broken,))
        self.query_srq(srq)

    def query_srq(self, srq):
        self.call("ibv_query_srq", srq.name, limit=srq.limit)
