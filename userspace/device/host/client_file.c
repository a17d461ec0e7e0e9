// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Types of the files that clients pass, found without asking their file
 * systems.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client_file.h"

/* Name of eventfds in /proc, without a "/" */
#define EVENTFD "anon_inode:[eventfd]"

/* Directory of the names of all open files of the process */
static int names = -1;

int client_file_init(void)
{
	names = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return names < 0 ? -errno : 0;
}

bool client_file_is_eventfd(int fd)
{
	char number[16], name[sizeof(EVENTFD)];
	ssize_t len;

	snprintf(number, sizeof(number), "%d", fd);
	len = readlinkat(names, number, name, sizeof(name));
	/*
	 * Names of real files contain a "/", so no client can choose this one.
	 */
	return len == strlen(EVENTFD) && !memcmp(name, EVENTFD, len);
}

/*
 * Only memfds and files of tmpfs and hugetlbfs have seals, even if none is set.
 */
bool client_file_is_memory(int fd)
{
	return fcntl(fd, F_GET_SEALS) >= 0;
}

/* A file system that a process serves has no block device with a number. */
bool client_file_is_on_disk(int fd)
{
	struct statx st;

	return !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE,
		      &st) &&
	       S_ISREG(st.stx_mode) && st.stx_dev_major;
}
