// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The vfio-user server: its socket, the session, and framing of messages.
 * Commands are in vfio_user_commands.c.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "clock.h"
#include "core/base/turn.h"
#include "core/base/util.h"
#include "core/nic.h"
#include "dma_maps.h"
#include "helper.h"
#include "listener.h"
#include "log.h"
#include "mynic_regs.h"
#include "pci.h"
#include "switch.h"
#include "unix_socket.h"
#include "vfio_user.h"
#include "vfio_user_commands.h"

#define BUFFER_SIZE 65536

/* Upper bound of valid messages: VERSION, or a write */
#define MAX_MESSAGE 8192

/*
 * Limit of the messages of a client in one turn of the event loop, besides
 * NIC_TURN_NS
 */
#define TURN_MESSAGES 1024

/* Time for a client to send VERSION, because it keeps others from the NIC */
#define HANDSHAKE_SECONDS 5

#define MAX_REPLY (sizeof(struct vfu_header) + VFU_MAX_REPLY)

/**
 * struct vfu_turn - a client's turn
 * @end: when it has to end, in ns
 * @messages: messages so far
 * @doorbells: doorbells since the last look at the clock
 */
struct vfu_turn {
	uint64_t end;
	unsigned int messages;
	unsigned int doorbells;
};

/* @result: bytes of payload behind the header, or -errno */
static void vfio_user_reply(struct vfu_server *server,
			    const struct vfu_header *to, int result)
{
	struct vfu_header hdr = {
		.id = to->id,
		.command = to->command,
		.size = sizeof(hdr),
		.flags = VFU_TYPE_REPLY,
	};

	if (to->flags & VFU_NO_REPLY) {
		if (result < 0)
			log_line(server->log,
				 "posted command %u from the client failed: %s",
				 to->command, strerror(-result));
		return;
	}
	if (result < 0) {
		hdr.flags |= VFU_ERROR;
		hdr.error = -result;
	} else {
		hdr.size += result;
	}
	memcpy(server->tx + server->tx_len, &hdr, sizeof(hdr));
	server->tx_len += hdr.size;
}

/* Moves the files of a message that ends at @end to @req */
static int vfio_user_take_fds(struct vfu_server *server, size_t end,
			      struct vfu_request *req)
{
	size_t n = 0;

	while (n < server->num_fds && server->fds[n].at < end)
		n++;
	for (size_t i = 0; i < n; i++) {
		if (i < VFU_MAX_FDS)
			req->fds[req->num_fds++] = server->fds[i].fd;
		else
			helper_close(server->helper, server->fds[i].fd);
	}
	server->num_fds -= n;
	memmove(server->fds, server->fds + n,
		server->num_fds * sizeof(*server->fds));
	return n > VFU_MAX_FDS ? -E2BIG : 0;
}

/* Handles a whole message, which ends at index @end of the input */
static void vfio_user_handle_message(struct vfu_server *server,
				     const struct vfu_header *hdr,
				     const uint8_t *payload, size_t end)
{
	struct vfu_request req;
	int result = 0;

	req.data = payload;
	req.len = hdr->size - sizeof(*hdr);
	req.num_fds = 0;
	req.reply = server->tx + server->tx_len + sizeof(*hdr);
	if (server->num_fds)
		result = vfio_user_take_fds(server, end, &req);

	switch (hdr->flags & VFU_TYPE_MASK) {
	case VFU_TYPE_COMMAND:
		if (!result)
			result = vfu_handle(server, hdr->command, &req);
		vfio_user_reply(server, hdr, result);
		break;
	case VFU_TYPE_REPLY:
		log_line(server->log, "the client replied to nothing");
		break;
	default:
		vfio_user_reply(server, hdr, -EINVAL);
	}

	for (size_t i = 0; i < req.num_fds; i++)
		if (req.fds[i] >= 0)
			helper_close(server->helper, req.fds[i]);
}

static void vfio_user_close_fds(struct vfu_server *server)
{
	for (size_t i = 0; i < server->num_fds; i++)
		helper_close(server->helper, server->fds[i].fd);
	server->num_fds = 0;
}

