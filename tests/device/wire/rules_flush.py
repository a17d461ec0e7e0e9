# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rules of ATOMIC WRITE and FLUSH"""

import struct

from nic import (ACCESS_ALL, BAD_RESP_ERR, FLUSH_ERR, FLUSH_GLOBAL, FLUSH_PERSISTENT,
                 LOCAL_WRITE, QP_ACCESS_ERROR, REMOTE_READ, REMOTE_WRITE, WC_ATOMIC_WRITE,
                 WC_FLUSH, WR_ATOMIC_WRITE, WR_FLUSH, Counts, Mr, Qp, check, pattern)
from roce import (ACK, ATOMIC_ACK, ATOMIC_WRITE, FETCH_ADD, FLUSH, NAK_ACCESS, NAK_INVALID,
                  READ_FIRST, READ_ONLY, READ_REQUEST, WRITE_FIRST, WRITE_ONLY)
from rules import rule
from rules_requester import FIRST_PSN
from rules_responder import bad_request, get_u64, put_u64, reth
from rules_xrc import target

# enum ibv_placement_type, enum ibv_selectivity_level
GLOBAL, PERSISTENT, BOTH = 1, 2, 3
RANGE, REGION = 0, 1

_PLACEMENTS = (("global", GLOBAL), ("persistent", PERSISTENT), ("both", BOTH))


def feth(placement=GLOBAL, selectivity=RANGE, length=100, **other):
    """Fields of FETH and RETH, as a function of the QP"""
    return lambda qp: {**qp.reth(length, **other), "placement": placement,
                       "selectivity": selectivity}


# The NIC as responder

@rule("atomic_write", "IPv4", ip=4)
@rule("atomic_write", "IPv6", ip=6)
def atomic_write(nic, ip):
    qp = Qp(nic, ip=ip)
    for i in range(2):
        data = pattern(8, i)
        qp.request(ATOMIC_WRITE, data, fields=qp.reth(8, at=16), ackreq=1)
        qp.expect(READ_ONLY, psn=0x100000 + i, msn=1 + i, payload=b"")
        check(qp.mr.read(8, at=16), data, "memory")
    qp.expect_silence()
    check(qp.query("rq_psn"), 0x100002, "PSN expected")


for _args in (
        ("no payload", (ATOMIC_WRITE, 0, reth(8))),
        ("payload of 4", (ATOMIC_WRITE, 4, reth(4))),
        ("payload of 16", (ATOMIC_WRITE, 16, reth(16))),
        ("less than announced", (ATOMIC_WRITE, 8, reth(16))),
        ("more than announced", (ATOMIC_WRITE, 8, reth(4))),
        ("address", (ATOMIC_WRITE, 8, reth(8, at=4))),
        ("address, with a bad key", (ATOMIC_WRITE, 8, reth(8, at=1, rkey=1))),
        ("in a WRITE", (WRITE_FIRST, 256, reth(1000)), (ATOMIC_WRITE, 8, reth(8))),
):
    bad_request("atomic_write_form", *_args)

bad_request("atomic_write_rights", "of the QP", (ATOMIC_WRITE, 8, reth(8)),
            access_flags=ACCESS_ALL & ~REMOTE_WRITE)


def refused(qp, opcode, payload, fields):
    """Check that a request is refused because of its key"""
    with Counts(qp.nic, tx_nak_access=1):
        qp.request(opcode, payload, fields=fields, ackreq=1)
        qp.expect_nak(NAK_ACCESS, 0x100000)
        qp.wait_event(QP_ACCESS_ERROR)


@rule("atomic_write_rights", "key", rkey=1)
@rule("atomic_write_rights", "behind the region", at=65536)
@rule("atomic_write_rights", "region without right to write", access=REMOTE_READ)
def atomic_write_rights(nic, access=None, **other):
    qp = Qp(nic)
    if access is not None:
        other["rkey"] = Mr(nic, access=LOCAL_WRITE | access).key
    refused(qp, ATOMIC_WRITE, bytes(8), qp.reth(8, **other))


for _name, _placement in _PLACEMENTS:
    @rule("flush", f"{_name}, range", placement=_placement)
    @rule("flush", f"{_name}, range of nothing", placement=_placement, length=0, rkey=1)
    @rule("flush", f"{_name}, region", placement=_placement, selectivity=REGION)
    @rule("flush", f"{_name}, region, whatever the RETH says", placement=_placement,
          selectivity=REGION, length=0xffffffff, at=-1000)
    def flush(nic, **fields):
        qp = Qp(nic)
        qp.request(WRITE_ONLY, pattern(100), fields=qp.reth(100))
        qp.request(FLUSH, fields={**feth(**fields)(qp), "reserved_feth": 0x3ffffff}, ackreq=1)
        qp.expect(READ_ONLY, psn=0x100001, msn=2, payload=b"")
        check(qp.mr.read(100), pattern(100), "memory")
        qp.expect_silence()


