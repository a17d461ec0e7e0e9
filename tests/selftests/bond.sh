#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# Connections to the addresses of a bond (active-backup) of NICs, whose active one
# has the bond's GIDs. With a third NIC, the bond changes between two, which keep
# their MACs, because NICs on one switch may not have the same.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
command -v rdma >/dev/null || skip "no rdma"
modprobe -qa rdma_ucm ib_uverbs
modprobe -q bonding max_bonds=0
[ -c /dev/infiniband/rdma_cm ] || skip "no rdma_cm"
[ -d /sys/module/bonding ] || skip "this kernel has no bonding"
if [ "${#pci[@]}" -gt 2 ]; then
	ktap_set_plan 8
	third=$(netdev_of "${pci[2]}" | cut -d' ' -f2)
	third_rdma=$(rdma_of "${pci[2]}")
else
	ktap_set_plan 5
fi
trap 'remove; restore' EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"

bond=bondtest third_ns=
bond_ip=203.0.113.1 bond_ip6=2001:db8:b::1

enslave() { ip link set "$1" down && ip link set "$1" master $bond; }

add() {
	ip link add $bond mtu "$(cat "/sys/class/net/$near/mtu")" type bond \
		mode active-backup miimon 20 fail_over_mac active || return
	enslave "$near" || return
	ip address add $bond_ip/24 dev $bond &&
		ip address add $bond_ip6/64 dev $bond nodad &&
		ip link set $bond up &&
		ip -n "$ns" address add 203.0.113.2/24 dev "$far" &&
		ip -n "$ns" address add 2001:db8:b::2/64 dev "$far" nodad &&
		wait_for carrier "" $bond &&
		wait_for gid_index "$near_rdma" $bond_ip
}

remove() {
	ip link delete $bond 2>/dev/null
	[ -z "${near-}" ] || ip link set "$near" up
	[ -z "$third_ns" ] || give_third_back
}

# active RDMA-DEVICE OTHER: the first one alone has the GIDs of the bond
active() {
	wait_for gid_index "$1" $bond_ip && wait_for no_gid "$2" $bond_ip
}

# The far side may have the MAC of another NIC, and learn the bond's at any time.
both_families() {
	ip -n "$ns" neigh flush dev "$far"
	connections 10 disorder $bond_ip && connections 10 disorder $bond_ip6
}

add_third() {
	third_ns=$(netdev_of "${pci[2]}" | cut -d' ' -f1)
	if [ -n "$third_ns" ]; then
		third_ip=$(ip -n "$third_ns" -4 -br address show dev "$third" |
			awk '{ print $3 }')
		ip -n "$third_ns" link set "$third" netns "$$" || return
	fi
	ip address flush dev "$third" && enslave "$third" && both_families
}

give_third_back() {
	ip link set "$third" netns "$third_ns" &&
		ip -n "$third_ns" link set "$third" up &&
		ip -n "$third_ns" address add "$third_ip" dev "$third"
	third_ns=
}

change() {
	ip link set $bond type bond active_slave "$third" &&
		active "$third_rdma" "$near_rdma" && both_families
}

# A NIC without a link
fail_over() {
	ip link set "$third" down && active "$near_rdma" "$third_rdma" && both_families
}

gone() {
	remove
	wait_for no_gid "$near_rdma" $bond_ip && configure &&
		wait_for gid_index "$near_rdma" "$near_ip" &&
		connections 10 disorder "$near_ip"
}

result "set up" add
result "connections over IPv4" connections 10 disorder $bond_ip
result "connections over IPv6" connections 10 disorder $bond_ip6
result "connections over IPv6, link-local" over_link_local $bond "$far"
if [ "${#pci[@]}" -gt 2 ]; then
	result "connections with another NIC in the bond" add_third
	result "connections after a change to that" change
	result "connections after it has gone down" fail_over
fi
result "connections without the bond" gone
ktap_finished