static void vfio_user_set_handshake(struct vfu_server *server, time_t seconds)
{
	struct itimerspec when = { .it_value.tv_sec = seconds };

	timerfd_settime(server->handshake_fd, 0, &when, NULL);
}

static void vfio_user_end_session(struct vfu_server *server)
{
	events_remove(server->events, server->fd);
	/*
	 * The client sees the end at once, though closing may take long because
	 * of files in the socket.
	 */
	shutdown(server->fd, SHUT_RDWR);
	helper_close(server->helper, server->fd);
	server->fd = -1;
	vfio_user_close_fds(server);
	vfio_user_set_handshake(server, 0);
	pci_reset(server->pci);
	irq_release(&server->pci->irq);
	dma_maps_clear(server->maps);
	server->maps->spoilt = false;
}

/* The next client must find all resources available. */
static void vfio_user_listen_again(struct vfu_server *server)
{
	if (server->listening || server->fd >= 0 ||
	    !helper_is_idle(server->helper))
		return;
	server->listening = !events_add(server->events, &server->listener,
					server->listen_fd, EPOLLIN);
}

static void vfio_user_disconnect(struct vfu_server *server)
{
	vfio_user_end_session(server);
	vfio_user_listen_again(server);
}

static bool vfio_user_tx_has_room(const struct vfu_server *server)
{
	return BUFFER_SIZE - server->tx_len >= MAX_REPLY;
}

/* Closes the files of messages that end at @end or before */
static void vfio_user_drop_fds(struct vfu_server *server, size_t end)
{
	struct vfu_request none = { .num_fds = 0 };

	vfio_user_take_fds(server, end, &none);
	for (size_t i = 0; i < none.num_fds; i++)
		helper_close(server->helper, none.fds[i]);
}

/* Removes the first @n bytes of the input */
static void vfio_user_consume(struct vfu_server *server, size_t n)
{
	for (size_t i = 0; i < server->num_fds; i++)
		server->fds[i].at -= n;
	server->rx_len -= n;
	memmove(server->rx, server->rx + n, server->rx_len);
}

/*
 * Doorbells of QPs and CQs mostly take less time than reading the clock. Those
 * of EQs raise interrupts, and those of tag rings execute all operations.
 */
static bool vfio_user_is_doorbell(const struct vfu_header *hdr,
				  const uint8_t *payload)
{
	struct vfu_region_access access;
	uint64_t offset;

	if (hdr->command != VFU_REGION_WRITE ||
	    hdr->size < sizeof(*hdr) + sizeof(access))
		return false;
	memcpy(&access, payload, sizeof(access));
	offset = access.offset % MYNIC_UAR_SIZE;
	return access.region == MYNIC_BAR_UAR &&
	       (offset == MYNIC_UAR_QP_DB || offset == MYNIC_UAR_CQ_DB);
}

/*
 * Whether the next message has to wait for the next turn. Each turn has at
 * least one. Several doorbells share a look at the clock, because few of them
 * raise interrupts.
 */
static bool vfio_user_turn_is_over(struct vfu_turn *turn,
				   const struct vfu_header *hdr,
				   const uint8_t *payload)
{
	unsigned int done = turn->messages++;

	if (done == TURN_MESSAGES)
		return true;
	if (!done || (vfio_user_is_doorbell(hdr, payload) &&
		      ++turn->doorbells < TURN_LOOK))
		return false;
	turn->doorbells = 0;
	return clock_ns() >= turn->end;
}

/*
 * Handle the whole messages in the input, as many as there is time and room
 * for in a turn that began at @start.
 *
 * Return: true if more may be left.
 */
