// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands of the control socket, and their output. The socket itself is in
 * control.c.
 */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "core/engine/qp_info.h"
#include "core/nic.h"
#include "core/nic_faults.h"
#include "core/base/util.h"
#include "fault_rules.h"
#include "journal_text.h"
#include "mynic_regs.h"
#include "qp_text.h"
#include "stats.h"
#include "wire/rule_value.h"

/**
 * struct call - a command that is being executed
 * @commands: objects of the command
 * @args: rest of the line
 * @out: stream for the answer
 * @rest: out: what of the answer is to be made later
 * @error: out: reason of a failure
 */
struct call {
	struct commands *commands;
	char *args;
	FILE *out;
	struct commands_rest *rest;
	char error[COMMANDS_ERROR_SIZE];
};

/* Entries of a journal, queue pairs, and rules, in a piece of an answer */
#define JOURNAL_PIECE 128
#define QPS_PIECE 128
#define RULES_PIECE 16

static bool __attribute__((format(printf, 2, 3)))
commands_fail(struct call *call, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(call->error, sizeof(call->error), format, args);
	va_end(args);
	return false;
}

/* Returns the next word of the line, or "" */
static char *commands_next_word(struct call *call)
{
	char *word;

	call->args += strspn(call->args, " ");
	word = call->args;
	call->args += strcspn(call->args, " ");
	if (*call->args)
		*call->args++ = '\0';
	return word;
}

static bool commands_at_end(struct call *call)
{
	call->args += strspn(call->args, " ");
	if (!*call->args)
		return true;
	return commands_fail(call, "what is \"%.32s\"?", call->args);
}

/* Index of the port in &net_switch.ports, or -1 */
static int commands_find_port(const struct net_switch *sw, const char *name,
			      char *error)
{
	for (unsigned int i = 0; i < sw->num; i++)
		if (!strcmp(sw->ports[i]->name, name))
			return i;
	snprintf(error, COMMANDS_ERROR_SIZE, "there is no port \"%.32s\"",
		 name);
	return -1;
}

bool commands_has_port(const struct commands *commands, const char *name)
{
	char error[COMMANDS_ERROR_SIZE];

	return commands_find_port(commands->sw, name, error) >= 0;
}

/* Returns the port that the next word of the line names, or NULL */
static struct switch_port *commands_next_port(struct call *call)
{
	const struct net_switch *sw = call->commands->sw;
	int place =
		commands_find_port(sw, commands_next_word(call), call->error);

	return place < 0 ? NULL : sw->ports[place];
}

static const char *commands_port_state(const struct switch_port *port)
{
	if (port->cut)
		return "pulled";
	return (port->nic ? switch_has_link(port) : port->up) ? "up" : "down";
}

