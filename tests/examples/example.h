/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The common part of the examples: a device, memory, connected queue pairs, and
 * completions. Any error ends the program.
 */
#ifndef MYNIC_EXAMPLE_H
#define MYNIC_EXAMPLE_H

#include <infiniband/verbs.h>
#include <stdint.h>

#define MEMORY_SIZE 65536

/**
 * struct example - the first mynic device, and objects on it
 * @ctx: the device
 * @pd: protection domain
 * @cq: CQ of all queue pairs
 * @mr: region with all rights that most examples need
 * @memory: MEMORY_SIZE bytes, under @mr, zeroed
 * @gid_index: an IPv4 address of the device
 * @gid: the address
 */
struct example {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	char *memory;
	int gid_index;
	union ibv_gid gid;
};

/** must() - end the program unless a condition holds, saying what failed */
void must(int condition, const char *what);

/** example_open() - open the device; the program's end closes it */
void example_open(struct example *e);

/** example_cap() - capacities that suffice for an example */
struct ibv_qp_cap example_cap(void);

/**
 * example_create_qp() - create a QP with ibv_create_qp_ex()
 * @e: the device
 * @type: its type
 * @send_ops: enum ibv_qp_create_send_ops_flags, or 0 for ibv_post_send() only
 *
 * Return: the QP.
 */
struct ibv_qp *example_create_qp(struct example *e, enum ibv_qp_type type,
				 uint64_t send_ops);

/** example_connect() - move a QP to RTS, connected to the QP with a number */
void example_connect(struct example *e, struct ibv_qp *qp, uint32_t peer);

/** example_raw_to_rts() - move a RAW_PACKET QP to RTS */
void example_raw_to_rts(struct ibv_qp *qp);

/** example_mac() - get the device's MAC address */
void example_mac(const struct example *e, uint8_t *mac);

/** example_wait() - wait for a completion, which must be a success */
struct ibv_wc example_wait(struct example *e);

/** example_ah() - address handle for the device's own address */
struct ibv_ah *example_ah(struct example *e);

/** example_post_recv() - post a receive request for an offset in the memory */
void example_post_recv(struct example *e, struct ibv_qp *qp, uint64_t wr_id,
		       unsigned int offset, unsigned int len);

#endif /* MYNIC_EXAMPLE_H */
