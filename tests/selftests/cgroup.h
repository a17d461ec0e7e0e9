/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What a memory cgroup is charged for */
#ifndef MYNIC_SELFTEST_CGROUP_H
#define MYNIC_SELFTEST_CGROUP_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs.h"

#define CGROUPS "/sys/fs/cgroup"
#define CGROUP CGROUPS "/mynic-selftest"

/* Value of a name in a file of lines such as "NAME: NUMBER", or -1 */
static inline long number_in(const char *path, const char *name)
{
	char line[256], word[64];
	FILE *file = fopen(path, "re");
	long value, found = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63[^: ]%*[: \t]%ld", word, &value) == 2 &&
		    !strcmp(word, name))
			found = value;
	if (file)
		fclose(file);
	return found;
}

static inline bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

static inline bool has_memory_controller(void)
{
	if (access(CGROUPS "/cgroup.controllers", F_OK))
		mount("none", CGROUPS, "cgroup2", 0, NULL);
	return write_text(CGROUPS "/cgroup.subtree_control", "+memory");
}

/* An earlier test may have left it. */
static inline bool make_cgroup(void)
{
	rmdir(CGROUP);
	return !mkdir(CGROUP, 0755);
}

static inline void remove_cgroup(void)
{
	time_t end = deadline();

	/* memory of dead processes may be freed a moment later */
	while (rmdir(CGROUP) && errno == EBUSY && time(NULL) < end)
		;
}

static inline bool join_cgroup(void)
{
	return write_text(CGROUP "/cgroup.procs", "0");
}

/* Kernel memory that the group is charged for, without page tables */
static inline long kernel_bytes(void)
{
	return number_in(CGROUP "/memory.stat", "kernel") -
	       number_in(CGROUP "/memory.stat", "pagetables");
}

/* What the other end of a pipe tells, or 0 if it is closed */
static inline char next_byte(int fd)
{
	char byte = 0;

	return read(fd, &byte, 1) == 1 ? byte : 0;
}

#endif /* MYNIC_SELFTEST_CGROUP_H */
