/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What mynic-device says of its ports and queue pairs at one time. */
#ifndef MYNIC_CTL_SAMPLE_H
#define MYNIC_CTL_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes for a name of a port, a counter or a state, which are shorter */
#define SAMPLE_NAME_SIZE 64

/**
 * struct sample_port - a NIC or a wire
 * @name: name
 * @kind: "nic" or "wire"
 * @state: "up", "down" or "pulled"
 */
struct sample_port {
	char name[SAMPLE_NAME_SIZE];
	char kind[SAMPLE_NAME_SIZE];
	char state[SAMPLE_NAME_SIZE];
};

/**
 * struct sample_stat - a counter of a port
 * @port: name of the port
 * @name: name of the counter
 * @value: value
 */
struct sample_stat {
	char port[SAMPLE_NAME_SIZE];
	char name[SAMPLE_NAME_SIZE];
	uint64_t value;
};

/**
 * struct sample_qp - a queue pair
 * @port: name of its NIC
 * @number: QPN
 * @type: such as "RC"
 * @state: such as "RTS"
 * @peer: QPN of the peer; 0: none
 * @posted: send requests that have not completed
 * @sent: of these, those that were sent
 * @waits: what it waits for, such as "ack,rate"; "": nothing
 */
struct sample_qp {
	char port[SAMPLE_NAME_SIZE];
	uint32_t number;
	char type[SAMPLE_NAME_SIZE];
	char state[SAMPLE_NAME_SIZE];
	uint32_t peer;
	uint32_t posted;
	uint32_t sent;
	char waits[SAMPLE_NAME_SIZE];
};

/**
 * struct sample - ports, counters and queue pairs
 * @ports: the ports
 * @num_ports: elements of @ports
 * @stats: the counters, in the order of ports
 * @num_stats: elements of @stats
 * @qps: the queue pairs, in the order of NICs and numbers
 * @num_qps: elements of @qps
 */
struct sample {
	struct sample_port *ports;
	size_t num_ports;
	struct sample_stat *stats;
	size_t num_stats;
	struct sample_qp *qps;
	size_t num_qps;
};

/* Asks over the connection @file. */
void sample_take(struct sample *sample, FILE *file);
void sample_free(struct sample *sample);

/* The counter of a port; 0 if there is none. */
uint64_t sample_stat(const struct sample *sample, const char *port,
		     const char *name);

#endif /* MYNIC_CTL_SAMPLE_H */
