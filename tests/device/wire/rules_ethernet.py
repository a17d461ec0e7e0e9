# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rules of frames that are not RoCEv2 packets for the NIC, and of loopback"""

import random

import nic as machine
import roce
from nic import (RTS, WR_FETCH_ADD, WR_READ, WR_SEND, WR_TSO, WR_WRITE, Counts, Failed, Qp, check,
                 pattern)
from rules import rule
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop, IPv6ExtHdrFragment
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

_TO_NIC = {"src": machine.PEER_MAC, "dst": machine.NIC_MAC}
_IPV4 = {"src": machine.PEER_IP[4], "dst": machine.NIC_IP[4]}
_IPV6 = {"src": machine.PEER_IP[6], "dst": machine.NIC_IP[6]}


def raw_qp(nic):
    """A RAW_PACKET QP that receives all frames"""
    qp = Qp(nic, kind="raw")
    for i in range(4):
        qp.recv(1 + i, 10000, at=10000 * i)
    nic.command("rx", qp=qp.handle)
    return qp


def write_request(qp, **ip):
    """The bytes of an RDMA WRITE to a QP, with fields of IP as given"""
    return roce.build(roce.WRITE_ONLY, _TO_NIC, {**_IPV4, **ip},
                      {"dqpn": qp.qpn, "psn": qp.psn}, qp.reth(4), b"abcd")


FRAMES = {
    "ARP": lambda qp: (Ether(src=machine.PEER_MAC, dst="ff:ff:ff:ff:ff:ff")
                       / ARP(pdst="10.0.0.1")).build(),
    "UDP to another port": lambda qp: (
        Ether(**_TO_NIC) / IP(**_IPV4) / UDP(sport=4791, dport=4790) / Raw(b"x" * 30)).build(),
    "TCP": lambda qp: (Ether(**_TO_NIC) / IP(**_IPV4, proto=6) / Raw(b"x" * 40)).build(),
    "first fragment": lambda qp: write_request(qp, flags="MF"),
    "last fragment": lambda qp: write_request(qp, flags=0, frag=3),
    "IPv6 extension header": lambda qp: (
        Ether(**_TO_NIC) / IPv6(**_IPV6) / IPv6ExtHdrHopByHop()
        / UDP(sport=5, dport=4791) / Raw(b"x" * 40)).build(),
    "IPv6 fragment": lambda qp: (
        Ether(**_TO_NIC) / IPv6(**_IPV6) / IPv6ExtHdrFragment(m=1)
        / UDP(sport=5, dport=4791) / Raw(b"x" * 40)).build(),
    "VLAN": lambda qp: (Ether(**_TO_NIC) / Dot1Q(vlan=99, prio=2, type=0x88b5)
                        / Raw(b"x" * 50)).build(),
    "RoCEv2 to another GID": lambda qp: write_request(qp, dst="10.0.0.77"),
    "RoCEv2 to another MAC": lambda qp: flip_mac(write_request(qp)),
    "RoCE without IP": lambda qp: (Ether(**_TO_NIC, type=0x8915) / Raw(b"x" * 60)).build(),
}


def flip_mac(frame):
    """The same frame to another MAC"""
    return frame[:5] + bytes([frame[5] ^ 0x40]) + frame[6:]


for _name, _make in FRAMES.items():
    @rule("ethernet_side", _name, make=_make)
    def ethernet_side(nic, make):
        qp = Qp(nic)
        raw = raw_qp(nic)
        frame = make(qp)
        with Counts(nic, rx_eth_packets=1, rx_eth_dropped=0):
            nic.wire.send(frame)
            raw.received(1, len=len(frame))
        check(raw.mr.read(len(frame)), frame, "frame")
        check(qp.mr.read(4), b"\0" * 4, "memory")


@rule("ethernet_side", "RoCEv2 for the NIC does not go there")
def roce_side(nic):
    qp = Qp(nic)
    raw = raw_qp(nic)
    with Counts(nic, rx_eth_packets=0, rx_eth_dropped=0):
        qp.request(roce.WRITE_ONLY, b"abcd", fields=qp.reth(4), ackreq=1)
        qp.expect_ack(0x100000)
        # a frame that a wire has damaged is not received either
        nic.wire.send(write_request(qp)[:-1] + b"\0", sound=False)
        raw.no_completion()


@rule("ethernet_side", "nobody there")
def ethernet_dropped(nic):
    qp = Qp(nic)
    with Counts(nic, rx_eth_dropped=len(FRAMES)):
        for make in FRAMES.values():
            nic.wire.send(make(qp))
        nic.barrier()


