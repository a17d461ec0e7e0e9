# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A NIC of a device model, driven through a mock driver, and the far end of its wire"""

import collections
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

import roce

# Generous time limit, in seconds
LIMIT = 300

FRAME_MAX = 65536

# MAC address of the harness's first NIC
NIC_MAC = "02:6d:79:6e:69:01"
PEER_MAC = "02:00:00:00:00:99"

# sgid_index and addresses of the NIC and of the far end, by IP version
SGID = {6: 0, 4: 1}
NIC_IP = {6: "fe80::1", 4: "10.0.0.1"}
PEER_IP = {6: "fe80::99", 4: "10.0.0.99"}

# enum ibv_qp_state
RESET, INIT, RTR, RTS, SQD, SQE, ERR = range(7)

# enum ibv_access_flags
LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC = 1, 2, 4, 8
FLUSH_GLOBAL, FLUSH_PERSISTENT = 0x100, 0x200
ACCESS_ALL = 0x30f

# enum ibv_wr_opcode
WR_WRITE, WR_WRITE_IMM, WR_SEND, WR_SEND_IMM, WR_READ, WR_CMP_SWAP, WR_FETCH_ADD = range(7)
WR_SEND_INV, WR_TSO, WR_FLUSH, WR_ATOMIC_WRITE = 9, 10, 14, 15

# enum ibv_send_flags
FENCE, SIGNALED, SOLICITED = 1, 2, 4

# enum ibv_wc_status
SUCCESS, LOC_LEN_ERR, LOC_QP_OP_ERR, LOC_PROT_ERR, FLUSH_ERR = 0, 1, 2, 4, 5
BAD_RESP_ERR, LOC_ACCESS_ERR, REM_INV_REQ_ERR, REM_ACCESS_ERR = 7, 8, 9, 10
REM_OP_ERR, RETRY_EXC_ERR, RNR_RETRY_EXC_ERR = 11, 12, 13

# enum ibv_wc_opcode
WC_FLUSH, WC_ATOMIC_WRITE = 8, 9
WC_RECV, WC_RECV_IMM = 128, 129

# enum mynic_event
COMP, QP_FATAL, QP_REQ_ERROR, QP_ACCESS_ERROR, COMM_EST = 1, 3, 4, 5, 6

MTU = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}

MR_LEN = 65536

SERVICES = {"rc": roce.RC, "uc": roce.UC, "ud": roce.UD, "gsi": roce.UD,
            "xrc_ini": roce.XRC, "xrc_tgt": roce.XRC}

TOP = pathlib.Path(__file__).resolve().parents[3]


class Failed(Exception):
    """A rule is not kept"""


def check(got, want, what):
    """Fail unless two values are equal"""
    if got != want:
        raise Failed(f"{what}: {show(got)}, not {show(want)}")


def show(value):
    """A value as text for messages"""
    if isinstance(value, bool) or not isinstance(value, (int, bytes)):
        return str(value)
    if isinstance(value, bytes):
        return value[:32].hex() + ("..." if len(value) > 32 else "") + f" ({len(value)} bytes)"
    return f"{value} ({value:#x})"


def stat_names():
    """Names of the counters in the order of their indexes"""
    text = (TOP / "drivers/infiniband/hw/mynic/mynic_regs.h").read_text()
    body = re.search(r"enum mynic_stat \{(.*?)\}", text, re.DOTALL).group(1)
    return [name.lower() for name in re.findall(r"MYNIC_STAT_(\w+),", body)]


def pattern(length, seed=0):
    """Bytes that reveal any displacement"""
    return bytes((seed * 31 + i * 7 + (i >> 8)) & 0xff for i in range(length))


