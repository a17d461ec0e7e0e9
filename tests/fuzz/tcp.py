# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""TCP frames, and the segments that a TSO makes of one."""

import struct
from dataclasses import dataclass

from headers import FLOW_SPEC_TCP

FIN, PSH, ACK, CWR = 0x01, 0x08, 0x10, 0x80
PROTOCOL = 6
IPV4_LEN = 20


def checksum(data):
    """The Internet checksum, RFC 1071"""
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


@dataclass
class Segment:
    """A frame of a stream"""

    stream: object
    data: bytes

    spec = FLOW_SPEC_TCP
    has_checksums = True

    @property
    def group(self):
        """To which group it goes"""
        return self.stream.group

    @property
    def vlan(self):
        """Its VLAN tag, or 0"""
        return self.stream.vlan

    def addresses(self):
        return self.stream.addresses

    def ports(self):
        return self.stream.ports

    def bytes(self):
        return self.data


@dataclass
class Stream:
    """What all segments have in common

    link: the Ethernet header, with a VLAN tag if there is one
    addresses: source and destination, IPv4
    options: of TCP, a multiple of 4 bytes
    """

    group: int
    vlan: int
    link: bytes
    addresses: tuple
    ports: tuple
    sequence: int
    flags: int
    identification: int
    options: bytes

    def ip(self, length, index, check=0):
        """The IPv4 header of a segment"""
        return struct.pack(">BBHHHBBHII", 0x45, 0, length,
                           self.identification + index & 0xffff, 0, 64,
                           PROTOCOL, check, *self.addresses)

    def tcp(self, flags, at, check=0):
        """The TCP header of a segment"""
        return struct.pack(">HHIIBBHHH", *self.ports,
                           self.sequence + at & 0xffffffff, 1,
                           5 + len(self.options) // 4 << 4, flags, 512, check,
                           0) + self.options

    def header(self):
        """As a request has it: the device sets lengths and checksums"""
        return self.link + self.ip(0, 0) + self.tcp(self.flags, 0)

    def segments(self, data, mss):
        """The frames that the device makes"""
        starts = range(0, max(len(data), 1), mss)
        return [self.segment(index, at, data[at:at + mss],
                             at == starts[-1])
                for index, at in enumerate(starts)]

    def segment(self, index, at, payload, last):
        """One of them"""
        flags = self.flags
        if index:
            flags &= ~CWR
        if not last:
            flags &= ~(FIN | PSH)
        length = len(self.tcp(0, 0)) + len(payload)
        pseudo = struct.pack(">IIHH", *self.addresses, PROTOCOL, length)
        tcp = self.tcp(flags, at, checksum(
            pseudo + self.tcp(flags, at) + payload))
        total = IPV4_LEN + length
        ip = self.ip(total, index, checksum(self.ip(total, index)))
        return Segment(self, self.link + ip + tcp + payload)
