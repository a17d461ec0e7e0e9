/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* UNIX sockets that others find by a path */
#ifndef MYNIC_HOST_UNIX_SOCKET_H
#define MYNIC_HOST_UNIX_SOCKET_H

#include <sys/un.h>

/** unix_address() - Return: 0, or -ENAMETOOLONG */
int unix_address(struct sockaddr_un *addr, const char *path);

/**
 * unix_socket() - a socket without an address
 * @type: SOCK_STREAM or SOCK_DGRAM
 *
 * Return: file descriptor, non-blocking and closed on exec, or -errno.
 */
int unix_socket(int type);

/**
 * unix_refuse_files() - nobody can pass files on a socket
 * @fd: the socket; those that it accepts are as it is
 *
 * The kernel would close them for the process, in its time, and to close a file
 * may take as long as who passed it likes. Kernels before 6.16 cannot do this.
 */
void unix_refuse_files(int fd);

/**
 * unix_bind() - a socket that others can connect or send to
 * @type: SOCK_STREAM or SOCK_DGRAM
 * @path: where to bind it; who closes it has to unlink it, too
 * @mode: its permissions, whatever the umask
 *
 * A socket that nobody has open any more is replaced, any other file is not.
 * A stream socket listens, for one client more than is accepted.
 *
 * Return: file descriptor as from unix_socket(), -EADDRINUSE if there is
 * another file or a live socket at @path, or -errno.
 */
int unix_bind(int type, const char *path, unsigned int mode);

#endif /* MYNIC_HOST_UNIX_SOCKET_H */
