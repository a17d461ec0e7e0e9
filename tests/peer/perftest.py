# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Runs programs of perftest, and reads what they print."""

import re
from collections import namedtuple

from pair import Case

# A row of a table. Bandwidths are in the unit that the program was asked for,
# rates in millions of messages a second, latencies in microseconds.
Bandwidth = namedtuple("Bandwidth", "bytes iterations peak average rate")
Latency = namedtuple("Latency", "bytes iterations least most typical average deviation p99 p999")


def case(program, *args):
    """A client and its server, over IPv4"""
    def server(here, _):
        return [program, "-F", "-d", here.device, "-x", here.gid["IPv4"], *args]

    def client(here, there):
        return [*server(here, there), there.ipv4]

    return Case(" ".join([program, *args]), server, client)


def rows(output):
    """The table's rows; a program of either kind has as many columns as its tuple."""
    found = []
    for line in re.findall(rb"^ *\d+ +\d+ +(?:\d+\.\d|inf).*$", output, re.MULTILINE):
        values = [float(word) for word in line.split()]
        for kind in Bandwidth, Latency:
            if len(values) == len(kind._fields):
                found.append(kind(*values))
    return found
