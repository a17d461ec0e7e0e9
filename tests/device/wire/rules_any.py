# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rules of packets of any kind, and of headers that the NIC writes"""

import time

import nic as machine
from nic import (RTR, WR_READ, WR_SEND, WR_WRITE, Counts, Failed, Qp, check,
                 pattern)
from roce import (ACK, ATOMIC_ACK, CNP, CMP_SWAP, FETCH_ADD, READ_ONLY, READ_REQUEST,
                  SEND_ONLY, UC, UD, WRITE_ONLY, build, gid, seal)
from rules import rule


def expect_dropped(nic, qp, counter, number=1, **packet):
    """Check that an RDMA WRITE with the given change is dropped without an answer, and
    that a valid one works afterwards
    """
    packet = {"opcode": WRITE_ONLY, "payload": b"abcd", "fields": qp.reth(4), "ackreq": 1,
              "psn": qp.psn, **packet}
    with Counts(nic, **{counter: number, "duplicate": 0, "out_of_sequence": 0}):
        qp.request(**packet)
        qp.expect_silence()
    check(qp.mr.read(4), b"\0" * 4, "memory")
    qp.request(WRITE_ONLY, b"efgh", fields=qp.reth(4), ackreq=1)
    qp.expect_ack(qp.psn - 1, msn=1)
    check(qp.mr.read(4), b"efgh", "memory")


def flip(byte, mask=1):
    """Invert bits of a frame, without correcting its ICRC"""
    def edit(frame):
        data = bytearray(frame)
        data[byte] ^= mask
        return bytes(data)
    return edit


def poke(byte, value):
    """Put bytes into a frame, and correct its ICRC"""
    return lambda frame: seal(frame[:byte] + value + frame[byte + len(value):])


def ip_checksum(frame):
    """Correct the checksum of the IPv4 header of a frame"""
    total = sum(int.from_bytes(frame[i:i + 2], "big") for i in range(14, 34, 2) if i != 24)
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return frame[:24] + (~total & 0xffff).to_bytes(2, "big") + frame[26:]


# Offsets of headers in frames over IPv4 and IPv6
IP = 14
UDP = {4: 34, 6: 54}
BTH = {4: 42, 6: 62}


# ICRC and lengths

for _ip in (4, 6):
    for _name, _at in (("ICRC", -1), ("payload", -5), ("BTH opcode", BTH[_ip]),
                       ("BTH PSN", BTH[_ip] + 11), ("RETH", BTH[_ip] + 12),
                       ("UDP source port", UDP[_ip])):
        @rule("icrc", f"{_name} changed, IPv{_ip}", ip=_ip, at=_at)
        def icrc_bad(nic, ip, at):
            qp = Qp(nic, ip=ip)
            expect_dropped(nic, qp, "rx_drop_icrc", edit=flip(at), sound=False)

    for _name, _at, _mask in (("TTL", 8, 0x15), ("TOS", 1, 0x1c)) if _ip == 4 else \
            (("hop limit", 7, 0x15), ("traffic class", 1, 0x40), ("flow label", 3, 0xff)):
        @rule("icrc", f"leaves out {_name}", ip=_ip, at=_at, mask=_mask)
        def icrc_variant(nic, ip, at, mask):
            def edit(frame):
                frame = flip(IP + at, mask)(frame)
                return ip_checksum(frame) if ip == 4 else frame
            qp = Qp(nic, ip=ip)
            with Counts(nic, rx_drop_icrc=0):
                qp.request(WRITE_ONLY, b"abcd", fields=qp.reth(4), ackreq=1, edit=edit)
                qp.expect_ack(0x100000, msn=1)

    @rule("icrc", f"leaves out BTH's FECN, BECN and reserved bits, IPv{_ip}", ip=_ip)
    def icrc_bth(nic, ip):
        qp = Qp(nic, ip=ip)
        with Counts(nic, rx_drop_icrc=0):
            qp.request(WRITE_ONLY, b"abcd", fields=qp.reth(4), ackreq=1,
                       edit=flip(BTH[ip] + 4, 0xff))
            qp.expect_ack(0x100000, msn=1)

    @rule("icrc", f"a UDP checksum is not looked at, IPv{_ip}", ip=_ip)
    def udp_checksum(nic, ip):
        qp = Qp(nic, ip=ip)
        qp.request(WRITE_ONLY, b"abcd", fields=qp.reth(4), ackreq=1,
                   edit=flip(UDP[ip] + 7, 0x5a), sound=False)
        qp.expect_ack(0x100000, msn=1)


