#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# Connections made by rdma_cm, over IPv4 and IPv6, between two devices.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
for program in rping ucmatose udaddy mckey cmtime rdma rdma_xserver rdma_xclient; do
	command -v "$program" >/dev/null || skip "no $program"
done
modprobe -qa rdma_ucm ib_uverbs
[ -c /dev/infiniband/rdma_cm ] || skip "no rdma_cm"
ktap_set_plan 9
trap restore EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"

# pair PROGRAM SERVER-ARGS -- CLIENT-ARGS; the client of rdma_xserver has its own name
pair() {
	local program=$1 server=() pid status

	shift
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	timeout $((2 * PATIENCE)) "$program" "${server[@]}" &
	pid=$!
	wait_for listening &&
		timeout "$PATIENCE" ip netns exec "$ns" "${program/xserver/xclient}" "$@" &&
		wait "$pid"
	status=$?
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	wait_for not_listening || status=1
	return $status
}

# A peer that is not there, and one that does not listen
nobody() { ! timeout "$PATIENCE" rping -c -a "$1" -C 1; }

# The RDMA core has no such groups on RoCE v2: Documentation/errors.rst
no_ipv6_group() {
	fails_with "error 524" timeout "$PATIENCE" mckey -m ff0e::77 -b "$near_ip6" -C 1
}

result "rping over IPv4" pair rping -s -a "$near_ip" -C 10 -V -- \
	-c -a "$near_ip" -C 10 -V
result "rping over IPv6" pair rping -s -a "$near_ip6" -C 10 -V -- \
	-c -a "$near_ip6" -C 10 -V
result "ucmatose" pair ucmatose -b "$near_ip" -c 4 -C 20 -- \
	-s "$near_ip" -c 4 -C 20
result "udaddy" pair udaddy -b "$near_ip" -C 10 -- -s "$near_ip" -C 10
result "cmtime" pair cmtime -b "$near_ip" -c 20 -- -s "$near_ip" -c 20
result "no group of IPv6" no_ipv6_group
# Its SRQ is in the protection domain that librdmacm finds in the target QP.
result "rdma_xserver with XRC" pair rdma_xserver -c x -- -s "$near_ip" -c x
result "rping, nobody listens" nobody "$far_ip"
result "rping after that" pair rping -s -a "$near_ip" -C 3 -V -- \
	-c -a "$near_ip" -C 3 -V
ktap_finished
