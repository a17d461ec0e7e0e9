// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* One function for each admin command */
#include "cmd.h"
#include "mynic_names.h"

/*
 * Those of the device, not those that the kernel has pages of: consumers register
 * pages of 4096 bytes where the kernel's are larger.
 */
#define MYNIC_PAGE_SIZES \
	GENMASK_ULL(MYNIC_MAX_LOG_PAGE_SIZE, MYNIC_MIN_LOG_PAGE_SIZE)

static const int mynic_aq_errno[] = {
	[MYNIC_AQ_OK] = 0,
	[MYNIC_AQ_BAD_OPCODE] = -EOPNOTSUPP,
	[MYNIC_AQ_BAD_PARAM] = -EINVAL,
	[MYNIC_AQ_BAD_NUMBER] = -EINVAL,
	[MYNIC_AQ_BAD_STATE] = -EINVAL,
	[MYNIC_AQ_BUSY] = -EBUSY,
	[MYNIC_AQ_NO_RESOURCE] = -ENOMEM,
	[MYNIC_AQ_BAD_DMA] = -EFAULT,
	[MYNIC_AQ_NOT_SUPPORTED] = -EOPNOTSUPP,
};

/* clang-format off */
static const char *const mynic_cmd_names[] = {
	MYNIC_CMD_NAMES(MYNIC_NAME_AT, MYNIC_NAME_AT)
};

/* clang-format on */

/**
 * mynic_cmd_name() - the name of a command
 * @opcode: MYNIC_CMD_*
 *
 * Return: the name.
 */
const char *mynic_cmd_name(u8 opcode)
{
	if (opcode < ARRAY_SIZE(mynic_cmd_names) && mynic_cmd_names[opcode])
		return mynic_cmd_names[opcode];
	return "an unknown command";
}

static int mynic_cmd(struct mynic_dev *mdev, struct mynic_admin_cmd *cmd,
		     const void *in, void *out, size_t len,
		     struct mynic_admin_cpl *cpl)
{
	int ret;

	ret = mynic_admin_exec(mdev, cmd, in, out, len, cpl);
	if (ret)
		return ret;
	if (cpl->status >= ARRAY_SIZE(mynic_aq_errno))
		return -EIO;
	return mynic_aq_errno[cpl->status];
}

static int mynic_cmd_number(struct mynic_dev *mdev, u8 opcode, u32 number)
{
	struct mynic_admin_cmd cmd = {
		.opcode = opcode,
		.number = cpu_to_le32(number),
	};
	struct mynic_admin_cpl cpl;

	return mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
}

static int mynic_cmd_query(struct mynic_dev *mdev, u8 opcode, u32 number,
			   void *out, size_t len)
{
	struct mynic_admin_cmd cmd = {
		.opcode = opcode,
		.number = cpu_to_le32(number),
	};
	struct mynic_admin_cpl cpl;

	return mynic_cmd(mdev, &cmd, NULL, out, len, &cpl);
}

static int mynic_cmd_create(struct mynic_dev *mdev, struct mynic_admin_cmd *cmd,
			    const void *in, size_t len, u32 *number)
{
	struct mynic_admin_cpl cpl;
	int ret;

	ret = mynic_cmd(mdev, cmd, in, NULL, len, &cpl);
	if (ret)
		return ret;
	*number = le32_to_cpu(cpl.number);
	if (cmd->opcode != MYNIC_CMD_CREATE_MKEY &&
	    *number > MYNIC_MAX_NUMBER) {
		mynic_die(mdev, "it answers %s with the number %#x",
			  mynic_cmd_name(cmd->opcode), *number);
		return -EIO;
	}
	return 0;
}

/*
 * The core destroys an object only when nothing uses it, and it learns of all
 * uses but one before the device does: see mynic_cmd_destroy_region(). So this
 * cannot fail as long as device and driver agree on what there is. If they do
 * not, a reset makes them; it also keeps the device away from the object's
 * memory.
 */
