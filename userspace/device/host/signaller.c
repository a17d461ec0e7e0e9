// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Signalling of eventfds by asynchronous I/O, which never blocks. */

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "signaller.h"

#define RING_MAGIC 0xa10a10a1

/* Ring of completions of the kernel's AIO, whose layout is ABI; see libaio */
struct ring {
	uint32_t id;
	uint32_t nr;
	uint32_t head;
	uint32_t tail;
	uint32_t magic;
};

/* A file that is always readable, so that polling it completes at once */
static int readable = -1;

int signaller_init(struct signaller *signaller)
{
	if (readable < 0)
		readable = eventfd(1, EFD_CLOEXEC);
	signaller->context = 0;
	if (readable < 0 || syscall(SYS_io_setup, 1, &signaller->context))
		return -errno;
	return ((struct ring *)signaller->context)->magic == RING_MAGIC ?
		       0 :
		       -ENOTSUP;
}

void signaller_signal(struct signaller *signaller, int eventfd)
{
	struct ring *ring = (struct ring *)signaller->context;
	struct iocb cb = {
		.aio_lio_opcode = IOCB_CMD_POLL,
		.aio_fildes = readable,
		.aio_buf = POLLIN,
		.aio_flags = IOCB_FLAG_RESFD,
		.aio_resfd = eventfd,
	};
	struct iocb *list[] = { &cb };

	syscall(SYS_io_submit, signaller->context, 1, list);
	/* Completions are discarded unread. */
	ring->head = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
}
