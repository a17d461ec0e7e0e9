// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Sends a command to a running mynic-device and prints the answer. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "client.h"
#include "metrics.h"
#include "mynic_regs.h"
#include "top.h"

static const char help[] =
	"Usage: mynic-ctl SOCKET COMMAND [ARG]...\n"
	"Sends a command to the mynic-device that was started with\n"
	"--control SOCKET, and prints its answer.\n"
	"\n"
	"  ports                   NICs and wires, and whether they are up\n"
	"  stats [PORT]            all counters\n"
	"  qps [NIC]               queue pairs, a line for each\n"
	"  qp NIC NUMBER           the state of a queue pair\n"
	"  top [--interval S] [--views N]\n"
	"                          rates, and what queue pairs wait for, every\n"
	"                          S seconds (default 2), N times\n"
	"  metrics [--http]        all for Prometheus; --http: as the answer to\n"
	"                          a request on standard input\n"
	"  fault add RULE          add a rule, or a preset; prints number and rule\n"
	"  fault list              all rules, and how often they were applied\n"
	"  fault delete NUMBER     delete one rule\n"
	"  fault clear             delete all rules\n"
	"  link PORT up|down       pull a cable, or put it back\n"
	"  capture PORT FILE|off   record its packets, as pcap\n"
	"  journal on NIC          start the journal of a NIC\n"
	"  journal traffic NIC     likewise, with doorbells, packets and\n"
	"                          completions\n"
	"  journal show NIC        its entries, the oldest first\n"
	"  journal off NIC         end it, and delete its entries\n"
	"  log on|off              a line on mynic-device's stderr for each use\n"
	"                          of a rule\n"
	"  help                    the commands of mynic-device\n"
	"\n"
	"RULE is PORT,kind=KIND[,KEY=VALUE]... with KIND\n"
	"  drop, duplicate, reorder, corrupt, delay, rate, mark or down\n"
	"and KEY\n"
	"  rate=0..1          probability (default 1)\n"
	"  dir=tx|rx          as seen by the NIC or wire (default: both)\n"
	"  qp=N               destination QP\n"
	"  opcode=NAME|0xNN   such as rc-send-only, rc-ack, ud-send-only, cnp\n"
	"  psn=A[-B]          a PSN, or a range, which may wrap\n"
	"  proto=roce|eth|all (default: roce with qp, opcode or psn, else all)\n"
	"  after=N, count=N   skip the first N; apply at most N times\n"
	"  seed=N             seed of the rule's random numbers\n"
	"  time=T             delay, reorder: such as 50us or 2ms\n"
	"  bits=N             corrupt: number of bits (default 1)\n"
	"  bandwidth=B        rate: such as 100Mbit or 1Gbit, and queue=BYTES,\n"
	"                     ecn=BYTES: limits for drops and marks\n"
	"\n"
	"RULE is also NIC,kind=KIND[,KEY=VALUE]..., for faults of a NIC itself,\n"
	"with KIND\n"
	"  completion, qp-error, rnr, command-error, command-delay, irq-lose,\n"
	"  irq-delay, revoke, flap, fatal or vanish\n"
	"and KEY\n"
	"  on=OCCASION        completion, message, command, interrupt, timer, now\n"
	"  every=T            on=timer, so often\n"
	"  qp=N, opcode=NAME  such as write or recv; of a command, CREATE_QP\n"
	"  vector=N           of an interrupt\n"
	"  status=NAME        such as RETRY_EXC_ERR; of a command, NO_RESOURCE\n"
	"  time=T             how long it is late, or down\n"
	"  key=N              revoke: a memory key (default: the newest)\n"
	"  rate, after, count, seed\n"
	"A preset is NIC,preset=NAME[,seed=N] with NAME\n"
	"  flap, rnr-storm, half-open, slow-cq or dying-nic\n"
	"\n"
	"  --help             print this\n"
	"  --version          print the version of the hardware interface\n"
	"\n"
	"Exit status: 0 on success, 1 on failure, 2 for a wrong command line.\n";

static void mynic_ctl_parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{}
	};

	/* "+" leaves all options behind the socket to the command. */
	switch (getopt_long(argc, argv, "+", options, NULL)) {
	case -1:
		break;
	case 'h':
		fputs(help, stdout);
		exit(0);
	case 'v':
		printf("mynic-ctl: mynic hardware interface %d.%d\n",
		       MYNIC_VERSION_MAJOR, MYNIC_VERSION_MINOR);
		exit(0);
	default:
		fputs("Try mynic-ctl --help\n", stderr);
		exit(EXIT_USAGE);
	}
	if (argc - optind < 2)
		die_of_usage("a socket and a command are needed");
}

/**
 * struct command - a command of mynic-ctl's own; all others are mynic-device's
 * @name: its word
 * @run: executes it with the words that follow
 */
struct command {
	const char *name;
	void (*run)(const char *socket, char **words);
};

static const struct command commands[] = {
	{ "top", top_run },
	{ "metrics", metrics_run },
};

static void mynic_ctl_run_on_device(const char *socket, char **words)
{
	FILE *file = client_open(socket);
	char *line = NULL;
	size_t size = 0;

	client_send(file, words);
	while (client_line(file, &line, &size))
		puts(line);
	free(line);
	fclose(file);
}

/* The name of the file is the rest of the line, which may have spaces. */
static void mynic_ctl_run_capture(const char *socket, char **words)
{
	char *path = capture_file(words + 2);
	bool beside;
	char *name = capture_name(socket, path, &beside);
	char *command = beside ? "capture-beside" : "capture";
	struct capture_sight before;

	capture_look(path, &before);
	mynic_ctl_run_on_device(socket,
				(char *[]){ command, words[1], name, NULL });
	capture_check(socket, path, &before);
	free(name);
	free(path);
}

/* Whether these words begin a capture in a file */
static bool mynic_ctl_is_capture(char **words)
{
	return !strcmp(words[0], "capture") && words[1] && words[2] &&
	       (words[3] || strcmp(words[2], "off"));
}

static void mynic_ctl_run(const char *socket, char **words)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strcmp(words[0], commands[i].name)) {
			commands[i].run(socket, words + 1);
			return;
		}
	}
	if (mynic_ctl_is_capture(words))
		mynic_ctl_run_capture(socket, words);
	else
		mynic_ctl_run_on_device(socket, words);
}

int main(int argc, char **argv)
{
	mynic_ctl_parse_options(argc, argv);
	signal(SIGPIPE, SIG_IGN);
	mynic_ctl_run(argv[optind], argv + optind + 1);
	if (fflush(stdout))
		die(EXIT_FAILURE, "%s", strerror(errno));
	return 0;
}
