# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What is different where mynic is in a container image: scripts/lib/enter-image, which
sets the variables, makes no namespaces. Directories of the host are therefore where
they are, and not where the sandbox would have them. Programs do not end with a process
namespace, and /tmp belongs to others, too.
"""

import os

WORK = os.environ.get("MYNIC_WORK", "/tmp/vm")
PLACES = [line.partition("=")[::2] for line in os.environ.get("MYNIC_PLACES", "").splitlines()]


def real(path):
    """Where it is that scripts/vm has put at this path"""
    for place, directory in PLACES:
        if path == place or path.startswith(place + "/"):
            return directory + path[len(place):]
    return path


def with_us(argv):
    """The same command, which ends when this process does"""
    return ["setpriv", "--pdeathsig", "KILL", "--", *argv] if PLACES else argv