static bool commands_run_ports(struct call *call)
{
	const struct net_switch *sw = call->commands->sw;

	if (!commands_at_end(call))
		return false;
	for (unsigned int i = 0; i < sw->num; i++) {
		const struct switch_port *port = sw->ports[i];
		const uint8_t *mac;

		fprintf(call->out, "%s %s %s", port->name,
			port->nic ? "nic" : "wire", commands_port_state(port));
		if (port->nic) {
			mac = nic_mac(port->nic);
			fprintf(call->out, " %02x:%02x:%02x:%02x:%02x:%02x",
				mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
		}
		fputc('\n', call->out);
	}
	return true;
}

static void commands_put_stat(FILE *out, const char *port, const char *name,
			      uint64_t value)
{
	fprintf(out, "%s %s %" PRIu64 "\n", port, name, value);
}

static void commands_put_wire_stats(FILE *out, const struct switch_port *port)
{
	const struct port_stats *stats = &port->stats;

	commands_put_stat(out, port->name, "rx_packets", stats->rx_packets);
	commands_put_stat(out, port->name, "rx_bytes", stats->rx_bytes);
	commands_put_stat(out, port->name, "tx_packets", stats->tx_packets);
	commands_put_stat(out, port->name, "tx_bytes", stats->tx_bytes);
	commands_put_stat(out, port->name, "rx_bad", stats->rx_bad);
	commands_put_stat(out, port->name, "tx_dropped", stats->tx_dropped);
}

static void commands_put_nic_stats(FILE *out, const struct switch_port *port)
{
	for (unsigned int i = 0; i < MYNIC_NUM_STATS; i++)
		commands_put_stat(out, port->name, stats_name(i),
				  nic_stat(port->nic, i));
	commands_put_stat(out, port->name, "tx_spoofed", port->spoofed);
	commands_put_stat(out, port->name, "memory_bytes",
			  nic_memory(port->nic));
}

static void commands_put_rule_stat(FILE *out, const struct switch_port *port,
				   unsigned int number, const char *what,
				   uint64_t value)
{
	char name[64];

	snprintf(name, sizeof(name), "fault_%u_%s", number, what);
	commands_put_stat(out, port->name, name, value);
}

/* The port that is to be shown next, or NULL after the last one */
static const struct switch_port *
commands_rest_port(const struct commands_rest *rest)
{
	if (rest->port)
		return rest->next ? NULL : rest->port;
	return rest->next < rest->sw->num ? rest->sw->ports[rest->next] : NULL;
}

static void commands_rest_next_port(struct commands_rest *rest)
{
	rest->next++;
	rest->qpn = 0;
	rest->rule = 0;
	rest->begun = false;
}

/* Rules may be deleted between two pieces, but keep their order */
static bool commands_next_rule(struct commands_rest *rest,
			       const struct switch_port *port,
			       struct fault_stats *stats)
{
	unsigned int num = port->faults ? faults_num_rules(port->faults) : 0;

	for (unsigned int i = 0; i < num; i++) {
		*stats = faults_stats(port->faults, i);
		if (stats->number > rest->rule) {
			rest->rule = stats->number;
			return true;
		}
	}
	return false;
}

/* Prints some rules of a port by @put. Returns false after the last one */
static bool commands_put_rules(struct commands_rest *rest, FILE *out,
			       const struct switch_port *port,
			       void (*put)(FILE *out,
					   const struct switch_port *port,
					   const struct fault_stats *stats))
{
	struct fault_stats stats;

	for (unsigned int i = 0; i < RULES_PIECE; i++) {
		if (!commands_next_rule(rest, port, &stats))
			return false;
		put(out, port, &stats);
	}
	return true;
}

static void commands_put_rule_stats(FILE *out, const struct switch_port *port,
				    const struct fault_stats *stats)
{
	unsigned int number = stats->number;

	commands_put_rule_stat(out, port, number, "matched", stats->matched);
	commands_put_rule_stat(out, port, number, "applied", stats->applied);
	commands_put_rule_stat(out, port, number, "marked", stats->marked);
	commands_put_rule_stat(out, port, number, "queue_full",
			       stats->queue_full);
	commands_put_rule_stat(out, port, number, "no_room", stats->no_room);
}

static void commands_put_nic_fault_stats(FILE *out,
					 const struct switch_port *port)
{
	for (unsigned int i = 0; i < nic_fault_num(port->nic); i++) {
		const struct nic_fault *rule = nic_fault_at(port->nic, i);

		commands_put_rule_stat(out, port, rule->number, "matched",
				       rule->matched);
		commands_put_rule_stat(out, port, rule->number, "applied",
				       rule->applied);
	}
}

static void commands_put_port_stats(FILE *out, const struct switch_port *port)
{
	if (port->nic)
		commands_put_nic_stats(out, port);
	else
		commands_put_wire_stats(out, port);
}

static void commands_put_capture_stats(FILE *out,
				       const struct switch_port *port)
{
	if (!port->capture)
		return;
	commands_put_stat(out, port->name, "capture_packets",
			  port->capture->packets);
	commands_put_stat(out, port->name, "capture_dropped",
			  port->capture->dropped);
}

static bool commands_stats_step(struct commands_rest *rest, FILE *out)
{
	const struct switch_port *port = commands_rest_port(rest);

	if (!port)
		return false;
	if (!rest->begun)
		commands_put_port_stats(out, port);
	rest->begun = true;
	if (commands_put_rules(rest, out, port, commands_put_rule_stats))
		return true;
	if (port->nic)
		commands_put_nic_fault_stats(out, port);
	commands_put_capture_stats(out, port);
	commands_rest_next_port(rest);
	return commands_rest_port(rest);
}

static bool commands_run_stats(struct call *call)
{
	struct switch_port *port = NULL;

	if (*call->args) {
		port = commands_next_port(call);
		if (!port || !commands_at_end(call))
			return false;
	}
	call->rest->port = port;
	call->rest->step = commands_stats_step;
	return true;
}

static void commands_put_rule_line(FILE *out, const struct switch_port *port,
				   unsigned int number, const char *text,
				   uint64_t matched, uint64_t applied)
{
	fprintf(out, "%u %s,%s matched %" PRIu64 " applied %" PRIu64 "\n",
		number, port->name, text, matched, applied);
}

static void commands_put_rule(FILE *out, const struct switch_port *port,
			      const struct fault_stats *stats)
{
	commands_put_rule_line(out, port, stats->number, stats->text,
			       stats->matched, stats->applied);
}

/* Rules of NIC faults with this number and higher ones, which are few */
static void commands_put_nic_rules(FILE *out, const struct switch_port *port,
				   unsigned int number)
{
	unsigned int num = port->nic ? nic_fault_num(port->nic) : 0;

	for (unsigned int i = 0; i < num; i++) {
		const struct nic_fault *rule = nic_fault_at(port->nic, i);

		if (rule->number >= number)
			commands_put_rule_line(out, port, rule->number,
					       rule->text, rule->matched,
					       rule->applied);
	}
}

/* Rules of wire faults with this number and higher ones: the last of the port */
static void commands_put_wire_rules(FILE *out, const struct switch_port *port,
				    unsigned int number)
{
	unsigned int num = port->faults ? faults_num_rules(port->faults) : 0;
	unsigned int first = num;

	while (first && faults_stats(port->faults, first - 1).number >= number)
		first--;
	for (unsigned int i = first; i < num; i++) {
		struct fault_stats stats = faults_stats(port->faults, i);

		commands_put_rule(out, port, &stats);
	}
}

/* Those that have just been added, the first of which has this number */
static void commands_put_new_rules(const struct call *call, unsigned int number)
{
	const struct net_switch *sw = call->commands->sw;

	for (unsigned int i = 0; i < sw->num; i++) {
		commands_put_wire_rules(call->out, sw->ports[i], number);
		commands_put_nic_rules(call->out, sw->ports[i], number);
	}
}

static bool commands_rules_step(struct commands_rest *rest, FILE *out)
{
	const struct switch_port *port = commands_rest_port(rest);

	if (!port)
		return false;
	if (commands_put_rules(rest, out, port, commands_put_rule))
		return true;
	commands_put_nic_rules(out, port, 0);
	commands_rest_next_port(rest);
	return true;
}

static bool commands_fault_add(struct call *call)
{
	const char *rule = commands_next_word(call);
	unsigned int number;

	if (!commands_at_end(call))
		return false;
	number = fault_rules_add(&call->commands->wire_faults, rule,
				 call->error);
	if (number)
		commands_put_new_rules(call, number);
	return number;
}

static bool commands_fault_list(struct call *call)
{
	if (!commands_at_end(call))
		return false;
	call->rest->step = commands_rules_step;
	return true;
}

static bool commands_fault_delete(struct call *call)
{
	const char *text = commands_next_word(call);
	uint64_t number;

	if (!commands_at_end(call))
		return false;
	if (!rule_value_number(text, 0, UINT_MAX, &number))
		return commands_fail(
			call, "\"%.32s\" is not the number of a rule", text);
	if (!fault_rules_delete(&call->commands->wire_faults, number))
		return commands_fail(call, "there is no rule %" PRIu64, number);
	return true;
}

static bool commands_fault_clear(struct call *call)
{
	if (!commands_at_end(call))
		return false;
	fault_rules_clear(&call->commands->wire_faults);
	return true;
}

static bool commands_run_link(struct call *call)
{
	struct switch_port *port = commands_next_port(call);
	const char *state;

	if (!port)
		return false;
	state = commands_next_word(call);
	if (!commands_at_end(call))
		return false;
	if (strcmp(state, "up") && strcmp(state, "down"))
		return commands_fail(call, "\"%.32s\" is neither up nor down",
				     state);
	return wire_faults_set_link(&call->commands->wire_faults, port,
				    !strcmp(state, "up"), call->error);
}

static void commands_end_capture(struct switch_port *port)
{
	if (port->capture)
		capture_close(port->capture);
	port->capture = NULL;
}

static const char *commands_capture_error(int err)
{
	switch (err) {
	case -EINVAL:
		return "neither a file nor a FIFO";
	case -ELOOP:
		return "a link";
	case -EEXIST:
		return "it is there, and no capture";
	case -EBUSY:
		return "another capture goes there";
	default:
		return strerror(-err);
	}
}

/* @fd is used if @file is NULL */
static bool commands_begin_capture(struct commands *commands, int place,
				   const char *file, int fd, char *error)
{
	struct switch_port *port = commands->sw->ports[place];
	struct capture *capture = &commands->captures[place];
	int err;

	commands_end_capture(port);
	if (file)
		err = capture_open(capture, file, commands->events, port->log);
	else
		err = capture_open_fd(capture, fd, commands->events, port->log);
	if (!err)
		port->capture = capture;
	else if (file)
		snprintf(error, COMMANDS_ERROR_SIZE, "%.256s: %s", file,
			 commands_capture_error(err));
	else
		snprintf(error, COMMANDS_ERROR_SIZE, "fd:%d: %s", fd,
			 commands_capture_error(err));
	return !err;
}

bool commands_capture(struct commands *commands, const char *name,
		      const char *file, char error[COMMANDS_ERROR_SIZE])
{
	int place = commands_find_port(commands->sw, name, error);

	if (place < 0)
		return false;
	if (strcmp(file, "off"))
		return commands_begin_capture(commands, place, file, -1, error);
	commands_end_capture(commands->sw->ports[place]);
	return true;
}

bool commands_capture_fd(struct commands *commands, const char *name, int fd,
			 char error[COMMANDS_ERROR_SIZE])
{
	int place = commands_find_port(commands->sw, name, error);

	return place >= 0 &&
	       commands_begin_capture(commands, place, NULL, fd, error);
}

/* Returns the rest of the line, a file, whose name may contain spaces; or NULL */
static const char *commands_last_file(struct call *call)
{
	call->args += strspn(call->args, " ");
	if (*call->args)
		return call->args;
	commands_fail(call, "a port and a file are needed");
	return NULL;
}

static bool commands_run_capture(struct call *call)
{
	const char *port = commands_next_word(call);
	const char *file = commands_last_file(call);

	return file &&
	       commands_capture(call->commands, port, file, call->error);
}

static bool commands_goes_up(const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && !strncmp(path, "..", len))
			return true;
		path += len;
		path += strspn(path, "/");
	}
	return false;
}

