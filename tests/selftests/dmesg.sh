#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2317 # functions are called by name
#
# Runs last: the kernel has complained of nothing since it booted.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 1
ktap_set_plan 2

oops() {
	! dmesg | grep -E 'BUG:|WARNING:|Oops|KASAN|UBSAN|KCSAN|general protection|Call Trace|INFO: (task|rcu)|possible recursive|suspicious RCU|refcount_t|page allocation failure'
}

# A driver says nothing that a user's mistake can make it say
mynic_errors() {
	! dmesg --level=emerg,alert,crit,err |
		sed '/mynic selftest: the device fails/,/mynic selftest: the device is whole/d' |
		grep -i mynic | grep -v 'module verification failed'
}

result "no oops, no warning" oops
result "no error of mynic" mynic_errors
ktap_finished
