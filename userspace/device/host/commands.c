// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands of the control socket, and their output. The socket itself is in
 * control.c.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "core/nic.h"
#include "core/base/util.h"
#include "journal_text.h"
#include "mynic_regs.h"
#include "stat_name.h"

/**
 * struct call - a command that is being executed
 * @commands: objects of the command
 * @args: rest of the line
 * @out: stream for the answer
 * @error: out: reason of a failure
 */
struct call {
	struct commands *commands;
	char *args;
	FILE *out;
	char error[COMMANDS_ERROR_SIZE];
};

static bool __attribute__((format(printf, 2, 3))) fail(struct call *call,
						       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(call->error, sizeof(call->error), format, args);
	va_end(args);
	return false;
}

/* Returns the next word of the line, or "" */
static char *next_word(struct call *call)
{
	char *word;

	call->args += strspn(call->args, " ");
	word = call->args;
	call->args += strcspn(call->args, " ");
	if (*call->args)
		*call->args++ = '\0';
	return word;
}

static bool at_end(struct call *call)
{
	call->args += strspn(call->args, " ");
	if (!*call->args)
		return true;
	return fail(call, "what is \"%.32s\"?", call->args);
}

/* Index of the port in &net_switch.ports, or -1 */
static int find_port(const struct net_switch *sw, const char *name, char *error)
{
	for (unsigned int i = 0; i < sw->num; i++)
		if (!strcmp(sw->ports[i]->name, name))
			return i;
	snprintf(error, COMMANDS_ERROR_SIZE, "there is no port \"%.32s\"",
		 name);
	return -1;
}

/* Returns the port that the next word of the line names, or NULL */
static struct switch_port *next_port(struct call *call)
{
	const struct net_switch *sw = call->commands->sw;
	int place = find_port(sw, next_word(call), call->error);

	return place < 0 ? NULL : sw->ports[place];
}

static const char *port_state(const struct switch_port *port)
{
	if (port->cut)
		return "pulled";
	return (port->nic ? switch_has_link(port) : port->up) ? "up" : "down";
}

