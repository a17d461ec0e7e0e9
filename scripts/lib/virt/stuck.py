# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a guest does that has not come up in time: where its processors are, and which
tasks of its kernel are blocked.

The kernel prints the latter on its console, after a break on the serial line.
"""

import select
import time

# Seconds that an answer may take, on a busy host, and after which one has ended
ANSWER = 30
PAUSE = 3


def listen(one, name, into):
    """Adds to what a channel of the guest has said, until it says no more."""
    sock = one.sockets.get(name)
    end = time.monotonic() + ANSWER
    wait = ANSWER
    while sock and time.monotonic() < end and select.select([sock], [], [], wait)[0]:
        try:
            data = sock.recv(65536)
        except OSError:
            return
        if not data:
            return
        into(data)
        wait = PAUSE


def tell(one, name, data):
    try:
        one.sockets[name].send(data)
    except (KeyError, OSError):
        pass


def processors(said, counter):
    """A line for each processor, of what QEMU's monitor has said

    counter: how a line with a program counter begins
    """
    lines = []
    cpu = "?"
    for line in said.decode(errors="replace").replace("\r", "").splitlines():
        word = line.strip()
        if word.startswith("CPU#"):
            cpu = word[4:]
        elif word.startswith(counter):
            lines.append("CPU %s: %s" % (cpu, word))
        elif word.startswith("VM status:"):
            lines.append(word)
    return lines


def look(one):
    """Returns lines about processors. What the kernel says is added to its console."""
    said = bytearray()
    tell(one, "monitor", b"info status\ninfo registers -a\n")
    listen(one, "monitor", said.extend)
    for key in (b"l", b"w"):
        tell(one, "monitor", b"chardev-send-break console\n")
        listen(one, "monitor", said.extend)
        tell(one, "console", key)
        listen(one, "console", one.on_console)
    return processors(said, one.settings.architecture["counter"] + "=") or ["QEMU does not answer"]
