# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# Applications between two NICs: near is the first one, and far is in the namespace nic1
# or in the second node. What has worked is what the NICs have carried.
# shellcheck disable=SC2034,SC2016 # the scripts use what is set here; other shells expand

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/peer/lib.sh
. "$here/../peer/lib.sh"
built=/mynic/build/check/applications
near_ip=192.168.77.1
near_nic=mynic_0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if [ -e /run/mynic/hostfile ]; then
	two_guests=1 far_nic=mynic_0
else
	two_guests='' far_nic=mynic_1
fi

# far COMMAND...: runs it on the other side
far() {
	if [ -n "$two_guests" ]; then node 2 "$@"; else ip netns exec nic1 "$@"; fi
}

# The sandbox has no changelogs, and the tree has no dpkg to ask.
version() { # PACKAGE
	dpkg-query -Wf '${Version}' "$1" 2>/dev/null ||
		zcat /usr/share/doc/"$1"/changelog.Debian.gz | sed -n '1s/^[^(]*(\([^)]*\)).*/\1/p'
}

# Bytes that a NIC has sent by RDMA, and of Ethernet frames. In a namespace, /sys has no
# more than the network of it.
rdma_bytes='cat "/sys/class/infiniband/$1/ports/1/hw_counters/tx_rdma_bytes"'
network_bytes='cat /sys/class/net/eth*/statistics/tx_bytes'
read_figures() {
	sh -c "$rdma_bytes" sh "$near_nic" && sh -c "$network_bytes" || return
	${two_guests:+far} sh -c "$rdma_bytes" sh "$far_nic" && far sh -c "$network_bytes"
}

# carried BYTES COMMAND...: COMMAND has to succeed, while both NICs send so many bytes by
# RDMA together. What they send for the network, as by TCP, cannot have been these.
carried() {
	local -a before after
	local rdma network

	mapfile -t before < <(read_figures)
	"${@:2}" || return
	mapfile -t after < <(read_figures)
	rdma=$((after[0] - before[0] + after[2] - before[2]))
	network=$((after[1] - before[1] + after[3] - before[3]))
	echo "$((after[0] - before[0])) bytes by RDMA from near," \
		"$((after[2] - before[2])) from far, $network for the network" | tee "$tmp/carried"
	[ "$rdma" -ge "$1" ] && [ $((network * 2)) -lt "$1" ]
}

# works PACKAGE PROGRAM TRANSPORT BYTES COMMAND...: a test that carried is true. NOTE is
# the exception, if there is one.
works() {
	local failed=$failures

	rm -f "$tmp/carried"
	result "$2 ($1 $(version "$1")), $3: works${NOTE:+ except; $NOTE}" carried "${@:4}"
	[ "$failed" != "$failures" ] || sed 's/^/# /' "$tmp/carried"
}

# cannot PACKAGE PROGRAM TRANSPORT WHOSE TEXT COMMAND...: a test that COMMAND fails, and
# says TEXT. NOTE says why. When it works, the test fails, and the table must change.
cannot() {
	result "$2 ($1 $(version "$1")), $3: cannot, $4; $NOTE" fails_with "${@:5}"
}

fails_with() { # TEXT COMMAND...
	local status=0

	"${@:2}" >"$tmp/failure" 2>&1 || status=$?
	cat "$tmp/failure"
	[ "$status" != 0 ] && grep -qF -- "$1" "$tmp/failure"
}

# ready PID CONDITION...: whether a server is, or has ended already
ready() { ! kill -0 "$1" || "${@:2}"; }

# idle CONDITION: nobody listens who would have the next client. Children of a server
# may end after it.
# shellcheck disable=SC2086 # words
idle() { ! $1; }

# pair CONDITION SERVER CLIENT [ARG...]: functions. SERVER runs in the background until it
# has ended, and CLIENT when CONDITION, words, holds. Both have to succeed.
pair() {
	local status=0 pid

	"$2" "${@:4}" >"$tmp/server" 2>&1 &
	pid=$!
	# shellcheck disable=SC2086 # words
	wait_for ready "$pid" $1
	"$3" "${@:4}" || status=$?
	[ "$status" = 0 ] || kill "$pid" 2>/dev/null
	wait "$pid" || status=$?
	wait_for idle "$1" || status=1
	[ "$status" = 0 ] || cat "$tmp/server"
	return "$status"
}

# beside CONDITION SERVER CLIENT [ARG...]: the same with a SERVER that is ended
beside() {
	local status=0 pid

	"$2" >"$tmp/server" 2>&1 &
	pid=$!
	# shellcheck disable=SC2086 # words
	wait_for ready "$pid" $1
	"$3" "${@:4}" || status=$?
	pkill -P "$pid"
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	wait_for idle "$1" || status=1
	[ "$status" = 0 ] || cat "$tmp/server"
	return "$status"
}
