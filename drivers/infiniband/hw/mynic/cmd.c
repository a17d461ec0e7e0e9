// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A typed function for each admin command. They convert byte order and check
 * what the device returns, and leave policy to their callers. All may sleep.
 */
#include "cmd.h"
#include "mynic_names.h"

/*
 * Page sizes of the device. Consumers register pages of 4096 bytes even if the
 * kernel's pages are larger.
 */
#define MYNIC_PAGE_SIZES \
	GENMASK_ULL(MYNIC_MAX_LOG_PAGE_SIZE, MYNIC_MIN_LOG_PAGE_SIZE)

static_assert(MYNIC_PAGE_SIZES & SZ_4K);

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
		mynic_fail_device(mdev, "it answers %s with the number %#x",
				  mynic_cmd_name(cmd->opcode), *number);
		return -EIO;
	}
	return 0;
}

/*
 * Destruction cannot fail while device and driver agree about existing objects:
 * the RDMA core destroys only objects that are not used. The exception is
 * mynic_cmd_destroy_region(). If they disagree, a reset is needed, which also
 * keeps the device from using the object's memory.
 */
static void mynic_cmd_destroy(struct mynic_dev *mdev, u8 opcode, u32 number)
{
	int ret = mynic_cmd_number(mdev, opcode, number);

	if (ret)
		mynic_fail_device(mdev, "it answers %s %u with %pe",
				  mynic_cmd_name(opcode), number, ERR_PTR(ret));
}

/* @clock becomes the time of the device's clock, or 0 if it does not tell. */
int mynic_cmd_nop(struct mynic_dev *mdev, u64 *clock)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_NOP };
	struct mynic_admin_cpl cpl;
	int ret;

	ret = mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
	*clock = ret ? 0 : le64_to_cpu(cpl.nop.clock);
	return ret;
}

/* Limits are cut down to what the layouts, or the BAR, can express. */
static struct mynic_caps mynic_caps_of(const struct mynic_device_attr *attr,
				       u32 uars)
{
	return (struct mynic_caps){
		.fw_ver = le64_to_cpu(attr->fw_ver),
		.node_guid = attr->node_guid,
		.max_mr_size = le64_to_cpu(attr->max_mr_size),
		.page_size_cap = le64_to_cpu(attr->page_size_cap) &
				 MYNIC_PAGE_SIZES,
		.max_qp = le32_to_cpu(attr->max_qp),
		.max_qp_wr = min(le32_to_cpu(attr->max_qp_wr), 1U << 15),
		.max_cq = le32_to_cpu(attr->max_cq),
		.max_cqe = min(le32_to_cpu(attr->max_cqe), 1U << 22),
		.max_mkey = le32_to_cpu(attr->max_mkey),
		.max_pd = le32_to_cpu(attr->max_pd),
		.max_srq = le32_to_cpu(attr->max_srq),
		.max_srq_wr = min(le32_to_cpu(attr->max_srq_wr), 1U << 15),
		.max_rd_atomic = min(le32_to_cpu(attr->max_rd_atomic), 255U),
		.max_mcast_grp = le32_to_cpu(attr->max_mcast_grp),
		.max_mcast_qp_attach = le32_to_cpu(attr->max_mcast_qp_attach),
		.max_gid = min(le32_to_cpu(attr->max_gid), MYNIC_MAX_GIDS),
		.num_uar = min(le32_to_cpu(attr->num_uar), uars),
		.max_eq = le32_to_cpu(attr->max_eq),
		.dma_lkey = le32_to_cpu(attr->dma_lkey),
		.clock_khz = le32_to_cpu(attr->clock_khz),
		.max_xrcd = le32_to_cpu(attr->max_xrcd),
		.max_wq = le32_to_cpu(attr->max_wq),
		.max_rwq_table = le32_to_cpu(attr->max_rwq_table),
		.max_rwq_table_size = min(le32_to_cpu(attr->max_rwq_table_size),
					  1U << MYNIC_RWQ_TABLE_MAX_LOG_SIZE),
		.max_mw = le32_to_cpu(attr->max_mw),
		.max_fast_reg_pages = min(le32_to_cpu(attr->max_fast_reg_pages),
					  MYNIC_MAX_FAST_REG_PAGES),
		.max_flow = le32_to_cpu(attr->max_flow),
		.max_tso = le32_to_cpu(attr->max_tso),
		.caps = le64_to_cpu(attr->caps),
		.null_lkey = le32_to_cpu(attr->null_lkey),
		.dm_size = min(le64_to_cpu(attr->dm_size), (u64)S32_MAX),
		.max_counters = le32_to_cpu(attr->max_counters),
		.max_rate_kbps = le32_to_cpu(attr->max_rate_kbps),
		.max_tags = le32_to_cpu(attr->max_tags),
		.max_tag_ops = min(le32_to_cpu(attr->max_tag_ops), 1U << 15),
		.max_rndv_hdr = le32_to_cpu(attr->max_rndv_hdr),
		.max_comp_cntr = le32_to_cpu(attr->max_comp_cntr),
	};
}

