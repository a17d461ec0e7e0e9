// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receive work queues, and tables of them. Posting is in recv.c. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "mynic-abi.h"
#include "mynic.h"

static enum ibv_qp_state mynic_rwq_qp_state(enum ibv_wq_state state)
{
	switch (state) {
	case IBV_WQS_RDY:
		return IBV_QPS_RTR;
	case IBV_WQS_ERR:
		return IBV_QPS_ERR;
	default:
		return IBV_QPS_RESET;
	}
}

static void mynic_rwq_init(struct mynic_rwq *rwq,
			   const struct mynic_create_wq_resp *resp,
			   const struct ibv_wq_init_attr *attr)
{
	const struct mynic_create_qp_resp as_qp = {
		.rq_offset = resp->rq_offset,
		.dbrec_offset = resp->dbrec_offset,
		.log_rq_size = resp->log_size,
		.log_rq_stride = resp->log_stride,
	};
	const struct ibv_qp_cap cap = { .max_recv_sge = attr->max_sge };
	struct ibv_qp *ibqp = &rwq->qp.vqp.qp;

	ibqp->context = rwq->ibv_wq.context;
	ibqp->recv_cq = attr->cq;
	ibqp->qp_num = rwq->ibv_wq.wq_num;
	ibqp->qp_type = IBV_QPT_RAW_PACKET;
	mynic_qp_init(&rwq->qp);
	mynic_qp_init_queues(&rwq->qp, &as_qp, &cap);
	rwq->ibv_wq.post_recv = mynic_single_threaded(attr->pd) ?
					mynic_post_wq_recv_single :
					mynic_post_wq_recv;
}

struct ibv_wq *mynic_create_wq(struct ibv_context *context,
			       struct ibv_wq_init_attr *attr)
{
	struct umynic_create_wq_resp resp = {};
	struct umynic_create_wq cmd = {};
	struct mynic_home home;
	struct mynic_rwq *rwq;
	int err;

	rwq = mynic_alloc_object(&home, attr->pd, sizeof(*rwq), MYNICDV_RES_WQ);
	if (!rwq)
		return NULL;
	rwq->qp.home = home;
	err = ibv_cmd_create_wq(context, attr, &rwq->ibv_wq, &cmd.ibv_cmd,
				sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (err)
		goto err_free;
	err = mynic_mmap(context, &rwq->qp.map, resp.mmap_key, resp.mmap_size);
	if (err)
		goto err_destroy;
	mynic_rwq_init(rwq, &resp.drv_payload, attr);
	return &rwq->ibv_wq;

err_destroy:
	ibv_cmd_destroy_wq(&rwq->ibv_wq);
err_free:
	mynic_free_object(&rwq->qp.home, rwq, MYNICDV_RES_WQ);
	errno = err;
	return NULL;
}

int mynic_modify_wq(struct ibv_wq *ibwq, struct ibv_wq_attr *attr)
{
	struct mynic_qp *qp = &to_mrwq(ibwq)->qp;
	struct ibv_modify_wq cmd = {};
	int err;

	pthread_mutex_lock(&qp->state_lock);
	err = ibv_cmd_modify_wq(ibwq, attr, &cmd, sizeof(cmd));
	if (!err && attr->attr_mask & IBV_WQ_ATTR_STATE)
		mynic_qp_moved(qp, mynic_rwq_qp_state(attr->wq_state));
	pthread_mutex_unlock(&qp->state_lock);
	return err;
}

int mynic_destroy_wq(struct ibv_wq *ibwq)
{
	struct mynic_rwq *rwq = to_mrwq(ibwq);
	int err;

	err = ibv_cmd_destroy_wq(ibwq);
	if (err)
		return err;
	mynic_qp_fini(&rwq->qp);
	mynic_munmap(&rwq->qp.map);
	mynic_free_object(&rwq->qp.home, rwq, MYNICDV_RES_WQ);
	return 0;
}

struct ibv_rwq_ind_table *
mynic_create_rwq_ind_table(struct ibv_context *context,
			   struct ibv_rwq_ind_table_init_attr *attr)
{
	struct umynic_create_rwq_ind_table_resp resp = {};
	struct ibv_rwq_ind_table *table;
	int err;

	table = calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	err = ibv_cmd_create_rwq_ind_table(context, attr, table, &resp.ibv_resp,
					   sizeof(resp));
	if (err) {
		free(table);
		errno = err;
		return NULL;
	}
	return table;
}

int mynic_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table)
{
	int err;

	err = ibv_cmd_destroy_rwq_ind_table(table);
	if (err)
		return err;
	free(table);
	return 0;
}
