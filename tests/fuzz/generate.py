# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Writes programs for the runner: legal and slightly illegal sequences.

Each call is chosen at random among those that are possible, or is made wrong
by breaking one of its rules. The model says what must come of it.

A program is a list of steps. Each has random numbers of its own, so that a
step can be left out and those behind it still do much the same.
"""

import collections
import itertools
import random

import verbs
from model import (AREA, GRH, SINK, SOURCE, TARGET, Ah, Cq, Model, Mr, Pd, Qp,
                   Receive, Request, Srq)
from words import Dropped, Fails


CQE = 4096
MAX_QPS = 24
GUARD = 64
STANDARD_WC = 0x7f
UNKNOWN_KEY = "~0x80000000"
FLAGS = verbs.FLAGS
ALL_RIGHTS = sum(verbs.ACCESS[right] for right in (
    "LOCAL_WRITE", "REMOTE_WRITE", "REMOTE_READ", "REMOTE_ATOMIC"))


class Area:
    """Gives out parts of an area that nobody else uses in the same round."""

    def __init__(self, start):
        self.start = start
        self.next = start

    def take(self, mr, length):
        """A range in a region and in no range taken before, or None"""
        # Atomics need an address that is a multiple of 8
        at = max(self.next, mr.at) + 7 & ~7
        if at + length > min(mr.at + mr.len, self.start + AREA):
            return None
        self.next = at + length + GUARD
        return at

    def reset(self):
        self.next = self.start


class Generator:
    """Writes one program.

    seed: the same seed, number of calls and steps make the same program
    out: file to write to
    """

    def __init__(self, seed, out):
        self.seed = seed
        self.random = random.Random(seed)
        self.out = out
        self.model = Model()
        self.numbers = collections.Counter()
        self.things = collections.defaultdict(list)
        self.written = 0
        self.verbs = collections.Counter()
        self.rules = collections.Counter()
        self.operations = collections.Counter()
        self.wr_id = 0
        self.areas = [{start: Area(start) for start in
                       (SOURCE, SINK, TARGET)} for _ in range(2)]

    # Lines

    def call(self, verb, target, expect=0, **args):
        """Write a call; arguments that are None are left out."""
        words = [f"{name}={value}" for name, value in args.items()
                 if value is not None]
        self.line(verb, target, words, expect)

    def line(self, verb, target, words, expect):
        print(verb, target, *words, "=>", expect, file=self.out)
        self.written += 1

    def name(self, kind):
        self.numbers[kind] += 1
        return f"{kind}{self.numbers[kind] - 1}"

    def chance(self, probability):
        return self.random.random() < probability

    def any(self, kind, **where):
        found = [thing for thing in self.things[kind] if all(
            getattr(thing, key) == value for key, value in where.items())]
        return self.random.choice(found) if found else None

    # Objects

    def make_pd(self, node=None):
        node = self.random.randrange(2) if node is None else node
        pd = Pd(self.name("pd"), node)
        self.call("alloc_pd", pd.name, dev=node)
        self.things["pd"].append(pd)
        self.verbs["ibv_alloc_pd"] += 1
        return pd

    def make_mr(self, pd=None, area=None, access=None):
        pd = pd or self.any("pd")
        if area is None:
            area = self.random.choice((SOURCE, SINK, TARGET))
        if access is None:
            access = self.random.getrandbits(4)
            if self.chance(0.1):
                access |= verbs.ACCESS["ZERO_BASED"]
        at = area + self.random.randrange(0, AREA // 2)
        if access & verbs.ACCESS["ZERO_BASED"]:
            # What is aligned in the region is so in memory, for atomics
            at &= ~7
        length = self.random.choice((1, 8, 4096, 65536, AREA // 2))
        mr = Mr(self.name("mr"), pd.node, pd=pd, at=at, len=length,
                access=access)
        remote = access & (verbs.ACCESS["REMOTE_WRITE"] |
                           verbs.ACCESS["REMOTE_ATOMIC"])
        wrong = remote and not mr.has("LOCAL_WRITE")
        self.call("reg_mr", mr.name, self.refusal(
            "remote_needs_local", 22) if wrong else 0, pd=pd.name, at=at,
            len=length, access=access)
        self.verbs["ibv_reg_mr"] += 1
        if wrong:
            return None
        pd.users += 1
        self.things["mr"].append(mr)
        return mr

    def make_cq(self, node=None):
        node = self.random.randrange(2) if node is None else node
        ex = self.chance(0.5)
        cq = Cq(self.name("cq"), node, cqe=CQE, ex=ex)
        self.call("create_cq", cq.name, dev=node, cqe=CQE,
                  wc_flags=STANDARD_WC if ex else None)
        self.verbs["ibv_create_cq_ex" if ex else "ibv_create_cq"] += 1
        self.things["cq"].append(cq)
        return cq

    def refused_cq(self):
        ex = self.chance(0.5)
        self.call("create_cq", self.name("cq"), self.refusal("cqe", 22),
                  dev=0, cqe=0, wc_flags=STANDARD_WC if ex else None)
        self.verbs["ibv_create_cq_ex" if ex else "ibv_create_cq"] += 1

    def make_srq(self, pd):
        srq = Srq(self.name("srq"), pd.node, pd=pd,
                  max_wr=self.random.choice((64, 256)),
                  max_sge=self.random.choice((1, 2, 4)))
        self.call("create_srq", srq.name, pd=pd.name, wr=srq.max_wr,
                  sge=srq.max_sge)
        self.verbs["ibv_create_srq"] += 1
        pd.users += 1
        self.things["srq"].append(srq)
        return srq

    def make_qp(self, qp_type, node):
        pd = self.any("pd", node=node) or self.make_pd(node)
        scq = self.any("cq", node=node) or self.make_cq(node)
        rcq = self.any("cq", node=node)
        srq = None
        if self.chance(0.25):
            srq = self.any("srq", pd=pd) or self.make_srq(pd)
        caps = {"swr": self.random.choice((2, 16, 64)),
                "rwr": self.random.choice((16, 64)),
                "ssge": self.random.choice((1, 2, 4)),
                "rsge": self.random.choice((1, 2, 4)),
                "inline": self.random.choice((0, 16, 64, 200))}
        if srq:
            caps["rwr"] = caps["rsge"] = 0
        ops = None
        if self.chance(0.5):
            ops = sum(op.send_ops for op in verbs.OPERATIONS
                      if qp_type in op.on)
        qp = Qp(self.name("qp"), node, type=qp_type, pd=pd, scq=scq, rcq=rcq,
                srq=srq, caps=caps, sig_all=self.chance(0.3), ops=ops)
        self.create_qp(qp, 0)
        for thing in (pd, scq, rcq, srq):
            if thing:
                thing.users += 1
        self.things["qp"].append(qp)
        if qp_type == verbs.UD:
            qp.qkey = self.random.getrandbits(31)
        return qp

    def create_qp(self, qp, expect, **other):
        args = dict(pd=qp.pd.name, scq=qp.scq.name, rcq=qp.rcq.name,
                    srq=qp.srq.name if qp.srq else None,
                    type=verbs.QP_TYPES[qp.type], sig_all=int(qp.sig_all),
                    ops=qp.ops, **qp.caps)
        args.update(other)
        self.call("create_qp", qp.name, expect, **args)
        self.verbs["ibv_create_qp_ex"] += 1

    def refused_qp(self):
        """A queue pair with an operation that its type does not have"""
        missing = [(qp_type, op) for op in verbs.OPERATIONS
                   for qp_type in verbs.QP_TYPES if qp_type not in op.on]
        qp_type, op = self.random.choice(missing)
        pd = self.any("pd")
        cq = self.any("cq", node=pd.node)
        if not cq:
            return
        qp = Qp(self.name("qp"), pd.node, type=qp_type, pd=pd, scq=cq, rcq=cq,
                caps={"swr": 1}, ops=op.send_ops)
        self.create_qp(qp, self.refusal("send_ops", 95))

    def destroy(self, kind):
        """Destroy an object of a kind, in use or not."""
        thing = self.any(kind)
        if not thing:
            return
        if kind == "qp":
            self.destroy_qp(thing)
            return
        # What the program itself needs stays
        if kind == "ah" and thing.users:
            return
        if not thing.users and len(self.things[kind]) <= 4:
            return
        busy = thing.users > 0
        self.call("destroy", thing.name,
                  self.refusal("unused", 16) if busy else 0)
        self.verbs[{"pd": "ibv_dealloc_pd", "mr": "ibv_dereg_mr",
                    "cq": "ibv_destroy_cq", "srq": "ibv_destroy_srq",
                    "ah": "ibv_destroy_ah"}[kind]] += 1
        if busy:
            return
        self.things[kind].remove(thing)
        if kind in ("mr", "srq", "ah"):
            thing.pd.users -= 1

    def destroy_qp(self, qp):
        self.call("destroy", qp.name)
        self.verbs["ibv_destroy_qp"] += 1
        self.things["qp"].remove(qp)
        for thing in (qp.pd, qp.scq, qp.rcq, qp.srq, qp.ah):
            if thing:
                thing.users -= 1
        if qp.peer:
            qp.peer.peer = None
            self.orphan(qp.peer)

    def orphan(self, qp):
        """A queue pair without a peer is not sent from any more."""
        qp.peer = None

    # States

    def modify(self, qp, state, expect=0, without=None, **args):
        names = ["STATE"]
        required = verbs.transition(qp.type, qp.state, state)
        names += [name for name in required or () if name != without]
        self.call("modify_qp", qp.name, expect,
                  state=verbs.STATES.index(state),
                  mask=sum(verbs.ATTRIBUTES[name] for name in names), **args)
        self.verbs["ibv_modify_qp"] += 1
        if expect:
            return
        if state == "RESET":
            self.model.reset(qp)
        elif state == "ERR":
            self.model.stop(qp)
        else:
            qp.state = state

    def attributes(self, qp, state):
        if state == "INIT":
            return {"access": ALL_RIGHTS & ~1 if qp.type == verbs.RC else 2,
                    "qkey": qp.qkey}
        if state == "RTR" and qp.type != verbs.UD:
            return {"to": qp.peer.node, "dest": qp.peer.name,
                    "mtu": qp.mtu, "rq_psn": qp.peer.psn, "dest_rd": 8,
                    "min_rnr": 1}
        if state == "RTS":
            return {"sq_psn": qp.psn, "timeout": 18, "retry": 7, "rnr": 7,
                    "rd": 8}
        return {}

    def wrong_transition(self, qp):
        """Each rule of ibv_modify_qp() is broken."""
        state = self.random.choice(verbs.STATES[:4])
        required = verbs.transition(qp.type, qp.state, state)
        if required is None:
            self.modify(qp, state, self.refusal("transition", 22))
        elif required:
            without = self.random.choice(required)
            self.modify(qp, state, self.refusal("required", 22), without,
                        **self.attributes(qp, state))
        self.query(qp)

    def query(self, qp):
        self.call("query_qp", qp.name, state=verbs.STATES.index(qp.state))
        self.verbs["ibv_query_qp"] += 1

    def step(self, qp, state):
        if self.chance(0.1):
            self.wrong_transition(qp)
        if self.chance(0.1):
            self.post_early(qp)
        self.modify(qp, state, **self.attributes(qp, state))

    def raise_qp(self, qp, last="RTS"):
        for state in ("RESET", "INIT", "RTR", "RTS"):
            if qp.state != state:
                self.step(qp, state)
            if state == last:
                return

    def connect(self):
        """Two queue pairs that reach each other"""
        node = self.random.randrange(2)
        qp_type = self.random.choice(tuple(verbs.QP_TYPES))
        pair = (self.make_qp(qp_type, node), self.make_qp(qp_type, 1 - node))
        mtu = self.random.choice((1, 2, 3))
        for qp, peer in (pair, pair[::-1]):
            qp.peer, qp.mtu = peer, mtu
            qp.psn = self.random.choice((0, 0xfffffe, 0x7fffff,
                                         self.random.getrandbits(24)))
        self.bring_up(pair)
        if qp_type == verbs.UD:
            for qp in pair:
                self.make_ah(qp)

    def make_ah(self, qp):
        ah = Ah(self.name("ah"), qp.node, pd=qp.pd, to=qp.peer.node)
        self.call("create_ah", ah.name, pd=qp.pd.name, to=ah.to)
        self.verbs["ibv_create_ah"] += 1
        qp.pd.users += 1
        ah.users += 1
        qp.ah = ah
        self.things["ah"].append(ah)

    def bring_up(self, pair):
        """Both in RTR before one is in RTS, which may send at once"""
        for qp in pair:
            self.raise_qp(qp, "RTR")
        for qp in pair:
            self.raise_qp(qp)

    def recover(self, qp):
        """After an error: from the start, or from SQE back to RTS"""
        if qp.state == "SQE":
            self.modify(qp, "RTS")
            return
        pair = (qp, qp.peer)
        for end in pair:
            self.modify(end, "RESET")
        self.bring_up(pair)

    def stop(self, qp):
        """To the error state by the program's will"""
        self.modify(qp, "ERR")
        self.settle()

    # Memory

    def range(self, pd, area, length, right=None):
        """(Mr, at) of so many bytes that are free in this round, or None"""
        candidates = [mr for mr in self.things["mr"] if mr.pd is pd and
                      mr.covers(area) and (not right or mr.has(right)) and
                      mr.len >= length]
        self.random.shuffle(candidates)
        for mr in candidates:
            at = self.areas[pd.node][area].take(mr, length)
            if at is not None:
                return mr, at
        return None

    def source(self, pd, length):
        """Bytes to send: any, as nothing writes there"""
        candidates = [mr for mr in self.things["mr"] if mr.pd is pd and
                      mr.covers(SOURCE) and mr.len >= length]
        if not candidates:
            return None
        mr = self.random.choice(candidates)
        return mr, mr.at + self.random.randrange(mr.len - length + 1)

    def pieces(self, length, most):
        """A length in up to so many parts, some of which may be 0"""
        number = self.random.randint(1, max(1, min(most, 4)))
        cuts = sorted(self.random.randint(0, length)
                      for _ in range(number - 1))
        return [b - a for a, b in zip([0] + cuts, cuts + [length])]

    def sges(self, pd, area, length, most, right=None):
        """SGEs of so many bytes, or None"""
        result = []
        for piece in self.pieces(length, most):
            place = self.source(pd, piece) if area == SOURCE else \
                self.range(pd, area, piece, right)
            if not place:
                return None
            result.append((*place, piece))
        return result

    # Requests

    def next_id(self):
        self.wr_id += 1
        return self.wr_id

    def length(self, op, qp, inline):
        if op.data == "fetch":
            return 8
        if inline:
            most = qp.caps["inline"]
            return self.random.choice((0, 1, most, self.random.randint(
                0, most))) if most else 0
        mtu = 128 << qp.mtu
        if qp.type == verbs.UD:
            return self.random.choice((0, 1, 1000, self.random.randint(
                0, 1024)))
        return self.random.choice((
            0, 1, 8, mtu - 1, mtu, mtu + 1, 4 * mtu,
            self.random.randint(0, 4096), self.random.randint(0, 16384)))

    def request(self, qp, op):
        """A legal request, or None if there is no memory for it"""
        flags = 0
        for name in ("FENCE", "SIGNALED", "SOLICITED"):
            if self.chance(0.5 if name == "SIGNALED" else 0.2):
                flags |= FLAGS[name]
        if op.may_be_inline and self.chance(0.3):
            flags |= FLAGS["INLINE"]
        inline = flags & FLAGS["INLINE"]
        length = self.length(op, qp, inline)
        area, right = (SOURCE, None) if op.data == "out" else \
            (SINK, "LOCAL_WRITE")
        most = 1 if op.data == "fetch" else qp.caps["ssge"]
        sges = self.sges(qp.pd, area, length, most, right)
        if sges is None:
            return None
        request = Request(self.next_id(), op, flags, sges,
                          imm=self.random.getrandbits(32),
                          operands=(self.random.choice((
                              0, 1, (1 << 64) - 1,
                              self.random.getrandbits(64))),
                              self.random.getrandbits(64)))
        if op.remote:
            request.remote = self.range(qp.peer.pd, TARGET, length, op.remote)
            if not request.remote:
                return None
            if op.data == "fetch" and op.name.endswith("SWP") and \
                    self.chance(0.5):
                at = request.remote[1]
                now = self.model.memory[qp.peer.node][at:at + 8]
                request.operands = (int.from_bytes(now, "little"),
                                    request.operands[1])
        return request

    def fields(self, qp, request, setter=False):
        """A request as the runner reads it, as a dictionary"""
        op = request.op
        fields = {"id": request.wr_id, "op": op.opcode,
                  "flags": request.flags}
        inline = request.flags & FLAGS["INLINE"]
        if request.sges:
            # Inline data is at an address of the process, not of a region
            fields["sges"] = "|".join(
                f"{mr.node}:{at}/{length}/0" if inline else
                f"{mr.address(at)}/{length}/{mr.name}"
                for mr, at, length in request.sges)
        if setter:
            fields["flags"] = request.flags & ~FLAGS["INLINE"]
            kind = "inline_data" if inline else "sge"
            if len(request.sges) != 1 or self.chance(0.3):
                kind += "_list"
            fields["set"] = kind
        if op.with_imm:
            fields["imm"] = request.imm
        if request.remote:
            mr, at = request.remote
            fields["raddr"] = mr.address(at)
            fields["rkey"] = mr.name
        if op.data == "fetch":
            fields["add"], fields["swap"] = request.operands
        if qp.type == verbs.UD:
            fields.update(ah=qp.ah.name, qpn=qp.peer.name, qkey=qp.peer.qkey)
        return fields

    @staticmethod
    def word(fields):
        return "wr=" + ",".join(f"{key}={value}"
                                for key, value in fields.items())

    # Breaking rules

    def refusal(self, rule, errno):
        self.rules[rule] += 1
        return errno

    def refuse(self, qp, fields, request, batch):
        """Break a rule of verbs.POSTING. Return its errno, or 0 if it cannot."""
        inline = request.flags & FLAGS["INLINE"]
        rules = [rule for rule in verbs.POSTING if rule.is_for(qp.type)]
        rule = self.random.choice(rules)
        if rule.name == "num_sge" and not inline:
            most = qp.caps["ssge"] + 64
            fields["sges"] = "|".join([f"{qp.node}:0/0/0"] * 50)
            if most > 50:
                fields.pop("sges")
                fields["num_sge"] = 100000
            if batch:
                return 0
        elif rule.name == "inline_length" and request.op.may_be_inline:
            fields["flags"] |= 0 if batch else FLAGS["INLINE"]
            fields["sges"] = f"{qp.node}:{SOURCE}/{65536}/0"
            if batch:
                fields["set"] = "inline_data"
        elif rule.name == "inline_opcode" and not batch and \
                not request.op.may_be_inline:
            fields["flags"] |= FLAGS["INLINE"]
        elif rule.name == "opcode" and not batch:
            others = [op.opcode for op in verbs.OPERATIONS
                      if qp.type not in op.on] + [12, 13, 16, 255]
            fields["op"] = self.random.choice(others)
        else:
            return 0
        return self.refusal(rule.name, rule.otherwise.errno)

    def spoil(self, qp, request, fields):
        """Break a rule of verbs.EXECUTION; return whether it could be done."""
        rules = [rule for rule in verbs.EXECUTION if rule.is_for(qp.type)]
        self.random.shuffle(rules)
        # First those that few requests can break
        rules.sort(key=lambda rule: self.rules[rule.name] // 8)
        for rule in rules:
            if self.breaks(rule, qp, request, fields):
                self.rules[rule.name] += 1
                request.wrong = rule
                return True
        return False

    def breaks(self, rule, qp, request, fields):
        """Break this rule if the request can."""
        op = request.op
        inline = request.flags & FLAGS["INLINE"]
        first = request.sges[0] if request.sges and not inline and \
            request.sges[0][2] else None
        remote = request.remote if request.length else None
        # With immediate data it depends on the device what the receive
        # request comes to
        if isinstance(rule.otherwise, Fails) and rule.otherwise.peer_stops \
                and (op.receives != verbs.WC_RECV
                     if rule.otherwise.peer else op.receives):
            return False
        if rule.name == "lkey" and first:
            mr, at, length = first
            self.set_first(fields, f"{mr.address(at)}/{length}/{mr.name}"
                           f"{UNKNOWN_KEY}")
        elif rule.name == "lkey_pd" and first:
            other = self.other_region(qp, first)
            if not other:
                return False
            self.set_first(fields, other)
        elif rule.name == "local_bounds" and first:
            mr, _, length = first
            at = mr.at + mr.len - length + 1
            self.set_first(fields, f"{mr.address(at)}/{length}/{mr.name}")
        elif rule.name == "local_write" and first and op.data != "out":
            found = [mr for mr in self.things["mr"] if mr.pd is qp.pd and
                     not mr.has("LOCAL_WRITE") and mr.len >= first[2]]
            if not found:
                return False
            mr = self.random.choice(found)
            self.set_first(fields, f"{mr.address(mr.at)}/{first[2]}/{mr.name}")
        elif rule.name == "rkey" and remote:
            fields["rkey"] += UNKNOWN_KEY
        elif rule.name == "remote_bounds" and remote:
            mr = remote[0]
            at = mr.at + mr.len - request.length + 8
            if op.data == "fetch":
                at = (mr.at + mr.len + 7) & ~7
            fields["raddr"] = mr.address(at)
        elif rule.name == "remote_right" and remote:
            found = [mr for mr in self.things["mr"]
                     if mr.pd is qp.peer.pd and not mr.has(op.remote) and
                     mr.len >= request.length + 8]
            if not found:
                return False
            mr = self.random.choice(found)
            at = mr.at + 7 & ~7
            fields["raddr"], fields["rkey"] = mr.address(at), mr.name
        elif rule.name == "atomic_alignment" and op.data == "fetch":
            mr, at = request.remote
            fields["raddr"] = mr.address(at + self.random.randint(1, 7))
        elif rule.name == "receive_length" and request.length:
            pass  # it is the receive request that is too short
        elif rule.name == "qkey":
            fields["qkey"] = qp.peer.qkey ^ 1
        else:
            return False
        return True

    @staticmethod
    def set_first(fields, sge):
        fields["sges"] = "|".join([sge] + fields["sges"].split("|")[1:])

    def other_region(self, qp, first):
        found = [mr for mr in self.things["mr"] if mr.node == qp.node and
                 mr.pd is not qp.pd and mr.len >= first[2] and
                 mr.has("LOCAL_WRITE")]
        if not found:
            return None
        mr = self.random.choice(found)
        return f"{mr.address(mr.at)}/{first[2]}/{mr.name}"

    # Posting

    def post_receives(self, qp, lengths):
        """Receive requests of (length, exactly) or longer"""
        receives = []
        extra = GRH if qp.type == verbs.UD else 0
        most = qp.srq.max_sge if qp.srq else qp.caps["rsge"]
        for length, exactly in lengths:
            length += extra
            if not exactly:
                length += self.random.choice((0, 0, 1, 100))
            sges = self.sges(qp.pd, SINK, length, most, "LOCAL_WRITE")
            if sges is None:
                return False
            receives.append(Receive(self.next_id(), sges))
        words = [self.word({
            "id": receive.wr_id,
            "sges": "|".join(f"{mr.address(at)}/{length}/{mr.name}"
                             for mr, at, length in receive.sges)})
            for receive in receives]
        expect = 0
        if self.chance(0.05):
            words.append(self.word({"id": self.next_id(), "num_sge": 100000}))
            expect = f"{self.refusal('num_sge', 22)}@{len(words) - 1}"
        if words:
            verb, target = ("post_srq_recv", qp.srq.name) if qp.srq else \
                ("post_recv", qp.name)
            self.line(verb, target, words, expect)
            self.verbs["ibv_" + verb] += 1
        for receive in receives:
            if qp.srq:
                qp.srq.receives.append(receive)
            else:
                self.model.receive(qp, receive)
        return True

    def post_early(self, qp):
        """Post where the state does not let"""
        wr = self.word({"id": self.next_id(), "op": 2})
        if qp.state in ("RESET", "INIT", "RTR"):
            self.line("post_send", qp.name, [wr],
                      f"{self.refusal('state', 22)}@0")
            self.verbs["ibv_post_send"] += 1
            if qp.ops is not None and qp.type == verbs.RC:
                self.line("wr_batch", qp.name, [wr],
                          self.refusal("state", 22))
                self.verbs["ibv_wr_complete"] += 1
        if qp.state == "RESET" and not qp.srq:
            self.line("post_recv", qp.name, [self.word(
                {"id": self.next_id()})], f"{self.refusal('state', 22)}@0")
            self.verbs["ibv_post_recv"] += 1

    def burst(self, qp):
        """Some requests from one queue pair, and what they need"""
        room = min(qp.caps["swr"] // 2, 16)
        ops = [op for op in verbs.OPERATIONS if qp.type in op.on]
        requests, lengths = [], []
        spoiled = False
        for _ in range(self.random.randint(1, room)):
            op = self.random.choice(ops)
            request = self.request(qp, op)
            if not request:
                continue
            batch = qp.ops is not None and self.chance(0.5)
            fields = self.fields(qp, request, batch)
            if not spoiled and self.chance(0.02):
                spoiled = self.spoil(qp, request, fields)
            requests.append((request, fields, batch))
            dropped = request.wrong and \
                isinstance(request.wrong.otherwise, Dropped)
            if op.receives and not dropped:
                short = request.wrong and request.wrong.name == \
                    "receive_length"
                lengths.append((self.random.randrange(request.length), True)
                               if short else (request.length, False))
            # What is behind a response that cannot be stored may be executed
            if request.wrong and op.data != "out":
                break
        if not requests:
            return
        queue = qp.peer.queue()
        limit = qp.peer.srq.max_wr if qp.peer.srq else qp.peer.caps["rwr"]
        if queue or len(lengths) >= limit:
            return  # left over from before: their lengths do not fit
        if not self.post_receives(qp.peer, lengths):
            return
        self.post_in_calls(qp, requests)
        self.settle()

    def post_in_calls(self, qp, requests):
        """Post in lists and critical sections of any length"""
        last = None
        while requests:
            number = self.random.randint(1, len(requests))
            batch = requests[0][2]
            group = []
            while requests and len(group) < number and \
                    requests[0][2] == batch:
                group.append(requests.pop(0))
            last = self.post_group(qp, group, batch) or last
        if last and not qp.sig_all and not last.flags & FLAGS["SIGNALED"] \
                and qp.state == "RTS":
            self.post_last(qp)

    def post_group(self, qp, group, batch):
        """One call. Return the last request that was posted."""
        expect, bad = 0, None
        if self.chance(0.08):
            bad = self.random.randrange(len(group))
            request, fields, _ = group[bad]
            fields = dict(fields)
            expect = self.refuse(qp, fields, request, batch)
            if expect:
                # The bad one is added, as those that are good have receives
                group.insert(bad, (None, fields, batch))
        words = [self.word(fields) for _, fields, _ in group]
        abort = batch and self.chance(0.05)
        if abort:
            # What is aborted is posted again
            self.line("wr_batch", qp.name, words + ["abort=1"], 0)
            self.verbs["ibv_wr_abort"] += 1
        if batch:
            self.line("wr_batch", qp.name, words, expect)
            self.verbs["ibv_wr_complete"] += 1
            if expect:
                group = [entry for entry in group if entry[0]]
                words = [self.word(fields) for _, fields, _ in group]
                self.line("wr_batch", qp.name, words, 0)
        else:
            self.line("post_send", qp.name, words,
                      f"{expect}@{bad}" if expect else 0)
            self.verbs["ibv_post_send"] += 1
            if expect:
                rest = [entry for entry in group[bad:] if entry[0]]
                group = group[:bad] + rest
                self.line("post_send", qp.name,
                          [self.word(fields) for _, fields, _ in rest], 0)
        for request, _, _ in group:
            self.model.send(qp, request)
            self.operations[qp.type, request.op.name,
                            "wr" if batch else "post_send"] += 1
        return group[-1][0]

    def post_last(self, qp):
        """One that is signaled, so that all before are known to be done"""
        name = "SEND" if qp.type == verbs.UD else "RDMA_WRITE"
        op = next(op for op in verbs.OPERATIONS if op.name == name)
        request = Request(self.next_id(), op, FLAGS["SIGNALED"])
        fields = {"id": request.wr_id, "op": op.opcode,
                  "flags": request.flags}
        if qp.type == verbs.UD:
            # To nobody
            fields.update(ah=qp.ah.name, qpn=0xfffffe, qkey=0)
            request.wrong = next(rule for rule in verbs.EXECUTION
                                 if rule.name == "qkey")
        else:
            request.remote = (None, TARGET)
        self.line("post_send", qp.name, [self.word(fields)], 0)
        self.verbs["ibv_post_send"] += 1
        self.model.send(qp, request)

    def settle(self):
        """Find all completions, and compare what was written."""
        for cq, completions in self.model.completions.items():
            self.line("poll", cq.name, [c.text() for c in completions], 0)
            self.verbs["ibv_start_poll" if cq.ex else "ibv_poll_cq"] += 1
        self.model.completions.clear()
        for node, at, length in self.model.unknown:
            seed = self.random.randrange(1024)
            self.refill(node, at, length, seed)
        self.model.unknown.clear()
        for node in range(2):
            self.compare(node)
        self.model.touched.clear()
        for node in range(2):
            for area in self.areas[node].values():
                area.reset()

    def refill(self, node, at, length, seed):
        while length:
            part = min(length, 32768)
            self.call("fill", node, at=at, len=part, seed=seed)
            self.model.fill(node, at, part, seed)
            at, length = at + part, length - part

    def compare(self, node):
        """What was written, with the bytes before and behind"""
        touched = sorted((at, at + length) for where, at, length
                         in self.model.touched if where == node)
        start = end = None
        for low, high in touched + [(1 << 30, 1 << 30)]:
            if end is not None and low <= end + 2 * GUARD:
                end = max(end, high)
                continue
            if end is not None:
                low_at = max(start - GUARD, 0)
                length = end + GUARD - low_at
                self.call("compare", node,
                          hex(self.model.crc(node, low_at, length)),
                          at=low_at, len=length)
            start, end = low, high

    # The program

    def begin(self):
        for node in range(2):
            for at in range(0, 1 << 20, 32768):
                self.refill(node, at, 32768, at >> 15)
            for _ in range(2):
                pd = self.make_pd(node)
                for area in (SOURCE, SINK, TARGET):
                    self.make_mr(pd, area, ALL_RIGHTS)
                    self.make_mr(pd, area, ALL_RIGHTS)
                    self.make_mr(pd, area)
                self.make_cq(node)

    def one(self):
        """Something"""
        ready = [qp for qp in self.things["qp"] if qp.peer]
        qp = self.random.choice(ready) if ready else None
        what = self.random.random()
        if not qp or (what < 0.02 and len(self.things["qp"]) < MAX_QPS):
            self.connect()
        elif what < 0.04:
            self.destroy(self.random.choice(
                ("pd", "mr", "cq", "srq", "qp", "ah")))
        elif what < 0.06:
            self.make_mr()
        elif what < 0.065:
            self.refused_qp()
        elif what < 0.07:
            self.make_pd()
        elif what < 0.073:
            self.make_cq()
        elif what < 0.075:
            self.refused_cq()
        elif what < 0.085:
            self.query(qp)
        elif what < 0.09:
            self.stop(qp)
        elif qp.state != "RTS" or qp.peer.state == "ERR":
            self.recover(qp)
        elif qp.peer.state in ("RTS", "SQE"):
            self.burst(qp)

    def end(self):
        """All goes, users first."""
        for qp in list(self.things["qp"]):
            self.destroy_qp(qp)
        for kind in ("ah", "mr", "srq", "cq", "pd"):
            for thing in list(self.things[kind]):
                self.call("destroy", thing.name)

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
            self.random.seed(f"{self.seed}/{step}")
            self.one()
            taken.append((step, self.written))
            if steps is None and self.written >= calls:
                break
        self.end()
        return taken
