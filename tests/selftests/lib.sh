# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# What the scripts share: devices, addresses, waiting, results.
# shellcheck disable=SC2034 # the scripts use what is set here

here=$(dirname "$(readlink -f "$0")")
# shellcheck disable=SC1091 # of a kernel tree
. "${KSELFTEST_DIR:-$here/..}/kselftest/ktap_helpers.sh"

PATIENCE=300

# Nothing is ever written here, so reading with a limit is a pause without a
# process, which an emulated machine takes long to make.
exec {never}<> <(:)

# wait_for CONDITION...: waits until it holds; fails if that takes too long. The
# pauses grow, because looking may cost more than what is waited for.
wait_for() {
	local end=$((SECONDS + PATIENCE)) tenths=1

	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		read -rt "$((tenths / 10)).$((tenths % 10))" -u "$never"
		tenths=$((tenths < 5 ? 2 * tenths : 10))
	done
}

# PCI addresses of all mynics, in order
functions() {
	local dir vendor device

	for dir in /sys/bus/pci/devices/*; do
		{ read -r vendor <"$dir/vendor" && read -r device <"$dir/device"; } || continue
		[ "$vendor $device" != "0x1af4 0x10f0" ] || echo "${dir##*/}"
	done 2>/dev/null
}

# The names in the directory $1, if it is there
names_in() {
	local found=("$1"/*)

	[ ! -e "${found[0]}" ] || printf '%s\n' "${found[@]##*/}"
}

# The RDMA device of the PCI function $1
rdma_of() { names_in "/sys/bus/pci/devices/$1/infiniband"; }

# in_netns NS COMMAND...: "" is the namespace that we are in
in_netns() {
	if [ -z "$1" ]; then
		"${@:2}"
	else
		ip netns exec "$@"
	fi
}

# ip_in NS ARGUMENT...: ip, which enters the namespace itself
ip_in() {
	if [ -z "$1" ]; then
		ip "${@:2}"
	else
		ip -n "$@"
	fi
}

# "NS NETDEV" of the PCI function $1, wherever it is
netdev_of() {
	local ns dev

	dev=$(names_in "/sys/bus/pci/devices/$1/net")
	if [ -n "$dev" ]; then
		echo "" "$dev"
		return
	fi
	for ns in /run/netns/*; do
		dev=$(in_netns "${ns##*/}" ls "/sys/bus/pci/devices/$1/net" 2>/dev/null)
		if [ -n "$dev" ]; then
			echo "${ns##*/}" "$dev"
			return
		fi
	done
	return 1
}

skip() {
	ktap_skip_all "$1"
	exit "$KSFT_SKIP"
}

# need NUMBER: skips the test without so many mynics or without root; sets pci
need() {
	[ "$(id -u)" = 0 ] || skip "not root"
	mapfile -t pci < <(functions)
	[ "${#pci[@]}" -ge "$1" ] || skip "fewer than $1 mynic devices"
	command -v ip >/dev/null || skip "no ip"
}

far_ns=mynic-selftest

