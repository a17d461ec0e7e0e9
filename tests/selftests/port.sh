#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# The state of the RDMA port is that of the netdev, and programs are told when
# it changes. What the administrator calls the device is kept over a reset.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
for program in ibv_asyncwatch ibv_devinfo rdma; do
	command -v "$program" >/dev/null || skip "no $program"
done
ktap_set_plan 6
trap restore EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"

port=/sys/class/infiniband/$near_rdma/ports/1

# is STATE PHYSICAL-STATE, as verbs, sysfs and rdma(8) tell them
is() {
	ibv_devinfo -v -d "$near_rdma" | grep -q "state:.*PORT_$1 " &&
		grep -q ": $1$" "$port/state" &&
		grep -q ": $2$" "$port/phys_state" &&
		rdma link show "$near_rdma/1" | grep -qi "state $1 .*physical_state ${3-$2} "
}

active() { is ACTIVE LinkUp LINK_UP; }
disabled() { is DOWN Disabled; }

saw() { [ "$(grep -c "$1" "$watched")" -ge "$2" ]; }

events() {
	watch "$near_rdma" || return
	for i in 1 2 3; do
		ip link set "$near" down && wait_for disabled &&
			wait_for saw 'IBV_EVENT_PORT_ERR' $i &&
			ip link set "$near" up && wait_for active &&
			wait_for saw 'IBV_EVENT_PORT_ACTIVE' $i || return
	done
	cat "$watched"
	end_watch
}

# Since 6.14 events come from the RDMA core, which finds one device of a netdev
# (ib_netdevice_event() in drivers/infiniband/core/device.c).
core_dispatches() { printf '%s\n' 6.14 "$(uname -r)" | sort -CV; }

# The netdev may also be that of an RDMA device of another driver
events_beside_another() {
	local status

	modprobe rdma_rxe && rdma link add mynic_rxe type rxe netdev "$near" || return
	events
	status=$?
	rdma link delete mynic_rxe
	return $status
}

# Requests wait for the port, and go on when it is there again
waits() {
	local pid

	ip address replace "$near_ip6/64" dev "$near" nodad
	rping -s -a "$near_ip" -C 20 -V &
	pid=$!
	wait_for listening || return
	timeout "$PATIENCE" ip netns exec "$ns" rping -c -a "$near_ip" -C 20 -V
	wait "$pid"
}

# rdma-ndd(8) sets the description.
described() {
	local sysfs=/sys/class/infiniband/mynic_named status

	cat "/sys/class/infiniband/$near_rdma/node_desc" &&
		rdma dev set "$near_rdma" name mynic_named &&
		echo -n 'node 7' >"$sysfs/node_desc" &&
		grep -qx 'node 7' "$sysfs/node_desc" &&
		echo 1 >"/sys/bus/pci/devices/${pci[0]}/reset" && wait_for is_up &&
		grep -qx 'node 7' "$sysfs/node_desc"
	status=$?
	rdma dev set mynic_named name "$near_rdma" || status=1
	return $status
}

result "active" wait_for active
result "down, up, and events" events
if core_dispatches; then
	skipped="events beside another RDMA device"
	ktap_test_skip "$skipped: this kernel has no event for a second one"
else
	result "events beside another RDMA device" events_beside_another
fi
result "active again" wait_for active
result "traffic again" waits
result "name and description" described
ktap_finished
