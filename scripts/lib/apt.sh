# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034 # scripts that include it use what is set
#
# apt in the sandbox, whose tree it cannot write to: lists of packages and what is
# fetched are in a directory of the caller's.

# private_apt DIR: makes DIR, and sets apt, the options of all commands of apt. The
# caller then writes DIR/list: lines of sources.list.
private_apt() {
	mkdir -p "$1/lists/partial" "$1/archives/partial"
	apt=(-q -o Dir::State="$1" -o Dir::State::status=/var/lib/dpkg/status
		-o Dir::Cache="$1" -o Dir::Etc::sourcelist="$1/list"
		-o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=
		-o Acquire::Languages=none)
}

# What a line of DIR/list has between "deb" and the address, so that apt can verify
signed="signed-by=/usr/share/keyrings/debian-archive-keyring.gpg"
