// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The control socket: connections, lines and answers. Commands are in
 * commands.c.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control.h"
#include "listener.h"
#include "unix_socket.h"

static void control_close_client(struct control_client *client)
{
	events_remove(client->control->events, client->fd);
	close(client->fd);
	free(client->answer);
	client->fd = -1;
	client->answer = NULL;
}

/* Returns true if the whole answer was sent and the client is still there */
static bool control_send_answer(struct control_client *client)
{
	ssize_t n;

	while (client->answer && client->sent < client->answer_len) {
		n = send(client->fd, client->answer + client->sent,
			 client->answer_len - client->sent, MSG_NOSIGNAL);
		if (n < 0) {
			if (errno != EAGAIN && errno != EINTR)
				control_close_client(client);
			return false;
		}
		client->sent += n;
	}
	free(client->answer);
	client->answer = NULL;
	return true;
}

/* Returns a stream for an answer, or NULL */
static FILE *control_begin_answer(struct control_client *client)
{
	FILE *out = open_memstream(&client->answer, &client->answer_len);

	client->sent = 0;
	if (!out)
		control_close_client(client);
	return out;
}

static void control_end_answer(struct control_client *client, FILE *out)
{
	if (fclose(out))
		control_close_client(client);
	else
		control_send_answer(client);
}

/* @line: NULL: it is too long */
static void control_answer(struct control_client *client, char *line)
{
	FILE *out = control_begin_answer(client);

	if (!out)
		return;
	if (line)
		commands_run(client->control->commands, line, out,
			     &client->rest);
	else
		fputs("error: the line is too long\n", out);
	control_end_answer(client, out);
}

static void control_go_on(struct control_client *client)
{
	FILE *out = control_begin_answer(client);

	if (!out)
		return;
	commands_go_on(&client->rest, out);
	control_end_answer(client, out);
}

/* Removes the first @len bytes of the input. */
static void control_consume(struct control_client *client, size_t len)
{
	client->used -= len;
	memmove(client->line, client->line + len, client->used);
}

/*
 * Runs at most one command, or its first piece. Other work must go on, and
 * sending the answer may have to wait.
 */
static void control_run_line(struct control_client *client)
{
	char *end = memchr(client->line, '\n', client->used);
	char line[CONTROL_LINE_SIZE];
	size_t len;

	if (!end) {
		if (client->used < sizeof(client->line))
			return;
		client->used = 0;
		if (!client->skip)
			control_answer(client, NULL);
		client->skip = true;
		return;
	}
	len = end - client->line;
	memcpy(line, client->line, len);
	control_consume(client, len + 1);
	if (client->skip) {
		client->skip = false;
		return;
	}
	if (len && line[len - 1] == '\r')
		len--;
	line[len] = '\0';
	control_answer(client, line);
}

static void control_receive(struct control_client *client)
{
	ssize_t n;

	n = recv(client->fd, client->line + client->used,
		 sizeof(client->line) - client->used, 0);
	if (n > 0)
		client->used += n;
	else if (n == 0)
		client->eof = true;
	else if (errno != EAGAIN && errno != EINTR)
		control_close_client(client);
}

static bool control_has_line(const struct control_client *client)
{
	return memchr(client->line, '\n', client->used);
}

static void control_client_ready(void *owner, uint32_t events)
{
	struct control_client *client = owner;
	bool more;

	(void)events;
	/* An earlier event may have closed the connection. */
	if (client->fd < 0 || !control_send_answer(client))
		return;
	if (client->rest.step) {
		control_go_on(client);
	} else {
		if (!control_has_line(client) && !client->eof)
			control_receive(client);
		if (client->fd >= 0)
			control_run_line(client);
	}
	if (client->fd < 0)
		return;
	more = client->answer || client->rest.step || control_has_line(client);
	if (!more && client->eof)
		control_close_client(client);
	else
		/*
		 * EPOLLOUT brings the next event at once if there is room for
		 * an answer.
		 */
		events_change(client->control->events, &client->source,
			      client->fd, more ? EPOLLOUT : EPOLLIN);
}

static struct control_client *control_free_client(struct control *control)
{
	for (unsigned int i = 0; i < CONTROL_MAX_CLIENTS; i++)
		if (control->clients[i].fd < 0)
			return &control->clients[i];
	return NULL;
}

static void control_refuse(int fd)
{
	static const char text[] = "error: there are too many clients\n";

	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		return; /* the client sees that the connection is closed */
}

static void control_listen_ready(void *owner, uint32_t events)
{
	struct control *control = owner;
	struct control_client *client = control_free_client(control);
	int fd;

	(void)events;
	fd = listener_accept(control->events, control->fd, NULL);
	if (fd < 0)
		return;
	if (!client) {
		control_refuse(fd);
		close(fd);
		return;
	}
	client->fd = fd;
	client->used = 0;
	client->skip = false;
	client->eof = false;
	client->rest = (struct commands_rest){ 0 };
	if (events_add(control->events, &client->source, fd, EPOLLIN)) {
		close(fd);
		client->fd = -1;
	}
}

int control_open(struct control *control, const char *path, unsigned int mode,
		 struct commands *commands, struct events *events)
{
	int err;

	control->events = events;
	control->commands = commands;
	commands->control = path;
	control->path = path;
	control->source =
		(struct event_source){ control_listen_ready, control };
	for (unsigned int i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		struct control_client *client = &control->clients[i];

		client->control = control;
		client->source =
			(struct event_source){ control_client_ready, client };
		client->fd = -1;
		client->answer = NULL;
	}
	control->fd = unix_bind(SOCK_STREAM, path, mode);
	if (control->fd >= 0)
		unix_refuse_files(control->fd);
	if (control->fd < 0)
		return control->fd;
	err = events_add(events, &control->source, control->fd, EPOLLIN);
	if (err) {
		close(control->fd);
		unlink(path);
	}
	return err;
}

void control_close(struct control *control)
{
	for (unsigned int i = 0; i < CONTROL_MAX_CLIENTS; i++)
		if (control->clients[i].fd >= 0)
			control_close_client(&control->clients[i]);
	events_remove(control->events, control->fd);
	close(control->fd);
	unlink(control->path);
}
