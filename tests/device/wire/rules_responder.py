# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rules of the responder, reliable connection"""

import struct

from nic import (COMM_EST, ERR, FLUSH_ERR, INIT, LOC_ACCESS_ERR, LOC_LEN_ERR, LOC_PROT_ERR,
                 LOC_QP_OP_ERR, LOCAL_WRITE, MR_LEN, QP_ACCESS_ERROR, QP_FATAL, QP_REQ_ERROR,
                 REMOTE_ATOMIC, REMOTE_READ, REMOTE_WRITE, RESET, RTR, WC_RECV, WC_RECV_IMM,
                 Counts, Failed, Mr, Qp, Srq, check, pattern)
from roce import (ACK, ATOMIC_ACK, CMP_SWAP, CREDITS, FETCH_ADD, NAK_ACCESS, NAK_INVALID,
                  NAK_OPERATION, NAK_SEQUENCE, NO_CREDITS, PSN_MASK, READ_FIRST, READ_LAST,
                  READ_MIDDLE, READ_ONLY, READ_REQUEST, RESYNC, RNR, SEND_FIRST, SEND_LAST,
                  SEND_LAST_IMM, SEND_MIDDLE, SEND_ONLY, SEND_ONLY_IMM, WRITE_FIRST, WRITE_LAST, WRITE_LAST_IMM, WRITE_MIDDLE,
                  WRITE_ONLY, WRITE_ONLY_IMM)
from rules import rule

IMM = 0xdeadbeef


def get_u64(qp, at=0):
    """Read a number in the byte order of the host"""
    return struct.unpack("<Q", qp.mr.read(8, at))[0]


def put_u64(qp, value, at=0):
    """Write a number in the byte order of the host"""
    qp.mr.write(struct.pack("<Q", value), at)


# Expected PSN, one row for each request

@rule("psn_expected", "SEND ONLY")
def send_only(nic):
    qp = Qp(nic)
    qp.recv(7, 1000, at=100)
    data = pattern(77)
    with Counts(nic, rx_rdma_packets=3, duplicate=0, out_of_sequence=0):
        qp.request(SEND_ONLY, data, ackreq=1)
        qp.expect_ack(0x100000, msn=1)
        qp.received(7, op=WC_RECV, len=77, qpn=qp.qpn, flags=0)
    check(qp.mr.read(77, at=100), data, "memory")
    check(qp.query("rq_psn"), 0x100001, "PSN expected")


@rule("psn_expected", "SEND of three packets")
def send_three(nic):
    qp = Qp(nic, ip=6)
    qp.recv(7, 1000)
    data = pattern(2 * 256 + 3)
    qp.request(SEND_FIRST, data[:256])
    qp.request(SEND_MIDDLE, data[256:512])
    qp.request(SEND_LAST, data[512:], ackreq=1)
    qp.expect_ack(0x100002, msn=1)
    qp.received(7, op=WC_RECV, len=len(data))
    check(qp.mr.read(len(data)), data, "memory")


@rule("psn_expected", "SEND LAST with immediate data", first=True)
@rule("psn_expected", "SEND ONLY with immediate data", first=False)
def send_imm(nic, first):
    qp = Qp(nic)
    qp.recv(7, 1000)
    data = pattern(256 + 9) if first else pattern(9)
    if first:
        qp.request(SEND_FIRST, data[:256])
    qp.request(SEND_LAST_IMM if first else SEND_ONLY_IMM, data[-9:], fields={"imm": IMM},
               ackreq=1)
    qp.expect_ack(qp.psn - 1, msn=1)
    qp.received(7, op=WC_RECV, len=len(data), flags=2, imm=IMM)
    check(qp.mr.read(len(data)), data, "memory")


@rule("psn_expected", "RDMA WRITE ONLY, IPv4", ip=4)
@rule("psn_expected", "RDMA WRITE ONLY, IPv6", ip=6)
def write_only(nic, ip):
    qp = Qp(nic, ip=ip)
    data = pattern(255)
    qp.request(WRITE_ONLY, data, fields=qp.reth(255, at=3), ackreq=1)
    qp.expect_ack(0x100000, msn=1)
    check(qp.mr.read(260), b"\0" * 3 + data + b"\0" * 2, "memory")
    qp.no_completion()


@rule("psn_expected", "RDMA WRITE of four packets")
def write_four(nic):
    qp = Qp(nic)
    data = pattern(3 * 256 + 256)
    qp.request(WRITE_FIRST, data[:256], fields=qp.reth(1024))
    qp.request(WRITE_MIDDLE, data[256:512])
    qp.request(WRITE_MIDDLE, data[512:768])
    qp.request(WRITE_LAST, data[768:], ackreq=1)
    qp.expect_ack(0x100003, msn=1)
    check(qp.mr.read(1024), data, "memory")
    qp.no_completion()


@rule("psn_expected", "RDMA WRITE LAST with immediate data", first=True)
@rule("psn_expected", "RDMA WRITE ONLY with immediate data", first=False)
def write_imm(nic, first):
    qp = Qp(nic)
    qp.recv(7, 0)
    data = pattern(256 + 9) if first else pattern(9)
    reth = qp.reth(len(data))
    if first:
        qp.request(WRITE_FIRST, data[:256], fields=reth)
        qp.request(WRITE_LAST_IMM, data[256:], fields={"imm": IMM}, ackreq=1)
    else:
        qp.request(WRITE_ONLY_IMM, data, fields={**reth, "imm": IMM}, ackreq=1)
    qp.expect_ack(qp.psn - 1, msn=1)
    qp.received(7, op=WC_RECV_IMM, len=len(data), flags=2, imm=IMM)
    check(qp.mr.read(len(data)), data, "memory")


@rule("psn_expected", "a READ takes as many PSNs as its response has packets")
def read_psns(nic):
    qp = Qp(nic)
    data = pattern(700)
    qp.mr.write(data)
    qp.request(READ_REQUEST, fields=qp.reth(700), packets=3, ackreq=1)
    qp.expect(READ_FIRST, psn=0x100000)
    qp.expect(READ_MIDDLE, psn=0x100001)
    qp.expect(READ_LAST, psn=0x100002)
    qp.request(WRITE_ONLY, ackreq=1)
    qp.expect_ack(0x100003, msn=2)


