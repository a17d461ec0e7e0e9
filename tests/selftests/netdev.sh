#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# The Ethernet side: two netdevs, one of them in a separate namespace.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
ktap_set_plan 29
tracing=/sys/kernel/tracing
[ -e $tracing/events ] || mount -t tracefs none $tracing 2>/dev/null
files=$(mktemp -d)
trap 'restore; rm -rf "$files"' EXIT
head -c 8000000 /dev/urandom >"$files/bytes"
configure || ktap_exit_fail_msg "cannot set up the netdevs"

function=/sys/bus/pci/devices/${pci[0]}

big_ping() {
	set_mtu 9000 && pings -M "do" -s 8972 "$far_ip"
}

# one byte more than fits
too_big_ping() {
	! ping -c 1 -W 1 -M "do" -s 8973 "$far_ip"
}

small_mtu() {
	set_mtu 1280 && pings -M "do" -s 1252 "$far_ip" &&
		! ping -c 1 -W 1 -M "do" -s 1253 "$far_ip"
}

bad_mtu() {
	fails_with "less than device minimum" ip link set "$near" mtu 67 &&
		fails_with "greater than device maximum" ip link set "$near" mtu 100000
}

new_mac() {
	local old new=02:00:5e:10:20:30

	old=$(cat "/sys/class/net/$near/address")
	ip link set "$near" address "$new" || return
	ip neigh flush dev "$near"
	ip -n "$ns" neigh flush dev "$far"
	ping_far &&
		ip -n "$ns" neigh show "$near_ip" | grep -q "$new" &&
		ip link set "$near" address "$old" &&
		ip -n "$ns" neigh flush dev "$far" &&
		ping_far
}

down_up() {
	for _ in 1 2 3 4 5; do
		ip link set "$near" down || return
		! ping -c 1 -W 1 "$far_ip" || return
		ip link set "$near" up || return
		wait_for carrier "" "$near" || return
		ip address replace "$near_ip6/64" dev "$near" nodad
		ping_far || return
	done
}

promisc() {
	ip link set "$near" promisc on && ping_far &&
		ip link set "$near" promisc off && ping_far
}

add_vlan() { # NS NETDEV NAME TAG ADDRESS
	ip_in "$1" link add link "$2" name "$3" type vlan id "$4" &&
		ip_in "$1" address add "$5/24" dev "$3" && ip_in "$1" link set "$3" up
}

# in_vlan COMMAND: runs it while there are VLANs between the two
in_vlan() {
	local status

	add_vlan "" "$near" mynictest.7 7 198.51.100.1 &&
		add_vlan "$ns" "$far" mynictest.7 7 198.51.100.2 && "$1"
	status=$?
	ip link delete mynictest.7
	ip -n "$ns" link delete mynictest.7
	return $status
}

one_tag() { pings 198.51.100.2 && stream 198.51.100.2; }

vlan() { in_vlan one_tag; }

# A VLAN inside another
two_tags() {
	add_vlan "" mynictest.7 mynictest.7.9 9 203.0.113.1 &&
		add_vlan "$ns" mynictest.7 mynictest.7.9 9 203.0.113.2 &&
		ip link set mynictest.7.9 mtu 1496 && pings 203.0.113.2 &&
		ping -c 2 -i 0.1 -W "$PATIENCE" -s 1468 203.0.113.2
}

received() { cat "/sys/class/net/$near/statistics/rx_$1"; }

# Send ten frames with headers of Ethernet, VLAN, IPv4 and ICMP, to which nobody
# answers. No others may arrive meanwhile
tags_count() {
	local packets bytes

	packets=$(received packets)
	bytes=$(received bytes)
	ip netns exec "$ns" ping -q -c 10 -i 0.01 -W 1 -s 1000 198.51.100.1
	[ $(($(received packets) - packets)) = 10 ] &&
		[ $(($(received bytes) - bytes)) = $((10 * (14 + 4 + 20 + 8 + 1000))) ]
}

