# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of what other devices do otherwise: all files in differences/, entries
that cannot be, and entries that the generator needs.
"""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

from differences import HERE, Differences, hooks  # noqa: E402


def made_of(text):
    """The entries of a text"""
    with tempfile.NamedTemporaryFile("w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        return Differences(pathlib.Path(file.name))


class Files(unittest.TestCase):
    """The files of devices"""

    def test_known(self):
        for path in sorted((HERE / "differences").iterdir()):
            with self.subTest(path.name):
                self.assertEqual(Differences(path).unknown(), [])

    def test_reasons(self):
        for path in sorted((HERE / "differences").iterdir()):
            for entry, why in Differences(path).entries.items():
                with self.subTest(path.name, entry=entry):
                    self.assertTrue(why)

    def test_hooks(self):
        listed = {name for path in (HERE / "differences").iterdir()
                  for kind, name, *_ in Differences(path).entries
                  if kind == "other"}
        self.assertEqual(hooks() - listed, set())


class Entries(unittest.TestCase):
    """Entries, known and unknown"""

    def test_unknown(self):
        for entry in ("absent ibv_no_verb", "absent RC/NO_OPERATION",
                      "absent UD/RDMA_READ", "rule ibv_no_verb room",
                      "rule ibv_post_send no_rule", "rule ibv_post_send",
                      "wrong ibv_modify_qp no_argument",
                      "wrong ibv_modify_qp attr_mask", "other no_name",
                      "no_kind ibv_open_device"):
            with self.subTest(entry):
                self.assertEqual(made_of(entry + "\n").unknown(), [entry])

    def test_known(self):
        for entry in ("absent ibv_open_qp", "absent RC/SEND", "absent UD",
                      "absent ibv_post_send/SEND", "absent SQ_DRAINED",
                      "absent IBV_ACCESS_ON_DEMAND", "absent rx_drop_key",
                      "rule ibv_post_send room",
                      "wrong ibv_modify_qp rnr_retry", "other num_sge"):
            with self.subTest(entry):
                self.assertEqual(made_of(entry + "\n").unknown(), [])

    def test_unneeded(self):
        device = made_of("absent UD\nother num_sge\n")
        self.assertTrue(device.has("RC"))
        self.assertFalse(device.has("UD"))
        self.assertEqual(device.unneeded(), ["other num_sge"])


if __name__ == "__main__":
    unittest.main()
