# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Which device models one or two guests have, and what joins them.

The first device model has the first guest's NICs, or, for a guest with rxe, a
wire to it. It has a wire to the peer, too. Whatever passes between the guests
passes through it, and its options --fault, --capture and --control hold for
all of that. A peer with mynic has a device model of its own.
"""

import socket

from virt import machine

# In MAC addresses
SECOND_NETWORK = 0x80


def stream(end, path, name):
    return ["--wire", "stream,%s=%s,name=%s" % (end, path, name)]


def nic(path, address):
    return ["--nic", "socket=%s,mac=%s" % (path, address)]


def nics(directory, number, first):
    """Arguments for that many NICs, and their sockets."""
    argv, sockets = [], []
    for k in range(number):
        path = "%s/nic%d" % (directory, k)
        sockets.append(path)
        argv += nic(path, machine.mac(first + k))
    return argv, sockets


def attach(guest):
    """Arguments of the device model next to a guest for what the guest has."""
    if guest.device == "mynic":
        argv, sockets = nics(guest.directory, guest.nics, guest.first)
        guest.add_mynic(sockets)
        return argv
    path = guest.directory + "/wire"
    guest.add_virtio_net("stream,server=off,addr.type=unix,addr.path=" + path,
                         machine.mac(guest.first))
    return stream("listen", path, guest.name)


def add_second_network(guest, peer):
    """Virtio-nets that no device model knows: two in a guest, or one in each."""
    if not peer:
        for k in (1, 2):
            guest.add_virtio_net("hubport,hubid=0", machine.mac(k, SECOND_NETWORK))
        return
    for k, (one, end) in enumerate(zip((guest, peer), socket.socketpair()), 1):
        one.add_virtio_net("stream,server=off,addr.type=fd,addr.str=%d" % one.inherit(end),
                           machine.mac(k, SECOND_NETWORK))


def device_models(guest, peer, options):
    """Attaches the guests, and returns names and arguments of the device
    models in the order in which they are to be started.
    """
    first = attach(guest)
    models = [("mynic-device", first)]
    if peer and peer.device == "mynic":
        path = peer.directory + "/wire"
        first += stream("listen", path, peer.name)
        models.append(("mynic-device of the peer",
                       attach(peer) + stream("connect", path, guest.name)))
    elif peer:
        first += attach(peer)
    first += options
    return [(name, argv) for name, argv in models if argv]
