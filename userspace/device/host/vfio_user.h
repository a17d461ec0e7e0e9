/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vfio-user server of one PCI function, for one client at a time, over a UNIX
 * socket. The protocol is specified in QEMU's docs/interop/vfio-user.rst.
 *
 * The client cannot map any region. If it could, QEMU would wait for a reply to
 * each write, doorbells included.
 */
#ifndef MYNIC_HOST_VFIO_USER_H
#define MYNIC_HOST_VFIO_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct dma_maps;
struct helper;
struct log;
struct pci_function;
struct switch_port;

/* Limit that the client is told. A message with more files ends the session. */
#define VFU_MAX_FDS 16

/* Limit of the kernel for the files of a message (SCM_MAX_FD) */
#define VFU_MAX_FDS_AT_ONCE 253

/**
 * struct vfu_fd - a file descriptor that arrived with a message
 * @fd: the descriptor
 * @at: offset in the input of the last byte that had arrived with it
 */
struct vfu_fd {
	int fd;
	size_t at;
};

/**
 * struct vfu_server - a server and its session
 * @events: event loop
 * @log: messages about errors that the protocol cannot report
 * @pci: the function
 * @maps: guest memory
 * @helper: thread that closes the client's files
 * @port: port of the NIC, whose share of the time is charged
 * @path: path of the socket
 * @mode: permissions of the socket
 * @listener: event source of @listen_fd
 * @client: event source of @fd
 * @handshake: event source of @handshake_fd
 * @listen_fd: listening socket
 * @handshake_fd: timer that ends a session without VERSION
 * @listening: the event loop waits for @listen_fd. There is no client, and
 * nothing is left of the last one.
 * @fd: socket of the client, or -1
 * @mask: EPOLL* bits that the event loop waits for at @fd
 * @negotiated: VERSION was successful
 * @backlog: the input may have whole messages
 * @rx: buffer for input
 * @rx_len: bytes in @rx
 * @skip: bytes of input that are still to be discarded
 * @fds: files of messages that have not been handled
 * @num_fds: number of @fds
 * @tx: replies that have not been sent
 * @tx_len: bytes in @tx
 * @tx_wait: the client has to read replies before more of its messages are
 * handled
 */
struct vfu_server {
	struct events *events;
	struct log *log;
	struct pci_function *pci;
	struct dma_maps *maps;
	struct helper *helper;
	struct switch_port *port;
	const char *path;
	unsigned int mode;
	struct event_source listener;
	struct event_source client;
	struct event_source handshake;
	int listen_fd;
	int handshake_fd;
	bool listening;
	int fd;
	uint32_t mask;
	bool negotiated;
	bool backlog;
	uint8_t *rx;
	size_t rx_len;
	size_t skip;
	struct vfu_fd fds[2 * VFU_MAX_FDS];
	size_t num_fds;
	uint8_t *tx;
	size_t tx_len;
	bool tx_wait;
};

/**
 * vfu_listen() - create the socket and wait for a client
 * @server: server with the members up to @mode set
 *
 * A socket that no process has open is replaced; other files are not. When a
 * client has gone, the function is reset, its guest memory is unmapped, and the
 * next client is served.
 *
 * Return: 0; -EADDRINUSE: there is a file or another server at @path;
 * -ENAMETOOLONG; -ENOMEM; or the error of a system call.
 */
int vfu_listen(struct vfu_server *server);

/** vfu_helper_ready() - &helper.ready of the server's helper */
void vfu_helper_ready(struct vfu_server *server);

/** vfu_close() - end the session and remove the socket */
void vfu_close(struct vfu_server *server);

#endif /* MYNIC_HOST_VFIO_USER_H */
