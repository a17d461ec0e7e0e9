/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Commands of the vfio-user protocol */
#ifndef MYNIC_HOST_VFIO_USER_COMMANDS_H
#define MYNIC_HOST_VFIO_USER_COMMANDS_H

#include <stddef.h>
#include <stdint.h>

#include "vfio_user.h"
#include "vfio_user_proto.h"

/* Upper bound of a read or write: the whole configuration space */
#define VFU_MAX_XFER 4096

/* Upper bound of the payload of a reply, which is that of a read */
#define VFU_MAX_REPLY (sizeof(struct vfu_region_access) + VFU_MAX_XFER)

/**
 * struct vfu_request - a command being handled
 * @data: payload, not aligned
 * @len: bytes of payload
 * @fds: file descriptors, closed afterwards; -1: taken by the handler
 * @num_fds: of @fds
 * @reply: where the payload of the reply goes, VFU_MAX_REPLY bytes
 */
struct vfu_request {
	const uint8_t *data;
	size_t len;
	int fds[VFU_MAX_FDS];
	size_t num_fds;
	uint8_t *reply;
};

/**
 * vfu_handle() - do what a command says
 * @server: who got it
 * @command: enum vfu_command or any other value
 * @req: the rest of the message; takes the payload of the reply
 *
 * Return: bytes of payload in the reply, or -errno for an error reply.
 */
int vfu_handle(struct vfu_server *server, uint16_t command,
	       struct vfu_request *req);

#endif /* MYNIC_HOST_VFIO_USER_COMMANDS_H */
