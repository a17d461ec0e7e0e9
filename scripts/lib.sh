# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
# What the scripts share: names of directories, messages, and root's rights.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$top/build
root=$build/root
# The project's own directory, as seen from inside the sandbox.
inside=/mynic
prog=${0##*/}

say() { printf '%s: %s\n' "$prog" "$*" >&2; }

die() {
	say "$*"
	exit 1
}

# as_root CMD...: run CMD as root or, for an ordinary user, as root of a user
# namespace that holds all of the user's subordinate ids. The sandbox tree
# belongs to these ids, so whoever touches it must come through here.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
		return
	fi
	command -v newuidmap >/dev/null ||
		die "neither root nor the package uidmap: run as root, or let root install uidmap"
	unshare --user --map-root-user --map-auto true 2>/dev/null ||
		die "neither root nor user namespaces with subordinate ids (see subuid(5)): run as root"
	unshare --user --map-root-user --map-auto -- "$@"
}
