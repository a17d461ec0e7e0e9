# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""RoCEv2 packets (IBTA volume 1 chapter 9, annex A17), built and parsed with scapy.

Nothing here is derived from the device model, so that errors of one show in the other.
"""

import os
import struct
import zlib

os.environ.setdefault("XDG_CONFIG_HOME", "/nonexistent")
os.environ.setdefault("XDG_CACHE_HOME", "/nonexistent")

# pylint: disable=wrong-import-position
from scapy.contrib.roce import AETH, BTH
from scapy.fields import BitField, IntField, LongField, XIntField
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw

UDP_PORT = 4791

# Opcodes, IBTA table 38; the first three bits are the transport service
RC, UC, UD, XRC = 0x00, 0x20, 0x60, 0xa0

SEND_FIRST = 0x00
SEND_MIDDLE = 0x01
SEND_LAST = 0x02
SEND_LAST_IMM = 0x03
SEND_ONLY = 0x04
SEND_ONLY_IMM = 0x05
WRITE_FIRST = 0x06
WRITE_MIDDLE = 0x07
WRITE_LAST = 0x08
WRITE_LAST_IMM = 0x09
WRITE_ONLY = 0x0a
WRITE_ONLY_IMM = 0x0b
READ_REQUEST = 0x0c
READ_FIRST = 0x0d
READ_MIDDLE = 0x0e
READ_LAST = 0x0f
READ_ONLY = 0x10
ACK = 0x11
ATOMIC_ACK = 0x12
CMP_SWAP = 0x13
FETCH_ADD = 0x14
RESYNC = 0x15
SEND_LAST_INV = 0x16
SEND_ONLY_INV = 0x17
FLUSH = 0x1c
ATOMIC_WRITE = 0x1d
CNP = 0x81

# AETH syndromes, IBTA 9.7.5.1: type in bits 7:5, value in 4:0
NO_CREDITS = 31
RNR = 0x20
RESERVED = 0x40
NAK = 0x60
NAK_SEQUENCE = NAK | 0
NAK_INVALID = NAK | 1
NAK_ACCESS = NAK | 2
NAK_OPERATION = NAK | 3

# Receive requests by the credit count of an ACK, IBTA 9.7.7.2.2
CREDITS = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
           512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384,
           24576, 32768]

# Milliseconds by the timer of an RNR NAK, IBTA 9.7.5.2.8
RNR_MS = [655.36, .01, .02, .03, .04, .06, .08, .12, .16, .24, .32, .48, .64, .96,
          1.28, 1.92, 2.56, 3.84, 5.12, 7.68, 10.24, 15.36, 20.48, 30.72, 40.96,
          61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52]

PSN_MASK = 0xffffff


class RETH(Packet):
    """RDMA extended transport header"""
    name = "RETH"
    fields_desc = [LongField("va", 0), XIntField("rkey", 0), IntField("len", 0)]


class AtomicETH(Packet):
    """Atomic extended transport header"""
    name = "AtomicETH"
    fields_desc = [LongField("va", 0), XIntField("rkey", 0),
                   LongField("swap", 0), LongField("compare", 0)]


class AtomicAckETH(Packet):
    """Atomic ACK extended transport header"""
    name = "AtomicAckETH"
    fields_desc = [LongField("orig", 0)]


class DETH(Packet):
    """Datagram extended transport header"""
    name = "DETH"
    fields_desc = [XIntField("qkey", 0), BitField("reserved", 0, 8),
                   BitField("sqpn", 0, 24)]


class ImmDt(Packet):
    """Immediate data"""
    name = "ImmDt"
    fields_desc = [XIntField("imm", 0)]


class IETH(Packet):
    """Invalidate extended transport header"""
    name = "IETH"
    fields_desc = [XIntField("key", 0)]


class FETH(Packet):
    """FLUSH extended transport header"""
    name = "FETH"
    fields_desc = [BitField("reserved_feth", 0, 26), BitField("selectivity", 0, 2),
                   BitField("placement", 0, 4)]


class XRCETH(Packet):
    """XRC extended transport header"""
    name = "XRCETH"
    fields_desc = [BitField("reserved_xrc", 0, 8), BitField("srqn", 0, 24)]


_HEADERS = {
    RC | SEND_LAST_IMM: [ImmDt],
    RC | SEND_ONLY_IMM: [ImmDt],
    RC | WRITE_FIRST: [RETH],
    RC | WRITE_LAST_IMM: [ImmDt],
    RC | WRITE_ONLY: [RETH],
    RC | WRITE_ONLY_IMM: [RETH, ImmDt],
    RC | READ_REQUEST: [RETH],
    RC | READ_FIRST: [AETH],
    RC | READ_LAST: [AETH],
    RC | READ_ONLY: [AETH],
    RC | ACK: [AETH],
    RC | ATOMIC_ACK: [AETH, AtomicAckETH],
    RC | CMP_SWAP: [AtomicETH],
    RC | FETCH_ADD: [AtomicETH],
    RC | SEND_LAST_INV: [IETH],
    RC | SEND_ONLY_INV: [IETH],
    RC | FLUSH: [FETH, RETH],
    RC | ATOMIC_WRITE: [RETH],
    UC | SEND_LAST_IMM: [ImmDt],
    UC | SEND_ONLY_IMM: [ImmDt],
    UC | SEND_LAST_INV: [IETH],
    UC | SEND_ONLY_INV: [IETH],
    UC | WRITE_FIRST: [RETH],
    UC | WRITE_LAST_IMM: [ImmDt],
    UC | WRITE_ONLY: [RETH],
    UC | WRITE_ONLY_IMM: [RETH, ImmDt],
    UD | SEND_ONLY: [DETH],
    UD | SEND_ONLY_IMM: [DETH, ImmDt],
}

# Those of RC, behind an XRCETH in all but the responses (A14)
_HEADERS.update({
    XRC | opcode: ([] if READ_FIRST <= opcode <= ATOMIC_ACK else [XRCETH])
    + _HEADERS.get(RC | opcode, [])
    for opcode in (*range(SEND_FIRST, SEND_ONLY_INV + 1), FLUSH, ATOMIC_WRITE)
    if opcode != RESYNC})

_HEADER_LEN = {XRCETH: 4, AETH: 4, RETH: 16, AtomicETH: 28, AtomicAckETH: 8, DETH: 8, ImmDt: 4,
               IETH: 4, FETH: 4}


def icrc(packet):
    """The ICRC's bytes for an IP packet that ends before its ICRC

    Fields that may change on the way count as ones: those of IP and UDP in A17.3.3, and
    BTH's byte with FECN and BECN.
    """
    data = bytearray(packet)
    if data[0] >> 4 == 4:
        udp = 20
        data[1] = data[8] = data[10] = data[11] = 0xff
    else:
        udp = 40
        data[0] |= 0x0f
        data[1:4] = b"\xff" * 3
        data[7] = 0xff
    data[udp + 6] = data[udp + 7] = 0xff
    data[udp + 8 + 4] = 0xff
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(data)))


def gid(address):
    """The bytes of a GID: IPv4 as ::ffff:a.b.c.d"""
    if ":" in address:
        return IPv6(dst=address).build()[24:40]
    return b"\0" * 10 + b"\xff" * 2 + bytes(int(part) for part in address.split("."))


def group_mac(address):
    """The MAC of a multicast address, RFC 1112 and RFC 2464"""
    data = gid(address)
    if ":" in address:
        tail = b"\x33\x33" + data[12:]
    else:
        tail = b"\x01\x00\x5e" + bytes([data[13] & 0x7f]) + data[14:]
    return ":".join(f"{byte:02x}" for byte in tail)


def build(opcode, eth, ip, bth, fields=None, payload=b"", sport=0xc123, pad=None):
    """The bytes of a frame

    eth, ip, bth: fields of these headers (eth: also vlan and prio; ip: src and
    dst, which tell the version). fields: of all headers that the opcode has, by
    their names. pad: bytes of padding if not as many as needed.
    """
    # pylint: disable=too-many-arguments,too-many-positional-arguments
    # pylint: disable=too-many-locals
    eth = dict(eth)
    vlan, prio = eth.pop("vlan", None), eth.pop("prio", 0)
    packet = Ether(**eth)
    if vlan is not None:
        packet /= Dot1Q(vlan=vlan, prio=prio)
    if ":" in ip["src"]:
        packet /= IPv6(**ip)
    else:
        packet /= IP(**{"id": 0, "flags": "DF", **ip})
    padding = -len(payload) % 4 if pad is None else pad
    packet /= UDP(sport=sport, dport=UDP_PORT, chksum=0)
    packet /= BTH(opcode=opcode, **{"migreq": 1, "padcount": padding, "icrc": 0, **bth})
    for header in _HEADERS.get(opcode, []):
        names = [field.name for field in header.fields_desc]
        packet /= header(**{name: value for name, value in (fields or {}).items()
                            if name in names})
    if payload or padding:
        packet /= Raw(payload + b"\0" * padding)
    data = packet.build()
    start = 14 if vlan is None else 18
    return data[:-4] + icrc(data[start:-4])


def seal(frame, vlan=False):
    """Correct the ICRC of a frame that was changed"""
    start = 18 if vlan else 14
    return frame[:-4] + icrc(frame[start:-4])


class Frame:
    """A received frame, parsed

    Attributes are the fields of all headers of the transport by name; eth, ip,
    udp and bth are scapy's. Anything malformed raises ValueError.
    """
    def __init__(self, data):
        # pylint: disable=no-member
        self.data = data
        self.eth = Ether(data)
        self.vlan = self.eth[Dot1Q] if Dot1Q in self.eth else None
        start = 18 if self.vlan else 14
        if IPv6 in self.eth:
            self.ip = self.eth[IPv6]
            length = 40 + self.ip.plen
        elif IP in self.eth:
            self.ip = self.eth[IP]
            length = self.ip.len
        else:
            raise ValueError("no IP packet")
        if UDP not in self.eth or self.eth[UDP].dport != UDP_PORT:
            raise ValueError("not RoCEv2")
        # Padding to Ethernet's minimum is not checked
        packet = data[start:start + length]
        self.udp = self.eth[UDP]
        if len(packet) != length or self.udp.len != length - len(self.ip_header()):
            raise ValueError("lengths of frame, IP and UDP differ")
        self.icrc = int.from_bytes(packet[-4:], "big")
        self.icrc_good = icrc(packet[:-4]) == packet[-4:]
        self.bth = self.eth[BTH]
        self.opcode = self.bth.opcode
        self.psn = self.bth.psn
        rest = packet[len(self.ip_header()) + 8 + 12:-4]
        for header in _HEADERS.get(self.opcode, []):
            size = _HEADER_LEN[header]
            if len(rest) < size:
                raise ValueError(f"{header.__name__} is cut off")
            parsed = header(rest[:size])
            for field in header.fields_desc:
                setattr(self, field.name, getattr(parsed, field.name))
            rest = rest[size:]
        if len(rest) < self.bth.padcount:
            raise ValueError("padding is cut off")
        self.payload = rest[:len(rest) - self.bth.padcount]
        self.padding = rest[len(self.payload):]

    def ip_header(self):
        """The bytes of the network header"""
        return self.ip.original[:40 if isinstance(self.ip, IPv6) else 20]

    def __str__(self):
        text = f"opcode {self.opcode:#04x} PSN {self.psn:#x}"
        for name in ("syndrome", "msn"):
            if hasattr(self, name):
                text += f" {name} {getattr(self, name):#x}"
        return text + f" payload {len(self.payload)}"
