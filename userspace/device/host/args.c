// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The command line: its help text and its parsing. */

#include <ctype.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "core/base/util.h"
#include "core/base/version.h"
#include "mynic_regs.h"

/*
 * Access to a socket means access to a NIC, to a wire, or to all by the control
 * socket.
 */
#define DEFAULT_SOCKET_MODE 0600

static const char help[] =
	"Usage: mynic-device [--nic socket=PATH[,mac=MAC][,disk=on][,memory=MIB]\n"
	"                           [,spoofchk=off][,name=NAME]]...\n"
	"                    [--wire KIND,KEY=VALUE,...[,name=NAME]]...\n"
	"Runs mynic RDMA NICs, to which virtual machines attach over vfio-user. An\n"
	"Ethernet switch joins them with each other, and with wires that leave the\n"
	"process. At least one NIC or wire is needed.\n"
	"\n"
	"  --nic socket=PATH[,mac=MAC]  a NIC: the UNIX socket for its client, and\n"
	"                               its permanent MAC (default:\n"
	"                               02:6d:79:6e:69:NN, where NN is the\n"
	"                               NIC's number, from 1); disk=on: guest\n"
	"                               memory may be a file on a disk;\n"
	"                               memory=: limit for the memory of its\n"
	"                               objects in this process (default: 256);\n"
	"                               spoofchk=off: it may use the MAC of\n"
	"                               another NIC\n"
	"  --wire stream,listen=ADDR    frames over a stream socket, like QEMU's\n"
	"  --wire stream,connect=ADDR   -netdev stream; ADDR is the path of a UNIX\n"
	"                               socket, with a '/' in it, or HOST:PORT, or\n"
	"                               [ADDRESS]:PORT for IPv6\n"
	"  --wire dgram,local=PATH,remote=PATH\n"
	"                               one frame in each datagram over UNIX\n"
	"                               sockets, like QEMU's -netdev dgram\n"
	"  --wire udp,local=HOST:PORT,remote=HOST:PORT\n"
	"                               the same over UDP\n"
	"  --wire tap,ifname=NAME       the TAP interface NAME, which is created if\n"
	"                               it does not exist\n"
	"  --wire packet,ifname=NAME    the network behind the interface NAME\n"
	"  --control PATH               accept commands of mynic-ctl on a UNIX\n"
	"                               socket\n"
	"  --fault PORT,kind=KIND[,KEY=VALUE]...\n"
	"                               lose, repeat, delay ... packets of a NIC or\n"
	"                               wire, or make a NIC fail; see mynic-ctl\n"
	"                               --help\n"
	"  --capture PORT=FILE          record the packets of a NIC or wire, as\n"
	"                               pcap, in a file or a FIFO, or in the open\n"
	"                               file N, if FILE is fd:N\n"
	"  --socket-mode MODE           permissions of new UNIX sockets, octal\n"
	"                               (default: 0600)\n"
	"  --exit-with-parent           end when the parent process ends\n"
	"  --help                       print this\n"
	"  --version                    print the version, and that of the hardware\n"
	"                               interface\n"
	"\n"
	"NAME is used in messages, and as PORT in other options (default: nic1,\n"
	"nic2, ... and wire1, wire2, ...). A PATH must not contain a comma.\n"
	"\n"
	"Prints \"ready\" when all sockets exist, and runs until SIGTERM or\n"
	"SIGINT. When a client has gone, its NIC is reset and waits for the next\n"
	"one. A wire without its peer is down, and waits for it. NICs have a link\n"
	"while another NIC or a wire is up.\n"
	"Exit status: 0 after a signal, 1 if it could not start, 2 for a wrong\n"
	"command line.\n"
	"\n"
	"QEMU: -device '{\"driver\":\"vfio-user-pci\",\"x-msg-timeout\":60000,\n"
	"                \"socket\":{\"type\":\"unix\",\"path\":\"PATH\"}}'\n"
	"with guest memory that can be shared (memory-backend-memfd,share=on).\n";

static void __attribute__((noreturn, format(printf, 1, 2)))
args_usage(const char *format, ...)
{
	va_list args;

	fputs("mynic-device: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("\nTry mynic-device --help\n", stderr);
	exit(EXIT_USAGE);
}

static bool args_parse_mac(const char *text, uint8_t mac[6])
{
	static const uint8_t zero[6];
	int len = 0;

	return sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0],
		      &mac[1], &mac[2], &mac[3], &mac[4], &mac[5], &len) == 6 &&
	       len == 17 && !text[len] && !(mac[0] & 1) &&
	       memcmp(mac, zero, sizeof(zero));
}

/* Commas, spaces and equals signs end a name in other places. */
static void args_parse_name(char name[ARGS_NAME_SIZE], const char *text)
{
	size_t len = text ? strlen(text) : 0;

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-._", text[i]))
			len = 0;
	if (!len || len >= ARGS_NAME_SIZE)
		args_usage(
			"\"%s\" is not a name: 1 to %d letters, digits, '-', '.', '_'",
			text ? text : "", ARGS_NAME_SIZE - 1);
	memcpy(name, text, len + 1);
}

