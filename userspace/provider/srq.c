// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: creation, limit, resizing, destruction. Posting is in
 * recv.c.
 */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "mynic.h"
#include "mynic-abi.h"

/* Locate ring and record in the SRQ's memory. The stride is set already. */
static void mynic_srq_set_ring(struct mynic_srq *srq, uint32_t ring_offset,
			       uint32_t dbrec_offset, uint32_t log_size)
{
	struct mynic_srq_dbrec *dbrec = srq->map.addr + dbrec_offset;

	srq->rq.ring = srq->map.addr + ring_offset;
	srq->rq.pi_record = &dbrec->pi;
	srq->rq.ci_record = &dbrec->ci;
	srq->rq.size = 1U << log_size;
	srq->rq.limit = srq->rq.size;
	srq->rq.ring_end = srq->rq.ring + srq->rq.size * srq->rq.stride;
}

static int mynic_srq_map(struct mynic_srq *srq,
			 const struct mynic_create_srq_resp *resp,
			 uint32_t max_sge)
{
	int err;

	err = mynic_mmap(srq->vsrq.srq.context, &srq->map, resp->mmap_key,
			 resp->mmap_size);
	if (err)
		return err;

	srq->srqn = resp->srqn;
	srq->rq.stride = 1U << resp->log_stride;
	srq->rq.max_sge = max_sge;
	mynic_srq_set_ring(srq, resp->ring_offset, resp->dbrec_offset,
			   resp->log_size);
	srq->rq.next = srq->rq.ring;
	pthread_mutex_init(&srq->resize_lock, NULL);
	return 0;
}

struct ibv_srq *mynic_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr)
{
	struct umynic_create_srq_resp resp = {};
	struct ibv_create_srq cmd;
	struct mynic_home home;
	struct mynic_srq *srq;
	int err;

	srq = mynic_alloc_object(&home, pd, sizeof(*srq), MYNICDV_RES_SRQ);
	if (!srq)
		return NULL;
	srq->home = home;
	srq->rq.single_threaded = mynic_single_threaded(pd);
	mynic_choose_queue_ops(pd->context, MYNIC_QUEUE_SRQ,
			       mynic_srq_recv_forms, srq->rq.single_threaded);
	err = ibv_cmd_create_srq(pd, &srq->vsrq.srq, attr, &cmd, sizeof(cmd),
				 &resp.ibv_resp, sizeof(resp));
	if (err)
		goto err_free;
	err = mynic_srq_map(srq, &resp.drv_payload, attr->attr.max_sge);
	if (err)
		goto err_destroy;
	return &srq->vsrq.srq;

err_destroy:
	ibv_cmd_destroy_srq(&srq->vsrq.srq);
err_free:
	mynic_free_object(&srq->home, srq, MYNICDV_RES_SRQ);
	errno = err;
	return NULL;
}

struct ibv_srq *mynic_create_srq_ex(struct ibv_context *context,
				    struct ibv_srq_init_attr_ex *attr)
{
	struct umynic_create_srq_ex_resp resp = {};
	enum ibv_srq_type type = IBV_SRQT_BASIC;
	struct umynic_create_srq_ex cmd = {};
	struct mynic_home home;
	struct mynic_srq *srq;
	struct ibv_pd *pd;
	int err;

