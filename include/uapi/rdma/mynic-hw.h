/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The part of the hardware interface that user space uses: doorbells, doorbell
 * records, work queue entries and completion queue entries.
 *
 * The device's hardware specification has the rules behind these layouts. All
 * fields are little-endian unless their type or comment says otherwise.
 * Reserved fields are zero when written and ignored when read.
 */
#ifndef MYNIC_HW_H
#define MYNIC_HW_H

#include <linux/types.h>

#if defined(__cplusplus) && !defined(_Static_assert)
#define _Static_assert static_assert
#endif

/*
 * UAR page: a page of BAR2. A doorbell is one naturally aligned store of 8
 * bytes: the index in bits 31:0, the object's number in bits 55:32. It tells
 * the device to read the doorbell record; the index is a hint. Other accesses
 * are ignored and counted.
 */
#define MYNIC_UAR_SIZE 4096
#define MYNIC_UAR_QP_DB 0x00 /* index: the SQ producer index in the record */
#define MYNIC_UAR_CQ_DB 0x08 /* index: that of the request in the record */
#define MYNIC_UAR_EQ_DB 0x10 /* UAR page 0 only; index: consumer index */
#define MYNIC_UAR_CLOCK 0x18 /* read only, 8 bytes: the device clock */
#define MYNIC_UAR_TAG_DB 0x20 /* index: the tag ring's producer index */

#define MYNIC_DB_NUMBER_SHIFT 32
#define MYNIC_DB_NUMBER_MASK 0xffffff

/*
 * Indexes are free-running 32-bit counters. A ring has a power of two of slots,
 * and the slot is the index modulo their number.
 */

/*
 * Doorbell records are aligned to their size. Each of these has its own cache
 * lines: what the host writes, what the device writes at each completion, and
 * what the device writes rarely.
 */

/**
 * struct mynic_qp_dbrec - doorbell record of a QP
 * @sq_pi: SQ producer index, written by the host before it rings the doorbell
 * @rq_pi: RQ producer index, written by the host
 * @reserved_08: zero
 * @sq_ci: SQ consumer index: slots before it may be used again
 * @rq_ci: RQ consumer index: slots before it may be used again
 * @reserved_48: zero
 * @sq_db_suppress: not zero while the device watches @sq_pi by itself. Only with
 *	MYNIC_FEATURE_DB_SUPPRESS; the host reads it after storing @sq_pi and a
 *	full barrier.
 * @rq_ring: not zero: the QP is in the error state, ring the QP doorbell after
 *	storing @rq_pi so that the request is flushed. No barrier is needed:
 *	the device looks at @rq_pi again some time after it has set this.
 * @reserved_88: zero
 *
 * The host writes the first 64 bytes, the device the others.
 */
struct mynic_qp_dbrec {
	__le32 sq_pi;
	__le32 rq_pi;
	__u8 reserved_08[56];
	__le32 sq_ci;
	__le32 rq_ci;
	__u8 reserved_48[56];
	__le32 sq_db_suppress;
	__le32 rq_ring;
	__u8 reserved_88[120];
};

_Static_assert(sizeof(struct mynic_qp_dbrec) == 256, "mynic_qp_dbrec");

/**
 * struct mynic_srq_dbrec - doorbell record of an SRQ
 * @pi: producer index, written by the host; there is no SRQ doorbell
 * @reserved_04: zero
 * @ci: consumer index, written by the device when it has fetched an entry
 * @reserved_44: zero
 */
struct mynic_srq_dbrec {
	__le32 pi;
	__u8 reserved_04[60];
	__le32 ci;
	__u8 reserved_44[60];
};

_Static_assert(sizeof(struct mynic_srq_dbrec) == 128, "mynic_srq_dbrec");

/**
 * struct mynic_tag_dbrec - doorbell record of a tag matching SRQ's tag ring
 * @pi: producer index, written by the host before it rings
 * @reserved_04: zero
 * @ci: consumer index: slots before it may be used again
 * @done: added tags that are no longer in the list: matched and complete,
 *	deleted, or refused
 * @reserved_48: zero
 */
struct mynic_tag_dbrec {
	__le32 pi;
	__u8 reserved_04[60];
	__le32 ci;
	__le32 done;
	__u8 reserved_48[56];
};

