#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# Counters of the RDMA device and of the netdev change as they should. Those of
# errors are in error_counters.c.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
for program in rdma ibv_rc_pingpong ethtool; do
	command -v "$program" >/dev/null || skip "no $program"
done
ktap_set_plan 9
trap restore EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"

# The names of all counters, sorted, as sysfs has them
names() {
	find "/sys/class/infiniband/$near_rdma/ports/1/hw_counters" -type f \
		-printf '%f\n' | grep -vx lifespan | LC_ALL=C sort
}

rdma_statistic() {
	names | diff - <(rdma statistic show link "$near_rdma/1" |
		tr -s ' ' '\n' | grep -x '[a-z_]\+' | grep -vx link |
		LC_ALL=C sort)
}

# The sum of all counters of that device whose names match $1
sum() {
	local dir=/sys/class/infiniband/$near_rdma/ports/1/hw_counters

	find "$dir" -name "$1" -exec cat {} + | awk '{ s += $1 } END { print s + 0 }'
}

pingpong() {
	local pid status

	ibv_rc_pingpong -d "$near_rdma" -g "$(gid_index "$near_rdma" "$near_ip")" -n 100 &
	pid=$!
	wait_for listening_tcp
	timeout "$PATIENCE" ip netns exec "$ns" ibv_rc_pingpong -d "$far_rdma" \
		-g "$(gid_index "$far_rdma" "$far_ip")" -n 100 "$near_ip"
	status=$?
	wait "$pid" || status=1
	return $status
}

moves() {
	local before after

	before=$(sum '*rdma_packets')
	pingpong || return
	after=$(sum '*rdma_packets')
	echo "$before to $after"
	# 100 messages of 4 KiB each way
	[ $((after - before)) -ge 200 ]
}

errors() { sum '*bad_*' && sum 'rx_drop_*' && sum '*exceeded' && sum '*_errors'; }

no_errors() {
	local before

	before=$(errors)
	pingpong || return
	diff <(echo "$before") <(errors)
}

# Statistics of ethtool, by name and value
statistics() { ethtool -S "$near" | sed -n 's/^ *\([a-z_]*\): \([0-9]*\)$/\1 \2/p'; }

# Statistics of ethtool that the device does not count
of_the_driver=$(printf '%s\n' queue_restarts xdp_{drop,failed,redirect,tx})

# Those of the RDMA device, and of the driver
ethtool_statistics() {
	{
		names
		echo "$of_the_driver"
	} | LC_ALL=C sort | diff - <(statistics | cut -d ' ' -f 1 | LC_ALL=C sort)
}

# Values of ethtool, read a moment after those of sysfs, are as large or larger
same_values() {
	local name value

	declare -A seen
	while read -r name value; do
		seen[${name#./}]=$value
	done < <(cd "/sys/class/infiniband/$near_rdma/ports/1/hw_counters" &&
		grep . ./* | tr : ' ')
	while read -r name value; do
		echo "$name: ${seen[$name]} and $value"
		[ "$value" -ge "${seen[$name]}" ] || return
	done < <(statistics | grep -vwF "$of_the_driver")
	[ "${seen[tx_rdma_packets]}" -ge 200 ]
}

# between LEAST FILE COMMAND...: the value of FILE is not below LEAST, nor above what COMMAND
# then prints
between() {
	local value

	value=$(<"$2")
	echo "${2##*/}: $1 <= $value <= $("${@:3}")"
	[ "$1" -le "$value" ] && [ "$value" -le "$("${@:3}")" ]
}

# Data is in units of four bytes.
words() { echo $(($(sum "$1") / 4)); }

# The counters of performance management, as tools for InfiniBand read them, are
# those of the device
performance_management() {
	local dir=/sys/class/infiniband/$near_rdma/ports/1/counters file name downed

	for file in "$dir"/*; do
		[[ $(<"$file") =~ ^[0-9]+$ ]] || return
	done
	for name in rx/rcv tx/xmit; do
		between "$(sum "${name%/*}_rdma_packets")" "$dir/port_${name#*/}_packets" \
			sum "${name%/*}_rdma_packets" &&
			between "$(words "${name%/*}_rdma_bytes")" "$dir/port_${name#*/}_data" \
				words "${name%/*}_rdma_bytes" || return
	done
	# at least 100 messages of 4 KiB each way
	[ "$(<"$dir/port_xmit_data")" -ge 102400 ] || return
	downed=$(<"$dir/link_downed")
	ip link set "$near" down && ip link set "$near" up &&
		wait_for carrier "" "$near" && wait_for gid_index "$near_rdma" "$near_ip" &&
		between $((downed + 1)) "$dir/link_downed" echo $((downed + 1))
}

qp_statistic() { rdma statistic qp "$1" link "$near_rdma/1" "${@:2}"; }

# The value of counter $1 of the QPs that have counters
of_qps() { qp_statistic show | awk -v name="$1" '$1 == name { print $2 }'; }

# hold: a process with an RC QP, $holder, that waits for a peer; sets lqpn
hold() {
	ibv_rc_pingpong -d "$near_rdma" -g "$(gid_index "$near_rdma" "$near_ip")" -n 100 &
	holder=$!
	wait_for listening_tcp || return
	lqpn=$(rdma resource show qp link "$near_rdma/1" |
		sed -n "s/.* lqpn \([0-9]*\) .* pid $holder .*/\1/p")
	[ -n "$lqpn" ]
}

# The held process answers this peer, and ends
meet() {
	timeout "$PATIENCE" ip netns exec "$ns" ibv_rc_pingpong -d "$far_rdma" \
		-g "$(gid_index "$far_rdma" "$far_ip")" -n 100 "$near_ip" &&
		wait "$holder"
}

by_type() {
	local before after status=0

	qp_statistic set auto type on || return
	hold || return
	qp_statistic mode
	qp_statistic show | head -n 1
	qp_statistic show | grep -q 'cntn [0-9]* qp-type RC' || status=1
	[ "$(of_qps tx_rdma_packets)" = 0 ] || status=1
	before=$(sum '*rdma_packets')
	meet || status=1
	# The port keeps the counts of objects that are gone
	after=$(sum '*rdma_packets')
	echo "$before to $after"
	[ $((after - before)) -ge 200 ] || status=1
	[ -z "$(of_qps tx_rdma_packets)" ] || status=1
	qp_statistic set auto off || return
	return $status
}

by_hand() {
	local id

	hold || return
	qp_statistic bind lqpn "$lqpn" || return
	id=$(qp_statistic show | sed -n 's/.* cntn \([0-9]*\).*/\1/p')
	echo "set $id for QP $lqpn"
	qp_statistic show | grep -qw "LQPN: <$lqpn>" || return
	qp_statistic unbind cntn "$id" lqpn "$lqpn" || return
	[ -z "$(of_qps tx_rdma_packets)" ] || return
	meet
}

# Values of ethtool include QPs with and without counters
with_bound() {
	qp_statistic set auto type,pid on || return
	pingpong && same_values || return
	qp_statistic set auto off
}

result "rdma statistic shows all" rdma_statistic
result "packets are counted" moves
result "nothing counts as an error" no_errors
result "ethtool shows all" ethtool_statistics
result "ethtool shows the same" same_values
result "counters of performance management" performance_management
result "QPs of a type have counters" by_type
result "a QP gets counters, and loses them" by_hand
result "ethtool shows those of QPs, too" with_bound
ktap_finished
