# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Nodes, switches and the links between them, and the files that describe them.
Documentation/nodes.rst has the grammar.
"""

import ipaddress
import re

# On each host
MAX_NODES = 8
MAX_HOSTS = 8
# Each is a process. Links between those of two hosts have a port each.
MAX_SWITCHES = 64
MAX_NICS = 16
MAX_SMP = 64
# A wire's rules of the device model: Documentation/faults.rst
MAX_BYTES = 67108864

# Ports have names of 31 characters at most. Some are a node's with "nic16" behind it.
NAME = re.compile(r"[a-z][a-z0-9]{0,23}")
NUMBER = re.compile(r"[1-9][0-9]{0,7}")
MEM = re.compile(r"[1-9][0-9]{0,6}[MG]")
KEY = re.compile(r"(?:[0-9a-f]{2}){16,64}")
LOSS = re.compile(r"0(\.[0-9]{1,9})?|1(\.0{1,9})?")
RATE = re.compile(r"([1-9][0-9]{0,12})(bit|kbit|Mbit|Gbit)")
DELAY = re.compile(r"([1-9][0-9]{0,10})(ns|us|ms|s)")
UNITS = {"bit": 1, "kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9,
         "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
MAX_RATE = 10**12
MAX_DELAY = 60 * 10**9
# No more than this is read or told of a file that is no topology.
MAX_FILE = 1 << 20
MAX_COMPLAINT = 200


class Wrong(Exception):
    """A topology that cannot be; the text says where and why."""


class Link:
    """The link of a port of the switch, to a node or to another switch.

    name: of the port
    rules: those of wire faults, without the port
    """

    def __init__(self, name, switch, rules=()):
        self.name = name
        self.switch = switch
        self.rules = list(rules)


class Trunk(Link):
    """Its port is on switch, and the other end on other."""

    def __init__(self, name, switch, other, rules=()):
        super().__init__(name, switch, rules)
        self.other = other


class Node:
    """smp and mem are those of scripts/vm if they are None. links: one for each NIC.
    host: its name, or None in a file without hosts
    """

    def __init__(self, name, smp=None, mem=None, host=None):
        self.name = name
        self.smp = smp
        self.mem = mem
        self.host = host
        self.links = []

    def add_link(self, switch, rules=()):
        """Returns its name."""
        number = len(self.links) + 1
        name = self.name if number == 1 else "%snic%d" % (self.name, number)
        self.links.append(Link(name, switch, rules))
        return name


class Topology:
    """All that there is, in the order of the file. here: the host that this one is, or
    None without hosts
    """

    def __init__(self):
        self.hosts = {}  # addresses by name
        self.key = None  # hexadecimal digits that all hosts know, or None
        self.nodes = []
        self.switches = []
        self.trunks = []
        self.places = {}  # hosts by switch
        self.here = None

    def far_hosts(self):
        """Others whose nodes run commands of this host's, and the other way round"""
        return [name for name in self.hosts if self.key and name != self.here]

    def own_switches(self):
        return [name for name in self.switches if self.places.get(name) == self.here]

    def own_nodes(self):
        """With their numbers"""
        return [one for one in enumerate(self.nodes, 1) if one[1].host == self.here]

    def settle(self, name, here):
        """Says which host this is; name: the file's."""
        if here and not self.hosts:
            raise Wrong("--here: %s has no hosts" % name)
        if here and here not in self.hosts:
            raise Wrong("--here: there is no host %s among %s" % (told(here), " ".join(self.hosts)))
        if self.hosts and not here:
            raise Wrong("%s has the hosts %s: --here says which one this is" %
                        (name, " ".join(self.hosts)))
        self.here = here or None
        # Cables to other hosts take slots that NICs could have.
        most = MAX_NICS - len(self.far_hosts())
        first = self.own_nodes()[0][1]
        if len(first.links) > most:
            raise Wrong("%s: %s is the first node of %s, and has more than %d NICs beside "
                        "cables to other hosts" % (name, first.name, here, most))

    def ports(self):
        """All links, of nodes and of switches"""
        return [link for node in self.nodes for link in node.links] + self.trunks

    def switch_of(self, port):
        """That of the port with this name, or None"""
        return next((link.switch for link in self.ports() if link.name == port), None)


def uniform(number, nics):
    """Alike nodes, all NICs of which are on one switch."""
    topology = Topology()
    topology.switches.append("switch")
    for k in range(number):
        node = Node("node%d" % (k + 1))
        for _ in range(nics):
            node.add_link("switch")
        topology.nodes.append(node)
    return topology


