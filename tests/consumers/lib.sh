# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# Two NICs of one guest with a wire between them, and time limits for steps.
# shellcheck disable=SC2034 # the scripts use what is set here

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/peer/lib.sh
. "$here/../peer/lib.sh"

near_ip=192.0.2.1 far_ip=192.0.2.2

# PCI addresses of both NICs, which stay the same when a NIC comes back.
mapfile -t functions < <(
	for dir in /sys/bus/pci/devices/*; do
		[ "$(cat "$dir/vendor" "$dir/device" | paste -sd' ')" != "0x1af4 0x10f0" ] ||
			echo "${dir##*/}"
	done
)
near=/sys/bus/pci/devices/${functions[0]}
far=/sys/bus/pci/devices/${functions[1]}

# The netdev of the NIC $1. The kernel's consumers know only the first namespace,
# so it is fetched if scripts/vm has put it into another.
netdev_of() {
	local dev

	dev=$(ip netns exec nic1 ls "$1/net" 2>/dev/null)
	[ -z "$dev" ] || ip -n nic1 link set "$dev" netns 1 || return
	ls "$1/net"
}

carrier() { [ "$(cat "/sys/class/net/$1/carrier")" = 1 ]; }

# has_gid NIC IPV4: whether it has the address for RDMA
has_gid() {
	local bytes

	IFS=. read -r -a bytes <<<"$2"
	grep -q "$(printf 'ffff:%02x%02x:%02x%02x' "${bytes[@]}")" \
		"$1"/infiniband/*/ports/1/gids/*
}

# one_end NIC IPV4 OTHER-IPV4 TABLE. A netdev that is new has the default MTU. The
# other NIC knows nothing of that, and would send it packets that are too long.
one_end() {
	local dev

	dev=$(netdev_of "$1") || return
	ip link set "$dev" mtu 9000 up &&
		ip address replace "$2/24" dev "$dev" &&
		echo 1 >"/proc/sys/net/ipv4/conf/$dev/accept_local" &&
		ip route replace "$3" dev "$dev" src "$2" table "$4" || return
	[ -n "$(ip rule show pref "$4")" ] ||
		ip rule add pref "$4" to "$3" iif lo lookup "$4" || return
	wait_for carrier "$dev" && wait_for has_gid "$1" "$2"
}

# Both NICs are in one namespace. Routing rules before the table of local
# addresses make packets to the other one cross the wire.
network() {
	# No pipe, because a program fails if it writes to one that grep has
	# closed.
	[ -n "$(ip rule show pref 100)" ] || {
		ip rule add pref 100 lookup local && ip rule del pref 0
	} || return
	one_end "$near" "$near_ip" "$far_ip" 10 &&
		one_end "$far" "$far_ip" "$near_ip" 11 &&
		ping -c 1 -W "$PATIENCE" "$far_ip"
}

ended() { ! kill -0 "$1" 2>/dev/null; }

# Processes that cannot be woken
stuck() {
	local dir

	for dir in /proc/[0-9]*; do
		grep -q '^State:.D' "$dir/status" 2>/dev/null || continue
		echo "stuck: $(cat "$dir/comm")"
		cat "$dir/stack"
	done
}

# ends COMMAND...: runs a command. Fails if it has not ended after PATIENCE; it
# may be impossible to kill then, so its end is not waited for.
ends() {
	"$@" &
	wait_for ended $! || {
		echo "no end for $PATIENCE s: $*"
		stuck
		return 1
	}
	wait $!
}

# Status of "run" if data is wrong, which is worse than a failure
WRONG_DATA=99

# verified_writes FIO-OPTION...: 16 MiB at random, in pieces of many lengths, each
# with a checksum that is compared in the end
verified_writes() {
	local status

	fio --name=verify --size=16M --direct=1 --iodepth=16 --rw=randwrite \
		--bsrange=4k-256k --verify=crc32c --verify_fatal=1 \
		--randseed="$RANDOM" "$@" 2>&1 | tee "$dir/fio" && status=0 || status=$?
	! grep -q 'verify: bad' "$dir/fio" || return "$WRONG_DATA"
	return "$status"
}

# until_cable_is_back ERROR COMMAND...: COMMAND may be for less time than the cable
# is away, and end with ERROR. Then somebody would start it again.
until_cable_is_back() {
	local status

	# shellcheck disable=SC2154 # scenario sets it
	while :; do
		"${@:2}" >"$dir/attempt" 2>&1 && status=0 || status=$?
		cat "$dir/attempt"
		[ "$disturbance" = link ] || return "$status"
		grep -q "$1" "$dir/attempt" || return "$status"
	done
}

# serve COMMAND...: a server that listens by rdma_cm
serve() {
	"$@" >"$dir/server" 2>&1 &
	echo $! >"$dir/pid"
	wait_for listens_by_cm "$1"
}

end_server() {
	local pid

	pid=$(cat "$dir/pid")
	kill "$pid" 2>/dev/null
	wait_for ended "$pid"
}
