/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Frames on their way out of the process, in a ring. Each has its length in
 * front, 4 bytes in big-endian order, as stream wires send it. A frame is in one
 * piece: before the end of the memory, the ring goes on at its start.
 *
 * A peer decides how long the queue is. So no function looks at all of it, or
 * moves it.
 */
#ifndef MYNIC_HOST_FRAME_QUEUE_H
#define MYNIC_HOST_FRAME_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame;

/* Bytes of the length in front of a frame */
#define FRAME_PREFIX 4

/*
 * Upper bound of the bytes in a queue. It has twice the room for all that a NIC
 * sends before it is stopped. That is 16 queue pairs, each with 64 packets of
 * requests and of responses. Memory is only touched as far as needed.
 */
#define FRAME_QUEUE_LIMIT (20 << 20)

/**
 * struct frame_queue - a queue of frames
 * @buf: 2 * FRAME_QUEUE_LIMIT bytes
 * @first: offset of the first frame that has not been consumed completely
 * @head: offset of the first byte that has not been consumed
 * @tail: offset behind the last frame
 * @wrap: offset behind the last frame before the end of the memory, if frames
 *	follow at its start; otherwise 0
 * @num: frames that have not been consumed completely
 */
struct frame_queue {
	uint8_t *buf;
	size_t first;
	size_t head;
	size_t tail;
	size_t wrap;
	unsigned int num;
};

/* Returns 0 or -ENOMEM. */
int frame_queue_init(struct frame_queue *queue);
void frame_queue_free(struct frame_queue *queue);

/* Copies a frame into the queue. Returns false if there is no room. */
bool frame_queue_put(struct frame_queue *queue, const struct frame *frame);

/**
 * frame_queue_next() - find a frame
 * @queue: the queue
 * @at: in: offset of its length; out: offset of the next one's
 * @frame: out: first byte of the frame
 *
 * Return: bytes of the frame; 0 if there is none at @at.
 */
uint32_t frame_queue_next(const struct frame_queue *queue, size_t *at,
			  uint8_t **frame);

/* Number of bytes at &frame_queue.head that are in one piece */
static inline size_t frame_queue_piece(const struct frame_queue *queue)
{
	return (queue->wrap ? queue->wrap : queue->tail) - queue->head;
}

/* Removes the first @n bytes. */
void frame_queue_consume(struct frame_queue *queue, size_t n);

/*
 * Empties the queue. Returns the number of frames that were not consumed
 * completely.
 */
unsigned int frame_queue_clear(struct frame_queue *queue);

static inline size_t frame_queue_used(const struct frame_queue *queue)
{
	return frame_queue_piece(queue) + (queue->wrap ? queue->tail : 0);
}

#endif /* MYNIC_HOST_FRAME_QUEUE_H */
