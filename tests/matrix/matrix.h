/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The matrix: every operation of work requests on every type of QP, between two
 * NICs. It goes through both APIs, with every setter and all flags.
 */
#ifndef MYNIC_MATRIX_H
#define MYNIC_MATRIX_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum type {
	TYPE_RC,
	TYPE_UC,
	TYPE_UD,
	TYPE_XRC,
	TYPE_RAW,
	TYPE_DRIVER,
	NUM_TYPES,
};

enum wr_api {
	API_POST_SEND,
	API_WR,
	NUM_APIS,
};

/**
 * enum setter - way in which a request gets its data
 * @SETTER_SGE: ibv_wr_set_sge(), or one SGE
 * @SETTER_SGE_LIST: ibv_wr_set_sge_list(), or several SGEs
 * @SETTER_INLINE: ibv_wr_set_inline_data(), or IBV_SEND_INLINE with one SGE
 * @SETTER_INLINE_LIST: ibv_wr_set_inline_data_list(), or with several
 * @NUM_SETTERS: of those
 * @SETTER_NONE: the operation has no data
 */
enum setter {
	SETTER_SGE,
	SETTER_SGE_LIST,
	SETTER_INLINE,
	SETTER_INLINE_LIST,
	NUM_SETTERS,
	SETTER_NONE = NUM_SETTERS,
};

/**
 * enum data - use of an operation's data
 * @DATA_NONE: it has none
 * @DATA_OUT: sends it; it may be inline
 * @DATA_TSO: sends it behind copies of a header; it may not be inline
 * @DATA_IN: fills it
 * @DATA_FETCH: fills it with the 8 bytes that an atomic operation found
 * @DATA_OUT_8: sends 8 bytes; they may be inline. ibv_wr_atomic_write() takes
 *	them as an argument, so there is no setter.
 */
enum data {
	DATA_NONE,
	DATA_OUT,
	DATA_TSO,
	DATA_IN,
	DATA_FETCH,
	DATA_OUT_8,
};

#define CREATE_DRIVER1 (1ULL << 63) /* not of libibverbs but of mynicdv */

/**
 * struct op - a row of the tables of ibv_post_send(3) and ibv_wr_post(3)
 * @name: as there
 * @opcode: for ibv_post_send() and in requests
 * @create: enum ibv_qp_create_send_ops_flags, or CREATE_DRIVER1
 * @types: bit 1 << enum type: the QPs that have it
 * @data: what happens with the data
 * @completion: of the sender
 * @receives: takes a receive request of the peer
 * @remote: names remote memory
 * @wr_only: struct ibv_send_wr has no fields for it
 */
struct op {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint64_t create;
	unsigned int types;
	enum data data;
	enum ibv_wc_opcode completion;
	bool receives;
	bool remote;
	bool wr_only;
};

extern const struct op ops[];
extern const unsigned int num_ops;

const struct op *find_op(enum ibv_wr_opcode opcode);
/* An operation that needs only data: SEND, or the closest one of the type */
const struct op *plain_op(enum type type);

const char *type_name(enum type type);
const char *api_name(enum wr_api api);
const char *setter_name(enum setter setter);

/* Whether a type has an operation, with data set in this way */
bool op_on_type(const struct op *op, enum type type);
bool op_through(const struct op *op, enum wr_api api);
bool op_with_setter(const struct op *op, enum wr_api api, enum setter setter);
/* Flags that a request may have, except IBV_SEND_INLINE */
unsigned int op_flags(enum type type);

/* Prints the table of Documentation/operations.rst, rows in any order */
void print_table(void);

#define MAX_INLINE 64
#define MAX_SGE 4
#define MTU 1024
#define GRH_LEN 40
#define WR_ID 0x1122334455667788ULL
#define RECV_ID 0x8877665544332211ULL
#define MARKER_ID 0x4d61726b65720000ULL
#define IMM 0x12345678

/**
 * struct node - a NIC, and objects that QPs share
 * @ctx: the device
 * @gid_index: its IPv4 GID
 * @gid: the same
 * @pd: protection domain
 * @channel: for events of @recv_cq
 * @send_cq: completions of requests
 * @recv_cq: completions of receive requests
 * @buf: BUF_SIZE bytes
 * @mr: region over @buf, with all rights
 */
struct node {
	struct ibv_context *ctx;
	int gid_index;
	union ibv_gid gid;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	uint8_t *buf;
	struct ibv_mr *mr;
};

#define BUF_SIZE (1 << 20)

