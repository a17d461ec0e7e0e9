# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What there is, and verbs.py does not describe yet.

Functions of the provider, opcodes, builders, readers of completions, errnos of
manual pages, and asynchronous events. The list only becomes shorter.
"""

UNDESCRIBED = (
    "event DEVICE_FATAL",
    "event GID_CHANGE",
    "event PORT_ACTIVE",
    "event PORT_ERR",
    "event SRQ_ERR",
    "event WQ_FATAL",
    "opcode DRIVER1",
)
