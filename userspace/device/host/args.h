/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The command line */
#ifndef MYNIC_HOST_ARGS_H
#define MYNIC_HOST_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "switch.h"
#include "wire.h"

#define EXIT_USAGE 2

#define ARGS_MAX_FAULTS 256

/* Bytes of the name of a NIC or a wire, with its end */
#define ARGS_NAME_SIZE 32

/**
 * struct nic_args - what --nic says
 * @name: given, or "nic" and its number, from 1
 * @path: of the socket
 * @mac: permanent MAC
 * @disk: a client may share memory that is a file on a disk
 * @memory: bytes that its objects may take, 0: as many as NICs mostly may
 * @trusted: it may have the MAC of another NIC, and send from it
 */
struct nic_args {
	char name[ARGS_NAME_SIZE];
	const char *path;
	uint8_t mac[6];
	bool disk;
	uint64_t memory;
	bool trusted;
};

/**
 * struct wire_args - what --wire says
 * @name: given, or "wire" and its number, from 1
 * @config: all of it
 */
struct wire_args {
	char name[ARGS_NAME_SIZE];
	struct wire_config config;
};

/**
 * struct capture_args - what --capture says
 * @port: which packets are recorded
 * @file: where; NULL: in @fd
 * @fd: an open file, which the process was started with
 */
struct capture_args {
	const char *port;
	const char *file;
	int fd;
};

/**
 * struct args - the command line
 * @nics: NICs, in order
 * @num_nics: of @nics
 * @wires: wires, in order
 * @num_wires: of @wires
 * @socket_mode: permissions of all UNIX sockets that are made
 * @control: path of the control socket, or NULL
 * @faults: rules, in order
 * @num_faults: of @faults
 * @captures: files, in order
 * @num_captures: of @captures
 * @exit_with_parent: end when the parent process ends
 */
struct args {
	struct nic_args nics[SWITCH_MAX_PORTS];
	unsigned int num_nics;
	struct wire_args wires[SWITCH_MAX_PORTS];
	unsigned int num_wires;
	unsigned int socket_mode;
	const char *control;
	const char *faults[ARGS_MAX_FAULTS];
	unsigned int num_faults;
	struct capture_args captures[SWITCH_MAX_PORTS];
	unsigned int num_captures;
	bool exit_with_parent;
};

/**
 * args_parse() - take the command line apart
 * @args: result, zeroed before; points into @argv
 * @argc: as main() has it
 * @argv: likewise; changed
 *
 * Ends the process if the command line is wrong or asks for nothing but a
 * description.
 */
void args_parse(struct args *args, int argc, char **argv);

#endif /* MYNIC_HOST_ARGS_H */
