/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages from one NIC to another over RC queue pairs, posted and polled by as
 * little code as possible. The entries of a ring are prepared once. Posting
 * writes the wr_id, to fetch the cache line from the device like real posting.
 * Each completion is checked.
 */
#ifndef MYNIC_BENCH_TRAFFIC_H
#define MYNIC_BENCH_TRAFFIC_H

#include "bench.h"

/**
 * struct traffic_config - properties of messages and queue pairs
 * @opcode: IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ or IBV_WR_SEND
 * @inline_data: the data is in the entries
 * @scattered: buffers consist of scattered pages of 4 KiB, like those of a
 * program in a guest; else of one piece
 * @size: bytes of a message
 * @num_qps: number of queue pairs
 * @depth: entries of a ring, and upper bound of a QP's messages in flight; a
 * power of two
 * @num_buffers: number of buffers that all entries use in turn; 0: a buffer for
 * each entry
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
 * @config: their properties
 * @stride: bytes from one buffer to the next
 * @from: buffers of the requester, in the order of traffic_place(), those of
 * the first QP first
 * @to: buffers of the responder, in the same order
 * @num_pages: pages of @from, and of @to
 * @flows: one for each QP
 * @first_qpn: number of the first QP of the requester
 * @first_recv_qpn: ... of the responder
 * @next: next QP
 * @posted: messages that are not completed
 * @limit: upper bound of @posted
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

/** traffic_new() - set up queue pairs, of which those of @from send */
struct traffic *traffic_new(struct drv *from, struct drv *to,
			    const struct traffic_config *config);

/**
 * traffic_place() - find a byte of the buffers
 * @t: the queue pairs
 * @offset: offset of the byte in all buffers in succession
 *
 * Return: offset in @from and @to. The rest of a page of DRV_PAGE bytes follows.
 */
size_t traffic_place(const struct traffic *t, size_t offset);

/*
 * traffic_post() - post messages to a QP with room for them, and ring the
 * doorbell
 */
void traffic_post(struct traffic *t, unsigned int qp, unsigned int num);

/**
 * traffic_poll() - poll all present completions
 * @t: the queue pairs
 *
 * Return: messages that they complete.
 */
unsigned int traffic_poll(struct traffic *t);

/** traffic_poll_recv() - the same for receive requests, which it posts again */
unsigned int traffic_poll_recv(struct traffic *t);

/**
 * traffic_run() - keep the queue pairs busy in turn
 * @t: the queue pairs; idle
 * @ns: time during which to post
 * @nap: us to sleep when there is nothing to poll; 0: never
 *
 * Return: messages that were sent; all have arrived.
 */
uint64_t traffic_run(struct traffic *t, uint64_t ns, unsigned int nap);

#endif /* MYNIC_BENCH_TRAFFIC_H */