@rule("icrc", "source address changed, IPv6")
def icrc_address(nic):
    qp = Qp(nic, ip=6)
    expect_dropped(nic, qp, "rx_drop_icrc", edit=flip(IP + 8 + 15), sound=False)


def cut(length):
    """Remove bytes at the end of a frame, but keep its length fields"""
    return lambda frame: frame[:-length]


def short(kept, ip):
    """Truncate a frame to some bytes behind UDP, with correct lengths and ICRC"""
    def edit(frame):
        data = bytearray(frame[:BTH[ip] + kept] + b"\0" * 4)
        data[UDP[ip] + 4:UDP[ip] + 6] = (8 + kept + 4).to_bytes(2, "big")
        if ip == 6:
            data[IP + 4:IP + 6] = (8 + kept + 4).to_bytes(2, "big")
        else:
            data[IP + 2:IP + 4] = (28 + kept + 4).to_bytes(2, "big")
            data = ip_checksum(data)
        return seal(bytes(data)) if kept else bytes(data)
    return edit


for _ip in (4, 6):
    for _name, _edit in (
            ("shorter than its IP header says", cut(1)),
            ("no ICRC", cut(4)),
            ("cut in the RETH", cut(4 + 4 + 8)),
            ("cut in the BTH", cut(4 + 4 + 16 + 6)),
            ("UDP shorter than IP", poke(UDP[_ip] + 4, b"\0\x30")),
            ("UDP longer than IP", poke(UDP[_ip] + 4, b"\0\x40")),
            ("ends in the RETH", short(12 + 8, _ip)),
            ("ends in the BTH", short(8, _ip)),
            ("nothing behind UDP", short(0, _ip)),
            ("TVer 1", lambda frame, ip=_ip: seal(flip(BTH[ip] + 1, 1)(frame))),
    ):
        @rule("malformed", f"{_name}, IPv{_ip}", ip=_ip, edit=_edit)
        def malformed(nic, ip, edit):
            qp = Qp(nic, ip=ip)
            expect_dropped(nic, qp, "rx_drop_header", edit=edit, sound=False)


@rule("malformed", "IPv4 header checksum")
def ip_checksum_bad(nic):
    expect_dropped(nic, Qp(nic), "rx_drop_header", edit=poke(24, b"\x12\x34"), sound=False)


@rule("malformed", "IPv4 options")
def ip_options(nic):
    def edit(frame):
        frame = bytearray(frame[:34] + b"\1\1\1\0" + frame[34:])
        frame[14] = 0x46
        frame[16:18] = (int.from_bytes(frame[16:18], "big") + 4).to_bytes(2, "big")
        return bytes(frame)
    expect_dropped(nic, Qp(nic), "rx_drop_header", edit=edit, sound=False)


@rule("malformed", "Ethernet's padding is not part of it")
def ethernet_padding(nic):
    qp = Qp(nic)
    qp.request(WRITE_ONLY, ackreq=1, edit=lambda frame: frame + b"\x55" * 20)
    qp.expect_ack(0x100000, msn=1)


@rule("pad_count", "where none is needed", length=5, pad=1)
@rule("pad_count", "less than needed", length=3, pad=0)
@rule("pad_count", "more than there is", length=0, pad=3)
def pad_count(nic, length, pad):
    qp = Qp(nic)
    # Only PadCnt is changed, so the payload has another length
    expect_dropped(nic, qp, "rx_drop_header", payload=pattern(length), sound=False,
                   fields=qp.reth(length), pad=0, padcount=pad)


@rule("pad_count", "1", length=3)
@rule("pad_count", "2", length=2)
@rule("pad_count", "3", length=1)
def pad_is_no_payload(nic, length):
    qp = Qp(nic)
    qp.request(WRITE_ONLY, pattern(length, 1), fields=qp.reth(length), ackreq=1)
    qp.expect_ack(0x100000, msn=1)
    check(qp.mr.read(8), pattern(length, 1) + b"\0" * (8 - length), "memory")


