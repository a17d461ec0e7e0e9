/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Type of a file that a client has passed. It may be any file, such as a socket
 * that lingers. It may be in a file system that the client itself serves and
 * never answers for. These functions therefore never ask the file system.
 */
#ifndef MYNIC_HOST_CLIENT_FILE_H
#define MYNIC_HOST_CLIENT_FILE_H

#include <stdbool.h>

/* Must be called once. Returns 0 or -errno. */
int client_file_init(void);

/* An eventfd can be used for interrupts. */
bool client_file_is_eventfd(int fd);

/* Whether it is a memfd, or a file of tmpfs or hugetlbfs. */
bool client_file_is_memory(int fd);

/* Whether it is a regular file on a block device. */
bool client_file_is_on_disk(int fd);

#endif /* MYNIC_HOST_CLIENT_FILE_H */
