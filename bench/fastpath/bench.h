/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The interface between the loops of the benchmark (main.c) and providers.
 * card_PROVIDER.c plays the device of a provider in ordinary memory.
 */
#ifndef MYNIC_BENCH_FASTPATH_H
#define MYNIC_BENCH_FASTPATH_H

#include <infiniband/driver.h>

#include "../../tests/lib/harness_tap.h"

/* Requests between two turns of the device: as many as a queue has */
#define RING 1024
#define BATCH 16
#define PAYLOAD_LEN 32

#define LKEY 0x200
#define RKEY 0x300
#define REMOTE_ADDR 0x2000

enum lacks {
	LACKS_WRITE = 1 << 0, /* ibv_post_send() of a WRITE */
	LACKS_WR = 1 << 1, /* ibv_wr_*() */
	LACKS_WR_BATCH = 1 << 2, /* ... of more than one request at a time */
	LACKS_EX = 1 << 3, /* ibv_start_poll() */
	LACKS_TD = 1 << 4, /* thread domains */
};

/**
 * struct card - a provider and a device
 * @lacks: forms of the benchmark that it lacks, enum lacks
 * @watch: have the device watch new requests from now on, so that doorbells can
 * be left out; NULL: it cannot
 * @open: open the device
 * @create_qp: create a QP with functions for ibv_wr_*(); NULL is
 *	ibv_create_qp_ex()
 * @needs_ah: requests need an address handle
 * @nothing: functions that return at once, instead of a provider's; else NULL
 * @send: execute the requests of the SQ, with a completion for each
 * @recv: the same for the RQ: a message of PAYLOAD_LEN bytes for each request
 */
struct card {
	uint32_t lacks;
	void (*watch)(void);
	struct ibv_context *(*open)(void);
	struct ibv_qp *(*create_qp)(struct ibv_context *context,
				    struct ibv_qp_init_attr_ex *attr);
	bool needs_ah;
	void (*nothing)(struct ibv_context *context, struct ibv_qp_ex *qp,
			struct ibv_cq_ex *cq);
	void (*send)(void);
	void (*recv)(void);
};

extern const struct card card;

#endif /* MYNIC_BENCH_FASTPATH_H */
