/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs of mynic devices: what they have beyond the verbs API, and where
 * their queues are. See mynicdv(7).
 */
#ifndef MYNICDV_H
#define MYNICDV_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/mynic-hw.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * mynicdv_is_supported() - whether a device is a mynic device
 * @device: any device
 *
 * The other functions take objects of such devices only.
 *
 * Return: true if it is a mynic device.
 */
bool mynicdv_is_supported(struct ibv_device *device);

/**
 * struct mynicdv_device_attr - attributes of a device
 * @comp_mask: which fields beyond those of the first version are set: none
 * @max_sq_stride: bytes of a send queue entry, at most
 * @max_rq_stride: bytes of a receive queue entry, at most
 * @driver_qp_types: bit n: QPs of enum mynicdv_driver_qp_type n can be created
 * @max_memcpy_size: bytes of a copy, at most
 */
struct mynicdv_device_attr {
	uint64_t comp_mask;
	uint32_t max_sq_stride;
	uint32_t max_rq_stride;
	uint32_t driver_qp_types;
	uint32_t max_memcpy_size;
};

/**
 * mynicdv_query_device() - query attributes beyond those of the verbs API
 * @context: the device
 * @attr: the attributes
 * @inlen: sizeof(*@attr), as the application was compiled
 *
 * Return: 0, EOPNOTSUPP if it is not a mynic device, EINVAL if @inlen is too
 * short.
 */
int mynicdv_query_device(struct ibv_context *context,
			 struct mynicdv_device_attr *attr, uint32_t inlen);

/**
 * enum mynicdv_res_type - object for which an allocator of a parent domain is called
 * @MYNICDV_RES_QP: the library's own memory of a QP
 * @MYNICDV_RES_SRQ: ... of an SRQ
 * @MYNICDV_RES_CQ: ... of a CQ
 * @MYNICDV_RES_WQ: ... of a WQ
 *
 * The upper half of the 64 bits is the driver ID, RDMA_DRIVER_UNKNOWN. Rings
 * and doorbell records are memory of the kernel, so no allocator is called for
 * them.
 */
enum mynicdv_res_type {
	MYNICDV_RES_QP = 1,
	MYNICDV_RES_SRQ = 2,
	MYNICDV_RES_CQ = 3,
	MYNICDV_RES_WQ = 4,
};

/**
 * struct mynicdv_ring - ring of a work queue
 * @base: the first slot
 * @num: number of slots, a power of two; 0: there is no such queue
 * @stride: bytes of a slot
 * @max_sge: SGEs that fit in a slot
 * @pi: producer index: the next slot to be filled
 */
struct mynicdv_ring {
	void *base;
	uint32_t num;
	uint32_t stride;
	uint32_t max_sge;
	uint32_t pi;
};

/**
 * struct mynicdv_qp - queues of a QP
 * @comp_mask: which fields beyond those of the first version are wanted: 0
 * @sq: send queue, of struct mynic_send_wqe
 * @rq: receive queue, of struct mynic_recv_wqe
 * @max_inline: bytes of inline data that fit in a slot of @sq
 * @qpn: number for the doorbell
 * @dbrec: doorbell record; NULL: the QP has no queues
 * @doorbell: address for stores of 8 bytes, each in one access
 */
struct mynicdv_qp {
	uint64_t comp_mask;
	struct mynicdv_ring sq;
	struct mynicdv_ring rq;
	uint32_t max_inline;
	uint32_t qpn;
	struct mynic_qp_dbrec *dbrec;
	void *doorbell;
};

/**
 * struct mynicdv_cq - ring of a CQ
 * @comp_mask: which fields beyond those of the first version are wanted: 0
 * @ring: first entry
 * @num: number of entries, a power of two
 * @cqn: number for the doorbell
 * @dbrec: doorbell record
 * @doorbell: address for stores of 8 bytes, each in one access
 * @ci: consumer index: the next entry to be read
 * @base: index of the entry that went to the first slot; not 0 after
 *	ibv_resize_cq(3)
 */
struct mynicdv_cq {
	uint64_t comp_mask;
	struct mynic_cqe *ring;
	uint32_t num;
	uint32_t cqn;
	struct mynic_cq_dbrec *dbrec;
	void *doorbell;
	uint32_t ci;
	uint32_t base;
};

