#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# Output of "rdma resource show": the driver's details of objects, and the raw
# state from the device.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 1
for program in rdma ibv_srq_pingpong; do
	command -v "$program" >/dev/null || skip "no $program"
done
ktap_set_plan 10
near_rdma=$(rdma_of "${pci[0]}")

# A process with an SRQ, QPs, a CQ and a region; it waits for a peer
ibv_srq_pingpong -d "$near_rdma" -g 0 -p 18514 >/dev/null 2>&1 &
holder=$!
trap 'kill "$holder"' EXIT

groups=/sys/fs/cgroup group=$groups/mynic-selftest

refused() {
	(
		echo "$BASHPID" >$group/cgroup.procs
		exec timeout "$PATIENCE" ibv_rc_pingpong -d "$near_rdma" -g 0 -p 18515
	) 2>&1 | grep "Couldn't allocate PD"
}

# A container gets no more objects than its cgroup may have
cgroup_limits() {
	local status=0

	[ -e $groups/cgroup.controllers ] || mount -t cgroup2 none $groups || return
	echo +rdma >$groups/cgroup.subtree_control && mkdir -p $group || return
	echo "$near_rdma hca_object=0" >$group/rdma.max && refused || status=1
	grep -q "$near_rdma .*hca_object=0" $group/rdma.max || status=1
	# Linux keeps a limit that outlives its group, and crashes when the device
	# goes (free_cg_rpool_locked).
	echo "$near_rdma hca_object=max" >$group/rdma.max || status=1
	rmdir $group && return $status
}

# details KIND: details of the device's objects of a kind, one in each line
details() {
	rdma -dd resource show "$1" | sed ':a; $!N; s/\n  *drv_/ drv_/; ta; P; D' |
		grep -w "$near_rdma"
}

# values KIND NAME: the decimal value of a name in each object, sorted
values() {
	details "$1" | sed -n "s/.* $2 \([0-9a-fx]*\).*/\1/p" |
		while read -r value; do
			echo $((value))
		done | sort -n
}

# raw KIND: the raw bytes of each object
raw() {
	rdma -rj resource show "$1" | tr -d ' \n' | sed 's/}/}\n/g' |
		grep "\"$near_rdma\"" | sed -n 's/.*"data":\[\([0-9,]*\)\].*/\1/p' |
		tr , ' '
}

# raw_values KIND LENGTH OFFSET: the __le32 at OFFSET of each object, sorted;
# all must have LENGTH bytes
raw_values() {
	raw "$1" | while read -r -a byte; do
		[ "${#byte[@]}" = "$2" ] || echo "length ${#byte[@]}"
		echo $((byte[$3] | byte[$3 + 1] << 8 | byte[$3 + 2] << 16 |
			byte[$3 + 3] << 24))
	done | sort -n
}

# agree KIND NAME LENGTH OFFSET: values of driver and device are equal, for at
# least one object
agree() {
	local shown

	shown=$(values "$1" "$2")
	[ -n "$shown" ] && diff <(echo "$shown") <(raw_values "$1" "$3" "$4")
}

holds() { details srq | grep -q 'drv_size 512 drv_stride 32 drv_max_sge 1'; }

holds_qps() { [ "$(details qp | grep -c "pid $holder .*drv_sq_size 1 ")" = 16 ]; }

# The state (INIT) is at its place. (rdma asks for them once for each port, and
# once more.)
raw_qps() {
	[ "$(raw qp | awk 'NF == 128 && $5 == 1' | wc -l)" -ge 16 ] &&
		! raw qp | awk 'NF != 128' | grep .
}

regions() { details mr | grep -q 'mrlen 4096 .*drv_page_list_levels .*drv_page_size '; }

gone() { ! details qp | grep -q "pid $holder "; }

unprivileged() {
	! setpriv --reuid 65534 --clear-groups rdma -rj resource show qp |
		grep -q data
}

result "details of an SRQ" wait_for holds
result "details of QPs" wait_for holds_qps
result "details of a region" regions
result "raw CQs" agree cq drv_number 64 0
result "raw regions" agree mr lkey 64 0
result "raw SRQs" agree srq drv_number 48 4
result "raw QPs" raw_qps
result "nothing raw without privilege" unprivileged
result "a cgroup limits objects" cgroup_limits
kill "$holder"
wait "$holder"
trap - EXIT
result "nothing of a process that is gone" gone
ktap_finished
