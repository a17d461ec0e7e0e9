# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Packets of each type in both directions, as dissected by tshark"""

import collections
import re
import subprocess

import capture
import nic as machine
import roce
from nic import (SIGNALED, SOLICITED, WR_ATOMIC_WRITE, WR_CMP_SWAP, WR_FETCH_ADD, WR_FLUSH,
                 WR_READ, WR_SEND, WR_SEND_IMM, Qp, check, pattern)
from roce import RC, UC, UD
from rules import rule
from rules_requester import FIRST_PSN, IMM, MESSAGES
from scapy.layers.l2 import Ether
from scapy.packet import Raw

# Names in tshark
_MESSAGE_NAMES = {
    0x00: "SEND First", 0x01: "SEND Middle", 0x02: "SEND Last",
    0x03: "SEND Last with Immediate", 0x04: "SEND Only", 0x05: "SEND Only with Immediate",
    0x06: "RDMA WRITE First", 0x07: "RDMA WRITE Middle", 0x08: "RDMA WRITE Last",
    0x09: "RDMA WRITE Last with Immediate", 0x0a: "RDMA WRITE Only",
    0x0b: "RDMA WRITE Only with Immediate"}
_RC_NAMES = {
    **_MESSAGE_NAMES, 0x0c: "RDMA READ Request", 0x0d: "RDMA READ response First",
    0x0e: "RDMA READ response Middle", 0x0f: "RDMA READ response Last",
    0x10: "RDMA READ response Only", 0x11: "Acknowledge", 0x12: "ATOMIC Acknowledge",
    0x13: "CmpSwap", 0x14: "FetchAdd", 0x1c: "FLUSH", 0x1d: "ATOMIC WRITE"}
NAMES = {
    **{RC | opcode: f"Reliable Connection (RC) - {name}" for opcode, name in _RC_NAMES.items()},
    **{UC | opcode: f"Unreliable Connection (UC) - {name}"
       for opcode, name in _MESSAGE_NAMES.items()},
    UD | 0x04: "Unreliable Datagram (UD) - SEND only",
    UD | 0x05: "Unreliable Datagram (UD) - SEND only with Immediate",
    # tshark 4.4 does not know it
    roce.CNP: None}

# Fields of tshark, and where they are in a Frame
_FIELDS = {
    "infiniband.bth.opcode": lambda frame: frame.opcode,
    "infiniband.bth.se": lambda frame: frame.bth.solicited,
    "infiniband.bth.m": lambda frame: frame.bth.migreq,
    "infiniband.bth.padcnt": lambda frame: frame.bth.padcount,
    "infiniband.bth.tver": lambda frame: frame.bth.version,
    "infiniband.bth.p_key": lambda frame: frame.bth.pkey,
    "infiniband.bth.destqp": lambda frame: frame.bth.dqpn,
    "infiniband.bth.a": lambda frame: frame.bth.ackreq,
    "infiniband.bth.psn": lambda frame: frame.psn,
    "infiniband.deth.q_key": lambda frame: frame.qkey,
    "infiniband.deth.srcqp": lambda frame: frame.sqpn,
    # of the atomic header, too tshark 4.4 reads the selectivity one bit below its place
    # in rxe
    "infiniband.feth.plt": lambda frame: frame.placement,
    "infiniband.reth.va": lambda frame: frame.va,
    "infiniband.reth.r_key": lambda frame: frame.rkey,
    "infiniband.reth.dmalen": lambda frame: frame.len,
    "infiniband.atomiceth.swapdt": lambda frame: frame.swap,
    "infiniband.atomiceth.cmpdt": lambda frame: frame.compare,
    "infiniband.aeth.syndrome": lambda frame: frame.syndrome,
    "infiniband.aeth.msn": lambda frame: frame.msn,
    "infiniband.atomicacketh.origremdt": lambda frame: frame.orig,
    "infiniband.invariant.crc": lambda frame: frame.icrc,
    "udp.srcport": lambda frame: frame.udp.sport,
    "udp.dstport": lambda frame: roce.UDP_PORT,
    "vlan.id": lambda frame: frame.vlan.vlan if frame.vlan else None,
}

# tshark would guess that SENDs carry RPC over RDMA. RoCEv2 may lack the UDP checksum
# over IPv6, too (A17.4.5.2).
_OPTIONS = ("ip.check_checksum:TRUE", "udp.check_checksum:TRUE",
            "udp.ignore_ipv6_zero_checksum:TRUE")
_GUESSES = ("rpcordma",)


