// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The program: start, limits, confinement and end. All objects are made here;
 * the event loop is in loop.c.
 */

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
#include "client_file.h"
#include "commands.h"
#include "confine.h"
#include "control.h"
#include "core/nic.h"
#include "events.h"
#include "fault_rules.h"
#include "loop.h"
#include "switch.h"
#include "wire.h"

/**
 * struct signals - handling of SIGTERM and SIGINT
 * @source: event source of @fd
 * @fd: signalfd
 * @stop: a signal has arrived
 */
struct signals {
	struct event_source source;
	int fd;
	bool stop;
};

static void main_signals_ready(void *owner, uint32_t events)
{
	struct signals *signals = owner;

	(void)events;
	signals->stop = true;
}

static int main_signals_init(struct signals *signals, struct events *events)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* A client's eventfd may turn out to be a pipe without a reader. */
	signal(SIGPIPE, SIG_IGN);
	/* A capture may exceed the limit for the size of files. */
	signal(SIGXFSZ, SIG_IGN);
	signals->source = (struct event_source){ main_signals_ready, signals };
	signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals->fd < 0)
		return -errno;
	return events_add(events, &signals->source, signals->fd, EPOLLIN);
}

static void main_exit_with_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* The parent may have ended before the call. */
	if (getppid() != parent)
		exit(0);
}

/**
 * struct ports - ports of the switch
 * @cards: NICs
 * @num_cards: number of @cards
 * @wires: wires
 * @num_wires: number of @wires
 */
struct ports {
	struct card *cards;
	unsigned int num_cards;
	struct wire *wires;
	unsigned int num_wires;
};

static void main_close_ports(struct ports *ports)
{
	for (unsigned int i = 0; i < ports->num_wires; i++)
		wire_close(&ports->wires[i]);
	for (unsigned int i = 0; i < ports->num_cards; i++)
		card_close(&ports->cards[i]);
	free(ports->wires);
	/*
	 * The memory of cards is not freed, because a helper that hangs still
	 * uses its own.
	 */
}

static bool main_open_cards(struct ports *ports, const struct args *args,
			    struct events *events, struct net_switch *sw)
{
	for (unsigned int i = 0; i < args->num_nics; i++) {
		const struct nic_args *nic = &args->nics[i];
		struct card_config config = {
			.name = nic->name,
			.path = nic->path,
			.mode = args->socket_mode,
			.max_maps = DMA_MAPS_TOTAL / args->num_nics,
			.disk = nic->disk,
			.memory = nic->memory,
			.trusted = nic->trusted,
		};
		int err;

		memcpy(config.mac, nic->mac, sizeof(config.mac));
		err = card_open(&ports->cards[i], &config, events, sw);

		if (err) {
			fprintf(stderr, "mynic-device: %s: %s: %s\n", nic->name,
				nic->path, strerror(-err));
			return false;
		}
		ports->num_cards++;
	}
	return true;
}

static int main_start_cards(struct ports *ports)
{
	for (unsigned int i = 0; i < ports->num_cards; i++) {
		int err = card_start(&ports->cards[i]);

		if (!err)
			continue;
		fprintf(stderr,
			"mynic-device: %s: cannot start its helper: %s\n",
			ports->cards[i].log.name, strerror(-err));
		return EXIT_FAILURE;
	}
	return 0;
}

static bool main_open_wires(struct ports *ports, const struct args *args,
			    struct events *events, struct net_switch *sw)
{
	for (unsigned int i = 0; i < args->num_wires; i++) {
		if (wire_open(&ports->wires[i], &args->wires[i].config, events,
			      sw))
			return false;
		ports->num_wires++;
	}
	return true;
}

/* Reports the error if it fails. */
static bool main_open_ports(struct ports *ports, const struct args *args,
			    struct events *events, struct net_switch *sw)
{
	*ports = (struct ports){
		.cards = calloc(args->num_nics + 1, sizeof(*ports->cards)),
		.wires = calloc(args->num_wires + 1, sizeof(*ports->wires)),
	};
	if (!ports->cards || !ports->wires)
		fprintf(stderr, "mynic-device: no memory\n");
	else if (main_open_cards(ports, args, events, sw) &&
		 main_open_wires(ports, args, events, sw))
		return true;
	main_close_ports(ports);
	return false;
}

/* Returns 0, or the exit status after the error was reported */
static int main_start_faults(struct commands *commands, const struct args *args)
{
	char error[WIRE_FAULTS_ERROR_SIZE];

	for (unsigned int i = 0; i < args->num_faults; i++) {
		if (fault_rules_add(&commands->wire_faults, args->faults[i],
				    error))
			continue;
		fprintf(stderr, "mynic-device: --fault %s: %s\n",
			args->faults[i], error);
		return EXIT_USAGE;
	}
	return 0;
}

static bool main_start_capture(struct commands *commands,
			       const struct capture_args *capture, char *error)
{
	if (capture->file)
		return commands_capture(commands, capture->port, capture->file,
					error);
	return commands_capture_fd(commands, capture->port, capture->fd, error);
}

static int main_start_captures(struct commands *commands,
			       const struct args *args)
{
	char error[COMMANDS_ERROR_SIZE];

	for (unsigned int i = 0; i < args->num_captures; i++) {
		const struct capture_args *capture = &args->captures[i];

		if (main_start_capture(commands, capture, error))
			continue;
		fprintf(stderr, "mynic-device: --capture %s: %s\n",
			capture->port, error);
		return commands_has_port(commands, capture->port) ?
			       EXIT_FAILURE :
			       EXIT_USAGE;
	}
	return 0;
}

