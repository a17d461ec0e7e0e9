# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# How tests run the MPI job, which has a rank in each node.

# shellcheck source=tests/peer/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../peer/lib.sh"
tree=/mynic/build/mpi
mapfile -t names </run/mynic/hostfile

mpi_install() {
	# shellcheck disable=SC2016 # other shells expand
	all sh -c 'echo "$1" >/etc/ld.so.conf.d/mpi.conf; ldconfig' sh \
		$tree/usr/lib/x86_64-linux-gnu
}

# mpi_job [FILE]: see mpi.c. No shared memory and no TCP; rc_v needs some datagrams
# to begin with. RC must bear a link that is down for a minute.
mpi_job() {
	UCX_TLS=rc_v,self UCX_NET_DEVICES=mynic_0:1 UCX_RC_TIMEOUT=8s \
		timeout 3600 $tree/usr/bin/mpiexec.hydra -n ${#names[@]} -ppn 1 \
		/mynic/build/check/nodes/mpi ${#names[@]} "$@"
}

# mpi_sent BYTES: whether all NICs have sent more than so many by RDMA
mpi_sent() {
	local sent

	sent=$(all cat /sys/class/infiniband/mynic_0/ports/1/hw_counters/tx_rdma_bytes)
	echo "$sent"
	[ "$(awk -v bytes="$1" '$2 > bytes' <<<"$sent" | wc -l)" = ${#names[@]} ]
}
