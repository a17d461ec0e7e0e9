// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Shared receive queues: creating, changing, destroying. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "mynic.h"
#include "mynic-abi.h"

/**
 * mynic_create_srq() - ibv_create_srq(3)
 * @pd: protection domain
 * @attr: capacity wanted, replaced by what the SRQ has
 *
 * Return: the SRQ, or NULL with errno set.
 */
struct ibv_srq *mynic_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr)
{
	struct umynic_create_srq_resp resp = {};
	struct mynic_srq_dbrec *dbrec;
	struct ibv_create_srq cmd;
	struct mynic_srq *srq;
	int err;

	srq = mynic_alloc(sizeof(*srq));
	if (!srq)
		return NULL;
	err = ibv_cmd_create_srq(pd, &srq->ibv_srq, attr, &cmd, sizeof(cmd),
				 &resp.ibv_resp, sizeof(resp));
	if (err)
		goto err_free;
	err = mynic_mmap(pd->context, &srq->map, resp.mmap_key, resp.mmap_size);
	if (err)
		goto err_destroy;

	dbrec = srq->map.addr + resp.dbrec_offset;
	srq->rq.ring = srq->map.addr + resp.ring_offset;
	srq->rq.pi_record = &dbrec->pi;
	srq->rq.ci_record = &dbrec->ci;
	srq->rq.size = 1U << resp.log_size;
	srq->rq.stride = 1U << resp.log_stride;
	srq->rq.max_sge = attr->attr.max_sge;
	srq->rq.limit = srq->rq.size;
	srq->rq.next = srq->rq.ring;
	srq->rq.ring_end = srq->rq.ring + srq->rq.size * srq->rq.stride;
	return &srq->ibv_srq;

err_destroy:
	ibv_cmd_destroy_srq(&srq->ibv_srq);
err_free:
	free(srq);
	errno = err;
	return NULL;
}

/**
 * mynic_modify_srq() - ibv_modify_srq(3)
 * @srq: the SRQ
 * @attr: new attributes
 * @attr_mask: which of them count
 *
 * Return: 0 or a positive errno.
 */
int mynic_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		     int attr_mask)
{
	struct ibv_modify_srq cmd;

	return ibv_cmd_modify_srq(srq, attr, attr_mask, &cmd, sizeof(cmd));
}

/**
 * mynic_query_srq() - ibv_query_srq(3)
 * @srq: the SRQ
 * @attr: its attributes
 *
 * Return: 0 or a positive errno.
 */
int mynic_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd;

	return ibv_cmd_query_srq(srq, attr, &cmd, sizeof(cmd));
}

/**
 * mynic_destroy_srq() - ibv_destroy_srq(3)
 * @ibsrq: the SRQ
 *
 * Return: 0 or a positive errno.
 */
int mynic_destroy_srq(struct ibv_srq *ibsrq)
{
	struct mynic_srq *srq = to_msrq(ibsrq);
	int err;

	err = ibv_cmd_destroy_srq(ibsrq);
	if (err)
		return err;
	mynic_munmap(&srq->map);
	free(srq);
	return 0;
}
