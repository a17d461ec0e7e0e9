/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Confinement of the process after all files are open. A client, guest or peer
 * that takes over the process can do little more than the process does anyway.
 */
#ifndef MYNIC_HOST_CONFINE_H
#define MYNIC_HOST_CONFINE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* ELF header of the program, defined by the linker */
extern const ElfW(Ehdr) __ehdr_start;

/* AddressSanitizer needs system calls and threads of its own. */
#ifdef __SANITIZE_ADDRESS__
#define CONFINE_SYSTEM_CALLS false
#else
#define CONFINE_SYSTEM_CALLS true
#endif

/* Gives up all capabilities. Returns 0 or -errno. */
int confine_privileges(void);

/**
 * confine_resources() - set limits
 * @bytes: private memory, beyond the present use of the process
 * @files: number of open files
 *
 * Return: 0 or -errno.
 */
int confine_resources(size_t bytes, size_t files);

/**
 * confine_system_calls() - allow only the system calls that are needed
 *
 * It applies to all threads, and no more threads can be created. Any other
 * system call prints a line on standard error and ends the process with SIGSYS.
 *
 * Return: 0 or -errno.
 */
int confine_system_calls(void);

#endif /* MYNIC_HOST_CONFINE_H */
