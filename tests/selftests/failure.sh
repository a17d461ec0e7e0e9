#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# The device fails: the driver notices, tells its users, and resets it.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
for program in devlink ethtool od; do
	command -v "$program" >/dev/null || skip "no $program"
done
ktap_set_plan 39
trap restore EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"

function=/sys/bus/pci/devices/${pci[0]}

# The driver tells it, too, if the RDMA core takes its time.
few_fatal() { [ "$(grep -c IBV_EVENT_DEVICE_FATAL "$watched")" -le 2 ]; }
failed_more() { [ "$(failures "$1")" -gt "$2" ]; }

# recovers WHY BEFORE: waits for one more failure than BEFORE, and for full
# recovery
recovers() {
	wait_for failed_more "$1" "$2" && wait_for saw_fatal &&
		wait_for is_up && wait_for ping_far && few_fatal
}

# The device cannot reach its queues, and answers nothing until it is allowed to
no_dma() {
	local status command before

	before=$(failures '')
	watch "$near_rdma" || return
	command=$(config 4)
	config 4 $((command & ~master))
	ethtool -S "$near" >/dev/null
	wait_for saw_fatal
	status=$?
	config 4 "$command"
	recovers '' "$before" || status=1
	end_watch
	return $status
}

devlink=pci/${pci[0]}

reporter_is() { # NAME STATE
	devlink health show "$devlink" reporter "$1" | grep -q "state $2 "
}

times() { # NAME COUNTER
	devlink health show "$devlink" reporter "$1" | sed -n "s/.* $2 \([0-9]*\).*/\1/p"
}

# provoke NAME WHY: the test of a health reporter makes the device fail, and it
# recovers
provoke() {
	local status before errors recovered

	wait_for reporter_is fatal healthy && wait_for reporter_is hang healthy || return
	# The dump of the first failure is kept until somebody clears it
	devlink health dump clear "$devlink" reporter "$1"
	before=$(failures "$2")
	errors=$(times "$1" error)
	recovered=$(times "$1" recover)
	watch "$near_rdma" || return
	devlink health test "$devlink" reporter "$1" && recovers "$2" "$before" &&
		wait_for reporter_is "$1" healthy &&
		[ "$(times "$1" error)" = $((errors + 1)) ] &&
		[ "$(times "$1" recover)" = $((recovered + 1)) ] &&
		devlink health dump show "$devlink" reporter "$1" | grep "$2" &&
		devlink health diagnose "$devlink" reporter "$1" | grep "$2"
	status=$?
	devlink health dump clear "$devlink" reporter "$1"
	end_watch
	return $status
}

fatal() { provoke fatal 'it reports a bad index'; }

# Processes are told though a consumer in the kernel does not let go of the device
held_by_others() {
	local status before held=/sys/module/slow_client/parameters/let_go

	before=$(failures '')
	watch "$near_rdma" &&
		insmod "$here/modules/$(uname -r)/slow_client.ko" || return
	devlink health test "$devlink" reporter fatal &&
		wait_for saw_fatal && has_rdma
	status=$?
	echo 1 >"$held"
	recovers '' "$before" || status=1
	rmmod slow_client
	end_watch
	return $status
}

consumer=/sys/module/flushed_consumer/parameters

is_removed() { [ "$(cat $consumer/removing)" = Y ]; }
has_let_go() { [ "$(cat $consumer/result)" != -115 ]; } # EINPROGRESS

# flushes Y|N COMMAND...: COMMAND makes the device fail. A consumer in the kernel finds
# its request flushed, and nothing else of it is woken. Y: before it loses the device
flushes() {
	local before result status=0 told=$1

	before=$(failures '')
	watch "$near_rdma" &&
		insmod "$here/modules/$(uname -r)/flushed_consumer.ko" \
			device="$near_rdma" || return
	"${@:2}" && wait_for has_let_go || status=1
	[ "$(cat $consumer/told)" = "$told" ] || status=1
	result=$(cat $consumer/result)
	echo "result $result"
	recovers '' "$before" && [ "$result" = 0 ] || status=1
	rmmod flushed_consumer
	end_watch
	return $status
}

# The consumer lets go of the device only then
fails_in_reset() {
	local pid status=0

	echo 1 >"$function/reset" &
	pid=$!
	wait_for is_removed && devlink health test "$devlink" reporter fatal ||
		status=1
	wait "$pid" && return $status
}

hang() { provoke hang 'it does not answer'; }

# Reading a register of a device that hangs could stop the processor. So it is asked first
# whether it answers.
clock_of_hung() {
	local before status

	before=$(failures 'it does not answer')
	watch "$near_rdma" || return
	"$here/ptp_stamps" "$near" time && devlink health test "$devlink" reporter hang &&
		"$here/ptp_stamps" "$near" time 2>&1 | grep 'clock_gettime: Input/output error' &&
		recovers 'it does not answer' "$before" && "$here/ptp_stamps" "$near" time
	status=$?
	end_watch
	return $status
}

