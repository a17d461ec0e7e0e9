# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Frames: work queues and tables of them, flow rules, counters."""

import struct
from collections import deque
from dataclasses import dataclass, field

import lines
import tcp
import verbs
from devices import Devices
from flows import ALL_DEFAULT, DONT_TRAP, MC_DEFAULT, NORMAL, SNIFFER, Flow
from model import SINK, SOURCE, WC_IP_CSUM_OK, WC_TAGGED, Completion, Cq, Qp
from model import Receive, Request, Thing
from objects import STANDARD_WC
from sending import VERB
from states import UP

CVLAN, FLOW_TAG = 1 << 8, 1 << 9  # enum ibv_create_cq_wc_flags
VLAN_STRIP = 1
PACKETS, BYTES = range(2)
SRC_IPV4, DST_IPV4, SRC_UDP, DST_UDP = 1, 2, 64, 128
KEY_LEN = 40
MAX_FRAME = 1500
ROOM = MAX_FRAME + 8  # a place there is aligned
PROBE = 255  # a group of each program
SEND_OPS = verbs.OPERATION["SEND"].send_ops
TSO_OPS = verbs.OPERATION["TSO"].send_ops
MAX_HEADER = 128  # of a TSO


@dataclass(eq=False)
class Wq(Thing):
    """A work queue, or the receive queue of a RAW_PACKET queue pair"""

    pd: object = None
    cq: Cq = None
    max_wr: int = 0
    state: str = "RESET"
    strip: bool = False
    receives: deque = field(default_factory=deque)


@dataclass(eq=False)
class Counters(Thing):
    """Counters

    points: (what, index) each
    values: of PACKETS and of BYTES
    """

    points: list = field(default_factory=list)
    values: list = field(default_factory=lambda: [0, 0])


