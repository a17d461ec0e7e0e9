# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a device other than mynic is known to do otherwise than described.

A file in the directory differences, named as the driver, has an entry for each.
An entry is a line that says what, and indented lines that say why. It begins with

absent VERB, TYPE, STATE, FLAG, COUNTER, EVENT, TYPE/OPERATION or VERB/OPERATION
    The device does not have it: no program uses it. An event may come at any
    time.
rule VERB RULE
    The device does otherwise than the rule says if it is broken, so that no
    program breaks it.
wrong VERB ARGUMENT
    The device does otherwise if a value of the argument breaks a rule, so that
    no program has such a value.
other NAME
    Something else, which the generator knows by its name.
"""

import functools
import pathlib
import re

import verbs

HERE = pathlib.Path(__file__).resolve().parent


@functools.cache
def hooks():
    """The names by which the generator itself asks about something else"""
    text = "".join(path.read_text(encoding="ascii")
                   for path in sorted(HERE.glob("*.py")))
    return frozenset(re.findall(r"device\.differs\(\s*\"(\w+)\"", text))


@functools.cache
def asked():
    """The names of something else, about which the generator asks"""
    return hooks() | {why.replace(" ", "_") for why in verbs.SILENT}


@functools.cache
def parts():
    """All that a device may not have"""
    found = set(verbs.NAMED) | set(verbs.QP_TYPES) | set(verbs.STATES)
    found |= {f"IBV_ACCESS_{name}" for name in verbs.ACCESS}
    found |= {event.name for event in verbs.EVENTS}
    found |= {rule.otherwise.counter for verb in verbs.VERBS
              for rule in verb.rules
              if getattr(rule.otherwise, "counter", None)}
    found.add("IBV_WC_EX_WITH_COMPLETION_TIMESTAMP")
    for op in verbs.OPERATIONS:
        found |= {f"{name}/{op.name}" for name in (*op.on, *op.posted_by)}
    return frozenset(found)


def is_known(entry):
    """Whether there is what an entry is about"""
    kind, *names = entry
    if kind in ("rule", "wrong") and len(names) == 2:
        verb = verbs.NAMED.get(names[0])
        if kind == "rule":
            return bool(verb) and verb.has_rule(names[1])
        return bool(verb) and any(argument.name == names[1] and argument.wrong
                                  for argument in verb.arguments)
    known = {"absent": parts, "other": asked}.get(kind)
    return bool(known) and len(names) == 1 and names[0] in known()


class Differences:
    """The entries of a file; without a file, of none

    needed: the entries about which the generator has asked
    """

    def __init__(self, path=None):
        self.entries = {}
        self.needed = set()
        entry = None
        for line in path.read_text(encoding="ascii").splitlines() \
                if path else ():
            if not line.strip() or line.startswith("#"):
                continue
            if line[0].isspace():
                self.entries[entry].append(line.strip())
                continue
            entry = tuple(line.split())
            self.entries[entry] = []

    def unknown(self):
        """The entries about what there is not"""
        return [" ".join(entry) for entry in self.entries
                if not is_known(entry)]

    def unneeded(self):
        """The entries about which the generator has not asked"""
        return [" ".join(entry) for entry in self.entries
                if entry not in self.needed]

    def _ask(self, *entry):
        if entry not in self.entries:
            return False
        self.needed.add(entry)
        return True

    def has(self, what):
        """Whether the device has a verb, a type or a flag"""
        return not self._ask("absent", what)

    def keeps(self, verb, rule):
        """Whether the device does as a rule says"""
        return not self._ask("rule", verb, rule)

    def refuses(self, verb, argument):
        """Whether the device does as a rule says if a value breaks it"""
        return not self._ask("wrong", verb, argument)

    def differs(self, name):
        return self._ask("other", name)