/* -ENODEV: the driver cannot use this device. */
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
	*caps = mynic_caps_of(&attr, uars);
	if (!caps->max_gid || !caps->max_cqe || !caps->max_qp_wr ||
	    !(caps->page_size_cap & PAGE_SIZE) || caps->max_eq < 2) {
		dev_err(&mdev->pdev->dev, "device has impossible limits\n");
		return -ENODEV;
	}
	return 0;
}

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

int mynic_cmd_query_stats(struct mynic_dev *mdev, u8 flags, u64 *values)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_QUERY_STATS,
		.flags = flags,
	};

	return mynic_cmd_stats(mdev, &cmd, values);
}

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

/* @macs has 8 bytes for each address. */
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

int mynic_cmd_create_eq(struct mynic_dev *mdev,
			const struct mynic_create_eq *body, u32 *eqn)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_CREATE_EQ,
		.create_eq = *body,
	};

	return mynic_cmd_create(mdev, &cmd, NULL, 0, eqn);
}

void mynic_cmd_destroy_eq(struct mynic_dev *mdev, u32 eqn)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_EQ, eqn);
}

int mynic_cmd_alloc_pd(struct mynic_dev *mdev, u32 *pdn)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_ALLOC_PD };

	return mynic_cmd_create(mdev, &cmd, NULL, 0, pdn);
}

void mynic_cmd_dealloc_pd(struct mynic_dev *mdev, u32 pdn)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DEALLOC_PD, pdn);
}

int mynic_cmd_alloc_xrcd(struct mynic_dev *mdev, u32 *xrcdn)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_ALLOC_XRCD };

	return mynic_cmd_create(mdev, &cmd, NULL, 0, xrcdn);
}

void mynic_cmd_dealloc_xrcd(struct mynic_dev *mdev, u32 xrcdn)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DEALLOC_XRCD, xrcdn);
}

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

/* The device takes only the index from @key. */
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

/*
 * Destroy a key to which no window can be bound. The device takes only the
 * index from @key.
 */
void mynic_cmd_destroy_mkey(struct mynic_dev *mdev, u32 key)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_MKEY, key >> 8);
}

/*
 * An error is ignored if the ODP region has just been destroyed. With any other
 * error the device is declared dead, as it must no longer access the memory.
 */
void mynic_cmd_sync_mkey(struct mynic_dev *mdev, u32 key)
{
	int ret = mynic_cmd_number(mdev, MYNIC_CMD_SYNC_MKEY, key >> 8);

	if (ret && ret != -EINVAL)
		mynic_fail_device(mdev, "it answers SYNC_MKEY %u with %pe",
				  key >> 8, ERR_PTR(ret));
}

/* This may fail, harmlessly, if the queue pair has been reset meanwhile. */
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
 * @offset: offset in BAR2, which has been checked
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
	/*
	 * Processes will map it, so refuse ranges that are not device memory.
	 */
	if (!IS_ALIGNED(*offset, PAGE_SIZE) || *offset > bar ||
	    length > bar - *offset ||
	    *offset < (u64)mdev->caps.num_uar * MYNIC_UAR_SIZE) {
		mynic_fail_device(mdev,
				  "it answers ALLOC_DM with the offset %#llx",
				  *offset);
		return -EIO;
	}
	return 0;
}

void mynic_cmd_free_dm(struct mynic_dev *mdev, u32 number)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_FREE_DM, number);
}

/* The device takes only the index from @key. */
int mynic_cmd_query_mkey(struct mynic_dev *mdev, u32 key,
			 struct mynic_query_mkey *mbox)
{
	return mynic_cmd_query(mdev, MYNIC_CMD_QUERY_MKEY, key >> 8, mbox,
			       sizeof(*mbox));
}

/*
 * Processes bind windows by requests, so only the device knows whether any are
 * bound to a region. -EBUSY: there are. The device takes only the index from
 * @key.
 */
int mynic_cmd_destroy_region(struct mynic_dev *mdev, u32 key)
{
	int ret;

	ret = mynic_cmd_number(mdev, MYNIC_CMD_DESTROY_MKEY, key >> 8);
	if (ret && ret != -EBUSY) {
		mynic_fail_device(mdev, "it answers DESTROY_MKEY %u with %pe",
				  key >> 8, ERR_PTR(ret));
		return 0;
	}
	return ret;
}

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

/* -EINVAL: the CQ has more entries than fit. */
int mynic_cmd_resize_cq(struct mynic_dev *mdev, u32 cqn,
			const struct mynic_resize *body)
{
	return mynic_cmd_resize(mdev, MYNIC_CMD_RESIZE_CQ, cqn, body);
}

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

void mynic_cmd_destroy_cq(struct mynic_dev *mdev, u32 cqn)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_CQ, cqn);
}

