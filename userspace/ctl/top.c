// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A view of a running device that is refreshed. On a terminal it fills the
 * screen until q is pressed. Elsewhere views follow each other.
 */
#include "top.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "sample.h"

#define NSEC_PER_SEC 1000000000ULL
#define DEFAULT_INTERVAL 2.0

/* Lines of queue pairs where there is no screen */
#define MANY_LINES 1000

/**
 * struct top - the view
 * @file: the connection
 * @interval: seconds between two views
 * @left: views that are left; 0: no limit
 * @screen: the output is a terminal
 * @before: the last sample
 * @taken: its time in ns
 */
struct top {
	FILE *file;
	double interval;
	unsigned int left;
	bool screen;
	struct sample before;
	uint64_t taken;
};

static volatile sig_atomic_t ended;

/* The terminal's mode, to be restored however the program ends */
static struct termios saved;
static bool on_screen;

static void top_end(int signal)
{
	(void)signal;
	ended = 1;
}

static uint64_t top_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* A rate in at most 6 characters, such as "12.3k" */
static const char *top_rate(double rate, char text[16])
{
	static const char units[] = " kMGT";
	unsigned int unit = 0;

	while (rate >= 999.5 && unit < strlen(units) - 1) {
		rate /= 1000;
		unit++;
	}
	if (unit)
		snprintf(text, 16, "%.*f%c", rate < 99.95, rate, units[unit]);
	else
		snprintf(text, 16, "%.0f", rate);
	return text;
}

/* How much a counter grew in a second, since the last sample */
static double top_growth(const struct top *top, const struct sample *now,
			 const char *port, const char *name, double seconds)
{
	uint64_t old = sample_stat(&top->before, port, name);
	uint64_t new = sample_stat(now, port, name);

	/* A reset of the NIC begins at 0 again. */
	return (new < old ? new : new - old) / seconds;
}

static const struct {
	const char *title;
	const char *counter;
	unsigned int factor;
} columns[] = {
	{ "TX bit/s", "tx_bytes", 8 },	  { "RX bit/s", "rx_bytes", 8 },
	{ "TX pkt/s", "tx_packets", 1 },  { "RX pkt/s", "rx_packets", 1 },
	{ "RESENT/s", "retransmit", 1 },  { "TIMEOUT/s", "ack_timeout", 1 },
	{ "RNR NAK/s", "rx_nak_rnr", 1 }, { "CE/s", "rx_ecn_marked", 1 },
	{ "TX CNP/s", "tx_cnp", 1 },	  { "RX CNP/s", "rx_cnp", 1 },
};

#define NUM_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void top_put_ports(const struct top *top, const struct sample *now,
			  double seconds)
{
	char text[16];

	printf("%-10s %-6s", "PORT", "STATE");
	for (size_t i = 0; i < NUM_COLUMNS; i++)
		printf(" %9s", columns[i].title);
	putchar('\n');
	for (size_t i = 0; i < now->num_ports; i++) {
		const struct sample_port *port = &now->ports[i];

		printf("%-10s %-6s", port->name, port->state);
		for (size_t j = 0; j < NUM_COLUMNS; j++) {
			double rate = top_growth(top, now, port->name,
						 columns[j].counter, seconds);

			printf(" %9s",
			       top_rate(rate * columns[j].factor, text));
		}
		putchar('\n');
	}
}

/* Whether something about a QP deserves a line */
static bool top_is_busy(const struct sample_qp *qp)
{
	return *qp->waits || qp->posted || !strcmp(qp->state, "ERR") ||
	       !strcmp(qp->state, "SQE");
}

static void top_put_qp(const struct sample_qp *qp)
{
	char number[16], peer[16] = "-";

	snprintf(number, sizeof(number), "0x%x", qp->number);
	if (qp->peer)
		snprintf(peer, sizeof(peer), "0x%x", qp->peer);
	printf("%-10s %-8s %-10s %-5s %-8s %7u %7u  %s\n", qp->port, number,
	       qp->type, qp->state, peer, qp->posted, qp->sent,
	       *qp->waits ? qp->waits : "-");
}

