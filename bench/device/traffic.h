/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages from one NIC to another over RC queue pairs, posted and polled by as
 * little code as does it. The entries of a ring are prepared once; posting one
 * means to write its wr_id, as posting takes the entry's line from the device.
 * Every completion is checked.
 */
#ifndef MYNIC_BENCH_TRAFFIC_H
#define MYNIC_BENCH_TRAFFIC_H

#include "bench.h"

/**
 * struct traffic_config - what goes over the queue pairs
 * @opcode: IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ or IBV_WR_SEND
 * @inline_data: the data is in the entries
 * @scattered: buffers are in pages of 4 KiB that do not follow each other, as
 *	those of a guest's program are; else in one piece
 * @size: bytes of a message
 * @num_qps: queue pairs
 * @depth: entries of a ring and messages of a QP that are on their way at most;
 *	a power of two
 * @num_buffers: buffers that the entries of all rings take in turns; 0: each has
 *	one of its own
 * @batch: messages per doorbell
 * @signal_every: messages per completion
 */
struct traffic_config {
	enum ibv_wr_opcode opcode;
	bool inline_data;
	bool scattered;
	uint32_t size;
	unsigned int num_qps;
	unsigned int depth;
	unsigned int num_buffers;
	unsigned int batch;
	unsigned int signal_every;
};

struct flow;

/**
 * struct traffic - queue pairs in use
 * @config: what they do
 * @stride: from one buffer to the next, bytes
 * @from: buffers of the requester, those of the first QP first, in the order
 *	that traffic_place() says
 * @to: buffers of the responder, in the same order
 * @num_pages: of @from and of @to
 * @flows: one for each QP
 * @first_qpn: number of the first QP of the requester
 * @first_recv_qpn: ... of the responder
 * @next: QP whose turn it is
 * @posted: messages that are not completed
 * @limit: at most so many
 * @cq: completions of requests
 * @recv_cq: completions of receive requests
 */
struct traffic {
	struct traffic_config config;
	uint32_t stride;
	uint8_t *from;
	uint8_t *to;
	size_t num_pages;
	struct flow *flows;
	uint32_t first_qpn;
	uint32_t first_recv_qpn;
	unsigned int next;
	uint64_t posted;
	uint64_t limit;
	struct drv_cq *cq;
	struct drv_cq *recv_cq;
};

/** traffic_new() - set up queue pairs; those of @from send */
struct traffic *traffic_new(struct drv *from, struct drv *to,
			    const struct traffic_config *config);

/**
 * traffic_place() - where the buffers have their bytes
 * @t: the queue pairs
 * @offset: of the byte, if the buffers are one behind the other
 *
 * Return: offset in @from and @to. The rest of a page of DRV_PAGE bytes follows.
 */
size_t traffic_place(const struct traffic *t, size_t offset);

/** traffic_post() - post messages to a QP that has room for them, and ring */
void traffic_post(struct traffic *t, unsigned int qp, unsigned int num);

/**
 * traffic_poll() - take the completions that are there
 * @t: the queue pairs
 *
 * Return: messages that they complete.
 */
unsigned int traffic_poll(struct traffic *t);

/** traffic_poll_recv() - the same for receive requests, which are posted again */
unsigned int traffic_poll_recv(struct traffic *t);

/**
 * traffic_run() - keep the queue pairs busy, one after the other
 * @t: the queue pairs; idle
 * @ns: how long to post
 * @nap: sleep so long, us, when there is nothing to poll; 0: never
 *
 * Return: messages that were sent; all have arrived.
 */
uint64_t traffic_run(struct traffic *t, uint64_t ns, unsigned int nap);

#endif /* MYNIC_BENCH_TRAFFIC_H */