int mynic_cmd_query_cq(struct mynic_dev *mdev, u32 cqn,
		       struct mynic_query_cq *mbox)
{
	return mynic_cmd_query(mdev, MYNIC_CMD_QUERY_CQ, cqn, mbox,
			       sizeof(*mbox));
}

int mynic_cmd_create_srq(struct mynic_dev *mdev,
			 const struct mynic_create_srq *mbox, u32 *srqn)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_SRQ };

	return mynic_cmd_create(mdev, &cmd, mbox, sizeof(*mbox), srqn);
}

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

/* -EINVAL: the SRQ has more entries than fit. */
int mynic_cmd_resize_srq(struct mynic_dev *mdev, u32 srqn,
			 const struct mynic_resize *body)
{
	return mynic_cmd_resize(mdev, MYNIC_CMD_RESIZE_SRQ, srqn, body);
}

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

void mynic_cmd_destroy_srq(struct mynic_dev *mdev, u32 srqn)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_SRQ, srqn);
}

int mynic_cmd_create_qp(struct mynic_dev *mdev,
			const struct mynic_create_qp *mbox, u32 *qpn)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_QP };

	return mynic_cmd_create(mdev, &cmd, mbox, sizeof(*mbox), qpn);
}

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

int mynic_cmd_query_qp(struct mynic_dev *mdev, u32 qpn,
		       struct mynic_qp_attr *mbox)
{
	return mynic_cmd_query(mdev, MYNIC_CMD_QUERY_QP, qpn, mbox,
			       sizeof(*mbox));
}

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

int mynic_cmd_attach_mcast(struct mynic_dev *mdev, u32 qpn,
			   const union ib_gid *gid)
{
	return mynic_cmd_mcast(mdev, MYNIC_CMD_ATTACH_MCAST, qpn, gid);
}

int mynic_cmd_detach_mcast(struct mynic_dev *mdev, u32 qpn,
			   const union ib_gid *gid)
{
	return mynic_cmd_mcast(mdev, MYNIC_CMD_DETACH_MCAST, qpn, gid);
}

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

void mynic_cmd_destroy_flow(struct mynic_dev *mdev, u32 number)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_FLOW, number);
}

int mynic_cmd_create_wq(struct mynic_dev *mdev,
			const struct mynic_create_wq *mbox, u32 *wqn)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_WQ };

	return mynic_cmd_create(mdev, &cmd, mbox, sizeof(*mbox), wqn);
}

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

void mynic_cmd_destroy_wq(struct mynic_dev *mdev, u32 wqn)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_WQ, wqn);
}

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

void mynic_cmd_destroy_rwq_table(struct mynic_dev *mdev, u32 number)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_RWQ_TABLE, number);
}

int mynic_cmd_create_counters(struct mynic_dev *mdev, u32 *number)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_COUNTERS };

	return mynic_cmd_create(mdev, &cmd, NULL, 0, number);
}

void mynic_cmd_destroy_counters(struct mynic_dev *mdev, u32 number)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_COUNTERS, number);
}

int mynic_cmd_query_counters(struct mynic_dev *mdev, u32 number, u64 *values)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_QUERY_COUNTERS,
		.number = cpu_to_le32(number),
	};

	return mynic_cmd_stats(mdev, &cmd, values);
}

/* @number 0 unbinds. */
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

int mynic_cmd_create_comp_cntr(struct mynic_dev *mdev, dma_addr_t addr,
			       u32 *number)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_CREATE_COMP_CNTR,
		.create_comp_cntr.addr = cpu_to_le64(addr),
	};

	return mynic_cmd_create(mdev, &cmd, NULL, 0, number);
}

void mynic_cmd_destroy_comp_cntr(struct mynic_dev *mdev, u32 number)
{
	mynic_cmd_destroy(mdev, MYNIC_CMD_DESTROY_COMP_CNTR, number);
}

/*
 * @entry: MYNIC_COMP_CNTR_COMPLETIONS or MYNIC_COMP_CNTR_ERRORS; @op:
 * MYNIC_COMP_CNTR_SET or MYNIC_COMP_CNTR_ADD
 */
int mynic_cmd_modify_comp_cntr(struct mynic_dev *mdev, u32 number, u8 entry,
			       u8 op, u64 value)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_COMP_CNTR,
		.number = cpu_to_le32(number),
		.modify_comp_cntr = {
			.value = cpu_to_le64(value),
			.entry = entry,
			.op = op,
		},
	};
	struct mynic_admin_cpl cpl;

	return mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
}

/* @operations: MYNIC_COMP_CNTR_SEND and so on */
int mynic_cmd_attach_comp_cntr(struct mynic_dev *mdev, u32 qpn, u32 number,
			       u32 operations)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_ATTACH_COMP_CNTR,
		.number = cpu_to_le32(qpn),
		.attach_comp_cntr = {
			.comp_cntr = cpu_to_le32(number),
			.operations = cpu_to_le32(operations),
		},
	};
	struct mynic_admin_cpl cpl;

	return mynic_cmd(mdev, &cmd, NULL, NULL, 0, &cpl);
}
