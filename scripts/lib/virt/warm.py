# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Guests that need not boot: they go on from the state of one that has booted with the
same hardware, but without NICs.

A guest that finds nothing to do in its initramfs says "saved" on its control port, and
waits there for what it is to do (scripts/lib/guest/initramfs-init). QEMU keeps its state
in a file. One that goes on from there finds its NICs by looking for them.
"""

import fcntl
import hashlib
import os
import select
import socket
import subprocess
import time

from virt import image, machine

DIRECTORY = "build/warm"
SUFFIX = ".state"
# States of some 120 MB each
KEPT = 6

KERNELS = ("6.12", "7.3")

# What fits into a socket before the guest reads
MAX_TOLD = 64 << 10

# Each page of the memory has its place in the file. So it is loaded quickly.
MAPPED = ["-global", "migration.mapped-ram=on"]


def is_common(one):
    """Whether it is worth to keep a state of such a guest, and possible: a wire of rxe
    has to be there when QEMU starts, and a container image may be read-only.
    """
    settings = one.settings
    return (settings.kernel in KERNELS and not settings.append and not settings.gdb and
            one.device == "mynic" and len(one.archive) <= MAX_TOLD and
            not image.PLACES)


def stamp(path):
    """What changes with a file, if it is there"""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return path
    return "%s %d %d" % (path, status.st_mtime_ns, status.st_size)


def key(one):
    """A name for all guests that can go on from the same state. Their clocks' rate is
    that of this host since its boot.
    """
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        host = file.read().strip()
    kernel = one.settings.kernel
    files = ["build/vmlinux-" + kernel, "build/initramfs-%s.cpio" % kernel,
             "build/kmod-%s/installed" % kernel, "/usr/bin/qemu-system-x86_64"]
    parts = [host, machine.KERNEL_ARGS, *(stamp(path) for path in files), *one.hardware()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def says_saved(control, limit):
    """Waits for the guest's word on its control port."""
    said = b""
    end = time.monotonic() + limit
    while not said.endswith(b"\n"):
        left = max(0, end - time.monotonic())
        if not select.select([control], [], [], left)[0]:
            return False
        data = control.recv(1)
        if not data:
            return False
        said += data
    return said == b"saved\n"


def save(one, path, limit):
    """Boots a guest like this one, but without NICs, and saves its state. Returns
    whether that worked.
    """
    ends = {name: socket.socketpair() for name in ("control", "monitor")}
    argv = [*one.qemu(False), *MAPPED, *one.kernel(False, one.initramfs())]
    for name in one.chardevs:
        kind = "socket,fd=%d" % ends[name][1].fileno() if name in ends else "null"
        argv += ["-chardev", "%s,id=%s" % (kind, name)]
    control, monitor = ends["control"][0], ends["monitor"][0]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL,
                          pass_fds=[theirs.fileno() for _, theirs in ends.values()]) as qemu:
        try:
            for _, theirs in ends.values():
                theirs.close()
            if not says_saved(control, limit):
                return False
            monitor.send(b"migrate file:%s\nquit\n" % path.encode())
            return qemu.wait(limit) == 0
        except (OSError, subprocess.TimeoutExpired):
            return False
        finally:
            qemu.kill()
            control.close()
            monitor.close()


def forget_old():
    """All but those that were used last"""
    states = [DIRECTORY + "/" + name for name in os.listdir(DIRECTORY) if name.endswith(SUFFIX)]
    for path in sorted(states, key=os.path.getmtime)[:-KEPT]:
        forget(path)


def forget(path):
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def state(one, limit):
    """The file with the state of a guest like it, or None.

    The first guest of a kind leaves only a mark: most tests need theirs once. The second
    leaves the state. Others do not wait for it. limit: seconds that a boot may take.
    """
    if not is_common(one):
        return None
    os.makedirs(DIRECTORY, exist_ok=True)
    name = DIRECTORY + "/" + key(one)
    path = name + SUFFIX
    try:
        os.utime(path)
        return path
    except FileNotFoundError:
        pass
    if not os.path.exists(name):
        with open(name, "wb"):
            return None
    with open(name, "r+b") as mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        if not mark.read(1):
            if save(one, path + ".new", limit):
                os.rename(path + ".new", path)
            else:
                forget(path + ".new")
                mark.write(b"cannot be saved\n")
    forget_old()
    return path if os.path.exists(path) else None


def arguments(path):
    """QEMU's, to go on from there"""
    return [*MAPPED, "-incoming", "file:" + path]


def tell(control, archive):
    """Gives the guest what is in the initramfs otherwise, and the time."""
    control.send(b"%d %d\n" % (time.time(), len(archive)) + archive)
