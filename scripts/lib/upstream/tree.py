# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
Changes of files of a project that mynic is sent to. They name lines that exist
there, and fail if these do not, so that nothing lands in the wrong place.
"""

import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__)))))


def die(text):
    sys.exit(os.path.basename(sys.argv[0]) + ": " + text)


def substitute(text, name, old, new):
    """Replace a part of a line, which occurs once in text."""
    if text.count(old) != 1:
        die(f"{name}: not once: {old}")
    return text.replace(old, new)


def insert(text, name, anchor, where, new, count=1):
    """Put new before or behind the first count of the lines that are anchor."""
    lines = text.split("\n")
    at = [i for i, line in enumerate(lines) if line == anchor]
    if len(at) < count:
        die(f"{name}: not {count} times: {anchor}")
    for i in reversed(at[:count]):
        lines.insert(i + (where == ">"), new)
    return "\n".join(lines)


def change(tree, name, changes):
    """
    Apply changes to the file name. A change has an existing line, and the text to
    insert before ("<") or after it (">"), once or several times. Or it has a part
    of a line and its replacement ("s").
    """
    path = os.path.join(tree, name)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for anchor, where, new, *count in changes:
        if where == "s":
            text = substitute(text, name, anchor, new)
        else:
            text = insert(text, name, anchor, where, new, *count)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
