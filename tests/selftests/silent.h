/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A NIC that does not answer for a while, because it cannot reach memory */
#ifndef MYNIC_SELFTEST_SILENT_H
#define MYNIC_SELFTEST_SILENT_H

#include <stdio.h>
#include <sys/stat.h>

#include "verbs.h"

/* The command register in configuration space, and the bit that is cleared */
#define COMMAND 4
#define MEMORY_AND_MASTER 6

struct silent_nic {
	int dir;
	int config;
	uint8_t command;
};

static inline void tell_kernel(const char *text)
{
	FILE *file = fopen("/dev/kmsg", "we");

	if (!file)
		return;
	fprintf(file, "<3>mynic selftest: the device %s\n", text);
	fclose(file);
}

/*
 * The RDMA device of the function that @dir is, opened; NULL while there is none.
 * Which mynic is the first one changes when one comes back.
 */
static inline struct ibv_context *open_of(int dir)
{
	char path[IBV_SYSFS_PATH_MAX + 16];
	struct stat function, found;
	struct ibv_context *ctx;

	if (fstat(dir, &function))
		return NULL;
	for (int i = 0; (ctx = open_mynic(i)); i++) {
		snprintf(path, sizeof(path), "%s/device",
			 ctx->device->ibdev_path);
		if (!stat(path, &found) && found.st_ino == function.st_ino)
			return ctx;
		ibv_close_device(ctx);
	}
	return NULL;
}

/* Whether the RDMA device is there again and usable, and all others, too */
static inline bool is_back(int dir)
{
	struct ibv_context *ctx = open_of(dir);
	bool back = ctx;

	if (ctx)
		ibv_close_device(ctx);
	for (int i = 0; back && (ctx = open_mynic(i)); i++) {
		back = find_gid(ctx) >= 0;
		ibv_close_device(ctx);
	}
	return back;
}

/* Find the first NIC. From now on, the kernel may report its failure. */
static inline bool silent_find(struct silent_nic *nic)
{
	struct ibv_context *ctx = open_mynic(0);
	char path[IBV_SYSFS_PATH_MAX + 16];

	if (!ctx)
		return false;
	tell_kernel("fails now");
	snprintf(path, sizeof(path), "%s/device", ctx->device->ibdev_path);
	ibv_close_device(ctx);
	nic->dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	nic->config = openat(nic->dir, "config", O_RDWR | O_CLOEXEC);
	return pread(nic->config, &nic->command, 1, COMMAND) == 1;
}

static inline bool silent_begin(const struct silent_nic *nic)
{
	uint8_t command = nic->command & ~MEMORY_AND_MASTER;

	return pwrite(nic->config, &command, 1, COMMAND) == 1;
}

static inline bool silent_end(const struct silent_nic *nic)
{
	return pwrite(nic->config, &nic->command, 1, COMMAND) == 1;
}

/* Wait until the driver has noticed, and has removed the RDMA device. */
static inline bool silent_wait_gone(const struct silent_nic *nic)
{
	time_t end = deadline();

	while (!faccessat(nic->dir, "infiniband", F_OK, 0)) {
		if (time(NULL) >= end)
			return false;
		usleep(50000);
	}
	return true;
}

static inline bool wait_back(int dir)
{
	time_t end = deadline();

	while (!is_back(dir)) {
		if (time(NULL) >= end)
			return false;
		usleep(50000);
	}
	return true;
}

/* Wait until it has recovered. */
static inline bool silent_wait_back(struct silent_nic *nic)
{
	if (!wait_back(nic->dir))
		return false;
	close(nic->config);
	close(nic->dir);
	tell_kernel("is whole");
	return true;
}

#endif /* MYNIC_SELFTEST_SILENT_H */
