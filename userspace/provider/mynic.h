/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The provider's objects, and what its files share. */
#ifndef MYNIC_H
#define MYNIC_H

#include <assert.h>
#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ccan/container_of.h>
#include <infiniband/driver.h>
#include <rdma/mynic-abi.h>
#include <rdma/mynic-hw.h>
#include <util/compiler.h>
#include <util/udma_barrier.h>

#include "mynicdv.h"

#define MYNIC_CACHE_LINE 64

struct mynic_create_qp_resp;
struct mynic_create_srq_resp;

/**
 * struct mynic_map - memory that the kernel shares with the process
 * @addr: where it is mapped
 * @size: bytes
 */
struct mynic_map {
	void *addr;
	size_t size;
};

/* Kinds of queues for which a context has one function */
enum mynic_queue {
	MYNIC_QUEUE_RQ,
	MYNIC_QUEUE_SRQ,
	MYNIC_QUEUE_CQ,
	MYNIC_NUM_QUEUES,
};

/* Kinds of such queues that a context has had */
enum mynic_users {
	MYNIC_MANY_THREADS = 1 << 0,
	MYNIC_SINGLE_THREADS = 1 << 1,
	MYNIC_BOTH = MYNIC_MANY_THREADS | MYNIC_SINGLE_THREADS,
};

/**
 * struct mynic_context - an open device
 * @ibv_ctx: libibverbs' part
 * @uar_map: mapping that holds the doorbells
 * @uar: the context's MYNIC_UAR_SIZE bytes of doorbells
 * @tso_caps: segmentation, as ibv_query_device_ex() tells it
 * @rx_hash_fields: likewise, enum ibv_rx_hash_fields
 * @rx_hash_functions: likewise, enum ibv_rx_hash_function_flags
 * @pacing_caps: rate limits, likewise
 * @null_lkey: local key that reads as zero and ignores writes; 0: there is none
 * @db_suppress: QPs and CQs test whether they have to ring a doorbell
 * @driver_qp_types: bit n: QPs of enum mynic_driver_qp_type n can be created
 * @max_sq_stride: bytes of a send queue entry, at most
 * @max_rq_stride: bytes of a receive queue entry, at most
 * @max_memcpy: bytes of a copy, at most
 * @ece_options: enum mynic_ece_option that QPs can have
 * @clock_lock: protects the mapping of @clock
 * @clock: clock page, or NULL until it is needed
 * @clock_mmap_key: mmap() offset of the clock page
 * @clock_mmap_size: bytes of it; 0: there is none
 * @ah_lock: protects @kern_ahs, all of them, and the mapping of @gids
 * @kern_ahs: list of address handles of the kernel that ours may share
 * @gids: GID page, or NULL until it is needed
 * @gid_mmap_key: mmap() offset of the GID page
 * @gid_mmap_size: bytes of it; 0: there is none
 * @queue_lock: serialises mynic_choose_queue_ops()
 * @queue_users: enum mynic_users, for each enum mynic_queue
 */
struct mynic_context {
	struct verbs_context ibv_ctx;
	struct mynic_map uar_map;
	void *uar;
	struct ibv_tso_caps tso_caps;
	uint32_t rx_hash_fields;
	uint8_t rx_hash_functions;
	struct ibv_packet_pacing_caps pacing_caps;
	uint32_t null_lkey;
	bool db_suppress;
	uint32_t driver_qp_types;
	uint32_t max_sq_stride;
	uint32_t max_rq_stride;
	uint32_t max_memcpy;
	uint32_t ece_options;
	pthread_mutex_t clock_lock;
	const struct mynic_clock_info *clock;
	uint64_t clock_mmap_key;
	uint32_t clock_mmap_size;
	pthread_mutex_t ah_lock;
	struct mynic_kern_ah *kern_ahs;
	const struct mynic_gid_info *gids;
	uint64_t gid_mmap_key;
	uint32_t gid_mmap_size;
	pthread_mutex_t queue_lock;
	uint8_t queue_users[MYNIC_NUM_QUEUES];
};

/**
 * struct mynic_td - thread domain
 * @ibv_td: libibverbs' part
 * @users: parent domains that use it
 */
