# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154 # see scenario
# NVMe over RDMA with queues that fio polls

# shellcheck source=tests/consumers/nvme.sh
. "$here/nvme.sh"
poll_queues=2