@rule("payload_where_none_is", "READ", opcode=READ_REQUEST)
@rule("payload_where_none_is", "FETCH & ADD", opcode=FETCH_ADD)
@rule("payload_where_none_is", "COMPARE & SWAP", opcode=CMP_SWAP)
@rule("payload_where_none_is", "ACK", opcode=ACK)
@rule("payload_where_none_is", "atomic response", opcode=ATOMIC_ACK)
def payload_where_none_is(nic, opcode):
    qp = Qp(nic)
    fields = qp.reth(4)
    if opcode in (FETCH_ADD, CMP_SWAP):
        fields = qp.atomic(1)
    elif opcode in (ACK, ATOMIC_ACK):
        fields = {"syndrome": 31, "msn": 0, "orig": 0}
    expect_dropped(nic, qp, "rx_drop_header", opcode=opcode, fields=fields, sound=False)


# Destination of a packet

@rule("partition", "0x1234", pkey=0x1234)
@rule("partition", "0", pkey=0)
@rule("partition", "0x8000", pkey=0x8000)
def partition_bad(nic, pkey):
    expect_dropped(nic, Qp(nic), "rx_drop_key", pkey=pkey)


@rule("partition", "0x7fff")
def partition_limited(nic):
    qp = Qp(nic)
    qp.request(WRITE_ONLY, ackreq=1, pkey=0x7fff)
    qp.expect_ack(0x100000, msn=1)


@rule("no_such_qp", "far beyond", qpn=0xfffffe)
@rule("no_such_qp", "0", qpn=0)
@rule("no_such_qp", "1", qpn=1)
def no_such_qp(nic, qpn):
    expect_dropped(nic, Qp(nic), "rx_drop_qp", dqpn=qpn)


@rule("other_service", "UC", opcode=UC | WRITE_ONLY)
@rule("other_service", "UD", opcode=UD | SEND_ONLY)
@rule("other_service", "RD", opcode=0x44)
@rule("other_service", "manufacturer's", opcode=0xc4)
def other_service(nic, opcode):
    qp = Qp(nic)
    expect_dropped(nic, qp, "rx_drop_qp", opcode=opcode,
                   payload=b"" if opcode != UC | WRITE_ONLY else b"abcd", sound=False)


@rule("connected_gids", "source")
def wrong_source(nic):
    expect_dropped(nic, Qp(nic), "rx_drop_key", ip={"src": "10.0.0.98"})


@rule("connected_gids", "source, IPv6")
def wrong_source_ipv6(nic):
    expect_dropped(nic, Qp(nic, ip=6), "rx_drop_key", ip={"src": "fe80::98"})


@rule("connected_gids", "the other of the NIC's")
def wrong_destination(nic):
    nic.command("gid", index=2, gid=gid("10.0.0.2"))
    expect_dropped(nic, Qp(nic), "rx_drop_key", ip={"dst": "10.0.0.2"})


@rule("own_gid", "IPv4", ip=4, dst="10.0.0.77")
@rule("own_gid", "IPv6", ip=6, dst="fe80::77")
def own_gid(nic, ip, dst):
    expect_dropped(nic, Qp(nic, ip=ip), "rx_eth_dropped", ip={"dst": dst})


@rule("own_mac")
def own_mac(nic):
    expect_dropped(nic, Qp(nic), "rx_eth_dropped", eth={"dst": "02:00:00:00:00:55"})


@rule("own_vlan", "none wanted")
def own_vlan_none(nic):
    expect_dropped(nic, Qp(nic), "rx_eth_dropped", eth={"vlan": 7},
                   edit=lambda frame: frame)


@rule("own_vlan", "priority tag")
def priority_tag(nic):
    qp = Qp(nic)
    qp.request(WRITE_ONLY, ackreq=1, eth={"vlan": 0, "prio": 5})
    qp.expect_ack(0x100000, msn=1)


def vlan_qp(nic, **attr):
    """A QP whose GID entry has VLAN 7"""
    nic.command("gid", index=3, gid=gid("10.0.0.7"), vlan=7)
    return Qp(nic, sgid_index=3, own="10.0.0.7", vlan=7, sl=5, **attr)


@rule("own_vlan", "as wanted, answered with the priority of sl")
@rule("vlan_tag")
def own_vlan(nic):
    qp = vlan_qp(nic)
    qp.request(WRITE_ONLY, b"abcd", fields=qp.reth(4), ackreq=1)
    frame = qp.expect_ack(0x100000, msn=1)
    check((frame.vlan.vlan, frame.vlan.prio, frame.vlan.id), (7, 5, 0), "VLAN, PCP, DEI")
    qp.post(7, WR_SEND, 77)
    frame = qp.expect(SEND_ONLY)
    check((frame.vlan.vlan, frame.vlan.prio), (7, 5), "VLAN and PCP")
    qp.ack(0x200000)
    qp.completion(7)


