# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rules of unreliable connection and unreliable datagram"""

import struct

import nic as machine
from nic import (ERR, FLUSH_ERR, LOC_PROT_ERR, LOCAL_WRITE, MR_LEN, RTR, SQE, RTS, SIGNALED,
                 SOLICITED, WC_RECV, WC_RECV_IMM, WR_SEND, WR_SEND_IMM, WR_WRITE,
                 WR_WRITE_IMM, COMM_EST, Counts, Mr, Qp, Srq, check, pattern)
from roce import (ACK, CNP, FETCH_ADD, READ_REQUEST, SEND_FIRST, SEND_LAST, SEND_LAST_IMM,
                  SEND_MIDDLE, SEND_ONLY, SEND_ONLY_IMM, UC, UD, WRITE_FIRST, WRITE_LAST,
                  WRITE_LAST_IMM, WRITE_MIDDLE, WRITE_ONLY, WRITE_ONLY_IMM, gid, group_mac)
from rules import rule
from rules_requester import FIRST_PSN, IMM, NAMES, expect_message

QKEY = 0x11111111
GRH = 40


def uc_up(nic, recvs=2, length=1000, **attr):
    """A UC QP with receive requests 1, 2, ..., each 2000 bytes on"""
    qp = Qp(nic, kind="uc", **attr)
    for i in range(recvs):
        qp.recv(1 + i, length, at=10000 + 2000 * i)
    return qp


def memory(qp, wr_id, length):
    """Received bytes of a receive request of uc_up()"""
    return qp.mr.read(length, at=10000 + 2000 * (wr_id - 1))


@rule("uc_in_sequence", "SEND")
@rule("uc_opcodes", "SEND")
def uc_send(nic):
    qp = uc_up(nic, 4)
    data = pattern(600, 1)
    qp.request(SEND_FIRST, data[:256])
    qp.request(SEND_MIDDLE, data[256:512], ackreq=1)
    qp.request(SEND_LAST, data[512:], ackreq=1)
    qp.received(1, op=WC_RECV, len=600, flags=0)
    check(memory(qp, 1, 600), data, "memory")
    qp.request(SEND_FIRST, data[:256])
    qp.request(SEND_LAST_IMM, data[256:266], fields={"imm": IMM})
    qp.received(2, op=WC_RECV, len=266, flags=2, imm=IMM)
    qp.request(SEND_ONLY_IMM, b"xyz", fields={"imm": IMM})
    qp.received(3, len=3, imm=IMM)
    qp.request(SEND_ONLY)
    qp.received(4, len=0)
    qp.expect_silence()


@rule("uc_in_sequence", "RDMA WRITE")
@rule("uc_opcodes", "RDMA WRITE")
def uc_write(nic):
    qp = uc_up(nic)
    data = pattern(768, 1)
    qp.request(WRITE_FIRST, data[:256], fields=qp.reth(768))
    qp.request(WRITE_MIDDLE, data[256:512])
    qp.request(WRITE_LAST, data[512:])
    qp.request(WRITE_ONLY, b"only", fields=qp.reth(4, at=1000))
    qp.request(WRITE_FIRST, data[:256], fields=qp.reth(300, at=2000))
    qp.request(WRITE_LAST_IMM, data[256:300], fields={"imm": IMM})
    qp.received(1, op=WC_RECV_IMM, len=300, imm=IMM, flags=2)
    qp.request(WRITE_ONLY_IMM, b"abc", fields={**qp.reth(3, at=3000), "imm": 5})
    qp.received(2, op=WC_RECV_IMM, len=3, imm=5)
    check(qp.mr.read(768), data, "memory")
    check(qp.mr.read(4, at=1000), b"only", "memory")
    check(qp.mr.read(300, at=2000), data[:300], "memory")
    check(qp.mr.read(3, at=3000), b"abc", "memory")
    qp.expect_silence()


