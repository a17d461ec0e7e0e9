/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Included first in a build that simulates a host of the other byte order.
 * Conversions for the device swap bytes here, in the provider and in its tests,
 * so that a missing one is noticed. libibverbs and all other headers stay the
 * same.
 */
#ifndef MYNIC_SWAPPED_H
#define MYNIC_SWAPPED_H

#include <endian.h>
#include <stdint.h>
#include <stdlib.h>

#if __BYTE_ORDER != __LITTLE_ENDIAN
#error "The tests themselves show it on such a machine."
#endif

#undef __BYTE_ORDER
#define __BYTE_ORDER __BIG_ENDIAN

#undef htole16
#undef htole32
#undef htole64
#undef le16toh
#undef le32toh
#undef le64toh
#define htole16(x) __builtin_bswap16(x)
#define htole32(x) __builtin_bswap32(x)
#define htole64(x) __builtin_bswap64(x)
#define le16toh(x) __builtin_bswap16(x)
#define le32toh(x) __builtin_bswap32(x)
#define le64toh(x) __builtin_bswap64(x)

#undef htobe16
#undef htobe32
#undef htobe64
#undef be16toh
#undef be32toh
#undef be64toh
#define htobe16(x) ((uint16_t)(x))
#define htobe32(x) ((uint32_t)(x))
#define htobe64(x) ((uint64_t)(x))
#define be16toh(x) ((uint16_t)(x))
#define be32toh(x) ((uint32_t)(x))
#define be64toh(x) ((uint64_t)(x))

#endif /* MYNIC_SWAPPED_H */
