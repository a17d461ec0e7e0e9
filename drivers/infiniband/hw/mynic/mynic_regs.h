/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The kernel's part of the hardware interface: PCI identity, BAR0 registers,
 * admin queue, event queues, and descriptors of host memory. The part of user
 * space is in rdma/mynic-hw.h.
 *
 * The device's hardware specification has the rules behind these layouts. All
 * fields are little-endian unless their type or comment says otherwise.
 * Reserved fields are zero when written and ignored when read.
 */
#ifndef MYNIC_REGS_H
#define MYNIC_REGS_H

#include <linux/types.h>
#include <rdma/mynic-hw.h>

/*
 * PCI identity: from QEMU's range for experimental devices
 * (docs/specs/pci-ids.rst)
 */
#define MYNIC_PCI_VENDOR_ID 0x1af4
#define MYNIC_PCI_DEVICE_ID 0x10f0
#define MYNIC_PCI_REVISION 0x01

#define MYNIC_BAR_REGS 0
#define MYNIC_BAR_UAR 2
#define MYNIC_BAR_MSIX 4

/*
 * BAR0: registers of 4 bytes, accessed as such. A pair _LO/_HI makes 64 bits.
 */
#define MYNIC_BAR_REGS_SIZE 4096

#define MYNIC_REG_MAGIC 0x00 /* MYNIC_MAGIC */
#define MYNIC_REG_VERSION 0x04 /* major in 31:16, minor in 15:0 */
#define MYNIC_REG_CONTROL 0x08
#define MYNIC_REG_STATUS 0x0c
#define MYNIC_REG_FATAL 0x10 /* enum mynic_fatal */
#define MYNIC_REG_FEATURES_LO 0x18 /* offered by the device */
#define MYNIC_REG_FEATURES_HI 0x1c
#define MYNIC_REG_DRV_FEATURES_LO 0x20 /* accepted by the driver */
#define MYNIC_REG_DRV_FEATURES_HI 0x24
#define MYNIC_REG_AQ_CMD_LO 0x28 /* DMA address, 64 byte aligned */
#define MYNIC_REG_AQ_CMD_HI 0x2c
#define MYNIC_REG_AQ_CPL_LO 0x30 /* DMA address, 64 byte aligned */
#define MYNIC_REG_AQ_CPL_HI 0x34
#define MYNIC_REG_AQ_LOG_SIZE 0x38 /* log2 of slots in either ring */
#define MYNIC_REG_AQ_DOORBELL 0x3c /* producer index, free-running 32 bit */
#define MYNIC_REG_CLOCK_LO 0x40 /* ns, free-running; reading LO latches HI */
#define MYNIC_REG_CLOCK_HI 0x44
#define MYNIC_REG_AQ_ARM 0x48 /* index of completions, free-running 32 bit */

#define MYNIC_MAGIC 0x43494e4d /* "MNIC" */
#define MYNIC_VERSION_MAJOR 1
#define MYNIC_VERSION_MINOR 3

#define MYNIC_CONTROL_ENABLE 0x1 /* reads 0 if the device refuses */
#define MYNIC_CONTROL_RESET 0x2 /* reads 0 */

#define MYNIC_STATUS_READY 0x1 /* reset is over, queues may be set up */
#define MYNIC_STATUS_ENABLED 0x2
#define MYNIC_STATUS_FATAL 0x4 /* only a reset leaves this state */

/**
 * enum mynic_fatal - FATAL register: why the device has stopped
 * @MYNIC_FATAL_NONE: it has not stopped
 * @MYNIC_FATAL_AQ_DMA: an admin ring is not in mapped host memory
 * @MYNIC_FATAL_AQ_INDEX: admin producer index more than a ring ahead
 * @MYNIC_FATAL_EQ_DMA: an event ring or its record is not in mapped host
 *	memory
 * @MYNIC_FATAL_INTERNAL: the device has found an error of its own
 */
enum mynic_fatal {
	MYNIC_FATAL_NONE = 0,
	MYNIC_FATAL_AQ_DMA = 1,
	MYNIC_FATAL_AQ_INDEX = 2,
	MYNIC_FATAL_EQ_DMA = 3,
	MYNIC_FATAL_INTERNAL = 4,
};

/*
 * Feature bits: the device offers them, and the driver accepts a subset before
 * ENABLE. Without any, the device behaves as version 1.0 specifies.
 */
#define MYNIC_FEATURE_DB_SUPPRESS 0x1ULL /* see mynic_qp_dbrec.sq_db_suppress */

/*
 * MSI-X vector 0 signals device errors, the EQ bound to it, and admin
 * completions if AQ_ARM asks for them.
 */
#define MYNIC_MAX_VECTORS 32

/*
 * log2 of the bytes in a page of the device, which may be smaller than the
 * host's
 */
#define MYNIC_MIN_LOG_PAGE_SIZE 12
#define MYNIC_MAX_LOG_PAGE_SIZE 31

/**
 * struct mynic_buf - host memory as the device sees it
 * @addr: @levels 0: DMA address of the memory; 1: of a list of page addresses
 *	(__le64); 2: of a list of the addresses of lists
 * @levels: 0, 1 or 2
 * @log_page_size: log2 of the bytes in a page, MYNIC_MIN_LOG_PAGE_SIZE to
 *	MYNIC_MAX_LOG_PAGE_SIZE; @levels 1 and 2
 * @log_list_size: log2 of the bytes in one list, 12 to 22; @levels 2
 * @reserved_0b: zero
 * @offset: byte of the first page at which the memory begins
 *
 * @log_page_size and @log_list_size are 0 if @levels does not use them.
 * Lists are 8 byte aligned, page addresses page aligned. The lists stay in
 * place, unchanged, for as long as the object that was given them. Rings and
 * records begin, counted from the first page, at a multiple of the size of a
 * slot or of the record. Neither ever crosses a page.
 */
struct mynic_buf {
	__le64 addr;
	__u8 levels;
	__u8 log_page_size;
	__u8 log_list_size;
	__u8 reserved_0b;
	__le32 offset;
};

_Static_assert(sizeof(struct mynic_buf) == 16, "mynic_buf");

#define MYNIC_AQ_MAX_LOG_SIZE 8
#define MYNIC_MBOX_SIZE 4096

/**
 * enum mynic_aq_opcode - admin commands
 * @MYNIC_CMD_NOP: does nothing; completion: &struct mynic_nop_result
 * @MYNIC_CMD_QUERY_DEVICE: mailbox out: &struct mynic_device_attr
 * @MYNIC_CMD_QUERY_PORT: mailbox out: &struct mynic_port_attr
 * @MYNIC_CMD_MODIFY_PORT: body: &struct mynic_modify_port
 * @MYNIC_CMD_QUERY_STATS: mailbox out: &enum mynic_stat times __le64
 * @MYNIC_CMD_SET_GID: number: index; body: &struct mynic_set_gid
 * @MYNIC_CMD_SET_RX: number: the RAW_PACKET QP that is to receive the port's
 *	Ethernet frames; body: &struct mynic_set_rx; mailbox in: MAC list
 * @MYNIC_CMD_CREATE_EQ: body: &struct mynic_create_eq; returns number
 * @MYNIC_CMD_DESTROY_EQ: number
 * @MYNIC_CMD_ALLOC_PD: returns number
 * @MYNIC_CMD_DEALLOC_PD: number
 * @MYNIC_CMD_ALLOC_XRCD: returns number
 * @MYNIC_CMD_DEALLOC_XRCD: number
 * @MYNIC_CMD_CREATE_MKEY: body: &struct mynic_create_mkey; returns the key,
 *	index in 31:8 and key byte in 7:0
 * @MYNIC_CMD_DESTROY_MKEY: number: index
 * @MYNIC_CMD_MODIFY_MKEY: number: index; body: &struct mynic_create_mkey
 * @MYNIC_CMD_QUERY_MKEY: number: index; mailbox out: &struct mynic_query_mkey
 * @MYNIC_CMD_ALLOC_DM: body: &struct mynic_alloc_dm; returns number and, in the
 *	completion, &struct mynic_dm_place
 * @MYNIC_CMD_FREE_DM: number
 * @MYNIC_CMD_SYNC_MKEY: number: index of an ODP region, whose lists the device
 *	reads anew from now on
 * @MYNIC_CMD_RESUME: number: QP that waits for a page; body: &struct
 *	mynic_resume
 * @MYNIC_CMD_CREATE_CQ: body: &struct mynic_create_cq; returns number
 * @MYNIC_CMD_DESTROY_CQ: number
 * @MYNIC_CMD_RESIZE_CQ: number; body: &struct mynic_resize
 * @MYNIC_CMD_MODIFY_CQ: number; body: &struct mynic_modify_cq
 * @MYNIC_CMD_QUERY_CQ: number; mailbox out: &struct mynic_query_cq
 * @MYNIC_CMD_CREATE_SRQ: mailbox in: &struct mynic_create_srq; returns number
 * @MYNIC_CMD_MODIFY_SRQ: number; body: &struct mynic_modify_srq
 * @MYNIC_CMD_QUERY_SRQ: number; completion: &struct mynic_query_srq
 * @MYNIC_CMD_DESTROY_SRQ: number
 * @MYNIC_CMD_RESIZE_SRQ: number; body: &struct mynic_resize
 * @MYNIC_CMD_CREATE_QP: mailbox in: &struct mynic_create_qp; returns number
 * @MYNIC_CMD_MODIFY_QP: number; mailbox in: &struct mynic_qp_attr
 * @MYNIC_CMD_QUERY_QP: number; mailbox out: &struct mynic_qp_attr
 * @MYNIC_CMD_DESTROY_QP: number
 * @MYNIC_CMD_ATTACH_MCAST: number: UD QP; body: &struct mynic_mcast
 * @MYNIC_CMD_DETACH_MCAST: number: UD QP; body: &struct mynic_mcast
 * @MYNIC_CMD_CREATE_FLOW: body: &struct mynic_create_flow; mailbox in: &struct
 *	mynic_flow_spec times num_specs; returns number
 * @MYNIC_CMD_DESTROY_FLOW: number
 * @MYNIC_CMD_CREATE_WQ: mailbox in: &struct mynic_create_wq; returns number
 * @MYNIC_CMD_MODIFY_WQ: number; body: &struct mynic_modify_wq
 * @MYNIC_CMD_DESTROY_WQ: number
 * @MYNIC_CMD_CREATE_RWQ_TABLE: body: &struct mynic_create_rwq_table; mailbox
 *	in: WQNs, __le32; returns number
 * @MYNIC_CMD_DESTROY_RWQ_TABLE: number
 * @MYNIC_CMD_CREATE_COUNTERS: returns number
 * @MYNIC_CMD_DESTROY_COUNTERS: number
 * @MYNIC_CMD_QUERY_COUNTERS: number; mailbox out as of QUERY_STATS
 * @MYNIC_CMD_BIND_COUNTERS: number: QP; body: &struct mynic_bind_counters
 * @MYNIC_CMD_CREATE_COMP_CNTR: body: &struct mynic_create_comp_cntr; returns
 *	number
 * @MYNIC_CMD_DESTROY_COMP_CNTR: number
 * @MYNIC_CMD_MODIFY_COMP_CNTR: number; body: &struct mynic_modify_comp_cntr
 * @MYNIC_CMD_ATTACH_COMP_CNTR: number: QP; body: &struct
 *	mynic_attach_comp_cntr
 */
