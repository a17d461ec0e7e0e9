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
for program in ethtool taskset ibv_asyncwatch ibv_ud_pingpong; do
	command -v "$program" >/dev/null || skip "no $program"
done
[ "$(nproc)" -ge 2 ] || skip "one processor"
ktap_set_plan 22
trap restore EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"

function=/sys/bus/pci/devices/${pci[0]}
most=$(($(nproc) < 16 ? $(nproc) : 16))
mtu=$(cat "/sys/class/net/$near/mtu")

# queues DIRECTION: how many there are
queues() {
	local all=("/sys/class/net/$near/queues/$1"-*)

	[ -e "${all[0]}" ] || all=()
	echo "${#all[@]}"
}

# has_queues NUMBER: for each direction
has_queues() { [ "$(queues rx)" = "$1" ] && [ "$(queues tx)" = "$1" ]; }

# flows [NUMBER]: the far end sends frames of many flows
flows() { in_netns "$ns" "$here/frames" flows "$near_ip" "${1-400}"; }

# interrupts VECTOR: how many of them have come
interrupts() {
	awk -v name="mynic-comp$1@pci:${pci[0]}" '$NF == name {
		for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) sum += $i
		print sum }' /proc/interrupts
}

interrupts_grew() { [ "$(interrupts "$1")" -gt "$2" ]; }

