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
 * struct iov_cursor - a position in a scatter list
 * @iov: the current element
 * @offset: bytes of @iov that have been read
 */
struct iov_cursor {
	const struct iovec *iov;
	size_t offset;
};

/*
 * memmove() copies a large piece from its end to its beginning if source and
 * destination begin at the same place in their pages. It does so for processors
 * that mistake such loads for loads of what was just stored.
 *
 * Our payload is mostly aligned like that, and is copied a packet at a time. No
 * prefetcher follows copies that go backwards in each piece and forwards from
 * piece to piece. Beyond the caches that takes several times as long. The
 * string instruction goes forwards. AddressSanitizer does not see it, so its
 * builds use memmove().
 */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
/* Shorter pieces do not make up for the start-up time of the instruction */
#define IOV_MIN_STRING 1024

static inline void iov_move(void *dst, const void *src, size_t len)
{
	/*
	 * A forward copy must not overwrite source bytes that are still to be
	 * read
	 */
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
 * struct iov_list - a scatter list that is being made for one access
 * @iov: the elements
 * @max: capacity of @iov
 * @num: elements of @iov that are used
 * @write: the memory is going to be written
 */
struct iov_list {
	struct iovec *iov;
	unsigned int max;
	unsigned int num;
	bool write;
};

/**
 * iov_add() - append a piece to a scatter list
 * @list: the list
 * @ptr: the piece
 * @len: bytes of the piece
 *
 * A piece that follows the last one in memory is merged with it.
 *
 * Return: false if there is no room.
 */
static inline bool iov_add(struct iov_list *list, uint8_t *ptr, size_t len)
{
	struct iovec *last = list->num ? &list->iov[list->num - 1] : NULL;

	if (last && (uint8_t *)last->iov_base + last->iov_len == ptr) {
		last->iov_len += len;
		return true;
	}
	if (list->num == list->max)
		return false;
	list->iov[list->num++] = (struct iovec){ ptr, len };
	return true;
}

/**
 * iov_read() - copy the next bytes of a list
 * @cursor: is moved by @len; that many bytes must be left
 * @dst: may overlap with the list
 * @len: bytes to copy
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
 * @dst: destination
 * @num: elements of @dst
 * @src: source with at least as many bytes; may overlap with @dst
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
