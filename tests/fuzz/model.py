# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What the objects of a program are, and what requests do to them.

The model knows all objects, all bytes and all requests. It executes a request
when the program posts it, and says which completions the program must find.
"""

import zlib
from collections import Counter, deque
from dataclasses import dataclass, field

import verbs
from words import Dropped, Fails

ARENA = 1 << 20
AREA = ARENA // 4
GRH = 40

# Parts of a device's memory. A request reads in one, writes in another at its own
# end, and in the third at the other end. Because they are apart, the order of
# requests does not matter where the standard leaves it open.
SOURCE, SINK, TARGET = 0, AREA, 2 * AREA


def _pattern():
    state = 88172645463325252
    mask = (1 << 64) - 1
    table = bytearray(65536)
    for i in range(len(table)):
        state ^= state << 13 & mask
        state ^= state >> 7
        state ^= state << 17 & mask
        table[i] = state >> 24 & 255
    return bytes(table)


PATTERN = _pattern()  # the runner has the same: see memory.c


@dataclass(eq=False)
class Thing:
    """An object; users are those that keep it from being destroyed."""

    name: str
    node: int
    users: int = 0
    uses: list = field(default_factory=list)

    # Whether its events do not come: see verbs_device.KERNEL
    deaf = False

    @property
    def kind(self):
        return self.name.rstrip("0123456789")


@dataclass(eq=False)
class Pd(Thing):
    pass


@dataclass(eq=False)
class Td(Thing):
    pass


@dataclass(eq=False)
class Parent(Thing):
    """A parent domain

    pd: its protection domain
    loose: number of objects in it that do not keep it from being destroyed,
        though they should be destroyed first
    """

    pd: Pd = None
    loose: int = 0

    @property
    def kind(self):
        return "parent"


@dataclass(eq=False)
class Dm(Thing):
    """Memory of a device"""

    len: int = 0


class Range:
    """Bytes that a key stands for: of a region, or of a window"""

    null = False

    def has(self, right):
        """Whether it has a right, or all of some (see verbs.access())"""
        right = verbs.ACCESS.get(right, right)
        return self.access & right == right

    def covers(self, area):
        return not self.null and area <= self.at < area + AREA


@dataclass(eq=False)
class Mr(Thing, Range):
    """A memory region.

    writable: its memory was pinned for writing
    null: it has no memory
    fixed: "on_demand" or "dma_buf", of those that cannot be registered anew
    dm: memory of the device that it shows
    """

    pd: Pd = None
    dm: Dm = None
    at: int = 0
    len: int = 0
    access: int = 0
    writable: bool = False
    null: bool = False
    fixed: str = None

    def address(self, at):
        """How a request calls a place in the region."""
        return f"{self.name}+{at - self.at}"

    def key(self, flip=0):
        """How a request calls its key, with some bits turned over"""
        return f"{self.name}~{flip}" if flip else self.name


@dataclass(frozen=True)
class Binding:
    """What a window shows: bytes of a region, through a queue pair"""

    mr: Mr
    at: int
    len: int
    access: int
    qp: object


@dataclass(eq=False)
class Mw(Thing, Range):
    """A memory window.

    binding: None if it is not bound
    flip: bits of its key that are not as they were when it was allocated; of
        type 1 the runner follows the key itself
    plan: (binding, flip) when all requests that were made are executed
    """

    pd: Pd = None
    type: int = 2
    binding: Binding = None
    flip: int = 0
    plan: tuple = (None, 0)

    @property
    def at(self):
        return self.binding.at

    @property
    def len(self):
        return self.binding.len

    @property
    def access(self):
        return self.binding.access

    def address(self, at):
        if self.has("ZERO_BASED"):
            return str(at - self.at)
        return self.binding.mr.address(at)

    def key(self, flip=0):
        return f"{self.name}~{self.flip ^ flip}"

    def reached_by(self, qp):
        """Whether requests that a queue pair receives reach its bytes"""
        return self.binding and self.pd is qp.pd and (
            self.type == 1 or self.binding.qp is qp)


@dataclass(eq=False)
class Channel(Thing):
    pass


ANY, SOLICITED = "any", "solicited"


@dataclass(eq=False)
class Cq(Thing):
    """A completion queue

    times: flags of the times that its completions have
    armed: ANY or SOLICITED, if the next completion has an event
    due: number of events in its channel
    unacked: number of those that were taken from there
    """

    cqe: int = 0
    ex: bool = False
    times: int = 0
    channel: Channel = None
    armed: str = None
    due: int = 0
    unacked: int = 0

    def arm(self, solicited):
        if self.armed != ANY:
            self.armed = SOLICITED if solicited else ANY

    def complete(self, solicited):
        """There is one more completion."""
        if self.armed == ANY or (self.armed and solicited):
            self.armed = None
            self.due += self.channel is not None


@dataclass(eq=False)
class Xrcd(Thing):
    """An open XRC domain

    file: name of the file that it belongs to, or None
    domain: what those that were opened with the same file have in common
    """

    file: str = None
    domain: object = field(default_factory=object)


@dataclass
class Receive:
    wr_id: int
    sges: list  # of (Mr, at, len)

    @property
    def room(self):
        return sum(length for _, _, length in self.sges)


@dataclass(eq=False)
class Srq(Thing):
    """A shared receive queue

    limit: with fewer requests there is an event
    cq: of an XRC one
    """

    pd: Pd = None
    max_wr: int = 0
    max_sge: int = 0
    limit: int = 0
    xrcd: Xrcd = None
    cq: Cq = None
    receives: deque = field(default_factory=deque)


@dataclass(eq=False)
class Ah(Thing):
    pd: Pd = None
    to: int = 0
    tc: int = 0
    hop: int = 0


@dataclass
class Request:
    """A send request.

    sges: (Mr, at, len) each; of inline data the Mr does not matter
    remote: (Mr or Mw, at) at the other end
    window: Mw that it binds or invalidates
    binding: of the window from then on
    flip: of its key from then on
    flush: (placements, level, length) of a FLUSH
    tso: (where the header is, its length, mss) of a TSO
    wrong: the rule of verbs.EXECUTION that it breaks, or None
    spared: (node, at, len) that must not change though it names them
    without: rights that the other end's queue pair must not have
    receive: the SGE of the receive request for it, if that one is wrong
    """

    wr_id: int
    op: object
    flags: int = 0
    sges: list = field(default_factory=list)
    remote: tuple = None
    window: Mw = None
    binding: Binding = None
    flip: int = 0
    imm: int = 0
    operands: tuple = (0, 0)
    flush: tuple = None
    tso: tuple = None
    wrong: object = None
    spared: list = field(default_factory=list)
    without: int = 0
    receive: str = None

    @property
    def length(self):
        return sum(length for _, _, length in self.sges)

    @property
    def segments(self):
        """(offset, length) of the data of each message that it makes"""
        if not self.tso:
            return [(0, self.length)]
        mss = self.tso[2]
        return [(at, min(mss, self.length - at))
                for at in range(0, max(self.length, 1), mss)]

    @property
    def remote_length(self):
        """Bytes at the other end that it is about"""
        return self.flush[2] if self.flush else self.length

    @property
    def right(self):
        """What the other end must give, see verbs.access()"""
        if self.flush:
            return verbs.flush_right(self.flush[0])
        return verbs.ACCESS[self.op.remote]

    @property
    def outcome(self):
        """Fails or Dropped, if it breaks a rule"""
        return self.wrong.otherwise if self.wrong else None

    @property
    def stops_both(self):
        """Whether it fails, and the other end stops, too"""
        return getattr(self.outcome, "peer_stops", False)

    @property
    def binds_type_1(self):
        return self.op.data == "bind" and self.window.type == 1


@dataclass
class Completion:
    """A completion

    others: statuses that it may have instead
    sender: queue pair that sent a datagram
    sl: service level of what was received, or None if there is none
    """

    qp: object
    recv: bool
    wr_id: int
    status: str
    opcode: int = 0
    length: int = -1
    flags: int = 0
    imm: object = 0  # or the key that was invalidated, as a request calls it
    solicited: bool = False
    others: tuple = ()
    sender: object = None
    sl: int = None

    def text(self, thread=None):
        status = "|".join(str(verbs.STATUS[name])
                          for name in (self.status, *self.others))
        return "wc=" + "/".join(str(part) for part in (
            self.qp.name, "r" if self.recv else "s", self.wr_id,
            status, self.opcode, self.length, self.flags,
            self.imm, *self.behind(thread)))

    def behind(self, thread):
        """What not all have: the thread, and where a message came from"""
        if self.sl is not None:
            return (thread or 0, self.sender.name if self.sender else "-",
                    self.sl)
        return (thread,) if thread else ()


WC_GRH, WC_WITH_IMM, WC_IP_CSUM_OK, WC_WITH_INV = 1, 2, 4, 8
# To the runner: the completion has a flow tag and a VLAN; tag and context
WC_TAGGED, WC_INFORMED = 1 << 16, 1 << 17
# Documentation/hardware/completions.rst: what stands before a datagram
NETWORK_IPV4 = 2


@dataclass(eq=False)
class Qp(Thing):
    """A queue pair. XRC_RECV ones have the pd, srq and rcq of the shared
    receive queue that requests name just now.
    """

    type: str = ""
    xrcd: Xrcd = None
    pd: Pd = None
    scq: Cq = None
    rcq: Cq = None
    srq: Srq = None
    caps: dict = None
    sig_all: bool = False
    tso: int = 0  # max_tso_header
    ops: int = None  # send_ops_flags
    state: str = "RESET"
    told: dict = field(default_factory=dict)  # what ibv_query_qp() has to say
    peer: object = None
    qkey: int = 0
    mtu: int = 4
    psn: int = 0
    rnr: int = 7
    rd: int = 8  # max_rd_atomic
    dest_rd: int = 8
    min_rnr: int = 1
    ece: int = verbs.ECE_OPTIONS  # what ibv_query_ece() has to say
    ece_set: bool = False
    ah: Ah = None
    receives: deque = field(default_factory=deque)
    deferred: list = field(default_factory=list)  # posted in SQD

    def queue(self):
        """Where its receive requests come from"""
        return self.srq.receives if self.srq else self.receives


class Model:
    """All that there is.

    lossy: whether the wire loses packets. What unreliable queue pairs send may
        come or not, and changes nothing here.
    """

    def __init__(self, lossy=False):
        self.lossy = lossy
        # The bytes of each node, and of each Dm
        self.memory = {node: bytearray(ARENA) for node in range(2)}
        self.completions = {}  # of each Cq, not yet polled
        self.touched = []  # (node, at, len) since they were last compared
        self.late = False  # the last of that may still be on its way
        self.unknown = []  # (node, at, len) whose bytes are anything now
        self.expecting = []  # queue pairs that packets may be on their way to
        self.unbound = Counter()  # binds of type 1 that were not executed
        self.events = []  # (thing, name), asynchronous and not yet taken
        self.sender_flags = 0  # of send completions with immediate data
        self.datagram_sl = NETWORK_IPV4
        # What each node's port has counted since the program began
        self.counted = {node: Counter() for node in range(2)}
        self.errors_wake = True  # who asked for solicited completions

    def fill(self, node, at, length, seed):
        self.memory[node][at:at + length] = PATTERN[seed:seed + length]

    def crc(self, node, at, length):
        return zlib.crc32(self.memory[node][at:at + length])

    def complete(self, cq, completion):
        self.completions.setdefault(cq, []).append(completion)
        cq.complete(completion.solicited or (
            self.errors_wake and completion.status != "SUCCESS"))

    def _take(self, qp):
        """Take a receive request."""
        receive = qp.queue().popleft()
        if qp.srq:
            self.check_limit(qp.srq)
        return receive

    def check_limit(self, srq):
        """Fewer requests than the limit have an event, once."""
        if len(srq.receives) < srq.limit:
            srq.limit = 0
            self.events.append((srq, "SRQ_LIMIT_REACHED"))

    def gather(self, node, sges):
        """The bytes that SGEs name"""
        memory = self.memory[node]
        return b"".join(bytes(length) if mr.null else
                        memory[at:at + length] for mr, at, length in sges)

    def _store(self, node, at, data):
        self.memory[node][at:at + len(data)] = data
        self.touched.append((node, at, len(data)))

    def scatter(self, node, sges, data):
        for mr, at, length in sges:
            if not data:
                break
            if not mr.null:
                self._store(node, at, data[:length])
            data = data[length:]

    def _forget(self, node, sges):
        self.unknown += [(node, at, length) for mr, at, length in sges
                         if length and not mr.null]

    def stop(self, qp):
        """The error state: what is posted is flushed."""
        if qp.state == "ERR":
            return
        qp.state = "ERR"
        for request in qp.deferred:
            self._flush(qp, request)
        qp.deferred.clear()
        while qp.receives:
            receive = qp.receives.popleft()
            self.complete(qp.rcq, Completion(qp, True, receive.wr_id,
                                              "WR_FLUSH_ERR"))
        if qp.srq or qp.type == verbs.XRC_RECV:
            self.events.append((qp, "QP_LAST_WQE_REACHED"))

    def reset(self, qp):
        """RESET forgets all that was posted."""
        qp.state = "RESET"
        qp.ece, qp.ece_set = verbs.ECE_OPTIONS, False
        qp.told.clear()
        qp.deferred.clear()
        self.forget(qp)

    def forget(self, queue):
        """What was posted for receiving, or completed, is not there any more."""
        queue.receives.clear()
        for completions in self.completions.values():
            completions[:] = [completion for completion in completions
                              if completion.qp is not queue]

    def flush(self, wq):
        """The error state of a work queue"""
        while wq.receives:
            self.flush_one(wq, wq.receives.popleft())

    def flush_one(self, wq, receive):
        self.complete(wq.cq, Completion(wq, True, receive.wr_id,
                                        "WR_FLUSH_ERR"))

    def resume(self, qp):
        """RTS: what was posted in SQD is executed."""
        requests, qp.deferred = qp.deferred, []
        for request in requests:
            self.send(qp, request)

    def receive(self, qp, receive):
        """Post a receive request."""
        if qp.state == "ERR":
            self.complete(qp.rcq, Completion(qp, True, receive.wr_id,
                                              "WR_FLUSH_ERR"))
        else:
            qp.receives.append(receive)

    def send(self, qp, request):
        """Execute a send request of a queue pair that may be posted to."""
        if qp.state == "SQD":
            qp.deferred.append(request)
            return
        if qp.state in ("ERR", "SQE"):
            self._flush(qp, request)
            return
        self.move_psns(qp)
        outcome = request.outcome
        if isinstance(outcome, Fails):
            self._fail(qp, request, outcome)
            return
        if isinstance(outcome, Dropped):
            self._drop(qp, request, outcome)
        elif qp.type in verbs.RELIABLE or not self.lossy:
            self._execute(qp, request)
        if qp.sig_all or request.flags & verbs.FLAGS["SIGNALED"]:
            length = request.length if request.op.data in ("in", "fetch") \
                else -1
            self.complete(qp.scq, Completion(
                qp, False, request.wr_id, "SUCCESS", request.op.completes,
                length, self.sender_flags if request.op.with_imm else 0))

    @staticmethod
    def move_psns(qp):
        """Something is sent: both PSNs are not those that were set."""
        qp.told.pop("sq_psn", None)
        if qp.peer:
            qp.peer.told.pop("rq_psn", None)

    def _flush(self, qp, request):
        self._not_bound(request)
        self.complete(qp.scq, Completion(qp, False, request.wr_id,
                                          "WR_FLUSH_ERR"))

    def _fail(self, qp, request, outcome):
        peer = qp.peer
        self._not_bound(request)
        # If its NAK is lost, it cannot be repeated: the other end has stopped
        others = ("RETRY_EXC_ERR",) if self.lossy and outcome.peer_stops \
            else ()
        self.complete(qp.scq, Completion(qp, False, request.wr_id,
                                          outcome.status, others=others))
        self.touched += request.spared
        if outcome.peer:
            self._waste(peer, outcome.peer)
        if request.op.data in ("in", "fetch"):
            self._forget(qp.node, request.sges)
        if request.remote and request.length and not outcome.peer_stops and \
                not outcome.unheard:
            # The other end may have done its part before this one failed
            self.unknown.append((peer.node, request.remote[1],
                                 request.length))
        if self.may_come_late(qp, request):
            self.expecting.append(peer)
            if request.op.receives == verbs.WC_RECV and peer.queue():
                self._forget(peer.node, peer.queue()[0].sges)
        if outcome.event and peer.state != "ERR":
            self.events.append((peer, outcome.event))
        if outcome.peer_stops:
            self.stop(peer)
        if qp.type in verbs.RELIABLE:
            self.stop(qp)
        else:
            qp.state = "SQE"

    def may_come_late(self, qp, request):
        """Whether packets of a request that breaks a rule may be on their way when
        all completions are there

        These are the packets in front of the one that could not be made. On a bad
        wire they may be any. Or they are packets that nobody waits for.
        """
        outcome = request.outcome
        if not isinstance(outcome, Fails):
            return isinstance(outcome, Dropped) and outcome.waits
        if qp.type == verbs.UD or outcome.peer_stops or outcome.unheard or \
                request.op.data in ("bind", "none"):
            return False
        return self.lossy or (request.op.data == "out" and
                              request.length > 128 << qp.mtu)

    def _waste(self, peer, status):
        """A receive request completes with an error."""
        receive = self._take(peer)
        self._forget(peer.node, receive.sges)
        self.touched += [(peer.node, at, length)
                         for mr, at, length in receive.sges if not mr.null]
        self.complete(peer.rcq, Completion(peer, True, receive.wr_id, status))

    def _not_bound(self, request):
        if request.binds_type_1:
            self.unbound[request.window] += 1

    @staticmethod
    def bind(window, binding, flip):
        """Bind a window; or, without a binding, unbind it."""
        if window.binding:
            window.binding.mr.users -= 1
        if binding:
            binding.mr.users += 1
        window.binding, window.flip = binding, flip

    def _drop(self, qp, request, outcome):
        peer = qp.peer
        if outcome.counter:
            self.counted[peer.node][outcome.counter] += len(request.segments)
        self.touched += request.spared
        if self.may_come_late(qp, request):
            self.expecting.append(peer)
        if request.op.receives and request.remote and request.length:
            # It fails at its end
            self.unknown.append((peer.node, request.remote[1],
                                 request.length))
        if outcome.peer:
            self._waste(peer, outcome.peer)
            self.stop(peer)
        elif request.op.receives and peer.queue():
            self._forget(peer.node, peer.queue()[0].sges)

    def _execute(self, qp, request):
        peer, op = qp.peer, request.op
        if op.data in ("out", "cut"):
            data = self.gather(qp.node, request.sges)
        if op.data == "cut":
            self._deliver_segments(qp, request, data)
            return
        if op.receives and not peer.queue():
            return  # only unreliable ones are posted without
        if op.name.startswith("RDMA_WRITE") and data:
            self.late |= qp.type not in verbs.RELIABLE
            self._store(self._remote(qp, request), request.remote[1], data)
        elif op.name == "RDMA_READ":
            at = request.remote[1]
            data = self.memory[self._remote(qp, request)][
                at:at + request.length]
            self.scatter(qp.node, request.sges, bytes(data))
        elif op.data == "fetch":
            self._atomic(qp, request)
        elif op.data == "store":
            self._store(self._remote(qp, request), request.remote[1],
                        self.gather(qp.node, request.sges))
        if op.receives:
            self._deliver(qp, request, data)
        if request.window:
            self.bind(request.window, request.binding, request.flip)

    @staticmethod
    def _remote(qp, request):
        """The Dm or node whose memory a request is for"""
        return getattr(request.remote[0], "dm", None) or qp.peer.node

    def _atomic(self, qp, request):
        node, at = self._remote(qp, request), request.remote[1]
        old = int.from_bytes(self.memory[node][at:at + 8], "little")
        first, second = request.operands
        if request.op.name == "ATOMIC_FETCH_AND_ADD":
            new = (old + first) % (1 << 64)
        else:
            new = second if old == first else old
        self._store(node, at, new.to_bytes(8, "little"))
        self.scatter(qp.node, request.sges, old.to_bytes(8, "little"))

    def header(self, qp, request):
        """The header of a TSO"""
        at, length, _ = request.tso
        return bytes(self.memory[qp.node][at:at + length])

    def _deliver_segments(self, qp, request, data):
        header = self.header(qp, request)
        for at, length in request.segments:
            if qp.peer.queue():
                self._deliver(qp, request, header + data[at:at + length])

    def _deliver(self, qp, request, data):
        peer, op = qp.peer, request.op
        receive = self._take(peer)
        flags = WC_WITH_IMM if op.with_imm else 0
        extra = request.imm if op.with_imm else 0
        if op.with_inv:
            flags, extra = WC_WITH_INV, request.window.key()
        length = len(data)
        if qp.type == verbs.UD:
            flags |= WC_GRH
            length += GRH
            self.scatter(peer.node, receive.sges, bytes(GRH) + data)
            self._forget(peer.node, first_bytes(receive.sges, GRH))
        elif op.receives == verbs.WC_RECV:
            self.scatter(peer.node, receive.sges, data)
        self.complete(peer.rcq, Completion(
            peer, True, receive.wr_id, "SUCCESS", op.receives, length, flags,
            extra, bool(request.flags & verbs.FLAGS["SOLICITED"]),
            **self._origin(qp)))

    def _origin(self, qp):
        """Where a datagram came from, in a completion"""
        if qp.type != verbs.UD:
            return {}
        return {"sender": qp, "sl": self.datagram_sl}


def first_bytes(sges, length):
    """The part of a list of SGEs that the first bytes are in"""
    part = []
    for mr, at, size in sges:
        size = min(size, length)
        part.append((mr, at, size))
        length -= size
    return part
