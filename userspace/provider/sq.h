/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Send queues: what ibv_post_send() and ibv_wr_*() share. */
#ifndef MYNIC_SQ_H
#define MYNIC_SQ_H

#include <errno.h>
#include <string.h>

#include <util/mmio.h>
#include <util/util.h>

#include "mynic.h"

/* QP types that have a send queue, as bits */
enum mynic_sq_type {
	MYNIC_SQ_RC = 1 << 0,
	MYNIC_SQ_UC = 1 << 1,
	MYNIC_SQ_XRC = 1 << 2,
	MYNIC_SQ_UD = 1 << 3,
	MYNIC_SQ_RAW = 1 << 4,
	MYNIC_SQ_DRIVER = 1 << 5,
};

/**
 * enum mynic_op_data - form of an operation's data
 * @MYNIC_DATA_ANY: SGEs or inline data
 * @MYNIC_DATA_SGES: SGEs
 * @MYNIC_DATA_TSO: SGEs behind a header
 * @MYNIC_DATA_FIXED: SGEs or inline data with ibv_post_send(). With ibv_wr_*()
 *	the builder sets them, and setters change nothing.
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
 * @types: QP types that have it, enum mynic_sq_type
 * @data: enum mynic_op_data
 * @post: whether ibv_post_send() has it
 * @flag: enum ibv_qp_create_send_ops_flags, or 0
 */
struct mynic_op {
	uint8_t types;
	uint8_t data;
	bool post;
	uint32_t flag;
};

#define MYNIC_NUM_OPS (IBV_WR_ATOMIC_WRITE + 1)

/* Indexed by enum ibv_wr_opcode. Opcodes without operation have no types. */
extern const struct mynic_op mynic_ops[MYNIC_NUM_OPS];

/* Return: 0 for a type that is unknown or has no send queue. */
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

/* Whether an operation, which the QP has, takes inline data */
static inline bool mynic_op_inline(uint32_t opcode)
{
	return mynic_ops[opcode].data == MYNIC_DATA_ANY ||
	       mynic_ops[opcode].data == MYNIC_DATA_FIXED;
}

/*
 * Whether setters write at the start of the data area, and need not know the
 * operation.
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

/* Whether entries have an extension, as on all QPs except RC and UC */
static inline bool mynic_sq_has_ext(enum ibv_qp_type type)
{
	return type != IBV_QPT_RC && type != IBV_QPT_UC;
}

/* Offset of the data area in an entry of such a QP */
static inline uint32_t mynic_sq_data_offset(enum ibv_qp_type type)
{
	return mynic_sq_has_ext(type) ? MYNIC_WQE_DATA_EXT : MYNIC_WQE_DATA_RC;
}

/* Data area of an entry; @ext: whether there is an extension */
static inline void *mynic_sq_data(struct mynic_send_wqe *wqe, bool ext)
{
	return (void *)wqe + (ext ? MYNIC_WQE_DATA_EXT : MYNIC_WQE_DATA_RC);
}

/* The same if the type of QP is not a constant */
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

/* Slot after @slot */
static inline void *mynic_sq_next(const struct mynic_sq *sq, void *slot)
{
	slot += sq->stride;
	return likely(slot != sq->ring_end) ? slot : sq->ring;
}

/*
 * Make sure that there is a slot for the next request. The caller holds the
 * lock.
 *
 * Return: 0; ENOMEM if the ring is full; EINVAL if the state forbids posting.
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

/* Continue at @pi. The caller holds the lock. */
static inline void mynic_sq_seek(struct mynic_sq *sq, uint32_t pi)
{
	sq->pi = pi;
	sq->last = sq->ring + (size_t)((pi - 1) & (sq->size - 1)) * sq->stride;
}

/*
 * Publish a producer index in a record that the device may be watching.
 *
 * Return: whether the device watches it, and needs no doorbell.
 */
static inline bool mynic_sq_publish_watched(struct mynic_qp_dbrec *dbrec,
					    uint32_t pi)
{
	/*
	 * Store the index before reading the other word. The device, before it
	 * stops watching, writes that word and then reads the index.
	 */
	udma_to_device_barrier();
	atomic_store_explicit((_Atomic(uint32_t) *)&dbrec->sq_pi,
			      (__force uint32_t)htole32(pi),
			      memory_order_seq_cst);
	return atomic_load_explicit((_Atomic(uint32_t) *)&dbrec->sq_db_suppress,
				    memory_order_seq_cst);
}

/*
 * Post the requests before the producer index @pi. The caller holds the lock.
 * @db_suppress is that of the SQ, as a constant on fast paths.
 */
static inline ALWAYS_INLINE void mynic_sq_ring(struct mynic_sq *sq, uint32_t pi,
					       bool db_suppress)
{
	if (!db_suppress)
		mynic_publish(&sq->dbrec->sq_pi, pi);
	else if (mynic_sq_publish_watched(sq->dbrec, pi))
		return;
	/* The device must see the index in the record before the doorbell. */
	udma_to_device_barrier();
	mmio_write64_le(sq->doorbell, htole64(sq->db_number | pi));
}

/*
 * memcpy() for inline data, fast for short messages. It is inline because a
 * call would cost the caller its registers. If the length is not a multiple of
 * the unit, the last two units overlap.
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

/* Offset of the SGEs in the data area of a TSO request */
static inline uint32_t mynic_tso_sges(uint32_t hdr_len)
{
	return align(hdr_len, sizeof(struct mynic_sge));
}

/*
 * Each of these logs its reason, and returns EINVAL. Nobody logs a full ring,
 * because programs post until it is full.
 */
int mynic_sq_refuse_state(const struct mynic_sq *sq) __attribute__((cold));
int mynic_sq_refuse_sges(const struct mynic_sq *sq, size_t num_sge,
			 uint32_t max) __attribute__((cold));
int mynic_sq_refuse_inline(const struct mynic_sq *sq, uint32_t opcode)
	__attribute__((cold));

int mynic_sq_set_tso(const struct mynic_sq *sq, struct mynic_send_wqe *wqe,
		     const void *hdr, uint16_t hdr_len, uint16_t mss);
int mynic_sq_set_bind(const struct mynic_sq *sq, struct mynic_send_wqe *wqe,
		      struct ibv_mw *mw, uint32_t rkey,
		      const struct ibv_mw_bind_info *info);

#endif /* MYNIC_SQ_H */
