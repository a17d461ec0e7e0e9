# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # see scenario
# SRP: ib_srp and ib_srpt, which connect by rdma_cm

# shellcheck source=tests/consumers/scsi.sh
. "$here/scsi.sh"

modules=(ib_srpt ib_srp sd_mod dm_mod)
ports=$config/srpt

# The first GID of a NIC, without its colons
gid() { tr -d : <"$(echo "$1"/infiniband/*/ports/1/gids/0)"; }

# The target knows its port by its GID, and the initiator by the last half of that
# one's.
export_target() {
	local port initiator

	port=$ports/0x$(gid "$far")
	initiator=$(gid "$near")
	mkdir -p "$ports" && mkdir "$port" && mkdir "$port/group" &&
		share "$port/group" "0x0000000000000000${initiator:16}" &&
		echo 5555 >"$ports/discovery_auth/rdma_cm_port"
}

end_export() {
	local port

	for port in "$ports"/0x*; do
		unshare_all "$port/group" && rmdir "$port/group" "$port" || return
	done
}

# The target's name is that of its first device. The initiator holds requests back while
# it tries to reconnect. That takes ten seconds at least, in which a NIC that failed is
# unregistered: see Documentation/errors.rst.
connect() {
	local name

	name=$(sed s/^0x// /sys/module/ib_srpt/parameters/srpt_service_guid) &&
		echo $((PATIENCE / 2)) >/sys/module/ib_srp/parameters/fast_io_fail_tmo &&
		echo "id_ext=$name,ioc_guid=$name,src=$near_ip,dest=$far_ip:5555" \
			>"/sys/class/infiniband_srp/srp-$(ls "$near/infiniband")-1/add_target"
}

disconnect() {
	local port

	for port in /sys/class/srp_remote_ports/*; do
		[ ! -e "$port" ] || echo 1 >"$port/delete"
	done
}