struct mynic_td {
	struct ibv_td ibv_td;
	atomic_uint users;
};

/**
 * struct mynic_pd - protection domain or parent domain
 * @ibv_pd: libibverbs' part; a parent domain's has the same handle as the
 *	protection domain's
 * @users: its parent domains; of a parent domain: its objects, too
 * @protection: parent domain: its protection domain; else NULL
 * @td: thread domain, or NULL
 * @alloc: the application's allocator, or NULL
 * @free: its counterpart
 * @pd_context: argument of both
 */
struct mynic_pd {
	struct ibv_pd ibv_pd;
	atomic_uint users;
	struct mynic_pd *protection;
	struct mynic_td *td;
	void *(*alloc)(struct ibv_pd *pd, void *pd_context, size_t size,
		       size_t alignment, uint64_t resource_type);
	void (*free)(struct ibv_pd *pd, void *pd_context, void *ptr,
		     uint64_t resource_type);
	void *pd_context;
};

/**
 * struct mynic_home - origin of an object's memory
 * @pd: parent domain that it was created in, or NULL
 * @custom: it is from the allocator of @pd
 */
struct mynic_home {
	struct mynic_pd *pd;
	bool custom;
};

/**
 * struct mynic_kern_ah - address handle of the kernel
 * @next: in &mynic_context.kern_ahs
 * @ibv_ah: argument of the kernel's commands
 * @pd_handle: protection domain
 * @sgid_index: the source GID that it keeps in the table
 * @users: our address handles that share it
 */
struct mynic_kern_ah {
	struct mynic_kern_ah *next;
	struct ibv_ah ibv_ah;
	uint32_t pd_handle;
	uint8_t sgid_index;
	unsigned int users;
};

/**
 * struct mynic_ah - address handle
 * @ibv_ah: libibverbs' part; its handle is the kernel's
 * @av: as send queue entries hold it
 * @kern: multicast: shared address handle of the kernel; unicast: NULL
 */
struct mynic_ah {
	struct ibv_ah ibv_ah;
	struct mynic_av av;
	struct mynic_kern_ah *kern;
};

/**
 * struct mynic_cq - completion queue
 * @vcq: libibverbs' part
 * @next: the entry that is read next
 * @cur: the entry that the functions of the extended CQ read
 * @ring: first entry
 * @end: behind the last entry
 * @dbrec: doorbell record
 * @ci: consumer index
 * @phase: phase of @next if it is valid
 * @lock: protects the above, unless the CQ is @single_threaded
 * @single_threaded: the application uses it from one thread at a time
 * @ring_lock: protects @ring, @end, @dbrec and @base for threads without @lock,
 *	and the request in the record. Changing the former takes both locks.
 * @base: index of the entry that went to the first slot
 * @cqn: number for doorbells
 * @num_vectors: vectors that requests for events may name; 0: only its own
 * @doorbell: its doorbell
 * @map: memory of ring and record
 * @resize_lock: serialises resizing
 * @users: QPs and WQs whose completions are removed when they are destroyed
 * @home: memory of this struct
 *
 * Polling touches one cache line of this.
 */
struct mynic_cq {
	struct verbs_cq vcq;
	struct mynic_cqe *next __attribute__((aligned(MYNIC_CACHE_LINE)));
	struct mynic_cqe *cur;
	struct mynic_cqe *ring;
	struct mynic_cqe *end;
	struct mynic_cq_dbrec *dbrec;
	uint32_t ci;
	uint32_t phase;
	atomic_uchar lock;
	bool single_threaded;
	atomic_uchar ring_lock;
	uint32_t base;
	uint32_t cqn;
	uint8_t num_vectors;
	void *doorbell;
	struct mynic_map map;
	pthread_mutex_t resize_lock;
	atomic_uint users;
	struct mynic_home home;
};

static_assert(offsetof(struct mynic_cq, cqn) -
			      offsetof(struct mynic_cq, next) <=
		      MYNIC_CACHE_LINE,
	      "what polling touches is one cache line");

