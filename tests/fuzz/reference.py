# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The reference that is made from the descriptions, in reStructuredText.

Documentation/described.py puts it into Documentation/verbs.rst.
"""

import errno
import sys

import verbs
from words import Dropped, Fails, Refused, Returns

OBJECTS = {
    "ah": "address handle", "channel": "completion channel",
    "counters": "counters", "cq": "completion queue", "ctx": "context",
    "dm": "device memory", "flow": "flow rule", "mr": "memory region",
    "mw": "memory window", "parent": "parent domain",
    "pd": "protection domain", "qp": "queue pair",
    "srq": "shared receive queue", "table": "indirection table",
    "td": "thread domain", "wq": "work queue", "xrcd": "XRC domain",
}

# What an operation does with data, as words.Operation has it
DATA = {
    "out": "SGEs or inline data are sent",
    "in": "SGEs are written to",
    "store": "8 bytes are sent: one SGE, inline data, or from the builder",
    "fetch": "one SGE of 8 bytes is written to",
    "cut": "SGEs behind a header are sent in segments",
    "flush": "placement, level, and length of the range",
    "bind": "a window, and where to bind it",
    "none": "none",
}

SETTERS = {
    "out": ("sge", "sge_list", "inline_data", "inline_data_list"),
    "in": ("sge", "sge_list"),
    "fetch": ("sge", "sge_list"),
    "cut": ("sge", "sge_list"),
}

FLAGS = (
    ("FENCE", "all operations",
     "the request waits for reads and atomics before it"),
    ("SIGNALED", "all operations",
     "the request has a completion; with sq_sig_all, or if it fails, it has "
     "one anyway"),
    ("SOLICITED", "those that use a receive request",
     "the completion at the other end has an event that was asked for with "
     "solicited_only"),
    ("INLINE", "those that send data",
     "ibv_post_send() copies the data; keys do not matter. Builders ignore it: "
     "they have setters for inline data"),
    ("IP_CSUM", "UD, RAW_PACKET",
     "checksums of IPv4, TCP and UDP are put in on RAW_PACKET; no effect on "
     "UD; elsewhere the request fails with LOC_QP_OP_ERR"),
)

def _table(header, rows, widths):
    """A list-table"""
    yield from ("", ".. list-table::", "   :header-rows: 1",
                f"   :widths: {' '.join(map(str, widths))}", "")
    for row in [header, *rows]:
        for number, cell in enumerate(row):
            cell = "\\-" if cell == "-" else cell
            yield f"     - {cell}" if number else f"   * - {cell}"
    yield ""


def outcome(otherwise):
    """What happens if a rule is broken"""
    if isinstance(otherwise, Refused):
        number = otherwise.errno
        return "EOPNOTSUPP" if number == errno.EOPNOTSUPP else \
            errno.errorcode[number]
    if isinstance(otherwise, Returns):
        return f"returns {otherwise.code}"
    if isinstance(otherwise, Dropped):
        return "succeeds, without an effect"
    assert isinstance(otherwise, Fails)
    text = f"{otherwise.status}"
    if otherwise.peer:
        text += f"; at the other end {otherwise.peer}"
    if otherwise.event:
        text += f"; there, event {otherwise.event}"
    if otherwise.peer_stops:
        text += "; the other end stops, too"
    return text


def _names(kinds):
    return ", ".join(OBJECTS[kind] for kind in kinds)


def _rules(rules):
    yield from _table(
        ("What must hold", "Otherwise", "Queue pairs", "Source"),
        [(rule.says, outcome(rule.otherwise), ", ".join(rule.on) or "all",
          rule.source) for rule in rules], (40, 25, 15, 20))


def _verb(verb):
    yield from ("", f".. rubric:: {verb.name}()", "",
                f"{verb.does[0].upper()}{verb.does[1:]}. See {verb.page}.")
    facts = [(title, kinds) for title, kinds in (
        ("Makes", (verb.makes,) if verb.makes else ()),
        ("Destroys", (verb.destroys,) if verb.destroys else ()),
        ("Uses", verb.uses)) if kinds]
    for title, kinds in facts:
        yield f"{title}: {_names(kinds)}."
    if not verb.rules:
        return
    rules = [rule for rule in verb.rules if rule not in verbs.EXECUTION]
    if len(rules) < len(verb.rules):
        yield ("What must hold when a request is executed is in "
               '"Execution of requests".')
    yield from _rules(rules)


def described_verbs():
    """All verbs, with what each of them requires"""
    for verb in sorted(verbs.VERBS, key=lambda verb: verb.name):
        yield from _verb(verb)


def described_execution():
    """What must hold when a send request is executed"""
    yield from _rules(verbs.EXECUTION)


def described_operations():
    """Operations by type of queue pair, with what comes of them"""
    types = [name for name in verbs.QP_TYPES if name != verbs.XRC_RECV]
    yield from _table(
        ("Operation", *types, "Builder", "Data", "Right at the other end"),
        [(op.name, *("x" if name in op.on else "-" for name in types),
          f"``{op.builder}()``", DATA[op.data], op.remote or "-")
         for op in verbs.OPERATIONS],
        (20, *(6 for _ in types), 22, 20, 14))


# Forms of data with ibv_post_send(3), and with ibv_wr_post(3)
SGES, ANY, NONE = "sge list", "sge list inl inll", "none"
FORMS = {
    "out": (ANY, ANY), "in": (SGES, SGES), "fetch": (SGES, SGES),
    "cut": (SGES, SGES), "store": (ANY, NONE), "flush": (NONE, NONE),
    "bind": (NONE, NONE), "none": (NONE, NONE),
}


def _forms(op):
    """The forms in which an operation gets its data, with each API"""
    post_send, builders = FORMS[op.data]
    if "ibv_post_send" not in op.posted_by:
        post_send = outcome(verbs.rule(verbs.POSTING, "opcode").otherwise)
    return post_send, builders


def described_forms():
    """Operations by type of queue pair, with the forms of their data

    "matrix --table" prints the same: see scripts/lib/check/matrix.
    """
    types = ("RC", "UC", "UD", "XRC_SEND", "RAW_PACKET", "DRIVER")
    rows = [("Operation", "ibv_post_send()", "ibv_wr_*()", *types)]
    rows += [(op.name, *_forms(op), *("x" if name in op.on else "-"
                                      for name in types))
             for op in verbs.OPERATIONS + verbs.DRIVER_OPERATIONS]
    widths = [max(map(len, column)) for column in zip(*rows)]
    border = " ".join("=" * width for width in widths)
    lines = [" ".join(f"{cell:{width}}" for cell, width in zip(row, widths))
             for row in rows]
    yield from ("", border, lines[0].rstrip(), border)
    yield from (line.rstrip() for line in lines[1:])
    yield from (border, "")


def described_setters():
    """Setters of ibv_wr_post(3) by operation"""
    names = ("sge", "sge_list", "inline_data", "inline_data_list")
    yield from _table(
        ("Operation", *(f"``ibv_wr_set_{name}()``" for name in names)),
        [(op.name, *("x" if name in SETTERS.get(op.data, ()) else "-"
                     for name in names)) for op in verbs.OPERATIONS],
        (20, 20, 20, 20, 20))


def described_flags():
    """Flags of send requests"""
    yield from _table(("Flag", "For", "Effect"), FLAGS, (12, 25, 63))


def described_events():
    """Asynchronous events"""
    yield from _table(
        ("Event", "When", "Source", "Why no program provokes it"),
        [(event.name, event.when, event.source, event.beyond or "-")
         for event in verbs.EVENTS], (20, 35, 20, 25))


def described_states():
    """The states of queue pairs: which can follow, and what that takes"""
    yield from ("", ".. graphviz::", "", "   digraph states {",
                "     rankdir=LR; node [shape=box, fontsize=11];")
    for old, new in verbs.REQUIRED:
        yield f"     {old} -> {new};"
    for state in ("INIT", "RTS", "SQD"):
        yield f"     {state} -> {state};"
    yield from ('     any [label="any state", style=dashed];',
                '     most [label="any but RESET", style=dashed];',
                "     any -> RESET; most -> ERR;",
                '     RTS -> SQE [style=dashed, label="an error; UC, UD, RAW_PACKET"];',
                "   }", "")
    rows = []
    for (old, new), by_type in verbs.REQUIRED.items():
        for names in dict.fromkeys(by_type.values()):
            rows.append((old, new,
                         ", ".join(name for name, other in by_type.items()
                                   if other == names),
                         ", ".join(names) or "none"))
    yield from _table(("From", "To", "Queue pairs", "Required attributes"),
                      rows, (10, 10, 25, 55))


def described_builder():
    """The critical section of ibv_wr_post(3)"""
    yield from ("", ".. graphviz::", "", "   digraph builder {",
                "     rankdir=LR; node [shape=box, fontsize=11];",
                "     edge [fontsize=10];")
    for state, says in verbs.SECTION_STATES.items():
        yield f'     {state} [label="{says}"];'
    arrows = {}
    for step in verbs.SECTION:
        label = f"{step.call}: {step.result}" if step.result else step.call
        arrows.setdefault((step.state, step.to), []).append(label)
    for (old, new), labels in arrows.items():
        text = "\\n".join(labels)
        yield f'     {old} -> {new} [label="{text}"];'
    yield from ("   }", "")


def described_absent():
    """What others have"""
    yield from _table(("What", "Why mynic does not have it"),
                      sorted(verbs.ABSENT.items()), (50, 50))


PARTS = {name.removeprefix("described_"): function
         for name, function in list(globals().items())
         if name.startswith("described_")}

if __name__ == "__main__":
    for part in sys.argv[1:]:
        print("\n".join(PARTS[part]()))
