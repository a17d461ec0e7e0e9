/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The objects of the driver, and the functions that its files have for each
 * other. What the device sees is in mynic_regs.h and mynic-hw.h.
 */
#ifndef MYNIC_H
#define MYNIC_H

#include <linux/completion.h>
#include <linux/idr.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/pci.h>
#include <linux/refcount.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "mynic_regs.h"

#define MYNIC_DRV_NAME "mynic"
/* The RDMA core replaces %d by a number. */
#define MYNIC_IB_NAME MYNIC_DRV_NAME "_%d"
#define MYNIC_PORT 1
/* The RDMA core has 8 bits for the index. */
#define MYNIC_MAX_GIDS 256
#define MYNIC_MAX_NUMBER MYNIC_DB_NUMBER_MASK
/* Larger lists of addresses may not be available as contiguous memory. */
#define MYNIC_MAX_FAST_REG_PAGES 4096U
/* Longest message of the transport, in bytes */
#define MYNIC_MAX_MSG_SIZE BIT(31)

struct devlink;
struct mynic_dev;
struct mynic_netdev;

/**
 * struct mynic_parked - memory that the device was told of
 * @list: in &mynic_dev.parked, while a dead device may still use it
 * @free: frees it
 */
struct mynic_parked {
	struct list_head list;
	void (*free)(struct mynic_parked *parked);
};

void mynic_park(struct mynic_dev *mdev, struct mynic_parked *parked,
		void (*free)(struct mynic_parked *parked));
void mynic_unpark(struct mynic_dev *mdev);

/**
 * struct mynic_caps - result of QUERY_DEVICE, checked, in host byte order
 * @fw_ver: major in 47:32, minor in 31:16, patch in 15:0
 * @node_guid: EUI-64
 * @max_mr_size: bytes
 * @page_size_cap: bit n: pages of 2^n bytes
 * @max_qp: queue pairs
 * @max_qp_wr: slots of a send or receive ring
 * @max_cq: completion queues
 * @max_cqe: entries of a CQ
 * @max_mkey: memory keys
 * @max_pd: protection domains
 * @max_srq: shared receive queues
 * @max_srq_wr: slots of an SRQ
 * @max_rd_atomic: reads and atomics in flight on a QP, in either direction
 * @max_mcast_grp: multicast groups
 * @max_mcast_qp_attach: QPs in a multicast group
 * @max_gid: entries of the GID table
 * @num_uar: UAR pages
 * @max_eq: event queues
 * @dma_lkey: key of all DMA space
 * @clock_khz: rate of completion timestamps
 * @max_xrcd: XRC domains; 0: there is no XRC
 * @max_wq: work queues; 0: there are none
 * @max_rwq_table: receive WQ tables
 * @max_rwq_table_size: WQs in a receive WQ table
 * @max_mw: memory windows; 0: there are none
 * @max_fast_reg_pages: pages that REG_MR maps; 0: there is no REG_MR
 * @max_flow: flow rules; 0: there are none
 * @max_tso: bytes of a TSO request behind its header; 0: there is no TSO
 * @caps: MYNIC_CAP_*
 * @null_lkey: key that reads as zero and ignores writes; 0: there is none
 * @dm_size: bytes of device memory; 0: there is none
 * @max_counters: counter sets; 0: there are none
 * @max_rate_kbps: highest rate limit of a QP; 0: there is none
 * @max_tags: tags in the list of a tag matching SRQ; 0: there are no such SRQs
 * @max_tag_ops: slots of a tag ring
 * @max_rndv_hdr: bytes of a rendezvous request, with its headers
 * @max_comp_cntr: completion counters; 0: there are none
 */
struct mynic_caps {
	u64 fw_ver;
	__be64 node_guid;
	u64 max_mr_size;
	u64 page_size_cap;
	u32 max_qp;
	u32 max_qp_wr;
	u32 max_cq;
	u32 max_cqe;
	u32 max_mkey;
	u32 max_pd;
	u32 max_srq;
	u32 max_srq_wr;
	u32 max_rd_atomic;
	u32 max_mcast_grp;
	u32 max_mcast_qp_attach;
	u32 max_gid;
	u32 num_uar;
	u32 max_eq;
	u32 dma_lkey;
	u32 clock_khz;
	u32 max_xrcd;
	u32 max_wq;
	u32 max_rwq_table;
	u32 max_rwq_table_size;
	u32 max_mw;
	u32 max_fast_reg_pages;
	u32 max_flow;
	u32 max_tso;
	u64 caps;
	u32 null_lkey;
	u64 dm_size;
	u32 max_counters;
	u32 max_rate_kbps;
	u32 max_tags;
	u32 max_tag_ops;
	u32 max_rndv_hdr;
	u32 max_comp_cntr;
};

/**
 * struct mynic_res - object that events find by number
 * @refs: one for the owner, one for each event under way
 * @unused: all references are gone
 * @shown: events find it
 */
struct mynic_res {
	refcount_t refs;
	struct completion unused;
	bool shown;
};

int mynic_res_add(struct mynic_dev *mdev, struct xarray *xa, u32 number,
		  struct mynic_res *res);
void mynic_res_show(struct mynic_res *res);
struct mynic_res *mynic_res_get(struct xarray *xa, u32 number);
void mynic_res_put(struct mynic_res *res);
void mynic_res_remove(struct xarray *xa, u32 number, struct mynic_res *res);

/**
 * enum mynic_mmap_type - kinds of memory that user space maps
 * @MYNIC_MMAP_UAR: &struct mynic_uar
 * @MYNIC_MMAP_MEM: &struct mynic_mem
 * @MYNIC_MMAP_DM: &struct mynic_dm
 * @MYNIC_MMAP_CLOCK: &struct mynic_mmap_entry: the clock page
 * @MYNIC_MMAP_GIDS: &struct mynic_mmap_entry: the GID page
 * @MYNIC_MMAP_COMP_CNTR: &struct mynic_mem of a completion counter
 */
enum mynic_mmap_type {
	MYNIC_MMAP_UAR,
	MYNIC_MMAP_MEM,
	MYNIC_MMAP_DM,
	MYNIC_MMAP_CLOCK,
	MYNIC_MMAP_GIDS,
	MYNIC_MMAP_COMP_CNTR,
};

/**
 * struct mynic_mmap_entry - common part of memory that user space maps
 * @rdma_entry: the RDMA core's part
 * @type: kind of the containing struct
 */
struct mynic_mmap_entry {
	struct rdma_user_mmap_entry rdma_entry;
	enum mynic_mmap_type type;
};

/**
 * struct mynic_uar - UAR page of a user context
 * @mmap: mapping of user space
 * @index: which page of BAR2, in units of PAGE_SIZE
 */
struct mynic_uar {
	struct mynic_mmap_entry mmap;
	unsigned int index;
};

/**
 * struct mynic_page_list - addresses of pages, as the device reads them
 * @buf: descriptor for the device
 * @num_pages: pages; 0, like all that follows, if there is only one
 * @log_entries: log2 of the page addresses in a list
 * @num_lists: lists of page addresses
 * @num_mapped: elements of @lists that the device can read
 * @lists: the lists; then, with two levels, the list of their addresses
 */