for _name, _opcode in (("READ", READ_REQUEST), ("atomic", FETCH_ADD), ("ACK", ACK),
                       ("reserved", 0x1f)):
    @rule("uc_opcodes", _name, opcode=_opcode)
    def uc_other_opcodes(nic, opcode):
        qp = uc_up(nic)
        with Counts(nic, rx_drop_qp=2):
            qp.send(opcode, psn=qp.psn, fields=qp.reth(4))
            qp.send(UC | opcode, psn=qp.psn, sound=False)
            qp.expect_silence()
        qp.request(SEND_ONLY, b"abcd")
        qp.received(1, len=4)


@rule("uc_gap_in_message", "MIDDLE lost")
def uc_gap_in_message(nic):
    qp = uc_up(nic)
    with Counts(nic, out_of_sequence=1, rx_drop_sequence=2):
        qp.request(SEND_FIRST, pattern(256))
        qp.request(SEND_MIDDLE, pattern(256), psn=qp.psn + 1)
        qp.request(SEND_LAST, pattern(4), psn=qp.psn + 2)
        qp.no_completion()
    qp.check_state(RTS)
    # the next message takes the receive request from its start
    qp.psn += 3
    with Counts(nic, out_of_sequence=0):
        qp.request(SEND_ONLY, b"next")
        qp.received(1, len=4)
    check(memory(qp, 1, 4), b"next", "memory")
    qp.expect_silence()


@rule("uc_gap_between_messages", "ONLY", ahead=5)
@rule("uc_gap_between_messages", "ONLY, backwards", ahead=-5)
def uc_gap_between_messages(nic, ahead):
    qp = uc_up(nic)
    with Counts(nic, out_of_sequence=1, rx_drop_sequence=0, duplicate=0):
        qp.request(SEND_ONLY, b"abcd", psn=qp.psn + ahead)
        qp.received(1, len=4)
        qp.request(SEND_ONLY, b"efgh", psn=qp.psn + ahead + 1)
        qp.received(2, len=4)


@rule("uc_gap_between_messages", "a message not ended is given up")
def uc_message_given_up(nic):
    qp = uc_up(nic)
    with Counts(nic, out_of_sequence=1):
        qp.request(SEND_FIRST, pattern(256, 1))
        qp.psn += 1
        qp.request(SEND_FIRST, pattern(256, 2))
        qp.request(SEND_LAST, b"end")
        qp.received(1, len=259)
    check(memory(qp, 1, 259), pattern(256, 2) + b"end", "memory")


@rule("uc_psn_follows")
def uc_psn_follows(nic):
    qp = uc_up(nic)
    with Counts(nic, out_of_sequence=2, rx_drop_sequence=2):
        qp.request(SEND_FIRST, pattern(256))
        qp.request(SEND_LAST, b"lost", psn=qp.psn + 3)
        qp.psn += 4
        qp.request(SEND_LAST, b"lost too")
        qp.request(SEND_ONLY, b"good", psn=qp.psn + 9)
        qp.received(1, len=4)
    with Counts(nic, out_of_sequence=0):
        qp.request(SEND_ONLY, b"good", psn=qp.psn + 10)
        qp.received(2, len=4)


@rule("uc_psn_follows", "2^24 - 1 is followed by 0")
def uc_psn_wraps(nic):
    qp = uc_up(nic, rq_psn=0xffffff)
    with Counts(nic, out_of_sequence=0):
        qp.request(SEND_FIRST, pattern(256))
        qp.request(SEND_LAST, pattern(1), psn=0)
        qp.received(1, len=257)


for _name, _opcode, _length in (("SEND MIDDLE", SEND_MIDDLE, 256), ("SEND LAST", SEND_LAST, 4),
                                ("RDMA WRITE MIDDLE", WRITE_MIDDLE, 256),
                                ("RDMA WRITE LAST", WRITE_LAST, 4)):
    @rule("uc_opcode_sequence", f"{_name} first", opcode=_opcode, length=_length)
    def uc_without_first(nic, opcode, length):
        qp = uc_up(nic)
        with Counts(nic, rx_drop_sequence=1):
            qp.request(opcode, pattern(length))
            qp.no_completion()
        qp.request(SEND_ONLY, b"next")
        qp.received(1, len=4)


