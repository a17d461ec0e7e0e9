# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Which files use which, by the symbols of their objects"""

import subprocess
from collections import defaultdict


def symbols(path):
    """What an object defines for others, and what it uses of others"""
    defined, used = set(), set()
    listing = subprocess.run(["nm", "-P", "-g", path], stdout=subprocess.PIPE,
                             check=True, text=True).stdout
    for line in listing.splitlines():
        name, kind = line.split()[:2]
        (used if kind in "Uw" else defined).add(name)
    return defined, used


def variables(path):
    """The static objects of an object file that can be written"""
    listing = subprocess.run(["nm", "-f", "sysv", path], stdout=subprocess.PIPE,
                             check=True, text=True).stdout
    found = []
    for line in listing.splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != 7 or fields[3] != "OBJECT":
            continue
        section = fields[6]
        if section == "*COM*" or section.startswith((".bss", ".data", ".tbss", ".tdata")) \
                and not section.startswith(".data.rel.ro"):
            found.append(fields[0])
    return found


def circle_of(start, uses):
    """The files that use start and that it uses, however far off"""
    def reach(edges):
        seen, waiting = set(), [start]
        while waiting:
            for other in edges[waiting.pop()]:
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return seen

    users = defaultdict(set)
    for user, used in uses.items():
        for other in used:
            users[other].add(user)
    return reach(uses) & reach(users)
