# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rules of SEND with invalidate"""

from nic import (ACCESS_ALL, ERR, LOC_ACCESS_ERR, QP_ACCESS_ERROR, WC_RECV, WR_SEND_INV, Counts,
                 Mr, Qp, check, pattern)
from roce import (NAK_ACCESS, SEND_FIRST, SEND_LAST_INV, SEND_MIDDLE, SEND_ONLY, SEND_ONLY_INV,
                  WRITE_ONLY)
from rules import rule
from rules_requester import FIRST_PSN
from rules_xrc import target

MW_BIND = 16
WITH_INV = 8
KEY = 0x1234567


def with_window(nic, kind="rc"):
    """A QP, and the region and key of a window that is bound through it"""
    qp = Qp(nic, kind=kind)
    region = Mr(nic, access=ACCESS_ALL | MW_BIND)
    key = nic.command("mw", pd=nic.pd, mr=region.handle, qp=qp.handle, cq=qp.cq)["key"]
    return qp, region, key


def write(qp, region, key):
    """An RDMA WRITE through the window"""
    qp.request(WRITE_ONLY, b"abcd", fields={"va": region.addr, "rkey": key, "len": 4}, ackreq=1)


def check_received(qp, key, length):
    """Check that a receive request has completed with an invalidated key"""
    wc = qp.received(7, op=WC_RECV, len=length, flags=WITH_INV)
    # the mock driver prints it like immediate data
    check(int.from_bytes(wc["imm"].to_bytes(4, "big"), "little"), key, "invalidated key")


@rule("invalidate", "SEND ONLY", length=100)
@rule("invalidate", "SEND ONLY, empty", length=0)
@rule("invalidate", "SEND LAST", length=600)
def invalidate(nic, length):
    qp, region, key = with_window(nic)
    data = pattern(length)
    qp.recv(7, 1000)
    write(qp, region, key)
    qp.expect_ack(0x100000, msn=1)
    if length > 256:
        qp.request(SEND_FIRST, data[:256])
        qp.request(SEND_MIDDLE, data[256:512])
        qp.request(SEND_LAST_INV, data[512:], fields={"key": key}, ackreq=1)
    else:
        qp.request(SEND_ONLY_INV, data, fields={"key": key}, ackreq=1)
    qp.expect_ack(qp.psn - 1, msn=2)
    check_received(qp, key, length)
    if length:
        check(qp.mr.read(length), data, "memory")
    write(qp, region, key)
    qp.expect_nak(NAK_ACCESS, qp.psn - 1)


@rule("invalidate_at_the_end")
def at_the_end(nic):
    qp, region, key = with_window(nic)
    qp.request(SEND_ONLY_INV, pattern(4), fields={"key": key}, ackreq=1, psn=qp.psn)
    check(qp.next().syndrome & 0xe0, 0x20, "RNR NAK")
    write(qp, region, key)
    qp.expect_ack(0x100000)
    qp.recv(7, 1000)
    qp.request(SEND_FIRST, pattern(256), ackreq=1)
    qp.expect_ack(0x100001)
    region.write(b"....")
    qp.request(SEND_LAST_INV, pattern(4), fields={"key": key}, ackreq=1)
    qp.expect_ack(0x100002)
    check_received(qp, key, 260)


@rule("invalidate_key", "no such key", which="unknown")
@rule("invalidate_key", "a region", which="region")
@rule("invalidate_key", "another key byte", which="byte")
@rule("invalidate_key", "a window of another QP", which="other")
@rule("invalidate_key", "invalid already", which="twice")
def bad_key(nic, which):
    qp, region, key = with_window(nic)
    if which == "twice":
        qp.recv(7, 1000)
        qp.request(SEND_ONLY_INV, fields={"key": key}, ackreq=1)
        qp.expect_ack(0x100000)
        check_received(qp, key, 0)
    bad = {"unknown": 0, "region": region.key, "byte": key ^ 1, "twice": key}.get(which)
    if which == "other":
        bad = with_window(nic)[2]
    qp.recv(8, 1000)
    with Counts(nic, tx_nak_access=1):
        qp.request(SEND_ONLY_INV, pattern(100), fields={"key": bad}, ackreq=1)
        qp.expect_nak(NAK_ACCESS, qp.psn - 1)
    qp.received(8, LOC_ACCESS_ERR)
    qp.wait_event(QP_ACCESS_ERROR)
    qp.check_state(ERR)


@rule("invalidate_duplicate")
def duplicate(nic):
    qp, _, key = with_window(nic)
    for _ in range(2):
        qp.recv(7, 1000)
    qp.request(SEND_ONLY_INV, pattern(4), fields={"key": key}, ackreq=1)
    qp.expect_ack(0x100000)
    check_received(qp, key, 4)
    # The key is invalid already, so executing this would be an error
    with Counts(nic, duplicate=1):
        qp.request(SEND_ONLY_INV, pattern(4), fields={"key": key}, ackreq=1, psn=0x100000)
        qp.expect_ack(0x100000)
    qp.no_completion()
    qp.check_state(3)


@rule("invalidate_request", "RC", kind="rc")
@rule("invalidate_request", "UC", kind="uc")
def request(nic, kind):
    qp = Qp(nic, kind=kind)
    psn = FIRST_PSN
    for wr_id, length in enumerate((0, 5, 256, 257, 700)):
        data = pattern(length, 3)
        if length:
            qp.mr.write(data)
        # as the mock driver takes immediate data
        key = int.from_bytes(KEY.to_bytes(4, "little"), "big")
        qp.post(wr_id, WR_SEND_INV, length, imm=key)
        for at in range(0, length or 1, 256):
            last = at + 256 >= length
            opcode = SEND_MIDDLE if at else SEND_FIRST
            if last:
                opcode = SEND_LAST_INV if at else SEND_ONLY_INV
            frame = qp.expect(opcode, psn=psn, payload=data[at:at + 256])
            if last:
                check(frame.key, KEY, "key in the IETH")
            psn += 1
        if kind == "rc":
            qp.ack(psn - 1, msn=wr_id + 1)
        qp.completion(wr_id, op=0)


@rule("invalidate_uc", "good key", good=True)
@rule("invalidate_uc", "bad key", good=False)
def unreliable(nic, good):
    qp, region, key = with_window(nic, "uc")
    qp.recv(7, 1000)
    with Counts(nic, rx_drop_key=0 if good else 1):
        qp.request(SEND_FIRST, pattern(256))
        qp.request(SEND_LAST_INV, pattern(9), fields={"key": key if good else region.key})
        if good:
            check_received(qp, key, 265)
        else:
            qp.no_completion()
    if not good:
        qp.request(SEND_ONLY, pattern(3))
        qp.received(7, len=3, flags=0)
        return
    region.write(b"....")
    write(qp, region, key)
    nic.barrier()
    check(region.read(4), b"....", "memory")


@rule("invalidate_xrc")
def extended(nic):
    qp, place, _ = target(nic)
    place.recv(7, 100)
    qp.request(SEND_ONLY_INV, pattern(4), fields={"srqn": place.number, "key": place.mr.key},
               ackreq=1)
    qp.expect_nak(NAK_ACCESS, 0x100000)
    qp.completion(7, LOC_ACCESS_ERR, place.cq)
