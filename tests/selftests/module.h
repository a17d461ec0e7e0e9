/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Modules of these tests, which are beside the programs */
#ifndef MYNIC_SELFTEST_MODULE_H
#define MYNIC_SELFTEST_MODULE_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "verbs.h"

/* Returns 0 or errno */
static inline int load_module(const char *module, const char *options)
{
	char path[PATH_MAX];
	struct utsname name;
	ssize_t len;
	int fd, err;

	len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (len < 0 || uname(&name))
		return errno;
	path[len] = 0;
	*strrchr(path, '/') = 0;
	len = strlen(path);
	snprintf(path + len, sizeof(path) - len, "/modules/%s/%s.ko",
		 name.release, module);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	err = syscall(SYS_finit_module, fd, options, 0) ? errno : 0;
	close(fd);
	return err;
}

/* Resources of a killed process may be freed a little later */
static inline int unload_module(const char *module)
{
	time_t end = deadline();

	while (syscall(SYS_delete_module, module, O_NONBLOCK)) {
		if (errno != EAGAIN || time(NULL) >= end)
			return errno;
		usleep(10000);
	}
	return 0;
}

/* The number that a parameter of a module has, or -1 */
static inline long module_number(const char *module, const char *parameter)
{
	char path[PATH_MAX];
	long number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/%s/parameters/%s", module,
		 parameter);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

#endif /* MYNIC_SELFTEST_MODULE_H */
