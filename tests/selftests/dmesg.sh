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

# Leaves out warnings of dl_task_timer(), which finds its timer started again by
# another processor. The scheduler of 6.12 gives fair tasks a share by it. Nothing of
# a NIC is in its way, but a processor that the host does not run for a while.
but_for_dl_timer() {
	awk '
		/-\[ cut here \]-/ { tell() }
		{ record = record $0 "\n" }
		/-\[ end trace / { tell() }
		END { tell() }
		function tell() {
			if (record ~ /RIP: [0-9]+:hrtimer_forward\+/ &&
			    record ~ / dl_task_timer\+/ &&
			    gsub(/WARNING:|BUG:|Oops/, "&", record) == 1)
				print "# known: a warning of dl_task_timer" >"/dev/stderr"
			else
				printf "%s", record
			record = ""
		}'
}

oops() {
	dmesg | but_for_dl_timer >"$log" || return
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