static bool args_parse_switch(const char *key, const char *value)
{
	if (!value || (strcmp(value, "on") && strcmp(value, "off")))
		args_usage("%s= is neither on nor off", key);
	return !strcmp(value, "on");
}

static unsigned int args_parse_mode(const char *text)
{
	unsigned int mode;
	int len = 0;

	if (sscanf(text, "%4o%n", &mode, &len) != 1 || text[len] ||
	    mode & ~0777u)
		args_usage("\"%s\" are no permissions: 0600 or the like", text);
	return mode;
}

/* In MiB. A driver alone needs less than one. */
static uint64_t args_parse_memory(const char *text)
{
	unsigned int mib = 0;
	int len = 0;

	if (!text || sscanf(text, "%6u%n", &mib, &len) != 1 || text[len] ||
	    !mib)
		args_usage("memory=%s is not a number of MiB",
			   text ? text : "");
	return (uint64_t)mib << 20;
}

static void args_parse_nic(struct args *args, char *text)
{
	enum { SOCKET, MAC, DISK, MEMORY, SPOOFCHK, NIC_NAME };
	char *const keys[] = { [SOCKET] = "socket",
			       [MAC] = "mac",
			       [DISK] = "disk",
			       [MEMORY] = "memory",
			       [SPOOFCHK] = "spoofchk",
			       [NIC_NAME] = "name",
			       NULL };
	struct nic_args *nic = &args->nics[args->num_nics];
	unsigned int number = args->num_nics + 1;
	char *value;

	if (number > SWITCH_MAX_PORTS)
		args_usage("more than %d NICs", SWITCH_MAX_PORTS);
	args->num_nics = number;
	memcpy(nic->mac, (uint8_t[]){ 0x02, 'm', 'y', 'n', 'i', number }, 6);
	snprintf(nic->name, sizeof(nic->name), "nic%u", number);
	while (*text) {
		switch (getsubopt(&text, keys, &value)) {
		case SOCKET:
			nic->path = value;
			break;
		case MAC:
			if (!value || !args_parse_mac(value, nic->mac))
				args_usage("%s is not a unicast MAC",
					   value ? value : "nothing");
			break;
		case DISK:
			nic->disk = args_parse_switch("disk", value);
			break;
		case MEMORY:
			nic->memory = args_parse_memory(value);
			break;
		case SPOOFCHK:
			nic->trusted = !args_parse_switch("spoofchk", value);
			break;
		case NIC_NAME:
			args_parse_name(nic->name, value);
			break;
		default:
			args_usage("--nic knows no \"%s\"", value);
		}
	}
	if (!nic->path || !*nic->path)
		args_usage("%s has no socket", nic->name);
}

enum wire_key { LISTEN, CONNECT, LOCAL, REMOTE, IFNAME, NAME };

static char *const wire_keys[] = { [LISTEN] = "listen",
				   [CONNECT] = "connect",
				   [LOCAL] = "local",
				   [REMOTE] = "remote",
				   [IFNAME] = "ifname",
				   [NAME] = "name",
				   NULL };

/**
 * struct wire_syntax - keys of a kind of wire
 * @kind: the kind
 * @all: required keys, one bit for each enum wire_key
 * @one: keys of which exactly one is required, likewise
 */
struct wire_syntax {
	const struct wire_kind *kind;
	unsigned int all;
	unsigned int one;
};

static const struct wire_syntax wire_syntax[] = {
	{ &wire_stream, .one = 1 << LISTEN | 1 << CONNECT },
	{ &wire_dgram, .all = 1 << LOCAL | 1 << REMOTE },
	{ &wire_udp, .all = 1 << LOCAL | 1 << REMOTE },
	{ &wire_tap, .all = 1 << IFNAME },
	{ &wire_packet, .all = 1 << IFNAME },
};

static const struct wire_syntax *args_find_syntax(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(wire_syntax); i++)
		if (!strcmp(wire_syntax[i].kind->name, name))
			return &wire_syntax[i];
	args_usage("there is no kind of wire \"%s\"", name);
}

static bool args_is_single_bit(unsigned int bits)
{
	return bits && !(bits & (bits - 1));
}

static void args_check_keys(const char *name, const struct wire_syntax *syntax,
			    unsigned int given)
{
	unsigned int allowed = syntax->all | syntax->one;
	const char *kind = syntax->kind->name;

	for (unsigned int key = 0; wire_keys[key]; key++) {
		if (key != NAME && given & ~allowed & 1 << key)
			args_usage("%s: a %s wire has no \"%s\"", name, kind,
				   wire_keys[key]);
		if (~given & syntax->all & 1 << key)
			args_usage("%s: a %s wire needs %s=", name, kind,
				   wire_keys[key]);
	}
	if (syntax->one && !args_is_single_bit(given & syntax->one))
		args_usage("%s: a %s wire needs either listen= or connect=",
			   name, kind);
}

