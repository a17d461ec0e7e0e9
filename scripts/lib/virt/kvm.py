# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Finds out whether guests can run on KVM here."""

import os
import subprocess

# Seconds
LIMIT = 60
CACHE = "build/.kvm"
# There in a container image, whose root may be read-only
IMAGE = ".image"


def works(architecture, kernel, console, message):
    """Whether a guest can run on KVM: /dev/kvm may be there and not be able to.

    Boots a kernel that finds no root and gives up, which normally takes a second. Its
    console goes to the file of that name. The answer holds until the host's next boot,
    unless a kernel of the user's own gave up earlier.
    """
    if not architecture.is_own() or not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        boot_id = file.read().strip()
    try:
        with open(CACHE, encoding="ascii") as file:
            known, answer = file.read().split()
        if known == boot_id:
            return answer == "yes"
    except (FileNotFoundError, ValueError):
        pass
    message("trying whether KVM works here")
    try:
        subprocess.run([
            *architecture.qemu(True), "-m", "512M", "-no-reboot",
            "-object", "memory-backend-memfd,id=ram,size=512M",
            "-serial", "file:" + console, "-kernel", "build/vmlinux-" + kernel,
            "-append", architecture.console_arguments() + " panic=-1",
        ], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            timeout=LIMIT, check=True)
        with open(console, "rb") as file:
            answer = b"Unable to mount root fs" in file.read()
    except (subprocess.SubprocessError, FileNotFoundError):
        answer = False
    if not answer and kernel.startswith("own-"):
        return False  # perhaps it is the kernel that does not work
    try:
        with open(CACHE + ".new", "w", encoding="ascii") as file:
            file.write("%s %s\n" % (boot_id, "yes" if answer else "no"))
        os.rename(CACHE + ".new", CACHE)
    except OSError as error:
        if not os.path.exists(IMAGE):
            raise
        message("the answer cannot be kept: %s" % error.strerror)
    return answer
