#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2317 # functions are called by name
#
# Runs last: the kernel has reported no errors since it booted, and no memory
# leaks, if it can detect them.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 1
ktap_set_plan 4

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Whether nothing on standard input is what grep(1) looks for
lacks() {
	grep "$@"
	[ $? -eq 1 ]
}

oops() {
	dmesg >"$log" || return
	lacks -E -e 'BUG:|WARNING:|Oops|KASAN|UBSAN|KCSAN|Call Trace' \
		-e 'general protection|page allocation failure|refcount_t' \
		-e 'INFO: (task|rcu|trying|lockdep)|list_(add|del) |ODEBUG:' \
		-e 'possible recursive|suspicious RCU|DMA-API: .*device driver' <"$log"
}

# No error of a user makes the driver print a message
mynic_errors() {
	dmesg --level=emerg,alert,crit,err >"$log" || return
	sed '/mynic selftest: the device fails/,/mynic selftest: the device is whole/d' \
		"$log" | grep -v 'module verification failed' | lacks -i mynic
}

kmemleak=/sys/kernel/debug/kmemleak

# Leaves one record out of kmemleak's: of the process that fail_nth makes for
# opening a context, if that fails. The handler of UVERBS_METHOD_GET_CONTEXT frees
# the context without rdma_restrack_put(), which would give the reference to the
# process back. That is for the RDMA core to mend, and no driver can avoid it.
but_for_get_context() {
	awk '
		/^unreferenced object/ { tell() }
		{ record = record $0 "\n" }
		END { tell() }
		function tell() {
			if (record ~ /comm "fail_nth"/ &&
			    record ~ /copy_process\+/ && !known++)
				print "# known: a task_struct of " \
					"UVERBS_METHOD_GET_CONTEXT" >"/dev/stderr"
			else
				printf "%s", record
			record = ""
		}'
}

# kmemleak ignores objects younger than five seconds. A second scan excludes
# objects that moved during the first one.
no_leak() {
	sleep 5
	echo scan >"$kmemleak" && echo scan >"$kmemleak" || return
	! but_for_get_context <"$kmemleak" | grep .
}

mountpoint -q /sys/kernel/debug ||
	mount -t debugfs none /sys/kernel/debug 2>/dev/null
if dmesg >"$log" && grep -q 'Linux version' "$log"; then
	ktap_test_pass "the log is whole"
else
	ktap_test_skip "the log is whole: what came first is not there"
fi
result "no oops, no warning" oops
result "no error of mynic" mynic_errors
if [ -e "$kmemleak" ]; then
	result "no leak" no_leak
else
	ktap_test_skip "no leak: this kernel has no kmemleak"
fi
ktap_finished
