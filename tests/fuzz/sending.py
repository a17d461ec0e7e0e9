# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Send requests: legal ones, and how to break their rules."""

import verbs
from model import AREA, SINK, SOURCE, TARGET, Request
from windows import BIND, OTHER_KEY, UNKNOWN_INDEX, Windows
from words import Dropped, Fails

MAX_SEGMENTS = 4
LEAST_MTU = 256
MOST_MTU = 4096
RECEIVE_RULES = ("receive_pd", "receive_bounds", "receive_write")
# What all requests of two queue pairs break: see doom_counted(), unanswered(),
# and differ()
BY_PAIR = ("rd_atomic", "answer", "path_mtu", "response_mtu")
DATAGRAM = 1024  # bytes that each path MTU has room for
UNKNOWN_KEY = "~0x80000000"
FLAGS = verbs.FLAGS

# How a request is posted: with ibv_post_send(), in a critical section, or with
# the verb for windows of type 1
VERB = ("ibv_post_send", "ibv_wr_complete", "ibv_bind_mw")


class Requests(Windows):
    """Makes requests, and breaks their rules."""

    def range(self, pd, area, length, right=None, sender=None):
        """(Mr, at) of so many bytes that are free in this round, or None

        sender: queue pair whose requests need them. Its rnr_retry may not let
            it wait for a page.
        """
        present = sender and sender.type in verbs.RELIABLE and sender.rnr != 7
        candidates = [mr for mr in self.things["mr"] if mr.pd is pd and
                      mr.covers(area) and (not right or mr.has(right)) and
                      mr.len >= length and
                      not (present and mr.fixed == "on_demand")]
        return self.take(candidates, pd.node, area, length)

    def take(self, candidates, node, area, length):
        self.random.shuffle(candidates)
        for mr in candidates:
            at = self.areas[node][area].take(mr, length)
            if at is not None:
                return mr, at
        return None

    def remote(self, qp, length, right):
        """As range(), for requests that a queue pair receives"""
        windows = [mw for mw in self.things["mw"] if mw.reached_by(qp) and
                   mw not in self.planned and mw.covers(TARGET) and
                   mw.has(right) and mw.len >= length]
        if windows and self.chance(0.5):
            place = self.take(windows, qp.node, TARGET, length)
            if place:
                self.used.add(place[0])
                return place
        return self.range(qp.pd, TARGET, length, right, qp.peer)

    def source(self, pd, length):
        """Bytes to send: any, as nothing writes there"""
        candidates = [mr for mr in self.things["mr"] if mr.pd is pd and
                      mr.covers(SOURCE) and mr.len >= length]
        if not candidates:
            return None
        mr = self.random.choice(candidates)
        return mr, mr.at + self.random.randrange(mr.len - length + 1)

    def pieces(self, length, most, argument):
        """A length in up to so many parts, some of which may be 0

        argument: (verb, name) of the one that is their number
        """
        most = max(1, min(most, 4))
        number = self.draw(*argument, max_send_sge=most, max_recv_sge=most)
        if not number and not length:
            return []
        number = max(number, 1)
        cuts = sorted(self.random.randint(0, length)
                      for _ in range(number - 1))
        return [b - a for a, b in zip([0] + cuts, cuts + [length])]

    def nothing(self, pd):
        """A place in a null region, which is as long as can be"""
        found = [mr for mr in self.things["mr"] if mr.null and
                 mr.node == pd.node]
        if not found or not self.chance(0.1):
            return None
        return self.random.choice(found), self.random.getrandbits(48)

    def sges(self, pd, area, length, most, right=None, inline=False,
             argument=("ibv_post_send", "num_sge"), sender=None):
        """SGEs of so many bytes, or None; see pieces() and range()"""
        result = []
        for piece in self.pieces(length, most, argument):
            null = None if inline else self.nothing(pd)
            if null:
                result.append((*null, piece))
                continue
            place = self.source(pd, piece) if area == SOURCE else \
                self.range(pd, area, piece, right, sender)
            if not place:
                return None
            result.append((*place, piece))
        return result

    def next_id(self):
        self.wr_id += 1
        if self.thread:
            self.thread_of[self.wr_id] = self.thread
        return self.wr_id

    def length(self, op, qp, inline, batch=0):
        """How many bytes; batch: see request()"""
        if op.is_atomic:
            return 8
        if inline:
            return self.draw(("ibv_post_send", "ibv_wr_set_inline_data")[batch],
                             "inline length",
                             max_inline_data=qp.caps["inline"])
        verb = ("ibv_post_send", "ibv_wr_set_sge")[batch]
        if qp.type == verbs.UD and self.chance(0.1):
            less = self.random.randrange(2)
            self.reach("datagram", f"{less} less than longest")
            return MOST_MTU - less
        if qp.type == verbs.UD:
            return self.draw(verb, "length", longest=DATAGRAM)
        return self.draw(verb, "length", path_mtu=128 << qp.mtu,
                         longest=self.random.choice((4096, 16384)))

    @staticmethod
    def maker(op, batch):
        """The verb that is told what a request is"""
        return op.builder if batch == 1 else VERB[batch]

    def some_send_flags(self, qp, op):
        """Flags that the operation has; INLINE is decided elsewhere."""
        return sum(flag.value for flag in verbs.SEND_FLAGS
                   if flag.name != "INLINE" and op.name in flag.ops and
                   qp.type in flag.on and
                   self.chance(0.5 if flag.name == "SIGNALED" else 0.2))

    def request(self, qp, op, batch=0):
        """A legal request, or None if there is no memory for it

        batch: how it is posted, an index of VERB
        """
        flags = self.some_send_flags(qp, op)
        if self.is_inline(qp, op, batch):
            flags |= FLAGS["INLINE"]
        inline = flags & FLAGS["INLINE"]
        if op.data == "cut":
            return self.cut(qp, Request(self.next_id(), op, flags), batch)
        if op.data == "flush":
            return self.flush(qp, Request(self.next_id(), op, flags))
        if op.data in ("bind", "none"):
            if batch == BIND:
                flags &= FLAGS["FENCE"] | FLAGS["SIGNALED"]
            request = Request(self.next_id(), op, flags)
            return request if self.plan_window(qp, request, batch) else None
        length = self.length(op, qp, inline, batch)
        area, right = (SOURCE, None) if op.may_be_inline else \
            (SINK, "LOCAL_WRITE")
        most = 1 if op.is_atomic and not inline else qp.caps["ssge"]
        if op.is_atomic and batch:
            most = 1
        sges = self.sges(qp.pd, area, length, most, right, inline,
                         self.sge_argument(inline, batch))
        if sges is None:
            return None
        request = Request(self.next_id(), op, flags, sges)
        self.draw_fields(request, self.maker(op, batch))
        if op.remote:
            request.remote = self.remote(qp.peer, length, request.right)
            if not request.remote:
                return None
            if op.data == "fetch" and op.name.endswith("SWP") and \
                    self.chance(0.5):
                at = request.remote[1]
                now = self.model.memory[qp.peer.node][at:at + 8]
                request.operands = (int.from_bytes(now, "little"),
                                    request.operands[1])
        return request if self.plan_window(qp, request, batch) else None

    @staticmethod
    def sge_argument(inline, batch):
        """The argument that is the number of SGEs"""
        if not batch:
            return "ibv_post_send", "num_sge"
        return ("ibv_wr_set_inline_data_list", "num_buf") if inline else \
            ("ibv_wr_set_sge_list", "num_sge")

    def draw_fields(self, request, verb):
        """Draw what is a number, and no length."""
        if request.op.with_imm:
            request.imm = self.draw(verb, "imm_data")
        if request.op.data == "fetch":
            swaps = request.op.name in verbs.NAMED["ibv_post_send"].argument(
                "swap").ops
            request.operands = (self.draw(verb, "compare_add"),
                                self.draw(verb, "swap") if swaps else 0)

    def cut(self, qp, request, batch):
        """Make it a TSO, or None if there can be none"""
        if not qp.tso:
            return None
        verb = self.maker(request.op, batch)
        header = self.draw(verb, "hdr_sz", max_tso_header=qp.tso)
        mss = self.draw(verb, "mss",
                        **{"room in a packet": DATAGRAM - header})
        most = min(MAX_SEGMENTS * mss, 4096)
        length = self.random.choice((0, 1, min(mss, most), most,
                                     self.random.randint(0, most)))
        request.sges = self.sges(qp.pd, SOURCE, length, qp.caps["ssge"],
                                 argument=self.sge_argument(0, batch))
        request.tso = (self.random.randrange(AREA - header), header, mss)
        return request if request.sges is not None else None

    def flush(self, qp, request):
        """Make it a FLUSH, or None if there is no memory for it"""
        verb = request.op.builder
        length = self.draw(verb, "len")
        request.flush = (self.draw(verb, "type"), self.draw(verb, "level"),
                         length)
        request.remote = self.remote(qp.peer, length, request.right)
        return request if request.remote else None

    def is_inline(self, qp, op, batch):
        """Whether a request is to have inline data"""
        if op.data == "store" and (batch or qp.caps["inline"] < 8):
            return bool(batch)
        return op.may_be_inline and self.chance(0.3)

    def fields(self, qp, request, setter=0):
        """A request as the runner reads it, as a dictionary"""
        op = request.op
        fields = {"id": request.wr_id, "op": op.opcode,
                  "flags": request.flags}
        inline = request.flags & FLAGS["INLINE"]
        if not setter and "ibv_post_send" in op.posted_by:
            self.reach("value", "ibv_post_send", "opcode", str(op.opcode))
        self.drawn_flags(self.maker(op, setter),
                         "wr_flags" if setter == 1 else "send_flags",
                         request.flags)
        if request.sges:
            # Inline data is at an address of the process, not of a region
            fields["sges"] = "|".join(
                f"{mr.node}:{at}/{length}/0" if inline else
                f"{mr.address(at)}/{length}/{mr.name}"
                for mr, at, length in request.sges)
        if request.window:
            fields.update(self.window_fields(request))
        if setter:
            fields["flags"] = request.flags & ~FLAGS["INLINE"]
        if setter and op.is_plain:
            kind = "inline_data" if inline else "sge"
            if len(request.sges) != 1 or (
                    self.chance(0.3) and self.has_setter(kind + "_list")):
                kind += "_list"
            fields["set"] = kind
        elif setter and op.data == "cut":
            fields["set"] = "sge" if len(request.sges) == 1 else "sge_list"
        elif setter and op.data in ("store", "flush") and self.chance(0.3) \
                and not self.device.differs("data_overwritten"):
            # It has its data already, and keeps them
            fields["set"] = self.random.choice(("sge", "inline_data"))
        if op.with_imm:
            fields["imm"] = request.imm
        if request.remote:
            mr, at = request.remote
            fields["raddr"] = mr.address(at)
            fields["rkey"] = mr.key()
        if op.data == "fetch":
            fields["add"], fields["swap"] = request.operands
        if request.tso:
            at, length, mss = request.tso
            fields["tso"] = f"{qp.node}:{at}/{length}/{mss}"
        if request.flush:
            fields["flush"] = "/".join(map(str, request.flush))
            if request.flush[1] == verbs.FLUSH_MR and self.chance(0.5):
                # Both do not matter
                fields["raddr"] = self.random.getrandbits(64)
        if qp.type == verbs.UD:
            fields.update(ah=qp.ah.name, qpn=qp.peer.name, qkey=qp.peer.qkey)
        if qp.type == verbs.XRC_SEND and op.data not in ("bind", "none"):
            fields["srqn"] = qp.peer.srq.name
        return fields

    def has_setter(self, kind):
        return self.device.has("ibv_wr_set_" + kind)

    def settable(self, request, batch):
        """The way to post, if a critical section has no setter for the data"""
        if batch != 1 or not (request.op.is_plain or
                              request.op.data == "cut"):
            return batch
        kind = "inline_data" if request.flags & FLAGS["INLINE"] else "sge"
        if len(request.sges) != 1:
            kind += "_list"
        return int(self.has_setter(kind))

    @staticmethod
    def word(fields):
        return "wr=" + ",".join(f"{key}={value}"
                                for key, value in fields.items())

    def refuse(self, qp, fields, request, batch):
        """Break a rule of posting. Return its name, or None."""
        verb = VERB[batch]
        for rule in self.rules(qp, request.op, verb,
                               lambda otherwise: not isinstance(
                                   otherwise, (Fails, Dropped))):
            if rule.name.startswith("bind"):
                done = self.refuse_bind(rule.name, fields, request,
                                        self.maker(request.op, batch))
            else:
                done = batch != BIND and \
                    self.refuses(rule.name, qp, fields, request, batch)
            if done:
                return rule.name
        return None

    def rules(self, qp, op, verb, wanted):
        """Rules to break, first those that were seldom broken"""
        rules = [rule for rule in verbs.NAMED[verb].rules
                 if rule.is_for(qp.type, op.name) and
                 wanted(rule.otherwise) and
                 self.device.keeps(verb, rule.name)]
        self.random.shuffle(rules)
        rules.sort(key=lambda rule: self.times_broken(qp, op, verb, rule.name))
        return rules

    def is_doomed(self, qp, op):
        """Whether the queue pair lets no request of an operation be executed"""
        return not qp.rd and op.name in verbs.COUNTED and \
            qp.type in verbs.RELIABLE

    def is_due(self, qp, op, verb):
        """Whether to break a rule: more often if one was never broken, and where
        most rules are those of one type alone
        """
        never = any(rule.is_for(qp.type, op.name) and
                    not self.count("rule", op.builder, rule.name)
                    for rule in verbs.NAMED[op.builder].rules)
        if (never and verb == "ibv_wr_complete") or \
                qp.type not in verbs.RELIABLE:
            return self.chance(0.2)
        return self.chance(0.05)

    def times_broken(self, qp, op, verb, rule):
        """How often a rule was broken: of a builder, if it has the rule"""
        parts = [verb]
        if verb == "ibv_wr_complete" and rule == "opcode":
            parts = [other.builder for other in verbs.OPERATIONS
                     if qp.type not in other.on]
        elif verb == "ibv_wr_complete":
            parts = [op.builder, *(setter.name for setter in verbs.SETTERS)]
        return min([self.count("rule", part, rule) for part in parts
                    if verbs.NAMED[part].has_rule(rule)],
                   default=self.count("rule", verb, rule))

    def refuses(self, rule, qp, fields, request, batch):
        """Break this rule of verbs.POSTING if the request can."""
        inline = request.flags & FLAGS["INLINE"]
        op = request.op
        verb = self.maker(op, batch)
        if rule.startswith("set_"):
            return self.refuses_setter(rule, qp, fields)
        if batch and request.op.data in ("store", "flush") and \
                rule != "opcode":
            return False  # setters change nothing
        if rule == "num_sge" and not inline:
            fields["sges"] = "|".join([f"{qp.node}:0/0/0"] * 60)
            fields.update(self.too_many_sges(*self.sge_argument(0, batch),
                                             "send_sge"))
            if batch:
                fields["set"] = "sge_list"
        elif rule == "inline_length":
            fields["flags"] |= 0 if batch else FLAGS["INLINE"]
            setter = self.random.choice((
                "ibv_wr_set_inline_data", "ibv_wr_set_inline_data_list"))
            length = self.wrong(setter if batch else verb, "inline length",
                                rule)
            fields["sges"] = f"{qp.node}:{SOURCE}/{65536}/0"
            if isinstance(length, str):
                fields["over"] = "inline"
            if batch:
                fields["set"] = setter.removeprefix("ibv_wr_set_")
        elif rule == "inline_opcode":
            if batch:
                fields["set"] = self.random.choice(("inline_data",
                                                    "inline_data_list"))
            else:
                fields["flags"] |= FLAGS["INLINE"]
        elif rule == "tso_header" and request.tso:
            self.set_tso(fields, 1, self.wrong(verb, "hdr_sz", rule,
                                               max_tso_header=qp.tso))
        elif rule == "tso_mss" and request.tso:
            self.set_tso(fields, 2, self.wrong(verb, "mss", rule))
        elif rule == "opcode":
            others = [other for other in verbs.OPERATIONS
                      if qp.type not in other.on]
            if not batch and (not others or self.chance(0.5)):
                fields["op"] = self.wrong(verb, "opcode", rule)
            elif others:
                self.random.shuffle(others)
                fields["op"] = min(others, key=lambda other: self.count(
                    "rule", other.builder, rule)).opcode
            else:
                return False
        else:
            return False
        return True

    def too_many_sges(self, verb, argument, one_more):
        """A field of a request that breaks the rule num_sge

        one_more: what there is one more of than there is room for
        """
        number = self.wrong(verb, argument, "num_sge")
        if isinstance(number, str) or self.device.differs("num_sge"):
            return {"over": one_more}
        return {"num_sge": number}

    def refuses_setter(self, rule, qp, fields):
        """Break this rule of verbs.SETTING if there is what the setter needs."""
        if rule == "set_data":
            fields["set"] = self.random.choice(("sge", "sge_list"))
            fields["sges"] = f"{qp.node}:0/0/0"
        elif rule == "set_xrc_srqn":
            fields["srqn"] = self.random.randrange(1 << 24)
        else:
            ah = self.any("ah", node=qp.node)
            if not ah:
                return False
            fields.update(ah=ah.name, qpn=self.random.randrange(1 << 24),
                          qkey=0)
        return True

    def spoil(self, qp, request, fields, verb):
        """Break a rule of verbs.EXECUTION; return whether it could be done."""
        for rule in self.rules(qp, request.op, verb,
                               lambda otherwise: isinstance(
                                   otherwise, (Fails, Dropped))):
            if self.breaks(rule, qp, request, fields, verb):
                self.reach("rule", verb, rule.name)
                self.broke(verb, self.word(fields), rule.name)
                request.wrong = rule
                return True
        return False

    def breaks(self, rule, qp, request, fields, verb="ibv_post_send"):
        """Break this rule if the request can."""
        name = rule.name.removesuffix("_dropped")
        op = request.op
        inline = request.flags & FLAGS["INLINE"]
        first = request.sges[0] if request.sges and not inline and \
            request.sges[0][2] else None
        remote = request.remote if request.remote_length else None
        whole = request.flush and request.flush[1] == verbs.FLUSH_MR
        # With immediate data it depends on the device what the receive
        # request comes to
        if isinstance(rule.otherwise, Fails) and rule.otherwise.peer_stops \
                and (op.receives != verbs.WC_RECV
                     if rule.otherwise.peer else op.receives):
            return False
        if name == "lkey" and first:
            mr, at, length = first
            self.set_first(fields, f"{mr.address(at)}/{length}/{mr.name}"
                           f"{UNKNOWN_KEY}")
        elif name == "lkey_pd" and first:
            other = self.other_region(qp, first)
            if not other:
                return False
            self.set_first(fields, other)
        elif name == "local_bounds" and first and not first[0].null:
            mr, _, length = first
            if op.receives == verbs.WC_RECV and qp.peer.srq and \
                    request.length > 128 << qp.mtu:
                # Nobody knows whether a receive request was taken
                return False
            at = mr.at + mr.len - length + 1
            self.set_first(fields, f"{mr.address(at)}/{length}/{mr.name}")
        elif name == "local_write" and first and not op.may_be_inline:
            found = [mr for mr in self.things["mr"] if mr.pd is qp.pd and
                     not mr.has("LOCAL_WRITE") and mr.len >= first[2]]
            if not found:
                return False
            mr = self.random.choice(found)
            self.set_first(fields, f"{mr.address(mr.at)}/{first[2]}/{mr.name}")
            request.spared = [(qp.node, mr.at, first[2])]
        elif name == "rkey" and remote:
            fields["rkey"] = remote[0].key(self.random.choice(
                (OTHER_KEY, UNKNOWN_INDEX)))
            request.spared = [(qp.peer.node, remote[1], request.length)]
        elif name == "remote_bounds" and remote and not whole and not (
                remote[0].kind == "mw" and
                self.device.differs("window_unbounded")):
            mr = remote[0]
            at = mr.at + mr.len - request.remote_length + 1
            if op.is_atomic:
                at = (mr.at + mr.len + 7) & ~7
            fields["raddr"] = mr.address(at)
            request.spared = [(qp.peer.node, at, request.length)]
        elif name == "remote_right" and remote:
            found = [mr for mr in self.things["mr"]
                     if mr.pd is qp.peer.pd and not mr.has(request.right) and
                     not mr.null and mr.len >= request.remote_length + 8]
            found += [mw for mw in self.things["mw"]
                      if mw.reached_by(qp.peer) and mw not in self.planned and
                      not mw.has(request.right) and
                      mw.len >= request.remote_length + 8]
            if not found:
                return False
            mr = self.random.choice(found)
            at = mr.at + 7 & ~7
            fields["raddr"], fields["rkey"] = mr.address(at), mr.key()
            request.spared = [(qp.peer.node, at, request.length)]
        elif name == "remote_window" and remote:
            fields["rkey"] = \
                self.chance(0.5) and self.key_elsewhere(qp.peer) or \
                self.free_window(qp.peer.pd, 2).key()
            request.spared = [(qp.peer.node, remote[1], request.length)]
        elif name == "atomic_length" and op.is_atomic and first:
            self.wrong_length(fields, first, qp.caps["ssge"])
        elif name == "atomic_alignment" and op.is_atomic:
            mr, at = request.remote
            room = mr.at + mr.len - at - 8
            if room < 1:
                return False  # it would leave the region as well
            fields["raddr"] = mr.address(at + self.random.randint(
                1, min(room, 7)))
        elif name == "qp_right" and remote and self.may_restrict(qp):
            request.without = request.right
            request.spared = [(qp.peer.node, remote[1], request.length)]
        elif name == "flush_type" and request.flush:
            self.set_flush(fields, 0, self.wrong(op.builder, "type",
                                                 name))
        elif name == "flush_level" and request.flush:
            self.set_flush(fields, 1, self.wrong(op.builder, "level",
                                                 name))
        elif name == "flush_length" and request.flush:
            self.set_flush(fields, 2, self.wrong(op.builder, "len",
                                                 name))
        elif name == "tso_length" and request.tso and first:
            mr, at, _ = first
            self.set_tso(fields, 2, 1)
            self.set_first(fields, f"{mr.address(at)}/"
                           f"{self.random.choice((1025, 65537))}/{mr.name}")
        elif name == "tso_packet" and request.tso:
            self.set_tso(fields, 2, 65535)
        elif name in BY_PAIR:
            return False
        elif name == "receive_length" and request.length:
            pass  # it is the receive request that is too short
        elif name == "receive" and op.receives and (
                rule.name != name or self.impatient(qp)):
            pass
        elif name == "receive_lkey" and request.length:
            pass
        elif name in RECEIVE_RULES and request.length:
            return self.wrong_receive(qp.peer, name, request)
        elif name == "message_length" and first:
            return self.too_long(qp, fields)
        elif name == "flags":
            fields["flags"] |= FLAGS["IP_CSUM"]
        elif name == "srqn" and "srqn" in fields:
            # Not even if it could be executed
            setter = "ibv_wr_set_xrc_srqn" if verb == "ibv_wr_complete" \
                else verb
            fields["srqn"] = self.wrong(setter, "remote_srqn", name) \
                if self.chance(0.6) else self.other_domain(qp.peer).name
            if remote:
                request.spared = [(qp.peer.node, remote[1], request.length)]
        elif name == "qkey":
            fields["qkey"] = qp.peer.qkey ^ 1
        else:
            return self.break_window(name, qp, request, fields)
        return True

    def ends_shared(self, qp):
        """Whether a message that is dropped ends a receive request"""
        return qp.srq and self.device.differs("drop_ends_shared")

    @staticmethod
    def impatient(qp):
        """Whether it gives up soon if there is no receive request"""
        return not qp.rnr or \
            (qp.rnr != 7 and qp.peer.min_rnr in verbs.RNR_TIMES)

    def wrong_receive(self, peer, rule, request):
        """The receive request for a message is to be wrong, if it can be."""
        length = request.length
        # Packets before the one that leaves the region are written
        if rule == "receive_bounds" and length > LEAST_MTU:
            return False
        found = [mr for mr in self.things["mr"] if mr.node == peer.node and
                 (mr.pd is peer.pd) == (rule != "receive_pd") and
                 mr.has("LOCAL_WRITE") == (rule != "receive_write") and
                 not mr.null and not mr.fixed and mr.len >= length]
        if not found:
            return False
        mr = self.random.choice(found)
        at = mr.at
        if rule == "receive_bounds":
            at += mr.len - length + 1
        request.receive = f"{mr.address(at)}/{length}/{mr.name}"
        request.spared = [(peer.node, at, length)]
        return True

    def too_long(self, qp, fields):
        """Make a datagram longer than any path MTU."""
        found = [mr for mr in self.things["mr"] if mr.pd is qp.pd and
                 mr.covers(SOURCE) and mr.len > MOST_MTU]
        if not found:
            return False
        mr = self.random.choice(found)
        length = self.random.choice((MOST_MTU + 1, mr.len))
        self.set_first(fields, f"{mr.address(mr.at)}/{length}/{mr.name}")
        return True

    @staticmethod
    def may_restrict(qp):
        """Whether the other end's rights can be changed: see adjust()"""
        return qp.peer.state == "RTS"

    @staticmethod
    def set_part(fields, name, part, value):
        """Another part of a field that has several"""
        parts = fields[name].split("/")
        parts[part] = str(value)
        fields[name] = "/".join(parts)

    def set_flush(self, fields, part, value):
        self.set_part(fields, "flush", part, value)

    def set_tso(self, fields, part, value):
        self.set_part(fields, "tso", part, value)

    def wrong_length(self, fields, first, most):
        """Another length than 8, or two SGEs if there is room for them"""
        mr, at, _ = first
        lengths = self.random.choice(((0,), (4,), (9,), (4, 4)[:most]))
        fields["sges"] = "|".join(f"{mr.address(at)}/{length}/{mr.name}"
                                  for length in lengths)
        if len(lengths) > 1 and "set" in fields:
            fields["set"] = "sge_list"

    @staticmethod
    def set_first(fields, sge):
        fields["sges"] = "|".join([sge] + fields["sges"].split("|")[1:])

    def other_region(self, qp, first):
        found = [mr for mr in self.things["mr"] if mr.node == qp.node and
                 mr.pd is not qp.pd and not mr.null and
                 mr.len >= first[2] and mr.has("LOCAL_WRITE")]
        if not found:
            return None
        mr = self.random.choice(found)
        return f"{mr.address(mr.at)}/{first[2]}/{mr.name}"

