// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Batches of datagrams: one system call for many frames. */

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "mmsg.h"
#include "wire.h"
#include "wire/frame.h"

/*
 * Datagrams that one system call sends or receives. The clock is not read while
 * some are sent.
 */
#define BATCH 16

/**
 * struct slot - a datagram that has been received
 * @len: its bytes
 * @frame: room for a frame, and one byte more to recognize longer datagrams
 */
struct slot {
	uint32_t len;
	uint8_t frame[FRAME_MAX_LEN + 1];
};

static struct slot *mmsg_slots(const struct wire *wire)
{
	return (struct slot *)wire->rx;
}

int mmsg_init(struct wire *wire)
{
	wire->rx = malloc(BATCH * sizeof(struct slot));
	return wire->rx ? 0 : wire_error(wire, -ENOMEM, "get memory");
}

void mmsg_free(struct wire *wire)
{
	free(wire->rx);
}

int mmsg_flush(struct wire *wire, struct iovec prefix)
{
	struct frame_queue *tx = &wire->tx;
	struct mmsghdr msgs[BATCH];
	struct iovec iov[BATCH][2];
	size_t bytes[BATCH];
	size_t at = tx->head;
	size_t sum = 0;
	unsigned int num;
	int sent;

	for (num = 0; num < BATCH; num++) {
		uint8_t *frame;
		uint32_t len = frame_queue_next(tx, &at, &frame);

		if (!len)
			break;
		iov[num][0] = prefix;
		iov[num][1] = (struct iovec){ frame, len };
		msgs[num].msg_hdr = (struct msghdr){
			.msg_iov = iov[num],
			.msg_iovlen = 2,
		};
		sum += FRAME_PREFIX + len;
		bytes[num] = sum;
	}
	sent = sendmmsg(wire->out_fd, msgs, num, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent > 0) {
		frame_queue_consume(tx, bytes[sent - 1]);
		return 0;
	}
	if (errno == ENOBUFS || errno == EMSGSIZE) {
		wire->port.stats.tx_dropped++;
		frame_queue_consume(tx, bytes[0]);
		return 0;
	}
	return errno == EINTR ? 0 : -errno;
}

/* Fills the input. Returns the number of datagrams, or -errno */
static int mmsg_receive_batch(struct wire *wire)
{
	struct slot *slots = mmsg_slots(wire);
	struct mmsghdr msgs[BATCH];
	struct iovec iov[BATCH];
	int num;

	for (unsigned int i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec){ slots[i].frame,
					 sizeof(slots[i].frame) };
		msgs[i].msg_hdr = (struct msghdr){
			.msg_iov = &iov[i],
			.msg_iovlen = 1,
		};
	}
	num = recvmmsg(wire->fd, msgs, BATCH, MSG_DONTWAIT, NULL);
	if (num < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	for (int i = 0; i < num; i++)
		slots[i].len = msgs[i].msg_len;
	wire_batch_begin(wire, num);
	return num;
}

int mmsg_receive(struct wire *wire)
{
	const struct slot *slot;
	int sum = 0;
	int num;

	do {
		if (!wire->backlog) {
			num = mmsg_receive_batch(wire);
			if (num < 0)
				return sum ? sum : num;
		}
		while (wire->backlog) {
			slot = &mmsg_slots(wire)[wire_batch_next(wire)];
			wire_receive(wire, slot->frame, slot->len);
			sum++;
			if (wire_turn_is_over(wire))
				return sum;
		}
	} while (wire->rx_len == BATCH);
	return sum;
}
