# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Nodes, switches, and what links them; Documentation/nodes.rst has the words."""

MAX_NODES = 8
MAX_NICS = 16


class Port:
    """A link between a node and a switch: a NIC of the node."""

    def __init__(self, name, switch, faults=()):
        self.name = name
        self.switch = switch
        self.faults = list(faults)


class Node:
    """smp and mem are those of scripts/vm if they are None."""

    def __init__(self, name, smp=None, mem=None):
        self.name = name
        self.smp = smp
        self.mem = mem
        self.ports = []

    def next_port(self):
        """What the next port is called."""
        number = len(self.ports) + 1
        return self.name if number == 1 else "%snic%d" % (self.name, number)


class Topology:
    """What a run with nodes consists of."""

    def __init__(self):
        self.nodes = []
        self.switches = []


def uniform(number, nics):
    """Alike nodes, all NICs of which are on one switch."""
    topology = Topology()
    topology.switches.append("switch")
    for k in range(number):
        node = Node("node%d" % (k + 1))
        for _ in range(nics):
            node.ports.append(Port(node.next_port(), "switch"))
        topology.nodes.append(node)
    return topology
