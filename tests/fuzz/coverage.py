# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What the descriptions should have, and what programs have of them.

The provider's table of functions, the manual pages and the headers say what
there is. Each of these is described in verbs.py, or has a reason in
undescribed.py.
"""

import errno
import re

import undescribed
import verbs
from program import DROPS
from states import TOLD, States
from words import Flags

MANUAL = "build/rdma-core/libibverbs/man"
HEADER = "build/rdma-core/libibverbs/verbs.h"
PROVIDER = "userspace/provider"
# Where the provider's function has another name than the verb
VERB_OF = {
    "ibv_free_context": "ibv_close_device",
    "ibv_query_rt_values": "ibv_query_rt_values_ex",
}


def _enum(text, name):
    """The names in an enumeration, without its comments"""
    body = re.search(rf"enum {name}\s*{{(.*?)}};", text, re.S).group(1)
    return re.findall(r"^\s*(IBV_\w+)", body, re.M)


def _tables(top):
    """The tables of functions in the provider's sources"""
    for path in sorted((top / PROVIDER).glob("*.c")):
        yield from re.findall(r"verbs_context_ops \w+(?:\[.*?\])? = {(.*?)^};",
                              path.read_text(), re.S | re.M)


def provider_verbs(top):
    """The functions that the provider has"""
    names = {f"ibv_{name}" for table in _tables(top)
             for name in re.findall(r"\.(\w+) =", table)}
    return {VERB_OF.get(name, name) for name in names}


def functions(top):
    """The functions that verbs.h has"""
    text = re.sub(r"/\*.*?\*/", "", (top / HEADER).read_text(), flags=re.S)
    return set(re.findall(
        r"\b(ibv_\w+)\((?:struct|const|enum|union|uint|int|void)", text))


def opcodes(top):
    """IBV_WR_*, without the prefix"""
    names = _enum((top / HEADER).read_text(), "ibv_wr_opcode")
    return {name.removeprefix("IBV_WR_") for name in names}


def states(top):
    """IBV_QPS_*, without the prefix"""
    names = _enum((top / HEADER).read_text(), "ibv_qp_state")
    return {name.removeprefix("IBV_QPS_") for name in names
            if name != "IBV_QPS_UNKNOWN"}


def events(top):
    """IBV_EVENT_*, without the prefix"""
    names = _enum((top / HEADER).read_text(), "ibv_event_type")
    return {name.removeprefix("IBV_EVENT_") for name in names}


def builders(top):
    """The functions of ibv_wr_post(3)"""
    text = (top / MANUAL / "ibv_wr_post.3.md").read_text()
    return set(re.findall(r"^(?:int|void) (ibv_wr_\w+)\(", text, re.M))


def readers(top):
    """The functions that read a field of a completion"""
    text = (top / HEADER).read_text()
    return set(re.findall(r"\b(ibv_wc_read_\w+)\(", text))


def _errno_name(number):
    """Some numbers have two names."""
    return "EOPNOTSUPP" if number == errno.EOPNOTSUPP else \
        errno.errorcode[number]


def errnos(top):
    """Pairs of verb and errno that the verb's manual page names"""
    found = set()
    pages = {verb.page for verb in verbs.VERBS}
    for page in pages:
        name = page.split("(")[0]
        for path in (top / MANUAL).glob(f"{name}.3*"):
            words = re.findall(r"\bE[A-Z]{3,}\b", path.read_text())
            found |= {f"{page} {_errno_name(getattr(errno, word))}"
                      for word in words if hasattr(errno, word)}
    return found


def rereg_codes(top):
    """What ibv_rereg_mr() returns, by its name: -1 and so on"""
    names = _enum((top / HEADER).read_text(), "ibv_rereg_mr_err_code")
    return {f"ibv_rereg_mr(3) {name}": -number
            for number, name in enumerate(names, 1)}


def table_of_opcodes(top):
    """Operations and the types of queue pairs that have them, by each page"""
    text = (top / MANUAL / "ibv_post_send.3").read_text()
    columns = ("UD", "UC", "RC", "XRC_SEND", "RAW_PACKET")
    rows = {}
    for line in re.findall(r"^IBV_WR_(\w+ *\|.*)$", text, re.M):
        name, *marks = (field.strip() for field in line.split("|"))
        rows["ibv_post_send(3)", name] = {
            column for column, mark in zip(columns, marks) if mark == "X"}
    text = (top / MANUAL / "ibv_wr_post.3.md").read_text()
    for name, types in re.findall(
            r"^\| (\w+) +\| ibv_wr_\w+\(\) *\| ([^|]*)\|", text, re.M):
        # The page spells one of them differently
        types = types.replace("SRC SEND", "XRC_SEND")
        rows["ibv_wr_post(3)", name] = {
            word.strip() for word in types.split(",")}
    return rows


def setters(top):
    """Whether ibv_wr_post(3) lets setters of data follow an operation's builder"""
    text = (top / MANUAL / "ibv_wr_post.3.md").read_text()
    return {name: "DATA" in allowed for name, allowed in re.findall(
        r"^\| (\w+) +\| ibv_wr_\w+\(\) *\|[^|]*\| *([^|]*)\|", text, re.M)}