/**
 * struct mynic_rq - ring of receive requests, of a QP or an SRQ
 * @next: the slot to fill next
 * @ring: first slot
 * @ring_end: behind the last slot
 * @stride: bytes of a slot
 * @pi_record: producer index in the doorbell record
 * @room: slots known to be free, 0 while nothing may be posted
 * @end: producer index when @room is used up
 * @max_sge: SGEs of a request
 * @lock: protects the above
 * @single_threaded: belongs to a thread domain, so posting does not take @lock
 * @limit: number of slots, 0 while nothing may be posted
 * @size: number of slots
 * @ci_record: consumer index in the doorbell record
 *
 * Posting touches one cache line of this.
 */
struct mynic_rq {
	void *next __attribute__((aligned(MYNIC_CACHE_LINE)));
	void *ring;
	void *ring_end;
	size_t stride;
	__le32 *pi_record;
	uint32_t room;
	uint32_t end;
	uint32_t max_sge;
	atomic_uchar lock;
	bool single_threaded;
	uint32_t limit;
	uint32_t size;
	__le32 *ci_record;
};

static_assert(offsetof(struct mynic_rq, limit) <= MYNIC_CACHE_LINE,
	      "what posting touches is one cache line");

/**
 * struct mynic_tags - ring of operations on the list of a tag matching SRQ
 * @ring: first slot; NULL: the SRQ has no such ring
 * @dbrec: doorbell record
 * @doorbell: doorbell to ring
 * @map: memory of ring and record
 * @size: number of slots
 * @pi: producer index
 * @added: tags that were posted so far, modulo 2^32
 * @max_tags: tags that fit into the list
 * @lock: protects the above
 */
struct mynic_tags {
	struct mynic_tag_wqe *ring;
	struct mynic_tag_dbrec *dbrec;
	void *doorbell;
	struct mynic_map map;
	uint32_t size;
	uint32_t pi;
	uint32_t added;
	uint32_t max_tags;
	atomic_uchar lock;
};

/**
 * struct mynic_srq - shared receive queue
 * @vsrq: libibverbs' part
 * @rq: the ring
 * @map: memory of ring and record
 * @srqn: the device's number
 * @home: memory of this struct
 * @resize_lock: serialises resizing
 * @tags: tag matching
 */
struct mynic_srq {
	struct verbs_srq vsrq;
	struct mynic_rq rq;
	struct mynic_map map;
	uint32_t srqn;
	struct mynic_home home;
	pthread_mutex_t resize_lock;
	struct mynic_tags tags;
};

/**
 * struct mynic_sq - ring of send requests
 * @post_send: ibv_post_send() of this type of QP
 * @last: slot before that of the next request
 * @ring_end: behind the last slot
 * @stride: bytes of a slot
 * @dbrec: doorbell record
 * @pi: producer index
 * @end: producer index up to which slots are known to be free; @pi while
 *	nothing may be posted
 * @max_inline: bytes of inline data of a request
 * @max_sge: SGEs of a request
 * @lock: protects the queue
 * @doorbell: doorbell to ring
 * @db_number: value for the doorbell, without the producer index
 * @ring: first slot
 * @limit: number of slots, 0 while nothing may be posted
 * @size: number of slots
 * @wr_pi: between wr_start and its end: producer index after the batch. @last
 *	is then the slot of the last request, or NULL if there was none.
 * @wr_err: likewise: positive errno, or 0
 * @data_offset: of the data area in a slot
 * @max_tso_hdr: bytes of header of a TSO request
 * @single_threaded: belongs to a thread domain, so posting does not take @lock
 * @db_suppress: test whether the doorbell has to be rung
 *
 * ibv_post_send() touches one cache line of this, except for the doorbell and
 * at the ring's end.
 */
struct mynic_sq {
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			 struct ibv_send_wr **bad_wr)
		__attribute__((aligned(MYNIC_CACHE_LINE)));
	void *last;
	void *ring_end;
	size_t stride;
	struct mynic_qp_dbrec *dbrec;
	uint32_t pi;
	uint32_t end;
	uint16_t max_inline;
	uint8_t max_sge;
	atomic_uchar lock;
	void *doorbell;
	uint64_t db_number;
	void *ring;
	uint32_t limit;
	uint32_t size;
	uint32_t wr_pi;
	int wr_err;
	uint32_t data_offset;
	uint16_t max_tso_hdr;
	bool single_threaded;
	bool db_suppress;
};