# A tag without VLAN and priority counts, though the stack does not see it
zero_tag() {
	local status

	add_vlan "$ns" "$far" mynictest.0 0 198.51.100.2 &&
		ip -n "$ns" neigh replace 198.51.100.1 dev mynictest.0 \
			lladdr "$(cat "/sys/class/net/$near/address")" &&
		wait_for tags_count
	status=$?
	ip -n "$ns" link delete mynictest.0
	return $status
}

# The NIC takes tags out of frames, or leaves them to the stack
untagged() {
	local status=0

	feature_is rx-vlan-offload on && ethtool -K "$near" rxvlan off &&
		wait_for carrier "" "$near" && configure && vlan || status=1
	ethtool -K "$near" rxvlan on && wait_for carrier "" "$near" && configure && vlan &&
		return $status
}

# Let $given be the number of frames that the driver gets with their tag beside them
# while the command runs.
count_given() { # COMMAND...
	local status event=$tracing/events/net/net_dev_start_xmit/enable

	echo >"$tracing/trace"
	echo 1 >"$event"
	"$@"
	status=$?
	echo 0 >"$event"
	given=$(grep -c "dev=$near .*vlan_tagged=1" "$tracing/trace")
	echo "$given frames with a tag to be inserted"
	return $status
}

# The NIC inserts tags in frames, or the stack does
tagged() {
	local status=0 before device_before

	wait_for nothing_sent || return
	feature_is tx-vlan-offload on && count_given vlan && [ "$given" -gt 0 ] &&
		wait_for as_many_sent "$before" "$device_before" && in_vlan two_tags &&
		ethtool -K "$near" txvlan off && count_given vlan && [ "$given" = 0 ] &&
		in_vlan two_tags || status=1
	ethtool -K "$near" txvlan on && return $status
}

again() { echo 1 >"$function/reset" && wait_for carrier "" "$near" && configure; }

# After a reset the device may be one that cannot insert tags. The stack does it then,
# though the feature is still on
tagged_after_reset() {
	local status=0

	insmod "$here/modules/$(uname -r)/older_hardware.ko" || return
	again && feature_is tx-vlan-offload on && count_given vlan && [ "$given" = 0 ] ||
		status=1
	rmmod older_hardware
	again && count_given vlan && [ "$given" -gt 0 ] && return $status
}

statistics() {
	local before after

	before=$(cat "/sys/class/net/$near/statistics/tx_packets")
	ping_far || return
	after=$(cat "/sys/class/net/$near/statistics/tx_packets")
	[ $((after - before)) -ge 3 ]
}

rx_dropped() { cat "/sys/class/net/$near/statistics/rx_dropped"; }
dropped_more() { [ "$(rx_dropped)" -ge "$1" ]; }

# The device drops and counts frames to other addresses. The counters of the
# interface are those of the device, even after a reset
drops() {
	local before device_before

	before=$(rx_dropped)
	device_before=$(nic_counter rx_eth_dropped)
	ip -n "$ns" neigh replace 192.0.2.77 lladdr 02:00:5e:00:00:77 \
		dev "$far" || return
	ip netns exec "$ns" ping -q -c 10 -i 0.01 -W 1 192.0.2.77
	ip -n "$ns" neigh delete 192.0.2.77 dev "$far"
	[ "$(nic_counter rx_eth_dropped)" -ge $((device_before + 10)) ] &&
		wait_for dropped_more $((before + 10))
}

drops_after_reset() {
	local before

	before=$(rx_dropped)
	echo 1 >"$function/reset"
	wait_for carrier "" "$near" && configure && dropped_more "$before" && drops
}

logged() { grep -q "selftest line $1\$" "$files/log"; }