struct mynic_page_list {
	struct mynic_buf buf;
	u64 num_pages;
	unsigned int log_entries;
	unsigned int num_lists;
	unsigned int num_mapped;
	struct mynic_list {
		__le64 *va;
		dma_addr_t dma;
	} *lists;
};

int mynic_page_list_init(struct mynic_page_list *pl, u64 num_pages,
			 unsigned int log_page_size, u32 offset);
void mynic_page_list_set(struct mynic_page_list *pl, u64 index,
			 dma_addr_t addr);
int mynic_page_list_map(struct mynic_dev *mdev, struct mynic_page_list *pl);
void mynic_page_list_free(struct mynic_dev *mdev, struct mynic_page_list *pl);

/*
 * Device and process use this memory at the same time, so a bounce buffer would
 * never be up to date.
 */
#define MYNIC_SHARED_DMA_ATTRS DMA_ATTR_REQUIRE_COHERENT

/**
 * struct mynic_mem - memory of a queue: rings and doorbell record; or of a
 *	completion counter
 * @mmap: mapping of user space
 * @parked: keeps it while a dead device may use it
 * @mdev: device that it is mapped for
 * @pages: queues of processes: their pages
 * @va: kernel queues: kernel addresses of the pages
 * @dma: DMA addresses of the pages
 * @num_pages: number of pages
 * @user: whether @mmap owns it
 * @list: its pages for the device
 */
struct mynic_mem {
	struct mynic_mmap_entry mmap;
	struct mynic_parked parked;
	struct mynic_dev *mdev;
	struct page **pages;
	void **va;
	dma_addr_t *dma;
	unsigned int num_pages;
	bool user;
	struct mynic_page_list list;
};

/*
 * Address of @offset in a kernel queue's memory. The object there must not
 * cross a page.
 */
static inline void *mynic_mem_at(const struct mynic_mem *mem, size_t offset)
{
	return mem->va[offset >> PAGE_SHIFT] + offset_in_page(offset);
}

struct mynic_mem *mynic_mem_alloc(struct mynic_dev *mdev, size_t size,
				  bool kernel);
void mynic_mem_free(struct mynic_mem *mem);
int mynic_mem_expose(struct mynic_mem *mem, struct ib_udata *udata);
void mynic_mem_put(struct mynic_mem *mem);

/**
 * struct mynic_move - new memory for a user queue that is being resized
 * @lock: serialises resizing; protects which memory is the queue's
 * @mem: the new memory, perhaps mapped, or NULL
 * @dbrec_offset: of the doorbell record in @mem
 * @log_size: log2 of the number of slots
 *
 * A process first asks for memory and maps it, then asks for the queue to move
 * there. Nothing can fail after the device has changed rings, and the process
 * locks the queue only for the second command.
 */
struct mynic_move {
	struct mutex lock; /* all, and the queue's memory */
	struct mynic_mem *mem;
	u32 dbrec_offset;
	u8 log_size;
};

struct mynic_resize_resp;

void mynic_move_init(struct mynic_move *move);
void mynic_move_fini(struct mynic_move *move);
int mynic_move_make(struct mynic_move *move, struct mynic_dev *mdev,
		    size_t dbrec_size, struct ib_udata *udata,
		    struct mynic_resize_resp *resp);
bool mynic_move_matches(const struct mynic_move *move, u64 mmap_key,
			u8 log_size);
void mynic_move_done(struct mynic_move *move, struct mynic_mem **mem);
struct mynic_resize mynic_move_body(const struct mynic_move *move);

#define MYNIC_AQ_LOG_SIZE 5
#define MYNIC_AQ_SIZE BIT(MYNIC_AQ_LOG_SIZE)

/**
 * struct mynic_admin_slot - an admin command under way
 * @done: the command has completed, or the device is dead
 * @cpl: the completion
 * @busy: in use
 * @completed: @cpl is valid
 * @asleep: its thread sleeps, and wants an interrupt unless @completed
 * @age: health checks since it was issued
 * @opcode: MYNIC_CMD_*
 * @number: object that the command names
 */
struct mynic_admin_slot {
	struct completion done;
	struct mynic_admin_cpl cpl;
	bool busy;
	bool completed;
	bool asleep;
	u8 age;
	u8 opcode;
	u32 number;
};

/**
 * struct mynic_admin_stuck - a command that the device does not answer
 * @opcode: MYNIC_CMD_*
 * @number: object that the command names
 */
struct mynic_admin_stuck {
	u8 opcode;
	u32 number;
};

/**
 * struct mynic_admin - the admin queue
 * @free: counts free slots
 * @lock: protects all that follows; taken in interrupts
 * @slots: commands under way; the index is the command's id
 * @cmds: ring of commands
 * @cpls: ring of completions
 * @mboxes: a mailbox for each slot
 * @cmds_dma: address of @cmds
 * @cpls_dma: address of @cpls
 * @mboxes_dma: address of @mboxes
 * @pi: producer index of @cmds
 * @ci: consumer index of @cpls; written under @lock
 * @sleepers: slots asleep
 * @arm: @ci when the device was asked for an interrupt
 * @armed: that interrupt has not come yet
 * @mute: commands are not announced to the device, to test hangs
 * @beat: the command of the last health check, or NULL
 */
struct mynic_admin {
	struct semaphore free;
	spinlock_t lock; /* all below */
	struct mynic_admin_slot slots[MYNIC_AQ_SIZE];
	struct mynic_admin_cmd *cmds;
	struct mynic_admin_cpl *cpls;
	u8 *mboxes;
	dma_addr_t cmds_dma;
	dma_addr_t cpls_dma;
	dma_addr_t mboxes_dma;
	u32 pi;
	u32 ci;
	unsigned int sleepers;
	u32 arm;
	bool armed;
	bool mute;
	struct mynic_admin_slot *beat;
};

unsigned int mynic_admin_slot_take(struct mynic_admin *admin);
void mynic_admin_slot_free(struct mynic_admin *admin,
			   struct mynic_admin_slot *slot);
const struct mynic_admin_slot *mynic_admin_slots_age(struct mynic_admin *admin);
void mynic_admin_slot_end_beat(struct mynic_admin *admin);
void mynic_admin_slots_abort(struct mynic_dev *mdev);

int mynic_admin_alloc(struct mynic_dev *mdev);
void mynic_admin_free(struct mynic_dev *mdev);
void mynic_admin_setup(struct mynic_dev *mdev);
void mynic_admin_ping(struct mynic_dev *mdev);
void mynic_admin_ping_forget(struct mynic_dev *mdev);
bool mynic_admin_ping_answered(const struct mynic_dev *mdev);
int mynic_admin_exec(struct mynic_dev *mdev, struct mynic_admin_cmd *cmd,
		     const void *in, void *out, size_t len,
		     struct mynic_admin_cpl *cpl);
