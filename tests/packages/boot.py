#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""boot.py TREE: boot the Debian system in the directory TREE with two mynic NICs, and
print its console. Debian's own kernel 6.12 goes on to the system's own init, which
finds the NICs. All changes are in memory. Runs in the sandbox, in the project's
directory; ends when the system shuts down, with status 1 after the time limit.
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "scripts/lib")
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from virt import architecture, initrd, kvm, machine

KERNEL = "6.12"
NICS = 2
LIMIT = 3600

# What busybox does before the system's init. An option of the kernel starts it, so
# that the initramfs is that of all guests.
BOOT = """\
set -e
mkdir /proc /tree /rw /new
/bin/busybox mount -t proc proc /proc
mount -t devtmpfs dev /dev
for module in /modules/*; do
	insmod "$module"
done
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose tree /tree
mount -t tmpfs -o mode=755 rw /rw
mkdir /rw/upper /rw/work
mount -t overlay -o lowerdir=/tree,upperdir=/rw/upper,workdir=/rw/work root /new
mount -o move /dev /new/dev
umount /proc
exec /bin/busybox switch_root /new /sbin/init
"""


def main():
    tree = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        sockets = ["%s/nic%d" % (work, k) for k in range(NICS)]
        with subprocess.Popen(
                ["build/device/mynic-device", "--exit-with-parent",
                 *(word for path in sockets for word in ("--nic", "socket=" + path))],
                stdout=subprocess.PIPE) as device:
            if device.stdout.readline() != b"ready\n":
                sys.exit("boot.py: the device model does not start")
            initrd.make(work + "/initrd", "build/initramfs-%s.cpio" % KERNEL,
                        initrd.cpio({"boot": BOOT.encode()}))
            own = architecture.own()
            use_kvm = kvm.works(own, KERNEL, work + "/kvm", lambda text: None)
            nics = []
            for k, path in enumerate(sockets):
                nics += ["-device", "pcie-root-port,id=rp%d,chassis=%d,slot=%d" % (k, k + 1, k + 1),
                         "-device", '{"driver":"vfio-user-pci","bus":"rp%d","x-msg-timeout":%d,'
                         '"socket":{"type":"unix","path":"%s"}}' % (k, machine.MSG_TIMEOUT, path)]
            arguments = "%s %s systemd.firstboot=off rdinit=/bin/busybox -- sh /vm/boot" % (
                own.kernel_arguments(use_kvm), machine.KERNEL_ARGS)
            qemu = subprocess.run([
                *own.qemu(use_kvm), "-smp", "2", "-m", "2G",
                "-object", "memory-backend-memfd,id=ram,share=on,size=2G",
                "-kernel", "build/vmlinux-" + KERNEL, "-initrd", work + "/initrd",
                "-append", arguments, "-no-reboot", "-serial", "stdio",
                "-fsdev", "local,id=tree,path=%s,security_model=none,multidevs=remap,readonly=on" %
                tree, "-device", "virtio-9p-pci,fsdev=tree,mount_tag=tree", *nics],
                stdin=subprocess.DEVNULL, timeout=LIMIT, check=False)
            device.terminate()
    sys.exit(qemu.returncode != 0)


if __name__ == "__main__":
    main()