static bool vfio_user_handle_input(struct vfu_server *server, uint64_t start)
{
	struct vfu_turn turn = { .end = start + NIC_TURN_NS };
	const uint8_t *payload;
	bool more = true;
	size_t at = 0;

	while (vfio_user_tx_has_room(server)) {
		size_t len = server->rx_len - at;
		struct vfu_header hdr;

		if (server->skip) {
			size_t n = min_u64(server->skip, len);

			server->skip -= n;
			at += n;
			len -= n;
			vfio_user_drop_fds(server, at);
		}
		more = false;
		if (len < sizeof(hdr))
			break;
		memcpy(&hdr, server->rx + at, sizeof(hdr));
		if (hdr.size < sizeof(hdr)) {
			log_line(server->log,
				 "disconnecting: a message of %u bytes",
				 hdr.size);
			vfio_user_disconnect(server);
			return false;
		}
		if (hdr.size > MAX_MESSAGE) {
			vfio_user_reply(server, &hdr, -E2BIG);
			server->skip = hdr.size;
			more = true;
			continue;
		}
		if (len < hdr.size)
			break;
		more = true;
		payload = server->rx + at + sizeof(hdr);
		if (vfio_user_turn_is_over(&turn, &hdr, payload))
			break;
		vfio_user_handle_message(server, &hdr, payload, at + hdr.size);
		at += hdr.size;
	}
	vfio_user_consume(server, at);
	return more;
}

/*
 * Waits for what the client has to do next, or returns at once if there is work
 */
static void vfio_user_update_mask(struct vfu_server *server)
{
	uint32_t mask = EPOLLIN;

	if (server->tx_wait)
		mask = EPOLLOUT;
	else if (server->backlog)
		mask = EPOLLIN | EPOLLOUT; /* returns at once */
	else if (helper_is_behind(server->helper))
		mask = 0;
	if (mask == server->mask)
		return;
	server->mask = mask;
	events_change(server->events, &server->client, server->fd, mask);
}

/* Sends as much as possible. Returns false if the client is gone */
static bool vfio_user_send_replies(struct vfu_server *server)
{
	size_t sent = 0;

	while (sent < server->tx_len) {
		ssize_t n = send(server->fd, server->tx + sent,
				 server->tx_len - sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			vfio_user_disconnect(server);
			return false;
		}
		sent += n;
	}
	server->tx_len -= sent;
	memmove(server->tx, server->tx + sent, server->tx_len);
	server->tx_wait = server->tx_len;
	return true;
}

/* Keeps the files that came with the input up to rx_len */
static int vfio_user_keep_fds(struct vfu_server *server, struct msghdr *msg)
{
	struct cmsghdr *cmsg;
	int err = 0;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		size_t n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		int fds[VFU_MAX_FDS_AT_ONCE];

		if (cmsg->cmsg_level != SOL_SOCKET ||
		    cmsg->cmsg_type != SCM_RIGHTS || n > VFU_MAX_FDS_AT_ONCE)
			continue;
		if (n > VFU_MAX_FDS)
			err = -E2BIG;
		memcpy(fds, CMSG_DATA(cmsg), n * sizeof(int));
		for (size_t i = 0; i < n; i++) {
			struct vfu_fd *kept = &server->fds[server->num_fds];

			if (server->num_fds == 2 * VFU_MAX_FDS) {
				helper_close(server->helper, fds[i]);
				err = -E2BIG;
				continue;
			}
			*kept = (struct vfu_fd){ fds[i], server->rx_len - 1 };
			server->num_fds++;
		}
	}
	return msg->msg_flags & MSG_CTRUNC ? -E2BIG : err;
}

/*
 * Read once. The kernel ends a read after the data that files arrived with, so
 * they belong to the message of the last byte. Without room for them, the
 * kernel would close files itself, however long that takes.
 *
 * Return: true if the client is still there.
 */
static bool vfio_user_receive(struct vfu_server *server)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(VFU_MAX_FDS_AT_ONCE * sizeof(int))];
	} control;
	struct iovec iov = {
		.iov_base = server->rx + server->rx_len,
		.iov_len = BUFFER_SIZE - server->rx_len,
	};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	ssize_t n;

	n = recvmsg(server->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0) {
		vfio_user_disconnect(server);
		return false;
	}
	server->rx_len += n;
	if (msg.msg_controllen && vfio_user_keep_fds(server, &msg)) {
		log_line(server->log,
			 "disconnecting: too many file descriptors");
		vfio_user_disconnect(server);
		return false;
	}
	return true;
}