static bool run_ports(struct call *call)
{
	const struct net_switch *sw = call->commands->sw;

	if (!at_end(call))
		return false;
	for (unsigned int i = 0; i < sw->num; i++) {
		const struct switch_port *port = sw->ports[i];
		const uint8_t *mac;

		fprintf(call->out, "%s %s %s", port->name,
			port->nic ? "nic" : "wire", port_state(port));
		if (port->nic) {
			mac = nic_mac(port->nic);
			fprintf(call->out, " %02x:%02x:%02x:%02x:%02x:%02x",
				mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
		}
		fputc('\n', call->out);
	}
	return true;
}

static void put_stat(FILE *out, const char *port, const char *name,
		     uint64_t value)
{
	fprintf(out, "%s %s %" PRIu64 "\n", port, name, value);
}

static void put_wire_stats(FILE *out, const struct switch_port *port)
{
	const struct port_stats *stats = &port->stats;

	put_stat(out, port->name, "rx_packets", stats->rx_packets);
	put_stat(out, port->name, "rx_bytes", stats->rx_bytes);
	put_stat(out, port->name, "tx_packets", stats->tx_packets);
	put_stat(out, port->name, "tx_bytes", stats->tx_bytes);
	put_stat(out, port->name, "rx_bad", stats->rx_bad);
	put_stat(out, port->name, "tx_dropped", stats->tx_dropped);
}

static void put_nic_stats(FILE *out, const struct switch_port *port)
{
	for (unsigned int i = 0; i < MYNIC_NUM_STATS; i++)
		put_stat(out, port->name, stat_name(i), nic_stat(port->nic, i));
	put_stat(out, port->name, "tx_spoofed", port->spoofed);
	put_stat(out, port->name, "memory_bytes", nic_memory(port->nic));
}

static void put_rule_stat(FILE *out, const struct switch_port *port,
			  unsigned int number, const char *what, uint64_t value)
{
	char name[64];

	snprintf(name, sizeof(name), "fault_%u_%s", number, what);
	put_stat(out, port->name, name, value);
}

static void put_fault_stats(FILE *out, const struct switch_port *port)
{
	for (unsigned int i = 0; i < faults_num_rules(port->faults); i++) {
		struct fault_stats stats = faults_stats(port->faults, i);
		unsigned int number = stats.number;

		put_rule_stat(out, port, number, "matched", stats.matched);
		put_rule_stat(out, port, number, "applied", stats.applied);
		put_rule_stat(out, port, number, "marked", stats.marked);
		put_rule_stat(out, port, number, "queue_full",
			      stats.queue_full);
		put_rule_stat(out, port, number, "no_room", stats.no_room);
	}
}

static void put_port_stats(FILE *out, const struct switch_port *port)
{
	if (port->nic)
		put_nic_stats(out, port);
	else
		put_wire_stats(out, port);
	if (port->faults)
		put_fault_stats(out, port);
	if (port->capture) {
		put_stat(out, port->name, "capture_packets",
			 port->capture->packets);
		put_stat(out, port->name, "capture_dropped",
			 port->capture->dropped);
	}
}

static bool run_stats(struct call *call)
{
	const struct net_switch *sw = call->commands->sw;
	struct switch_port *port;

	if (*call->args) {
		port = next_port(call);
		if (!port || !at_end(call))
			return false;
		put_port_stats(call->out, port);
		return true;
	}
	for (unsigned int i = 0; i < sw->num; i++)
		put_port_stats(call->out, sw->ports[i]);
	return true;
}

#define RULE_FORMAT "%u %s,%s matched %" PRIu64 " applied %" PRIu64 "\n"

/* Prints one rule; @number 0: all rules */
static void put_rules(const struct call *call, unsigned int number)
{
	const struct net_switch *sw = call->commands->sw;

	for (unsigned int i = 0; i < sw->num; i++) {
		const struct switch_port *port = sw->ports[i];
		unsigned int num =
			port->faults ? faults_num_rules(port->faults) : 0;

		for (unsigned int j = 0; j < num; j++) {
			struct fault_stats stats =
				faults_stats(port->faults, j);

			if (number && stats.number != number)
				continue;
			fprintf(call->out, RULE_FORMAT, stats.number,
				port->name, stats.text, stats.matched,
				stats.applied);
		}
	}
}

static bool fault_add(struct call *call)
{
	const char *rule = next_word(call);
	unsigned int number;

	if (!at_end(call))
		return false;
	number = fault_board_add(&call->commands->board, rule, call->error);
	if (number)
		put_rules(call, number);
	return number;
}

static bool fault_list(struct call *call)
{
	if (!at_end(call))
		return false;
	put_rules(call, 0);
	return true;
}

static bool fault_delete(struct call *call)
{
	const char *text = next_word(call);
	unsigned int number;
	int len = 0;

	if (!at_end(call))
		return false;
	if (sscanf(text, "%9u%n", &number, &len) != 1 || text[len])
		return fail(call, "\"%.32s\" is not the number of a rule",
			    text);
	if (!fault_board_delete(&call->commands->board, number))
		return fail(call, "there is no rule %u", number);
	return true;
}

static bool fault_clear(struct call *call)
{
	if (!at_end(call))
		return false;
	fault_board_clear(&call->commands->board);
	return true;
}

static bool run_link(struct call *call)
{
	struct switch_port *port = next_port(call);
	const char *state;

	if (!port)
		return false;
	state = next_word(call);
	if (!at_end(call))
		return false;
	if (strcmp(state, "up") && strcmp(state, "down"))
		return fail(call, "\"%.32s\" is neither up nor down", state);
	return fault_board_set_link(&call->commands->board, port,
				    !strcmp(state, "up"), call->error);
}

static void end_capture(struct switch_port *port)
{
	if (port->capture)
		capture_close(port->capture);
	port->capture = NULL;
}

static const char *capture_error(int err)
{
	switch (err) {
	case -EINVAL:
		return "neither a file nor a FIFO";
	case -ELOOP:
		return "a link";
	case -EEXIST:
		return "it is there, and no capture";
	default:
		return strerror(-err);
	}
}

/* @fd is used if @file is NULL */
static bool begin_capture(struct commands *commands, int place,
			  const char *file, int fd, char *error)
{
	struct switch_port *port = commands->sw->ports[place];
	struct capture *capture = &commands->captures[place];
	int err;

	end_capture(port);
	if (file)
		err = capture_open(capture, file, commands->events, port->log);
	else
		err = capture_open_fd(capture, fd, commands->events, port->log);
	if (!err)
		port->capture = capture;
	else if (file)
		snprintf(error, COMMANDS_ERROR_SIZE, "%.256s: %s", file,
			 capture_error(err));
	else
		snprintf(error, COMMANDS_ERROR_SIZE, "fd:%d: %s", fd,
			 capture_error(err));
	return !err;
}

bool commands_capture(struct commands *commands, const char *name,
		      const char *file, char error[COMMANDS_ERROR_SIZE])
{
	int place = find_port(commands->sw, name, error);

	if (place < 0)
		return false;
	if (strcmp(file, "off"))
		return begin_capture(commands, place, file, -1, error);
	end_capture(commands->sw->ports[place]);
	return true;
}

bool commands_capture_fd(struct commands *commands, const char *name, int fd,
			 char error[COMMANDS_ERROR_SIZE])
{
	int place = find_port(commands->sw, name, error);

	return place >= 0 && begin_capture(commands, place, NULL, fd, error);
}

static bool run_capture(struct call *call)
{
	const char *port = next_word(call);

	/* File names may contain spaces. */
	call->args += strspn(call->args, " ");
	if (!*call->args)
		return fail(call, "a port and a file are needed");
	return commands_capture(call->commands, port, call->args, call->error);
}

/* The port of a NIC whose name is the rest of the line, or NULL */
static struct switch_port *only_nic(struct call *call)
{
	struct switch_port *port = next_port(call);

	if (!port || !at_end(call))
		return NULL;
	if (!port->nic) {
		fail(call, "%.32s is a wire, not a NIC", port->name);
		return NULL;
	}
	return port;
}

static bool journal_on(struct call *call)
{
	struct switch_port *port = only_nic(call);

	if (!port)
		return false;
	return nic_keep_journal(port->nic, true) || fail(call, "no memory");
}

static bool journal_off(struct call *call)
{
	struct switch_port *port = only_nic(call);

	return port && nic_keep_journal(port->nic, false);
}

static bool journal_show(struct call *call)
{
	struct switch_port *port = only_nic(call);
	const struct journal *journal;
	char line[JOURNAL_LINE_SIZE];

	if (!port)
		return false;
	journal = nic_journal(port->nic);
	if (!journal->entries)
		return fail(call, "%.32s keeps no journal", port->name);
	for (uint64_t i = journal_first(journal); i < journal->num; i++) {
		journal_text(journal_at(journal, i), line);
		fprintf(call->out, "%s\n", line);
	}
	return true;
}

static bool run_log(struct call *call)
{
	const char *state = next_word(call);

	if (!at_end(call))
		return false;
	if (strcmp(state, "on") && strcmp(state, "off"))
		return fail(call, "\"%.32s\" is neither on nor off", state);
	call->commands->board.log.on = !strcmp(state, "on");
	return true;
}

static bool run_help(struct call *call);

/**
 * struct command - entry of the table of commands
 * @name: its first word
 * @sub: its second word, or NULL
 * @args: arguments, for the help text
 * @about: description, for the help text
 * @run: executes it; returns false after a failure and sets &call.error
 */
struct command {
	const char *name;
	const char *sub;
	const char *args;
	const char *about;
	bool (*run)(struct call *call);
};

static const struct command table[] = {
	{ "help", NULL, "", "print this", run_help },
	{ "ports", NULL, "", "NICs and wires, and whether they are up",
	  run_ports },
	{ "stats", NULL, " [PORT]", "all counters", run_stats },
	{ "fault", "add", " PORT,kind=KIND[,KEY=VALUE]...",
	  "have a fault; prints its number", fault_add },
	{ "fault", "list", "", "all faults, and how often they were applied",
	  fault_list },
	{ "fault", "delete", " NUMBER", "end one fault", fault_delete },
	{ "fault", "clear", "", "end all faults", fault_clear },
	{ "link", NULL, " PORT up|down", "pull a cable, or put it back",
	  run_link },
	{ "capture", NULL, " PORT FILE|off", "record what passes, as pcap",
	  run_capture },
	{ "journal", "on", " NIC", "begin to note what happens to a NIC",
	  journal_on },
	{ "journal", "show", " NIC", "what happened, the oldest first",
	  journal_show },
	{ "journal", "off", " NIC", "end that, and forget it", journal_off },
	{ "log", NULL, " on|off", "a line on stderr for each fault", run_log },
};

static bool run_help(struct call *call)
{
	char usage[64];

	if (!at_end(call))
		return false;
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		const struct command *command = &table[i];

		snprintf(usage, sizeof(usage), "%s%s%s%s", command->name,
			 command->sub ? " " : "",
			 command->sub ? command->sub : "", command->args);
		fprintf(call->out, "%-42s %s\n", usage, command->about);
	}
	return true;
}

static bool run(struct call *call)
{
	const char *name = next_word(call);
	const char *sub = NULL;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		const struct command *command = &table[i];

		if (strcmp(command->name, name))
			continue;
		if (command->sub && !sub)
			sub = next_word(call);
		if (!command->sub || !strcmp(command->sub, sub))
			return command->run(call);
	}
	return fail(call, "there is no command \"%.32s%s%.32s\"; try help",
		    name, sub && *sub ? " " : "", sub ? sub : "");
}

void commands_run(struct commands *commands, char *line, FILE *out)
{
	struct call call = { .commands = commands, .args = line, .out = out };

	if (run(&call))
		fputs("ok\n", out);
	else
		fprintf(out, "error: %s\n", call.error);
}

void commands_init(struct commands *commands, struct net_switch *sw,
		   struct events *events)
{
	*commands = (struct commands){ .sw = sw, .events = events };
	fault_board_init(&commands->board, sw);
}

void commands_release(struct commands *commands)
{
	fault_board_release(&commands->board);
	for (unsigned int i = 0; i < commands->sw->num; i++)
		end_capture(commands->sw->ports[i]);
}
