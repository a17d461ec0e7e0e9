# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Leaves reports out of a kernel's log that are others' to mend. Only a kernel
# with debugging has them. Any change in what they say makes them count again.

# With DEBUG_KOBJECT_RELEASE the release of a kobject is delayed. The functions
# that release these two do nothing. The struct that includes the kobject is freed
# after a grace period of RCU, with the running timer of the delay. The two are
# "kobj" of struct nfs_server, which nfs_free_server() frees, and "queue_kobj" of
# struct gendisk.
function early_free(report) {
	return report ~ /ODEBUG: free active \(active state 0\) object: [0-9a-f]+ object type: timer_list hint: kobject_delayed_cleanup\+/ &&
		report ~ /\]  (delayed_free\+[0-9a-fx\/]+ \[nfs\]|bdev_free_inode\+[0-9a-fx\/]+)\n/
}

# nvmet closes the listener of a port with nvmet_config_sem held. Under it, the
# request to connect that came before the event ESTABLISHED takes that one in
# the handler of another rdma_cm ID. To lockdep their mutexes are the same. It
# stops after its first report.
function nvmet_port(report) {
	return report ~ /WARNING: possible circular locking dependency/ &&
		report ~ /\]  rdma_destroy_id\+[0-9a-fx\/]+ \[rdma_cm\]\n[^\n]*\]  nvmet_rdma_disable_port\+/ &&
		report ~ /\]        nvmet_execute_io_connect\+/ &&
		report !~ /-> #2|mynic[_\]]/
}

function tell() {
	if (!early_free(report) && !nvmet_port(report))
		printf "%s", report
	report = ""
	within = 0
}

/\[ cut here \]|WARNING: possible circular locking/ { tell(); within = 1 }
{ report = report $0 "\n" }
!within || /<\/TASK>|\[ end trace / { tell() }
END { tell() }