class Wire:
    """The far end: one Ethernet frame is one datagram"""

    def __init__(self, local, remote):
        self.remote = remote
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.socket.bind(local)
        self.arrived = threading.Condition()
        self.raw = collections.deque()
        self.closed = False
        self.frames = collections.defaultdict(collections.deque)
        self.others = collections.deque()
        # All that was on the wire: time, sound or tampered with, bytes
        self.log = []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        """Read datagrams as fast as they arrive, because the socket holds only a few"""
        while True:
            data = self.socket.recv(FRAME_MAX)
            with self.arrived:
                if self.closed:
                    return
                self.raw.append((time.time(), data))
                self.arrived.notify()

    def send(self, data, sound=True):
        """Send a frame; sound: it is valid"""
        self.log.append((time.time(), sound, data))
        self.socket.sendto(data, self.remote)

    def sort(self):
        """Sort the frames that have arrived by their destinations"""
        with self.arrived:
            raw, self.raw = self.raw, collections.deque()
        for when, data in raw:
            self.log.append((when, True, data))
            try:
                frame = roce.Frame(data)
            except ValueError as error:
                self.others.append((data, error))
                continue
            if not frame.icrc_good:
                self.others.append((data, "bad ICRC"))
            self.frames[frame.bth.dqpn].append(frame)

    def pop(self, qpn):
        """The next frame for a QP, if there is one"""
        self.sort()
        return self.frames[qpn].popleft() if self.frames[qpn] else None

    def next(self, qpn, until=None):
        """Wait for the next frame for a QP, at most until a time"""
        until = until or time.monotonic() + LIMIT
        while True:
            frame = self.pop(qpn)
            if frame:
                return frame
            with self.arrived:
                if not self.raw and not self.arrived.wait(until - time.monotonic()):
                    raise Failed(f"no packet came that was due for QP {qpn:#x}")

    def close(self):
        """End the reader"""
        self.closed = True
        name = self.socket.getsockname()
        self.socket.sendto(b"", name)
        self.thread.join()
        self.socket.close()


