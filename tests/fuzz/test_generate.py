# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of programs as they are written: each has one possible outcome."""

import io
import re
import sys
import unittest

sys.dont_write_bytecode = True

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


if __name__ == "__main__":
    unittest.main()
