# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # see scenario
# A mapping of a disk that may vanish.
#
# A disk that is removed has the size 0 at once, so that reads of it end with no
# bytes instead of an error. fio would compare what was in their buffers before.
# The mapping keeps its size, and its reads fail.

mapping=mynic-consumers

# map_disk DEVICE. No udev runs that would make the node.
map_disk() {
	DM_DISABLE_UDEV=1 dmsetup create "$mapping" \
		--table "0 $(blockdev --getsz "$1") linear $1 0"
}

unmap_disk() {
	! dmsetup info "$mapping" || DM_DISABLE_UDEV=1 dmsetup remove "$mapping"
}

# write_disk FIO-OPTION...
write_disk() {
	verified_writes --filename="/dev/mapper/$mapping" --allow_file_create=0 \
		--ioengine=io_uring "$@"
}
