// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion counters, which the device writes to memory of the process. */
#include <config.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "mynic.h"
#include "mynic-abi.h"

#define MYNIC_COMP_CNTR_OPS                                                  \
	(IBV_QP_ATTACH_COMP_CNTR_OP_SEND | IBV_QP_ATTACH_COMP_CNTR_OP_RECV | \
	 IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ |                              \
	 IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ |                       \
	 IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE |                             \
	 IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE)

/**
 * struct mynic_comp_cntr - completion counter
 * @ibv_cc: libibverbs' part
 * @map: where its memory is mapped, for reading
 * @values: what the device writes there
 */
struct mynic_comp_cntr {
	struct ibv_comp_cntr ibv_cc;
	struct mynic_map map;
	const struct mynic_comp_cntr_values *values;
};

static struct mynic_comp_cntr *to_mcomp_cntr(struct ibv_comp_cntr *cc)
{
	return container_of(cc, struct mynic_comp_cntr, ibv_cc);
}

/* A kernel does not know the object if it, or the device, has no counters. */
static int mynic_comp_cntr_errno(struct ibv_context *context, int err)
{
	if (err != EPROTONOSUPPORT)
		return err;
	verbs_debug(verbs_get_ctx(context),
		    "kernel or device without completion counters\n");
	return EOPNOTSUPP;
}

/* Return: 0 or a positive errno. */
static int mynic_comp_cntr_map(struct mynic_comp_cntr *cntr,
			       const struct mynic_create_comp_cntr_resp *resp)
{
	void *addr = mmap(NULL, resp->mmap_size, PROT_READ, MAP_SHARED,
			  cntr->ibv_cc.context->cmd_fd, resp->mmap_key);

	if (addr == MAP_FAILED)
		return errno;
	cntr->map.addr = addr;
	cntr->map.size = resp->mmap_size;
	cntr->values = addr + resp->values_offset;
	return 0;
}

/* Return: 0 or a positive errno. */
static int mynic_comp_cntr_check(struct ibv_context *context,
				 const struct ibv_comp_cntr_init_attr *attr)
{
	if (attr->comp_mask || attr->type != IBV_COMP_CNTR_TYPE_WRS) {
		verbs_debug(verbs_get_ctx(context),
			    "completion counter: comp_mask 0x%x, type %u\n",
			    attr->comp_mask, attr->type);
		return EOPNOTSUPP;
	}
	if (attr->flags) {
		verbs_debug(verbs_get_ctx(context),
			    "completion counter: flags 0x%x\n", attr->flags);
		return EINVAL;
	}
	return 0;
}

/* ibv_create_comp_cntr(3) */
static struct ibv_comp_cntr *
mynic_create_comp_cntr(struct ibv_context *context,
		       struct ibv_comp_cntr_init_attr *attr)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_COMP_CNTR,
			       UVERBS_METHOD_COMP_CNTR_CREATE, 1);
	struct mynic_create_comp_cntr_resp resp = {};
	struct mynic_comp_cntr *cntr;
	int err;

	err = mynic_comp_cntr_check(context, attr);
	if (err) {
		errno = err;
		return NULL;
	}
	cntr = calloc(1, sizeof(*cntr));
	if (!cntr)
		return NULL;
	fill_attr_out_ptr(cmd, MYNIC_ATTR_CREATE_COMP_CNTR_RESP, &resp);
	err = ibv_cmd_create_comp_cntr(context, &cntr->ibv_cc, cmd);
	if (err)
		goto err_free;
	err = mynic_comp_cntr_map(cntr, &resp);
	if (err)
		goto err_cmd;
	return &cntr->ibv_cc;

err_cmd:
	ibv_cmd_destroy_comp_cntr(&cntr->ibv_cc);
err_free:
	free(cntr);
	errno = mynic_comp_cntr_errno(context, err);
	return NULL;
}

static int mynic_destroy_comp_cntr(struct ibv_comp_cntr *cc)
{
	struct mynic_comp_cntr *cntr = to_mcomp_cntr(cc);
	int err;

	err = ibv_cmd_destroy_comp_cntr(cc);
	if (err)
		return err;
	mynic_munmap(&cntr->map);
	free(cntr);
	return 0;
}

/* The caller then looks at the data of what was counted. */
static uint64_t mynic_comp_cntr_load(const __le64 *value)
{
	return le64toh((__force __le64)atomic_load_explicit(
		(_Atomic(uint64_t) *)value, memory_order_acquire));
}

static int mynic_read_comp_cntr(struct ibv_comp_cntr *cc, uint64_t *value)
{
	*value = mynic_comp_cntr_load(&to_mcomp_cntr(cc)->values->completions);
	return 0;
}

static int mynic_read_err_comp_cntr(struct ibv_comp_cntr *cc, uint64_t *value)
{
	*value = mynic_comp_cntr_load(&to_mcomp_cntr(cc)->values->errors);
	return 0;
}

static int mynic_query_comp_cntr_caps(struct ibv_context *context,
				      struct ibv_comp_cntr_caps *caps,
				      size_t caps_size)
{
	return mynic_comp_cntr_errno(context,
				     ibv_cmd_query_comp_cntr_caps(context, caps,
								  caps_size));
}

/* libibverbs leaves out operations that it does not know. */
static int mynic_qp_attach_comp_cntr(struct ibv_qp *qp,
				     struct ibv_comp_cntr *cc,
				     struct ibv_qp_attach_comp_cntr_attr *attr)
{
	if (attr->comp_mask || attr->op_mask & ~MYNIC_COMP_CNTR_OPS) {
		verbs_debug(
			verbs_get_ctx(qp->context),
			"completion counter: comp_mask 0x%x, op_mask 0x%x\n",
			attr->comp_mask, attr->op_mask);
		return EOPNOTSUPP;
	}
	return ibv_cmd_qp_attach_comp_cntr(qp, cc, attr);
}

const struct verbs_context_ops mynic_comp_cntr_ops = {
	.create_comp_cntr = mynic_create_comp_cntr,
	.destroy_comp_cntr = mynic_destroy_comp_cntr,
	.inc_comp_cntr = ibv_cmd_inc_comp_cntr,
	.inc_err_comp_cntr = ibv_cmd_inc_err_comp_cntr,
	.qp_attach_comp_cntr = mynic_qp_attach_comp_cntr,
	.query_comp_cntr_caps = mynic_query_comp_cntr_caps,
	.read_comp_cntr = mynic_read_comp_cntr,
	.read_err_comp_cntr = mynic_read_err_comp_cntr,
	.set_comp_cntr = ibv_cmd_set_comp_cntr,
	.set_err_comp_cntr = ibv_cmd_set_err_comp_cntr,
};