static int main_start_control(struct control *control,
			      struct commands *commands,
			      const struct args *args, struct events *events)
{
	int err;

	if (!args->control)
		return 0;
	err = control_open(control, args->control, args->socket_mode, commands,
			   events);
	if (!err)
		return 0;
	fprintf(stderr, "mynic-device: --control %s: %s\n", args->control,
		strerror(-err));
	return EXIT_FAILURE;
}

/* Bytes for each NIC: its packet queue, and the table of its DMA maps */
#define NIC_BYTES (32UL << 20)

/* Bytes for each wire: its frame queue, and its input */
#define WIRE_BYTES (48UL << 20)

/*
 * Bytes for each port: packets held by wire faults, as much again, and a
 * capture
 */
#define PORT_BYTES (2 * (64UL << 20) + (8UL << 20))

/* Bytes for answers to the control socket, and all that is small */
#define OTHER_BYTES (64UL << 20)

/*
 * Files of a client: sockets, interrupts, and those that are still to be closed
 */
#define NIC_FILES \
	(16 + MYNIC_MAX_VECTORS + HELPER_MAX_FILES + 2 * VFU_MAX_FDS_AT_ONCE)
#define WIRE_FILES 8
#define OTHER_FILES (64 + CONTROL_MAX_CLIENTS)

static size_t main_bytes_needed(const struct args *args)
{
	unsigned int num_ports = args->num_nics + args->num_wires;
	size_t objects = 0;

	for (unsigned int i = 0; i < args->num_nics; i++)
		objects += args->nics[i].memory ? args->nics[i].memory :
						  NIC_MEMORY;
	/* Doubled, because malloc() takes more than it gives */
	return 2 * objects + args->num_nics * NIC_BYTES +
	       args->num_wires * WIRE_BYTES + num_ports * PORT_BYTES +
	       OTHER_BYTES;
}

static size_t main_files_needed(const struct args *args)
{
	return args->num_nics * NIC_FILES + args->num_wires * WIRE_FILES +
	       OTHER_FILES;
}

/*
 * Without enough file descriptors, one client could take those of others.
 * Returns false after it has reported that the limit is too low.
 */
static bool main_raise_file_limit(const struct args *args)
{
	size_t needed = main_files_needed(args);
	struct rlimit limit;
	rlim_t hard;

	if (getrlimit(RLIMIT_NOFILE, &limit)) {
		fprintf(stderr, "mynic-device: %s\n", strerror(errno));
		return false;
	}
	hard = limit.rlim_max;
	if (hard < needed)
		limit.rlim_max = needed;
	limit.rlim_cur = limit.rlim_max;
	/* A privileged process may raise the hard limit, too */
	if (setrlimit(RLIMIT_NOFILE, &limit)) {
		fprintf(stderr,
			"mynic-device: %u NICs and %u wires need up to %zu open files, and the hard limit is %llu\n",
			args->num_nics, args->num_wires, needed,
			(unsigned long long)hard);
		return false;
	}
	return true;
}

/* No more threads are needed after the helpers. Returns the exit status */
static int main_confine_process(const struct args *args, struct ports *ports)
{
	int status;
	int err;

	err = confine_privileges();
	if (!err)
		err = confine_resources(main_bytes_needed(args),
					main_files_needed(args));
	if (!err) {
		status = main_start_cards(ports);
		if (status)
			return status;
		err = confine_system_calls();
	}
	if (!err)
		return 0;
	fprintf(stderr, "mynic-device: cannot confine itself: %s\n",
		strerror(-err));
	return EXIT_FAILURE;
}

/* stdio would call fstat(), which is not allowed any more. */
static void main_say_ready(void)
{
	static const char text[] = "ready\n";

	/* Without a reader, nobody waits for the line. */
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		return;
}

/* Runs until a signal arrives. Returns the exit status */
static int main_run(const struct args *args, struct ports *ports,
		    const struct loop *loop, const bool *stop)
{
	static struct commands commands;
	static struct control control;
	int status;

	commands_init(&commands, loop->sw, loop->events);
	status = main_start_faults(&commands, args);
	if (!status)
		status = main_start_captures(&commands, args);
	if (!status)
		status = main_start_control(&control, &commands, args,
					    loop->events);
	if (!status)
		status = main_confine_process(args, ports);
	if (!status) {
		switch_update_links(loop->sw);
		main_say_ready();
		loop_run(loop, stop);
		if (args->control)
			control_close(&control);
	}
	commands_release(&commands);
	return status;
}

int main(int argc, char **argv)
{
	static struct net_switch sw;
	static struct args args;
	static struct ports ports;
	struct signals signals = {};
	pid_t parent = getppid();
	struct events events;
	int status;
	int err;

	args_parse(&args, argc, argv);
	log_init();
	err = client_file_init();
	if (!err)
		err = events_init(&events);
	if (!err)
		err = main_signals_init(&signals, &events);
	if (err) {
		fprintf(stderr, "mynic-device: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	if (args.exit_with_parent)
		main_exit_with_parent(parent);
	if (!main_raise_file_limit(&args) ||
	    !main_open_ports(&ports, &args, &events, &sw))
		return EXIT_FAILURE;

	status = main_run(&args, &ports,
			  &(struct loop){ &events, &sw, ports.wires,
					  ports.num_wires },
			  &signals.stop);

	main_close_ports(&ports);
	close(signals.fd);
	events_release(&events);
	return status;
}
