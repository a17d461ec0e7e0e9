#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck disable=SC2154,SC2317 # lib.sh sets them; functions are called by name
#
# Many connections made by rdma_cm, all alive at the same time. However they end,
# nothing is left of them. CONNECTIONS says how many.

# shellcheck source=tests/selftests/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

ktap_print_header
need 2
command -v rdma >/dev/null || skip "no rdma"
modprobe -qa rdma_ucm ib_uverbs
[ -c /dev/infiniband/rdma_cm ] || skip "no rdma_cm"
ktap_set_plan 7
trap restore EXIT
configure || ktap_exit_fail_msg "cannot set up the netdevs"

many=${CONNECTIONS:-100}

result "$many connections, disconnected in order" connections "$many" order "$near_ip"
result "$many connections, disconnected in disorder" \
	connections "$many" disorder "$near_ip"
result "$many connections of a client that is killed" \
	connections "$many" client "$near_ip"
result "$many connections of a server that is killed" \
	connections "$many" server "$near_ip"
result "$many connections after that" connections "$many" order "$near_ip"
result "connections over IPv6" connections 10 disorder "$near_ip6"
result "connections over IPv6, link-local" over_link_local "$near" "$far"
ktap_finished