enum mynic_aq_opcode {
	MYNIC_CMD_NOP = 0x01,
	MYNIC_CMD_QUERY_DEVICE = 0x02,
	MYNIC_CMD_QUERY_PORT = 0x03,
	MYNIC_CMD_MODIFY_PORT = 0x04,
	MYNIC_CMD_QUERY_STATS = 0x05,
	MYNIC_CMD_SET_GID = 0x06,
	MYNIC_CMD_SET_RX = 0x07,
	MYNIC_CMD_CREATE_EQ = 0x10,
	MYNIC_CMD_DESTROY_EQ = 0x11,
	MYNIC_CMD_ALLOC_PD = 0x18,
	MYNIC_CMD_DEALLOC_PD = 0x19,
	MYNIC_CMD_ALLOC_XRCD = 0x1a,
	MYNIC_CMD_DEALLOC_XRCD = 0x1b,
	MYNIC_CMD_CREATE_MKEY = 0x20,
	MYNIC_CMD_DESTROY_MKEY = 0x21,
	MYNIC_CMD_MODIFY_MKEY = 0x22,
	MYNIC_CMD_QUERY_MKEY = 0x23,
	MYNIC_CMD_ALLOC_DM = 0x24,
	MYNIC_CMD_FREE_DM = 0x25,
	MYNIC_CMD_SYNC_MKEY = 0x26,
	MYNIC_CMD_RESUME = 0x27,
	MYNIC_CMD_CREATE_CQ = 0x28,
	MYNIC_CMD_DESTROY_CQ = 0x29,
	MYNIC_CMD_RESIZE_CQ = 0x2a,
	MYNIC_CMD_MODIFY_CQ = 0x2b,
	MYNIC_CMD_QUERY_CQ = 0x2c,
	MYNIC_CMD_CREATE_SRQ = 0x30,
	MYNIC_CMD_MODIFY_SRQ = 0x31,
	MYNIC_CMD_QUERY_SRQ = 0x32,
	MYNIC_CMD_DESTROY_SRQ = 0x33,
	MYNIC_CMD_RESIZE_SRQ = 0x34,
	MYNIC_CMD_CREATE_QP = 0x38,
	MYNIC_CMD_MODIFY_QP = 0x39,
	MYNIC_CMD_QUERY_QP = 0x3a,
	MYNIC_CMD_DESTROY_QP = 0x3b,
	MYNIC_CMD_ATTACH_MCAST = 0x40,
	MYNIC_CMD_DETACH_MCAST = 0x41,
	MYNIC_CMD_CREATE_FLOW = 0x48,
	MYNIC_CMD_DESTROY_FLOW = 0x49,
	MYNIC_CMD_CREATE_WQ = 0x4c,
	MYNIC_CMD_MODIFY_WQ = 0x4d,
	MYNIC_CMD_DESTROY_WQ = 0x4f,
	MYNIC_CMD_CREATE_RWQ_TABLE = 0x50,
	MYNIC_CMD_DESTROY_RWQ_TABLE = 0x51,
	MYNIC_CMD_CREATE_COUNTERS = 0x58,
	MYNIC_CMD_DESTROY_COUNTERS = 0x59,
	MYNIC_CMD_QUERY_COUNTERS = 0x5a,
	MYNIC_CMD_BIND_COUNTERS = 0x5b,
	MYNIC_CMD_CREATE_COMP_CNTR = 0x5c,
	MYNIC_CMD_DESTROY_COMP_CNTR = 0x5d,
	MYNIC_CMD_MODIFY_COMP_CNTR = 0x5e,
	MYNIC_CMD_ATTACH_COMP_CNTR = 0x5f,
};

/**
 * enum mynic_aq_status - status of an admin command
 * @MYNIC_AQ_OK: done
 * @MYNIC_AQ_BAD_OPCODE: no such command
 * @MYNIC_AQ_BAD_PARAM: a field is out of range, or reserved and not zero
 * @MYNIC_AQ_BAD_NUMBER: an object named in the command does not exist
 * @MYNIC_AQ_BAD_STATE: the transition or operation is illegal now
 * @MYNIC_AQ_BUSY: the object is in use by another
 * @MYNIC_AQ_NO_RESOURCE: a limit in &struct mynic_device_attr is reached
 * @MYNIC_AQ_BAD_DMA: an address is not in mapped host memory
 * @MYNIC_AQ_NOT_SUPPORTED: a flag, type or mailbox byte beyond this version
 */
enum mynic_aq_status {
	MYNIC_AQ_OK = 0,
	MYNIC_AQ_BAD_OPCODE = 1,
	MYNIC_AQ_BAD_PARAM = 2,
	MYNIC_AQ_BAD_NUMBER = 3,
	MYNIC_AQ_BAD_STATE = 4,
	MYNIC_AQ_BUSY = 5,
	MYNIC_AQ_NO_RESOURCE = 6,
	MYNIC_AQ_BAD_DMA = 7,
	MYNIC_AQ_NOT_SUPPORTED = 8,
};

/**
 * struct mynic_create_eq - body of CREATE_EQ
 * @buf: host memory with the ring of &struct mynic_eqe, at its beginning, and
 *	the doorbell record, all zeroed
 * @vector: MSI-X vector
 * @log_size: log2 of the number of entries, 1 to 20
 * @async: 1: this EQ takes the asynchronous events; exactly one does
 * @dbrec_offset: of &struct mynic_eq_dbrec in @buf
 * @reserved_18: zero
 */
struct mynic_create_eq {
	struct mynic_buf buf;
	__le16 vector;
	__u8 log_size;
	__u8 async;
	__le32 dbrec_offset;
	__u8 reserved_18[16];
};

_Static_assert(sizeof(struct mynic_create_eq) == 40, "mynic_create_eq");

/**
 * struct mynic_eq_dbrec - doorbell record of an EQ
 * @ci: consumer index, written by the host: entries before it have been read.
 *	The entry with this index raises an interrupt, so the host looks at it
 *	once more after a full barrier behind the store.
 * @reserved_04: zero
 * @ring: written by the device; not zero: ring the EQ doorbell after storing
 *	@ci. The host reads it behind that barrier.
 * @reserved_44: zero
 */
struct mynic_eq_dbrec {
	__le32 ci;
	__u8 reserved_04[60];
	__le32 ring;
	__u8 reserved_44[60];
};

_Static_assert(sizeof(struct mynic_eq_dbrec) == 128, "mynic_eq_dbrec");

/**
 * struct mynic_create_mkey - body of CREATE_MKEY and MODIFY_MKEY
 * @buf: the pages; @levels 0 with MYNIC_MKEY_DMA
 * @iova: address of the first byte in requests
 * @length: bytes; may be 0
 * @pdn: protection domain
 * @access: enum ib_access_flags
 *
 * Requests can access [@iova, @iova + @length). An access flag that the device
 * does not know is NOT_SUPPORTED. It ignores flags that are optional in verbs
 * (bits 20 to 29).
 */
