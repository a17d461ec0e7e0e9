// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counter sets for flow rules. The kernel reads all values, and this file puts
 * them where the application wants them.
 */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mynic.h"
#include "mynic-abi.h"

/**
 * struct mynic_point - place of a value
 * @what: enum mynic_counter
 * @index: index in the application's array
 */
struct mynic_point {
	uint32_t what;
	uint32_t index;
};

/**
 * struct mynic_counters - counter set
 * @vcounters: libibverbs' part
 * @lock: protects all that follows
 * @points: attached values
 * @num: elements of @points
 * @flows: flow rules that have this set
 */
struct mynic_counters {
	struct verbs_counters vcounters;
	pthread_mutex_t lock;
	struct mynic_point *points;
	size_t num;
	unsigned int flows;
};

static struct mynic_counters *to_mcounters(struct ibv_counters *counters)
{
	return container_of(counters, struct mynic_counters,
			    vcounters.counters);
}

/* A set that flow rules have stays as it is. */
static int mynic_counters_refuse(const struct mynic_counters *counters,
				 unsigned int flows)
{
	verbs_debug(verbs_get_ctx(counters->vcounters.counters.context),
		    "counters: %u flow rules have them\n", flows);
	return EBUSY;
}

struct ibv_counters *mynic_create_counters(struct ibv_context *context,
					   struct ibv_counters_init_attr *attr)
{
	struct mynic_counters *counters;
	int err;

	counters = calloc(1, sizeof(*counters));
	if (!counters)
		return NULL;
	err = ibv_cmd_create_counters(context, attr, &counters->vcounters,
				      NULL);
	if (err) {
		free(counters);
		errno = err;
		return NULL;
	}
	pthread_mutex_init(&counters->lock, NULL);
	return &counters->vcounters.counters;
}

int mynic_destroy_counters(struct ibv_counters *ibcounters)
{
	struct mynic_counters *counters = to_mcounters(ibcounters);
	unsigned int flows;
	int err;

	/* A device that is gone has no kernel to refuse this. */
	pthread_mutex_lock(&counters->lock);
	flows = counters->flows;
	pthread_mutex_unlock(&counters->lock);
	if (flows)
		return mynic_counters_refuse(counters, flows);
	err = ibv_cmd_destroy_counters(&counters->vcounters);
	if (err)
		return err;
	pthread_mutex_destroy(&counters->lock);
	free(counters->points);
	free(counters);
	return 0;
}

static void mynic_counters_count(struct ibv_counters *ibcounters, int flows)
{
	struct mynic_counters *counters = to_mcounters(ibcounters);

	pthread_mutex_lock(&counters->lock);
	counters->flows += flows;
	pthread_mutex_unlock(&counters->lock);
}

/* A flow rule has the counter set from now on, so it gets no more points. */
void mynic_counters_bind(struct ibv_counters *counters)
{
	mynic_counters_count(counters, 1);
}

/* A flow rule is gone, or was refused. */
void mynic_counters_unbind(struct ibv_counters *counters)
{
	mynic_counters_count(counters, -1);
}

static int mynic_add_point(struct mynic_counters *counters,
			   struct mynic_point point)
{
	struct mynic_point *points;

	if (counters->flows)
		return mynic_counters_refuse(counters, counters->flows);
	points = realloc(counters->points,
			 (counters->num + 1) * sizeof(*points));
	if (!points)
		return ENOMEM;
	points[counters->num++] = point;
	counters->points = points;
	return 0;
}

/*
 * @flow is NULL: rules name their counter set when they are created. EBUSY: one
 * has this set.
 */
int mynic_attach_counters_point_flow(struct ibv_counters *ibcounters,
				     struct ibv_counter_attach_attr *attr,
				     struct ibv_flow *flow)
{
	struct mynic_counters *counters = to_mcounters(ibcounters);
	struct mynic_point point = { .index = attr->index };
	int err;

	if (flow || attr->comp_mask ||
	    (attr->counter_desc != IBV_COUNTER_PACKETS &&
	     attr->counter_desc != IBV_COUNTER_BYTES)) {
		verbs_debug(verbs_get_ctx(ibcounters->context),
			    "counters: %s, counter_desc %d, comp_mask 0x%x\n",
			    flow ? "a flow rule" : "no flow rule",
			    attr->counter_desc, attr->comp_mask);
		return EOPNOTSUPP;
	}
	point.what = attr->counter_desc == IBV_COUNTER_PACKETS ?
			     MYNIC_COUNTER_PACKETS :
			     MYNIC_COUNTER_BYTES;
	pthread_mutex_lock(&counters->lock);
	err = mynic_add_point(counters, point);
	pthread_mutex_unlock(&counters->lock);
	return err;
}

/* Return false if a point is outside the application's array. */
static bool mynic_spread(struct mynic_counters *counters,
			 const uint64_t *values, uint64_t *array, uint32_t num)
{
	const struct mynic_point *end = counters->points + counters->num;
	const struct mynic_point *point;

	for (point = counters->points; point != end; point++)
		if (point->index >= num)
			return false;
	memset(array, 0, num * sizeof(*array));
	for (point = counters->points; point != end; point++)
		array[point->index] += values[point->what];
	return true;
}

/*
 * Elements of @array without a point become 0. EINVAL: @array is too short for
 * a point.
 */
int mynic_read_counters(struct ibv_counters *ibcounters, uint64_t *array,
			uint32_t num, uint32_t flags)
{
	struct mynic_counters *counters = to_mcounters(ibcounters);
	uint64_t values[MYNIC_NUM_COUNTERS] = {};
	bool fits;
	int err;

	err = ibv_cmd_read_counters(&counters->vcounters, values,
				    MYNIC_NUM_COUNTERS, flags, NULL);
	if (err)
		return err;
	pthread_mutex_lock(&counters->lock);
	fits = mynic_spread(counters, values, array, num);
	pthread_mutex_unlock(&counters->lock);
	if (!fits) {
		verbs_debug(verbs_get_ctx(ibcounters->context),
			    "counters: an index is beyond %u values\n", num);
		return EINVAL;
	}
	return 0;
}
