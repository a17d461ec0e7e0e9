# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Captures, and what tshark makes of them"""

import struct
import subprocess

LINKTYPE_ETHERNET = 1


def write_pcap(path, frames):
    """A pcap file of (time, bytes)"""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535,
                               LINKTYPE_ETHERNET))
        for when, data in frames:
            file.write(struct.pack("<IIII", int(when), int(when % 1 * 1e9), len(data),
                                   len(data)) + data)


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
