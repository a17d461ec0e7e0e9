// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A CQ whose creation fails in the end, after its process has used it. The
 * response crosses into a page that is not there until the test says so:
 * userfaultfd(2). Its first part already tells where the CQ is.
 */
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <rdma/mynic-hw.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "context.h"
#include "ioctl.h"
#include "verbs.h"

#define CQE 16
#define VECTOR 1 /* of both CQs, whose events come in order then */

/*
 * struct half_cq - a CQ that a thread creates
 * @fd: file of the context
 * @channel: file of its completion channel
 * @handle: of the kernel
 * @resp: the driver's response
 * @err: result
 */
struct half_cq {
	int fd;
	int channel;
	uint32_t handle;
	volatile struct mynic_create_cq_resp *resp;
	int err;
};

static void *create(void *arg)
{
	struct call call = make_call(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	struct half_cq *cq = arg;
	struct ib_uverbs_attr *handle;
	uint32_t cqe;

	handle = add(&call, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0);
	add(&call, UVERBS_ATTR_CREATE_CQ_CQE, 4, CQE);
	add(&call, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 0);
	add(&call, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 0, cq->channel);
	add(&call, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, VECTOR);
	add(&call, UVERBS_ATTR_CREATE_CQ_FLAGS, 4, 0);
	add(&call, UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4, (uintptr_t)&cqe);
	add(&call, UVERBS_ATTR_UHW_OUT, sizeof(*cq->resp), (uintptr_t)cq->resp);
	cq->err = execute(cq->fd, &call);
	cq->handle = handle->data;
	return NULL;
}

static int make_channel(int fd)
{
	struct ib_uverbs_create_comp_channel cmd = {
		.response = (uintptr_t)reply,
	};
	struct ib_uverbs_create_comp_channel_resp resp;

	if (command(fd, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &cmd,
		    sizeof(cmd), NULL, 0))
		return -1;
	memcpy(&resp, reply, sizeof(resp));
	return resp.fd;
}

/*
 * Have an event come without a completion: the device takes a jump of the
 * sequence for a request that it has not seen.
 */
static bool force_event(const struct half_cq *cq, volatile uint64_t *uar)
{
	volatile struct mynic_cq_dbrec *dbrec;
	uint8_t *ring;

	ring = mmap(NULL, cq->resp->mmap_size, PROT_READ | PROT_WRITE,
		    MAP_SHARED, cq->fd, cq->resp->mmap_key);
	if (ring == MAP_FAILED)
		return false;
	dbrec = (void *)(ring + cq->resp->dbrec_offset);
	dbrec->arm = MYNIC_ARM_VALID | 2ULL << MYNIC_ARM_SEQ_SHIFT;
	__sync_synchronize();
	uar[MYNIC_UAR_CQ_DB / sizeof(*uar)] = (uint64_t)cq->resp->cqn
					      << MYNIC_DB_NUMBER_SHIFT;
	return !munmap(ring, cq->resp->mmap_size);
}

/* Wait until the channel can be read, at most @ms; -1: for ever */
static bool has_event(int channel, int ms)
{
	struct pollfd fd = { .fd = channel, .events = POLLIN };

	return poll(&fd, 1, ms) == 1;
}

FIXTURE(half_made)
{
	struct ibv_context *ctx;
	struct context_resp r;
	volatile uint64_t *uar;
	struct half_cq half, whole;
	struct mynic_create_cq_resp whole_resp;
	size_t page;
	uint8_t *pages;
	int uffd;
};

/* The second page has no memory. */
static int catch_faults(uint8_t *page, size_t size)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { (uintptr_t)page, size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &reg))
		return -1;
	return fd;
}

FIXTURE_SETUP(half_made)
{
	uint8_t *uar;

	self->page = sysconf(_SC_PAGESIZE);
	self->ctx = open_mynic(0);
	ASSERT_NE(self->ctx, NULL);
	self->half.fd = open_context(self->ctx, &self->r);
	ASSERT_GE(self->half.fd, 0);
	self->whole.fd = self->half.fd;
	uar = mmap(NULL, self->r.driver.uar_mmap_size, PROT_READ | PROT_WRITE,
		   MAP_SHARED, self->half.fd, self->r.driver.uar_mmap_key);
	ASSERT_NE(uar, MAP_FAILED);
	self->uar = (void *)(uar + self->r.driver.uar_offset);
	self->half.channel = make_channel(self->half.fd);
	self->whole.channel = make_channel(self->half.fd);
	ASSERT_GE(self->half.channel, 0);
	ASSERT_GE(self->whole.channel, 0);
	self->pages = mmap(NULL, 2 * self->page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(self->pages, MAP_FAILED);
	memset(self->pages, 0, self->page);
	self->uffd = catch_faults(self->pages + self->page, self->page);
	if (self->uffd < 0)
		SKIP(return, "this kernel has no userfaultfd");
	self->half.resp =
		(void *)(self->pages + self->page -
			 offsetof(struct mynic_create_cq_resp, log_size));
	self->whole.resp = &self->whole_resp;
}

FIXTURE_TEARDOWN(half_made)
{
	close(self->uffd);
	close(self->half.channel);
	close(self->whole.channel);
	close(self->r.resp.async_fd);
	close(self->half.fd);
	EXPECT_EQ(ibv_close_device(self->ctx), 0);
}

TEST_F(half_made, no_event_is_left)
{
	struct uffdio_range range = { (uintptr_t)self->pages + self->page,
				      self->page };
	struct uffd_msg msg;
	pthread_t thread;

	create(&self->whole);
	ASSERT_EQ(self->whole.err, 0);
	ASSERT_EQ(pthread_create(&thread, NULL, create, &self->half), 0);
	ASSERT_EQ(read(self->uffd, &msg, sizeof(msg)), sizeof(msg));
	/* The thread waits for the page now. */
	ASSERT_NE(self->half.resp->cqn, 0);
	ASSERT_TRUE(force_event(&self->half, self->uar));
	ASSERT_TRUE(force_event(&self->whole, self->uar));
	EXPECT_TRUE(has_event(self->whole.channel, PATIENCE * 1000));
	/* It will never come. */
	ASSERT_EQ(mprotect(self->pages + self->page, self->page, PROT_NONE), 0);
	ASSERT_EQ(ioctl(self->uffd, UFFDIO_UNREGISTER, &range), 0);
	ASSERT_EQ(pthread_join(thread, NULL), 0);
	EXPECT_EQ(self->half.err, EFAULT);
	EXPECT_FALSE(has_event(self->half.channel, 0));
}

TEST_HARNESS_MAIN
