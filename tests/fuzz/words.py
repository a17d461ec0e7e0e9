# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The words that verbs.py is written in.

A verb has arguments and rules. An argument says which values it may have, and
which values break which rule. A rule says what must hold, where that is
written, and what happens if it does not. Either the call is refused with an
errno, or the request is taken and completes with a status.
"""

import errno
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Refused:
    """The call fails, and changes nothing.

    Requests of a list are posted up to the one that breaks the rule, without it.
    bad_wr is that one. Nothing of a critical section is posted.
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
    unheard: the other end has executed nothing of it
    """

    status: str
    peer: str = None
    peer_stops: bool = False
    event: str = None
    unheard: bool = False


@dataclass(frozen=True)
class Dropped:
    """The request succeeds, and the other end takes no notice of it.

    peer: status of the receive request that it used there, whose queue pair
        stops; or None
    waits: it may come late, and take a receive request that is posted then
    counter: of the other end's port, that has one more for each message
    """

    peer: str = None
    waits: bool = False
    counter: str = None


@dataclass(frozen=True)
class Rule:
    """What must hold.

    name: by which the reports call it
    says: the rule
    source: the manual page or section that it comes from
    otherwise: Refused, Returns, Fails or Dropped
    on: types of queue pairs that have it; all, if empty
    ops: names of the operations that have it; all, if empty
    beyond: why no program breaks it, if that is so
    """

    name: str
    says: str
    source: str
    otherwise: object
    on: tuple = ()
    ops: tuple = ()
    beyond: str = None

    def is_for(self, qp_type, op=None):
        """Whether an operation on queue pairs of a type has the rule."""
        return (not self.on or qp_type is None or qp_type in self.on) and \
            (not self.ops or op is None or op in self.ops)


@dataclass(frozen=True)
class Span:
    """All numbers from one to another. Each of both is a number, or the name of
    a limit, as in "max_send_sge + 1" or "4 path_mtu".
    """

    low: object
    high: object

    def __str__(self):
        return f"{self.low} to {self.high}"


@dataclass(frozen=True)
class Flags:
    """Any of some flags at the same time, or none

    flags: the value of each by its name
    """

    flags: dict

    def __str__(self):
        return "any of " + ", ".join(self.flags)


@dataclass(frozen=True)
class Masked:
    """What a flow rule says of a field: its value in the bits of a mask"""

    value: int
    mask: int

    def __str__(self):
        return f"{self.value:#x}/{self.mask:#x}"


@dataclass(frozen=True)
class Argument:
    """An argument of a verb, or a field of a structure that it is given.

    name: of the argument or field
    type: in C
    says: what it is
    legal: values that are taken, with the smallest and the largest. They are
        numbers, names of limits, Span, Flags and Masked. It is empty if objects alone
        say what it can be.
    wrong: values that break a rule, by the name of the rule
    ops: names of the operations that look at it; all, if empty
    on: types of queue pairs that look at it; all, if empty
    mask: name of the bit that says that it is there
    """

    name: str
    type: str
    says: str
    legal: tuple = ()
    wrong: dict = field(default_factory=dict)
    ops: tuple = ()
    on: tuple = ()
    mask: str = None

    def choices(self):
        """Each value, and each end of a span"""
        for item in self.legal:
            if isinstance(item, Span):
                yield from (item.low, item.high)
            yield item


@dataclass(frozen=True)
class Flag:
    """A flag of send requests.

    name: without IBV_SEND_
    value: its bit
    says: what it does
    source: the manual page or section that says so
    ops, on: names of the operations, and types of queue pairs, that have it
    """

    name: str
    value: int
    says: str
    source: str
    ops: tuple
    on: tuple


@dataclass(frozen=True)
class Data:
    """What an operation does with data.

    says: what it does
    sges, inline: whether ibv_post_send(3) takes SGEs, and inline data
    set_sges, set_inline: whether setters give them to what a builder made
    """

    says: str
    sges: bool = False
    inline: bool = False
    set_sges: bool = False
    set_inline: bool = False


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
    data: a name in verbs.DATA
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


# What verbs return
ERRNO = "0, or the errno"
OBJECT = "the object, or NULL with errno"
NOTHING = "nothing"
MINUS = "0, or -1 with errno"
# What a refusal means
UNCHANGED = "nothing has changed"


@dataclass(frozen=True)
class Verb:
    """A function of libibverbs.

    name: of the function
    page: its manual page
    does: what it does, in a line
    arguments: without the object that it is called with
    rules: what must hold
    makes, destroys, uses: kinds of objects
    effects: what else it changes and produces, in sentences
    returns: what it returns
    refusal: what it means that it is refused
    """

    name: str
    page: str
    does: str
    arguments: tuple = ()
    rules: tuple = ()
    makes: str = None
    destroys: str = None
    uses: tuple = field(default=())
    effects: str = ""
    returns: str = None
    refusal: str = UNCHANGED

    def rule(self, name):
        """The rule with a name"""
        return next(rule for rule in self.rules if rule.name == name)

    def has_rule(self, name):
        """Whether it has a rule with that name"""
        return any(rule.name == name for rule in self.rules)

    def argument(self, name):
        """The argument with a name"""
        return next(argument for argument in self.arguments
                    if argument.name == name)

    @property
    def result(self):
        """What it returns"""
        return self.returns or (OBJECT if self.makes else ERRNO)


EINVAL = Refused(errno.EINVAL)
EAGAIN = Refused(errno.EAGAIN)
ENOENT = Refused(errno.ENOENT)
ENOMEM = Refused(errno.ENOMEM)
EPERM = Refused(errno.EPERM)
EBUSY = Refused(errno.EBUSY)
EOPNOTSUPP = Refused(errno.EOPNOTSUPP)
EIO = Refused(errno.EIO)
EBADF = Refused(errno.EBADF)
EFAULT = Refused(errno.EFAULT)
ENODATA = Refused(errno.ENODATA)
