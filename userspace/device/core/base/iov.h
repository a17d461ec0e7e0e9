/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Copying between scatter lists. */
#ifndef MYNIC_IOV_H
#define MYNIC_IOV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

/**
 * struct iov_cursor - a place in a scatter list
 * @iov: the element
 * @offset: bytes of it that are behind
 */
struct iov_cursor {
	const struct iovec *iov;
	size_t offset;
};

/*
 * Payload is copied a packet at a time, between buffers that mostly begin at
 * the same place in their pages. libc copies such a piece from its end to its
 * beginning, for processors that take a load for one of what was just stored a
 * page away. Backwards in each piece and forwards from one to the next is what
 * no prefetcher follows: beyond the caches it takes several times as long. The
 * processor's own loop goes forwards. A sanitizer does not see it.
 */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
/* It takes some time to begin */
#define IOV_MIN_STRING 1024

static inline void iov_move(void *dst, const void *src, size_t len)
{
	/* Not to what it is yet to read */
	if (len < IOV_MIN_STRING || (uintptr_t)dst - (uintptr_t)src < len)
		memmove(dst, src, len);
	else
		__asm__ volatile("rep movsb"
				 : "+D"(dst), "+S"(src), "+c"(len)
				 :
				 : "memory");
}
#else
static inline void iov_move(void *dst, const void *src, size_t len)
{
	memmove(dst, src, len);
}
#endif

/**
 * iov_add() - add a piece to a scatter list, or to the last piece there
 * @iov: the list
 * @max: room in @iov
 * @niov: in and out: elements in @iov
 * @ptr: the piece
 * @len: its bytes
 *
 * Return: false if there is no room.
 */
static inline bool iov_add(struct iovec *iov, unsigned int max,
			   unsigned int *niov, uint8_t *ptr, size_t len)
{
	struct iovec *last = *niov ? &iov[*niov - 1] : NULL;

	if (last && (uint8_t *)last->iov_base + last->iov_len == ptr) {
		last->iov_len += len;
		return true;
	}
	if (*niov == max)
		return false;
	iov[(*niov)++] = (struct iovec){ ptr, len };
	return true;
}

/**
 * iov_read() - copy the next bytes
 * @cursor: moved behind them; @len bytes are there
 * @dst: may overlap with the list
 * @len: bytes
 */
static inline void iov_read(struct iov_cursor *cursor, void *dst, size_t len)
{
	uint8_t *to = dst;

	while (len) {
		size_t n = cursor->iov->iov_len - cursor->offset;

		if (n > len)
			n = len;
		iov_move(to, (uint8_t *)cursor->iov->iov_base + cursor->offset,
			 n);
		to += n;
		len -= n;
		cursor->offset += n;
		if (cursor->offset == cursor->iov->iov_len) {
			cursor->iov++;
			cursor->offset = 0;
		}
	}
}

/**
 * iov_copy() - copy from one scatter list to another
 * @dst: where to
 * @num: elements of @dst
 * @src: as many bytes at least; may overlap with @dst
 */
static inline void iov_copy(const struct iovec *dst, unsigned int num,
			    const struct iovec *src)
{
	struct iov_cursor cursor = { .iov = src };

	if (num == 1 && dst->iov_len <= src->iov_len) {
		iov_move(dst->iov_base, src->iov_base, dst->iov_len);
		return;
	}
	for (unsigned int i = 0; i < num; i++)
		iov_read(&cursor, dst[i].iov_base, dst[i].iov_len);
}

#endif /* MYNIC_IOV_H */