static_assert(offsetof(struct mynic_sq, doorbell) <= MYNIC_CACHE_LINE,
	      "what posting touches is one cache line");

/**
 * struct mynic_qp - queue pair
 * @vqp: libibverbs' part
 * @sq: send queue
 * @rq: receive queue, without slots if there is none
 * @cqs: CQs that are cleaned when it is reset or destroyed, or NULL
 * @map: memory of rings and record; XRC_RECV: none
 * @state_lock: serialises transitions, from the command to the change of the
 *	queues, and protects all that follows except @dv_qp and @home. Queries
 *	do not wait for it, as they may happen within wr_start and wr_complete.
 * @state: state after the last transition
 * @transitions: number of transitions
 * @ece_options: enum mynic_ece_option that it can have; from RTR on, those
 *	agreed on with the peer
 * @ece_set: the application has set @ece_options
 * @dv_qp: builders of DRIVER QPs
 * @home: memory of this struct
 */
struct mynic_qp {
	struct verbs_qp vqp;
	struct mynic_sq sq;
	struct mynic_rq rq;
	struct mynic_cq *cqs[2];
	struct mynic_map map;
	pthread_mutex_t state_lock;
	enum ibv_qp_state state;
	atomic_uint transitions;
	uint32_t ece_options;
	bool ece_set;
	struct mynicdv_qp_ex dv_qp;
	struct mynic_home home;
};

/**
 * struct mynic_mr - memory region
 * @vmr: libibverbs' part; its access is that in the kernel
 * @pd_handle: protection domain. The one of libibverbs' part may be a parent
 *	domain, or belong to another process and no longer exist.
 */
struct mynic_mr {
	struct verbs_mr vmr;
	uint32_t pd_handle;
};

/**
 * struct mynic_mw - memory window
 * @ibv_mw: libibverbs' part
 * @pd_handle: protection domain, as in &struct mynic_mr
 */
struct mynic_mw {
	struct ibv_mw ibv_mw;
	uint32_t pd_handle;
};

/**
 * struct mynic_dm - device memory
 * @vdm: libibverbs' part
 * @length: requested bytes
 * @map: where it is mapped
 */
struct mynic_dm {
	struct verbs_dm vdm;
	size_t length;
	struct mynic_map map;
};

/**
 * struct mynic_rwq - receive work queue: a receive queue without a QP
 * @ibv_wq: libibverbs' part
 * @qp: number, CQ, ring and record, as of a QP. It has no SQ, and libibverbs
 *	does not know it.
 */
struct mynic_rwq {
	struct ibv_wq ibv_wq;
	struct mynic_qp qp;
};

static inline struct mynic_context *to_mctx(struct ibv_context *context)
{
	return container_of(context, struct mynic_context, ibv_ctx.context);
}

static inline struct mynic_pd *to_mpd(struct ibv_pd *pd)
{
	return container_of(pd, struct mynic_pd, ibv_pd);
}

static inline struct mynic_td *to_mtd(struct ibv_td *td)
{
	return container_of(td, struct mynic_td, ibv_td);
}

/*
 * Users keep an object from being destroyed. A thread that finds none sees all
 * that the last user did before it released the object.
 */
static inline void mynic_use(atomic_uint *users)
{
	atomic_fetch_add_explicit(users, 1, memory_order_relaxed);
}

static inline void mynic_unuse(atomic_uint *users)
{
	atomic_fetch_sub_explicit(users, 1, memory_order_release);
}

static inline bool mynic_in_use(atomic_uint *users)
{
	return atomic_load_explicit(users, memory_order_acquire);
}

/*
 * Whether objects created in @pd, which may be NULL, are used by one thread at
 * a time. Their data path takes no lock: it has separate functions, chosen at
 * creation.
 */
static inline bool mynic_single_threaded(struct ibv_pd *pd)
{
	return pd && to_mpd(pd)->td;
}

static inline struct mynic_ah *to_mah(struct ibv_ah *ah)
{
	return container_of(ah, struct mynic_ah, ibv_ah);
}

