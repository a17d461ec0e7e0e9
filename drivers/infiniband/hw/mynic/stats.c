// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Port counters, for "rdma statistic" and ethtool. Counter sets are in
 * qp_counter.c and counters.c.
 */
#include "cmd.h"
#include "mynic_names.h"

/* User space reads these names in "rdma statistic" and "ethtool -S". */
const struct rdma_stat_desc mynic_stat_descs[MYNIC_NUM_STATS] = {
	MYNIC_STAT_NAMES(MYNIC_MEMBER_NAME_AT, MYNIC_MEMBER_NAME_AT)
};

struct rdma_hw_stats *mynic_alloc_hw_port_stats(struct ib_device *ibdev,
						u32 port)
{
	return rdma_alloc_hw_stats_struct(mynic_stat_descs, MYNIC_NUM_STATS,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/*
 * All counters are read, whatever @index asks for. There are none for port 0.
 */
int mynic_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index)
{
	int ret;

	if (!port)
		return -EOPNOTSUPP;
	/*
	 * Exclude the counter sets: the RDMA core adds those, of present and
	 * past QPs.
	 */
	ret = mynic_cmd_query_stats(to_mdev(ibdev), MYNIC_STATS_UNBOUND,
				    stats->value);
	return ret ?: MYNIC_NUM_STATS;
}
