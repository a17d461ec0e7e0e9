/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Failing allocations in the kernel: the kernel's Documentation/fault-injection
 */
#ifndef MYNIC_SELFTEST_FAIL_NTH_H
#define MYNIC_SELFTEST_FAIL_NTH_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/* /proc/thread-self/fail-nth */
static int fail_fd = -1;

static inline bool fail_option(const char *name, const char *value)
{
	char path[128];
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, value, strlen(value)) > 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

/*
 * Prepare this thread. Allocations that may wait can fail, too, and failures
 * are not logged.
 */
static inline bool fail_setup(void)
{
	mount("none", "/sys/kernel/debug", "debugfs", 0, NULL);
	fail_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	return fail_fd >= 0 && fail_option("failslab/ignore-gfp-wait", "N") &&
	       fail_option("failslab/verbose", "0") &&
	       fail_option("fail_page_alloc/ignore-gfp-wait", "N") &&
	       fail_option("fail_page_alloc/min-order", "0") &&
	       fail_option("fail_page_alloc/verbose", "0");
}

/* Make the allocation number @n from now fail in this thread, from 1. */
static inline void fail_nth(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(fail_fd, text, len, 0) != len)
		abort();
}

/* Stop failing. Returns whether an allocation has failed. */
static inline bool fail_none(void)
{
	char text[16] = { 0 };

	if (pread(fail_fd, text, sizeof(text) - 1, 0) <= 0)
		abort();
	fail_nth(0);
	return !atoi(text);
}

#endif /* MYNIC_SELFTEST_FAIL_NTH_H */