# netconsole with more lines than the ring has slots, without interrupts. The
# sender has to poll for completions
netconsole() {
	local at before control mac pid status sysctl=kernel/printk_devkmsg

	before=$(failures '')
	mac=$(ip netns exec "$ns" cat "/sys/class/net/$far/address")
	ip netns exec "$ns" socat -u UDP4-RECV:6666,rcvbuf=4000000 \
		"CREATE:$files/log" &
	pid=$!
	wait_for receiving || return
	echo on >/proc/sys/$sysctl
	modprobe netconsole "netconsole=6665@$near_ip/$near,6666@$far_ip/$mac" &&
		mask_interrupts || return
	for i in {1..700}; do
		echo "<1>selftest line $i" >/dev/kmsg
	done
	wait_for logged 700 && [ "$(failures '')" = "$before" ]
	status=$?
	unmask_interrupts
	modprobe -r netconsole
	kill "$pid"
	wait "$pid" 2>/dev/null
	wc -l "$files/log"
	return $status
}

receiving() { ip netns exec "$ns" ss -Hlun 'sport = :6666' | grep -q .; }

# A stream to $1 arrives as it was sent
stream() {
	local pid status to=${1-$far_ip}

	rm -f "$files/got"
	# What is left of an earlier stream is wrong at each place.
	tail -c "+$((RANDOM + 1))" "$files/bytes" >"$files/sent"
	ip netns exec "$ns" socat -u "TCP4-LISTEN:7777,reuseaddr" "CREATE:$files/got" &
	pid=$!
	wait_for far_listens &&
		timeout $((4 * PATIENCE)) socat -u "OPEN:$files/sent" "TCP4:$to:7777" &&
		wait "$pid" && cmp "$files/sent" "$files/got"
	status=$?
	kill "$pid" 2>/dev/null
	return $status
}

sent() { cat "/sys/class/net/$near/statistics/tx_packets"; }

# Sets before and device_before when nothing is on its way, such as a probe of a neighbour
nothing_sent() {
	before=$(sent)
	device_before=$(nic_counter tx_eth_packets)
	sleep 1
	[ "$(nic_counter tx_eth_packets)" = "$device_before" ] && [ "$(sent)" = "$before" ]
}

as_many_sent() { [ $(($(sent) - $1)) = $(($(nic_counter tx_eth_packets) - $2)) ]; }

bad_checksums() {
	ip netns exec "$ns" nstat -asz |
		awk '/InCsumErrors/ {sum += $2} END {print sum + 0}'
}

feature_is() { ethtool -k "$near" | grep -q "^$1: $2\$"; }

# The device cuts frames and makes their checksums. It counts the frames that
# the interface counts
offloads() {
	local before device_before bad

	wait_for nothing_sent || return
	bad=$(bad_checksums)
	feature_is scatter-gather on && feature_is tx-checksumming on &&
		feature_is tcp-segmentation-offload on && stream &&
		wait_for as_many_sent "$before" "$device_before" &&
		[ "$(bad_checksums)" = "$bad" ]
}

# Frames at the limits of a buffer's pieces, with contents that ping(8) checks
pieces() {
	local size text

	set_mtu 9000 || return
	for size in 0 213 214 215 216 1621 1622 1623 1624 5717 5718 5719 5720 8972; do
		text=$(ping -c 2 -i 0.1 -W "$PATIENCE" -s "$size" "$far_ip") || return
		! grep -q "wrong data byte" <<<"$text" || return
	done
}

# The stack makes sure of what the device may not have
no_rx_checksums() {
	local status=0

	ip netns exec "$ns" ethtool -k "$far" | grep -q '^rx-checksumming: on$' &&
		ip netns exec "$ns" ethtool -K "$far" rx off && stream || status=1
	ip netns exec "$ns" ethtool -K "$far" rx on && return $status
}

# The stack does what the device may not
no_offloads() {
	local feature status=0

	for feature in tso sg tx; do
		ethtool -K "$near" "$feature" off && stream || status=1
	done
	ethtool -K "$near" tx on sg on tso on && feature_is tcp-segmentation-offload on &&
		return $status
}