static inline struct mynic_cq *to_mcq(struct ibv_cq *cq)
{
	return container_of(cq, struct mynic_cq, vcq.cq);
}

static inline struct mynic_srq *to_msrq(struct ibv_srq *srq)
{
	return container_of(srq, struct mynic_srq, vsrq.srq);
}

static inline struct mynic_mr *to_mmr(struct ibv_mr *mr)
{
	return container_of(mr, struct mynic_mr, vmr.ibv_mr);
}

static inline struct mynic_mw *to_mmw(struct ibv_mw *mw)
{
	return container_of(mw, struct mynic_mw, ibv_mw);
}

static inline struct mynic_dm *to_mdm(struct ibv_dm *dm)
{
	return container_of(dm, struct mynic_dm, vdm.dm);
}

static inline struct mynic_rwq *to_mrwq(struct ibv_wq *wq)
{
	return container_of(wq, struct mynic_rwq, ibv_wq);
}

static inline struct mynic_qp *to_mqp(struct ibv_qp *qp)
{
	return container_of(qp, struct mynic_qp, vqp.qp);
}

static inline struct mynic_qp *to_mqp_ex(struct ibv_qp_ex *qp)
{
	return container_of(qp, struct mynic_qp, vqp.qp_ex);
}

/* Hint to the processor that this thread waits for a store of another one. */
static inline void mynic_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	asm volatile("yield");
#endif
}

/*
 * Inline, and without a call even if contended, because a lock is the largest
 * single cost of posting and polling.
 */
static inline void mynic_lock(atomic_uchar *lock)
{
	if (likely(!atomic_exchange_explicit(lock, 1, memory_order_acquire)))
		return;
	do {
		while (atomic_load_explicit(lock, memory_order_relaxed))
			mynic_cpu_relax();
	} while (atomic_exchange_explicit(lock, 1, memory_order_acquire));
}

static inline void mynic_unlock(atomic_uchar *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}

/*
 * Store an index in a doorbell record. The device sees it only after all
 * earlier accesses of this thread to the ring.
 */
static inline void mynic_publish(__le32 *record, uint32_t index)
{
	udma_to_device_barrier();
	atomic_store_explicit((_Atomic(uint32_t) *)record,
			      (__force uint32_t)htole32(index),
			      memory_order_release);
}

/* Load an index that the device has written to a doorbell record. */
static inline uint32_t mynic_observe(__le32 *record)
{
	uint32_t index = atomic_load_explicit((_Atomic(uint32_t) *)record,
					      memory_order_acquire);

	return le32toh((__force __le32)index);
}

/*
 * Number of free slots, of @limit, by the device's consumer index; 0 if that
 * index is impossible.
 */
static inline uint32_t mynic_ring_room(__le32 *ci_record, uint32_t pi,
				       uint32_t limit)
{
	uint32_t room = mynic_observe(ci_record) + limit - pi;

	return room <= limit ? room : 0;
}

/*
 * One store for each field of the application's SGE lets the processor forward
 * its stores to the loads here.
 */
static inline void mynic_set_sge(struct mynic_sge *dst,
				 const struct ibv_sge *src)
{
	dst->addr = htole64(src->addr);
	dst->length = htole32(src->length);
	dst->lkey = htole32(src->lkey);
}

/* Counting down saves a register. */
static inline void mynic_set_sges(struct mynic_sge *dst,
				  const struct ibv_sge *src, uint32_t n)
{
	while (n--)
		mynic_set_sge(&dst[n], &src[n]);
}

/* mem.c */
int mynic_mmap(struct ibv_context *context, struct mynic_map *map, uint64_t key,
	       uint32_t size);
void mynic_munmap(struct mynic_map *map);
void *mynic_alloc(size_t size);

/* dm.c */
struct ibv_dm *mynic_alloc_dm(struct ibv_context *context,
			      struct ibv_alloc_dm_attr *attr);
int mynic_free_dm(struct ibv_dm *dm);
struct ibv_dm *mynic_import_dm(struct ibv_context *context, uint32_t handle);
void mynic_unimport_dm(struct ibv_dm *ibdm);
struct ibv_mr *mynic_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm,
			       uint64_t offset, size_t length,
			       unsigned int access);