@rule("psn_expected", "COMPARE & SWAP that compares equal", equal=True)
@rule("psn_expected", "COMPARE & SWAP that does not", equal=False)
def compare_swap(nic, equal):
    qp = Qp(nic)
    put_u64(qp, 0x1122334455667788, at=16)
    qp.request(CMP_SWAP, fields=qp.atomic(0xaabbccdd, 0x1122334455667788 if equal else 5,
                                          at=16), ackreq=1)
    qp.expect(ATOMIC_ACK, psn=0x100000, msn=1, orig=0x1122334455667788)
    check(get_u64(qp, at=16), 0xaabbccdd if equal else 0x1122334455667788, "memory")


@rule("psn_expected", "FETCH & ADD, modulo 2^64")
def fetch_add(nic):
    qp = Qp(nic)
    put_u64(qp, 0xffffffffffffffff)
    qp.request(FETCH_ADD, fields=qp.atomic(3), ackreq=1)
    qp.expect(ATOMIC_ACK, psn=0x100000, msn=1, orig=0xffffffffffffffff)
    check(get_u64(qp), 2, "memory")


@rule("psn_expected", "2^24 - 1 is followed by 0")
def psn_wraps(nic):
    qp = Qp(nic, rq_psn=PSN_MASK - 1)
    data = pattern(1024)
    qp.request(WRITE_FIRST, data[:256], fields=qp.reth(1024))
    qp.request(WRITE_MIDDLE, data[256:512])
    qp.request(WRITE_MIDDLE, data[512:768])
    qp.request(WRITE_LAST, data[768:], ackreq=1)
    qp.expect_ack(1, msn=1)
    check(qp.mr.read(1024), data, "memory")


@rule("psn_expected", "2^24 - 1 is followed by 0 in a READ response")
def read_wraps(nic):
    qp = Qp(nic, rq_psn=PSN_MASK)
    qp.request(READ_REQUEST, fields=qp.reth(512), packets=2)
    qp.expect(READ_FIRST, psn=PSN_MASK)
    qp.expect(READ_LAST, psn=0)
    check(qp.psn, 1, "PSN")
    qp.request(WRITE_ONLY, ackreq=1)
    qp.expect_ack(1, msn=2)


# Past and future

@rule("psn_duplicate", "1 behind", behind=1)
@rule("psn_duplicate", "2^23 behind", behind=1 << 23)
def psn_duplicate(nic, behind):
    qp = Qp(nic)
    qp.request(WRITE_ONLY, ackreq=1)
    qp.expect_ack(0x100000)
    with Counts(nic, duplicate=1, out_of_sequence=0, tx_nak_seq=0):
        qp.request(WRITE_ONLY, psn=qp.psn - behind, ackreq=1)
        qp.expect_ack(0x100000, msn=1)
        qp.expect_silence()


@rule("psn_future", "1 ahead", ahead=1)
@rule("psn_future", "2^23 - 1 ahead", ahead=(1 << 23) - 1)
def psn_future(nic, ahead):
    qp = Qp(nic)
    with Counts(nic, duplicate=0, out_of_sequence=1, tx_nak_seq=1):
        qp.request(WRITE_ONLY, b"abcd", fields=qp.reth(4), ahead=ahead, ackreq=1)
        qp.expect_nak(NAK_SEQUENCE, 0x100000)
        qp.expect_silence()
    check(qp.mr.read(4), b"\0" * 4, "memory")
    qp.check_state(3)


@rule("nak_once_per_gap")
def nak_once_per_gap(nic):
    qp = Qp(nic)
    with Counts(nic, out_of_sequence=5, tx_nak_seq=2):
        for ahead in (1, 2, 3):
            qp.request(WRITE_ONLY, ahead=ahead, ackreq=1)
        qp.expect_nak(NAK_SEQUENCE, 0x100000)
        qp.expect_silence()
        for _ in range(4):
            qp.request(WRITE_ONLY, ackreq=1)
        qp.expect_ack(0x100003, msn=4)
        qp.request(WRITE_ONLY, ahead=1, ackreq=1)
        qp.request(WRITE_ONLY, ahead=2, ackreq=1)
        qp.expect_nak(NAK_SEQUENCE, 0x100004)
        qp.expect_silence()


@rule("nak_acknowledges")
def nak_acknowledges(nic):
    qp = Qp(nic)
    qp.request(WRITE_ONLY)
    qp.request(WRITE_ONLY)
    qp.request(WRITE_ONLY, ahead=1, ackreq=1)
    frame = qp.expect_nak(NAK_SEQUENCE, 0x100002)
    check(frame.msn, 2, "MSN")


@rule("future_has_no_opcode", "reserved opcode", opcode=0x1f)
@rule("future_has_no_opcode", "bad key", opcode=WRITE_ONLY)
@rule("future_has_no_opcode", "MIDDLE without FIRST", opcode=SEND_MIDDLE)
def future_has_no_opcode(nic, opcode):
    qp = Qp(nic)
    qp.request(opcode, pattern(4), ahead=1, fields=qp.reth(4, rkey=1), ackreq=1)
    qp.expect_nak(NAK_SEQUENCE, 0x100000)
    qp.expect_silence()
    qp.check_state(3)


# Requests that are invalid

def expect_invalid(qp, psn, recv=None, status=LOC_QP_OP_ERR):
    """Check the consequences of an invalid request; recv: the receive request in use"""
    qp.expect_nak(NAK_INVALID, psn)
    qp.expect_silence()
    if recv is not None:
        qp.received(recv, status)
    else:
        qp.wait_event(QP_REQ_ERROR)
    qp.check_state(ERR)


def bad_request(name, variant, *packets, recv=None, setup=None, **attr):
    """A row: packets of which the last is an invalid request

    Each is opcode, payload length, and fields as a function of the QP.
    """
    @rule(name, variant)
    def row(nic):
        qp = Qp(nic, **attr)
        if recv:
            qp.recv(7, recv)
            qp.recv(8, recv)
        if setup:
            setup(qp)
        before = qp.mr.read(1024)
        taken = False
        with Counts(nic, tx_nak_invalid=1):
            for i, (opcode, length, *fields) in enumerate(packets, 1):
                qp.request(opcode, pattern(length, 1), ackreq=1,
                           fields=fields[0](qp) if fields else None)
                if i < len(packets):
                    taken |= opcode == SEND_FIRST
                    qp.expect_ack(qp.psn - 1)
            expect_invalid(qp, qp.psn - 1, 7 if taken else None)
        if recv:
            if not taken:
                qp.received(7, FLUSH_ERR)
            qp.received(8, FLUSH_ERR)
        if len(packets) == 1:
            check(qp.mr.read(1024), before, "memory")


