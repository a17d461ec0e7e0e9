#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of how scripts/explore listens to its guest: when it takes the guest for dead, and
what it makes of bytes. The clock is not that of the machine. Prints TAP.
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import sys
import types
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
ALIVE = 'explore: {"alive": true}'


def load():
    """scripts/explore as a module"""
    loader = importlib.machinery.SourceFileLoader("explore", str(TOP / "scripts/explore"))
    spec = importlib.util.spec_from_loader("explore", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


explore = load()


def verdict(*said):
    """What a guest is taken for that says these lines: (seconds since the last one, line)"""
    clock = [0]

    def lines():
        for seconds, line in said:
            clock[0] += seconds
            yield line

    explore.time = types.SimpleNamespace(monotonic=lambda: clock[0])
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            explore.Exploration({}, [], []).listen(lines())
    except explore.Silent:
        return "dead"
    return "alive"


def split(*pieces):
    """The lines that are made of what comes in these pieces"""
    read_end, write_end = os.pipe()
    found = []
    lines = explore.lines_of(read_end)
    for piece in pieces:
        os.write(write_end, piece)
        # One line at a time, so that pieces are not read together
        for _ in range(piece.count(b"\n")):
            found.append(next(lines))
    os.close(write_end)
    found += list(lines)
    os.close(read_end)
    return found


def results():
    """A name, what should be, and what is"""
    silence = [(1, None)] * explore.SILENCE
    yield "a guest that says nothing", "dead", verdict((0, ALIVE), *silence)
    yield "one that says something in time", "alive", verdict(
        (0, ALIVE), *silence[1:], (0, ALIVE), *silence[1:])
    yield "one that boots", "alive", verdict(*silence, *silence)
    yield "one that speaks only of other things", "dead", verdict(
        (0, ALIVE), *[(1, "text")] * explore.SILENCE)
    yield "one that was stopped with explore", "alive", verdict(
        (0, ALIVE), (10 * explore.SILENCE, None), (1, ALIVE))
    yield "one that spoke while explore was stopped", "alive", verdict(
        (0, ALIVE), (10 * explore.SILENCE, ALIVE))
    yield "lines", ["a", "", "bc", "d\ufffd"], split(b"a\n\nb", b"c\nd", b"\xff")


def main():
    """Status 1 if a test failed"""
    failures = number = 0
    for number, (name, expected, found) in enumerate(results(), 1):
        if expected != found:
            failures += 1
            print("# %r instead of %r" % (found, expected))
        print("%sok %d - explore: %s" % ("" if expected == found else "not ", number, name))
    print("1..%d" % number)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
