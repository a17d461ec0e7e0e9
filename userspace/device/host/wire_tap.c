// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A TAP interface, which connects the switch to the network stack of the host.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "netif.h"
#include "wire.h"
#include "wire/frame.h"

#define TUN_DEVICE "/dev/net/tun"

/* Frames in one turn */
#define BATCH 64

/* One byte more than a frame has, so that longer ones can be recognized */
#define RX_SIZE (FRAME_MAX_LEN + 1)

/* Returns a file descriptor, or -errno */
static int wire_tap_attach(const struct wire *wire)
{
	struct ifreq req = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int err;
	int fd;

	err = netif_name(wire, req.ifr_name);
	if (err)
		return err;
	fd = open(TUN_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!ioctl(fd, TUNSETIFF, &req))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* The interface may have been deleted and created again. */
static void wire_tap_attach_again(struct wire *wire)
{
	int fd = wire_tap_attach(wire);

	if (fd >= 0)
		wire_set_fd(wire, fd);
}

static void wire_tap_try(struct wire *wire)
{
	const char *ifname = wire->config->ifname;
	const char *why;

	/*
	 * Opening would create the interface, which is not up to this process.
	 */
	if (wire->fd < 0 && if_nametoindex(ifname))
		wire_tap_attach_again(wire);
	if (!netif_running(wire, &why))
		wire_down(wire, "%s: %s", ifname, why);
	else if (wire->fd >= 0)
		wire_up(wire);
}

static int wire_tap_open(struct wire *wire)
{
	const char *ifname = wire->config->ifname;
	int err;
	int fd;

	wire->rx = malloc(RX_SIZE);
	if (!wire->rx)
		return wire_error(wire, -ENOMEM, "get memory");
	fd = wire_tap_attach(wire);
	if (fd < 0) {
		err = wire_error(wire, fd, "attach to TAP interface %s",
				 ifname);
		goto err_free;
	}
	err = netif_open(wire, fd);
	if (err)
		goto err_free;
	return 0;

err_free:
	free(wire->rx);
	return err;
}

static void wire_tap_gone(struct wire *wire, int err)
{
	wire_down(wire, "%s: %s", wire->config->ifname, strerror(err));
	wire_drop_fd(wire);
}

static void wire_tap_ready(struct wire *wire)
{
	for (unsigned int i = 0;
	     i < BATCH && wire->fd >= 0 && !wire_turn_is_over(wire); i++) {
		ssize_t n = read(wire->fd, wire->rx, RX_SIZE);

		if (n >= 0)
			wire_receive(wire, wire->rx, n);
		else if (errno == EBADFD)
			wire_tap_gone(wire, ENODEV);
		else if (errno != EINTR)
			return;
	}
}

static int wire_tap_flush(struct wire *wire)
{
	struct frame_queue *tx = &wire->tx;
	size_t at = tx->head;
	uint8_t *frame;
	uint32_t len = frame_queue_next(tx, &at, &frame);
	ssize_t n;

	n = write(wire->fd, frame, len);
	if (n < 0 && (errno == EAGAIN || errno == EIO || errno == EBADFD))
		return -errno;
	/* Other errors are about this frame only. */
	if (n < 0)
		wire->port.stats.tx_dropped++;
	frame_queue_consume(tx, FRAME_PREFIX + len);
	return 0;
}

static void wire_tap_close(struct wire *wire)
{
	netif_close(wire);
	free(wire->rx);
}

const struct wire_kind wire_tap = {
	.name = "tap",
	.open = wire_tap_open,
	.try = wire_tap_try,
	.ready = wire_tap_ready,
	.flush = wire_tap_flush,
	.drop = netif_drop,
	.close = wire_tap_close,
};
