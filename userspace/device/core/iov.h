/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Copying between scatter lists. */
#ifndef MYNIC_IOV_H
#define MYNIC_IOV_H

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
		memmove(to, (uint8_t *)cursor->iov->iov_base + cursor->offset,
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
		memmove(dst->iov_base, src->iov_base, dst->iov_len);
		return;
	}
	for (unsigned int i = 0; i < num; i++)
		iov_read(&cursor, dst[i].iov_base, dst[i].iov_len);
}

#endif /* MYNIC_IOV_H */
