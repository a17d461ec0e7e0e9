/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What ibv_post_send() and ibv_wr_*() share. */
#ifndef MYNIC_SQ_H
#define MYNIC_SQ_H

#include <errno.h>
#include <string.h>

#include <util/mmio.h>
#include <util/util.h>

#include "mynic.h"

/* Types of QP that have a send queue, as bits */
enum mynic_sq_type {
	MYNIC_SQ_RC = 1 << 0,
	MYNIC_SQ_UC = 1 << 1,
	MYNIC_SQ_XRC = 1 << 2,
	MYNIC_SQ_UD = 1 << 3,
	MYNIC_SQ_RAW = 1 << 4,
	MYNIC_SQ_DRIVER = 1 << 5,
};

/**
 * enum mynic_op_data - what the data of an operation are
 * @MYNIC_DATA_ANY: SGEs or inline data
 * @MYNIC_DATA_SGES: SGEs
 * @MYNIC_DATA_TSO: SGEs behind a header
 * @MYNIC_DATA_FIXED: with ibv_post_send() SGEs or inline data; ibv_wr_*()
 *	begins with them, and a setter changes nothing
 * @MYNIC_DATA_NONE: none; a setter is an error
 */
enum mynic_op_data {
	MYNIC_DATA_ANY,
	MYNIC_DATA_SGES,
	MYNIC_DATA_TSO,
	MYNIC_DATA_FIXED,
	MYNIC_DATA_NONE,
};

/**
 * struct mynic_op - an operation
 * @types: which QPs have it, enum mynic_sq_type
 * @data: enum mynic_op_data
 * @post: ibv_post_send() has it
 * @flag: enum ibv_qp_create_send_ops_flags, or 0
 */
struct mynic_op {
	uint8_t types;
	uint8_t data;
	bool post;
	uint32_t flag;
};

#define MYNIC_NUM_OPS (IBV_WR_ATOMIC_WRITE + 1)

/* By enum ibv_wr_opcode; where there is none, no type has it */
extern const struct mynic_op mynic_ops[MYNIC_NUM_OPS];

/* Return: 0 for a type that has no send queue, or is not known. */
static inline uint32_t mynic_sq_type(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return MYNIC_SQ_RC;
	case IBV_QPT_UC:
		return MYNIC_SQ_UC;
	case IBV_QPT_XRC_SEND:
		return MYNIC_SQ_XRC;
	case IBV_QPT_UD:
		return MYNIC_SQ_UD;
	case IBV_QPT_RAW_PACKET:
		return MYNIC_SQ_RAW;
	case IBV_QPT_DRIVER:
		return MYNIC_SQ_DRIVER;
	default:
		return 0;
	}
}

static inline bool mynic_op_on(uint32_t opcode, enum ibv_qp_type type)
{
	return opcode < MYNIC_NUM_OPS &&
	       mynic_ops[opcode].types & mynic_sq_type(type);
}

/* Whether the data of an operation that QPs have may be inline */
static inline bool mynic_op_inline(uint32_t opcode)
{
	return mynic_ops[opcode].data == MYNIC_DATA_ANY ||
	       mynic_ops[opcode].data == MYNIC_DATA_FIXED;
}

/*
 * Whether the setters of data write where the data area begins, and need not
 * know of the operation.
 */
static inline bool mynic_op_plain(uint32_t opcode)
{
	return mynic_ops[opcode].data == MYNIC_DATA_ANY ||
	       mynic_ops[opcode].data == MYNIC_DATA_SGES;
}

static inline __le32 mynic_sq_ctrl(uint32_t opcode, uint32_t flags)
{
	return htole32(opcode | flags << MYNIC_WQE_FLAGS_SHIFT);
}

/* Whether an entry has an extension: all do but those of RC and UC QPs. */
static inline bool mynic_sq_has_ext(enum ibv_qp_type type)
{
	return type != IBV_QPT_RC && type != IBV_QPT_UC;
}

/* Offset of the data area in an entry of such a QP */
static inline uint32_t mynic_sq_data_offset(enum ibv_qp_type type)
{
	return mynic_sq_has_ext(type) ? MYNIC_WQE_DATA_EXT : MYNIC_WQE_DATA_RC;
}

/* Data area of an entry, with an extension or without */
static inline void *mynic_sq_data(struct mynic_send_wqe *wqe, bool ext)
{
	return (void *)wqe + (ext ? MYNIC_WQE_DATA_EXT : MYNIC_WQE_DATA_RC);
}

/* The same where the type of QP is not a constant */
static inline void *mynic_sq_data_of(const struct mynic_sq *sq,
				     struct mynic_send_wqe *wqe)
{
	return (void *)wqe + sq->data_offset;
}