struct mynic_create_mkey {
	struct mynic_buf buf;
	__le64 iova;
	__le64 length;
	__le32 pdn;
	__le32 access;
};

_Static_assert(sizeof(struct mynic_create_mkey) == 40, "mynic_create_mkey");

/*
 * CREATE_MKEY, header flags, at most one.
 *
 * DMA: the region is all of DMA space; @iova is 0.
 *
 * FAST_REG: a region whose memory comes from REG_MR. @length is its maximum of
 * pages, and only @pdn of the other fields is not 0.
 *
 * MW1, MW2: a memory window of type 1 or 2. All fields except @pdn are 0.
 */
#define MYNIC_MKEY_DMA 0x01
#define MYNIC_MKEY_FAST_REG 0x02
#define MYNIC_MKEY_MW1 0x04
#define MYNIC_MKEY_MW2 0x08
/* ... an ODP region: @buf has lists of entries with MYNIC_PAGE_* */
#define MYNIC_MKEY_ODP 0x10
/* ... device memory: @buf has the offset in BAR2, and no pages */
#define MYNIC_MKEY_DM 0x20

/**
 * struct mynic_alloc_dm - body of ALLOC_DM
 * @length: bytes, at least 1; the device gives whole MYNIC_DM_GRANULE
 * @log_align: log2 of the alignment in BAR2; less than a granule is a granule
 * @reserved_09: zero
 */
struct mynic_alloc_dm {
	__le64 length;
	__u8 log_align;
	__u8 reserved_09[31];
};

_Static_assert(sizeof(struct mynic_alloc_dm) == 40, "mynic_alloc_dm");

/**
 * struct mynic_dm_place - completion body of ALLOC_DM
 * @offset: where in BAR2 the memory begins
 * @reserved_08: zero
 */
struct mynic_dm_place {
	__le64 offset;
	__u8 reserved_08[40];
};

_Static_assert(sizeof(struct mynic_dm_place) == 48, "mynic_dm_place");

#define MYNIC_DM_GRANULE 4096

/* Flags in the low bits of an entry of an ODP region's list */
#define MYNIC_PAGE_PRESENT 0x1 /* the other bits are an address */
#define MYNIC_PAGE_WRITABLE 0x2 /* pages: the device may write there */

/**
 * enum mynic_page_stage - part of a QP that waits for a page
 * @MYNIC_PAGE_SEND: its send requests
 * @MYNIC_PAGE_RECV: received packets, requests and responses alike
 * @MYNIC_PAGE_READ: the responses to reads
 * @MYNIC_PAGE_STAGES: number of stages
 */
enum mynic_page_stage {
	MYNIC_PAGE_SEND = 0,
	MYNIC_PAGE_RECV = 1,
	MYNIC_PAGE_READ = 2,
	MYNIC_PAGE_STAGES = 3,
};

/**
 * struct mynic_resume - body of RESUME
 * @token: of the event
 * @stage: enum mynic_page_stage
 * @failed: 1: there is no such page, so the access fails
 * @reserved_06: zero
 */
struct mynic_resume {
	__le32 token;
	__u8 stage;
	__u8 failed;
	__u8 reserved_06[34];
};

_Static_assert(sizeof(struct mynic_resume) == 40, "mynic_resume");

/**
 * struct mynic_create_cq - body of CREATE_CQ
 * @buf: host memory with the ring, zeroed, and the doorbell record
 * @ring_offset: of the ring in @buf
 * @dbrec_offset: of &struct mynic_cq_dbrec in @buf
 * @uarn: the UAR page on which the CQ's doorbell is rung
 * @eqn: event queue for completion events
 * @log_size: log2 of the number of entries, 1 to 22
 * @reserved_1f: zero
 */
struct mynic_create_cq {
	struct mynic_buf buf;
	__le32 ring_offset;
	__le32 dbrec_offset;
	__le32 uarn;
	__le16 eqn;
	__u8 log_size;
	__u8 reserved_1f[9];
};

_Static_assert(sizeof(struct mynic_create_cq) == 40, "mynic_create_cq");

/* CREATE_CQ: header flags */
#define MYNIC_CQ_IGNORE_OVERRUN 0x01 /* write even if the ring looks full */

/**
 * struct mynic_modify_cq - body of MODIFY_CQ
 * @count: entries that a completion event waits for
 * @period: microseconds that it waits at most
 * @reserved_04: zero
 *
 * If one of them is 0, events do not wait.
 */
struct mynic_modify_cq {
	__le16 count;
	__le16 period;
	__u8 reserved_04[36];
};

_Static_assert(sizeof(struct mynic_modify_cq) == 40, "mynic_modify_cq");

/**
 * struct mynic_resize - body of RESIZE_CQ and RESIZE_SRQ
 * @buf: host memory with the new ring and the new doorbell record
 * @ring_offset: of the ring in @buf
 * @dbrec_offset: of the doorbell record in @buf
 * @log_size: log2 of the number of entries or slots, as at creation
 * @reserved_19: zero
 */
struct mynic_resize {
	struct mynic_buf buf;
	__le32 ring_offset;
	__le32 dbrec_offset;
	__u8 log_size;
	__u8 reserved_19[15];
};

_Static_assert(sizeof(struct mynic_resize) == 40, "mynic_resize");

/**
 * struct mynic_query_mkey - mailbox of QUERY_MKEY
 * @key: index in 31:8, key byte in 7:0
 * @pdn: protection domain
 * @access: enum ib_access_flags
 * @flags: MYNIC_MKEY_*
 * @reserved_0d: zero
 * @iova: address of the first byte in requests
 * @length: bytes
 * @reserved_20: zero
 */
struct mynic_query_mkey {
	__le32 key;
	__le32 pdn;
	__le32 access;
	__u8 flags;
	__u8 reserved_0d[3];
	__le64 iova;
	__le64 length;
	__u8 reserved_20[32];
};

_Static_assert(sizeof(struct mynic_query_mkey) == 64, "mynic_query_mkey");

/**
 * struct mynic_query_cq - mailbox of QUERY_CQ
 * @cqn: number
 * @uarn: the UAR page on which it is armed
 * @pi: index of the entry that is written next
 * @ci: consumer index when the device last read it
 * @solicited_end: index behind the last entry that counts as solicited
 * @eqn: EQ for its completion events
 * @log_size: log2 of the number of entries
 * @arm: enum mynic_cq_arm
 * @dead: 1: the device writes no more entries
 * @reserved_19: zero
 */
struct mynic_query_cq {
	__le32 cqn;
	__le32 uarn;
	__le32 pi;
	__le32 ci;
	__le32 solicited_end;
	__le16 eqn;
	__u8 log_size;
	__u8 arm;
	__u8 dead;
	__u8 reserved_19[39];
};

_Static_assert(sizeof(struct mynic_query_cq) == 64, "mynic_query_cq");

/**
 * enum mynic_cq_arm - condition for the next completion event
 * @MYNIC_CQ_NOT_ARMED: none until the host arms the CQ
 * @MYNIC_CQ_ARMED_SOLICITED: a solicited completion
 * @MYNIC_CQ_ARMED: any completion
 */
enum mynic_cq_arm {
	MYNIC_CQ_NOT_ARMED = 0,
	MYNIC_CQ_ARMED_SOLICITED = 1,
	MYNIC_CQ_ARMED = 2,
};

/**
 * struct mynic_create_srq - mailbox of CREATE_SRQ
 * @buf: host memory with the ring and the doorbell record
 * @ring_offset: of the ring in @buf
 * @dbrec_offset: of &struct mynic_srq_dbrec in @buf
 * @pdn: protection domain
 * @limit: as in &struct mynic_modify_srq
 * @log_size: log2 of the number of slots, 0 to 15
 * @log_stride: log2 of the bytes in a slot, 5 to 9
 * @type: enum ib_srq_type: MYNIC_SRQ_BASIC, MYNIC_SRQ_XRC or MYNIC_SRQ_TM
 * @log_tag_size: TM: log2 of the number of slots of the tag ring, 1 to 8;
 *	else 0
 * @xrcdn: XRC: the XRC domain whose XRC_TGT QPs take entries; else 0
 * @cqn: XRC, TM: CQ for the completions of its entries; else 0
 * @max_tags: TM: how many tags may be in the list, at least 1; else 0
 * @tag_buf: TM: host memory that begins with the tag ring, of
 *	&struct mynic_tag_wqe, behind which is a &struct mynic_tag_dbrec; else
 *	zero
 */
struct mynic_create_srq {
	struct mynic_buf buf;
	__le32 ring_offset;
	__le32 dbrec_offset;
	__le32 pdn;
	__le32 limit;
	__u8 log_size;
	__u8 log_stride;
	__u8 type;
	__u8 log_tag_size;
	__le32 xrcdn;
	__le32 cqn;
	__le32 max_tags;
	struct mynic_buf tag_buf;
};

_Static_assert(sizeof(struct mynic_create_srq) == 64, "mynic_create_srq");

#define MYNIC_SRQ_BASIC 0
#define MYNIC_SRQ_XRC 1
#define MYNIC_SRQ_TM 2

