# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of coverage.py: what of the sources has to be described."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import coverage  # noqa: E402

TABLES = {
    "one.c": """
static const struct verbs_context_ops one_ops = {
\t.free_context = one_free,
\t.reg_mr = one_reg_mr,
};
""",
    "other.c": """
static const struct verbs_context_ops other_forms[2 + 1] = {
\t[0] = { .poll_cq = other_poll },
\t[1] = { .poll_cq = other_poll_alone },
};

const struct verbs_context_ops other_ops = {
\t.alloc_dmah = other_alloc,
};
""",
}


class Tables(unittest.TestCase):
    """Functions of a provider"""

    def test_all_tables_count(self):
        with tempfile.TemporaryDirectory() as name:
            provider = pathlib.Path(name) / coverage.PROVIDER
            provider.mkdir(parents=True)
            for file, text in TABLES.items():
                (provider / file).write_text(text)
            self.assertEqual(
                coverage.provider_verbs(pathlib.Path(name)),
                {"ibv_close_device", "ibv_reg_mr", "ibv_poll_cq",
                 "ibv_alloc_dmah"})


class Setters(unittest.TestCase):
    """The last column of the table of ibv_wr_post(3)"""

    PAGE = """
| Operation | WR builder         | QP Type Supported | setters  |
|-----------|--------------------|-------------------|----------|
| BIND_MW   | ibv_wr_bind_mw()   | UC, RC, XRC_SEND  | NONE     |
| RDMA_READ | ibv_wr_rdma_read() | RC, XRC_SEND      | DATA, QP |
"""

    def complaints(self, page):
        """What is wrong with the descriptions if the page is this"""
        with tempfile.TemporaryDirectory() as name:
            pages = pathlib.Path(name) / coverage.MANUAL
            pages.mkdir(parents=True)
            (pages / "ibv_post_send.3").write_text("")
            (pages / "ibv_wr_post.3.md").write_text(page)
            return list(coverage.table_differences(pathlib.Path(name)))

    def test_same(self):
        self.assertEqual(self.complaints(self.PAGE), [])

    def test_other(self):
        for old, new in (("NONE    ", "DATA, QP"), ("DATA, QP", "NONE    ")):
            page = self.PAGE.replace(old, new, 1)
            self.assertEqual(len(self.complaints(page)), 1, page)


if __name__ == "__main__":
    unittest.main()
