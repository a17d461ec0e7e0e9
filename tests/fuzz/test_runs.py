# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of how programs are run, without a guest: what passes."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
SAID = "5 calls as described"


def load(name):
    """A script as a module"""
    loader = importlib.machinery.SourceFileLoader(
        name.replace("-", "_"), str(TOP / "scripts" / name))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


fuzz = load("fuzz-verbs")


class Directory(unittest.TestCase):
    """Tests that have a directory"""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = pathlib.Path(holder.name)

    def bundle(self, name, *texts, command=""):
        """A bundle of programs"""
        paths = []
        for number, text in enumerate(texts):
            paths.append(self.dir / f"{name}.{number}")
            paths[-1].write_text(text)
        return fuzz.Bundle(name, command, paths=paths, first=[0] * len(texts))


class Passing(Directory):
    """Which programs have passed"""

    def passes(self, command, programs=1):
        """Whether a runner has passed that does this"""
        bundle = self.bundle("a", *programs * [""], command=f"bash -c '{command}'")
        text = "\n".join(fuzz.commands([bundle]))
        subprocess.run(["bash", "-c", text], cwd=self.dir, check=True,
                       stderr=subprocess.DEVNULL)
        return fuzz.passed(bundle, (self.dir / "a.out").read_text())

    def test_all_well(self):
        self.assertTrue(self.passes(f"echo {SAID}"))
        self.assertTrue(self.passes(f"echo {SAID}; echo {SAID}", 2))

    def test_crash(self):
        self.assertFalse(self.passes("kill -SEGV $$"))
        self.assertFalse(self.passes(f"echo {SAID}; kill -SEGV $$"))

    def test_status(self):
        self.assertFalse(self.passes(f"echo {SAID}; echo {SAID}; exit 2", 2))

    def test_one_is_silent(self):
        self.assertFalse(self.passes(f"echo {SAID}", 2))

    def test_mismatch(self):
        self.assertFalse(self.passes(f"echo MISMATCH line 3: no; echo {SAID}"))


if __name__ == "__main__":
    unittest.main()