/**
 * struct mynic_modify_srq - body of MODIFY_SRQ
 * @limit: when fewer entries than this are left, the limit event is sent once
 *	and the limit becomes 0; 0: no event
 * @reserved_04: zero
 */
struct mynic_modify_srq {
	__le32 limit;
	__u8 reserved_04[36];
};

_Static_assert(sizeof(struct mynic_modify_srq) == 40, "mynic_modify_srq");

/**
 * struct mynic_query_srq - completion body of QUERY_SRQ
 * @limit: the limit in force; 0 after its event
 * @srqn: number
 * @ci: index of the entry that is taken next
 * @num_qps: QPs bound to it, without XRC_TGT QPs
 * @type: enum ib_srq_type
 * @dead: 1: the device takes no more entries
 * @reserved_12: zero
 * @num_tags: TM: tags in the list, or in use by a message
 * @unexpected_cnt: TM: unexpected messages, modulo 2^32
 * @handled_cnt: TM: those of them that the host has reported as handled
 * @reserved_20: zero
 */
struct mynic_query_srq {
	__le32 limit;
	__le32 srqn;
	__le32 ci;
	__le32 num_qps;
	__u8 type;
	__u8 dead;
	__u8 reserved_12[2];
	__le32 num_tags;
	__le32 unexpected_cnt;
	__le32 handled_cnt;
	__u8 reserved_20[16];
};

_Static_assert(sizeof(struct mynic_query_srq) == 48, "mynic_query_srq");

/**
 * enum mynic_qp_type - &struct mynic_create_qp.type
 * @MYNIC_QP_RC: reliable connection
 * @MYNIC_QP_UC: unreliable connection
 * @MYNIC_QP_UD: unreliable datagram
 * @MYNIC_QP_GSI: the port's QP 1: as UD, P_Key and Q_Key are the well-known
 * @MYNIC_QP_RAW_PACKET: Ethernet frames
 * @MYNIC_QP_XRC_INI: XRC, sending side: it has no RQ and no SRQ
 * @MYNIC_QP_XRC_TGT: XRC, receiving side: it has no queues and no PD of its own
 * @MYNIC_QP_DRIVER: copies memory within the host: it has an SQ only, no peer
 */
enum mynic_qp_type {
	MYNIC_QP_RC = 1,
	MYNIC_QP_UC = 2,
	MYNIC_QP_UD = 3,
	MYNIC_QP_GSI = 4,
	MYNIC_QP_RAW_PACKET = 5,
	MYNIC_QP_XRC_INI = 6,
	MYNIC_QP_XRC_TGT = 7,
	MYNIC_QP_DRIVER = 8,
};

#define MYNIC_QP_SIG_ALL 0x01 /* every send request gets a completion */
#define MYNIC_QP_KERNEL 0x02 /* may use the device's dma_lkey */
#define MYNIC_QP_VLAN_STRIP 0x04 /* frames are received without VLAN tag */

/**
 * struct mynic_create_qp - mailbox of CREATE_QP
 * @buf: host memory with the rings and the doorbell record, which is zeroed
 * @sq_offset: of the send ring in @buf
 * @rq_offset: of the receive ring in @buf
 * @dbrec_offset: of &struct mynic_qp_dbrec in @buf
 * @uarn: the UAR page on which the QP's doorbell is rung
 * @pdn: protection domain
 * @send_cqn: CQ for send completions
 * @recv_cqn: CQ for receive completions
 * @srqn: SRQ; with MYNIC_NO_SRQ the QP has an RQ of its own
 * @xrcdn: XRC domain of an XRC_TGT QP; else 0
 * @type: enum mynic_qp_type
 * @flags: MYNIC_QP_*
 * @log_sq_size: log2 of the send ring's number of slots, 0 to 15
 * @log_sq_stride: log2 of the bytes in a send slot, 6 to 9; 0: no SQ
 * @log_rq_size: log2 of the receive ring's number of slots, 0 to 15
 * @log_rq_stride: log2 of the bytes in a receive slot, 5 to 9; 0: no RQ
 * @rx_hash_function: RSS: MYNIC_RX_HASH_TOEPLITZ; else 0
 * @reserved_3b: zero
 * @rwq_tablen: RSS: the receive WQ table; else 0
 * @rx_hash_fields: RSS: MYNIC_RX_HASH_SRC_IPV4 and so on
 * @rx_hash_key: RSS: Toeplitz key
 * @reserved_6c: zero
 *
 * Of an XRC_TGT QP only @type and @xrcdn count: @srqn is MYNIC_NO_SRQ, the rest
 * zero. Of a QP with a receive WQ table, which is of type RAW_PACKET, only
 * these, @pdn and what belongs to RSS.
 */
struct mynic_create_qp {
	struct mynic_buf buf;
	__le32 sq_offset;
	__le32 rq_offset;
	__le32 dbrec_offset;
	__le32 uarn;
	__le32 pdn;
	__le32 send_cqn;
	__le32 recv_cqn;
	__le32 srqn;
	__le32 xrcdn;
	__u8 type;
	__u8 flags;
	__u8 log_sq_size;
	__u8 log_sq_stride;
	__u8 log_rq_size;
	__u8 log_rq_stride;
	__u8 rx_hash_function;
	__u8 reserved_3b;
	__le32 rwq_tablen;
	__le32 rx_hash_fields;
	__u8 rx_hash_key[40];
	__u8 reserved_6c[20];
};

_Static_assert(sizeof(struct mynic_create_qp) == 128, "mynic_create_qp");

#define MYNIC_NO_SRQ 0xffffffff

/* &struct mynic_create_qp.rx_hash_function (enum ibv_rx_hash_function_flags) */
#define MYNIC_RX_HASH_TOEPLITZ 0x1

/* &struct mynic_create_qp.rx_hash_fields (enum ibv_rx_hash_fields) */
#define MYNIC_RX_HASH_SRC_IPV4 0x01
#define MYNIC_RX_HASH_DST_IPV4 0x02
#define MYNIC_RX_HASH_SRC_IPV6 0x04
#define MYNIC_RX_HASH_DST_IPV6 0x08
#define MYNIC_RX_HASH_SRC_PORT_TCP 0x10
#define MYNIC_RX_HASH_DST_PORT_TCP 0x20
#define MYNIC_RX_HASH_SRC_PORT_UDP 0x40
#define MYNIC_RX_HASH_DST_PORT_UDP 0x80

#define MYNIC_RX_HASH_KEY_LEN 40

/**
 * struct mynic_create_wq - mailbox of CREATE_WQ
 * @buf: host memory with the ring and the doorbell record
 * @rq_offset: of the ring in @buf
 * @dbrec_offset: of &struct mynic_qp_dbrec in @buf
 * @uarn: the UAR page on which the WQ's doorbell is rung
 * @pdn: protection domain
 * @cqn: CQ for completions
 * @log_size: log2 of the number of slots, 0 to 15
 * @log_stride: log2 of the bytes in a slot, 5 to 9
 * @flags: MYNIC_WQ_*
 * @reserved_27: zero
 */
struct mynic_create_wq {
	struct mynic_buf buf;
	__le32 rq_offset;
	__le32 dbrec_offset;
	__le32 uarn;
	__le32 pdn;
	__le32 cqn;
	__u8 log_size;
	__u8 log_stride;
	__u8 flags;
	__u8 reserved_27[25];
};

_Static_assert(sizeof(struct mynic_create_wq) == 64, "mynic_create_wq");

#define MYNIC_WQ_VLAN_STRIP 0x1 /* frames are received without their VLAN tag */
#define MYNIC_WQ_KERNEL 0x80 /* may use the device's dma_lkey */

/**
 * struct mynic_modify_wq - body of MODIFY_WQ
 * @attr_mask: enum ib_wq_attr_mask: the fields that are valid
 * @state: enum mynic_rwq_state
 * @cur_state: enum mynic_rwq_state; BAD_STATE if the WQ is in another state
 * @flags: MYNIC_WQ_*
 * @flags_mask: bits of @flags that are valid
 * @reserved_08: zero
 */
struct mynic_modify_wq {
	__le32 attr_mask;
	__u8 state;
	__u8 cur_state;
	__u8 flags;
	__u8 flags_mask;
	__u8 reserved_08[32];
};

_Static_assert(sizeof(struct mynic_modify_wq) == 40, "mynic_modify_wq");

/**
 * enum mynic_rwq_state - states of receive work queues, as enum ib_wq_state
 * @MYNIC_WQS_RESET: the ring is not read
 * @MYNIC_WQS_RDY: frames are received
 * @MYNIC_WQS_ERR: requests are flushed
 */
enum mynic_rwq_state {
	MYNIC_WQS_RESET = 0,
	MYNIC_WQS_RDY = 1,
	MYNIC_WQS_ERR = 2,
};

/**
 * struct mynic_create_rwq_table - body of CREATE_RWQ_TABLE
 * @log_size: log2 of the number of WQs, 0 to MYNIC_RWQ_TABLE_MAX_LOG_SIZE
 * @reserved_01: zero
 */
struct mynic_create_rwq_table {
	__u8 log_size;
	__u8 reserved_01[39];
};

_Static_assert(sizeof(struct mynic_create_rwq_table) == 40,
	       "mynic_create_rwq_table");

