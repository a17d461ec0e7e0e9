# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The text of comments behind "#", and of docstrings

There is a line for each line of the file. It is empty if there is nothing to be read as
sentences. Indented examples, columns, and what is meant for tools are no sentences.
"""

import ast
import io
import re
import textwrap
import tokenize

FOR_TOOLS = re.compile(r"!| ?(?:SPDX-|shellcheck |pylint: |noqa\b|Found by: ).*")
COLUMNS = re.compile(r"\S(?:\t|   )")
ITEM = re.compile(r"\s*(?:[*-]|\d+\.)\s+")
# The description of a member or argument
MEMBER = re.compile(r"\*{0,2}\w+(?:, \w+)*: +")

PYTHON = re.compile(r"#!.*\bpython3?\n")
SHELL = re.compile(r"#!/bin/(?:ba)?sh\b|(?:#.*\n)*# shellcheck shell=")
DOCSTRING = re.compile(r"""[rR]?('''|\"""|'|")(.*)\1""", re.DOTALL)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
# A patch begins with one of these.
PATCH = re.compile(r"diff |--- ")
HASH = re.compile(r"(?<!\S)#")

# What matters in a shell's code, and in a string or between the braces of ${...}
SHELL_CODE = re.compile(r"""
    \\. | \$'(?:\\.|[^'\\])*' | '[^']*' | \$[({] | [()"\n]
    | <<< | (?<![\w)])<<(?P<dash>-?)[\\'"]?(?P<end>[A-Za-z_]\w*)['"]?
    | (?<![^\s;&|()])(?P<comment>\#)[^\n]*""", re.VERBOSE | re.DOTALL)
SHELL_STRING = re.compile(r'\\.|\$[({]|["}]', re.DOTALL)
CLOSES = {"$(": ")", "(": ")", "${": "}", '"': '"'}


class Unreadable(Exception):
    """A string or text is not ended, as far as this file understands the language."""


def places(text, offsets):
    """By line: the column, of what is at these offsets"""
    starts = [0] + [match.end() for match in re.finditer("\n", text)]
    found, number = {}, 0
    for offset in offsets:
        while number + 1 < len(starts) and starts[number + 1] <= offset:
            number += 1
        found[number + 1] = offset - starts[number]
    return found


def behind_text(text, position, texts):
    """What follows the texts ("<<END") that begin at a position"""
    for dash, end in texts:
        tabs = "\t*" if dash else ""
        match = re.compile(f"^{tabs}{end}$", re.MULTILINE).search(text, position)
        if not match:
            raise Unreadable(f"no end of <<{end}")
        position = min(match.end() + 1, len(text))
    return position


def shell_comments(text):
    """The offsets of comments"""
    # What is open, by what closes it, and texts that begin on the next line
    inside, texts, position = [""], [], 0
    while True:
        string = inside[-1] in ('"', "}")
        token = (SHELL_STRING if string else SHELL_CODE).search(text, position)
        if not token:
            break
        position = token.end()
        word = token[0]
        if word == inside[-1]:
            inside.pop()
        elif word in CLOSES:
            inside.append(CLOSES[word])
        elif word == "\n":
            position, texts = behind_text(text, position, texts), []
        elif not string and token["end"]:
            texts.append((token["dash"], token["end"]))
        elif not string and token["comment"]:
            yield token.start()
    if set(inside) & {'"', "}"}:
        raise Unreadable("a string without an end")


def python_comments(text):
    """By line: the column of a comment"""
    return {token.start[0]: token.start[1]
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type == tokenize.COMMENT}


def members(lines):
    """The lines, with each description of a member as an item of a list"""
    inside, above = False, ""
    for line in lines:
        member = MEMBER.match(line) if inside or not above else None
        inside = bool(member or (inside and line.startswith(" ")))
        above = line
        if member:
            yield "- " + line[member.end() :]
        else:
            yield "  " + line.lstrip() if inside else line


def docstrings(text):
    """By line: the text of docstrings, except what a program prints as its help"""
    found = {}
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    if any(isinstance(node, ast.Name) and node.id == "__doc__" for node in nodes):
        nodes.remove(tree)
    for node in nodes:
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            string = node.body[0].value
            inner = DOCSTRING.match(ast.get_source_segment(text, string))[2]
            first, _, rest = inner.partition("\n")
            lines = [first.strip(), *members(textwrap.dedent(rest).split("\n"))]
            found.update(enumerate(lines, string.lineno))
    return found


def other_comments(lines):
    """By line: the column of a comment, in a Makefile, in settings and above a patch"""
    found = {}
    for number, line in enumerate(lines, 1):
        if PATCH.match(line):
            break
        for match in HASH.finditer(line):
            before = line[: match.start()]
            if before.count('"') % 2 == before.count("'") % 2 == 0:
                found[number] = match.start()
                break
    return found


def running_text(lines, columns, docs):
    """The text of comments, which begin in these columns, and of docstrings"""
    # The margin of a paragraph, and the column of a comment that began behind code or
    # below a docstring
    margin, aligned = 0, None
    for number, line in enumerate(lines, 1):
        column = columns.get(number)
        apart = column is not None and (line[:column].strip() or number - 1 in docs)
        if column is None:
            text = docs.get(number, "")
        else:
            text = FOR_TOOLS.sub("", line[column + 1 :]).removeprefix(" ")
        if COLUMNS.search(text):
            text = ""
        item = ITEM.match(text)
        indent = len(text) - len(text.lstrip())
        if column is None and number not in docs:
            margin, aligned = 0, None
            yield ""
        elif apart:
            aligned = column
            yield ": " + text.strip()
        elif column is not None and column == aligned:
            yield "  " + text.strip()
        elif item or indent <= margin:
            margin = item.end() if item else indent
            yield text
        else:
            yield ""


def from_python(lines):
    text = "\n".join(lines)
    return running_text(lines, python_comments(text), docstrings(text))


def from_shell(lines):
    text = "\n".join(lines)
    return running_text(lines, places(text, shell_comments(text)), {})


def from_others(lines):
    return running_text(lines, other_comments(lines), {})


def reader_of(path, text):
    """The one of these three for a file"""
    if path.suffix == ".py" or PYTHON.match(text):
        return from_python
    return from_shell if path.suffix == ".sh" or SHELL.match(text) else from_others
