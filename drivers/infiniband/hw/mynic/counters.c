// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counter sets of processes (struct ib_counters), which count for flow rules.
 * Those of queue pairs are in qp_counter.c.
 */
#include <rdma/mynic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

static int mynic_create_counters(struct ib_counters *ibcounters,
				 struct uverbs_attr_bundle *attrs)
{
	return mynic_cmd_create_counters(to_mdev(ibcounters->device),
					 &to_mcounters(ibcounters)->number);
}

static int mynic_destroy_counters(struct ib_counters *ibcounters)
{
	mynic_cmd_destroy_counters(to_mdev(ibcounters->device),
				   to_mcounters(ibcounters)->number);
	return 0;
}

static int mynic_read_counters(struct ib_counters *ibcounters,
			       struct ib_counters_read_attr *attr,
			       struct uverbs_attr_bundle *attrs)
{
	u64 values[MYNIC_NUM_STATS];
	u32 i;
	int ret;

	ret = mynic_cmd_query_counters(to_mdev(ibcounters->device),
				       to_mcounters(ibcounters)->number,
				       values);
	if (ret)
		return ret;
	for (i = 0; i < min_t(u32, attr->ncounters, MYNIC_NUM_COUNTERS); i++)
		attr->counters_buff[i] = i == MYNIC_COUNTER_PACKETS ?
						 values[MYNIC_STAT_RX_PACKETS] :
						 values[MYNIC_STAT_RX_BYTES];
	return 0;
}

const struct ib_device_ops mynic_counters_ops = {
	.create_counters = mynic_create_counters,
	.destroy_counters = mynic_destroy_counters,
	.read_counters = mynic_read_counters,

	INIT_RDMA_OBJ_SIZE(ib_counters, mynic_counters, ibcounters),
};
