/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Commands of the kind that is made of attributes, below libibverbs */
#ifndef MYNIC_SELFTEST_IOCTL_H
#define MYNIC_SELFTEST_IOCTL_H

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>

#define MAX_ATTRS 12

/* Header of a command, followed by its attributes */
struct call {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[MAX_ATTRS];
};

static inline struct call make_call(uint16_t object, uint16_t method)
{
	return (struct call){
		.hdr = { .object_id = object, .method_id = method },
	};
}

static inline struct ib_uverbs_attr *add(struct call *call, uint16_t id,
					 uint16_t len, uint64_t data)
{
	struct ib_uverbs_attr *attr = &call->attrs[call->hdr.num_attrs++];

	attr->attr_id = id;
	attr->len = len;
	attr->flags = UVERBS_ATTR_F_MANDATORY;
	attr->data = data;
	return attr;
}

/* 0 or the errno */
static inline int execute(int fd, struct call *call)
{
	call->hdr.length =
		sizeof(call->hdr) + call->hdr.num_attrs * sizeof(*call->attrs);
	return ioctl(fd, RDMA_VERBS_IOCTL, call) ? errno : 0;
}

/* Whether the kernel is of this version or later. Older ones lack commands. */
static inline bool kernel_since(int major, int minor)
{
	struct utsname name;
	int has_major, has_minor;

	if (uname(&name) ||
	    sscanf(name.release, "%d.%d", &has_major, &has_minor) != 2)
		return true;
	return has_major > major || (has_major == major && has_minor >= minor);
}

#endif /* MYNIC_SELFTEST_IOCTL_H */
