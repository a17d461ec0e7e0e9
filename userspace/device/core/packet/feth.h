/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The FLUSH extended transport header (IBTA annex A19). */
#ifndef MYNIC_FETH_H
#define MYNIC_FETH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/verbs.h"

#define FETH_PLACEMENTS (IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT)
#define FETH_PLACEMENT_MASK 0xf
#define FETH_SELECTIVITY_SHIFT 4
#define FETH_SELECTIVITY_MASK 0x3

/* enum ibv_placement_type of a FETH; unknown bits are possible. */
static inline uint32_t feth_placement(uint32_t feth)
{
	return feth & FETH_PLACEMENT_MASK;
}

/* enum ibv_selectivity_level of a FETH; unknown values are possible. */
static inline uint32_t feth_selectivity(uint32_t feth)
{
	return feth >> FETH_SELECTIVITY_SHIFT & FETH_SELECTIVITY_MASK;
}

/* Whether the specification has such a placement and selectivity. */
static inline bool feth_is_valid(uint32_t placement, uint32_t selectivity)
{
	return placement && !(placement & ~FETH_PLACEMENTS) &&
	       selectivity <= IBV_FLUSH_MR;
}

/* Both arguments must be valid. */
static inline uint32_t feth_make(uint32_t placement, uint32_t selectivity)
{
	return selectivity << FETH_SELECTIVITY_SHIFT | placement;
}

#endif /* MYNIC_FETH_H */
