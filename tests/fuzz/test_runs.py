# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of how programs are run, without a guest: what passes, what is left, and
what scripts/fuzz-faults says of its table.
"""

import contextlib
import dataclasses
import importlib.machinery
import importlib.util
import io
import itertools
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

sys.dont_write_bytecode = True

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
SAID = "5 calls as described"
DONE = SAID + "\n"
MISMATCH = "MISMATCH line 3: poll cq0: request 1 does not complete\n"
OBJECTS = "mynic_0: pd 2\nmynic_1: pd 2\n"
SAME = "the same\n"
REPORTS = "\nok 1 a\nok 2 b\nok 3 c\nok 4 d\n"
PROGRAM = "# text\n\n" + 5 * "fill\n"
MEMORY = "nic1 memory_bytes 1\nnic2 memory_bytes 1\n"
ANSWERS = {"objects-begin": OBJECTS, "device-begin": "nic1 GSI\nnic2 GSI\n",
           "memory-begin": MEMORY, "objects-left": SAME, "device-left": SAME,
           "memory-left": SAME, "reports": REPORTS}


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
faults = load("fuzz-faults")


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
        bundle = self.bundle("a", *programs * [PROGRAM], command=f"bash -c '{command}'")
        text = "\n".join(fuzz.commands([bundle]))
        subprocess.run(["bash", "-c", text], cwd=self.dir, check=True,
                       stderr=subprocess.DEVNULL)
        return fuzz.passed(bundle, (self.dir / "a.out").read_text())

    def test_all_well(self):
        self.assertTrue(self.passes(f"echo {SAID}"))
        self.assertTrue(self.passes(f"echo {SAID}; echo {SAID}", 2))

    def test_what_is_damaged_meanwhile(self):
        self.assertTrue(self.passes(f"echo {SAID}; sync; echo MISMATCH >>a.out"))

    def test_what_is_said_before_a_death(self):
        bundle = self.bundle("a", PROGRAM, command="bash -c 'echo MISMATCH; "
                             "until grep MISMATCH a.out; do :; done >&2; "
                             "kill -KILL $PPID'")
        subprocess.run(["bash", "-c", *fuzz.commands([bundle])], cwd=self.dir,
                       check=False, stderr=subprocess.DEVNULL)
        self.assertIn("MISMATCH", (self.dir / "a.out").read_text())

    def test_crash(self):
        self.assertFalse(self.passes("kill -SEGV $$"))
        self.assertFalse(self.passes(f"echo {SAID}; kill -SEGV $$"))

    def test_end_behind_a_call_that_does_not_return(self):
        for says, there in ("MISMATCH line 3: a b: does not return in 240 seconds",
                            False), ("MISMATCH line 3: a b: no", True):
            bundles = [self.bundle(name, PROGRAM, command=f"bash -c '{command}'")
                       for name, command in (("a", f"echo {says}; exit 1"),
                                             ("b", f"echo {SAID}"))]
            (self.dir / "b.out").unlink(missing_ok=True)
            # However slow the shell is, it is to end first.
            grace = "$(until [ -e /tmp/a.out.ended ]; do sleep 0.1; done; echo 0)"
            with mock.patch.object(fuzz, "GRACE", grace):
                text = "\n".join(["kill() { echo killed; }", *fuzz.commands(bundles)])
            # Who waits to kill the shell has its output, and kills none that has ended.
            done = subprocess.run(["bash", "-c", text], cwd=self.dir, check=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.stdout, b"")
            self.assertEqual((self.dir / "b.out").exists(), there)

    def test_call_of_the_kernel_that_does_not_return(self):
        """The process cannot end, but the shell does"""
        bundle = self.bundle("a", PROGRAM, command="bash -c 'echo MISMATCH line 3: a b: "
                             "does not return in 240 seconds; exec sleep 900'")
        with mock.patch.object(fuzz, "GRACE", 0.1):
            text, = fuzz.commands([bundle])
        with subprocess.Popen(["bash", "-c", text], cwd=self.dir, start_new_session=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as shell:
            self.addCleanup(os.killpg, shell.pid, signal.SIGKILL)
            self.assertEqual(shell.wait(timeout=600), -signal.SIGKILL)
        self.assertIn("MISMATCH", (self.dir / "a.out").read_text())

    def test_first_that_fails(self):
        """After a program no more is run, after a question about the device all is."""
        for paths in (1, 0):
            first = self.bundle("a", *paths * [PROGRAM], command="false")
            (self.dir / "b.out").unlink(missing_ok=True)
            text = "\n".join(fuzz.commands(
                [first, self.bundle("b", PROGRAM, command="true")], first=True))
            subprocess.run(["bash", "-c", text], cwd=self.dir, check=True,
                           stdout=subprocess.DEVNULL)
            self.assertEqual((self.dir / "b.out").exists(), not paths)

    def test_status(self):
        self.assertFalse(self.passes(f"echo {SAID}; echo {SAID}; exit 2", 2))

    def test_not_all_read(self):
        self.assertFalse(self.passes("echo 4 calls as described"))

    def test_dead_guest(self):
        bundle = self.bundle("a", PROGRAM)
        lab = fuzz.Lab(self.dir, "mynic", "7.3", [], None)
        for status, good in ((0, True), (125, False)):
            (self.dir / "a.out").write_text(DONE)
            with mock.patch.object(fuzz.shutil, "copy"), \
                    mock.patch.object(fuzz, "status_of_guest", return_value=status):
                result, = fuzz.run(lab, [bundle])
            self.assertEqual(fuzz.passed(bundle, result), good)

    def test_process_that_is_held_when_it_has_said_all(self):
        """Its program has not passed, and the next one did not run."""
        bundles = [self.bundle(name, PROGRAM) for name in "abc"]
        lab = fuzz.Lab(self.dir, "mynic", "7.3", [], None)
        for name in "ab":
            (self.dir / f"{name}.out").write_text(DONE)
        with mock.patch.object(fuzz.shutil, "copy"), \
                mock.patch.object(fuzz, "status_of_guest", return_value=124):
            results = fuzz.run(lab, bundles)
        self.assertEqual(list(map(fuzz.passed, bundles, results)),
                         [True, False, False])
        self.assertEqual(list(map(fuzz.not_run, results)), [False, False, True])

    def test_end_of_the_fuzzer(self):
        """Its guest is told to end, too, even if it has just begun."""
        class Slow(subprocess.Popen):
            """The signal comes before it is known that the guest has begun."""
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                while signal.SIGTERM not in signal.sigpending():
                    time.sleep(0.01)

        old = signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        self.addCleanup(signal.signal, signal.SIGTERM, old)
        for kind in (subprocess.Popen, Slow):
            mark = self.dir / kind.__name__
            with mock.patch.object(fuzz.subprocess, "Popen", kind), \
                    self.assertRaises(SystemExit):
                fuzz.status_of_guest(["bash", "-c", f"trap 'touch {mark}; exit' TERM; "
                                      "kill -TERM $PPID; while :; do sleep 0.1; done"])
            self.assertTrue(mark.exists())

    def test_no_guest(self):
        bundle = self.bundle("a", PROGRAM)
        for device, failed, code in (("mynic", False, 2), ("rxe", False, 2),
                                     ("mynic", True, 1)):
            lab = fuzz.Lab(self.dir, device, "7.3", [], None)
            with mock.patch.object(fuzz.shutil, "copy"), \
                    mock.patch.object(fuzz, "status_of_guest", return_value=125), \
                    contextlib.redirect_stderr(io.StringIO()) as said, \
                    self.assertRaises(SystemExit) as end:
                fuzz.run_all(lab, [bundle], "a", mock.Mock(failed=failed))
            self.assertEqual(end.exception.code, code)
            self.assertIn("status 125", said.getvalue())
            # What has been found is made shorter nevertheless
            with mock.patch.object(fuzz.shutil, "copy"), \
                    mock.patch.object(fuzz, "status_of_guest", return_value=125):
                self.assertFalse(fuzz.passed(bundle, fuzz.run(lab, [bundle])[0]))

    def test_one_is_silent(self):
        self.assertFalse(self.passes(f"echo {SAID}", 2))

    def test_mismatch(self):
        self.assertFalse(self.passes(f"echo MISMATCH line 3: no; echo {SAID}"))


class Arguments(unittest.TestCase):
    """What cannot be done is refused in words."""

    def test_wrong(self):
        for words in ("--kept .", "--kept /tmp", "--kept ../faults",
                      "--kept counters-bound/", "--add a/b", "--shorten 0",
                      "--shorten " + 330 * "1", "--calls 0"):
            with mock.patch.object(sys, "argv", ["fuzz-verbs", *words.split()]), \
                    contextlib.redirect_stderr(io.StringIO()) as said, \
                    self.assertRaises(SystemExit) as end:
                fuzz.arguments()
            self.assertEqual(end.exception.code, 2)
            self.assertIn("error: ", said.getvalue())


class Shortening(Directory):
    """Programs become shorter as long as they fail in the same way."""

    # Steps without which a program does otherwise
    NEEDED = {(0, 3), (0, 12)}

    def shortest(self, says, other="status 2\n", asides=False, rounds=100):
        """What is left of twenty steps if a program says this with all needed ones,
        and something else without some

        asides: whether it needs these, too
        rounds: how many guests there is time for
        """
        bundle = self.bundle("a", PROGRAM)
        lab = fuzz.Lab(self.dir, "mynic", "7.3", [], None).shortening(
            mock.Mock(shorten=10))
        left = itertools.repeat(0, rounds)

        def write(_, name, bundle, steps):
            return dataclasses.replace(bundle, name=name, steps=steps), None

        def run(lab, bundles):
            if next(left, None) is None:
                lab.until = 0
            return [says if self.NEEDED <= set(one.steps) and
                    one.asides >= asides else other for one in bundles]

        with mock.patch.object(fuzz, "write", write), \
                mock.patch.object(fuzz, "run", run), \
                contextlib.redirect_stdout(io.StringIO()):
            return fuzz.shorten(
                lab, bundle, [(0, n) for n in range(20)],
                fuzz.in_one_guest(lab, fuzz.way(bundle, says)))

    def shortened(self, *args):
        """The steps that are left"""
        return set(self.shortest(*args).steps)

    def test_asides(self):
        for asides in range(2):
            shortest = self.shortest(MISMATCH, asides=asides)
            self.assertEqual(shortest.asides, asides)
            self.assertEqual(set(shortest.steps), self.NEEDED)

    def test_time(self):
        """When it is over, the shortest of what was tried is left."""
        self.assertEqual(len(self.shortest(MISMATCH, rounds=0).steps), 20)
        some = set(self.shortest(MISMATCH, rounds=3).steps)
        self.assertTrue(self.NEEDED < some)
        self.assertLess(len(some), 20)

    def test_time_of_guests(self):
        lab = fuzz.Lab(self.dir, "mynic", "7.3", [], None)
        for minutes, seconds in ((10, 600), (0, fuzz.LEAST_SECONDS)):
            short = lab.shortening(mock.Mock(shorten=minutes))
            self.assertEqual(short.seconds, seconds)
            self.assertEqual(short.late, not minutes)
            # A call that does not return must have the time to show it.
            self.assertGreater(dataclasses.replace(short, patience=200).seconds, 300)
            self.assertFalse(lab.late)

    def test_mismatch(self):
        self.assertEqual(self.shortened(MISMATCH + "status 1\n"), self.NEEDED)

    def test_other_mismatch(self):
        for other in (MISMATCH.replace("complete", "end"),
                      MISMATCH.replace("poll", "poll_cq")):
            self.assertEqual(self.shortened(MISMATCH, other), self.NEEDED)

    def test_other_numbers(self):
        self.assertNotEqual(
            self.shortened(MISMATCH, MISMATCH.replace("1", "22")), self.NEEDED)

    def test_crash(self):
        self.assertEqual(self.shortened("status 139\n"), self.NEEDED)

    def test_call_that_does_not_return(self):
        """The fewest of these are run, each in a guest of its own"""
        says = "MISMATCH line 3: query_qp qp0: does not return in 240 seconds\n"
        bundles = [self.bundle(name, PROGRAM) for name in "abc"]
        lab = fuzz.Lab(self.dir, "mynic", "7.3", [], None)
        answers = iter((["status 2\n"], [says.replace("240", "120")]))
        with mock.patch.object(fuzz, "run", lambda *_: next(answers)):
            failing = fuzz.one_by_one(lab, fuzz.way(bundles[0], says))
            self.assertEqual(failing(bundles), [bundles[1]])

    def test_investigation_of_a_call_that_does_not_return(self):
        says = "MISMATCH line 3: query_qp qp0: does not return in 240 seconds\n"
        bundle = self.bundle("a", PROGRAM)
        bundle.steps, bundle.seeds = [(0, step) for step in range(4)], ["1"]
        bundle.last = dict.fromkeys(bundle.steps, 0)
        runs = []

        def run(lab, bundles):
            runs.append((lab.patience, len(bundles)))
            return [says if (0, 2) in one.steps else DONE for one in bundles]

        kept = mock.Mock()
        with mock.patch.multiple(fuzz, write=lambda _, name, bundle, steps: (
                dataclasses.replace(bundle, name=name, steps=steps), None),
                                 run=run, keep=kept, add=mock.Mock()), \
                contextlib.redirect_stdout(io.StringIO()):
            fuzz.investigate(fuzz.Lab(self.dir, "mynic", "7.3", [], None), mock.Mock(
                keep=False, first=False, add=None, shorten=10), bundle, says)
        self.assertEqual(kept.call_args.args[1].steps, [(0, 2)])
        self.assertEqual(set(runs), {(fuzz.SHORT_PATIENCE, 1)})

    def test_guest_that_ends_before_all_ran(self):
        bundles = [self.bundle(name, PROGRAM) for name in "abc"]
        missing = f"{fuzz.NO_RESULT}0\n"
        answers = iter(([DONE, missing, missing], [missing, MISMATCH], [missing]))
        with mock.patch.object(fuzz, "run", lambda *_: next(answers)):
            lab = fuzz.Lab(self.dir, "mynic", "7.3", [], None)
            self.assertEqual(fuzz.in_one_guest(lab, fuzz.way(bundles[0], MISMATCH))(
                bundles), bundles[2:])

    def test_patience_of_guests(self):
        lab = fuzz.Lab(self.dir, "mynic", "7.3", [], None)
        self.assertNotIn("-t", lab.runner.split())
        short = dataclasses.replace(lab, patience=120)
        self.assertIn("-t 120", short.runner)
        self.assertLess(short.seconds, lab.seconds)

    def test_otherwise_alone(self):
        """The program that failed needs another one to fail so."""
        says = MISMATCH.replace("line 3", "line 3 of a.0")
        bundle = self.bundle("a", PROGRAM, PROGRAM)
        bundle.steps = [(of, step) for of in range(2) for step in range(20)]
        bundle.last = dict.fromkeys(bundle.steps, 0)
        bundle.seeds, bundle.first = ["1", "2"], [0, 0]

        def run(_, bundles):
            return [says if {(0, 3), (1, 3)} <= set(one.steps) else
                    says.replace("complete", "end") for one in bundles]

        kept = mock.Mock()
        with mock.patch.multiple(fuzz, write=lambda _, name, __, steps: (
                dataclasses.replace(bundle, name=name, steps=steps), None),
                                 run=run, keep=kept, add=mock.Mock()), \
                contextlib.redirect_stdout(io.StringIO()):
            fuzz.investigate(fuzz.Lab(self.dir, "mynic", "7.3", [], None), mock.Mock(
                keep=False, first=False, add=None, shorten=10), bundle, says)
        self.assertEqual(kept.call_args.args[1].steps, [(0, 3), (1, 3)])

    def test_not_shortened(self):
        bundle = self.bundle("a", PROGRAM)
        for says in ("status 124\n", "status 137\n", "status 125 of the guest\n",
                     ""):
            self.assertIsNone(fuzz.way(bundle, says))


class Guests(Directory):
    """What a guest shows after several programs is shown by one, which is shortened."""

    NEEDED = {(0, 3), (0, 12)}

    def shortest(self, way, other=None, together=False, minutes=10):
        """What is left of five programs, of which the third one fails a guest in this
        way, and all others in another one

        together: only with the first
        minutes: how long to look
        """
        bundles = [self.bundle(str(number), PROGRAM) for number in range(5)]
        for bundle in bundles:
            bundle.steps = [(0, step) for step in range(20)]
            bundle.seeds = [bundle.name]

        def write(_, name, bundle, steps):
            return dataclasses.replace(bundle, name=name, steps=steps), None

        def look(_, some):
            seeds = [seed for bundle in some for seed in bundle.seeds]
            if "2" in seeds and ("0" in seeds or not together) and all(
                    self.NEEDED <= set(bundle.steps) for bundle in some):
                return None, [(way, "text")]
            return None, [(other, "text")] if other else []

        kept = mock.Mock()
        with mock.patch.multiple(fuzz, write=write, run_and_look=look,
                                 keep=kept), \
                contextlib.redirect_stdout(io.StringIO()):
            fuzz.investigate_guest(
                fuzz.Lab(self.dir, "mynic", "7.3", [], None).shortening(
                    mock.Mock(shorten=minutes)), bundles, look(None, bundles)[1])
        if not kept.called:
            return None
        bundle = kept.call_args.args[1]
        self.assertEqual(bundle.seeds, ["2"])
        return set(bundle.steps)

    def test_all_ways(self):
        for way in ("objects", fuzz.KERNEL, fuzz.DEATH):
            for other in (None, "memory"):
                self.assertEqual(self.shortest(way, other), self.NEEDED)

    def test_first_program_of_a_guest_that_died(self):
        bundle = self.bundle("a", PROGRAM)
        looked = mock.Mock()
        options = mock.Mock(first=True, keep=False, shorten=10)
        lab = fuzz.Lab(self.dir, "mynic", "7.3", [], None)
        with mock.patch.multiple(
                fuzz, investigate=looked, run_all=lambda *_: (
                    [(bundle, MISMATCH)], [(fuzz.DEATH, "text")])), \
                contextlib.redirect_stdout(io.StringIO()):
            self.assertFalse(fuzz.run_some(lab, options, [bundle], fuzz.Tap()))
        looked.assert_called_once()

    def test_programs_that_did_not_run(self):
        hung = self.bundle("a", PROGRAM)
        hung.seeds, hung.command = ["1"], "a"
        other = self.bundle("b", PROGRAM)
        other.seeds = ["2"]
        lab = fuzz.Lab(self.dir, "mynic", "7.3", [], None)
        says = "MISMATCH line 3: a b: does not return in 240 seconds\nstatus 1\n"
        with mock.patch.multiple(fuzz, investigate=mock.Mock(), run=lambda *_: [
                says if bundle is hung else f"{fuzz.NO_RESULT}0\n"
                for bundle in _[1]]), \
                contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertFalse(fuzz.run_some(lab, mock.Mock(
                first=False, keep=False, shorten=10), [hung, other], fuzz.Tap()))
        self.assertEqual(said.getvalue().splitlines(), [
            "not ok 1 - program 1",
            "ok 2 - program 2 # SKIP the guest ended before"])

    def test_time(self):
        self.assertIsNone(self.shortest("objects", minutes=0))

    def test_only_together(self):
        self.assertIsNone(self.shortest("objects", together=True))


class Leaving(Directory):
    """What is left of programs"""

    def setUp(self):
        super().setUp()
        self.order = []
        self.answers = dict(ANSWERS)
        self.lab = fuzz.Lab(self.dir, "mynic", "7.3", [], None)

    def run_in_guest(self, _, bundles, __=False):
        """In place of a guest"""
        self.order = [bundle.name for bundle in bundles]
        return [self.answers.get(name, DONE) for name in self.order]

    def is_whole(self, *bundles, first=False):
        """Whether nothing is left of bundles, and what is printed"""
        out = io.StringIO()
        with mock.patch.object(fuzz, "run", self.run_in_guest), \
                contextlib.redirect_stdout(out):
            left = fuzz.run_all(self.lab, list(bundles), "some", fuzz.Tap(),
                                first)[1]
        return not left, out.getvalue()

    def test_nothing(self):
        whole, text = self.is_whole(self.bundle("a", "fill\n"))
        self.assertTrue(whole, text)

    def test_diff(self):
        left = fuzz.Left("objects", "cat objects.now", [])
        for now in OBJECTS, OBJECTS + "more\n":
            text = "\n".join(fuzz.commands([left.begin(), fuzz.Bundle(
                "change", "cp objects.then objects.now"), left.end()]))
            (self.dir / "objects.now").write_text(OBJECTS)
            (self.dir / "objects.then").write_text(now)
            subprocess.run(["bash", "-c", text], cwd=self.dir, check=True)
            results = {name: (self.dir / f"{name}.out").read_text()
                       for name in ("objects-begin", "objects-left")}
            left.after = [self.bundle("a", PROGRAM)]
            self.assertEqual(bool(left.differences(results)), now != OBJECTS)

    def test_leaks_are_looked_for(self):
        self.answers["reports"] = REPORTS.replace("ok 4 d", "ok 4 d # SKIP")
        self.assertIn("# SKIP", self.answers["reports"])
        self.assertTrue(self.is_whole(self.bundle("a", "fill\n"))[0])
        self.lab.kernel = "debug"
        self.assertFalse(self.is_whole(self.bundle("a", "fill\n"))[0])

    def test_guest_that_is_cut_off(self):
        """Nothing is known of what is left then, nor shown by it."""
        bundle = self.bundle("a", PROGRAM)
        for status, shown in ((124, False), (0, True)):
            self.answers["memory-left"] = "more\n" if shown else \
                f"{fuzz.NO_RESULT}{status}\n"
            self.answers["reports"] = REPORTS if shown else \
                f"{fuzz.NO_RESULT}{status}\nstatus {status} of the guest\n"
            whole, text = self.is_whole(bundle)
            self.assertFalse(whole)
            self.assertEqual("not ok 2" in text, not shown)
            with mock.patch.object(fuzz, "run", self.run_in_guest):
                self.assertEqual(fuzz.shows(self.lab, [bundle], "memory"), shown)

    def test_guest_that_did_not_come_up(self):
        self.answers = {}
        bundle = self.bundle("a", PROGRAM)
        missing = f"{fuzz.NO_RESULT}125\n"
        with mock.patch.object(fuzz, "run", lambda _, bundles, __=False: [
                *[missing] * (len(bundles) - 1), missing + fuzz.DEATH]):
            self.assertFalse(fuzz.shows(self.lab, [bundle], fuzz.DEATH))

    def test_reports(self):
        for text in (REPORTS.replace("ok 3", "no 3"), REPORTS + "status 1\n",
                     REPORTS.replace("\nok 2", "\nnot ok 2"),
                     REPORTS.replace("ok 1 a", "ok 1 a # SKIP")):
            with self.subTest(text), \
                    mock.patch.dict(self.answers, reports=text):
                self.assertFalse(self.is_whole(self.bundle("a", PROGRAM))[0])

    def test_memory_before_failure(self):
        self.answers["memory-left"] = "< nic1 memory_bytes 1\n"
        whole, text = self.is_whole(
            self.bundle("a", "host 0 do=fail => 0\n"),
            self.bundle("b", "fill\nfill\n"))
        self.assertFalse(whole)
        self.assertIn("# Call 2: memory: < nic1 memory_bytes 1", text)
        self.assertLess(self.order.index("b"), self.order.index("memory-left"))
        self.assertLess(self.order.index("memory-left"), self.order.index("a"))

    def test_memory_after_failure(self):
        self.answers["memory-left"] = "< nic1 memory_bytes 1\n"
        whole, text = self.is_whole(self.bundle("a", "host 0 do=fail => 0\n"))
        self.assertTrue(whole, text)
        self.assertIn("# Memory is not compared", text)
        self.assertNotIn("memory-left", self.order)

    def test_no_answer(self):
        wrong = [(name, "") for name in ANSWERS]
        wrong += [("device-begin", "nic1 GSI\n"),
                  ("memory-begin", "nic1 memory_bytes 1\n"),
                  ("objects-left", SAME + "status 1 of the guest\n")]
        for name, text in wrong:
            with self.subTest((name, text)), \
                    mock.patch.dict(self.answers, {name: text}):
                self.assertFalse(self.is_whole(self.bundle("a", "fill\n"))[0])

    def test_death(self):
        died = fuzz.NO_RESULT + "125\n" + fuzz.DEATH
        self.assertTrue(self.dies(reports=died))
        self.assertFalse(self.dies(reports="status 1 of the guest\n"))
        self.lab.device = "rxe"
        self.assertTrue(self.dies(a="# begins\n" + fuzz.DEATH))
        self.assertFalse(self.dies())

    def dies(self, **answers):
        """Whether the guest does"""
        with mock.patch.object(fuzz, "run", self.run_in_guest), \
                mock.patch.dict(self.answers, answers):
            left = fuzz.run_and_look(self.lab, [self.bundle("a", PROGRAM)])[1]
        return fuzz.DEATH in (way for way, _ in left)

    def test_not_after_failed_program(self):
        self.answers |= {"a": MISMATCH, "objects-left": "< mynic_0: pd 2\n"}
        bundle = self.bundle("a", "fill\n")
        self.assertTrue(self.is_whole(bundle, first=True)[0])
        self.assertFalse(self.is_whole(bundle)[0])

    def test_command_of_a_run(self):
        plain = mock.Mock(calls=5, kernel="7.3", device="mynic", faults=False)
        self.assertEqual(fuzz.same_programs(plain, 7),
                         "scripts/fuzz-verbs --seed 7 --calls 5")
        other = mock.Mock(calls=5, kernel="debug", device="rxe", faults=True)
        self.assertEqual(
            fuzz.same_programs(other, 7), "scripts/fuzz-verbs --seed 7 --calls 5 "
            "--kernel debug --device rxe --faults")

    def test_command_to_repeat(self):
        command = fuzz.again(self.lab, "-p", [fuzz.BUILD / "a.0"])
        self.assertIn('runner -x "/mynic/tests/fuzz/host <&8 >&9" -p '
                      "/mynic/build/fuzz/a.0", command)
        self.assertIn("scripts/with-control", command)


class Table(Directory):
    """The table of injected faults"""

    def complains(self, call):
        """Whether it does if there is a row with this call"""
        fault = faults.read(faults.FAULTS / "key-late.patch")
        table = self.dir / "table"
        result = faults.Result(call, "poll cq0: no")
        table.write_text(faults.HEAD + faults.row(fault, result, 13))
        with mock.patch.object(faults, "TABLE", table), \
                contextlib.redirect_stdout(io.StringIO()):
            return faults.check([fault])

    def test_found(self):
        self.assertFalse(self.complains(7))

    def test_not_found(self):
        self.assertTrue(self.complains(None))

    def test_verb_of_a_thread(self):
        self.assertEqual(faults.short("fill => 0; @2 poll cq0: no"), "poll: no")

    def test_runs_of_a_fault(self):
        fault = faults.read(faults.FAULTS / "import-dmabuf.patch")
        shown = "\n# Call 7: " + fault.shown[0]
        both = (1, 2 * "\n# MISMATCH")
        for first, kept, call, good in (
                ((1, shown), both, 7, True),
                ((1, shown), (1, "\n# MISMATCH"), None, False),
                ((1, shown), (0, both[1]), None, False),
                ((1, "\n# Call 7: something else"), both, None, False)):
            runs = iter([first, kept])
            with self.subTest((first, kept)), \
                    mock.patch.object(faults, "fuzz", lambda *_: next(runs)), \
                    mock.patch.object(faults.Fault, "patch",
                                      lambda *_: None):
                result, wrong = faults.find(fault, 13)
                self.assertEqual((result.call, not wrong), (call, good))

    def test_no_result(self):
        fault = faults.read(faults.FAULTS / "import-dmabuf.patch")
        for status, text in (1, "no result"), (0, faults.NOT_FOUND):
            with mock.patch.object(faults, "fuzz", lambda *_: (status, "")), \
                    mock.patch.object(faults.Fault, "patch",
                                      lambda *_: None):
                self.assertEqual(faults.find(fault, 13)[0].text, text)


if __name__ == "__main__":
    unittest.main()
