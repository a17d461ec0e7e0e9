# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What depends on the guest's machine: scripts/lib/architectures, which also says what
each value means.
"""

import configparser
import os

from virt import tsc

FILE = os.path.join(os.path.dirname(__file__), "..", "architectures")


def read():
    parser = configparser.ConfigParser(interpolation=None)
    with open(FILE, encoding="ascii") as file:
        parser.read_file(file)
    return parser


def own():
    """That of this machine"""
    return next(one for one in map(Architecture, read().sections()) if one.is_own())


class Architecture:
    def __init__(self, name):
        self.name = name
        self.values = read()[name]

    def __getitem__(self, key):
        return self.values[key]

    def is_own(self):
        """Whether this machine runs such programs itself"""
        return os.uname().machine == self["machine"]

    def qemu(self, kvm):
        """The command, with the machine and the processor"""
        accelerator = "kvm" if kvm else "tcg,thread=multi"
        words = self["kvm" if kvm else "tcg"].split()
        words[words.index("-machine") + 1] += ",memory-backend=ram"
        return [self["qemu"], "-nodefaults", "-no-user-config", "-display", "none",
                "-accel", accelerator, *words]

    def console_arguments(self):
        return "console=" + self["console"]

    def kernel_arguments(self, kvm):
        """Arguments of the kernel, beyond those that all have"""
        more = [self.console_arguments(), self["append"]]
        if not kvm:
            rate = self["append-tcg"]
            more.append(rate.replace("TSC_KHZ", str(tsc.khz())) if "TSC_KHZ" in rate else rate)
        return " ".join(filter(None, more))