as_many_as_processors() {
	echo "$(queues rx) and $(queues tx) queues, $(nproc) processors"
	has_queues "$most"
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

# The driver lets go of the NIC and takes it again
bind_again() {
	echo "${pci[0]}" >/sys/bus/pci/drivers/mynic/unbind &&
		echo "${pci[0]}" >/sys/bus/pci/drivers/mynic/bind && configure
}

# NICs of hardware version 1.0 have one queue, which works as it did, and insert no
# VLAN tags
older_hardware() {
	local status=0 no="Operation not supported"

	insmod "$here/modules/$(uname -r)/older_hardware.ko" || return
	bind_again && has_queues 1 && ping_far && fails_with "$no" ethtool -x "$near" &&
		ethtool -G "$near" rx 256 && wait_for carrier "" "$near" && ping_far &&
		fails_with "$no" ethtool -n "$near" rx-flow-hash tcp4 &&
		fails_with "$no" ethtool -X "$near" equal 1 &&
		ethtool -k "$near" | grep -q "^tx-vlan-offload: off \[fixed\]\$" && reset ||
		status=1
	rmmod older_hardware
	bind_again && as_many_as_processors && ping_far && return $status
}

combined() { ethtool -l "$near" | awk '/^Combined:/ { n = $2 } END { print n }'; }

# stat KIND INDEX NAME: what the kernel has counted for a queue, or for "all"
stat() {
	"$here/qstats" "$near" | awk -v which="$1" -v index_="$2" -v name="$3" '
		$1 == which && (which == "all" || $3 == index_) {
			for (i = 1; i < NF; i++) if ($i == name) print $(i + 1)
		}'
}

link() { cat "/sys/class/net/$near/statistics/$1"; }

# take ARRAY: sets it to the packets that each queue has received. A queue of which
# the kernel tells nothing is an error.
take() {
	mapfile -t "$1" < <("$here/qstats" "$near" | awk '$1 == "rx" {
		for (i = 1; i < NF; i++) if ($i == "rx_packets") print $(i + 1) }')
	local -n taken=$1
	[ "${#taken[@]}" = "$(queues rx)" ]
}

# received_more NUMBER BEFORE...: all queues have received so many more
received_more() {
	local now queue before=("${@:2}")

	take now || return
	for queue in "${!now[@]}"; do
		[ "${now[queue]}" -ge $((before[queue] + $1)) ] || return
	done
}

# few_received BEFORE NOW: frames without ports, such as those of neighbour discovery,
# come where they want
few_received() { [ $(($2 - $1)) -lt 50 ]; }

# only QUEUE: all frames of many flows come to this queue
only() {
	local before now queue

	take before && flows 200 || return
	wait_for queue_received_more "$1" $((before[$1] + 200)) && take now || return
	for queue in "${!now[@]}"; do
		[ "$queue" = "$1" ] || few_received "${before[queue]}" "${now[queue]}" ||
			return
	done
}

queue_received_more() { [ "$(stat rx "$1" rx_packets)" -ge "$2" ]; }

# All queues get frames of many flows
every() {
	local before

	take before && flows && wait_for received_more 50 "${before[@]}"
}

# With DEBUG_KOBJECT_RELEASE it takes seconds until a queue that was removed is gone.
# Until then the kernel refuses to make it again.
channels() { # NUMBER
	ethtool -L "$near" combined "$1" && [ "$(combined)" = "$1" ] &&
		wait_for has_queues "$1" && wait_for carrier "" "$near"
}

another_number() {
	channels 1 && ping_far && flows && channels "$most" && ping_far && every
}

another_while_down() {
	ip link set "$near" down && ethtool -L "$near" combined 1 &&
		ip link set "$near" up && configure && wait_for has_queues 1 && ping_far &&
		channels "$most" && ping_far
}

in_traffic() {
	local status=0

	start_blasts 2 || return
	for _ in 1 2 3; do
		channels 1 && channels "$most" || status=1
	done
	end_blasts
	ping_far && every && return $status
}

rdma_packets() { nic_counter tx_rdma_packets; }
more_rdma() { [ "$(rdma_packets)" -ge $(($1 + 100)) ]; }

# Each message waits for the one before, and one that is lost would not come again.
start_datagrams() {
	local many=100000000

	ibv_ud_pingpong -e -d "$near_rdma" -g "$(gid_index "$near_rdma" "$near_ip")" \
		-n $many >/dev/null &
	datagrams=($!)
	wait_for listening_tcp || return
	ip netns exec "$ns" ibv_ud_pingpong -e -d "$far_rdma" \
		-g "$(gid_index "$far_rdma" "$far_ip")" -n $many "$near_ip" >/dev/null &
	datagrams+=($!)
}

# Settings as they were
usual() {
	channels "$most" && ethtool -G "$near" rx 1024 tx 512 && ethtool -K "$near" rxvlan on &&
		ip link set "$near" mtu "$mtu"
}

# Queues are made anew, while RDMA goes on. It does not notice, and the link does not
# go away.
unnoticed() {
	local changes status=0

	changes=$(cat "/sys/class/net/$near/carrier_changes")
	watch "$near_rdma" || return
	start_datagrams && wait_for more_rdma "$(rdma_packets)" || status=1
	channels 1 && ethtool -G "$near" rx 256 && ethtool -K "$near" rxvlan off &&
		ip link set "$near" mtu 9000 && ip link set "$near" mtu 1500 || status=1
	usual || status=1
	wait_for more_rdma "$(rdma_packets)" || status=1
	kill "${datagrams[@]}"
	wait "${datagrams[@]}" 2>/dev/null
	cat "$watched"
	! grep -q IBV_EVENT_PORT "$watched" || status=1
	end_watch
	echo "carrier changes: $changes, then $(cat "/sys/class/net/$near/carrier_changes")"
	[ "$(cat "/sys/class/net/$near/carrier_changes")" = "$changes" ] && ping_far &&
		return $status
}

# Bytes that the interface has for frames that will come
buffers() { "$here/qstats" "$near" | awk '$1 == "pool" { sum += $3 } END { print sum + 0 }'; }

by_mtu() {
	local large small status=0

	ip link set "$near" mtu 9000 && large=$(buffers) &&
		ip link set "$near" mtu 1500 && small=$(buffers) || status=1
	echo "MTU 9000: $large bytes, MTU 1500: $small"
	ping_far && [ "$small" -gt 0 ] && [ $((2 * large)) -gt $((3 * small)) ] || status=1
	usual && return $status
}

# NAPIs of all queues
napis() { "$here/qstats" "$near" | grep '^napi '; }

# A program that asks the kernel to poll for a socket, or sets how, names a NAPI by its
# number
same_napis() {
	local before status=0

	before=$(napis)
	echo "$before"
	[ "$(grep -c 'id [1-9]' <<<"$before")" = $((2 * most)) ] && channels 1 || status=1
	usual && [ "$(napis)" = "$before" ] && reset && [ "$(napis)" = "$before" ] &&
		return $status
}

impossible_number() {
	fails_with "no RX or TX channel" ethtool -L "$near" combined 0 &&
		fails_with "exceeds maximum" ethtool -L "$near" combined $((most + 1)) &&
		[ "$(combined)" = "$most" ] && ping_far
}

reset() {
	echo 1 >"$function/reset"
	wait_for carrier "" "$near" && configure && ping_far
}

table_of() {
	ethtool -x "$near" | awk '/^ *[0-9]+:/ { for (i = 2; i <= NF; i++) print $i }' | sort -u
}

key() { ethtool -x "$near" | grep -A 1 '^RSS hash key' | tail -n 1; }

table() {
	ethtool -X "$near" weight 0 1 && [ "$(table_of)" = 1 ] && only 1 &&
		ethtool -X "$near" weight 1 0 && only 0 &&
		ethtool -X "$near" equal "$most" && every &&
		ethtool -X "$near" default && every
}

# The table is kept, but for one that nobody has asked for
kept_over_reset() {
	local status=0 new=6d:5a:56:da:25:5b:0e:c2:41:67:25:3d:43:a3:8f:b0:d0:ca:2b:cb:ae:7b:30:b4:77:cb:2d:a3:80:30:f2:0c:6a:42:b7:3b:be:ac:01:fa

	ethtool -X "$near" hkey "$new" weight 0 1 && [ "$(key)" = "$new" ] && reset &&
		[ "$(key)" = "$new" ] && only 1 || status=1
	ethtool -X "$near" default && channels 1 && reset && [ "$(combined)" = 1 ] ||
		status=1
	channels "$most" && every && return $status
}

# The first queue is the last one that the table may name
table_stays() {
	local status=0

	ethtool -X "$near" weight 0 1 || return
	fails_with "too low for existing indirection table" ethtool -L "$near" combined 1 &&
		[ "$(combined)" = "$most" ] && only 1 || status=1
	ethtool -X "$near" default && every && return $status
}

fields_are() { ethtool -n "$near" rx-flow-hash "$1" | grep -q "$2" ; }

# With addresses alone, all frames from one sender come to one queue
fields() {
	local status=0 before now queue more=0 no="Operation not supported"

	fields_are udp4 'L4 bytes 2 & 3' && fields_are tcp6 'L4 bytes 0 & 1' &&
		fails_with "$no" ethtool -N "$near" rx-flow-hash sctp4 sd &&
		fails_with "$no" ethtool -N "$near" rx-flow-hash tcp4 s &&
		ethtool -N "$near" rx-flow-hash udp4 sd &&
		! fields_are udp4 'L4 bytes' && fields_are tcp4 'L4 bytes 2 & 3' || status=1
	take before && flows 200 && wait_for_flows && take now || status=1
	for queue in "${!now[@]}"; do
		few_received "${before[queue]}" "${now[queue]}" || more=$((more + 1))
	done
	[ $more = 1 ] || status=1
	ethtool -N "$near" rx-flow-hash udp4 sdfn && every && return $status
}

# All that was sent before has been received when this is answered
wait_for_flows() { ping_far; }

rings_are() {
	ethtool -g "$near" | awk '/^RX:/ { r = $2 } /^TX:/ { t = $2 } END { print r, t }' |
		grep -qx "$1 $2"
}

rings() {
	local status=0

	ethtool -G "$near" rx 100 tx 64 && rings_are 128 64 && wait_for carrier "" "$near" &&
		every && start_blasts 2 && end_blasts && ping_far || status=1
	fails_with "exceeds maximum" ethtool -G "$near" rx 1000000 && rings_are 128 64 || status=1
	ip link set "$near" down && ethtool -G "$near" rx 1024 tx 512 &&
		ip link set "$near" up && configure && rings_are 1024 512 && ping_far &&
		return $status
}

far_mac=$(in_netns "$ns" cat "/sys/class/net/$far/address")

# full NUMBER: sends so many short frames as fast as they go, from the processor
# that does not look at completions
full() { taskset -c 1 "$here/frames" fill "$near" "$far_mac" "$1"; }

# What a virtual machine sends may have any header. $1 is its Ethertype, $2 its
# first byte, and $3 its length.
false_segments() { "$here/frames" segments "$near" "$far_mac" "$@"; }

# The sum of some counters of the interface
near_sum() {
	local name sum=0

	for name; do
		sum=$((sum + $(cat "/sys/class/net/$near/statistics/$name")))
	done
	echo $sum
}

sent() { near_sum tx_packets tx_errors tx_dropped; }
more_was_sent() { [ "$(sent)" -gt "$1" ]; }

# The stack makes the segments of frames that the device would refuse. A request
# that it refuses has all queues made anew.
no_ip_version() {
	local restarts errors before header status=0

	restarts=$(nic_counter queue_restarts)
	errors=$(near_sum tx_errors)
	for header in "0x0800 0x65 20" "0x86dd 0x40 40"; do
		before=$(sent)
		# shellcheck disable=SC2086 # these are words
		false_segments $header && wait_for more_was_sent "$before" || status=1
	done
	ping_far || status=1
	echo "errors: $errors, then $(near_sum tx_errors)"
	echo "restarts: $restarts, then $(nic_counter queue_restarts)"
	[ "$(near_sum tx_errors)" = "$errors" ] && [ -n "$restarts" ] &&
		[ "$(nic_counter queue_restarts)" = "$restarts" ] && return $status
}

# One processor sends while another finds room for more. All frames have
# completions of their own then.
no_overrun() {
	local restarts overruns stops sender senders=() status=0

	restarts=$(nic_counter queue_restarts)
	overruns=$(nic_counter cq_overrun)
	stops=$(stat tx 0 tx_stop)
	for _ in 1 2 3; do
		full 50000 &
		senders+=($!)
	done
	for sender in "${senders[@]}"; do
		wait "$sender" || status=1
	done
	ping_far || status=1
	echo "restarts: $restarts, then $(nic_counter queue_restarts)"
	echo "overruns: $overruns, then $(nic_counter cq_overrun)"
	echo "stops: $stops, then $(stat tx 0 tx_stop)"
	[ -n "$restarts" ] && [ "$(nic_counter queue_restarts)" = "$restarts" ] &&
		[ -n "$overruns" ] && [ "$(nic_counter cq_overrun)" = "$overruns" ] &&
		[ "$(stat tx 0 tx_stop)" -gt "$stops" ] && return $status
}

short_ring() {
	local status=0

	channels 1 && ethtool -G "$near" tx 64 && wait_for carrier "" "$near" && ping_far &&
		no_overrun || status=1
	ethtool -G "$near" tx 512 && channels "$most" && return $status
}

usecs() { ethtool -Q "$near" queue_mask "$1" --show-coalesce | sed -n 's/^rx-usecs:[[:space:]]*//p'; }

moderation() {
	local status=0

	ethtool -Q "$near" queue_mask 2 --coalesce adaptive-rx off rx-usecs 77 &&
		[ "$(usecs 2)" = 77 ] && [ "$(usecs 1)" != 77 ] && every || status=1
	ethtool -C "$near" rx-usecs 1 && [ "$(usecs 1)" = 1 ] && [ "$(usecs 2)" = 1 ] ||
		status=1
	ethtool -C "$near" adaptive-rx on rx-usecs 0 && [ "$(usecs 2)" = 0 ] &&
		return $status
}

# agree NAME DEVICE-NAME NUMBER: the queues' figures, those of the interface, and what else is given
# are the same
agree() {
	local queues all link device

	queues=$("$here/qstats" "$near" | awk -v name="$1" '$1 != "all" {
		for (i = 1; i < NF; i++) if ($i == name) sum += $(i + 1) } END { print sum }')
	all=$(stat all 0 "$1")
	link=$(link "$1")
	device=$(($(nic_counter "$2") - $3))
	echo "$1: queues $queues, all $all, link $link, device $device"
	[ "$queues" = "$all" ] && [ "$all" = "$link" ] &&
		[ "$link" = $device ]
}

all_agree() {
	agree rx_packets rx_eth_packets "$1" && agree tx_packets tx_eth_packets "$2" &&
		agree_bytes rx && agree_bytes tx
}

agree_bytes() { [ "$(stat all 0 "$1_bytes")" = "$(link "$1_bytes")" ]; }

# What the device has counted more, in resets for instance. A frame that comes in
# between would make it wrong, so it must be the same twice.
differences_are_steady() {
	local before

	for _ in 1 2; do
		before="$rx $tx"
		rx=$(($(nic_counter rx_eth_packets) - $(link rx_packets)))
		tx=$(($(nic_counter tx_eth_packets) - $(link tx_packets)))
	done
	[ "$rx $tx" = "$before" ]
}

sums() {
	local rx='' tx='' status=0

	wait_for differences_are_steady || return
	flows && flows 100 && ping_far && wait_for all_agree "$rx" "$tx" || status=1
	all_agree "$rx" "$tx" || true
	return $status
}

# What a queue has counted is kept for the interface when it is no longer used
sums_of_fewer() {
	local before

	before=$(stat all 0 rx_packets)
	channels 1 && [ "$(stat all 0 rx_packets)" -ge "$before" ] &&
		[ "$(stat all 0 rx_packets)" = "$(link rx_packets)" ]
	local status=$?
	channels "$most" && return $status
}

result "a queue for each processor" as_many_as_processors
result "frames of many flows come to all queues" spread
result "each processor has a queue to send with" senders
result "the kernel counts what each queue receives" every
result "all that counts frames agrees" sums
result "queues that are no longer used count" sums_of_fewer
result "another number of queues" another_number
result "another number while it is down" another_while_down
result "another number in traffic" in_traffic
result "RDMA and the link do not notice" unnoticed
result "the buffers are for the MTU" by_mtu
result "NAPIs stay the same" same_napis
result "a number that is impossible" impossible_number
result "the table says which queue gets a frame" table
result "a table keeps its queues" table_stays
result "settings outlast a reset" kept_over_reset
result "frames are hashed by what ethtool says" fields
result "the length of the rings" rings
result "a short ring is full for long" short_ring
result "segments without an IP version" no_ip_version
result "moderation of a queue" moderation
if grep -qw register_kprobe /proc/kallsyms; then
	result "a NIC that cannot spread frames" older_hardware
else
	ktap_test_skip "a NIC that cannot spread frames: this kernel has no kprobes"
fi
ktap_finished