/* Opens a capture in the directory of @control */
static bool commands_capture_at(struct call *call, const char *control,
				const char *port, const char *file)
{
	const char *slash = strrchr(control, '/');
	int len = slash ? slash - control + 1 : 0;
	char *path;
	bool done;

	if (asprintf(&path, "%.*s%s%s", len, control, len ? "" : "./", file) <
	    0)
		return commands_fail(call, "no memory");
	done = commands_capture(call->commands, port, path, call->error);
	free(path);
	return done;
}

/*
 * A client may see other files than this process, but it has found the control
 * socket.
 */
static bool commands_run_capture_beside(struct call *call)
{
	const char *control = call->commands->control;
	const char *port = commands_next_word(call);
	const char *file = commands_last_file(call);

	if (!file)
		return false;
	if (!control)
		return commands_fail(call, "there is no control socket");
	if (commands_goes_up(file))
		return commands_fail(
			call,
			"%.256s: not in the directory of the control socket",
			file);
	return commands_capture_at(call, control, port, file);
}

/* The port of a NIC that the next word of the line names, or NULL */
static struct switch_port *commands_next_nic(struct call *call)
{
	struct switch_port *port = commands_next_port(call);

	if (port && !port->nic) {
		commands_fail(call, "%.32s is a wire, not a NIC", port->name);
		return NULL;
	}
	return port;
}

