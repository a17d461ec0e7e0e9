# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # see scenario
# NVMe over RDMA: a disk that is a file at the far end. fio writes all of it and
# reads it again. poll_queues: number of additional queues without interrupts.

# shellcheck source=tests/consumers/mapping.sh
. "$here/mapping.sh"

modules=(nvmet_rdma nvme_rdma dm_mod)
poll_queues=0

nqn=mynic-consumers
target=/sys/kernel/config/nvmet

make_target() {
	mountpoint -q /sys/kernel/config ||
		mount -t configfs none /sys/kernel/config || return
	truncate -s 16M "$dir/disk"
	mkdir "$target/subsystems/$nqn" &&
		echo 1 >"$target/subsystems/$nqn/attr_allow_any_host" &&
		mkdir "$target/subsystems/$nqn/namespaces/1" &&
		echo -n "$dir/disk" >"$target/subsystems/$nqn/namespaces/1/device_path" &&
		echo 1 >"$target/subsystems/$nqn/namespaces/1/buffered_io" &&
		echo 1 >"$target/subsystems/$nqn/namespaces/1/enable" &&
		mkdir "$target/ports/1" &&
		echo ipv4 >"$target/ports/1/addr_adrfam" &&
		echo rdma >"$target/ports/1/addr_trtype" &&
		echo "$far_ip" >"$target/ports/1/addr_traddr" &&
		echo 4420 >"$target/ports/1/addr_trsvcid" && export_target
}

export_target() { ln -s "$target/subsystems/$nqn" "$target/ports/1/subsystems/"; }
end_export() { rm -f "$target/ports/1/subsystems/$nqn"; }

# The target does not listen any more when its RDMA device has gone.
restore() { [ "$1" = near ] || { end_export && export_target; }; }

connect() {
	local answer options controller

	options=transport=rdma,traddr=$far_ip,trsvcid=4420,nqn=$nqn,nr_io_queues=2
	options+=,reconnect_delay=1,ctrl_loss_tmo=$((PATIENCE / 2))
	[ "$poll_queues" = 0 ] || options+=,nr_poll_queues=$poll_queues
	exec 3<>/dev/nvme-fabrics || return
	echo "$options" >&3 && read -r answer <&3
	exec 3>&-
	controller=$(sed -n 's/^instance=\([0-9]*\).*/nvme\1/p' <<<"$answer")
	[ -n "$controller" ] || return
	echo "$controller" >"$dir/controller"
	wait_for test -b "/dev/${controller}n1"
}

disk() { echo "/dev/$(cat "$dir/controller")n1"; }

set_up() { make_target && connect && map_disk "$(disk)"; }

run() { write_disk --hipri=$((poll_queues > 0)); }

# The host tries for long to reach the target again, but not without a NIC.
survives() { [[ $1 =~ ^(link|broken)$ ]] || { [ "$2" = far ] && ! hits_both "$1"; }; }

# It does not wait for answers that cannot come any more.
waits_in_vain() { since_mark | grep 'I/O tag.*timeout'; }
knows() { ! waits_in_vain; }

disconnect() {
	local controller

	controller=/sys/class/nvme/$(cat "$dir/controller")
	[ ! -e "$controller" ] || echo 1 >"$controller/delete_controller"
	wait_for test ! -e "$controller"
}

remove_target() {
	end_export &&
		rmdir "$target/ports/1" "$target/subsystems/$nqn/namespaces/1" \
			"$target/subsystems/$nqn"
}

tear_down() { unmap_disk && disconnect && remove_target; }
