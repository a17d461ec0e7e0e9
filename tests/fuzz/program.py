# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A program as it is written: its lines, objects and places in memory."""

import collections
import random

import lines
import verbs
from differences import Differences
from model import AREA, SINK, SOURCE, TARGET, WC_INFORMED, WC_TAGGED
from model import WC_WITH_IMM, WC_WITH_INV, Model
from values import Values

# Readers of what only completions with a flag have
READERS_OF = {
    WC_WITH_IMM: ("ibv_wc_read_imm_data",),
    WC_WITH_INV: ("ibv_wc_read_invalidated_rkey",),
    WC_TAGGED: ("ibv_wc_read_flow_tag", "ibv_wc_read_cvlan"),
    WC_INFORMED: ("ibv_wc_read_tm_info",),
}
# Readers of times, by flags of enum ibv_create_cq_wc_flags
TIME_READERS = {
    1 << 7: "ibv_wc_read_completion_ts",
    1 << 11: "ibv_wc_read_completion_wallclock_ns",
}
# What functions of the generator need, as far as devices may not have it
NEEDS = {
    "copy_dm": ("ibv_alloc_dm",),
    "disturb": ("GID_CHANGE", "PORT_ERR"),
    "ethernet": ("ibv_create_flow",),
    "get_srq_num": ("ibv_get_srq_num",),
    "limit_rate": ("ibv_modify_qp_rate_limit",),
    "make_null_mr": ("ibv_alloc_null_mr",),
    "make_parent": ("ibv_alloc_parent_domain",),
    "make_special": ("ibv_reg_dmabuf_mr", "ibv_rereg_mr"),
    "make_td": ("ibv_alloc_td",),
    "modify_cq": ("ibv_modify_cq",),
    "multicast": ("ibv_attach_mcast",),
    "open_qp": ("ibv_open_qp",),
    "refused_xrcd": ("ibv_open_xrcd",),
    "rereg_mr": ("ibv_rereg_mr",),
    "set_ece": ("ibv_set_ece",),
    "share": ("ibv_import_pd",),
    "tag_matching": ("ibv_post_srq_ops",),
    "use_dm": ("ibv_alloc_dm",),
}
# Counters of a port that tell of each message that is dropped
DROPS = ("rx_drop_key", "rx_drop_wqe", "rx_drop_header")
GUARD = 64
MANY = 64  # completions in one batch


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


