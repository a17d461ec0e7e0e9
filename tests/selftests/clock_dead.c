// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The clock page of a device that does not answer, or is reset */
#include <sys/mman.h>

#include "clock.h"
#include "context.h"
#include "module.h"
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
	struct ibv_context *ctx;

	ASSERT_TRUE(silent_find(&self->nic));
	ctx = open_of(self->nic.dir);
	ASSERT_NE(ctx, NULL);
	self->fd = open_context(ctx, &self->r);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ibv_close_device(ctx), 0);
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
 * time. Readers wait until the device is found to be dead, and no longer.
 */
TEST_F(clock_dead, readers_do_not_wait_for_ever)
{
	const struct mynic_alloc_ucontext_resp *driver = &self->r.driver;
	const struct mynic_clock_info *info;

	ASSERT_TRUE(silent_begin(&self->nic));
	info = mmap(NULL, driver->clock_mmap_size, PROT_READ, MAP_SHARED,
		    self->fd, driver->clock_mmap_key);
	ASSERT_NE(info, MAP_FAILED);
	EXPECT_TRUE(wait_clock(info));
	errno = 0;
	EXPECT_EQ(mmap(NULL, driver->clock_mmap_size, PROT_READ, MAP_SHARED,
		       self->fd, driver->clock_mmap_key),
		  MAP_FAILED);
	EXPECT_EQ(errno, EIO);
}

struct clock_map {
	struct context_resp r;
	const struct mynic_clock_info *info;
	int fd;
};

/* Map the clock page of the first NIC, so that it is kept up to date. */
static bool map_clock(const struct ibv_context *ctx, struct clock_map *map)
{
	map->fd = open_context(ctx, &map->r);
	if (map->fd < 0)
		return false;
	map->info = mmap(NULL, map->r.driver.clock_mmap_size, PROT_READ,
			 MAP_SHARED, map->fd, map->r.driver.clock_mmap_key);
	return map->info != MAP_FAILED;
}

/* Where the PCI function is in sysfs */
static bool find_function(const struct ibv_context *ctx, char path[PATH_MAX])
{
	char device[IBV_SYSFS_PATH_MAX + 16];

	snprintf(device, sizeof(device), "%s/device", ctx->device->ibdev_path);
	return realpath(device, path);
}

/*
 * The driver compares the clocks each second while a process maps the page. It
 * stops before the RDMA device is gone, and the page stays.
 */
TEST(clock_stops_with_the_device)
{
	char function[PATH_MAX], options[PATH_MAX + 16];
	struct ibv_context *ctx;
	struct clock_map map;
	int dir;

	ctx = open_mynic(0);
	ASSERT_NE(ctx, NULL);
	ASSERT_TRUE(find_function(ctx, function));
	dir = open(function, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ASSERT_GE(dir, 0);
	snprintf(options, sizeof(options), "function=%s",
		 strrchr(function, '/') + 1);
	ASSERT_EQ(load_module("down_race", options), 0);
	ASSERT_TRUE(map_clock(ctx, &map));
	EXPECT_EQ(write_reset(ctx), 0);
	EXPECT_GE(module_number("down_race", "clocks"), 1);
	EXPECT_EQ(module_number("down_race", "clocks_left"), 0);
	EXPECT_TRUE(clock_is_there(map.info));
	EXPECT_EQ(unload_module("down_race"), 0);
	close(map.r.resp.async_fd);
	close(map.fd);
	ibv_close_device(ctx);
	EXPECT_TRUE(wait_back(dir));
	close(dir);
}

TEST_HARNESS_MAIN