#define MYNIC_RWQ_TABLE_MAX_LOG_SIZE 7

/**
 * struct mynic_qp_attr - mailbox of MODIFY_QP and QUERY_QP
 * @attr_mask: MODIFY_QP: enum ib_qp_attr_mask, and MYNIC_QP_ATTR_*: which
 *	fields count
 * @qp_state: enum ib_qp_state
 * @cur_qp_state: enum ib_qp_state; MODIFY_QP: BAD_STATE if the QP is in another
 *	state
 * @path_mtu: enum ib_mtu
 * @sq_drained_event: SQD: ask for the event (en_sqd_async_notify); QUERY_QP: 1
 *	while the SQ is still draining
 * @qkey: Q_Key
 * @rq_psn: 24 bits: first PSN expected; QUERY_QP: the next
 * @sq_psn: 24 bits: first PSN sent; QUERY_QP: the next
 * @dest_qpn: 24 bits
 * @access_flags: remote access that the QP allows, enum ib_access_flags
 * @pkey_index: 0
 * @max_rd_atomic: outstanding reads and atomics as requester
 * @max_dest_rd_atomic: ... and as responder
 * @min_rnr_timer: 5 bits, IBTA RNR NAK timer field
 * @timeout: 5 bits, 4.096 us times 2^timeout; 0: none
 * @retry_cnt: 3 bits
 * @rnr_retry: 3 bits; 7: for ever
 * @port_num: 1
 * @reserved_25: zero
 * @rate_limit: kbit/s, 0 for none
 * @av: primary path
 * @ece_options: MYNIC_ECE_*: options that both ends have agreed on
 * @reserved_50: zero
 */
struct mynic_qp_attr {
	__le32 attr_mask;
	__u8 qp_state;
	__u8 cur_qp_state;
	__u8 path_mtu;
	__u8 sq_drained_event;
	__le32 qkey;
	__le32 rq_psn;
	__le32 sq_psn;
	__le32 dest_qpn;
	__le32 access_flags;
	__le16 pkey_index;
	__u8 max_rd_atomic;
	__u8 max_dest_rd_atomic;
	__u8 min_rnr_timer;
	__u8 timeout;
	__u8 retry_cnt;
	__u8 rnr_retry;
	__u8 port_num;
	__u8 reserved_25[3];
	__le32 rate_limit;
	struct mynic_av av;
	__le32 ece_options;
	__u8 reserved_50[48];
};

_Static_assert(sizeof(struct mynic_qp_attr) == 128, "mynic_qp_attr");

/* &struct mynic_qp_attr.attr_mask: @ece_options counts */
#define MYNIC_QP_ATTR_ECE 0x80000000

/* &struct mynic_qp_attr.ece_options */
#define MYNIC_ECE_ECN 0x1 /* both ends react to congestion notifications */

/* Send queues with MYNIC_QP_KERNEL have one more opcode. */
#define MYNIC_WR_REG_MR 0x20 /* REG_MR */
#define MYNIC_WC_REG_MR 0x20 /* its &struct mynic_cqe.opcode */

/**
 * struct mynic_reg_mr_operands - REG_MR, at the start of the data area
 * @buf: the pages; the lists must stay unchanged until the key is invalidated
 * @length: bytes, not 0
 * @access: enum ib_access_flags
 * @reserved_1c: zero
 *
 * The region is &struct mynic_send_wqe.rkey, which is its key from then on: the
 * index in bits 31:8 says which, bits 7:0 are the new key byte. It begins at
 * &struct mynic_send_wqe.remote_addr.
 */
struct mynic_reg_mr_operands {
	struct mynic_buf buf;
	__le64 length;
	__le32 access;
	__le32 reserved_1c;
};

_Static_assert(sizeof(struct mynic_reg_mr_operands) == 32, "mynic_reg_mr_ops");

/**
 * struct mynic_mcast - body of ATTACH_MCAST and DETACH_MCAST
 * @gid: multicast GID; IPv4 groups as ::ffff:a.b.c.d
 * @reserved_10: zero
 */
struct mynic_mcast {
	__u8 gid[16];
	__u8 reserved_10[24];
};

_Static_assert(sizeof(struct mynic_mcast) == 40, "mynic_mcast");

/**
 * struct mynic_create_flow - body of CREATE_FLOW
 * @qpn: RAW_PACKET QP that receives what the rule matches
 * @flow_tag: &struct mynic_cqe.flow_tag of frames that the rule matches
 * @priority: rules with a smaller number are tried first
 * @type: enum ib_flow_attr_type, which is enum mynic_flow_type
 * @flags: MYNIC_FLOW_*
 * @num_specs: elements of the mailbox, at most MYNIC_FLOW_MAX_SPECS
 * @reserved_0d: zero
 * @counters: counter set that counts what the rule matches; 0: none
 * @reserved_14: zero
 *
 * The mailbox is a list of &struct mynic_flow_spec. The rule matches frames
 * that match all of them.
 */
struct mynic_create_flow {
	__le32 qpn;
	__le32 flow_tag;
	__le16 priority;
	__u8 type;
	__u8 flags;
	__u8 num_specs;
	__u8 reserved_0d[3];
	__le32 counters;
	__u8 reserved_14[20];
};

_Static_assert(sizeof(struct mynic_create_flow) == 40, "mynic_create_flow");

/**
 * enum mynic_flow_type - frames that a flow rule receives
 * @MYNIC_FLOW_NORMAL: those that it matches
 * @MYNIC_FLOW_ALL_DEFAULT: those that it matches and no other rule receives
 * @MYNIC_FLOW_MC_DEFAULT: likewise, of frames to group addresses
 * @MYNIC_FLOW_SNIFFER: a copy of all frames
 */
enum mynic_flow_type {
	MYNIC_FLOW_NORMAL = 0,
	MYNIC_FLOW_ALL_DEFAULT = 1,
	MYNIC_FLOW_MC_DEFAULT = 2,
	MYNIC_FLOW_SNIFFER = 3,
};

#define MYNIC_FLOW_DROP 0x1 /* matching frames are dropped */
#define MYNIC_FLOW_DONT_TRAP 0x2 /* receive a copy; further rules apply */
#define MYNIC_FLOW_MAX_SPECS 16

/**
 * struct mynic_flow_spec - condition on one header of a frame
 * @type: enum ib_flow_spec_type, which is enum mynic_flow_spec_type;
 *	MYNIC_FLOW_INNER: of the frame or packet in a tunnel
 * @reserved_02: zero
 * @val: the header, e.g. &struct mynic_flow_eth, then zeroes
 * @mask: bits of @val that must match, in the same layout
 */
struct mynic_flow_spec {
	__le16 type;
	__u8 reserved_02[6];
	__u8 val[40];
	__u8 mask[40];
};

_Static_assert(sizeof(struct mynic_flow_spec) == 88, "mynic_flow_spec");

/**
 * enum mynic_flow_spec_type - &struct mynic_flow_spec.type
 * @MYNIC_FLOW_ETH: &struct mynic_flow_eth
 * @MYNIC_FLOW_IPV4: &struct mynic_flow_ipv4
 * @MYNIC_FLOW_IPV6: &struct mynic_flow_ipv6
 * @MYNIC_FLOW_ESP: &struct mynic_flow_esp
 * @MYNIC_FLOW_TCP: &struct mynic_flow_ports
 * @MYNIC_FLOW_UDP: &struct mynic_flow_ports
 * @MYNIC_FLOW_VXLAN: &struct mynic_flow_vxlan
 * @MYNIC_FLOW_GRE: &struct mynic_flow_gre
 * @MYNIC_FLOW_MPLS: &struct mynic_flow_mpls
 * @MYNIC_FLOW_INNER: added to a type: of what is in the tunnel
 */
enum mynic_flow_spec_type {
	MYNIC_FLOW_ETH = 0x20,
	MYNIC_FLOW_IPV4 = 0x30,
	MYNIC_FLOW_IPV6 = 0x31,
	MYNIC_FLOW_ESP = 0x34,
	MYNIC_FLOW_TCP = 0x40,
	MYNIC_FLOW_UDP = 0x41,
	MYNIC_FLOW_VXLAN = 0x50,
	MYNIC_FLOW_GRE = 0x51,
	MYNIC_FLOW_MPLS = 0x60,
	MYNIC_FLOW_INNER = 0x100,
};

/* Headers in flow specs are big-endian, as in frames. */

/**
 * struct mynic_flow_eth - Ethernet
 * @dmac: destination
 * @smac: source
 * @ethertype: behind all VLAN tags
 * @vlan_tag: the first VLAN tag (TCI); a mask that is not 0 matches tagged
 *	frames only
 */
struct mynic_flow_eth {
	__u8 dmac[6];
	__u8 smac[6];
	__be16 ethertype;
	__be16 vlan_tag;
};

_Static_assert(sizeof(struct mynic_flow_eth) == 16, "mynic_flow_eth");

/**
 * struct mynic_flow_ipv4 - IPv4
 * @saddr: source
 * @daddr: destination
 * @proto: protocol
 * @tos: DSCP and ECN
 * @ttl: time to live
 * @flags: enum ib_ipv4_flags: 0x2 don't fragment, 0x4 more fragments
 */
