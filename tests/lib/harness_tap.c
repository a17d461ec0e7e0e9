// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Running of tests in child processes, and their results as TAP. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness_tap.h"

/* Generous: the slowest test takes seconds, even with ASan on a busy machine */
#define TEST_TIMEOUT 1800

#define EXIT_FAILED 1
#define EXIT_SKIPPED 4

struct memory {
	struct memory *next;
	max_align_t data[];
};

struct at_end {
	void (*fn)(void *arg);
	void *arg;
	struct at_end *next;
};

static struct tap_test *tests;
static struct tap_test **tests_end = &tests;
static struct memory *memory;
static struct at_end *at_end;

void tap_register(struct tap_test *test)
{
	*tests_end = test;
	tests_end = &test->next;
}

static void print_lines(const char *format, va_list args)
{
	char text[1024];
	char *line, *rest = text;

	vsnprintf(text, sizeof(text), format, args);
	while ((line = strsep(&rest, "\n")))
		printf("# %s\n", line);
	fflush(stdout);
}

void tap_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_lines(format, args);
	va_end(args);
}

void tap_fail(const char *file, int line, const char *format, ...)
{
	const char *name = strrchr(file, '/');
	va_list args;

	printf("# %s:%d:\n", name ? name + 1 : file, line);
	va_start(args, format);
	print_lines(format, args);
	va_end(args);
	_exit(EXIT_FAILED);
}

void tap_skip(const char *reason)
{
	tap_note("%s", reason);
	_exit(EXIT_SKIPPED);
}

void tap_at_end(void (*fn)(void *arg), void *arg)
{
	struct at_end *end = tap_alloc(sizeof(*end));

	*end = (struct at_end){ fn, arg, at_end };
	at_end = end;
}

void *tap_alloc(size_t size)
{
	struct memory *m = calloc(1, sizeof(*m) + size);

	if (!m)
		FAIL("no memory");
	m->next = memory;
	memory = m;
	return m->data;
}

const char *tap_print(const char *format, ...)
{
	const size_t size = 256;
	char *text = tap_alloc(size);
	va_list args;

	va_start(args, format);
	vsnprintf(text, size, format, args);
	va_end(args);
	return text;
}

void tap_restart_timeout(void)
{
	alarm(TEST_TIMEOUT);
}

static void run_child(const struct tap_test *test)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tap_restart_timeout();
	if (test->run)
		test->run();
	else
		test->run_with(test->with);
	for (; at_end; at_end = at_end->next)
		at_end->fn(at_end->arg);
	while (memory) {
		struct memory *next = memory->next;

		free(memory);
		memory = next;
	}
	/* the leak checker runs in exit() and changes the exit status */
	exit(0);
}

static bool run_test(const struct tap_test *test, unsigned int number)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		run_child(test);
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("fork");
		exit(EXIT_FAILED);
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED) {
		printf("ok %u - %s # SKIP\n", number, test->name);
		return true;
	}
	if (WIFSIGNALED(status))
		printf("# ended by signal %d (%s)\n", WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) > EXIT_FAILED)
		printf("# exit status %d\n", WEXITSTATUS(status));
	printf("%sok %u - %s\n", status ? "not " : "", number, test->name);
	return !status;
}

static bool wanted(const struct tap_test *test, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], test->name))
			return true;
	return argc == 1;
}

int main(int argc, char **argv)
{
	unsigned int number = 0, plan = 0;
	bool ok = true;

	for (struct tap_test *t = tests; t; t = t->next)
		plan += wanted(t, argc, argv);
	printf("TAP version 13\n1..%u\n", plan);
	for (struct tap_test *t = tests; t; t = t->next)
		if (wanted(t, argc, argv))
			ok &= run_test(t, ++number);
	return !ok || !plan;
}
