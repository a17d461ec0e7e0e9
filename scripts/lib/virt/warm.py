# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Guests that need not boot: they go on from the state of one that has booted with the
same hardware, but without NICs. Documentation/vm.rst, "Warm guests", is for users.

A guest that finds nothing to do in its initramfs says "saved" on its control port, and
waits there for what it is to do (scripts/lib/guest/initramfs-init). QEMU keeps its state
in a file. One that goes on from there finds its NICs by looking for them.

Each kind of guest has a mark in DIRECTORY. The mark is locked while a state is saved,
and has a byte for each failure. The state is beside it. Their names begin with that of
the host's boot, because the rate of the guest's clock is measured once.
"""

import fcntl
import hashlib
import os
import re
import select
import socket
import stat
import subprocess
import tempfile
import time

from virt import image, machine

DIRECTORY = "build/warm"
STATE = ".state"
# While it is written, it is locked.
NEW = ".new"

# States of some 120 MB each, and marks
KEPT = 6
MARKS_KEPT = 64
# After so many, guests of this kind boot until the host does.
FAILURES = 2
# QEMU looks at all of a guest's memory when it saves it, so that the host must have it.
MAX_MEMORY = "4G"

# Seconds in which a guest that boots for nothing else must be saved, and in which a
# saved one must run its first program. On an idle host they take 5 and 1.
SAVE_LIMIT = 300
WAKE_LIMIT = 60

# What fits into a socket before the guest reads
MAX_TOLD = 64 << 10

# Each page of the memory has its place in the file, so it is loaded quickly.
MAPPED = ["-global", "migration.mapped-ram=on"]

SAVED = re.compile(rb"status:\s*completed", re.IGNORECASE)


def memory(text):
    """Bytes of a size as --mem has it"""
    return int(text[:-1]) << {"M": 20, "G": 30}[text[-1]]


def is_common(one):
    """Whether it is worth to keep a state of such a guest, and possible.

    The wires of virtio-net have to be there when QEMU starts. A capture, a console and a debugger
    begin with the boot. A container image may be read-only.
    """
    settings = one.settings
    return (settings.architecture["states"] == "yes" and
            settings.kernel in settings.architecture["kernels"].split() and
            not settings.append and not settings.gdb and not settings.virtio_net and
            settings.console_fd < 0 and not settings.capture and
            memory(settings.mem) <= memory(MAX_MEMORY) and
            one.device == "mynic" and one.nics > 0 and len(one.archive) <= MAX_TOLD and
            not image.PLACES)


def stamp(path):
    """What changes with a file, if it is there"""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return path
    return "%s %d %d" % (path, status.st_mtime_ns, status.st_size)


def boot_of_host():
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read()[:8]


def kind(one):
    """A name for all guests that can go on from the same state"""
    architecture = one.settings.architecture
    kernel = one.settings.kernel
    files = ["build/vmlinux-" + kernel, one.initramfs(), "build/kmod-%s/installed" % kernel,
             "/run/root/.stamp", "/usr/bin/" + architecture["qemu"]]
    parts = [machine.KERNEL_ARGS, *architecture.values.values(),
             *(stamp(path) for path in files), *one.hardware()]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return "%s-%s" % (boot_of_host(), digest[:16])


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


def rest_of(monitor):
    """What QEMU says until it ends, perhaps without having read the last of what it was
    told, which is an error for this end.
    """
    said = b""
    try:
        while data := monitor.recv(65536):
            said += data
    except ConnectionResetError:
        pass
    return said


def save(one, path, limit):
    """Boots a guest like this one, but without NICs, and saves its state. Returns
    whether that worked.
    """
    ends = {name: socket.socketpair() for name in ("control", "monitor")}
    argv = [*one.qemu(False), *MAPPED, *one.kernel(False, one.initramfs())]
    for name in (*one.chardevs, *one.far):
        end = "socket,fd=%d" % ends[name][1].fileno() if name in ends else "null"
        argv += ["-chardev", "%s,id=%s" % (end, name)]
    control, monitor = ends["control"][0], ends["monitor"][0]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL,
                          pass_fds=[theirs.fileno() for _, theirs in ends.values()]) as qemu:
        try:
            for _, theirs in ends.values():
                theirs.close()
            if not says_saved(control, limit):
                return False
            # QEMU ends with the status 0 even if the disk is full.
            monitor.send(b"migrate file:%s\ninfo migrate\nquit\n" % path.encode())
            monitor.settimeout(limit)
            said = rest_of(monitor)
            return qemu.wait(limit) == 0 and bool(SAVED.search(said))
        except (OSError, subprocess.TimeoutExpired):
            return False
        finally:
            qemu.kill()
            control.close()
            monitor.close()


def save_new(one, name, limit):
    """Makes the state with this name, all of it or nothing. Returns whether it did."""
    number, new = tempfile.mkstemp(NEW, name + ".", DIRECTORY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        # What was built meanwhile may be in it.
        if not save(one, new, limit) or kind(one) != name:
            return False
        os.rename(new, DIRECTORY + "/" + name + STATE)
        return True
    finally:
        forget(new)
        os.close(number)


def forget(path):
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def is_locked(path):
    try:
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False


def age(path):
    try:
        return -os.path.getmtime(path)
    except FileNotFoundError:
        return 0


def forget_old():
    """What is of no use: files of other boots, of a save that was killed, and all but
    those that were used last.
    """
    kept = {STATE: [], "": []}
    boot = boot_of_host()
    for name in os.listdir(DIRECTORY):
        path = DIRECTORY + "/" + name
        suffix = os.path.splitext(name)[1]
        if suffix in kept and name.startswith(boot):
            kept[suffix].append(path)
        elif suffix != NEW or not is_locked(path):
            forget(path)
    for suffix, number in ((STATE, KEPT), ("", MARKS_KEPT)):
        for path in sorted(kept[suffix], key=age)[number:]:
            forget(path)


def is_ours(path):
    """Whether it is a directory that nobody else can write to. What is in it becomes the
    guest's memory.
    """
    status = os.lstat(path)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and \
        not status.st_mode & 0o077


def use(path):
    """Returns whether it is there."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


