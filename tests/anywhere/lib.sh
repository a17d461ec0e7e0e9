# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034 # scripts that include it use them
#
# What the tests of scripts/vm share. They run on the host.

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
top=$PWD
vm=("$top/scripts/vm")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0
failed=0

result() { # STATUS NAME
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number - $2"
	else
		echo "not ok $number - $2"
		failed=1
	fi
}

skip() { # NAME REASON
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

finish() {
	echo "1..$number"
	exit $failed
}

# refused STATUS WORDS ARG...: scripts/vm ends with STATUS and one line that has WORDS,
# and leaves nothing behind.
refused() {
	local status=0 before

	before=$(left)
	scripts/vm "${@:3}" -- true >"$work/output" 2>&1 || status=$?
	[ "$status" = "$1" ] && [ "$(wc -l <"$work/output")" = 1 ] &&
		grep -qF -e "$2" "$work/output" &&
		nothing_new "$before"
	status=$?
	[ $status = 0 ] || sed 's/^/# /' "$work/output"
	result $status "refused, with the words \"$2\""
}

nothing_new() { [ -z "$(comm -13 <(echo "$1") <(left))" ]; }

# What is kept of files that are gone may be removed meanwhile.
left() { find build/kernels build/images -mindepth 1 -maxdepth 1 ! -name '.*' 2>/dev/null | sort; }

# guest NAME EXPECTED ARG...: what a guest prints is EXPECTED.
guest() {
	local status=0

	"${vm[@]}" --timeout 600 "${@:3}" >"$work/output" 2>"$work/errors" </dev/null ||
		status=$?
	echo "status $status" >>"$work/output"
	diff <(printf '%s\nstatus 0\n' "$2") "$work/output" >"$work/diff"
	status=$?
	[ $status = 0 ] || sed 's/^/# /' "$work/diff" "$work/errors"
	result $status "$1"
}

# A root that has nothing but what it needs, with a libibverbs at another place
small_tree() {
	local tree=$work/small root=build/root library

	mkdir -p "$tree"/{bin,lib64,opt/rdma,etc/ld.so.conf.d,usr/lib/x86_64-linux-gnu}
	cp "$root/usr/bin/busybox" "$tree/bin/"
	for library in sh grep touch cat pwd echo; do
		ln -s busybox "$tree/bin/$library"
	done
	cp "$root"/usr/bin/ibv_{devinfo,rc_pingpong} "$tree/bin/"
	cp -L "$root/lib64/ld-linux-x86-64.so.2" "$tree/lib64/"
	for library in libc.so.6 libnl-3.so.200 libnl-route-3.so.200; do
		cp -L "$root/usr/lib/x86_64-linux-gnu/$library" "$tree/usr/lib/x86_64-linux-gnu/"
	done
	cp -L "$root/usr/lib/x86_64-linux-gnu/libibverbs.so.1" "$tree/opt/rdma/"
	echo /opt/rdma >"$tree/etc/ld.so.conf.d/rdma.conf"
}