_Static_assert(sizeof(struct mynic_tag_dbrec) == 128, "mynic_tag_dbrec");

/* A request for a completion event: index in bits 31:0, and */
#define MYNIC_ARM_SEQ_SHIFT 32
#define MYNIC_ARM_SEQ_MASK 0xffffff
#define MYNIC_ARM_SOLICITED (1ULL << 56) /* for solicited or error only */
#define MYNIC_ARM_VECTOR_SHIFT 57 /* MSI-X vector; 0: that of the CQ's EQ */
#define MYNIC_ARM_VECTOR_MASK 0x1f
#define MYNIC_ARM_VALID (1ULL << 63)

/**
 * struct mynic_cq_dbrec - doorbell record of a CQ
 * @ci: consumer index, written by the host: entries before it have been read
 * @reserved_04: zero
 * @arm: the host's last request for an event, MYNIC_ARM_*. The sequence number
 *	is one more than in the last one, unless that is still to be taken and
 *	has the same index.
 * @reserved_48: zero
 * @taken: the last request that the device has taken
 * @db_suppress: not zero while the device looks at @arm behind each entry. Only
 *	with MYNIC_FEATURE_DB_SUPPRESS; the host reads it after storing @arm
 *	and a full barrier. It also rings if the entry with the request's index
 *	is there by then.
 * @reserved_8c: zero
 */
struct mynic_cq_dbrec {
	__le32 ci;
	__u8 reserved_04[60];
	__le64 arm;
	__u8 reserved_48[56];
	__le64 taken;
	__le32 db_suppress;
	__u8 reserved_8c[116];
};

_Static_assert(sizeof(struct mynic_cq_dbrec) == 256, "mynic_cq_dbrec");

/**
 * struct mynic_sge - scatter/gather element; the image of struct ibv_sge
 * @addr: address in the memory region
 * @length: bytes; 0 means 0
 * @lkey: local key
 */
struct mynic_sge {
	__le64 addr;
	__le32 length;
	__le32 lkey;
};

_Static_assert(sizeof(struct mynic_sge) == 16, "mynic_sge");

/*
 * Address vectors describe the network header of packets: RoCEv2 over IPv6 or
 * IPv4.
 */

/**
 * struct mynic_av - address vector
 * @dgid: destination GID; IPv4 as ::ffff:a.b.c.d
 * @dmac: destination MAC
 * @hop_limit: hop limit or TTL; 0 is sent as 64
 * @traffic_class: DSCP and ECN
 * @flow_label: 20 bits; 0: the UDP source port comes from the QP numbers
 * @sgid_index: source GID, which also gives the source MAC and the VLAN
 * @sl: service level, at most %MYNIC_MAX_SL: the VLAN priority
 * @static_rate: enum ibv_rate, 0 for no limit
 */
struct mynic_av {
	__u8 dgid[16];
	__u8 dmac[6];
	__u8 hop_limit;
	__u8 traffic_class;
	__le32 flow_label;
	__le16 sgid_index;
	__u8 sl;
	__u8 static_rate;
};

_Static_assert(sizeof(struct mynic_av) == 32, "mynic_av");

#define MYNIC_MAX_SL 7

/*
 * Send queue entry: a header of 32 bytes, an extension of 32 bytes, and the
 * data area, up to the stride. RC and UC QPs have no extension. The data area
 * holds SGEs, or inline data, or the operands of an opcode that has neither.
 */
#define MYNIC_SQ_MIN_STRIDE 64
#define MYNIC_SQ_MAX_STRIDE 512
#define MYNIC_WQE_EXT 32 /* offset of the extension */
#define MYNIC_WQE_DATA_RC 32 /* offset of the data area: RC, UC */
#define MYNIC_WQE_DATA_EXT 64 /* ... and on every other QP type */
#define MYNIC_WQE_ATOMIC 16 /* offset of atomic operands in the data area */

#define MYNIC_WQE_OPCODE_MASK 0xff /* enum ibv_wr_opcode */
#define MYNIC_WQE_FLAGS_SHIFT 8 /* enum ibv_send_flags */

