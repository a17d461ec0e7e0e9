/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The connection to mynic-device, and how mynic-ctl ends if something fails. */
#ifndef MYNIC_CTL_CLIENT_H
#define MYNIC_CTL_CLIENT_H

#include <stdbool.h>
#include <stdio.h>

#define EXIT_USAGE 2

/* Called before a message of an error is printed. NULL: nothing is */
extern void (*before_message)(void);

/* Prints a message, and exits with @status. */
void __attribute__((noreturn, format(printf, 2, 3)))
die(int status, const char *format, ...);

/* Prints a message about the command line, and exits. */
void __attribute__((noreturn, format(printf, 1, 2)))
die_of_usage(const char *format, ...);

/* Connects to the socket at @path; exits if that fails. */
FILE *client_open(const char *path);

/**
 * client_send() - send a command
 * @file: the connection
 * @words: its words, up to a NULL
 */
void client_send(FILE *file, char **words);

/**
 * client_line() - receive a line of the answer
 * @file: the connection
 * @line: in and out: buffer of getline(3)
 * @size: its size
 *
 * Exits if the command has failed.
 *
 * Return: false: the answer has ended.
 */
bool client_line(FILE *file, char **line, size_t *size);

/**
 * client_ask() - send a command of one word, and read the whole answer
 * @file: the connection
 * @command: the command
 * @use: is called with each line, which it may modify
 * @ctx: argument of @use
 */
void client_ask(FILE *file, const char *command,
		void (*use)(void *ctx, char *line), void *ctx);

#endif /* MYNIC_CTL_CLIENT_H */
