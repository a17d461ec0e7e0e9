# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # see scenario
# rping: a server that serves one client after the other

modules=(rdma_ucm)

set_up() {
	serve rping -s -P -a "$far_ip"
}

# rping looks for an address no longer than two seconds
run() {
	until_cable_is_back 'ADDR_ERROR, error -110' \
		rping -c -V -a "$far_ip" -C 500 -S 20000
}

survives() { [ "$1" = link ]; }

tear_down() { end_server; }