late=/sys/module/down_race/parameters

# A health check finds a hang while the device is brought down. Until it has been
# reset, it is not read, and keeps its memory.
late_hang() {
	local hangs lost freed

	insmod "$here/modules/$(uname -r)/down_race.ko" function="${pci[0]}" hang=1 || return
	echo 1 >"$function/reset"
	hangs=$(cat $late/hangs) lost=$(cat $late/hangs_lost) freed=$(cat $late/memory_freed)
	rmmod down_race
	echo "$hangs hangs, $lost forgotten, memory freed $freed times"
	wait_for is_up && ping_far && [ "$hangs" -ge 1 ] && [ "$lost" = 0 ] && [ "$freed" = 0 ]
}

# The driver of a machine that is too busy does not take a device for hung so soon.
late_checks() {
	insmod "$here/modules/$(uname -r)/late_check.ko" device="$near_rdma" || {
		dmesg | grep late_check
		return 1
	}
	rmmod late_check && ping_far
}

filters_changed() {
	ip link set "$near" promisc on
	ip link set "$near" promisc off
	failed_more 'it does not answer' "$1"
}

# A device that hangs does not take filters, which is not another failure.
change_filters() {
	local before

	before=$(failures 'it does not answer')
	devlink health test "$devlink" reporter hang &&
		wait_for filters_changed "$before" && wait_for is_up &&
		wait_for ping_far && ! dmesg | grep 'cannot set receive filters'
}

# Only the administrator recovers it
by_hand() {
	local status=0

	devlink health set "$devlink" reporter fatal auto_recover false &&
		devlink health test "$devlink" reporter fatal &&
		wait_for no_rdma && wait_for reporter_is fatal error || status=1
	devlink health recover "$devlink" reporter fatal &&
		reporter_is fatal healthy || status=1
	devlink health set "$devlink" reporter fatal auto_recover true
	wait_for is_up && wait_for ping_far && return $status
}

# Without interrupts, frames that were sent stay in the transmit queue. Several
# sockets are needed to fill it. The driver's limit is 30 seconds, and the stack
# checks every 30 seconds.
no_interrupts() {
	local at control status before

	before=$(failures 'it sends no frames')
	watch "$near_rdma" && start_blasts 16 && mask_interrupts || return
	wait_for failed_more 'it sends no frames' "$before" ||
		wait_for failed_more 'it sends no frames' "$before"
	unmask_interrupts
	end_blasts
	recovers 'it sends no frames' "$before"
	status=$?
	end_watch
	return $status
}

# The device answers nothing, and a reset does not help. Its remaining objects
# do no harm. It recovers when it can be reached again.
no_answer() {
	local command status

	command=$(config 4)
	watch "$near_rdma" || return
	config 4 $((command & ~memory & ~master))
	ethtool -S "$near" >/dev/null
	wait_for saw_fatal && wait_for no_rdma
	status=$?
	end_watch
	# calls fail or have no effect
	ethtool -S "$near" && status=1
	ping -c 1 -W 1 "$far_ip" && status=1
	ip link set "$near" down
	ip link set "$near" up && status=1
	config 4 "$command"
	wait_for ip link set "$near" up && configure && wait_for is_up && ping_far && return $status
}

# The same, but it is reset while it cannot be reached
no_answer_until() {
	local command

	command=$(config 4)
	config 4 $((command & ~memory & ~master))
	wait_for no_rdma
	"$@"
}

reset() {
	echo 1 >"$function/reset"
	config 4 "$(($(config 4) | memory | master))"
	wait_for ip link set "$near" up && configure && wait_for is_up && ping_far
}

# The address that the NIC had chosen is free while it is reset. A neighbour that
# takes it takes nothing but the carrier.
taken_address() {
	local own status=0

	own=$(in_netns "$ns" cat "/sys/class/net/$far/address")
	echo 1 >"$function/reset"
	ip_in "$ns" link set "$far" address 02:00:00:00:00:77 || status=1
	config 4 "$(($(config 4) | memory | master))"
	wait_for has_rdma && ! carrier "" "$near" || status=1
	ip_in "$ns" link set "$far" address "$own" &&
		wait_for carrier "" "$near" && configure && ping_far && return $status
}

address_while_down() {
	local own status=0

	own=$(cat "/sys/class/net/$near/address")
	ip link set "$near" address 02:00:00:00:00:77 || return
	no_answer_until taken_address || status=1
	ip link set "$near" address "$own" && configure && ping_far && return $status
}

unbind() {
	echo "${pci[0]}" >/sys/bus/pci/drivers/mynic/unbind &&
		echo "${pci[0]}" >/sys/bus/pci/drivers/mynic/bind &&
		configure && wait_for is_up && ping_far
}