/* pd.c */
struct ibv_pd *mynic_alloc_pd(struct ibv_context *context);
struct ibv_pd *
mynic_alloc_parent_domain(struct ibv_context *context,
			  struct ibv_parent_domain_init_attr *attr);
int mynic_dealloc_pd(struct ibv_pd *pd);
struct ibv_pd *mynic_import_pd(struct ibv_context *context, uint32_t handle);
void mynic_unimport_pd(struct ibv_pd *pd);
struct ibv_td *mynic_alloc_td(struct ibv_context *context,
			      struct ibv_td_init_attr *attr);
int mynic_dealloc_td(struct ibv_td *td);
void *mynic_alloc_object(struct mynic_home *home, struct ibv_pd *pd,
			 size_t size, enum mynicdv_res_type type);
void mynic_free_object(const struct mynic_home *home, void *p,
		       enum mynicdv_res_type type);

/* verbs.c */
int mynic_query_device_ex(struct ibv_context *context,
			  const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *attr, size_t attr_size);
int mynic_query_port(struct ibv_context *context, uint8_t port,
		     struct ibv_port_attr *attr);
struct ibv_xrcd *mynic_open_xrcd(struct ibv_context *context,
				 struct ibv_xrcd_init_attr *attr);
int mynic_close_xrcd(struct ibv_xrcd *xrcd);

/* mr.c */
struct verbs_mr *mynic_new_mr(struct ibv_pd *pd, int access);
void mynic_free_mr(struct verbs_mr *vmr);
struct ibv_mr *mynic_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			    uint64_t hca_va, int access);
int mynic_dereg_mr(struct verbs_mr *vmr);
int mynic_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		   void *addr, size_t length, int access);
struct ibv_mr *mynic_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				   size_t length, uint64_t iova, int fd,
				   int access);
struct ibv_mr *mynic_alloc_null_mr(struct ibv_pd *pd);
struct ibv_mr *mynic_import_mr(struct ibv_pd *pd, uint32_t handle);
void mynic_unimport_mr(struct ibv_mr *mr);

/* Operations that older releases lack, by their files */
extern const struct verbs_context_ops mynic_comp_cntr_ops;
extern const struct verbs_context_ops mynic_dmah_ops;
extern const struct verbs_context_ops mynic_port_ops;

/* ah.c */
void mynic_ah_init(struct mynic_context *ctx,
		   const struct mynic_alloc_ucontext_resp *resp);
void mynic_ah_fini(struct mynic_context *ctx);
struct ibv_ah *mynic_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int mynic_destroy_ah(struct ibv_ah *ah);

/* clock.c */
void mynic_clock_init(struct mynic_context *ctx,
		      const struct mynic_alloc_ucontext_resp *resp);
void mynic_clock_fini(struct mynic_context *ctx);
int mynic_clock_open(struct mynic_context *ctx);
uint64_t mynic_clock_to_ns(const struct mynic_context *ctx, uint64_t cycles);
int mynic_query_rt_values(struct ibv_context *context,
			  struct ibv_values_ex *values);

/* cq.c */
struct ibv_cq *mynic_create_cq(struct ibv_context *context, int cqe,
			       struct ibv_comp_channel *channel,
			       int comp_vector);
struct ibv_cq_ex *mynic_create_cq_ex(struct ibv_context *context,
				     struct ibv_cq_init_attr_ex *attr);
int mynic_destroy_cq(struct ibv_cq *cq);
int mynic_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int mynic_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int mynic_resize_cq(struct ibv_cq *cq, int cqe);
int mynic_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
void mynic_cq_clean(struct mynic_cq *cq, uint32_t qpn);

/* rwq.c */
struct ibv_wq *mynic_create_wq(struct ibv_context *context,
			       struct ibv_wq_init_attr *attr);
int mynic_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr);
int mynic_destroy_wq(struct ibv_wq *wq);
struct ibv_rwq_ind_table *
mynic_create_rwq_ind_table(struct ibv_context *context,
			   struct ibv_rwq_ind_table_init_attr *attr);
