# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2317 # lib.sh sets them; called by name
# Disturbances of a NIC in use. The function of NAME is disturb_NAME. Its arguments
# are the directory of the NIC's PCI function, and its number in the device model.
# It ends when the NIC works again, or, for "kill", when the driver has given it up.

# Length of an outage that a disturbance includes, in seconds
OUTAGE=2
# Longer than the driver waits for an answer before it checks the device
STALL=14

# Whether a disturbance always affects both NICs
hits_both() { [[ $1 =~ ^(kill|stall|suspend)$ ]]; }

# Whether the NIC is lost without notice to its users
is_failure() { [[ $1 =~ ^(kill|stall)$ ]] || { [[ $1 =~ ^(fail|hang)$ ]] && [ "$2" = near ]; }; }

disturb_none() { :; }

disturb_link() {
	control link "nic$2" down && sleep "$OUTAGE" && control link "nic$2" up
}

# A queue pair in use fails, and with it the connection. The NIC lives.
disturb_broken() {
	local status=0

	control fault add "nic$2,kind=qp-error,after=50,count=1" &&
		wait_for applied || status=$?
	# A rule that has met nothing must not meet the next scenario.
	control fault clear && return $status
}
applied() { control fault list | grep " applied 1"; }

is_there() { [ -n "$(ls "$1/infiniband" 2>/dev/null)" ] && ls "$1/net"; }
is_gone() { [ ! -e "$1" ]; }

disturb_reset() { echo 1 >"$1/reset" && wait_for is_there "$1"; }

disturb_remove() {
	echo 1 >"$1/remove" && wait_for is_gone "$1" &&
		echo 1 >/sys/bus/pci/rescan && wait_for is_there "$1"
}

disturb_rebind() {
	echo "${1##*/}" >/sys/bus/pci/drivers/mynic/unbind &&
		echo "${1##*/}" >/sys/bus/pci/drivers/mynic/bind &&
		wait_for is_there "$1"
}

# Suspends the guest except for its processors, which wake it up again. All
# tasks that can be frozen stop meanwhile.
disturb_suspend() {
	echo devices >/sys/power/pm_test && echo freeze >/sys/power/state &&
		wait_for is_there "$1"
}

# The device stops with an error.
disturb_fail() { provoke "$1" fatal; }

# The device appears to hang.
disturb_hang() { provoke "$1" hang; }

provoke() {
	local before

	before=$(failures "$1")
	devlink health test "pci/${1##*/}" reporter "$2" &&
		wait_for failed_more "$1" "$before" && wait_for is_there "$1"
}

# The device model is stopped for some time, with pending commands. To the
# driver it is dead until it continues.
disturb_stall() {
	local before over

	before=$(failures "$1")
	control stall "$STALL" &
	over=$!
	until ended "$over"; do
		ethtool -S "$(ls "$1/net")" >/dev/null
	done
	wait "$over" && failed_more "$1" "$before" && wait_for is_there "$1"
}

# The device model ends.
disturb_kill() {
	local before

	before=$(failures "$1")
	control kill && wait_for failed_more "$1" "$before"
}

failures() { dmesg | grep -c "mynic ${1##*/}.*device failed"; }
failed_more() { [ "$(failures "$1")" -gt "$2" ]; }
