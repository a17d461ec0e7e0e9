/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* User contexts without libibverbs */
#ifndef MYNIC_SELFTEST_CONTEXT_H
#define MYNIC_SELFTEST_CONTEXT_H

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mynic-abi.h>
#include <stddef.h>
#include <stdint.h>
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

#endif /* MYNIC_SELFTEST_CONTEXT_H */
