# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of programs as they are written: each has one possible outcome."""

import collections
import io
import re
import sys
import unittest

sys.dont_write_bytecode = True

from asides import FIRST_NUMBER  # noqa: E402
from ethernet import PROBE  # noqa: E402
from generate import Generator  # noqa: E402
from ports import FAIL  # noqa: E402


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
    def lines(seed, asides, before=None):
        out = io.StringIO()
        generator = Generator(seed, out, before=before, asides=asides)
        generator.run(0, range(100))
        return out.getvalue().splitlines(), generator

    def is_aside(self, line):
        return any(int(number) >= FIRST_NUMBER for number in
                   self.OBJECT.findall(line))

    def test_nothing_else_changes(self):
        for seed in range(3):
            plain, _ = self.lines(seed, False)
            lines, _ = self.lines(seed, True)
            # Those that ask a device look as others do.
            left = iter(lines)
            self.assertTrue(all(line in left for line in plain))
            self.assertGreater(len(lines), len(plain))

    def test_objects_go(self):
        made = set()
        for line in self.lines(1, True)[0]:
            verb, target, *_ = line.split()
            if self.is_aside(target):
                (made.discard if verb == "destroy" else made.add)(target)
        self.assertEqual(made, set())

    def test_none_in_threads(self):
        lines, _ = self.lines(2, True)
        self.assertTrue(any(line.startswith("@") for line in lines))
        self.assertFalse(any(self.is_aside(line) for line in lines
                             if line.startswith("@")))

    def test_rare_pairs(self):
        before = collections.Counter()
        found = [set(), set()]
        for asides in range(2):
            for seed in range(4):
                generator = self.lines(seed, asides, before)[1]
                before += generator.reached
                found[asides] |= {what for what in generator.reached
                                  if what[0] == "pair"}
        self.assertGreater(len(found[1]), 1.3 * len(found[0]))


if __name__ == "__main__":
    unittest.main()
