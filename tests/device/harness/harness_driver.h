/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A small driver and provider for the NIC core. Steps that a test is not about
 * succeed or end the test. Functions that return a status return enum
 * mynic_aq_status, and the test decides whether it is right.
 */
#ifndef MYNIC_HARNESS_DRIVER_H
#define MYNIC_HARNESS_DRIVER_H

#include "harness_sim.h"
#include "harness_verbs.h"

#define DRV_MAX_PAGES 1024
#define DRV_PAGE 4096

/*
 * struct drv_buf - queue memory in scattered pages
 * @desc: description of the pages for the device
 */
struct drv_buf {
	struct mynic_buf desc;
	unsigned int num_pages;
	uint8_t *page[DRV_MAX_PAGES];
};

struct drv_eq {
	struct drv *d;
	struct drv_buf buf;
	struct mynic_eq_dbrec *rec;
	uint32_t number;
	uint32_t ci;
	uint8_t log_size;
};

struct drv_cq {
	struct drv *d;
	struct drv_buf buf;
	struct mynic_cq_dbrec *rec;
	uint32_t number;
	uint32_t uarn;
	uint32_t ci;
	uint32_t base; /* index of the entry in the first slot */
	uint8_t log_size;
	uint8_t vector; /* named in requests for events */
};

struct drv_srq {
	struct drv *d;
	struct drv_buf buf;
	struct mynic_srq_dbrec *rec;
	uint32_t number;
	uint32_t pi;
	uint8_t log_size;
	uint8_t log_stride;
	/* tag matching */
	struct drv_buf tag_buf;
	struct mynic_tag_dbrec *tag_rec;
	uint32_t tag_pi;
	uint8_t log_tag_size;
	uint32_t uarn;
};

struct drv_qp {
	struct drv *d;
	struct drv_buf buf;
	struct mynic_create_qp create;
	struct mynic_qp_dbrec *rec;
	uint32_t number;
	uint32_t sq_pi;
	uint32_t rq_pi;
};

/*
 * struct drv - the driver of one NIC
 * @features: features that driver and device have agreed on
 * @levels: &struct mynic_buf.levels of queue memory that is allocated from now
 * on
 * @event: EQ of asynchronous events
 * @comp: EQ of completion events
 * @attr: result of QUERY_DEVICE
 */
struct drv {
	struct sim *sim;
	struct sim_nic *n;
	uint64_t features;
	struct mynic_admin_cmd *cmd;
	struct mynic_admin_cpl *cpl;
	uint8_t aq_log_size;
	uint32_t aq_pi;
	uint32_t aq_ci;
	uint8_t *mbox;
	unsigned int levels;
	struct drv_eq event;
	struct drv_eq comp;
	struct mynic_device_attr attr;
};

/** drv_features - MYNIC_FEATURE_* that drivers accept from now on */
extern uint64_t drv_features;

/* GIDs of NIC k: entry 0 fe80::k+1, entry 1 10.0.0.k+1 */
#define DRV_GID_IPV6 0
#define DRV_GID_IPV4 1
void drv_gid(unsigned int nic, unsigned int index, uint8_t gid[16]);

/** drv_reset() - CONTROL.RESET, wait for READY */
void drv_reset(struct sim_nic *n);

/** drv_enable() - set up the admin queue and ENABLE, without any objects */
struct drv *drv_enable(struct sim_nic *n, uint8_t aq_log_size);

/** drv_up() - bring the NIC up completely: EQs, GIDs and port */
struct drv *drv_up(struct sim_nic *n);

/** drv_one() - bring up the only NIC of a new world */
struct drv *drv_one(void);

/*
 * drv_admin() - run one command and wait for its completion
 * @cmd: the command; its id is filled in
 * @cpl: out: the completion; may be NULL
 */
uint8_t drv_admin(struct drv *d, struct mynic_admin_cmd *cmd,
		  struct mynic_admin_cpl *cpl);

/** drv_admin_post() - put a command in the ring, without a doorbell */
uint16_t drv_admin_post(struct drv *d, struct mynic_admin_cmd *cmd);
void drv_admin_ring(struct drv *d);

