#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# Processors go offline and come back, with traffic and while the driver is bound.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
compgen -G '/sys/devices/system/cpu/cpu*/online' >/dev/null ||
	skip "no processor can go offline"
ktap_set_plan 2
trap finish EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"

cpus=/sys/devices/system/cpu

finish() {
	for_each_other set_online 1
	restore
}

for_each_other() { # COMMAND...
	local dir

	for dir in "$cpus"/cpu[0-9]*; do
		[ ! -e "$dir/online" ] || "$1" "${dir##*cpu}" "${@:2}" || return
	done
}

set_online() { echo "$2" >"$cpus/cpu$1/online"; } # CPU 0|1

is_online() { [ ! -e "$cpus/cpu$1/online" ] || [ "$(cat "$cpus/cpu$1/online")" = 1 ]; }

# IRQs of vectors 1 and up
comp_irqs() {
	sed -n "s/^ *\([0-9]*\):.*mynic-comp\([0-9]*\)@pci:${pci[0]}\$/\2 \1/p" /proc/interrupts |
		sort -n | cut -d' ' -f2
}

# hint_of VECTOR NUM: the mask of the first online processor whose number, modulo
# that of the vectors, is the vector's; or 0
hint_of() {
	local cpu

	for ((cpu = 0; cpu < $(nproc --all); cpu++)); do
		if [ $((cpu % $2 + 1)) = "$1" ] && is_online "$cpu"; then
			echo $((1 << cpu))
			return
		fi
	done
	echo 0
}

vectors_are_online() {
	local irqs i cpu hint

	mapfile -t irqs < <(comp_irqs)
	[ "${#irqs[@]}" -gt 0 ] || return
	for i in "${!irqs[@]}"; do
		hint=$((16#$(tr -d , <"/proc/irq/${irqs[i]}/affinity_hint")))
		cpu=$(cat "/proc/irq/${irqs[i]}/effective_affinity_list")
		echo "vector $((i + 1)): hint $hint, processor $cpu"
		[ "$hint" = "$(hint_of $((i + 1)) ${#irqs[@]})" ] || return
		[ -z "$cpu" ] || is_online "$cpu" || return
	done
}

rebind() {
	echo "${pci[0]}" >/sys/bus/pci/drivers/mynic/unbind &&
		echo "${pci[0]}" >/sys/bus/pci/drivers/mynic/bind && wait_for is_bound
}

rping_far() {
	local pid status

	timeout "$PATIENCE" rping -s -a "$near_ip" -C 20 -V &
	pid=$!
	wait_for listening &&
		timeout "$PATIENCE" ip netns exec "$ns" rping -c -a "$near_ip" -C 20 -V
	status=$?
	wait "$pid" && return $status
}

bound_without() { # CPU
	local status=0

	set_online "$1" 0 || return
	rebind && vectors_are_online && configure && ping_far && rping_far || status=1
	set_online "$1" 1
	ping_far && rping_far && return $status
}

# The vectors of a processor that goes offline move to others.
off_and_on() { # CPU
	local status=0

	set_online "$1" 0 || return
	ping_far && rping_far || status=1
	set_online "$1" 1 && return $status
}

with_traffic() {
	local flood status=0

	rebind && configure || return
	ping -q -f "$far_ip" >/dev/null 2>&1 &
	flood=$!
	for _ in 1 2 3; do
		for_each_other off_and_on || status=1
	done
	kill "$flood"
	wait "$flood" 2>/dev/null
	ping_far && return $status
}

result "the driver is bound while one is offline" for_each_other bound_without
result "they go and come with traffic" with_traffic
ktap_finished