static void mynic_cmd_destroy(struct mynic_dev *mdev, u8 opcode, u32 number)
{
	int ret = mynic_cmd_number(mdev, opcode, number);

	if (ret)
		mynic_die(mdev, "it answers %s %u with %pe",
			  mynic_cmd_name(opcode), number, ERR_PTR(ret));
}

/**
 * mynic_cmd_nop() - NOP
 * @mdev: device
 * @clock: the device's clock; 0: it does not tell
 *
 * Context: may sleep, as all commands.
 * Return: 0 or an errno.
 */
int mynic_cmd_nop(struct mynic_dev *mdev, u64 *clock)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_NOP };
	struct mynic_admin_cpl cpl;
	int ret;

	ret = mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
	*clock = ret ? 0 : le64_to_cpu(cpl.nop.clock);
	return ret;
}

/**
 * mynic_cmd_query_device() - QUERY_DEVICE
 * @mdev: device
 * @caps: result. Limits beyond what the layouts can express are cut down.
 *
 * Context: may sleep, as all commands.
 * Return: 0, or -ENODEV for a device that cannot work.
 */
int mynic_cmd_query_device(struct mynic_dev *mdev, struct mynic_caps *caps)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_QUERY_DEVICE };
	struct mynic_device_attr attr;
	struct mynic_admin_cpl cpl;
	u32 uars;
	int ret;

	ret = mynic_cmd(mdev, &cmd, NULL, &attr, sizeof(attr), &cpl);
	if (ret)
		return ret;

	uars = pci_resource_len(mdev->pdev, MYNIC_BAR_UAR) / MYNIC_UAR_SIZE;
	*caps = (struct mynic_caps){
		.fw_ver = le64_to_cpu(attr.fw_ver),
		.node_guid = attr.node_guid,
		.max_mr_size = le64_to_cpu(attr.max_mr_size),
		.page_size_cap = le64_to_cpu(attr.page_size_cap) &
				 MYNIC_PAGE_SIZES,
		.max_qp = le32_to_cpu(attr.max_qp),
		.max_qp_wr = min(le32_to_cpu(attr.max_qp_wr), 1U << 15),
		.max_cq = le32_to_cpu(attr.max_cq),
		.max_cqe = min(le32_to_cpu(attr.max_cqe), 1U << 22),
		.max_mkey = le32_to_cpu(attr.max_mkey),
		.max_pd = le32_to_cpu(attr.max_pd),
		.max_srq = le32_to_cpu(attr.max_srq),
		.max_srq_wr = min(le32_to_cpu(attr.max_srq_wr), 1U << 15),
		.max_rd_atomic = min(le32_to_cpu(attr.max_rd_atomic), 255U),
		.max_mcast_grp = le32_to_cpu(attr.max_mcast_grp),
		.max_mcast_qp_attach = le32_to_cpu(attr.max_mcast_qp_attach),
		.max_gid = min(le32_to_cpu(attr.max_gid), MYNIC_MAX_GIDS),
		.num_uar = min(le32_to_cpu(attr.num_uar), uars),
		.max_eq = le32_to_cpu(attr.max_eq),
		.dma_lkey = le32_to_cpu(attr.dma_lkey),
		.clock_khz = le32_to_cpu(attr.clock_khz),
		.max_xrcd = le32_to_cpu(attr.max_xrcd),
		.max_wq = le32_to_cpu(attr.max_wq),
		.max_rwq_table = le32_to_cpu(attr.max_rwq_table),
		.max_rwq_table_size = min(le32_to_cpu(attr.max_rwq_table_size),
					  1U << MYNIC_RWQ_TABLE_MAX_LOG_SIZE),
		.max_mw = le32_to_cpu(attr.max_mw),
		.max_fast_reg_pages = min(le32_to_cpu(attr.max_fast_reg_pages),
					  MYNIC_MAX_FAST_REG_PAGES),
		.max_flow = le32_to_cpu(attr.max_flow),
		.max_tso = le32_to_cpu(attr.max_tso),
		.caps = le64_to_cpu(attr.caps),
		.null_lkey = le32_to_cpu(attr.null_lkey),
		.dm_size = min(le64_to_cpu(attr.dm_size), (u64)S32_MAX),
		.max_counters = le32_to_cpu(attr.max_counters),
		.max_rate_kbps = le32_to_cpu(attr.max_rate_kbps),
		.max_tags = le32_to_cpu(attr.max_tags),
		.max_tag_ops = min(le32_to_cpu(attr.max_tag_ops), 1U << 15),
		.max_rndv_hdr = le32_to_cpu(attr.max_rndv_hdr),
	};
	if (!caps->max_gid || !caps->max_cqe || !caps->max_qp_wr ||
	    !(caps->page_size_cap & PAGE_SIZE) || caps->max_eq < 2) {
		dev_err(&mdev->pdev->dev, "device has impossible limits\n");
		return -ENODEV;
	}
	return 0;
}

