# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The runs of perftest that make up benchmarks, and how they are measured."""

import copy
import math
import os
import sys
from collections import namedtuple

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/peer"))
# pylint: disable=wrong-import-position
import pair
import perftest
from samples import fail, progress, sample

# Upper bound of a run. It is work and not time, because figures of perftest are wrong
# if few messages pass in a second.
Limits = namedtuple("Limits", "messages bytes")
FEWEST = 16

# perftest wants lists of requests to be complete.
LONGEST_LIST = 16

# UD does not wait for a slow receiver, but perftest waits for each message. So there
# are no more messages than initial receive requests.
UD_MESSAGES = 16000

# perftest first measures the cycle counter, which can fail on a busy machine. Its
# figures are 0 or infinite then.
TRIES = 5

# Preloaded, makes the provider ring each doorbell
ALL_DOORBELLS = "/mynic/build/bench/guest/all-doorbells.so"

VERBS = ("write", "send", "read")

# here has the client, there the server; limits: of programs by the ends of
# their names
Subject = namedtuple("Subject", "name here there limits")

# A run. x is None unless the samples are points of a curve. columns has, by the name
# of a benchmark, the column of perftest's table that is its sample.
Plan = namedtuple("Plan", "program size args x columns")

# Value and unit of a column
COLUMNS = {
    "typical": lambda row: (row.typical, "us"),
    "p99": lambda row: (row.p99, "us"),
    "bandwidth": lambda row: (row.average * 125, "MB/s"),
    "rate": lambda row: (row.rate * 1e6, "messages/s"),
}


def latency(prefix):
    """Half a round trip (of READ and atomics a whole one) at the smallest size,
    polling and with events"""
    for program, args in (
            ("ib_write_lat", ()), ("ib_send_lat", ()), ("ib_read_lat", ()),
            ("ib_send_lat", ("-c", "UD")), ("ib_atomic_lat", ())):
        size = 8 if "atomic" in program else 2
        yield Plan(program, size, args, None,
                   {prefix + "-latency": "typical", prefix + "-latency-p99": "p99"})
    for program in ("ib_send_lat", "ib_read_lat"):
        yield Plan(program, 2, ("-e",), None, {prefix + "-latency-events": "typical"})


def message_rate(prefix):
    for program, args in (
            ("ib_write_bw", ()), ("ib_write_bw", ("-q", "4")), ("ib_write_bw", ("-l", "16")),
            ("ib_send_bw", ()), ("ib_send_bw", ("-q", "4")), ("ib_send_bw", ("-l", "16")),
            ("ib_send_bw", ("-c", "UD")), ("ib_send_bw", ("-e",)),
            ("ib_read_bw", ()), ("ib_atomic_bw", ())):
        yield Plan(program, 8, args, None, {prefix + "-rate": "rate"})


def curves(prefix, kind, column, sizes):
    for verb in VERBS:
        for size in sizes:
            yield Plan("ib_%s_%s" % (verb, kind), size, (), size, {"%s-%s-%s" % (prefix, verb, kind): column})


def choose(every, word):
    """Plans with samples for a benchmark with the word in its name"""
    chosen = [plan for plan in every if any(word in name for name in plan.columns)]
    if not chosen:
        fail(["no benchmark has %s in its name" % word])
    return chosen


def size_args(plan):
    """Atomics have but one size, and no option for it."""
    return () if "atomic" in plan.program else ("-s", str(plan.size))


def attempt(case, subject):
    """The row of its table"""
    progress("%s: %s" % (subject.name, case.name))
    complaints, output = pair.run(case, subject.here, subject.there)
    rows = perftest.rows(output)
    if not complaints and len(rows) != 1:
        complaints = ["not a table of one row:", output.decode(errors="replace")]
    if complaints:
        fail(["%s: %s" % (subject.name, case.name), *complaints])
    return rows[0]


def measure(plan, subject):
    limits = subject.limits[plan.program.split("_")[-1]]
    count = max(FEWEST, min(limits.messages, limits.bytes // plan.size))
    if "UD" in plan.args:
        count = min(count, UD_MESSAGES)
    count -= count % LONGEST_LIST
    args = ["-n", str(count), *size_args(plan), *plan.args]
    if plan.program.endswith("_bw"):
        args.append("--report_gbits")
    case = perftest.case(plan.program, *args)
    for _ in range(TRIES):
        row = attempt(case, subject)
        samples = {name: COLUMNS[column](row) for name, column in plan.columns.items()}
        if all(0 < value < math.inf for value, _ in samples.values()):
            break
    else:
        fail(["%s: %s: no usable figures in %d runs" % (subject.name, case.name, TRIES)])
    name = "" if plan.x else " ".join([plan.program, *size_args(plan), *plan.args])
    for benchmark, (value, unit) in samples.items():
        sample(benchmark, name, plan.x or "", subject.name, value, unit)


def ringing(side):
    """A side whose processes ring all doorbells"""
    side = copy.copy(side)
    side.prefix = [*side.prefix, "env", "LD_PRELOAD=" + ALL_DOORBELLS]
    return side


def all_doorbells(mynic):
    """mynic without doorbell suppression"""
    return Subject("mynic, all doorbells", ringing(mynic.here), ringing(mynic.there), mynic.limits)


def measure_all(chosen, subjects):
    """Measures each plan once with all subjects in turn. Small messages are also measured
    with all doorbells of mynic, whose cost they show
    """
    more = [all_doorbells(subject) for subject in subjects if subject.name == "mynic"]
    for plan in chosen:
        for subject in subjects + (more if plan.x is None else []):
            measure(plan, subject)