	if (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE)
		type = attr->srq_type;
	if (type > IBV_SRQT_TM) {
		verbs_debug(verbs_get_ctx(context), "no SRQs of type %d\n",
			    type);
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (type == IBV_SRQT_TM)
		cmd.max_ops = attr->tm_cap.max_ops;

	pd = attr->comp_mask & IBV_SRQ_INIT_ATTR_PD ? attr->pd : NULL;
	srq = mynic_alloc_object(&home, pd, sizeof(*srq), MYNICDV_RES_SRQ);
	if (!srq)
		return NULL;
	srq->home = home;
	srq->rq.single_threaded = mynic_single_threaded(pd);
	mynic_choose_queue_ops(context, MYNIC_QUEUE_SRQ, mynic_srq_recv_forms,
			       srq->rq.single_threaded);
	err = ibv_cmd_create_srq_ex(context, &srq->vsrq, attr, &cmd.ibv_cmd,
				    sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (err)
		goto err_free;
	if (type == IBV_SRQT_TM)
		err = mynic_tags_open(srq, &resp.drv_payload,
				      attr->tm_cap.max_num_tags);
	if (err)
		goto err_destroy;
	err = mynic_srq_map(srq, &resp.drv_payload, attr->attr.max_sge);
	if (err)
		goto err_unmap;
	return &srq->vsrq.srq;

err_unmap:
	mynic_tags_close(srq);
err_destroy:
	ibv_cmd_destroy_srq(&srq->vsrq.srq);
err_free:
	mynic_free_object(&srq->home, srq, MYNICDV_RES_SRQ);
	errno = err;
	return NULL;
}

/* EINVAL: peers can name XRC SRQs only. */
int mynic_get_srq_num(struct ibv_srq *ibsrq, uint32_t *srq_num)
{
	struct mynic_srq *srq = to_msrq(ibsrq);

	if (srq->vsrq.srq_type != IBV_SRQT_XRC) {
		verbs_debug(verbs_get_ctx(ibsrq->context),
			    "SRQ 0x%x: peers cannot name type %d\n", srq->srqn,
			    srq->vsrq.srq_type);
		return EINVAL;
	}
	*srq_num = srq->srqn;
	return 0;
}

static void *mynic_rq_slot(const struct mynic_rq *rq, uint32_t index)
{
	return rq->ring + (size_t)(index & (rq->size - 1)) * rq->stride;
}

/*
 * Copy the requests that the device has not taken yet to their slots of the new
 * ring. That ring may be too small, in which case the kernel refuses to move
 * there.
 */
static void mynic_srq_copy(const struct mynic_srq *srq, uint32_t pi, void *addr,
			   const struct mynic_resize_resp *resp)
{
	struct mynic_srq_dbrec *dbrec = addr + resp->dbrec_offset;
	struct mynic_rq rq = {
		.ring = addr + resp->ring_offset,
		.stride = srq->rq.stride,
		.size = 1U << resp->log_size,
	};
	uint32_t n = pi - mynic_observe(srq->rq.ci_record);

	if (n > srq->rq.size)
		n = srq->rq.size;
	while (n--)
		memcpy(mynic_rq_slot(&rq, pi - 1 - n),
		       mynic_rq_slot(&srq->rq, pi - 1 - n), rq.stride);
	mynic_publish(&dbrec->pi, pi);
}

static int mynic_srq_move(struct mynic_srq *srq, struct ibv_srq_attr *attr,
			  int attr_mask, struct mynic_map *map,
			  const struct mynic_resize_resp *resp)
{
	struct umynic_modify_srq cmd = { .mmap_key = resp->mmap_key };
	struct mynic_rq *rq = &srq->rq;
	struct mynic_map old;
	uint32_t pi;
	int err;

	if (!rq->single_threaded)
		mynic_lock(&rq->lock);
	pi = rq->end - rq->room;
	mynic_srq_copy(srq, pi, map->addr, resp);
	err = ibv_cmd_modify_srq(&srq->vsrq.srq, attr, attr_mask, &cmd.ibv_cmd,
				 sizeof(cmd));
	if (!err) {
		old = srq->map;
		srq->map = *map;
		*map = old;
		mynic_srq_set_ring(srq, resp->ring_offset, resp->dbrec_offset,
				   resp->log_size);
		rq->next = mynic_rq_slot(rq, pi);
		rq->room = 0;
		rq->end = pi;
	}
	if (!rq->single_threaded)
		mynic_unlock(&rq->lock);
	return err;
}

static int mynic_srq_resize(struct mynic_srq *srq, struct ibv_srq_attr *attr,
			    int attr_mask)
{
	struct mynic_resize_resp resp = {};
	struct umynic_modify_srq cmd = { .resp = (uintptr_t)&resp };
	struct mynic_map map;
	int err;

	err = ibv_cmd_modify_srq(&srq->vsrq.srq, attr, IBV_SRQ_MAX_WR,
				 &cmd.ibv_cmd, sizeof(cmd));
	if (err)
		return err;
	err = mynic_mmap(srq->vsrq.srq.context, &map, resp.mmap_key,
			 resp.mmap_size);
	if (err)
		return err;
	err = mynic_srq_move(srq, attr, attr_mask, &map, &resp);
	/* Unmap the old memory, or the new memory after an error. */
	mynic_munmap(&map);
	return err;
}

/*
 * Posting waits while the device moves the SRQ, but not while memory is
 * allocated and mapped. Return: 0; EINVAL if there are more requests than would
 * fit; or another positive errno. After an error, the SRQ is unchanged.
 */
int mynic_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		     int attr_mask)
{
	struct mynic_srq *srq = to_msrq(ibsrq);
	struct ibv_modify_srq cmd;
	int err;

	if (!(attr_mask & IBV_SRQ_MAX_WR))
		return ibv_cmd_modify_srq(ibsrq, attr, attr_mask, &cmd,
					  sizeof(cmd));
	pthread_mutex_lock(&srq->resize_lock);
	err = mynic_srq_resize(srq, attr, attr_mask);
	pthread_mutex_unlock(&srq->resize_lock);
	return err;
}

int mynic_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd;

	return ibv_cmd_query_srq(srq, attr, &cmd, sizeof(cmd));
}

int mynic_destroy_srq(struct ibv_srq *ibsrq)
{
	struct mynic_srq *srq = to_msrq(ibsrq);
	int err;

	err = ibv_cmd_destroy_srq(ibsrq);
	if (err)
		return err;
	mynic_munmap(&srq->map);
	mynic_tags_close(srq);
	pthread_mutex_destroy(&srq->resize_lock);
	mynic_free_object(&srq->home, srq, MYNICDV_RES_SRQ);
	return 0;
}