bool mynic_admin_irq(struct mynic_dev *mdev);
bool mynic_admin_check(struct mynic_dev *mdev, bool counts,
		       struct mynic_admin_stuck *stuck);
void mynic_admin_provoke(struct mynic_dev *mdev, bool hang);

/**
 * struct mynic_eq - an event queue and its interrupt
 * @mdev: device
 * @mem: the ring, if it is @up
 * @up: whether handlers may use @mem
 * @eqn: number
 * @vector: MSI-X vector
 * @ci: consumer index, used only by the interrupt handler
 * @late_ci: index of an entry that was there at the last check, if it is @ci
 * @name: of the interrupt
 */
struct mynic_eq {
	struct mynic_dev *mdev;
	struct mynic_mem *mem;
	bool up;
	u32 eqn;
	u16 vector;
	u32 ci;
	u32 late_ci;
	char name[32];
};

int mynic_irqs_request(struct mynic_dev *mdev);
void mynic_irqs_free(struct mynic_dev *mdev);
int mynic_eqs_init(struct mynic_dev *mdev);
void mynic_eqs_fini(struct mynic_dev *mdev);

/**
 * struct mynic_clock - the page with &struct mynic_clock_info
 * @lock: protects all, but is not held while the device is asked
 * @page: the page
 * @users: user contexts that have mapped it
 * @work: compares the clocks while there are @users
 */
struct mynic_clock {
	struct mutex lock; /* all */
	struct page *page;
	unsigned int users;
	struct delayed_work work;
};

enum {
	MYNIC_DEAD, /* the device failed or is down: commands end at once */
	MYNIC_QUIET, /* it is dead, and has been told to leave memory alone */
	MYNIC_SHUT, /* the system shuts down: it must not be enabled any more */
};

/**
 * struct mynic_failure - how the device has failed
 * @hung: it may hang, so its registers must not be read
 * @fatal: MYNIC_FATAL_*
 * @why: reason for the log
 */
struct mynic_failure {
	bool hung;
	u32 fatal;
	char why[96];
};

/**
 * enum mynic_state - state of the device, which it may leave when it fails
 * @MYNIC_DOWN: down until it is brought up on request
 * @MYNIC_ASLEEP: down until the system wakes up
 * @MYNIC_UP: device, netdev and RDMA device work, if the device is not dead
 * @MYNIC_LOST: down because it is dead, until it has been recovered
 */
enum mynic_state {
	MYNIC_DOWN,
	MYNIC_ASLEEP,
	MYNIC_UP,
	MYNIC_LOST,
};

/**
 * struct mynic_dev - a mynic PCI function
 * @pdev: the function
 * @regs: BAR0
 * @uar0: the kernel's UAR page
 * @flags: bit numbers above
 * @failure_lock: protects @failure and changes of @flags; held while the device
 *	is enabled
 * @failure: why it is dead, if it is
 * @state_lock: serialises bringing the device up and down
 * @state: protected by @state_lock
 * @health_work: checks whether the device is alive
 * @health_due: jiffies of the next check
 * @health_late: checks in a row that came late
 * @announce_work: tells consumers that the device is dead
 * @tell_work: tells user contexts that it is dead, if the RDMA core is slow to
 * @stop_work: removes the RDMA device of a dead device
 * @recover_work: recovers a device in MYNIC_LOST
 * @pm_nb: notifier of system sleep
 * @recovered: jiffies at the last recovery
 * @pause: jiffies between attempts at recovery
 * @next_ping: jiffies of the next command that probes a hanging device
 * @ping_pause: jiffies between such commands
 * @parked_lock: protects @parked
 * @parked: memory that the device may still use; see mynic_park()
 * @devlink: health reporters
 * @features: negotiated MYNIC_FEATURE_*
 * @caps: limits
 * @admin: admin queue
 * @async_eq: asynchronous events and admin completions
 * @comp_eqs: completion events
 * @num_vectors: MSI-X vectors
 * @num_comp_eqs: entries of @comp_eqs that are in use
 * @eq_check_work: looks for lost interrupts
 * @cqs: CQs by number
 * @qps: QPs by number
 * @srqs: SRQs by number
 * @rwqs: WQs by number
 * @odps: ODP regions by key
 * @pager_lock: protects @pagers and the page faults in them
 * @pagers: address spaces with ODP regions
 * @alive_wq: for @health_work, @announce_work, @tell_work and @eq_check_work.
 *	Goes on without free memory: others may free some only when they know of
 *	the failure
 * @recover_wq: for @stop_work and @recover_work, which may take long, and for
 *	that of @clock
 * @fault_wq: handles page faults
 * @uars: pages of BAR2 in use, in units of PAGE_SIZE; 0 is the kernel's
 * @unused_dms: unused device memory, to be freed
 * @dm_work: frees @unused_dms
 * @clock: device clock for processes
 * @gid_lock: protects @gids and the MAC of @netdev
 * @gids: the GID table as the device has it
 * @netdev: the network interface; lives as long as the driver is bound
 * @ibdev: the RDMA device; a new one after each reset
 * @ibdev_name: its name before the reset, or the pattern for one
 * @node_desc: its description before the reset
 * @pma_lock: lets reads of the counters of performance management wait for each
 *	other
 */
struct mynic_dev {
	struct pci_dev *pdev;
	void __iomem *regs;
	void __iomem *uar0;
	unsigned long flags;
	spinlock_t failure_lock; /* failure, flags */
	struct mynic_failure failure;
	struct mutex state_lock; /* state */
	enum mynic_state state;
	struct delayed_work health_work;
	unsigned long health_due;
	unsigned int health_late;
	struct work_struct announce_work;
	struct delayed_work tell_work;
	struct work_struct stop_work;
	struct delayed_work recover_work;
	struct notifier_block pm_nb;
	unsigned long recovered;
	unsigned long pause;
	unsigned long next_ping;
	unsigned long ping_pause;
	spinlock_t parked_lock; /* parked */
	struct list_head parked;
	struct devlink *devlink;
	u32 features;
	struct mynic_caps caps;
	struct mynic_admin admin;
	struct mynic_eq async_eq;
	struct mynic_eq *comp_eqs;
	unsigned int num_vectors;
	unsigned int num_comp_eqs;
	struct delayed_work eq_check_work;
	struct xarray cqs;
	struct xarray qps;
	struct xarray srqs;
	struct xarray rwqs;
	struct xarray odps;
	spinlock_t pager_lock; /* pagers and what is in them */
	struct list_head pagers;
	struct workqueue_struct *alive_wq;
	struct workqueue_struct *recover_wq;
	struct workqueue_struct *fault_wq;
	struct ida uars;
	struct llist_head unused_dms;
	struct work_struct dm_work;
	struct mynic_clock clock;
	struct mutex gid_lock; /* gids, the netdev's MAC */
	struct mynic_set_gid gids[MYNIC_MAX_GIDS];
	struct net_device *netdev;
	struct mynic_ib_dev *ibdev;
	char ibdev_name[IB_DEVICE_NAME_MAX];
	char node_desc[IB_DEVICE_NODE_DESC_MAX];
	struct mutex pma_lock; /* QUERY_STATS for pma.c */
};