@rule("uc_opcode_sequence", "of another kind")
def uc_other_kind(nic):
    qp = uc_up(nic)
    with Counts(nic, rx_drop_sequence=2):
        qp.request(SEND_FIRST, pattern(256))
        qp.request(WRITE_LAST, pattern(4))
        qp.request(SEND_LAST, pattern(4))
        qp.no_completion()
    qp.request(SEND_ONLY, b"next")
    qp.received(1, len=4)


@rule("uc_opcode_sequence", "FIRST and ONLY in a message")
def uc_first_in_message(nic):
    qp = uc_up(nic, 3)
    qp.request(SEND_FIRST, pattern(256, 1))
    qp.request(WRITE_ONLY, b"abcd", fields=qp.reth(4))
    qp.request(SEND_FIRST, pattern(256, 2))
    qp.request(SEND_ONLY, b"only")
    qp.received(1, len=4)
    check(memory(qp, 1, 4), b"only", "memory")
    check(qp.mr.read(4), b"abcd", "memory")
    qp.no_completion()


@rule("uc_receive_request_kept", "SRQ")
def uc_srq_request_kept(nic):
    srq = Srq(nic)
    qp = Qp(nic, kind="uc", srq=srq)
    srq.recv(1, qp.mr, 1000)
    srq.recv(2, qp.mr, 1000, at=2000)
    qp.request(SEND_FIRST, pattern(256))
    qp.psn += 1
    qp.request(SEND_LAST, b"lost")
    qp.request(SEND_ONLY, b"next")
    qp.received(1, len=4)
    check(qp.mr.read(4), b"next", "memory")
    qp.request(SEND_ONLY, b"more")
    qp.received(2, len=4)


@rule("uc_receive_request_kept")
def uc_request_kept(nic):
    qp = uc_up(nic, 1, length=300)
    for _ in range(3):
        qp.request(SEND_FIRST, pattern(256))
        qp.psn += 1
    qp.request(SEND_FIRST, pattern(256, 5))
    qp.request(SEND_LAST, pattern(44, 5))
    qp.received(1, len=300)


@rule("uc_no_receive_request", "SEND")
def uc_send_without_receive(nic):
    qp = uc_up(nic, 0)
    with Counts(nic, rx_drop_wqe=2, rx_drop_sequence=2):
        qp.request(SEND_ONLY, b"abcd")
        qp.request(SEND_FIRST, pattern(256))
        qp.request(SEND_MIDDLE, pattern(256))
        nic.barrier()
        qp.recv(1, 1000)
        qp.request(SEND_LAST, pattern(4))
        qp.no_completion()
    qp.request(SEND_ONLY, b"next")
    qp.received(1, len=4)
    qp.expect_silence()


@rule("uc_no_receive_request", "RDMA WRITE with immediate data")
def uc_write_without_receive(nic):
    qp = uc_up(nic, 0)
    with Counts(nic, rx_drop_wqe=1):
        qp.request(WRITE_FIRST, pattern(256), fields=qp.reth(300))
        qp.request(WRITE_LAST_IMM, pattern(44), fields={"imm": 1})
        qp.no_completion()
    check(qp.mr.read(256), pattern(256), "memory")
    qp.recv(1, 0)
    qp.request(WRITE_ONLY_IMM, b"", fields={"imm": 2})
    qp.received(1, imm=2)


