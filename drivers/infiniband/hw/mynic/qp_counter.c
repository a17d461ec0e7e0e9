// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counter sets of queue pairs (struct rdma_counter). The id of a counter is the
 * number of the device's set. The RDMA core holds the counter's lock in all
 * callbacks. Counters of flow rules are in counters.c.
 */
#include "cmd.h"

/**
 * struct mynic_qp_counter - counter set of queue pairs
 * @counter: the RDMA core's part
 */
struct mynic_qp_counter {
	struct rdma_counter counter;
};

/*
 * The RDMA core has initialised everything: the driver has no data of its own.
 */
void mynic_qp_counter_init(struct rdma_counter *counter)
{
}

static struct rdma_hw_stats *
mynic_qp_counter_alloc_stats(struct rdma_counter *counter)
{
	return mynic_alloc_hw_port_stats(counter->device, counter->port);
}

/*
 * The device has a set only as long as a QP uses it: the first one creates it.
 */
static int mynic_qp_counter_bind_qp(struct rdma_counter *counter,
				    struct ib_qp *ibqp, u32 port)
{
	struct mynic_dev *mdev = to_mdev(ibqp->device);
	u32 number = counter->id;
	int ret;

	if (!number) {
		ret = mynic_cmd_create_counters(mdev, &number);
		if (ret)
			return ret;
	}
	ret = mynic_cmd_bind_counters(mdev, to_mqp(ibqp)->qpn, number);
	if (ret) {
		if (!counter->id)
			mynic_cmd_destroy_counters(mdev, number);
		return ret;
	}
	counter->id = number;
	ibqp->counter = counter;
	return 0;
}

static int mynic_qp_counter_unbind_qp(struct ib_qp *ibqp, u32 port)
{
	int ret;

	ret = mynic_cmd_bind_counters(to_mdev(ibqp->device), to_mqp(ibqp)->qpn,
				      0);
	/* The RDMA core frees the set of a QP that is destroyed in any case. */
	if (ret && !mynic_dead(to_mdev(ibqp->device)))
		return ret;
	ibqp->counter = NULL;
	return 0;
}

static int mynic_qp_counter_dealloc(struct rdma_counter *counter)
{
	mynic_cmd_destroy_counters(to_mdev(counter->device), counter->id);
	return 0;
}

static int mynic_qp_counter_update_stats(struct rdma_counter *counter)
{
	return mynic_cmd_query_counters(to_mdev(counter->device), counter->id,
					counter->stats->value);
}

const struct ib_device_ops mynic_qp_counter_ops = {
	.counter_alloc_stats = mynic_qp_counter_alloc_stats,
	.counter_bind_qp = mynic_qp_counter_bind_qp,
	.counter_dealloc = mynic_qp_counter_dealloc,
	.counter_init = mynic_qp_counter_init,
	.counter_unbind_qp = mynic_qp_counter_unbind_qp,
	.counter_update_stats = mynic_qp_counter_update_stats,

	INIT_RDMA_OBJ_SIZE(rdma_counter, mynic_qp_counter, counter),
};
