# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rules of XRC"""

import capture
import roce
from nic import (LOC_QP_OP_ERR, QP_ACCESS_ERROR, QP_REQ_ERROR, WC_RECV, WC_RECV_IMM,
                 WR_CMP_SWAP, WR_FETCH_ADD, WR_READ, WR_SEND, WR_SEND_IMM, WR_WRITE,
                 WR_WRITE_IMM, Counts, Mr, Qp, Srq, check, pattern)
from roce import (ACK, ATOMIC_ACK, CMP_SWAP, FETCH_ADD, NAK_ACCESS, NAK_INVALID, NO_CREDITS,
                  READ_FIRST, READ_LAST, READ_MIDDLE, READ_ONLY, READ_REQUEST, SEND_FIRST,
                  SEND_LAST, SEND_ONLY, SEND_ONLY_IMM, WRITE_ONLY,
                  WRITE_ONLY_IMM, XRC)
from rules import rule
from rules_opcodes import names_in
from rules_requester import IMM, MESSAGES

UNKNOWN = 0xabcdef


class Place:
    """An SRQ of an XRC domain, with its own protection domain, CQ and region"""

    def __init__(self, nic, xrcdn):
        self.pd = nic.command("pd")["pd"]
        self.cq = nic.command("cq")["cq"]
        self.mr = Mr(nic, pd=self.pd)
        self.srq = Srq(nic, self.pd, xrcdn=xrcdn, cq=self.cq)
        self.number = self.srq.number

    def recv(self, wr_id, length):
        """Post a receive request"""
        self.srq.recv(wr_id, self.mr, length)

    def fields(self, length=0, **other):
        """Fields of XRCETH, RETH and AtomicETH"""
        return {"srqn": self.number, "va": self.mr.addr, "rkey": self.mr.key, "len": length,
                "imm": IMM, **other}


def target(nic):
    """An XRC_TGT QP, and two SRQs in its domain"""
    xrcdn = nic.command("xrcd")["xrcdn"]
    return Qp(nic, kind="xrc_tgt", xrcdn=xrcdn), Place(nic, xrcdn), Place(nic, xrcdn)


def check_invalid(qp, psn):
    """Check that the request was invalid"""
    qp.expect_nak(NAK_INVALID, psn)
    qp.wait_event(QP_REQ_ERROR)


@rule("xrc_roles", "responses to the responder", kind="xrc_tgt",
      opcodes=[READ_FIRST, READ_MIDDLE, READ_LAST, READ_ONLY, ACK, ATOMIC_ACK])
@rule("xrc_roles", "requests to the requester", kind="xrc_ini",
      opcodes=[SEND_FIRST, SEND_LAST, SEND_ONLY, WRITE_ONLY, READ_REQUEST, CMP_SWAP,
               FETCH_ADD])
def roles(nic, kind, opcodes):
    if kind == "xrc_tgt":
        qp = target(nic)[0]
    else:
        qp = Qp(nic, kind=kind)
    with Counts(nic, rx_drop_qp=len(opcodes) + 2):
        for opcode in opcodes:
            qp.send(opcode, psn=qp.psn)
        qp.send(SEND_ONLY, psn=qp.psn, kind="rc")
        qp.send(ACK, psn=qp.psn, kind="rc")
        qp.expect_silence()


@rule("xrc_roles", "reserved opcode", opcode=roce.RESYNC)
@rule("xrc_roles", "0xb8", opcode=0x18)
def reserved(nic, opcode):
    qp, place, _ = target(nic)
    qp.request(opcode, fields=place.fields())
    check_invalid(qp, 0x100000)


@rule("xrc_srq_named", "SEND, no SRQ has the number", opcode=SEND_ONLY, which="unknown")
@rule("xrc_srq_named", "SEND, a basic SRQ", opcode=SEND_ONLY, which="basic")
@rule("xrc_srq_named", "SEND, an SRQ of another domain", opcode=SEND_ONLY, which="other")
@rule("xrc_srq_named", "RDMA WRITE", opcode=WRITE_ONLY, which="unknown")
@rule("xrc_srq_named", "RDMA READ", opcode=READ_REQUEST, which="unknown")
@rule("xrc_srq_named", "atomic", opcode=CMP_SWAP, which="unknown")
def srq_named(nic, opcode, which):
    qp, place, _ = target(nic)
    number = UNKNOWN
    if which == "basic":
        number = Srq(nic).number
    elif which == "other":
        number = Place(nic, nic.command("xrcd")["xrcdn"]).number
    place.recv(7, 100)
    qp.request(opcode, fields=place.fields(8, rkey=0, srqn=number))
    check_invalid(qp, 0x100000)
    qp.no_completion(place.cq)