/** drv_admin_poll() - get the next completion, if there is one */
bool drv_admin_poll(struct drv *d, struct mynic_admin_cpl *cpl);

/** drv_admin_in(), drv_admin_out() - run a command with a mailbox */
uint8_t drv_admin_in(struct drv *d, struct mynic_admin_cmd *cmd,
		     struct mynic_admin_cpl *cpl, const void *mbox, size_t len);
uint8_t drv_admin_out(struct drv *d, struct mynic_admin_cmd *cmd, void *mbox,
		      size_t len);

/** drv_number_cmd() - run a command whose only argument is a number */
uint8_t drv_number_cmd(struct drv *d, uint8_t opcode, uint32_t number);

/** drv_has_link() - tell whether the port has a link */
bool drv_has_link(struct drv *d);

/** drv_mcast() - run ATTACH_MCAST or DETACH_MCAST */
uint8_t drv_mcast(struct drv_qp *qp, uint8_t opcode, const uint8_t gid[16]);

uint64_t drv_stat(struct drv *d, enum mynic_stat stat);

/** drv_buf_init() - allocate zeroed queue memory, described in @d->levels */
void drv_buf_init(struct drv *d, struct drv_buf *buf, size_t size);
void *drv_buf_at(const struct drv_buf *buf, size_t offset);

/*
 * drv_page_list() - describe pages to the device
 * @page: DMA addresses of pages of 2^@log_page bytes
 * @levels: 1, or 2 with lists of 4096 bytes
 */
struct mynic_buf drv_page_list(struct drv *d, const uint64_t *page,
			       unsigned int num, unsigned int log_page,
			       unsigned int levels);

uint8_t drv_create_eq(struct drv *d, struct drv_eq *eq, uint8_t log_size,
		      uint16_t vector, bool async);
bool drv_eq_poll(struct drv_eq *eq, struct mynic_eqe *eqe);
/** drv_eq_release() - release the entries that were polled */
void drv_eq_release(struct drv_eq *eq);
/** drv_eq_ring() - tell the device about released entries */
void drv_eq_ring(struct drv_eq *eq);
/** drv_expect_event() - wait for the next event in @eq and check it */
void drv_expect_event(struct drv_eq *eq, enum mynic_event type,
		      uint32_t number);

uint32_t drv_alloc_pd(struct drv *d);

/** struct drv_mr - a region whose addresses are not its DMA addresses */
struct drv_mr {
	uint8_t *ptr;
	uint64_t addr;
	uint64_t len;
	uint32_t key;
};

/*
 * drv_create_mkey() - CREATE_MKEY with a given body; returns the key in @key
 */
uint8_t drv_create_mkey(struct drv *d, const struct mynic_create_mkey *body,
			uint8_t flags, uint32_t *key);
struct drv_mr *drv_reg_mr(struct drv *d, uint32_t pdn, size_t len,
			  uint32_t access);
struct mynic_sge drv_sge(const struct drv_mr *mr, uint64_t offset,
			 uint32_t len);

/*
 * drv_cq_ring_bytes() - bytes of the ring, which the doorbell record follows
 */
size_t drv_cq_ring_bytes(uint8_t log_size);
struct drv_cq *drv_create_cq(struct drv *d, uint8_t log_size);
/** drv_poll() - get a completion and release its slot */
bool drv_poll(struct drv_cq *cq, struct mynic_cqe *cqe);
/** drv_peek() - get a completion without releasing its slot */
bool drv_peek(struct drv_cq *cq, struct mynic_cqe *cqe);
/** drv_expect() - wait for a completion and check wr_id and status */
struct mynic_cqe drv_expect(struct drv_cq *cq, uint64_t wr_id,
			    enum ibv_wc_status status);
/** drv_expect_none() - check that no completion arrives within @ns */
void drv_expect_none(struct drv_cq *cq, uint64_t ns);
/** drv_arm() - request an event for completions that have not been polled */
void drv_arm(struct drv_cq *cq, bool solicited);
/** drv_request() - store a request for an event, without a doorbell */
void drv_request(struct drv_cq *cq, uint32_t seq, uint32_t index,
		 bool solicited);