def value(word, pattern, what):
    """The match of a word, which must be what is wanted."""
    match = pattern.fullmatch(word)
    if not match:
        raise Wrong("%s: not %s" % (word, what))
    return match


def quantity(word, pattern, most, what):
    """A number with a unit, as it is written"""
    match = value(word, pattern, what)
    if int(match[1]) * UNITS[match[2]] > most:
        raise Wrong("%s: not %s" % (word, what))
    return word


def number(word, most, what):
    """A number from 1"""
    result = int(value(word, NUMBER, what)[0])
    if result > most:
        raise Wrong("%s: not %s" % (word, what))
    return result


def settings(words, known):
    """KEY=VALUE by KEY"""
    found = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or key not in known:
            raise Wrong("%s: not one of %s" % (word, ", ".join(name + "=" for name in known)))
        if key in found:
            raise Wrong("%s= twice" % key)
        found[key] = text
    return found


def link_rules(words, seed):
    """The rules that make a link as the words have it. A packet waits in the queue, is
    on its way, and is lost there.
    """
    found = settings(words, ("rate", "queue", "ecn", "delay", "loss"))
    rules = []
    if "rate" in found:
        rule = "kind=rate,bandwidth=" + quantity(found["rate"], RATE, MAX_RATE,
                                                 "a rate such as 100Mbit, up to 1000Gbit")
        limits = {key: number(found[key], MAX_BYTES, "a number of bytes, up to %d" % MAX_BYTES)
                  for key in ("queue", "ecn") if key in found}
        if limits.get("ecn", 0) >= limits.get("queue", 1 << 20):
            raise Wrong("ecn= is not less than queue=")
        rules.append(rule + "".join(",%s=%d" % limit for limit in limits.items()))
    for key in ("queue", "ecn"):
        if key in found and "rate" not in found:
            raise Wrong("%s= needs rate=" % key)
    if "delay" in found:
        rules.append("kind=delay,time=" + quantity(found["delay"], DELAY, MAX_DELAY,
                                                   "a time such as 10us, up to 60s"))
    if "loss" in found:
        value(found["loss"], LOSS, "a share from 0 to 1, such as 0.01")
        rules.append("kind=drop,rate=%s,seed=%d" % (found["loss"], seed))
    return rules


def host_address(word):
    """That of a host, as it is written in short"""
    try:
        address = ipaddress.ip_address(word)
    except ValueError:
        address = None
    # All hosts read the same file, and know no others' interfaces.
    if not address or "%" in word or address.is_unspecified or address.is_multicast:
        raise Wrong("%s: not the IP address of a host" % word)
    return str(address)


