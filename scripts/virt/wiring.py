# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Which device models there are, and what joins them and the guests."""

import socket

from virt import machine


def device_models(guest, peer, options):
    """Attaches the guests, and returns names and arguments of the device
    models in the order in which they are to be started.
    """
    if guest.device == "rxe" and peer and peer.device == "rxe":
        for one, end in zip((guest, peer), socket.socketpair()):
            one.add_virtio_net(end)
        return []
    argv, sockets = list(options), []
    for k in range(guest.nics):
        path = "%s/nic%d" % (guest.directory, k)
        sockets.append(path)
        argv += ["--nic", "socket=%s,mac=%s" % (path, machine.mac(guest.first + k))]
    guest.add_mynic(sockets)
    return [("mynic-device", argv)] if argv else []
