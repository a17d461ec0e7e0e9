# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Sphinx's directive for what is made from the descriptions of the verbs.

".. described:: PART" stands for the text that tests/fuzz/reference.py has for
that part.
"""

import sys
from pathlib import Path

from sphinx.util.docutils import SphinxDirective

FUZZ = Path(__file__).parent.parent / "tests/fuzz"
sys.path.insert(0, str(FUZZ))

import reference  # noqa: E402


class Described(SphinxDirective):
    """Puts a part of the reference here."""

    required_arguments = 1

    def run(self):
        for path in FUZZ.glob("*.py"):
            self.env.note_dependency(str(path))
        lines = reference.PARTS[self.arguments[0]]()
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app):
    app.add_directive("described", Described)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