@rule("own_vlan", "another", vlan=8)
@rule("own_vlan", "priority tag where a VLAN is wanted", vlan=0)
def other_vlan(nic, vlan):
    qp = vlan_qp(nic)
    expect_dropped(nic, qp, "rx_eth_dropped", eth={"vlan": vlan})


@rule("beyond_mtu", "RoCEv2")
def beyond_mtu(nic):
    expect_dropped(nic, Qp(nic, mtu=4096), "rx_drop_header", payload=pattern(9100),
                   sound=False)


@rule("communication_established", "not by a response")
def response_establishes_nothing(nic):
    qp = Qp(nic, state=RTR)
    qp.ack(0x200000)
    nic.barrier()
    check(nic.poll_events(), [], "events")


# Headers that the NIC writes

def send_one(qp, wr_id, psn):
    """The packet of a SEND"""
    qp.post(wr_id, WR_SEND, 4)
    frame = qp.expect(SEND_ONLY, psn=psn)
    qp.ack(psn)
    qp.completion(wr_id)
    return frame


@rule("udp_source_port", "one for all packets of a QP, others for others")
def udp_source_port(nic):
    seen = []
    for _ in range(12):
        qp = Qp(nic, ip=6 if len(seen) % 2 else 4)
        ports = {send_one(qp, i, 0x200000 + i).udp.sport for i in range(2)}
        qp.post(7, WR_READ, 4, remote=qp.remote())
        ports.add(qp.expect(READ_REQUEST).udp.sport)
        qp.respond(READ_ONLY, 0x200002, b"abcd")
        qp.completion(7)
        qp.request(WRITE_ONLY, ackreq=1, sport=0xd000 + len(seen))
        ports.add(qp.expect_ack(0x100000).udp.sport)
        check(len(ports), 1, "number of ports of a QP")
        seen.append(ports.pop())
    if len(set(seen)) < 10:
        raise Failed(f"too few different ports: {seen}")


@rule("udp_source_port", "from the flow label")
def port_from_flow_label(nic):
    ports = {}
    for label in (1, 0x3fff, 0x4000, 0xabcde, 0xfffff):
        for _ in range(2):
            qp = Qp(nic, ip=6, flow_label=label)
            port = send_one(qp, 1, 0x200000).udp.sport
            check(port, ports.setdefault(label, port), f"port of label {label:#x}")
    if len(set(ports.values())) < 4:
        raise Failed(f"too few different ports: {ports}")


@rule("traffic_class", "IPv4", ip=4)
@rule("traffic_class", "IPv6", ip=6)
def traffic_class(nic, ip):
    for tclass in (0, 0x68, 0x6a, 0x69, 0xfc):
        qp = Qp(nic, ip=ip, traffic_class=tclass)
        send_one(qp, 1, 0x200000)
        qp.request(WRITE_ONLY, ackreq=1)
        qp.expect_ack(0x100000)


@rule("hop_limit", "IPv4", ip=4)
@rule("hop_limit", "IPv6", ip=6)
def hop_limit(nic, ip):
    for limit in (1, 64, 255):
        send_one(Qp(nic, ip=ip, hop_limit=limit), 1, 0x200000)
    qp = Qp(nic, ip=ip, hop_limit=0)
    qp.attr["hop_limit"] = 64
    send_one(qp, 1, 0x200000)


@rule("flow_label")
def flow_label(nic):
    for label in (1, 0xabcde, 0xfffff):
        send_one(Qp(nic, ip=6, flow_label=label), 1, 0x200000)


@rule("migration")
def migration(nic):
    frame = send_one(Qp(nic), 1, 0x200000)
    check(frame.bth.migreq, 1, "MigReq")


# Congestion

def ecn(ip, value):
    """Fields of an IP header with this ECN"""
    return {"tos" if ip == 4 else "tc": value}


