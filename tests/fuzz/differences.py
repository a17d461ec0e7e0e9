# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a device other than mynic is known to do otherwise than described.

A file in the directory differences, named as the driver, has an entry for each:
a line that says what, and indented lines that say why. An entry begins with

absent VERB, TYPE, STATE, FLAG, COUNTER, EVENT, TYPE/OPERATION or VERB/OPERATION
    The device does not have it: no program uses it. An event may come at any
    time.
rule VERB RULE
    The device does otherwise than the rule says if it is broken, so that no
    program breaks it.
other NAME
    Something else, which the generator knows by its name.
"""


class Differences:
    """The entries of a file; without a file, of none"""

    def __init__(self, path=None):
        self.entries = {}
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

    def has(self, what):
        """Whether the device has a verb, a type or a flag"""
        return ("absent", what) not in self.entries

    def keeps(self, verb, rule):
        """Whether the device does as a rule says"""
        return ("rule", verb, rule) not in self.entries

    def differs(self, name):
        return ("other", name) in self.entries