@dataclass
class Frame:
    group: int
    sport: int
    dport: int
    source: int
    vlan: int
    payload: bytes

    spec = verbs.FLOW_SPEC_UDP
    has_checksums = False

    def ports(self):
        return self.sport, self.dport

    def bytes(self):
        """An IPv4 UDP packet, with checksums of 0"""
        length = len(self.payload) + 8
        return self.link() + struct.pack(
            ">BBHHHBBHII", 0x45, 0, length + 20, 1, 0, 64, 17, 0,
            *self.addresses()) + struct.pack(
            ">HHHH", self.sport, self.dport, length, 0) + self.payload

    def link(self):
        """The Ethernet header"""
        tag = struct.pack(">HH", 0x8100, self.vlan) if self.vlan else b""
        return bytes((3, 0x11, 0x22, 0x33 + (self.group >> 8), 0x44,
                      self.group & 255, 2, 0, 0, 0, 0, 1)) + tag + \
            b"\x08\x00"

    def addresses(self):
        """192.0.2.0/24, documentation"""
        return 0xc0000200 | self.source, 0xc00002c8

    def hash(self, fields, key):
        """What RSS makes of it"""
        source, target = self.addresses()
        data = b"".join(
            value for bit, value in (
                (SRC_IPV4, struct.pack(">I", source)),
                (DST_IPV4, struct.pack(">I", target)),
                (SRC_UDP, struct.pack(">H", self.sport)),
                (DST_UDP, struct.pack(">H", self.dport))) if fields & bit)
        number = int.from_bytes(key, "big")
        result = 0
        for at in range(8 * len(data)):
            if data[at // 8] & 0x80 >> at % 8:
                result ^= number >> (8 * len(key) - 32 - at) & 0xffffffff
        return result


class Ethernet(Devices):
    """Sends frames by one device and receives them by the other."""

    def ethernet(self):
        """Everything is made, used, and destroyed again."""
        sender = self.make_raw(self.some_node())
        node = 1 - sender.node
        self.pd = self.any("pd", node=node)
        self.make_room(sender.pd, SOURCE)
        self.make_room(self.pd, SINK)
        self.flows = []
        self.sets = []
        cq = self.make_raw_cq(node)
        probe = self.make_probe(node, cq)
        self.spreading = self.chance(0.5)
        if self.spreading:
            self.spread(sender, cq)
        else:
            self.receive_raw(sender, cq)
        self.call("ibv_destroy_qp", probe.name)
        self.call("ibv_destroy_cq", cq.name)
        self.walk(sender)
        self.call("ibv_destroy_qp", sender.name)
        self.call("ibv_destroy_cq", sender.scq.name)

    def make_room(self, pd, area):
        """A region that frames fit into, unless a domain has one"""
        while not any(mr.pd is pd and mr.covers(area) and mr.len >= ROOM and
                      mr.has("LOCAL_WRITE") and mr.fixed != "on_demand"
                      for mr in self.things["mr"]):
            self.make_mr(pd, area, verbs.ACCESS["LOCAL_WRITE"])

    def make_probe(self, node, cq):
        """What shows that all frames before have come, received or not"""
        probe = self.make_raw(node, cq)
        self.make_room(probe.pd, SINK)
        self.probe = Wq(probe.name, node, cq=cq, pd=probe.pd, max_wr=16,
                        state="RDY")
        flow = Flow(self.name("flow"), node, qp=probe,
                    group=self.group(PROBE),
                    find=lambda frame: self.probe)
        self.call("ibv_create_flow", flow.name, qp=probe.name, type=NORMAL,
                  port=1, priority=0, group=flow.group, flags=0)
        self.flows.append(flow)
        return probe

    # Objects

    def make_raw_cq(self, node):
        cq = Cq(self.name("cq"), node, cqe=4096, ex=self.chance(0.7))
        self.create_cq(cq, wc_flags=STANDARD_WC | CVLAN | FLOW_TAG
                       if cq.ex else None)
        return cq

    def make_raw(self, node, cq=None, strip=False):
        pd = self.any("pd", node=node)
        cq = cq or self.make_raw_cq(node)
        qp = Qp(self.name("qp"), node, type=verbs.RAW_PACKET, pd=pd, scq=cq,
                rcq=cq, caps={"swr": 16, "rwr": 16, "ssge": 3, "rsge": 2,
                              "inline": self.random.choice((0, 200))},
                sig_all=self.chance(0.3),
                tso=0 if strip else self.random.choice((0, MAX_HEADER,
                                                      MAX_HEADER)),
                ops=self.random.choice((SEND_OPS, SEND_OPS | TSO_OPS,
                                        SEND_OPS | TSO_OPS))
                if self.chance(0.5) and not strip else None)
        qp.psn = qp.rnr = 0
        self.create_qp(qp, pd, flags=verbs.CVLAN_STRIPPING if strip else None)
        for state in ("INIT", "RTR", "RTS"):
            self.modify(qp, state)
        return qp

    def receive_raw(self, sender, cq):
        """A queue pair receives for itself."""
        strip = self.chance(0.3)
        qp = self.make_raw(1 - sender.node, cq, strip)
        self.make_room(qp.pd, SINK)
        wq = Wq(qp.name, qp.node, pd=qp.pd, cq=cq, max_wr=qp.caps["rwr"],
                state="RDY", strip=strip)
        self.use_rules(sender, qp, [wq], lambda frame: wq)
        self.call("ibv_destroy_qp", qp.name)

    def make_wq(self, cq):
        wq = Wq(self.name("wq"), cq.node, pd=self.pd, cq=cq, max_wr=16)
        args = {"pd": self.pd.name, "cq": cq.name, "wr": 16, "sge": 2}
        if self.chance(0.7):
            self.call_wrong("ibv_create_wq", wq.name, args)
        wq.strip = self.chance(0.3)
        self.call("ibv_create_wq", wq.name, flags=int(wq.strip), **args)
        return wq

    def modify_wq(self, wq, state):
        """Change the state, after a rule was broken, perhaps"""
        number = verbs.WQ_STATES.index
        if self.chance(0.2):
            other = self.random.choice([other for other in verbs.WQ_STATES
                                        if other != wq.state])
            self.call("ibv_modify_wq", wq.name, broken="cur_state",
                      state=number(state), cur=number(other))
        if not verbs.wq_transition(wq.state, state):
            self.call("ibv_modify_wq", wq.name, broken="transition",
                      state=number(state))
            return
        cur = number(wq.state)
        if self.chance(0.7) and self.count("value", "ibv_modify_wq",
                                           "curr_wq_state", str(cur)):
            cur = None
        self.call("ibv_modify_wq", wq.name, state=number(state), cur=cur)
        wq.state = state
        if state == "RESET":
            self.model.forget(wq)
        elif state == "ERR":
            self.model.flush(wq)
        self.settle()
        if state != "RDY" and self.chance(0.7):
            # Seldom would anything else take it from there
            self.modify_wq(wq, "RDY" if state == "RESET" else
                           self.random.choice(("RDY", "RESET")))

    def strip_wq(self, wq):
        """Change the flags of a work queue, after a rule was broken"""
        if self.chance(0.3):
            flag = self.wrong("ibv_modify_wq", "flags", "flags")
            self.call("ibv_modify_wq", wq.name, broken="flags", flags=flag,
                      mask=flag)
        wq.strip = self.chance(0.5)
        self.call("ibv_modify_wq", wq.name, flags=int(wq.strip),
                  mask=VLAN_STRIP)

    def spread(self, sender, cq):
        """A queue pair spreads what it receives."""
        log = self.draw("ibv_create_rwq_ind_table", "log_ind_tbl_size")
        wqs = [self.make_wq(cq)
               for _ in range(self.random.randint(1, (1 << log) + 1))]
        # As many others as there is room for, and some of them again
        entries = [wqs[at % len(wqs)] for at in range(1 << log)]
        self.random.shuffle(entries)
        table = self.name("table")
        names = [f"wq={wq.name}" for wq in entries]
        if self.chance(0.3):
            self.call_wrong("ibv_create_rwq_ind_table", table,
                            {"dev": cq.node}, names[0])
        self.call("ibv_create_rwq_ind_table", table, *names, dev=cq.node,
                  log=log)
        self.call("ibv_destroy_wq", entries[0].name, broken="unused")
        fields = self.draw("ibv_create_qp_ex", "rx_hash_fields_mask")
        key = self.random.randbytes(KEY_LEN)
        qp = self.make_rss(table, cq.node, fields, key)
        self.call("ibv_destroy_rwq_ind_table", table, broken="unused")
        self.use_rules(sender, qp, wqs, lambda frame: entries[
            frame.hash(fields, key) % len(entries)])
        self.call("ibv_destroy_qp", qp.name)
        self.call("ibv_destroy_rwq_ind_table", table)
        for wq in wqs:
            self.call("ibv_destroy_wq", wq.name)

    def make_rss(self, table, node, fields, key):
        qp = Qp(self.name("qp"), node, type=verbs.RAW_PACKET)
        args = {"pd": self.pd.name, "table": table, "fields": fields,
                "key": key.hex(),
                "function": self.draw("ibv_create_qp_ex", "rx_hash_function"),
                "type": verbs.QP_TYPES[qp.type]}
        change = {"rss_type": {"type": verbs.QP_TYPES[verbs.UD]},
                  "rss_key": {"key": key[1:].hex()}}
        broken = self.random.choice((None, *change))
        if broken:
            self.call("ibv_create_qp_ex", qp.name, broken=broken,
                      **{**args, **change[broken]})
        if self.chance(0.5):
            self.call_wrong("ibv_create_qp_ex", qp.name, args,
                            rules=("rss_fields", "rss_function"))
        self.call("ibv_create_qp_ex", qp.name, **args)
        self.call("ibv_modify_qp", qp.name, broken="spreading",
                  state=verbs.STATES.index(self.random.choice(("INIT", "ERR"))),
                  mask=verbs.ATTRIBUTES["STATE"])
        return qp

    # Rules and counters

    def make_counters(self, node):
        counters = Counters(self.name("counters"), node)
        if self.chance(0.3):
            self.call_wrong("ibv_create_counters", counters.name,
                            {"dev": node})
        self.call("ibv_create_counters", counters.name, dev=node)
        for _ in range(self.random.randint(1, 3)):
            index = self.draw("ibv_attach_counters_point_flow", "index")
            if counters.points and self.chance(0.5):
                index = counters.points[-1][1]  # both are added up
            point = (self.draw("ibv_attach_counters_point_flow",
                               "counter_desc"), index)
            self.attach(counters, *point)
            counters.points.append(point)
        if self.chance(0.6):
            self.call_wrong("ibv_attach_counters_point_flow", counters.name,
                            {"what": PACKETS, "index": 0})
        self.call("ibv_read_counters", counters.name, broken="bound", n=4)
        self.sets.append(counters)
        return counters

    def attach(self, counters, what, index, **args):
        self.call("ibv_attach_counters_point_flow", counters.name, what=what,
                  index=index, **args)

    def read(self, counters):
        values = [sum(counters.values[what] for what, at in counters.points
                      if at == index) for index in range(5)]
        last = max(index for _, index in counters.points)
        number = self.random.randint(last + 1, 5)
        self.call("ibv_read_counters", counters.name, n=number,
                  values=":".join(map(str, values[:number])),
                  flags=self.draw("ibv_read_counters", "flags"))
        if last and self.chance(0.3):
            self.call("ibv_read_counters", counters.name, broken="ncounters",
                      n=last)

    def make_flow(self, qp, find):
        flow = Flow(self.name("flow"), qp.node, qp=qp, find=find,
                    type=self.draw("ibv_create_flow", "type")
                    if self.chance(0.3) else NORMAL,
                    priority=self.draw("ibv_create_flow", "priority"),
                    group=self.group(self.random.randrange(2)),
                    specs=self.specs(),
                    tag=self.random.choice((0, 1, 0xfedcba)))
        if flow.type == NORMAL:
            flow.drop = self.chance(0.2)
            flow.dont_trap = not flow.drop and self.chance(0.2)
        if self.chance(0.5):
            flow.counters = self.random.choice(self.sets) \
                if self.sets and self.chance(0.5) else \
                self.make_counters(qp.node)
        args = {"qp": qp.name, "type": flow.type, "port": 1,
                "priority": flow.priority, "group": flow.group,
                **flow.specs, "tag": flow.tag or None,
                "flags": DONT_TRAP if flow.dont_trap else 0,
                "drop": 1 if flow.drop else None,
                "count": flow.counters.name if flow.counters else None}
        self.refused_flow(flow, args)
        self.call("ibv_create_flow", flow.name, **args)
        if flow.counters:
            flow.counters.users += 1
            self.attach(flow.counters, PACKETS, 0, broken="unbound")
            self.call("ibv_destroy_counters", flow.counters.name,
                      broken="unused")
        self.flows.append(flow)

    def specs(self):
        """What a rule says of the headers behind the address"""
        chosen = {"ether_type": 0.2, "vlan_tag": 0.2, "src_ip": 0.2,
                  "dst_ip": 0.1}
        if self.chance(0.5):
            chosen.update({"tcp_udp.type": 1, "src_port": 0.3, "dst_port": 0.8})
        verb = verbs.NAMED["ibv_create_flow"]
        return {lines.word(verb.argument(name), verb.name):
                self.draw(verb.name, name)
                for name, chance in chosen.items() if self.chance(chance)}

    def refused_flow(self, flow, args):
        broken = self.random.choice((
            None, None, "port", "type", "qp_type", "egress", "dont_trap", "drop",
            "drop_dont_trap", "spec"))
        other = self.any("qp", node=flow.node, type=verbs.UD)
        if not broken or (broken == "qp_type" and not other):
            return
        if broken in ("port", "type", "egress", "spec"):
            self.call_wrong("ibv_create_flow", flow.name, args,
                            rules=(broken,))
            return
        other_type = self.random.choice((ALL_DEFAULT, MC_DEFAULT, SNIFFER))
        change = {"qp_type": {"qp": other.name if other else None},
                  "dont_trap": {"type": other_type, "flags": DONT_TRAP,
                                "drop": None},
                  "drop": {"type": other_type, "flags": 0, "drop": 1},
                  "drop_dont_trap": {"type": NORMAL, "flags": DONT_TRAP,
                                     "drop": 1}}
        self.call("ibv_create_flow", flow.name, broken=broken,
                  **{**args, **change[broken]})

    def end_flow(self, flow):
        """Counters that no rule has any more are not kept for another."""
        self.flows.remove(flow)
        self.call("ibv_destroy_flow", flow.name)
        counters = flow.counters
        if not counters:
            return
        counters.users -= 1
        if not counters.users:
            self.call("ibv_read_counters", counters.name, broken="bound", n=5)
            self.call("ibv_destroy_counters", counters.name)
            self.sets.remove(counters)

    def use_rules(self, sender, qp, wqs, find):
        """Make rules, send frames, end the rules."""
        for wq in wqs:
            if wq.state == "RESET":
                self.post_wq(wq, broken="state")
                self.modify_wq(wq, "RDY")
        for _ in range(self.random.randint(1, 4)):
            self.make_flow(qp, find)
        for wq in wqs:
            self.try_wq(sender, wq)
        for _ in range(self.random.randint(4, 16)):
            self.something(sender, qp, wqs, find)
        for counters in self.sets:
            self.read(counters)
        for flow in list(self.flows):
            self.end_flow(flow)

    def something(self, sender, qp, wqs, find):
        wq = self.random.choice(wqs)
        what = self.random.random()
        if wq.name.startswith("wq") and what < 0.12:
            self.modify_wq(wq, self.random.choice(verbs.WQ_STATES))
            self.try_wq(sender, wq)
        elif wq.name.startswith("wq") and what < 0.2:
            self.strip_wq(wq)
            self.try_wq(sender, wq)
        elif what < 0.25:
            self.end_flow(self.random.choice(
                [flow for flow in self.flows if flow.qp is qp]))
            self.make_flow(qp, find)
        elif what < 0.35 and self.sets:
            self.read(self.random.choice(self.sets))
        elif what < 0.6:
            self.post_wq(wq)
        elif sender.tso and not self.spreading and self.chance(0.7):
            for _ in range(3):
                self.send_tso(sender)
        else:
            self.send_frame(sender, self.frame())

    def try_wq(self, sender, wq):
        """What a work queue is now shows when it receives."""
        for _ in range(self.random.randint(1, 2)):
            self.post_wq(wq)
            self.send_frame(sender, self.frame_for(wq))

    # Frames

    def post_wq(self, wq, broken=None):
        """A receive request, or more than there may be. Return whether it was
        posted: there may be no memory for it.
        """
        verb = "ibv_post_wq_recv" if wq.name.startswith("wq") else \
            "ibv_post_recv"
        if wq.state == "RESET" and not broken:
            return False
        sges = self.sges(wq.pd, SINK, MAX_FRAME, 2, "LOCAL_WRITE")
        if not sges or len(wq.receives) >= wq.max_wr:
            return False
        if any(mr.fixed == "on_demand" for mr, _, _ in sges):
            return False  # no frame waits for a page, and the page may be there
        receive = Receive(self.next_id(), sges)
        word = self.word({"id": receive.wr_id, "sges": "|".join(
            f"{mr.address(at)}/{length}/{mr.name}"
            for mr, at, length in sges)})
        if broken:
            self.call(verb, wq.name, word, broken=broken, bad=0)
            return False
        # There must be room for the second one
        if self.chance(0.1) and len(wq.receives) + 1 < wq.max_wr:
            self.call(verb, wq.name, word, self.word(
                {"id": 0, "over": "recv_sge"}), broken="num_sge", bad=1)
        elif self.chance(0.1) and verb == "ibv_post_wq_recv" and \
                not wq.receives and wq.state == "RDY":
            self.call(verb, wq.name, self.word({"id": 0}), broken="room",
                      bad="room", overflow=1)
            self.modify_wq(wq, "RESET")
            self.modify_wq(wq, "RDY")
            return False
        else:
            self.call(verb, wq.name, word)
        if wq.state == "ERR":
            self.model.flush_one(wq, receive)
            self.settle()
        else:
            wq.receives.append(receive)
        return True

    def frame(self, *groups):
        length = self.random.choice((32, 100, self.random.randint(18, 1400)))
        return Frame(
            self.group(self.random.choice(groups or range(3))),
            self.random.choice(verbs.FLOW_PORTS),
            self.random.choice(verbs.FLOW_PORTS),
            self.random.randrange(256),
            self.random.choice((0, 0, 1, 0x6123)),
            self.random.randbytes(length))

    def frame_for(self, wq):
        """A frame that some rule gives to a work queue, if one is found soon.
        Nobody else sends to the probe: it has no receive request yet.
        """
        flows = [flow for flow in self.flows
                 if flow.group != self.group(PROBE)]
        for _ in range(32):
            flow = self.random.choice(flows)
            frame = self.frame()
            flow.fit(frame)
            if flow.matches(frame) and flow.find(frame) is wq:
                break
        return frame

    def send_frame(self, sender, frame):
        if not self.transmit(sender, frame):
            return
        self.await_frames(sender, self.deliver(frame))

    def await_frames(self, sender, all_received):
        """All that was sent has come, received or not."""
        self.settle()
        if not all_received:
            while not self.post_wq(self.probe):
                self.make_room(self.probe.pd, SINK)
            while not self.transmit(sender, frame := self.frame(PROBE)):
                pass
            self.deliver(frame)
            self.settle()

    def transmit(self, sender, frame):
        """Send a frame. Return whether there was memory for it."""
        data = frame.bytes()
        place = self.source(sender.pd, len(data))
        if not place:
            return False
        mr, at = place
        self.put(sender.node, at, data)
        batch = int(sender.ops is not None and self.chance(0.5))
        flags = verbs.FLAGS["SIGNALED"]
        if len(data) <= sender.caps["inline"] and self.chance(0.5):
            flags |= verbs.FLAGS["INLINE"]
        cut = self.random.randrange(len(data)) if self.chance(0.3) else 0
        sges = [(mr, at, cut), (mr, at + cut, len(data) - cut)]
        request = Request(self.next_id(), verbs.OPERATION["SEND"], flags,
                          sges[not cut:])
        verb = ("ibv_post_send", "ibv_wr_complete")[batch]
        self.call(verb, sender.name,
                  self.word(self.fields(sender, request, batch)))
        self.reach("operation", sender.type, "SEND", verb)
        self.model.complete(sender.scq, Completion(
            sender, False, request.wr_id, "SUCCESS", verbs.WC_SEND))
        return True

    # Segmentation

    def send_tso(self, sender):
        """Frames that the device cuts, after a rule was broken, perhaps"""
        frame = self.frame()
        stream = tcp.Stream(
            frame.group, frame.vlan, frame.link(), frame.addresses(),
            (frame.sport, frame.dport), self.random.getrandbits(32),
            self.random.choice((tcp.ACK, 0xff)), self.random.getrandbits(16),
            self.random.choice((b"", b"\1" * 12)))
        mss = self.random.choice((1, 100, 1300))
        length = self.random.choice((0, 1, mss, 4 * mss,
                                     self.random.randint(0, 4 * mss)))
        header = stream.header()
        sges = self.sges(sender.pd, SOURCE, length, sender.caps["ssge"])
        at = self.areas[sender.node][SOURCE].start
        # await_frames() may have to send a short frame of its own
        if not sges or not self.source(sender.pd, 200):
            return
        self.put(sender.node, at, header)
        request = Request(self.next_id(), verbs.OPERATION["TSO"],
                          verbs.FLAGS["SIGNALED"], sges)
        request.tso = (at, len(header), mss)
        batch = int(sender.ops is not None and sender.ops & TSO_OPS != 0 and
                    self.chance(0.5))
        fields = self.fields(sender, request, batch)
        if self.chance(0.3):
            self.refuse_tso(sender, request, fields, batch)
        if self.chance(0.3):
            self.fail_tso(sender, request, fields, VERB[batch])
            return
        self.call(VERB[batch], sender.name, self.word(fields))
        self.reach("operation", sender.type, "TSO", VERB[batch])
        self.model.complete(sender.scq, Completion(
            sender, False, request.wr_id, "SUCCESS", verbs.WC_TSO))
        data = self.model.gather(sender.node, sges)
        received = [self.deliver(segment)
                    for segment in stream.segments(data, mss)]
        self.await_frames(sender, all(received))

    def put(self, node, at, data):
        """Write bytes to memory."""
        self.line("write", node, (f"at={at}", f"hex={data.hex()}"), 0)
        self.model.memory[node][at:at + len(data)] = data

    def refuse_tso(self, sender, request, fields, batch):
        """Break a rule of verbs.POSTING."""
        rule = self.rarest(VERB[batch], ["tso_header", "tso_mss"])
        fields = dict(fields)
        self.refuses(rule, sender, fields, request, batch)
        self.call(VERB[batch], sender.name, self.word(fields), broken=rule,
                  bad=None if batch else 0)

    def fail_tso(self, sender, request, fields, verb):
        """Break a rule of verbs.EXECUTION, and begin anew."""
        name = self.rarest(verb, ["tso_form", "tso_length", "tso_packet"])
        rule = verbs.rule(verbs.EXECUTION, name)
        if name == "tso_form":
            at, length, _ = request.tso
            # The type of Ethernet, the protocol of IP, or not all of TCP
            wrong = self.random.choice((length - 1, length + 1, 13, 1))
            self.set_tso(fields, 1, wrong)
        elif not self.breaks(rule, sender, request, fields):
            return
        self.reach("rule", verb, name)
        self.broke(verb, self.word(fields), name)
        self.call(verb, sender.name, self.word(fields))
        self.model.complete(sender.scq, Completion(
            sender, False, request.wr_id, rule.otherwise.status))
        self.settle()
        sender.state = "SQE"
        self.query(sender)
        self.modify(sender, self.seldom(sender, ["RTS", "ERR", "RESET"]))
        for state in () if sender.state == "RTS" else UP:
            self.modify(sender, state)

    def deliver(self, frame):
        """What rules do with a frame. Return whether it is seen that they have
        had it: there are some, and none drops it.
        """
        flows = sorted((flow for flow in self.flows if flow.matches(frame)),
                       key=lambda flow: flow.place)
        all_received = bool(flows)
        for flow in flows:
            if flow.counters:
                flow.counters.values[PACKETS] += 1
                flow.counters.values[BYTES] += len(frame.bytes())
            all_received &= not flow.drop and self.receive(flow, frame)
            if not flow.leaves:
                break
        return all_received

    def receive(self, flow, frame):
        wq = flow.find(frame)
        if wq.state != "RDY" or not wq.receives:
            return False
        data = frame.bytes()
        if wq.strip and frame.vlan:
            data = data[:12] + data[16:]
        receive = wq.receives.popleft()
        self.model.scatter(wq.node, receive.sges, data)
        # Only those of a TSO have checksums
        flags, extra = frame.has_checksums * WC_IP_CSUM_OK, 0
        if wq.cq.ex:
            flags, extra = flags | WC_TAGGED, f"{flow.tag}:{frame.vlan}"
        self.model.complete(wq.cq, Completion(
            wq, True, receive.wr_id, "SUCCESS", verbs.WC_RECV, len(data),
            flags, extra, sl=frame.vlan >> 13))
        return True

    def walk(self, qp):
        """From state to state, without anything that is sent"""
        for _ in range(self.random.randint(5, 15)):
            states = [state for state in verbs.STATES if verbs.transition(
                qp.type, qp.state, state) is not None]
            # The way up is never seldom, but there are others from its middle
            state = (self.random.choice(states) if self.chance(0.5) else
                     self.seldom(qp, states))
            if self.chance(0.3):
                self.wrong_transition(qp)
            self.modify(qp, state)
            self.query(qp)