for _opcode in (RESYNC, *range(0x18, 0x1c), 0x1e, 0x1f):
    _name = {RESYNC: "RESYNC"}.get(_opcode, f"{_opcode:#04x}")
    bad_request("reserved_opcode", _name, (_opcode, 0), recv=1000)


def reth(length, **other):
    """Fields of an RETH, as a function of the QP"""
    return lambda qp: qp.reth(length, **other)


def atomic(**other):
    """Fields of an AtomicETH, as a function of the QP"""
    return lambda qp: qp.atomic(1, **other)


for _args in (
        ("SEND MIDDLE first", (SEND_MIDDLE, 256)),
        ("SEND LAST first", (SEND_LAST, 4)),
        ("SEND LAST with immediate data first", (SEND_LAST_IMM, 4)),
        ("RDMA WRITE MIDDLE first", (WRITE_MIDDLE, 256)),
        ("RDMA WRITE LAST first", (WRITE_LAST, 4)),
        ("RDMA WRITE LAST with immediate data first", (WRITE_LAST_IMM, 4)),
        ("SEND FIRST twice", (SEND_FIRST, 256), (SEND_FIRST, 256)),
        ("SEND ONLY in a SEND", (SEND_FIRST, 256), (SEND_ONLY, 4)),
        ("RDMA WRITE ONLY in a SEND", (SEND_FIRST, 256), (WRITE_ONLY, 4, reth(4))),
        ("RDMA WRITE MIDDLE in a SEND", (SEND_FIRST, 256), (WRITE_MIDDLE, 256)),
        ("RDMA WRITE LAST in a SEND", (SEND_FIRST, 256), (WRITE_LAST, 4)),
        ("READ in a SEND", (SEND_FIRST, 256), (READ_REQUEST, 0, reth(4))),
        ("FETCH & ADD in a SEND", (SEND_FIRST, 256), (FETCH_ADD, 0, atomic())),
        ("SEND MIDDLE in a WRITE", (WRITE_FIRST, 256, reth(1000)), (SEND_MIDDLE, 256)),
        ("SEND LAST in a WRITE", (WRITE_FIRST, 256, reth(1000)), (SEND_LAST, 4)),
        ("SEND ONLY in a WRITE", (WRITE_FIRST, 256, reth(1000)), (SEND_ONLY, 4)),
        ("COMPARE & SWAP in a WRITE", (WRITE_FIRST, 256, reth(1000)),
         (CMP_SWAP, 0, atomic())),
):
    bad_request("opcode_sequence", *_args, recv=1000)

for _args in (
        ("SEND FIRST, short", (SEND_FIRST, 252)),
        ("SEND FIRST, long", (SEND_FIRST, 260)),
        ("SEND FIRST, empty", (SEND_FIRST, 0)),
        ("SEND MIDDLE, short", (SEND_FIRST, 256), (SEND_MIDDLE, 255)),
        ("SEND MIDDLE, long", (SEND_FIRST, 256), (SEND_MIDDLE, 257)),
        ("RDMA WRITE FIRST, short", (WRITE_FIRST, 255, reth(1000))),
        ("RDMA WRITE FIRST, long", (WRITE_FIRST, 512, reth(1000))),
        ("RDMA WRITE MIDDLE, short", (WRITE_FIRST, 256, reth(1000)), (WRITE_MIDDLE, 4)),
):
    bad_request("first_and_middle_are_full", *_args, recv=4096)

for _args in (
        ("SEND", (SEND_FIRST, 256), (SEND_LAST, 0)),
        ("SEND, longer than the path MTU", (SEND_FIRST, 256), (SEND_LAST, 257)),
        ("RDMA WRITE", (WRITE_FIRST, 256, reth(256)),),
        ("RDMA WRITE, longer than the path MTU", (WRITE_FIRST, 256, reth(556)),
         (WRITE_LAST, 300)),
):
    bad_request("last_is_not_empty", *_args, recv=4096)

bad_request("only_fits", "SEND", (SEND_ONLY, 257), recv=4096)
bad_request("only_fits", "RDMA WRITE", (WRITE_ONLY, 257, reth(257)), recv=4096)

for _args in (
        ("ONLY, short", (WRITE_ONLY, 99, reth(100))),
        ("ONLY, long", (WRITE_ONLY, 101, reth(100))),
        ("LAST, short", (WRITE_FIRST, 256, reth(300)), (WRITE_LAST, 43)),
        ("LAST, long", (WRITE_FIRST, 256, reth(300)), (WRITE_LAST, 45)),
        ("FIRST, long", (WRITE_FIRST, 256, reth(200))),
        ("MIDDLE, long", (WRITE_FIRST, 256, reth(300)), (WRITE_MIDDLE, 256)),
):
    bad_request("write_as_long_as_announced", *_args, recv=1000)

bad_request("reth_length", "RDMA WRITE", (WRITE_FIRST, 256, reth(0x80000001)))
bad_request("reth_length", "READ", (READ_REQUEST, 0, reth(0x80000001)))
bad_request("reth_length", "READ of 2^32 - 1", (READ_REQUEST, 0, reth(0xffffffff)))

for _access, _args in (
        (REMOTE_READ | REMOTE_ATOMIC, ("RDMA WRITE", (WRITE_ONLY, 4, reth(4)))),
        (REMOTE_READ | REMOTE_ATOMIC, ("RDMA WRITE of nothing", (WRITE_ONLY, 0, reth(0)))),
        (REMOTE_WRITE | REMOTE_ATOMIC, ("READ", (READ_REQUEST, 0, reth(4)))),
        (REMOTE_WRITE | REMOTE_ATOMIC, ("READ of nothing", (READ_REQUEST, 0, reth(0)))),
        (REMOTE_WRITE | REMOTE_READ, ("FETCH & ADD", (FETCH_ADD, 0, atomic()))),
        (REMOTE_WRITE | REMOTE_READ, ("COMPARE & SWAP", (CMP_SWAP, 0, atomic()))),
):
    bad_request("access_flags", *_args, access_flags=_access)

