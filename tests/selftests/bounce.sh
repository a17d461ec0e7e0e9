#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# The device reaches memory through bounce buffers only. Memory that it would
# share with a process is refused. The network interface works, as do consumers
# in the kernel: srq.sh has one.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
grep -qE '(^| )swiotlb=([^ ]*,)?force\b' /proc/cmdline ||
	skip "this kernel has no swiotlb=force"
ktap_set_plan 3
trap restore EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"

result "processes get neither queues nor regions" "$here/bounce_user"
result "ping over IPv4" pings -s 1000 "$far_ip"
result "ping over IPv6" pings -s 1000 "$far_ip6"
ktap_finished
