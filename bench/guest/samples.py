# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Output of benchmarks in guests: samples, and progress."""

import sys


def sample(benchmark, case, x, subject, value, unit):
    print(benchmark, case, x, subject, "%.6g" % value, unit, sep="\t", flush=True)


def progress(text):
    print(text, file=sys.stderr, flush=True)


def fail(lines):
    """lines: the error"""
    progress("\n".join(lines))
    sys.exit(1)
