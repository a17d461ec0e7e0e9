#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# RDMA over VLANs: GIDs of the VLAN's interface, traffic, connections, groups.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
for program in rping udaddy mckey ibv_{rc,uc,ud}_pingpong rdma; do
	command -v "$program" >/dev/null || skip "no $program"
done
modprobe -qa rdma_ucm ib_uverbs
ktap_set_plan 13
trap 'remove; restore' EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"

vlan=mynictest.7
near_vlan_ip=198.51.100.1 far_vlan_ip=198.51.100.2
near_vlan_ip6=2001:db8:7::1

one_vlan() { # NS NETDEV NUMBER
	ip_in "$1" link add link "$2" name "$vlan" type vlan id 7 \
		egress-qos-map 0:3 &&
		ip_in "$1" address add "198.51.100.$3/24" dev "$vlan" &&
		ip_in "$1" address add "2001:db8:7::$3/64" dev "$vlan" nodad &&
		ip_in "$1" link set "$vlan" up
}

add() { one_vlan "" "$near" 1 && one_vlan "$ns" "$far" 2; }

remove() {
	ip link delete "$vlan" 2>/dev/null
	ip -n "$ns" link delete "$vlan" 2>/dev/null
}

# The GID of the address is there, and is the VLAN's
has_gid() { # RDMA-DEVICE IPV4 NETDEV
	local index

	index=$(gid_index "$1" "$2") &&
		[ "$(cat "/sys/class/infiniband/$1/ports/1/gid_attrs/ndevs/$index")" = "$3" ]
}

# sysfs shows netdevs of this namespace only
gids() {
	wait_for has_gid "$near_rdma" "$near_vlan_ip" "$vlan" &&
		wait_for gid_index "$far_rdma" "$far_vlan_ip"
}

no_gids() {
	remove
	wait_for no_gid "$near_rdma" "$near_vlan_ip" &&
		wait_for no_gid "$far_rdma" "$far_vlan_ip"
}

# both READY PROGRAM SERVER-ARGS -- CLIENT-ARGS
both() {
	local ready=$1 program=$2 server=() pid status

	shift 2
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	timeout $((2 * PATIENCE)) "$program" "${server[@]}" &
	pid=$!
	wait_for "$ready" &&
		timeout "$PATIENCE" ip netns exec "$ns" "$program" "$@" &&
		wait "$pid"
	status=$?
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	wait_for not_listening || status=1
	return $status
}

pingpong() {
	both listening_tcp "$1" -d "$near_rdma" -n 100 \
		-g "$(gid_index "$near_rdma" "$near_vlan_ip")" -- \
		-d "$far_rdma" -n 100 \
		-g "$(gid_index "$far_rdma" "$far_vlan_ip")" "$near_ip"
}

joined() { grep -q 'joined dgid' "$out"; }

# group ADDRESS NEAR FAR: messages from the far side to a group of the near one
group() {
	local pid status

	out=$(mktemp)
	stdbuf -oL timeout $((2 * PATIENCE)) mckey -m "$1" -b "$2" -C 5 >"$out" &
	pid=$!
	wait_for joined &&
		timeout "$PATIENCE" ip netns exec "$ns" mckey -m "$1" -s -b "$3" -C 5 &&
		wait "$pid"
	status=$?
	cat "$out"
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	rm -f "$out"
	return $status
}

forget_neighbours() {
	ip neigh flush all
	ip -n "$ns" neigh flush all
}

# VLANs take over a new MAC of the interface below, unless they have their own
new_mac() {
	local old status

	old=$(cat "/sys/class/net/$near/address")
	ip link set "$near" address 02:00:5e:10:20:31 || return
	forget_neighbours
	pingpong ibv_rc_pingpong
	status=$?
	ip link set "$near" address "$old"
	forget_neighbours
	return $status
}

result "set up" add
result "GIDs" gids
result "RC" pingpong ibv_rc_pingpong
result "UC" pingpong ibv_uc_pingpong
result "UD" pingpong ibv_ud_pingpong
result "rping over IPv4" both listening rping -s -a "$near_vlan_ip" -C 5 -V -- \
	-c -a "$near_vlan_ip" -C 5 -V
result "rping over IPv6" both listening rping -s -a "$near_vlan_ip6" -C 5 -V -- \
	-c -a "$near_vlan_ip6" -C 5 -V
result "connections over IPv6, link-local" over_link_local "$vlan" "$vlan"
result "udaddy" both listening udaddy -b "$near_vlan_ip" -C 5 -- \
	-s "$near_vlan_ip" -C 5
result "group without a VLAN" group 239.192.0.3 "$near_ip" "$far_ip"
result "group in the VLAN" group 239.192.0.3 "$near_vlan_ip" "$far_vlan_ip"
result "new MAC" new_mac
result "GIDs go" no_gids
ktap_finished