static void args_parse_wire(struct args *args, char *text)
{
	struct wire_args *wire = &args->wires[args->num_wires];
	struct wire_config *config = &wire->config;
	unsigned int number = args->num_wires + 1;
	const struct wire_syntax *syntax;
	unsigned int given = 0;
	char *value;
	int key;

	if (number > SWITCH_MAX_PORTS)
		args_usage("more than %d wires", SWITCH_MAX_PORTS);
	args->num_wires = number;
	snprintf(wire->name, sizeof(wire->name), "wire%u", number);
	syntax = args_find_syntax(strsep(&text, ","));
	while (text && *text) {
		key = getsubopt(&text, wire_keys, &value);
		if (key < 0)
			args_usage("--wire knows no \"%s\"", value);
		if (!value || !*value)
			args_usage("%s: %s= needs a value", wire->name,
				   wire_keys[key]);
		given |= 1 << key;
		switch (key) {
		case LISTEN:
			config->listen = value;
			break;
		case CONNECT:
			config->connect = value;
			break;
		case LOCAL:
			config->local = value;
			break;
		case REMOTE:
			config->remote = value;
			break;
		case IFNAME:
			config->ifname = value;
			break;
		case NAME:
			args_parse_name(wire->name, value);
			break;
		}
	}
	args_check_keys(wire->name, syntax, given);
	config->kind = syntax->kind;
	config->name = wire->name;
}

static void args_add_fault(struct args *args, const char *rule)
{
	if (args->num_faults == ARGS_MAX_FAULTS)
		args_usage("more than %d faults", ARGS_MAX_FAULTS);
	args->faults[args->num_faults++] = rule;
}

static void args_parse_capture(struct args *args, char *text)
{
	struct capture_args *capture = &args->captures[args->num_captures];
	int len = 0;

	if (args->num_captures++ == SWITCH_MAX_PORTS)
		args_usage("more than %d captures", SWITCH_MAX_PORTS);
	capture->port = strsep(&text, "=");
	capture->file = text;
	if (!text || !*text)
		args_usage("--capture %s has no file", capture->port);
	if (strncmp(text, "fd:", 3))
		return;
	if (sscanf(text, "fd:%9d%n", &capture->fd, &len) != 1 || text[len] ||
	    capture->fd < 0)
		args_usage("--capture %s: \"%s\" is not the number of a file",
			   capture->port, text);
	capture->file = NULL;
}

static const char *args_name_of(const struct args *args, unsigned int i)
{
	if (i < args->num_nics)
		return args->nics[i].name;
	return args->wires[i - args->num_nics].name;
}

static void args_check(const struct args *args)
{
	unsigned int num = args->num_nics + args->num_wires;

	if (!num)
		args_usage("no --nic and no --wire");
	if (num > SWITCH_MAX_PORTS)
		args_usage("more than %d NICs and wires", SWITCH_MAX_PORTS);
	for (unsigned int i = 0; i < num; i++)
		for (unsigned int j = 0; j < i; j++)
			if (!strcmp(args_name_of(args, i),
				    args_name_of(args, j)))
				args_usage("two are named %s",
					   args_name_of(args, i));
	for (unsigned int i = 0; i < args->num_nics; i++)
		for (unsigned int j = 0; j < i; j++)
			if (!memcmp(args->nics[i].mac, args->nics[j].mac, 6))
				args_usage("%s and %s have the same MAC",
					   args->nics[j].name,
					   args->nics[i].name);
}

/* @option is a short name, and its value is where getopt leaves it */
static void args_take(struct args *args, int option)
{
	switch (option) {
	case 'n':
		args_parse_nic(args, optarg);
		break;
	case 'w':
		args_parse_wire(args, optarg);
		break;
	case 'c':
		args->control = optarg;
		break;
	case 'm':
		args->socket_mode = args_parse_mode(optarg);
		break;
	case 'f':
		args_add_fault(args, optarg);
		break;
	case 'p':
		args_parse_capture(args, optarg);
		break;
	case 'e':
		args->exit_with_parent = true;
		break;
	case 'h':
		fputs(help, stdout);
		exit(0);
	case 'v':
		printf("mynic-device %d.%d.%d\n"
		       "mynic hardware interface %d.%d\n",
		       VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH,
		       MYNIC_VERSION_MAJOR, MYNIC_VERSION_MINOR);
		exit(0);
	default:
		fputs("Try mynic-device --help\n", stderr);
		exit(EXIT_USAGE);
	}
}

void args_parse(struct args *args, int argc, char **argv)
{
	static const struct option options[] = {
		{ "nic", required_argument, NULL, 'n' },
		{ "wire", required_argument, NULL, 'w' },
		{ "control", required_argument, NULL, 'c' },
		{ "socket-mode", required_argument, NULL, 'm' },
		{ "fault", required_argument, NULL, 'f' },
		{ "capture", required_argument, NULL, 'p' },
		{ "exit-with-parent", no_argument, NULL, 'e' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{}
	};
	int option;

	args->socket_mode = DEFAULT_SOCKET_MODE;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		args_take(args, option);
	if (optind < argc)
		args_usage("what is \"%s\"?", argv[optind]);
	args_check(args);
	for (unsigned int i = 0; i < args->num_wires; i++)
		args->wires[i].config.mode = args->socket_mode;
}
