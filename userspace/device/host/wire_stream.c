// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A stream socket, on which 4 bytes of length (big-endian) precede each frame,
 * as for QEMU's -netdev stream. One side listens and has one peer at a time.
 * The other side connects.
 */
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "inet.h"
#include "listener.h"
#include "unix_socket.h"
#include "wire.h"
#include "wire/frame.h"

/* Bytes of input that one system call may return */
#define RX_SIZE (512 << 10)

/* Bytes that one system call sends, during which the clock is not read */
#define PIECE (128 << 10)

/* Bytes of the kernel's queue between two processes, if it allows as much */
#define SOCKET_BUFFER (1 << 20)

/* A peer that has vanished is noticed after about 30 s. */
#define KEEPALIVE_IDLE 10
#define KEEPALIVE_INTERVAL 5
#define KEEPALIVE_COUNT 4

static bool wire_stream_is_path(const char *addr)
{
	return strchr(addr, '/');
}

static void wire_stream_set_option(int fd, int level, int option, int value)
{
	/* Without this setting the wire is only slower. */
	setsockopt(fd, level, option, &value, sizeof(value));
}

static void wire_stream_set_options(int fd, const char *addr)
{
	if (wire_stream_is_path(addr)) {
		wire_stream_set_option(fd, SOL_SOCKET, SO_SNDBUF,
				       SOCKET_BUFFER);
		unix_refuse_files(fd);
		return;
	}
	wire_stream_set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	wire_stream_set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	wire_stream_set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE);
	wire_stream_set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL,
			       KEEPALIVE_INTERVAL);
	wire_stream_set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT);
	wire_stream_set_option(
		fd, IPPROTO_TCP, TCP_USER_TIMEOUT,
		(KEEPALIVE_IDLE + KEEPALIVE_INTERVAL * KEEPALIVE_COUNT) * 1000);
}

static void wire_stream_wait_for_peer(struct wire *wire)
{
	int err;

	err = events_add(wire->events, &wire->other, wire->other_fd, EPOLLIN);
	if (err)
		wire_try_later(wire);
}

static void wire_stream_listener_ready(void *owner, uint32_t events)
{
	struct wire *wire = owner;
	int fd;

	(void)events;
	if (wire->fd >= 0)
		return;
	fd = listener_accept(wire->events, wire->other_fd, NULL);
	if (fd < 0)
		return;
	wire_stream_set_options(fd, wire->config->listen);
	if (wire_set_fd(wire, fd))
		return;
	/* The next peer waits until this one has gone. */
	events_remove(wire->events, wire->other_fd);
	wire_up(wire);
}

static int wire_stream_tcp_listen(struct wire *wire)
{
	const char *text = wire->config->listen;
	struct inet_address address;
	const char *error;
	int err;
	int fd;

	if (!inet_parse(&address, text, SOCK_STREAM, AF_UNSPEC, &error)) {
		log_line(&wire->log, "cannot listen on %s: %s", text, error);
		return -EINVAL;
	}
	fd = socket(address.addr.ss_family,
		    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0)
		wire_stream_set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (fd >= 0 &&
	    !bind(fd, (struct sockaddr *)&address.addr, address.len) &&
	    !listen(fd, 1))
		return fd;
	err = -errno;
	if (fd >= 0)
		close(fd);
	return wire_error(wire, err, "listen on %s", text);
}

static int wire_stream_open_listener(struct wire *wire)
{
	const char *addr = wire->config->listen;
	int fd;

	if (wire_stream_is_path(addr)) {
		fd = unix_bind(SOCK_STREAM, addr, wire->config->mode);
		if (fd < 0)
			return wire_error(wire, fd, "listen on %s", addr);
		unix_refuse_files(fd);
	} else {
		fd = wire_stream_tcp_listen(wire);
		if (fd < 0)
			return fd;
	}
	wire->other = (struct event_source){ wire_stream_listener_ready, wire };
	wire->other_fd = fd;
	wire_down(wire, "waiting for a peer on %s", addr);
	return 0;
}

/* Finds the address of the peer. Returns 0 or -errno */
static int wire_stream_peer_address(struct wire *wire,
				    struct inet_address *address)
{
	const char *text = wire->config->connect;
	const char *error;
	int err;

	if (wire_stream_is_path(text)) {
		address->len = sizeof(struct sockaddr_un);
		err = unix_address((struct sockaddr_un *)&address->addr, text);
		return err ? wire_error(wire, err, "connect to %s", text) : 0;
	}
	if (inet_parse(address, text, SOCK_STREAM, AF_UNSPEC, &error))
		return 0;
	log_line(&wire->log, "cannot connect to %s: %s", text, error);
	return -EINVAL;
}

static void wire_stream_connect_failed(struct wire *wire, int err)
{
	wire_down(wire, "cannot connect to %s: %s", wire->config->connect,
		  strerror(err));
}

/*
 * TCP can connect a socket to itself. That happens if nobody listens on the
 * port, and the socket gets the same port as its own.
 */
static bool wire_stream_is_connected_to_itself(int fd)
{
	struct inet_address own = { .len = sizeof(own.addr) };
	struct inet_address peer = { .len = sizeof(peer.addr) };

	return !getsockname(fd, (struct sockaddr *)&own.addr, &own.len) &&
	       !getpeername(fd, (struct sockaddr *)&peer.addr, &peer.len) &&
	       own.addr.ss_family != AF_UNIX && own.len == peer.len &&
	       !memcmp(&own.addr, &peer.addr, own.len);
}