/**
 * struct mynic_ib_dev - an RDMA device
 * @ibdev: the RDMA core's part
 * @mdev: its PCI function, which outlives it
 * @gid_page: the page with &struct mynic_gid_info
 */
struct mynic_ib_dev {
	struct ib_device ibdev;
	struct mynic_dev *mdev;
	struct page *gid_page;
};

static inline struct mynic_ib_dev *to_mib(struct ib_device *ibdev)
{
	return container_of(ibdev, struct mynic_ib_dev, ibdev);
}

static inline struct mynic_dev *to_mdev(struct ib_device *ibdev)
{
	return to_mib(ibdev)->mdev;
}

static inline bool mynic_dead(const struct mynic_dev *mdev)
{
	return test_bit(MYNIC_DEAD, &mdev->flags);
}

/*
 * Whether requests of a dead device are flushed. Their owners may free the
 * memory then, so the device must have stopped before.
 */
static inline bool mynic_quiet(const struct mynic_dev *mdev)
{
	return test_bit(MYNIC_QUIET, &mdev->flags);
}

/* Fatal errors, hangs and recovery */

void mynic_fail_init(struct mynic_dev *mdev);
const char *mynic_fatal_name(u32 fatal);
__printf(2, 3) void mynic_fail_device(struct mynic_dev *mdev, const char *fmt,
				      ...);
__printf(2, 3) void mynic_fail_hung(struct mynic_dev *mdev, const char *fmt,
				    ...);
__printf(3, 4) void mynic_fail_fatal(struct mynic_dev *mdev, u32 fatal,
				     const char *fmt, ...);
void mynic_fail_removed(struct mynic_dev *mdev, bool hung);
void mynic_mark_down(struct mynic_dev *mdev);
void mynic_wait_quiet(struct mynic_dev *mdev);
int mynic_mark_alive(struct mynic_dev *mdev);
struct mynic_failure mynic_read_failure(struct mynic_dev *mdev);
bool mynic_hung(struct mynic_dev *mdev);
void mynic_set_hung(struct mynic_dev *mdev, bool hung);
bool mynic_readable(struct mynic_dev *mdev);

void mynic_check_status(struct mynic_dev *mdev);
void mynic_health_init(struct mynic_dev *mdev);
void mynic_health_fini(struct mynic_dev *mdev);
void mynic_health_start(struct mynic_dev *mdev);
void mynic_health_stop(struct mynic_dev *mdev);
void mynic_tell_soon(struct mynic_dev *mdev);
void mynic_tell_start(struct mynic_dev *mdev);
void mynic_tell_stop(struct mynic_dev *mdev);

int mynic_hw_up(struct mynic_dev *mdev);
void mynic_hw_down(struct mynic_dev *mdev);
void mynic_hw_quiet(struct mynic_dev *mdev);
void mynic_hw_shut(struct mynic_dev *mdev);
void mynic_hw_stay_shut(struct mynic_dev *mdev);
void mynic_hw_ping(struct mynic_dev *mdev);

void mynic_stop(struct mynic_dev *mdev, enum mynic_state state);
void mynic_set_up(struct mynic_dev *mdev);
void mynic_lose(struct mynic_dev *mdev);
void mynic_ping_anew(struct mynic_dev *mdev);
int mynic_try_recover(struct mynic_dev *mdev);
unsigned long mynic_ping(struct mynic_dev *mdev);
void mynic_recover_soon(struct mynic_dev *mdev);
int mynic_recover(struct mynic_dev *mdev);

extern const struct pci_error_handlers mynic_err_handlers;
extern const struct dev_pm_ops mynic_pm_ops;

void mynic_recover_init(struct mynic_dev *mdev);
void mynic_recover_fini(struct mynic_dev *mdev);
void mynic_sleep_init(struct mynic_dev *mdev);
void mynic_sleep_fini(struct mynic_dev *mdev);
void mynic_shutdown(struct pci_dev *pdev);

int mynic_devlink_alloc(struct mynic_dev *mdev);
void mynic_devlink_free(struct mynic_dev *mdev);
void mynic_devlink_report(struct mynic_dev *mdev,
			  struct mynic_failure *failure);
void mynic_devlink_recovered(struct mynic_dev *mdev);

int mynic_ib_register(struct mynic_dev *mdev);
void mynic_ib_unregister(struct mynic_dev *mdev);

/* Doorbells */

static inline void mynic_ring(struct mynic_dev *mdev, unsigned int doorbell,
			      u32 number, u32 index)
{
	writeq((u64)number << MYNIC_DB_NUMBER_SHIFT | index,
	       mdev->uar0 + doorbell);
}

/* Let the device overwrite what has been read. */
static inline void mynic_release(__le32 *ci, u32 value)
{
	dma_mb();
	WRITE_ONCE(*ci, cpu_to_le32(value));
}

/*
 * Phase bit that the entry with this index has once the device has written it
 */
static inline u8 mynic_phase(u32 index, unsigned int log_size)
{
	return ~(index >> log_size) & 1;
}

/* User contexts */

/**
 * struct mynic_ucontext - user context
 * @ibucontext: the RDMA core's part
 * @uar: its UAR page
 * @clock: mapping of the clock page, or NULL
 * @clock_used: whether it is mapped; protected by &mynic_clock.lock
 * @gids: mapping of the GID page
 */
struct mynic_ucontext {
	struct ib_ucontext ibucontext;
	struct mynic_uar *uar;
	struct mynic_mmap_entry *clock;
	bool clock_used;
	struct mynic_mmap_entry *gids;
};

static inline struct mynic_ucontext *
to_mucontext(struct ib_ucontext *ibucontext)
{
	return container_of(ibucontext, struct mynic_ucontext, ibucontext);
}

int mynic_clock_init(struct mynic_dev *mdev);
void mynic_clock_stop(struct mynic_dev *mdev);
void mynic_clock_fini(struct mynic_dev *mdev);
int mynic_clock_open(struct mynic_ucontext *ucontext);
void mynic_clock_close(struct mynic_ucontext *ucontext);
int mynic_clock_mmap(struct mynic_ucontext *ucontext,
		     struct vm_area_struct *vma);

struct mynic_mmap_entry *mynic_page_open(struct mynic_ucontext *ucontext,
					 enum mynic_mmap_type type);
int mynic_page_mmap(const struct ib_device *ibdev, struct vm_area_struct *vma,
		    struct page *page);
int mynic_alloc_ucontext(struct ib_ucontext *ibucontext,
			 struct ib_udata *udata);
int mynic_query_ucontext(struct ib_ucontext *ibucontext,
			 struct uverbs_attr_bundle *attrs);
extern const struct uapi_definition mynic_ucontext_defs[];
void mynic_dealloc_ucontext(struct ib_ucontext *ibucontext);
void mynic_disassociate_ucontext(struct ib_ucontext *ibucontext);
int mynic_mmap(struct ib_ucontext *ibucontext, struct vm_area_struct *vma);
void mynic_mmap_free(struct rdma_user_mmap_entry *entry);
u32 mynic_udata_uarn(struct ib_udata *udata);

