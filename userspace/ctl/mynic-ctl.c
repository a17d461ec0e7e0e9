// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Sends a command to a running mynic-device and prints the answer. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "mynic_regs.h"

#define EXIT_USAGE 2

static const char help[] =
	"Usage: mynic-ctl SOCKET COMMAND [ARG]...\n"
	"Sends a command to the mynic-device that was started with\n"
	"--control SOCKET, and prints its answer.\n"
	"\n"
	"  ports                   NICs and wires, and whether they are up\n"
	"  stats [PORT]            all counters\n"
	"  fault add RULE          add a rule; prints its number and the rule\n"
	"  fault list              all rules, and how often they were applied\n"
	"  fault delete NUMBER     delete one rule\n"
	"  fault clear             delete all rules\n"
	"  link PORT up|down       pull a cable, or put it back\n"
	"  capture PORT FILE|off   record its packets, as pcap\n"
	"  journal on NIC          start the journal of a NIC\n"
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
	"  --help             print this\n"
	"  --version          print the version of the hardware interface\n"
	"\n"
	"Exit status: 0 on success, 1 on failure, 2 for a wrong command line.\n";

static void __attribute__((noreturn, format(printf, 2, 3)))
die(int status, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("mynic-ctl: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	if (status == EXIT_USAGE)
		fputs("Try mynic-ctl --help\n", stderr);
	exit(status);
}

static void parse_options(int argc, char **argv)
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
		die(EXIT_USAGE, "a socket and a command are needed");
}

static FILE *connect_to(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	FILE *file;
	int fd;

	if (strlen(path) >= sizeof(addr.sun_path))
		die(EXIT_FAILURE, "%s: %s", path, strerror(ENAMETOOLONG));
	memcpy(addr.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		die(EXIT_FAILURE, "%s: %s", path, strerror(errno));
	file = fdopen(fd, "r+");
	if (!file)
		die(EXIT_FAILURE, "%s", strerror(errno));
	return file;
}

static void send_command(FILE *file, char **words)
{
	for (int i = 0; words[i]; i++) {
		if (strchr(words[i], '\n'))
			die(EXIT_USAGE, "a command is one line");
		fprintf(file, "%s%s", i ? " " : "", words[i]);
	}
	fputc('\n', file);
	/* If the write fails there will be no answer. */
	fflush(file);
}

static bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

int main(int argc, char **argv)
{
	static const char error[] = "error: ";
	char *line = NULL;
	size_t size = 0;
	FILE *file;

	parse_options(argc, argv);
	signal(SIGPIPE, SIG_IGN);
	file = connect_to(argv[optind]);
	send_command(file, argv + optind + 1);
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (begins_with(line, error))
			die(EXIT_FAILURE, "%s", line + strlen(error));
		if (!strcmp(line, "ok")) {
			free(line);
			fclose(file);
			if (fflush(stdout))
				die(EXIT_FAILURE, "%s", strerror(errno));
			return 0;
		}
		puts(line);
	}
	die(EXIT_FAILURE, "mynic-device has ended the connection");
}
