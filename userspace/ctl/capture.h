/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Names of captures. mynic-device opens them, and may see other files than
 * mynic-ctl. The directory of the control socket is one that both see. A link
 * to the socket may be in one that mynic-device does not see.
 */
#ifndef MYNIC_CTL_CAPTURE_H
#define MYNIC_CTL_CAPTURE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

/* The name that the words of a command up to a NULL make. To be freed. */
char *capture_file(char **words);

/**
 * capture_name() - the name of a capture for mynic-device
 * @socket: path of the control socket
 * @file: path of the capture, as mynic-ctl sees it
 * @beside: out: @file is in the directory of @socket, or below it
 *
 * Return: a path from that directory on, with "./" before it, or else an
 * absolute one; to be freed.
 */
char *capture_name(const char *socket, const char *file, bool *beside);

/**
 * struct capture_sight - what is seen here under the name of a capture
 * @st: the file; all 0 if none is seen
 * @err: why none is seen: an errno, or 0
 * @time: when that was
 */
struct capture_sight {
	struct stat st;
	int err;
	time_t time;
};

/* Fills @sight. */
void capture_look(const char *file, struct capture_sight *sight);

/**
 * capture_check() - say so if a capture has begun that is not seen here
 * @socket: path of the control socket
 * @file: path of the capture, as mynic-ctl sees it
 * @before: what was seen before mynic-device got the command
 *
 * mynic-device makes the file, or empties it. Another file keeps its time.
 */
void capture_check(const char *socket, const char *file,
		   const struct capture_sight *before);

#endif /* MYNIC_CTL_CAPTURE_H */
