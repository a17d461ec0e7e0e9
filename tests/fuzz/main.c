// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Opens the devices and runs a program, line by line */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

#ifndef PROGRAM
#define PROGRAM "" /* what to run if no file is named: see cprogram.py */
#endif

#define PORT 1
#define BLANKS "\n "

struct node nodes[NUM_NODES];

static void usage(FILE *to)
{
	fprintf(to,
		"Usage: runner [-d DEVICE -d DEVICE] [PROGRAM]\n"
		"\n"
		"Runs a program of scripts/fuzz-verbs (standard input if none is named)\n"
		"between two RDMA devices, mynic_0 and mynic_1 unless others are named,\n"
		"and ends at the first call that does not do what the program says.\n"
		"\n"
		"Exit status: 0 if all did; 1 if one did not; 2 if the program cannot be\n"
		"run here.\n");
}

static struct ibv_context *open_device(const char *name)
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
	node->ctx = open_device(name);
	if (!node->ctx) {
		fprintf(stderr, "there is no RDMA device %s\n", name);
		return false;
	}
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
	char *word = strtok(text, BLANKS);

	*line = (struct line){ .number = line->number, .verb = word };
	if (!word || word[0] == '#')
		return false;
	line->target = strtok(NULL, BLANKS);
	while ((word = strtok(NULL, BLANKS)) && strcmp(word, "=>")) {
		if (line->num_args == MAX_ARGS) {
			fprintf(stderr, "line %lu is too long\n", line->number);
			exit(2);
		}
		line->args[line->num_args++] = word;
	}
	if (word)
		line->expect = strtok(NULL, "\n");
	return true;
}

static void run_line(const struct line *line)
{
	if (!line->target || !line->expect ||
	    (!objects_call(line) && !queue_call(line) && !region_call(line) &&
	     !window_call(line) && !modify_call(line) && !post_call(line) &&
	     !batch_call(line) && !poll_call(line) && !event_call(line) &&
	     !memory_call(line) && !domain_call(line) && !device_call(line) &&
	     !import_call(line) && !connection_call(line) && !wq_call(line) &&
	     !flow_call(line) && !tag_call(line) && !device_memory_call(line) &&
	     !multicast_call(line))) {
		fprintf(stderr, "line %lu: %s is no call\n", line->number,
			line->verb);
		exit(2);
	}
}

static unsigned long run(FILE *program)
{
	struct line line = { 0 };
	unsigned long calls = 0;
	char *text = NULL;
	size_t size = 0;

	while (getline(&text, &size, program) > 0) {
		line.number++;
		if (!split(text, &line))
			continue;
		run_line(&line);
		calls++;
	}
	free(text);
	return calls;
}

int main(int argc, char **argv)
{
	const char *names[NUM_NODES] = { "mynic_0", "mynic_1" };
	FILE *program =
		*PROGRAM ? fmemopen((void *)PROGRAM, strlen(PROGRAM), "r") :
			   stdin;
	unsigned int named = 0;
	int opt;

	while ((opt = getopt(argc, argv, "d:h")) != -1) {
		if (opt == 'h') {
			usage(stdout);
			return 0;
		}
		if (opt != 'd' || named == NUM_NODES) {
			usage(stderr);
			return 2;
		}
		names[named++] = optarg;
	}
	if (optind < argc)
		program = fopen(argv[optind], "r");
	if (!program) {
		fprintf(stderr, "%s: %s\n", argv[optind], strerror(errno));
		return 2;
	}
	for (unsigned int i = 0; i < NUM_NODES; i++)
		if (!open_node(&nodes[i], names[i]))
			return 2;
	printf("%lu calls as described\n", run(program));
	return 0;
}
