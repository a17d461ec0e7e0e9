// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Events: of completion queues, through channels, and asynchronous ones */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

/** wait_for() - wait until a file can be read. Return: whether it can be */
bool wait_for(int fd)
{
	struct pollfd file = { .fd = fd, .events = POLLIN };

	return poll(&file, 1, PATIENCE * 1000) > 0;
}

static int no_blocking(int fd)
{
	return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static int create_channel(const struct line *line)
{
	struct object *obj = object(line, line->target);
	struct node *node = node_of(line, &obj->node);
	struct ibv_comp_channel *channel;

	errno = 0;
	channel = ibv_create_comp_channel(node->ctx);
	if (channel && no_blocking(channel->fd))
		fail(line, "%s", strerror(errno));
	return made(obj, channel);
}

static int req_notify_cq(const struct line *line)
{
	return ibv_req_notify_cq(live(line, KIND_CQ, line->target),
				 number(line, "solicited", 0));
}

/* Remove a pointer from a list. Return: whether it is there */
static bool strike(void **list, unsigned int n, const void *ptr)
{
	for (unsigned int i = 0; i < n; i++)
		if (list[i] == ptr) {
			list[i] = NULL;
			return true;
		}
	return false;
}

static int take_cq_event(const struct line *line, void **due, unsigned int n)
{
	void *context;
	struct ibv_cq *cq;

	if (ibv_get_cq_event(live(line, KIND_CHANNEL, line->target), &cq,
			     &context))
		return -1;
	if (!strike(due, n, cq))
		fail(line, "a completion queue has an event that is not due");
	if (context != cq->cq_context)
		fail(line, "an event has another context than its queue");
	return 0;
}

/* One event for each cq=, in any order, and then no other */
static void get_cq_event(const struct line *line)
{
	struct ibv_comp_channel *channel =
		live(line, KIND_CHANNEL, line->target);
	void *due[MAX_ARGS];
	unsigned int n = line->num_args;
	int err;

	for (unsigned int i = 0; i < n; i++)
		due[i] = live(line, KIND_CQ, line->args[i] + 3);
	for (unsigned int i = 0; i < n; i++) {
		if (!wait_for(channel->fd))
			fail(line, "event %u of %u does not come", i + 1, n);
		if (take_cq_event(line, due, n))
			fail(line, "%s", strerror(errno));
	}
	err = take_cq_event(line, due, n);
	if (err && errno != EAGAIN)
		fail(line, "%s", strerror(errno));
	expect_errno(line, err);
}

static int ack_cq_events(const struct line *line)
{
	ibv_ack_cq_events(live(line, KIND_CQ, line->target),
			  number(line, "n", 1));
	return 0;
}

/**
 * struct due - an asynchronous event that is to come
 * @type: what it says
 * @about: the object, or NULL if it is about a port or the device
 * @port: the port
 * @taken: it has come
 */
struct due {
	enum ibv_event_type type;
	const void *about;
	int port;
	bool taken;
};

/* The type decides which member of the union is valid. */
static bool is_due(const struct due *due, const struct ibv_async_event *event)
{
	if (due->taken || due->type != event->event_type)
		return false;
	if (due->port)
		return due->port == event->element.port_num;
	if (due->about)
		return due->about == event->element.qp;
	return due->type == IBV_EVENT_DEVICE_FATAL;
}

static bool strike_async(struct due *list, unsigned int n,
			 const struct ibv_async_event *event)
{
	for (unsigned int i = 0; i < n; i++)
		if (is_due(&list[i], event)) {
			list[i].taken = true;
			return true;
		}
	return false;
}

/*
 * With late=1 a packet may come that is of a connection before this one. With
 * other=TYPE the device may have such events when it likes.
 */
static bool may_come(const struct line *line,
		     const struct ibv_async_event *event)
{
	for (unsigned int i = 0; i < line->num_args; i++)
		if (!strncmp(line->args[i], "other=", 6) &&
		    strtoul(line->args[i] + 6, NULL, 0) == event->event_type)
			return true;
	return event->event_type == IBV_EVENT_COMM_EST && arg(line, "late");
}

static bool take_async(const struct line *line, struct ibv_context *ctx,
		       struct due *list, unsigned int n)
{
	struct ibv_async_event event;
	bool due;

	do {
		if (ibv_get_async_event(ctx, &event)) {
			if (errno != EAGAIN)
				fail(line, "%s", strerror(errno));
			return false;
		}
		due = strike_async(list, n, &event);
		if (!due && !may_come(line, &event))
			fail(line, "%s is not due",
			     ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	} while (!due);
	return true;
}

static unsigned int parse_due(const struct line *line, struct due *list)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < line->num_args; i++) {
		char *text = line->args[i] + 3, *about;
		struct due *due = &list[n];

		if (strncmp(line->args[i], "ev=", 3))
			continue;
		*due = (struct due){ .type = strtoul(text, &about, 0) };
		about++;
		if (isdigit((unsigned char)*about))
			due->port = strtoul(about, NULL, 0);
		else if (*about != '-')
			due->about = live(line, kind_of(line, about), about);
		n++;
	}
	return n;
}

/* A context, or the first one of a device */
static struct ibv_context *async_context(const struct line *line)
{
	unsigned long node;

	if (!isdigit((unsigned char)*line->target))
		return live(line, KIND_CTX, line->target);
	node = strtoul(line->target, NULL, 0);
	if (node >= NUM_NODES)
		fail(line, "there is no such device");
	return program->nodes[node].ctx;
}

/*
 * One event for each ev=TYPE/OBJECT, ev=TYPE/PORT or ev=TYPE/-, in any order, and
 * then no other
 */
static void get_async_event(const struct line *line)
{
	struct ibv_context *ctx = async_context(line);
	struct due list[MAX_ARGS];
	unsigned int n, taken = 0;

	n = parse_due(line, list);
	if (no_blocking(ctx->async_fd))
		fail(line, "%s", strerror(errno));
	while (taken < n) {
		if (!wait_for(ctx->async_fd))
			for (unsigned int i = 0; i < n; i++)
				if (!list[i].taken)
					fail(line, "%s does not come",
					     ibv_event_type_str(list[i].type));
		taken += take_async(line, ctx, list, n);
	}
	expect_errno(line, take_async(line, ctx, list, n) ? 0 : -1);
}

bool event_call(const struct line *line)
{
	if (!strcmp(line->verb, "create_channel"))
		expect_errno(line, create_channel(line));
	else if (!strcmp(line->verb, "req_notify_cq"))
		expect_errno(line, req_notify_cq(line));
	else if (!strcmp(line->verb, "get_cq_event"))
		get_cq_event(line);
	else if (!strcmp(line->verb, "ack_cq_events"))
		expect_errno(line, ack_cq_events(line));
	else if (!strcmp(line->verb, "get_async_event"))
		get_async_event(line);
	else
		return false;
	return true;
}
