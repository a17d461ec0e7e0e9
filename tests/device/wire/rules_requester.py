# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rules of the requester, reliable connection"""

import struct
import time

from nic import (BAD_RESP_ERR, ERR, FENCE, FLUSH_ERR, REM_ACCESS_ERR, REM_INV_REQ_ERR,
                 REM_OP_ERR, RETRY_EXC_ERR, RNR_RETRY_EXC_ERR, SIGNALED, SOLICITED, RTR, RTS,
                 WR_CMP_SWAP, WR_FETCH_ADD, WR_READ, WR_SEND, WR_SEND_IMM, WR_WRITE,
                 WR_WRITE_IMM, Counts, Failed, Qp, check, pattern)
from roce import (ATOMIC_ACK, CMP_SWAP, FETCH_ADD, NAK, NAK_ACCESS, NAK_INVALID,
                  NAK_OPERATION, NAK_SEQUENCE, NO_CREDITS, PSN_MASK, READ_FIRST, READ_LAST,
                  READ_MIDDLE, READ_ONLY, READ_REQUEST, RESERVED, RNR, RNR_MS, SEND_FIRST,
                  SEND_LAST, SEND_LAST_IMM, SEND_MIDDLE, SEND_ONLY, SEND_ONLY_IMM,
                  WRITE_FIRST, WRITE_LAST, WRITE_LAST_IMM, WRITE_MIDDLE, WRITE_ONLY,
                  WRITE_ONLY_IMM)
from rules import rule

FIRST_PSN = 0x200000
IMM = 0xdeadbeef

# The last packets of messages
LAST_OPCODES = (SEND_LAST, SEND_LAST_IMM, SEND_ONLY, SEND_ONLY_IMM, WRITE_LAST,
                WRITE_LAST_IMM, WRITE_ONLY, WRITE_ONLY_IMM)

_SEND = ((SEND_ONLY, SEND_FIRST, SEND_MIDDLE, SEND_LAST),
         (SEND_ONLY_IMM, SEND_FIRST, SEND_MIDDLE, SEND_LAST_IMM))
_WRITE = ((WRITE_ONLY, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST),
          (WRITE_ONLY_IMM, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_IMM))
MESSAGES = {WR_SEND: _SEND[0], WR_SEND_IMM: _SEND[1],
            WR_WRITE: _WRITE[0], WR_WRITE_IMM: _WRITE[1]}
NAMES = {WR_SEND: "SEND", WR_SEND_IMM: "SEND with immediate data", WR_WRITE: "RDMA WRITE",
         WR_WRITE_IMM: "RDMA WRITE with immediate data"}


def message(wr_opcode, length, mtu):
    """Opcode and range of the payload of each packet of a message"""
    only, first, middle, last = MESSAGES[wr_opcode]
    if length <= mtu:
        return [(only, slice(0, length))]
    starts = range(0, length, mtu)
    opcodes = [first] + [middle] * (len(starts) - 2) + [last]
    return [(opcode, slice(at, min(at + mtu, length)))
            for opcode, at in zip(opcodes, starts)]


def expect_message(qp, wr_opcode, data, psn, length=None):
    """Receive and check all packets of a message"""
    length = len(data) if length is None else length
    packets = message(wr_opcode, length, qp.mtu)
    for i, (opcode, place) in enumerate(packets):
        frame = qp.expect(opcode, psn=psn + i, payload=data[place])
        if qp.kind == "uc":
            check(frame.bth.ackreq, 0, "AckReq on UC")
        elif opcode in LAST_OPCODES:
            check(frame.bth.ackreq, 1, "AckReq of the last packet")
        if opcode in (WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM):
            check((frame.va, frame.rkey, frame.len), qp.remote() + (length,), "RETH")
        if opcode in (SEND_LAST_IMM, SEND_ONLY_IMM, WRITE_LAST_IMM, WRITE_ONLY_IMM):
            check(frame.imm, IMM, "immediate data")
    return psn + len(packets) - 1


def segment_row(wr_opcode, mtu, length, ip):
    """A row: the packets of a message"""
    @rule("segmentation", f"{NAMES[wr_opcode]} of {length} bytes, path MTU {mtu}, IPv{ip}")
    def row(nic):
        qp = Qp(nic, mtu=mtu, ip=ip)
        data = pattern(length, mtu)
        qp.mr.write(data, at=1)
        qp.post(7, wr_opcode, length, at=1, remote=qp.remote(), imm=IMM)
        last = expect_message(qp, wr_opcode, data, FIRST_PSN)
        qp.ack(last, msn=1)
        qp.completion(7)
        check(qp.query("sq_psn"), last + 1, "next PSN")


