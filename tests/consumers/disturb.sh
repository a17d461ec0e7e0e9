# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2317 # lib.sh sets them; called by name
# What may happen to a NIC while it is used. Each function takes it, as the
# directory of its PCI function, and the number that the device model gives it,
# and ends when the NIC works again, or, for "die", when the driver knows that it
# never will.

# How long an outage lasts, which is part of the disturbance, in seconds
OUTAGE=2
# Longer than the driver waits for an answer before it looks what is wrong
STALL=14

# Whether it happens to both NICs, wherever it is asked for
hits_both() { [[ $1 =~ ^(die|stall|suspend)$ ]]; }

# Whether the NIC there is lost without a word to those who use it
is_death() { [[ $1 =~ ^(die|stall)$ ]] || { [[ $1 =~ ^(fail|hang)$ ]] && [ "$2" = near ]; }; }

none() { :; }

link() {
	control link "nic$2" down && sleep "$OUTAGE" && control link "nic$2" up
}

is_there() { [ -n "$(ls "$1/infiniband" 2>/dev/null)" ] && ls "$1/net"; }
is_gone() { [ ! -e "$1" ]; }

reset() { echo 1 >"$1/reset" && wait_for is_there "$1"; }

remove() {
	echo 1 >"$1/remove" && wait_for is_gone "$1" &&
		echo 1 >/sys/bus/pci/rescan && wait_for is_there "$1"
}

rebind() {
	echo "${1##*/}" >/sys/bus/pci/drivers/mynic/unbind &&
		echo "${1##*/}" >/sys/bus/pci/drivers/mynic/bind &&
		wait_for is_there "$1"
}

# With the whole guest, but for its processors, which wake it up again. Nothing that
# can be frozen runs meanwhile.
suspend() {
	echo devices >/sys/power/pm_test && echo freeze >/sys/power/state &&
		wait_for is_there "$1"
}

# It stops with an error, and says so.
fail() { provoke "$1" fatal; }

# It no longer answers, as the driver sees it.
hang() { provoke "$1" hang; }

provoke() {
	local before

	before=$(failures "$1")
	devlink health test "pci/${1##*/}" reporter "$2" &&
		wait_for failed_more "$1" "$before" && wait_for is_there "$1"
}

# The device model does nothing for some time, with commands pending. For the
# driver it is dead then, until it goes on.
stall() {
	local before over

	before=$(failures "$1")
	control stall "$STALL" &
	over=$!
	until ended "$over"; do
		ethtool -S "$(ls "$1/net")" >/dev/null
	done
	wait "$over" && failed_more "$1" "$before" && wait_for is_there "$1"
}

# It ends under the NIC.
die() {
	local before

	before=$(failures "$1")
	control kill && wait_for failed_more "$1" "$before"
}

failures() { dmesg | grep -c "mynic ${1##*/}.*device failed"; }
failed_more() { [ "$(failures "$1")" -gt "$2" ]; }
