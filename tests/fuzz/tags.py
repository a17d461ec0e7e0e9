# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tag matching: lists of tags, and messages that match or do not."""

import struct
from dataclasses import dataclass, field

import verbs
from ethernet import Ethernet
from model import SINK, WC_INFORMED, Completion, Cq, Qp, Receive, Request, Srq
from objects import STANDARD_WC

TM_INFO = 1 << 10  # enum ibv_create_cq_wc_flags
NO_TAG, RNDV, EAGER = 0, 1, 3  # enum ibv_tmh_op
HEADER = 16
RNDV_HEADER, MAX_RNDV_HEADER = 32, 256
SYNC_REQ, MATCH, DATA_VALID = 1 << 4, 1 << 5, 1 << 6  # enum ibv_wc_flags
SIGNALED, TM_SYNC = 1, 2  # enum ibv_ops_flags
MAX_TAGS = MAX_OPS = 8
ALL_BITS = (1 << 64) - 1
MESSAGE = 1024  # the smallest path MTU has it in one packet with its header


@dataclass
class Tag:
    """An entry of the list of tags"""

    number: int
    recv_id: int
    sge: tuple
    tag: int
    mask: int
    order: int


@dataclass
class TagList:
    """A list of tags, and what was received without one

    unexpected, handled: messages, as the device has counted and as it was told
    open: tags with a lower order can match
    unheard: operations since the last completion of one
    """

    tags: list = field(default_factory=list)
    unexpected: int = 0
    handled: int = 0
    next_order: int = 0
    open: int = 0
    unheard: int = 0

    def open_tags(self):
        if self.handled == self.unexpected:
            self.open = self.next_order

    def match(self, tag):
        """Take the tag that a message matches, or None"""
        for entry in self.tags:
            if entry.order < self.open and tag & entry.mask == entry.tag:
                self.tags.remove(entry)
                return entry
        return None


