/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Frames on their way out of the process, one behind the other in one piece of
 * memory, each behind its length in 4 bytes, big-endian. A stream sends them
 * as they are.
 */
#ifndef MYNIC_HOST_FRAME_QUEUE_H
#define MYNIC_HOST_FRAME_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame;

/* Bytes of the length in front of each frame */
#define FRAME_PREFIX 4

/*
 * Most bytes in a queue. It takes all that a NIC sends before it is asked again
 * whether it has to wait (16 queue pairs, 64 packets of requests and as many
 * of responses each), twice; memory is touched only as far as needed.
 */
#define FRAME_QUEUE_LIMIT (20 << 20)

/**
 * struct frame_queue - frames
 * @buf: 2 * FRAME_QUEUE_LIMIT bytes
 * @first: where the first frame begins that has not been consumed whole
 * @head: first byte that has not been consumed
 * @tail: behind the last frame
 */
struct frame_queue {
	uint8_t *buf;
	size_t first;
	size_t head;
	size_t tail;
};

/** frame_queue_init() - Return: 0 or -ENOMEM */
int frame_queue_init(struct frame_queue *queue);
void frame_queue_free(struct frame_queue *queue);

/** frame_queue_put() - copy a frame. Return: whether there was room */
bool frame_queue_put(struct frame_queue *queue, const struct frame *frame);

/**
 * frame_queue_next() - look at a frame
 * @queue: frames
 * @at: where its length is; moved to the next one's
 * @frame: result
 *
 * Return: bytes of the frame, or 0 if there is none at @at.
 */
uint32_t frame_queue_next(const struct frame_queue *queue, size_t *at,
			  uint8_t **frame);

/** frame_queue_consume() - the first @n bytes are done with */
void frame_queue_consume(struct frame_queue *queue, size_t n);

/** frame_queue_clear() - Return: how many frames had not been consumed whole */
unsigned int frame_queue_clear(struct frame_queue *queue);

static inline size_t frame_queue_used(const struct frame_queue *queue)
{
	return queue->tail - queue->head;
}

#endif /* MYNIC_HOST_FRAME_QUEUE_H */
