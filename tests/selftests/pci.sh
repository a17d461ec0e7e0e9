#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# The PCI function: removal and return, with and without users, and resets.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
ktap_set_plan 12
trap restore EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"

function=/sys/bus/pci/devices/${pci[0]}
gone() { [ ! -e "$function" ]; }

rescan() {
	echo 1 >/sys/bus/pci/rescan
	wait_for is_bound
}

remove() {
	echo 1 >"$function/remove"
	wait_for gone && rescan
}

works() { configure && ping_far; }

# One process has the device open, and another one has traffic
remove_with_users() {
	local flood status

	configure || return
	ping -q -f "$far_ip" >/dev/null 2>&1 &
	flood=$!
	watch "$near_rdma" && remove && wait_for saw_fatal
	status=$?
	kill "$flood" 2>/dev/null
	wait "$flood" 2>/dev/null
	end_watch
	return $status
}

flr() { echo 1 >"$function/reset" && wait_for is_bound; }

flr_with_traffic() {
	local flood

	ping -q -f "$far_ip" >/dev/null 2>&1 &
	flood=$!
	for _ in 1 2 3; do
		flr || return
	done
	kill "$flood"
	wait "$flood" 2>/dev/null
	return 0
}

# The transmit queue is never empty, so it must stay stopped during the reset
flr_while_sending() {
	local status=0

	start_blasts 2 || return
	for _ in {1..20}; do
		flr || status=1
	done
	end_blasts
	return $status
}

bind() {
	echo "${pci[0]}" >/sys/bus/pci/drivers/mynic/unbind || return
	no_rdma || return
	echo "${pci[0]}" >/sys/bus/pci/drivers/mynic/bind && wait_for is_bound
}

# The function is enabled once, however often its slot is reset
slot_resets() {
	local before

	before=$(cat "$function/enable")
	for _ in 1 2; do
		flr && caller frozen && wait_for is_bound || return
	done
	[ "$(cat "$function/enable")" = "$before" ] && ping_far
}

# The device goes on, and nobody is told
harmless_error() {
	local status

	watch "$near_rdma" || return
	caller harmless && ping_far && [ "$(rdma_of "${pci[0]}")" = "$near_rdma" ] &&
		! saw_fatal
	status=$?
	end_watch
	return $status
}

# Nothing that the driver does brings it back
slot_is_lost() {
	local status=0

	watch "$near_rdma" || return
	caller lost && wait_for saw_fatal && no_rdma && ! carrier "" "$near" || status=1
	end_watch
	bind && works && return $status
}

# As far as tasks freeze, which lasts some seconds
go_to_sleep() {
	echo freezer >/sys/power/pm_test && echo freeze >/sys/power/state
}

# Only what put the device to sleep wakes it up.
flr_asleep() {
	[ -e /sys/power/pm_test ] || {
		echo "no CONFIG_PM_DEBUG"
		return 1
	}
	caller asleep go_to_sleep && wait_for is_bound && works
}

# After shutdown, nothing brings the device up again until the driver is bound
# again
shuts_down() {
	local status=0

	break_device
	caller shutdown && no_master && echo 1 >"$function/reset" &&
		no_rdma && no_master && caller frozen && no_rdma && no_master ||
		status=1
	bind || status=1
	device_is_whole
	return $status
}

result "remove and rescan" remove
result "remove and rescan with users" remove_with_users
result "unbind and bind" bind
result "works after that" works
result "function level reset with traffic" flr_with_traffic
result "function level reset while sending" flr_while_sending
# The netdev and its addresses outlive it
result "works after that, as it was" ping_far
result "resets of the slot" slot_resets
result "an error that does no harm" harmless_error
result "an error that the slot does not survive" slot_is_lost
result "function level reset while the system goes to sleep" flr_asleep
result "shutdown" shuts_down
ktap_finished
