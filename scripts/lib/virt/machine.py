# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""One guest: its QEMU, what it is told, and the channels to it."""

import os
import socket

from virt import image, initrd, root

# An oops ends the guest, as a test should, and its log keeps all that the kernel
# says. The rest makes the boot quicker.
KERNEL_ARGS = ("quiet panic=-1 oops=panic log_buf_len=2M sysrq_always_enabled "
               "nokaslr mitigations=off audit=0 cryptomgr.notests=1 "
               "rcupdate.rcu_expedited=1")

# Ports of the virtio console, as scripts/lib/guest/init has them, and peer.c the
# last two
OUT, ERR, IN, CONTROL, FIRST_CABLE = range(1, 6)
CABLES = 16

CONSOLE_TAIL = 64 * 1024

# Milliseconds that QEMU waits for an answer of the device model. After them it gives
# the NIC up for good. They are therefore long enough for a device that a busy host
# seldom runs.
MSG_TIMEOUT = 60000

# Linux's 9p does not survive a guest's suspension if its device is reset. Only
# devices in slots can say that they need none.
KEEPS_STATE = "x-pcie-pm-no-soft-reset=on"

# Slots in which a guest that has booted without its NIC can find it: they have power,
# and a place for its doorbells.
LATE = ",power_controller_present=off,pref64-reserve=128M"


def mac(number, network=0):
    """The address of the NIC with this number, in one of the networks."""
    return "52:54:00:77:%02x:%02x" % (network, number)


def cables(number=CABLES):
    """Both ends of what joins the peer program of two guests."""
    return list(zip(*(socket.socketpair() for _ in range(number))))


