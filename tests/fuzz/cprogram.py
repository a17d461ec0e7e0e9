# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Programs of the fuzzer as one C file, for those who have no fuzzer.

The file has the calls as text, and the runner behind them. It needs nothing
but libibverbs: "cc FILE.c -libverbs".
"""

import re

STATIC = re.compile(
    r"^static (?:const )?(?:struct |enum |unsigned )?\w+ \*?(\w+)\(", re.M)
VARIABLE = re.compile(r"^static [^()=;{]*?(\w+)(?:\[[^;=]*\])?(?: =[^;]*)?;$", re.M)
OWN_HEADER = '#include "runner.h"\n'


def _literal(line):
    text = line.replace("\\", "\\\\").replace('"', '\\"')
    return f'\t"{text}\\n"'


def _own_names(path, text, others):
    """The text of a file, where names that others have, too, are its own"""
    names = _names(text)
    for name in names & others:
        # Fields of structs and words in strings keep their names.
        text = re.sub(rf"(?<![\w.\">]){name}\b(?!\")",
                      f"{path.stem}_{name}", text)
    return text


def _names(text):
    return set(STATIC.findall(text)) | set(VARIABLE.findall(text))


def c_program(source, programs):
    """The C file

    source: directory of the runner
    programs: the lines of each
    """
    yield "/* Made by scripts/fuzz-verbs. Build: cc FILE.c -libverbs */"
    yield "#define _GNU_SOURCE"
    yield "#define PROGRAMS " + ", ".join(
        f"text_{number}" for number in range(len(programs)))
    for number, lines in enumerate(programs):
        yield f"static const char text_{number}[] ="
        yield "\n".join(_literal(line) for line in lines) + ";"
    yield (source / "runner.h").read_text()
    texts = {path: path.read_text().replace(OWN_HEADER, "").replace(
        "#define _GNU_SOURCE\n", "") for path in sorted(source.glob("*.c"))}
    for path, text in texts.items():
        others = set().union(*(_names(other) for of, other in texts.items()
                               if of is not path))
        yield _own_names(path, text, others)