/* Likewise, if nothing follows */
static struct switch_port *commands_only_nic(struct call *call)
{
	struct switch_port *port = commands_next_nic(call);

	return port && commands_at_end(call) ? port : NULL;
}

/* Returns false after the last QP of a port */
static bool commands_put_qps(struct commands_rest *rest, FILE *out,
			     const struct switch_port *port)
{
	struct qp_info info;

	for (unsigned int i = 0; i < QPS_PIECE; i++) {
		if (!port->nic || !nic_next_qp(port->nic, &rest->qpn, &info))
			return false;
		qp_text_line(out, port->name, &info);
		rest->qpn++;
	}
	return true;
}

static bool commands_qps_step(struct commands_rest *rest, FILE *out)
{
	const struct switch_port *port = commands_rest_port(rest);

	if (!port)
		return false;
	if (!commands_put_qps(rest, out, port))
		commands_rest_next_port(rest);
	return true;
}

static bool commands_run_qps(struct call *call)
{
	struct switch_port *port = NULL;

	if (*call->args) {
		port = commands_only_nic(call);
		if (!port)
			return false;
	}
	call->rest->port = port;
	call->rest->step = commands_qps_step;
	return true;
}

static bool commands_run_qp(struct call *call)
{
	struct switch_port *port = commands_next_nic(call);
	const char *text;
	struct qp_info info;
	uint64_t wanted;
	uint32_t number;

	if (!port)
		return false;
	text = commands_next_word(call);
	if (!commands_at_end(call))
		return false;
	if (!rule_value_number(text, 0, UINT32_MAX, &wanted))
		return commands_fail(call, "\"%.32s\" is no number of a QP",
				     text);
	number = wanted;
	if (!nic_next_qp(port->nic, &number, &info) || info.number != wanted)
		return commands_fail(call, "%.32s has no QP %.32s", port->name,
				     text);
	qp_text_all(call->out, &info);
	return true;
}

