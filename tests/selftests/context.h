/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* User contexts without libibverbs, and commands below it */
#ifndef MYNIC_SELFTEST_CONTEXT_H
#define MYNIC_SELFTEST_CONTEXT_H

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mynic-abi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct context_cmd {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_get_context cmd;
	uint64_t driver_data;
};

struct context_resp {
	struct ib_uverbs_get_context_resp resp;
	struct mynic_alloc_ucontext_resp driver;
	uint8_t more[16];
};

/* GET_CONTEXT with @in bytes of driver data and room for @out of response */
static inline int get_context(int fd, size_t in, uint64_t driver_data,
			      size_t out, struct context_resp *resp)
{
	struct context_cmd cmd = {
		.hdr = { .command = IB_USER_VERBS_CMD_GET_CONTEXT },
		.cmd = { .response = (uintptr_t)resp },
		.driver_data = driver_data,
	};
	size_t len = offsetof(struct context_cmd, driver_data) + in;

	cmd.hdr.in_words = len / 4;
	cmd.hdr.out_words = (sizeof(resp->resp) + out) / 4;
	memset(resp, 0xee, sizeof(*resp));
	return write(fd, &cmd, len) == (ssize_t)len ? 0 : errno;
}

#define DRIVER_RESP sizeof(struct mynic_alloc_ucontext_resp)

/* The device file of @ctx, opened once more; -1 if it cannot be */
static inline int open_file(const struct ibv_context *ctx)
{
	char path[IBV_SYSFS_NAME_MAX + 16];

	snprintf(path, sizeof(path), "/dev/infiniband/%s",
		 ctx->device->dev_name);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* ... with a context of its own, and room for all of the response */
static inline int open_context(const struct ibv_context *ctx,
			       struct context_resp *resp)
{
	int fd = open_file(ctx);

	if (fd < 0 || !get_context(fd, 0, 0, DRIVER_RESP, resp))
		return fd;
	close(fd);
	return -1;
}

#define CONTEXT_MAX_CMD 512

/* Where the kernel puts responses, which nobody reads */
static uint64_t reply[64];

/* A command with driver data; 0 or the errno */
static inline int command(int fd, uint32_t number, const void *cmd, size_t len,
			  const void *driver, size_t driver_len)
{
	struct ib_uverbs_cmd_hdr hdr = {
		.command = number,
		.in_words = (sizeof(hdr) + len + driver_len) / 4,
		.out_words = sizeof(reply) / 4,
	};
	char buf[CONTEXT_MAX_CMD];

	memcpy(buf, &hdr, sizeof(hdr));
	memcpy(buf + sizeof(hdr), cmd, len);
	if (driver_len)
		memcpy(buf + sizeof(hdr) + len, driver, driver_len);
	len += sizeof(hdr) + driver_len;
	return write(fd, buf, len) == (ssize_t)len ? 0 : errno;
}

/* The same of the kind whose lengths are in units of 8 bytes */
static inline int extended(int fd, uint32_t number, const void *cmd, size_t len,
			   const void *driver, size_t driver_len)
{
	struct ib_uverbs_ex_cmd_hdr ex_hdr = {
		.response = (uintptr_t)reply,
		.provider_in_words = driver_len / 8,
	};
	struct ib_uverbs_cmd_hdr hdr = {
		.command = number | IB_USER_VERBS_CMD_FLAG_EXTENDED,
		.in_words = len / 8,
		.out_words = sizeof(reply) / 8,
	};
	char buf[CONTEXT_MAX_CMD], *at = buf;

	memcpy(at, &hdr, sizeof(hdr));
	at += sizeof(hdr);
	memcpy(at, &ex_hdr, sizeof(ex_hdr));
	at += sizeof(ex_hdr);
	memcpy(at, cmd, len);
	at += len;
	if (driver_len)
		memcpy(at, driver, driver_len);
	at += driver_len;
	return write(fd, buf, at - buf) == at - buf ? 0 : errno;
}

#endif /* MYNIC_SELFTEST_CONTEXT_H */