moderation_is() {
	ethtool -c "$near" | awk '{ set[$1] = $2 } END {
		exit !(set["rx-usecs:"] == 50 && set["rx-frames:"] == 8 &&
		       set["tx-usecs:"] == 100 && set["tx-frames:"] == 16) }'
}

# The device is told how long interrupts may wait, also about new queues: once for
# each CQ
all_told() {
	local queues

	queues=$(find "/sys/class/net/$near/queues" -name '[rt]x-*' | wc -l)
	[ "$(grep -c "dev=${pci[0]}.* opcode=MODIFY_CQ .*status=OK" "$trace")" = "$queues" ]
}

moderation() {
	local status=0 trace event

	trace=$tracing/trace event=$tracing/events/mynic/mynic_cmd_done/enable
	echo 0 >"$event" && echo >"$trace" && echo 1 >"$event" || return
	ethtool -C "$near" adaptive-rx off adaptive-tx off rx-usecs 50 rx-frames 8 \
		tx-usecs 100 tx-frames 16 && moderation_is && all_told &&
		stream && all_told || status=1
	fails_with "at most 65535 usecs" ethtool -C "$near" rx-usecs 65536 && moderation_is ||
		status=1
	echo >"$trace"
	ip link set "$near" down && ip link set "$near" up &&
		wait_for carrier "" "$near" && moderation_is && all_told || status=1
	echo 0 >"$event"
	ethtool -C "$near" adaptive-rx on adaptive-tx on && configure && stream &&
		return $status
}

tried_again() { [ "$(cat /sys/module/netdev_nomem/parameters/tries)" -ge 3 ]; }

# The function of the driver that hears of errors of the interface's queues
error_handler() { sed -n 's/^\([0-9a-f]*\) . mynic_netdev_error\s.*/0x\1/p' /proc/kallsyms; }

# The interface's queues are in error, and there is no memory for new ones. It
# waits for memory, and RDMA is not affected.
no_memory() {
	local before handler status

	before=$(failures '')
	handler=$(error_handler)
	watch "$near_rdma" || return
	insmod "$here/modules/$(uname -r)/netdev_nomem.ko" netdev="$near" \
		handler="$handler" || {
		end_watch
		return 1
	}
	wait_for tried_again && ! carrier "" "$near"
	status=$?
	rmmod netdev_nomem
	wait_for carrier "" "$near" && wait_for ping_far &&
		[ "$(failures '')" = "$before" ] && ! saw_fatal || status=1
	end_watch
	return $status
}

# An error is reported of queues that end. Those that follow are left alone.
error_of_old_queues() { # DURING
	local handler status=0

	handler=$(error_handler)
	insmod "$here/modules/$(uname -r)/netdev_race.ko" netdev="$near" \
		handler="$handler" during="$1" && rmmod netdev_race || status=1
	dmesg | grep netdev_race: | tail -n 1
	configure && ping_far && return $status
}

# Frames come while the interface has no queues. RDMA does not wait for them.
reset_without_memory() {
	local before status=0

	before=$(failures '')
	start_blasts 2 || return
	insmod "$here/modules/$(uname -r)/netdev_nomem.ko" netdev="$near" || status=1
	echo 1 >"/sys/bus/pci/devices/${pci[0]}/reset"
	wait_for tried_again && [ -n "$(rdma_of "${pci[0]}")" ] &&
		! carrier "" "$near" || status=1
	rmmod netdev_nomem
	wait_for carrier "" "$near" || status=1
	end_blasts
	# An address that was asked for while there were no queues is unknown for a while.
	wait_for ping_far && [ "$(failures '')" = "$before" ] && return $status
}

change_macs() {
	local i mac

	for ((i = 0; i < 65536; i++)); do
		printf -v mac '02:00:5e:11:%02x:%02x' $((i / 256)) $((i % 256))
		ip link set "$near" address "$mac"
	done
}

