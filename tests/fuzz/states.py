# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The states of queue pairs."""

import lines
import verbs
from events import Events

# Long enough: no answer takes as long as seven times that. A packet that the wire
# loses is sent again after that time once.
TIMEOUT, LOSSY_TIMEOUT = 18, 16
MOST_RD_ATOMIC = 8
# What can be anything while nothing is sent
BRIEF = ("TIMEOUT", "RETRY_CNT", "RNR_RETRY", "MIN_RNR_TIMER")
# What is not drawn
FIXED = ("EN_SQD_ASYNC_NOTIFY", "ACCESS_FLAGS", "PKEY_INDEX", "PORT")
# What ibv_query_qp() tells, of what was set: not what its page calls irrelevant,
# nor RATE_LIMIT, which it does not have
TOLD = tuple(attr.mask for attr in verbs.ATTRS if attr.mask not in (
    "STATE", "CUR_STATE", "EN_SQD_ASYNC_NOTIFY", "RATE_LIMIT",
    "PATH_MIG_STATE"))
ALL_RIGHTS = verbs.access("REMOTE_WRITE", "REMOTE_READ", "REMOTE_ATOMIC",
                          "FLUSH_GLOBAL", "FLUSH_PERSISTENT")
UP = ("RESET", "INIT", "RTR", "RTS")


