/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Signals an eventfd of a client without ever blocking. A write() blocks while
 * the counter is full, unless the file is non-blocking. The client shares the
 * file, so it can clear that flag and fill the counter. For asynchronous I/O
 * (io_submit(2)) the kernel itself signals an eventfd, and never blocks.
 */
#ifndef MYNIC_HOST_SIGNALLER_H
#define MYNIC_HOST_SIGNALLER_H

/*
 * Must be called once. Returns 0, or -errno if the kernel does not support it.
 */
int signaller_init(void);

/*
 * Adds one to the counter. Failures only affect the client that has caused
 * them.
 */
void signaller_signal(int eventfd);

#endif /* MYNIC_HOST_SIGNALLER_H */