/**
 * struct mynic_send_wqe - the header of every send queue entry
 * @wr_id: returned in the completion
 * @ctrl: enum ibv_wr_opcode in bits 7:0, enum ibv_send_flags from bit 8
 * @imm_data: immediate data as in struct ibv_send_wr (big-endian)
 * @invalidate_rkey: SEND_WITH_INV, LOCAL_INV: the key to invalidate
 * @remote_addr: RDMA, atomics, flush: remote address
 * @remote_qpn: UD: destination QP
 * @remote_qkey: UD: Q_Key; bit 31 set: the QP's own is sent
 * @rkey: RDMA, atomics, flush: remote key
 * @mss: TSO: payload bytes per segment
 * @hdr_len: TSO: bytes of header at the start of the data area; the SGEs
 *	follow at the next multiple of 16
 * @len: with IBV_SEND_INLINE the number of inline bytes, else of SGEs
 */
struct mynic_send_wqe {
	__le64 wr_id;
	__le32 ctrl;
	union {
		__be32 imm_data;
		__le32 invalidate_rkey;
	};
	union {
		__le64 remote_addr;
		struct {
			__le32 remote_qpn;
			__le32 remote_qkey;
		};
	};
	union {
		__le32 rkey;
		struct {
			__le16 mss;
			__le16 hdr_len;
		};
	};
	__le32 len;
};

_Static_assert(sizeof(struct mynic_send_wqe) == 32, "mynic_send_wqe");

/* The extension is a struct mynic_av on UD QPs, or: */

/**
 * struct mynic_eth_ext - extension on RAW_PACKET QPs
 * @vlan: VLAN tag (TCI) that the device inserts behind the source MAC address;
 *	0 and 0xffff: none. For the kernel, which knows whether the device does:
 *	processes write zero
 * @reserved_02: zero
 */
struct mynic_eth_ext {
	__le16 vlan;
	__u8 reserved_02[30];
};

_Static_assert(sizeof(struct mynic_eth_ext) == 32, "mynic_eth_ext");

/**
 * struct mynic_xrc_ext - extension on XRC_SEND QPs
 * @remote_srqn: the SRQ at the other end, 24 bits
 * @reserved_04: zero
 */
struct mynic_xrc_ext {
	__le32 remote_srqn;
	__u8 reserved_04[28];
};

_Static_assert(sizeof(struct mynic_xrc_ext) == 32, "mynic_xrc_ext");

/* Operands in the data area */

/**
 * struct mynic_atomic_operands - at MYNIC_WQE_ATOMIC, behind the one SGE
 * @compare_add: value compared with, or added
 * @swap: value swapped in
 */
struct mynic_atomic_operands {
	__le64 compare_add;
	__le64 swap;
};

_Static_assert(sizeof(struct mynic_atomic_operands) == 16, "mynic_atomic_ops");

/**
 * struct mynic_bind_operands - BIND_MW, at the start of the data area
 * @addr: first byte of the window, as an address in the memory region
 * @length: bytes; 0 with a type 1 window: unbind
 * @lkey: the memory region
 * @new_rkey: bits 7:0: new key byte of the window. Bits 31:8 of &struct
 *	mynic_send_wqe.rkey select the window.
 * @access: enum ib_access_flags of the window
 * @reserved_1c: zero
 */
struct mynic_bind_operands {
	__le64 addr;
	__le64 length;
	__le32 lkey;
	__le32 new_rkey;
	__le32 access;
	__le32 reserved_1c;
};

_Static_assert(sizeof(struct mynic_bind_operands) == 32, "mynic_bind_ops");

/**
 * struct mynic_flush_operands - FLUSH, at the start of the data area
 * @length: bytes to flush; at most 2^31
 * @placement: enum ib_placement_type
 * @selectivity: enum ib_selectivity_level
 */
struct mynic_flush_operands {
	__le64 length;
	__le32 placement;
	__le32 selectivity;
};

_Static_assert(sizeof(struct mynic_flush_operands) == 16, "mynic_flush_ops");

/**
 * struct mynic_recv_wqe - header of an RQ or SRQ entry; SGEs follow at once
 * @wr_id: returned in the completion
 * @num_sge: number of SGEs
 * @reserved_0c: zero
 */
struct mynic_recv_wqe {
	__le64 wr_id;
	__le32 num_sge;
	__le32 reserved_0c;
};

_Static_assert(sizeof(struct mynic_recv_wqe) == 16, "mynic_recv_wqe");

#define MYNIC_RQ_MIN_STRIDE 32
#define MYNIC_RQ_MAX_STRIDE 512