class Program(Values):
    """The lines of a program, and what is known of it.

    seed: the same seed, number of calls and steps make the same program
    out: file to write to
    number: of the program, among those that run at the same time
    device: what it does otherwise than described
    before: what programs before it have reached: what is rare is chosen more
        often
    lossy: whether the wire loses packets
    alone: whether no other program runs at the same time
    """

    def __init__(self, seed, out, number=0, device=None, before=None, *,
                 lossy=False, alone=True):
        self.seed = seed
        self.device = device or Differences()
        self.number = number
        self.random = random.Random(seed)
        self.out = out
        self.lossy = lossy
        self.alone = alone
        self.model = Model(lossy)
        if self.device.differs("immediate_sent"):
            self.model.sender_flags = WC_WITH_IMM
        if self.device.differs("datagram_sl"):
            self.model.datagram_sl = 0
        self.model.errors_wake = not self.device.differs("error_unsolicited")
        self.numbers = collections.Counter()
        self.things = collections.defaultdict(list)
        self.written = 0
        self.reached = collections.Counter()
        self.before = before or collections.Counter()
        self.last_verb = None
        self.wr_id = 0
        self.thread = None  # that the lines are for, if there are several
        self.thread_of = {}  # the thread of a request, by its wr_id
        self.areas = [{start: Area(start) for start in
                       (SOURCE, SINK, TARGET)} for _ in range(2)]

    # Lines

    def call(self, name, target, *words, broken=None, error=None, bad=None,
             wrong=(0,), **args):
        """Write a call of a verb; arguments that are None are left out.

        broken: the rule of the verb that it breaks
        error: as broken, but the verb does not tell
        bad: which of its requests does, if it tells
        wrong: those that break a rule, in a critical section
        """
        verb = verbs.NAMED[name]
        if broken and not (self.device.has(name) and
                           self.device.keeps(name, broken)):
            return
        if lines.call(verb) == "wr_batch":
            self.section(name, words, broken or error, wrong)
        self.count_values(verb, args, broken)
        words += tuple(f"{key}={value}" for key, value in args.items()
                       if value is not None)
        expect = 0
        if broken:
            otherwise = verb.rule(broken).otherwise
            expect = getattr(otherwise, "errno", None) or otherwise.code
            self.reach("rule", name, broken)
        if bad is not None:
            expect = f"{expect}@{bad}"
        if broken or error:
            words += (f"rule={broken or error}",)
        self.line(lines.call(verb), target, words, expect)
        self.count_verb(name)

    def call_wrong(self, verb, target, args, *words, rules=None, bad=None,
                   **limits):
        """Make a call in which one value breaks a rule: the rarest of those
        that values can break.

        args: those of a call that is right, as the runner calls them
        rules: names of those that can be broken now; None for all
        """
        values = {}
        for argument in verbs.NAMED[verb].arguments:
            for rule in argument.wrong:
                if rules is None or rule in rules:
                    values.setdefault(rule, []).append(argument)
        rule = self.rarest(verb, list(values))
        argument = self.random.choice(values[rule])
        value = self.wrong(verb, argument.name, rule, **limits)
        self.call(verb, target, *words, broken=rule, bad=bad,
                  **{**args, lines.word(argument, verb): value})

    def count_values(self, verb, args, broken):
        """Count the values of a call, or the one that is wrong."""
        values = {argument.name: args.get(lines.word(argument, verb.name))
                  for argument in verb.arguments}
        if broken:
            self.reach_wrong(verb.name, broken, **values)
        else:
            self.drawn(verb.name, **values)

    def count_verb(self, name):
        """Count a verb, and the pair with the one before."""
        self.reach("verb", name)
        if self.last_verb:
            self.reach("pair", self.last_verb, name)
        self.last_verb = name

    def section(self, end, words, broken, wrong):
        """Count what a critical section has: see verbs.SECTION."""
        steps = {(step.state, step.call): step.to for step in verbs.SECTION}
        state = "idle"
        calls = [("ibv_wr_start", "ibv_wr_start")]
        for number, word in enumerate(words):
            builder, setters = lines.built(word)
            parts = [(builder, "builder")] + \
                [(setter, "setter") for setter in setters]
            if broken and number in wrong:
                at = next((at for at, (name, _) in enumerate(parts)
                           if verbs.NAMED[name].has_rule(broken)), 0)
                parts[at] = (parts[at][0], "error")
                self.broke(end, word, broken)
            calls += parts
        for name, call in calls:
            self.count_verb(name)
            self.reach("section", state, call)
            state = steps[state, call]
        self.reach("section", state, end)

    def broke(self, verb, word, rule):
        """Count a rule that a request of a critical section breaks: of its
        builder, and of its setters.
        """
        if verb in ("ibv_wr_complete", "ibv_wr_abort"):
            builder, setters = lines.built(word)
            for name in (builder, *setters):
                if verbs.NAMED[name].has_rule(rule):
                    self.reach("rule", name, rule)

    def reach(self, *what):
        """Count what the program has of the descriptions; see coverage.py."""
        self.reached[what] += 1

    def count(self, *what):
        """How often it was reached, in the programs before, too"""
        return self.before[what] + self.reached[what]

    def line(self, verb, target, words, expect):
        if self.thread:
            verb = f"@{self.thread} {verb}"
        print(verb, target, *words, "=>", expect, file=self.out)
        self.written += 1

    def name(self, kind):
        self.numbers[kind] += 1
        return f"{kind}{self.numbers[kind] - 1}"

    def group(self, number):
        """A group that no other program has"""
        return 256 * self.number + number

    def loses(self, qp):
        """Whether messages of a queue pair may be lost"""
        return self.lossy and qp.type not in verbs.RELIABLE

    def some_node(self, node=None):
        """The device that is given, or any"""
        return self.random.randrange(2) if node is None else node

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, *steps):
        """One of some functions, of which the device has what they need"""
        steps = [step for step in steps if all(
            self.device.has(verb) for verb in NEEDS.get(step.__name__, ()))]
        return self.random.choice(steps) if steps else self.nothing_to_do

    def nothing_to_do(self, *_):
        """The step that is taken if the device can do none of the others"""

    def rights(self, access):
        """Rights without those that the device does not have"""
        return access & ~sum(bit for name, bit in verbs.ACCESS.items()
                             if not self.device.has("IBV_ACCESS_" + name))

    def operations(self, qp_type):
        """The operations that queue pairs of a type have"""
        return [op for op in verbs.OPERATIONS if qp_type in op.on and
                self.device.has(f"{qp_type}/{op.name}")]

    def rarest(self, verb, rules):
        """One of these rules that was broken the fewest times"""
        self.random.shuffle(rules)
        return min(rules, key=lambda rule: self.count("rule", verb, rule))

    def any(self, kind, **where):
        found = [thing for thing in self.things[kind] if all(
            getattr(thing, key) == value for key, value in where.items())]
        return self.random.choice(found) if found else None

    def settle(self):
        """Find all completions and events; compare what was written."""
        self.take_completions()
        # The requests that were executed are known only now
        if self.model.expecting:
            self.stop_expecting()
            self.take_completions()
        for node, at, length in self.model.unknown:
            seed = self.random.randrange(1024)
            self.refill(node, at, length, seed)
        self.model.unknown.clear()
        for node in range(2):
            self.compare(node)
        self.model.touched.clear()
        self.model.late = False
        if self.counts_drops() and self.chance(0.05):
            for node in range(2):
                self.compare_drops(node)
        for node in range(2):
            for area in self.areas[node].values():
                area.reset()

    def counts_drops(self):
        """Whether it is known how often a port drops something"""
        return self.alone and not self.lossy and \
            all(self.device.has(name) for name in DROPS)

    def begin_drops(self, node):
        """What a port drops is counted from now on."""
        if self.counts_drops():
            self.line("drops", node, (), 0)
            self.model.counted[node].clear()

    def compare_drops(self, node, **args):
        """What a port has dropped since the program began"""
        args.update((name, self.model.counted[node][name]) for name in DROPS)
        self.line("drops", node, (
            f"{name}={number}" for name, number in args.items()), 0)

    def take_completions(self):
        """Find all completions and events."""
        early = self.chance(0.5)
        if early:
            self.take_events()
        for cq, completions in self.model.completions.items():
            self.poll_expected(cq, completions)
        self.model.completions.clear()
        if not early:
            self.take_events()

    def stop_expecting(self):
        """A queue pair in the error state executes no packet that comes late.
        Only then is its memory written anew.
        """
        expecting, self.model.expecting = self.model.expecting, []
        for qp in expecting:
            if qp.state not in ("RESET", "ERR"):
                self.modify(qp, "ERR")

    def poll_expected(self, cq, completions):
        """Take completions that the model says, by several threads perhaps"""
        words = []
        for completion in completions:
            self.reach("status", completion.status)
            words.append(completion.text(
                self.thread_of.get(completion.wr_id)))
        threads = None
        if len(words) > 1 and self.locked(cq) and self.chance(0.1):
            threads = self.random.randint(2, 4)
            self.reach("together", "poll")
        if self.poll(cq, *words, threads=threads):
            for completion in completions:
                for reader in self.readers(cq, completion):
                    self.reach("reader", reader)

    @staticmethod
    def readers(cq, completion):
        """Readers of completions that have something to tell of this one"""
        yield from ("ibv_wc_read_qp_num", "ibv_wc_read_vendor_err")
        for flag, name in TIME_READERS.items():
            if cq.times & flag:
                yield name
        if completion.status not in ("SUCCESS", "TM_RNDV_INCOMPLETE"):
            return
        yield from ("ibv_wc_read_opcode", "ibv_wc_read_wc_flags")
        if completion.length >= 0:
            yield "ibv_wc_read_byte_len"
        if completion.sender:
            yield from ("ibv_wc_read_src_qp", "ibv_wc_read_slid",
                        "ibv_wc_read_dlid_path_bits")
        if completion.sl is not None:
            yield "ibv_wc_read_sl"
        for flag, names in READERS_OF.items():
            if completion.flags & flag:
                yield from names

    @staticmethod
    def locked(thing):
        """Whether several threads may use an object: not in a thread domain"""
        return not any(other.kind == "td" for use in thing.uses
                       if use.kind == "parent" for other in use.uses)

    def poll(self, cq, *words, **args):
        """Take completions, in one of the ways that there are. Return whether
        they were read field by field.
        """
        most = self.random.choice((1, 3, MANY))
        extended = cq.ex and self.chance(0.8) and not (
            args.get("threads") and self.device.differs("poll_unlocks"))
        verb = "ibv_poll_cq"
        if extended:
            verb = "ibv_start_poll" if most == 1 else "ibv_next_poll"
        self.call(verb, cq.name, *words, ex=int(extended), most=most, **args)
        if extended:
            self.reach("verb", "ibv_start_poll")
            self.reach("verb", "ibv_end_poll")
            # The runner polls once more than there are completions
            self.reach("rule", "ibv_start_poll", "not_empty")
            if most == MANY:
                self.reach("rule", "ibv_next_poll", "not_empty")
        return extended

    def refill(self, node, at, length, seed):
        while length:
            part = min(length, 32768)
            self.line("fill", node, (f"at={at}", f"len={part}",
                                     f"seed={seed}"), 0)
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
                self.line("compare", node,
                          (f"at={low_at}", f"len={length}",
                           *["late=1"] * self.model.late),
                          hex(self.model.crc(node, low_at, length)))
            start, end = low, high

