// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The queue of frames on their way out of the process. */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/util.h"
#include "frame_queue.h"
#include "wire/frame.h"

#define QUEUE_SIZE (2 * FRAME_QUEUE_LIMIT)

/*
 * A short queue that is never empty would move through all of the memory. After
 * this many bytes it goes back to the start, where the caches are warm. Moving
 * as much as a wire sends at a time is quick.
 */
#define WANDER (1 << 20)
#define SHORT (128 << 10)

int frame_queue_init(struct frame_queue *queue)
{
	*queue = (struct frame_queue){ .buf = malloc(QUEUE_SIZE) };
	return queue->buf ? 0 : -ENOMEM;
}

void frame_queue_free(struct frame_queue *queue)
{
	free(queue->buf);
}

static void frame_queue_reset(struct frame_queue *queue)
{
	*queue = (struct frame_queue){ .buf = queue->buf };
}

static void frame_queue_go_back(struct frame_queue *queue)
{
	memmove(queue->buf, queue->buf + queue->first,
		queue->tail - queue->first);
	queue->head -= queue->first;
	queue->tail -= queue->first;
	queue->first = 0;
}

/*
 * The memory has twice the room for all frames, so the start is free when the
 * end is reached.
 */
static void frame_queue_make_room(struct frame_queue *queue, size_t need)
{
	if (queue->wrap)
		return;
	if (queue->first >= WANDER && queue->tail - queue->first <= SHORT)
		frame_queue_go_back(queue);
	if (need > QUEUE_SIZE - queue->tail) {
		queue->wrap = queue->tail;
		queue->tail = 0;
	}
}

bool frame_queue_put(struct frame_queue *queue, const struct frame *frame)
{
	size_t used = frame_queue_used(queue) + queue->head - queue->first;
	size_t need = FRAME_PREFIX + frame->len;
	uint32_t len = htobe32(frame->len);

	if (need > FRAME_QUEUE_LIMIT - used)
		return false;
	frame_queue_make_room(queue, need);
	memcpy(queue->buf + queue->tail, &len, sizeof(len));
	frame_copy(frame, queue->buf + queue->tail + FRAME_PREFIX);
	queue->tail += need;
	queue->num++;
	return true;
}

uint32_t frame_queue_next(const struct frame_queue *queue, size_t *at,
			  uint8_t **frame)
{
	uint32_t len;

	if (queue->wrap && *at == queue->wrap)
		*at = 0;
	if (*at == queue->tail)
		return 0;
	memcpy(&len, queue->buf + *at, sizeof(len));
	len = be32toh(len);
	*frame = queue->buf + *at + FRAME_PREFIX;
	*at += FRAME_PREFIX + len;
	return len;
}

/* Forgets the frames before &frame_queue.head */
static void frame_queue_forget(struct frame_queue *queue)
{
	size_t next = queue->first;
	uint8_t *frame;

	while (queue->first < queue->head &&
	       frame_queue_next(queue, &next, &frame) && next <= queue->head) {
		queue->first = next;
		queue->num--;
	}
	if (!frame_queue_used(queue)) {
		frame_queue_reset(queue);
	} else if (queue->head == queue->wrap) {
		queue->first = 0;
		queue->head = 0;
		queue->wrap = 0;
	}
}

void frame_queue_consume(struct frame_queue *queue, size_t n)
{
	while (n) {
		size_t part = min_u64(n, frame_queue_piece(queue));

		queue->head += part;
		n -= part;
		frame_queue_forget(queue);
	}
}

unsigned int frame_queue_clear(struct frame_queue *queue)
{
	unsigned int num = queue->num;

	frame_queue_reset(queue);
	return num;
}