class States:
    """Those that the guests of one run can use"""

    def __init__(self, message):
        self.message = message
        self.marked = set()

    def find(self, one):
        """The name of the state of a guest like it, or None.

        The first run with a guest of a kind leaves only a mark: most tests need theirs
        once. The second leaves the state. Others do not wait for it.
        """
        if not is_common(one):
            return None
        try:
            os.makedirs(DIRECTORY, mode=0o700, exist_ok=True)
            if not is_ours(DIRECTORY):
                return None
            name = kind(one)
            if use(DIRECTORY + "/" + name + STATE):
                return name
            return self.make(one, name)
        except OSError:  # a full disk, a directory of another user
            return None

    def make(self, one, name):
        mark = DIRECTORY + "/" + name
        if not os.path.exists(mark):
            self.marked.add(name)
            with open(mark, "ab"):
                forget_old()
            return None
        if name in self.marked:
            return None
        with open(mark, "a+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return None
            if os.fstat(file.fileno()).st_size >= FAILURES:
                return None
            # Somebody else may have been quicker.
            if not use(mark + STATE) and not save_new(one, name, SAVE_LIMIT):
                count_failure(file)
                self.message("the state of %s cannot be saved: booting" % one.title)
                return None
            os.utime(mark)
        forget_old()
        return name


def count_failure(mark):
    """Works also on a disk without a free byte."""
    os.ftruncate(mark.fileno(), os.fstat(mark.fileno()).st_size + 1)


def failed(name):
    """Forgets a state from which a guest did not come to its command. Others that have
    begun from it meanwhile do not count once more.
    """
    try:
        os.unlink(DIRECTORY + "/" + name + STATE)
        with open(DIRECTORY + "/" + name, "ab") as mark:
            count_failure(mark)
    except OSError:
        pass


def arguments(name):
    """QEMU's, to go on from there"""
    return [*MAPPED, "-incoming", "file:%s/%s%s" % (DIRECTORY, name, STATE)]


def tell(control, archive):
    """Gives the guest what is in the initramfs otherwise. The socket has room for all."""
    order = b"%d\n" % len(archive) + archive
    if control.send(order) != len(order):
        raise OSError("no room for a guest's order")
