/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What kind of file a client has passed. It may be any: a socket that lingers,
 * or a file of a file system that the client serves itself and never answers
 * for. So nothing here asks the file system.
 */
#ifndef MYNIC_HOST_CLIENT_FILE_H
#define MYNIC_HOST_CLIENT_FILE_H

#include <stdbool.h>

/** client_file_init() - to be called once. Return: 0 or -errno */
int client_file_init(void);

/** client_file_is_eventfd() - writing to it is raising an interrupt */
bool client_file_is_eventfd(int fd);

/** client_file_is_memory() - it is a memfd, or a file of tmpfs or hugetlbfs */
bool client_file_is_memory(int fd);

/** client_file_is_on_disk() - it is a regular file on a block device */
bool client_file_is_on_disk(int fd);

#endif /* MYNIC_HOST_CLIENT_FILE_H */
