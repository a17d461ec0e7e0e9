#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What scripts/timeline draws. Runs in the project's directory, and prints TAP."""

import os
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"

# Pixels between two events
ROW = 22

A = """\
1.000000000 doorbell qp=0x11
1.000001000 sent to=0x12 opcode=rc-send-only psn=0x5 length=158 packets=1
1.000002000 sent to=0x12 opcode=rc-send-only psn=0x6 length=158 packets=1
1.000009000 received to=0x11 opcode=rc-ack psn=0x5 length=62 packets=1
1.000010000 completion qp=0x11 cq=0x5 wr_id=0x77 SUCCESS send length=0
2.000000000 completion qp=0x11 cq=0x5 wr_id=0x78 RETRY_EXC_ERR
"""
B = """\
1.000001500 received to=0x12 opcode=rc-send-only psn=0x5 length=158 packets=1
1.000003000 sent to=0x11 opcode=rc-ack psn=0x5 length=62 packets=1
"""


def timeline(*args):
    return subprocess.run(["scripts/timeline", *args], text=True,
                          capture_output=True, check=False)


def draw(place, *args):
    """The drawing of both journals, as a tree"""
    done = timeline(*args, f"nic1={place}/a", f"nic2={place}/b")
    assert done.returncode == 0, done.stderr
    return ET.fromstring(done.stdout)


def texts(tree):
    return [element.text for element in tree.iter(SVG + "text")]


def arrows(tree):
    return [element for element in tree.iter(SVG + "line")
            if element.get("marker-end")]


def order_of_events(place):
    found = texts(draw(place))
    wanted = ["doorbell qp=0x11", "rc-send-only to 0x12, PSN 0x5, 158 bytes",
              "rc-ack to 0x11, PSN 0x5, 62 bytes",
              "completion qp=0x11 cq=0x5 wr_id=0x78 RETRY_EXC_ERR"]
    places = [found.index(text) for text in wanted]
    assert places == sorted(places), found
    assert "+1.000000 s" in found and "+1.500 us" in found, found


def packets(place):
    tree = draw(place)
    assert len(arrows(tree)) == 2
    assert len(crosses(tree)) == 1  # the one that was lost


def sent_again(place):
    """The first one was lost, not the second one."""
    line = "sent to=0x12 opcode=rc-send-only psn=0x5 length=158 packets=1\n"
    with open(f"{place}/a", "w", encoding="ascii") as file:
        file.write(f"1.000000000 {line}1.100000000 {line}1.200000000 {line}")
    with open(f"{place}/b", "w", encoding="ascii") as file:
        for time in ("1.100000500", "1.200000500"):
            file.write(f"{time} received{line[4:]}")
    tree = draw(place)
    first = min(float(one.get("cy")) for one in tree.iter(SVG + "circle"))
    assert len(crosses(tree)) == 1
    rows = [(float(one.get("y1")) - first, float(one.get("y2")) - first)
            for one in arrows(tree)]
    assert rows == [(ROW, 2 * ROW), (3 * ROW, 4 * ROW)], rows


def frames(place):
    """Frames have arrows, too; one that no column has received has no cross."""
    with open(f"{place}/a", "w", encoding="ascii") as file:
        file.write("1.000000000 sent frame length=42\n"
                   "1.000000900 received frame length=42\n"
                   "1.000001000 sent frame length=60\n"
                   "1.000001100 sent frame length=66\n")
    with open(f"{place}/b", "w", encoding="ascii") as file:
        file.write("1.000000200 received frame length=42\n"
                   "1.000000800 sent frame length=42\n"
                   "1.000001500 received frame length=66\n")
    tree = draw(place)
    drawn = arrows(tree)
    assert len(drawn) == 3 and not crosses(tree), len(drawn)
    right = [float(one.get("x1")) < float(one.get("x2")) for one in drawn]
    assert right == [True, False, True], right
    assert "frame, 60 bytes" in texts(tree)


def boxes(tree):
    """From where to where the labels go, and their line"""
    for element in tree.iter(SVG + "text"):
        if element.get("class") == "title":
            continue
        x, width = float(element.get("x")), 6.6 * len(element.text)
        left = element.get("text-anchor") == "end" or element.get("class") == "time"
        yield ((x - width, x) if left else (x, x + width)), float(element.get("y"))


def labels_are_free(place):
    """They cross neither a column, nor another label, nor an arrow."""
    long = "completion qp=0xfffff1 cq=0x5 wr_id=0xffffffffffffffff SUCCESS send length=0"
    for name, time in (("a", "1.000000500"), ("b", "1.000002500"), ("c", "1.000002600")):
        with open(f"{place}/{name}", "a", encoding="ascii") as file:
            file.write(f"{time} {long}\n")
    for names in (["a"], ["a", "b"], ["a", "b", "c"]):
        done = timeline(*(f"nic{name}={place}/{name}" for name in names))
        assert done.returncode == 0, done.stderr
        tree = ET.fromstring(done.stdout)
        found = list(boxes(tree))
        lines = [float(line.get("x1")) for line in tree.iter(SVG + "line")
                 if line.get("class") == "life"]
        assert len(lines) == len(names)
        for (left, right), y in found:
            assert 0 <= left and right <= float(tree.get("width")), (names, left, right)
            assert not any(left < x < right for x in lines), (names, left, right)
            same = [box for box, other in found if abs(other - y) < ROW / 2]
            assert len(same) == 2 and max(same)[0] >= min(same)[1], (names, same)
        if len(names) == 2:
            assert arrows(tree)
            for arrow in arrows(tree):
                ends = sorted(float(arrow.get(end)) for end in ("x1", "x2"))
                assert not any(left < ends[1] - 1 and right > ends[0] + 7
                               for (left, right), _ in found)


