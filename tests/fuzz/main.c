// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Opens the devices and runs a program, line by line */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"

#ifndef PROGRAMS
#define PROGRAMS NULL /* what to run if no file is named: see cprogram.py */
#endif

#define PORT 1
#define BLANKS "\n "
#define MAX_PROGRAMS 16

_Thread_local struct program *program;

static const char *const texts[] = { PROGRAMS };
const char *host_command;
static const char *names[NUM_NODES] = { "mynic_0", "mynic_1" };

static void usage(FILE *to)
{
	fprintf(to,
		"Usage: runner [-p] [-d DEVICE -d DEVICE] [-t SECONDS] [-x COMMAND]\n"
		"              [PROGRAM]...\n"
		"\n"
		"Runs programs of scripts/fuzz-verbs (standard input if none is named)\n"
		"between two RDMA devices, mynic_0 and mynic_1 unless others are named,\n"
		"and ends at the first call that does not do what its program says.\n"
		"Several programs run at the same time, as threads or, with -p, as\n"
		"processes.\n"
		"\n"
		"A call fails that does not return in so many SECONDS.\n"
		"With -x, COMMAND NODE WHAT does to a device what only its host can: see\n"
		"tests/fuzz/host.\n"
		"\n"
		"Exit status: 0 if all did; 1 if one did not; 2 if a program cannot be\n"
		"run here.\n");
}

