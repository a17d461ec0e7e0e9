# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The guests of a topology, and the device models that are its switches.

A switch is a process of the device model, and has the NICs of all nodes that are
linked to it.

Cables for commands join the first node with each other one: DOWN for commands
that the first node runs there, UP for those that go the other way. The first node
passes on what other nodes have for each other.
"""

import argparse

from virt import machine, wiring

DOWN = 8
UP = 4

FIRST_NETWORK = 77


def mac(node, nic):
    """Of NIC nic, from 0, of that node, from 1."""
    return "52:54:00:77:%02x:%02x" % (nic, node)


def hosts(topology):
    """Names and addresses, as /etc/hosts has them."""
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    for number, node in enumerate(topology.nodes, 1):
        for nic, port in enumerate(node.ports):
            lines.append("192.168.%d.%d %s" % (FIRST_NETWORK + nic, number, port.name))
        if not node.ports:
            lines.append("127.0.1.1 " + node.name)
    return "".join(line + "\n" for line in lines).encode()


def make_guests(topology, args, directory, task):
    """One for each node; task is the first one's."""
    guests = []
    others = len(topology.nodes) - 1
    for number, node in enumerate(topology.nodes, 1):
        settings = argparse.Namespace(**vars(args))
        settings.smp = node.smp or args.smp
        settings.mem = node.mem or args.mem
        guest = machine.Machine(node.name, "%s/%s" % (directory, node.name), settings,
                                "peer" if guests else task, args.device, len(node.ports),
                                number, (DOWN + UP) * (1 if guests else others))
        guest.title = node.name
        guest.files["hosts"] = hosts(topology)
        guests.append(guest)
    join(guests)
    return guests


def join(guests):
    """Gives them cables, and tells them which ones to serve and which to use.

    The file "serve" has pairs of the number of the first port and how many there
    are, and "nodes" a line for each node: its name, and such a pair if it can be
    reached directly.
    """
    first, others = guests[0], guests[1:]
    down, up = [], []
    for other in others:
        down.append([end.add_cables(ends)
                     for end, ends in zip((first, other), machine.cables(DOWN))])
    for other in others:
        up.append([end.add_cables(ends)
                   for end, ends in zip((first, other), machine.cables(UP))])
    lines = [first.name]
    for other, (port, served) in zip(others, down):
        lines.append("%s %d %d" % (other.name, port, DOWN))
        other.files["serve"] = b"%d %d\n" % (served, DOWN)
    first.files["nodes"] = ("\n".join(lines) + "\n").encode()
    if others:
        # They follow each other.
        first.files["serve"] = b"%d %d\n" % (up[0][0], UP * len(others))
    for other, (_, port) in zip(others, up):
        lines = ["%s %d %d" % (first.name, port, UP), *(one.name for one in others)]
        other.files["nodes"] = ("\n".join(lines) + "\n").encode()


def switch_arguments(topology, guests):
    """Attaches the guests. Arguments of each switch, by its name."""
    argv = {name: [] for name in topology.switches}
    for number, (node, guest) in enumerate(zip(topology.nodes, guests), 1):
        sockets = []
        for nic, port in enumerate(node.ports):
            path = "%s/nic%d" % (guest.directory, nic)
            sockets.append(path)
            if guest.device == "mynic":
                one = wiring.nic(path, mac(number, nic))
                one[-1] += ",name=" + port.name
            else:
                one = wiring.stream("listen", path, port.name)
                guest.add_virtio_net(path, mac(number, nic))
            argv[port.switch] += one
        if guest.device == "mynic":
            guest.add_mynic(sockets)
    return argv


def device_models(topology, guests, options):
    """Names and arguments, as those of wiring.py."""
    return [("mynic-device", one + options)
            for one in switch_arguments(topology, guests).values() if one]