struct drv_srq *drv_create_srq(struct drv *d, uint32_t pdn, uint8_t log_size);
uint32_t drv_alloc_xrcd(struct drv *d);
/** drv_create_counters() - create a set of counters */
uint32_t drv_create_counters(struct drv *d);
/** drv_bind_counters() - bind a set to a QP; 0: unbind */
uint8_t drv_bind_counters(struct drv_qp *qp, uint32_t set);
/** drv_counter() - value of a counter of a set */
uint64_t drv_counter(struct drv *d, uint32_t set, enum mynic_stat stat);
struct drv_srq *drv_create_xrc_srq(struct drv *d, uint32_t pdn, uint32_t xrcdn,
				   struct drv_cq *cq, uint8_t log_size);
struct drv_srq *drv_create_tm_srq(struct drv *d, uint32_t pdn,
				  struct drv_cq *cq, uint8_t log_size,
				  uint32_t max_tags);
/*
 * drv_post_tag() - fill the next slot of the tag ring, and ring the doorbell
 */
void drv_post_tag(struct drv_srq *srq, const struct mynic_tag_wqe *wqe);
void drv_post_srq_recv(struct drv_srq *srq, uint64_t wr_id,
		       const struct mynic_sge *sge, unsigned int num_sge);
uint8_t drv_modify_srq(struct drv_srq *srq, uint32_t limit);
uint32_t drv_srq_limit(struct drv_srq *srq);

/*
 * struct drv_qp_init - properties of a new QP
 *
 * Zeroes stand for: no SRQ, UAR page 1, 64 slots in each ring, strides of 256.
 * @no_sq: the QP has no send ring
 */
struct drv_qp_init {
	enum mynic_qp_type type;
	uint32_t pdn;
	struct drv_cq *send_cq;
	struct drv_cq *recv_cq;
	struct drv_srq *srq;
	bool no_sq;
	uint32_t uarn;
	uint8_t flags;
	uint8_t log_sq_size;
	uint8_t log_sq_stride;
	uint8_t log_rq_size;
	uint8_t log_rq_stride;
};

/** drv_qp_layout() - prepare the memory and the mailbox for CREATE_QP */
void drv_qp_layout(struct drv *d, struct drv_qp *qp,
		   const struct drv_qp_init *init);
struct drv_qp *drv_create_qp(struct drv *d, const struct drv_qp_init *init);
/*
 * drv_create_flushing_qp() - create a QP in ERR, which flushes new requests: a
 * source of completions without a wire
 */
struct drv_qp *drv_create_flushing_qp(struct drv *d, struct drv_cq *cq);
/*
 * drv_create_target() - create an XRC_TGT QP, which has nothing but its domain
 */
struct drv_qp *drv_create_target(struct drv *d, uint32_t xrcdn);
uint8_t drv_modify_qp(struct drv_qp *qp, const struct mynic_qp_attr *attr);
uint8_t drv_set_state(struct drv_qp *qp, enum ibv_qp_state state);
struct mynic_qp_attr drv_query_qp(struct drv_qp *qp);

/** drv_reset_qp() - move a QP to RESET, and zero its doorbell record */
void drv_reset_qp(struct drv_qp *qp);

/*
 * struct drv_path - attributes that drv_connect() sets; zeroes are good
 * defaults
 * @rq_psn: first PSN expected
 * @sq_psn: first PSN sent
 * @no_access: the QP allows no remote access
 */
struct drv_path {
	enum ibv_mtu mtu;
	unsigned int gid_index;
	uint8_t traffic_class;
	uint32_t rq_psn;
	uint32_t sq_psn;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t min_rnr_timer;
	uint8_t max_rd_atomic;
	bool no_access;
	bool no_retry;
};

struct mynic_av drv_av(struct drv *d, unsigned int peer, unsigned int index);
/*
 * drv_connect_to() - move a QP from RESET to @state (INIT, RTR or RTS),
 * connected to another one
 */
void drv_connect_to(struct drv_qp *qp, unsigned int peer, uint32_t peer_qpn,
		    const struct drv_path *path, enum ibv_qp_state state);