/**
 * struct pair - connected QPs
 * @type: of both
 * @a: node of @qp
 * @b: node of @peer
 * @qp: QP that requests are posted to
 * @qpx: the same for ibv_wr_*(), or NULL
 * @peer: QP at the other end; NULL for DRIVER, which has no other end, so that
 * @b is @a
 * @ah: UD: address handle for @peer
 * @xrcd: XRC: domain of @srq and @peer
 * @srq: XRC: SRQ with the receive requests of @peer
 * @srqn: its number
 * @binder: QP at the other end that binds windows, which requests of @qp
 * invalidate
 * @flow: RAW_PACKET: rule that steers frames to @peer
 */
struct pair {
	enum type type;
	struct node *a;
	struct node *b;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;
	struct ibv_qp *peer;
	struct ibv_ah *ah;
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;
	uint32_t srqn;
	struct ibv_qp *binder;
	struct ibv_flow *flow;
};

/* Return: NULL, or the step that failed. */
const char *node_open(struct node *node, unsigned int index);

/* Creates the sending QP only. Return: NULL with errno set on failure */
struct ibv_qp *make_sender(struct node *node, enum type type, enum wr_api api,
			   uint64_t create);
/* Creates and connects QPs with all operations of the type; false on failure */
bool pair_open(struct pair *pair, enum type type, enum wr_api api,
	       struct node *a, struct node *b);
void pair_close(struct pair *pair);
uint32_t pair_remote_qpn(const struct pair *pair);
/* Remote memory for requests, and its key */
uint8_t *pair_target(const struct pair *pair);
uint32_t pair_key(const struct pair *pair, const struct ibv_mr *mr);
int pair_post_recv(struct pair *pair, struct ibv_mr *mr, void *addr,
		   uint32_t length);

/**
 * struct request - a request to be posted
 * @op: operation
 * @setter: way in which it gets its data
 * @flags: enum ibv_send_flags without IBV_SEND_INLINE
 * @wr_id: returned in the completion
 * @sge: the data
 * @num_sge: number of used elements of @sge
 * @remote_addr: remote memory of operations that name it
 * @rkey: key of remote memory; BIND_MW: new key; DRIVER1: local key
 * @remote_qpn: UD: the peer
 * @invalidate: key for SEND_WITH_INV and LOCAL_INV
 * @compare_add: of an atomic operation
 * @swap: likewise
 * @mw: BIND_MW: the window
 * @bind: likewise
 * @hdr: TSO: header of each segment
 * @hdr_len: its bytes
 * @mss: TSO: payload of a segment
 */
struct request {
	const struct op *op;
	enum setter setter;
	unsigned int flags;
	uint64_t wr_id;
	struct ibv_sge sge[MAX_SGE];
	int num_sge;
	uint64_t remote_addr;
	uint32_t rkey;
	uint32_t remote_qpn;
	uint32_t invalidate;
	uint64_t compare_add;
	uint64_t swap;
	struct ibv_mw *mw;
	struct ibv_mw_bind_info bind;
	void *hdr;
	uint16_t hdr_len;
	uint16_t mss;
};

/*
 * Posts @num requests, in one list or one critical section.
 * Return: the errno; @bad is the request that ibv_post_send() stopped at.
 */
int post(struct pair *pair, enum wr_api api, const struct request *requests,
	 unsigned int num, unsigned int *bad);
/* Begins a request in a critical section; its data is set afterwards */
void begin(struct ibv_qp_ex *qpx, const struct request *req);

/*
 * Headers of frames to the peer of a RAW_PACKET QP: Ethernet, IPv4, and UDP for
 * @payload bytes or TCP. All checksums are 0.
 */
extern const uint8_t raw_mac[6];
#define UDP_FRAME_HEADER 42
#define TCP_FRAME_HEADER 54
#define TCP_SEQ 0xfffffe00 /* so that it wraps soon */
void set_udp_header(uint8_t *frame, unsigned int payload);
void set_tcp_header(uint8_t *frame);
/* Whether all checksums of a frame are right; sets them to 0 */
bool take_checksums(uint8_t *frame, unsigned int len);
/* Segment of what set_tcp_header() began, @done bytes behind its first one */
void check_tcp_segment(uint8_t *frame, unsigned int len, unsigned int done,
		       bool last);

/* Data that depends on a seed */
void fill(uint8_t *buf, size_t len, unsigned int seed);
bool filled(const uint8_t *buf, size_t len, unsigned int seed);

/* The next completion; false if none comes in a minute */
bool wait_wc(struct ibv_cq *cq, struct ibv_wc *wc);

/* Notes that a test has failed, with the reason; the first reason counts */
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends a test */
void result(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool is_wrong(void);

void test_cells(struct node *a, struct node *b);
void test_refusals(struct node *a, struct node *b);
void test_lengths(struct node *a, struct node *b);

#endif /* MYNIC_MATRIX_H */