for _wr in (WR_SEND, WR_SEND_IMM, WR_WRITE, WR_WRITE_IMM):
    for _mtu, _ip in ((256, 4), (512, 6), (1024, 4), (2048, 6), (4096, 4)):
        segment_row(_wr, _mtu, 3 * _mtu + _mtu // 2 + 1, _ip)
    for _length in (0, 1, 2, 3, 4, 256):
        segment_row(_wr, 256, _length, 6)
    segment_row(_wr, 256, 257, 4)
    segment_row(_wr, 256, 512, 4)


@rule("request_psns", "2^24 - 1 is followed by 0")
def request_psns_wrap(nic):
    qp = Qp(nic, sq_psn=PSN_MASK - 1)
    data = pattern(1024)
    qp.mr.write(data)
    qp.post(7, WR_WRITE, 1024, remote=qp.remote())
    expect_message(qp, WR_WRITE, data, PSN_MASK - 1)
    qp.ack(PSN_MASK)
    qp.no_completion()
    qp.ack(1, msn=1)
    qp.completion(7)


@rule("request_psns", "a READ takes as many as its response has packets")
def request_psns_of_read(nic):
    qp = Qp(nic)
    qp.post(7, WR_READ, 600, remote=qp.remote(), ring=0)
    qp.post(8, WR_WRITE, 4, remote=qp.remote())
    frame = qp.expect(READ_REQUEST, psn=FIRST_PSN)
    check((frame.va, frame.rkey, frame.len), qp.remote() + (600,), "RETH")
    check(frame.payload, b"", "payload")
    qp.expect(WRITE_ONLY, psn=FIRST_PSN + 3)
    data = pattern(600, 9)
    qp.respond(READ_FIRST, FIRST_PSN, data[:256])
    qp.respond(READ_MIDDLE, FIRST_PSN + 1, data[256:512])
    qp.respond(READ_LAST, FIRST_PSN + 2, data[512:])
    qp.completion(7, len=600)
    qp.ack(FIRST_PSN + 3)
    qp.completion(8)
    check(qp.mr.read(600), data, "memory")


@rule("read_request", "of nothing")
def read_of_nothing(nic):
    qp = Qp(nic)
    qp.post(7, WR_READ, remote=qp.remote())
    frame = qp.expect(READ_REQUEST, psn=FIRST_PSN)
    check(frame.len, 0, "length")
    qp.respond(READ_ONLY, FIRST_PSN)
    qp.completion(7, len=0)


@rule("read_request", "response across 2^24")
def read_across_wrap(nic):
    qp = Qp(nic, sq_psn=PSN_MASK)
    qp.post(7, WR_READ, 300, remote=qp.remote())
    qp.expect(READ_REQUEST, psn=PSN_MASK)
    data = pattern(300)
    qp.respond(READ_FIRST, PSN_MASK, data[:256])
    qp.respond(READ_LAST, 0, data[256:])
    qp.completion(7, len=300)
    check(qp.mr.read(300), data, "memory")


@rule("atomic_request", "COMPARE & SWAP", wr_opcode=WR_CMP_SWAP, opcode=CMP_SWAP)
@rule("atomic_request", "FETCH & ADD", wr_opcode=WR_FETCH_ADD, opcode=FETCH_ADD)
def atomic_request(nic, wr_opcode, opcode):
    qp = Qp(nic, ip=6)
    qp.post(7, wr_opcode, 8, remote=qp.remote(), compare_add=0x1122334455667788,
            swap=0x99aabbccddeeff00)
    frame = qp.expect(opcode, psn=FIRST_PSN, payload=b"")
    check((frame.va, frame.rkey), qp.remote(), "address and key")
    if opcode == CMP_SWAP:
        check((frame.compare, frame.swap), (0x1122334455667788, 0x99aabbccddeeff00), "operands")
    else:
        check(frame.swap, 0x1122334455667788, "operand")
    qp.respond(ATOMIC_ACK, FIRST_PSN, orig=0x0102030405060708, msn=1)
    qp.completion(7, op=3 if opcode == CMP_SWAP else 4, len=8)
    check(qp.mr.read(8), struct.pack("<Q", 0x0102030405060708), "memory")


@rule("solicited_event", "SEND", wr_opcode=WR_SEND)
@rule("solicited_event", "RDMA WRITE with immediate data", wr_opcode=WR_WRITE_IMM)
def solicited_event(nic, wr_opcode):
    qp = Qp(nic)
    qp.post(7, wr_opcode, 600, remote=qp.remote(), flags=SIGNALED | SOLICITED)
    for i in range(3):
        check(qp.next().bth.solicited, int(i == 2), "SE")
    qp.post(8, wr_opcode, 1, remote=qp.remote())
    check(qp.next().bth.solicited, 0, "SE")
    qp.ack(FIRST_PSN + 3)
    qp.completion(7)
    qp.completion(8)


# Acknowledgments

@rule("coalesced_ack")
def coalesced_ack(nic):
    qp = Qp(nic)
    for wr_id in range(5):
        qp.post(wr_id, WR_SEND, 300, ring=wr_id == 4)
    for _ in range(10):
        qp.next()
    qp.ack(FIRST_PSN + 5)
    for wr_id in range(3):
        qp.completion(wr_id)
    qp.no_completion()
    # in the middle of the fourth
    qp.ack(FIRST_PSN + 6)
    qp.no_completion()
    qp.ack(FIRST_PSN + 9)
    qp.completion(3)
    qp.completion(4)


@rule("response_acknowledges", "READ", wr_opcode=WR_READ)
@rule("response_acknowledges", "atomic", wr_opcode=WR_FETCH_ADD)
def response_acknowledges(nic, wr_opcode):
    qp = Qp(nic)
    qp.post(7, WR_SEND, 300, ring=0)
    qp.post(8, wr_opcode, 8, remote=qp.remote())
    for _ in range(3):
        qp.next()
    qp.respond(READ_ONLY if wr_opcode == WR_READ else ATOMIC_ACK, FIRST_PSN + 2,
               b"12345678" if wr_opcode == WR_READ else b"", orig=5)
    qp.completion(7)
    qp.completion(8)


@rule("ghost", "ACK of what is acknowledged", psn=0)
@rule("ghost", "ACK of what was never sent", psn=5)
@rule("ghost", "ACK far ahead", psn=(1 << 23) - 1)
def ghost(nic, psn):
    qp = Qp(nic)
    for wr_id in (1, 2):
        qp.post(wr_id, WR_SEND, 4)
        qp.next()
    qp.ack(FIRST_PSN)
    qp.completion(1)
    with Counts(nic, ghost=3, retransmit_but_probes=0):
        qp.ack(FIRST_PSN + psn)
        qp.ack(FIRST_PSN + psn, NAK_INVALID)
        qp.respond(READ_ONLY, FIRST_PSN + psn, b"abcd")
        qp.no_completion()
    qp.expect_silence()
    qp.ack(FIRST_PSN + 1)
    qp.completion(2)


@rule("opcode_of_responses")
def responses_to_nothing(nic):
    qp = Qp(nic)
    with Counts(nic, ghost=3):
        qp.ack(FIRST_PSN - 1)
        qp.respond(ATOMIC_ACK, FIRST_PSN)
        qp.respond(READ_ONLY, FIRST_PSN, b"abcd")
        qp.no_completion()
    qp.check_state(RTS)


@rule("opcode_of_responses", "RTR")
def responses_in_rtr(nic):
    qp = Qp(nic, state=RTR)
    with Counts(nic, ghost=2):
        qp.ack(0)
        qp.respond(READ_ONLY, 0, b"abcd")
        qp.expect_silence()
    qp.check_state(RTR)


@rule("ghost", "READ RESPONSE twice")
def read_response_twice(nic):
    qp = Qp(nic)
    data = pattern(600, 1)
    qp.post(7, WR_READ, 600, remote=qp.remote())
    qp.expect(READ_REQUEST)
    with Counts(nic, ghost=3):
        qp.respond(READ_FIRST, FIRST_PSN, data[:256])
        qp.respond(READ_FIRST, FIRST_PSN, pattern(256, 2))
        qp.respond(READ_MIDDLE, FIRST_PSN + 1, data[256:512])
        qp.respond(READ_MIDDLE, FIRST_PSN + 1, pattern(256, 2))
        qp.respond(READ_LAST, FIRST_PSN + 2, data[512:])
        qp.completion(7, len=600)
        qp.respond(READ_LAST, FIRST_PSN + 2, pattern(88, 2))
    check(qp.mr.read(600), data, "memory")


@rule("ghost", "atomic response twice")
def atomic_response_twice(nic):
    qp = Qp(nic)
    qp.post(7, WR_FETCH_ADD, 8, remote=qp.remote())
    qp.expect(FETCH_ADD)
    with Counts(nic, ghost=1):
        qp.respond(ATOMIC_ACK, FIRST_PSN, orig=5)
        qp.completion(7)
        qp.respond(ATOMIC_ACK, FIRST_PSN, orig=6)
    check(qp.mr.read(8), struct.pack("<Q", 5), "memory")


@rule("implied_nak", "an ACK behind a READ without response")
def implied_nak_of_read(nic):
    qp = Qp(nic)
    qp.post(7, WR_READ, 600, remote=qp.remote(), ring=0)
    qp.post(8, WR_SEND, 4)
    qp.expect(READ_REQUEST, psn=FIRST_PSN)
    qp.expect(SEND_ONLY, psn=FIRST_PSN + 3)
    with Counts(nic, implied_nak=1, timeout=0):
        qp.ack(FIRST_PSN + 3)
        qp.expect(READ_REQUEST, again=True, psn=FIRST_PSN)
        qp.expect(SEND_ONLY, again=True, psn=FIRST_PSN + 3)
    qp.no_completion()
    for i, opcode in enumerate((READ_FIRST, READ_MIDDLE, READ_LAST)):
        qp.respond(opcode, FIRST_PSN + i, pattern(256 if i < 2 else 88))
    qp.completion(7)
    qp.ack(FIRST_PSN + 3)
    qp.completion(8)


@rule("implied_nak", "a response behind an atomic without response")
def implied_nak_of_atomic(nic):
    qp = Qp(nic)
    qp.post(7, WR_FETCH_ADD, 8, remote=qp.remote(), compare_add=1, ring=0)
    qp.post(8, WR_FETCH_ADD, 8, at=8, remote=qp.remote(), compare_add=1)
    qp.expect(FETCH_ADD, psn=FIRST_PSN)
    qp.expect(FETCH_ADD, psn=FIRST_PSN + 1)
    qp.respond(ATOMIC_ACK, FIRST_PSN + 1, orig=6)
    qp.expect(FETCH_ADD, again=True, psn=FIRST_PSN)
    qp.expect(FETCH_ADD, again=True, psn=FIRST_PSN + 1)
    qp.no_completion()
    qp.respond(ATOMIC_ACK, FIRST_PSN, orig=5)
    qp.respond(ATOMIC_ACK, FIRST_PSN + 1, orig=6)
    qp.completion(7)
    qp.completion(8)
    check(qp.mr.read(16), struct.pack("<QQ", 5, 6), "memory")


@rule("read_response_lost", "one in the middle: only the rest is asked for again")
def read_response_lost(nic):
    qp = Qp(nic)
    data = pattern(5 * 256, 3)
    qp.post(7, WR_READ, len(data), remote=qp.remote())
    qp.expect(READ_REQUEST, psn=FIRST_PSN)
    qp.respond(READ_FIRST, FIRST_PSN, data[:256])
    with Counts(nic, implied_nak=2, timeout=0):
        qp.respond(READ_MIDDLE, FIRST_PSN + 2, data[512:768])
        qp.respond(READ_MIDDLE, FIRST_PSN + 3, data[768:1024])
        frame = qp.expect(READ_REQUEST, psn=FIRST_PSN + 1, again=True)
        check((frame.va, frame.len), (qp.remote()[0] + 256, 4 * 256), "RETH")
        qp.expect_silence()
    for i, opcode in enumerate((READ_FIRST, READ_MIDDLE, READ_MIDDLE, READ_LAST), 1):
        qp.respond(opcode, FIRST_PSN + i, data[256 * i:256 * (i + 1)])
    qp.completion(7, len=len(data))
    check(qp.mr.read(len(data)), data, "memory")


# NAKs

@rule("nak_sequence", "goes back to its PSN, and acknowledges what is before")
def nak_sequence(nic):
    qp = Qp(nic)
    data = pattern(1000)
    qp.mr.write(data)
    qp.post(7, WR_SEND, 4, ring=0)
    qp.post(8, WR_SEND, 1000)
    qp.expect(SEND_ONLY)
    expect_message(qp, WR_SEND, data, FIRST_PSN + 1)
    with Counts(nic, rx_nak_seq=1, retransmit_but_probes=3, timeout=0):
        qp.ack(FIRST_PSN + 2, NAK_SEQUENCE)
        qp.completion(7)
        for i, opcode in enumerate((SEND_MIDDLE, SEND_MIDDLE, SEND_LAST), 1):
            qp.expect(opcode, again=True, psn=FIRST_PSN + 1 + i,
                      payload=data[256 * i:256 * (i + 1)])
        qp.expect_silence()
    qp.ack(FIRST_PSN + 4)
    qp.completion(8)


@rule("nak_sequence", "uses up retry_cnt")
def nak_sequence_retries(nic):
    qp = Qp(nic, retry_cnt=0)
    qp.post(7, WR_SEND, 4)
    qp.expect(SEND_ONLY, psn=FIRST_PSN)
    with Counts(nic, rx_nak_seq=1, retry_exceeded=1, retransmit=0, timeout=0):
        qp.ack(FIRST_PSN, NAK_SEQUENCE)
        qp.completion(7, RETRY_EXC_ERR)
    qp.check_state(ERR)


for _code, _status, _count in ((NAK_INVALID, REM_INV_REQ_ERR, "rx_nak_invalid"),
                               (NAK_ACCESS, REM_ACCESS_ERR, "rx_nak_access"),
                               (NAK_OPERATION, REM_OP_ERR, "rx_nak_operation")):
    @rule("nak_status", _count, code=_code, status=_status, count=_count)
    def nak_status(nic, code, status, count):
        qp = Qp(nic)
        for wr_id in range(4):
            qp.post(wr_id, WR_WRITE, 300, remote=qp.remote(), flags=0 if wr_id == 3 else SIGNALED,
                    ring=wr_id == 3)
        qp.recv(10, 4)
        qp.recv(11, 4)
        for _ in range(8):
            qp.next()
        with Counts(nic, **{count: 1, "timeout": 0}):
            # the second packet of the second request
            qp.ack(FIRST_PSN + 3, code)
            qp.completion(0)
            qp.completion(1, status)
        # all outstanding requests are flushed, in order
        qp.completion(2, FLUSH_ERR)
        qp.completion(3, FLUSH_ERR)
        qp.received(10, FLUSH_ERR)
        qp.received(11, FLUSH_ERR)
        qp.no_completion()
        qp.check_state(ERR)
        qp.post(12, WR_SEND, 4)
        qp.completion(12, FLUSH_ERR)
        qp.expect_silence()


@rule("nak_status", "of a READ, at once", done=0)
@rule("nak_status", "of a READ, in the middle of the response", done=2)
def nak_of_read(nic, done):
    qp = Qp(nic)
    qp.post(1, WR_READ, 800, remote=qp.remote(), ring=0)
    qp.post(2, WR_SEND, 4)
    qp.expect(READ_REQUEST, psn=FIRST_PSN)
    qp.expect(SEND_ONLY, psn=FIRST_PSN + 4)
    for i in range(done):
        qp.respond((READ_FIRST, READ_MIDDLE)[i], FIRST_PSN + i, pattern(256, i))
    with Counts(nic, rx_nak_access=1):
        qp.ack(FIRST_PSN + done, NAK_ACCESS)
        qp.completion(1, REM_ACCESS_ERR)
        qp.completion(2, FLUSH_ERR)
    qp.check_state(ERR)


@rule("nak_reserved", "NAK code 4", syndrome=NAK | 4)
@rule("nak_reserved", "NAK code 31", syndrome=NAK | 31)
def nak_reserved(nic, syndrome):
    qp = Qp(nic)
    qp.post(7, WR_SEND, 4)
    qp.next()
    with Counts(nic, rx_drop_header=1):
        qp.ack(FIRST_PSN, syndrome)
        qp.completion(7, BAD_RESP_ERR)
    qp.check_state(ERR)


@rule("syndrome_reserved", "010", syndrome=RESERVED | 0)
@rule("syndrome_reserved", "bit 7", syndrome=0x80)
@rule("syndrome_reserved", "111", syndrome=0xe3)
def syndrome_reserved(nic, syndrome):
    qp = Qp(nic)
    qp.post(7, WR_SEND, 4)
    qp.next()
    with Counts(nic, rx_drop_header=1):
        qp.ack(FIRST_PSN, syndrome)
        qp.no_completion()
    qp.ack(FIRST_PSN)
    qp.completion(7)


@rule("syndrome_reserved", "in a READ response", wr_opcode=WR_READ, opcode=READ_ONLY)
@rule("syndrome_reserved", "in an atomic response", wr_opcode=WR_FETCH_ADD, opcode=ATOMIC_ACK)
def syndrome_of_response(nic, wr_opcode, opcode):
    qp = Qp(nic)
    payload = pattern(8) if opcode == READ_ONLY else b""
    qp.post(7, wr_opcode, 8, remote=qp.remote())
    qp.next()
    with Counts(nic, rx_drop_header=3):
        for syndrome in (NAK_INVALID, RNR | 1, RESERVED):
            qp.respond(opcode, FIRST_PSN, payload, syndrome=syndrome)
        qp.no_completion()
    qp.respond(opcode, FIRST_PSN, payload)
    qp.completion(7)


# Time

@rule("ack_timeout", "retry_cnt 0", retry_cnt=0)
@rule("ack_timeout", "retry_cnt 1", retry_cnt=1)
@rule("ack_timeout", "retry_cnt 7", retry_cnt=7)
def ack_timeout(nic, retry_cnt):
    timeout = 12
    qp = Qp(nic, timeout=timeout, retry_cnt=retry_cnt)
    qp.mr.write(b"data")
    with Counts(nic, timeout=retry_cnt + 1, retry_exceeded=1) as counts:
        begin = time.monotonic()
        qp.post(7, WR_SEND, 4, ring=0)
        qp.post(8, WR_SEND, 0)
        qp.completion(7, RETRY_EXC_ERR)
        taken = time.monotonic() - begin
        qp.completion(8, FLUSH_ERR)
        nic.barrier()
        number = 0
        while (frame := nic.wire.pop(qp.peer_qpn)):
            number += frame.psn == FIRST_PSN
        check(number - counts.now("probe"), 1 + retry_cnt, "times that it was sent")
    least = (retry_cnt + 1) * 4.096e-6 * 2 ** timeout
    if taken < least:
        raise Failed(f"gave up after {taken} s, before {least} s")
    qp.check_state(ERR)


@rule("ack_timeout", "0 is none")
def no_ack_timeout(nic):
    qp = Qp(nic, timeout=0)
    other = Qp(nic, timeout=10, retry_cnt=2)
    with Counts(nic, timeout=3):
        qp.post(7, WR_SEND, 4)
        qp.expect(SEND_ONLY)
        # long enough for another to have given up
        other.post(8, WR_SEND, 4)
        other.completion(8, RETRY_EXC_ERR)
        qp.no_completion()
    qp.ack(FIRST_PSN)
    qp.completion(7)


@rule("ack_timeout", "probes do not count")
def ack_timeout_with_probes(nic):
    retry_cnt = 2
    qp = Qp(nic, timeout=14, retry_cnt=retry_cnt)
    qp.post(6, WR_SEND, 4)
    qp.expect(SEND_ONLY, psn=FIRST_PSN)
    # Now the NIC has measured a round trip
    qp.ack(FIRST_PSN)
    qp.completion(6)
    with Counts(nic, timeout=retry_cnt + 1, retry_exceeded=1) as counts:
        qp.post(7, WR_SEND, 4)
        qp.completion(7, RETRY_EXC_ERR)
        nic.barrier()
        number = 0
        while (frame := nic.wire.pop(qp.peer_qpn)):
            number += frame.psn == FIRST_PSN + 1
        check(number - counts.now("probe"), 1 + retry_cnt, "times that it was sent")


@rule("retry_counter_refilled")
def retry_counter_refilled(nic):
    qp = Qp(nic, retry_cnt=1)
    for wr_id in range(4):
        qp.post(wr_id, WR_SEND, 4)
        qp.expect(SEND_ONLY, psn=FIRST_PSN + wr_id)
        with Counts(nic, retry_exceeded=0):
            qp.ack(FIRST_PSN + wr_id, NAK_SEQUENCE)
            qp.expect(SEND_ONLY, again=True, psn=FIRST_PSN + wr_id)
            qp.ack(FIRST_PSN + wr_id)
            qp.completion(wr_id)


@rule("retransmission", "all that is not acknowledged, as it was")
def retransmission(nic):
    qp = Qp(nic, timeout=18)
    qp.mr.write(pattern(1000))
    qp.post(7, WR_WRITE_IMM, 600, remote=qp.remote(), imm=IMM, ring=0)
    qp.post(8, WR_READ, 300, remote=qp.remote(), ring=0)
    qp.post(9, WR_FETCH_ADD, 8, remote=qp.remote(), compare_add=5)
    first = [qp.next() for _ in range(5)]
    again = [qp.next() for _ in range(5)]
    for one, two in zip(first, again):
        # except for AckReq, which may be set more often, and the ICRC
        ackreq = one.data.index(one.bth.original[:8]) + 8
        for place in (slice(ackreq), slice(ackreq + 1, -4)):
            check(two.data[place], one.data[place], "a packet that is sent again")
        check(two.bth.ackreq >= one.bth.ackreq, True, "AckReq stays")
    qp.ack(FIRST_PSN + 2)
    qp.completion(7)


@rule("rnr_timer", "10 us", code=1)
@rule("rnr_timer", "7.68 ms", code=19)
@rule("rnr_timer", "20.48 ms", code=22)
@rule("rnr_timer", "40.96 ms", code=24)
@rule("rnr_timer", "655.36 ms", code=0)
def rnr_timer(nic, code):
    qp = Qp(nic, timeout=24)
    qp.post(7, WR_SEND, 4)
    qp.expect(SEND_ONLY, psn=FIRST_PSN)
    for _ in range(3 if code else 1):
        with Counts(nic, rx_nak_rnr=1, timeout=0):
            begin = time.monotonic()
            qp.ack(FIRST_PSN, RNR | code)
            if RNR_MS[code] > 5:
                # Packets in flight when the NAK arrives do not answer it
                nic.barrier()
                while nic.wire.pop(qp.peer_qpn):
                    pass
            qp.expect(SEND_ONLY, again=True, psn=FIRST_PSN)
            taken = time.monotonic() - begin
        if taken < RNR_MS[code] / 1000:
            raise Failed(f"came again after {taken} s, before {RNR_MS[code]} ms")
    qp.ack(FIRST_PSN)
    qp.completion(7)


@rule("rnr_timer", "of a READ", wr_opcode=WR_READ, opcode=READ_REQUEST)
@rule("rnr_timer", "of an atomic", wr_opcode=WR_CMP_SWAP, opcode=CMP_SWAP)
@rule("rnr_timer", "of an RDMA WRITE", wr_opcode=WR_WRITE, opcode=WRITE_ONLY)
def rnr_of_others(nic, wr_opcode, opcode):
    qp = Qp(nic, timeout=24)
    qp.post(7, wr_opcode, 8, remote=qp.remote())
    qp.expect(opcode, psn=FIRST_PSN)
    with Counts(nic, rx_nak_rnr=1):
        qp.ack(FIRST_PSN, RNR | 1)
        qp.expect(opcode, again=True, psn=FIRST_PSN)
    if wr_opcode == WR_WRITE:
        qp.ack(FIRST_PSN)
    else:
        qp.respond(READ_ONLY if wr_opcode == WR_READ else ATOMIC_ACK, FIRST_PSN,
                   pattern(8) if wr_opcode == WR_READ else b"")
    qp.completion(7)


@rule("rnr_retry", "0", rnr_retry=0)
@rule("rnr_retry", "1", rnr_retry=1)
@rule("rnr_retry", "6", rnr_retry=6)
def rnr_retries(nic, rnr_retry):
    qp = Qp(nic, rnr_retry=rnr_retry, retry_cnt=0)
    with Counts(nic, rnr_retry_exceeded=1, retry_exceeded=0, timeout=0,
                retransmit_but_probes=rnr_retry):
        qp.post(7, WR_SEND, 4)
        done = None
        while not done:
            if nic.wire.pop(qp.peer_qpn):
                qp.ack(FIRST_PSN, RNR | 1)
            else:
                done = nic.command("poll", cq=qp.cq)
        check((done["id"], done["status"]), (7, RNR_RETRY_EXC_ERR), "completion")
    qp.check_state(ERR)


@rule("rnr_retry", "7 is without end")
def rnr_retry_forever(nic):
    qp = Qp(nic, rnr_retry=7, retry_cnt=0)
    qp.post(7, WR_SEND, 4)
    for _ in range(30):
        qp.expect(SEND_ONLY, again=True, psn=FIRST_PSN)
        qp.ack(FIRST_PSN, RNR | 1)
    qp.expect(SEND_ONLY, again=True, psn=FIRST_PSN)
    qp.ack(FIRST_PSN)
    qp.completion(7)


@rule("rnr_retry", "progress fills the counter")
def rnr_retry_refilled(nic):
    qp = Qp(nic, rnr_retry=1)
    for wr_id in range(4):
        qp.post(wr_id, WR_SEND, 4)
        qp.expect(SEND_ONLY, psn=FIRST_PSN + wr_id)
        qp.ack(FIRST_PSN + wr_id, RNR | 1)
        qp.expect(SEND_ONLY, again=True, psn=FIRST_PSN + wr_id)
        qp.ack(FIRST_PSN + wr_id)
        qp.completion(wr_id)


@rule("rnr_acknowledges")
def rnr_acknowledges(nic):
    qp = Qp(nic)
    qp.post(7, WR_WRITE, 4, remote=qp.remote(), ring=0)
    qp.post(8, WR_SEND, 4)
    qp.expect(WRITE_ONLY)
    qp.expect(SEND_ONLY)
    qp.ack(FIRST_PSN + 1, RNR | 1)
    qp.completion(7)
    qp.expect(SEND_ONLY, again=True, psn=FIRST_PSN + 1)
    qp.expect_silence()
    qp.ack(FIRST_PSN + 1)
    qp.completion(8)


# Responses that do not fit

def bad_response(variant, wr_opcode, length, *responses):
    """A row: responses of which the last does not fit the request"""
    @rule("bad_response", variant)
    def row(nic):
        qp = Qp(nic)
        qp.post(7, wr_opcode, length, remote=qp.remote(), ring=0)
        qp.post(8, WR_SEND, 0)
        frame = qp.next()
        while frame.opcode != SEND_ONLY:
            frame = qp.next()
        for i, (opcode, size) in enumerate(responses):
            qp.respond(opcode, FIRST_PSN + i, pattern(size))
        qp.completion(7, BAD_RESP_ERR)
        qp.completion(8, FLUSH_ERR)
        qp.check_state(ERR)


bad_response("READ RESPONSE ONLY, short", WR_READ, 100, (READ_ONLY, 99))
bad_response("READ RESPONSE ONLY, long", WR_READ, 100, (READ_ONLY, 101))
bad_response("READ RESPONSE ONLY for several packets", WR_READ, 300, (READ_ONLY, 256))
bad_response("READ RESPONSE FIRST for one packet", WR_READ, 256, (READ_FIRST, 256))
bad_response("READ RESPONSE FIRST, short", WR_READ, 300, (READ_FIRST, 255))
bad_response("READ RESPONSE MIDDLE for the last packet", WR_READ, 512, (READ_FIRST, 256),
             (READ_MIDDLE, 256))
bad_response("READ RESPONSE LAST too early", WR_READ, 768, (READ_FIRST, 256),
             (READ_LAST, 256))
bad_response("READ RESPONSE LAST, short", WR_READ, 300, (READ_FIRST, 256), (READ_LAST, 43))
bad_response("READ RESPONSE LAST, long", WR_READ, 300, (READ_FIRST, 256), (READ_LAST, 45))
bad_response("atomic response to a READ", WR_READ, 8, (ATOMIC_ACK, 0))
bad_response("READ RESPONSE to an atomic", WR_FETCH_ADD, 8, (READ_ONLY, 8))
bad_response("READ RESPONSE to a SEND", WR_SEND, 8, (READ_ONLY, 8))
bad_response("atomic response to an RDMA WRITE", WR_WRITE, 8, (ATOMIC_ACK, 0))


# Limits

@rule("reads_limited", "READs", wr_opcode=WR_READ, opcode=READ_REQUEST)
@rule("reads_limited", "atomics", wr_opcode=WR_FETCH_ADD, opcode=FETCH_ADD)
def reads_limited(nic, wr_opcode, opcode):
    qp = Qp(nic, max_rd_atomic=2)
    for wr_id in range(4):
        qp.post(wr_id, wr_opcode, 8, remote=qp.remote(), ring=wr_id == 3)
    qp.expect(opcode, psn=FIRST_PSN)
    qp.expect(opcode, psn=FIRST_PSN + 1)
    for i in range(4):
        qp.expect_silence()
        qp.respond(READ_ONLY if opcode == READ_REQUEST else ATOMIC_ACK, FIRST_PSN + i,
                   b"12345678" if opcode == READ_REQUEST else b"")
        qp.completion(i)
        if i < 2:
            qp.expect(opcode, psn=FIRST_PSN + 2 + i)


@rule("fence")
def fence(nic):
    qp = Qp(nic)
    qp.post(1, WR_READ, 8, remote=qp.remote(), ring=0)
    qp.post(2, WR_WRITE, 4, remote=qp.remote(), ring=0)
    qp.post(3, WR_SEND, 4, flags=SIGNALED | FENCE)
    qp.expect(READ_REQUEST)
    qp.expect(WRITE_ONLY)
    qp.expect_silence()
    qp.respond(READ_ONLY, FIRST_PSN, b"12345678")
    qp.completion(1)
    qp.expect(SEND_ONLY, psn=FIRST_PSN + 2)
    qp.ack(FIRST_PSN + 2)
    qp.completion(2)
    qp.completion(3)


@rule("completions_in_order")
def completions_in_order(nic):
    qp = Qp(nic)
    kinds = [WR_SEND, WR_READ, WR_WRITE, WR_FETCH_ADD, WR_SEND_IMM, WR_WRITE_IMM]
    for wr_id, kind in enumerate(kinds):
        qp.post(wr_id, kind, 8, at=8 * wr_id, remote=qp.remote(), ring=wr_id == 5)
    for _ in kinds:
        qp.next()
    qp.respond(READ_ONLY, FIRST_PSN + 1, b"12345678")
    qp.respond(ATOMIC_ACK, FIRST_PSN + 3)
    qp.ack(FIRST_PSN + 5)
    for wr_id in range(6):
        qp.completion(wr_id)


@rule("credits_honoured", "none: one packet asks")
def credits_honoured(nic):
    qp = Qp(nic)
    qp.post(1, WR_SEND, 4)
    qp.expect(SEND_ONLY)
    qp.ack(FIRST_PSN, syndrome=0, msn=1)
    qp.completion(1)
    for wr_id in (2, 3, 4):
        qp.post(wr_id, WR_SEND, 600, ring=wr_id == 4)
    check(qp.expect(SEND_FIRST, psn=FIRST_PSN + 1).bth.ackreq, 1, "AckReq")
    qp.expect_silence()
    # the rest of the message needs no credit of its own
    qp.ack(FIRST_PSN + 1, syndrome=1, msn=1)
    qp.expect(SEND_MIDDLE, psn=FIRST_PSN + 2)
    qp.expect(SEND_LAST, psn=FIRST_PSN + 3)
    qp.ack(FIRST_PSN + 3, syndrome=NO_CREDITS, msn=2)
    for _ in range(6):
        qp.next()
    qp.ack(FIRST_PSN + 9, msn=4)
    for wr_id in (2, 3, 4):
        qp.completion(wr_id)


@rule("credits_honoured", "none, and an RNR NAK before: one packet asks in the end")
def credits_behind_rnr_nak(nic):
    qp = Qp(nic)
    qp.post(1, WR_SEND, 4)
    qp.expect(SEND_ONLY)
    qp.ack(FIRST_PSN, RNR | 1)
    qp.expect(SEND_ONLY, again=True)
    qp.ack(FIRST_PSN, syndrome=0, msn=1)
    qp.completion(1)
    for wr_id in (2, 3):
        qp.post(wr_id, WR_SEND, 4, ring=wr_id == 3)
    check(qp.expect(SEND_ONLY, psn=FIRST_PSN + 1).bth.ackreq, 1, "AckReq")
    qp.expect_silence()
    qp.ack(FIRST_PSN + 1, syndrome=1, msn=2)
    qp.completion(2)
    qp.expect(SEND_ONLY, psn=FIRST_PSN + 2)
    qp.ack(FIRST_PSN + 2, syndrome=0, msn=3)
    qp.completion(3)


@rule("credits_honoured", "the latest ACK once more tells of new ones")
def credits_updated(nic):
    qp = Qp(nic)
    qp.post(1, WR_SEND, 4)
    qp.expect(SEND_ONLY)
    qp.ack(FIRST_PSN, syndrome=0, msn=1)
    qp.completion(1)
    for wr_id in (2, 3, 4):
        qp.post(wr_id, WR_SEND, 500, ring=wr_id == 4)
    qp.expect(SEND_FIRST, psn=FIRST_PSN + 1)
    qp.expect_silence()
    # two messages; the third one has to wait
    qp.ack(FIRST_PSN, syndrome=2, msn=1)
    for i, opcode in enumerate((SEND_LAST, SEND_FIRST, SEND_LAST)):
        qp.expect(opcode, psn=FIRST_PSN + 2 + i)
    qp.expect_silence()
    qp.ack(FIRST_PSN + 4, syndrome=1, msn=3)
    qp.completion(2)
    qp.completion(3)
    qp.expect(SEND_FIRST, psn=FIRST_PSN + 5)
    qp.expect(SEND_LAST, psn=FIRST_PSN + 6)
    qp.ack(FIRST_PSN + 6, syndrome=0, msn=4)
    qp.completion(4)


@rule("credits_honoured", "a WRITE needs none")
def credits_of_write(nic):
    qp = Qp(nic)
    qp.post(1, WR_SEND, 4)
    qp.expect(SEND_ONLY)
    qp.ack(FIRST_PSN, syndrome=0, msn=1)
    qp.completion(1)
    for wr_id in (2, 3):
        qp.post(wr_id, WR_WRITE, 600, remote=qp.remote(), ring=wr_id == 3)
    for i in range(6):
        qp.expect(*[(WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST)[i % 3]], psn=FIRST_PSN + 1 + i)
    qp.ack(FIRST_PSN + 6, syndrome=0, msn=3)
    qp.completion(2)
    qp.completion(3)
