// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Batches of datagrams: one system call for many frames. */

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "mmsg.h"
#include "wire.h"
#include "wire/frame.h"

/*
 * Datagrams that one system call sends or receives. Those received must be
 * handled in the same turn, and the clock is not read while some are sent.
 */
#define BATCH 16

/* One byte more than a frame has, so that longer ones can be recognized */
#define SLOT_SIZE (FRAME_MAX_LEN + 1)

int mmsg_init(struct wire *wire)
{
	wire->rx = malloc(BATCH * SLOT_SIZE);
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
	size_t ends[BATCH];
	size_t at = tx->head;
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
		ends[num] = at;
	}
	sent = sendmmsg(wire->out_fd, msgs, num, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent > 0) {
		frame_queue_consume(tx, ends[sent - 1] - tx->head);
		return 0;
	}
	if (errno == ENOBUFS || errno == EMSGSIZE) {
		wire->port.stats.tx_dropped++;
		frame_queue_consume(tx, ends[0] - tx->head);
		return 0;
	}
	return errno == EINTR ? 0 : -errno;
}

static int mmsg_receive_batch(struct wire *wire)
{
	struct mmsghdr msgs[BATCH];
	struct iovec iov[BATCH];
	int num;

	for (unsigned int i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec){ wire->rx + i * SLOT_SIZE, SLOT_SIZE };
		msgs[i].msg_hdr = (struct msghdr){
			.msg_iov = &iov[i],
			.msg_iovlen = 1,
		};
	}
	num = recvmmsg(wire->fd, msgs, BATCH, MSG_DONTWAIT, NULL);
	if (num < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	for (int i = 0; i < num; i++)
		wire_receive(wire, iov[i].iov_base, msgs[i].msg_len);
	return num;
}

int mmsg_receive(struct wire *wire)
{
	int num = mmsg_receive_batch(wire);
	int sum = num;

	while (num == BATCH && !wire_turn_is_over(wire)) {
		num = mmsg_receive_batch(wire);
		if (num > 0)
			sum += num;
	}
	return sum;
}
