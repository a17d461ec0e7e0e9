# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Making and destroying objects."""

import lines
import verbs
from model import AREA, SINK, SOURCE, TARGET, Ah, Cq, Mr, Parent, Pd, Qp
from model import Srq, Td, Xrcd
from program import TIME_READERS, Program

CQE = 4096
STANDARD_WC = 0x7f
SINGLE_THREADED = 1 << 0  # enum ibv_create_cq_attr_flags
FLUSH_RIGHTS = [verbs.flush_right(placement) for placement in (1, 2, 3)]
ALLOCATORS, PD_CONTEXT = 1, 2
O_CREAT, O_EXCL = 0o100, 0o200
INLINE_FOR_SGES = 32 * 16  # bytes that as many SGEs have
KINDS = ("qp", "ah", "mw", "mr", "srq", "xrcd", "cq", "channel",
         "parent", "td", "dm", "pd")  # users first
FEW = ("pd", "mr", "cq", "channel", "srq", "xrcd")


class Objects(Program):
    """Makes objects, and destroys them, in use or not."""

    def keep(self, thing, *uses):
        """There is a new object, which uses others."""
        self.things[thing.kind].append(thing)
        thing.uses = list({other: None for other in uses if other})
        for other in thing.uses:
            other.users += 1
        return thing

    def drop(self, thing):
        """There is an object no more."""
        self.things[thing.kind].remove(thing)
        for other in thing.uses:
            other.users -= 1

    def make_pd(self, node=None):
        node = self.some_node(node)
        pd = Pd(self.name("pd"), node)
        self.call("ibv_alloc_pd", pd.name, dev=node)
        return self.keep(pd)

    def make_td(self, node=None):
        node = self.some_node(node)
        td = Td(self.name("td"), node)
        if self.chance(0.2):
            self.call_wrong("ibv_alloc_td", td.name, {"dev": td.node})
        self.call("ibv_alloc_td", td.name, dev=td.node, mask=0)
        return self.keep(td)

    def make_parent(self):
        """A parent domain, and some that cannot be"""
        pd = self.any("pd")
        td = None
        if self.chance(0.7) and self.device.has("ibv_alloc_td"):
            td = self.any("td", node=pd.node) or self.make_td(pd.node)
        parent = Parent(self.name("pd"), pd.node, pd=pd)
        if self.chance(0.3):
            self.parent(parent, None, td, broken="pd")
        if self.chance(0.3):
            one = self.random.randrange(2)
            self.parent(parent, pd, td, broken="allocators", mask=ALLOCATORS,
                        alloc=one, free=1 - one)
        if self.chance(0.6):
            self.parent(parent, pd, td, broken="comp_mask", mask=self.wrong(
                "ibv_alloc_parent_domain", "comp_mask", "comp_mask"))
        both = self.random.randrange(2)
        self.parent(parent, pd, td, alloc=both, free=both,
                    mask=both * ALLOCATORS + PD_CONTEXT)
        self.keep(parent, pd, td)
        # There are few of them, and a queue in one is rare otherwise
        self.make_cq(parent.node, parent=parent)
        if td and self.chance(0.3):
            self.destroy_thing(td)
        return parent

    def parent(self, parent, pd, td, **args):
        self.call("ibv_alloc_parent_domain", parent.name, dev=parent.node,
                  pd=pd.name if pd else None, td=td.name if td else None,
                  **args)

    def domain(self, pd):
        """What to make an object in: the protection domain, or a parent"""
        parent = self.any("parent", pd=pd) if self.chance(0.4) else None
        return parent or pd

    def loose_domain(self, pd):
        """As domain(), of an object that does not keep it"""
        domain = self.domain(pd)
        if domain is not pd:
            domain.loose += 1
        return domain

    def random_access(self):
        access = self.random.getrandbits(5)
        if self.chance(0.2):
            access |= verbs.ACCESS["ZERO_BASED"]
        if self.chance(0.5):
            access |= self.random.choice(FLUSH_RIGHTS)
        return self.rights(access)

    def plain_access(self):
        """Rights that a region without windows can have, most often"""
        if self.chance(0.2):
            return self.random_access()
        return self.random.choice((0, verbs.ACCESS["REMOTE_READ"],
                                   1 | self.random.getrandbits(4)))

    def change_use(self, thing, old, new):
        """An object uses another one instead."""
        thing.uses[thing.uses.index(old)] = new
        old.users -= 1
        new.users += 1

    def make_mr(self, pd=None, area=None, access=None):
        pd = pd or self.any("pd")
        if access is None and area is None and self.chance(0.2) and \
                self.device.has("ibv_reg_dmabuf_mr"):
            return self.make_dmabuf_mr(pd)
        paged = access is None and self.chance(0.2) and \
            self.device.has("IBV_ACCESS_ON_DEMAND")
        if area is None:
            area = self.random.choice((SOURCE, SINK, TARGET))
        if access is None:
            access = self.plain_access() if paged else self.random_access()
        at = area + self.random.randrange(0, AREA // 2)
        if access & verbs.ACCESS["ZERO_BASED"]:
            # What is aligned in the region is so in memory, for atomics
            at &= ~7
        length = self.draw("ibv_reg_mr", "length")
        mr = Mr(self.name("mr"), pd.node, pd=pd, at=at, len=length,
                access=access, writable=verbs.writable(access))
        if paged:
            mr.fixed = "on_demand"
            mr.access = access | verbs.ACCESS["ON_DEMAND"]
        wrong = verbs.access_broken(mr.access)
        args = {"pd": pd.name, "at": at, "len": length, "access": mr.access}
        verb = "ibv_reg_mr"
        if not wrong and self.chance(0.4):
            verb = self.random.choice(("ibv_reg_mr_iova", "ibv_reg_mr_iova2"))
            args["iova"], wrong = self.iova(at)
        if verb == "ibv_reg_mr_iova2":
            # What a device need not know changes nothing here
            args["access"] |= self.random.choice((0, verbs.RELAXED_ORDERING))
            args["second"] = 1
        if self.chance(0.1):
            self.call_wrong(verb, mr.name, args, rules=("access",))
        self.call(verb, mr.name, broken=wrong, **args)
        return None if wrong else self.keep(mr, pd)

    def iova(self, at):
        """An address for a place in memory, and the rule that it breaks"""
        iova = self.random.getrandbits(self.random.choice((30, 62))) & ~4095
        iova |= at & 4095
        if self.chance(0.1):
            return iova ^ 1 << self.random.randrange(12), "iova"
        return iova, None

    def make_dmabuf_mr(self, pd):
        """A region of memory that is a dma-buf, too"""
        at = self.random.choice((SOURCE, SINK, TARGET)) + \
            self.random.randrange(0, AREA // 2)
        mr = Mr(self.name("mr"), pd.node, pd=pd, at=at,
                len=self.draw("ibv_reg_dmabuf_mr", "length"),
                access=self.plain_access(),
                fixed="dma_buf")
        iova, broken = self.iova(at)
        args = {"pd": pd.name, "at": at, "len": mr.len, "access": mr.access,
                "iova": iova}
        broken = broken or verbs.dmabuf_access_broken(mr.access)
        if not broken and self.chance(0.5):
            broken = self.rarest("ibv_reg_dmabuf_mr", ["fd", "open", "range"])
            args.update({"fd": {"fd": "device"}, "open": {"fd": -1},
                         "range": {"len": 4 * AREA + 1}}[broken])
        self.call("ibv_reg_dmabuf_mr", mr.name, broken=broken, **args)
        return None if broken else self.keep(mr, pd)

    def make_null_mr(self, pd=None):
        pd = pd or self.any("pd")
        mr = Mr(self.name("mr"), pd.node, pd=pd, len=(1 << 64) - 1,
                access=verbs.ACCESS["LOCAL_WRITE"], null=True)
        self.call("ibv_alloc_null_mr", mr.name, pd=pd.name)
        # It keeps nothing busy: all of them have the same key
        self.keep(mr)

    def rereg_mr(self):
        """Change some of what a region is."""
        mr = self.any("mr")
        if self.chance(0.3):
            mr = self.any("mr", writable=False, null=False) or mr
        self.rereg(mr)

    def rereg(self, mr):
        new = Mr(mr.name, mr.node, pd=mr.pd, at=mr.at, len=mr.len,
                 access=mr.access & ~verbs.ACCESS["ON_DEMAND"],
                 writable=mr.writable)
        flags = verbs.RIGHTS if self.chance(0.3) else \
            self.draw("ibv_rereg_mr", "flags")
        if flags & verbs.PD:
            new.pd = self.any("pd", node=mr.node)
        if flags & verbs.TRANSLATION:
            new.at = self.random.choice((SOURCE, SINK, TARGET)) + \
                self.random.randrange(0, AREA // 2)
            new.len = self.draw("ibv_rereg_mr", "length")
        if flags & verbs.RIGHTS:
            new.access = self.random_access()
        if new.has("ZERO_BASED") and new.at & 7:
            # See make_mr()
            new.at &= ~7
            if not flags & verbs.TRANSLATION:
                new.at = mr.at
                new.access &= ~verbs.ACCESS["ZERO_BASED"]
        broken = self.rereg_broken(mr, new, flags)
        access = new.access if flags & verbs.RIGHTS else 0
        length = new.len
        if not broken and self.chance(0.4):
            broken = self.random.choice(("flags", "range", "access"))
            if broken == "flags":
                flags |= self.wrong("ibv_rereg_mr", "flags", broken)
            elif broken == "range":
                flags |= verbs.TRANSLATION
                length = 0
            else:
                flags &= ~verbs.RIGHTS
                access = access or 1
        self.call("ibv_rereg_mr", mr.name, broken=broken, flags=flags,
                  pd=new.pd.name, at=new.at, len=length, access=access)
        if broken:
            return
        mr.at, mr.len, mr.access = new.at, new.len, new.access
        if flags & verbs.TRANSLATION:
            mr.writable = verbs.writable(mr.access)
        if mr.pd is not new.pd:
            mr.pd.users -= 1
            new.pd.users += 1
            mr.pd, mr.uses = new.pd, [new.pd]

    @staticmethod
    def rereg_broken(mr, new, flags):
        """The rule of ibv_rereg_mr() that is broken, or None"""
        if mr.null:
            return "null"
        if mr.fixed:
            return mr.fixed
        if flags & verbs.RIGHTS and verbs.access_broken(new.access):
            return "remote_needs_local"
        if flags & verbs.RIGHTS and not flags & verbs.TRANSLATION and \
                verbs.writable(new.access) and not mr.writable:
            return "writable"
        return "unbound" if mr.users else None

    def make_cq(self, node=None, cqe=CQE, channel=None, parent=None):
        node = self.some_node(node)
        if not channel and self.chance(0.6):
            channel = self.any("channel", node=node)
        cq = Cq(self.name("cq"), node, cqe=cqe,
                ex=bool(parent) or self.chance(0.5), channel=channel)
        if cq.ex and not parent:
            parent = self.any("parent", node=node)
        self.create_cq(cq, pd=parent.name if parent else None)
        return self.keep(cq, channel, parent)

    def large_cq(self, node):
        """A completion queue for any number of queue pairs"""
        found = [cq for cq in self.things["cq"]
                 if cq.node == node and cq.cqe >= CQE // 4]
        return self.random.choice(found) if found else self.make_cq(node)

    def create_cq(self, cq, broken=None, **args):
        wc_flags = STANDARD_WC
        if self.device.has("IBV_WC_EX_WITH_COMPLETION_TIMESTAMP"):
            wc_flags |= sum(flag for flag in TIME_READERS if self.chance(0.5))
        args = {"cqe": cq.cqe, "wc_flags": wc_flags if cq.ex else None, **args}
        cq.times = args["wc_flags"] & sum(TIME_READERS) if cq.ex else 0
        self.call("ibv_create_cq_ex" if cq.ex else "ibv_create_cq", cq.name,
                  broken=broken, dev=cq.node,
                  channel=cq.channel.name if cq.channel else None,
                  **{"vector": 0, **args})

    def refused_cq(self):
        """Each rule of making a completion queue is broken."""
        cq = Cq(self.name("cq"), self.some_node(), cqe=CQE,
                ex=self.chance(0.5))
        verb = "ibv_create_cq_ex" if cq.ex else "ibv_create_cq"
        self.create_cq(cq, "cqe", cqe=self.wrong(verb, "cqe", "cqe"))
        self.create_cq(cq, "vector",
                       vector=self.wrong(verb, "comp_vector", "vector"))
        if cq.ex:
            for rule, word in (("wc_flags", "wc_flags"), ("comp_mask", "mask"),
                               ("flags", "flags")):
                self.create_cq(cq, rule, **{
                    word: self.wrong(verb, rule, rule)})
            flags = self.draw(verb, "flags")
            self.create_cq(cq, flags=SINGLE_THREADED if
                           self.device.differs("no_ignore_overrun") else flags)
            self.call("ibv_destroy_cq", cq.name)
            pd = self.any("pd", node=cq.node)
            self.create_cq(cq, "parent_domain", pd=pd.name)

    def make_srq(self, pd):
        srq = Srq(self.name("srq"), pd.node, pd=pd,
                  max_wr=self.draw("ibv_create_srq", "max_wr"),
                  max_sge=self.draw("ibv_create_srq", "max_sge"))
        domain = self.domain(pd)
        if self.chance(0.3):
            self.call_wrong("ibv_create_srq", srq.name, {
                "pd": domain.name, "wr": srq.max_wr, "sge": srq.max_sge})
        self.call("ibv_create_srq", srq.name, pd=domain.name, wr=srq.max_wr,
                  sge=srq.max_sge)
        return self.keep(srq, pd, domain)

    def open_xrcd(self, xrcd, oflag, broken=None):
        self.call("ibv_open_xrcd", xrcd.name, broken=broken, dev=xrcd.node,
                  file=xrcd.file, oflag=oflag)

    def xrcd_file(self):
        """The name of a file that no domain has yet"""
        return f"{self.number}-{self.numbers['xrcd']}"

    def make_xrcd(self, node):
        xrcd = Xrcd(self.name("xrcd"), node)
        oflag = O_CREAT | (O_EXCL if self.chance(0.3) else 0)
        first = self.any("xrcd", node=node)
        if first and first.file and self.chance(0.5):
            xrcd.file, xrcd.domain = first.file, first.domain
            oflag = self.random.choice((0, O_CREAT))
        elif self.chance(0.6):
            xrcd.file = self.xrcd_file()
        self.open_xrcd(xrcd, oflag)
        return self.keep(xrcd)

    def refused_xrcd(self):
        xrcd = Xrcd(self.name("xrcd"), self.some_node())
        first = self.any("xrcd", node=xrcd.node)
        if first and first.file and self.chance(0.7):
            xrcd.file = first.file
            self.open_xrcd(xrcd, O_CREAT | O_EXCL, "excl")
        else:
            xrcd.file = self.xrcd_file()
            self.open_xrcd(xrcd, 0, "exists")

    def make_xrc_srq(self, xrcd):
        node = xrcd.node
        pd = self.any("pd", node=node) or self.make_pd(node)
        cq = self.make_cq(node) if self.chance(0.2) else \
            self.large_cq(node)
        srq = Srq(self.name("srq"), node, pd=pd, xrcd=xrcd, cq=cq,
                  max_wr=self.draw("ibv_create_srq_ex", "max_wr"),
                  max_sge=self.draw("ibv_create_srq_ex", "max_sge"))
        domain = self.domain(pd)
        if self.chance(0.3):
            self.call_wrong("ibv_create_srq_ex", srq.name, {
                "pd": domain.name, "wr": srq.max_wr, "sge": srq.max_sge,
                "xrcd": xrcd.name, "cq": cq.name},
                rules=("max_wr", "max_sge", "type"))
        self.call("ibv_create_srq_ex", srq.name, pd=domain.name,
                  wr=srq.max_wr, sge=srq.max_sge, xrcd=xrcd.name, cq=cq.name)
        return self.keep(srq, pd, domain, xrcd, cq)

    def get_srq_num(self):
        srq = self.any("srq")
        if srq:
            self.call("ibv_get_srq_num", srq.name,
                      broken=None if srq.xrcd else "xrc")

    def make_xrc_recv(self, node):
        xrcd = self.any("xrcd", node=node)
        if not xrcd or self.chance(0.2):
            xrcd = self.make_xrcd(node)
        qp = Qp(self.name("qp"), node, type=verbs.XRC_RECV, xrcd=xrcd, caps={})
        self.call("ibv_create_qp_ex", qp.name, xrcd=xrcd.name,
                  type=verbs.QP_TYPES[qp.type])
        return self.keep(qp, xrcd)

    def aim(self, qp):
        """Have requests of an XRC_SEND queue pair name some queue."""
        peer = qp.peer
        found = [srq for srq in self.things["srq"]
                 if srq.xrcd and srq.xrcd.domain is peer.xrcd.domain]
        if not found or (len(found) < 4 and self.chance(0.1)):
            found.append(self.make_xrc_srq(peer.xrcd))
        peer.srq = self.random.choice(found)
        peer.pd, peer.rcq = peer.srq.pd, peer.srq.cq

    def other_domain(self, qp):
        """An XRC shared receive queue of another domain, of the same node"""
        found = [srq for srq in self.things["srq"]
                 if srq.node == qp.node and srq.xrcd and
                 srq.xrcd.domain is not qp.xrcd.domain]
        if found:
            return self.random.choice(found)
        xrcds = [xrcd for xrcd in self.things["xrcd"]
                 if xrcd.node == qp.node and
                 xrcd.domain is not qp.xrcd.domain]
        while not xrcds:
            xrcd = self.make_xrcd(qp.node)
            if xrcd.domain is not qp.xrcd.domain:
                xrcds.append(xrcd)
        return self.make_xrc_srq(self.random.choice(xrcds))

    def most_inline(self, qp_type):
        """How many bytes of inline data the device has room for"""
        if self.device.differs("max_inline"):
            return INLINE_FOR_SGES
        return verbs.MAX_INLINE[qp_type]

    def make_qp(self, qp_type, node, scq=None, swr=None):
        pd = self.any("pd", node=node) or self.make_pd(node)
        scq = scq or self.large_cq(node)
        srq = None
        xrc = qp_type == verbs.XRC_SEND
        rcq = None if xrc else self.large_cq(node)
        # After losses nobody knows what a shared queue still has
        if self.chance(0.25) and not xrc and not (
                self.lossy and qp_type not in verbs.RELIABLE):
            srq = self.any("srq", pd=pd, xrcd=None) or self.make_srq(pd)
        # Those at a limit of the device: see extremes()
        caps = {lines.word(cap): self.random.choice([
            value for value in cap.legal if isinstance(value, int)])
                for cap in verbs.CAPS}
        caps["swr"] = swr or caps["swr"]
        if self.chance(0.1):
            caps["inline"] = self.most_inline(qp_type)
        if srq or xrc:
            caps["rwr"] = caps["rsge"] = 0
        ops = None
        if self.chance(0.6):
            # Others are a choice, as setters of data have to know
            others = self.chance(0.8)
            ops = sum(op.send_ops for op in self.operations(qp_type)
                      if others or op.is_plain)
        qp = Qp(self.name("qp"), node, type=qp_type, pd=pd, scq=scq, rcq=rcq,
                srq=srq, caps=caps, sig_all=self.chance(0.3), ops=ops)
        domain = self.domain(pd)
        if verbs.OPERATION["TSO"] in self.operations(qp_type):
            qp.tso = self.draw("ibv_create_qp_ex", "max_tso_header")
        self.create_qp(qp, domain)
        if qp_type == verbs.UD:
            qp.qkey = self.draw_attr("QKEY") if self.chance(0.5) else \
                self.random.getrandbits(31)
        return self.keep(qp, pd, domain, scq, rcq, srq)

    def create_qp(self, qp, domain, broken=None, number=None, **others):
        """number: that of another type; others: what ibv_create_qp() lacks"""
        basic = qp.ops is None and not others.get("flags") and \
            not others.get("mask") and not qp.tso and self.chance(0.5)
        verb = "ibv_create_qp" if basic else "ibv_create_qp_ex"
        self.call(verb, qp.name,
                  broken=broken, pd=domain.name, basic=1 if basic else None,
                  scq=qp.scq.name,
                  rcq=qp.rcq.name if qp.rcq else None,
                  srq=qp.srq.name if qp.srq else None,
                  type=verbs.QP_TYPES[qp.type] if number is None else number,
                  sig_all=int(qp.sig_all), ops=qp.ops,
                  tso=qp.tso or None, **qp.caps, **others)

    def refused_qp(self):
        """A queue pair that cannot be"""
        if self.chance(0.5):
            self.refused_caps()
            return
        missing = [(qp_type, op) for op in verbs.OPERATIONS
                   for qp_type in verbs.SENDING if qp_type not in op.on]
        qp_type, op = self.random.choice(missing)
        pd = self.any("pd")
        cq = self.any("cq", node=pd.node)
        if not cq:
            return
        qp = Qp(self.name("qp"), pd.node, type=qp_type, pd=pd, scq=cq, rcq=cq,
                caps={"swr": 1}, ops=op.send_ops)
        self.create_qp(qp, self.domain(pd), "send_ops")
        if qp_type not in verbs.CUTTING:
            qp.ops, qp.tso = None, 54
            self.create_qp(qp, self.domain(pd), "max_tso_header")

    def refused_caps(self):
        """A queue pair that asks for too much"""
        pd = self.any("pd")
        cq = self.any("cq", node=pd.node)
        if not cq:
            return
        qp = Qp(self.name("qp"), pd.node, type=verbs.RC, pd=pd, scq=cq,
                rcq=cq, caps={"swr": 1})
        for cap in verbs.CAPS:
            for rule, values in cap.wrong.items():
                # What depends on the type is one of the extremes()
                value = self.random.choice([
                    value for value in values if value != "max_inline + 1"])
                qp.caps = {"swr": 1, "rwr": 1, lines.word(cap): value}
                self.create_qp(qp, pd, rule)
        qp.caps = {}
        for rule, word in (("comp_mask", "mask"), ("create_flags", "flags")):
            self.create_qp(qp, pd, rule, **{
                word: self.wrong("ibv_create_qp_ex", rule, rule)})
        self.create_qp(qp, pd, "type", self.random.choice(
            verbs.NAMED["ibv_create_qp"].argument("qp_type").wrong["type"]))

    def make_ah(self, qp):
        ah = Ah(self.name("ah"), qp.node, pd=qp.pd, to=qp.peer.node)
        if self.chance(0.3):
            self.call_wrong("ibv_create_ah", ah.name, {"pd": qp.pd.name,
                                                       "to": ah.to})
        self.drawn("ibv_create_ah", is_global=1, port_num=1)
        path = {lines.word(part): self.draw("ibv_create_ah", part.name)
                for part in (*verbs.AH_PATH, verbs.AH_HOPS)}
        ah.tc, ah.hop = path["tc"], path["hop"]
        self.call("ibv_create_ah", ah.name, pd=self.loose_domain(qp.pd).name,
                  to=ah.to, **path)
        self.keep(ah, qp.pd)
        ah.users += 1
        qp.uses.append(ah)
        qp.ah = ah

    def destroy(self, kind):
        """Destroy an object of a kind, in use or not."""
        thing = self.any(kind)
        if not thing:
            return
        # What the program itself needs stays
        if not thing.users and kind in FEW and len(self.things[kind]) <= 4:
            return
        if kind == "ah" and thing.users:
            return
        if kind == "parent" and thing.loose:
            return
        self.destroy_thing(thing)

    def destroy_thing(self, thing):
        """Destroy an object. It is refused while others use it."""
        if thing.kind == "cq":
            self.acknowledge(thing)
        self.call(verbs.DESTROYS[thing.kind], thing.name,
                  broken="unused" if thing.users else None)
        if thing.users:
            return
        self.drop(thing)
        # What was not taken is not there any more
        self.model.events = [event for event in self.model.events
                             if event[0] is not thing]
        if thing.kind == "srq":
            # XRC_RECV queue pairs do not keep it
            for qp in self.things["qp"]:
                if qp.srq is thing:
                    qp.srq = qp.pd = qp.rcq = None
        if thing.kind == "mw":
            self.model.bind(thing, None, 0)
        if thing.kind == "qp":
            for mw in self.things["mw"]:
                if mw.type == 2 and mw.binding and mw.binding.qp is thing:
                    self.model.bind(mw, None, mw.flip)
                    mw.plan = (None, mw.flip)
            if thing.peer:
                # It is not sent from any more
                thing.peer.peer = None
