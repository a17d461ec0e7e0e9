// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The clock page of a device that does not answer */
#include <sys/mman.h>

#include "context.h"
#include "silent.h"
#include "verbs.h"

FIXTURE(clock_dead)
{
	struct silent_nic nic;
	struct context_resp r;
	int fd;
};

FIXTURE_SETUP(clock_dead)
{
	char path[IBV_SYSFS_NAME_MAX + 16];
	struct ibv_context *ctx;

	ctx = open_mynic(0);
	ASSERT_NE(ctx, NULL);
	snprintf(path, sizeof(path), "/dev/infiniband/%s",
		 ctx->device->dev_name);
	ASSERT_EQ(ibv_close_device(ctx), 0);
	ASSERT_TRUE(silent_find(&self->nic));
	self->fd = open(path, O_RDWR | O_CLOEXEC);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(get_context(self->fd, 0, 0, DRIVER_RESP, &self->r), 0);
}

FIXTURE_TEARDOWN(clock_dead)
{
	close(self->r.resp.async_fd);
	close(self->fd);
	EXPECT_TRUE(silent_wait_gone(&self->nic));
	silent_end(&self->nic);
	EXPECT_TRUE(silent_wait_back(&self->nic));
}

/*
 * No process has mapped the page before, so the driver asks the device for its
 * time.
 */
TEST_F(clock_dead, no_page_without_time)
{
	const struct mynic_alloc_ucontext_resp *driver = &self->r.driver;

	ASSERT_TRUE(silent_begin(&self->nic));
	errno = 0;
	EXPECT_EQ(mmap(NULL, driver->clock_mmap_size, PROT_READ, MAP_SHARED,
		       self->fd, driver->clock_mmap_key),
		  MAP_FAILED);
	EXPECT_EQ(errno, EIO);
}

TEST_HARNESS_MAIN
