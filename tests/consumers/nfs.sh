# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # see scenario
# NFS over RDMA: a directory at the far end, and fio that writes a file in it and
# reads it again. version: that of the protocol.

modules=(rpcrdma nfsd nfs)
version=4.2

# mounted TYPE PLACE
mounted() {
	mkdir -p "$2"
	mountpoint -q "$2" || mount -t "$1" none "$2"
}

# Only version 3 needs a portmapper
serve() {
	local without=(--no-nfs-version 3)

	[ "$version" != 3 ] || {
		without=()
		pgrep -x rpcbind || rpcbind || return
	}
	mkdir "$dir/export"
	mounted nfsd /proc/fs/nfsd && mounted rpc_pipefs /run/rpc_pipefs || return
	pgrep -x nfsdcld || nfsdcld || return
	rpc.nfsd "${without[@]}" --rdma=20049 2 &&
		rpc.mountd "${without[@]}" --no-udp &&
		exportfs -i -o rw,no_root_squash,insecure,no_subtree_check,fsid=0 \
			"*:$dir/export"
}

# Version 4 begins at a root of the server's own. Without locks no other daemon is
# needed.
set_up() {
	local place=/ options=proto=rdma,port=20049,vers=$version

	[ "$version" != 3 ] || {
		place=$dir/export
		options+=,nolock,mountproto=tcp
	}
	mkdir "$dir/mount"
	serve && mount -t nfs -o "$options" "$far_ip:$place" "$dir/mount"
}

run() {
	verified_writes --filename="$dir/mount/file" --ioengine=libaio
}

# A hard mount, the default, waits for the server. But it fails if its own NIC
# vanishes during an attempt to connect, see Documentation/errors.rst.
survives() {
	[[ $1 =~ ^(link|broken)$ ]] || { [ "$2" = far ] && ! hits_both "$1"; }
}
# This ends the requests that wait, and then fio makes others. The mount is busy until
# it has ended.
give_up() {
	until ended "$runner"; do
		umount -f "$dir/mount"
		sleep 1
	done
}

tear_down() {
	umount "$dir/mount" || umount -f "$dir/mount" || return
	exportfs -ua && rpc.nfsd 0 && pkill -x rpc.mountd &&
		wait_for no_mountd
}
no_mountd() { ! pgrep -x rpc.mountd; }