/**
 * mynic_cmd_query_port() - QUERY_PORT
 * @mdev: device
 * @ps: result
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_query_port(struct mynic_dev *mdev, struct mynic_port_state *ps)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_QUERY_PORT };
	struct mynic_port_attr attr;
	struct mynic_admin_cpl cpl;
	int ret;

	ret = mynic_cmd(mdev, &cmd, NULL, &attr, sizeof(attr), &cpl);
	if (ret)
		return ret;
	memcpy(ps->mac, attr.mac, ETH_ALEN);
	ps->link_up = attr.link_up;
	ps->speed_mbps = le32_to_cpu(attr.speed_mbps);
	ps->max_mtu = clamp(le32_to_cpu(attr.max_mtu), (u32)ETH_DATA_LEN,
			    (u32)ETH_MAX_MTU);
	return 0;
}

/**
 * mynic_cmd_modify_port() - MODIFY_PORT
 * @mdev: device
 * @up: administrative state
 * @mac: unicast MAC
 * @mtu: largest Ethernet payload
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_modify_port(struct mynic_dev *mdev, bool up, const u8 *mac,
			  u32 mtu)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_PORT,
		.modify_port = { .up = up, .mtu = cpu_to_le32(mtu) },
	};
	struct mynic_admin_cpl cpl;

	memcpy(cmd.modify_port.mac, mac, ETH_ALEN);
	return mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
}

static int mynic_cmd_stats(struct mynic_dev *mdev, struct mynic_admin_cmd *cmd,
			   u64 *values)
{
	__le64 raw[MYNIC_NUM_STATS];
	struct mynic_admin_cpl cpl;
	unsigned int i;
	int ret;

	ret = mynic_cmd(mdev, cmd, NULL, raw, sizeof(raw), &cpl);
	if (ret)
		return ret;
	for (i = 0; i < MYNIC_NUM_STATS; i++)
		values[i] = le64_to_cpu(raw[i]);
	return 0;
}

/**
 * mynic_cmd_query_stats() - QUERY_STATS
 * @mdev: device
 * @flags: MYNIC_STATS_*
 * @values: MYNIC_NUM_STATS results
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_query_stats(struct mynic_dev *mdev, u8 flags, u64 *values)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_QUERY_STATS,
		.flags = flags,
	};

	return mynic_cmd_stats(mdev, &cmd, values);
}

/**
 * mynic_cmd_set_gid() - SET_GID
 * @mdev: device
 * @index: entry of the GID table
 * @entry: what it is to hold
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_set_gid(struct mynic_dev *mdev, u32 index,
		      const struct mynic_set_gid *entry)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_SET_GID,
		.number = cpu_to_le32(index),
		.set_gid = *entry,
	};
	struct mynic_admin_cpl cpl;

	return mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
}

/**
 * mynic_cmd_set_rx() - SET_RX
 * @mdev: device
 * @qpn: RAW_PACKET QP
 * @flags: MYNIC_RX_*
 * @macs: addresses to receive, 8 bytes each; NULL if there are none
 * @num_macs: how many, at most MYNIC_RX_MAX_MACS
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_set_rx(struct mynic_dev *mdev, u32 qpn, u32 flags,
		     const void *macs, u32 num_macs)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_SET_RX,
		.number = cpu_to_le32(qpn),
		.set_rx = {
			.flags = cpu_to_le32(flags),
			.num_macs = cpu_to_le32(num_macs),
		},
	};
	struct mynic_admin_cpl cpl;

	return mynic_cmd(mdev, &cmd, macs, NULL, num_macs * 8, &cpl);
}

/**
 * mynic_cmd_create_eq() - CREATE_EQ
 * @mdev: device
 * @body: what to create
 * @eqn: its number
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_create_eq(struct mynic_dev *mdev,
			const struct mynic_create_eq *body, u32 *eqn)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_CREATE_EQ,
		.create_eq = *body,
	};

	return mynic_cmd_create(mdev, &cmd, NULL, 0, eqn);
}

/**
 * mynic_cmd_destroy_eq() - DESTROY_EQ
 * @mdev: device
 * @eqn: event queue
 */