# Sets addresses of the first two functions, the second in a separate namespace.
# Sets near and far (netdevs), ns (of far), near_rdma and far_rdma.
configure() {
	local found old

	[ -e "/run/netns/$far_ns" ] || ip netns add "$far_ns"
	found=$(netdev_of "${pci[1]}") || return
	old=${found% *} far=${found#* } ns=$far_ns
	[ "$old" = "$ns" ] || ip_in "$old" link set "$far" netns "$ns" || return
	found=$(netdev_of "${pci[0]}") || return
	near=${found#* }
	[ -z "${found% *}" ] || return
	near_rdma=$(rdma_of "${pci[0]}")
	far_rdma=$(rdma_of "${pci[1]}")
	one_end "" "$near" 1 && one_end "$ns" "$far" 2
}

near_ip=192.0.2.1 far_ip=192.0.2.2
near_ip6=2001:db8::1 far_ip6=2001:db8::2

# pings [OPTION...] ADDRESS
pings() { ping -c 3 -i 0.2 -W "$PATIENCE" "$@"; }
ping_far() { pings "$far_ip"; }

one_end() {
	ip_in "$1" -force -batch - <<-END
		link set lo up
		address flush dev $2 scope global
		link set $2 up
		address add 192.0.2.$3/24 dev $2
		address add 2001:db8::$3/64 dev $2 nodad
	END
	wait_for carrier "$1" "$2"
}

carrier() {
	local state

	if [ -n "$1" ]; then
		[[ $(ip -n "$1" -oneline link show dev "$2") = *LOWER_UP* ]]
	else
		read -r state <"/sys/class/net/$2/carrier" && [ "$state" = 1 ]
	fi
}

# The first NIC has its RDMA device, and with it a netdev or a link.
has_rdma() { [ -n "$(rdma_of "${pci[0]}")" ]; }
no_rdma() { ! has_rdma; }
is_bound() { has_rdma && netdev_of "${pci[0]}"; }
is_up() { has_rdma && carrier "" "$near"; }

# The MTU of both NICs
set_mtu() {
	ip link set "$near" mtu "$1" && ip -n "$ns" link set "$far" mtu "$1"
}

# A counter of the first NIC
nic_counter() { ethtool -S "$near" | sed -n "s/^ *$1: //p"; }

# gid_index RDMA-DEVICE IPV4: index of the GID of an address
gid_index() {
	local bytes end index gid

	IFS=. read -r -a bytes <<<"$2"
	printf -v end 'ffff:%02x%02x:%02x%02x' "${bytes[@]}"
	for ((index = 0; ; index++)); do
		read -r gid 2>/dev/null <"/sys/class/infiniband/$1/ports/1/gids/$index" ||
			return
		[[ $gid != *"$end" ]] || {
			echo "$index"
			return
		}
	done
}

no_gid() { ! gid_index "$@"; }

# A program waits for connections, by rdma_cm or by TCP as the pingpongs do
listening() { rdma resource show cm_id | grep -q 'state LISTEN'; }
not_listening() { ! listening; }
listening_tcp() { ss -Hltn 'sport = :18515' | grep -q .; }

# Restore the original configuration
restore() {
	local dev

	[ -z "${ns-}" ] || [ ! -e "/run/netns/$ns" ] || {
		dev=$(netdev_of "${pci[1]}")
		dev=${dev#* }
		[ -z "$dev" ] || ip -n "$ns" link set "$dev" netns "$$"
		ip netns delete "$ns"
	}
}

# A copy for what results of tests do not show
exec {shown}>&1

# Objects of all devices, and queue pairs in the device's eyes
rdma_objects() {
	rdma resource show
	rdma -rd resource show qp | grep -c '^link '
}

objects_are() { [ "$(rdma_objects)" = "$1" ]; }

# connections COUNT END SERVER [CLIENT]: the program of that name, after which there
# are as many objects as before. Shows its rates. Packets are as long as the client's
# MTU allows, and tests before may have left the server a smaller one.
connections() {
	local before text status=0

	ip -n "$ns" link set "$far" mtu "$(cat "/sys/class/net/$near/mtu")" || return
	before=$(rdma_objects)
	text=$("$here/connections" "${@:1:3}" "${4-$3}" "$ns" 2>&1) || status=1
	echo "$text"
	[ $status = 1 ] || echo "# $text" >&"$shown"
	wait_for objects_are "$before" || {
		diff <(echo "$before") <(rdma_objects)
		return 1
	}
	return $status
}

# The link-local address of NETDEV, once it may be used
link_local() {
	ip -6 -o address show dev "$1" scope link -tentative |
		sed -n 's/.* inet6 \([^/]*\).*/\1/p' | grep .
}

# over_link_local NEAR FAR: connections between the link-local addresses of netdevs
over_link_local() {
	local address

	wait_for link_local "$1" && address=$(link_local "$1") &&
		connections 10 disorder "$address%$1" "$address%$2"
}

# fails_with WORDS COMMAND...: COMMAND fails, and says WORDS
fails_with() {
	local text

	text=$("${@:2}" 2>&1) && return 1
	echo "$text"
	[[ $text = *"$1"* ]]
}

# watch RDMA-DEVICE: keeps the device open in the background. Its events are in
# $watched; the process is $watcher
watch() {
	watched=$(mktemp)
	stdbuf -oL ibv_asyncwatch -d "$1" >"$watched" 2>&1 &
	watcher=$!
	wait_for grep -q 'async event FD' "$watched"
}

saw_fatal() { grep -q IBV_EVENT_DEVICE_FATAL "$watched"; }

end_watch() {
	kill "$watcher" 2>/dev/null
	wait "$watcher" 2>/dev/null
	rm -f "$watched"
}

# Sends frames without a pause to a group without members
blast() {
	exec >"/dev/udp/239.192.0.2/9" || return
	while :; do
		dd if=/dev/zero bs=60000 count=100 2>/dev/null
	done
}

# Starts $1 blasts from $near, so fast that its transmit queue stays full
start_blasts() {
	# shellcheck disable=SC2154 # the script sets it
	quiet_mtu=$(cat "/sys/class/net/$near/mtu")
	blasts=()
	ip link set "$near" mtu 1500 &&
		ip route replace 239.192.0.2 dev "$near" || return
	while [ ${#blasts[@]} -lt "$1" ]; do
		blast &
		blasts+=($!)
	done
}

end_blasts() {
	kill "${blasts[@]}"
	wait "${blasts[@]}" 2>/dev/null
	ip route delete 239.192.0.2 dev "$near"
	ip link set "$near" mtu "$quiet_mtu"
}

# Bytes of the configuration space of $function: PLACE [VALUE]
config() {
	if [ $# -gt 1 ]; then
		# shellcheck disable=SC2059,SC2154 # an escape is made; the script sets it
		printf "\\x$(printf %x "$2")" |
			dd of="$function/config" bs=1 seek="$1" conv=notrunc 2>/dev/null
	else
		od -An -tu1 -j "$1" -N 1 "$function/config" | tr -d ' '
	fi
}

# Bits of the command register
# shellcheck disable=SC2034 # the script uses them
memory=2 master=4

no_master() { [ $(($(config 4) & master)) = 0 ]; }

# caller CALL [COMMAND...]: see modules/pci_caller.c, which is loaded meanwhile
caller() {
	local status=0

	insmod "$here/modules/$(uname -r)/pci_caller.ko" function="${pci[0]}" call="$1" ||
		return
	"${@:2}" || status=$?
	rmmod pci_caller && return $status
}

# Offset of the capability $1
capability() {
	local at

	at=$(config 52)
	while [ "$at" -gt 0 ]; do
		if [ "$(config "$at")" = "$1" ]; then
			echo "$at"
			return
		fi
		at=$(config $((at + 1)))
	done
	return 1
}

# Number of failures of the first device with a message that begins with $1
failures() { dmesg | grep -c "mynic ${pci[0]}.*device failed: $1"; }

# Masks interrupts of $function; sets control to the old value
mask_interrupts() {
	at=$(capability 17) || return
	control=$(config $((at + 3)))
	config $((at + 3)) $((control | 64))
}

unmask_interrupts() { config $((at + 3)) "$control"; }

# From break_device to device_is_whole, the kernel may report errors of mynic.
# dmesg.sh ignores the lines in between.
break_device() { echo "<3>mynic selftest: the device fails now" >/dev/kmsg; }
device_is_whole() { echo "<3>mynic selftest: the device is whole" >/dev/kmsg; }

# result NAME COMMAND...: a test that passes if COMMAND does
result() {
	local text

	if text=$("${@:2}" 2>&1); then
		ktap_test_pass "$1"
	else
		printf '%s\n' "$text" | tail -n 40 | sed 's/^/# /'
		ktap_test_fail "$1"
		# What has broken may break all that follows.
		PATIENCE=120
	fi
}