class Machine:
    """settings: what is common to all guests, as scripts/vm's options.

    task, device, nics and first are what init's config says. consoles: how many there
    are beyond the first one.
    """

    def __init__(self, name, directory, settings, task, device, nics, first, consoles=0):
        self.name = name
        self.title = "the " + name
        self.directory = directory
        self.settings = settings
        self.task = task
        self.device = device
        self.nics = nics
        self.first = first
        self.booted = False
        self.ready = False
        self.console = bytearray()
        self.monitor = bytearray()
        self.sockets = {}
        self.chardevs = {}
        self.far = {}
        self.objects = []
        self.inherited = []
        self.files = {}
        self.archive = b""
        self.state = None
        self.slots = 0
        # Linux numbers virtio devices in the order of buses, and calls the ports
        # after their console's number. The number is 0 if this one is in the first
        # slot and no other is outside of one. QEMU loses ports of a console beyond 31.
        self.ports = []
        for k in range(1 + consoles):
            self.ports += self.virtio("virtio-serial-pci,id=serial%d,max_ports=%d" %
                                      (k, FIRST_CABLE + CABLES))
        self.filesystems = []
        self.network = []
        self.functions = []
        os.makedirs(directory)

    def slot(self, options=""):
        """Arguments for one more slot of PCI Express, and its bus."""
        self.slots += 1
        bus = "rp%d" % self.slots
        return ["-device", "pcie-root-port,id=%s,chassis=%d,slot=%d%s" %
                (bus, self.slots, self.slots, options)], bus

    def virtio(self, device):
        """Arguments for a virtio device in a slot of its own."""
        port, bus = self.slot()
        return [*port, "-device", "%s,bus=%s,%s" % (device, bus, KEEPS_STATE)]

    def channel(self, name):
        """A character device of QEMU whose other end is self.sockets[name]."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self.sockets[name] = ours
        self.chardevs[name] = theirs

    def port(self, number, name, console=0):
        self.ports += ["-device", "virtserialport,chardev=%s,bus=serial%d.0,nr=%d" %
                       (name, console, number)]

    def add_rest(self):
        """All that does not depend on others: channels and file systems"""
        self.add_channels()
        self.add_shares()

    def add_channels(self):
        for name in ("console", "monitor"):
            self.channel(name)
        if self.task == "tty":
            self.channel("tty")
            self.ports += ["-device", "virtconsole,chardev=tty,bus=serial0.0,nr=0"]
        elif self.task == "batch":
            for number, name in ((OUT, "out"), (ERR, "err"), (IN, "in")):
                self.channel(name)
                self.port(number, name)
        self.channel("control")
        self.port(CONTROL, "control")

    def add_cables(self, ends, console=0):
        for k, end in enumerate(ends):
            name = "cable%d-%d" % (console, k)
            self.chardevs[name] = end
            self.port(FIRST_CABLE + k, name, console)

    def add_far_cables(self, ends, console):
        """Cables to another host; ends: what QEMU is to do about each"""
        for k, end in enumerate(ends):
            name = "cable%d-%d" % (console, k)
            self.far[name] = end
            self.port(FIRST_CABLE + k, name, console)

    def add_mynic(self, sockets):
        """One PCI function for each of the device model's sockets."""
        for k, path in enumerate(sockets):
            port, bus = self.slot(LATE)
            self.network += port
            self.functions += [
                "-device", '{"driver":"vfio-user-pci","id":"nic%d","bus":"%s",'
                '"x-msg-timeout":%d,"socket":{"type":"unix","path":"%s"}}' %
                (k, bus, MSG_TIMEOUT, path)]

    def inherit(self, sock):
        """The number by which QEMU knows our end of a socket"""
        self.inherited.append(sock)
        return sock.fileno()

    def add_virtio_net(self, netdev, address):
        """netdev: QEMU's words for what it is joined to"""
        name = "net%d" % len(self.network)
        self.network += [
            "-netdev", "%s,id=%s" % (netdev, name),
            *self.virtio("virtio-net-pci,netdev=%s,mac=%s" % (name, address))]

    def add_shares(self):
        shares = [("tree", "/run/root", "on"), ("project", "/mynic", "on")]
        if self.settings.share:
            shares.append(("share", "/share", "off"))
        shares += root.shares(self.settings)
        for tag, path, readonly in shares:
            self.filesystems += ["-fsdev", "local,id=%s,path=%s,security_model=none,"
                                 "multidevs=remap,readonly=%s" % (
                                     tag, image.real(path).replace(",", ",,") or "/", readonly)]
            self.ports += self.virtio("virtio-9p-pci,fsdev=%s,mount_tag=%s" % (tag, tag))

    def debugger(self):
        """Where gdb can attach to the kernel of the first guest."""
        port = self.settings.gdb
        return ["-gdb", "tcp:127.0.0.1:%d" % port] if port and self.task != "peer" else []

    def tell(self, command):
        """What the guest is to do: the directory vm of its initramfs"""
        config = "%s %s %d %d %d %s\n" % (self.task, self.device, self.nics, self.first,
                                          self.settings.share, os.environ.get("TERM", "dumb"))
        self.archive = initrd.cpio({"config": config.encode(), "command": command + b"\n",
                                    **self.files, **root.files(self.settings)})

    def hardware(self):
        """QEMU's arguments for all that the guest finds, but for NICs of mynic."""
        # With a single possible CPU, TCG would drop memory ordering.
        cpus = "cpus=%d,maxcpus=%d" % (self.settings.smp, max(self.settings.smp, 2))
        return ["-smp", cpus, "-m", self.settings.mem,
                "-object", "memory-backend-memfd,id=ram,share=on,size=" + self.settings.mem,
                *self.settings.architecture["devices"].split(), "-no-reboot",
                "-serial", "chardev:console", "-mon", "chardev=monitor",
                *self.ports, *self.network]

    def qemu(self, kvm):
        """QEMU's command line without NICs, chardevs and what it starts with."""
        return [*self.settings.architecture.qemu(kvm), *self.filesystems, *self.hardware()]

    def initramfs(self):
        return "build/initramfs-%s.cpio" % self.settings.kernel

    def kernel(self, kvm, path):
        """Arguments to boot with the initramfs at path."""
        kernel_args = [self.settings.architecture.kernel_arguments(kvm), KERNEL_ARGS,
                       self.settings.append]
        return ["-kernel", "build/vmlinux-" + self.settings.kernel, "-initrd", path,
                "-append", " ".join(kernel_args)]

    def boot(self, kvm):
        """Makes the initramfs and returns QEMU's arguments to boot."""
        path = self.directory + "/initrd"
        initrd.make(path, self.initramfs(), self.archive)
        return self.kernel(kvm, path)

    def command_line(self, kvm, start):
        """QEMU's; start: arguments that say what it starts with"""
        argv = [*root.as_caller(self.settings), *self.qemu(kvm), *self.objects, *self.debugger(),
                *self.functions, *start]
        for name, theirs in self.chardevs.items():
            argv += ["-chardev", "socket,id=%s,fd=%d" % (name, theirs.fileno())]
        for name, end in self.far.items():
            argv += ["-chardev", "socket,id=%s,%s" % (name, end)]
        return argv

    def fds(self):
        """What QEMU is to inherit."""
        return [sock.fileno() for sock in (*self.chardevs.values(), *self.inherited)]

    def started(self):
        """QEMU has its own copies now."""
        for sock in (*self.chardevs.values(), *self.inherited):
            sock.close()

    def on_console(self, data):
        self.console += data
        del self.console[:-CONSOLE_TAIL]
