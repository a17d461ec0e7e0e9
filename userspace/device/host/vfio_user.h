/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vfio-user server of one PCI function, for one client at a time, over a UNIX
 * socket. The protocol is specified in QEMU's docs/interop/vfio-user.rst.
 *
 * No region can be mapped by the client: one that could would make QEMU wait
 * for a reply to every write, doorbells included.
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

/* Told to the client; a message with more file descriptors ends the session */
#define VFU_MAX_FDS 16

/* As many as a message can bring, told or not; the kernel's SCM_MAX_FD */
#define VFU_MAX_FDS_AT_ONCE 253

/**
 * struct vfu_fd - a file descriptor that came with a message
 * @fd: the descriptor
 * @at: the message's last byte so far received, as an index into the input
 */
struct vfu_fd {
	int fd;
	size_t at;
};

/**
 * struct vfu_server - a server and its session
 * @events: event loop
 * @log: for what the client cannot be told
 * @pci: the function
 * @maps: guest memory
 * @helper: closes what the client gave
 * @port: the NIC's, which pays with its share of the time
 * @path: of the socket
 * @mode: permissions of the socket
 * @listener: event source of @listen_fd
 * @client: event source of @fd
 * @handshake: event source of @handshake_fd
 * @listen_fd: listening socket
 * @handshake_fd: a timer that ends the session of a client that says nothing
 * @listening: @listen_fd is waited for: there is no client, and nothing of the
 *	last one is left
 * @fd: the client's socket, or -1
 * @mask: EPOLL* bits that @fd is waited for with
 * @negotiated: VERSION is done
 * @backlog: whole messages may be in the input
 * @rx: input
 * @rx_len: bytes in @rx
 * @skip: bytes of input still to be thrown away
 * @fds: of messages not handled yet
 * @num_fds: of @fds
 * @tx: replies not sent yet
 * @tx_len: bytes in @tx
 * @tx_wait: the client has to read before anything more is done for it
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
 * @server: with the members up to @mode set
 *
 * A socket that nobody listens on any more is replaced, any other file is not.
 * When a client has gone the function is reset, its guest memory is unmapped
 * and the next client is served.
 *
 * Return: 0, -EADDRINUSE if there is a file or another server at @path,
 * -ENAMETOOLONG, -ENOMEM, or what a system call failed with.
 */
int vfu_listen(struct vfu_server *server);

/** vfu_helper_ready() - &helper.ready of the server's helper */
void vfu_helper_ready(struct vfu_server *server);

/** vfu_close() - end the session and remove the socket */
void vfu_close(struct vfu_server *server);

#endif /* MYNIC_HOST_VFIO_USER_H */
