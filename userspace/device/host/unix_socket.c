// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* UNIX sockets: creation, stale sockets, and refusal of files. */

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unix_socket.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* not on alpha, hppa, mips and sparc */
#endif

int unix_address(struct sockaddr_un *addr, const char *path)
{
	size_t len = strlen(path);

	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (len >= sizeof(addr->sun_path))
		return -ENAMETOOLONG;
	memcpy(addr->sun_path, path, len);
	return 0;
}

int unix_socket(int type)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? -errno : fd;
}

void unix_refuse_files(int fd)
{
	const int none = 0;

	setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &none, sizeof(none));
}

/* Removes the socket of a dead process, and nothing else */
static void unix_socket_remove_stale(int type, const struct sockaddr_un *addr)
{
	struct stat st;
	int fd;

	if (lstat(addr->sun_path, &st) || !S_ISSOCK(st.st_mode))
		return;
	fd = unix_socket(type);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) &&
	    errno == ECONNREFUSED)
		unlink(addr->sun_path);
	close(fd);
}

int unix_bind(int type, const char *path, unsigned int mode)
{
	struct sockaddr_un addr;
	mode_t mask;
	int err;
	int fd;

	err = unix_address(&addr, path);
	if (err)
		return err;
	fd = unix_socket(type);
	if (fd < 0)
		return fd;
	unix_socket_remove_stale(type, &addr);
	mask = umask(~mode & 0777);
	err = bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ? -errno : 0;
	umask(mask);
	if (err)
		goto err_close;
	if (type == SOCK_STREAM && listen(fd, 1)) {
		err = -errno;
		unlink(path);
		goto err_close;
	}
	return fd;

err_close:
	close(fd);
	return err;
}
