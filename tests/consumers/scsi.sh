# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2119,SC2154,SC2317 # see scenario
# SCSI over RDMA: a disk of 16 MiB in the memory of Linux's SCSI target, at the far
# end. fio writes all of it and reads it again.
#
# A protocol that includes this has:
#
# export_target	the far end offers the disk
# end_export	and does not, whatever has happened
# connect	the near end asks for it
# disconnect	and lets it go, if it still has it

# shellcheck source=tests/consumers/mapping.sh
. "$here/mapping.sh"

config=/sys/kernel/config/target
store=$config/core/rd_mcp_0/mynic-consumers

make_store() {
	mountpoint -q /sys/kernel/config ||
		mount -t configfs none /sys/kernel/config || return
	mkdir -p "$store" &&
		echo rd_pages=$(((16 << 20) / $(getconf PAGESIZE))) >"$store/control" &&
		echo 1 >"$store/enable"
}

# share GROUP INITIATOR: the target's portal group has the disk, for this initiator
share() {
	mkdir "$1/lun/lun_0" && ln -s "$store" "$1/lun/lun_0/store" &&
		mkdir "$1/acls/$2" && mkdir "$1/acls/$2/lun_0" &&
		ln -s "$1/lun/lun_0" "$1/acls/$2/lun_0/lun" &&
		echo 1 >"$1/enable"
}

# unshare_all GROUP
unshare_all() {
	local acl

	echo 0 >"$1/enable" || return
	for acl in "$1"/acls/*; do
		rm "$acl/lun_0/lun" && rmdir "$acl/lun_0" "$acl" || return
	done
	rm "$1/lun/lun_0/store" && rmdir "$1/lun/lun_0"
}

# The disk at the near end
disk() {
	local model

	model=$(grep -l RAMDISK /sys/block/sd*/device/model) && model=${model#/sys/block/} &&
		echo "/dev/${model%%/*}"
}
has_disk() { [ "$(blockdev --getsize64 "$(disk)")" = $((16 << 20)) ]; }
has_no_disk() { ! disk; }

set_up() {
	make_store && export_target && connect && wait_for has_disk &&
		map_disk "$(disk)"
}

run() { write_disk; }

# The initiator tries for long to reach the target again, but not without a NIC.
survives() { [[ $1 =~ ^(link|broken)$ ]] || { [ "$2" = far ] && ! hits_both "$1"; }; }

# The target does not listen any more, or has no port, when its RDMA device has gone.
restore() { [ "$1" = near ] || { end_export && export_target; }; }

# It does not wait for answers that cannot come any more.
waits_in_vain() { since_mark | grep -E 'abort called|timing out command'; }
knows() { ! waits_in_vain; }

tear_down() {
	unmap_disk && disconnect && wait_for has_no_disk && end_export && rmdir "$store"
}