static inline struct mynic_av *mynic_sq_av(struct mynic_send_wqe *wqe)
{
	return (void *)wqe + MYNIC_WQE_EXT;
}

static inline struct mynic_xrc_ext *mynic_sq_xrc(struct mynic_send_wqe *wqe)
{
	return (void *)wqe + MYNIC_WQE_EXT;
}

static inline void mynic_sq_set_atomic(void *data, uint64_t compare_add,
				       uint64_t swap)
{
	struct mynic_atomic_operands *operands = data + MYNIC_WQE_ATOMIC;

	operands->compare_add = htole64(compare_add);
	operands->swap = htole64(swap);
}

/* The slot behind @slot */
static inline void *mynic_sq_next(const struct mynic_sq *sq, void *slot)
{
	slot += sq->stride;
	return likely(slot != sq->ring_end) ? slot : sq->ring;
}

/*
 * Make sure that there is a slot for the next request. The caller holds the
 * lock.
 *
 * Return: 0; ENOMEM if the ring is full; EINVAL if nothing may be posted.
 */
static inline int mynic_sq_make_room(struct mynic_sq *sq)
{
	if (likely(sq->pi != sq->end))
		return 0;
	sq->end += mynic_ring_room(&sq->dbrec->sq_ci, sq->end, sq->limit);
	if (sq->pi != sq->end)
		return 0;
	return sq->limit ? ENOMEM : EINVAL;
}

/* Go on at @pi. The caller holds the lock. */
static inline void mynic_sq_seek(struct mynic_sq *sq, uint32_t pi)
{
	sq->pi = pi;
	sq->last = sq->ring + (size_t)((pi - 1) & (sq->size - 1)) * sq->stride;
}

/*
 * Let the device see a producer index in a record that it may be looking at.
 *
 * Return: whether it is, so that it need not be told.
 */
static inline bool mynic_sq_publish_watched(struct mynic_qp_dbrec *dbrec,
					    uint32_t pi)
{
	/*
	 * The index is to be seen before the other word is read. The device,
	 * before it looks away, does both the other way round.
	 */
	udma_to_device_barrier();
	atomic_store_explicit((_Atomic(uint32_t) *)&dbrec->sq_pi,
			      (__force uint32_t)htole32(pi),
			      memory_order_seq_cst);
	return atomic_load_explicit((_Atomic(uint32_t) *)&dbrec->sq_no_ring,
				    memory_order_seq_cst);
}

/*
 * Post what is in the slots before the producer index, @pi. The caller holds the
 * lock. @db_suppress: that of the SQ, a constant where that counts
 */
static inline ALWAYS_INLINE void mynic_sq_ring(struct mynic_sq *sq, uint32_t pi,
					       bool db_suppress)
{
	if (!db_suppress)
		mynic_publish(&sq->dbrec->sq_pi, pi);
	else if (mynic_sq_publish_watched(sq->dbrec, pi))
		return;
	/* The device has to find the index in the record when it is told. */
	udma_to_device_barrier();
	mmio_write64_le(sq->doorbell, htole64(sq->db_number | pi));
}

/*
 * memcpy() for inline data: short for short messages, and without a call, which
 * would cost the caller its registers. What is not a multiple of the unit is
 * copied as two units that overlap.
 */
static inline ALWAYS_INLINE void mynic_copy_inline(void *dst, const void *src,
						   size_t len)
{
	if (likely(len >= 16)) {
		for (; len > 32; len -= 16)
			memcpy(dst + len - 16, src + len - 16, 16);
		memcpy(dst, src, 16);
		memcpy(dst + len - 16, src + len - 16, 16);
	} else if (len >= 8) {
		memcpy(dst, src, 8);
		memcpy(dst + len - 8, src + len - 8, 8);
	} else if (len >= 4) {
		memcpy(dst, src, 4);
		memcpy(dst + len - 4, src + len - 4, 4);
	} else {
		while (len--)
			((uint8_t *)dst)[len] = ((const uint8_t *)src)[len];
	}
}

/* Where the SGEs of a TSO request begin in its data area */
static inline uint32_t mynic_tso_sges(uint32_t hdr_len)
{
	return align(hdr_len, sizeof(struct mynic_sge));
}

int mynic_sq_set_tso(const struct mynic_sq *sq, struct mynic_send_wqe *wqe,
		     const void *hdr, uint16_t hdr_len, uint16_t mss);
int mynic_sq_set_bind(const struct mynic_sq *sq, struct mynic_send_wqe *wqe,
		      struct ibv_mw *mw, uint32_t rkey,
		      const struct ibv_mw_bind_info *info);

#endif /* MYNIC_SQ_H */
