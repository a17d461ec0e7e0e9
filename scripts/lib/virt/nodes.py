# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The guests of a topology, and the device models that are its switches.

A switch is a process of the device model, and has the NICs of all nodes that are
linked to it. Of several hosts, each has its own nodes and switches only.

Cables for commands join the first node with each other one. DOWN is for commands that
the first node runs there, and UP for those that go the other way. The first node passes
on what other nodes have for each other. If the hosts have a key, there are cables between
the first nodes of each two, FAR for each way.
"""

import argparse

from virt import hosts, machine, root, wiring

DOWN = 8
UP = 4
FAR = machine.CABLES // 2

FIRST_NETWORK = 77

# With several hosts, frames have to fit into datagrams of networks with an MTU of 1500.
MTU = 9000
MTU_OF_HOSTS = 1400


def etc_hosts(topology):
    """Names and addresses, as /etc/hosts has them."""
    found = ["127.0.0.1 localhost", "::1 localhost"]
    for number, node in enumerate(topology.nodes, 1):
        for nic, link in enumerate(node.links):
            found.append("192.168.%d.%d %s" % (FIRST_NETWORK + nic, number, link.name))
        if not node.links:
            found.append("127.0.1.1 " + node.name)
    return lines(found)


def make_guests(topology, args, directory, task):
    """One for each node; task is the first one's."""
    guests = []
    consoles = len(topology.own_nodes()) - 1 + len(topology.far_hosts())
    mtu = MTU_OF_HOSTS if topology.hosts else MTU
    for number, node in topology.own_nodes():
        settings = argparse.Namespace(**vars(args))
        settings.smp = node.smp or args.smp
        settings.mem = node.mem or args.mem
        guest = machine.Machine(node.name, "%s/%s" % (directory, node.name), settings,
                                "peer" if guests else task, args.device, len(node.links),
                                number, 1 if guests else consoles)
        guest.title = node.name
        guest.files["hosts"] = etc_hosts(topology)
        guest.files["mtu"] = lines([str(mtu)])
        guest.files["hostfile"] = lines(reached(topology))
        guest.files["variables"] = lines(root.NODE_VARIABLES)
        guests.append(guest)
    join(topology, guests)
    if topology.far_hosts():
        guests[0].objects = hosts.key_objects(topology, directory + "/.key")
    return guests


def join(topology, guests):
    """Gives them cables, and tells them which ones to serve and which to use.

    Ranges of cables are the console, the first port and how many there are. The file
    "serve" has those that a node serves.
    """
    first, others = guests[0], guests[1:]
    down = "%%d %d %d" % (machine.FIRST_CABLE, DOWN)
    up = "%%d %d %d" % (machine.FIRST_CABLE + DOWN, UP)
    serve = []
    reach = {}
    for console, other in enumerate(others, 1):
        for one, ends, number in zip((first, other), machine.cables(DOWN + UP), (console, 1)):
            one.add_cables(ends, number)
        serve.append(up % console)
        reach[other.name] = down % console
        other.files["serve"] = lines([down % 1])
        other.files["nodes"] = names(topology, {first.name: up % 1})
    for console, host in enumerate(topology.far_hosts(), len(guests)):
        served, used = join_hosts(topology, first, host, console)
        serve.append(served)
        reach.update(used)
    first.files["serve"] = lines(serve)
    first.files["nodes"] = names(topology, reach)


def join_hosts(topology, first, host, console):
    """Gives the first node cables to that of another host.

    Returns which to serve, and how to reach the nodes there by the rest: the first of them,
    and others by way of that one.
    """
    first.add_far_cables(hosts.far_cables(topology, host, 2 * FAR), console)
    halves = ["%d %d %d" % (console, port, FAR)
              for port in (machine.FIRST_CABLE, machine.FIRST_CABLE + FAR)]
    if hosts.in_order(topology, host)[0] == host:
        halves.reverse()
    served, used = halves
    gate, *rest = [node.name for node in topology.nodes if node.host == host]
    return served, {gate: used, **{name: used + " " + gate for name in rest}}


