# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Memory windows: binding and invalidating them, and how to break the rules."""

import verbs
from model import Binding, Mw
from states import States

MAX_WINDOWS = 64
BIND = 2  # how a request is posted: see sending.VERB
RIGHTS = ("REMOTE_WRITE", "REMOTE_READ", "REMOTE_ATOMIC")
OTHER_KEY = 1
UNKNOWN_INDEX = 0x80000000


class Windows(States):
    """Makes windows, and the part of requests that is about them.

    Requests of a burst are executed after all of them are made. A window that
    one of them binds or invalidates is in planned, and no other uses it. A window
    that is used is in used, and no other invalidates it. Those of type 2 that ever
    were to be bound are in bound, with the queue pair.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.planned = set()
        self.used = set()
        self.bound = {}

    def make_mw(self, pd, kind):
        mw = Mw(self.name("mw"), pd.node, pd=pd, type=kind)
        # To ibv_bind_mw() of libibverbs a parent domain is another domain
        domain = pd if kind == 1 else self.loose_domain(pd)
        self.call("ibv_alloc_mw", mw.name, pd=domain.name, type=kind)
        return self.keep(mw, pd)

    def destroy_thing(self, thing):
        """If a window holds its queue pair, it must go first."""
        if thing.kind == "qp" and self.device.differs("bind_again"):
            for mw in list(self.things["mw"]):
                if self.bound.get(mw) is thing:
                    super().destroy_thing(mw)
        super().destroy_thing(thing)

    def refused_mw(self):
        pd = self.any("pd")
        self.call_wrong("ibv_alloc_mw", self.name("mw"), {"pd": pd.name})

    def replan(self):
        """Nothing is planned but what was executed."""
        for mw in self.planned:
            mw.plan = (mw.binding, mw.flip)
        self.planned.clear()
        self.used.clear()

    def settle(self):
        super().settle()
        for mw, number in self.model.unbound.items():
            # ibv_bind_mw(3): fix the mw structure
            self.line("fix_mw", mw.name, (f"back={number}",), 0)
        self.model.unbound.clear()

    def plan(self, request, window, binding, flip):
        """A request binds a window, or unbinds it."""
        request.window, request.binding, request.flip = window, binding, flip
        window.plan = (binding, flip)
        self.planned.add(window)
        if binding and window.type == 2:
            self.bound[window] = binding.qp

    def free_window(self, pd, kind):
        """A window that can be bound"""
        again = kind == 1 or not self.device.differs("bind_again")
        found = [mw for mw in self.things["mw"]
                 if mw.pd is pd and mw.type == kind and
                 (kind == 1 or not mw.plan[0]) and
                 (again or mw not in self.bound)]
        if found and (len(self.things["mw"]) > MAX_WINDOWS or
                      self.chance(0.8)):
            return self.random.choice(found)
        return self.make_mw(pd, kind)

    def binding(self, pd, qp, verb):
        """Bytes of a region that a window can show, or None

        verb: that is told of them
        """
        found = [mr for mr in self.things["mr"]
                 if mr.pd is pd and not mr.null and mr.has("MW_BIND") and
                 not mr.has("ZERO_BASED")]
        if not found:
            return None
        mr = self.random.choice(found)
        access = sum(verbs.ACCESS[right] for right in RIGHTS
                     if self.chance(0.7) and
                     (right == "REMOTE_READ" or mr.has("LOCAL_WRITE")))
        offset = self.random.choice((0, self.random.randrange(mr.len)))
        if self.chance(0.3) and self.device.has("IBV_ACCESS_ZERO_BASED"):
            access |= verbs.ACCESS["ZERO_BASED"]
            # What is aligned in the window is so in memory, for atomics
            offset = max((mr.at + offset & ~7) - mr.at, 0)
            if mr.at + offset & 7:
                access &= ~verbs.ACCESS["ZERO_BASED"]
        length = self.draw(verb, "bind length",
                           **{"rest of the region": mr.len - offset})
        self.drawn_flags(verb, "mw_access_flags", access)
        if not length:
            return None
        return Binding(mr, mr.at + offset, length, access, qp)

    def plan_bind(self, qp, request, batch):
        """Make it a request to bind. Return whether that can be."""
        kind = 1 if batch == BIND else 2
        window = self.free_window(qp.pd, kind)
        binding = None
        verb = "ibv_bind_mw" if kind == 1 else batch and request.op.builder \
            or "ibv_post_send"
        if kind == 2 or self.chance(0.8) or \
                self.device.differs("unbind"):
            binding = self.binding(qp.pd, qp, verb)
            if not binding and (kind == 2 or self.device.differs("unbind")):
                return False
        flip = self.draw(verb, "new rkey") if kind == 2 else 0
        self.plan(request, window, binding, flip)
        return True

    def plan_local_inv(self, qp, request):
        """Make it a request to invalidate a window of this end."""
        found = [mw for mw in self.things["mw"]
                 if mw.pd is qp.pd and mw.type == 2 and
                 (not mw.plan[0] or mw.plan[0].qp is qp)]
        bound = [mw for mw in found if mw.plan[0]]
        if self.device.differs("invalidate_unbound"):
            if not bound:
                return False
            found = bound
        elif bound and self.chance(0.8):
            found = bound
        window = self.random.choice(found) if found else \
            self.make_mw(qp.pd, 2)
        self.plan(request, window, None, window.plan[1])
        return True

    def plan_send_inv(self, qp, request):
        """Make it a request to invalidate a window of the other end."""
        if qp.type == verbs.XRC_SEND:
            return True  # that has none: see doom()
        found = [mw for mw in self.things["mw"]
                 if mw.type == 2 and mw.plan[0] and
                 mw.plan[0].qp is qp.peer and mw not in self.used]
        if not found:
            return False
        window = self.random.choice(found)
        self.plan(request, window, None, window.plan[1])
        return True

    def doom(self, qp, request, fields, verb):
        """Through XRC no window can be invalidated. Return whether it fails."""
        key = self.not_invalidable(qp.peer, True)
        if not key:
            return False
        fields["inv"] = key
        self.reach("rule", verb, "invalidate_remote")
        request.wrong = verbs.rule(verbs.EXECUTION, "invalidate_remote")
        return True

    def plan_window(self, qp, request, batch):
        """The part of a request that is about a window, if it has one"""
        op = request.op
        if op.data == "bind":
            return self.plan_bind(qp, request, batch)
        if op.data == "none":
            return self.plan_local_inv(qp, request)
        return not op.with_inv or self.plan_send_inv(qp, request)

    @staticmethod
    def bind_fields(binding):
        if not binding:
            return {"len": 0}
        return {"mr": binding.mr.name, "len": binding.len,
                "addr": binding.mr.address(binding.at),
                "access": binding.access}

    def window_fields(self, request):
        window = request.window
        if request.op.data != "bind":
            return {"inv": f"{window.name}~{request.flip}"}
        fields = {"mw": window.name, **self.bind_fields(request.binding)}
        if window.type == 2:
            fields["newkey"] = f"{window.name}~{request.flip}"
        return fields

    def region(self, **where):
        """A region of some kind to bind to, as fields of a request, or None"""
        pd, has, has_not = (where.get(key) for key in ("pd", "has", "has_not"))
        found = [mr for mr in self.things["mr"]
                 if mr.null == where.get("null", False) and
                 mr.node == pd.node and
                 (mr.pd is pd) != where.get("other_pd", False) and
                 (not has or mr.has(has)) and
                 not (has_not and mr.has(has_not))]
        if not found:
            return None
        mr = self.random.choice(found)
        return {"mr": mr.name, "addr": mr.address(mr.at), "access": 0,
                "len": 1 if mr.null else mr.len}

    def refuse_bind(self, rule, fields, request, verb):
        """Break a rule of verbs.BINDING. Return whether it can be."""
        pd, kind = request.window.pd, request.window.type
        change = None
        if rule == "bind_pd":
            change = self.region(pd=pd, other_pd=True)
        elif rule == "bind_null":
            change = self.region(pd=pd, null=True)
        elif rule == "bind_region":
            change = self.region(pd=pd, has_not="MW_BIND")
        elif rule == "bind_zero_based":
            change = self.region(pd=pd, has="ZERO_BASED")
        elif rule == "bind_local_write":
            change = self.region(pd=pd, has="MW_BIND", has_not="LOCAL_WRITE")
            if change:
                change["access"] = verbs.ACCESS[self.random.choice(
                    ("REMOTE_WRITE", "REMOTE_ATOMIC"))]
        elif rule == "bind_access":
            change = {"access": self.wrong(verb, "mw_access_flags", rule)}
        elif rule == "bind_type":
            other = self.any("mw", pd=pd, type=3 - kind)
            change = other and {"mw": other.name, "newkey": other.key()}
        elif rule == "bind_length":
            change = {"len": self.wrong(verb, "bind length", rule)}
        elif rule == "bind_key":
            bits = self.wrong(verb, "new rkey", rule)
            change = {"newkey": f"{request.window.name}~{bits}"}
        elif rule == "bind_flags":
            change = {"flags": fields["flags"] | self.wrong(
                verb, "send_flags", rule)}
        if not change:
            return False
        fields.update(change)
        return True

    def key_elsewhere(self, qp):
        """The key of a window that is bound through another queue pair"""
        found = [mw.key() for mw in self.things["mw"]
                 if mw.pd is qp.pd and mw.type == 2 and mw.binding and
                 mw.binding.qp is not qp and mw not in self.planned]
        return self.random.choice(found) if found else None

    def not_invalidable(self, qp, remote):
        """A key that cannot be invalidated through a queue pair"""
        mr = self.any("mr", pd=qp.pd, null=False)
        keys = [mr.key(), mr.key(UNKNOWN_INDEX)] if mr else []
        for mw in self.things["mw"]:
            if mw.node != qp.node or mw in self.planned:
                continue
            if mw.pd is not qp.pd or mw.type == 1 or \
                    (remote and not mw.binding):
                keys.append(mw.key())
            else:
                keys.append(mw.key(OTHER_KEY))
        return self.random.choice(keys) if keys else None

    def break_window(self, rule, qp, request, fields):
        """Break a rule of verbs.EXECUTION. Return whether it can be."""
        op = request.op
        if op.data == "bind":
            return self.break_bind(rule, qp, request, fields)
        key = None
        if rule == "invalidate" and op.data == "none":
            key = self.not_invalidable(qp, False)
        elif rule == "invalidate_qp" and op.data == "none":
            key = self.key_elsewhere(qp)
        elif rule == "invalidate_remote" and op.with_inv:
            key = self.chance(0.5) and self.key_elsewhere(qp.peer) or \
                self.not_invalidable(qp.peer, True)
        if key:
            fields["inv"] = key
        return bool(key)

    def break_bind(self, rule, qp, request, fields):
        binding, kind = request.binding, request.window.type
        if rule == "window_bounds" and binding:
            fields["len"] = binding.mr.len + binding.mr.at - binding.at + 1
            return True
        if rule == "window_bound" and kind == 2:
            found = [mw for mw in self.things["mw"] if mw.pd is qp.pd and
                     mw.type == 2 and mw.binding and mw not in self.planned]
            change = {}
        elif rule == "window_pd":
            change = self.region(pd=qp.pd, other_pd=True, has="MW_BIND",
                                 has_not="ZERO_BASED")
            mr = change and next(mr for mr in self.things["mr"]
                                 if mr.name == change["mr"])
            found = [mw for mw in self.things["mw"] if mr and
                     mw.pd is mr.pd and mw.type == kind]
        else:
            return False
        if not found:
            return False
        request.window = self.random.choice(found)
        fields.update(change, mw=request.window.name)
        if kind == 2:
            fields["newkey"] = request.window.key()
        return True
