# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # see scenario
# rping: a server that serves one client after the other

modules=(rdma_ucm)

# The server's buffer must have the client's size.
size=20000

set_up() {
	serve rping -s -P -a "$far_ip" -S $size
}

# rping looks for an address no longer than two seconds. It ends with 0 even if its
# connection failed.
run() {
	until_cable_is_back 'ADDR_ERROR, error -110' \
		rping -c -V -a "$far_ip" -C 500 -S $size || return
	! grep 'wait for .* state' "$dir/attempt"
}

survives() { [ "$1" = link ]; }

tear_down() { end_server; }