@rule("uc_send_too_long", "ONLY", lengths=(201,))
@rule("uc_send_too_long", "MIDDLE", lengths=(256, 256, 4))
def uc_send_too_long(nic, lengths):
    qp = uc_up(nic, 1, length=200 if len(lengths) == 1 else 300)
    with Counts(nic, rx_drop_wqe=1, rx_drop_sequence=len(lengths) // 2):
        opcodes = (SEND_ONLY,) if len(lengths) == 1 else (SEND_FIRST, SEND_MIDDLE, SEND_LAST)
        for opcode, length in zip(opcodes, lengths):
            qp.request(opcode, pattern(length))
        qp.no_completion()
    qp.request(SEND_ONLY, pattern(200, 3))
    qp.received(1, len=200)
    check(memory(qp, 1, 200), pattern(200, 3), "memory")


for _name, _packets, _drops in (
        ("FIRST, short", ((SEND_FIRST, 255), (SEND_LAST, 4)), 1),
        ("MIDDLE, short", ((SEND_FIRST, 256), (SEND_MIDDLE, 100), (SEND_LAST, 4)), 1),
        ("LAST, empty", ((SEND_FIRST, 256), (SEND_LAST, 0)), 0),
        ("ONLY, long", ((SEND_ONLY, 257),), 0),
        ("RDMA WRITE shorter than its RETH", ((WRITE_ONLY, 9),), 0),
        ("RDMA WRITE longer than its RETH", ((WRITE_ONLY, 11),), 0),
):
    @rule("uc_lengths", _name, packets=_packets, drops=_drops)
    def uc_lengths(nic, packets, drops):
        qp = uc_up(nic)
        with Counts(nic, rx_drop_header=1, rx_drop_sequence=drops):
            for opcode, length in packets:
                qp.request(opcode, pattern(length), fields=qp.reth(10))
            qp.no_completion()
        qp.check_state(RTS)
        check(nic.poll_events(), [], "events")
        qp.request(SEND_ONLY, b"next")
        qp.received(1, len=4)
        qp.expect_silence()


@rule("uc_key", "bad key", other={"rkey": 1})
@rule("uc_key", "bounds", other={"len": MR_LEN + 1})
@rule("uc_key", "access flags", other={})
def uc_key(nic, other):
    qp = uc_up(nic, access_flags=machine.ACCESS_ALL if other else LOCAL_WRITE)
    with Counts(nic, rx_drop_key=1, rx_drop_sequence=1):
        qp.request(WRITE_FIRST, pattern(256), fields=qp.reth(300, **other))
        qp.request(WRITE_LAST, pattern(44))
        qp.no_completion()
    check(qp.mr.read(256), b"\0" * 256, "memory")
    qp.check_state(RTS)
    qp.request(SEND_ONLY, b"next")
    qp.received(1, len=4)


@rule("uc_receive_request_bad")
def uc_receive_request_bad(nic):
    qp = uc_up(nic, 0)
    region = Mr(nic, 100)
    qp.recv(1, 100, key_of=region)
    qp.recv(2, 100)
    region.destroy()
    qp.request(SEND_ONLY, pattern(10))
    qp.received(1, LOC_PROT_ERR)
    qp.received(2, FLUSH_ERR)
    qp.check_state(ERR)
    qp.expect_silence()


@rule("uc_memory_gone")
def uc_memory_gone(nic):
    qp = uc_up(nic)
    region = Mr(nic, lost=True)
    with Counts(nic, bad_dma=1):
        qp.request(WRITE_ONLY, b"abcd", fields={"va": region.addr, "rkey": region.key,
                                                "len": 4})
        qp.wait_event(machine.QP_FATAL)
    qp.received(1, FLUSH_ERR)
    qp.received(2, FLUSH_ERR)
    qp.check_state(ERR)
    qp.expect_silence()


@rule("connected_gids", "UC")
def uc_wrong_source(nic):
    qp = uc_up(nic)
    with Counts(nic, rx_drop_key=1):
        qp.request(SEND_ONLY, b"abcd", psn=qp.psn, ip={"src": "10.0.0.98"})
        qp.no_completion()


@rule("communication_established", "UC")
@rule("ack_in_rtr", "UC receives, too")
def uc_in_rtr(nic):
    qp = uc_up(nic, state=RTR)
    qp.request(SEND_ONLY, b"abcd")
    qp.received(1, len=4)
    qp.wait_event(COMM_EST)


@rule("uc_in_sqe")
@rule("uc_local_error")
def uc_local_error(nic):
    qp = uc_up(nic)
    region = Mr(nic, 100)
    region.destroy()
    qp.post(1, WR_SEND, 4, ring=0)
    qp.post(2, WR_SEND, sge=f"{region.handle}:0:4", ring=0)
    qp.post(3, WR_SEND, 4)
    qp.expect(SEND_ONLY, psn=FIRST_PSN)
    qp.completion(1)
    qp.completion(2, LOC_PROT_ERR)
    qp.completion(3, FLUSH_ERR)
    qp.check_state(SQE)
    qp.request(SEND_ONLY, b"abcd")
    qp.received(1, len=4)
    qp.modify(RTS)
    qp.post(4, WR_SEND, 4)
    qp.expect(SEND_ONLY, psn=FIRST_PSN + 1)
    qp.completion(4)


def uc_message_row(wr_opcode, length, mtu, ip):
    """A row: a message is sent in packets, and completes without an answer"""
    @rule("uc_completes_when_sent", f"{NAMES[wr_opcode]} of {length} bytes, path MTU {mtu}, IPv{ip}")
    def row(nic):
        qp = Qp(nic, kind="uc", mtu=mtu, ip=ip)
        data = pattern(length, 7)
        qp.mr.write(data)
        qp.post(7, wr_opcode, length, remote=qp.remote(), imm=IMM)
        expect_message(qp, wr_opcode, data, FIRST_PSN)
        qp.completion(7)
        qp.expect_silence()


for _wr in (WR_SEND, WR_SEND_IMM, WR_WRITE, WR_WRITE_IMM):
    for _length, _mtu, _ip in ((0, 256, 4), (256, 256, 6), (1025, 512, 4), (9000, 4096, 6)):
        uc_message_row(_wr, _length, _mtu, _ip)


# Unreliable datagram

def ud_up(nic, recvs=2, length=1000, **attr):
    """A UD QP with receive requests 1, 2, ..., each 2000 bytes on"""
    qp = Qp(nic, kind="ud", **attr)
    for i in range(recvs):
        qp.recv(1 + i, length, at=2000 * i)
    return qp


def datagram(qp, payload=b"", opcode=SEND_ONLY, imm=0, qkey=QKEY, **more):
    """Send a datagram to the QP, or to another QP number"""
    qp.send(opcode, payload, fields={"qkey": qkey, "sqpn": 0x7654, "imm": imm}, **more)


@rule("ud_completion", "IPv4", ip=4)
@rule("ud_completion", "IPv6", ip=6)
@rule("ud_psn", "IPv4", ip=4)
@rule("ud_psn", "IPv6", ip=6)
def ud_completion(nic, ip):
    qp = ud_up(nic, 3, 4200, ip=ip)
    frames = []

    def keep(frame):
        frames.append(frame)
        return frame

    lengths = (0, 5, 4096)
    for psn, length in zip((77, 5, 0xffffff), lengths):
        datagram(qp, pattern(length), psn=psn, edit=keep, ip={"tos": 0x40, "ttl": 9}
                 if ip == 4 else {"tc": 0x40, "hlim": 9, "fl": 0x12345})
    for wr_id, length in enumerate(lengths, 1):
        qp.received(wr_id, op=WC_RECV, len=GRH + length, src_qp=0x7654, flags=1,
                    sl=2 if ip == 4 else 1, vlan=0)
        if wr_id < 3:
            got = qp.mr.read(GRH + length, at=2000 * (wr_id - 1))
            if ip == 6:
                check(got[:GRH], frames[wr_id - 1][14:14 + 40], "network header")
            else:
                check(got[:20], b"\0" * 20, "what precedes the IPv4 header")
                words = struct.unpack("!10H", got[20:40])
                check(sum(words) % 0xffff, 0, "sum of the IPv4 header")
                check(got[20:24], frames[wr_id - 1][14:18], "version, TOS, length")
                check(got[28:30], frames[wr_id - 1][22:24], "TTL and protocol")
                check(got[32:40], frames[wr_id - 1][26:34], "addresses")
            check(got[GRH:], pattern(length), "payload")
    qp.expect_silence()


@rule("ud_completion", "immediate data")
def ud_immediate(nic):
    qp = ud_up(nic)
    datagram(qp, b"abc", opcode=SEND_ONLY_IMM, imm=IMM)
    qp.received(1, len=GRH + 3, flags=3, imm=IMM)
    check(qp.mr.read(3, at=GRH), b"abc", "payload")


@rule("ud_completion", "VLAN tag and priority")
def ud_vlan(nic):
    nic.command("gid", index=3, gid=gid(machine.NIC_IP[4]), vlan=7)
    qp = ud_up(nic, vlan=7)
    datagram(qp, b"abc", eth={"vlan": 7, "prio": 3})
    qp.received(1, len=GRH + 3, sl=2, vlan=3 << 13 | 7)


@rule("ud_qkey")
def ud_qkey(nic):
    qp = ud_up(nic)
    with Counts(nic, rx_drop_key=2):
        datagram(qp, b"abcd", qkey=QKEY + 1)
        datagram(qp, b"abcd", qkey=0x80010000)
        qp.no_completion()
    datagram(qp, b"next")
    qp.received(1, len=GRH + 4)


@rule("ud_qkey", "GSI")
def gsi_qkey(nic):
    qp = Qp(nic, kind="gsi", qkey=0x80010000)
    check(qp.qpn, 1, "number of the QP")
    qp.recv(1, 1000)
    with Counts(nic, rx_drop_key=1):
        datagram(qp, pattern(256))
        qp.no_completion()
    datagram(qp, pattern(256), qkey=0x80010000)
    qp.received(1, len=GRH + 256, src_qp=0x7654)
    # and what it sends has that Q_Key
    qp.post(2, WR_SEND, 256, dgid=gid(machine.PEER_IP[4]), sgid_index=1,
            dmac=bytes.fromhex(machine.PEER_MAC.replace(":", "")), remote_qpn=1,
            remote_qkey=0x80010000)
    frame = nic.wire.next(1)
    check((frame.opcode, frame.qkey, frame.sqpn), (UD | SEND_ONLY, 0x80010000, 1),
          "opcode, Q_Key and source QP")
    qp.completion(2)


@rule("ud_no_receive_request")
def ud_no_receive_request(nic):
    qp = ud_up(nic, 0)
    with Counts(nic, rx_drop_wqe=1):
        datagram(qp, b"abcd")
        nic.barrier()
    qp.recv(1, 100)
    datagram(qp, b"next!")
    qp.received(1, len=GRH + 5)


@rule("ud_too_long")
def ud_too_long(nic):
    qp = ud_up(nic, 1, GRH + 10)
    with Counts(nic, rx_drop_wqe=1):
        datagram(qp, pattern(11))
        qp.no_completion()
    datagram(qp, pattern(10))
    qp.received(1, len=GRH + 10)


@rule("other_service", "UD: FIRST", opcode=UD | SEND_FIRST)
@rule("other_service", "UD: RDMA WRITE", opcode=UD | WRITE_ONLY)
@rule("other_service", "UD: RC", opcode=SEND_ONLY)
def ud_other_opcodes(nic, opcode):
    qp = ud_up(nic)
    with Counts(nic, rx_drop_qp=1):
        qp.send(opcode, kind="rc" if opcode == SEND_ONLY else "ud")
        qp.no_completion()


@rule("own_gid", "UD: any of the NIC's")
def ud_any_gid(nic):
    nic.command("gid", index=2, gid=gid("10.0.0.2"))
    qp = ud_up(nic)
    datagram(qp, b"abcd", ip={"dst": "10.0.0.2", "src": "10.9.9.9"})
    qp.received(1, len=GRH + 4)
    with Counts(nic, rx_eth_dropped=1):
        datagram(qp, b"abcd", ip={"dst": "10.0.0.3"})
        qp.no_completion()


@rule("congestion_mark", "UD")
def ud_congestion_mark(nic):
    qp = ud_up(nic)
    with Counts(nic, rx_ecn=1, tx_cnp=0):
        datagram(qp, b"abcd", ip={"tos": 3})
        qp.received(1)


@rule("congestion_mark", "UC")
@rule("cnp_sent", "UC")
def uc_congestion_mark(nic):
    qp = uc_up(nic)
    with Counts(nic, rx_ecn=1, tx_cnp=1):
        qp.request(SEND_ONLY, b"abcd", ip={"tos": 3})
        qp.received(1, len=4)
        frame = nic.wire.next(qp.peer_qpn)
        check((frame.opcode, frame.bth.becn), (CNP, 1), "opcode and BECN")


@rule("receive_completion", "event of a solicited datagram")
def ud_solicited(nic):
    qp = ud_up(nic)
    while nic.command("event", comp=1):
        pass
    nic.command("arm", cq=qp.recv_cq, solicited=1)
    datagram(qp, b"abcd")
    qp.received(1)
    check(nic.command("event", comp=1), {}, "event for what is not solicited")
    datagram(qp, b"abcd", solicited=1)
    qp.received(2)
    nic.wait(lambda: nic.command("event", comp=1), "the event")


# Groups

GROUP = {4: "239.1.130.3", 6: "ff12::1:2:3"}


def member(nic, ip, recvs=2, **attr):
    """A QP attached to a group"""
    qp = ud_up(nic, recvs, ip=ip, **attr)
    nic.command("mcast", qp=qp.handle, gid=gid(GROUP[ip]))
    return qp


def to_group(qp, payload, group, eth=None, **more):
    """Send a datagram to a group"""
    datagram(qp, payload, **{"dqpn": 0xffffff, "eth": {"dst": group_mac(group), **(eth or {})},
                             "ip": {"dst": group}, **more})


@rule("group_member", "IPv4", ip=4)
@rule("group_member", "IPv6", ip=6)
def group_member(nic, ip):
    one, two, other = member(nic, ip), member(nic, ip), ud_up(nic, ip=ip)
    to_group(one, b"abcd", GROUP[ip])
    for qp in (one, two):
        qp.received(1, len=GRH + 4, src_qp=0x7654)
        check(qp.mr.read(4, at=GRH), b"abcd", "payload")
        qp.no_completion()
    other.no_completion()


@rule("group_opcode", "destination QP", dqpn=None, kind="ud")
@rule("group_opcode", "RC", dqpn=0xffffff, kind="rc")
@rule("group_opcode", "UC", dqpn=0xffffff, kind="uc")
def group_opcode(nic, dqpn, kind):
    qp = member(nic, 4)
    with Counts(nic, rx_drop_header=1):
        to_group(qp, b"abcd", GROUP[4], dqpn=dqpn or qp.qpn, kind=kind)
        qp.no_completion()


@rule("group_mac", "another group's", mac="01:00:5e:01:02:04")
@rule("group_mac", "the NIC's", mac=machine.NIC_MAC)
def group_mac_wrong(nic, mac):
    qp = member(nic, 4)
    with Counts(nic, rx_eth_dropped=1):
        to_group(qp, b"abcd", GROUP[4], eth={"dst": mac})
        qp.no_completion()


@rule("group_vlan")
def group_vlan(nic):
    nic.command("gid", index=3, gid=gid(machine.NIC_IP[4]), vlan=7)
    qp = member(nic, 4)
    with Counts(nic, rx_eth_dropped=1):
        to_group(qp, b"abcd", GROUP[4], eth={"vlan": 9})
        qp.no_completion()
    to_group(qp, b"abcd", GROUP[4], eth={"vlan": 7})
    qp.received(1)


@rule("own_gid", "group without members")
def group_without_members(nic):
    qp = ud_up(nic)
    with Counts(nic, rx_eth_dropped=1):
        to_group(qp, b"abcd", "239.9.9.9")
        qp.no_completion()


@rule("datagram_sent", "IPv4", ip=4)
@rule("datagram_sent", "IPv6", ip=6)
def datagram_sent(nic, ip):
    qp = Qp(nic, kind="ud", ip=ip)
    path = {"dgid": gid(machine.PEER_IP[ip]),
            "dmac": bytes.fromhex(machine.PEER_MAC.replace(":", "")),
            "sgid_index": machine.SGID[ip], "remote_qpn": qp.peer_qpn,
            "remote_qkey": 0x2468}
    for i, length in enumerate((0, 1, 2, 3, 4096)):
        qp.mr.write(pattern(length, i))
        qp.post(i, WR_SEND_IMM if i % 2 else WR_SEND, length, imm=IMM,
                flags=SIGNALED | (SOLICITED if i == 3 else 0), **path)
        frame = qp.expect(SEND_ONLY_IMM if i % 2 else SEND_ONLY, psn=FIRST_PSN + i,
                          payload=pattern(length, i), qkey=0x2468, sqpn=qp.qpn)
        check(frame.reserved, 0, "reserved byte of the DETH")
        check(frame.bth.solicited, int(i == 3), "SE")
        check(frame.bth.ackreq, 0, "AckReq")
        if i % 2:
            check(frame.imm, IMM, "immediate data")
        qp.completion(i)


@rule("datagram_sent", "to a group")
def datagram_to_group(nic):
    for ip in (4, 6):
        qp = Qp(nic, kind="ud", ip=ip)
        mac = bytes.fromhex(group_mac(GROUP[ip]).replace(":", ""))
        qp.post(1, WR_SEND, 8, dgid=gid(GROUP[ip]), dmac=mac, sgid_index=machine.SGID[ip],
                remote_qpn=0xffffff, remote_qkey=QKEY)
        frame = nic.wire.next(0xffffff)
        check((frame.eth.dst, frame.ip.dst), (group_mac(GROUP[ip]), GROUP[ip]), "addresses")
        check(frame.icrc_good, True, "the ICRC is good")
        check((frame.opcode, frame.qkey), (UD | SEND_ONLY, QKEY), "opcode and Q_Key")
        qp.completion(1)


@rule("datagram_sent", "to a group, of which the NIC has members, too")
def datagram_to_own_group(nic):
    one, two = member(nic, 6), member(nic, 6)
    path = {"dgid": gid(GROUP[6]), "sgid_index": machine.SGID[6],
            "dmac": bytes.fromhex(group_mac(GROUP[6]).replace(":", ""))}
    one.mr.write(pattern(8, 5), at=9000)
    one.post(7, WR_SEND, 8, at=9000, remote_qpn=0xffffff, remote_qkey=QKEY, **path)
    check(nic.wire.next(0xffffff).payload, pattern(8, 5), "payload on the wire")
    one.completion(7)
    for qp in (one, two):
        qp.received(1, len=GRH + 8, src_qp=one.qpn)
        check(qp.mr.read(8, at=GRH), pattern(8, 5), "payload")
        qp.no_completion()


@rule("datagram_sent", "a Q_Key with bit 31 is the QP's own")
def datagram_own_qkey(nic):
    qp = Qp(nic, kind="ud")
    qp.post(1, WR_SEND, 8, dgid=gid(machine.PEER_IP[4]),
            dmac=bytes.fromhex(machine.PEER_MAC.replace(":", "")), sgid_index=1,
            remote_qpn=qp.peer_qpn, remote_qkey=0x80000001)
    qp.expect(SEND_ONLY, qkey=QKEY)
    qp.completion(1)