class States(Events):
    """Takes queue pairs from state to state, also in wrong ways."""

    def modify(self, qp, state, broken=None, without=None, more=(), **change):
        """Change the state, with all attributes that are needed.

        without: one that is left out
        more: names of others
        change: values that are to be others
        """
        if state == "RESET":
            self.settle_before_reset(qp)
        names = ["STATE"]
        required = verbs.transition(qp.type, qp.state, state)
        names += [name for name in required or () if name != without]
        names += more
        if not broken:
            names += self.some_optional(qp, state, names)
        values = self.attributes(qp)
        if qp.state == state == "SQD":
            # Nothing is sent with these
            values.update({
                lines.word(verbs.ATTR[name]):
                self.draw_attr(name, **{"long enough": self.timeout()})
                for name in BRIEF if name in names})
        if "RATE_LIMIT" in names:
            values["rate"] = self.draw_attr(
                "RATE_LIMIT", qp_rate_limit_max="qp_rate_limit_max")
        if "AV" in names and qp.peer:
            values.update(self.draw_path())
        values.update(change)
        words = [word for name in names if name in verbs.ATTR
                 for word in self.words_of(name)]
        self.call("ibv_modify_qp", qp.name, broken=broken,
                  state=verbs.STATES.index(state),
                  mask=sum(verbs.ATTRIBUTES[name] for name in names),
                  **{word: values[word] for word in words if word in values})
        if broken:
            return
        self.drawn("ibv_modify_qp", **{
            attr.name: values.get(lines.word(attr)) for attr in verbs.ATTRS
            if attr.mask in names and attr.mask in FIXED})
        qp.told.update((word, values[word]) for name in names if name in TOLD
                       for word in self.words_of(name))
        self.reach_attributes(qp, state, names)
        if state == "RESET":
            self.model.reset(qp)
        elif state == "ERR":
            self.model.stop(qp)
        else:
            qp.state = state
        if state == "RTR" and not qp.ece_set:
            qp.ece = 0
        if state == "RTS":
            self.model.resume(qp)
        if "EN_SQD_ASYNC_NOTIFY" in names:
            # If it went on before, there might be none
            self.model.events.append((qp, "SQ_DRAINED"))
            self.take_events()
            if self.chance(0.4):
                self.drain_again(qp)

    def drain_again(self, qp):
        """To SQD again. The event has to be asked for each time."""
        self.modify(qp, "RTS")
        self.modify(qp, "SQD")
        self.take_async(qp.node, [])

    def some_optional(self, qp, state, names):
        """Some of the attributes that a transition may have"""
        optional = [name for name in verbs.optional(qp.type, qp.state, state)
                    if name not in names and self.has_attribute(name) and
                    (qp.peer or name not in ("AV",))]
        some = [name for name in optional if self.chance(
            0.4 if self.count("optional", qp.type, qp.state, state, name)
            else 0.8)]
        if (qp.state, state) == ("RTS", "SQD") and \
                qp.type in verbs.SENDING and self.chance(0.5):
            some.append("EN_SQD_ASYNC_NOTIFY")
        return some

    def has_attribute(self, name):
        """Whether the device has an attribute"""
        return name != "RATE_LIMIT" or \
            self.device.has("ibv_modify_qp_rate_limit")

    def reach_attributes(self, qp, state, names):
        self.reach("transition", qp.type, qp.state, state)
        for name in names:
            if name in verbs.optional(qp.type, qp.state, state):
                self.reach("optional", qp.type, qp.state, state, name)

    def draw_attr(self, name, **limits):
        return self.draw("ibv_modify_qp", verbs.ATTR[name].name, **limits)

    def draw_path(self):
        """What an address has, beside the other end"""
        return {lines.word(part): self.draw("ibv_modify_qp", part.name)
                for part in verbs.PATH}

    @staticmethod
    def words_of(name):
        """What the runner calls an attribute, which may have several parts"""
        parts = (verbs.ATTR[name], *(verbs.PATH if name == "AV" else ()))
        return [lines.word(part) for part in parts]

    def timeout(self):
        return LOSSY_TIMEOUT if self.lossy else TIMEOUT

    def attributes(self, qp):
        """All attributes by what the runner calls them"""
        values = {"access": 2 if qp.type in (verbs.UC, verbs.UD) else
                  ALL_RIGHTS, "qkey": qp.qkey, "mtu": qp.mtu,
                  "min_rnr": qp.min_rnr, "sq_psn": qp.psn, "timeout": self.timeout(),
                  "retry": 7, "rnr": qp.rnr, "rd": qp.rd, "notify": 1,
                  "pkey": 0, "port": 1, "dest_rd": 8}
        if qp.peer:
            values.update(to=qp.peer.node, dest=qp.peer.name,
                          rq_psn=qp.peer.psn, dest_rd=qp.dest_rd)
        return values

    def states(self):
        """Those that the device has"""
        return [state for state in verbs.STATES if self.device.has(state)]

    def wrong_transition(self, qp):
        """Each rule of ibv_modify_qp() is broken."""
        state = self.random.choice(self.states())
        required = verbs.transition(qp.type, qp.state, state)
        if required is None:
            self.modify(qp, state, "transition")
        else:
            self.wrong_attribute(qp, state, required)
        self.query(qp)

    def wrong_attribute(self, qp, state, required):
        """An attribute too few, too many, or of a wrong value"""
        broken = self.rarest("ibv_modify_qp", [
            "required", "refused", "value", "cur_state", "migration"]) \
            if self.chance(0.2) else self.random.choice((
                "required", "refused", "value", "value", "cur_state"))
        values = [name for name in (
            *required, *verbs.optional(qp.type, qp.state, state))
                  if self.has_attribute(name) and name in verbs.ATTR and
                  "value" in verbs.ATTR[name].wrong and
                  self.device.refuses("ibv_modify_qp", verbs.ATTR[name].name)]
        if broken == "required" and required:
            self.modify(qp, state, broken, self.random.choice(required))
        elif broken == "refused":
            refused = [name for name in verbs.REFUSED[state]
                       if self.has_attribute(name) and
                       name not in verbs.LEFT_OUT.get(qp.type, ())]
            self.modify(qp, state, broken, more=(self.random.choice(refused),))
        elif broken == "value" and values:
            self.random.shuffle(values)
            self.wrong_value(qp, state, min(values, key=self.times_wrong),
                             required)
        elif broken == "migration":
            self.wrong("ibv_modify_qp", "path_mig_state", broken)
            self.modify(qp, state, broken, more=("PATH_MIG_STATE",))
        elif broken == "cur_state" and \
                (qp.state, state) in verbs.WITH_CUR_STATE:
            others = [other for other in range(len(verbs.STATES))
                      if verbs.STATES[other] != qp.state]
            self.modify(qp, state, broken, more=("CUR_STATE",),
                        cur=self.random.choice(others))

    def times_wrong(self, name):
        """How often the value of an attribute was wrong that was the rarest"""
        attr = verbs.ATTR[name]
        return min(self.count("wrong", "ibv_modify_qp", attr.name, str(value))
                   for value in attr.wrong["value"])

    def wrong_value(self, qp, state, name, required):
        attr = verbs.ATTR[name]
        value = self.wrong("ibv_modify_qp", attr.name, "value")
        self.modify(qp, state, "value",
                    more=() if name in required else (name,),
                    **{lines.word(attr): value})

    def query(self, qp):
        told = dict(qp.told)
        if "dest" in told and qp.peer:
            told["dest"] = qp.peer.name  # it may have another one now
        elif "dest" in told:
            del told["dest"]
        if self.device.differs("rd_atomic_rounded"):
            told.pop("rd", None)
            told.pop("dest_rd", None)
        if self.device.differs("path_sl"):
            told.pop("sl", None)
        for word in told:
            self.reach("told", word)
        self.call("ibv_query_qp", qp.name,
                  state=verbs.STATES.index(qp.state), **told)
        self.reach("queried", qp.state)

    def data_in_order(self, qp):
        """Whether data is written in order, which it need not be"""
        verb = "ibv_query_qp_data_in_order"
        for _ in range(3):
            self.call(verb, qp.name, op=self.draw(verb, "op"),
                      flags=self.draw(verb, "flags"))

    def adjust(self, qp):
        """Change an attribute, not the state"""
        if qp.state != "RTS":
            return
        more = self.random.choice(((), ("CUR_STATE",)))
        cur = verbs.STATES.index("RTS")
        if qp.type == verbs.UD:
            qp.qkey = self.draw_attr("QKEY")
            self.modify(qp, "RTS", more=("QKEY", *more), cur=cur,
                        qkey=qp.qkey)
        elif qp.type == verbs.RC:
            qp.min_rnr = self.draw_attr("MIN_RNR_TIMER")
            self.modify(qp, "RTS", more=("MIN_RNR_TIMER", *more), cur=cur)
        else:
            self.modify(qp, "RTS", more=more, cur=cur)
        self.query(qp)

    def step(self, qp, state):
        if self.chance(0.1):
            self.wrong_transition(qp)
        if self.chance(0.1):
            self.post_early(qp)
        self.modify(qp, state)

    def raise_qp(self, qp, last="RTS"):
        """Up to a state, by way of RESET if it is not on the way there"""
        if qp.state not in UP:
            self.step(qp, "RESET")
        for state in UP[UP.index(qp.state) + 1:UP.index(last) + 1]:
            self.step(qp, state)

    def connect(self, qp_type, node=None, **first):
        """Two queue pairs that reach each other. Return the first."""
        node = self.some_node(node)
        pair = (self.make_qp(qp_type, node, **first),
                self.make_xrc_recv(1 - node) if qp_type == verbs.XRC_SEND
                else self.make_qp(qp_type, 1 - node))
        mtu = self.draw_attr("PATH_MTU")
        for qp, peer in (pair, pair[::-1]):
            qp.peer, qp.mtu = peer, mtu
            qp.rnr = 7 if self.chance(0.4) else self.draw_attr("RNR_RETRY")
            qp.min_rnr = self.draw_attr("MIN_RNR_TIMER")
            qp.psn = self.draw_attr("SQ_PSN")
            qp.rd = self.draw_attr("MAX_QP_RD_ATOMIC",
                                   max_qp_init_rd_atom=MOST_RD_ATOMIC) \
                if self.chance(0.5) else MOST_RD_ATOMIC
            peer.dest_rd = self.draw_attr("MAX_DEST_RD_ATOMIC", **{
                "those of the other end": qp.rd,
                "max_qp_rd_atom": MOST_RD_ATOMIC})
        self.bring_up(pair)
        if qp_type == verbs.UD:
            for qp in pair:
                self.make_ah(qp)
        return pair[0]

    def bring_up(self, pair):
        """Both in RTR before one is in RTS, which may send at once"""
        if self.lossy:
            self.renumber(pair)
        for qp in pair:
            self.raise_qp(qp, "RTR")
        self.raise_qp(pair[0])
        if pair[0].type in verbs.CONNECTED and self.chance(0.3) and \
                not self.loses(pair[0]):
            self.greet(*pair)
        self.raise_qp(pair[1])

    def renumber(self, pair):
        """Packets that come late must not be of the new connection."""
        for qp in pair:
            qp.psn = self.random.getrandbits(24)
            if qp.type == verbs.UD:
                qp.qkey = self.random.getrandbits(31)

    def greet(self, qp, peer):
        """The first request comes while the other end is still in RTR"""
        self.post_last(qp)
        self.model.events.append((peer, "COMM_EST"))
        self.settle()

    def recover(self, qp):
        """After an error: from the start, or from SQE back to RTS"""
        if qp.state == "SQE":
            self.modify(qp, "RTS")
            return
        pair = (qp, qp.peer)
        if self.device.differs("error_late") and \
                "ERR" in (qp.state, qp.peer.state):
            for end in pair:
                self.destroy_thing(end)
            return
        for end in pair:
            self.modify(end, "RESET")
        self.bring_up(pair)

    def seldom(self, qp, states):
        """The state that was entered from this one the fewest times"""
        self.random.shuffle(states)
        return min(states, key=lambda state: self.count(
            "transition", qp.type, qp.state, state))

    def rarity(self, qp, old, new):
        """How often a transition was made, or was made with an attribute that it
        may have, which is the rarest of all these
        """
        return min(self.count("transition", qp.type, old, new), *(
            self.count("optional", qp.type, old, new, name)
            for name in verbs.optional(qp.type, old, new)
            if self.has_attribute(name)), 1 << 30)

    def rarest_transition(self, qp):
        """One of all that a queue pair can make on request"""
        states = [state for state in self.states()
                  if state in verbs.STATES_OF[qp.type] and state != "SQE"]
        pairs = [(old, new) for old in states for new in states
                 if verbs.transition(qp.type, old, new) is not None]
        self.random.shuffle(pairs)
        return min(pairs, key=lambda pair: self.rarity(qp, *pair))

    def way_to(self, qp, goal):
        """The next state on the way to another one"""
        if goal == "RESET" or goal == "ERR" and qp.state != "RESET":
            return goal
        if goal == "ERR":
            return "INIT"
        way = (*UP, "SQD")
        if qp.state not in way or way.index(qp.state) > way.index(goal):
            return "RESET"
        return way[way.index(qp.state) + 1]

    def wander(self, qp):
        """From state to state as the rules permit, and then both back up"""
        if qp.state != "SQE" and self.chance(0.5):
            self.modify(qp, "RESET")
        goal = self.rarest_transition(qp) if self.chance(0.3) else None
        for _ in range(self.random.randint(2, 8)):
            states = [state for state in self.states() if verbs.transition(
                qp.type, qp.state, state) is not None]
            onward = [state for state in states
                      if state not in ("RESET", "ERR")]
            if goal:
                state = goal[1] if qp.state == goal[0] else \
                    self.way_to(qp, goal[0])
                goal = goal if qp.state != goal[0] else None
            elif onward and self.chance(0.4):
                state = self.random.choice(onward)
            else:
                state = self.seldom(qp, states)
            if self.chance(0.3):
                self.wrong_transition(qp)
            if self.chance(0.2):
                self.pick(self.set_ece, self.limit_rate)(qp)
            if qp.state != "RTS" and self.chance(0.5):
                self.post_here(qp)
            if qp.state == "INIT" and self.chance(0.3):
                self.overflow(qp)
            if qp.deferred and state == "RTS":
                state = self.random.choice(("ERR", "RESET"))
            self.modify(qp, state)
            self.settle()
        for end in (qp, qp.peer):
            self.modify(end, "RESET")
        self.bring_up((qp, qp.peer))