@rule("xrc_one_srq_in_a_message")
def one_srq(nic):
    qp, place, other = target(nic)
    place.recv(7, 1000)
    other.recv(8, 1000)
    qp.request(SEND_FIRST, pattern(256), fields=place.fields())
    qp.request(SEND_LAST, pattern(5), fields=other.fields())
    check_invalid(qp, 0x100001)
    qp.completion(7, LOC_QP_OP_ERR, place.cq)
    qp.no_completion(other.cq)


@rule("xrc_protection_domain", "RDMA WRITE", opcode=WRITE_ONLY)
@rule("xrc_protection_domain", "RDMA READ", opcode=READ_REQUEST)
@rule("xrc_protection_domain", "atomic", opcode=FETCH_ADD)
def protection_domain(nic, opcode):
    qp, place, other = target(nic)
    data = pattern(8) if opcode == WRITE_ONLY else b""
    answer = {WRITE_ONLY: ACK, READ_REQUEST: READ_ONLY, FETCH_ADD: ATOMIC_ACK}[opcode]
    qp.request(opcode, data, fields=place.fields(8), ackreq=1)
    qp.expect(answer, psn=0x100000)
    qp.request(opcode, data, fields=place.fields(8, srqn=other.number), ackreq=1)
    qp.expect_nak(NAK_ACCESS, 0x100001)
    qp.wait_event(QP_ACCESS_ERROR)


@rule("xrc_completion")
def completion(nic):
    qp, place, other = target(nic)
    for each in (place, other):
        each.recv(7, 100)
        each.recv(8, 100)
    for wr_id in (7, 8):
        for each in (other, place):
            opcode = SEND_ONLY_IMM if wr_id == 7 else WRITE_ONLY_IMM
            qp.request(opcode, pattern(20, wr_id), fields=each.fields(20), ackreq=1)
            qp.expect_ack(qp.psn - 1)
            qp.completion(wr_id, cq=each.cq, qpn=qp.qpn, len=20, imm=IMM,
                          op=WC_RECV if wr_id == 7 else WC_RECV_IMM)
            check(each.mr.read(20), pattern(20, wr_id), "memory")
    other.recv(9, 100)
    qp.request(SEND_ONLY, fields=place.fields(), ackreq=1)
    qp.expect(ACK, syndrome=roce.RNR | qp.attr["min_rnr_timer"], psn=0x100004)
    place.recv(10, 100)
    qp.request(SEND_ONLY, fields=place.fields(), ackreq=1, psn=0x100004)
    qp.expect_ack(0x100004)
    qp.completion(10, cq=place.cq)


@rule("xrc_responses")
def responses(nic):
    qp, place, _ = target(nic)
    place.recv(7, 100)
    place.mr.write(pattern(700))
    qp.request(SEND_ONLY, fields=place.fields(), ackreq=1)
    qp.expect(ACK, psn=0x100000, syndrome=NO_CREDITS)
    qp.request(READ_REQUEST, fields=place.fields(700), packets=3)
    got = b"".join(qp.expect(opcode).payload
                   for opcode in (READ_FIRST, READ_MIDDLE, READ_LAST))
    check(got, pattern(700), "what was read")
    qp.request(CMP_SWAP, fields=place.fields(swap=1, compare=2))
    qp.expect(ATOMIC_ACK, psn=0x100004, syndrome=NO_CREDITS,
              orig=int.from_bytes(pattern(8), "little"))