static bool commands_journal_on(struct call *call)
{
	struct switch_port *port = commands_only_nic(call);

	if (!port)
		return false;
	return nic_keep_journal(port->nic, true) ||
	       commands_fail(call, "no memory");
}

static bool commands_journal_traffic(struct call *call)
{
	struct switch_port *port = commands_only_nic(call);

	if (!port)
		return false;
	if (!nic_keep_journal(port->nic, true))
		return commands_fail(call, "no memory");
	nic_journal_traffic(port->nic);
	return true;
}

static bool commands_journal_off(struct call *call)
{
	struct switch_port *port = commands_only_nic(call);

	return port && nic_keep_journal(port->nic, false);
}

/* Entries that have gone, and those of a journal that has gone, are left out */
static bool commands_journal_step(struct commands_rest *rest, FILE *out)
{
	const struct journal *journal = rest->journal;
	char line[JOURNAL_LINE_SIZE];

	if (rest->next < journal_first(journal))
		rest->next = journal_first(journal);
	for (unsigned int i = 0; i < JOURNAL_PIECE && rest->next < rest->end;
	     i++) {
		journal_text(journal_at(journal, rest->next++), line);
		fprintf(out, "%s\n", line);
	}
	return rest->next < rest->end;
}

static bool commands_journal_show(struct call *call)
{
	struct switch_port *port = commands_only_nic(call);
	const struct journal *journal;

	if (!port)
		return false;
	journal = nic_journal(port->nic);
	if (!journal->entries)
		return commands_fail(call, "%.32s keeps no journal",
				     port->name);
	call->rest->step = commands_journal_step;
	call->rest->journal = journal;
	call->rest->end = journal->num;
	return true;
}

