/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Adds one to an eventfd of a client, and never waits. A write() waits while
 * the counter is full, unless the file says otherwise; but the client has the
 * same file, can take that back, and can fill the counter. The kernel itself
 * counts what is done asynchronously (io_submit(2)) in an eventfd, and waits
 * for nobody.
 */
#ifndef MYNIC_HOST_SIGNALLER_H
#define MYNIC_HOST_SIGNALLER_H

/** signaller_init() - for the whole process; -errno if the kernel cannot do it */
int signaller_init(void);

/** signaller_signal() - add one; what fails is the client's own loss */
void signaller_signal(int eventfd);

#endif /* MYNIC_HOST_SIGNALLER_H */
