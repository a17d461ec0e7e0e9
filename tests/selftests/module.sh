#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# Unloading and loading the module, idle and with a context open.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
modinfo mynic >/dev/null 2>&1 || skip "not a module"
ktap_set_plan 4
trap restore EXIT

# Netdevs in namespaces come back in the first one, so begin there
configure || ktap_exit_fail_msg "cannot set up the netdevs"

devices() { rdma link show | grep -c "^link mynic_"; }
all_there() { [ "$(devices)" -ge "${#pci[@]}" ]; }
none_there() { [ "$(devices)" = 0 ]; }

reload() {
	modprobe -r mynic || return
	none_there || return
	modprobe mynic || return
	wait_for all_there
}

many_reloads() {
	for _ in 1 2 3 4 5; do
		reload || return
	done
}

# An open context does not keep the module loaded, and its user is told
in_use() {
	local status

	watch "$(rdma_of "${pci[0]}")" && reload && wait_for saw_fatal
	status=$?
	end_watch
	return $status
}

works() { configure && ping_far; }

result "reload" reload
result "reload many times" many_reloads
result "reload with a context open" in_use
result "traffic afterwards" works
ktap_finished
