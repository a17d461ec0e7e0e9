# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Flow rules, and which frames they match: ibv_create_flow(3)."""

from dataclasses import dataclass, field

from model import Thing
from words import Masked

NORMAL, ALL_DEFAULT, MC_DEFAULT, SNIFFER = range(4)
DONT_TRAP = 2
# The order in which rules are asked: Documentation/hardware/ethernet.rst
STAGES = {SNIFFER: 0, NORMAL: 1, ALL_DEFAULT: 2, MC_DEFAULT: 2}
ETHERTYPE_IPV4 = 0x0800


def is_like(number, wanted):
    """Whether a field of a header is as a rule says; number: None if there is none"""
    if isinstance(wanted, Masked):
        return number is not None and not (number ^ wanted.value) & wanted.mask
    return number == wanted


@dataclass(eq=False)
class Flow(Thing):
    """A flow rule

    group: of the address that it is for
    specs: what else it says of headers, by the words of the runner
    find: function from a frame to the Wq that receives it
    """

    qp: object = None
    type: int = NORMAL
    priority: int = 0
    group: int = 0
    specs: dict = field(default_factory=dict)
    tag: int = 0
    drop: bool = False
    dont_trap: bool = False
    counters: object = None
    find: object = None

    @property
    def place(self):
        """Rules of a smaller one are asked first, and of the same the oldest."""
        return STAGES[self.type], self.priority

    @property
    def leaves(self):
        """Whether other rules get the frame, too"""
        return self.type == SNIFFER or self.dont_trap

    def matches(self, frame):
        """Whether it is for a frame, which has IPv4, and UDP or TCP"""
        source, target = frame.addresses()
        sport, dport = frame.ports()
        fields = {"ether": ETHERTYPE_IPV4, "vlan": frame.vlan or None,
                  "src": source, "dst": target, "l4": frame.spec,
                  "sport": sport, "dport": dport}
        return frame.group == self.group and all(
            is_like(fields[word], wanted)
            for word, wanted in self.specs.items())

    def fit(self, frame):
        """Make a frame of UDP match, if one can."""
        frame.group = self.group
        frame.sport = self.specs.get("sport", frame.sport)
        frame.dport = self.specs.get("dport", frame.dport)
        if "vlan" in self.specs:
            frame.vlan = self.specs["vlan"].value
        if "src" in self.specs:
            frame.source = self.specs["src"].value & 255