for _args in (
        ("FETCH & ADD", (FETCH_ADD, 0, atomic(at=4))),
        ("COMPARE & SWAP", (CMP_SWAP, 0, atomic(at=1))),
        ("with a bad key", (CMP_SWAP, 0, atomic(at=1, rkey=1))),
):
    bad_request("atomic_alignment", *_args)

bad_request("reads_outstanding", "READ where none are allowed", (READ_REQUEST, 0, reth(4)),
            max_dest_rd_atomic=0)
bad_request("reads_outstanding", "atomic where none are allowed", (FETCH_ADD, 0, atomic()),
            max_dest_rd_atomic=0)


@rule("reads_outstanding", "those before are answered first")
def reads_outstanding(nic):
    def exceeded():
        """The second READ may arrive after the first one has been answered"""
        qp = Qp(nic, max_dest_rd_atomic=1)
        frames = []
        for length, packets in ((MR_LEN, MR_LEN // 256), (8, 1)):
            qp.request(READ_REQUEST, fields=qp.reth(length), packets=packets,
                       edit=frames.append)
        for frame in frames:
            nic.wire.send(frame)
        for i in range(MR_LEN // 256):
            qp.expect({0: READ_FIRST, 255: READ_LAST}.get(i, READ_MIDDLE), psn=0x100000 + i)
        frame = qp.next()
        if frame.opcode == READ_ONLY:
            return False
        check((frame.opcode, frame.syndrome, frame.psn), (ACK, NAK_INVALID, 0x100100),
              "opcode, syndrome and PSN")
        qp.expect_silence()
        qp.wait_event(QP_REQ_ERROR)
        qp.check_state(ERR)
        return True

    nic.wait(exceeded, "a READ that is one too many")


@rule("send_fits_the_receive", "ONLY", lengths=(101,))
@rule("send_fits_the_receive", "LAST", lengths=(256, 45))
@rule("send_fits_the_receive", "MIDDLE", lengths=(256, 256))
def send_fits_the_receive(nic, lengths):
    qp = Qp(nic)
    qp.recv(7, 300 if len(lengths) > 1 else 100)
    qp.recv(8, 100)
    if len(lengths) > 1:
        qp.request(SEND_FIRST, pattern(256), ackreq=1)
        qp.expect_ack(0x100000)
        qp.request(SEND_MIDDLE if lengths[1] == 256 else SEND_LAST, pattern(lengths[1]),
                   ackreq=1)
    else:
        qp.request(SEND_ONLY, pattern(101), ackreq=1)
    expect_invalid(qp, qp.psn - 1, 7, LOC_LEN_ERR)
    qp.received(8, FLUSH_ERR)
    check(nic.poll_events(), [], "events")


# Keys

@rule("zero_length", "RDMA WRITE")
def zero_length_write(nic):
    qp = Qp(nic)
    qp.request(WRITE_ONLY, fields={"va": 12345, "rkey": 0xffffffff, "len": 0}, ackreq=1)
    qp.expect_ack(0x100000, msn=1)


@rule("zero_length", "SEND")
def zero_length_send(nic):
    qp = Qp(nic)
    qp.recv(7, 0)
    qp.request(SEND_ONLY, ackreq=1)
    qp.expect_ack(0x100000, msn=1)
    qp.received(7, len=0, op=WC_RECV)


@rule("zero_length", "READ")
def zero_length_read(nic):
    qp = Qp(nic)
    qp.request(READ_REQUEST, fields={"va": 12345, "rkey": 0xffffffff, "len": 0})
    qp.expect(READ_ONLY, psn=0x100000, payload=b"", msn=1)
    qp.request(WRITE_ONLY, ackreq=1)
    qp.expect_ack(0x100001, msn=2)


def bad_key(variant, fields, opcodes=(WRITE_ONLY, READ_REQUEST, FETCH_ADD), access=None):
    """A row for each opcode; fields: of the headers, given QP and region"""
    for opcode in opcodes:
        name = {WRITE_ONLY: "RDMA WRITE", WRITE_FIRST: "RDMA WRITE FIRST",
                READ_REQUEST: "READ", FETCH_ADD: "atomic"}[opcode]

        @rule("key", f"{name}: {variant}", opcode=opcode)
        def row(nic, opcode):
            qp = Qp(nic)
            region = qp.mr if access is None else Mr(nic, 4096, access)
            values = {"va": region.addr, "rkey": region.key, "len": 8, "swap": 1,
                      **fields(nic, region)}
            payload = {WRITE_ONLY: pattern(8), WRITE_FIRST: pattern(256)}.get(opcode, b"")
            qp.recv(7, 100)
            with Counts(nic, tx_nak_access=1):
                qp.request(opcode, payload, fields=values, ackreq=1)
                qp.expect_nak(NAK_ACCESS, 0x100000)
                qp.expect_silence()
            qp.wait_event(QP_ACCESS_ERROR)
            qp.check_state(ERR)
            qp.received(7, FLUSH_ERR)
            check(region.read(256), b"\0" * 256, "memory")


def other_pd(nic, _):
    """The key of a region in another protection domain"""
    region = Mr(nic, 4096, pd=nic.command("pd")["pd"])
    return {"va": region.addr, "rkey": region.key}


def destroyed(nic, _):
    """The key of a destroyed region"""
    region = Mr(nic, 4096)
    region.destroy()
    return {"va": region.addr, "rkey": region.key}


bad_key("no such index", lambda nic, mr: {"rkey": 0xffffff00 | mr.key & 0xff})
bad_key("another key byte", lambda nic, mr: {"rkey": mr.key ^ 1})
bad_key("key 0", lambda nic, mr: {"rkey": 0})
bad_key("other protection domain", other_pd)
bad_key("region is gone", destroyed)
bad_key("before the region", lambda nic, mr: {"va": mr.addr - 8})
bad_key("behind the region", lambda nic, mr: {"va": mr.addr + mr.length})
bad_key("across the end", lambda nic, mr: {"va": mr.addr + mr.length - 4},
        (WRITE_ONLY, READ_REQUEST))
bad_key("around 2^64", lambda nic, mr: {"va": 0xfffffffffffffff8})
bad_key("too long as a whole", lambda nic, mr: {"len": mr.length + 1}, (WRITE_FIRST,))
bad_key("region without right to write", lambda nic, mr: {}, (WRITE_ONLY,),
        LOCAL_WRITE | REMOTE_READ | REMOTE_ATOMIC)
bad_key("region without right to read", lambda nic, mr: {}, (READ_REQUEST,),
        LOCAL_WRITE | REMOTE_WRITE | REMOTE_ATOMIC)
bad_key("region without right to atomics", lambda nic, mr: {}, (FETCH_ADD,),
        LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ)


@rule("key", "RDMA WRITE: region goes in the middle")
def key_goes(nic):
    qp = Qp(nic)
    region = Mr(nic, 4096)
    qp.request(WRITE_FIRST, pattern(256), fields={"va": region.addr, "rkey": region.key,
                                                  "len": 512}, ackreq=1)
    qp.expect_ack(0x100000)
    region.destroy()
    qp.request(WRITE_LAST, pattern(256), ackreq=1)
    qp.expect_nak(NAK_ACCESS, 0x100001)
    qp.wait_event(QP_ACCESS_ERROR)
    qp.check_state(ERR)


# Acknowledgments

@rule("ack_on_request")
def ack_on_request(nic):
    qp = Qp(nic)
    for count in range(1, 4):
        qp.request(WRITE_ONLY, ackreq=1)
        qp.expect_ack(0x100000 + count - 1, msn=count)
    qp.expect_silence()


@rule("acks_coalesced")
def acks_coalesced(nic):
    qp = Qp(nic)
    for _ in range(20):
        qp.request(WRITE_ONLY)
    qp.request(WRITE_ONLY, ackreq=1)
    qp.expect_ack(0x100014, msn=21)
    for _ in range(20):
        qp.request(WRITE_ONLY, ackreq=1)
    # any number, but with increasing PSNs
    last = 0x100014
    while last != 0x100028:
        frame = qp.expect(ACK)
        if frame.psn <= last:
            raise Failed(f"ACK of {frame.psn:#x} behind that of {last:#x}")
        check(frame.msn, frame.psn - 0x100000 + 1, "MSN")
        last = frame.psn
    qp.expect_silence()


@rule("msn", "counts messages, not packets nor duplicates")
def msn(nic):
    qp = Qp(nic)
    put_u64(qp, 5)
    qp.request(WRITE_FIRST, pattern(256), fields=qp.reth(300), ackreq=1)
    qp.expect_ack(0x100000, msn=0)
    qp.request(WRITE_LAST, pattern(44), ackreq=1)
    qp.expect_ack(0x100001, msn=1)
    qp.request(READ_REQUEST, fields=qp.reth(600), packets=3)
    for opcode in (READ_FIRST, READ_MIDDLE):
        qp.expect(opcode)
    qp.expect(READ_LAST, msn=2)
    qp.request(FETCH_ADD, fields=qp.atomic(1))
    qp.expect(ATOMIC_ACK, msn=3)
    qp.request(WRITE_ONLY, psn=0x100000, ackreq=1)
    qp.expect_ack(0x100005, msn=3)


def read_row(length, mtu, ip):
    """A row: the response to a READ of some length"""
    @rule("read_response", f"{length} bytes, path MTU {mtu}, IPv{ip}")
    def row(nic):
        qp = Qp(nic, mtu=mtu, ip=ip)
        data = pattern(length, 3)
        qp.mr.write(data, at=5)
        packets = max(1, -(-length // mtu))
        qp.request(READ_REQUEST, fields=qp.reth(length, at=5), packets=packets)
        got = b""
        for i in range(packets):
            if packets == 1:
                opcode = READ_ONLY
            else:
                opcode = {0: READ_FIRST, packets - 1: READ_LAST}.get(i, READ_MIDDLE)
            frame = qp.expect(opcode, psn=0x100000 + i)
            check(len(frame.payload), min(mtu, length - len(got)), "bytes of payload")
            if opcode != READ_MIDDLE:
                check(frame.syndrome & 0xe0, 0, "type of syndrome")
                check(frame.msn, 1, "MSN")
            got += frame.payload
        check(got, data, "data")
        qp.expect_silence()


read_row(1, 256, 4)
for _mtu in (256, 512, 1024, 2048, 4096):
    read_row(_mtu, _mtu, 6)
    read_row(2 * _mtu + 5, _mtu, 4)


@rule("read_response", "acknowledges all before")
def read_acknowledges(nic):
    qp = Qp(nic)
    qp.request(WRITE_ONLY)
    qp.request(READ_REQUEST, fields=qp.reth(4))
    qp.expect(READ_ONLY, psn=0x100001, msn=2)
    qp.expect_silence()


@rule("responses_in_order")
def responses_in_order(nic):
    qp = Qp(nic)
    put_u64(qp, 1)
    qp.request(READ_REQUEST, fields=qp.reth(1024), packets=4)
    qp.request(FETCH_ADD, fields=qp.atomic(1), ackreq=1)
    qp.request(READ_REQUEST, fields=qp.reth(8))
    qp.request(WRITE_ONLY, ackreq=1)
    qp.request(SEND_MIDDLE, pattern(256), ackreq=1)
    for i, opcode in enumerate((READ_FIRST, READ_MIDDLE, READ_MIDDLE, READ_LAST)):
        qp.expect(opcode, psn=0x100000 + i)
    qp.expect(ATOMIC_ACK, psn=0x100004, orig=1)
    qp.expect(READ_ONLY, psn=0x100005)
    frame = qp.next()
    if frame.syndrome & 0xe0 == 0:
        check(frame.psn, 0x100006, "PSN of the ACK")
        frame = qp.next()
    check((frame.syndrome, frame.psn), (NAK_INVALID, 0x100007), "syndrome and PSN of the NAK")
    qp.expect_silence()


@rule("ack_in_rtr")
@rule("communication_established")
def ack_in_rtr(nic):
    qp = Qp(nic, state=RTR)
    qp.recv(7, 100)
    for _ in range(3):
        qp.request(WRITE_ONLY, ackreq=1)
    qp.expect_ack(0x100002, msn=3)
    qp.request(SEND_ONLY, ackreq=1)
    qp.expect_ack(0x100003, msn=4)
    qp.received(7)
    qp.wait_event(COMM_EST)
    nic.barrier()
    check(nic.poll_events(), [(COMM_EST, qp.qpn)], "events")


@rule("credits", "of an RQ")
def credits_of_rq(nic):
    qp = Qp(nic)
    posted = 0
    for goal in (0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 16, 23, 24, 47, 48, 64):
        while posted < goal:
            qp.recv(posted, 100)
            posted += 1
        # Requests that were posted before the packet arrives count
        nic.barrier()
        qp.request(WRITE_ONLY, ackreq=1)
        code = qp.expect_ack(qp.psn - 1).syndrome
        want = max(i for i, count in enumerate(CREDITS) if count <= goal)
        check(code, want, f"credit count with {goal} receive requests")


@rule("credits", "are used up")
def credits_used_up(nic):
    qp = Qp(nic)
    for wr_id in range(4):
        qp.recv(wr_id, 100)
    for left in (3, 2, 1, 0):
        qp.request(SEND_ONLY, ackreq=1)
        check(qp.expect_ack(qp.psn - 1).syndrome, left, "credit count")


@rule("credits", "count from the MSN: the one in use is one of them")
def credits_in_message(nic):
    qp = Qp(nic)
    qp.recv(1, 1000)
    qp.recv(2, 1000)
    qp.request(SEND_FIRST, pattern(256), ackreq=1)
    qp.expect_ack(0x100000, msn=0, syndrome=2)
    qp.request(SEND_LAST, pattern(4), ackreq=1)
    qp.expect_ack(0x100001, msn=1, syndrome=1)
    qp.received(1)


@rule("credits", "of an SRQ")
def credits_of_srq(nic):
    srq = Srq(nic)
    qp = Qp(nic, srq=srq)
    srq.recv(7, qp.mr, 100)
    srq.recv(8, qp.mr, 100)
    qp.request(SEND_ONLY, pattern(10), ackreq=1)
    check(qp.expect_ack(0x100000).syndrome, NO_CREDITS, "syndrome")
    qp.received(7, len=10)


# Duplicates

@rule("duplicate_send")
def duplicate_send(nic):
    qp = Qp(nic)
    qp.recv(7, 100)
    qp.recv(8, 100, at=200)
    for wr_id in (7, 8):
        qp.request(SEND_ONLY, bytes([wr_id]) * 4, ackreq=1)
        qp.expect_ack(qp.psn - 1)
        qp.received(wr_id)
    qp.recv(9, 100, at=400)
    with Counts(nic, duplicate=1):
        qp.request(SEND_ONLY, b"\xff" * 4, psn=0x100000, ackreq=1)
        qp.expect_ack(0x100001, msn=2)
        qp.no_completion()
    check(qp.mr.read(4), b"\7" * 4, "memory")
    check(qp.mr.read(4, at=400), b"\0" * 4, "memory")
    # and the sequence continues
    qp.request(SEND_ONLY, ackreq=1)
    qp.expect_ack(0x100002, msn=3)
    qp.received(9)


@rule("duplicate_write")
def duplicate_write(nic):
    qp = Qp(nic)
    qp.request(WRITE_ONLY, b"abcd", fields=qp.reth(4), ackreq=1)
    qp.expect_ack(0x100000)
    qp.mr.write(b"ABCD")
    with Counts(nic, duplicate=1):
        qp.request(WRITE_ONLY, b"abcd", fields=qp.reth(4), psn=0x100000, ackreq=1)
        qp.expect_ack(0x100000, msn=1)
    check(qp.mr.read(4), b"ABCD", "memory")


@rule("duplicate_read")
def duplicate_read(nic):
    qp = Qp(nic)
    qp.mr.write(pattern(300, 1))
    qp.request(READ_REQUEST, fields=qp.reth(300), packets=2)
    qp.expect(READ_FIRST, payload=pattern(300, 1)[:256])
    qp.expect(READ_LAST, payload=pattern(300, 1)[256:])
    qp.request(WRITE_ONLY, ackreq=1)
    qp.expect_ack(0x100002, msn=2)
    qp.mr.write(pattern(300, 2))
    with Counts(nic, duplicate=1):
        qp.request(READ_REQUEST, fields=qp.reth(300), psn=0x100000)
        qp.expect(READ_FIRST, psn=0x100000, payload=pattern(300, 2)[:256])
        qp.expect(READ_LAST, psn=0x100001, payload=pattern(300, 2)[256:])
        qp.expect_silence()
    qp.request(WRITE_ONLY, ackreq=1)
    qp.expect_ack(0x100003, msn=3)


@rule("duplicate_read_part", "all but the first packet", skip=1, length=600 - 256)
@rule("duplicate_read_part", "the last packet", skip=2, length=600 - 512)
@rule("duplicate_read_part", "a packet in the middle", skip=1, length=256)
def duplicate_read_part(nic, skip, length):
    qp = Qp(nic)
    data = pattern(600, 4)
    qp.mr.write(data)
    qp.request(READ_REQUEST, fields=qp.reth(600), packets=3)
    for opcode in (READ_FIRST, READ_MIDDLE, READ_LAST):
        qp.expect(opcode)
    at = skip * 256
    qp.request(READ_REQUEST, fields=qp.reth(length, at=at), psn=0x100000 + skip)
    if length <= 256:
        qp.expect(READ_ONLY, psn=0x100000 + skip, payload=data[at:at + length])
    else:
        qp.expect(READ_FIRST, psn=0x100000 + skip, payload=data[at:at + 256])
        qp.expect(READ_LAST, psn=0x100001 + skip, payload=data[at + 256:at + length])
    qp.expect_silence()


@rule("duplicate_read_too_long", "beyond the PSN expected", length=600)
def duplicate_read_too_long(nic, length):
    qp = Qp(nic)
    qp.request(READ_REQUEST, fields=qp.reth(512), packets=2)
    qp.expect(READ_FIRST)
    qp.expect(READ_LAST)
    with Counts(nic, duplicate=1):
        qp.request(READ_REQUEST, fields=qp.reth(length), psn=0x100000)
        qp.expect_silence()
    qp.check_state(3)


@rule("duplicate_read_bad", "key", other={"rkey": 1})
@rule("duplicate_read_bad", "length", other={"len": MR_LEN + 1})
@rule("duplicate_read_bad", "address", other={"va": 8})
def duplicate_read_bad(nic, other):
    qp = Qp(nic, mtu=4096)
    qp.request(READ_REQUEST, fields=qp.reth(MR_LEN), packets=16)
    for i in range(16):
        qp.expect({0: READ_FIRST, 15: READ_LAST}.get(i, READ_MIDDLE))
    qp.request(WRITE_ONLY, ackreq=1)
    qp.expect_ack(qp.psn - 1)
    with Counts(nic, duplicate=1, tx_nak_access=0):
        qp.request(READ_REQUEST, fields=qp.reth(16, **other), psn=0x100000)
        qp.expect_silence()
    qp.check_state(3)


@rule("duplicate_atomic", "FETCH & ADD", opcode=FETCH_ADD)
@rule("duplicate_atomic", "COMPARE & SWAP", opcode=CMP_SWAP)
def duplicate_atomic(nic, opcode):
    qp = Qp(nic)
    for i in range(4):
        put_u64(qp, 100 + i, at=8 * i)
        qp.request(opcode, fields=qp.atomic(1000 + i, 100 + i, at=8 * i))
        qp.expect(ATOMIC_ACK, orig=100 + i)
    now = [get_u64(qp, 8 * i) for i in range(4)]
    with Counts(nic, duplicate=4):
        for i in (0, 3, 1, 2):
            qp.request(opcode, fields=qp.atomic(1000 + i, 100 + i, at=8 * i),
                       psn=0x100000 + i)
            qp.expect(ATOMIC_ACK, psn=0x100000 + i, orig=100 + i)
    check([get_u64(qp, 8 * i) for i in range(4)], now, "memory")


@rule("duplicate_atomic_unknown")
def duplicate_atomic_unknown(nic):
    qp = Qp(nic, max_dest_rd_atomic=2)
    for i in range(3):
        qp.request(FETCH_ADD, fields=qp.atomic(1))
        qp.expect(ATOMIC_ACK, orig=i)
    with Counts(nic, duplicate=3):
        qp.request(FETCH_ADD, fields=qp.atomic(1), psn=0x100000)
        qp.expect_silence()
        for i in (1, 2):
            qp.request(FETCH_ADD, fields=qp.atomic(1), psn=0x100000 + i)
            qp.expect(ATOMIC_ACK, psn=0x100000 + i, orig=i)
    check(get_u64(qp), 3, "memory")
    qp.check_state(3)


@rule("duplicate_reserved")
def duplicate_reserved(nic):
    qp = Qp(nic)
    qp.request(WRITE_ONLY, ackreq=1)
    qp.expect_ack(0x100000)
    with Counts(nic, duplicate=1):
        qp.request(0x1e, psn=0x100000, ackreq=1)
        qp.expect_silence()
    qp.check_state(3)


@rule("duplicate_after_nak", "gap")
def duplicate_after_gap(nic):
    qp = Qp(nic)
    qp.mr.write(b"data")
    qp.request(WRITE_ONLY, ackreq=1)
    qp.expect_ack(0x100000)
    qp.request(READ_REQUEST, fields=qp.reth(4))
    qp.expect(READ_ONLY, payload=b"data")
    qp.request(WRITE_ONLY, ahead=1)
    qp.expect_nak(NAK_SEQUENCE, 0x100002)
    qp.request(WRITE_ONLY, psn=0x100000, ackreq=1)
    qp.expect_ack(0x100001, msn=2)
    qp.request(READ_REQUEST, fields=qp.reth(4), psn=0x100001)
    qp.expect(READ_ONLY, psn=0x100001, payload=b"data")


@rule("duplicate_after_nak", "RNR")
def duplicate_after_rnr(nic):
    qp = Qp(nic)
    qp.request(WRITE_ONLY, ackreq=1)
    qp.expect_ack(0x100000)
    qp.request(SEND_ONLY, ahead=0, ackreq=1)
    qp.expect_nak(RNR | 1, 0x100001)
    qp.request(WRITE_ONLY, psn=0x100000, ackreq=1)
    qp.expect_ack(0x100000, msn=1)


# Receive requests

@rule("rnr", "SEND ONLY", opcode=SEND_ONLY, length=4)
@rule("rnr", "SEND FIRST", opcode=SEND_FIRST, length=256)
@rule("rnr", "RDMA WRITE ONLY with immediate data", opcode=WRITE_ONLY_IMM, length=4)
def rnr(nic, opcode, length):
    qp = Qp(nic, min_rnr_timer=14)
    fields = {**qp.reth(length), "imm": IMM}
    with Counts(nic, tx_nak_rnr=2):
        for _ in range(2):
            qp.request(opcode, pattern(length, 1), psn=0x100000, fields=fields, ackreq=1)
            qp.expect_nak(RNR | 14, 0x100000)
            qp.expect_silence()
    qp.check_state(3)
    qp.recv(7, 1000, at=2000)
    qp.request(opcode, pattern(length, 1), fields=fields, ackreq=1)
    qp.expect_ack(0x100000)
    if opcode != SEND_FIRST:
        qp.received(7, len=length)
        check(qp.mr.read(length, at=0 if opcode == WRITE_ONLY_IMM else 2000),
              pattern(length, 1), "memory")


@rule("rnr", "RDMA WRITE LAST with immediate data")
def rnr_write_last(nic):
    qp = Qp(nic, min_rnr_timer=31)
    data = pattern(300)
    qp.request(WRITE_FIRST, data[:256], fields=qp.reth(300), ackreq=1)
    qp.expect_ack(0x100000)
    qp.request(WRITE_LAST_IMM, data[256:], psn=0x100001, fields={"imm": IMM}, ackreq=1)
    qp.expect_nak(RNR | 31, 0x100001)
    qp.recv(7, 0)
    qp.request(WRITE_LAST_IMM, data[256:], fields={"imm": IMM}, ackreq=1)
    qp.expect_ack(0x100001, msn=1)
    qp.received(7, op=WC_RECV_IMM, len=300, imm=IMM)
    check(qp.mr.read(300), data, "memory")


@rule("rnr", "an SRQ")
def rnr_srq(nic):
    srq = Srq(nic)
    qp = Qp(nic, srq=srq, min_rnr_timer=0)
    qp.request(SEND_ONLY, b"abcd", psn=0x100000, ackreq=1)
    qp.expect_nak(RNR | 0, 0x100000)
    srq.recv(7, qp.mr, 100)
    qp.request(SEND_ONLY, b"abcd", ackreq=1)
    qp.expect_ack(0x100000, msn=1)
    qp.received(7, len=4)


@rule("rnr_drops_what_follows")
def rnr_drops_what_follows(nic):
    qp = Qp(nic)
    qp.request(SEND_ONLY, b"abcd", psn=0x100000, ackreq=1)
    qp.expect_nak(RNR | 1, 0x100000)
    with Counts(nic, tx_nak_seq=0, tx_nak_rnr=0):
        qp.request(WRITE_ONLY, b"abcd", fields=qp.reth(4), psn=0x100001, ackreq=1)
        qp.request(SEND_ONLY, b"abcd", psn=0x100002, ackreq=1)
        qp.expect_silence()
    check(qp.mr.read(4), b"\0" * 4, "memory")
    qp.recv(7, 100)
    qp.request(SEND_ONLY, b"abcd", ackreq=1)
    qp.expect_ack(0x100000, msn=1)
    qp.received(7, len=4)


@rule("receive_request_bad", "local key")
@rule("remote_operational")
def receive_request_bad(nic):
    qp = Qp(nic)
    region = Mr(nic, 100)
    qp.recv(7, 100, key_of=region)
    qp.recv(8, 100)
    region.destroy()
    with Counts(nic, tx_nak_operation=1):
        qp.request(SEND_ONLY, pattern(10), ackreq=1)
        qp.expect_nak(NAK_OPERATION, 0x100000)
        qp.expect_silence()
    qp.received(7, LOC_PROT_ERR)
    qp.received(8, FLUSH_ERR)
    qp.check_state(ERR)


@rule("receive_request_bad", "bounds")
def receive_request_bounds(nic):
    qp = Qp(nic)
    qp.recv(7, 100, at=MR_LEN - 50)
    qp.request(SEND_ONLY, pattern(60), ackreq=1)
    qp.expect_nak(NAK_OPERATION, 0x100000)
    qp.received(7, LOC_PROT_ERR)
    qp.check_state(ERR)


@rule("receive_completion", "event of a solicited SEND", opcode=SEND_ONLY)
@rule("receive_completion", "event of a solicited RDMA WRITE with immediate data",
      opcode=WRITE_ONLY_IMM)
def solicited(nic, opcode):
    qp = Qp(nic)
    qp.recv(7, 100)
    qp.recv(8, 100)
    while nic.command("event", comp=1):
        pass
    nic.command("arm", cq=qp.recv_cq, solicited=1)
    qp.request(opcode, fields={**qp.reth(0), "imm": 1}, ackreq=1)
    qp.expect_ack(0x100000)
    qp.received(7)
    nic.barrier()
    check(nic.command("event", comp=1), {}, "event for what is not solicited")
    qp.request(opcode, fields={**qp.reth(0), "imm": 1}, ackreq=1, solicited=1)
    qp.expect_ack(0x100001)
    qp.received(8)
    nic.wait(lambda: nic.command("event", comp=1), "the event")


# The end of a QP

@rule("remote_operational", "memory is gone: RDMA WRITE", opcode=WRITE_ONLY)
@rule("remote_operational", "memory is gone: READ", opcode=READ_REQUEST)
@rule("remote_operational", "memory is gone: atomic", opcode=FETCH_ADD)
def memory_gone(nic, opcode):
    qp = Qp(nic)
    region = Mr(nic, lost=True)
    qp.recv(7, 100)
    with Counts(nic, tx_nak_operation=1, bad_dma=1):
        qp.request(opcode, b"abcdefgh" if opcode == WRITE_ONLY else b"", ackreq=1,
                   fields={"va": region.addr, "rkey": region.key, "len": 8, "swap": 1})
        qp.expect_nak(NAK_OPERATION, 0x100000)
        qp.expect_silence()
    qp.wait_event(QP_FATAL)
    qp.received(7, FLUSH_ERR)
    qp.check_state(ERR)


@rule("invalid_request")
def invalid_request(nic):
    qp = Qp(nic)
    qp.recv(7, 1000)
    qp.recv(8, 1000)
    qp.request(SEND_FIRST, pattern(256), ackreq=1)
    qp.expect_ack(0x100000)
    qp.request(SEND_LAST, b"", ackreq=1)
    expect_invalid(qp, 0x100001, recv=7)
    qp.received(8, FLUSH_ERR)


@rule("remote_access")
def remote_access(nic):
    qp = Qp(nic)
    region = Mr(nic, 4096)
    qp.recv(7, 1000)
    qp.request(WRITE_FIRST, pattern(256), fields={"va": region.addr, "rkey": region.key,
                                                  "len": 300}, ackreq=1)
    qp.expect_ack(0x100000)
    region.destroy()
    qp.request(WRITE_LAST_IMM, pattern(44), fields={"imm": 1}, ackreq=1)
    qp.expect_nak(NAK_ACCESS, 0x100001)
    # The receive request is in use, so it has the error
    qp.received(7, LOC_ACCESS_ERR)
    qp.check_state(ERR)


@rule("nothing_after_a_fatal_nak")
@rule("in_error")
def nothing_after_a_fatal_nak(nic):
    qp = Qp(nic)
    qp.request(SEND_MIDDLE, pattern(256), ackreq=1)
    qp.expect_nak(NAK_INVALID, 0x100000)
    qp.check_state(ERR)
    with Counts(nic, rx_drop_qp=4):
        qp.request(WRITE_ONLY, b"abcd", psn=0x100000, fields=qp.reth(4), ackreq=1)
        qp.request(WRITE_ONLY, b"abcd", psn=0x100001, fields=qp.reth(4), ackreq=1)
        qp.request(WRITE_ONLY, b"abcd", psn=0x0fffff, fields=qp.reth(4), ackreq=1)
        qp.ack(0x200000)
        qp.expect_silence()
    check(qp.mr.read(4), b"\0" * 4, "memory")


@rule("before_rtr", "RESET", state=RESET)
@rule("before_rtr", "INIT", state=INIT)
def before_rtr(nic, state):
    qp = Qp(nic, state=state)
    if state:
        qp.recv(7, 100)
    with Counts(nic, rx_drop_qp=2):
        qp.request(SEND_ONLY, b"abcd", psn=0x100000, ackreq=1)
        qp.request(WRITE_ONLY, b"abcd", psn=0x100000, fields=qp.reth(4), ackreq=1)
        qp.expect_silence()
    check(nic.poll_events(), [], "events")
    qp.no_completion()
