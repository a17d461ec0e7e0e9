# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What guests are told of a root of the user's own (scripts/vm --root)."""

import os
import shlex

# Where scripts/vm puts the host's directories in the sandbox
PLACE = "/run/guest-root"
WORK = "/run/guest-work"
IMAGE_ENVIRONMENT = "/run/guest-environment/environment"

# Programs of the project that are for guests, such as peer
PROGRAMS = "/mynic/build/guest/usr/bin"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# By these, starters of MPI jobs find the nodes: Open MPI to its version 4, its runtime
# since then, MPICH and others with its starter. Open MPI's must be told twice that root
# may start jobs.
NODE_VARIABLES = [
    "OMPI_MCA_plm_rsh_agent=node-rsh",
    "OMPI_MCA_orte_default_hostfile=/run/mynic/hostfile",
    "PRTE_MCA_plm_ssh_agent=node-rsh",
    "PRTE_MCA_prte_default_hostfile=/run/mynic/hostfile",
    *("%s_ALLOW_RUN_AS_ROOT%s=1" % (name, suffix)
      for name in ("OMPI", "PRTE") for suffix in ("", "_CONFIRM")),
    "HYDRA_LAUNCHER=rsh",
    "HYDRA_LAUNCHER_EXEC=/usr/local/bin/node-rsh",
    "HYDRA_HOST_FILE=/run/mynic/hostfile",
]


def add_options(parser):
    parser.add_argument("--root", default="", help="what scripts/lib/root/inspect has found")
    parser.add_argument("--cwd", default="", help="the command's working directory")
    parser.add_argument("--work", action="store_true", help="the root does not have it")
    parser.add_argument("--ids", default="", help="UID:GID:GROUP,... of the command")
    parser.add_argument("--mapped", action="store_true", help="the sandbox has the ids mapped to root's")
    parser.add_argument("--outside", action="store_true", help="the command is not for the root")
    parser.add_argument("--environment-fd", type=int, default=-1)


def read_variables(file):
    return [one for one in file.read().split(b"\0") if b"=" in one]


def load(args):
    """Reads the environment, which can be read only once."""
    args.environment = []
    if args.environment_fd >= 0:
        with os.fdopen(args.environment_fd, "rb") as file:
            args.environment = read_variables(file)
    elif os.path.exists(IMAGE_ENVIRONMENT):
        with open(IMAGE_ENVIRONMENT, "rb") as file:
            args.environment = read_variables(file)


def with_programs(variables):
    """With the project's own programs found after all others."""
    path = [one for one in variables if one.startswith(b"PATH=")] or [b"PATH=" + PATH.encode()]
    return ([one for one in variables if not one.startswith(b"PATH=")] +
            [path[-1] + b":" + PROGRAMS.encode()])


def shares(args):
    """(tag, path, readonly) of what QEMU shares."""
    found = [("root", PLACE, "on")] if args.root else []
    return found + ([("work", WORK, "on")] if args.work else [])


def as_caller(args):
    """What begins QEMU's command line. QEMU shows the guest the ids of its own user namespace.
    The caller's files have the caller's ids there, and those of others belong to nobody.
    """
    if not args.mapped:
        return []
    user, group, _ = args.ids.split(":")
    return ["unshare", "--user", "--map-user=" + user, "--map-group=" + group, "--"]


def enter(args):
    """The script that begins a command in the root."""
    words = [b"env", *([b"-i"] if args.environment_fd >= 0 else []), b"--",
             *with_programs(args.environment),
             *(os.fsencode(one) for one in (NODE_VARIABLES if args.plan else []))]
    quoted = " ".join(shlex.quote(os.fsdecode(word)) for word in words)
    return os.fsencode('cd %s || exit 126\nexec /run/busybox %s "$@"\n' %
                       (shlex.quote(args.cwd), quoted))


def files(args):
    """For the directory vm of the initramfs, by name"""
    if not args.root:
        return {}
    with open(args.root, "rb") as file:
        found = file.read()
    if args.work:
        found += os.fsencode("work=%s\n" % shlex.quote(args.cwd))
    told = {"root": found, "enter": enter(args)}
    if args.outside:
        told["outside"] = b""
    if args.ids:
        user, group, groups = args.ids.split(":")
        told["ids"] = ("--userspec=+%s:+%s --groups=%s\n" % (
            user, group, ",".join("+" + one for one in groups.split(",")))).encode()
    return told