class Nic:
    """A device model with one NIC on one wire, and the objects of its machine"""
    # pylint: disable=too-many-instance-attributes

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="wire-", dir="/tmp")
        self.names = stat_names()
        self.peer_qpn = 0x700000
        self.qps = []
        self.events = []
        self.capture = f"{self.dir}/wire1.pcap"
        self.wire = Wire(f"{self.dir}/far", f"{self.dir}/near")
        self.device = subprocess.Popen(
            [os.environ["MYNIC_DEVICE"], "--exit-with-parent",
             "--nic", f"socket={self.dir}/nic,mac={NIC_MAC}",
             "--wire", f"dgram,local={self.dir}/near,remote={self.dir}/far",
             "--capture", f"wire1={self.capture}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        if self.device.stdout.readline() != "ready\n":
            raise Failed("the device model does not start")
        self.driver = subprocess.Popen(
            [os.environ["MYNIC_MOCK_DRIVER"], f"{self.dir}/nic"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.answer("start")
        self.wait(lambda: self.command("port")["link_up"], "the link to come up")
        self.pd = self.command("pd")["pd"]
        self.barrier_qp = Qp(self, mtu=256)
        self.qps.clear()

    def answer(self, command):
        """Read an answer of the mock driver"""
        line = self.driver.stdout.readline().split()
        if not line:
            raise Failed(f"the mock driver or the device ended at: {command}")
        values = {}
        for word in line[1:]:
            name, value = word.split("=")
            values[name] = value if name == "data" else int(value)
        if line[0] != "ok":
            raise Failed(f"{command}: {' '.join(line)}")
        return values

    def command(self, word, **args):
        """Run a command of the mock driver; arguments that are None are left out"""
        words = [word]
        for name, value in args.items():
            if isinstance(value, bool):
                value = int(value)
            if value is not None:
                words.append(f"{name}={value.hex() if isinstance(value, bytes) else value}")
        line = " ".join(words)
        try:
            self.driver.stdin.write(line + "\n")
            self.driver.stdin.flush()
        except BrokenPipeError:
            pass
        return self.answer(line[:100])

    def wait(self, condition, what):
        """Wait until a condition holds; its value"""
        until = time.monotonic() + LIMIT
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > until:
                raise Failed(f"waited in vain for {what}")
            time.sleep(0.0002)

    def stats(self):
        """All counters by name"""
        values = self.command("stats")
        stats = {name: values[str(i)] for i, name in enumerate(self.names)}
        # A probe is one packet, unless it repeats a READ or an atomic
        stats["retransmit_but_probes"] = stats["retransmit"] - stats["probe"]
        return stats

    def barrier(self):
        """Wait until the NIC has done all work up to now

        Each round is a packet and its answer, on the same path as others.
        """
        for _ in range(2):
            self.barrier_qp.request(roce.WRITE_ONLY, ackreq=1)
            self.barrier_qp.expect(roce.ACK)

    def poll_events(self):
        """All asynchronous events so far"""
        while True:
            event = self.command("event")
            if not event:
                return self.events
            self.events.append((event["type"], event["number"]))

    def end_row(self):
        """End the activity of a row's objects"""
        for qp in self.qps:
            self.command("reset", qp=qp.handle)
        self.qps.clear()
        self.barrier()
        self.poll_events()
        self.events.clear()
        self.wire.frames.clear()
        if self.wire.others:
            data, error = self.wire.others.popleft()
            self.wire.others.clear()
            raise Failed(f"a malformed frame: {error}: {data.hex()}")

    def close(self):
        """End the processes; fails if the device does not end as it should"""
        self.driver.stdin.close()
        self.driver.wait()
        self.device.send_signal(signal.SIGTERM)
        status = self.device.wait()
        self.wire.close()
        shutil.rmtree(self.dir, ignore_errors=True)
        if status:
            raise Failed(f"the device model ended with status {status}")


class Counts:
    """Counters that must change by given amounts within a block"""

    def __init__(self, nic, **deltas):
        self.nic = nic
        self.deltas = deltas
        self.before = {}

    def __enter__(self):
        self.before = self.nic.stats()
        return self

    def now(self, name):
        """Change of a counter so far"""
        return self.nic.stats()[name] - self.before[name]

    def __exit__(self, kind, *_):
        if kind:
            return
        self.nic.barrier()
        after = self.nic.stats()
        for name, delta in self.deltas.items():
            check(after[name] - self.before[name], delta, f"counter {name}")


class Mr:
    """A memory region of the NIC's machine; lost: its memory has been unmapped"""

    def __init__(self, nic, length=MR_LEN, access=ACCESS_ALL, pd=None, lost=False):
        # pylint: disable=too-many-arguments,too-many-positional-arguments
        self.nic = nic
        if lost:
            values = nic.command("mr-lost", pd=nic.pd)
        else:
            values = nic.command("mr", pd=nic.pd if pd is None else pd, len=length,
                                 access=access)
        self.handle = values["mr"]
        self.addr = values["addr"]
        self.key = values["key"]
        self.length = length

    def write(self, data, at=0):
        """Fill the memory"""
        self.nic.command("write", mr=self.handle, at=at, data=data)

    def read(self, length, at=0):
        """Read the memory"""
        return bytes.fromhex(self.nic.command("read", mr=self.handle, at=at,
                                              len=length)["data"])

    def destroy(self):
        """Make the key invalid"""
        self.nic.command("mr-destroy", mr=self.handle)


class Qp:
    """A QP of the NIC, and its peer, which is this program

    Arguments are those of MODIFY_QP. psn: of the next request to the NIC. own: address
    of the NIC. After the first answer, repeated requests of the NIC are ignored unless
    a test expects them. From then on the NIC knows the round-trip time, and may probe
    for a loss if an answer takes longer.
    """
    # pylint: disable=too-many-instance-attributes,too-many-public-methods

    def __init__(self, nic, kind="rc", ip=4, state=RTS, mtu=256, srq=None,
                 log_rq=None, vlan=None, own=None, xrcdn=None, **attr):
        # pylint: disable=too-many-arguments,too-many-positional-arguments
        # pylint: disable=too-many-locals
        self.nic = nic
        self.own = own or NIC_IP[ip]
        self.sent = None
        self.answered = False
        self.kind = kind
        self.version = ip
        self.mtu = mtu
        self.vlan = vlan
        self.attr = {
            "rq_psn": 0x100000, "sq_psn": 0x200000, "access_flags": ACCESS_ALL,
            "max_rd_atomic": 4, "max_dest_rd_atomic": 4, "min_rnr_timer": 1,
            "timeout": 0, "retry_cnt": 7, "rnr_retry": 7, "qkey": 0x11111111,
            "hop_limit": 64, "traffic_class": 0, "flow_label": 0, "sl": 0,
            "sgid_index": SGID[ip], "dgid": roce.gid(PEER_IP[ip]),
            "dmac": bytes.fromhex(PEER_MAC.replace(":", "")), **attr}
        self.psn = self.attr["rq_psn"]
        self.mr = Mr(nic)
        self.srq = srq
        nic.peer_qpn += 1
        self.peer_qpn = nic.peer_qpn
        self.cq = nic.command("cq")["cq"]
        self.recv_cq = nic.command("cq")["cq"]
        values = nic.command("qp", type=kind, pd=nic.pd, cq=self.cq, log_rq=log_rq,
                             recv_cq=self.recv_cq, srq=srq and srq.handle,
                             xrcdn=xrcdn)
        self.handle = values["qp"]
        self.qpn = values["qpn"]
        nic.qps.append(self)
        self.up(state)

    def modify(self, state, *names):
        """MODIFY_QP with the named attributes"""
        self.nic.command("modify", qp=self.handle, qp_state=state,
                         **{name: self.attr[name] for name in names})

    PATH = ("dgid", "dmac", "hop_limit", "traffic_class", "flow_label", "sgid_index", "sl")

    def up(self, state):
        """Move from RESET to a state"""
        self.attr.update(pkey_index=0, port_num=1, path_mtu=MTU[self.mtu],
                         dest_qpn=self.peer_qpn)
        first = ("pkey_index", "port_num")
        ready = ("path_mtu", "dest_qpn", "rq_psn") + self.PATH
        send = ("sq_psn",)
        if self.kind == "rc":
            first += ("access_flags",)
            ready += ("max_dest_rd_atomic", "min_rnr_timer")
            send += ("timeout", "retry_cnt", "rnr_retry", "max_rd_atomic")
        elif self.kind == "xrc_ini":
            first += ("access_flags",)
            send += ("timeout", "retry_cnt", "rnr_retry", "max_rd_atomic")
        elif self.kind == "xrc_tgt":
            first += ("access_flags",)
            ready += ("max_dest_rd_atomic", "min_rnr_timer")
            send += ("timeout",)
        elif self.kind == "uc":
            first += ("access_flags",)
        elif self.kind == "gsi":
            first, ready = ("pkey_index", "qkey"), ()
        elif self.kind == "raw":
            first, ready, send = ("port_num",), (), ()
        else:
            first += ("qkey",)
            ready = ()
        if state >= INIT:
            self.modify(INIT, *first)
        if state >= RTR:
            self.modify(RTR, *ready)
        if state >= RTS:
            self.modify(RTS, *send)

    def query(self, name):
        """An attribute as the NIC reports it"""
        return self.nic.command("query", qp=self.handle)[name]

    # The far end sends

    def send(self, opcode, payload=b"", psn=0, fields=None, sound=True, eth=None,
             ip=None, sport=0xc123, pad=None, edit=None, kind=None, **bth):
        """Send any packet to the QP

        edit: function that changes its bytes; no bytes: nothing is sent. kind: type of
        the QP that sends it.
        """
        # pylint: disable=too-many-arguments,too-many-positional-arguments
        service = SERVICES[kind or self.kind]
        if opcode < 0x20:
            opcode |= service
        data = roce.build(
            opcode,
            {"src": PEER_MAC, "dst": NIC_MAC, **({"vlan": self.vlan} if self.vlan else {}),
             **(eth or {})},
            {"src": PEER_IP[self.version], "dst": self.own, **(ip or {})},
            {"dqpn": self.qpn, "psn": psn & roce.PSN_MASK, **bth},
            fields, payload, sport, pad)
        if edit:
            data = edit(data)
        if data:
            self.nic.wire.send(data, sound)

    def request(self, opcode, payload=b"", psn=None, ahead=0, fields=None, packets=1,
                **more):
        """Send a request packet with the next PSN, or some PSNs ahead"""
        # pylint: disable=too-many-arguments,too-many-positional-arguments
        if psn is None:
            psn = self.psn + ahead
            if not ahead:
                self.psn = self.psn + packets & roce.PSN_MASK
        self.send(opcode, payload, psn, fields, **more)

    def reth(self, length, at=0, **other):
        """Fields of an RETH for the QP's region"""
        return {"va": self.mr.addr + at, "rkey": self.mr.key, "len": length, **other}

    def atomic(self, swap, compare=0, at=0, **other):
        """Fields of an AtomicETH for the QP's region"""
        return {"va": self.mr.addr + at, "rkey": self.mr.key, "swap": swap,
                "compare": compare, **other}

    def ack(self, psn, syndrome=roce.NO_CREDITS, msn=0, **more):
        """Send an acknowledge packet to the NIC"""
        self.answered = True
        self.send(roce.ACK, psn=psn, fields={"syndrome": syndrome, "msn": msn}, **more)

    def respond(self, opcode, psn, payload=b"", syndrome=roce.NO_CREDITS, msn=0, orig=0,
                **more):
        """Send a response packet to the NIC"""
        # pylint: disable=too-many-arguments,too-many-positional-arguments
        self.answered = True
        self.send(opcode, payload, psn, {"syndrome": syndrome, "msn": msn, "orig": orig},
                  **more)

    # The far end receives

    def repeated(self, frame):
        """Whether a packet is a request that the QP has sent before"""
        if frame.opcode == roce.CNP or roce.READ_FIRST <= frame.opcode <= roce.ATOMIC_ACK:
            return False
        if self.sent is not None and self.sent - frame.psn & roce.PSN_MASK < 1 << 23:
            return True
        self.sent = frame.psn
        if frame.opcode == roce.READ_REQUEST and frame.len:
            self.sent += (frame.len - 1) // self.mtu
        return False

    def next(self, again=False):
        """The next packet from the QP, after the checks for all packets

        again: it may be one that is repeated.
        """
        until = time.monotonic() + LIMIT
        while True:
            frame = self.nic.wire.next(self.peer_qpn, until)
            self.sane(frame)
            if not self.repeated(frame) or again or not self.answered:
                return frame

    def sane(self, frame):
        """Checks for all packets of this QP"""
        version = 6 if frame.ip.version == 6 else 4
        check(frame.icrc_good, True, "the ICRC is good")
        check(frame.eth.src, NIC_MAC, "source MAC")
        check(frame.eth.dst, PEER_MAC, "destination MAC")
        check(version, self.version, "IP version")
        check((frame.ip.src, frame.ip.dst), (self.own, PEER_IP[version]), "addresses")
        if version == 4:
            check(frame.ip.ihl, 5, "IHL")
            check(str(frame.ip.flags), "DF", "IPv4 flags")
            check(frame.ip.frag, 0, "fragment offset")
            words = struct.unpack("!10H", frame.ip_header())
            check(sum(words) % 0xffff, 0, "sum of the IPv4 header")
            check(frame.ip.tos, self.attr["traffic_class"], "TOS")
            check(frame.ip.ttl, self.attr["hop_limit"], "TTL")
        else:
            check(frame.ip.tc, self.attr["traffic_class"], "traffic class")
            check(frame.ip.hlim, self.attr["hop_limit"], "hop limit")
            check(frame.ip.fl, self.attr["flow_label"], "flow label")
        check(frame.udp.chksum, 0, "UDP checksum")
        check(frame.udp.sport >= 0xc000, True, "the UDP source port is dynamic")
        check(frame.bth.version, 0, "TVer")
        check(frame.bth.pkey, 0xffff, "P_Key")
        check((frame.bth.fecn, frame.bth.resv6, frame.bth.resv7), (0, 0, 0),
              "FECN and reserved bits")
        check(frame.bth.padcount, -len(frame.payload) % 4, "PadCnt")
        check(frame.padding, b"\0" * len(frame.padding), "padding")
        if roce.READ_FIRST <= frame.opcode <= roce.ATOMIC_ACK:
            check((frame.bth.solicited, frame.bth.ackreq), (0, 0), "SE and AckReq of response")
        if self.kind in ("rc", "uc", "xrc_ini", "xrc_tgt"):
            check(len(frame.payload) <= self.mtu, True, "the payload fits the path MTU")

    def expect(self, opcode, again=False, **want):
        """The next packet, which must have this opcode and these fields"""
        if opcode < 0x20:
            opcode |= SERVICES[self.kind]
        frame = self.next(again)
        while again and self.repeated(frame) and frame.opcode != opcode:
            frame = self.next(again)
        check(frame.opcode, opcode, f"opcode of packet ({frame})")
        for name, value in want.items():
            got = getattr(frame, name) if hasattr(frame, name) else getattr(frame.bth, name)
            check(got, value & roce.PSN_MASK if name == "psn" else value,
                  f"{name} of packet ({frame})")
        return frame

    def expect_ack(self, psn, **want):
        """Wait for an ACK of all up to a PSN, after any others"""
        while True:
            frame = self.expect(roce.ACK)
            check(frame.syndrome & 0xe0, 0, f"type of syndrome of {frame}")
            if frame.psn == psn & roce.PSN_MASK:
                break
            behind = psn - frame.psn & roce.PSN_MASK
            if behind >> 23:
                raise Failed(f"ACK of PSN {frame.psn:#x} beyond {psn:#x}")
        for name, value in want.items():
            check(getattr(frame, name), value, f"{name} of ACK")
        return frame

    def expect_nak(self, syndrome, psn):
        """The next packet, which must be a NAK"""
        return self.expect(roce.ACK, syndrome=syndrome, psn=psn)

    def expect_silence(self):
        """Check that the NIC has sent no other packet"""
        self.nic.barrier()
        while (frame := self.nic.wire.pop(self.peer_qpn)):
            if not self.repeated(frame) or not self.answered:
                raise Failed(f"an unexpected packet: {frame}")

    # The machine

    def recv(self, wr_id, length, at=0, key_of=None):
        """Post a receive request"""
        sge = f"{(key_of or self.mr).handle}:{at}:{length}" if length else None
        self.nic.command("recv", qp=self.handle, id=wr_id, sge=sge)

    def post(self, wr_id, opcode, length=0, at=0, remote=None, flags=SIGNALED, ring=1,
             sge=None, **more):
        """Post a send request; remote: (address, rkey) at the far end"""
        # pylint: disable=too-many-arguments,too-many-positional-arguments
        if sge is None and length:
            sge = f"{self.mr.handle}:{at}:{length}"
        if remote:
            more["addr"], more["rkey"] = remote
        self.nic.command("send", qp=self.handle, id=wr_id, op=opcode, flags=flags, sge=sge,
                         ring=ring, **more)

    def completion(self, wr_id, status=SUCCESS, cq=None, **want):
        """Wait for the next completion, of a send request if cq is not given"""
        cq = self.cq if cq is None else cq
        wc = self.nic.wait(lambda: self.nic.command("poll", cq=cq),
                           f"the completion of {wr_id}")
        check((wc["id"], wc["status"]), (wr_id, status),
              f"wr_id and status of completion (syndrome {wc['syndrome']})")
        for name, value in want.items():
            check(wc[name], value, f"{name} of completion {wr_id}")
        return wc

    def received(self, wr_id, status=SUCCESS, **want):
        """Wait for the next completion of a receive request"""
        return self.completion(wr_id, status, self.recv_cq, **want)

    def no_completion(self, cq=None):
        """Check that there is no other completion"""
        self.nic.barrier()
        for each in [self.cq, self.recv_cq] if cq is None else [cq]:
            check(self.nic.command("poll", cq=each), {}, "completion")

    def check_state(self, state):
        """Check the state of the QP"""
        self.nic.barrier()
        check(self.query("qp_state"), state, "state of the QP")

    def wait_event(self, kind):
        """Wait for an asynchronous event of the QP"""
        self.nic.wait(lambda: (kind, self.qpn) in self.nic.poll_events(), f"event {kind}")

    def remote(self):
        """Remote (address, rkey) for requests of the NIC, where no memory is"""
        return 0x123456789000, 0xabcd1234


class Srq:
    """A shared receive queue"""

    def __init__(self, nic, pd=None, **xrc):
        self.nic = nic
        values = nic.command("srq", pd=nic.pd if pd is None else pd, **xrc)
        self.handle = values["srq"]
        self.number = values["srqn"]

    def recv(self, wr_id, mr, length, at=0):
        """Post a receive request"""
        self.nic.command("recv", srq=self.handle, id=wr_id, sge=f"{mr.handle}:{at}:{length}")
