/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The command line of mynic-device, as structs */
#ifndef MYNIC_HOST_ARGS_H
#define MYNIC_HOST_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "switch.h"
#include "wire.h"

#define EXIT_USAGE 2

#define ARGS_MAX_FAULTS 256

/* Bytes of the name of a NIC or a wire, including its NUL */
#define ARGS_NAME_SIZE 32

/**
 * struct nic_args - one --nic option
 * @name: name as given, or "nic" and the number of the NIC, from 1
 * @path: path of the vfio-user socket
 * @mac: permanent MAC address
 * @disk: the client may share memory that is a file on a disk
 * @memory: upper bound for the bytes of its objects; 0: the default
 * @trusted: it may use the MAC of another NIC, and send from it
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
 * struct wire_args - one --wire option
 * @name: name as given, or "wire" and the number of the wire, from 1
 * @config: the parsed option
 */
struct wire_args {
	char name[ARGS_NAME_SIZE];
	struct wire_config config;
};

/**
 * struct capture_args - one --capture option
 * @port: name of the port whose packets are recorded
 * @file: path of the file; NULL: @fd is used
 * @fd: an open file that the process has inherited
 */
struct capture_args {
	const char *port;
	const char *file;
	int fd;
};

/**
 * struct args - the command line
 * @nics: NICs in the order of their options
 * @num_nics: number of @nics
 * @wires: wires in the order of their options
 * @num_wires: number of @wires
 * @socket_mode: permissions of all UNIX sockets that the process creates
 * @control: path of the control socket, or NULL
 * @faults: rules of wire faults in the order of their options
 * @num_faults: number of @faults
 * @captures: captures in the order of their options
 * @num_captures: number of @captures
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
 * args_parse() - parse the command line
 * @args: result, zeroed by the caller; it keeps pointers into @argv
 * @argc: argument of main()
 * @argv: argument of main(); it is modified
 *
 * Ends the process if the command line is wrong, or asks for the help text or
 * the version.
 */
void args_parse(struct args *args, int argc, char **argv);

#endif /* MYNIC_HOST_ARGS_H */
