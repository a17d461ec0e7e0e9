# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # see scenario
# SMB Direct: a directory that ksmbd shares at the far end, and fio that writes a file in
# it and reads it again. Debian builds both ends without SMB Direct.

rare=yes
modules=(smbdirect ksmbd cifs)

# The program of all names that the package ksmbd-tools has; see the Makefile
tools=/mynic/build/smb/usr/libexec/ksmbd.tools
files=(--config="$dir/ksmbd.conf" --pwddb="$dir/users")

# tool NAME ARG...
tool() { (exec -a "$1" "$tools" "${@:2}"); }

serve() {
	mkdir "$dir/export" && touch "$dir/users" && cat >"$dir/ksmbd.conf" <<-END &&
		[global]
			server min protocol = SMB3_11
		[export]
			path = $dir/export
			read only = no
	END
		tool ksmbd.adduser "${files[@]}" --add --password=secret root &&
		tool ksmbd.mountd "${files[@]}" && wait_for smb_listens
}

# SMB Direct has the port 445 on RoCE.
smb_listens() { rdma resource show cm_id | grep 'state LISTEN.*src-addr [^ ]*:445 '; }

set_up() {
	mkdir "$dir/mount"
	serve && mount -i -t cifs "//$far_ip/export" "$dir/mount" \
		-o "ip=$far_ip,rdma,vers=3.1.1,username=root,password=secret,cache=none"
}

run() { verified_writes --filename="$dir/mount/file" --ioengine=libaio; }

# The client connects again, but requests under way fail.
survives() { [ "$1" = link ]; }

tear_down() {
	umount "$dir/mount" || umount -f "$dir/mount" || return
	tool ksmbd.control --shutdown && wait_for no_mountd
}
no_mountd() { ! pgrep -f ksmbd.mountd; }
