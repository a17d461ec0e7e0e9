# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What happens to a port or a device: no verb does it, but its host."""

import verbs
from model import SOURCE, Request
from together import Together

PORT_DOWN = 1  # enum ibv_port_state
# The last step of a program
FAIL = "fail"
# The link of a device that fails is gone before, and the driver may tell what
# the RDMA core tells, too: Documentation/decisions/0013-recovery.rst
WITH_FATAL = tuple(f"other={verbs.EVENT[name].number}"
                   for name in ("PORT_ERR", "DEVICE_FATAL"))


class Ports(Together):
    """Pulls cables, changes addresses, has devices fail. All contexts of a
    device are told, so that no other program may run.
    """

    def host(self, node, *words):
        self.line("host", node, ("do=" + ":".join(words),), 0)

    def port_events(self, node, ctx, name, *words, port=1):
        """An event comes to each context of a device, and no other does."""
        for target in (node, ctx):
            self.reach("event", name)
            self.reach("verb", "ibv_ack_async_event")
            self.call("ibv_get_async_event", target,
                      f"ev={verbs.EVENT[name].number}/{port}", *words,
                      broken="event", late=1 if self.lossy else None)

    def nothing_new(self, node):
        self.call("ibv_get_async_event", node, broken="event",
                  late=1 if self.lossy else None)

    def another_context(self, node):
        ctx = self.name("ctx")
        self.call("ibv_open_device", ctx, dev=node)
        return ctx

    def disturb(self):
        """One of both, of which the other was no rarer: they take long"""
        if self.count("event", "GID_CHANGE") < self.count("event", "PORT_ERR"):
            self.change_address()
        else:
            self.unplug()

    def unplug(self):
        """Pull a cable, and put it back."""
        self.settle()
        node = self.some_node()
        ctx = self.another_context(node)
        self.host(node, "link", "down")
        self.port_events(node, ctx, "PORT_ERR")
        self.call("ibv_query_port", node, port=1, state=PORT_DOWN)
        self.ask_port(node)
        self.nothing_new(1 - node)
        self.call("ibv_query_port", 1 - node, port=1)
        for qp in self.things["qp"]:
            if qp.node == node and self.chance(0.3):
                self.query(qp)
        self.host(node, "link", "up")
        self.port_events(node, ctx, "PORT_ACTIVE")
        self.call("ibv_query_port", node, port=1)
        self.call("ibv_close_device", ctx)

    def change_address(self):
        """A port has one more address, and has it no more."""
        self.settle()
        node = self.some_node()
        ctx = self.another_context(node)
        number = self.random.randint(1, 254)
        for change, found in (("add", 1), ("del", 0)):
            self.host(node, "address", change, str(number))
            self.port_events(node, ctx, "GID_CHANGE")
            for target in range(2):
                self.line("find_gid", target, (f"addr={number}",),
                          found * (target == node))
                self.count_verb("ibv_query_gid_ex")
            self.ask_port(node)
            self.nothing_new(1 - node)
        self.call("ibv_close_device", ctx)

    def may_fail(self):
        """Whether a device fails at the end, which takes some seconds"""
        return self.alone and self.device.has("DEVICE_FATAL") and \
            (not self.before["event", "DEVICE_FATAL"] or self.chance(0.2))

    def fail_device(self):
        """A device fails. Its contexts are of no use then. It comes back."""
        self.settle()
        node = self.some_node()
        if self.counts_drops():
            self.compare_drops(node, last=1)
        ctx = self.another_context(node)
        self.host(node, "fail")
        self.command_failed(node)
        self.port_events(node, ctx, "DEVICE_FATAL", *WITH_FATAL, port="-")
        self.nothing_new(1 - node)
        self.post_to_failed(node)
        self.call("ibv_query_port", 1 - node, port=1)
        self.host(node, "back")
        self.find_nothing(node)
        self.command_failed(node)
        # This needs none, but the context has lost its device by now.
        self.call("ibv_query_port", node, broken="alive", port=1)
        self.open_close(node)
        self.begin_drops(node)

    def post_to_failed(self, node):
        """Posting succeeds, but nothing completes."""
        for qp in self.things["qp"]:
            place = qp.node == node and qp.state == "RTS" and qp.peer and \
                qp.type in (verbs.RC, verbs.UC) and self.source(qp.pd, 100)
            if place:
                request = Request(self.next_id(), verbs.OPERATION["SEND"],
                                  verbs.FLAGS["SIGNALED"], [(*place, 100)])
                self.call("ibv_post_send", qp.name,
                          self.word(self.fields(qp, request)))
        self.find_nothing(node)

    def find_nothing(self, node):
        for cq in self.things["cq"]:
            if cq.node == node:
                self.poll(cq)

    def command_failed(self, node):
        """Calls fail that need the device."""
        pd = self.any("pd", node=node)
        self.call("ibv_alloc_pd", self.name("pd"), broken="alive", dev=node)
        self.call("ibv_create_cq", self.name("cq"), broken="alive", dev=node,
                  cqe=1, vector=0)
        self.call("ibv_reg_mr", self.name("mr"), broken="alive", pd=pd.name,
                  at=SOURCE, len=1, access=0)
        qp = self.any("qp", node=node)
        if qp:
            self.call("ibv_modify_qp", qp.name, broken="alive",
                      state=verbs.STATES.index("ERR"),
                      mask=verbs.ATTRIBUTES["STATE"])
            self.call("ibv_query_qp", qp.name, broken="alive")