/**
 * struct mynicdv_tags - ring of operations on the tags of an SRQ
 * @ring: the first slot
 * @num: number of slots, a power of two; 0: the SRQ has no tag matching
 * @max_tags: tags that the SRQ's list holds
 * @pi: producer index: the next slot to be filled
 * @handle: handle of the next tag that is added
 * @dbrec: doorbell record
 * @doorbell: address for stores of 8 bytes, each in one access, with the SRQ's
 *	number
 */
struct mynicdv_tags {
	struct mynic_tag_wqe *ring;
	uint32_t num;
	uint32_t max_tags;
	uint32_t pi;
	uint32_t handle;
	struct mynic_tag_dbrec *dbrec;
	void *doorbell;
};

/**
 * enum mynicdv_srq_mask - later fields of struct mynicdv_srq
 * @MYNICDV_SRQ_MASK_TAGS: tags
 */
enum mynicdv_srq_mask {
	MYNICDV_SRQ_MASK_TAGS = 1 << 0,
};

/**
 * struct mynicdv_srq - rings of an SRQ
 * @comp_mask: which fields beyond those of the first version are wanted, enum
 *	mynicdv_srq_mask
 * @rq: of struct mynic_recv_wqe
 * @dbrec: doorbell record
 * @srqn: its number
 * @tags: for tag matching
 */
struct mynicdv_srq {
	uint64_t comp_mask;
	struct mynicdv_ring rq;
	struct mynic_srq_dbrec *dbrec;
	uint32_t srqn;
	struct mynicdv_tags tags;
};

/**
 * struct mynicdv_wq - ring of a WQ
 * @comp_mask: which fields beyond those of the first version are wanted: 0
 * @rq: of struct mynic_recv_wqe
 * @wqn: number for the doorbell
 * @dbrec: doorbell record
 * @doorbell: address for stores of 8 bytes, each in one access
 */
struct mynicdv_wq {
	uint64_t comp_mask;
	struct mynicdv_ring rq;
	uint32_t wqn;
	struct mynic_qp_dbrec *dbrec;
	void *doorbell;
};

/**
 * struct mynicdv_ah - an address handle
 * @comp_mask: which fields beyond those of the first version are wanted: 0
 * @av: what the extension of a UD send request begins with
 */
struct mynicdv_ah {
	uint64_t comp_mask;
	struct mynic_av av;
};

/**
 * struct mynicdv_dm - device memory
 * @comp_mask: which fields beyond those of the first version are wanted: 0
 * @buf: where it is mapped; accesses are aligned and have 4 or 8 bytes
 * @length: how many bytes were allocated
 */
struct mynicdv_dm {
	uint64_t comp_mask;
	void *buf;
	uint64_t length;
};

/**
 * struct mynicdv_obj - objects, and the results for them
 * @qp: a QP
 * @cq: a CQ
 * @srq: an SRQ
 * @wq: a WQ
 * @ah: an address handle
 * @dm: device memory
 */
struct mynicdv_obj {
	struct {
		struct ibv_qp *in;
		struct mynicdv_qp *out;
	} qp;
	struct {
		struct ibv_cq *in;
		struct mynicdv_cq *out;
	} cq;
	struct {
		struct ibv_srq *in;
		struct mynicdv_srq *out;
	} srq;
	struct {
		struct ibv_wq *in;
		struct mynicdv_wq *out;
	} wq;
	struct {
		struct ibv_ah *in;
		struct mynicdv_ah *out;
	} ah;
	struct {
		struct ibv_dm *in;
		struct mynicdv_dm *out;
	} dm;
};

/**
 * enum mynicdv_obj_type - members of struct mynicdv_obj
 * @MYNICDV_OBJ_QP: its qp
 * @MYNICDV_OBJ_CQ: its cq
 * @MYNICDV_OBJ_SRQ: its srq
 * @MYNICDV_OBJ_WQ: its wq
 * @MYNICDV_OBJ_AH: its ah
 * @MYNICDV_OBJ_DM: its dm
 */
