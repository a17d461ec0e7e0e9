# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Runs a program as client in one guest and as server in the other."""

import subprocess
import threading

# Seconds; none takes more than a few on an idle machine.
LIMIT = 600
SERVE = "/mynic/tests/peer/serve"
# Lines of a program's output: errors, which are not buffered, come first.
FIRST, LAST = 6, 20


class Side:
    """A place where commands run, with its NIC: a guest, or a namespace of a guest.
    device: the RDMA device, if there are several.
    """

    def __init__(self, prefix, ipv4, ipv6=None, device="*"):
        self.prefix = prefix
        self.ipv4 = ipv4
        self.ipv6 = ipv6
        listing = self.output("sh", "-c", "cd /sys/class/infiniband/%s/ports/1 && pwd -P && grep . gids/*" % device)
        where, *gids = listing.splitlines()
        self.device = where.split("/")[-3]
        self.gid = {}
        for line in gids:
            path, gid = line.split(":", 1)
            index = path.split("/")[-1]
            if gid.startswith("0000:0000:0000:0000:0000:ffff:"):
                self.gid.setdefault("IPv4", index)
            elif gid.startswith("fd00:"):
                self.gid.setdefault("IPv6", index)

    def output(self, *argv):
        return subprocess.run(self.prefix + list(argv), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, check=True, text=True).stdout

    def start(self, argv):
        return subprocess.Popen(self.prefix + argv, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class Case:
    """A program to run on two sides.

    server and client build their arguments from their own side, the other side, and the
    address family. listens: sign that the server is ready: tcp or cm (see serve), or
    its output. ends: whether the server ends by itself.
    """

    def __init__(self, name, server, client, listens="tcp", family="IPv4", ends=True):
        self.name = name
        self.server = server
        self.client = client
        self.listens = listens
        self.family = family
        self.ends = ends


def pump(process, wanted, output, seen):
    """Collects the output of a program, and sets seen when it contains wanted."""
    for line in process.stdout:
        output.append(line)
        if wanted in line:
            seen.set()
    seen.set()


def start(side, argv, wanted=b"\0"):
    """Returns the process, its output so far, and what tells that wanted came."""
    process = side.start(argv)
    output, seen = [], threading.Event()
    process.pump = threading.Thread(target=pump, args=(process, wanted, output, seen))
    process.pump.start()
    return process, output, seen


def end(process, what, output):
    """Waits for the end of a process. Returns complaints about its status"""
    try:
        status = process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait()
        status = "no end for %d s" % LIMIT
    process.pump.join()
    if status == 0:
        return []
    lines = b"".join(output).decode(errors="replace").splitlines()
    if len(lines) > FIRST + LAST:
        lines[FIRST:-LAST] = ["..."]
    return ["%s: status %s" % (what, status), *("  " + line for line in lines)]


def run(case, here, there):
    """Runs a case. Returns complaints, as lines, and the output of the client"""
    argv = case.server(there, here)
    if case.listens in ("tcp", "cm"):
        argv, wanted = [SERVE, case.listens, *argv], b"listening\n"
    else:
        wanted = case.listens.encode()
    server, server_output, ready = start(there, argv, wanted)
    if not ready.wait(LIMIT):
        server.terminate()
        return ["the server does not listen", *end(server, "server", server_output)], b""
    client, client_output, _ = start(here, case.client(here, there))
    complaints = end(client, "client", client_output)
    if not case.ends or complaints:
        server.terminate()
    found = end(server, "server", server_output)
    return complaints + found if case.ends or complaints else [], b"".join(client_output)


def sides():
    """This guest and the other"""
    return Side([], "192.168.77.1", "fd00:77::1"), Side(["peer"], "192.168.77.2", "fd00:77::2")
