# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Captures, and their dissection by tshark"""

import struct
import subprocess

LINKTYPE_ETHERNET = 1


def write_pcap(path, frames):
    """Write a pcap file of (time, bytes)"""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535,
                               LINKTYPE_ETHERNET))
        for when, data in frames:
            file.write(struct.pack("<IIII", int(when), int(when % 1 * 1e9), len(data),
                                   len(data)) + data)


def read_pcap(path):
    """The frames of a pcap file, as far as it has been written"""
    with open(path, "rb") as file:
        data = file.read()
    frames = []
    if len(data) < 24:
        return frames
    magic, major, minor, _, _, _, linktype = struct.unpack_from("<IHHiIII", data)
    if (magic, major, minor, linktype) != (0xa1b23c4d, 2, 4, LINKTYPE_ETHERNET):
        raise ValueError(f"header of {path}")
    at = 24
    while at + 16 <= len(data):
        _, nanoseconds, length, original = struct.unpack_from("<IIII", data, at)
        if nanoseconds >= 10 ** 9 or length != original:
            raise ValueError(f"record at {at} of {path}")
        if at + 16 + length > len(data):
            break
        frames.append(data[at + 16:at + 16 + length])
        at += 16 + length
    return frames


def dissect(path, fields, options=(), disabled=()):
    """The fields of each frame, as tshark sees them: a list of dicts of lists

    options: preferences. disabled: protocols.
    """
    command = ["tshark", "-n", "-r", str(path), "-T", "fields", "-E", "separator=|",
               "-E", "aggregator=;"]
    for option in options:
        command += ["-o", option]
    for protocol in disabled:
        command += ["--disable-protocol", protocol]
    for field in fields:
        command += ["-e", field]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"tshark: {run.stderr}")
    return [dict(zip(fields, ([value for value in text.split(";") if value]
                              for text in line.split("|"))))
            for line in run.stdout.splitlines()]