@rule("ethernet_sent")
def ethernet_sent(nic):
    raw = raw_qp(nic)
    for i, length in enumerate((14, 60, 1514, 9018)):
        frame = bytes.fromhex("0200000000990200000000aa88b5") + pattern(length - 14, i)
        raw.mr.write(frame)
        raw.post(i, WR_SEND, length)
        raw.completion(i)
        nic.wait(lambda: nic.wire.sort() or nic.wire.others, "the frame")
        check(nic.wire.others.popleft()[0], frame, "frame")


def next_frame(nic):
    """The next frame that is not RoCEv2, as it came from the NIC"""
    nic.wait(lambda: nic.wire.sort() or nic.wire.others, "the frame")
    return nic.wire.others.popleft()[0]


IP_CSUM = 0x10
_SIGNALED = 2
_NETWORKS = {
    "IPv4": lambda: IP(src="192.0.2.1", dst="192.0.2.2", id=0xffff, flags="DF"),
    "IPv6": lambda: IPv6(src="2001:db8::1", dst="2001:db8::2", tc=0x48),
}


@rule("ethernet_sent", "checksums")
def checksums(nic):
    raw = raw_qp(nic)
    for i, (network, transport) in enumerate(
            (n, t) for n in _NETWORKS.values() for t in (UDP, TCP)):
        want = (Ether(dst="02:00:00:00:00:99", src=machine.NIC_MAC) / Dot1Q(vlan=7)
                / network() / transport(sport=1, dport=2) / Raw(pattern(301, i))).build()
        sent = Ether(want)
        sent[transport].chksum = 0x1234
        if IP in sent:
            sent[IP].chksum = 0x5678
        raw.mr.write(sent.build())
        raw.post(i, WR_SEND, len(want), flags=_SIGNALED | IP_CSUM)
        raw.completion(i)
        check(next_frame(nic), want, "frame")


@rule("ethernet_sent", "inserted VLAN tags")
def inserted_tags(nic):
    raw = raw_qp(nic)
    addresses = bytes.fromhex("0200000000990200000000aa")
    own_tag = bytes.fromhex("81000007")
    for i, (length, own) in enumerate((n, d) for n in (46, 1486, 8996) for d in (b"", own_tag)):
        rest = own + b"\x88\xb5" + pattern(length, i)
        raw.mr.write(addresses + rest)
        raw.post(i, WR_SEND, len(addresses + rest), vlan=0xb345)
        raw.completion(i)
        check(next_frame(nic), addresses + b"\x81\x00\xb3\x45" + rest, "frame")


