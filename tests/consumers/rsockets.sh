# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # see scenario
# rsockets: rcopy, which copies a file to an rcopy without arguments

modules=(rdma_ucm)

set_up() {
	dd if=/dev/urandom of="$dir/want" bs=1M count=16 status=none && serve rcopy
}

# rcopy waits for ever if the far end dies while rcopy waits for its credits. All that
# it has sent was acknowledged, and it asks for no keepalive.
run() {
	local limit=()

	rm -f "$dir/got"
	[ "$side" = near ] || limit=(timeout $((PATIENCE / 2)))
	until_cable_is_back 'Connection timed out' \
		"${limit[@]}" rcopy "$dir/want" "$far_ip:$dir/got" || return
	cmp "$dir/want" "$dir/got" || return "$WRONG_DATA"
}

survives() { [ "$1" = link ]; }

tear_down() { end_server; }