int mynic_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table);

/* flow.c */
struct ibv_flow *mynic_create_flow(struct ibv_qp *qp,
				   struct ibv_flow_attr *attr);
int mynic_destroy_flow(struct ibv_flow *flow);

/* qp.c */
void mynic_qp_init_queues(struct mynic_qp *qp,
			  const struct mynic_create_qp_resp *resp,
			  const struct ibv_qp_cap *cap);
void mynic_qp_moved(struct mynic_qp *qp, enum ibv_qp_state state);
void mynic_qp_init(struct mynic_qp *qp);
void mynic_qp_fini(struct mynic_qp *qp);
struct ibv_qp *mynic_create_qp(struct ibv_pd *pd,
			       struct ibv_qp_init_attr *attr);
struct ibv_qp *mynic_create_qp_ex(struct ibv_context *context,
				  struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *mynic_create_driver_qp(struct ibv_pd *pd,
				      struct ibv_qp_init_attr *attr,
				      uint32_t driver_qp_type);
struct ibv_qp *mynic_open_qp(struct ibv_context *context,
			     struct ibv_qp_open_attr *attr);
int mynic_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int mynic_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		   struct ibv_qp_init_attr *init_attr);
int mynic_destroy_qp(struct ibv_qp *qp);

int mynic_modify_qp_rate_limit(struct ibv_qp *qp,
			       struct ibv_qp_rate_limit_attr *attr);

/* counters.c */
void mynic_counters_bind(struct ibv_counters *counters);
void mynic_counters_unbind(struct ibv_counters *counters);
struct ibv_counters *mynic_create_counters(struct ibv_context *context,
					   struct ibv_counters_init_attr *attr);
int mynic_destroy_counters(struct ibv_counters *counters);
int mynic_attach_counters_point_flow(struct ibv_counters *counters,
				     struct ibv_counter_attach_attr *attr,
				     struct ibv_flow *flow);
int mynic_read_counters(struct ibv_counters *counters, uint64_t *array,
			uint32_t num, uint32_t flags);

/* ece.c */
void mynic_ece_reset(struct mynic_qp *qp);
int mynic_query_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int mynic_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);

/* srq.c */
struct ibv_srq *mynic_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr);
struct ibv_srq *mynic_create_srq_ex(struct ibv_context *context,
				    struct ibv_srq_init_attr_ex *attr);
int mynic_get_srq_num(struct ibv_srq *srq, uint32_t *srq_num);
int mynic_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		     int attr_mask);
int mynic_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int mynic_destroy_srq(struct ibv_srq *srq);

/* tm.c */
int mynic_tags_open(struct mynic_srq *srq,
		    const struct mynic_create_srq_resp *resp,
		    uint32_t max_tags);
void mynic_tags_close(struct mynic_srq *srq);
int mynic_post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *wr,
		       struct ibv_ops_wr **bad_wr);

/* post_send.c */
int mynic_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr);
void mynic_post_send_setup(struct mynic_qp *qp);

/* wr.c */
void mynic_wr_setup(struct mynic_qp *qp, uint64_t ops);
void mynic_wr_driver1(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr);

/* ops.c */
bool mynic_ops_supported(enum ibv_qp_type type, uint64_t ops);

/* mw.c */
struct ibv_mw *mynic_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int mynic_dealloc_mw(struct ibv_mw *mw);
int mynic_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw,
		  struct ibv_mw_bind *bind);

/* recv.c: the tables are for mynic_choose_queue_ops() */
extern const struct verbs_context_ops mynic_recv_forms[MYNIC_BOTH + 1];
extern const struct verbs_context_ops mynic_srq_recv_forms[MYNIC_BOTH + 1];
int mynic_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr);
int mynic_post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad_wr);
int mynic_post_wq_recv_single(struct ibv_wq *wq, struct ibv_recv_wr *wr,
			      struct ibv_recv_wr **bad_wr);
int mynic_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr);

/* threads.c */
void mynic_choose_queue_ops(struct ibv_context *context, enum mynic_queue queue,
			    const struct verbs_context_ops *forms,
			    bool single_threaded);

#endif /* MYNIC_H */
