# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The words that verbs.py is written in.

A verb has a list of rules. A rule says what must hold, where that is written,
and what happens if it does not: the call is refused with an errno, or the
request is taken and completes with a status. Rules are names to the fuzzer:
generate.py knows for each of them how to break it.
"""

import errno
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Refused:
    """The call fails, and changes nothing.

    Of a list of requests those before the one that breaks the rule are posted,
    and bad_wr is that one. Of a critical section nothing is posted.
    """

    errno: int


@dataclass(frozen=True)
class Returns:
    """As Refused, but the call has error codes of its own."""

    code: int


@dataclass(frozen=True)
class Fails:
    """The request completes with a status, and its queue pair stops.

    status: of the request
    peer: of the receive request that it used at the other end, or None
    peer_stops: the other queue pair goes to the error state
    event: asynchronous event that tells the other end of it, or None
    """

    status: str
    peer: str = None
    peer_stops: bool = False
    event: str = None


@dataclass(frozen=True)
class Dropped:
    """The request succeeds, and the other end takes no notice of it."""


@dataclass(frozen=True)
class Rule:
    """What must hold.

    name: by which generate.py and the reports call it
    says: the rule
    source: the manual page or section that it comes from
    otherwise: Refused, Returns, Fails or Dropped
    on: types of queue pairs that have it; all, if empty
    """

    name: str
    says: str
    source: str
    otherwise: object
    on: tuple = ()

    def is_for(self, qp_type):
        """Whether queue pairs of a type have the rule."""
        return not self.on or qp_type in self.on


@dataclass(frozen=True)
class Step:
    """What a call does in a critical section of ibv_wr_start(3).

    state: before the call
    call: a function; "builder" or "setter", for any of these; or "error", for
        one that breaks a rule
    to: state after the call
    result: what it returns or does, or ""
    """

    state: str
    call: str
    to: str
    result: str = ""


@dataclass(frozen=True)
class Operation:
    """A row of the tables of ibv_post_send(3) and ibv_wr_post(3).

    name: IBV_WR_...
    opcode: its value
    on: types of queue pairs that have it
    builder: the function of ibv_wr_post(3)
    send_ops: the bit of send_ops_flags
    data: "out" (SGEs or inline data are sent), "store" (the same, 8 bytes; the
        builder takes them), "in" (SGEs are written to), "fetch" (the same, one
        of 8 bytes), "cut" (SGEs behind a header are sent in segments), "flush"
        (a placement, and a range or a whole region), "bind" (a window, and
        where to bind it), "none"
    completes: opcode of the completion
    receives: opcode of the completion at the other end, if it uses a receive
        request there
    remote: rights that the other end must give
    with_imm, with_inv: what the receive completion has
    posted_by: the verbs that post it
    """

    name: str
    opcode: int
    on: tuple
    builder: str
    send_ops: int
    data: str
    completes: int
    receives: int = None
    remote: str = None
    with_imm: bool = False
    with_inv: bool = False
    posted_by: tuple = ("ibv_post_send", "ibv_wr_complete")

    @property
    def may_be_inline(self):
        """IBV_SEND_INLINE: valid only for Send and all that writes"""
        return self.data in ("out", "store")

    @property
    def is_atomic(self):
        """It is about 8 bytes, whose address is a multiple of 8."""
        return self.data in ("fetch", "store")

    @property
    def is_plain(self):
        """Setters need not know the operation to do as it says."""
        return self.data in ("out", "in", "fetch")


@dataclass(frozen=True)
class Event:
    """An asynchronous event.

    name: IBV_EVENT_...
    number: its value
    when: it is due
    source: the manual page or section that says so
    beyond: why no program provokes it, if that is so
    """

    name: str
    number: int
    when: str
    source: str
    beyond: str = None


@dataclass(frozen=True)
class Verb:
    """A function of libibverbs.

    name: of the function
    call: what the runner calls it
    page: its manual page
    does: what it does, in a line
    rules: what must hold
    cannot_break: names of those that no call of this verb can break
    makes, destroys, uses: kinds of objects
    """

    name: str
    call: str
    page: str
    does: str
    rules: tuple = ()
    cannot_break: tuple = ()
    makes: str = None
    destroys: str = None
    uses: tuple = field(default=())

    def rule(self, name):
        """The rule with a name"""
        return next(rule for rule in self.rules if rule.name == name)


EINVAL = Refused(errno.EINVAL)
EAGAIN = Refused(errno.EAGAIN)
ENOENT = Refused(errno.ENOENT)
ENOMEM = Refused(errno.ENOMEM)
EPERM = Refused(errno.EPERM)
EBUSY = Refused(errno.EBUSY)
EOPNOTSUPP = Refused(errno.EOPNOTSUPP)