def from_nic(qp, kinds, service):
    """The NIC sends a short and a long message of each kind, and gets answers"""
    psn = FIRST_PSN
    for wr_id, (kind, length) in enumerate((kind, length) for kind in kinds
                                           for length in (5, 700)):
        qp.post(wr_id, kind, length, remote=qp.remote(), imm=IMM)
        only, first, middle, last = MESSAGES[kind]
        for opcode in (only,) if length == 5 else (first, middle, last):
            qp.expect(opcode, psn=psn)
            psn += 1
        if service == RC:
            qp.ack(psn - 1, msn=wr_id + 1)
        qp.completion(wr_id)
    return psn


def answers_to_nic(qp, psn):
    """The NIC sends READs and atomics"""
    qp.post(20, WR_READ, 700, remote=qp.remote())
    qp.expect(roce.READ_REQUEST, psn=psn)
    for i, opcode in enumerate((roce.READ_FIRST, roce.READ_MIDDLE, roce.READ_LAST)):
        qp.respond(opcode, psn + i, pattern(700)[256 * i:256 * (i + 1)], msn=21)
    qp.completion(20)
    qp.post(21, WR_READ, 5, remote=qp.remote())
    qp.expect(roce.READ_REQUEST, psn=psn + 3)
    qp.respond(roce.READ_ONLY, psn + 3, b"abcde", msn=22)
    qp.completion(21)
    for i, (kind, opcode) in enumerate(((WR_CMP_SWAP, roce.CMP_SWAP),
                                        (WR_FETCH_ADD, roce.FETCH_ADD))):
        qp.post(22 + i, kind, 8, remote=qp.remote(), compare_add=5 + i, swap=77)
        qp.expect(opcode, psn=psn + 4 + i)
        qp.respond(roce.ATOMIC_ACK, psn + 4 + i, orig=6 + i, msn=23 + i)
        qp.completion(22 + i)
    for i, (kind, opcode) in enumerate(((WR_FLUSH, roce.FLUSH),
                                        (WR_ATOMIC_WRITE, roce.ATOMIC_WRITE))):
        qp.post(24 + i, kind, 8 * i, remote=qp.remote(), placement=3)
        qp.expect(opcode, psn=psn + 6 + i)
        qp.respond(roce.READ_ONLY, psn + 6 + i, msn=25 + i)
        qp.completion(24 + i)


def to_nic(qp, service):
    """A short and a long message of each kind to the NIC"""
    for wr_id in range(6):
        qp.recv(30 + wr_id, 1000)
    data = pattern(700)
    for only, first, middle, last in MESSAGES.values():
        fields = {"imm": IMM}
        qp.request(only, data[:5], fields={**fields, **qp.reth(5)}, ackreq=1)
        qp.request(first, data[:256], fields=qp.reth(700))
        qp.request(middle, data[256:512])
        qp.request(last, data[512:], fields=fields, ackreq=1, solicited=1)
        if service == RC:
            qp.expect_ack(qp.psn - 1)
    for wr_id in range(6):
        qp.received(30 + wr_id)


def answers_of_nic(qp):
    """The NIC answers READs and atomics"""
    qp.request(roce.READ_REQUEST, fields=qp.reth(700), packets=3, ackreq=1)
    for opcode in (roce.READ_FIRST, roce.READ_MIDDLE, roce.READ_LAST):
        qp.expect(opcode)
    qp.request(roce.READ_REQUEST, fields=qp.reth(5), ackreq=1)
    qp.expect(roce.READ_ONLY)
    for opcode in (roce.CMP_SWAP, roce.FETCH_ADD):
        qp.request(opcode, fields=qp.atomic(5, 6), ackreq=1)
        qp.expect(roce.ATOMIC_ACK)
    for opcode, payload in ((roce.FLUSH, b""), (roce.ATOMIC_WRITE, b"12345678")):
        qp.request(opcode, payload, fields=qp.reth(8, placement=1), ackreq=1)
        qp.expect(roce.READ_ONLY)


def datagrams(nic, own, path):
    """UD in both directions"""
    qp = Qp(nic, kind="ud", **own)
    # tshark takes a payload with two zeros at its third byte for a raw packet
    qp.mr.write(pattern(100, 9), at=1000)
    for i, kind in enumerate((WR_SEND, WR_SEND_IMM)):
        qp.recv(40 + i, 100)
        qp.post(i, kind, 5, at=1000, remote_qpn=qp.peer_qpn, remote_qkey=0x2468, imm=IMM,
                flags=SIGNALED | SOLICITED, **path(qp))
        qp.expect((roce.SEND_ONLY, roce.SEND_ONLY_IMM)[i], qkey=0x2468)
        qp.completion(i)
        qp.send((roce.SEND_ONLY, roce.SEND_ONLY_IMM)[i], b"abcde",
                fields={"qkey": qp.attr["qkey"], "sqpn": qp.peer_qpn, "imm": IMM})
        qp.received(40 + i)