class Tags(Ethernet):
    """Matches the tags of messages between two queue pairs."""

    def tag_matching(self):
        """Everything is made, used, and destroyed again."""
        node = self.some_node()
        pd = self.any("pd", node=node)
        cq = Cq(self.name("cq"), node, cqe=4096, ex=self.chance(0.7))
        self.create_cq(cq, wc_flags=STANDARD_WC | TM_INFO if cq.ex else None)
        srq = self.make_tm_srq(pd, cq)
        sender = self.make_end(1 - node, None)
        receiver = self.make_end(node, srq)
        self.join(sender, receiver)
        tags = TagList()
        if self.chance(0.2):
            # One more than there may be
            for _ in range(MAX_TAGS + 1):
                self.add_tag(srq, tags)
        for _ in range(self.random.randint(5, 30)):
            self.tag_step(sender, receiver, tags)
        self.call("ibv_destroy_srq", srq.name, broken="unused")
        for qp in (sender, receiver):
            self.call("ibv_destroy_qp", qp.name)
        self.call("ibv_destroy_srq", srq.name)
        self.call("ibv_destroy_cq", cq.name)
        self.call("ibv_destroy_cq", sender.scq.name)

    def make_tm_srq(self, pd, cq):
        srq = Srq(self.name("srq"), pd.node, pd=pd, cq=cq, max_wr=16,
                  max_sge=1)
        args = {"pd": pd.name, "cq": cq.name, "wr": 16, "sge": 1}
        limits = {"tags": MAX_TAGS, "ops": MAX_OPS}
        if self.chance(0.7):
            self.call_wrong("ibv_create_srq_ex", srq.name,
                            {**args, **limits},
                            rules=("max_num_tags", "max_ops"))
        self.call("ibv_create_srq_ex", srq.name, **args, **limits)
        return srq

    def make_end(self, node, srq):
        """A queue pair; the one that receives has no send queue"""
        cq = srq.cq if srq else Cq(self.name("cq"), node, cqe=64)
        if not srq:
            self.create_cq(cq)
        pd = srq.pd if srq else self.any("pd", node=node)
        there = int(not srq)
        caps = {"swr": 16 * there, "ssge": there, "rwr": 0, "inline": 0}
        qp = Qp(self.name("qp"), node, type=verbs.RC, pd=pd, scq=cq, rcq=cq,
                srq=srq, caps=caps)
        self.create_qp(qp, pd)
        return qp

    def join(self, *pair):
        for qp, peer in (pair, pair[::-1]):
            qp.peer, qp.mtu, qp.rnr, qp.psn = peer, 4, 7, 0
        if self.lossy:
            self.renumber(pair)
        for state in ("INIT", "RTR", "RTS"):
            for qp in pair:
                self.modify(qp, state)

    def tag_step(self, sender, receiver, tags):
        what = self.random.random()
        srq = receiver.srq
        if what < 0.1:
            self.refused_ops(srq, tags)
        elif what < 0.4:
            self.add_tag(srq, tags)
        elif what < 0.5:
            self.delete_tag(srq, tags)
        elif what < 0.6:
            self.sync_tags(srq, tags)
        else:
            self.send_tagged(sender, receiver, tags)

    # Operations

    def operate(self, srq, opcode, fields, flags, tags, status="SUCCESS"):
        """Post an operation, and expect its completion."""
        wr_id = self.next_id()
        # The ring may still be full of those that nothing was heard of
        tags.unheard += 1
        if tags.unheard == MAX_OPS:
            flags |= SIGNALED
        fields = {"id": wr_id, "opcode": opcode, "flags": flags, **fields}
        self.drawn("ibv_post_srq_ops", num_sge=1 if "sge" in fields else None,
                   opcode=opcode, flags=flags)
        if flags & TM_SYNC:
            fields["count"] = tags.handled = tags.unexpected
        self.call("ibv_post_srq_ops", srq.name, self.op(fields))
        tags.open_tags()
        if flags & SIGNALED or status != "SUCCESS":
            self.operation_done(srq, wr_id, opcode, tags, status)
        self.settle()

    def operation_done(self, srq, wr_id, opcode, tags, status="SUCCESS"):
        late = tags.handled != tags.unexpected
        tags.unheard = 0
        self.model.complete(srq.cq, Completion(
            srq, False, wr_id, status, verbs.WC_TM_ADD + opcode, -1,
            SYNC_REQ if late else 0))

    @staticmethod
    def op(fields):
        return "op=" + ",".join(f"{key}={value}"
                                for key, value in fields.items())

    def some_flags(self):
        return self.random.choice((0, SIGNALED, SIGNALED, SIGNALED | TM_SYNC))

    def add_tag(self, srq, tags):
        place = self.range(srq.pd, SINK, MESSAGE, "LOCAL_WRITE")
        if not place:
            return
        if len(tags.tags) == MAX_TAGS:
            self.call("ibv_post_srq_ops", srq.name, self.op(
                {"id": 0, "opcode": verbs.TAG_ADD, "flags": 0, "sges": 0}),
                broken="tags", bad=0)
            return
        if tags.unheard and len(tags.tags) + tags.unheard >= MAX_TAGS:
            # A tag that is deleted has its place until that is done
            self.operate(srq, verbs.TAG_SYNC, {}, SIGNALED, tags)
        mr, at = place
        mask = self.draw("ibv_post_srq_ops", "mask")
        tag = Tag(self.next_id(), self.next_id(), (mr, at, MESSAGE),
                  self.a_tag() & mask, mask, tags.next_order)
        tags.next_order += 1
        tags.tags.append(tag)
        flags = self.some_flags()
        self.operate(srq, verbs.TAG_ADD, {
            "recv": tag.recv_id, "tag": tag.tag, "mask": tag.mask,
            "save": tag.number % 65536,
            "sge": f"{mr.address(at)}/{MESSAGE}/{mr.name}"}, flags, tags)

    def a_tag(self):
        """Few, so that some match"""
        return self.random.choice((1, 2, 0x1122334455667788))

    def delete_tag(self, srq, tags):
        if not tags.tags:
            return
        tag = self.random.choice(tags.tags)
        tags.tags.remove(tag)
        fields = {"of": tag.number % 65536}
        self.operate(srq, verbs.TAG_DEL, fields, self.some_flags(), tags)
        if self.chance(0.3):
            # There is no such tag any more
            self.operate(srq, verbs.TAG_DEL, fields, 0, tags, "TM_ERR")

    def sync_tags(self, srq, tags):
        self.operate(srq, verbs.TAG_SYNC, {}, self.random.choice(
            (TM_SYNC, SIGNALED | TM_SYNC)), tags)

    def refused_ops(self, srq, tags):
        """Each rule of ibv_post_srq_ops() is broken."""
        good = {"id": 0, "opcode": verbs.TAG_SYNC, "flags": 0}
        broken = self.random.choice(("srq_type", "opcode", "flags", "num_sge",
                                     "room"))
        if broken == "room":
            if tags.unheard:
                self.operate(srq, verbs.TAG_SYNC, {}, SIGNALED, tags)
            # The last that is taken tells when there is room again.
            wr_id = self.next_id()
            last = {**good, "id": wr_id, "flags": SIGNALED}
            self.call("ibv_post_srq_ops", srq.name,
                      *((MAX_OPS - 1) * (self.op(good),)), self.op(last),
                      self.op(good), broken=broken, bad=MAX_OPS)
            tags.open_tags()
            self.operation_done(srq, wr_id, verbs.TAG_SYNC, tags)
            self.settle()
            return
        if broken == "srq_type":
            srq = self.any("srq")
            if not srq:
                return
        change = {}
        if broken == "num_sge":
            change = {"opcode": verbs.TAG_ADD,
                      "sges": self.wrong("ibv_post_srq_ops", broken, broken)}
        elif broken != "srq_type":
            change = {broken: self.wrong("ibv_post_srq_ops", broken, broken)}
        self.call("ibv_post_srq_ops", srq.name, self.op({**good, **change}),
                  broken=broken, bad=0)

    # Messages

    def send_tagged(self, sender, receiver, tags):
        """A message, with a receive request for it if no tag matches"""
        tag, context = self.a_tag(), self.random.getrandbits(32)
        opcode = self.random.choice((EAGER, EAGER, EAGER, NO_TAG, RNDV))
        data = struct.pack(">BxxxIQ", opcode, context, tag) + (
            self.too_much() if opcode == RNDV else
            self.random.randbytes(self.random.randint(0, MESSAGE)))
        place = self.source(sender.pd, len(data))
        if not place:
            return
        entry = tags.match(tag) if opcode != NO_TAG else None
        receive = None
        if not entry:
            receive = self.post_tm_receive(receiver)
            if not receive:
                return
        mr, at = place
        self.line("write", sender.node, (f"at={at}", f"hex={data.hex()}"), 0)
        self.model.memory[sender.node][at:at + len(data)] = data
        request = Request(self.next_id(), verbs.OPERATION["SEND"],
                          verbs.FLAGS["SIGNALED"], [(mr, at, len(data))])
        self.call("ibv_post_send", sender.name,
                  self.word(self.fields(sender, request)))
        self.model.complete(sender.scq, Completion(
            sender, False, request.wr_id, "SUCCESS", verbs.WC_SEND))
        if entry:
            self.receive_tagged(receiver, entry, data, (tag, context), opcode)
        else:
            self.receive_untagged(receiver, receive, data, opcode)
            tags.unexpected += opcode != NO_TAG
        self.settle()

    def too_much(self):
        """What is behind the header if a rendezvous is for more bytes than the
        tag has room for, so that software must read them
        """
        length = self.random.choice((MESSAGE + 1, 1 << 31, (1 << 32) - 1))
        return struct.pack(">QII", self.random.getrandbits(64),
                           self.random.getrandbits(32), length) + \
            self.random.randbytes(self.random.choice((
                0, MAX_RNDV_HEADER - RNDV_HEADER, self.random.randint(
                    0, MAX_RNDV_HEADER - RNDV_HEADER))))

    def post_tm_receive(self, receiver):
        srq = receiver.srq
        place = self.range(srq.pd, SINK, MESSAGE + HEADER, "LOCAL_WRITE")
        if not place:
            return None
        mr, at = place
        receive = Receive(self.next_id(), [(mr, at, MESSAGE + HEADER)])
        self.call("ibv_post_srq_recv", srq.name, self.word({
            "id": receive.wr_id,
            "sges": f"{mr.address(at)}/{MESSAGE + HEADER}/{mr.name}"}))
        return receive

    def receive_tagged(self, receiver, entry, data, info, opcode):
        """The tag has the data, or the request for a rendezvous itself."""
        payload, status = data[HEADER:], "SUCCESS"
        if opcode == RNDV:
            payload, status = data, "TM_RNDV_INCOMPLETE"
        self.model.scatter(receiver.node, [entry.sge], payload)
        flags, extra = MATCH | DATA_VALID, 0
        if receiver.srq.cq.ex:
            flags, extra = flags | WC_INFORMED, "{}:{}".format(*info)
        self.model.complete(receiver.srq.cq, Completion(
            receiver, True, entry.recv_id, status, verbs.WC_TM_RECV,
            len(payload), flags, extra))

    def receive_untagged(self, receiver, receive, data, opcode):
        self.model.scatter(receiver.node, receive.sges, data)
        self.model.complete(receiver.srq.cq, Completion(
            receiver, True, receive.wr_id, "SUCCESS",
            verbs.WC_TM_NO_TAG if opcode == NO_TAG else verbs.WC_TM_RECV,
            len(data)))
