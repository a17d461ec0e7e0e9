#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# Counters of the RDMA device and of the netdev move as they should.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
for program in rdma ibv_rc_pingpong ethtool; do
	command -v "$program" >/dev/null || skip "no $program"
done
ktap_set_plan 4
trap restore EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"

counters() { rdma -p statistic show link "$near_rdma/1"; }

# The sum of all counters of that device whose names match $1
sum() {
	local dir=/sys/class/infiniband/$near_rdma/ports/1/hw_counters

	find "$dir" -name "$1" -exec cat {} + | awk '{ s += $1 } END { print s + 0 }'
}

listening() { ss -Hltn 'sport = :18515' | grep -q .; }

gid_index() { # DEVICE IPV4
	local bytes hex gid

	IFS=. read -r -a bytes <<<"$2"
	hex=$(printf '%02x%02x:%02x%02x' "${bytes[@]}")
	for gid in "/sys/class/infiniband/$1/ports/1/gids"/*; do
		if grep -q "ffff:$hex" "$gid"; then
			echo "${gid##*/}"
			return
		fi
	done
	return 1
}

pingpong() {
	local pid status

	ibv_rc_pingpong -d "$near_rdma" -g "$(gid_index "$near_rdma" "$near_ip")" -n 100 &
	pid=$!
	wait_for listening
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

no_errors() {
	local name value

	while read -r name value; do
		case $name in
		*bad_* | *overrun* | *retry_exceeded*)
			echo "$name $value"
			[ "$value" = 0 ] || return
			;;
		esac
	done < <(cd "/sys/class/infiniband/$near_rdma/ports/1/hw_counters" &&
		grep . ./* | tr : ' ')
}

ethtool_statistics() { ethtool -S "$near" | grep -q '[0-9]'; }

result "rdma statistic" counters
result "packets are counted" moves
result "nothing counts as an error" no_errors
result "ethtool statistics" ethtool_statistics
ktap_finished
