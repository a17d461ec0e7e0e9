// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Accepting of connections. A spare file descriptor makes it possible to refuse
 * one when no other is available.
 */

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "events.h"
#include "helper.h"
#include "listener.h"

static int listener_spare_file(void)
{
	return eventfd(0, EFD_CLOEXEC);
}

static int listener_accept_one(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

int listener_accept(struct events *events, int listener, struct helper *helper)
{
	int refused;
	int fd;

	if (events->spare < 0)
		events->spare = listener_spare_file();
	fd = listener_accept_one(listener);
	if (fd >= 0)
		events->refused = false;
	if (fd != -EMFILE && fd != -ENFILE)
		return fd;
	if (events->spare >= 0)
		close(events->spare);
	refused = listener_accept_one(listener);
	if (refused >= 0 && helper)
		helper_close(helper, refused);
	else if (refused >= 0)
		close(refused);
	events->spare = listener_spare_file();
	if (!events->refused)
		log_line(&events->log, "refused: %s", strerror(-fd));
	events->refused = true;
	return fd;
}