/* Protection domains */

/**
 * struct mynic_pd - protection domain
 * @ibpd: the RDMA core's part
 * @pdn: number
 */
struct mynic_pd {
	struct ib_pd ibpd;
	u32 pdn;
};

static inline struct mynic_pd *to_mpd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct mynic_pd, ibpd);
}

int mynic_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int mynic_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
extern const struct uapi_definition mynic_pd_defs[];

/* XRC domains */

struct mynic_xrcd {
	struct ib_xrcd ibxrcd;
	u32 xrcdn;
};

static inline struct mynic_xrcd *to_mxrcd(struct ib_xrcd *ibxrcd)
{
	return container_of(ibxrcd, struct mynic_xrcd, ibxrcd);
}

int mynic_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int mynic_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

/* Device memory */

/**
 * struct mynic_dm - device memory
 * @ibdm: the RDMA core's part
 * @mmap: mapping of user space; its release frees this struct
 * @number: number in the device
 * @offset: in BAR2
 * @unused: in &mynic_dev.unused_dms
 */
struct mynic_dm {
	struct ib_dm ibdm;
	struct mynic_mmap_entry mmap;
	u32 number;
	u64 offset;
	struct llist_node unused;
};

static inline struct mynic_dm *to_mdm(struct ib_dm *ibdm)
{
	return container_of(ibdm, struct mynic_dm, ibdm);
}

extern const struct uapi_definition mynic_dm_defs[];

struct ib_dm *mynic_alloc_dm(struct ib_device *ibdev,
			     struct ib_ucontext *ibucontext,
			     struct ib_dm_alloc_attr *attr,
			     struct uverbs_attr_bundle *attrs);
int mynic_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs);
void mynic_dm_init(struct mynic_dev *mdev);
void mynic_dm_flush(struct mynic_dev *mdev);
void mynic_dm_free(struct mynic_dev *mdev, struct mynic_dm *dm);

/* On-demand paging */

/**
 * struct mynic_missing_pages - what an access of the device did not find
 * @addr: address of the first missing byte, as in requests
 * @key: the region's
 * @length: bytes from there on that will be accessed
 * @token: token for RESUME
 * @write: whether the page must be writable
 */
struct mynic_missing_pages {
	u64 addr;
	u32 key;
	u32 length;
	u32 token;
	bool write;
};

struct mynic_page_faults;
struct mynic_odp;

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
struct mynic_page_faults *mynic_page_faults_alloc(struct mynic_dev *mdev,
						  u32 qpn);
void mynic_page_faults_free(struct mynic_page_faults *faults);
void mynic_page_fault(struct mynic_page_faults *faults, unsigned int stage,
		      const struct mynic_missing_pages *missing);
int mynic_advise_mr(struct ib_pd *ibpd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sg_list, u32 num_sge,
		    struct uverbs_attr_bundle *attrs);
struct ib_mr *mynic_reg_odp_mr(struct ib_pd *ibpd, u64 start, u64 length,
			       u64 iova, int access);
void mynic_odp_gone(struct mynic_odp *odp);
void mynic_odp_caps(const struct mynic_dev *mdev, struct ib_odp_caps *caps);
#else
#define mynic_advise_mr NULL

static inline struct mynic_page_faults *
mynic_page_faults_alloc(struct mynic_dev *mdev, u32 qpn)
{
	return NULL;
}

static inline void mynic_page_faults_free(struct mynic_page_faults *faults)
{
}

static inline void mynic_page_fault(struct mynic_page_faults *faults,
				    unsigned int stage,
				    const struct mynic_missing_pages *missing)
{
}

static inline struct ib_mr *mynic_reg_odp_mr(struct ib_pd *ibpd, u64 start,
					     u64 length, u64 iova, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void mynic_odp_gone(struct mynic_odp *odp)
{
}

static inline void mynic_odp_caps(const struct mynic_dev *mdev,
				  struct ib_odp_caps *caps)
{
}
#endif

/* Memory regions */

#define MYNIC_MR_ACCESS                                                        \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |                      \
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND | \
	 IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT)

/**
 * struct mynic_fast_reg - memory that REG_MR gives to a region
 * @lists: two lists of @max_pages addresses each. The one that is not in use
 *	is filled. The device still reads the other one when consumers map new
 *	memory before they have the old registration invalidated.
 * @dma: DMA address of @lists
 * @max_pages: room in a list
 * @num_pages: addresses in the list that was filled last
 * @current_list: index of that list
 * @offset: where in the first page the memory begins
 */
struct mynic_fast_reg {
	__le64 *lists;
	dma_addr_t dma;
	u32 max_pages;
	u32 num_pages;
	u32 current_list;
	u32 offset;
};

static inline size_t mynic_fast_reg_bytes(const struct mynic_fast_reg *fr)
{
	return (size_t)fr->max_pages * sizeof(__le64);
}

/**
 * struct mynic_mr - memory region
 * @ibmr: the RDMA core's part
 * @parked: how its memory is kept for a device that is dead
 * @mdev: device, while @parked
 * @odp: ODP state, or NULL
 * @umem: pinned memory of a process, or NULL
 * @list: pages of @umem
 * @fast_reg: memory of a region of mynic_alloc_mr()
 * @access: requested enum ib_access_flags
 * @body: attributes in the device; for a dma-buf, protected by its revoke lock
 */
struct mynic_mr {
	struct ib_mr ibmr;
	struct mynic_parked parked;
	struct mynic_dev *mdev;
	struct mynic_odp *odp;
	struct ib_umem *umem;
	struct mynic_page_list list;
	struct mynic_fast_reg fast_reg;
	int access;
	struct mynic_create_mkey body;
};

static inline struct mynic_mr *to_mmr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct mynic_mr, ibmr);
}

void mynic_mr_free(struct ib_device *ibdev, struct mynic_mr *mr);
struct ib_mr *mynic_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *mynic_reg_dm_mr(struct ib_pd *ibpd, struct ib_dm *ibdm,
			      struct ib_dm_mr_attr *attr,
			      struct uverbs_attr_bundle *attrs);
struct ib_mr *mynic_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
				u64 iova, int access, struct ib_dmah *dmah,
				struct ib_udata *udata);
struct ib_mr *mynic_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset,
				       u64 length, u64 iova, int fd, int access,
				       struct ib_dmah *dmah,
				       struct uverbs_attr_bundle *attrs);
struct ib_mr *mynic_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *ibpd, struct ib_udata *udata);
int mynic_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
struct ib_mr *mynic_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type,
			     u32 max_num_sg);
int mynic_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		    unsigned int *sg_offset);
void mynic_fast_reg_operands(const struct mynic_mr *mr,
			     struct mynic_reg_mr_operands *op);

/* DMA handles */

int mynic_alloc_dmah(struct ib_dmah *ibdmah, struct uverbs_attr_bundle *attrs);
int mynic_dealloc_dmah(struct ib_dmah *ibdmah,
		       struct uverbs_attr_bundle *attrs);
