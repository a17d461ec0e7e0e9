# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What there is, and verbs.py does not describe yet.

Functions of the provider, opcodes, builders, readers of completions, errnos of
manual pages, and asynchronous events. The list only becomes shorter.
"""

UNDESCRIBED = (
    "opcode DRIVER1",
)
