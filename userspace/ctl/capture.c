// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Names of captures, as mynic-device has to get them. */
#include "capture.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "client.h"

static char *capture_no_memory(void)
{
	die(EXIT_FAILURE, "%s", strerror(ENOMEM));
}

static char *capture_copy(const char *text)
{
	char *copy = strdup(text);

	return copy ? copy : capture_no_memory();
}

static const char *capture_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The directory of @path, without links; or NULL, if there is none */
static char *capture_directory(const char *path)
{
	char *copy = capture_copy(path);
	size_t len = capture_last_part(path) - path;
	char *found;

	copy[len] = '\0';
	found = realpath(len ? copy : ".", NULL);
	free(copy);
	return found;
}

/* Likewise, that of the socket itself, which @socket may be a link to */
static char *capture_place(const char *socket)
{
	char *path = realpath(socket, NULL);
	char *place = path ? capture_directory(path) : NULL;

	free(path);
	return place;
}

/* What follows the directory @above in @path, or NULL */
static const char *capture_below(const char *path, const char *above)
{
	/* That of the root is the only one that ends in a slash. */
	size_t len = strcmp(above, "/") ? strlen(above) : 0;

	if (strncmp(path, above, len) || (path[len] && path[len] != '/'))
		return NULL;
	return path + len + strspn(path + len, "/");
}

static char *capture_join(const char *directory, const char *last)
{
	bool slash = *directory && strcmp(directory, "/");
	char *path;

	if (asprintf(&path, "%s%s%s", directory, slash ? "/" : "", last) < 0)
		return capture_no_memory();
	return path;
}

/* Frees @path. Spaces before the name of a file would not belong to it. */
static char *capture_as_relative(char *path)
{
	char *relative = capture_join(".", path);

	free(path);
	return relative;
}

char *capture_file(char **words)
{
	char *file = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&file, &size);

	if (!out)
		return capture_no_memory();
	for (int i = 0; words[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", words[i]);
	return fclose(out) ? capture_no_memory() : file;
}

char *capture_name(const char *socket, const char *file, bool *beside)
{
	char *place = capture_place(socket);
	char *directory = capture_directory(file);
	const char *below = NULL;
	char *name;

	if (!directory && *file != '/')
		die(EXIT_FAILURE, "%s: %s", file, strerror(errno));
	if (place && directory)
		below = capture_below(directory, place);
	*beside = below;
	if (!below && *file == '/')
		name = capture_copy(file);
	else
		name = capture_join(below ? below : directory,
				    capture_last_part(file));
	if (below)
		name = capture_as_relative(name);
	free(place);
	free(directory);
	return name;
}

void capture_look(const char *file, struct capture_sight *sight)
{
	sight->time = time(NULL);
	sight->err = lstat(file, &sight->st) ? errno : 0;
	if (sight->err)
		memset(&sight->st, 0, sizeof(sight->st));
}

/* Time stamps of some file systems are up to two seconds apart */
static bool capture_is_recent(const struct capture_sight *sight)
{
	return sight->st.st_mtim.tv_sec >= sight->time - 2;
}

/* A FIFO changes with the first packets only, which may come much later */
static bool capture_has_begun(const struct capture_sight *before,
			      const struct capture_sight *after)
{
	const struct stat *a = &before->st, *b = &after->st;

	return !S_ISREG(b->st_mode) || capture_is_recent(before) ||
	       a->st_dev != b->st_dev || a->st_ino != b->st_ino ||
	       a->st_mtim.tv_sec != b->st_mtim.tv_sec ||
	       a->st_mtim.tv_nsec != b->st_mtim.tv_nsec;
}

static void capture_tell_place(const char *socket, const char *file)
{
	char *place = capture_place(socket);

	fprintf(stderr,
		"mynic-ctl: %s is in mynic-device's file system, not here. Files in %s are seen by both\n",
		file, place ? place : "the directory of SOCKET");
	free(place);
}

void capture_check(const char *socket, const char *file,
		   const struct capture_sight *before)
{
	struct capture_sight after;

	capture_look(file, &after);
	if (after.err && after.err != ENOENT)
		fprintf(stderr,
			"mynic-ctl: the capture has begun, but %s: %s\n", file,
			strerror(after.err));
	else if (after.err || !capture_has_begun(before, &after))
		capture_tell_place(socket, file);
}