extern const struct ib_device_ops mynic_dmah_ops;

/* Memory windows */

struct mynic_mw {
	struct ib_mw ibmw;
};

int mynic_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int mynic_dealloc_mw(struct ib_mw *ibmw);

/* Completion queues */

/*
 * The device reports bits of libibverbs' enum ibv_wc_flags, which differ from
 * the kernel's.
 */
#define MYNIC_WC_GRH BIT(0)
#define MYNIC_WC_WITH_IMM BIT(1)
#define MYNIC_WC_IP_CSUM_OK BIT(2)
#define MYNIC_WC_WITH_INV BIT(3)

/**
 * struct mynic_cq - completion queue
 * @ibcq: the RDMA core's part
 * @res: lookup by events
 * @mem: the ring, then the doorbell record
 * @move: user CQs: resizing; its lock protects @mem and @log_size
 * @cqn: number
 * @log_size: log2 of the number of entries
 * @lock: kernel CQs: protects @ci, the ring and the request in the record
 * @ci: kernel CQs: consumer index
 * @num_vectors: vectors that requests for events may name; 0: only its own
 */
struct mynic_cq {
	struct ib_cq ibcq;
	struct mynic_res res;
	struct mynic_mem *mem;
	struct mynic_move move;
	u32 cqn;
	u8 log_size;
	spinlock_t lock; /* ci, ring */
	u32 ci;
	u8 num_vectors;
};

static inline struct mynic_cq *to_mcq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct mynic_cq, ibcq);
}

struct mynic_qp;

/*
 * struct mynic_cq_init_attr - what a CQ is created with
 * @entries: minimum capacity, 1 to max_cqe
 * @comp_vector: number of an MSI-X vector, or 0 for that of the processor that
 *	arms the CQ
 * @flags: MYNIC_CQ_*
 * @uarn: UAR page of its doorbell
 * @kernel: the kernel polls it
 */
struct mynic_cq_init_attr {
	u32 entries;
	unsigned int comp_vector;
	u8 flags;
	u32 uarn;
	bool kernel;
};

int mynic_cq_init(struct mynic_dev *mdev, struct mynic_cq *cq,
		  const struct mynic_cq_init_attr *attr);
void mynic_cq_fini(struct mynic_dev *mdev, struct mynic_cq *cq);

static inline struct mynic_cqe *mynic_cqe(const struct mynic_cq *cq, u32 index)
{
	return mynic_mem_at(cq->mem, (index & (BIT(cq->log_size) - 1)) *
					     sizeof(struct mynic_cqe));
}

/* Whether the device has written the entry */
static inline bool mynic_cq_has(const struct mynic_cq *cq, u32 index)
{
	return (READ_ONCE(mynic_cqe(cq, index)->phase) & 1) ==
	       mynic_phase(index, cq->log_size);
}

struct mynic_cqe *mynic_cq_peek(struct mynic_cq *cq);
void mynic_cq_publish(struct mynic_cq *cq);
void mynic_cq_arm(struct mynic_dev *mdev, struct mynic_cq *cq, bool solicited);
void mynic_cq_purge(struct mynic_cq *cq, struct mynic_qp *qp);
int mynic_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs);
int mynic_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int mynic_pre_destroy_cq(struct ib_cq *ibcq);
void mynic_post_destroy_cq(struct ib_cq *ibcq);
int mynic_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);
int mynic_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
int mynic_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int mynic_resize_user_cq(struct ib_cq *ibcq, unsigned int cqe,
			 struct ib_udata *udata);

/* Queues of requests */

/**
 * struct mynic_queue - send or receive ring, or that of an SRQ
 * @offset: of the ring in its memory
 * @log_size: log2 of the number of slots
 * @log_stride: log2 of the bytes in a slot; 0: there is no ring
 * @max_sge: SGEs that a slot holds
 * @lock: kernel queues: serialises posting
 * @mem: kernel queues: memory of the slots
 * @wr_id: kernel queues: the wr_id of each slot. The device gets only the
 *	index, which can be checked when it comes back.
 * @pi: kernel queues: producer index; written under @lock
 * @ci: kernel queues: requests before it have completed; written under the CQ's
 *	lock
 */
struct mynic_queue {
	u32 offset;
	u8 log_size;
	u8 log_stride;
	u32 max_sge;
	spinlock_t lock; /* slots, pi */
	const struct mynic_mem *mem;
	u64 *wr_id;
	u32 pi;
	u32 ci;
};

/*
 * Marks a receive request in the wr_id of a kernel queue. Others are send
 * requests.
 */
#define MYNIC_WR_RECV BIT_ULL(32)

static inline u32 mynic_queue_size(const struct mynic_queue *queue)
{
	return queue->log_stride ? 1U << queue->log_size : 0;
}

static inline size_t mynic_queue_bytes(const struct mynic_queue *queue)
{
	return queue->log_stride ?
		       1UL << (queue->log_size + queue->log_stride) :
		       0;
}

static inline u32 mynic_queue_mask(const struct mynic_queue *queue)
{
	return (1U << queue->log_size) - 1;
}

static inline void *mynic_queue_slot(const struct mynic_queue *queue, u32 index)
{
	return mynic_mem_at(queue->mem,
			    queue->offset + ((index & mynic_queue_mask(queue))
					     << queue->log_stride));
}

bool mynic_queue_complete(struct mynic_queue *queue, u32 index, u64 *wr_id);
int mynic_rq_layout(const struct ib_device *ibdev, struct mynic_queue *rq,
		    u32 max_wr, u32 max_sge);

/* Queue pairs */

/* SGEs that every slot can hold, whatever the QP's type */
#define MYNIC_MAX_SGE \
	((MYNIC_SQ_MAX_STRIDE - MYNIC_WQE_DATA_EXT) / sizeof(struct mynic_sge))

/**
 * struct mynic_qp - queue pair
 * @ibqp: the RDMA core's part
 * @res: lookup by events
 * @mem: send ring, receive ring, doorbell record; NULL: it has none
 * @dbrec_offset: of the doorbell record in @mem
 * @qpn: number
 * @type: enum mynic_qp_type
 * @sig_all: every send request gets a completion
 * @max_inline: bytes that a send slot holds
 * @sq: send ring
 * @rq: receive ring
 * @dbrec: kernel QPs: the doorbell record
 * @send_cq: CQ for send completions
 * @recv_cq: CQ for receive completions
 * @mutex: serialises modifying
 * @state: last requested state; the device may have gone to an error state
 * @faults: its page faults
 */
struct mynic_qp {
	struct ib_qp ibqp;
	struct mynic_res res;
	struct mynic_mem *mem;
	u32 dbrec_offset;
	u32 qpn;
	u8 type;
	bool sig_all;
	u32 max_inline;
	struct mynic_queue sq;
	struct mynic_queue rq;
	struct mynic_qp_dbrec *dbrec;
	struct mynic_cq *send_cq;
	struct mynic_cq *recv_cq;
	struct mutex mutex; /* state */
	enum ib_qp_state state;
	struct mynic_page_faults *faults;
};

