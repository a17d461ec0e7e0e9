# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # see scenario
# SMC-Rv2: a socket that would be one of TCP to another. Debian builds SMC for Linux
# 6.12 only.

rare=yes
modules=(smc smc_diag sch_prio cls_u32 act_pedit)

# The server of SMC-Rv2 needs the client's MAC address in the client's proposal. The
# client of Linux puts it there only if it has SMC-Rv1, too. Documentation/errors.rst
# has the layout of that packet.
put_mac() {
	local dev mac

	dev=$(ls "$near/net") && mac=$(tr -d : <"/sys/class/net/$dev/address") || return
	tc qdisc replace dev "$dev" root handle 1: prio &&
		tc filter add dev "$dev" parent 1: protocol ip u32 \
			match u32 0xe2d4c3d9 0xffffffff at 52 match u8 1 0xff at 56 \
			action pedit munge offset 84 u32 set "0x${mac:0:8}" \
			munge offset 88 u16 set "0x${mac:8}"
}

# The module keeps the EID.
set_up() {
	[ -e /run/mynic-eid ] || "$here/smc-pair" MYNIC && touch /run/mynic-eid &&
		put_mac
}

# Between only two NICs a connection has no other way.
run() { "$here/smc-pair" "$far_ip" $((PATIENCE / 2)); }

survives() { false; }

# A NIC that has come back is without it.
tear_down() { tc qdisc del dev "$(ls "$near/net")" root || true; }
