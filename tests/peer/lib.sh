# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# Common parts of the tests with two guests: waiting and results.

PATIENCE=300

# wait_for CONDITION...: waits until it holds; fails if that takes too long
wait_for() {
	local end=$((SECONDS + PATIENCE))

	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

number=0
failures=0

ok() {
	number=$((number + 1))
	echo "ok $number - $1"
}

not_ok() {
	number=$((number + 1))
	failures=$((failures + 1))
	echo "not ok $number - $1"
}

# result NAME COMMAND...: a test that passes if COMMAND does
result() {
	local text

	if text=$("${@:2}" 2>&1); then
		ok "$1"
	else
		printf '%s\n' "$text" | tail -n 25 | sed 's/^/# /'
		not_ok "$1"
	fi
}

# Somebody waits for connections at a TCP port, or a program does by rdma_cm
listens() { ss -Hltn "sport = :$1" | grep .; }
listens_by_cm() { rdma resource show cm_id | grep "state LISTEN.*comm $1"; }

# status_is STATUS COMMAND...
status_is() {
	local status=0

	"${@:2}" || status=$?
	[ "$status" = "$1" ] || echo "status $status"
	[ "$status" = "$1" ]
}

# A kernel, or those that COMMAND runs dmesg in, have reported nothing of mynic. rxe
# reports each request that fails, which does not matter.
no_warning() { # [COMMAND]
	! "$@" dmesg -l emerg,alert,crit,err,warn |
		grep mynic |
		grep -v 'mynic: loading out-of-tree module\|mynic: module verification failed'
}

no_bug() { # [COMMAND]
	! "$@" dmesg | grep -E 'WARNING:|BUG:|Oops|Call Trace|rcu.*stall|hung task'
}

finish() {
	echo "1..$number"
	[ "$failures" = 0 ]
}

# control COMMAND...: has the host give a command to the device model; see
# scripts/with-control. Prints the answer. Fails if none comes.
exec 8<&0 9>&1
control() {
	local line

	# An answer that is late would be taken for that of the next command.
	[ ! -e /run/control-lost ] || return 1
	echo "control: $*" >&9
	while IFS= read -rt "$PATIENCE" line <&8; do
		case $line in
		"> "*) echo "${line#> }" ;;
		"= "*) return "${line#= }" ;;
		esac
	done
	touch /run/control-lost
	return 1
}