for _args in (
        ("no placement", (FLUSH, 0, feth(0))),
        ("placement 4", (FLUSH, 0, feth(4))),
        ("placement 9", (FLUSH, 0, feth(9))),
        ("selectivity 2", (FLUSH, 0, feth(selectivity=2))),
        ("selectivity 3", (FLUSH, 0, feth(selectivity=3))),
        ("range of more than 2^31", (FLUSH, 0, feth(length=0x80000001))),
        ("in a WRITE", (WRITE_FIRST, 256, reth(1000)), (FLUSH, 0, feth())),
):
    bad_request("flush_form", *_args)

for _name, _placement in _PLACEMENTS:
    for _right, _access in (("global", FLUSH_GLOBAL), ("persistent", FLUSH_PERSISTENT)):
        if _name != _right:
            bad_request("flush_rights", f"{_name}, of a QP for {_right}",
                        (FLUSH, 0, feth(_placement)), access_flags=_access)


@rule("flush_rights", "key", rkey=1)
@rule("flush_rights", "key, region", rkey=1, selectivity=REGION)
@rule("flush_rights", "across the end", at=65500)
@rule("flush_rights", "persistent, of a region for global", access=FLUSH_GLOBAL,
      placement=PERSISTENT)
@rule("flush_rights", "global, of a region for persistent", access=FLUSH_PERSISTENT,
      selectivity=REGION)
@rule("flush_rights", "of a region for WRITE", access=REMOTE_WRITE | REMOTE_READ | LOCAL_WRITE)
def flush_rights(nic, access=None, **other):
    qp = Qp(nic)
    if access is not None:
        region = Mr(nic, access=access)
        other.update(rkey=region.key, va=region.addr)
    refused(qp, FLUSH, b"", feth(**other)(qp))


@rule("placed_outstanding", "ATOMIC WRITE", opcode=ATOMIC_WRITE)
@rule("placed_outstanding", "FLUSH", opcode=FLUSH)
def outstanding(nic, opcode):
    qp = Qp(nic, max_dest_rd_atomic=0)
    qp.request(opcode, bytes(8 if opcode == ATOMIC_WRITE else 0),
               fields=feth(length=8)(qp), ackreq=1)
    qp.expect_nak(NAK_INVALID, 0x100000)


@rule("placed_duplicate", "ATOMIC WRITE", opcode=ATOMIC_WRITE)
@rule("placed_duplicate", "FLUSH", opcode=FLUSH)
def duplicate(nic, opcode):
    qp = Qp(nic, max_dest_rd_atomic=2)
    payload = bytes(8 if opcode == ATOMIC_WRITE else 0)
    for i in range(3):
        qp.request(opcode, payload, fields=feth(length=8)(qp), ackreq=1)
        qp.expect(READ_ONLY, psn=0x100000 + i)
    put_u64(qp, 99)
    with Counts(nic, duplicate=4):
        for psn in (1, 2, 1):
            qp.request(opcode, payload, fields=feth(length=8)(qp), psn=0x100000 + psn)
            qp.expect(READ_ONLY, psn=0x100000 + psn, msn=1 + psn, payload=b"")
        # The NIC has forgotten the oldest
        qp.request(opcode, payload, fields=feth(length=8)(qp), psn=0x100000)
        qp.expect_silence()
    check(get_u64(qp), 99, "memory")


# The NIC as requester

@rule("atomic_write_request", "IPv4", ip=4)
@rule("atomic_write_request", "IPv6", ip=6)
def atomic_write_request(nic, ip):
    qp = Qp(nic, ip=ip)
    qp.mr.write(pattern(8))
    qp.post(7, WR_ATOMIC_WRITE, 8, remote=qp.remote())
    frame = qp.expect(ATOMIC_WRITE, psn=FIRST_PSN, payload=pattern(8), len=8)
    check((frame.va, frame.rkey), qp.remote(), "address and key")
    check(frame.bth.ackreq, 1, "AckReq")
    qp.respond(READ_ONLY, FIRST_PSN, msn=1)
    qp.completion(7, op=WC_ATOMIC_WRITE)