class Reader:
    """Makes a Topology of lines."""

    def __init__(self):
        self.topology = Topology()
        self.nodes = {}
        self.crowds = {}  # numbers of nodes by host
        self.lines = {}  # of names
        # Switches that are joined have the same; so a loop is noticed.
        self.groups = {}

    def take_name(self, name, line):
        value(name, NAME, "a name: a small letter and then at most 23 of a-z and 0-9")
        self.reserve(name, line)

    def reserve(self, name, line):
        if name in self.lines:
            raise Wrong("%s is in line %d already" % (name, self.lines[name]))
        self.lines[name] = line

    def host(self, line, name, address):
        self.take_name(name, line)
        hosts = self.topology.hosts
        if self.nodes or self.topology.switches:
            raise Wrong("hosts come before nodes and switches")
        if len(hosts) == MAX_HOSTS:
            raise Wrong("more than %d hosts" % MAX_HOSTS)
        found = host_address(address)
        if found in hosts.values():
            raise Wrong("%s is another host's" % address)
        if any((":" in one) != (":" in found) for one in hosts.values()):
            raise Wrong("%s: hosts have all IPv4 or all IPv6 addresses" % address)
        hosts[name] = found

    def key(self, _, key):
        if not self.topology.hosts:
            raise Wrong("a key is for hosts, which come before it")
        key = key.lower()
        if self.topology.key:
            raise Wrong("there is a key already")
        # What is no key may be a part of one, and is not shown.
        if not KEY.fullmatch(key):
            raise Wrong("the key is not one of 32 to 128 hexadecimal digits, as of "
                        "openssl rand -hex 16")
        self.topology.key = key

    def place(self, found):
        """The host that settings name"""
        hosts = self.topology.hosts
        host = found.get("host")
        if host is None and hosts:
            raise Wrong("host= is missing: one of %s" % ", ".join(hosts))
        if host is not None and host not in hosts:
            raise Wrong("there is no host %s before this line" % host)
        return host

    def node(self, line, name, *words):
        self.take_name(name, line)
        found = settings(words, ("smp", "mem", "host"))
        host = self.place(found)
        if self.crowds.get(host) == MAX_NODES:
            raise Wrong("more than %d nodes%s" % (MAX_NODES, " on %s" % host if host else ""))
        self.crowds[host] = self.crowds.get(host, 0) + 1
        node = Node(name, host=host)
        if "smp" in found:
            node.smp = number(found["smp"], MAX_SMP, "a number of processors, 1 to %d" % MAX_SMP)
        if "mem" in found:
            node.mem = value(found["mem"], MEM, "a number with a suffix M or G")[0]
        self.nodes[name] = node
        self.topology.nodes.append(node)

    def switch(self, line, name, *words):
        self.take_name(name, line)
        if len(self.topology.switches) == MAX_SWITCHES:
            raise Wrong("more than %d switches" % MAX_SWITCHES)
        self.topology.places[name] = self.place(settings(words, ("host",)))
        self.topology.switches.append(name)
        self.groups[name] = name

    def link(self, line, first, second, *words):
        for name in (first, second):
            if name not in self.nodes and name not in self.groups:
                raise Wrong("there is no node or switch %s before this line" % name)
        rules = link_rules(words, line)
        if second not in self.groups:
            first, second = second, first
        if second not in self.groups:
            raise Wrong("a link joins a node or switch with a switch")
        if first in self.nodes:
            self.check_place(self.nodes[first], second)
            if len(self.nodes[first].links) == MAX_NICS:
                raise Wrong("%s has %d NICs already" % (first, MAX_NICS))
            port = self.nodes[first].add_link(second, rules)
            if port != first:
                self.reserve(port, line)
        else:
            self.trunk(line, first, second, rules)

    def check_place(self, node, switch):
        place = self.topology.places[switch]
        if node.host != place:
            raise Wrong("%s is on %s and %s on %s: link it with a switch of its own host" %
                        (node.name, node.host, switch, place))

    def trunk(self, line, first, second, rules):
        groups = self.groups
        if groups[first] == groups[second]:
            raise Wrong("%s and %s are joined already: switches have no spanning tree" %
                        (first, second))
        old = groups[second]
        for name, group in groups.items():
            if group == old:
                groups[name] = groups[first]
        port = "trunk%d" % (len(self.topology.trunks) + 1)
        self.reserve(port, line)
        self.topology.trunks.append(Trunk(port, first, second, rules))

    # Statement, least and largest number of words
    STATEMENTS = {
        "host": (host, "host NAME ADDRESS", 2, 2),
        "key": (key, "key DIGITS", 1, 1),
        "node": (node, "node NAME [smp=N] [mem=SIZE] [host=NAME]", 1, 4),
        "switch": (switch, "switch NAME [host=NAME]", 1, 2),
        "link": (link, "link NAME NAME [rate=R [queue=BYTES] [ecn=BYTES]] [delay=T] [loss=P]", 2, 7),
    }

    def statement(self, line, text):
        words = text.partition("#")[0].split()
        if not words:
            return
        if words[0] not in self.STATEMENTS:
            # What follows "key=" is not for others.
            raise Wrong("%s: not one of %s" % (words[0].partition("=")[0],
                                               ", ".join(self.STATEMENTS)))
        method, usage, least, most = self.STATEMENTS[words[0]]
        if not least <= len(words) - 1 <= most:
            raise Wrong("not of the form: " + usage)
        method(self, line, *words[1:])


def told(text):
    """What is wrong, in one line that a terminal can show"""
    text = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
    return text if len(text) <= MAX_COMPLAINT else text[:MAX_COMPLAINT] + "..."


def read(name, text):
    """The topology of a file with this name and text"""
    if len(text) > MAX_FILE:
        raise Wrong("%s: it is larger than %d characters" % (name, MAX_FILE))
    reader = Reader()
    for line, one in enumerate(text.splitlines(), 1):
        try:
            reader.statement(line, one)
        except Wrong as wrong:
            raise Wrong("%s:%d: %s" % (name, line, told(str(wrong)))) from None
    if len(reader.nodes) < 2:
        raise Wrong("%s: it has %d nodes, and two are the least" % (name, len(reader.nodes)))
    for host in reader.topology.hosts:
        if host not in reader.crowds:
            raise Wrong("%s: the host %s has no node" % (name, host))
    return reader.topology
