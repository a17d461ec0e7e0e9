#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# NVMe over RDMA with both ends on one device. These consumers in the kernel
# register memory with REG_MR, and their peer invalidates the keys.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 1
modprobe -a nvmet_rdma nvme_rdma 2>/dev/null || skip "no NVMe over RDMA"
ktap_set_plan 9

nqn=mynic-selftest
target=/sys/kernel/config/nvmet
dir=$(mktemp -d)
size=$((2 << 20))
near_rdma=$(rdma_of "${pci[0]}")
read -r _ near < <(netdev_of "${pci[0]}" | sed 's/^ /- /')

make_target() {
	mountpoint -q /sys/kernel/config ||
		mount -t configfs none /sys/kernel/config || return
	truncate -s "$size" "$dir/disk"
	mkdir "$target/subsystems/$nqn" &&
		echo 1 >"$target/subsystems/$nqn/attr_allow_any_host" &&
		mkdir "$target/subsystems/$nqn/namespaces/1" &&
		echo -n "$dir/disk" >"$target/subsystems/$nqn/namespaces/1/device_path" &&
		echo 1 >"$target/subsystems/$nqn/namespaces/1/buffered_io" &&
		echo 1 >"$target/subsystems/$nqn/namespaces/1/enable" &&
		mkdir "$target/ports/1" &&
		echo ipv4 >"$target/ports/1/addr_adrfam" &&
		echo rdma >"$target/ports/1/addr_trtype" &&
		echo "$near_ip" >"$target/ports/1/addr_traddr" &&
		echo 4420 >"$target/ports/1/addr_trsvcid" &&
		ln -s "$target/subsystems/$nqn" "$target/ports/1/subsystems/$nqn"
}

remove_target() {
	rm -f "$target/ports/1/subsystems/$nqn"
	rmdir "$target/ports/1" "$target/subsystems/$nqn/namespaces/1" \
		"$target/subsystems/$nqn"
}

# Sets disk
connect() {
	local answer

	exec 3<>/dev/nvme-fabrics || return
	echo "transport=rdma,traddr=$near_ip,trsvcid=4420,nqn=$nqn,nr_io_queues=2" >&3 &&
		read -r answer <&3
	exec 3>&-
	controller=$(sed -n 's/^instance=\([0-9]*\).*/nvme\1/p' <<<"$answer")
	disk=/dev/${controller}n1
	[ -n "$controller" ] && wait_for test -b "$disk"
}

disconnect() {
	echo 1 >"/sys/class/nvme/$controller/delete_controller" &&
		wait_for test ! -e "/sys/class/nvme/$controller"
}

# check SIZE: writes all of the disk in pieces of this size, and reads it again
check() {
	[ -b "$disk" ] || return
	dd if=/dev/urandom of="$dir/want" bs=1M count=$((size >> 20)) status=none &&
		dd if="$dir/want" of="$disk" bs="$1" oflag=direct status=none &&
		cmp "$dir/want" "$dir/disk" &&
		dd if="$disk" of="$dir/got" bs="$1" iflag=direct status=none &&
		cmp "$dir/want" "$dir/got"
}

# At several depths, through both queues
check_parallel() {
	local jobs=() i

	[ -b "$disk" ] || return
	dd if=/dev/urandom of="$dir/want" bs=1M count=$((size >> 20)) status=none || return
	for i in 0 1 2 3 4 5 6 7; do
		dd if="$dir/want" of="$disk" bs=64k skip=$((4 * i)) seek=$((4 * i)) count=4 \
			oflag=direct conv=notrunc status=none &
		jobs+=($!)
	done
	for i in "${jobs[@]}"; do
		wait "$i" || return
	done
	cmp "$dir/want" "$dir/disk"
}

# Number of regions of the kernel, which have no process
regions() {
	rdma resource show mr | grep "$near_rdma" | grep -c 'comm \['
}

one_end "" "$near" 1
wait_for gid_index "$near_rdma" "$near_ip"
result "target" make_target
connect >"$dir/text" 2>&1 && connected=1 || connected=
result "connect" test -n "$connected"
result "regions of the kernel" test "$(regions)" -gt 10
result "4 KiB" check 4096
result "64 KiB" check 64k
result "1 MiB" check 1M
result "parallel" check_parallel
result "disconnect" disconnect
result "target goes" remove_target
rm -rf "$dir"
ktap_finished
