// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "mynic_regs.h"

#define EXIT_USAGE 2

static const char help[] =
	"Usage: mynic-device --nic socket=PATH[,mac=MAC][,name=NAME] [--nic ...]\n"
	"Be one or more mynic RDMA NICs, joined by an Ethernet switch, each for\n"
	"a virtual machine to attach over vfio-user.\n"
	"\n"
	"  --nic socket=PATH[,mac=MAC][,name=NAME]\n"
	"                               one NIC: the UNIX socket that it is\n"
	"                               offered on, without a comma in its\n"
	"                               name; its permanent MAC (default:\n"
	"                               02:6d:79:6e:69:NN, where NN is the\n"
	"                               NIC's number, from 1); its name for\n"
	"                               messages (default: nic1, nic2, ...)\n"
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

/* Names stand in front of commas, spaces and equals signs elsewhere. */
static void parse_name(char name[ARGS_NAME_SIZE], const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-._";

	if (!text || !*text || strlen(text) >= ARGS_NAME_SIZE ||
	    text[strspn(text, allowed)])
		usage("\"%s\" is not a name: 1 to %d letters, digits, '-', '.', '_'",
		      text ? text : "", ARGS_NAME_SIZE - 1);
	strcpy(name, text);
}

static void parse_nic(struct args *args, char *text)
{
	enum { SOCKET, MAC, NAME };
	char *const keys[] = {
		[SOCKET] = "socket", [MAC] = "mac", [NAME] = "name", NULL
	};
	struct nic_args *nic = &args->nics[args->num_nics];
	unsigned int number = args->num_nics + 1;
	char *value;

	if (number > SWITCH_MAX_PORTS)
		usage("more than %d NICs", SWITCH_MAX_PORTS);
	args->num_nics = number;
	memcpy(nic->mac, (uint8_t[]){ 0x02, 'm', 'y', 'n', 'i', number }, 6);
	snprintf(nic->name, sizeof(nic->name), "nic%u", number);
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
		case NAME:
			parse_name(nic->name, value);
			break;
		default:
			usage("--nic knows no \"%s\"", value);
		}
	}
	if (!nic->path || !*nic->path)
		usage("%s has no socket", nic->name);
}

static void check_nics(const struct args *args)
{
	for (unsigned int i = 0; i < args->num_nics; i++) {
		const struct nic_args *a = &args->nics[i];

		for (unsigned int j = 0; j < i; j++) {
			const struct nic_args *b = &args->nics[j];

			if (!memcmp(a->mac, b->mac, sizeof(a->mac)))
				usage("%s and %s have the same MAC", b->name,
				      a->name);
			if (!strcmp(a->name, b->name))
				usage("two are named %s", a->name);
		}
	}
}

void args_parse(struct args *args, int argc, char **argv)
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
	if (!args->num_nics)
		usage("no --nic");
	check_nics(args);
}
