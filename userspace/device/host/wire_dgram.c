// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UNIX datagram sockets with one frame in each datagram, as QEMU's -netdev
 * dgram uses them. Each side has a path of its own. The peer is present if a
 * socket can be connected to its path. Its absence is noticed only when a frame
 * is sent.
 *
 * Only a connected socket tells when the peer has room again. But it accepts
 * datagrams from that one socket alone, so it gets nothing more after the peer
 * has been restarted. Therefore there are two sockets: frames are sent on a
 * connected one, and arrive at another. If the peer only accepts frames from
 * the socket with our path, that socket is used for both.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mmsg.h"
#include "unix_socket.h"
#include "wire.h"

/* Bytes of the kernel's queue, if it allows as much */
#define SOCKET_BUFFER (1 << 20)

static void wire_dgram_set_buffer(int fd)
{
	int size = SOCKET_BUFFER;

	/* Without this setting the wire is only slower. */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

/* Returns 0 or -errno */
static int wire_dgram_connect_to(int fd, const char *path)
{
	struct sockaddr_un addr;

	unix_address(&addr, path);
	return connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ? -errno : 0;
}

static int wire_dgram_reach_peer(struct wire *wire)
{
	const char *remote = wire->config->remote;
	int err;
	int fd;

	fd = unix_socket(SOCK_DGRAM);
	if (fd < 0)
		return fd;
	wire_dgram_set_buffer(fd);
	err = wire_dgram_connect_to(fd, remote);
	if (!err)
		return wire_set_out_fd(wire, fd);
	close(fd);
	return err == -EPERM ? wire_dgram_connect_to(wire->fd, remote) : err;
}

static void wire_dgram_try(struct wire *wire)
{
	int err = wire_dgram_reach_peer(wire);

	if (err)
		wire_down(wire, "cannot connect to %s: %s",
			  wire->config->remote, strerror(-err));
	else
		wire_up(wire);
}

static int wire_dgram_open(struct wire *wire)
{
	const struct wire_config *config = wire->config;
	struct sockaddr_un addr;
	int err;
	int fd;

	err = unix_address(&addr, config->remote);
	if (err)
		return wire_error(wire, err, "send to %s", config->remote);
	err = mmsg_init(wire);
	if (err)
		return err;
	fd = unix_bind(SOCK_DGRAM, config->local, config->mode);
	if (fd < 0) {
		err = wire_error(wire, fd, "bind to %s", config->local);
		goto err_free;
	}
	wire_dgram_set_buffer(fd);
	unix_refuse_files(fd);
	err = wire_set_fd(wire, fd);
	if (err) {
		wire_error(wire, err, "wait for %s", config->local);
		goto err_unlink;
	}
	wire_dgram_try(wire);
	return 0;

err_unlink:
	unlink(config->local);
err_free:
	mmsg_free(wire);
	return err;
}

static void wire_dgram_ready(struct wire *wire)
{
	/*
	 * Errors here are about frames that were sent, and sending reports
	 * them, too.
	 */
	if (mmsg_receive(wire) > 0 && !wire->port.up)
		wire_dgram_try(wire);
}

static int wire_dgram_flush(struct wire *wire)
{
	return mmsg_flush(wire, (struct iovec){});
}

static void wire_dgram_drop(struct wire *wire)
{
	static const struct sockaddr nobody = { .sa_family = AF_UNSPEC };

	if (wire->out_fd == wire->fd)
		connect(wire->fd, &nobody, sizeof(nobody));
	wire_drop_out_fd(wire);
	wire_want_out(wire, false);
	wire_try_later(wire);
}

static void wire_dgram_close(struct wire *wire)
{
	wire_drop_fd(wire);
	unlink(wire->config->local);
	mmsg_free(wire);
}

const struct wire_kind wire_dgram = {
	.name = "dgram",
	.open = wire_dgram_open,
	.try = wire_dgram_try,
	.ready = wire_dgram_ready,
	.flush = wire_dgram_flush,
	.drop = wire_dgram_drop,
	.close = wire_dgram_close,
};
