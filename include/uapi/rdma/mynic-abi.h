/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * Kernel-user ABI of the mynic RDMA driver.
 *
 * All structs are in host byte order, have a multiple of 8 bytes, and grow only
 * at the end. A field that the other side does not know reads as zero, which
 * stands for the behaviour without the field.
 */
#ifndef MYNIC_ABI_USER_H
#define MYNIC_ABI_USER_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>

#define MYNIC_UVERBS_ABI_VERSION 1

/**
 * enum mynic_ucontext_flag - properties of a context
 * @MYNIC_UCONTEXT_DB_SUPPRESS: the device says in &struct mynic_qp_dbrec when
 *	it needs no doorbell
 */
enum mynic_ucontext_flag {
	MYNIC_UCONTEXT_DB_SUPPRESS = 1 << 0,
};

/**
 * struct mynic_alloc_ucontext_resp - response to allocating or querying a
 *	context
 * @uar_mmap_key: mmap() offset of the context's UAR page
 * @uar_mmap_size: bytes to map there
 * @uar_offset: offset of the context's MYNIC_UAR_SIZE doorbells in the mapping
 * @driver_qp_types: bit n: QPs of enum mynic_driver_qp_type n can be created
 * @max_tso: bytes of a TSO request behind its header; 0: there is no TSO
 * @tso_qp_types: bit n: QPs of type n of enum ib_qp_type have TSO
 * @ece_options: enum mynic_ece_option: those that queue pairs can have
 * @rate_limit_max: highest rate limit of a QP, kbit/s, from 1 on; 0: there is
 *	none
 * @rate_limit_qpts: bit n: QPs of type n of enum ib_qp_type have one
 * @null_lkey: local key that reads as zero and ignores writes; 0: there is none
 * @rx_hash_fields: enum ibv_rx_hash_fields that QPs with a receive WQ table can
 *	hash
 * @rx_hash_functions: enum ibv_rx_hash_function_flags that are supported
 * @log_max_sq_stride: log2 of the bytes in a send slot, at most; 0: not told
 * @log_max_rq_stride: log2 of the bytes in a receive slot, at most; 0: not told
 * @log_max_memcpy: log2 of the bytes of a copy by a QP of type
 *	MYNIC_DRIVER_QP_MEMCPY, at most; 0: not told
 * @clock_mmap_size: bytes to map at @clock_mmap_key; 0: there is no clock page
 * @clock_mmap_key: mmap() offset of &struct mynic_clock_info, to be read only
 * @gid_mmap_size: bytes to map at @gid_mmap_key; 0: there is no GID page
 * @flags: enum mynic_ucontext_flag; those not known are ignored
 * @gid_mmap_key: mmap() offset of &struct mynic_gid_info, to be read only
 */
struct mynic_alloc_ucontext_resp {
	__aligned_u64 uar_mmap_key;
	__u32 uar_mmap_size;
	__u32 uar_offset;
	__u32 driver_qp_types;
	__u32 max_tso;
	__u32 tso_qp_types;
	__u32 ece_options;
	__u32 rate_limit_max;
	__u32 rate_limit_qpts;
	__u32 null_lkey;
	__u32 rx_hash_fields;
	__u8 rx_hash_functions;
	__u8 log_max_sq_stride;
	__u8 log_max_rq_stride;
	__u8 log_max_memcpy;
	__u32 clock_mmap_size;
	__aligned_u64 clock_mmap_key;
	__u32 gid_mmap_size;
	__u32 flags;
	__aligned_u64 gid_mmap_key;
};

/**
 * struct mynic_clock_info - device clock and system clock at one moment
 * @seq: odd while the rest changes, or is not known yet; differs after each
 *	change
 * @shift: see @mult
 * @nsec: CLOCK_REALTIME at that moment, in nanoseconds
 * @cycles: device clock at that moment
 * @mult: @cycles + n corresponds to @nsec + (n * @mult >> @shift)
 * @reserved_1c: zero
 */
struct mynic_clock_info {
	__u32 seq;
	__u32 shift;
	__aligned_u64 nsec;
	__aligned_u64 cycles;
	__u32 mult;
	__u32 reserved_1c;
};

#define MYNIC_GID_INFO_ENTRIES 256

/**
 * struct mynic_gid_info - valid entries of the GID table
 * @valid: by index: 1: the entry is valid, 0: it is not
 *
 * An entry keeps its GID as long as an address handle refers to it. It becomes
 * invalid when its removal begins.
 */
struct mynic_gid_info {
	__u8 valid[MYNIC_GID_INFO_ENTRIES];
};

