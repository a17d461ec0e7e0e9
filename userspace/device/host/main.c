// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "args.h"
#include "card.h"
#include "events.h"
#include "loop.h"
#include "switch.h"

/**
 * struct signals - SIGTERM and SIGINT
 * @source: event source of @fd
 * @fd: signalfd
 * @stop: one came
 */
struct signals {
	struct event_source source;
	int fd;
	bool stop;
};

static void signals_ready(void *owner, uint32_t events)
{
	struct signals *signals = owner;

	(void)events;
	signals->stop = true;
}

static int signals_init(struct signals *signals, struct events *events)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* An eventfd can turn out to be a pipe that nobody reads. */
	signal(SIGPIPE, SIG_IGN);
	signals->source = (struct event_source){ signals_ready, signals };
	signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals->fd < 0)
		return -errno;
	return events_add(events, &signals->source, signals->fd, EPOLLIN);
}

static void exit_with_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* It may have gone before that. */
	if (getppid() != parent)
		exit(0);
}

/* Each NIC can need an eventfd per vector. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void close_cards(struct card *cards, unsigned int num)
{
	for (unsigned int i = 0; i < num; i++)
		card_close(&cards[i]);
	free(cards);
}

static struct card *open_cards(const struct args *args, struct events *events,
			       struct net_switch *sw)
{
	struct card *cards = calloc(args->num_nics, sizeof(*cards));

	if (!cards) {
		fprintf(stderr, "mynic-device: no memory\n");
		return NULL;
	}
	for (unsigned int i = 0; i < args->num_nics; i++) {
		const struct nic_args *nic = &args->nics[i];
		int err = card_open(&cards[i], nic->name, nic->mac, nic->path,
				    events, sw);

		if (!err)
			continue;
		fprintf(stderr, "mynic-device: %s: %s: %s\n", nic->name,
			nic->path, strerror(-err));
		close_cards(cards, i);
		return NULL;
	}
	return cards;
}

int main(int argc, char **argv)
{
	static struct net_switch sw;
	static struct args args;
	struct signals signals = {};
	pid_t parent = getppid();
	struct events events;
	struct card *cards;
	int err;

	args_parse(&args, argc, argv);
	err = events_init(&events);
	if (!err)
		err = signals_init(&signals, &events);
	if (err) {
		fprintf(stderr, "mynic-device: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	if (args.exit_with_parent)
		exit_with_parent(parent);
	raise_file_limit();
	cards = open_cards(&args, &events, &sw);
	if (!cards)
		return EXIT_FAILURE;

	switch_update_links(&sw);
	puts("ready");
	fflush(stdout);
	loop_run(&events, &sw, &signals.stop);

	close_cards(cards, args.num_nics);
	close(signals.fd);
	events_release(&events);
	return 0;
}
