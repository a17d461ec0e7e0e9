# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A topology on several hosts: links between switches of two hosts, cables for commands,
and what the supervisors of scripts/vm on all hosts tell each other.

These send datagrams to the address that the file has for a host, once a second. Such a
datagram has nothing but this text:

    mynic-topology DIGEST NAME STATE

with the digest of the file, the name of the sender's host, and "boots", "ready" or
"begun". A host that has begun has heard that all are ready. It is not authenticated, as
the wires are not. At worst, a wrong one has a run begin too early, wait, or end.

Datagrams can be lost. A run that is over therefore goes on telling for a while, unless
all others have begun.
"""

import hashlib
import ipaddress
import os
import re
import select
import socket
import time

# UDP: that of the supervisors, and then one for each link in the file between switches.
# TCP: from this one on, those of cables
PORT = 17700

# Seconds between datagrams, and after which a host that says nothing is told of
INTERVAL = 1
SILENCE = 30
# Seconds for which a run that is over tells those that have not begun
FAREWELL = 10

LONGEST = 256
DATAGRAM = re.compile(rb"mynic-topology ([0-9a-f]{64}) ([a-z0-9]{1,24}) (boots|ready|begun)\n")


class Trouble(Exception):
    """The other hosts do not fit, or this one does not; the text says why."""


def endpoint(address, port):
    """As the device model has it"""
    return ("[%s]:%d" if ":" in address else "%s:%d") % (address, port)


def wire(topology, remote, number, name):
    """Arguments for the end of the number-th link between switches on this host"""
    local = endpoint(topology.hosts[topology.here], PORT + number)
    return ["--wire", "udp,local=%s,remote=%s,name=%s" % (
        local, endpoint(topology.hosts[remote], PORT + number), name)]


def in_order(topology, other):
    """This host and another one, as they are in the file"""
    return tuple(name for name in topology.hosts if name in (topology.here, other))


def far_cables(topology, other, number):
    """The ends here of cables to another host, as QEMU's chardevs have them

    Of two hosts, the later one in the file listens. Each other host has a range of its ports.
    """
    early, late = in_order(topology, other)
    first = PORT + list(topology.hosts).index(early) * number
    how = "tls-creds=listen,server=on,wait=off" if late == topology.here else \
        "tls-creds=connect-%s,reconnect-ms=%d" % (other, 1000 * INTERVAL)
    return ["host=%s,port=%d,%s" % (topology.hosts[late], port, how)
            for port in range(first, first + number)]


def key_objects(topology, directory):
    """QEMU's objects for both kinds of ends: only who knows the key is connected.

    Each pair of hosts has a name for it, so that none is taken for another one.
    """
    os.mkdir(directory, 0o700)
    objects = ["tls-creds-psk,id=listen,endpoint=server,dir=" + directory]
    with open(directory + "/keys.psk", "w", encoding="ascii") as file:
        for other in topology.far_hosts():
            pair = in_order(topology, other)
            name = "-".join(pair)
            file.write("%s:%s\n" % (name, topology.key))
            if pair[1] == other:
                objects.append("tls-creds-psk,id=connect-%s,endpoint=client,username=%s,dir=%s" %
                               (other, name, directory))
    return [word for one in objects for word in ("-object", one)]


class Other:
    """Another host. ready, begun: its state; heard: when it last said something; told:
    that it says nothing
    """

    def __init__(self, name, address):
        self.name = name
        self.address = address
        self.ready = False
        self.begun = False
        self.heard = None
        self.told = False

    def __str__(self):
        return "the host %s at %s" % (self.name, self.address)


class Hosts:
    """The others, as this host knows them. message: prints a line"""

    def __init__(self, name, topology, text, message):
        self.file = name
        self.here = topology.here
        self.message = message
        self.digest = hashlib.sha256(text.encode()).hexdigest()
        self.state = "boots"
        self.others = [Other(name, address) for name, address in topology.hosts.items()
                       if name != self.here]
        self.socket = self.open(topology.hosts[self.here])
        self.timer = os.timerfd_create(time.CLOCK_MONOTONIC)
        os.timerfd_settime(self.timer, initial=INTERVAL, interval=INTERVAL)

    def open(self, address):
        version = ipaddress.ip_address(address).version
        sock = socket.socket(socket.AF_INET if version == 4 else socket.AF_INET6,
                             socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        try:
            sock.bind((address, PORT))
        except OSError as error:
            raise Trouble("--here: the host %s has the address %s, but here: %s" % (
                self.here, endpoint(address, PORT), error.strerror)) from None
        return sock

    def tell(self):
        text = "mynic-topology %s %s %s\n" % (self.digest, self.here, self.state)
        for other in self.others:
            try:
                self.socket.sendto(text.encode(), (other.address, PORT))
            except OSError:
                pass  # there is no way to it yet

    def missing(self):
        """Those that are not ready"""
        return [other for other in self.others if not other.ready]

    def set_ready(self):
        """The guests of this host are."""
        self.state = "ready"
        self.tell()
        for other in self.missing():
            self.message("waiting for %s" % other)

    def set_begun(self):
        """The command of this host runs."""
        self.state = "begun"
        self.tell()

    def part(self):
        """The run is over. Those that have not begun may not know that this host was ready."""
        end = time.monotonic() + FAREWELL
        while any(not other.begun for other in self.others) and time.monotonic() < end:
            ready, _, _ = select.select([self.socket, self.timer], [], [], INTERVAL)
            if self.timer in ready:
                self.on_time()
            if self.socket in ready:
                try:
                    self.on_datagram()
                except Trouble:
                    pass  # it comes too late

    def on_time(self):
        os.read(self.timer, 8)
        self.tell()
        for other in self.others:
            if other.ready and not other.told and time.monotonic() > other.heard + SILENCE:
                self.message("%s says nothing any more" % other)
                other.told = True

    def on_datagram(self):
        try:
            data, sender = self.socket.recvfrom(LONGEST)
        except OSError:
            return
        match = DATAGRAM.fullmatch(data)
        other = next((one for one in self.others if one.address == sender[0]), None)
        if not match or not other:
            return
        digest, name, state = (part.decode() for part in match.groups())
        if digest != self.digest:
            self.tell()
            raise Trouble("%s: %s has another version of this file" % (self.file, other))
        if name != other.name:
            self.tell()
            raise Trouble("--here: at %s is the host %s, and not %s" % (
                other.address, name, other.name))
        other.ready = state != "boots"
        other.begun = state == "begun"
        other.heard = time.monotonic()
        other.told = False