/**
 * enum mynic_query_context_attrs - driver's attributes of QUERY_CONTEXT
 * @MYNIC_ATTR_QUERY_CONTEXT_RESP_UCTX: out: &struct mynic_alloc_ucontext_resp
 */
enum mynic_query_context_attrs {
	MYNIC_ATTR_QUERY_CONTEXT_RESP_UCTX = (1U << UVERBS_ID_NS_SHIFT),
};

/**
 * enum mynic_pd_methods - driver's methods of UVERBS_OBJECT_PD
 * @MYNIC_METHOD_PD_QUERY: succeeds if the protection domain exists
 */
enum mynic_pd_methods {
	MYNIC_METHOD_PD_QUERY = (1U << UVERBS_ID_NS_SHIFT),
};

/**
 * enum mynic_query_pd_attrs - attributes of MYNIC_METHOD_PD_QUERY
 * @MYNIC_ATTR_QUERY_PD_HANDLE: in: handle of the protection domain
 */
enum mynic_query_pd_attrs {
	MYNIC_ATTR_QUERY_PD_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
};

/**
 * struct mynic_create_cq_resp - response to creating a CQ
 * @mmap_key: mmap() offset of the ring and the doorbell record
 * @mmap_size: bytes to map there
 * @ring_offset: offset of the ring of struct mynic_cqe
 * @dbrec_offset: offset of struct mynic_cq_dbrec
 * @cqn: number for doorbells
 * @log_size: log2 of the ring's number of entries
 * @num_vectors: requests for events may name MSI-X vectors 1 to this; 0: none.
 *	The vector of processor n is n % @num_vectors + 1.
 * @reserved_1a: zero
 */
struct mynic_create_cq_resp {
	__aligned_u64 mmap_key;
	__u32 mmap_size;
	__u32 ring_offset;
	__u32 dbrec_offset;
	__u32 cqn;
	__u8 log_size;
	__u8 num_vectors;
	__u8 reserved_1a[6];
};

/**
 * enum mynic_driver_qp_type - kinds of QPs of type IBV_QPT_DRIVER
 * @MYNIC_DRIVER_QP_MEMCPY: DRIVER1 copies memory within the host
 */
enum mynic_driver_qp_type {
	MYNIC_DRIVER_QP_MEMCPY = 1,
};

/**
 * struct mynic_create_qp_req - request for creating a QP
 * @driver_qp_type: IBV_QPT_DRIVER: enum mynic_driver_qp_type; else zero
 * @reserved_04: zero
 * @rx_hash_fields: with a receive WQ table: enum ibv_rx_hash_fields; else zero,
 *	like all that follows
 * @rx_hash_function: enum ibv_rx_hash_function_flags
 * @reserved_0d: zero
 * @rx_hash_key: the key
 */
struct mynic_create_qp_req {
	__u32 driver_qp_type;
	__u32 reserved_04;
	__u32 rx_hash_fields;
	__u8 rx_hash_function;
	__u8 reserved_0d[3];
	__u8 rx_hash_key[40];
};

/**
 * struct mynic_create_qp_resp - response to creating a QP
 * @mmap_key: mmap() offset of the rings and the doorbell record
 * @mmap_size: bytes to map there
 * @sq_offset: offset of the send ring
 * @rq_offset: offset of the receive ring (none if @log_rq_stride is 0)
 * @dbrec_offset: offset of struct mynic_qp_dbrec
 * @log_sq_size: log2 of the send ring's number of slots
 * @log_sq_stride: log2 of the bytes in a send slot; 0: there is no SQ
 * @log_rq_size: log2 of the receive ring's number of slots
 * @log_rq_stride: log2 of the bytes in a receive slot; 0: there is no RQ
 * @reserved_1c: zero
 *
 * The capabilities in the verbs response are those of these rings.
 */
struct mynic_create_qp_resp {
	__aligned_u64 mmap_key;
	__u32 mmap_size;
	__u32 sq_offset;
	__u32 rq_offset;
	__u32 dbrec_offset;
	__u8 log_sq_size;
	__u8 log_sq_stride;
	__u8 log_rq_size;
	__u8 log_rq_stride;
	__u8 reserved_1c[4];
};

/**
 * enum mynic_ece_option - options of enhanced connection establishment
 * @MYNIC_ECE_OPTION_ECN: the end slows down on congestion notifications, so
 *	that the other one may send packets that are ECN-capable
 */
enum mynic_ece_option {
	MYNIC_ECE_OPTION_ECN = 1 << 0,
};

/**
 * struct mynic_modify_qp_req - request for modifying a QP
 * @ece_options: enum mynic_ece_option that both ends support; used when the QP
 *	goes from INIT to RTR. Options that kernel or device lack are dropped.
 * @reserved_04: zero
 */
