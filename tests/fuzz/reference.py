# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The reference that is made from the descriptions, in reStructuredText.

Documentation/described.py puts it into Documentation/verbs.rst.
"""

import errno
import sys

import undescribed
import verbs
from words import Dropped, Fails, Flags, Refused, Returns

OBJECTS = {
    "ah": "address handle", "channel": "completion channel",
    "counters": "counters", "cq": "completion queue", "ctx": "context",
    "dm": "device memory", "flow": "flow rule", "mr": "memory region",
    "mw": "memory window", "parent": "parent domain",
    "pd": "protection domain", "qp": "queue pair",
    "srq": "shared receive queue", "table": "indirection table",
    "td": "thread domain", "wq": "work queue", "xrcd": "XRC domain",
}

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
    if isinstance(otherwise, Dropped) and otherwise.peer:
        return f"succeeds; at the other end {otherwise.peer}, which stops"
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
        ("Rule", "What must hold", "Otherwise", "Queue pairs", "Source"),
        [(rule.name, rule.says, outcome(rule.otherwise),
          ", ".join(rule.on) or "all", rule.source) for rule in rules],
        (10, 35, 25, 10, 20))


def _value(item):
    """A value in a table"""
    if isinstance(item, Flags):
        return str(item)
    return f"0x{item:x}" if isinstance(item, int) and item > 0xffff else \
        str(item).replace("_", " ")


def _arguments(verb):
    rows = []
    for argument in verb.arguments:
        wrong = "; ".join(f"{', '.join(map(_value, items))} ({rule})"
                          for rule, items in argument.wrong.items())
        says = argument.says
        for kind, names in (("operations", argument.ops),
                            ("queue pairs", argument.on)):
            if names and len(verb.arguments) > 10:
                says += f" ({kind}: {', '.join(names)})"
        rows.append((
            argument.name, f"``{argument.type}``",
            f"{says} [{argument.mask}]" if argument.mask else says,
            "; ".join(map(_value, argument.legal)) or "-", wrong or "-"))
    yield from _table(("Argument", "Type", "What it is", "Values",
                       "Wrong values (rule)"), rows, (15, 15, 30, 20, 20))


def _completions(verb):
    """What the operation of a builder completes with"""
    opcodes = {number: name for name, number in verbs.WC_OPCODES.items()}
    for op in verbs.OPERATIONS:
        if op.builder != verb.name:
            continue
        yield f"Data: {verbs.DATA[op.data].says}."
        yield f"Completes as {opcodes[op.completes]}."
        if op.receives:
            yield f"At the other end a receive request completes as " \
                f"{opcodes[op.receives]}."
        statuses = sorted({rule.otherwise.status for rule in verb.rules
                           if isinstance(rule.otherwise, Fails)})
        if statuses:
            yield f"Statuses: SUCCESS, {', '.join(statuses)}, WR_FLUSH_ERR."


def _verb(verb):
    yield from ("", f".. rubric:: {verb.name}()", "",
                f"{verb.does[0].upper()}{verb.does[1:]}. See {verb.page}.")
    facts = [(title, kinds) for title, kinds in (
        ("Makes", (verb.makes,) if verb.makes else ()),
        ("Destroys", (verb.destroys,) if verb.destroys else ()),
        ("Uses", verb.uses)) if kinds]
    for title, kinds in facts:
        yield f"{title}: {_names(kinds)}."
    yield f"Returns: {verb.result}."
    if verb.effects:
        yield verb.effects
    yield from _completions(verb)
    if any(not isinstance(rule.otherwise, (Fails, Dropped))
           for rule in verb.rules):
        yield f"If it is refused, {verb.refusal}."
    if verb.arguments:
        yield from _arguments(verb)
    rules = [rule for rule in verb.rules if rule not in verbs.EXECUTION]
    if len(rules) < len(verb.rules):
        yield ("What must hold when a request is executed is in "
               '"Execution of requests".')
    if rules:
        yield from _rules(rules)


def described_verbs():
    """All verbs, with what each of them requires"""
    for verb in sorted(verbs.VERBS, key=lambda verb: verb.name):
        yield from _verb(verb)


def described_execution():
    """What must hold when a send request is executed"""
    yield from _table(
        ("Rule", "What must hold", "Otherwise", "Queue pairs", "Operations",
         "Source"),
        [(rule.name, rule.says, outcome(rule.otherwise),
          ", ".join(rule.on) or "all", ", ".join(rule.ops) or "all",
          rule.source) for rule in verbs.EXECUTION],
        (10, 25, 20, 10, 20, 15))


def described_operations():
    """Operations by type of queue pair, with what comes of them"""
    types = [name for name in verbs.QP_TYPES if name != verbs.XRC_RECV]
    opcodes = {number: name for name, number in verbs.WC_OPCODES.items()}
    yield from _table(
        ("Operation", *types, "Builder", "Data", "Right at the other end",
         "Completes as", "At the other end"),
        [(op.name, *("x" if name in op.on else "-" for name in types),
          f"``{op.builder}()``", verbs.DATA[op.data].says, op.remote or "-",
          opcodes[op.completes], opcodes.get(op.receives, "-"))
         for op in verbs.OPERATIONS],
        (16, *(5 for _ in types), 20, 18, 12, 10, 10))


# Forms of data
SGES, INLINE = "sge list", "inl inll"


def _forms(op):
    """The forms in which an operation gets its data, with each API"""
    data = verbs.DATA[op.data]

    def names(sges, inline):
        return " ".join(form for form, there in ((SGES, sges), (INLINE, inline))
                        if there) or "none"

    if "ibv_post_send" not in op.posted_by:
        post_send = outcome(verbs.rule(verbs.POSTING, "opcode").otherwise)
    else:
        post_send = names(data.sges, data.inline)
    return post_send, names(data.set_sges, data.set_inline)


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


def _sets(op, setter):
    """Whether a setter of data is for an operation"""
    data = verbs.DATA[op.data]
    return data.set_inline if "inline" in setter.name else data.set_sges


def described_setters():
    """Setters of ibv_wr_post(3) by operation"""
    setters = [setter for setter in verbs.SETTERS
               if any(argument.name in ("length", "inline length")
                      for argument in setter.arguments)]
    yield from _table(
        ("Operation", *(f"``{setter.name}()``" for setter in setters)),
        [(op.name, *("x" if _sets(op, setter) else "-" for setter in setters))
         for op in verbs.OPERATIONS],
        (20, 20, 20, 20, 20))


def described_flags():
    """Flags of send requests"""
    yield from _table(
        ("Flag", "Operations", "Queue pairs", "Effect", "Source"),
        [(flag.name, "all" if flag.ops == verbs.ALL else ", ".join(flag.ops),
          ", ".join(flag.on), flag.says, flag.source)
         for flag in verbs.SEND_FLAGS], (10, 25, 15, 30, 20))


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


def described_undescribed():
    """What is not described, with the reason"""
    yield from _table(("What", "Why it is not described"),
                      sorted(undescribed.UNDESCRIBED.items()), (40, 60))


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