def reached(topology):
    """Names of the nodes in which commands can run"""
    return [node.name for node in topology.nodes if topology.key or node.host == topology.here]


def names(topology, reach):
    """A line for each node

    It has the name, and a range of cables if the node can be reached directly. A node of
    another host is reached by way of its first one, whose name follows. Without a key, it
    has its host instead.
    """
    found = []
    for node in topology.nodes:
        if node.host != topology.here and not topology.key:
            found.append("%s host=%s" % (node.name, node.host))
        else:
            found.append(" ".join([node.name, reach.get(node.name, "")]).rstrip())
    return lines(found)


def lines(texts):
    """A file of these"""
    return "".join(text + "\n" for text in texts).encode()


def attach(topology, guests):
    """Arguments for the NICs of the guests, by the switch's name"""
    argv = {name: [] for name in topology.own_switches()}
    for (number, node), guest in zip(topology.own_nodes(), guests):
        sockets = []
        for nic, link in enumerate(node.links):
            path = "%s/nic%d" % (guest.directory, nic)
            sockets.append(path)
            if guest.device == "mynic":
                one = wiring.nic(path, machine.mac(number, nic))
                one[-1] += ",name=" + link.name
            else:
                one = wiring.stream("listen", path, link.name)
                guest.add_virtio_net(path, machine.mac(number, nic))
            argv[link.switch] += one
        if guest.device == "mynic":
            guest.add_mynic(sockets)
    return argv


def control_sockets(topology, args):
    """Paths in the order of switches, if any are wanted"""
    if not args.control:
        return []
    return [args.control, *("%s.%s" % (args.control, name) for name in topology.own_switches()[1:])]


def port_of(rule):
    """That of a rule of --fault"""
    return rule.partition(",")[0]


def unknown_port(topology, args):
    """The complaint about a port that no switch has, if an option names one"""
    named = [("--fault", port_of(rule)) for rule in args.fault]
    if args.capture:
        named.append(("--capture", args.capture))
    for option, port in named:
        switch = topology.switch_of(port)
        if not switch:
            return "%s: there is no port %s" % (option, port)
        if switch not in topology.own_switches():
            return "%s: the port %s is on the host %s" % (option, port, topology.places[switch])
    return None


def add_trunk(argv, topology, number, trunk, directory):
    """Adds the ends of a trunk, the number-th one, to the switches of this host."""
    path = "%s/%s" % (directory, trunk.name)
    here, there = topology.places[trunk.switch], topology.places[trunk.other]
    if here == there:
        if here == topology.here:
            argv[trunk.switch] += wiring.stream("listen", path, trunk.name)
            argv[trunk.other] += wiring.stream("connect", path, trunk.name)
        return
    for switch, remote in ((trunk.switch, there), (trunk.other, here)):
        if switch in argv:
            argv[switch] += hosts.wire(topology, remote, number, trunk.name)


def device_models(topology, guests, directory, args):
    """Names and arguments, as those of wiring.py. Rules, which name their port, go to
    its switch, and a capture, too.
    """
    argv = attach(topology, guests)
    for number, trunk in enumerate(topology.trunks, 1):
        add_trunk(argv, topology, number, trunk, directory)
    for link in topology.ports():
        for rule in link.rules if link.switch in argv else []:
            argv[link.switch] += ["--fault", "%s,%s" % (link.name, rule)]
    for rule in args.fault:
        argv[topology.switch_of(port_of(rule))] += ["--fault", rule]
    if args.capture:
        argv[topology.switch_of(args.capture)] += [
            "--capture", "%s=fd:%d" % (args.capture, args.capture_fd)]
    for name, path in zip(topology.own_switches(), control_sockets(topology, args)):
        argv[name] += ["--control", path]
    names = {name: "mynic-device" if len(argv) == 1 else "mynic-device of " + name
             for name in argv}
    return [(names[name], one) for name, one in argv.items() if "--nic" in one or "--wire" in one]