def _described(top):
    returned = {getattr(rule.otherwise, "code", None)
                for rule in verbs.NAMED["ibv_rereg_mr"].rules}
    found = {name for name, code in rereg_codes(top).items() if code in returned}
    found |= set(verbs.NAMED) | {f"opcode {op}" for op in verbs.OPERATION}
    found |= {f"state {state}" for state in verbs.STATES}
    found |= {f"event {event.name}" for event in verbs.EVENTS}
    found |= {f"{verb.page} {_errno_name(rule.otherwise.errno)}"
              for verb in verbs.VERBS for rule in verb.rules
              if hasattr(rule.otherwise, "errno")}
    return found | set(verbs.READERS) | set(verbs.ABSENT)


def _wanted(top):
    wanted = functions(top) | provider_verbs(top) | builders(top)
    wanted |= readers(top) | errnos(top) | set(rereg_codes(top))
    wanted |= {f"opcode {name}" for name in opcodes(top)}
    wanted |= {f"event {name}" for name in events(top)}
    return wanted | {f"state {name}" for name in states(top)}


def table_differences(top):
    """Where the tables of the manual pages have something else, a line each"""
    types = set(verbs.QP_TYPES)
    for (page, name), on in table_of_opcodes(top).items():
        if name not in verbs.OPERATION:
            continue
        described = set(verbs.OPERATION[name].on)
        if described != on & types:
            yield (f"{name}: {page} has it on {sorted(on & types)}, "
                   f"described is {sorted(described)}")
    for name, allowed in setters(top).items():
        refused = verbs.rule(verbs.SETTING, "set_data").is_for(None, name)
        if allowed == refused:
            yield (f"{name}: ibv_wr_post(3) lets setters of data follow: {allowed}, "
                   f"described is {not refused}")


def complaints(top):
    """What is wrong with the descriptions, a line each"""
    wanted, described = _wanted(top), _described(top)
    later = set(undescribed.UNDESCRIBED)
    lines = [f"{name} is neither described nor in undescribed.py"
             for name in sorted(wanted - described - later)]
    lines += [f"{name} is described, but still in undescribed.py"
              for name in sorted(later & described)]
    lines += [f"{name} is in undescribed.py, but there is no such thing"
              for name in sorted(later - wanted)]
    return lines + list(table_differences(top))


def summary(top):
    """How much is described"""
    wanted = _wanted(top)
    return (f"{len(wanted & _described(top))} of {len(wanted)} functions, opcodes, "
            "errnos, states and events are described")


def _expected_values(verb):
    """Each value that arguments of a verb can have, right and wrong"""
    for argument in verb.arguments:
        for item in argument.choices():
            names = item.flags if isinstance(item, Flags) else (str(item),)
            yield from (("value", verb.name, argument.name, name)
                        for name in names)
        yield from (("wrong", verb.name, argument.name, str(item))
                    for items in argument.wrong.values() for item in items)


def expected():
    """What a large number of calls has to reach"""
    yield from (("verb", verb.name) for verb in verbs.VERBS)
    for verb in verbs.VERBS:
        yield from (("rule", verb.name, rule.name) for rule in verb.rules
                    if not rule.beyond)
        yield from _expected_values(verb)
    for op in verbs.OPERATIONS:
        for qp_type in op.on:
            yield from (("operation", qp_type, op.name, verb)
                        for verb in op.posted_by)
    for qp_type in verbs.QP_TYPES:
        for old in verbs.STATES_OF[qp_type]:
            yield ("queried", old)
            yield from (("transition", qp_type, old, new)
                        for new in verbs.STATES_OF[qp_type] if new != "SQE"
                        and verbs.transition(qp_type, old, new) is not None)
    for (old, new), by_type in verbs.OPTIONAL.items():
        for qp_type, names in by_type.items():
            yield from (("optional", qp_type, old, new, name)
                        for name in names)
    yield from (("told", word) for name in TOLD
                for word in States.words_of(name))
    for state in verbs.STATES:
        yield from (("posted", verb, state) for verb in (
            "ibv_post_send", "ibv_wr_complete", "ibv_post_recv"))
    yield from (("section", step.state, step.call) for step in verbs.SECTION)
    yield from (("busy", qp_type) for qp_type in (verbs.RC, verbs.UC))
    yield from (("datagram", f"{less} less than longest") for less in range(2))
    yield from (("counted", name) for name in DROPS)
    yield from (("silent", qp_type, why) for qp_type in verbs.RELIABLE
                for why in verbs.SILENT)
    yield from (("status", name) for name in verbs.STATUS)
    yield from (("event", event.name) for event in verbs.EVENTS
                if not event.beyond)
    yield from (("reader", name) for name in verbs.READERS)
    yield from (("together", what) for what in (
        "make", "sections", "poll", "poll and post", "ibv_post_send",
        "ibv_wr_complete", "ibv_post_recv", "ibv_post_srq_recv"))


def report(reached):
    """What was reached, a line each"""
    for what, number in sorted(reached.items()):
        if what[0] != "pair":
            yield f"{number:8d} {' '.join(what)}"
    rules = sum(len(verb.rules) for verb in verbs.VERBS)
    yield f"{len(verbs.VERBS)} verbs have {rules} rules"
    items = set(expected())
    yield f"{len(items & set(reached))} of {len(items)} items were reached"
    pairs = sum(what[0] == "pair" for what in reached)
    yield f"{pairs} of {len(verbs.VERBS) ** 2} pairs of verbs in succession"


def missed(reached):
    """What of expected() was not reached"""
    return sorted({" ".join(what) for what in expected()
                   if not reached[what]})