@rule("xrc_duplicates")
def duplicates(nic):
    qp, place, other = target(nic)
    qp.request(READ_REQUEST, fields=place.fields(8))
    qp.expect(READ_ONLY, psn=0x100000)
    qp.request(FETCH_ADD, fields=place.fields(swap=5))
    qp.expect(ATOMIC_ACK, psn=0x100001, orig=0)
    with Counts(nic, duplicate=4):
        qp.request(READ_REQUEST, fields=place.fields(8), psn=0x100000)
        qp.expect(READ_ONLY, psn=0x100000, payload=(5).to_bytes(8, "little"))
        for number in (other.number, UNKNOWN):
            qp.request(READ_REQUEST, fields=place.fields(8, srqn=number), psn=0x100000)
        qp.request(FETCH_ADD, fields=place.fields(swap=5, srqn=UNKNOWN), psn=0x100001)
        qp.expect(ATOMIC_ACK, psn=0x100001, orig=0)
        qp.expect_silence()


# Names without XRCETH, which tshark 4.4 does not know
_NAMES = {
    0x00: "SEND First", 0x01: "SEND Middle", 0x02: "SEND Last",
    0x03: "SEND Last with Immediate", 0x04: "SEND Only", 0x05: "SEND Only with Immediate",
    0x06: "RDMA WRITE First", 0x07: "RDMA WRITE Middle", 0x08: "RDMA WRITE Last",
    0x09: "RDMA WRITE Last with Immediate", 0x0a: "RDMA WRITE Only",
    0x0b: "RDMA WRITE Only with Immediate", 0x0c: "RDMA READ Request", 0x13: "CmpSwap",
    0x14: "FetchAdd"}


@rule("xrc_sent", "IPv4", ip=4)
@rule("xrc_sent", "IPv6", ip=6)
def sent(nic, ip):
    qp = Qp(nic, kind="xrc_ini", ip=ip)
    begin = len(nic.wire.log)
    va, rkey = qp.remote()
    psn = 0x200000
    srqn = 0x010203
    for wr_id, kind in enumerate((WR_SEND, WR_SEND_IMM, WR_WRITE, WR_WRITE_IMM)):
        only, first, middle, last = MESSAGES[kind]
        for length in (5, 700):
            srqn += 1
            qp.post(wr_id, kind, length, remote=(va, rkey), imm=IMM, remote_srqn=srqn)
            want = {"srqn": srqn, "reserved_xrc": 0}
            for opcode in (only,) if length == 5 else (first, middle, last):
                frame = qp.expect(opcode, psn=psn, **want)
                if hasattr(frame, "va"):
                    check((frame.va, frame.rkey, frame.len), (va, rkey, length), "RETH")
                if hasattr(frame, "imm"):
                    check(frame.imm, IMM, "immediate data")
                psn += 1
            qp.ack(psn - 1, msn=1)
            qp.completion(wr_id)
    qp.post(20, WR_READ, 5, remote=(va, rkey), remote_srqn=77)
    qp.expect(READ_REQUEST, psn=psn, srqn=77, va=va, rkey=rkey, len=5)
    qp.respond(READ_ONLY, psn, b"abcde", msn=1)
    qp.completion(20)
    for i, (kind, opcode) in enumerate(((WR_CMP_SWAP, CMP_SWAP), (WR_FETCH_ADD, FETCH_ADD))):
        qp.post(21 + i, kind, 8, remote=(va, rkey), compare_add=5, swap=6, remote_srqn=78)
        qp.expect(opcode, psn=psn + 1 + i, srqn=78, va=va, rkey=rkey)
        qp.respond(ATOMIC_ACK, psn + 1 + i, orig=6, msn=1)
        qp.completion(21 + i)
    nic.wire.sort()
    frames = [roce.Frame(data) for _, _, data in nic.wire.log[begin:]]
    frames = [frame for frame in frames if XRC | roce.RESYNC > frame.opcode >= XRC
              and not XRC | READ_FIRST <= frame.opcode <= XRC | ATOMIC_ACK]
    path = f"{nic.dir}/xrc.pcap"
    capture.write_pcap(path, [(0, frame.data) for frame in frames])
    check(names_in(path), [f"Extended Reliable Connection (XRC) - {_NAMES[frame.opcode ^ XRC]}"
                           for frame in frames], "names of the opcodes")
