# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The rate of the host's time stamp counter."""

import ctypes
import mmap
import time

# rdtsc; shl $32, %rdx; or %rdx, %rax; ret
CODE = b"\x0f\x31\x48\xc1\xe2\x20\x48\x09\xd0\xc3"

# Seconds, in which a counter and a clock are compared to some 10 ppm
INTERVAL = 0.1
TRIES = 20


def instant(read):
    """Nanoseconds and ticks of one moment, by the quickest of several tries."""
    tries = []
    for _ in range(TRIES):
        before = time.monotonic_ns()
        ticks = read()
        after = time.monotonic_ns()
        tries.append((after - before, (before + after) // 2, ticks))
    return min(tries)[1:]


def khz():
    """Nothing that Linux shows to all programs says it reliably."""
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(CODE)
    read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    nanoseconds, ticks = instant(read)
    time.sleep(INTERVAL)
    later, more = instant(read)
    return round((more - ticks) * 1e6 / (later - nanoseconds))