struct mynic_flow_ipv4 {
	__be32 saddr;
	__be32 daddr;
	__u8 proto;
	__u8 tos;
	__u8 ttl;
	__u8 flags;
};

_Static_assert(sizeof(struct mynic_flow_ipv4) == 12, "mynic_flow_ipv4");

/**
 * struct mynic_flow_ipv6 - IPv6
 * @saddr: source
 * @daddr: destination
 * @flow_label: 20 bits
 * @next_header: of the IPv6 header itself
 * @traffic_class: DSCP and ECN
 * @hop_limit: hop limit
 * @reserved_27: zero
 */
struct mynic_flow_ipv6 {
	__u8 saddr[16];
	__u8 daddr[16];
	__be32 flow_label;
	__u8 next_header;
	__u8 traffic_class;
	__u8 hop_limit;
	__u8 reserved_27;
};

_Static_assert(sizeof(struct mynic_flow_ipv6) == 40, "mynic_flow_ipv6");

/**
 * struct mynic_flow_ports - TCP and UDP
 * @dport: destination
 * @sport: source
 */
struct mynic_flow_ports {
	__be16 dport;
	__be16 sport;
};

_Static_assert(sizeof(struct mynic_flow_ports) == 4, "mynic_flow_ports");

/**
 * struct mynic_flow_esp - ESP
 * @spi: security parameters index
 * @seq: sequence number
 */
struct mynic_flow_esp {
	__be32 spi;
	__be32 seq;
};

_Static_assert(sizeof(struct mynic_flow_esp) == 8, "mynic_flow_esp");

/**
 * struct mynic_flow_vxlan - VXLAN
 * @vni: VXLAN network identifier, 24 bits
 */
struct mynic_flow_vxlan {
	__be32 vni;
};

_Static_assert(sizeof(struct mynic_flow_vxlan) == 4, "mynic_flow_vxlan");

/**
 * struct mynic_flow_gre - GRE
 * @flags: the first two bytes: flags and version
 * @protocol: ethertype of what it carries
 * @key: a mask that is not 0 matches headers with a key only
 */
struct mynic_flow_gre {
	__be16 flags;
	__be16 protocol;
	__be32 key;
};

_Static_assert(sizeof(struct mynic_flow_gre) == 8, "mynic_flow_gre");

/**
 * struct mynic_flow_mpls - MPLS
 * @label: the first label: label, traffic class, bottom of stack, TTL
 */
struct mynic_flow_mpls {
	__be32 label;
};

_Static_assert(sizeof(struct mynic_flow_mpls) == 4, "mynic_flow_mpls");

/**
 * struct mynic_bind_counters - body of BIND_COUNTERS
 * @counters: counter set that counts for the QP from now on; 0: none
 * @reserved_04: zero
 */
struct mynic_bind_counters {
	__le32 counters;
	__u8 reserved_04[36];
};

_Static_assert(sizeof(struct mynic_bind_counters) == 40, "mynic_bind_counters");

/**
 * struct mynic_create_comp_cntr - body of CREATE_COMP_CNTR
 * @addr: DMA address of &struct mynic_comp_cntr_values, a multiple of its size
 * @reserved_08: zero
 */
struct mynic_create_comp_cntr {
	__le64 addr;
	__u8 reserved_08[32];
};

_Static_assert(sizeof(struct mynic_create_comp_cntr) == 40,
	       "mynic_create_comp_cntr");

/**
 * struct mynic_modify_comp_cntr - body of MODIFY_COMP_CNTR
 * @value: the new value, or what is added
 * @entry: which value: MYNIC_COMP_CNTR_COMPLETIONS or MYNIC_COMP_CNTR_ERRORS
 * @op: MYNIC_COMP_CNTR_SET or MYNIC_COMP_CNTR_ADD
 * @reserved_0a: zero
 */
struct mynic_modify_comp_cntr {
	__le64 value;
	__u8 entry;
	__u8 op;
	__u8 reserved_0a[30];
};

_Static_assert(sizeof(struct mynic_modify_comp_cntr) == 40,
	       "mynic_modify_comp_cntr");

#define MYNIC_COMP_CNTR_COMPLETIONS 0
#define MYNIC_COMP_CNTR_ERRORS 1
#define MYNIC_COMP_CNTR_SET 0
#define MYNIC_COMP_CNTR_ADD 1

/**
 * struct mynic_attach_comp_cntr - body of ATTACH_COMP_CNTR
 * @comp_cntr: number of the completion counter
 * @operations: what it counts: MYNIC_COMP_CNTR_SEND and so on, not 0
 * @reserved_08: zero
 */
struct mynic_attach_comp_cntr {
	__le32 comp_cntr;
	__le32 operations;
	__u8 reserved_08[32];
};

_Static_assert(sizeof(struct mynic_attach_comp_cntr) == 40,
	       "mynic_attach_comp_cntr");

/* Their bits are those of enum ib_qp_attach_comp_cntr_op. */
#define MYNIC_COMP_CNTR_SEND 0x01
#define MYNIC_COMP_CNTR_RECV 0x02
#define MYNIC_COMP_CNTR_READ 0x04
#define MYNIC_COMP_CNTR_REMOTE_READ 0x08
#define MYNIC_COMP_CNTR_WRITE 0x10
#define MYNIC_COMP_CNTR_REMOTE_WRITE 0x20

/* QUERY_STATS, header flags: leave out what counter sets have counted */
#define MYNIC_STATS_UNBOUND 0x01

/**
 * struct mynic_set_gid - body of SET_GID
 * @gid: IPv6 address, or IPv4 as ::ffff:a.b.c.d; all zeroes empties the entry
 * @mac: source MAC of packets sent from this GID
 * @vlan: VLAN of packets sent from this GID; MYNIC_NO_VLAN for none
 * @reserved_18: zero
 */
struct mynic_set_gid {
	__u8 gid[16];
	__u8 mac[6];
	__le16 vlan;
	__u8 reserved_18[16];
};

_Static_assert(sizeof(struct mynic_set_gid) == 40, "mynic_set_gid");

#define MYNIC_NO_VLAN 0xffff

/**
 * struct mynic_modify_port - body of MODIFY_PORT
 * @up: 1: administratively up; 0: down
 * @reserved_01: zero
 * @mac: the port's unicast MAC
 * @mtu: largest Ethernet payload, 68 to max_mtu
 * @reserved_0c: zero
 */
struct mynic_modify_port {
	__u8 up;
	__u8 reserved_01;
	__u8 mac[6];
	__le32 mtu;
	__u8 reserved_0c[28];
};

_Static_assert(sizeof(struct mynic_modify_port) == 40, "mynic_modify_port");

/**
 * struct mynic_set_rx - body of SET_RX
 * @flags: MYNIC_RX_*
 * @num_macs: entries in the mailbox, 8 bytes each: MAC, then 2 zero bytes;
 *	at most MYNIC_RX_MAX_MACS
 * @reserved_08: zero
 *
 * Frames to the port's MAC, broadcast and the listed MACs are received.
 */
struct mynic_set_rx {
	__le32 flags;
	__le32 num_macs;
	__u8 reserved_08[32];
};

_Static_assert(sizeof(struct mynic_set_rx) == 40, "mynic_set_rx");

#define MYNIC_RX_ENABLE 0x1 /* 0: stop receiving; all else is 0 */
#define MYNIC_RX_PROMISC 0x2
#define MYNIC_RX_ALLMULTI 0x4
#define MYNIC_RX_MAX_MACS 256

/**
 * struct mynic_admin_cmd - admin command
 * @id: returned in the completion
 * @opcode: enum mynic_aq_opcode
 * @flags: per command
 * @number: object that the command names, 0 if none
 * @mbox_addr: DMA address of the mailbox, 8 byte aligned; 0 if none
 * @mbox_len: bytes of mailbox, at most MYNIC_MBOX_SIZE
 * @reserved_14: zero
 * @body: per command; unused bytes are zero
 * @create_eq: body of CREATE_EQ
 * @create_mkey: body of CREATE_MKEY
 * @alloc_dm: body of ALLOC_DM
 * @resume: body of RESUME
 * @create_cq: body of CREATE_CQ
 * @modify_cq: body of MODIFY_CQ
 * @resize: body of RESIZE_CQ and RESIZE_SRQ
 * @modify_srq: body of MODIFY_SRQ
 * @mcast: body of ATTACH_MCAST and DETACH_MCAST
 * @create_flow: body of CREATE_FLOW
 * @modify_wq: body of MODIFY_WQ
 * @create_rwq_table: body of CREATE_RWQ_TABLE
 * @bind_counters: body of BIND_COUNTERS
 * @create_comp_cntr: body of CREATE_COMP_CNTR
 * @modify_comp_cntr: body of MODIFY_COMP_CNTR
 * @attach_comp_cntr: body of ATTACH_COMP_CNTR
 * @set_gid: body of SET_GID
 * @modify_port: body of MODIFY_PORT
 * @set_rx: body of SET_RX
 *
 * A mailbox may be shorter than the struct in the device: the rest reads as
 * zero, or is not written. It may be longer: additional bytes must be zero, and
 * are written as zero. This lets layouts grow.
 */
