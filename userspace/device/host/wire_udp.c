// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UDP with one frame in each datagram. Only sending shows whether the peer is
 * there, because its host refuses datagrams that no socket takes. A wire that
 * is down therefore sends a frame without a meaning. It comes up if that is not
 * refused, or if anything arrives from the peer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "inet.h"
#include "mmsg.h"
#include "wire.h"

/*
 * Bytes of the kernel's queue, for frames that arrive while this process does
 * not run
 */
#define SOCKET_BUFFER (4 << 20)

/* Hosts that are near refuse a datagram within this time, ns */
#define PROBE_TIME 200000000ULL

/*
 * The destination is an address of bridges, and the EtherType is for
 * experiments
 */
static const uint8_t probe[60] = {
	0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e, 0x02,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x88, 0xb5,
};

/**
 * struct udp - state of a UDP wire
 * @remote: the peer
 * @connected: datagrams come from the peer only
 * @probing: the probe has been sent
 */
struct udp {
	struct inet_address remote;
	bool connected;
	bool probing;
};

static void wire_udp_try(struct wire *wire)
{
	struct udp *udp = wire->priv;

	if (udp->probing) {
		udp->probing = false;
		wire_up(wire);
		return;
	}
	if (!udp->connected &&
	    connect(wire->fd, (struct sockaddr *)&udp->remote.addr,
		    udp->remote.len)) {
		wire_down(wire, "cannot reach %s: %s", wire->config->remote,
			  strerror(errno));
		return;
	}
	udp->connected = true;
	if (send(wire->fd, probe, sizeof(probe), MSG_DONTWAIT) < 0) {
		wire_down(wire, "cannot send to %s: %s", wire->config->remote,
			  strerror(errno));
		return;
	}
	udp->probing = true;
	wire_try_in(wire, PROBE_TIME);
}

static int wire_udp_parse(struct wire *wire, struct inet_address *address,
			  const char *text, int family)
{
	const char *error;

	if (inet_parse(address, text, SOCK_DGRAM, family, &error))
		return 0;
	log_line(&wire->log, "cannot use %s: %s", text, error);
	return -EINVAL;
}

static void wire_udp_set_buffer(int fd, int force, int option)
{
	int size = SOCKET_BUFFER;

	/* Without this setting, more frames are lost under load. */
	if (setsockopt(fd, SOL_SOCKET, force, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, option, &size, sizeof(size));
}

static int wire_udp_bind_local(struct wire *wire,
			       const struct inet_address *local)
{
	const char *text = wire->config->local;
	int err;
	int fd;

	fd = socket(local->addr.ss_family,
		    SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return wire_error(wire, -errno, "bind to %s", text);
	if (bind(fd, (struct sockaddr *)&local->addr, local->len)) {
		err = -errno;
		close(fd);
		return wire_error(wire, err, "bind to %s", text);
	}
	wire_udp_set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF);
	wire_udp_set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF);
	err = wire_set_fd(wire, fd);
	return err ? wire_error(wire, err, "wait for %s", text) : 0;
}

static int wire_udp_open(struct wire *wire)
{
	struct inet_address local;
	struct udp *udp;
	int err;

	udp = calloc(1, sizeof(*udp));
	if (!udp)
		return wire_error(wire, -ENOMEM, "get memory");
	wire->priv = udp;
	err = wire_udp_parse(wire, &udp->remote, wire->config->remote,
			     AF_UNSPEC);
	if (!err)
		err = wire_udp_parse(wire, &local, wire->config->local,
				     udp->remote.addr.ss_family);
	if (err)
		goto err_udp;
	err = mmsg_init(wire);
	if (err)
		goto err_udp;
	err = wire_udp_bind_local(wire, &local);
	if (err)
		goto err_mmsg;
	wire_udp_try(wire);
	return 0;

err_mmsg:
	mmsg_free(wire);
err_udp:
	free(udp);
	return err;
}

static void wire_udp_ready(struct wire *wire)
{
	struct udp *udp = wire->priv;
	char byte;
	int num;

	if (!udp->connected) {
		/* This datagram is not from the peer. */
		recv(wire->fd, &byte, sizeof(byte), MSG_DONTWAIT);
		return;
	}
	num = mmsg_receive(wire);
	if (num > 0 && !wire->port.up) {
		udp->probing = false;
		wire_up(wire);
	} else if (num < 0 && num != -EAGAIN) {
		wire_down(wire, "%s", strerror(-num));
	}
}

static int wire_udp_flush(struct wire *wire)
{
	return mmsg_flush(wire, (struct iovec){});
}

static void wire_udp_drop(struct wire *wire)
{
	struct udp *udp = wire->priv;

	udp->probing = false;
	wire_want_out(wire, false);
	wire_try_later(wire);
}

static void wire_udp_close(struct wire *wire)
{
	wire_drop_fd(wire);
	mmsg_free(wire);
	free(wire->priv);
}

const struct wire_kind wire_udp = {
	.name = "udp",
	.open = wire_udp_open,
	.try = wire_udp_try,
	.ready = wire_udp_ready,
	.flush = wire_udp_flush,
	.drop = wire_udp_drop,
	.close = wire_udp_close,
};
