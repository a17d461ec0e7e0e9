// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The queue of frames on their way out of the process. */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frame_queue.h"
#include "wire/frame.h"

#define QUEUE_SIZE (2 * FRAME_QUEUE_LIMIT)

/*
 * A queue that is never empty would move through all of its memory. After this
 * many bytes it goes back to the start, where the caches are warm.
 */
#define WANDER (1 << 20)

int frame_queue_init(struct frame_queue *queue)
{
	*queue = (struct frame_queue){ .buf = malloc(QUEUE_SIZE) };
	return queue->buf ? 0 : -ENOMEM;
}

void frame_queue_free(struct frame_queue *queue)
{
	free(queue->buf);
}

static void frame_queue_go_back(struct frame_queue *queue)
{
	memmove(queue->buf, queue->buf + queue->first,
		queue->tail - queue->first);
	queue->head -= queue->first;
	queue->tail -= queue->first;
	queue->first = 0;
}

bool frame_queue_put(struct frame_queue *queue, const struct frame *frame)
{
	size_t need = FRAME_PREFIX + frame->len;
	size_t used = queue->tail - queue->first;
	uint32_t len = htobe32(frame->len);

	if (need > FRAME_QUEUE_LIMIT - used)
		return false;
	/* With this condition, each byte is moved at most once on average. */
	if (queue->first >= WANDER && queue->first / 4 >= used)
		frame_queue_go_back(queue);
	if (need > QUEUE_SIZE - queue->tail)
		frame_queue_go_back(queue);
	memcpy(queue->buf + queue->tail, &len, sizeof(len));
	frame_copy(frame, queue->buf + queue->tail + FRAME_PREFIX);
	queue->tail += need;
	return true;
}

uint32_t frame_queue_next(const struct frame_queue *queue, size_t *at,
			  uint8_t **frame)
{
	uint32_t len;

	if (*at == queue->tail)
		return 0;
	memcpy(&len, queue->buf + *at, sizeof(len));
	len = be32toh(len);
	*frame = queue->buf + *at + FRAME_PREFIX;
	*at += FRAME_PREFIX + len;
	return len;
}

void frame_queue_consume(struct frame_queue *queue, size_t n)
{
	size_t next = queue->first;
	uint8_t *frame;

	queue->head += n;
	if (queue->head == queue->tail) {
		queue->first = 0;
		queue->head = 0;
		queue->tail = 0;
		return;
	}
	while (frame_queue_next(queue, &next, &frame) && next <= queue->head)
		queue->first = next;
}

unsigned int frame_queue_clear(struct frame_queue *queue)
{
	size_t at = queue->first;
	unsigned int num = 0;
	uint8_t *frame;

	while (frame_queue_next(queue, &at, &frame))
		num++;
	queue->first = 0;
	queue->head = 0;
	queue->tail = 0;
	return num;
}
