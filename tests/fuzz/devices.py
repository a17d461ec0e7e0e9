# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Contexts, what several of them share, and attributes of connections."""

import verbs
from extras import Extras
from model import SINK, SOURCE, Dm, Mr, Pd, Request

NUM, XRCD, TYPE = 1, 2, 8  # enum ibv_qp_open_attr_mask
PIECE = 4096


class Devices(Extras):
    """Opens and imports contexts; shares objects; asks devices."""

    def ask(self):
        """What a device tells of itself, and what it cannot tell"""
        node = self.some_node()
        self.call_wrong("ibv_query_device_ex", node, {})
        self.call("ibv_query_device_ex", node, mask=0)
        self.ask_port(node)
        self.call_wrong("ibv_query_port", node, {})
        self.call("ibv_query_port", node, port=1)
        self.call_wrong("ibv_query_rt_values_ex", node, {})
        if self.device.has("ibv_query_rt_values_ex"):
            self.call("ibv_query_rt_values_ex", node, mask=1)

    def ask_port(self, node):
        """Addresses and P_Keys"""
        self.call("ibv_query_device", node)
        for verb, args in (("ibv_query_gid", {}),
                           ("ibv_query_gid_ex", {"flags": 0}),
                           ("ibv_query_pkey", {"index": 0}),
                           ("ibv_get_pkey_index", {"pkey": 0xffff})):
            args["port"] = 1
            if self.chance(0.7):
                self.call_wrong(verb, node, args)
            self.call(verb, node, **args)

    def open_close(self, node=None):
        """A context of its own, and what is made in it"""
        node = self.some_node(node)
        ctx = self.name("ctx")
        self.call("ibv_open_device", ctx, dev=node)
        pd = self.name("pd")
        self.call("ibv_alloc_pd", pd, ctx=ctx)
        self.call("ibv_dealloc_pd", pd)
        self.call("ibv_close_device", ctx)

    def share(self, qp):
        """Another context of the same file"""
        ctx = self.name("ctx")
        if self.chance(0.3):
            self.call("ibv_import_device", ctx, broken="file", dev=qp.node,
                      file=0)
        self.call("ibv_import_device", ctx, dev=qp.node)
        self.share_pd(qp, ctx)
        if self.chance(0.5):
            self.share_dm(ctx, qp.node)
        self.call("ibv_close_device", ctx)

    def share_pd(self, qp, ctx):
        twin = Pd(self.name("pd"), qp.node)
        if self.chance(0.3):
            self.call_wrong("ibv_import_pd", twin.name, {"ctx": ctx})
        self.call("ibv_import_pd", twin.name, ctx=ctx, of=qp.pd.name)
        self.share_mr(qp, twin)
        self.make_in_twin(qp, twin)
        self.call("ibv_unimport_pd", twin.name)

    def share_mr(self, qp, twin):
        """A region that was made in the one, in the other"""
        # The RDMA core itself knows less of a dma-buf's
        made = self.make_dmabuf_mr(qp.pd) if self.chance(0.5) else None
        mr = made or self.any("mr", pd=qp.pd, null=False)
        if not mr:
            return
        name = self.name("mr")
        if self.chance(0.3):
            self.call_wrong("ibv_import_mr", name, {"pd": twin.name})
        self.call("ibv_import_mr", name, pd=twin.name, of=mr.name)
        self.use_region(qp, Mr(name, qp.node, pd=qp.pd, at=mr.at, len=mr.len,
                               access=mr.access))
        self.call("ibv_unimport_mr", name)

    def make_in_twin(self, qp, twin):
        """A region that is made in the other context, for this one"""
        mr = Mr(self.name("mr"), qp.node, pd=qp.pd,
                at=self.random.choice((SOURCE, SINK)), len=PIECE,
                access=verbs.ACCESS["LOCAL_WRITE"])
        self.call("ibv_reg_mr", mr.name, pd=twin.name, at=mr.at, len=mr.len,
                  access=mr.access)
        self.use_region(qp, mr)
        self.call("ibv_dereg_mr", mr.name)

    def use_region(self, qp, mr):
        """A request with an SGE in a region"""
        name = "RDMA_WRITE" if mr.covers(SOURCE) else "RDMA_READ"
        if not qp.rd or \
                (qp.type, qp.state, qp.peer.state) != (
                    verbs.RC, "RTS", "RTS") or \
                not (mr.covers(SOURCE) or mr.covers(SINK)) or \
                name == "RDMA_READ" and not mr.has("LOCAL_WRITE"):
            return
        op = verbs.OPERATION[name]
        length = self.random.randint(0, min(mr.len, PIECE))
        remote = self.remote(qp.peer, length, op.remote)
        if not remote:
            return
        request = Request(self.next_id(), op, verbs.FLAGS["SIGNALED"],
                          [(mr, mr.at, length)], remote=remote)
        self.call("ibv_post_send", qp.name,
                  self.word(self.fields(qp, request)))
        self.model.send(qp, request)
        self.settle()

    def share_dm(self, ctx, node):
        dm = self.any("dm", node=node) or self.make_dm(node)
        twin = Dm(self.name("dm"), node, len=dm.len)
        if self.chance(0.3):
            self.call_wrong("ibv_import_dm", twin.name, {"ctx": ctx})
        self.call("ibv_import_dm", twin.name, ctx=ctx, of=dm.name)
        # One memory under two names
        self.model.memory[twin] = self.model.memory[dm]
        self.write_dm(twin, 0, dm.len & ~3)
        self.compare_dm(dm)
        self.call("ibv_unimport_dm", twin.name)

    def make_mr(self, *args, **kwargs):
        mr = super().make_mr(*args, **kwargs)
        if mr and mr.fixed == "on_demand":
            for _ in range(self.random.randrange(4)):
                self.advise(mr)
        return mr

    def make_special(self):
        """Regions of dma-bufs and paged ones, which are gone again"""
        pd = self.any("pd")
        for make in 2 * (self.make_dmabuf_mr, self.make_mr):
            mr = make(pd)
            if mr:
                for _ in range(2 * (mr.fixed is not None)):
                    self.rereg(mr)
                self.destroy_thing(mr)

    def advise(self, mr):
        """Advice for a region, and advice that is wrong"""
        args = {"pd": mr.pd.name, "advice": verbs.PREFETCH, "flags": 0,
                "raddr": mr.address(mr.at), "len": mr.len}
        other = self.any("pd", node=mr.node)
        plain = self.any("mr", pd=mr.pd, fixed=None, null=False)
        wrong = {"advice": {"advice": self.wrong("ibv_advise_mr", "advice",
                                                 "advice")},
                 "flags": {"flags": self.wrong("ibv_advise_mr", "flags",
                                               "flags")},
                 "range": {"len": mr.len + 1}}
        if other is not mr.pd:
            wrong["pd"] = {"pd": other.name}
        if plain:
            wrong["on_demand"] = {"lkey": plain.name}
        if not mr.has("LOCAL_WRITE"):
            wrong["writable"] = {"advice": verbs.PREFETCH_WRITE}
        broken = self.rarest("ibv_advise_mr", list(wrong))
        self.call("ibv_advise_mr", mr.name, broken=broken,
                  **{**args, **wrong[broken]})
        advice = [verbs.PREFETCH, verbs.PREFETCH_NO_FAULT]
        if mr.has("LOCAL_WRITE"):
            advice.append(verbs.PREFETCH_WRITE)
        args.update(advice=self.random.choice(advice),
                    flags=self.draw("ibv_advise_mr", "flags"))
        self.call("ibv_advise_mr", mr.name, **args)

    def query_ece(self, qp):
        broken = None if qp.type in verbs.CONNECTED else "qp_type"
        self.call("ibv_query_ece", qp.name, broken=broken,
                  options=None if broken else qp.ece)

    def set_ece(self, qp):
        """Ask for options, or break a rule of that"""
        self.query_ece(qp)
        options = self.draw("ibv_set_ece", "options")
        if qp.type not in verbs.CONNECTED:
            self.call("ibv_set_ece", qp.name, broken="qp_type")
        elif qp.state not in ("RESET", "INIT"):
            self.call("ibv_set_ece", qp.name, broken="state", options=options)
        else:
            broken = self.random.choice((None, None, "vendor", "comp_mask"))
            self.call("ibv_set_ece", qp.name, broken=broken, options=options,
                      **{broken: 1} if broken else {})
            if not broken:
                qp.ece, qp.ece_set = options & verbs.ECE_OPTIONS, True
        self.query_ece(qp)

    def limit_rate(self, qp):
        """Send no faster than that, which is fast; or break a rule"""
        rate = self.draw("ibv_modify_qp_rate_limit", "rate_limit",
                         qp_rate_limit_max="qp_rate_limit_max")
        if qp.type not in verbs.SENDING:
            broken = "qp_type"
        elif qp.state != "RTS":
            broken = "state"
        else:
            broken = self.random.choice((None, "rate", "burst", "packet"))
        if broken in ("rate", "burst", "packet"):
            self.call_wrong("ibv_modify_qp_rate_limit", qp.name,
                            {"rate": rate}, rules=(broken,))
        elif broken:
            self.call("ibv_modify_qp_rate_limit", qp.name, broken=broken,
                      rate=rate)
        if broken not in ("qp_type", "state"):
            self.call("ibv_modify_qp_rate_limit", qp.name, rate=rate)

    def open_qp(self):
        """Another handle of a queue pair, that may be the only one then"""
        qp = self.any("qp", type=verbs.XRC_RECV)
        if not qp:
            return
        xrcd = self.random.choice([
            xrcd for xrcd in self.things["xrcd"]
            if xrcd.node == qp.node and xrcd.domain is qp.xrcd.domain])
        name = self.name("qp")
        args = {"xrcd": xrcd.name, "of": qp.name, "mask": NUM | XRCD | TYPE,
                "type": verbs.QP_TYPES[qp.type]}
        if self.chance(0.7):
            self.call_wrong("ibv_open_qp", name, args)
        self.call("ibv_open_qp", name, **args)
        first, last = self.random.choice(((qp.name, name), (name, qp.name)))
        self.query(qp)
        self.call("ibv_destroy_qp", first)
        if last != qp.name:
            qp.name, qp.deaf = last, True
            self.change_use(qp, qp.xrcd, xrcd)
            qp.xrcd = xrcd
        self.query(qp)