def notifications(nic, own):
    """CNPs in both directions"""
    qp = Qp(nic, **own)
    qp.send(roce.CNP, b"\0" * 16, becn=1)
    qp.request(roce.WRITE_ONLY, ackreq=1, ip={"tos" if qp.version == 4 else "tc": 3})
    seen = {nic.wire.next(qp.peer_qpn).opcode for _ in range(2)}
    check(seen, {roce.ACK, roce.CNP}, "opcodes")


def traffic(nic, ip, vlan):
    """Capture packets of each type in both directions"""
    begin = len(nic.wire.log)
    own = {"ip": ip}
    if vlan:
        address = {4: "10.0.0.7", 6: "fe80::7"}[ip]
        nic.command("gid", index=ip, gid=roce.gid(address), vlan=7)
        own.update(sgid_index=ip, own=address, vlan=7, sl=5)

    def path(qp):
        return {name: qp.attr[name] for name in Qp.PATH}

    for kind, service in (("rc", RC), ("uc", UC)):
        qp = Qp(nic, kind=kind, **own)
        psn = from_nic(qp, MESSAGES, service)
        if service == RC:
            answers_to_nic(qp, psn)
        qp = Qp(nic, kind=kind, **own)
        to_nic(qp, service)
        if service == RC:
            answers_of_nic(qp)
    datagrams(nic, own, path)
    notifications(nic, own)
    nic.wire.sort()
    return nic.wire.log[begin:]


@rule("capture")
def captured(nic):
    """The device's own capture has all frames"""
    def mark(text):
        """Send a frame without a receiver. Return: its place in the capture"""
        frame = (Ether(src=machine.PEER_MAC, dst=machine.NIC_MAC, type=0x88b5)
                 / Raw(text.ljust(50))).build()
        nic.barrier()
        nic.wire.send(frame)
        nic.wait(lambda: frame in capture.read_pcap(nic.capture), text)
        return capture.read_pcap(nic.capture).index(frame)

    begin = mark("begin of the capture")
    frames = [data for _, _, data in traffic(nic, 4, True)]
    end = mark("end of the capture")
    nic.wire.sort()
    # The last mark has its own barrier
    got = collections.Counter(capture.read_pcap(nic.capture)[begin + 1:end])
    check(collections.Counter(frames) - got, collections.Counter(), "frames not captured")


def names_in(path):
    """tshark's name for the opcode of each frame"""
    command = ["tshark", "-n", "-r", path, "-T", "pdml"]
    for guess in _GUESSES:
        command += ["--disable-protocol", guess]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [re.sub(r"^Opcode: | \(\d+\)$", "", name) for name in
            re.findall(r'name="infiniband.bth.opcode" showname="([^"]*)"', text)]


def value_of(frame, get):
    """A field of a frame, None if it has no such field"""
    try:
        return get(frame)
    except AttributeError:
        return None


def as_number(text):
    """A number as tshark prints it"""
    return {"True": 1, "False": 0}.get(text) if text in ("True", "False") else int(text, 0)


@rule("packet_types", "IPv4", ip=4, vlan=False)
@rule("packet_types", "IPv6", ip=6, vlan=False)
@rule("packet_types", "IPv4, VLAN", ip=4, vlan=True)
@rule("packet_types", "IPv6, VLAN", ip=6, vlan=True)
def every_opcode(nic, ip, vlan):
    log = traffic(nic, ip, vlan)
    # The barriers' own packets are over IPv4 and untagged
    frames = [roce.Frame(data) for _, _, data in log]
    frames = [frame for frame in frames if frame.ip.version == ip
              and bool(frame.vlan) == vlan]
    path = f"{nic.dir}/frames.pcap"
    capture.write_pcap(path, [(0, frame.data) for frame in frames])
    for source in (machine.NIC_MAC, machine.PEER_MAC):
        seen = {frame.opcode for frame in frames if frame.eth.src == source}
        check(sorted(NAMES.keys() - seen), [], f"opcodes not seen from {source}")
    fields = list(_FIELDS) + ["_ws.malformed", "_ws.expert.message", "ip.checksum.status"]
    rows = capture.dissect(path, fields, _OPTIONS, _GUESSES)
    names = names_in(path)
    check((len(rows), len(names)), (len(frames),) * 2, "number of frames")
    for frame, row, name in zip(frames, rows, names):
        check(frame.icrc_good, True, f"the ICRC of {frame} is good")
        check((row["_ws.malformed"], row["_ws.expert.message"]), ([], []),
              f"malformed, expert message of {frame}")
        check(row["ip.checksum.status"], ["1"] if ip == 4 else [], f"IP checksum of {frame}")
        check(name, NAMES[frame.opcode] or name, f"name of {frame}")
        for field, get in _FIELDS.items():
            want = value_of(frame, get)
            got = [as_number(text) for text in row[field]]
            if got or NAMES[frame.opcode]:
                check(got, [] if want is None else [want], f"{field} of {frame}")


