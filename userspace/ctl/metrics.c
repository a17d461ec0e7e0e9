// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Metrics in the text format of Prometheus, on standard output. With --http
 * they are the answer to a request on standard input, for inetd or socat.
 */
#include "metrics.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "sample.h"

/* A longer request is refused. One that takes longer has no answer. */
#define REQUEST_SIZE 65536
#define REQUEST_SECONDS 10

/* What is needed of the first line: a query behind the path is not */
#define REQUEST_LINE_SIZE 128

#define METRICS_PATH "/metrics"

/* Text in a label's quotes */
static void metrics_put_quoted(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void metrics_put_label(FILE *out, char before, const char *name,
			      const char *value)
{
	fprintf(out, "%c%s=\"", before, name);
	metrics_put_quoted(out, value);
	fputc('"', out);
}

static void metrics_put_head(FILE *out, const char *name, const char *type,
			     const char *about)
{
	fprintf(out, "# HELP mynic_%s %s\n# TYPE mynic_%s %s\n", name, about,
		name, type);
}

static void metrics_put_ports(FILE *out, const struct sample *sample)
{
	metrics_put_head(out, "port_up", "gauge", "1 if the port has a link.");
	for (size_t i = 0; i < sample->num_ports; i++) {
		const struct sample_port *port = &sample->ports[i];

		fputs("mynic_port_up", out);
		metrics_put_label(out, '{', "port", port->name);
		metrics_put_label(out, ',', "kind", port->kind);
		fprintf(out, "} %d\n", !strcmp(port->state, "up"));
	}
}

/**
 * struct metric - a counter, or a family of them
 * @name: name without prefix and suffix
 * @rule: number of the rule of a fault that it is about; 0: none
 * @stat: port and value
 */
struct metric {
	char name[SAMPLE_NAME_SIZE];
	unsigned int rule;
	const struct sample_stat *stat;
};

/* fault_7_applied is the metric fault_applied of the rule 7. */
static struct metric metrics_of_stat(const struct sample_stat *stat)
{
	struct metric metric = { .stat = stat };
	int end = 0;

	if (sscanf(stat->name, "fault_%u_%n", &metric.rule, &end) == 1 && end)
		snprintf(metric.name, sizeof(metric.name), "fault_%.50s",
			 stat->name + end);
	else
		memcpy(metric.name, stat->name, sizeof(metric.name));
	return metric;
}

/* By name, then in the order of the answer, which all ports of a name keep */
static int metrics_compare(const void *a, const void *b)
{
	const struct metric *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (order)
		return order;
	return (x->stat > y->stat) - (x->stat < y->stat);
}

static void metrics_put_value(FILE *out, const struct metric *metric,
			      const char *suffix)
{
	char rule[16];

	fprintf(out, "mynic_%s%s", metric->name, suffix);
	metrics_put_label(out, '{', "port", metric->stat->port);
	if (metric->rule) {
		snprintf(rule, sizeof(rule), "%u", metric->rule);
		metrics_put_label(out, ',', "rule", rule);
	}
	fprintf(out, "} %" PRIu64 "\n", metric->stat->value);
}

static void metrics_put_stats(FILE *out, const struct sample *sample)
{
	struct metric *metrics =
		calloc(sample->num_stats + 1, sizeof(*metrics));
	const char *last = "";

	if (!metrics)
		die(EXIT_FAILURE, "no memory");
	for (size_t i = 0; i < sample->num_stats; i++)
		metrics[i] = metrics_of_stat(&sample->stats[i]);
	qsort(metrics, sample->num_stats, sizeof(*metrics), metrics_compare);
	for (size_t i = 0; i < sample->num_stats; i++) {
		const char *name = metrics[i].name;
		bool gauge = !strcmp(name, "memory_bytes");
		char full[SAMPLE_NAME_SIZE + 8];

		snprintf(full, sizeof(full), "%s%s", name,
			 gauge ? "" : "_total");
		if (strcmp(name, last))
			metrics_put_head(out, full, gauge ? "gauge" : "counter",
					 "As mynic-ctl stats.");
		metrics_put_value(out, &metrics[i], gauge ? "" : "_total");
		last = name;
	}
	free(metrics);
}

static bool metrics_same_kind(const struct sample_qp *a,
			      const struct sample_qp *b)
{
	return !strcmp(a->port, b->port) && !strcmp(a->type, b->type) &&
	       !strcmp(a->state, b->state);
}

static int metrics_compare_qps(const void *a, const void *b)
{
	const struct sample_qp *x = a, *y = b;
	int order = strcmp(x->port, y->port);

	if (!order)
		order = strcmp(x->type, y->type);
	return order ? order : strcmp(x->state, y->state);
}

/* How many there are of each kind; sorts them */
static void metrics_put_qps(FILE *out, struct sample *sample)
{
	struct sample_qp *qps = sample->qps;
	size_t num = 0;

	metrics_put_head(out, "qps", "gauge", "Queue pairs.");
	if (sample->num_qps)
		qsort(qps, sample->num_qps, sizeof(*qps), metrics_compare_qps);
	for (size_t i = 0; i < sample->num_qps; i++) {
		num++;
		if (i + 1 < sample->num_qps &&
		    metrics_same_kind(&qps[i], &qps[i + 1]))
			continue;
		fputs("mynic_qps", out);
		metrics_put_label(out, '{', "port", qps[i].port);
		metrics_put_label(out, ',', "type", qps[i].type);
		metrics_put_label(out, ',', "state", qps[i].state);
		fprintf(out, "} %zu\n", num);
		num = 0;
	}
}

static void metrics_put(FILE *out, struct sample *sample)
{
	metrics_put_ports(out, sample);
	metrics_put_stats(out, sample);
	metrics_put_qps(out, sample);
}

static void metrics_http_head(const char *status, const char *type)
{
	printf("HTTP/1.0 %s\r\nContent-Type: %s\r\nConnection: close\r\n\r\n",
	       status, type);
}

/* A query after the path, which Prometheus can be told to add, changes nothing. */
static bool metrics_is_path(const char *path)
{
	size_t len = strlen(METRICS_PATH);

	return !strncmp(path, METRICS_PATH, len) &&
	       (!path[len] || path[len] == '?');
}

/*
 * Reads a request up to its empty line. Without the rest of one that is too
 * long, closing the connection could lose the answer.
 *
 * Return: its length. @first: its first line, or the beginning of it
 */
static size_t metrics_read_head(char first[REQUEST_LINE_SIZE])
{
	size_t len = 0, lines = 0, in_line = 0;
	int c;

	memset(first, 0, REQUEST_LINE_SIZE);
	for (; (c = getchar()) != EOF && (c != '\n' || in_line); len++) {
		if (!lines && len < REQUEST_LINE_SIZE - 1)
			first[len] = c;
		if (c == '\n') {
			lines++;
			in_line = 0;
		} else if (c != '\r') {
			in_line++;
		}
	}
	return len;
}

/* Returns false if the request is none, and says so to the client */
static bool metrics_read_request(void)
{
	char method[16] = "", path[64] = "", first[REQUEST_LINE_SIZE];
	const char *error = NULL;
	size_t len;

	alarm(REQUEST_SECONDS);
	len = metrics_read_head(first);
	alarm(0);
	if (len > REQUEST_SIZE)
		error = "431 Request Header Fields Too Large";
	else if (sscanf(first, "%15s %63s", method, path) != 2)
		error = "400 Bad Request";
	else if (strcmp(method, "GET"))
		error = "405 Method Not Allowed";
	else if (!metrics_is_path(path))
		error = "404 Not Found";
	if (!error)
		return true;
	metrics_http_head(error, "text/plain");
	puts(error);
	return false;
}

void metrics_run(const char *socket, char **words)
{
	bool http = words[0] && !strcmp(words[0], "--http");
	struct sample sample;
	FILE *file;

	if (words[http])
		die_of_usage("metrics: what is \"%s\"?", words[http]);
	if (http && !metrics_read_request())
		return;
	/* If this fails, an HTTP client finds no answer, instead of no metrics */
	file = client_open(socket);
	sample_take(&sample, file);
	fclose(file);
	if (http)
		metrics_http_head("200 OK", "text/plain; version=0.0.4");
	metrics_put(stdout, &sample);
	sample_free(&sample);
}
