#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# A shared receive queue of the kernel.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 1
ktap_set_plan 1

near_rdma=$(rdma_of "${pci[0]}")
read -r _ near < <(netdev_of "${pci[0]}" | sed 's/^ /- /')

consumer() {
	insmod "$here/modules/$(uname -r)/srq_consumer.ko" \
		device="$near_rdma" gid_index="$(gid_index "$near_rdma" "$near_ip")" || {
		dmesg | grep srq_consumer
		return 1
	}
	rmmod srq_consumer
}

# The GID of an existing address disappears late, and comes back later
ip address flush dev "$near" scope global
wait_for no_gid "$near_rdma" "$near_ip"
one_end "" "$near" 1
wait_for gid_index "$near_rdma" "$near_ip"
result "queue pairs go with completions not polled" consumer
ktap_finished