struct mynic_modify_qp_req {
	__u32 ece_options;
	__u32 reserved_04;
};

/**
 * struct mynic_modify_qp_resp - response to modifying a QP
 * @ece_options: from INIT to RTR: enum mynic_ece_option that the QP uses now
 * @reserved_04: zero
 */
struct mynic_modify_qp_resp {
	__u32 ece_options;
	__u32 reserved_04;
};

/**
 * struct mynic_create_srq_req - request for creating an SRQ for tag matching
 * @max_ops: operations on tags that can be posted
 * @reserved_04: zero
 */
struct mynic_create_srq_req {
	__u32 max_ops;
	__u32 reserved_04;
};

/**
 * struct mynic_create_srq_resp - response to creating an SRQ
 * @mmap_key: mmap() offset of the ring and the doorbell record
 * @mmap_size: bytes to map there
 * @ring_offset: offset of the ring
 * @dbrec_offset: offset of struct mynic_srq_dbrec
 * @srqn: the SRQ's number
 * @log_size: log2 of the ring's number of slots
 * @log_stride: log2 of the bytes in a slot
 * @log_tag_size: tag matching: log2 of the tag ring's number of slots; else
 *	zero, like all that follows
 * @reserved_1b: zero
 * @tag_mmap_key: mmap() offset of the tag ring and its doorbell record
 * @tag_mmap_size: bytes to map there
 * @tag_dbrec_offset: offset of struct mynic_tag_dbrec
 */
struct mynic_create_srq_resp {
	__aligned_u64 mmap_key;
	__u32 mmap_size;
	__u32 ring_offset;
	__u32 dbrec_offset;
	__u32 srqn;
	__u8 log_size;
	__u8 log_stride;
	__u8 log_tag_size;
	__u8 reserved_1b[5];
	__aligned_u64 tag_mmap_key;
	__u32 tag_mmap_size;
	__u32 tag_dbrec_offset;
};

/**
 * struct mynic_create_wq_resp - response to creating a WQ
 * @mmap_key: mmap() offset of the ring and the doorbell record
 * @mmap_size: bytes to map there
 * @rq_offset: offset of the ring
 * @dbrec_offset: offset of struct mynic_qp_dbrec
 * @log_size: log2 of the ring's number of slots
 * @log_stride: log2 of the bytes in a slot
 * @reserved_16: zero
 */
struct mynic_create_wq_resp {
	__aligned_u64 mmap_key;
	__u32 mmap_size;
	__u32 rq_offset;
	__u32 dbrec_offset;
	__u8 log_size;
	__u8 log_stride;
	__u8 reserved_16[2];
};

/**
 * struct mynic_create_ah_resp - response to creating an address handle
 * @dmac: destination MAC that the kernel resolved; the provider builds
 *	struct mynic_av with it
 * @reserved_06: zero
 */
struct mynic_create_ah_resp {
	__u8 dmac[6];
	__u8 reserved_06[2];
};

/**
 * enum mynic_alloc_dm_attrs - driver's attributes of UVERBS_METHOD_DM_ALLOC
 * @MYNIC_ATTR_ALLOC_DM_RESP: out: struct mynic_alloc_dm_resp
 */
enum mynic_alloc_dm_attrs {
	MYNIC_ATTR_ALLOC_DM_RESP = (1U << UVERBS_ID_NS_SHIFT),
};

/**
 * struct mynic_alloc_dm_resp - response to allocating device memory
 * @mmap_key: mmap() offset of the memory
 * @mmap_size: bytes to map there, at least the requested length
 * @reserved_0c: zero
 */
struct mynic_alloc_dm_resp {
	__aligned_u64 mmap_key;
	__u32 mmap_size;
	__u32 reserved_0c;
};

/**
 * enum mynic_dm_methods - driver's methods of UVERBS_OBJECT_DM
 * @MYNIC_METHOD_DM_QUERY: how to map device memory that another process has
 *	allocated in this context
 */
enum mynic_dm_methods {
	MYNIC_METHOD_DM_QUERY = (1U << UVERBS_ID_NS_SHIFT),
};

/**
 * enum mynic_query_dm_attrs - attributes of MYNIC_METHOD_DM_QUERY
 * @MYNIC_ATTR_QUERY_DM_HANDLE: in: handle of the device memory
 * @MYNIC_ATTR_QUERY_DM_RESP: out: struct mynic_query_dm_resp
 */
enum mynic_query_dm_attrs {
	MYNIC_ATTR_QUERY_DM_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	MYNIC_ATTR_QUERY_DM_RESP,
};

/**
 * struct mynic_query_dm_resp - where device memory is
 * @mmap_key: mmap() offset of the memory
 * @length: requested bytes
 * @mmap_size: bytes to map
 * @reserved_14: zero
 */
