/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory of the process as a dma-buf, with the help of udmabuf */
#ifndef MYNIC_SELFTEST_DMABUF_H
#define MYNIC_SELFTEST_DMABUF_H

#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Make a dma-buf of @size bytes, and map its memory at @mem. Return: file
 * descriptor, or -1. The memory must not be able to shrink.
 */
static inline int make_dmabuf(size_t size, uint8_t **mem)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC,
					 .size = size };
	int dev, fd;

	create.memfd = memfd_create("dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	if (dev < 0 || (int)create.memfd < 0 || ftruncate(create.memfd, size) ||
	    fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		return -1;
	*mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    create.memfd, 0);
	fd = ioctl(dev, UDMABUF_CREATE, &create);
	close(dev);
	close(create.memfd);
	return *mem == MAP_FAILED ? -1 : fd;
}

#endif /* MYNIC_SELFTEST_DMABUF_H */
