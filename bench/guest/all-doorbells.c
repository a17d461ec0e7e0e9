// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Preloaded, makes a program ring each doorbell: libmynic is told that the
 * device does not look for itself.
 */
#include <dlfcn.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include <rdma/mynic-abi.h>

static void all_doorbells_clear_flag(const struct ib_uverbs_ioctl_hdr *hdr)
{
	for (unsigned int i = 0; i < hdr->num_attrs; i++) {
		const struct ib_uverbs_attr *attr = &hdr->attrs[i];
		struct mynic_alloc_ucontext_resp *resp;

		resp = (void *)(uintptr_t)attr->data;
		if (attr->attr_id == UVERBS_ATTR_UHW_OUT &&
		    attr->len == sizeof(*resp))
			resp->flags &= ~MYNIC_UCONTEXT_DB_SUPPRESS;
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int, unsigned long, ...);
	const struct ib_uverbs_ioctl_hdr *hdr;
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (!next)
		next = dlsym(RTLD_NEXT, "ioctl");
	ret = next(fd, request, arg);
	hdr = arg;
	if (!ret && request == RDMA_VERBS_IOCTL &&
	    hdr->object_id == UVERBS_OBJECT_DEVICE &&
	    hdr->method_id == UVERBS_METHOD_GET_CONTEXT)
		all_doorbells_clear_flag(hdr);
	return ret;
}