struct mynic_query_dm_resp {
	__aligned_u64 mmap_key;
	__aligned_u64 length;
	__u32 mmap_size;
	__u32 reserved_14;
};

/**
 * enum mynic_create_comp_cntr_attrs - driver's attributes of
 *	UVERBS_METHOD_COMP_CNTR_CREATE
 * @MYNIC_ATTR_CREATE_COMP_CNTR_RESP: out: struct mynic_create_comp_cntr_resp
 */
enum mynic_create_comp_cntr_attrs {
	MYNIC_ATTR_CREATE_COMP_CNTR_RESP = (1U << UVERBS_ID_NS_SHIFT),
};

/**
 * struct mynic_create_comp_cntr_resp - response to creating a completion
 *	counter
 * @mmap_key: mmap() offset of the counter's memory, to be read only
 * @mmap_size: bytes to map there
 * @values_offset: offset of struct mynic_comp_cntr_values
 */
struct mynic_create_comp_cntr_resp {
	__aligned_u64 mmap_key;
	__u32 mmap_size;
	__u32 values_offset;
};

/**
 * struct mynic_resize_cq_req - driver's part of resizing a CQ
 * @mmap_key: 0: allocate memory for the CQ to move to; else: move there, with
 *	the key of that memory
 */
struct mynic_resize_cq_req {
	__aligned_u64 mmap_key;
};

/**
 * struct mynic_modify_srq_req - driver's part of resizing an SRQ
 * @mmap_key: 0: allocate memory for the SRQ to move to; else: move there, with
 *	the key of that memory
 * @resp: with a @mmap_key of 0: address of struct mynic_resize_resp, as the
 *	command has no response
 */
struct mynic_modify_srq_req {
	__aligned_u64 mmap_key;
	__aligned_u64 resp;
};

/**
 * struct mynic_resize_resp - response to allocating new memory of a CQ or SRQ
 * @mmap_key: mmap() offset of the new ring and the new doorbell record
 * @mmap_size: bytes to map there
 * @ring_offset: offset of the ring
 * @dbrec_offset: offset of the doorbell record
 * @log_size: log2 of the ring's number of entries or slots
 * @reserved_15: zero
 */
struct mynic_resize_resp {
	__aligned_u64 mmap_key;
	__u32 mmap_size;
	__u32 ring_offset;
	__u32 dbrec_offset;
	__u8 log_size;
	__u8 reserved_15[3];
};

/**
 * enum mynic_counter - values that reading ib_counters returns
 * @MYNIC_COUNTER_PACKETS: frames that the flow rules have matched
 * @MYNIC_COUNTER_BYTES: their bytes, without FCS
 * @MYNIC_NUM_COUNTERS: number of values
 */
enum mynic_counter {
	MYNIC_COUNTER_PACKETS,
	MYNIC_COUNTER_BYTES,
	MYNIC_NUM_COUNTERS,
};

_Static_assert(sizeof(struct mynic_alloc_ucontext_resp) == 80, "ucontext");
_Static_assert(sizeof(struct mynic_clock_info) == 32, "clock_info");
_Static_assert(sizeof(struct mynic_gid_info) == 256, "gid_info");
_Static_assert(sizeof(struct mynic_create_cq_resp) == 32, "create_cq");
_Static_assert(sizeof(struct mynic_create_qp_req) == 56, "create_qp_req");
_Static_assert(sizeof(struct mynic_create_qp_resp) == 32, "create_qp");
_Static_assert(sizeof(struct mynic_modify_qp_req) == 8, "modify_qp_req");
_Static_assert(sizeof(struct mynic_modify_qp_resp) == 8, "modify_qp");
_Static_assert(sizeof(struct mynic_create_wq_resp) == 24, "create_wq");
_Static_assert(sizeof(struct mynic_create_srq_req) == 8, "create_srq_req");
_Static_assert(sizeof(struct mynic_create_srq_resp) == 48, "create_srq");
_Static_assert(sizeof(struct mynic_create_ah_resp) == 8, "create_ah");
_Static_assert(sizeof(struct mynic_alloc_dm_resp) == 16, "alloc_dm");
_Static_assert(sizeof(struct mynic_query_dm_resp) == 24, "query_dm");
_Static_assert(sizeof(struct mynic_create_comp_cntr_resp) == 16, "comp_cntr");
_Static_assert(sizeof(struct mynic_resize_cq_req) == 8, "resize_cq_req");
_Static_assert(sizeof(struct mynic_modify_srq_req) == 16, "modify_srq_req");
_Static_assert(sizeof(struct mynic_resize_resp) == 24, "resize_resp");

#endif /* MYNIC_ABI_USER_H */