def crosses(tree):
    return [path for path in tree.iter(SVG + "path")
            if "m0 -10" in path.get("d")]


def limits(place):
    # Its arrival is left out, which is no loss.
    tree = draw(place, "--to", "1.0000012")
    assert len(texts(tree)) > 4 and not crosses(tree) and not arrows(tree)
    found = texts(draw(place, "--from", "1.5"))
    assert len([text for text in found if text.startswith("completion")]) == 1
    assert not any(text.startswith("doorbell") for text in found)


def fill(place, name, start, first):
    """A full journal, with a packet each microsecond"""
    with open(f"{place}/{name}", "w", encoding="ascii") as file:
        for psn in range(first, first + 1024):
            file.write(f"{start}.{psn * 1000:09} sent to=0x12 "
                       f"opcode=uc-send-only psn={psn:#x} length=8 packets=1\n")


def journal_size():
    """Number of entries, as the device model has it"""
    path = "userspace/device/core/base/journal.h"
    with open(path, encoding="ascii") as file:
        return int(re.search(r"#define JOURNAL_SIZE (\d+)", file.read())[1])


def full_journals(place):
    """Nobody knows what became of packets that a full journal has no room for."""
    assert journal_size() == 1024
    fill(place, "a", 3, 0)
    with open(f"{place}/b", "w", encoding="ascii") as file:
        for psn in range(1000, 2024):
            file.write(f"3.{psn * 1000 + 1:09} received to=0x12 "
                       f"opcode=uc-send-only psn={psn:#x} length=8 packets=1\n")
    done = timeline(f"nic1={place}/a", f"nic2={place}/b")
    assert "22.999 us are in all journals" in done.stderr, done.stderr
    tree = ET.fromstring(done.stdout)
    assert len(arrows(tree)) == 22 and not crosses(tree)
    fill(place, "b", 4, 0)
    done = timeline(f"nic1={place}/a", f"nic2={place}/b")
    assert done.returncode == 1 and "no time is in all" in done.stderr, done


def one_journal(place):
    done = timeline(f"nic1={place}/a")
    assert done.returncode == 0 and "m0 -10" not in done.stdout


def only_failures_are_red(place):
    lines = {
        "command ALLOC_PD number=0x1 OK created=0x5": False,
        "command CREATE_QP number=0x0 NO_RESOURCE created=0x0": True,
        "state qp=0x11 RESET to INIT by MODIFY_QP": False,
        "state qp=0x11 RTS to ERR by the NIC: a key": True,
        "completion qp=0x11 cq=0x5 wr_id=0x77 SUCCESS send length=0": False,
        "completion qp=0x11 cq=0x5 wr_id=0x78 RETRY_EXC_ERR": True,
        "fatal error: EQ_DMA": True,
    }
    with open(f"{place}/c", "w", encoding="ascii") as file:
        for number, line in enumerate(lines):
            file.write(f"1.{number:09} {line}\n")
    tree = ET.fromstring(timeline(f"nic1={place}/c").stdout)
    red = {element.text: "#c01c28" in element.get("style")
           for element in tree.iter(SVG + "text") if element.text in lines}
    assert red == lines, red


def names_are_text(place):
    done = timeline(f"<&>={place}/a")
    assert "<&>" in texts(ET.fromstring(done.stdout))


def to_a_file(place):
    done = timeline("-o", f"{place}/svg", f"nic1={place}/a")
    assert done.returncode == 0 and done.stdout == ""
    ET.parse(f"{place}/svg")


def options_may_come_last(place):
    done = timeline(f"nic1={place}/a", "-o", f"{place}/svg", "--from=1")
    assert done.returncode == 0 and done.stdout == "", done
    ET.parse(f"{place}/svg")


def full_output(place):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(["scripts/timeline", f"n={place}/a"], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1, done
    assert done.stderr == "timeline: standard output: No space left on device\n", done


def bad_input(place):
    with open(f"{place}/text", "w", encoding="ascii") as file:
        file.write("no journal\n")
    for args, status, message in [
            ([], 2, "no journal"),
            ([f"{place}/a"], 2, "not NAME=JOURNAL"),
            (["--from", "x", f"n={place}/a"], 2, "not a number"),
            (["--from", "nan", f"n={place}/a"], 2, "not a number"),
            (["--frobnicate"], 2, "frobnicate"),
            ([f"n={place}/a", "--frobnicate"], 2, "frobnicate"),
            (["-o", "/dev/full", f"n={place}/a"], 1, "No space left"),
            ([f"n={place}/none"], 1, "No such file"),
            ([f"n={place}/text"], 1, "no line of a journal"),
            (["--from", "9", f"n={place}/a"], 1, "nothing in that time")]:
        done = timeline(*args)
        assert done.returncode == status, (args, done)
        assert message in done.stderr and "Traceback" not in done.stderr, done


def main():
    tests = (
        order_of_events, packets, sent_again, frames, labels_are_free, limits,
        full_journals, one_journal, only_failures_are_red, names_are_text,
        to_a_file, options_may_come_last, full_output, bad_input,
    )
    print(f"TAP version 13\n1..{len(tests)}")
    for number, test in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as place:
            for name, text in (("a", A), ("b", B)):
                with open(os.path.join(place, name), "w",
                          encoding="ascii") as file:
                    file.write(text)
            try:
                test(place)
            except AssertionError as error:
                print(f"# {error}".replace("\n", "\n# "))
                print(f"not ok {number} - timeline: {test.__name__}")
            else:
                print(f"ok {number} - timeline: {test.__name__}")


if __name__ == "__main__":
    main()