# GIDs are made while the MAC changes. None keeps an old one.
gids_follow() {
	local changer i old status=0 stale=/sys/module/gid_race/parameters/stale

	old=$(cat "/sys/class/net/$near/address")
	insmod "$here/modules/$(uname -r)/gid_race.ko" device="$near_rdma" || return
	change_macs &
	changer=$!
	for i in {11..20}; do
		ip address add "192.0.2.$i/24" dev "$near" || status=1
		wait_for gid_index "$near_rdma" "192.0.2.$i" || status=1
	done
	kill "$changer"
	wait "$changer" 2>/dev/null
	echo "$(cat "/sys/class/net/$near/address"), and $(cat "$stale") GIDs have another"
	[ "$(cat "$stale")" = 0 ] || status=1
	rmmod gid_race
	ip link set "$near" address "$old"
	configure && ping_far && return $status
}

far_listens() { ip netns exec "$ns" ss -Hltn 'sport = :7777' | grep -q .; }

result "ping over IPv4" ping_far
result "ping over IPv6" pings "$far_ip6"
result "MTU 9000" big_ping
result "frames of one piece and of several" pieces
result "nothing longer than the MTU" too_big_ping
result "MTU 1280" small_mtu
result "MTU out of range is refused" bad_mtu
set_mtu 1500
result "MAC address change" new_mac
result "down and up" down_up
result "promiscuous mode" promisc
result "statistics" statistics
if command -v ethtool >/dev/null; then
	result "dropped frames" drops
	result "dropped frames after a reset" drops_after_reset
else
	ktap_test_skip "dropped frames"
	ktap_test_skip "dropped frames after a reset"
fi
if command -v socat >/dev/null; then
	result "TCP stream" stream
	result "VLAN" vlan
else
	ktap_test_skip "TCP stream"
	ktap_test_skip "VLAN"
fi
result "VLAN tags of zero" zero_tag
if command -v socat >/dev/null && command -v ethtool >/dev/null; then
	result "checksums and segments that the device makes" offloads
	result "checksums and segments that the stack makes" no_offloads
	result "received checksums that the stack sums up" no_rx_checksums
	result "interrupt moderation" moderation
	result "VLAN tags that the NIC or the stack takes out" untagged
else
	ktap_test_skip "checksums and segments that the device makes"
	ktap_test_skip "checksums and segments that the stack makes"
	ktap_test_skip "received checksums that the stack sums up"
	ktap_test_skip "interrupt moderation"
	ktap_test_skip "VLAN tags that the NIC or the stack takes out"
fi
if command -v socat >/dev/null && command -v ethtool >/dev/null &&
	[ -d $tracing/events/net ] && grep -qw register_kprobe /proc/kallsyms; then
	result "VLAN tags that the NIC or the stack inserts" tagged
	result "VLAN tags after a reset to an older NIC" tagged_after_reset
else
	ktap_test_skip "VLAN tags that the NIC or the stack inserts"
	ktap_test_skip "VLAN tags after a reset to an older NIC"
fi
if command -v socat >/dev/null && modinfo netconsole >/dev/null 2>&1; then
	result "netconsole" netconsole
else
	ktap_test_skip "netconsole"
fi
if grep -qw register_kprobe /proc/kallsyms; then
	result "no memory for its queues" no_memory
	result "no memory for its queues after a reset" reset_without_memory
	result "GIDs follow the MAC" gids_follow
	result "an error before it is taken down" error_of_old_queues 0
	result "an error while it is taken down" error_of_old_queues 1
else
	ktap_test_skip "no memory for its queues: this kernel has no kprobes"
	ktap_test_skip "no memory for its queues after a reset"
	ktap_test_skip "GIDs follow the MAC"
	ktap_test_skip "an error before it is taken down"
	ktap_test_skip "an error while it is taken down"
fi
ktap_finished
