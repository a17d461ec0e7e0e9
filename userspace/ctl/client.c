// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The connection to mynic-device: commands and answers, as lines. */
#include "client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

void (*before_message)(void);

static void client_complain(const char *format, va_list args)
{
	if (before_message)
		before_message();
	fflush(stdout);
	fputs("mynic-ctl: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void die(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	client_complain(format, args);
	va_end(args);
	exit(status);
}

void die_of_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	client_complain(format, args);
	va_end(args);
	fputs("Try mynic-ctl --help\n", stderr);
	exit(EXIT_USAGE);
}

FILE *client_open(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	FILE *file;
	int fd;

	if (strlen(path) >= sizeof(addr.sun_path))
		die(EXIT_FAILURE, "%s: %s", path, strerror(ENAMETOOLONG));
	memcpy(addr.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		die(EXIT_FAILURE, "%s: %s", path, strerror(errno));
	file = fdopen(fd, "r+");
	if (!file)
		die(EXIT_FAILURE, "%s", strerror(errno));
	return file;
}

void client_send(FILE *file, char **words)
{
	for (int i = 0; words[i]; i++) {
		if (strchr(words[i], '\n'))
			die_of_usage("a command is one line");
		fprintf(file, "%s%s", i ? " " : "", words[i]);
	}
	fputc('\n', file);
	/* If the write fails there will be no answer. */
	fflush(file);
}

bool client_line(FILE *file, char **line, size_t *size)
{
	static const char error[] = "error: ";

	if (getline(line, size, file) <= 0)
		die(EXIT_FAILURE, "mynic-device has ended the connection");
	(*line)[strcspn(*line, "\n")] = '\0';
	if (!strncmp(*line, error, strlen(error)))
		die(EXIT_FAILURE, "%s", *line + strlen(error));
	return strcmp(*line, "ok");
}

void client_ask(FILE *file, const char *command,
		void (*use)(void *ctx, char *line), void *ctx)
{
	char *word = strdup(command);
	char *words[] = { word, NULL };
	char *line = NULL;
	size_t size = 0;

	if (!word)
		die(EXIT_FAILURE, "%s", strerror(errno));
	client_send(file, words);
	while (client_line(file, &line, &size))
		use(ctx, line);
	free(line);
	free(word);
}
