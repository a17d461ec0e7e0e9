// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "card.h"
#include "events.h"
#include "loop.h"
#include "mynic_regs.h"
#include "switch.h"

#define EXIT_USAGE 2

static const char help[] =
	"Usage: mynic-device --nic socket=PATH[,mac=MAC] [--nic ...]\n"
	"Be one or more mynic RDMA NICs, joined by an Ethernet switch, each for\n"
	"a virtual machine to attach over vfio-user.\n"
	"\n"
	"  --nic socket=PATH[,mac=MAC]  one NIC: the UNIX socket that it is\n"
	"                               offered on, without a comma in its\n"
	"                               name, and its permanent MAC (default:\n"
	"                               02:6d:79:6e:69:NN, where NN is the\n"
	"                               NIC's number, from 1)\n"
	"  --exit-with-parent           end when the parent process ends\n"
	"  --help                       print this\n"
	"  --version                    print the version of the hardware\n"
	"                               interface\n"
	"\n"
	"Prints \"ready\" when all sockets are there and runs until SIGTERM or\n"
	"SIGINT. A NIC whose client has gone is reset and waits for the next.\n"
	"Exit status: 0 after a signal, 1 if it could not start, 2 for a wrong\n"
	"command line.\n"
	"\n"
	"QEMU: -device '{\"driver\":\"vfio-user-pci\",\n"
	"                \"socket\":{\"type\":\"unix\",\"path\":\"PATH\"}}'\n"
	"with guest memory that can be shared (memory-backend-memfd,share=on).\n";

/**
 * struct nic_args - what --nic says
 * @path: of the socket
 * @mac: permanent MAC
 */
struct nic_args {
	const char *path;
	uint8_t mac[6];
};

/**
 * struct args - the command line
 * @nics: NICs, in order
 * @num: of @nics
 * @exit_with_parent: see the help
 */
struct args {
	struct nic_args nics[SWITCH_MAX_PORTS];
	unsigned int num;
	bool exit_with_parent;
};

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

static void __attribute__((noreturn, format(printf, 1, 2)))
usage(const char *format, ...)
{
	va_list args;

	fputs("mynic-device: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("\nTry mynic-device --help\n", stderr);
	exit(EXIT_USAGE);
}

static bool parse_mac(const char *text, uint8_t mac[6])
{
	static const uint8_t zero[6];
	int len = 0;

	return sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0],
		      &mac[1], &mac[2], &mac[3], &mac[4], &mac[5], &len) == 6 &&
	       len == 17 && !text[len] && !(mac[0] & 1) &&
	       memcmp(mac, zero, sizeof(zero));
}

static void parse_nic(struct args *args, char *text)
{
	enum { SOCKET, MAC };
	char *const keys[] = { [SOCKET] = "socket", [MAC] = "mac", NULL };
	struct nic_args *nic = &args->nics[args->num];
	char *value;

	if (args->num == SWITCH_MAX_PORTS)
		usage("more than %d NICs", SWITCH_MAX_PORTS);
	args->num++;
	memcpy(nic->mac, (uint8_t[]){ 0x02, 'm', 'y', 'n', 'i', args->num }, 6);
	while (*text) {
		switch (getsubopt(&text, keys, &value)) {
		case SOCKET:
			nic->path = value;
			break;
		case MAC:
			if (!value || !parse_mac(value, nic->mac))
				usage("%s is not a unicast MAC",
				      value ? value : "nothing");
			break;
		default:
			usage("--nic knows no \"%s\"", value);
		}
	}
	if (!nic->path || !*nic->path)
		usage("NIC %u has no socket", args->num);
}

static void check_macs(const struct args *args)
{
	for (unsigned int i = 0; i < args->num; i++)
		for (unsigned int j = 0; j < i; j++)
			if (!memcmp(args->nics[i].mac, args->nics[j].mac, 6))
				usage("NICs %u and %u have the same MAC", j + 1,
				      i + 1);
}

static void parse_args(struct args *args, int argc, char **argv)
{
	static const struct option options[] = {
		{ "nic", required_argument, NULL, 'n' },
		{ "exit-with-parent", no_argument, NULL, 'e' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{}
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'n':
			parse_nic(args, optarg);
			break;
		case 'e':
			args->exit_with_parent = true;
			break;
		case 'h':
			fputs(help, stdout);
			exit(0);
		case 'v':
			printf("mynic-device: mynic hardware interface %d.%d\n",
			       MYNIC_VERSION_MAJOR, MYNIC_VERSION_MINOR);
			exit(0);
		default:
			fputs("Try mynic-device --help\n", stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc)
		usage("what is \"%s\"?", argv[optind]);
	if (!args->num)
		usage("no --nic");
	check_macs(args);
}

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
	struct card *cards = calloc(args->num, sizeof(*cards));

	if (!cards) {
		fprintf(stderr, "mynic-device: no memory\n");
		return NULL;
	}
	for (unsigned int i = 0; i < args->num; i++) {
		const struct nic_args *nic = &args->nics[i];
		int err = card_open(&cards[i], i + 1, nic->mac, nic->path,
				    events, sw);

		if (!err)
			continue;
		fprintf(stderr, "mynic-device: NIC %u: %s: %s\n", i + 1,
			nic->path, strerror(-err));
		close_cards(cards, i);
		return NULL;
	}
	return cards;
}

int main(int argc, char **argv)
{
	static struct args args;
	struct net_switch sw = {};
	struct signals signals = {};
	pid_t parent = getppid();
	struct events events;
	struct card *cards;
	int err;

	parse_args(&args, argc, argv);
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

	puts("ready");
	fflush(stdout);
	loop_run(&events, &sw, &signals.stop);

	close_cards(cards, args.num);
	close(signals.fd);
	events_release(&events);
	return 0;
}