static void wire_stream_connected(struct wire *wire)
{
	/*
	 * No state of the connection may remain that keeps others from
	 * listening.
	 */
	static const struct linger none = { .l_onoff = 1 };

	if (!wire_stream_is_connected_to_itself(wire->fd)) {
		wire_up(wire);
		return;
	}
	setsockopt(wire->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	wire_stream_connect_failed(wire, ECONNREFUSED);
}

/* A connect() that was in progress has ended. */
static void wire_stream_writable(struct wire *wire)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (wire->port.up)
		return;
	getsockopt(wire->fd, SOL_SOCKET, SO_ERROR, &err, &len);
	if (err)
		wire_stream_connect_failed(wire, err);
	else
		wire_stream_connected(wire);
}

static void wire_stream_try(struct wire *wire)
{
	struct inet_address *address = wire->priv;
	int fd;

	if (wire->config->listen) {
		wire_stream_wait_for_peer(wire);
		return;
	}
	fd = socket(address->addr.ss_family,
		    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		wire_stream_connect_failed(wire, errno);
		return;
	}
	wire_stream_set_options(fd, wire->config->connect);
	if (!connect(fd, (struct sockaddr *)&address->addr, address->len)) {
		if (wire_set_fd(wire, fd))
			wire_try_later(wire);
		else
			wire_stream_connected(wire);
	} else if (errno == EINPROGRESS) {
		if (wire_set_fd(wire, fd))
			wire_try_later(wire);
		else
			wire_want_out(wire, true);
	} else {
		int err = errno;

		close(fd);
		wire_stream_connect_failed(wire, err);
	}
}

static int wire_stream_open(struct wire *wire)
{
	int err;

	wire->rx = malloc(RX_SIZE);
	wire->priv = malloc(sizeof(struct inet_address));
	if (!wire->rx || !wire->priv) {
		err = wire_error(wire, -ENOMEM, "get memory");
		goto err_free;
	}
	if (wire->config->listen)
		err = wire_stream_open_listener(wire);
	else
		err = wire_stream_peer_address(wire, wire->priv);
	if (err)
		goto err_free;
	if (wire->config->connect)
		wire_stream_try(wire);
	return 0;

err_free:
	free(wire->rx);
	free(wire->priv);
	return err;
}

static void wire_stream_drop(struct wire *wire)
{
	wire_drop_fd(wire);
	if (wire->config->listen)
		wire_stream_wait_for_peer(wire);
	else
		wire_try_later(wire);
}

static int wire_stream_flush(struct wire *wire)
{
	struct frame_queue *tx = &wire->tx;
	size_t len = frame_queue_piece(tx);
	ssize_t n;

	n = send(wire->fd, tx->buf + tx->head, len < PIECE ? len : PIECE,
		 MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	frame_queue_consume(tx, n);
	return 0;
}

/*
 * Forward the whole frames in the input, as many as there is time for. There
 * can be 29,000 of them, and each can go to all ports.
 *
 * Return: true if more whole frames may be left.
 */
static bool wire_stream_take_frames(struct wire *wire)
{
	while (wire->rx_len - wire->rx_at >= FRAME_PREFIX) {
		const uint8_t *at = wire->rx + wire->rx_at;
		uint32_t len;

		memcpy(&len, at, sizeof(len));
		len = be32toh(len);
		if (len < WIRE_MIN_FRAME || len > FRAME_MAX_LEN) {
			wire->port.stats.rx_bad++;
			wire_down(wire, "the peer sent a frame of %u bytes",
				  len);
			return false;
		}
		if (wire->rx_len - wire->rx_at < FRAME_PREFIX + len)
			break;
		if (wire_turn_is_over(wire))
			return true;
		wire->rx_at += FRAME_PREFIX + len;
		wire_receive(wire, at + FRAME_PREFIX, len);
	}
	wire->rx_len -= wire->rx_at;
	memmove(wire->rx, wire->rx + wire->rx_at, wire->rx_len);
	wire->rx_at = 0;
	return false;
}

/* Returns true if anything has arrived */
static bool wire_stream_receive(struct wire *wire)
{
	ssize_t n = recv(wire->fd, wire->rx + wire->rx_len,
			 RX_SIZE - wire->rx_len, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n < 0) {
		wire_down(wire, "%s", strerror(errno));
		return false;
	}
	if (!n) {
		wire_down(wire, "the peer closed the connection");
		return false;
	}
	wire->rx_len += n;
	return true;
}

static void wire_stream_ready(struct wire *wire)
{
	if (wire->backlog || wire_stream_receive(wire))
		wire->backlog = wire_stream_take_frames(wire);
}

static void wire_stream_close(struct wire *wire)
{
	wire_drop_fd(wire);
	if (wire->config->listen) {
		close(wire->other_fd);
		if (wire_stream_is_path(wire->config->listen))
			unlink(wire->config->listen);
	}
	free(wire->rx);
	free(wire->priv);
}

const struct wire_kind wire_stream = {
	.name = "stream",
	.open = wire_stream_open,
	.try = wire_stream_try,
	.ready = wire_stream_ready,
	.writable = wire_stream_writable,
	.flush = wire_stream_flush,
	.drop = wire_stream_drop,
	.close = wire_stream_close,
};
