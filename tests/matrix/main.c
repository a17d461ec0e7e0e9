// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 *   matrix		the tests, between mynic_0 and mynic_1; prints TAP
 *   matrix --table	the table of operations, as in Documentation
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "matrix.h"

#define PATIENCE 300 /* seconds */

static char reason[256];
static unsigned int number, failures;

void wrong(const char *format, ...)
{
	size_t len = strlen(reason);
	va_list args;

	if (len && format[0] != '(')
		return;
	if (len && len < sizeof(reason) - 1)
		reason[len++] = ' ';
	va_start(args, format);
	vsnprintf(reason + len, sizeof(reason) - len, format, args);
	va_end(args);
}

bool is_wrong(void)
{
	return reason[0];
}

void result(const char *format, ...)
{
	va_list args;

	if (is_wrong()) {
		printf("# %s\nnot ", reason);
		failures++;
	}
	printf("ok %u - ", ++number);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	reason[0] = '\0';
}

static uint8_t pattern(size_t i, unsigned int seed)
{
	return seed * 37 + i * 7 + (i >> 8) * 13;
}

void fill(uint8_t *buf, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = pattern(i, seed);
}

bool filled(const uint8_t *buf, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		if (buf[i] != pattern(i, seed))
			return false;
	return true;
}

bool wait_wc(struct ibv_cq *cq, struct ibv_wc *wc)
{
	time_t end = time(NULL) + PATIENCE;

	while (time(NULL) < end)
		if (ibv_poll_cq(cq, 1, wc) == 1)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct node nodes[2] = {};

	if (argc == 2 && !strcmp(argv[1], "--table")) {
		print_table();
		return 0;
	}
	if (argc != 1) {
		fprintf(stderr, "Usage: %s [--table]\n", argv[0]);
		return 2;
	}
	for (int i = 0; i < 2; i++) {
		const char *missing = node_open(&nodes[i], i);

		if (missing) {
			fprintf(stderr, "%s: mynic %d: %s: %s\n", argv[0], i,
				missing, strerror(errno));
			return 1;
		}
	}
	test_cells(&nodes[0], &nodes[1]);
	test_refusals(&nodes[0], &nodes[1]);
	test_lengths(&nodes[0], &nodes[1]);
	printf("1..%u\n", number);
	return failures != 0;
}
