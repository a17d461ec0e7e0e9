# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of programs as they are written: each has one possible outcome."""

import collections
import io
import pathlib
import re
import sys
import unittest
from unittest import mock

sys.dont_write_bytecode = True

import asides  # noqa: E402
from differences import Differences  # noqa: E402
from ethernet import PROBE  # noqa: E402
from generate import Generator  # noqa: E402
from ports import FAIL  # noqa: E402

DIFFERENCES = pathlib.Path(__file__).resolve().parent / "differences"


class Probed(Generator):
    """Knows when a frame is for the probe and finds no receive request"""

    unreceived = 0
    probed = 0

    def deliver(self, frame):
        received = super().deliver(frame)
        if frame.group == self.group(PROBE):
            self.probed += 1
            self.unreceived += not received
        return received


class Frames(unittest.TestCase):
    """Frames that have no completion"""

    def test_probe_receives_all(self):
        for seed in range(4):
            program = Probed(seed, io.StringIO())
            program.begin()
            for step in range(15):
                program.random.seed(f"{seed}/{step}")
                program.ethernet()
            with self.subTest(seed):
                self.assertGreater(program.probed, 0)
                self.assertEqual(program.unreceived, 0)


class Failing(unittest.TestCase):
    """A device that fails"""

    def test_drops_before(self):
        out = io.StringIO()
        list(Generator(1, out).run(0, [*range(50), FAIL]))
        lines = out.getvalue().splitlines()
        fails, = (at for at, line in enumerate(lines)
                  if re.match(r"host \d do=fail", line))
        node = lines[fails].split()[1]
        compared = [at for at, line in enumerate(lines)
                    if re.match(rf"drops {node} .*last=1", line)]
        begun = [at for at, line in enumerate(lines)
                 if line == f"drops {node} => 0"]
        self.assertLess(compared[0], fails)
        self.assertTrue(fails < begun[-1] < compared[-1])
        self.assertIn("drops", lines[-1])


class Between(unittest.TestCase):
    """Asides"""

    OBJECT = re.compile(r"\b[a-z]+(\d{5,})\b")

    @staticmethod
    def lines(seed, with_asides):
        out = io.StringIO()
        Generator(seed, out, asides=with_asides).run(0, range(100))
        return out.getvalue().splitlines()

    def is_aside(self, line):
        return any(int(number) >= asides.FIRST_NUMBER for number in
                   self.OBJECT.findall(line))

    def test_nothing_else_changes(self):
        for seed in range(3):
            plain = self.lines(seed, False)
            lines = self.lines(seed, True)
            # Those that ask a device look as others do.
            left = iter(lines)
            self.assertTrue(all(line in left for line in plain))
            self.assertGreater(len(lines), len(plain))

    def test_objects_go(self):
        made = set()
        for line in self.lines(1, True):
            verb, target, *_ = line.split()
            if self.is_aside(target):
                (made.discard if verb == "destroy" else made.add)(target)
        self.assertEqual(made, set())

    def test_none_in_threads(self):
        lines = self.lines(2, True)
        self.assertTrue(any(line.startswith("@") for line in lines))
        self.assertFalse(any(self.is_aside(line) for line in lines
                             if line.startswith("@")))

    def test_rare_pairs(self):
        """The verb is taken that was rare behind the last one or before the next"""
        rare = "ibv_query_pkey"
        names = {aside.verb for aside in asides.ASIDES}
        for missing in (("pair", "ibv_reg_mr", rare), ("pair", rare, "ibv_poll_cq")):
            before = collections.Counter(
                pair for name in names for pair in (
                    ("pair", "ibv_reg_mr", name), ("pair", name, "ibv_poll_cq"))
                if pair != missing)
            generator = Generator(1, io.StringIO(), before=before)
            generator.begin_asides(1)
            generator.last_verb = "ibv_reg_mr"
            with mock.patch.object(asides, "CHOICE", len(asides.ASIDES)):
                found = generator.rare_aside("ibv_poll_cq")
            self.assertEqual(found.verb, rare)

    def test_all_are_made(self):
        """Those that need several objects, too"""
        made = set()
        make = Generator.make_aside

        def record(generator, aside):
            made.add(id(aside))
            make(generator, aside)

        with mock.patch.object(Generator, "make_aside", record):
            for _ in Generator(1, io.StringIO()).run(30000):
                pass
        self.assertEqual([aside.verb for aside in asides.ASIDES
                          if id(aside) not in made],
                         [])

    def test_none_after_the_host(self):
        """No address is found while a link is down."""
        out = io.StringIO()
        generator = Generator(1, out)
        generator.begin()
        with mock.patch.object(asides, "SHARE", 1):
            generator.begin_asides(1)
            generator.make_pd()
            generator.make_pd()
            generator.unplug()
        before, after = re.split(r"^host .*", out.getvalue(), maxsplit=1, flags=re.M)
        self.assertTrue(any(map(self.is_aside, before.splitlines())))
        self.assertFalse(any(map(self.is_aside, after.splitlines())))

    def test_other_devices(self):
        """Asides call nothing that a device lacks"""
        for path in DIFFERENCES.glob("*"):
            verbs = []
            for with_asides in range(2):
                verbs.append(set())
                for seed in range(4):
                    generator = Generator(seed, io.StringIO(), 0, Differences(path),
                                          asides=with_asides)
                    generator.run(0, range(150))
                    verbs[-1] |= {what[1] for what in generator.reached
                                  if what[0] == "verb"}
            self.assertLessEqual(verbs[1], verbs[0])


if __name__ == "__main__":
    unittest.main()
