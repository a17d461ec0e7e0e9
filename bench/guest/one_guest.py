# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The subjects of benchmarks in one guest: mynic_0 with mynic_1, which has a
network namespace of its own, and rxe with itself.

rxe is on a dummy interface. Packets between two QPs of one rxe do not pass an
interface, which is the fastest case of rxe.
"""

import subprocess
import time

from plans import Limits, Subject
from pair import Side

MYNIC = {"bw": Limits(300000, 2 << 30), "lat": Limits(2000, 64 << 20)}
RXE = {"bw": Limits(10000, 40 << 20), "lat": Limits(2000, 8 << 20)}

SETUP = """set -e
ip link add rxe type dummy
ip link set rxe mtu 9000 up
ip address add 192.168.78.1/24 dev rxe
modprobe rdma_rxe
rdma link add rxe0 type rxe netdev rxe
"""


def side(*args):
    """A NIC gets its GIDs a moment after its addresses."""
    while True:
        one = Side(*args)
        if "IPv4" in one.gid:
            return one
        time.sleep(0.05)


def subjects():
    subprocess.run(["sh", "-c", SETUP], stdin=subprocess.DEVNULL, check=True)
    here = side(["ip", "netns", "exec", "nic1"], "192.168.77.2", None, "mynic_1")
    there = side([], "192.168.77.1", None, "mynic_0")
    rxe = side([], "192.168.78.1", None, "rxe0")
    return [Subject("mynic", here, there, MYNIC), Subject("rxe", rxe, rxe, RXE)]