static void top_put_qps(const struct sample *now, size_t lines)
{
	size_t busy = 0, shown = 0;

	for (size_t i = 0; i < now->num_qps; i++)
		busy += top_is_busy(&now->qps[i]);
	printf("\nQueue pairs: %zu, busy or in error: %zu\n", now->num_qps,
	       busy);
	if (!busy)
		return;
	printf("%-10s %-8s %-10s %-5s %-8s %7s %7s  %s\n", "NIC", "QP", "TYPE",
	       "STATE", "PEER", "POSTED", "SENT", "WAITS FOR");
	for (size_t i = 0; i < now->num_qps && shown < lines; i++) {
		if (!top_is_busy(&now->qps[i]))
			continue;
		top_put_qp(&now->qps[i]);
		shown++;
	}
	if (shown < busy)
		printf("and %zu more\n", busy - shown);
}

/* Lines for queue pairs below the table of ports */
static size_t top_lines(const struct top *top, const struct sample *now)
{
	size_t used = now->num_ports + 7;
	struct winsize size;

	if (!top->screen || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ||
	    !size.ws_row)
		return MANY_LINES;
	return size.ws_row > used ? size.ws_row - used : 0;
}

static void top_put(const struct top *top, const struct sample *now,
		    double seconds)
{
	char text[16];
	time_t clock = time(NULL);

	if (top->screen)
		fputs("\033[H\033[2J", stdout);
	strftime(text, sizeof(text), "%H:%M:%S", localtime(&clock));
	printf("mynic-ctl top, %s, rates of %.1f s%s\n\n", text, seconds,
	       top->screen ? "; q ends it" : "");
	top_put_ports(top, now, seconds);
	top_put_qps(now, top_lines(top, now));
	if (fflush(stdout))
		die(EXIT_FAILURE, "%s", strerror(errno));
}

/* Waits for the next view. Returns false if the user has had enough */
static bool top_wait(const struct top *top)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t end = top_now() + top->interval * NSEC_PER_SEC;
	uint64_t now;
	char key;

	while (!ended && (now = top_now()) < end) {
		int ms = (end - now) / 1000000 + 1;

		if (poll(&input, top->screen, ms) <= 0)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q')
			return false;
	}
	return !ended;
}

static void top_end_screen(void)
{
	if (!on_screen)
		return;
	on_screen = false;
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

static void top_begin_screen(struct top *top)
{
	struct sigaction action = { .sa_handler = top_end };
	struct termios mode;

	top->screen = isatty(STDOUT_FILENO) && !tcgetattr(STDIN_FILENO, &saved);
	if (!top->screen)
		return;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	atexit(top_end_screen);
	/* The screen's contents are gone when it ends. */
	before_message = top_end_screen;
	on_screen = true;
	mode = saved;
	mode.c_lflag &= ~(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &mode);
	fputs("\033[?1049h\033[?25l", stdout);
}

static double top_number(const char *option, const char *text, double least)
{
	char *end;
	double number = text ? strtod(text, &end) : 0;

	if (!text)
		die_of_usage("top: %s needs a number", option);
	if (end == text || *end || !(number >= least) || number > 86400)
		die_of_usage("top: %s: not a number from %g to 86400: \"%s\"",
			     option, least, text);
	return number;
}

static void top_parse(struct top *top, char **words)
{
	for (; *words; words++) {
		if (!strcmp(*words, "--interval")) {
			top->interval = top_number(words[0], words[1], 0.1);
			words++;
		} else if (!strcmp(*words, "--views")) {
			top->left = top_number(words[0], words[1], 1);
			words++;
		} else {
			die_of_usage("top: what is \"%s\"?", *words);
		}
	}
}

void top_run(const char *socket, char **words)
{
	struct top top = { .interval = DEFAULT_INTERVAL };

	top_parse(&top, words);
	top.file = client_open(socket);
	sample_take(&top.before, top.file);
	top.taken = top_now();
	top_begin_screen(&top);
	while (top_wait(&top)) {
		struct sample now;
		uint64_t taken;

		sample_take(&now, top.file);
		taken = top_now();
		top_put(&top, &now, (double)(taken - top.taken) / NSEC_PER_SEC);
		sample_free(&top.before);
		top.before = now;
		top.taken = taken;
		if (top.left && !--top.left)
			break;
	}
	sample_free(&top.before);
	fclose(top.file);
}
