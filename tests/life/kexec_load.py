# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""kexec without kexec-tools: load KERNEL INITRAMFS CMDLINE; or exec.

exec shuts drivers down, as reboot(8) does at its end, and nothing else.
"""
import ctypes
import os
import sys

SYS_REBOOT = 169
SYS_KEXEC_FILE_LOAD = 320
REBOOT_MAGIC = (0xFEE1DEAD, 672274793)
REBOOT_CMD_KEXEC = 0x45584543

libc = ctypes.CDLL(None, use_errno=True)


def syscall(number, *args):
    if libc.syscall(ctypes.c_long(number), *args) == -1:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def load(kernel, initramfs, cmdline):
    text = cmdline.encode() + b"\0"
    with open(kernel, "rb") as image, open(initramfs, "rb") as initrd:
        syscall(SYS_KEXEC_FILE_LOAD, image.fileno(), initrd.fileno(),
                ctypes.c_ulong(len(text)), text, ctypes.c_ulong(0))


if sys.argv[1] == "load":
    load(*sys.argv[2:])
else:
    syscall(SYS_REBOOT, *(ctypes.c_int(ctypes.c_int32(magic).value) for magic in REBOOT_MAGIC),
            ctypes.c_uint(REBOOT_CMD_KEXEC), None)
