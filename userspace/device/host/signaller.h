/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Signals an eventfd of a client without ever blocking. A write() blocks while
 * the counter is full, unless the file is non-blocking. The client shares the
 * file, so it can clear that flag and fill the counter. For asynchronous I/O
 * (io_submit(2)) the kernel itself signals an eventfd, and never blocks.
 */
#ifndef MYNIC_HOST_SIGNALLER_H
#define MYNIC_HOST_SIGNALLER_H

#include <linux/aio_abi.h>

/**
 * struct signaller - what a thread needs to signal eventfds
 * @context: the kernel's AIO
 *
 * It lasts until the end of the process.
 */
struct signaller {
	aio_context_t context;
};

/*
 * Returns 0, or -errno if the kernel does not support it. Must be called before
 * the process is confined.
 */
int signaller_init(struct signaller *signaller);

/*
 * Adds one to the counter. Failures only affect the client that has caused
 * them. It takes as long as the kernel needs to wake all who wait for the
 * eventfd.
 */
void signaller_signal(struct signaller *signaller, int eventfd);

#endif /* MYNIC_HOST_SIGNALLER_H */
