#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# No command is executed while the mappings of a process are locked. Otherwise,
# all that access the process would wait for a device that does not answer.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 1
tracing=/sys/kernel/tracing
[ -e $tracing/current_tracer ] || mount -t tracefs none $tracing 2>/dev/null
grep -qw function $tracing/available_tracers 2>/dev/null ||
	skip "this kernel has no function tracer"
ktap_set_plan 3

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

trap end_trace EXIT
begin_trace || skip "this kernel has no function tracer"
result "commands of a process" "$here/dm"
echo 0 >$tracing/tracing_on
result "they were seen" eval 'commands | grep "^mynic_cmd_free_dm"'
result "none under the lock of mappings" eval '! under_locks'
ktap_finished