void mynic_cmd_destroy_eq(struct mynic_dev *mdev, u32 eqn)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_EQ, eqn);
}

/**
 * mynic_cmd_alloc_pd() - ALLOC_PD
 * @mdev: device
 * @pdn: number of the new protection domain
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_alloc_pd(struct mynic_dev *mdev, u32 *pdn)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_ALLOC_PD };

	return mynic_cmd_create(mdev, &cmd, NULL, 0, pdn);
}

/**
 * mynic_cmd_dealloc_pd() - DEALLOC_PD
 * @mdev: device
 * @pdn: protection domain
 */
void mynic_cmd_dealloc_pd(struct mynic_dev *mdev, u32 pdn)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DEALLOC_PD, pdn);
}

/**
 * mynic_cmd_alloc_xrcd() - ALLOC_XRCD
 * @mdev: device
 * @xrcdn: number of the new XRC domain
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_alloc_xrcd(struct mynic_dev *mdev, u32 *xrcdn)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_ALLOC_XRCD };

	return mynic_cmd_create(mdev, &cmd, NULL, 0, xrcdn);
}

/**
 * mynic_cmd_dealloc_xrcd() - DEALLOC_XRCD
 * @mdev: device
 * @xrcdn: XRC domain
 */
void mynic_cmd_dealloc_xrcd(struct mynic_dev *mdev, u32 xrcdn)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DEALLOC_XRCD, xrcdn);
}

/**
 * mynic_cmd_create_mkey() - CREATE_MKEY
 * @mdev: device
 * @flags: MYNIC_MKEY_*
 * @body: what to create
 * @key: the new key
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_create_mkey(struct mynic_dev *mdev, u8 flags,
			  const struct mynic_create_mkey *body, u32 *key)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_CREATE_MKEY,
		.flags = flags,
		.create_mkey = *body,
	};

	return mynic_cmd_create(mdev, &cmd, NULL, 0, key);
}

/**
 * mynic_cmd_modify_mkey() - MODIFY_MKEY
 * @mdev: device
 * @key: the key; the command takes its index only
 * @body: what the region is to be
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_modify_mkey(struct mynic_dev *mdev, u32 key,
			  const struct mynic_create_mkey *body)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_MKEY,
		.number = cpu_to_le32(key >> 8),
		.create_mkey = *body,
	};
	struct mynic_admin_cpl cpl;

	return mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
}

/**
 * mynic_cmd_destroy_mkey() - DESTROY_MKEY of what no window can be bound to
 * @mdev: device
 * @key: the key; the command takes its index only
 */
void mynic_cmd_destroy_mkey(struct mynic_dev *mdev, u32 key)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_MKEY, key >> 8);
}