/*
 * drv_connect() - connect two QPs. @path is that of @a; @b has the opposite
 * PSNs
 */
void drv_connect(struct drv_qp *a, struct drv_qp *b,
		 const struct drv_path *path);
/** drv_ud_up() - move a UD or GSI QP to @state */
void drv_ud_up(struct drv_qp *qp, uint32_t qkey, enum ibv_qp_state state);

/*
 * struct drv_wr - a send work request
 * @inline_data: with IBV_SEND_INLINE
 * @flush: FLUSH
 * @remote_qpn, @remote_qkey, @av: UD
 * @remote_srqn: XRC
 * @vlan: RAW_PACKET: tag to be inserted
 * @bind: BIND_MW
 * @reg_mr: REG_MR
 */
struct drv_wr {
	uint64_t wr_id;
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	uint32_t imm;
	unsigned int num_sge;
	struct mynic_sge sge[30];
	const void *inline_data;
	uint32_t inline_len;
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t compare_add;
	uint64_t swap;
	struct mynic_flush_operands flush;
	uint32_t remote_qpn;
	uint32_t remote_qkey;
	struct mynic_av av;
	uint32_t remote_srqn;
	uint16_t vlan;
	struct mynic_bind_operands bind;
	struct mynic_reg_mr_operands reg_mr;
};

/** drv_write_wqe() - fill the next slot, without telling the device */
void *drv_write_wqe(struct drv_qp *qp, const struct drv_wr *wr);

/** drv_ring() - post the requests that have been written, with a doorbell if
 * the device needs one
 */
void drv_ring(struct drv_qp *qp);
void drv_post_send(struct drv_qp *qp, const struct drv_wr *wr);
void drv_post_recv(struct drv_qp *qp, uint64_t wr_id,
		   const struct mynic_sge *sge, unsigned int num_sge);

/** struct drv_end - one end of a connection, with its own memory */
struct drv_end {
	struct drv *d;
	uint32_t pdn;
	struct drv_cq *cq;
	struct drv_cq *recv_cq;
	struct drv_qp *qp;
	struct drv_mr *mr;
};

/** struct drv_pair - two NICs, each with a QP and 1 MiB of memory */
struct drv_pair {
	struct sim *sim;
	struct drv_end a;
	struct drv_end b;
};

#define DRV_PAIR_MEM (1u << 20)

/*
 * drv_pair_on() - make a pair on two given NICs; of @init, only type and sizes
 * count
 */
struct drv_pair drv_pair_on(struct drv *a, struct drv *b,
			    const struct drv_qp_init *init);
/** drv_pair_unconnected() - make a pair on the two NICs of a new world */
struct drv_pair drv_pair_unconnected(const struct drv_qp_init *init);
struct drv_pair drv_rc_pair(const struct drv_path *path);
struct drv_pair drv_uc_pair(const struct drv_path *path);
struct drv_pair drv_ud_pair(void);

/** drv_reconnect() - reset both QPs and connect them as drv_rc_pair(NULL) does */
void drv_reconnect(struct drv_pair *p);

/* wr_id of what drv_send_wr() and drv_pair_wr() make */
#define DRV_WR_ID 0x77

/** drv_send_wr() - a signaled SEND of the first @len bytes of an end's MR */
struct drv_wr drv_send_wr(const struct drv_end *from, uint32_t len);
/*
 * drv_pair_wr() - a signaled request of a, with the first @len bytes of both
 * ends' MRs
 */
struct drv_wr drv_pair_wr(const struct drv_pair *p, enum ibv_wr_opcode opcode,
			  uint32_t len);
/** drv_inv_wr() - a signaled LOCAL_INV of @key */
struct drv_wr drv_inv_wr(uint64_t wr_id, uint32_t key);

/** drv_send_recv() - transfer and check one message of @len bytes */
void drv_send_recv(struct drv_end *from, struct drv_end *to, uint32_t len);

/*
 * drv_fill() - fill memory with bytes that depend on @seed and their position
 */
void drv_fill(void *ptr, size_t len, unsigned int seed);

#endif /* MYNIC_HARNESS_DRIVER_H */
