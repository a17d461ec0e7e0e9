#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# The PTP hardware clock of the NIC, and the time stamps that frames get by it.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
[ -e /sys/class/ptp ] || skip "this kernel has no PTP clocks"
ktap_set_plan 9
trap 'stamps off >/dev/null; restore' EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"

function=/sys/bus/pci/devices/${pci[0]}

stamps() { "$here/ptp_stamps" "$near" "$@"; }

both_ways() { stamps received "$far_ip" && stamps sent "$far_ip"; }

on() { stamps on && both_ways; }

off() { stamps off && stamps unstamped "$far_ip"; }

# The time of day, to a minute
begins_right() {
	local shown

	shown=$(stamps time) && shown=$((shown / 1000000000 - $(date +%s))) &&
		echo "$shown s from the time of day" &&
		[ "${shown#-}" -lt 60 ]
}

kept_over_reset() {
	stamps on && stamps early && echo 1 >"$function/reset" &&
		wait_for carrier "" "$near" && configure && both_ways && stamps still_early
}

# A process that has it open is told that it is gone.
goes_away() {
	local clock status=0

	clock=$(echo "$function"/ptp/ptp*)
	exec {open}<"/dev/${clock##*/}" || return
	echo "${pci[0]}" >/sys/bus/pci/drivers/mynic/unbind || status=1
	fails_with "No such device" dd of=/dev/null bs=32 count=1 <&"$open" || status=1
	[ ! -e "$clock" ] || status=1
	echo "${pci[0]}" >/sys/bus/pci/drivers/mynic/bind && configure || status=1
	exec {open}<&-
	stamps info && return $status
}

result "it has a clock" stamps info
result "the clock begins with the time of day" begins_right
result "the clock can be set" stamps set
result "its rate can be changed" stamps rate
result "frames are stamped both ways" on
result "what it cannot stamp is refused" stamps refused
result "frames are not stamped" off
result "clock and stamps outlast a reset" kept_over_reset
result "a clock that is open goes away" goes_away
ktap_finished
