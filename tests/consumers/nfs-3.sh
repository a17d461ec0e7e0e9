# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154 # see scenario
# NFS over RDMA, version 3

# shellcheck source=tests/consumers/nfs.sh
. "$here/nfs.sh"
version=3