# in_recovery COMMAND...: at any moment of a failure and of the recovery
in_recovery() {
	local i kind

	for i in {0..11}; do
		kind=fatal
		[ $((i % 2)) = 0 ] || kind=hang
		devlink health dump clear "$devlink" reporter "$kind"
		devlink health test "$devlink" reporter "$kind" || return
		sleep "$(printf '0.%02d' $((i * 8)))"
		"$@" || return
	done
}

# As before another kernel begins, for which the device has to leave memory alone. One
# that hangs stays a bus master until its reset, as mynic_hw_shut() says.
shut_down() {
	caller shutdown && { [ "${kind-hang}" = hang ] || no_master; } && unbind
}

nonsense() { # WHAT
	insmod "$here/modules/$(uname -r)/nonsense.ko" device="$near_rdma" what="$1" || {
		dmesg | grep nonsense
		return 1
	}
}

# fails_for WHAT WHY: the device answers nonsense and is reset
fails_for() {
	local before status pinging

	before=$(failures "$2")
	watch "$near_rdma" || return
	ping -q -i 0.2 "$far_ip" >/dev/null &
	pinging=$!
	nonsense "$1" && recovers "$2" "$before"
	status=$?
	kill "$pinging"
	rmmod nonsense
	end_watch
	return $status
}

# survives WHAT: it is no failure of the device
survives() {
	local before

	before=$(failures '')
	nonsense "$1" && rmmod nonsense && ping_far && [ "$(failures '')" = "$before" ]
}

tx_errors() { cat "/sys/class/net/$near/statistics/tx_errors"; }
restarted() { [ "$(nic_counter queue_restarts)" = $(($1 + 1)) ]; }

# One frame cannot be sent. Only the network interface has new queues.
unsent_frame() {
	local before errors known pinging status

	before=$(failures '')
	errors=$(tx_errors)
	known=$(nic_counter queue_restarts)
	watch "$near_rdma" || return
	ping -q -i 0.2 "$far_ip" >/dev/null &
	pinging=$!
	nonsense unsent && rmmod nonsense && wait_for restarted "$known" && ping_far &&
		[ "$(tx_errors)" = $((errors + 1)) ] && [ "$(failures '')" = "$before" ] &&
		! saw_fatal && ! grep -q IBV_EVENT_PORT "$watched"
	status=$?
	kill "$pinging"
	end_watch
	return $status
}

# Failures are noticed and told though no memory is left for threads. The kernel
# keeps a thread for each workqueue that is used when memory is reclaimed.
keeps_threads() {
	[ "$(pgrep -c '^kworker/R-mynic')" = "$(functions | wc -l)" ]
}

break_device
result "has a thread for want of memory" keeps_threads
result "no access to memory" no_dma
result "no interrupts" no_interrupts
result "reported by devlink: an error" fatal
result "reported by devlink: a hang" hang
result "processes are told though others hold the device" held_by_others
result "a consumer in the kernel finds its request flushed" \
	flushes Y devlink health test "$devlink" reporter fatal
result "when a device that only seems to hang has stopped" \
	flushes Y devlink health test "$devlink" reporter hang
result "also while it is taken away" flushes N fails_in_reset
result "another soon after that" fatal
if [ -e /sys/class/ptp ]; then
	result "the clock of a device that hangs" clock_of_hung
else
	ktap_test_skip "the clock of a device that hangs: this kernel has no PTP clocks"
fi
result "a hang that is noticed late" late_hang
result "checks of the device that come late" late_checks
result "a hang while filters change" change_filters
result "recovered by hand" by_hand
result "no answer" no_answer
result "no answer, and a reset" no_answer_until reset
result "works after that" ping_far
result "its address is taken meanwhile" address_while_down
result "no answer, and unbind and bind" no_answer_until unbind
result "works after that" ping_far
result "no answer, and shutdown" no_answer_until shut_down
result "works after that" ping_far
result "unbind while it fails and recovers" in_recovery unbind
result "shutdown while it fails and recovers" in_recovery shut_down
result "completes a command that it was not given" \
	fails_for command 'it completed a command that it was not given'
result "completes a frame that there is not" \
	fails_for frame 'it completes a frame that there is not'
for kind in number request bits queue twice; do
	result "completes what was not posted: $kind" \
		fails_for "$kind" 'it completes what was not posted'
done
result "does not flush a queue pair" fails_for unflushed 'it does not flush QP'
result "a consumer takes longer than a device may" survives slow
result "gives an object an impossible number" \
	fails_for impossible 'it answers CREATE_CQ with the number'
result "gives two objects the same number" \
	fails_for twice-given 'it gives out the number'
# Nobody knows what a newer device has to say.
result "has events that are not known" survives events
# A window can be bound before the driver knows of it.
result "has windows that are not known" survives windows
result "cannot send a frame" unsent_frame
device_is_whole
ktap_finished
