// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* State of the network interface below a wire, by netlink. */

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netif.h"
#include "wire.h"

/*
 * Some interface has changed, or the socket has lost messages, so the state is
 * read again.
 */
static void netif_netlink_ready(void *owner, uint32_t events)
{
	struct wire *wire = owner;
	char message[4096];

	(void)events;
	while (recv(wire->other_fd, message, sizeof(message), MSG_DONTWAIT) >=
		       0 ||
	       errno == ENOBUFS)
		;
	wire->config->kind->try(wire);
}

/* Has &wire_kind.try called when an interface changes. */
static int netif_open_link_events(struct wire *wire)
{
	struct sockaddr_nl addr = {
		.nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_LINK,
	};
	int err;
	int fd;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    NETLINK_ROUTE);
	if (fd < 0)
		return wire_error(wire, -errno, "watch network interfaces");
	wire->other = (struct event_source){ netif_netlink_ready, wire };
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err = -errno;
	else
		err = events_add(wire->events, &wire->other, fd, EPOLLIN);
	if (err) {
		close(fd);
		return wire_error(wire, err, "watch network interfaces");
	}
	wire->other_fd = fd;
	return 0;
}

int netif_open(struct wire *wire, int fd)
{
	int err;

	err = wire_set_fd(wire, fd);
	if (err)
		return wire_error(wire, err, "wait for %s",
				  wire->config->ifname);
	err = netif_open_link_events(wire);
	if (err) {
		wire_drop_fd(wire);
		return err;
	}
	wire->config->kind->try(wire);
	return 0;
}

void netif_close(struct wire *wire)
{
	events_remove(wire->events, wire->other_fd);
	close(wire->other_fd);
	wire_drop_fd(wire);
}

int netif_name(const struct wire *wire, char *name)
{
	const char *ifname = wire->config->ifname;
	size_t len = strlen(ifname);

	if (len >= IFNAMSIZ)
		return -ENAMETOOLONG;
	memcpy(name, ifname, len + 1);
	return 0;
}

unsigned int netif_running(const struct wire *wire, const char **why)
{
	struct ifreq req = {};
	short flags;

	netif_name(wire, req.ifr_name);
	if (ioctl(wire->other_fd, SIOCGIFFLAGS, &req)) {
		*why = strerror(errno);
		return 0;
	}
	flags = req.ifr_flags;
	if (!(flags & IFF_UP)) {
		*why = "it is not set up";
		return 0;
	}
	if (!(flags & IFF_RUNNING)) {
		*why = "it has no carrier";
		return 0;
	}
	if (ioctl(wire->other_fd, SIOCGIFINDEX, &req)) {
		*why = strerror(errno);
		return 0;
	}
	return req.ifr_ifindex;
}

void netif_drop(struct wire *wire)
{
	const char *why;

	wire_want_out(wire, false);
	/*
	 * If the interface is up, no event will come, so a timer tries again.
	 */
	if (netif_running(wire, &why))
		wire_try_later(wire);
}