static bool commands_run_log(struct call *call)
{
	const char *state = commands_next_word(call);

	if (!commands_at_end(call))
		return false;
	if (strcmp(state, "on") && strcmp(state, "off"))
		return commands_fail(call, "\"%.32s\" is neither on nor off",
				     state);
	call->commands->wire_faults.log.on = !strcmp(state, "on");
	return true;
}

static bool commands_run_help(struct call *call);

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
	{ "help", NULL, "", "print this", commands_run_help },
	{ "ports", NULL, "", "NICs and wires, and whether they are up",
	  commands_run_ports },
	{ "stats", NULL, " [PORT]", "all counters", commands_run_stats },
	{ "qps", NULL, " [NIC]", "queue pairs, a line for each",
	  commands_run_qps },
	{ "qp", NULL, " NIC NUMBER", "the state of a queue pair",
	  commands_run_qp },
	{ "fault", "add", " PORT,kind=KIND|preset=NAME[,KEY=VALUE]...",
	  "add rules; prints their numbers", commands_fault_add },
	{ "fault", "list", "", "all rules, and how often they were applied",
	  commands_fault_list },
	{ "fault", "delete", " NUMBER", "delete one rule",
	  commands_fault_delete },
	{ "fault", "clear", "", "delete all rules", commands_fault_clear },
	{ "link", NULL, " PORT up|down", "pull a cable, or put it back",
	  commands_run_link },
	{ "capture", NULL, " PORT FILE|off", "record its packets, as pcap",
	  commands_run_capture },
	{ "capture-beside", NULL, " PORT FILE",
	  "likewise, in the directory of this socket",
	  commands_run_capture_beside },
	{ "journal", "on", " NIC", "start the journal of a NIC",
	  commands_journal_on },
	{ "journal", "traffic", " NIC", "start one that has traffic, too",
	  commands_journal_traffic },
	{ "journal", "show", " NIC", "its entries, the oldest first",
	  commands_journal_show },
	{ "journal", "off", " NIC", "end it, and delete its entries",
	  commands_journal_off },
	{ "log", NULL, " on|off", "a line on stderr for each use of a rule",
	  commands_run_log },
};

static bool commands_run_help(struct call *call)
{
	char usage[64];

	if (!commands_at_end(call))
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

static bool commands_run_one(struct call *call)
{
	const char *name = commands_next_word(call);
	const char *sub = NULL;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		const struct command *command = &table[i];

		if (strcmp(command->name, name))
			continue;
		if (command->sub && !sub)
			sub = commands_next_word(call);
		if (!command->sub || !strcmp(command->sub, sub))
			return command->run(call);
	}
	return commands_fail(call,
			     "there is no command \"%.32s%s%.32s\"; try help",
			     name, sub && *sub ? " " : "", sub ? sub : "");
}

void commands_go_on(struct commands_rest *rest, FILE *out)
{
	if (rest->step && rest->step(rest, out))
		return;
	rest->step = NULL;
	fputs("ok\n", out);
}

void commands_run(struct commands *commands, char *line, FILE *out,
		  struct commands_rest *rest)
{
	struct call call = {
		.commands = commands,
		.args = line,
		.out = out,
		.rest = rest,
	};

	*rest = (struct commands_rest){ .sw = commands->sw };
	if (commands_run_one(&call))
		commands_go_on(rest, out);
	else
		fprintf(out, "error: %s\n", call.error);
}

void commands_init(struct commands *commands, struct net_switch *sw,
		   struct events *events)
{
	*commands = (struct commands){ .sw = sw, .events = events };
	wire_faults_init(&commands->wire_faults, sw);
}

void commands_release(struct commands *commands)
{
	wire_faults_release(&commands->wire_faults);
	for (unsigned int i = 0; i < commands->sw->num; i++)
		commands_end_capture(commands->sw->ports[i]);
}
