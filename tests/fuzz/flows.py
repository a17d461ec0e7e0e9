# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Flow rules, and which frames they match: ibv_create_flow(3)."""

from dataclasses import dataclass, field

from model import Thing

NORMAL, ALL_DEFAULT, MC_DEFAULT, SNIFFER = range(4)
DONT_TRAP = 2
# The order in which rules are asked: Documentation/hardware/ethernet.rst
STAGES = {SNIFFER: 0, NORMAL: 1, ALL_DEFAULT: 2, MC_DEFAULT: 2}
ETHERTYPE_IPV4 = 0x0800


def is_like(number, masked):
    """Whether a number is as words.Masked says"""
    return not (number ^ masked.value) & masked.mask


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
        for word, value in self.specs.items():
            if not {
                "ether": lambda: value == ETHERTYPE_IPV4,
                "vlan": lambda: frame.vlan and is_like(frame.vlan, value),
                "src": lambda: is_like(source, value),
                "dst": lambda: is_like(target, value),
                "l4": lambda: value == frame.spec,
                "sport": lambda: value == frame.ports()[0],
                "dport": lambda: value == frame.ports()[1],
            }[word]():
                return False
        return frame.group == self.group

    def fit(self, frame):
        """Make a frame of UDP match, if one can."""
        frame.group = self.group
        frame.sport = self.specs.get("sport", frame.sport)
        frame.dport = self.specs.get("dport", frame.dport)
        if "vlan" in self.specs:
            frame.vlan = self.specs["vlan"].value
        if "src" in self.specs:
            frame.source = self.specs["src"].value & 255