static inline struct mynic_qp *to_mqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct mynic_qp, ibqp);
}

/* QP types that have a rate limit */
#define MYNIC_RATE_LIMIT_QPTS                               \
	(BIT(IB_QPT_RC) | BIT(IB_QPT_UC) | BIT(IB_QPT_UD) | \
	 BIT(IB_QPT_RAW_PACKET) | BIT(IB_QPT_XRC_INI))

/* Whether the path belongs to the QP rather than to each request */
static inline bool mynic_qp_connected(const struct mynic_qp *qp)
{
	return qp->type == MYNIC_QP_RC || qp->type == MYNIC_QP_UC ||
	       qp->type == MYNIC_QP_XRC_INI || qp->type == MYNIC_QP_XRC_TGT;
}

static inline unsigned int mynic_wqe_data(const struct mynic_qp *qp)
{
	return qp->type == MYNIC_QP_RC || qp->type == MYNIC_QP_UC ?
		       MYNIC_WQE_DATA_RC :
		       MYNIC_WQE_DATA_EXT;
}

static inline __le32 mynic_wqe_ctrl(enum ib_wr_opcode opcode, u32 flags)
{
	return cpu_to_le32(opcode | flags << MYNIC_WQE_FLAGS_SHIFT);
}

/**
 * struct mynic_qp_init - attributes of a new QP
 * @type: enum mynic_qp_type
 * @flags: MYNIC_QP_*
 * @pdn: protection domain
 * @uarn: UAR page of its doorbell
 * @srqn: SRQ, or MYNIC_NO_SRQ
 * @send_cq: CQ for send completions
 * @recv_cq: CQ for receive completions
 * @cap: requested capabilities, which mynic_qp_init() replaces by those granted
 */
struct mynic_qp_init {
	u8 type;
	u8 flags;
	u32 pdn;
	u32 uarn;
	u32 srqn;
	struct mynic_cq *send_cq;
	struct mynic_cq *recv_cq;
	struct ib_qp_cap *cap;
};

int mynic_qp_init(struct mynic_dev *mdev, struct mynic_qp *qp,
		  const struct mynic_qp_init *init);
void mynic_qp_fini(struct mynic_dev *mdev, struct mynic_qp *qp);
void mynic_qp_ring_sq(struct mynic_dev *mdev, struct mynic_qp *qp);
void mynic_qp_ring_rq(struct mynic_dev *mdev, struct mynic_qp *qp);
int mynic_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		    struct ib_udata *udata);
int mynic_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);
int mynic_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init_attr);
int mynic_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
u32 mynic_ece_options(const struct mynic_dev *mdev);
int mynic_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr);
int mynic_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr);

int mynic_post_marker(struct mynic_dev *mdev, struct mynic_qp *qp,
		      struct mynic_queue *queue, struct ib_cqe *cqe);

/* Flushing and draining QPs of a dead device */

bool mynic_has_consumers(struct mynic_dev *mdev);
void mynic_wake_consumers(struct mynic_dev *mdev);
int mynic_flush_cq(struct mynic_dev *mdev, struct mynic_cq *cq, int room,
		   struct ib_wc *wc);
bool mynic_flush_pending(struct mynic_dev *mdev, const struct mynic_cq *cq);
void mynic_qp_err_dead(struct mynic_qp *qp);
void mynic_drain_sq(struct ib_qp *ibqp);
void mynic_drain_rq(struct ib_qp *ibqp);

/* Shared receive queues */

/**
 * struct mynic_srq - shared receive queue
 * @ibsrq: the RDMA core's part
 * @res: lookup by events
 * @mem: the ring, then the doorbell record
 * @move: user SRQs: resizing; its lock protects @mem, @dbrec_offset and the
 *	size in @queue
 * @dbrec_offset: of the doorbell record in @mem
 * @srqn: number
 * @queue: the ring; of kernel SRQs, @wr_id is indexed by tag, not by slot, as
 *	requests complete in any order, and ci is not used
 * @dbrec: kernel SRQs: the doorbell record
 * @tags: kernel SRQs: requests that are posted and have not completed;
 *	protected by the lock of @queue
 * @tag_mem: tag matching: the tag ring, then its doorbell record; else NULL
 * @log_tag_size: likewise: log2 of the tag ring's number of slots
 */
struct mynic_srq {
	struct ib_srq ibsrq;
	struct mynic_res res;
	struct mynic_mem *mem;
	struct mynic_move move;
	u32 dbrec_offset;
	u32 srqn;
	struct mynic_queue queue;
	struct mynic_srq_dbrec *dbrec;
	unsigned long *tags;
	struct mynic_mem *tag_mem;
	u8 log_tag_size;
};

static inline struct mynic_srq *to_msrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct mynic_srq, ibsrq);
}

int mynic_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr,
		     struct ib_udata *udata);
int mynic_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int mynic_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int mynic_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int mynic_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr);
bool mynic_srq_complete(struct mynic_srq *srq, u32 tag, u64 *wr_id);

/* Tag matching */

struct mynic_create_srq;
struct mynic_create_srq_resp;

int mynic_tm_init(struct mynic_srq *srq, const struct ib_srq_init_attr *attr,
		  struct ib_udata *udata, struct mynic_create_srq *mbox);
void mynic_tm_free(struct mynic_srq *srq);
int mynic_tm_respond(struct mynic_srq *srq, struct ib_udata *udata,
		     struct mynic_create_srq_resp *resp);

/* Address handles, multicast, GIDs */

/**
 * struct mynic_ah - address handle
 * @ibah: the RDMA core's
 * @av: what the device needs
 * @lost: the GSI QP of a dead device has taken a message that uses this
 */
struct mynic_ah {
	struct ib_ah ibah;
	struct mynic_av av;
	bool lost;
};

static inline struct mynic_ah *to_mah(struct ib_ah *ibah)
{
	return container_of(ibah, struct mynic_ah, ibah);
}

int mynic_av_from_attr(const struct ib_device *ibdev, struct mynic_av *av,
		       const struct rdma_ah_attr *attr);
void mynic_av_to_attr(const struct mynic_av *av, struct rdma_ah_attr *attr);
int mynic_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init_attr,
		    struct ib_udata *udata);
int mynic_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int mynic_destroy_ah(struct ib_ah *ibah, u32 flags);
int mynic_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int mynic_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int mynic_add_gid(const struct ib_gid_attr *attr, void **context);
int mynic_del_gid(const struct ib_gid_attr *attr, void **context);
void mynic_gids_change_mac(struct mynic_dev *mdev, void *addr);

/* Receive work queues, and tables of them */

/* Fields and functions that RSS QPs can hash with */
#define MYNIC_RX_HASH_FIELDS GENMASK(7, 0)
#define MYNIC_RX_HASH_FUNCTIONS MYNIC_RX_HASH_TOEPLITZ

