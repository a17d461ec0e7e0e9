#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# No command is executed while the mappings of a process are locked. Otherwise,
# all that access the process would wait for a device that does not answer. No page
# fault changes an address space: it would wait for page faults that never end.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 1
tracing=/sys/kernel/tracing
[ -e $tracing/current_tracer ] || mount -t tracefs none $tracing 2>/dev/null
grep -qw function $tracing/available_tracers 2>/dev/null ||
	skip "this kernel has no function tracer"
ktap_set_plan 8

end_trace() {
	echo 0 >$tracing/options/func_stack_trace
	echo nop >$tracing/current_tracer
	echo >$tracing/set_ftrace_filter
	echo 1 >$tracing/tracing_on
}

# Stacks are traced only after functions have been selected.
begin_trace() {
	echo 8192 >$tracing/buffer_size_kb &&
		echo 'mynic_cmd_*:mod:mynic' >$tracing/set_ftrace_filter &&
		grep -q mynic_cmd $tracing/set_ftrace_filter &&
		echo function >$tracing/current_tracer &&
		echo 1 >$tracing/options/func_stack_trace
}

# One line for each command: its name, and all that called it
commands() {
	awk '
		/<stack trace>/ { next }
		/^ => / { printf " %s", $2; next }
		{ if (NR > 1) print ""; printf "%s", $0 }
		END { print "" }
	' $tracing/trace | sed -n 's/.*: \(mynic_cmd_\)/\1/p'
}

# ODP has to take pages back for callers that hold these locks.
under_locks() {
	local callers='rdma_umap_close|uverbs_user_mmap_disassociate'

	callers+='|ib_uverbs_mmap|__vm_munmap|exit_mmap'
	commands | grep -v ' __mmu_notifier_invalidate' |
		grep -E " ($callers)\\b"
}

# An interval notifier changes an address space, if it is the first one there.
begin_trace_of_notifiers() {
	end_trace
	echo >$tracing/trace
	echo '*mmu_notifier_register' >$tracing/set_ftrace_filter &&
		echo function >$tracing/current_tracer
}

registered_by() { grep -E "$1.*: _*mmu_notifier_register <-" $tracing/trace; }

trap end_trace EXIT
begin_trace || skip "this kernel has no function tracer"
result "device memory of a process" "$here/dm"
result "the clock of a process" "$here/uabi" -t clock_page
echo 0 >$tracing/tracing_on
result "commands for memory were seen" eval 'commands | grep "^mynic_cmd_free_dm"'
result "commands for the clock were seen" eval 'commands | grep "mynic_clock_work"'
result "none under the lock of mappings" eval '! under_locks'
begin_trace_of_notifiers
result "page faults of a process" "$here/odp" -t untouched_memory
echo 0 >$tracing/tracing_on
result "its address space was changed" registered_by '^ *odp-'
result "not by a page fault" eval '! registered_by kworker'
ktap_finished
