/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tag matching: the list of tags of an SRQ, the ring of operations on it, and
 * what becomes of a SEND that arrives for it. What a matched rendezvous does
 * then is in rndv.h.
 */
#ifndef MYNIC_TM_H
#define MYNIC_TM_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "memory/buf.h"
#include "queue/wqe.h"

#define TM_MAX_TAGS 1024
#define TM_MIN_LOG_OPS 1
#define TM_MAX_LOG_OPS 8

/* It fits in one packet with every path MTU */
#define TM_MAX_RNDV_HDR 256

struct mynic_cqe;
struct nic;
struct opcode_info;
struct packet;
struct qp;
struct srq;

/**
 * struct tm_header - what a message for tag matching begins with
 * @opcode: enum ib_tmh_op
 * @reserved: any value
 * @app_ctx: the sender's
 * @tag: to match
 * @va: RNDV: where the data is at the sender ...
 * @rkey: RNDV: ... its key ...
 * @len: RNDV: ... and how much there is
 */
struct tm_header {
	uint8_t opcode;
	uint8_t reserved[3];
	__be32 app_ctx;
	__be64 tag;
	__be64 va;
	__be32 rkey;
	__be32 len;
};

/* Bytes of the header without and with what is there in RNDV only */
#define TM_EAGER_HDR 16
#define TM_RNDV_HDR 32

TAILQ_HEAD(tag_queue, tag);

/**
 * struct tag_name - a handle that tags in the list have
 * @link: in one of &tm.names
 * @handle: the host's name
 * @tags: those that have it, in the order in which they were added
 */
struct tag_name {
	LIST_ENTRY(tag_name) link;
	uint32_t handle;
	struct tag_queue tags;
};

LIST_HEAD(tag_names, tag_name);

/**
 * struct tag - a tag that was added
 * @link: in &tm.tags; matched by a rendezvous: in &rndv.tags
 * @name: while it is in &tm.tags: the host's name for it
 * @name_link: in &tag_name.tags
 * @order: the how-manieth it is
 * @wr_id: for the completions of the message that matches
 * @tag: the message's tag is this ...
 * @mask: ... in these bits
 * @sge: buffer
 * @num_sge: 0 or 1; 0: the buffer has no bytes
 * @header: that of the message that matched
 * @arrived: rendezvous: the data has been read
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

/* So that a handle is found at once, whatever the host calls its tags */
#define TM_NAME_BUCKETS 256

/**
 * struct tm - what an SRQ for tag matching has beside a basic one
 * @buf: host memory of the tag ring
 * @ring: in @buf
 * @dbrec: window on its doorbell record
 * @dbrec_offset: of that in @buf
 * @ci: next operation to execute
 * @done: tags that were to be added and are not in the list any more
 * @max_tags: limit of @num_tags
 * @num_tags: tags in @tags or in use by a message
 * @num_fin: rendezvous whose data has arrived, but not their FIN at the peer
 * @unexpected: unexpected messages, those under way included
 * @handled: how many of these the host says it has handled
 * @next_order: how many tags were added
 * @open_order: those with a lower &tag.order take messages
 * @tags: the list, in the order in which they were added
 * @names: the handles of @tags, by a hash
 * @scheduled: the SRQ is in &nic.tag_queue
 */
struct tm {
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
 * enum tm_kind - what becomes of a message
 * @TM_NONE: it is not subject to tag matching
 * @TM_NO_TAG: it has no tag, or no header that could be understood
 * @TM_UNEXPECTED: no tag in the list matches
 * @TM_EAGER: its data goes to the tag's buffer
 * @TM_RNDV: the tag's buffer takes what is read from the sender
 * @TM_INCOMPLETE: likewise, but that is for software to do
 */
enum tm_kind {
	TM_NONE,
	TM_NO_TAG,
	TM_UNEXPECTED,
	TM_EAGER,
	TM_RNDV,
	TM_INCOMPLETE,
};

/**
 * struct tm_match - the message that a responder receives
 * @kind: enum tm_kind
 * @skip: bytes of it that have no place in the receive request
 * @tag: TM_EAGER, TM_RNDV, TM_INCOMPLETE: the tag, which is not in the list any
 *	more
 * @header: of the message, if there is a tag
 */
struct tm_match {
	uint8_t kind;
	uint16_t skip;
	struct tag *tag;
	struct tm_header header;
};

/**
 * tm_create() - set up an SRQ's tag matching
 * @nic: the NIC
 * @srq: the SRQ
 * @cmd: what to create
 *
 * Return: enum mynic_aq_status.
 */
int tm_create(struct nic *nic, struct srq *srq,
	      const struct mynic_create_srq *cmd);

/**
 * tm_free_some() - forget tags, of an SRQ that no QP uses
 * @nic: the NIC
 * @srq: the SRQ
 *
 * As many as there is time for.
 *
 * Return: true if there are more.
 */
bool tm_free_some(struct nic *nic, struct srq *srq);

/** tm_destroy() - forget all, of an SRQ that has no tags any more */
void tm_destroy(struct nic *nic, struct srq *srq);

/** tm_query() - QUERY_SRQ */
void tm_query(const struct tm *tm, struct mynic_query_srq *result);

/**
 * tm_doorbell() - there are operations in a tag ring
 * @nic: the NIC
 * @uarn: the page that it was rung on
 * @number: SRQN from the doorbell, any value
 *
 * nic_run() executes them.
 *
 * Return: whether it was accepted.
 */
bool tm_doorbell(struct nic *nic, uint32_t uarn, uint32_t number);

/** tms_run() - execute what was rung for. Return: true if there is more */
bool tms_run(struct nic *nic);

/**
 * tm_match() - decide what becomes of a message
 * @qp: RC QP with an SRQ for tag matching
 * @pkt: its first packet
 * @info: the packet's opcode
 *
 * With a tag, &responder.recv is the tag's buffer afterwards.
 *
 * Return: true if there is a tag, false if the message is the SRQ's.
 */
bool tm_match(struct qp *qp, const struct packet *pkt,
	      const struct opcode_info *info);

/**
 * tm_no_match() - the message has its receive request from the SRQ, or none
 * @qp: the queue pair, after a tm_match() that was false
 * @taken: whether there was one
 */
void tm_no_match(struct qp *qp, bool taken);

/** tm_cut() - the payload of a packet behind its first @skip bytes */
void tm_cut(const struct packet *pkt, uint32_t skip, struct iovec *iov);

/** tm_begun() - the first packet, of several, is in place */
void tm_begun(struct qp *qp);

/**
 * tm_complete() - the last packet is in place
 * @qp: the queue pair, for whose message tm_match() was called
 * @single: it was the first, too
 * @cqe: completion of the message; with what it says of tag matching after this
 *
 * Return: error to complete it with.
 */
struct wqe_error tm_complete(struct qp *qp, bool single, struct mynic_cqe *cqe);

/**
 * tm_end() - the message has ended, or is given up
 * @qp: the queue pair
 * @success: it has arrived as a whole
 */
void tm_end(struct qp *qp, bool success);

/** tm_release() - a tag that was matched is not in use any more */
void tm_release(struct nic *nic, struct srq *srq);

#endif /* MYNIC_TM_H */
