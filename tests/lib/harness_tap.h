/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Unit tests that print TAP. A program is a set of TEST() functions, without a
 * main(). Each test runs in its own process, so that a crash, an endless loop
 * or a failed check ends that test and no other.
 *
 *	PROGRAM [NAME...]	run all tests, or those named
 */
#ifndef MYNIC_HARNESS_TAP_H
#define MYNIC_HARNESS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* @run_with: test of a table: called with @with, instead of @run */
struct tap_test {
	const char *name;
	void (*run)(void);
	void (*run_with)(const void *with);
	const void *with;
	struct tap_test *next;
};

/*
 * tap_register() - add a test. TEST() calls it; tests of a table are added
 * before main()
 */
void tap_register(struct tap_test *test);

/** tap_fail() - end the running test as failed, with a message */
void tap_fail(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

/** tap_skip() - end the running test as skipped */
void tap_skip(const char *reason) __attribute__((noreturn));

/** tap_note() - print a line of explanation */
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** tap_restart_timeout() - restart the timeout, for a test of many runs */
void tap_restart_timeout(void);

/** tap_at_end() - have @fn(@arg) called when the running test has passed */
void tap_at_end(void (*fn)(void *arg), void *arg);

/** tap_alloc() - allocate zeroed memory, valid until the end of the test */
void *tap_alloc(size_t size);

/*
 * tap_print() - format a text of up to 255 bytes, valid until the end of the
 * test
 */
const char *tap_print(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

#define TEST(fn)                                                \
	static void fn(void);                                   \
	__attribute__((constructor)) static void fn##_add(void) \
	{                                                       \
		static struct tap_test test = {                 \
			.name = #fn,                            \
			.run = fn,                              \
		};                                              \
		tap_register(&test);                            \
	}                                                       \
	static void fn(void)

#define FAIL(...) tap_fail(__FILE__, __LINE__, __VA_ARGS__)

#define CHECK(cond)                                  \
	do {                                         \
		if (!(cond))                         \
			FAIL("not true: %s", #cond); \
	} while (0)

#define CHECK_EQ(got, want)                                                 \
	do {                                                                \
		unsigned long long got_ = (unsigned long long)(got);        \
		unsigned long long want_ = (unsigned long long)(want);      \
		if (got_ != want_)                                          \
			FAIL("%s is %llu (0x%llx), not %s = %llu (0x%llx)", \
			     #got, got_, got_, #want, want_, want_);        \
	} while (0)

#define CHECK_MEM(got, want, len)                                           \
	do {                                                                \
		const uint8_t *got_ = (const void *)(got);                  \
		const uint8_t *want_ = (const void *)(want);                \
		for (size_t i_ = 0; i_ < (size_t)(len); i_++)               \
			if (got_[i_] != want_[i_])                          \
				FAIL("%s[%zu] is 0x%02x, not 0x%02x", #got, \
				     i_, got_[i_], want_[i_]);              \
	} while (0)

#endif /* MYNIC_HARNESS_TAP_H */