static void vfio_user_serve(struct vfu_server *server, uint32_t events,
			    uint64_t start)
{
	bool silent = !server->negotiated;

	if (!server->mask && events & (EPOLLERR | EPOLLHUP)) {
		vfio_user_disconnect(server);
		return;
	}
	if (server->tx_wait) {
		if (!vfio_user_send_replies(server))
			return;
	} else if (!server->backlog && !vfio_user_receive(server)) {
		return;
	}
	server->backlog = vfio_user_handle_input(server, start);
	if (server->fd < 0 || !vfio_user_send_replies(server))
		return;
	if (silent && server->negotiated)
		vfio_user_set_handshake(server, 0);
	vfio_user_update_mask(server);
}

static void vfio_user_client_ready(void *owner, uint32_t events)
{
	struct vfu_server *server = owner;
	struct switch_port *port = server->port;
	uint64_t start = clock_ns();

	if (server->fd < 0)
		return;
	vfio_user_serve(server, events, start);
	fair_share_spent(&port->sw->fair_clock, &port->share,
			 clock_ns() - start);
}

static void vfio_user_listener_ready(void *owner, uint32_t events)
{
	struct vfu_server *server = owner;
	int fd;

	(void)events;
	if (server->fd >= 0)
		return;
	fd = listener_accept(server->events, server->listen_fd, server->helper);
	if (fd < 0)
		return;
	if (events_add(server->events, &server->client, fd, EPOLLIN)) {
		helper_close(server->helper, fd);
		return;
	}
	/* The next client waits until this one has gone. */
	events_remove(server->events, server->listen_fd);
	server->listening = false;
	server->fd = fd;
	server->mask = EPOLLIN;
	server->negotiated = false;
	server->backlog = false;
	server->rx_len = 0;
	server->skip = 0;
	server->tx_len = 0;
	server->tx_wait = false;
	vfio_user_set_handshake(server, HANDSHAKE_SECONDS);
}

static void vfio_user_handshake_ready(void *owner, uint32_t events)
{
	struct vfu_server *server = owner;
	uint64_t times;

	(void)events;
	if (read(server->handshake_fd, &times, sizeof(times)) < 0 ||
	    server->fd < 0 || server->negotiated)
		return;
	log_line(server->log, "disconnecting: the client says nothing");
	vfio_user_disconnect(server);
}

void vfu_helper_ready(struct vfu_server *server)
{
	if (server->fd < 0) {
		vfio_user_listen_again(server);
	} else if (server->maps->spoilt) {
		log_line(
			server->log,
			"disconnecting: the client took memory away that it shares");
		vfio_user_disconnect(server);
	} else {
		vfio_user_update_mask(server);
	}
}

static int vfio_user_open_handshake(struct vfu_server *server)
{
	int err;

	server->handshake_fd =
		timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (server->handshake_fd < 0)
		return -errno;
	err = events_add(server->events, &server->handshake,
			 server->handshake_fd, EPOLLIN);
	if (err)
		close(server->handshake_fd);
	return err;
}

static int vfio_user_open_listener(struct vfu_server *server)
{
	int err;

	server->listen_fd = unix_bind(SOCK_STREAM, server->path, server->mode);
	if (server->listen_fd < 0)
		return server->listen_fd;
	err = events_add(server->events, &server->listener, server->listen_fd,
			 EPOLLIN);
	if (!err) {
		server->listening = true;
		return 0;
	}
	close(server->listen_fd);
	unlink(server->path);
	return err;
}

int vfu_listen(struct vfu_server *server)
{
	int err = -ENOMEM;

	server->listener =
		(struct event_source){ vfio_user_listener_ready, server };
	server->client =
		(struct event_source){ vfio_user_client_ready, server };
	server->handshake =
		(struct event_source){ vfio_user_handshake_ready, server };
	server->fd = -1;
	server->num_fds = 0;
	server->rx = malloc(BUFFER_SIZE);
	server->tx = malloc(BUFFER_SIZE);
	if (server->rx && server->tx)
		err = vfio_user_open_handshake(server);
	if (err)
		goto err_buffers;
	err = vfio_user_open_listener(server);
	if (!err)
		return 0;
	close(server->handshake_fd);
err_buffers:
	free(server->rx);
	free(server->tx);
	return err;
}

void vfu_close(struct vfu_server *server)
{
	unlink(server->path);
	if (server->fd >= 0)
		vfio_user_end_session(server);
	close(server->listen_fd);
	close(server->handshake_fd);
	free(server->rx);
	free(server->tx);
}
