# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The table of rules: each row is a function that takes a NIC"""

import re

from nic import TOP

ROWS = []


def rule(name, variant=None, **args):
    """A row of the table

    name: as in Documentation/transport-rules.rst. variant: one of several rows of the
    rule. args: arguments of the function, which may be used for several rows.
    """
    def add(function):
        ROWS.append((name, variant, lambda nic: function(nic, **args)))
        return function
    return add


def documented():
    """The names of all documented rules"""
    text = (TOP / "Documentation/transport-rules.rst").read_text()
    return set(re.findall(r"^(?=.{28}(?:A14|A17|A19|none|\d))([a-z]\w+)  ", text, re.MULTILINE))
