// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Reads the answers to "ports", "stats" and "qps". */
#include "sample.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

#define NAME_FORMAT "%63s"

/* Returns @array with room for another element behind its @num ones, zeroed */
static void *sample_grow(void *array, size_t num, size_t size)
{
	/* Only at powers of two, as there may be many */
	if (!(num & (num - 1)))
		array = realloc(array, (num ? 2 * num : 1) * size);
	if (!array)
		die(EXIT_FAILURE, "%s", strerror(ENOMEM));
	memset((char *)array + num * size, 0, size);
	return array;
}

static void sample_unknown(const char *line)
{
	die(EXIT_FAILURE, "an answer that this mynic-ctl does not know: %s",
	    line);
}

static void sample_add_port(void *ctx, char *line)
{
	struct sample *sample = ctx;
	struct sample_port *port;

	sample->ports =
		sample_grow(sample->ports, sample->num_ports, sizeof(*port));
	port = &sample->ports[sample->num_ports];
	if (sscanf(line, NAME_FORMAT " " NAME_FORMAT " " NAME_FORMAT,
		   port->name, port->kind, port->state) != 3)
		sample_unknown(line);
	sample->num_ports++;
}

static void sample_add_stat(void *ctx, char *line)
{
	struct sample *sample = ctx;
	struct sample_stat *stat;

	sample->stats =
		sample_grow(sample->stats, sample->num_stats, sizeof(*stat));
	stat = &sample->stats[sample->num_stats];
	if (sscanf(line, NAME_FORMAT " " NAME_FORMAT " %" SCNu64, stat->port,
		   stat->name, &stat->value) != 3)
		sample_unknown(line);
	sample->num_stats++;
}

/* Returns whether the word is known. */
static bool sample_qp_word(struct sample_qp *qp, const char *word)
{
	return sscanf(word, "peer=%x", &qp->peer) == 1 ||
	       sscanf(word, "posted=%u", &qp->posted) == 1 ||
	       sscanf(word, "sent=%u", &qp->sent) == 1 ||
	       sscanf(word, "waits=" NAME_FORMAT, qp->waits) == 1;
}

static void sample_add_qp(void *ctx, char *line)
{
	struct sample *sample = ctx;
	struct sample_qp *qp;
	char *word, *save;
	int end = 0;

	sample->qps = sample_grow(sample->qps, sample->num_qps, sizeof(*qp));
	qp = &sample->qps[sample->num_qps];
	if (sscanf(line, NAME_FORMAT " %x " NAME_FORMAT " " NAME_FORMAT "%n",
		   qp->port, &qp->number, qp->type, qp->state, &end) != 4)
		sample_unknown(line);
	for (word = strtok_r(line + end, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		/* Later versions may say more. */
		(void)sample_qp_word(qp, word);
	sample->num_qps++;
}

void sample_take(struct sample *sample, FILE *file)
{
	*sample = (struct sample){};
	client_ask(file, "ports", sample_add_port, sample);
	client_ask(file, "stats", sample_add_stat, sample);
	client_ask(file, "qps", sample_add_qp, sample);
}

void sample_free(struct sample *sample)
{
	free(sample->ports);
	free(sample->stats);
	free(sample->qps);
}

uint64_t sample_stat(const struct sample *sample, const char *port,
		     const char *name)
{
	for (size_t i = 0; i < sample->num_stats; i++)
		if (!strcmp(sample->stats[i].port, port) &&
		    !strcmp(sample->stats[i].name, name))
			return sample->stats[i].value;
	return 0;
}
