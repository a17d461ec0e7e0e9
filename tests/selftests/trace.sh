#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# Each tracepoint reports its events in the terms of the specification. Dynamic
# debugging tells why a request was refused.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
command -v devlink >/dev/null || skip "no devlink"
tracing=/sys/kernel/tracing
[ -e $tracing/events ] || mount -t tracefs none $tracing 2>/dev/null
[ -d $tracing/events/mynic ] || skip "this kernel has no tracepoints"
ktap_set_plan 12

trace=$tracing/trace

end_trace() {
	echo 0 >$tracing/events/mynic/enable
	echo >$tracing/trace
}

finish() {
	end_trace
	restore
}

# begin EVENT...: traces these events of the driver, and no others
begin() {
	local event

	end_trace
	for event; do
		echo 1 >"$tracing/events/mynic/mynic_$event/enable" || return
	done
}

# traced EVENT PATTERN [DEVICE]: of any device, as which of them is the first one
# for verbs programs depends on what has been reset before
traced() { grep -E "mynic_$1: dev=${3:-[0-9a-f:.]+} $2\$" "$trace"; }
traced_here() { traced "$1" "$2" "${pci[0]}"; }

up_again() { traced_here state 'state=UP' && is_up; }

number='0x[0-9a-f]+'

commands() {
	local id

	begin cmd cmd_done && ethtool -S "$near" >/dev/null || return
	id=$(traced_here cmd "id=[0-9]+ opcode=QUERY_STATS number=0x0" |
		sed -n '1s/.* id=\([0-9]*\).*/\1/p')
	traced_here cmd_done "id=$id opcode=QUERY_STATS number=0x0 status=OK created=0x0"
}

created() {
	begin cmd_done && "$here/traffic" -t write_sizes &&
		traced cmd_done "id=[0-9]+ opcode=CREATE_QP number=0x0 status=OK created=$number" &&
		traced cmd_done "id=[0-9]+ opcode=DESTROY_QP number=$number status=OK created=0x0"
}

refused() {
	begin cmd_done && "$here/mr" &&
		traced cmd_done "id=[0-9]+ opcode=MODIFY_MKEY number=$number \
status=BAD_PARAM created=0x0"
}

by_consumer() {
	begin qp_state && "$here/traffic" -t write_sizes &&
		traced qp_state "qpn=$number from=RESET to=INIT cause=consumer" &&
		traced qp_state "qpn=$number from=INIT to=RTR cause=consumer" &&
		traced qp_state "qpn=$number from=RTR to=RTS cause=consumer"
}

# The event of an access that was refused, and the state that follows from it
refused_access() {
	local qpn

	qpn=$(traced event "type=QP_ACCESS_ERROR number=$number" |
		sed -n '1s/.*number=//p')
	[ -n "$qpn" ] &&
		traced qp_state "qpn=$qpn from=RT[RS] to=ERR cause=QP_ACCESS_ERROR"
}

by_device() {
	begin qp_state event && "$here/error_counters" -t access && refused_access
}

page_faults() {
	local fault="qpn=$number stage=[a-z]+ key=$number addr=$number"

	fault+=" length=[0-9]+ write=[01]"
	begin page_fault event && "$here/odp" -t untouched_memory &&
		"$here/odp" -t no_memory_is_an_error &&
		traced event "type=PAGE_FAULT number=$number" &&
		traced page_fault "$fault ret=0" &&
		traced page_fault "$fault ret=-14"
}

# provoke REPORTER: the test of devlink-health(8) makes the device fail
provoke() {
	begin failure state reset ping &&
		devlink health test "pci/${pci[0]}" reporter "$1" &&
		wait_for up_again && traced_here state 'state=LOST' && traced_here reset 'ret=0'
}

fatal() { provoke fatal && traced_here failure 'hung=0 why=it reports a bad index .*'; }

# On a busy host the answer to a ping may come too late, but not each time.
hang() {
	local try

	for try in {1..10}; do
		provoke hang &&
			traced_here failure 'hung=1 why=it does not answer [A-Z_]+ [0-9]+' ||
			return
		! traced_here ping 'ret=0' || return 0
		traced_here ping 'ret=-110' || return
		echo "the ping of try $try was answered too late"
	done
	return 1
}

reset() {
	begin state reset && echo 1 >"/sys/bus/pci/devices/${pci[0]}/reset" &&
		wait_for up_again && traced_here state 'state=DOWN' && traced_here reset 'ret=0'
}

# record PROGRAM FILE COMMAND...
record() {
	case $1 in
	trace-cmd) trace-cmd record -q -e mynic -o "${@:2}" ;;
	perf) perf record -q -a -e 'mynic:*' -o "${@:2}" ;;
	esac
}

report() {
	case $1 in
	trace-cmd) trace-cmd report -i "$2" ;;
	perf) perf script -i "$2" ;;
	esac
}

# by PROGRAM: these translate numbers to names themselves, and print 0 for 0x0
by() {
	local trace dir status

	dir=$(mktemp -d)
	trace=$dir/text
	# shellcheck disable=SC2016 # the inner shell expands these
	record "$1" "$dir/data" sh -c '"$1" -t access && echo 1 >"$2"' sh \
		"$here/error_counters" "/sys/bus/pci/devices/${pci[0]}/reset" &&
		report "$1" "$dir/data" | sed 's/  */ /g; s/ $//' >"$trace" &&
		traced cmd_done "id=[0-9]+ opcode=CREATE_QP number=0 status=OK created=$number" &&
		refused_access && traced_here state 'state=DOWN' && traced_here reset 'ret=0'
	status=$?
	rm -r "$dir"
	wait_for is_up && return $status
}

control=/proc/dynamic_debug/control

# All messages of the driver about illegal transitions
reasons() {
	dmesg | grep -cE "mynic [0-9a-f:.]+ mynic_[01]: QP $number: no way from [A-Z]+ to [A-Z]+"
}

# Without dynamic debugging there are no messages
refusals() {
	local before status

	before=$(reasons)
	"$here/qp_state" && [ "$(reasons)" = "$before" ] || return
	echo 'module mynic +p' >$control || return
	"$here/qp_state" && [ "$(reasons)" -gt "$before" ]
	status=$?
	echo 'module mynic -p' >$control
	return $status
}

trap finish EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"
result "commands" commands
result "what commands create" created
result "commands that are refused" refused
result "states of queue pairs: by their consumer" by_consumer
result "states of queue pairs: by the device" by_device
result "page faults" page_faults
if [ -e $control ]; then
	result "why requests are refused" refusals
else
	ktap_test_skip "this kernel has no dynamic debugging"
fi
break_device
result "failure: an error" fatal
result "failure: a hang" hang
device_is_whole
result "reset" reset
for program in trace-cmd perf; do
	if command -v "$program" >/dev/null; then
		result "all of that with $program" by "$program"
	else
		ktap_test_skip "no $program"
	fi
done
ktap_finished
