/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What ibv_post_send() and ibv_wr_*() share. */
#ifndef MYNIC_SQ_H
#define MYNIC_SQ_H

#include <errno.h>
#include <string.h>

#include <util/mmio.h>

#include "mynic.h"

/* Operations by type of QP, as bits of enum ibv_wr_opcode */
#define MYNIC_UD_OPCODES (1U << IBV_WR_SEND | 1U << IBV_WR_SEND_WITH_IMM)
#define MYNIC_UC_OPCODES                              \
	(MYNIC_UD_OPCODES | 1U << IBV_WR_RDMA_WRITE | \
	 1U << IBV_WR_RDMA_WRITE_WITH_IMM)
#define MYNIC_RC_OPCODES                             \
	(MYNIC_UC_OPCODES | 1U << IBV_WR_RDMA_READ | \
	 1U << IBV_WR_ATOMIC_CMP_AND_SWP | 1U << IBV_WR_ATOMIC_FETCH_AND_ADD)

/* ... and those whose data may be inline: what sends any */
#define MYNIC_INLINE_OPCODES MYNIC_UC_OPCODES

static inline uint32_t mynic_opcodes_of(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND:
		return MYNIC_RC_OPCODES;
	case IBV_QPT_UC:
		return MYNIC_UC_OPCODES;
	default:
		return MYNIC_UD_OPCODES;
	}
}

static inline bool mynic_opcode_in(uint32_t opcodes, uint32_t opcode)
{
	/* Those that leave no gap take one comparison. */
	if (!(opcodes & (opcodes + 1)))
		return opcode < __builtin_popcount(opcodes);
	return opcode < 32 && (opcodes >> opcode & 1);
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

/* Data area of an entry, with an extension or without */
static inline void *mynic_sq_data(struct mynic_send_wqe *wqe, bool ext)
{
	return (void *)wqe + (ext ? MYNIC_WQE_DATA_EXT : MYNIC_WQE_DATA_RC);
}

static inline struct mynic_av *mynic_sq_av(struct mynic_send_wqe *wqe)
{
	return (void *)wqe + MYNIC_WQE_EXT;
}

static inline struct mynic_xrc_ext *mynic_sq_xrc(struct mynic_send_wqe *wqe)
{
	return (void *)wqe + MYNIC_WQE_EXT;
}

static inline void mynic_sq_set_atomic(struct mynic_send_wqe *wqe,
				       uint64_t compare_add, uint64_t swap,
				       bool ext)
{
	struct mynic_atomic_operands *operands =
		mynic_sq_data(wqe, ext) + MYNIC_WQE_ATOMIC;

	operands->compare_add = htole64(compare_add);
	operands->swap = htole64(swap);
}

/* The slot behind @slot */
static inline void *mynic_sq_next(const struct mynic_sq *sq, void *slot)
{
	slot += sq->stride;
	return likely(slot != sq->ring_end) ? slot : sq->ring;
}

/* Go on at @pi. The caller holds the lock. */
static inline void mynic_sq_seek(struct mynic_sq *sq, uint32_t pi)
{
	sq->pi = pi;
	sq->last = sq->ring + ((pi - 1) & (sq->size - 1)) * sq->stride;
}

/* Post what is in the slots before the producer index. The caller holds the lock. */
static inline void mynic_sq_ring(struct mynic_sq *sq)
{
	uint64_t number = (uint64_t)sq->qpn << MYNIC_DB_NUMBER_SHIFT;

	mynic_publish(&sq->dbrec->sq_pi, sq->pi);
	/* The device has to find the index in the record when it is told. */
	udma_to_device_barrier();
	mmio_write64_le(sq->doorbell, htole64(number | sq->pi));
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

#endif /* MYNIC_SQ_H */
