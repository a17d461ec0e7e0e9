/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* UNIX sockets with a path */
#ifndef MYNIC_HOST_UNIX_SOCKET_H
#define MYNIC_HOST_UNIX_SOCKET_H

#include <sys/un.h>

/* Returns 0, or -ENAMETOOLONG. */
int unix_address(struct sockaddr_un *addr, const char *path);

/**
 * unix_socket() - create a socket without an address
 * @type: SOCK_STREAM or SOCK_DGRAM
 *
 * Return: file descriptor, non-blocking and closed on exec, or -errno.
 */
int unix_socket(int type);

/**
 * unix_refuse_files() - let nobody pass files on a socket
 * @fd: the socket; sockets that it accepts inherit the setting
 *
 * The kernel would close such files in the context of this process. The sender
 * can make closing take any time. Kernels before 6.16 do not have the setting.
 */
void unix_refuse_files(int fd);

/**
 * unix_bind() - create a socket with a path
 * @type: SOCK_STREAM or SOCK_DGRAM
 * @path: path of the socket; the caller has to unlink it after closing
 * @mode: permissions, independent of the umask
 *
 * A socket that no process has open is replaced; other files are not. A stream
 * socket listens with room for one waiting client.
 *
 * Return: file descriptor as from unix_socket(); -EADDRINUSE if @path has
 * another file or a socket in use; or -errno.
 */
int unix_bind(int type, const char *path, unsigned int mode);

#endif /* MYNIC_HOST_UNIX_SOCKET_H */
