# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Send requests: legal ones, and how to break their rules."""

import verbs
from model import SINK, SOURCE, TARGET, Request
from states import States
from words import Fails

UNKNOWN_KEY = "~0x80000000"
FLAGS = verbs.FLAGS


class Requests(States):
    """Makes requests, and breaks their rules."""

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
            self.reach("setter", "ibv_wr_set_" + kind)
            if qp.type == verbs.UD:
                self.reach("setter", "ibv_wr_set_ud_addr")
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

    def refuse(self, qp, fields, request, batch):
        """Break a rule of verbs.POSTING. Return its name, or None."""
        inline = request.flags & FLAGS["INLINE"]
        rule = self.random.choice([rule for rule in verbs.POSTING
                                   if rule.is_for(qp.type)])
        if rule.name == "num_sge" and not inline:
            fields["sges"] = "|".join([f"{qp.node}:0/0/0"] * 60)
            fields["over"] = "send_sge"
            if batch:
                fields["set"] = "sge_list"
            elif self.chance(0.3):
                del fields["over"]
                fields["num_sge"] = self.random.choice((100000, -1))
        elif rule.name == "inline_length" and request.op.may_be_inline:
            fields["flags"] |= 0 if batch else FLAGS["INLINE"]
            fields["sges"] = f"{qp.node}:{SOURCE}/{65536}/0"
            if self.chance(0.7):
                fields["over"] = "inline"
            if batch:
                fields["set"] = "inline_data"
        elif rule.name == "inline_opcode" and not request.op.may_be_inline:
            if batch:
                fields["set"] = "inline_data"
            else:
                fields["flags"] |= FLAGS["INLINE"]
        elif rule.name == "opcode":
            others = [op.opcode for op in verbs.OPERATIONS
                      if qp.type not in op.on]
            if not batch:
                others += [12, 13, 16, 255]
            if not others:
                return None
            fields["op"] = self.random.choice(others)
        else:
            return None
        return rule.name

    def spoil(self, qp, request, fields, verb):
        """Break a rule of verbs.EXECUTION; return whether it could be done."""
        rules = [rule for rule in verbs.EXECUTION if rule.is_for(qp.type)]
        self.random.shuffle(rules)
        # First those that few requests can break
        rules.sort(key=lambda rule: self.reached["rule", verb, rule.name] // 8)
        for rule in rules:
            if self.breaks(rule, qp, request, fields):
                self.reach("rule", verb, rule.name)
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
            request.spared = [(qp.node, mr.at, first[2])]
        elif rule.name == "rkey" and remote:
            fields["rkey"] += UNKNOWN_KEY
            request.spared = [(qp.peer.node, remote[1], request.length)]
        elif rule.name == "remote_bounds" and remote:
            mr = remote[0]
            at = mr.at + mr.len - request.length + 1
            if op.data == "fetch":
                at = (mr.at + mr.len + 7) & ~7
            fields["raddr"] = mr.address(at)
            request.spared = [(qp.peer.node, at, request.length)]
        elif rule.name == "remote_right" and remote:
            found = [mr for mr in self.things["mr"]
                     if mr.pd is qp.peer.pd and not mr.has(op.remote) and
                     mr.len >= request.length + 8]
            if not found:
                return False
            mr = self.random.choice(found)
            at = mr.at + 7 & ~7
            fields["raddr"], fields["rkey"] = mr.address(at), mr.name
            request.spared = [(qp.peer.node, at, request.length)]
        elif rule.name == "atomic_alignment" and op.data == "fetch":
            mr, at = request.remote
            fields["raddr"] = mr.address(at + self.random.randint(1, 7))
        elif rule.name == "receive_length" and request.length:
            pass  # it is the receive request that is too short
        elif rule.name == "receive" and op.receives and not qp.rnr:
            pass
        elif rule.name == "receive_lkey" and request.length:
            pass
        elif rule.name == "flags":
            fields["flags"] |= FLAGS["IP_CSUM"]
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

