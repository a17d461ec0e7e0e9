/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the driver says in the kernel's log about a call that it refuses */
#ifndef MYNIC_SELFTEST_REASONS_H
#define MYNIC_SELFTEST_REASONS_H

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Whether the driver says why; false without dynamic debugging */
static inline bool reasons_wanted(bool wanted)
{
	const char *text = wanted ? "module mynic +p" : "module mynic -p";
	int fd = open("/proc/dynamic_debug/control", O_WRONLY | O_CLOEXEC);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) > 0;
	close(fd);
	return done;
}

/* The log from now on, or -1 */
static inline int reasons_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && lseek(fd, 0, SEEK_END) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* No record of the kernel's log is longer. */
#define MAX_RECORD 8192

/* How many records that are left match @regex, or -1 if they cannot be read */
static inline int reasons_match(int fd, const regex_t *regex)
{
	char record[MAX_RECORD + 1];
	int found = 0;
	ssize_t len;

	/* EPIPE: records have been lost to newer ones */
	while ((len = read(fd, record, MAX_RECORD)) > 0 ||
	       (len < 0 && errno == EPIPE)) {
		if (len < 0)
			continue;
		record[len] = '\0';
		found += !regexec(regex, record, 0, NULL, 0);
	}
	return len < 0 && errno == EAGAIN ? found : -1;
}

/*
 * How many times an RDMA device has said what the extended regular expression
 * @expected matches; -1 if nobody can tell. Reads and closes the log.
 */
static inline int reasons_count(int fd, const char *expected)
{
	char pattern[256];
	int found = -1;
	regex_t regex;

	snprintf(pattern, sizeof(pattern), " mynic_[0-9]+: %s", expected);
	if (!regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE | REG_NOSUB)) {
		found = reasons_match(fd, &regex);
		regfree(&regex);
	}
	close(fd);
	return found;
}

/* @call is refused with @error, and the driver says why. */
#define EXPECT_REASON(call, error, expected)                \
	do {                                                \
		int log_ = reasons_open();                  \
		int error_ = (call);                        \
		EXPECT_EQ(error_, error)                    \
		TH_LOG("%s", #call);                        \
		EXPECT_GT(reasons_count(log_, expected), 0) \
		TH_LOG("no \"%s\"", expected);              \
	} while (0)

#endif /* MYNIC_SELFTEST_REASONS_H */
