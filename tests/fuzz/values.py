# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Values of arguments, as their descriptions have them.

A limit is a number that objects have, as max_send_sge of a queue pair. A
description names it, and those who draw a value say what it is just now.
"""

import re

import verbs
from words import Flags, Masked, Span


def number(item, limits):
    """The number that an item of a description is, or None if it names a limit
    that is not known

    "4 path_mtu" and "path_mtu - 1" name a limit.
    """
    if isinstance(item, int):
        return item
    if item in limits:
        return limits[item]
    found = re.fullmatch(r"(?:(\d+) )?(\w+)(?: ([+-]) (\d+))?", item)
    if not found or found[2] not in limits:
        return None
    offset = int((found[3] or "+") + (found[4] or "0"))
    return int(found[1] or 1) * limits[found[2]] + offset


class Values:
    """Draws values, and counts what was drawn: see Program."""

    def possible(self, item, limits):
        """Whether there is such a value just now"""
        if isinstance(item, (Flags, Masked)):
            return True
        if isinstance(item, Span):
            return number(item.low, limits) is not None and \
                number(item.high, limits) is not None
        return number(item, limits) is not None

    def draw(self, verb, name, **limits):
        """A legal value of an argument, sometimes the one that was the rarest.

        limits: the numbers that limits are
        """
        items = [item for item in verbs.NAMED[verb].argument(name).choices()
                 if self.possible(item, limits)]
        item = self.random.choice(items)
        if self.random.random() < 0.3:
            self.random.shuffle(items)
            item = min(items, key=lambda item: self.count(
                "value", verb, name, str(item)))
        if isinstance(item, Flags):
            return self.some_flags_of(verb, name, item)
        self.reach("value", verb, name, str(item))
        return self.value_of(item, limits)

    def drawn(self, verb, **values):
        """Count values that were chosen otherwise."""
        for argument in verbs.NAMED[verb].arguments:
            value = values.get(argument.name)
            if value is None or not argument.legal:
                continue
            if isinstance(argument.legal[0], Flags):
                self.drawn_flags(verb, argument.name, value)
            elif value in argument.legal:
                self.reach("value", verb, argument.name, str(value))

    def value_of(self, item, limits):
        """A number that an item stands for"""
        if isinstance(item, Span):
            low = number(item.low, limits)
            return self.random.randint(low, max(
                low, number(item.high, limits)))
        return item if isinstance(item, Masked) else number(item, limits)

    def some_flags_of(self, verb, name, item):
        flags = 0
        for flag, value in item.flags.items():
            if self.random.random() < 0.5:
                flags |= value
                self.reach("value", verb, name, flag)
        return flags

    def drawn_flags(self, verb, name, value):
        """Count flags that were chosen otherwise."""
        for item in verbs.NAMED[verb].argument(name).legal:
            for flag, bit in item.flags.items():
                if value & bit:
                    self.reach("value", verb, name, flag)

    def reach_wrong(self, verb, rule, **values):
        """Count wrong values that were chosen otherwise."""
        for argument in verbs.NAMED[verb].arguments:
            value = values.get(argument.name)
            if value in argument.wrong.get(rule, ()):
                self.reach("wrong", verb, argument.name, str(value))

    def wrong(self, verb, name, rule, **limits):
        """A value of an argument that breaks a rule: the rarest of them"""
        items = list(verbs.NAMED[verb].argument(name).wrong[rule])
        self.random.shuffle(items)
        item = min(items, key=lambda item: self.count(
            "wrong", verb, name, str(item)))
        self.reach("wrong", verb, name, str(item))
        return item if number(item, limits) is None else number(item, limits)
