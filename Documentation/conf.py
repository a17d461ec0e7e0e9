# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Sphinx's settings for "make docs".

The documents name each other as the kernel's do, by the name of the file, with
the title of a section behind it or not:

    Documentation/wire.rst, "The switch"

They can thus be read without Sphinx. Here such names become links, and Sphinx
complains of those that lead nowhere.
"""

import re
import sys
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

project = "mynic"
author = "the authors of mynic"
# The newest section of the changelog has the number of the release.
changelog = Path(__file__).parent.parent / "CHANGELOG.rst"
release = re.search(r"^[\d.]+\d\b", changelog.read_text(), re.MULTILINE)[0]
html_title = f"mynic {release}"
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "sidebar_width": "240px"}
html_sidebars = {"**": ["about.html", "navigation.html", "searchbox.html"]}
html_show_copyright = False
html_copy_source = False
exclude_patterns = ["man"]
sys.path.insert(0, str(Path(__file__).parent))
extensions = ["sphinx.ext.autosectionlabel", "sphinx.ext.graphviz", "described"]
autosectionlabel_prefix_document = True
# Only references use the labels that follow from titles. Titles may repeat.
suppress_warnings = ["autosectionlabel.*"]
graphviz_output_format = "svg"
highlight_language = "none"

DOCUMENT = re.compile(r'Documentation/([\w/-]+)\.rst(?:,\s+"([^"]+)")?')
VERBATIM = (nodes.literal, nodes.literal_block, nodes.reference, nodes.comment)


class NamesOfDocuments(SphinxTransform):
    """Makes links of the names of documents and of their sections."""

    default_priority = 400

    def apply(self, **kwargs):
        for text in list(self.document.findall(nodes.Text)):
            if not isinstance(text.parent, VERBATIM):
                self.replace(text)

    def replace(self, text):
        parent, start, parts = text.parent, 0, []
        for match in DOCUMENT.finditer(text):
            parts.append(nodes.Text(text[start : match.start()]))
            parts.append(self.link(match))
            start = match.end()
        if parts:
            parts.append(nodes.Text(text[start:]))
            parent.replace(text, parts)

    def link(self, match):
        document, section = match.groups()
        words = nodes.inline(match[0], match[0])
        target, kind = "/" + document, "doc"
        if section:
            title = nodes.fully_normalize_name(section)
            target, kind = f"{document}:{title}", "ref"
        return addnodes.pending_xref(
            "",
            words,
            refdomain="std",
            reftype=kind,
            reftarget=target,
            refdoc=self.env.docname,
            refexplicit=True,
            refwarn=True,
        )


def setup(app):
    app.add_transform(NamesOfDocuments)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
