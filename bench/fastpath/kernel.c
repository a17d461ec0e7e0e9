// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Answers to the commands that libibverbs sends by ioctl(), for providers that
 * are linked unchanged.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <infiniband/driver.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>

#include "../../tests/lib/harness_tap.h"
#include "kernel.h"

#define ARENA (64 << 20)
#define HANDLE 1

static const struct answer *driver_answers;
static int (*driver_ioctl)(uint16_t object, uint16_t method,
			   struct ib_uverbs_attr *attrs, int num_attrs);
static const struct verbs_device_ops *provider;
static struct verbs_sysfs_dev sysfs;
static int cmd_fd;
static uint8_t *arena;
static size_t arena_used;

void *command_part(const void *part, size_t len, size_t want)
{
	if (len < want)
		FAIL("%zu bytes of a driver's command, not %zu", len, want);
	return (void *)part;
}

void *kernel_alloc(uint64_t *offset, size_t size)
{
	void *p = arena + arena_used;

	*offset = arena_used;
	arena_used += (size + 4095) & ~4095UL;
	CHECK(arena_used <= ARENA);
	return p;
}

void kernel_ioctl(int (*fn)(uint16_t object, uint16_t method,
			    struct ib_uverbs_attr *attrs, int num_attrs))
{
	driver_ioctl = fn;
}

/* Device memory is all that is not from kernel_alloc(). */
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t offset)
{
	if (fd != cmd_fd || fd < 0)
		return __real_mmap(addr, len, prot, flags, fd, offset);
	if (offset < arena_used)
		return arena + offset;
	return __real_mmap(NULL, len, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void kernel_query_port(const struct command *c)
{
	struct ib_uverbs_query_port_resp *out = c->core_out;

	out->link_layer = IBV_LINK_LAYER_ETHERNET;
}

static void kernel_create_cq(const struct command *c)
{
	const struct ib_uverbs_create_cq *in = c->core_in;
	struct ib_uverbs_create_cq_resp *out = c->core_out;

	out->cq_handle = HANDLE;
	out->cqe = in->cqe;
}

static void kernel_create_cq_ex(const struct command *c)
{
	const struct ib_uverbs_ex_create_cq *in = c->core_in;
	struct ib_uverbs_ex_create_cq_resp *out = c->core_out;

	out->base.cq_handle = HANDLE;
	out->base.cqe = in->cqe;
}

static void kernel_create_qp(const struct command *c)
{
	const struct ib_uverbs_create_qp *in = c->core_in;
	struct ib_uverbs_create_qp_resp *out = c->core_out;

	out->qp_handle = HANDLE;
	out->qpn = KERNEL_QPN;
	out->max_send_wr = in->max_send_wr;
	out->max_recv_wr = in->max_recv_wr;
	out->max_send_sge = in->max_send_sge;
	out->max_recv_sge = in->max_recv_sge;
	out->max_inline_data = in->max_inline_data;
}

/*
 * Answers that do not depend on the driver. Other commands succeed without one.
 */
static const struct answer core_answers[] = {
	{ IB_USER_VERBS_CMD_QUERY_PORT, kernel_query_port },
	{ IB_USER_VERBS_CMD_CREATE_CQ, kernel_create_cq },
	{ IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_CQ,
	  kernel_create_cq_ex },
	{ IB_USER_VERBS_CMD_CREATE_QP, kernel_create_qp },
	{},
};

static void kernel_answer(const struct answer *answers, const struct command *c)
{
	for (; answers->fn; answers++)
		if (answers->number == c->number)
			answers->fn(c);
}

static void kernel_invoke_write(struct ib_uverbs_attr *attrs, int num_attrs)
{
	struct command c = {};
	void *data;

	for (int i = 0; i < num_attrs; i++) {
		data = (void *)(uintptr_t)attrs[i].data;
		switch (attrs[i].attr_id) {
		case UVERBS_ATTR_WRITE_CMD:
			c.number = attrs[i].data;
			break;
		case UVERBS_ATTR_CORE_IN:
			c.core_in = attrs[i].len > 8 ? data : &attrs[i].data;
			break;
		case UVERBS_ATTR_CORE_OUT:
			c.core_out = data;
			memset(data, 0, attrs[i].len);
			break;
		case UVERBS_ATTR_UHW_IN:
			c.in = attrs[i].len > 8 ? data : &attrs[i].data;
			c.in_len = attrs[i].len;
			break;
		case UVERBS_ATTR_UHW_OUT:
			c.out = data;
			c.out_len = attrs[i].len;
			memset(data, 0, attrs[i].len);
			break;
		}
	}
	kernel_answer(core_answers, &c);
	kernel_answer(driver_answers, &c);
}

/*
 * All commands of libibverbs have a form through INVOKE_WRITE, which it uses if
 * the kernel does not know the newer one.
 */
int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct ib_uverbs_ioctl_hdr *hdr;
	int err = 0;
	va_list args;

	va_start(args, request);
	hdr = va_arg(args, struct ib_uverbs_ioctl_hdr *);
	va_end(args);
	CHECK_EQ(fd, cmd_fd);
	CHECK_EQ(request, RDMA_VERBS_IOCTL);
	if (hdr->object_id >= UVERBS_ID_DRIVER_NS && driver_ioctl)
		err = driver_ioctl(hdr->object_id, hdr->method_id, hdr->attrs,
				   hdr->num_attrs);
	else if (hdr->object_id != UVERBS_OBJECT_DEVICE ||
		 hdr->method_id != UVERBS_METHOD_INVOKE_WRITE)
		err = EPROTONOSUPPORT;
	else if (hdr->num_attrs == 1)
		/*
		 * libibverbs tests in this way whether the kernel has such
		 * commands.
		 */
		err = ENOSPC;
	else
		kernel_invoke_write(hdr->attrs, hdr->num_attrs);
	errno = err;
	return err ? -1 : 0;
}

/*
 * Replaces the provider's function, because verbs_open_device() opens only
 * devices in sysfs. Writes to the file, such as rxe's doorbells, are discarded.
 */
static struct verbs_context *kernel_alloc_context(struct ibv_device *device,
						  int fd, void *private_data)
{
	verbs_get_device(device)->ops = provider;
	verbs_get_device(device)->sysfs = &sysfs;
	return provider->alloc_context(device, cmd_fd, private_data);
}

struct ibv_context *kernel_open(const struct verbs_device_ops *ops, int abi,
				const struct answer *answers)
{
	static struct verbs_device_ops own;
	struct verbs_device *device;
	struct ibv_context *context;

	cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	CHECK(cmd_fd >= 0);
	arena = __real_mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(arena != MAP_FAILED);
	abi_ver = IB_USER_VERBS_ABI_VERSION;
	driver_answers = answers;
	provider = ops;
	own = *ops;
	own.alloc_context = kernel_alloc_context;
	sysfs.abi_ver = abi;
	device = ops->alloc_device(&sysfs);
	CHECK(device);
	device->ops = &own;
	atomic_init(&device->refcount, 1);
	context = verbs_open_device(&device->device, NULL);
	if (!context)
		FAIL("the provider does not open the device: %s",
		     strerror(errno));
	return context;
}
