# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # see scenario
# iSER: open-iscsi with ib_iser, and the kernel's iSCSI target with ib_isert

# shellcheck source=tests/consumers/scsi.sh
. "$here/scsi.sh"

modules=(ib_isert ib_iser sd_mod dm_mod)

initiator=iqn.1999-01.example:near
target=iqn.1999-01.example:far
group=$config/iscsi/$target/tpgt_1
portal=$far_ip:3260

listen() { mkdir "$group/np/$portal" && echo 1 >"$group/np/$portal/iser"; }
end_listen() { [ ! -e "$group/np/$portal" ] || rmdir "$group/np/$portal"; }

export_target() {
	mkdir -p "$config/iscsi" && mkdir "$config/iscsi/$target" && mkdir "$group" &&
		echo 0 >"$group/attrib/authentication" &&
		share "$group" "$initiator" && listen
}

end_export() {
	end_listen && unshare_all "$group" && rmdir "$group" "$config/iscsi/$target"
}

restore() { [ "$1" = near ] || { end_listen && listen; }; }

node() { iscsiadm -m node -T "$target" -p "$portal" -I iser "$@"; }
setting() { node -o update -n "$1" -v "$2"; }

# iscsid holds requests back while it cannot reach the target.
connect() {
	echo "InitiatorName=$initiator" >/etc/iscsi/initiatorname.iscsi
	mkdir -p /run/lock/iscsi
	pgrep -x iscsid || iscsid || return
	node -o new &&
		setting node.session.timeo.replacement_timeout $((PATIENCE / 2)) &&
		node --login
}

disconnect() { node --logout && node -o delete; }
