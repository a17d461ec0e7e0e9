// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a device counts of the messages that it drops */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runner.h"

enum { NUM_DROPS = sizeof(((struct node *)0)->drops) / sizeof(uint64_t) };

static const char *const drop_names[NUM_DROPS] = {
	"rx_drop_key",
	"rx_drop_wqe",
	"rx_drop_header",
};

/* The kernel keeps a value for 10 ms (lifespan), and counts in ticks */
#define KEPT_MS 20

static uint64_t read_drops(const struct line *line,
			   const struct ibv_context *ctx, const char *name)
{
	char path[IBV_SYSFS_PATH_MAX + 64];
	unsigned long long value;
	FILE *file;

	snprintf(path, sizeof(path), "%s/ports/1/hw_counters/%s",
		 ctx->device->ibdev_path, name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%llu", &value) != 1)
		fail(line, "%s cannot be read", path);
	fclose(file);
	return value;
}

/* What is read then is no older than the call. */
static void wait_kept(void)
{
	const struct timespec kept = { .tv_nsec = KEPT_MS * 1000000L };

	nanosleep(&kept, NULL);
}

static void begin(const struct line *line, struct node *node)
{
	wait_kept();
	for (unsigned int i = 0; i < NUM_DROPS; i++)
		node->drops[i] = read_drops(line, node->ctx, drop_names[i]);
}

static void wait_drops(const struct line *line, const struct node *node,
		       unsigned int which, uint64_t more)
{
	time_t end = time(NULL) + PATIENCE;
	uint64_t found;

	do
		found = read_drops(line, node->ctx, drop_names[which]) -
			node->drops[which];
	while (found < more && time(NULL) < end);
	if (found != more)
		fail(line, "%s has %" PRIu64 " more, expected %" PRIu64,
		     drop_names[which], found, more);
}

/*
 * Without a number of each counter, what it has now is what others follow. The
 * last line of a program must find what came just before.
 */
bool drops_call(const struct line *line)
{
	unsigned long number_of = strtoul(line->target, NULL, 0);
	struct node *node;

	if (strcmp(line->verb, "drops"))
		return false;
	if (number_of >= NUM_NODES)
		fail(line, "there is no such device");
	node = &program->nodes[number_of];
	if (!line->num_args)
		begin(line, node);
	if (arg(line, "last"))
		wait_kept();
	for (unsigned int i = 0; line->num_args && i < NUM_DROPS; i++)
		wait_drops(line, node, i, number(line, drop_names[i], 0));
	return true;
}