for _name, _network in _NETWORKS.items():
    @rule("ethernet_sent", f"TCP segments over {_name}", network=_network)
    def segments(nic, network):
        raw = raw_qp(nic)
        ethernet = Ether(dst="02:00:00:00:00:99", src=machine.NIC_MAC)
        options = [("Timestamp", (1, 2))]
        data, mss = pattern(7000, 3), 1448
        header = (ethernet / network() / TCP(sport=1, dport=2, seq=0xfffff000, flags="CPA",
                                             options=options)).build()
        raw.mr.write(data)
        raw.post(1, WR_TSO, len(data), mss=mss, hdr=header.hex())
        raw.completion(1)
        for at in range(0, len(data), mss):
            flags = "A" + ("C" if not at else "") + ("P" if at + mss >= len(data) else "")
            layer = network()
            if IP in layer:
                layer.id = (0xffff + at // mss) % 0x10000
            want = (ethernet / layer / TCP(sport=1, dport=2, seq=(0xfffff000 + at) % 2 ** 32,
                                           flags=flags, options=options)
                    / Raw(data[at:at + mss])).build()
            check(next_frame(nic), want, f"segment at {at}")


@rule("not_a_frame", "too short", lengths=(1, 6, 13))
@rule("not_a_frame", "too long", lengths=(9235, 20000, 65000))
def not_a_frame(nic, lengths):
    with Counts(nic, rx_rdma_packets=4):
        for length in lengths:
            nic.wire.send(b"\xff" * length, sound=False)
        nic.barrier()
    nic.barrier()


# Loopback

def loopback_pair(nic, ip, kind="rc"):
    """Two QPs of the NIC that are connected to each other"""
    pair = [Qp(nic, kind=kind, ip=ip, state=0) for _ in range(2)]
    for qp, other in (pair, pair[::-1]):
        qp.peer_qpn = other.qpn
        qp.attr.update(dgid=roce.gid(machine.NIC_IP[ip]), sq_psn=0x100000,
                       dmac=bytes.fromhex(machine.NIC_MAC.replace(":", "")))
        qp.up(RTS)
    return pair


@rule("loopback", "IPv4", ip=4)
@rule("loopback", "IPv6", ip=6)
def loopback(nic, ip):
    one, two = loopback_pair(nic, ip)
    data = pattern(3000)
    one.mr.write(data)
    two.recv(9, 4000, at=10000)
    with Counts(nic, rx_drop_key=0, rx_drop_qp=0):
        one.post(1, WR_SEND, 3000)
        two.received(9, len=3000)
        one.completion(1)
        two.post(2, WR_READ, 3000, at=20000, remote=(one.mr.addr, one.mr.key))
        two.completion(2)
        two.post(3, WR_FETCH_ADD, 8, at=30000, remote=(one.mr.addr, one.mr.key))
        two.completion(3)
    check(two.mr.read(3000, at=10000), data, "memory of the receiver")
    check(two.mr.read(3000, at=20000), data, "memory of the reader")
    nic.barrier()
    for qp in (one, two):
        if nic.wire.pop(qp.qpn):
            raise Failed("a packet to the NIC itself was on the wire")


@rule("loopback", "is not from outside")
def loopback_is_not_from_outside(nic):
    # A packet from the wire with the NIC's own address as its source
    one, _ = loopback_pair(nic, 4)
    with Counts(nic, rx_drop_icrc=0, rx_drop_header=0):
        one.send(roce.WRITE_ONLY, b"abcd", one.psn, one.reth(4), ip={"src": machine.NIC_IP[4]})
        nic.barrier()
    one.check_state(RTS)


# Arbitrary packets

SEED = 20260101
ROUNDS = 1500


def victims(nic):
    """QPs of all kinds, with outstanding work"""
    rc, uc, ud = Qp(nic), Qp(nic, kind="uc"), Qp(nic, kind="ud")
    for qp in (rc, uc, ud):
        for i in range(16):
            qp.recv(i, 2000, at=2000 * i)
    rc.post(1, WR_SEND, 1000)
    rc.post(2, WR_READ, 1000, remote=rc.remote())
    rc.post(3, WR_FETCH_ADD, 8, remote=rc.remote())
    rc.post(4, WR_WRITE, 1000, remote=rc.remote())
    return rc, uc, ud


def hostile(nic, chance, sealed):
    """Send packets with some random bytes to QPs, and replace QPs that fail"""
    qps = victims(nic)
    sent = 0
    while sent < ROUNDS:
        rc, uc, ud = qps
        qp = chance.choice((rc, rc, rc, uc, ud))
        opcode = {"rc": chance.randrange(0x20), "uc": 0x20 | chance.randrange(0x0c),
                  "ud": 0x64 | chance.randrange(2)}[qp.kind]
        ip = chance.choice((_IPV4, _IPV6)) if qp.kind == "ud" else _IPV4
        psn = chance.choice((qp.psn, qp.attr["sq_psn"])) + chance.randrange(-3, 6)
        base = roce.build(
            opcode, _TO_NIC, ip, {"dqpn": qp.qpn, "psn": psn & roce.PSN_MASK, "ackreq": 1},
            {**qp.reth(chance.choice((0, 4, 256, 1000))), "qkey": qp.attr["qkey"], "sqpn": 5,
             "syndrome": chance.choice((31, 0x20, 0x60, 0x61, 0x62)), "imm": 1},
            pattern(chance.choice((0, 4, 255, 256, 1000))))
        for _ in range(5):
            frame = bytearray(base)
            for _ in range(chance.randrange(4)):
                frame[chance.randrange(12, len(frame))] = chance.randrange(256)
            if chance.random() < .1:
                frame = frame[:chance.randrange(len(frame))]
            frame = bytes(frame)
            if sealed and len(frame) > 80:
                frame = roce.seal(frame)
            # The barrier needs its QP
            if frame[46:50][1:] != nic.barrier_qp.qpn.to_bytes(3, "big"):
                nic.wire.send(frame, sound=False)
            sent += 1
        if sent % 50 == 0:
            nic.barrier()
            while nic.wire.pop(qp.peer_qpn):
                pass
            if chance.random() < .3:
                nic.end_row()
                qps = victims(nic)


@rule("any_bytes", f"random bytes, seed {SEED}", sealed=False)
@rule("any_bytes", f"random bytes behind an ICRC that is right, seed {SEED}", sealed=True)
def hostile_packets(nic, sealed):
    hostile(nic, random.Random(SEED), sealed)
    nic.wire.others.clear()