/**
 * struct mynic_rwq - receive work queue: a receive queue without a QP
 * @ibwq: the RDMA core's part
 * @res: lookup by events
 * @mem: the ring, then the doorbell record
 * @dbrec_offset: of the doorbell record in @mem
 * @wqn: number
 * @rq: the ring
 * @dbrec: kernel WQs: the doorbell record
 * @mutex: serialises modifying
 */
struct mynic_rwq {
	struct ib_wq ibwq;
	struct mynic_res res;
	struct mynic_mem *mem;
	u32 dbrec_offset;
	u32 wqn;
	struct mynic_queue rq;
	struct mynic_qp_dbrec *dbrec;
	struct mutex mutex; /* ibwq.state */
};

static inline struct mynic_rwq *to_mrwq(struct ib_wq *ibwq)
{
	return container_of(ibwq, struct mynic_rwq, ibwq);
}

/**
 * struct mynic_rwq_init - attributes of a new WQ
 * @pdn: protection domain
 * @cqn: CQ for completions
 * @uarn: UAR page of its doorbell
 * @flags: MYNIC_WQ_*
 * @kernel: the kernel posts to it
 */
struct mynic_rwq_init {
	u32 pdn;
	u32 cqn;
	u32 uarn;
	u8 flags;
	bool kernel;
};

int mynic_rwq_init(struct mynic_dev *mdev, struct mynic_rwq *rwq,
		   const struct mynic_rwq_init *init);
void mynic_rwq_fini(struct mynic_dev *mdev, struct mynic_rwq *rwq);
void mynic_rwq_ring(struct mynic_dev *mdev, struct mynic_rwq *rwq);

struct mynic_rwq_table {
	struct ib_rwq_ind_table ibtable;
	u32 number;
};

static inline struct mynic_rwq_table *
to_mrwq_table(struct ib_rwq_ind_table *ibtable)
{
	return container_of(ibtable, struct mynic_rwq_table, ibtable);
}

struct ib_wq *mynic_create_wq(struct ib_pd *ibpd, struct ib_wq_init_attr *attr,
			      struct ib_udata *udata);
int mynic_modify_wq(struct ib_wq *ibwq, struct ib_wq_attr *attr, u32 mask,
		    struct ib_udata *udata);
int mynic_destroy_wq(struct ib_wq *ibwq, struct ib_udata *udata);
int mynic_create_rwq_ind_table(struct ib_rwq_ind_table *ibtable,
			       struct ib_rwq_ind_table_init_attr *attr,
			       struct ib_udata *udata);
int mynic_destroy_rwq_ind_table(struct ib_rwq_ind_table *ibtable);

/* Flow rules */

struct mynic_flow {
	struct ib_flow ibflow;
	u32 number;
};

static inline struct mynic_flow *to_mflow(struct ib_flow *ibflow)
{
	return container_of(ibflow, struct mynic_flow, ibflow);
}

struct ib_flow *mynic_create_flow(struct ib_qp *ibqp, struct ib_flow_attr *attr,
				  struct ib_udata *udata);
int mynic_destroy_flow(struct ib_flow *ibflow);

/* Device and port */

int mynic_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata);
void mynic_get_dev_fw_str(struct ib_device *ibdev, char *str);
int mynic_modify_device(struct ib_device *ibdev, int mask,
			struct ib_device_modify *modify);
int mynic_query_port(struct ib_device *ibdev, u32 port,
		     struct ib_port_attr *attr);
int mynic_query_port_speed(struct ib_device *ibdev, u32 port, u64 *speed);
int mynic_get_port_immutable(struct ib_device *ibdev, u32 port,
			     struct ib_port_immutable *immutable);
enum rdma_link_layer mynic_get_link_layer(struct ib_device *ibdev, u32 port);
int mynic_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey);

/* Details of objects for rdma(8) */

extern const struct ib_device_ops mynic_restrack_ops;

/* Counters */

extern const struct rdma_stat_desc mynic_stat_descs[MYNIC_NUM_STATS];
extern const struct ib_device_ops mynic_qp_counter_ops;
extern const struct ib_device_ops mynic_counters_ops;

/**
 * struct mynic_counters - counters of flow rules
 * @ibcounters: the RDMA core's part
 * @number: counter set of the device
 */
struct mynic_counters {
	struct ib_counters ibcounters;
	u32 number;
};

static inline struct mynic_counters *
to_mcounters(struct ib_counters *ibcounters)
{
	return container_of(ibcounters, struct mynic_counters, ibcounters);
}

void mynic_qp_counter_init(struct rdma_counter *counter);

/**
 * struct mynic_comp_cntr - a completion counter
 * @ibcc: the RDMA core's part
 * @mem: a page that begins with &struct mynic_comp_cntr_values
 * @number: its number
 */
struct mynic_comp_cntr {
	struct ib_comp_cntr ibcc;
	struct mynic_mem *mem;
	u32 number;
};

static inline struct mynic_comp_cntr *to_mcomp_cntr(struct ib_comp_cntr *ibcc)
{
	return container_of(ibcc, struct mynic_comp_cntr, ibcc);
}

int mynic_create_comp_cntr(struct ib_comp_cntr *ibcc,
			   struct uverbs_attr_bundle *attrs);
int mynic_destroy_comp_cntr(struct ib_comp_cntr *ibcc);
int mynic_modify_comp_cntr(struct ib_comp_cntr *ibcc,
			   enum ib_comp_cntr_entry entry,
			   enum ib_comp_cntr_modify_op op, u64 value);
int mynic_read_comp_cntr(struct ib_comp_cntr *ibcc,
			 enum ib_comp_cntr_entry entry, u64 *value);
int mynic_query_comp_cntr_caps(struct ib_device *ibdev,
			       struct ib_comp_cntr_caps *caps,
			       struct uverbs_attr_bundle *attrs);
int mynic_qp_attach_comp_cntr(struct ib_qp *ibqp, struct ib_comp_cntr *ibcc,
			      struct ib_qp_attach_comp_cntr_attr *attr);
extern const struct ib_device_ops mynic_comp_cntr_ops;
extern const struct uapi_definition mynic_comp_cntr_defs[];

struct rdma_hw_stats *mynic_alloc_hw_port_stats(struct ib_device *ibdev,
						u32 port);
int mynic_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index);
int mynic_process_mad(struct ib_device *ibdev, int flags, u32 port,
		      const struct ib_wc *in_wc, const struct ib_grh *in_grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index);

/* The network interface */

extern const struct ethtool_ops mynic_ethtool_ops;

int mynic_netdev_alloc(struct mynic_dev *mdev);
void mynic_netdev_free(struct mynic_dev *mdev);
int mynic_netdev_register(struct mynic_dev *mdev);
void mynic_netdev_unregister(struct mynic_dev *mdev);
void mynic_netdev_detach(struct mynic_dev *mdev);
int mynic_netdev_attach(struct mynic_dev *mdev);
void mynic_netdev_link_event(struct mynic_dev *mdev);
int mynic_netdev_query_stats(struct net_device *ndev, u64 *values);
struct mynic_dev *mynic_netdev_mdev(struct net_device *ndev);
u32 mynic_netdev_speed(struct net_device *ndev);

#endif /* MYNIC_H */
