# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # see scenario
# rping: a server that serves one client after the other

modules=(rdma_ucm)

set_up() {
	serve rping -s -P -a "$far_ip"
}

# rping looks for an address no longer than two seconds, and a cable may be away
# for longer.
run() {
	local status

	while :; do
		rping -c -V -a "$far_ip" -C 500 -S 20000 >"$dir/rping" 2>&1 &&
			status=0 || status=$?
		cat "$dir/rping"
		[ "$disturbance" = link ] || return "$status"
		grep -q 'ADDR_ERROR, error -110' "$dir/rping" || return "$status"
	done
}

survives() { [ "$1" = link ]; }

tear_down() { end_server; }