/**
 * mynic_cmd_sync_mkey() - SYNC_MKEY
 * @mdev: device
 * @key: a paged region's
 *
 * If the region is just being destroyed there may be none any more, and that is
 * as good. A device that does not do as told loses all its memory.
 */
void mynic_cmd_sync_mkey(struct mynic_dev *mdev, u32 key)
{
	int ret = mynic_cmd_number(mdev, MYNIC_CMD_SYNC_MKEY, key >> 8);

	if (ret && ret != -EINVAL)
		mynic_die(mdev, "it answers SYNC_MKEY %u with %pe", key >> 8,
			  ERR_PTR(ret));
}

/**
 * mynic_cmd_resume() - RESUME
 * @mdev: device
 * @qpn: queue pair that waits for a page
 * @stage: enum mynic_page_stage
 * @token: of the page fault
 * @failed: there is no such page
 *
 * It fails, to no harm, if the queue pair has been reset meanwhile.
 */
void mynic_cmd_resume(struct mynic_dev *mdev, u32 qpn, u8 stage, u32 token,
		      bool failed)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_RESUME,
		.number = cpu_to_le32(qpn),
		.resume = {
			.token = cpu_to_le32(token),
			.stage = stage,
			.failed = failed,
		},
	};
	struct mynic_admin_cpl cpl;

	mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
}

/**
 * mynic_cmd_alloc_dm() - ALLOC_DM
 * @mdev: device
 * @length: bytes
 * @log_align: log2 of the alignment in BAR2
 * @number: number of the memory
 * @offset: in BAR2
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_alloc_dm(struct mynic_dev *mdev, u64 length, u8 log_align,
		       u32 *number, u64 *offset)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_ALLOC_DM,
		.alloc_dm = {
			.length = cpu_to_le64(length),
			.log_align = log_align,
		},
	};
	u64 bar = pci_resource_len(mdev->pdev, MYNIC_BAR_UAR);
	struct mynic_admin_cpl cpl;
	int ret;

	ret = mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
	if (ret)
		return ret;
	*number = le32_to_cpu(cpl.number);
	*offset = le64_to_cpu(cpl.dm_place.offset);
	/* It is going to be mapped: nothing but memory may be there */
	if (!IS_ALIGNED(*offset, PAGE_SIZE) || *offset > bar ||
	    length > bar - *offset ||
	    *offset < (u64)mdev->caps.num_uar * MYNIC_UAR_SIZE) {
		mynic_die(mdev, "it answers ALLOC_DM with the offset %#llx",
			  *offset);
		return -EIO;
	}
	return 0;
}

/**
 * mynic_cmd_free_dm() - FREE_DM
 * @mdev: device
 * @number: device memory
 */
void mynic_cmd_free_dm(struct mynic_dev *mdev, u32 number)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_FREE_DM, number);
}

/**
 * mynic_cmd_query_mkey() - QUERY_MKEY
 * @mdev: device
 * @key: the key; the command takes its index only
 * @mbox: result
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_query_mkey(struct mynic_dev *mdev, u32 key,
			 struct mynic_query_mkey *mbox)
{
	return mynic_cmd_query(mdev, MYNIC_CMD_QUERY_MKEY, key >> 8, mbox,
			       sizeof(*mbox));
}

/**
 * mynic_cmd_destroy_region() - DESTROY_MKEY of a region
 * @mdev: device
 * @key: the key; the command takes its index only
 *
 * Requests of a process bind windows to its regions, even windows that it has
 * not been told of yet: nobody else knows whether one is bound.
 *
 * Return: 0, or -EBUSY if windows are bound to it.
 */
int mynic_cmd_destroy_region(struct mynic_dev *mdev, u32 key)
{
	int ret;

	ret = mynic_cmd_number(mdev, MYNIC_CMD_DESTROY_MKEY, key >> 8);
	if (ret && ret != -EBUSY) {
		mynic_die(mdev, "it answers DESTROY_MKEY %u with %pe", key >> 8,
			  ERR_PTR(ret));
		return 0;
	}
	return ret;
}