@rule("congestion_mark", "RC, IPv4", ip=4)
@rule("congestion_mark", "RC, IPv6", ip=6)
@rule("cnp_sent", "IPv4", ip=4)
@rule("cnp_sent", "IPv6", ip=6)
def congestion_mark(nic, ip):
    qp = Qp(nic, ip=ip, traffic_class=0x6a)
    with Counts(nic, rx_ecn=1, tx_cnp=1):
        qp.request(WRITE_ONLY, ackreq=1, ip=ecn(ip, 0x6b))
        seen = {}
        for _ in range(2):
            # CNP or ACK first
            frame = nic.wire.next(qp.peer_qpn)
            seen[frame.opcode] = frame
        check(sorted(seen), [ACK, CNP], "opcodes")
        cnp = seen[CNP]
        check(cnp.icrc_good, True, "the ICRC is good")
        check((cnp.bth.becn, cnp.bth.fecn), (1, 0), "BECN and FECN")
        check((cnp.psn, cnp.bth.pkey, cnp.bth.padcount), (0, 0xffff, 0), "PSN, P_Key, PadCnt")
        check(cnp.bth.ackreq, 0, "AckReq")
        check(cnp.payload, b"\0" * 16, "reserved bytes")
        check((cnp.ip.tos if ip == 4 else cnp.ip.tc) & 3, 0, "ECN of the CNP")
        check(cnp.eth.dst, machine.PEER_MAC, "MAC")
        check(cnp.udp.sport, seen[ACK].udp.sport, "UDP source port")


@rule("congestion_mark", "only 3")
def other_ecn(nic):
    qp = Qp(nic)
    with Counts(nic, rx_ecn=0, tx_cnp=0):
        for value in (0, 1, 2):
            qp.request(WRITE_ONLY, ackreq=1, ip=ecn(4, value))
            qp.expect_ack(qp.psn - 1)


@rule("congestion_mark", "not of what is dropped")
def mark_of_dropped(nic):
    qp = Qp(nic)
    with Counts(nic, rx_ecn=0, tx_cnp=0):
        qp.request(WRITE_ONLY, psn=qp.psn, ip={"src": "10.0.0.98", "tos": 3})
        qp.expect_silence()


@rule("cnp_spaced", "one in 50 us for a QP")
def cnp_spaced(nic):
    qp = Qp(nic)
    number = 400
    frames = []
    for _ in range(number):
        qp.request(WRITE_ONLY, ip=ecn(4, 3), edit=frames.append)
    with Counts(nic, rx_ecn=number) as counts:
        begin = time.monotonic()
        for frame in frames:
            nic.wire.send(frame)
        nic.barrier()
        taken = time.monotonic() - begin
        sent = counts.now("tx_cnp")
    if not 1 <= sent <= taken / 50e-6 + 1:
        raise Failed(f"{sent} CNPs in {taken} s")
    while nic.wire.pop(qp.peer_qpn):
        sent -= 1
    check(sent, 0, "CNPs counted but not sent")


def transfer(qp, length):
    """An RDMA WRITE of the NIC is received"""
    qp.post(1, WR_WRITE, length, remote=qp.remote())
    for _ in range(length // qp.mtu):
        frame = qp.next()
        if frame.bth.ackreq:
            qp.ack(frame.psn)
    qp.completion(1)


@rule("cnp_received", "slows the QP down, and no other")
def cnp_received(nic):
    qp, other = (Qp(nic, traffic_class=2) for _ in range(2))
    cnp = build(CNP, {"src": machine.PEER_MAC, "dst": machine.NIC_MAC},
                {"src": machine.PEER_IP[4], "dst": machine.NIC_IP[4]},
                {"dqpn": qp.qpn, "becn": 1}, payload=b"\0" * 16)
    sent = 0

    def held_back():
        """A reduced rate grows with time, so several attempts may be needed"""
        nonlocal sent
        sent += 200
        for _ in range(200):
            nic.wire.send(cnp)
        transfer(qp, 16384)
        return counts.now("rate_limited")

    with Counts(nic) as counts:
        nic.wait(held_back, "the QP to be held back")
        check(counts.now("rx_cnp"), sent, "counter rx_cnp")
        with Counts(nic, rate_limited=0):
            transfer(other, 16384)


@rule("cnp_received", "without ECN")
def cnp_without_ecn(nic):
    qp = Qp(nic)
    with Counts(nic, rx_cnp=20, rate_limited=0):
        for _ in range(20):
            qp.send(CNP, b"\0" * 16, becn=1, psn=0)
        transfer(qp, 16384)


@rule("cnp_received", "of another service, or of nobody's")
def cnp_for_nobody(nic):
    qp = Qp(nic)
    with Counts(nic, rx_cnp=0, rx_drop_qp=1, rx_drop_key=1):
        qp.send(CNP, b"\0" * 16, becn=1, dqpn=0xfffffe)
        qp.send(CNP, b"\0" * 16, becn=1, ip={"src": "10.0.0.98"})
        qp.expect_silence()


