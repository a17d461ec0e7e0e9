/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/* Requests of tests to the exporter of dma-bufs */
#ifndef MYNIC_SELFTEST_EXPORTER_H
#define MYNIC_SELFTEST_EXPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define EXPORTER_DEVICE "mynic_dmabuf_exporter"

/* A new dma-buf of so many pages, zeroed. Returns its file descriptor. */
#define EXPORTER_MAKE _IOW('m', 0xe0, __u32)

/*
 * Revokes the dma-buf with this file descriptor. Returns the number of
 * importers that still have it mapped, which should be 0.
 */
#define EXPORTER_REVOKE _IOW('m', 0xe1, __s32)

#endif /* MYNIC_SELFTEST_EXPORTER_H */
