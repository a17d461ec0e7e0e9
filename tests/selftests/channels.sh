#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# The queues of the network interface: how many there are, which frames they get,
# and what they count.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
for program in ethtool socat python3; do
	command -v "$program" >/dev/null || skip "no $program"
done
[ "$(nproc)" -ge 2 ] || skip "one processor"
ktap_set_plan 3
trap restore EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"

function=/sys/bus/pci/devices/${pci[0]}
most=$(($(nproc) < 16 ? $(nproc) : 16))

ping_far() { ping -c 3 -i 0.2 -W "$PATIENCE" "$far_ip"; }

# queues DIRECTION: how many there are
queues() { find "/sys/class/net/$near/queues" -name "$1-*" | wc -l; }

# flows [NUMBER [PROTOCOL]]: the far end sends frames of many flows
flows() {
	in_netns "$ns" python3 - "$near_ip" "${1-400}" "${2-udp}" <<'END'
import socket, sys
to, number = sys.argv[1], int(sys.argv[2])
for i in range(number):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("", 20000 + i))
        s.sendto(b"x" * 100, (to, 9))
END
}

# interrupts VECTOR: how many of them have come
interrupts() {
	awk -v name="mynic-comp$1@pci:${pci[0]}" '$NF == name {
		for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) sum += $i
		print sum }' /proc/interrupts
}

interrupts_grew() { [ "$(interrupts "$1")" -gt "$2" ]; }

as_many_as_processors() {
	echo "$(queues rx) and $(queues tx) queues, $(nproc) processors"
	[ "$(queues rx)" = "$most" ] && [ "$(queues tx)" = "$most" ]
}

spread() {
	local before=() i

	for ((i = 1; i <= most; i++)); do
		before[i]=$(interrupts "$i")
	done
	flows || return
	for ((i = 1; i <= most; i++)); do
		wait_for interrupts_grew "$i" "${before[i]}" || return
	done
}

# A processor sends with the queue whose interrupts it has
senders() {
	local i

	for ((i = 0; i < most; i++)); do
		[ "$((16#$(tr -d , <"/sys/class/net/$near/queues/tx-$i/xps_cpus") >> i & 1))" = 1 ] ||
			return
	done
}

result "a queue for each processor" as_many_as_processors
result "frames of many flows come to all queues" spread
result "each processor has a queue to send with" senders
ktap_finished