/**
 * mynic_cmd_create_cq() - CREATE_CQ
 * @mdev: device
 * @flags: MYNIC_CQ_*
 * @body: what to create
 * @cqn: its number
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_create_cq(struct mynic_dev *mdev, u8 flags,
			const struct mynic_create_cq *body, u32 *cqn)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_CREATE_CQ,
		.flags = flags,
		.create_cq = *body,
	};

	return mynic_cmd_create(mdev, &cmd, NULL, 0, cqn);
}

static int mynic_cmd_resize(struct mynic_dev *mdev, u8 opcode, u32 number,
			    const struct mynic_resize *body)
{
	struct mynic_admin_cmd cmd = {
		.opcode = opcode,
		.number = cpu_to_le32(number),
		.resize = *body,
	};
	struct mynic_admin_cpl cpl;

	return mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
}

/**
 * mynic_cmd_resize_cq() - RESIZE_CQ
 * @mdev: device
 * @cqn: completion queue
 * @body: where it is to go on
 *
 * Return: 0; -EINVAL if there are more entries than will fit; or another
 * errno.
 */
int mynic_cmd_resize_cq(struct mynic_dev *mdev, u32 cqn,
			const struct mynic_resize *body)
{
	return mynic_cmd_resize(mdev, MYNIC_CMD_RESIZE_CQ, cqn, body);
}

/**
 * mynic_cmd_modify_cq() - MODIFY_CQ
 * @mdev: device
 * @cqn: completion queue
 * @count: entries that an event waits for
 * @period: microseconds that it waits at most
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_modify_cq(struct mynic_dev *mdev, u32 cqn, u16 count, u16 period)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_CQ,
		.number = cpu_to_le32(cqn),
		.modify_cq = {
			.count = cpu_to_le16(count),
			.period = cpu_to_le16(period),
		},
	};
	struct mynic_admin_cpl cpl;

	return mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
}

/**
 * mynic_cmd_destroy_cq() - DESTROY_CQ
 * @mdev: device
 * @cqn: completion queue
 */
void mynic_cmd_destroy_cq(struct mynic_dev *mdev, u32 cqn)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_CQ, cqn);
}

/**
 * mynic_cmd_query_cq() - QUERY_CQ
 * @mdev: device
 * @cqn: completion queue
 * @mbox: result
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_query_cq(struct mynic_dev *mdev, u32 cqn,
		       struct mynic_query_cq *mbox)
{
	return mynic_cmd_query(mdev, MYNIC_CMD_QUERY_CQ, cqn, mbox,
			       sizeof(*mbox));
}

/**
 * mynic_cmd_create_srq() - CREATE_SRQ
 * @mdev: device
 * @mbox: what to create
 * @srqn: its number
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_create_srq(struct mynic_dev *mdev,
			 const struct mynic_create_srq *mbox, u32 *srqn)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_SRQ };

	return mynic_cmd_create(mdev, &cmd, mbox, sizeof(*mbox), srqn);
}

/**
 * mynic_cmd_modify_srq() - MODIFY_SRQ
 * @mdev: device
 * @srqn: shared receive queue
 * @limit: entries below which the limit event is sent
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_modify_srq(struct mynic_dev *mdev, u32 srqn, u32 limit)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_SRQ,
		.number = cpu_to_le32(srqn),
		.modify_srq.limit = cpu_to_le32(limit),
	};
	struct mynic_admin_cpl cpl;

	return mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
}

/**
 * mynic_cmd_resize_srq() - RESIZE_SRQ
 * @mdev: device
 * @srqn: shared receive queue
 * @body: where it is to go on
 *
 * Return: 0; -EINVAL if there are more entries than will fit; or another
 * errno.
 */
int mynic_cmd_resize_srq(struct mynic_dev *mdev, u32 srqn,
			 const struct mynic_resize *body)
{
	return mynic_cmd_resize(mdev, MYNIC_CMD_RESIZE_SRQ, srqn, body);
}

