# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Device memory and multicast groups."""

import verbs
from lost import Lost
from model import GRH, SINK, Dm, Mr, Request
from posting import Need

TO_ALL = 0xffffff  # number of queue pair that datagrams to a group have
# Which byte of an IPv4 header to change to break a rule: of the version, or of the
# destination. It is behind 20 bytes of nothing.
SPOILED = {"version": {"flip": 20}, "address": {"flip": 39}}
RIGHTS = verbs.access("LOCAL_WRITE", "REMOTE_WRITE", "REMOTE_READ",
                      "REMOTE_ATOMIC", "ZERO_BASED")


class Extras(Lost):
    """Uses what not all devices have."""

    def make_dm(self, node=None):
        node = self.some_node(node)
        dm = Dm(self.name("dm"), node,
                len=self.draw("ibv_alloc_dm", "length"))
        if self.chance(0.7):
            self.call_wrong("ibv_alloc_dm", dm.name, {
                "dev": node, "len": dm.len, "align": 0})
        self.call("ibv_alloc_dm", dm.name, dev=node, len=dm.len,
                  align=self.draw("ibv_alloc_dm", "log_align_req"))
        self.model.memory[dm] = bytearray(dm.len)
        self.write_dm(dm, 0, dm.len & ~3)
        return self.keep(dm)

    def write_dm(self, dm, at, length):
        seed = self.random.randrange(1024)
        self.call("ibv_memcpy_to_dm", dm.name, at=at, len=length, seed=seed)
        self.model.fill(dm, at, length, seed)

    def compare_dm(self, dm):
        length = dm.len & ~3
        self.call("ibv_memcpy_from_dm", dm.name, at=0, len=length,
                  crc=hex(self.model.crc(dm, 0, length)))

    def copy_dm(self):
        """Copy to memory of the device and back, or beyond it"""
        dm = self.any("dm") or self.make_dm()
        at = self.random.randrange(0, dm.len, 4)
        self.write_dm(dm, at, self.random.randrange(0, dm.len - at + 1, 4))
        self.compare_dm(dm)
        beyond = {"at": at, "len": (dm.len - at & ~3) + 4}
        if self.chance(0.5):
            beyond["at"] = (1 << 64) - 4
        verb = self.random.choice(("ibv_memcpy_to_dm", "ibv_memcpy_from_dm"))
        self.call(verb, dm.name, broken="range", **beyond)

    def reg_dm(self, pd):
        """A region of memory of the device"""
        dm = self.any("dm", node=pd.node) or self.make_dm(pd.node)
        at = self.random.randrange(0, dm.len, 4)
        mr = Mr(self.name("mr"), pd.node, pd=pd, dm=dm, at=at,
                len=self.random.randint(1, dm.len - at), access=RIGHTS)
        args = {"pd": pd.name, "dm": dm.name, "at": at, "len": mr.len,
                "access": RIGHTS}
        if self.chance(0.6):
            self.call_wrong("ibv_reg_dm_mr", mr.name, args)
        if self.chance(0.4):
            self.call("ibv_reg_dm_mr", mr.name, broken="range",
                      **{**args, "len": dm.len - at + 1})
        self.call("ibv_reg_dm_mr", mr.name, **args)
        # Until the end of the step
        dm.users += 1
        pd.users += 1
        return mr

    def use_dm(self, qp):
        """Requests for memory of the other device"""
        if qp.type != verbs.RC or not qp.rd or qp.peer.state != "RTS":
            return
        mr = self.reg_dm(qp.peer.pd)
        for name in ("RDMA_WRITE", "RDMA_READ", "ATOMIC_FETCH_AND_ADD"):
            self.request_dm(qp, mr, verbs.OPERATION[name])
            self.settle()
            self.compare_dm(mr.dm)
        self.destroy_thing(mr.dm)
        self.call("ibv_dereg_mr", mr.name)
        mr.dm.users -= 1
        mr.pd.users -= 1

    def request_dm(self, qp, mr, op):
        at, length = mr.at, self.random.randint(0, mr.len)
        if op.data == "fetch":
            length = 8
            if mr.at & 7 or mr.len < length:
                return
        place = self.source(qp.pd, length) if op.data == "out" else \
            self.range(qp.pd, SINK, length, "LOCAL_WRITE")
        if not place:
            return
        request = Request(self.next_id(), op, verbs.FLAGS["SIGNALED"],
                          [(*place, length)], remote=(mr, at),
                          operands=(self.random.getrandbits(64), 0))
        self.call("ibv_post_send", qp.name,
                  self.word(self.fields(qp, request)))
        self.model.send(qp, request)

    def multicast(self, qp):
        """A datagram to a group, and calls that are wrong"""
        group = self.group(self.random.randrange(256))
        if qp.type != verbs.UD:
            self.call("ibv_attach_mcast", qp.name, broken="qp_type",
                      group=group)
            self.call("ibv_detach_mcast", qp.name, broken="qp_type",
                      group=group)
            return
        peer = qp.peer
        if self.loses(qp):
            return
        if peer.queue():
            self.clear(qp)
            return
        if peer.state != "RTS":
            return
        self.call("ibv_attach_mcast", peer.name, broken="group",
                  group=1 << 16)
        self.call("ibv_detach_mcast", peer.name, broken="attached",
                  group=group)
        for _ in range(self.random.randint(1, 2)):
            self.call("ibv_attach_mcast", peer.name, group=group)
        if not self.device.differs("groups_silent"):
            self.send_to(qp, group)
        if self.chance(0.5):
            self.call("ibv_destroy_qp", peer.name, broken="attached")
        self.call("ibv_detach_mcast", peer.name, group=group)

    def send_to(self, qp, group):
        ah = self.name("ah")
        self.call("ibv_create_ah", ah, pd=qp.pd.name, group=group)
        where = self.send_one(qp, ah=ah, qpn=TO_ALL)
        if where:
            self.refuse_from_wc(qp, where, "group")
        self.settle()
        self.call("ibv_destroy_ah", ah)

    def send_one(self, qp, **change):
        """Send a datagram. Return where its header is, or None if it is
        nowhere, or in several places.
        """
        length = self.random.randint(0, 1024)
        place = self.source(qp.pd, length)
        if not place or not self.post_receives(qp.peer, [Need(length)]):
            return None
        request = Request(self.next_id(), verbs.OPERATION["SEND"],
                          verbs.FLAGS["SIGNALED"], [(*place, length)])
        sges = qp.peer.queue()[0].sges
        self.call("ibv_post_send", qp.name, self.word(
            {**self.fields(qp, request), **change}))
        self.model.send(qp, request)
        # Before the memory of the header is written anew
        self.take_completions()
        mr, at, room = sges[0]
        return None if mr.null or room < GRH else f"{qp.peer.node}:{at}"

    def answer(self, qp):
        """A datagram, and one to where it came from"""
        peer = qp.peer
        if self.loses(qp) or (qp.state, peer.state) != ("RTS", "RTS"):
            return
        for end in (qp, peer):
            if end.queue():
                self.clear(end.peer)
                return
        where = self.send_one(qp)
        if not where:
            self.settle()
            return
        for broken in ("version", "address"):
            if self.chance(0.6):
                self.refuse_from_wc(qp, where, broken)
        args = {"grh": where, "port": 1}
        ah = self.name("ah")
        if self.chance(0.6):
            self.call_wrong("ibv_init_ah_from_wc", peer.node, args,
                            rules=("port",))
            self.call_wrong("ibv_create_ah_from_wc", ah,
                            {**args, "pd": peer.pd.name}, rules=("port",))
        self.call("ibv_init_ah_from_wc", peer.node, to=qp.node, tc=qp.ah.tc,
                  hop=self.sent_hops(qp.ah), **args)
        self.call("ibv_create_ah_from_wc", ah, pd=peer.pd.name, **args)
        self.settle()
        self.send_one(peer, ah=ah)
        self.settle()
        self.call("ibv_destroy_ah", ah)

    def sent_hops(self, ah):
        """The hop limit of datagrams, or None if it is what the kernel chooses"""
        return None if self.device.differs("hop_limit") else ah.hop

    def refuse_from_wc(self, qp, where, broken):
        """Break a rule by a header that is not that of a datagram to the port"""
        args = {"grh": where, "port": 1, **SPOILED.get(broken, {})}
        self.call("ibv_init_ah_from_wc", qp.peer.node, broken=broken, **args)
        self.call("ibv_create_ah_from_wc", self.name("ah"), broken=broken,
                  pd=qp.peer.pd.name, **args)