struct mynic_admin_cmd {
	__le16 id;
	__u8 opcode;
	__u8 flags;
	__le32 number;
	__le64 mbox_addr;
	__le32 mbox_len;
	__u8 reserved_14[4];
	union {
		__u8 body[40];
		struct mynic_create_eq create_eq;
		struct mynic_create_mkey create_mkey;
		struct mynic_alloc_dm alloc_dm;
		struct mynic_resume resume;
		struct mynic_create_cq create_cq;
		struct mynic_modify_cq modify_cq;
		struct mynic_resize resize;
		struct mynic_modify_srq modify_srq;
		struct mynic_mcast mcast;
		struct mynic_create_flow create_flow;
		struct mynic_modify_wq modify_wq;
		struct mynic_create_rwq_table create_rwq_table;
		struct mynic_bind_counters bind_counters;
		struct mynic_create_comp_cntr create_comp_cntr;
		struct mynic_modify_comp_cntr modify_comp_cntr;
		struct mynic_attach_comp_cntr attach_comp_cntr;
		struct mynic_set_gid set_gid;
		struct mynic_modify_port modify_port;
		struct mynic_set_rx set_rx;
	};
};

_Static_assert(sizeof(struct mynic_admin_cmd) == 64, "mynic_admin_cmd");

/**
 * struct mynic_nop_result - body of the completion of NOP
 * @clock: as in MYNIC_REG_CLOCK_LO and MYNIC_REG_CLOCK_HI
 * @reserved_08: zero
 */
struct mynic_nop_result {
	__le64 clock;
	__u8 reserved_08[40];
};

_Static_assert(sizeof(struct mynic_nop_result) == 48, "mynic_nop_result");

/**
 * struct mynic_admin_cpl - admin completion
 * @id: of the command
 * @opcode: of the command
 * @status: enum mynic_aq_status
 * @number: the object created, else 0
 * @body: per command
 * @nop: body of NOP
 * @dm_place: body of ALLOC_DM
 * @query_srq: body of QUERY_SRQ
 * @reserved_38: zero
 * @phase: bit 0, as in &struct mynic_cqe.phase
 *
 * Commands may complete in any order. The ring cannot overflow, because no more
 * commands than slots may be outstanding.
 */
struct mynic_admin_cpl {
	__le16 id;
	__u8 opcode;
	__u8 status;
	__le32 number;
	union {
		__u8 body[48];
		struct mynic_nop_result nop;
		struct mynic_dm_place dm_place;
		struct mynic_query_srq query_srq;
	};
	__u8 reserved_38[7];
	__u8 phase;
};

_Static_assert(sizeof(struct mynic_admin_cpl) == 64, "mynic_admin_cpl");

/* struct mynic_device_attr: caps */
#define MYNIC_CAP_ODP 0x01
#define MYNIC_CAP_DRIVER_QP 0x02
#define MYNIC_CAP_ECE 0x04
#define MYNIC_CAP_ATOMIC_WRITE 0x10
#define MYNIC_CAP_FLUSH_GLOBAL 0x20
#define MYNIC_CAP_FLUSH_PERSISTENT 0x40
#define MYNIC_CAP_WQ_KERNEL 0x80
#define MYNIC_CAP_VLAN_INSERT 0x100

/**
 * struct mynic_device_attr - mailbox of QUERY_DEVICE
 * @fw_ver: version of the device: major in 47:32, minor in 31:16, patch in 15:0
 * @node_guid: EUI-64, big-endian
 * @max_mr_size: bytes
 * @page_size_cap: bit n: pages of 2^n bytes
 * @max_qp: queue pairs, without the special ones
 * @max_qp_wr: slots of a send or receive ring
 * @max_cq: completion queues
 * @max_cqe: entries of a CQ
 * @max_mkey: memory keys
 * @max_pd: protection domains
 * @max_srq: shared receive queues
 * @max_srq_wr: slots of an SRQ
 * @max_eq: event queues
 * @max_rd_atomic: limit of max_rd_atomic and max_dest_rd_atomic
 * @max_mcast_grp: multicast groups
 * @max_mcast_qp_attach: QPs in a multicast group
 * @max_gid: entries of the GID table
 * @num_uar: UAR pages in BAR2
 * @dma_lkey: the key of all DMA space, for queues of the kernel only
 * @clock_khz: rate of the CLOCK register and of timestamps
 * @max_xrcd: XRC domains; 0: the device has no XRC
 * @max_mw: memory windows; 0: the device has none
 * @dm_size: bytes of device memory; 0: the device has none
 * @caps: MYNIC_CAP_*
 * @null_lkey: key, in all PDs, that reads as zero and ignores writes; 0: there
 *	is none
 * @max_fast_reg_pages: pages that REG_MR maps; 0: the device has no REG_MR
 * @max_wq: work queues; 0: the device has none
 * @max_rwq_table: receive WQ tables
 * @max_rwq_table_size: WQs in a receive WQ table
 * @max_flow: flow rules; 0: the device has none
 * @max_counters: counter sets; 0: the device has none
 * @max_tso: bytes of a TSO request behind its header; 0: there is no TSO
 * @max_rate_kbps: highest rate limit of a QP; 0: there is none
 * @max_tags: tags in the list of a tag matching SRQ; 0: there is no tag
 *	matching
 * @max_tag_ops: slots of a tag ring
 * @max_rndv_hdr: bytes of a rendezvous request, with its headers
 * @max_comp_cntr: completion counters; 0: the device has none
 * @reserved_ac: zero
 */
struct mynic_device_attr {
	__le64 fw_ver;
	__be64 node_guid;
	__le64 max_mr_size;
	__le64 page_size_cap;
	__le32 max_qp;
	__le32 max_qp_wr;
	__le32 max_cq;
	__le32 max_cqe;
	__le32 max_mkey;
	__le32 max_pd;
	__le32 max_srq;
	__le32 max_srq_wr;
	__le32 max_eq;
	__le32 max_rd_atomic;
	__le32 max_mcast_grp;
	__le32 max_mcast_qp_attach;
	__le32 max_gid;
	__le32 num_uar;
	__le32 dma_lkey;
	__le32 clock_khz;
	__le32 max_xrcd;
	__le32 max_mw;
	__le64 dm_size;
	__le64 caps;
	__le32 null_lkey;
	__le32 max_fast_reg_pages;
	__le32 max_wq;
	__le32 max_rwq_table;
	__le32 max_rwq_table_size;
	__le32 max_flow;
	__le32 max_counters;
	__le32 max_tso;
	__le32 max_rate_kbps;
	__le32 max_tags;
	__le32 max_tag_ops;
	__le32 max_rndv_hdr;
	__le32 max_comp_cntr;
	__u8 reserved_ac[84];
};

_Static_assert(sizeof(struct mynic_device_attr) == 256, "mynic_device_attr");

/* Segments that the device makes of a TSO request */
#define MYNIC_TSO_MAX_SEGMENTS 1024

/**
 * struct mynic_port_attr - mailbox of QUERY_PORT
 * @mac: the permanent MAC
 * @link_up: 1: the wire carries packets
 * @reserved_07: zero
 * @speed_mbps: Mbit/s
 * @max_mtu: largest Ethernet payload
 * @reserved_10: zero
 */
struct mynic_port_attr {
	__u8 mac[6];
	__u8 link_up;
	__u8 reserved_07;
	__le32 speed_mbps;
	__le32 max_mtu;
	__u8 reserved_10[48];
};

_Static_assert(sizeof(struct mynic_port_attr) == 64, "mynic_port_attr");

