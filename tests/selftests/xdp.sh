#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# XDP programs on the network interface.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
command -v ethtool >/dev/null || skip "no ethtool"
ktap_set_plan 12
trap 'ip link set "$near" xdp off; ip link set "$near" mtu "$mtu"; restore' EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"

function=/sys/bus/pci/devices/${pci[0]}
mtu=$(cat "/sys/class/net/$near/mtu")
programs=/sys/fs/bpf/mynic-selftest
mountpoint -q /sys/fs/bpf || mount -t bpf none /sys/fs/bpf ||
	ktap_exit_fail_msg "there is no place for programs"

# attach KIND [IFINDEX]
attach() {
	[ ! -e "$programs" ] || rm "$programs"
	"$here/xdp_load" "$programs" "$@" || return
	ip -force link set "$near" xdpdrv pinned "$programs"
	local status=$?
	rm -f "$programs"
	[ $status = 0 ] && wait_for carrier "" "$near"
}

detach() { ip link set "$near" xdp off && wait_for carrier "" "$near"; }

counted() { [ "$(nic_counter "$1")" -ge "$2" ]; }

near_mac=$(cat "/sys/class/net/$near/address")

# The far end sends frames: see frames.c. The time is limited, as a frame may never
# come back.
send() { # KIND [ARGUMENT...]
	in_netns "$ns" timeout "$PATIENCE" "$here/frames" "$1" "$far" "$near_mac" "${@:2}"
}

# frames NUMBER [back]: so many of each length
frames() { send lengths "$@"; }

# How many those are
lengths=7

# gets KIND COUNTER: the program sees all frames, and the interface counts them
gets() {
	local before

	attach "$1" || return
	before=$(nic_counter "$2")
	frames 20 && wait_for counted "$2" $((before + 20 * lengths)) && ping_far && return
	echo "$2 was $before"
	ethtool -S "$near" | grep -v ': 0$'
	return 1
}

goes_back() { # COUNTER KIND...
	local before

	attach "${@:2}" || return
	before=$(nic_counter "$1")
	frames 20 back && counted "$1" $((before + 20 * lengths)) && ping_far
}

# The program sees the tag of a frame. It is still there when the frame is back,
# where the interface takes it out.
tag_comes_back() { attach vlan && send tagged; }

# Other frames cannot be told from those that come without a program.
passes() { attach "$1" && ping_far && pings -s 1472 "$far_ip"; }

too_large() {
	local text status=0

	detach && set_mtu 9000 || return
	text=$(attach drop 2>&1) && status=1
	echo "$text"
	grep -q "with XDP at most" <<<"$text" || status=1
	pings -s 8972 "$far_ip" || status=1
	set_mtu 1500 && attach drop &&
		fails_with "greater than device maximum" ip link set "$near" mtu 9000 &&
		ping_far && return $status
}

# The program stays, whatever becomes of the queues
kept_over_reset() {
	gets drop xdp_drop && echo 1 >"$function/reset" &&
		wait_for carrier "" "$near" && configure || return
	local before

	before=$(nic_counter xdp_drop)
	frames 20 && wait_for counted xdp_drop $((before + 20 * lengths)) && ping_far
}

# The link stays up while queues are made for a program, and without one.
another_in_traffic() {
	local changes pinging status=0

	changes=$(cat "/sys/class/net/$near/carrier_changes")
	ping -q -i 0.01 "$far_ip" >/dev/null &
	pinging=$!
	for _ in 1 2 3; do
		attach tx && frames 2 back && attach drop && frames 2 && detach || status=1
	done
	kill "$pinging"
	wait "$pinging" 2>/dev/null
	[ "$(cat "/sys/class/net/$near/carrier_changes")" = "$changes" ] && ping_far &&
		return $status
}

removed() {
	attach drop && detach && ping_far && ! ip -d link show "$near" | grep -q prog/xdp
}

set_mtu 1500
# A new carrier is not used at once, and what is sent until then is lost.
wait_for ping_far || ktap_exit_fail_msg "no traffic"
result "drops frames" gets drop xdp_drop
result "drops frames of programs that fail" gets aborted xdp_drop
result "drops frames of programs that say nothing known" gets unknown xdp_drop
result "sends frames back" goes_back xdp_tx tx
result "sends frames to an interface" \
	goes_back xdp_redirect redirect "$(cat "/sys/class/net/$near/ifindex")"
result "sends VLAN tags back" tag_comes_back
result "passes frames with metadata" passes meta
result "has room before frames" passes head
result "a frame has to fit one page" too_large
result "programs come and go in traffic" another_in_traffic
result "a program outlasts a reset" kept_over_reset
result "without a program" removed
ktap_finished