/*
 * Tag matching: messages begin with the header that rdma-core's tag_matching.md
 * defines, big-endian. It is struct ibv_tmh, and for a rendezvous request
 * struct ibv_rvh, too.
 */
#define MYNIC_TAG_OPCODE_MASK 0xff /* enum ibv_ops_wr_opcode */
#define MYNIC_TAG_FLAGS_SHIFT 8 /* enum ibv_ops_flags */

/**
 * struct mynic_tag_wqe - entry of a tag ring
 * @wr_id: returned in the completion
 * @ctrl: enum ibv_ops_wr_opcode in bits 7:0, enum ibv_ops_flags from bit 8
 * @unexpected_cnt: IBV_OPS_TM_SYNC: unexpected messages that the host has
 *	handled since the SRQ was created, modulo 2^32
 * @handle: ADD: the host's name for the tag; DEL: that of the tag to delete
 * @num_sge: ADD: 0 or 1
 * @recv_wr_id: ADD: returned in the completions of the message that matches
 * @tag: ADD: value that the message's tag must have
 * @mask: ADD: bits of @tag that must match
 * @sge: ADD: memory for the payload
 */
struct mynic_tag_wqe {
	__le64 wr_id;
	__le32 ctrl;
	__le32 unexpected_cnt;
	__le32 handle;
	__le32 num_sge;
	__le64 recv_wr_id;
	__le64 tag;
	__le64 mask;
	struct mynic_sge sge;
};

_Static_assert(sizeof(struct mynic_tag_wqe) == 64, "mynic_tag_wqe");

/**
 * enum mynic_network - the network header of a received datagram
 * @MYNIC_NETWORK_IPV6: 40 bytes, in front of the payload
 * @MYNIC_NETWORK_IPV4: 20 bytes, in front of the payload; 20 undefined bytes
 *	precede them
 *
 * The completion of a datagram names it (IBTA A17.4.5.1). struct ibv_wc has no
 * field for that, and RoCEv2 has no service level. So it is in the low 3 bits
 * of sl, where libmlx5 has it, too, and programs such as UCX read it.
 */
enum mynic_network {
	MYNIC_NETWORK_IPV6 = 1,
	MYNIC_NETWORK_IPV4 = 2,
};

/**
 * struct mynic_cqe - completion queue entry
 * @wr_id: from the request
 * @status: enum ibv_wc_status; if not 0, only @wr_id, @qp_num and @vendor_err
 *	are also defined
 * @opcode: enum ibv_wc_opcode
 * @vendor_err: enum mynic_syndrome
 * @byte_len: bytes received, read, or operated on
 * @imm_data: immediate data as in struct ibv_wc (big-endian)
 * @invalidated_rkey: the key that SEND_WITH_INV invalidated
 * @qp_num: local QP
 * @src_qp: UD: sender's QP
 * @wc_flags: enum ibv_wc_flags
 * @pkey_index: 0
 * @slid: 0 on Ethernet
 * @sl: UD: &enum mynic_network of the received packet; RAW_PACKET: the VLAN
 *	priority of the frame
 * @dlid_path_bits: 0 on Ethernet
 * @cvlan: VLAN tag of a received frame, 0 for none
 * @tag: with IBV_WC_TM_MATCH, in place of the five fields before: the message's
 *	tag
 * @timestamp: device clock at the completion, see the CLOCK register
 * @flow_tag: mark of the flow rule that matched
 * @tag_priv: with IBV_WC_TM_MATCH: the message's app_ctx
 * @stripped: RAW_PACKET: bytes of the VLAN tag that is not in the buffers
 * @reserved_3d: zero
 * @phase: bit 0: 1 on the first lap through the ring, 0 on the second, and so
 *	on. Written last: read it first, with acquire order.
 *
 * The first 48 bytes are the image of struct ibv_wc on a little-endian host.
 */
struct mynic_cqe {
	__le64 wr_id;
	__le32 status;
	__le32 opcode;
	__le32 vendor_err;
	__le32 byte_len;
	union {
		__be32 imm_data;
		__le32 invalidated_rkey;
	};
	__le32 qp_num;
	__le32 src_qp;
	__le32 wc_flags;
	union {
		struct {
			__le16 pkey_index;
			__le16 slid;
			__u8 sl;
			__u8 dlid_path_bits;
			__le16 cvlan;
		};
		__le64 tag;
	};
	__le64 timestamp;
	union {
		__le32 flow_tag;
		__le32 tag_priv;
	};
	__u8 stripped;
	__u8 reserved_3d[2];
	__u8 phase;
};

