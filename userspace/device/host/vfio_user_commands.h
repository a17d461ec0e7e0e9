/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Commands of the vfio-user protocol */
#ifndef MYNIC_HOST_VFIO_USER_COMMANDS_H
#define MYNIC_HOST_VFIO_USER_COMMANDS_H

#include <stddef.h>
#include <stdint.h>

#include "vfio_user.h"
#include "vfio_user_proto.h"

/* Upper bound of a read or write: the size of configuration space */
#define VFU_MAX_XFER 4096

/*
 * Upper bound of the payload of a reply, of which that of a read is the largest
 */
#define VFU_MAX_REPLY (sizeof(struct vfu_region_access) + VFU_MAX_XFER)

/**
 * struct vfu_request - a command that is being handled
 * @data: payload, at any alignment
 * @len: bytes of payload
 * @fds: files, which the caller closes afterwards; -1: the handler has kept the
 * file
 * @num_fds: number of @fds
 * @reply: buffer for the payload of the reply, VFU_MAX_REPLY bytes
 */
struct vfu_request {
	const uint8_t *data;
	size_t len;
	int fds[VFU_MAX_FDS];
	size_t num_fds;
	uint8_t *reply;
};

/**
 * vfu_handle() - execute a command
 * @server: server that has received it
 * @command: enum vfu_command or any other value
 * @req: the rest of the message, and the buffer for the reply
 *
 * Return: bytes of payload in the reply, or -errno for an error reply.
 */
int vfu_handle(struct vfu_server *server, uint16_t command,
	       struct vfu_request *req);

#endif /* MYNIC_HOST_VFIO_USER_COMMANDS_H */