@rule("flush_request", "IPv4", ip=4)
@rule("flush_request", "IPv6", ip=6)
def flush_request(nic, ip):
    qp = Qp(nic, ip=ip)
    for i, (_, placement) in enumerate(_PLACEMENTS):
        for j, selectivity in enumerate((RANGE, REGION)):
            psn = FIRST_PSN + 2 * i + j
            qp.post(7, WR_FLUSH, remote=qp.remote(), flush_len=0x12345,
                    placement=placement, selectivity=selectivity)
            frame = qp.expect(FLUSH, psn=psn, payload=b"", len=0x12345, placement=placement,
                              selectivity=selectivity, reserved_feth=0)
            check((frame.va, frame.rkey), qp.remote(), "address and key")
            qp.respond(READ_ONLY, psn, msn=1)
            qp.completion(7, op=WC_FLUSH)


def placed(qp, wr_id, kind):
    """Post an ATOMIC WRITE or FLUSH"""
    qp.post(wr_id, kind, 8 if kind == WR_ATOMIC_WRITE else 0, remote=qp.remote(),
            placement=GLOBAL)


for _name, _kind in (("ATOMIC WRITE", WR_ATOMIC_WRITE), ("FLUSH", WR_FLUSH)):
    for _what, _opcode, _size in (("READ RESPONSE with data", READ_ONLY, 8),
                                  ("READ RESPONSE FIRST", READ_FIRST, 256),
                                  ("atomic response", ATOMIC_ACK, 0)):
        @rule("placed_response", f"{_name}: {_what}", kind=_kind, opcode=_opcode, size=_size)
        def bad_response(nic, kind, opcode, size):
            qp = Qp(nic)
            placed(qp, 7, kind)
            qp.next()
            qp.respond(opcode, FIRST_PSN, pattern(size))
            qp.completion(7, BAD_RESP_ERR)


@rule("placed_response", "ATOMIC WRITE: an ACK is none", kind=WR_ATOMIC_WRITE,
      opcode=ATOMIC_WRITE)
@rule("placed_response", "FLUSH: an ACK is none", kind=WR_FLUSH, opcode=FLUSH)
def ack_is_no_response(nic, kind, opcode):
    qp = Qp(nic)
    placed(qp, 7, kind)
    qp.expect(opcode, psn=FIRST_PSN)
    with Counts(nic, implied_nak=1):
        qp.ack(FIRST_PSN)
        qp.expect(opcode, again=True, psn=FIRST_PSN)
    qp.respond(READ_ONLY, FIRST_PSN)
    qp.completion(7)


@rule("placed_response", "counts for max_rd_atomic")
def limited(nic):
    qp = Qp(nic, max_rd_atomic=1)
    placed(qp, 7, WR_FLUSH)
    placed(qp, 8, WR_ATOMIC_WRITE)
    qp.expect(FLUSH, psn=FIRST_PSN)
    qp.expect_silence()
    qp.respond(READ_ONLY, FIRST_PSN)
    qp.completion(7)
    qp.expect(ATOMIC_WRITE, psn=FIRST_PSN + 1)
    qp.respond(READ_ONLY, FIRST_PSN + 1)
    qp.completion(8)


# XRC

@rule("placed_xrc", "the NIC is the responder")
def xrc_responder(nic):
    qp, place, other = target(nic)
    qp.request(ATOMIC_WRITE, struct.pack("<Q", 5), fields=place.fields(8))
    qp.expect(READ_ONLY, psn=0x100000, payload=b"")
    qp.request(FLUSH, fields=place.fields(8, placement=BOTH))
    qp.expect(READ_ONLY, psn=0x100001, payload=b"")
    qp.request(FETCH_ADD, fields=place.fields(swap=1))
    qp.expect(ATOMIC_ACK, psn=0x100002, orig=5)
    # The SRQ of a duplicate does not matter
    qp.request(ATOMIC_WRITE, bytes(8), fields=place.fields(8, srqn=other.number), psn=0x100000)
    qp.expect(READ_ONLY, psn=0x100000)
    qp.request(FLUSH, fields=place.fields(8, placement=GLOBAL, srqn=other.number))
    qp.expect_nak(NAK_ACCESS, 0x100003)


@rule("placed_xrc", "the NIC is the requester")
def xrc_requester(nic):
    qp = Qp(nic, kind="xrc_ini")
    qp.post(7, WR_ATOMIC_WRITE, 8, remote=qp.remote(), remote_srqn=0x10203)
    qp.expect(ATOMIC_WRITE, psn=FIRST_PSN, srqn=0x10203, reserved_xrc=0, len=8)
    qp.respond(READ_ONLY, FIRST_PSN)
    qp.completion(7)
    qp.post(8, WR_FLUSH, remote=qp.remote(), remote_srqn=0x10204, placement=PERSISTENT,
            selectivity=REGION)
    qp.expect(FLUSH, psn=FIRST_PSN + 1, srqn=0x10204, placement=PERSISTENT,
              selectivity=REGION)
    qp.respond(READ_ONLY, FIRST_PSN + 1)
    qp.completion(8)