_Static_assert(sizeof(struct mynic_cqe) == 64, "mynic_cqe");

/**
 * enum mynic_syndrome - &struct mynic_cqe.vendor_err
 * @MYNIC_SYN_NONE: nothing beyond the status
 * @MYNIC_SYN_BAD_OPCODE: opcode not allowed on this QP type
 * @MYNIC_SYN_BAD_FLAGS: a send flag that this opcode does not allow
 * @MYNIC_SYN_BAD_LEN: more SGEs or inline bytes than the slot has; a message
 *	above 2^31 or (UD) the path MTU; an atomic operand of not 8 bytes
 * @MYNIC_SYN_BAD_LKEY: no such key, other PD, or no local write access
 * @MYNIC_SYN_LKEY_BOUNDS: SGE outside its memory region
 * @MYNIC_SYN_BAD_GID: sgid_index is empty or does not fit the destination
 * @MYNIC_SYN_DMA: an address of the queue or region is not mapped
 * @MYNIC_SYN_REMOTE_ACCESS: NAK: remote access error
 * @MYNIC_SYN_REMOTE_INVALID: NAK: invalid request
 * @MYNIC_SYN_REMOTE_OP: NAK: remote operational error
 * @MYNIC_SYN_RETRY: retry_cnt exceeded
 * @MYNIC_SYN_RNR_RETRY: rnr_retry exceeded
 * @MYNIC_SYN_BAD_RESPONSE: a response that the request does not allow
 * @MYNIC_SYN_RQ_LEN: message longer than the receive request
 * @MYNIC_SYN_RQ_INVALID: inbound request sequence is invalid
 * @MYNIC_SYN_RQ_ACCESS: inbound request failed its key or bounds check
 * @MYNIC_SYN_FLUSHED: flushed by a transition to the error state
 * @MYNIC_SYN_BAD_MKEY: BIND_MW, LOCAL_INV, REG_MR: no such key, other PD, or
 *	not of the kind or in the state that it takes
 * @MYNIC_SYN_MKEY_ACCESS: BIND_MW, REG_MR: illegal access rights
 * @MYNIC_SYN_MKEY_BOUNDS: BIND_MW: not inside the region; REG_MR: malformed, or
 *	more than the region may have
 */
enum mynic_syndrome {
	MYNIC_SYN_NONE = 0,
	MYNIC_SYN_BAD_OPCODE = 1,
	MYNIC_SYN_BAD_FLAGS = 2,
	MYNIC_SYN_BAD_LEN = 3,
	MYNIC_SYN_BAD_LKEY = 4,
	MYNIC_SYN_LKEY_BOUNDS = 5,
	MYNIC_SYN_BAD_GID = 6,
	MYNIC_SYN_DMA = 7,
	MYNIC_SYN_REMOTE_ACCESS = 8,
	MYNIC_SYN_REMOTE_INVALID = 9,
	MYNIC_SYN_REMOTE_OP = 10,
	MYNIC_SYN_RETRY = 11,
	MYNIC_SYN_RNR_RETRY = 12,
	MYNIC_SYN_BAD_RESPONSE = 13,
	MYNIC_SYN_RQ_LEN = 14,
	MYNIC_SYN_RQ_INVALID = 15,
	MYNIC_SYN_RQ_ACCESS = 16,
	MYNIC_SYN_FLUSHED = 17,
	MYNIC_SYN_BAD_MKEY = 18,
	MYNIC_SYN_MKEY_ACCESS = 19,
	MYNIC_SYN_MKEY_BOUNDS = 20,
};

/**
 * struct mynic_comp_cntr_values - a completion counter, written by the
 *	device
 * @completions: requests that were successful
 * @errors: requests that were not
 */
struct mynic_comp_cntr_values {
	__le64 completions;
	__le64 errors;
};

_Static_assert(sizeof(struct mynic_comp_cntr_values) == 16,
	       "mynic_comp_cntr_values");

#endif /* MYNIC_HW_H */