/**
 * mynic_cmd_query_srq() - QUERY_SRQ
 * @mdev: device
 * @srqn: shared receive queue
 * @body: result
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_query_srq(struct mynic_dev *mdev, u32 srqn,
			struct mynic_query_srq *body)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_QUERY_SRQ,
		.number = cpu_to_le32(srqn),
	};
	struct mynic_admin_cpl cpl;
	int ret;

	ret = mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
	if (!ret)
		*body = cpl.query_srq;
	return ret;
}

/**
 * mynic_cmd_destroy_srq() - DESTROY_SRQ
 * @mdev: device
 * @srqn: shared receive queue
 */
void mynic_cmd_destroy_srq(struct mynic_dev *mdev, u32 srqn)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_SRQ, srqn);
}

/**
 * mynic_cmd_create_qp() - CREATE_QP
 * @mdev: device
 * @mbox: what to create
 * @qpn: its number
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_create_qp(struct mynic_dev *mdev,
			const struct mynic_create_qp *mbox, u32 *qpn)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_QP };

	return mynic_cmd_create(mdev, &cmd, mbox, sizeof(*mbox), qpn);
}

/**
 * mynic_cmd_modify_qp() - MODIFY_QP
 * @mdev: device
 * @qpn: queue pair
 * @mbox: attributes, and which of them count
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_modify_qp(struct mynic_dev *mdev, u32 qpn,
			const struct mynic_qp_attr *mbox)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_QP,
		.number = cpu_to_le32(qpn),
	};
	struct mynic_admin_cpl cpl;

	return mynic_cmd(mdev, &cmd, mbox, NULL, sizeof(*mbox), &cpl);
}

/**
 * mynic_cmd_query_qp() - QUERY_QP
 * @mdev: device
 * @qpn: queue pair
 * @mbox: result
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_query_qp(struct mynic_dev *mdev, u32 qpn,
		       struct mynic_qp_attr *mbox)
{
	return mynic_cmd_query(mdev, MYNIC_CMD_QUERY_QP, qpn, mbox,
			       sizeof(*mbox));
}

/**
 * mynic_cmd_destroy_qp() - DESTROY_QP
 * @mdev: device
 * @qpn: queue pair
 */
void mynic_cmd_destroy_qp(struct mynic_dev *mdev, u32 qpn)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_QP, qpn);
}

static int mynic_cmd_mcast(struct mynic_dev *mdev, u8 opcode, u32 qpn,
			   const union ib_gid *gid)
{
	struct mynic_admin_cmd cmd = {
		.opcode = opcode,
		.number = cpu_to_le32(qpn),
	};
	struct mynic_admin_cpl cpl;

	memcpy(cmd.mcast.gid, gid->raw, sizeof(cmd.mcast.gid));
	return mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
}

/**
 * mynic_cmd_attach_mcast() - ATTACH_MCAST
 * @mdev: device
 * @qpn: UD QP
 * @gid: multicast group
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_attach_mcast(struct mynic_dev *mdev, u32 qpn,
			   const union ib_gid *gid)
{
	return mynic_cmd_mcast(mdev, MYNIC_CMD_ATTACH_MCAST, qpn, gid);
}

/**
 * mynic_cmd_detach_mcast() - DETACH_MCAST
 * @mdev: device
 * @qpn: UD QP
 * @gid: multicast group
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_detach_mcast(struct mynic_dev *mdev, u32 qpn,
			   const union ib_gid *gid)
{
	return mynic_cmd_mcast(mdev, MYNIC_CMD_DETACH_MCAST, qpn, gid);
}

/**
 * mynic_cmd_create_flow() - CREATE_FLOW
 * @mdev: device
 * @body: what to create
 * @specs: num_specs of them
 * @number: its number
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_create_flow(struct mynic_dev *mdev,
			  const struct mynic_create_flow *body,
			  const struct mynic_flow_spec *specs, u32 *number)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_CREATE_FLOW,
		.create_flow = *body,
	};

	return mynic_cmd_create(mdev, &cmd, specs,
				body->num_specs * sizeof(*specs), number);
}

/**
 * mynic_cmd_destroy_flow() - DESTROY_FLOW
 * @mdev: device
 * @number: flow rule
 */
