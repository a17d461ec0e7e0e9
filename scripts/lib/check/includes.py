# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Which headers of the device's core a source needs, by the names in its text"""

import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
CORE = TOP / "userspace/device/core"
# What the core has in common with the driver and with libibverbs
SHARED = {
    "mynic_regs.h": TOP / "drivers/infiniband/hw/mynic/mynic_regs.h",
    "rdma/mynic-hw.h": TOP / "include/uapi/rdma/mynic-hw.h",
}
# Names of libc by their headers; other headers of libc are not looked at
LIBC = {
    "assert.h": r"(static_)?assert",
    "endian.h": r"(ht|le|be)(o|\d)\w+(h|\d\d)|__[bl]e\d\d",
    "errno.h": r"E[A-Z]{3,}|errno",
    "stdbool.h": r"bool|true|false",
    "stddef.h": r"NULL|size_t|offsetof|\w+Q_EMPTY",
    "stdint.h": r"u?int\d+_t|UINT\d+_MAX|uintptr_t",
    "stdlib.h": r"[mc]alloc|realloc|free|abort|exit|strtou?ll?|bsearch|qsort",
    "string.h": r"mem(cpy|set|move|cmp|chr)|str(len|n?cmp|n?cpy|chr|error|dup)",
    "sys/queue.h": r"S?(TAIL)?(LIST|Q)_[A-Z_]+|STAILQ_[A-Z_]+",
    "sys/uio.h": r"iovec",
}

HIDDEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
                    re.DOTALL)
INCLUDE = re.compile(r'^#include ["<]([^">]+)[">]', re.MULTILINE)
DIRECTIVE = re.compile(r"^#(?:\\\n|[^\n])*", re.MULTILINE)
MACRO = re.compile(r"^#define (\w+)", re.MULTILINE)
BODY = re.compile(r"\b(struct|enum|union) (\w+) \{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
LIST = re.compile(r"^(?:TAILQ|STAILQ|LIST)_HEAD\((\w+),", re.MULTILINE)
LINK = re.compile(r"\b(?:TAILQ|STAILQ|LIST)_(?:HEAD|ENTRY)\((\w+)(?:, (\w+))?\)")
MEMBER_NAME = re.compile(r"\b[a-z]\w*((?:\[[^\]]*\])*\s*[,;])")
MEMBER = re.compile(r"\b(\w+)(?:\[[^\]]*\])*\s*(?:[,;]|: \d)|\(\*(\w+)\)\(")
FUNCTION = re.compile(r"^[a-z][\w \t\n*]*?\b(\w+)\((?=[^*])", re.MULTILINE)
VARIABLE = re.compile(r"^(?:extern|static) (?:const )?[\w ]+?\b(\w+)\[?[\w *()]*\]?(?: =|;)",
                      re.MULTILINE)
NAME = re.compile(r"(?<![\w.>])(?:(struct|enum|union)\s+)?([A-Za-z_]\w*)")
ACCESS = re.compile(r"(?:\.|->)\s*(\w+)")


def bare(path):
    """The text without comments and strings, and its includes"""
    text = path.read_text(encoding="utf-8")
    return (HIDDEN.sub(" ", INCLUDE.sub("", text)), INCLUDE.findall(text))


def without_bodies(text):
    """Only what is outside of all braces"""
    depth, out = 0, []
    for piece in re.split(r"([{}])", text):
        if piece == "{":
            depth += 1
        elif piece == "}":
            depth -= 1
            out.append(";" if depth == 0 else "")
        elif depth == 0:
            out.append(piece)
    return "".join(out)


class Header:
    """What a header declares: names, types ("struct x"), and members of its types"""

    def __init__(self, path):
        text, self.includes = bare(path)
        self.names = {name for name in MACRO.findall(text) if not name.endswith("_H")}
        code = DIRECTIVE.sub("", text)
        self.types, self.members = set(), {}
        for kind, name, body in BODY.findall(code):
            self.types.add("%s %s" % (kind, name))
            if kind == "enum":
                self.names |= set(re.findall(r"(?:^|,)\s*(\w+)", body))
            else:
                self.members["%s %s" % (kind, name)] = {
                    a or b for a, b in MEMBER.findall(body)}
        self.types |= {"struct " + name for name in LIST.findall(code)}
        outside = without_bodies(LIST.sub(";", code))
        self.names |= set(FUNCTION.findall(outside)) | set(VARIABLE.findall(outside))
        self.names -= {"struct", "enum", "union", "_Static_assert"}


def read_headers():
    """By the name in an include: the headers of the core, and those it shares"""
    headers = {path.relative_to(CORE).as_posix(): Header(path)
               for path in sorted(CORE.rglob("*.h"))}
    headers.update((name, Header(path)) for name, path in SHARED.items())
    # Nothing includes the second by itself
    shared, other = headers["mynic_regs.h"], headers.pop("rdma/mynic-hw.h")
    shared.names |= other.names
    shared.types |= other.types
    shared.members.update(other.members)
    return headers


class Source:
    """The names in a source or header"""

    def __init__(self, path):
        text, self.includes = bare(path)
        self.words = set(re.findall(r"\w+", text))
        text = BODY.sub(lambda body: MEMBER_NAME.sub(r"\1", body.group()), text)
        text = LINK.sub(r"struct \1 struct \2", text)
        self.own = path.relative_to(CORE).with_suffix(".h").as_posix()
        self.is_header = path.suffix == ".h"
        found = NAME.findall(text)
        self.types = {"%s %s" % pair for pair in found if pair[0]}
        self.names = {name for kind, name in found if not kind}
        self.accesses = set(ACCESS.findall(text))

    def needs(self, header):
        """The functions, macros, numbers and enums of the header that it names"""
        return self.names & header.names | {
            name for name in self.types & header.types if name.startswith("enum ")}

    def uses(self, header):
        """Whether it names, or may reach into, something that the header declares"""
        return bool(self.needs(header) or self.types & header.types or
                    any(self.accesses & members for members in header.members.values()))

    def uses_libc(self, name):
        return any(re.fullmatch(LIBC[name], word) for word in self.words)