/** open_named() - open the device that has a name just now */
struct ibv_context *open_named(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

static bool find_gid(struct node *node)
{
	static const uint8_t ipv4[12] = { [10] = 0xff, 0xff };
	struct ibv_gid_entry entry;

	for (int i = 0; i < 256; i++) {
		if (ibv_query_gid_ex(node->ctx, PORT, i, &entry, 0) ||
		    entry.gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    memcmp(entry.gid.raw, ipv4, sizeof(ipv4)))
			continue;
		node->gid_index = i;
		node->gid = entry.gid;
		return true;
	}
	return false;
}

static bool open_node(struct node *node, const char *name)
{
	struct ibv_device_attr_ex attr = { 0 };

	node->ctx = open_named(name);
	if (!node->ctx) {
		fprintf(stderr, "there is no RDMA device %s\n", name);
		return false;
	}
	if (!ibv_query_device_ex(node->ctx, NULL, &attr))
		node->clock_mask = attr.completion_timestamp_mask;
	if (!find_gid(node)) {
		fprintf(stderr, "%s has no IPv4 address\n", name);
		return false;
	}
	node->arena = arena_make(&node->dmabuf);
	if (!node->arena) {
		fprintf(stderr, "no memory\n");
		return false;
	}
	return true;
}

static bool split(char *text, struct line *line)
{
	char *save, *word = strtok_r(text, BLANKS, &save);

	*line = (struct line){ .number = line->number, .verb = word };
	if (!word || word[0] == '#')
		return false;
	line->target = strtok_r(NULL, BLANKS, &save);
	while ((word = strtok_r(NULL, BLANKS, &save)) && strcmp(word, "=>")) {
		/* The rule that the call breaks: for readers of the program */
		if (!strncmp(word, "rule=", 5))
			continue;
		if (line->num_args == MAX_ARGS) {
			fprintf(stderr, "line %lu is too long\n", line->number);
			exit(2);
		}
		line->args[line->num_args++] = word;
	}
	if (word)
		line->expect = strtok_r(NULL, "\n", &save);
	return true;
}

static void make_call(const struct line *line)
{
	if (!line->target || !line->expect ||
	    (!objects_call(line) && !queue_call(line) && !region_call(line) &&
	     !window_call(line) && !modify_call(line) && !post_call(line) &&
	     !batch_call(line) && !poll_call(line) && !lost_call(line) &&
	     !drops_call(line) && !event_call(line) && !memory_call(line) &&
	     !domain_call(line) && !device_call(line) && !import_call(line) &&
	     !connection_call(line) && !wq_call(line) && !flow_call(line) &&
	     !tag_call(line) && !from_wc_call(line) &&
	     !device_memory_call(line) && !multicast_call(line) &&
	     !host_call(line))) {
		fprintf(stderr, "line %lu: %s is no call\n", line->number,
			line->verb);
		exit(2);
	}
}

/**
 * run_line() - make a call, and compare
 * @number: of the line
 * @text: of the line; it is cut to pieces
 *
 * Return: 1, or 0 if the line has no call.
 */
unsigned int run_line(unsigned long number, char *text)
{
	struct line line = { .number = number };

	if (!split(text, &line))
		return 0;
	making_begin(&line);
	if (line.target)
		clock_stamp(&line);
	make_call(&line);
	making_end();
	return 1;
}

static unsigned long run(FILE *file)
{
	unsigned long calls = 0, number = 0;
	char *text = NULL;
	size_t size = 0;

	while (getline(&text, &size, file) > 0) {
		if (threads_add(++number, text))
			continue;
		calls += threads_run();
		calls += run_line(number, text);
	}
	free(text);
	if (ferror(file)) {
		fprintf(stderr, "a program cannot be read\n");
		exit(2);
	}
	return calls + threads_run();
}

/* Each program has contexts, objects and memory of its own. */
static void *run_program(void *arg)
{
	program = arg;
	making_watch();
	program->objects = calloc(NUM_KINDS, sizeof(*program->objects));
	program->stamps = calloc(MAX_STAMPS, sizeof(*program->stamps));
	if (!program->objects || !program->stamps) {
		fprintf(stderr, "no memory\n");
		exit(2);
	}
	for (unsigned int i = 0; i < NUM_NODES; i++) {
		struct line line = { .number = 1,
				     .verb = "open_device",
				     .target = (char *)names[i] };

		making_begin(&line);
		if (!open_node(&program->nodes[i], names[i]))
			exit(2);
		making_end();
	}
	printf("%lu calls as described\n", run(program->file));
	return NULL;
}

static int run_threads(struct program *programs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (pthread_create(&programs[i].thread, NULL, run_program,
				   &programs[i]))
			return 2;
	for (unsigned int i = 0; i < n; i++)
		pthread_join(programs[i].thread, NULL);
	return 0;
}

static int run_processes(struct program *programs, unsigned int n)
{
	int worst = 0, status;

	for (unsigned int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 2;
		if (!pid) {
			run_program(&programs[i]);
			exit(0);
		}
	}
	while (wait(&status) > 0)
		if (!WIFEXITED(status))
			worst = 2;
		else if (WEXITSTATUS(status) > worst)
			worst = WEXITSTATUS(status);
	return worst;
}

static FILE *open_text(const char *text)
{
	return fmemopen((void *)text, strlen(text), "r");
}

/* Those that are named, or those that were built in, or the standard input */
static unsigned int find_programs(struct program *programs, char **files,
				  unsigned int n)
{
	unsigned int num_texts = sizeof(texts) / sizeof(*texts);

	if (n > MAX_PROGRAMS || num_texts > MAX_PROGRAMS) {
		fprintf(stderr, "there are more than %u programs\n",
			MAX_PROGRAMS);
		exit(2);
	}
	for (unsigned int i = 0; i < n; i++) {
		programs[i].name = n > 1 ? files[i] : NULL;
		programs[i].file = fopen(files[i], "r");
		if (!programs[i].file) {
			fprintf(stderr, "%s: %s\n", files[i], strerror(errno));
			exit(2);
		}
	}
	if (n)
		return n;
	programs[0].file = stdin;
	for (unsigned int i = 0; texts[0] && i < num_texts; i++)
		programs[i].file = open_text(texts[i]);
	return num_texts;
}

int main(int argc, char **argv)
{
	static struct program programs[MAX_PROGRAMS];
	bool processes = false;
	unsigned int n, named = 0;
	char *rest;
	int opt;

	while ((opt = getopt(argc, argv, "d:hpt:x:")) != -1) {
		if (opt == 'h') {
			usage(stdout);
			return 0;
		}
		if (opt == 'p') {
			processes = true;
			continue;
		}
		if (opt == 't') {
			call_patience = strtoul(optarg, &rest, 10);
			if (call_patience && !*rest)
				continue;
			usage(stderr);
			return 2;
		}
		if (opt == 'x') {
			host_command = optarg;
			continue;
		}
		if (opt != 'd' || named == NUM_NODES) {
			usage(stderr);
			return 2;
		}
		names[named++] = optarg;
	}
	n = find_programs(programs, argv + optind, argc - optind);
	if (processes)
		return run_processes(programs, n);
	return run_threads(programs, n);
}