/**
 * enum mynic_stat - index into the __le64 array of QUERY_STATS
 * @MYNIC_STAT_RX_PACKETS: all frames from the wire
 * @MYNIC_STAT_RX_BYTES: bytes of these, with headers, without FCS
 * @MYNIC_STAT_TX_PACKETS: all frames to the wire
 * @MYNIC_STAT_TX_BYTES: bytes of these, likewise
 * @MYNIC_STAT_RX_ETH_PACKETS: frames given to a RAW_PACKET QP
 * @MYNIC_STAT_TX_ETH_PACKETS: frames sent by RAW_PACKET QPs
 * @MYNIC_STAT_RX_ETH_DROPPED: no receive request, or filtered
 * @MYNIC_STAT_RX_RDMA_PACKETS: RoCEv2 packets from the wire
 * @MYNIC_STAT_TX_RDMA_PACKETS: RoCEv2 packets to the wire
 * @MYNIC_STAT_RX_RDMA_BYTES: payload of these
 * @MYNIC_STAT_TX_RDMA_BYTES: payload of these
 * @MYNIC_STAT_RX_DROP_QP: no such QP, or not ready to receive
 * @MYNIC_STAT_RX_DROP_KEY: bad Q_Key or P_Key, or not the peer's GID
 * @MYNIC_STAT_RX_DROP_HEADER: malformed packet
 * @MYNIC_STAT_RX_DROP_ICRC: packet changed on its way
 * @MYNIC_STAT_RX_DROP_OVERRUN: no buffer between wire and NIC
 * @MYNIC_STAT_RX_DROP_WQE: UD, UC: no receive request that fits
 * @MYNIC_STAT_RX_DROP_SEQUENCE: UC: rest of a message that lost a packet
 * @MYNIC_STAT_DUPLICATE: requests received again
 * @MYNIC_STAT_OUT_OF_SEQUENCE: requests behind a gap in the PSNs
 * @MYNIC_STAT_GHOST: responses that match no outstanding request
 * @MYNIC_STAT_IMPLIED_NAK: responses behind a gap, which imply that one was
 *	lost
 * @MYNIC_STAT_RX_NAK_SEQ: PSN sequence errors reported by peers
 * @MYNIC_STAT_RX_NAK_RNR: receiver not ready, reported by peers
 * @MYNIC_STAT_RX_NAK_INVALID: invalid requests reported by peers
 * @MYNIC_STAT_RX_NAK_ACCESS: remote access errors reported by peers
 * @MYNIC_STAT_RX_NAK_OPERATION: remote operational errors reported by peers
 * @MYNIC_STAT_TX_NAK_SEQ: PSN sequence errors reported to peers
 * @MYNIC_STAT_TX_NAK_RNR: receiver not ready, reported to peers
 * @MYNIC_STAT_TX_NAK_INVALID: invalid requests reported to peers
 * @MYNIC_STAT_TX_NAK_ACCESS: remote access errors reported to peers
 * @MYNIC_STAT_TX_NAK_OPERATION: remote operational errors reported to peers
 * @MYNIC_STAT_RX_ECN: RoCEv2 packets marked "congestion experienced"
 * @MYNIC_STAT_RX_CNP: congestion notifications from peers
 * @MYNIC_STAT_TX_CNP: congestion notifications to peers
 * @MYNIC_STAT_RATE_LIMITED: times that congestion control held a QP back
 * @MYNIC_STAT_RETRANSMIT: packets sent again
 * @MYNIC_STAT_PROBE: retransmissions begun before the ACK timer ran out
 * @MYNIC_STAT_TIMEOUT: ACK timers that ran out
 * @MYNIC_STAT_RETRY_EXCEEDED: requests given up after retry_cnt
 * @MYNIC_STAT_RNR_RETRY_EXCEEDED: requests given up after rnr_retry
 * @MYNIC_STAT_SEND_ERRORS: send completions with an error
 * @MYNIC_STAT_RECV_ERRORS: receive completions with an error
 * @MYNIC_STAT_CQ_OVERRUN: completions that found no room
 * @MYNIC_STAT_BAD_REGISTER: accesses that the specification forbids
 * @MYNIC_STAT_BAD_DOORBELL: not the owner's page, or no such queue
 * @MYNIC_STAT_BAD_INDEX: index more than a ring away
 * @MYNIC_STAT_BAD_COMMAND: admin commands that ended with an error
 * @MYNIC_STAT_BAD_WQE: malformed send or receive requests
 * @MYNIC_STAT_BAD_DMA: accesses outside mapped host memory
 * @MYNIC_NUM_STATS: number of counters
 *
 * All count since the last reset. New ones are added before the last.
 */
enum mynic_stat {
	MYNIC_STAT_RX_PACKETS,
	MYNIC_STAT_RX_BYTES,
	MYNIC_STAT_TX_PACKETS,
	MYNIC_STAT_TX_BYTES,
	MYNIC_STAT_RX_ETH_PACKETS,
	MYNIC_STAT_TX_ETH_PACKETS,
	MYNIC_STAT_RX_ETH_DROPPED,
	MYNIC_STAT_RX_RDMA_PACKETS,
	MYNIC_STAT_TX_RDMA_PACKETS,
	MYNIC_STAT_RX_RDMA_BYTES,
	MYNIC_STAT_TX_RDMA_BYTES,
	MYNIC_STAT_RX_DROP_QP,
	MYNIC_STAT_RX_DROP_KEY,
	MYNIC_STAT_RX_DROP_HEADER,
	MYNIC_STAT_RX_DROP_ICRC,
	MYNIC_STAT_RX_DROP_OVERRUN,
	MYNIC_STAT_RX_DROP_WQE,
	MYNIC_STAT_RX_DROP_SEQUENCE,
	MYNIC_STAT_DUPLICATE,
	MYNIC_STAT_OUT_OF_SEQUENCE,
	MYNIC_STAT_GHOST,
	MYNIC_STAT_IMPLIED_NAK,
	MYNIC_STAT_RX_NAK_SEQ,
	MYNIC_STAT_RX_NAK_RNR,
	MYNIC_STAT_RX_NAK_INVALID,
	MYNIC_STAT_RX_NAK_ACCESS,
	MYNIC_STAT_RX_NAK_OPERATION,
	MYNIC_STAT_TX_NAK_SEQ,
	MYNIC_STAT_TX_NAK_RNR,
	MYNIC_STAT_TX_NAK_INVALID,
	MYNIC_STAT_TX_NAK_ACCESS,
	MYNIC_STAT_TX_NAK_OPERATION,
	MYNIC_STAT_RX_ECN,
	MYNIC_STAT_RX_CNP,
	MYNIC_STAT_TX_CNP,
	MYNIC_STAT_RATE_LIMITED,
	MYNIC_STAT_RETRANSMIT,
	MYNIC_STAT_PROBE,
	MYNIC_STAT_TIMEOUT,
	MYNIC_STAT_RETRY_EXCEEDED,
	MYNIC_STAT_RNR_RETRY_EXCEEDED,
	MYNIC_STAT_SEND_ERRORS,
	MYNIC_STAT_RECV_ERRORS,
	MYNIC_STAT_CQ_OVERRUN,
	MYNIC_STAT_BAD_REGISTER,
	MYNIC_STAT_BAD_DOORBELL,
	MYNIC_STAT_BAD_INDEX,
	MYNIC_STAT_BAD_COMMAND,
	MYNIC_STAT_BAD_WQE,
	MYNIC_STAT_BAD_DMA,
	MYNIC_NUM_STATS,
};

/**
 * struct mynic_eqe - event queue entry
 * @number: CQ, QP or SRQ of the event; port events: the port
 * @type: enum mynic_event
 * @flags: page faults: MYNIC_PAGE_FAULT_*; else 0
 * @reserved_06: zero
 * @addr: page faults: address of the first missing byte, as in requests
 * @key: page faults: of the region
 * @length: page faults: bytes from @addr on that will be accessed
 * @token: page faults: token for RESUME
 * @reserved_1c: zero
 * @phase: bit 0, as in &struct mynic_cqe.phase
 *
 * The device never overwrites an entry that the EQ's doorbell has not released.
 * It holds events back until then.
 */
struct mynic_eqe {
	__le32 number;
	__u8 type;
	__u8 flags;
	__u8 reserved_06[2];
	__le64 addr;
	__le32 key;
	__le32 length;
	__le32 token;
	__u8 reserved_1c[3];
	__u8 phase;
};

_Static_assert(sizeof(struct mynic_eqe) == 32, "mynic_eqe");

#define MYNIC_PAGE_FAULT_WRITE 0x1 /* the access writes */

/**
 * enum mynic_event - &struct mynic_eqe.type
 * @MYNIC_EVENT_COMP: the CQ was armed and has a completion
 * @MYNIC_EVENT_CQ_ERROR: the CQ overran or its memory is gone; it is dead
 * @MYNIC_EVENT_QP_FATAL: the QP went to the error state after a local error
 * @MYNIC_EVENT_QP_REQ_ERROR: ... because a peer sent an invalid request
 * @MYNIC_EVENT_QP_ACCESS_ERROR: ... because a peer violated access rights
 * @MYNIC_EVENT_COMM_EST: a QP in RTR received its first packet
 * @MYNIC_EVENT_SQ_DRAINED: SQD: all begun requests have completed
 * @MYNIC_EVENT_LAST_WQE: the QP in error will take no more from its SRQ
 * @MYNIC_EVENT_SRQ_LIMIT: fewer entries than the limit are left
 * @MYNIC_EVENT_SRQ_ERROR: the SRQ's memory or record is bad
 * @MYNIC_EVENT_PORT_UP: the wire carries packets
 * @MYNIC_EVENT_PORT_DOWN: the wire carries no packets
 * @MYNIC_EVENT_PAGE_FAULT: a QP waits for a page of an ODP region; plus
 *	enum mynic_page_stage
 */
enum mynic_event {
	MYNIC_EVENT_COMP = 1,
	MYNIC_EVENT_CQ_ERROR = 2,
	MYNIC_EVENT_QP_FATAL = 3,
	MYNIC_EVENT_QP_REQ_ERROR = 4,
	MYNIC_EVENT_QP_ACCESS_ERROR = 5,
	MYNIC_EVENT_COMM_EST = 6,
	MYNIC_EVENT_SQ_DRAINED = 7,
	MYNIC_EVENT_LAST_WQE = 8,
	MYNIC_EVENT_SRQ_LIMIT = 9,
	MYNIC_EVENT_SRQ_ERROR = 10,
	MYNIC_EVENT_PORT_UP = 11,
	MYNIC_EVENT_PORT_DOWN = 12,
	MYNIC_EVENT_PAGE_FAULT = 16,
};

#endif /* MYNIC_REGS_H */
