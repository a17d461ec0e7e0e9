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

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/*
 * Whether an RDMA device has said what the extended regular expression
 * @expected matches. Reads and closes the log.
 */
static inline bool reasons_have(int fd, const char *expected)
{
	char pattern[256], record[2048];
	bool found = false;
	regex_t regex;
	ssize_t len;

	snprintf(pattern, sizeof(pattern), " mynic_[0-9]+: %s", expected);
	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE | REG_NOSUB))
		return false;
	/* EPIPE: records have been lost to newer ones */
	while ((len = read(fd, record, sizeof(record) - 1)) > 0 ||
	       (len < 0 && errno == EPIPE)) {
		if (len < 0)
			continue;
		record[len] = '\0';
		found |= !regexec(&regex, record, 0, NULL, 0);
	}
	regfree(&regex);
	close(fd);
	return found;
}

/* @call is refused with @error, and the driver says why. */
#define EXPECT_REASON(call, error, expected)              \
	do {                                              \
		int log_ = reasons_open();                \
		int error_ = (call);                      \
		EXPECT_EQ(error_, error)                  \
		TH_LOG("%s", #call);                      \
		EXPECT_TRUE(reasons_have(log_, expected)) \
		TH_LOG("no \"%s\"", expected);            \
	} while (0)

#endif /* MYNIC_SELFTEST_REASONS_H */