void mynic_cmd_destroy_flow(struct mynic_dev *mdev, u32 number)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_FLOW, number);
}

/**
 * mynic_cmd_create_wq() - CREATE_WQ
 * @mdev: device
 * @mbox: what to create
 * @wqn: its number
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_create_wq(struct mynic_dev *mdev,
			const struct mynic_create_wq *mbox, u32 *wqn)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_WQ };

	return mynic_cmd_create(mdev, &cmd, mbox, sizeof(*mbox), wqn);
}

/**
 * mynic_cmd_modify_wq() - MODIFY_WQ
 * @mdev: device
 * @wqn: work queue
 * @body: attributes, and which of them count
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_modify_wq(struct mynic_dev *mdev, u32 wqn,
			const struct mynic_modify_wq *body)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_WQ,
		.number = cpu_to_le32(wqn),
		.modify_wq = *body,
	};
	struct mynic_admin_cpl cpl;

	return mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
}

/**
 * mynic_cmd_destroy_wq() - DESTROY_WQ
 * @mdev: device
 * @wqn: work queue
 */
void mynic_cmd_destroy_wq(struct mynic_dev *mdev, u32 wqn)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_WQ, wqn);
}

/**
 * mynic_cmd_create_rwq_table() - CREATE_RWQ_TABLE
 * @mdev: device
 * @log_size: log2 of the number of WQs
 * @wqns: the WQs
 * @number: number of the new table
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_create_rwq_table(struct mynic_dev *mdev, u8 log_size,
			       const __le32 *wqns, u32 *number)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_CREATE_RWQ_TABLE,
		.create_rwq_table.log_size = log_size,
	};

	return mynic_cmd_create(mdev, &cmd, wqns, sizeof(*wqns) << log_size,
				number);
}

/**
 * mynic_cmd_destroy_rwq_table() - DESTROY_RWQ_TABLE
 * @mdev: device
 * @number: receive WQ table
 */
void mynic_cmd_destroy_rwq_table(struct mynic_dev *mdev, u32 number)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_RWQ_TABLE, number);
}

/**
 * mynic_cmd_create_counters() - CREATE_COUNTERS
 * @mdev: device
 * @number: number of the new set
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_create_counters(struct mynic_dev *mdev, u32 *number)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_COUNTERS };

	return mynic_cmd_create(mdev, &cmd, NULL, 0, number);
}

/**
 * mynic_cmd_destroy_counters() - DESTROY_COUNTERS
 * @mdev: device
 * @number: set of counters
 */
void mynic_cmd_destroy_counters(struct mynic_dev *mdev, u32 number)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_COUNTERS, number);
}

/**
 * mynic_cmd_query_counters() - QUERY_COUNTERS
 * @mdev: device
 * @number: set of counters
 * @values: MYNIC_NUM_STATS results
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_query_counters(struct mynic_dev *mdev, u32 number, u64 *values)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_QUERY_COUNTERS,
		.number = cpu_to_le32(number),
	};

	return mynic_cmd_stats(mdev, &cmd, values);
}

/**
 * mynic_cmd_bind_counters() - BIND_COUNTERS
 * @mdev: device
 * @qpn: queue pair
 * @number: set of counters; 0: none
 *
 * Return: 0 or an errno.
 */
int mynic_cmd_bind_counters(struct mynic_dev *mdev, u32 qpn, u32 number)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_BIND_COUNTERS,
		.number = cpu_to_le32(qpn),
		.bind_counters.counters = cpu_to_le32(number),
	};
	struct mynic_admin_cpl cpl;

	return mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
}
