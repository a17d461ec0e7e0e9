/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tag matching: the list of tags of an SRQ, the ring of operations on it, and
 * the match of each SEND that arrives. Rendezvous of a matched tag is in
 * rndv.h.
 */
#ifndef MYNIC_TM_H
#define MYNIC_TM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "base/outcome.h"
#include "state/memory_types.h"
#include "state/queue_types.h"

struct mynic_cqe;
struct nic;
struct opcode_info;
struct packet;
struct qp;
struct srq;

#define TM_MAX_TAGS 1024
#define TM_MIN_LOG_OPS 1
#define TM_MAX_LOG_OPS 8

/* Limit that fits in one packet with every path MTU */
#define TM_MAX_RNDV_HDR 256

/* Bytes of the header without and with the fields of RNDV */
#define TM_EAGER_HDR 16
#define TM_RNDV_HDR 32

/**
 * struct tag_name - a handle by which the host knows tags
 * @link: link in one of &tag_matching.names
 * @handle: the handle
 * @tags: tags with this handle, in the order in which they were added
 */
struct tag_name {
	LIST_ENTRY(tag_name) link;
	uint32_t handle;
	struct tag_queue tags;
};

LIST_HEAD(tag_names, tag_name);

/**
 * struct tag - a tag that was added
 * @link: link in &tag_matching.tags, or after the match of a rendezvous in &rndv.tags
 * @name: its handle while it is in &tag_matching.tags
 * @name_link: link in &tag_name.tags
 * @order: its place in the order of all tags ever added
 * @wr_id: for the completions of the matching message
 * @tag: value to match
 * @mask: bits of @tag that matter
 * @sge: buffer
 * @num_sge: 0 or 1; 0: an empty buffer
 * @header: header of the matching message
 * @arrived: rendezvous: the READ has completed
 */
struct tag {
	TAILQ_ENTRY(tag) link;
	struct tag_name *name;
	TAILQ_ENTRY(tag) name_link;
	uint64_t order;
	uint64_t wr_id;
	uint64_t tag;
	uint64_t mask;
	struct sge sge;
	uint8_t num_sge;
	struct tm_header header;
	bool arrived;
};

/* Hash buckets, which make look-up fast for any choice of handles */
#define TM_NAME_BUCKETS 256

/**
 * struct tag_matching - tag matching of an SRQ
 * @buf: host memory of the tag ring
 * @ring: the ring in @buf
 * @dbrec: translation of the doorbell record
 * @dbrec_offset: offset of the doorbell record in @buf
 * @ci: index of the next operation
 * @done: operations to add a tag whose tag has left the list, or never entered
 *	it
 * @max_tags: upper bound of @num_tags
 * @num_tags: tags that are in @tags or in use by a message
 * @num_fin: rendezvous whose data has arrived, and whose FIN is not
 *	acknowledged
 * @unexpected: unexpected messages, including those that are still arriving
 * @handled: unexpected messages that the host has handled
 * @next_order: number of tags added so far
 * @open_order: only tags with a lower &tag.order can match
 * @tags: the list, in the order in which they were added
 * @names: hash table of the handles of @tags
 * @scheduled: it is in &nic.tag_queue
 */
struct tag_matching {
	struct buf buf;
	struct ring ring;
	struct buf_window dbrec;
	uint32_t dbrec_offset;
	uint32_t ci;
	uint32_t done;
	uint32_t max_tags;
	uint32_t num_tags;
	uint32_t num_fin;
	uint32_t unexpected;
	uint32_t handled;
	uint64_t next_order;
	uint64_t open_order;
	struct tag_queue tags;
	struct tag_names names[TM_NAME_BUCKETS];
	bool scheduled;
};

/**
 * tm_create() - initialize tag matching of an SRQ
 * @nic: the NIC
 * @srq: the SRQ
 * @cmd: the command
 *
 * Return: enum mynic_aq_status.
 */
int tm_create(struct nic *nic, struct srq *srq,
	      const struct mynic_create_srq *cmd);

/**
 * tm_free_some() - free tags of an SRQ that no QP uses
 * @nic: the NIC
 * @srq: the SRQ
 *
 * It frees as many as the turn has time for.
 *
 * Return: true if there are more.
 */
bool tm_free_some(struct nic *nic, struct srq *srq);

/* Frees the rest, after tm_free_some() has freed all tags. */
void tm_destroy(struct nic *nic, struct srq *srq);

/* Fills in the fields of QUERY_SRQ that are about tags. */
void tm_query(const struct tag_matching *tm, struct mynic_query_srq *result);

/**
 * tm_doorbell() - note that there are operations in a tag ring
 * @nic: the NIC
 * @uarn: UAR page of the doorbell
 * @number: SRQN from the doorbell, any value
 *
 * nic_run() executes them.
 *
 * Return: true if the doorbell was accepted.
 */
bool tm_doorbell(struct nic *nic, uint32_t uarn, uint32_t number);

/* Executes operations after doorbells. Returns true if there are more. */
bool tms_run(struct nic *nic);

/**
 * tm_match() - match a message
 * @qp: RC QP with an SRQ for tag matching
 * @pkt: first packet of the message
 * @info: its opcode
 *
 * If there is a tag, &responder.recv becomes its buffer.
 *
 * Return: true if there is a tag; false if the message needs a receive request
 * of the SRQ.
 */
bool tm_match(struct qp *qp, const struct packet *pkt,
	      const struct opcode_info *info);

/**
 * tm_no_match() - continue with a receive request of the SRQ, or without
 * @qp: the queue pair, after tm_match() has returned false
 * @taken: there was a receive request
 */
void tm_no_match(struct qp *qp, bool taken);

/* The payload of a packet without its first @skip bytes. */
void tm_cut(const struct packet *pkt, uint32_t skip, struct iovec *iov);

/* The first packet of a longer message has been placed. */
void tm_begun(struct qp *qp);

/**
 * tm_complete() - fill in the completion of a message
 * @qp: the queue pair, after tm_match()
 * @single: the message has only one packet
 * @cqe: completion; the fields of tag matching are filled in
 *
 * Return: OUTCOME_OK, or OUTCOME_CUT.
 */
enum outcome tm_complete(struct qp *qp, bool single, struct mynic_cqe *cqe);

/**
 * tm_end() - end a message, or give it up
 * @qp: the queue pair
 * @success: the whole message has arrived
 */
void tm_end(struct qp *qp, bool success);

/* A matched tag is no longer in use. */
void tm_release(struct nic *nic, struct srq *srq);

#endif /* MYNIC_TM_H */
