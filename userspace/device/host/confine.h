/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the process gives up when all is open: whoever should get it to run what
 * it likes, a client, a guest or a peer, has no more than what it does anyway.
 */
#ifndef MYNIC_HOST_CONFINE_H
#define MYNIC_HOST_CONFINE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* The program's own ELF header, by the linker */
extern const ElfW(Ehdr) __ehdr_start;

/* Address sanitizer makes system calls of its own, and threads. */
#ifdef __SANITIZE_ADDRESS__
#define CONFINE_SYSTEM_CALLS false
#else
#define CONFINE_SYSTEM_CALLS true
#endif

/** confine_privileges() - give up all capabilities. Return: 0 or -errno */
int confine_privileges(void);

/**
 * confine_resources() - set limits
 * @bytes: of private memory, beyond what the process has now
 * @files: open files
 *
 * Return: 0 or -errno.
 */
int confine_resources(size_t bytes, size_t files);

/**
 * confine_system_calls() - allow no others than those that are needed
 *
 * For all threads; there can be no more. Any other system call is a line on
 * standard error and the end of the process, by SIGSYS.
 *
 * Return: 0 or -errno.
 */
int confine_system_calls(void);

#endif /* MYNIC_HOST_CONFINE_H */
