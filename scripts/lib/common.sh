# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
# What the scripts share: names of directories, messages, root's rights, and
# running things in the sandbox.

top=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd -P)
build=$top/build
# In a container image all is built, and nothing need be allowed.
in_image=''
[ ! -e "$top/.image" ] || in_image=1
# An installed copy belongs to all users.
[ ! -e "$top/.installed" ] || [ -n "$in_image" ] ||
	build=${MYNIC_BUILD:-${XDG_CACHE_HOME:-$HOME/.cache}/mynic}
root=$build/root

# scripts/lib/architectures: the names of its sections, and values by "SECTION KEY".
# Each script starts with this, so it starts no programs.
arch_names=()
declare -A arch_values=()
read_architectures() {
	local line

	while IFS= read -r line; do
		case $line in
		'#'*) ;;
		'['*) arch_names+=("${line//[][]/}") ;;
		*' ='*)
			line=${line/ =/=}
			arch_values["${arch_names[-1]} ${line%%=*}"]=${line#*=}
			;;
		esac
	done <"$top/scripts/lib/architectures"
}
read_architectures

# of_arch KEY [ARCH]: of the guest's or another architecture
of_arch() {
	local value=${arch_values["${2-$arch} $1"]-}

	echo "${value# }"
}

# is_arch NAME: whether there is such an architecture
is_arch() { [[ $1 =~ ^[a-z0-9]+$ && " ${arch_names[*]} " == *" $1 "* ]]; }

# For messages: "amd64 or arm64"
arch_choice() {
	local choice

	printf -v choice ' or %s' "${arch_names[@]}"
	echo "${choice# or }"
}

# The architecture of guests is this machine's own, or that in MYNIC_ARCH. For another
# one there are the Debian tree of guests, and what compiles and emulates its programs
# here. What is built for it is in a place of its own, and the sandbox has it in build.
find_arch() {
	local name machine

	machine=$(uname -m)
	own_arch=''
	for name in "${arch_names[@]}"; do
		[ "$(of_arch machine "$name")" != "$machine" ] || own_arch=$name
	done
	arch=${MYNIC_ARCH:-$own_arch}
	foreign=''
	guest_build=$build
	guest_root=$root
	if [ "$arch" != "$own_arch" ]; then
		foreign=1
		guest_build=$build/$arch
		guest_root=$root-$arch
		guest_tools=$build/tools-$arch
	fi
}
find_arch
# The project's own directory, as seen from inside the sandbox.
inside=/mynic
prog=${0##*/}

# packages ARCH: what the sandbox, or the Debian tree of guests of ARCH, consists of
packages() {
	local flavour

	sed -e 's/[[:space:]]*#.*//' -e '/^$/d' -e "s/ARCH/$1/" \
		-e "s/QEMU/$(of_arch qemu-package "$1")/" "$top/scripts/lib/packages"
	for flavour in $(of_arch flavours "$1"); do
		printf "linux-%s-$1-$flavour/backports\n" image headers
	done
}

say() { printf '%s: %s\n' "$prog" "$*" >&2; }

# The status of die, which ends a script that cannot go on
failure=1
die() {
	say "$*"
	exit "$failure"
}

# Prefix of a command that needs root: empty for root. For an ordinary user it
# enters a user namespace as its root, with all of the user's subordinate ids.
# The sandbox tree belongs to these ids, so whoever touches it must use them.
find_as_root() {
	as_root=()
	[ -z "$in_image" ] || return 0
	if [ "$EUID" = 0 ]; then
		unshare --mount --pid --fork true 2>/dev/null ||
			die "root here may not make namespaces (a container without CAP_SYS_ADMIN?)"
		return
	fi
	as_root=(unshare --user --map-root-user --map-auto --)
	command -v newuidmap >/dev/null ||
		die "neither root nor the package uidmap: run as root, or let root install uidmap"
	"${as_root[@]}" true 2>/dev/null ||
		die "neither root nor user namespaces with subordinate ids (see subuid(5)): run as root"
}

# in_use DIR: whether a guest runs on what is kept in DIR, of which it has the lock
in_use() { [ -e "$1/lock" ] && ! flock --nonblock "$1/lock" true; }

# forget_orphans DIR: what was kept in DIR/*/ of a file that is gone; DIR/*/source
# names the file. Prints their names. What is in use stays.
forget_orphans() {
	local source path

	for source in "$1"/*/source; do
		[ -e "$source" ] || continue
		path=$(cat "$source")
		[[ $path != /* ]] || [ -e "$path" ] || in_use "${source%/source}" || {
			"${as_root[@]}" rm -rf "${source%/source}"
			basename "${source%/source}"
		}
	done
}

# in_sandbox [[--tree] DIR PLACE]... -- COMMAND [ARG...]: run COMMAND in the tree, and
# return its status. Each DIR of the host is writable at PLACE. With --tree it is
# read-only, with what is mounted below it. COMMAND and all that it starts live in a
# process namespace that ends with COMMAND or with this shell, even if that is killed.
in_sandbox() {
	local child status end=KILL
	local enter=("${as_root[@]}" setpriv --pdeathsig KILL
		unshare --mount --pid --fork --kill-child -- "$top/scripts/lib/enter")

	if [ -n "$in_image" ]; then
		enter=(setpriv --pdeathsig TERM "$top/scripts/lib/enter-image")
		end=TERM
	else
		mkdir -p "$build/view"
	fi
	"${enter[@]}" "$@" <&0 &
	child=$!
	# shellcheck disable=SC2064 # this child
	trap "kill -$end $child${in_image:+; wait $child}" EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	wait "$child" && status=0 || status=$?
	trap - EXIT HUP INT TERM
	return "$status"
}