enum mynicdv_obj_type {
	MYNICDV_OBJ_QP = 1 << 0,
	MYNICDV_OBJ_CQ = 1 << 1,
	MYNICDV_OBJ_SRQ = 1 << 2,
	MYNICDV_OBJ_WQ = 1 << 3,
	MYNICDV_OBJ_AH = 1 << 4,
	MYNICDV_OBJ_DM = 1 << 5,
};

/**
 * mynicdv_init_obj() - get what posting by hand needs of objects
 * @obj: objects, and buffers for the results
 * @obj_type: members of @obj to use, enum mynicdv_obj_type
 *
 * Afterwards a queue is used either by the application itself or through
 * libibverbs, but not both.
 *
 * Return: 0, EOPNOTSUPP if an object does not belong to a mynic device, EINVAL
 * for unknown members.
 */
int mynicdv_init_obj(struct mynicdv_obj *obj, uint64_t obj_type);

/**
 * enum mynicdv_driver_qp_type - kinds of QPs of type IBV_QPT_DRIVER
 * @MYNICDV_DRIVER_QP_MEMCPY: copies memory within the host
 */
enum mynicdv_driver_qp_type {
	MYNICDV_DRIVER_QP_MEMCPY = 1,
};

/**
 * enum mynicdv_qp_create_send_ops_flags - builders of a QP
 * @MYNICDV_QP_EX_WITH_MEMCPY: mynicdv_wr_memcpy()
 */
enum mynicdv_qp_create_send_ops_flags {
	MYNICDV_QP_EX_WITH_MEMCPY = 1 << 0,
};

/**
 * struct mynicdv_qp_init_attr - attributes for mynicdv_create_qp()
 * @comp_mask: which fields beyond those of the first version count: 0
 * @driver_qp_type: enum mynicdv_driver_qp_type
 * @send_ops_flags: enum mynicdv_qp_create_send_ops_flags; 0: requests are
 *	posted by ibv_post_send() only
 */
struct mynicdv_qp_init_attr {
	uint64_t comp_mask;
	uint64_t driver_qp_type;
	uint64_t send_ops_flags;
};

/**
 * mynicdv_create_qp() - create a QP of type IBV_QPT_DRIVER
 * @context: the device
 * @attr: attributes; the capacities are replaced by those granted
 * @dv_attr: kind of QP, and its builders
 *
 * Return: the QP, or NULL with errno set. EOPNOTSUPP says that the device or
 * the kernel does not support it, EINVAL that attributes are illegal.
 */
struct ibv_qp *mynicdv_create_qp(struct ibv_context *context,
				 struct ibv_qp_init_attr_ex *attr,
				 const struct mynicdv_qp_init_attr *dv_attr);

/**
 * struct mynicdv_qp_ex - builders of requests, beside those of struct ibv_qp_ex
 * @comp_mask: which members beyond those of the first version there are: 0
 * @wr_memcpy: see mynicdv_wr_memcpy()
 */
struct mynicdv_qp_ex {
	uint64_t comp_mask;
	void (*wr_memcpy)(struct mynicdv_qp_ex *qp, uint32_t lkey,
			  uint64_t addr);
};

/**
 * mynicdv_qp_ex_from_ibv_qp_ex() - the builders of a QP
 * @qp: QP that was created with &struct mynicdv_qp_init_attr.send_ops_flags
 *
 * Return: the builders.
 */
struct mynicdv_qp_ex *mynicdv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qp);

/**
 * mynicdv_wr_memcpy() - begin a request that copies memory
 * @qp: QP of type MYNICDV_DRIVER_QP_MEMCPY, between ibv_wr_start() and
 *	ibv_wr_complete()
 * @lkey: local key of the destination
 * @addr: address of the destination
 *
 * One of ibv_wr_set_sge(), ibv_wr_set_sge_list(), ibv_wr_set_inline_data() and
 * ibv_wr_set_inline_data_list() then sets the source.
 */
static inline void mynicdv_wr_memcpy(struct mynicdv_qp_ex *qp, uint32_t lkey,
				     uint64_t addr)
{
	qp->wr_memcpy(qp, lkey, addr);
}

#ifdef __cplusplus
}
#endif

#endif /* MYNICDV_H */
