// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The driver and provider for tests: bring-up, commands, queues and
 * connections. They are trusting: only tests check results.
 */
#include "harness_driver.h"

#define ADMIN_LOG_SIZE 4
#define EQ_LOG_SIZE 8
#define PORT_MTU 9000

#define ALIGN(value, size) (((value) + (size) - 1) & ~((size) - 1))

/* First address of memory regions, which differs from the DMA address */
#define MR_ADDR 0x7f0000000000ull

void drv_gid(unsigned int nic, unsigned int index, uint8_t gid[16])
{
	memset(gid, 0, 16);
	if (index == DRV_GID_IPV6) {
		gid[0] = 0xfe;
		gid[1] = 0x80;
	} else {
		gid[10] = 0xff;
		gid[11] = 0xff;
		gid[12] = 10;
	}
	gid[15] = nic + 1;
}

void drv_reset(struct sim_nic *n)
{
	sim_write32(n, MYNIC_REG_CONTROL, MYNIC_CONTROL_RESET);
	SIM_WAIT(n->sim, sim_read32(n, MYNIC_REG_STATUS) == MYNIC_STATUS_READY);
}

static void write64(struct sim_nic *n, unsigned int reg, uint64_t value)
{
	sim_write32(n, reg, value);
	sim_write32(n, reg + 4, value >> 32);
}

uint64_t drv_features;

struct drv *drv_enable(struct sim_nic *n, uint8_t aq_log_size)
{
	struct drv *d = tap_alloc(sizeof(*d));
	size_t size = 64ul << aq_log_size;

	d->sim = n->sim;
	d->n = n;
	d->levels = 1;
	d->aq_log_size = aq_log_size;
	d->cmd = sim_alloc(n, size, 64);
	d->cpl = sim_alloc(n, size, 64);
	d->mbox = sim_alloc(n, MYNIC_MBOX_SIZE, MYNIC_MBOX_SIZE);
	drv_reset(n);
	d->features = drv_features;
	write64(n, MYNIC_REG_DRV_FEATURES_LO, d->features);
	write64(n, MYNIC_REG_AQ_CMD_LO, sim_iova(n, d->cmd));
	write64(n, MYNIC_REG_AQ_CPL_LO, sim_iova(n, d->cpl));
	sim_write32(n, MYNIC_REG_AQ_LOG_SIZE, aq_log_size);
	sim_write32(n, MYNIC_REG_CONTROL, MYNIC_CONTROL_ENABLE);
	SIM_WAIT(n->sim,
		 sim_read32(n, MYNIC_REG_STATUS) & MYNIC_STATUS_ENABLED);
	return d;
}

struct drv *drv_up(struct sim_nic *n)
{
	struct drv *d = drv_enable(n, ADMIN_LOG_SIZE);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_QUERY_DEVICE };

	CHECK_EQ(drv_admin_out(d, &cmd, &d->attr, sizeof(d->attr)), 0);
	CHECK_EQ(drv_create_eq(d, &d->event, EQ_LOG_SIZE, 0, true), 0);
	CHECK_EQ(drv_create_eq(d, &d->comp, EQ_LOG_SIZE, 1, false), 0);
	for (unsigned int i = 0; i < 2; i++) {
		cmd = (struct mynic_admin_cmd){ .opcode = MYNIC_CMD_SET_GID,
						.number = i };
		drv_gid(n->index, i, cmd.set_gid.gid);
		memcpy(cmd.set_gid.mac, nic_mac(n->nic), 6);
		cmd.set_gid.vlan = MYNIC_NO_VLAN;
		CHECK_EQ(drv_admin(d, &cmd, NULL), 0);
	}
	cmd = (struct mynic_admin_cmd){ .opcode = MYNIC_CMD_MODIFY_PORT };
	cmd.modify_port.up = 1;
	cmd.modify_port.mtu = PORT_MTU;
	memcpy(cmd.modify_port.mac, nic_mac(n->nic), 6);
	CHECK_EQ(drv_admin(d, &cmd, NULL), 0);
	return d;
}

struct drv *drv_one(void)
{
	return drv_up(&sim_new(1)->nics[0]);
}

uint16_t drv_admin_post(struct drv *d, struct mynic_admin_cmd *cmd)
{
	uint32_t slot = d->aq_pi & ((1u << d->aq_log_size) - 1);

	cmd->id = 0x4000 ^ d->aq_pi;
	d->cmd[slot] = *cmd;
	d->aq_pi++;
	return cmd->id;
}

void drv_admin_ring(struct drv *d)
{
	sim_write32(d->n, MYNIC_REG_AQ_DOORBELL, d->aq_pi);
}

bool drv_admin_poll(struct drv *d, struct mynic_admin_cpl *cpl)
{
	uint32_t slot = d->aq_ci & ((1u << d->aq_log_size) - 1);
	uint8_t phase = !(d->aq_ci >> d->aq_log_size & 1);

	if ((d->cpl[slot].phase & 1) != phase)
		return false;
	*cpl = d->cpl[slot];
	d->aq_ci++;
	return true;
}

uint8_t drv_admin(struct drv *d, struct mynic_admin_cmd *cmd,
		  struct mynic_admin_cpl *cpl)
{
	struct mynic_admin_cpl mine;

	if (!cpl)
		cpl = &mine;
	drv_admin_post(d, cmd);
	drv_admin_ring(d);
	SIM_WAIT(d->sim, drv_admin_poll(d, cpl));
	CHECK_EQ(cpl->id, cmd->id);
	CHECK_EQ(cpl->opcode, cmd->opcode);
	if (cpl->status)
		CHECK_EQ(cpl->number, 0);
	return cpl->status;
}

uint8_t drv_admin_in(struct drv *d, struct mynic_admin_cmd *cmd,
		     struct mynic_admin_cpl *cpl, const void *mbox, size_t len)
{
	memcpy(d->mbox, mbox, len);
	cmd->mbox_addr = sim_iova(d->n, d->mbox);
	cmd->mbox_len = len;
	return drv_admin(d, cmd, cpl);
}

uint8_t drv_admin_out(struct drv *d, struct mynic_admin_cmd *cmd, void *mbox,
		      size_t len)
{
	uint8_t status;

	/* the device must overwrite all of it */
	memset(d->mbox, 0xa5, MYNIC_MBOX_SIZE);
	cmd->mbox_addr = sim_iova(d->n, d->mbox);
	cmd->mbox_len = len;
	status = drv_admin(d, cmd, NULL);
	memcpy(mbox, d->mbox, len);
	return status;
}

uint8_t drv_number_cmd(struct drv *d, uint8_t opcode, uint32_t number)
{
	struct mynic_admin_cmd cmd = { .opcode = opcode, .number = number };

	return drv_admin(d, &cmd, NULL);
}

bool drv_has_link(struct drv *d)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_QUERY_PORT };
	struct mynic_port_attr attr;

	CHECK_EQ(drv_admin_out(d, &cmd, &attr, sizeof(attr)), MYNIC_AQ_OK);
	return attr.link_up;
}

uint8_t drv_mcast(struct drv_qp *qp, uint8_t opcode, const uint8_t gid[16])
{
	struct mynic_admin_cmd cmd = { .opcode = opcode, .number = qp->number };

	memcpy(cmd.mcast.gid, gid, 16);
	return drv_admin(qp->d, &cmd, NULL);
}

uint64_t drv_stat(struct drv *d, enum mynic_stat stat)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_QUERY_STATS };
	uint64_t stats[MYNIC_NUM_STATS];

	CHECK_EQ(drv_admin_out(d, &cmd, stats, sizeof(stats)), 0);
	return stats[stat];
}

struct mynic_buf drv_page_list(struct drv *d, const uint64_t *page,
			       unsigned int num, unsigned int log_page,
			       unsigned int levels)
{
	const unsigned int per_list = 4096 / sizeof(uint64_t);
	unsigned int lists = (num + per_list - 1) / per_list;
	uint64_t *list, *top;
	struct mynic_buf desc = {
		.levels = levels,
		.log_page_size = log_page,
	};

	if (levels == 1) {
		list = sim_alloc(d->n, num * sizeof(*list), 8);
		memcpy(list, page, num * sizeof(*list));
		desc.addr = sim_iova(d->n, list);
		return desc;
	}
	top = sim_alloc(d->n, lists * sizeof(*top), 8);
	for (unsigned int i = 0; i < lists; i++) {
		unsigned int left = num - i * per_list;

		list = sim_alloc(d->n, 4096, 4096);
		memcpy(list, page + i * per_list,
		       (left < per_list ? left : per_list) * sizeof(*list));
		top[i] = sim_iova(d->n, list);
	}
	desc.addr = sim_iova(d->n, top);
	desc.log_list_size = 12;
	return desc;
}

void drv_buf_init(struct drv *d, struct drv_buf *buf, size_t size)
{
	uint64_t iova[DRV_MAX_PAGES];
	unsigned int num = (size + DRV_PAGE - 1) / DRV_PAGE;
	uint8_t *mem = sim_alloc(d->n, (size_t)num * DRV_PAGE, DRV_PAGE);

	CHECK(num <= DRV_MAX_PAGES);
	buf->num_pages = num;
	for (unsigned int i = 0; i < num; i++) {
		/* in reverse order, so that no two pages are adjacent */
		unsigned int at = d->levels ? num - 1 - i : i;

		buf->page[i] = mem + (size_t)at * DRV_PAGE;
		iova[i] = sim_iova(d->n, buf->page[i]);
	}
	if (d->levels)
		buf->desc = drv_page_list(d, iova, num, 12, d->levels);
	else
		buf->desc = (struct mynic_buf){ .addr = sim_iova(d->n, mem) };
}

void *drv_buf_at(const struct drv_buf *buf, size_t offset)
{
	CHECK(offset / DRV_PAGE < buf->num_pages);
	return buf->page[offset / DRV_PAGE] + offset % DRV_PAGE;
}

uint8_t drv_create_eq(struct drv *d, struct drv_eq *eq, uint8_t log_size,
		      uint16_t vector, bool async)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_EQ };
	struct mynic_admin_cpl cpl;
	size_t ring =
		ALIGN(sizeof(struct mynic_eqe) << log_size, sizeof(*eq->rec));
	uint8_t status;

	*eq = (struct drv_eq){ .d = d, .log_size = log_size };
	drv_buf_init(d, &eq->buf, ring + sizeof(*eq->rec));
	eq->rec = drv_buf_at(&eq->buf, ring);
	cmd.create_eq.buf = eq->buf.desc;
	cmd.create_eq.dbrec_offset = ring;
	cmd.create_eq.vector = vector;
	cmd.create_eq.log_size = log_size;
	cmd.create_eq.async = async;
	status = drv_admin(d, &cmd, &cpl);
	eq->number = cpl.number;
	return status;
}

bool drv_eq_poll(struct drv_eq *eq, struct mynic_eqe *eqe)
{
	uint32_t slot = eq->ci & ((1u << eq->log_size) - 1);
	struct mynic_eqe *e = drv_buf_at(&eq->buf, slot * sizeof(*e));

	if ((e->phase & 1) == (eq->ci >> eq->log_size & 1))
		return false;
	*eqe = *e;
	eq->ci++;
	return true;
}

void drv_eq_ring(struct drv_eq *eq)
{
	sim_doorbell(eq->d->n, 0, MYNIC_UAR_EQ_DB, eq->number, 0);
}

void drv_eq_release(struct drv_eq *eq)
{
	__atomic_store_n(&eq->rec->ci, eq->ci, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (eq->rec->ring)
		drv_eq_ring(eq);
}

void drv_expect_event(struct drv_eq *eq, enum mynic_event type, uint32_t number)
{
	struct mynic_eqe eqe;

	SIM_WAIT(eq->d->sim, drv_eq_poll(eq, &eqe));
	CHECK_EQ(eqe.type, type);
	CHECK_EQ(eqe.number, number);
	drv_eq_release(eq);
}

static uint32_t create(struct drv *d, struct mynic_admin_cmd *cmd)
{
	struct mynic_admin_cpl cpl;

	CHECK_EQ(drv_admin(d, cmd, &cpl), MYNIC_AQ_OK);
	return cpl.number;
}

uint32_t drv_alloc_pd(struct drv *d)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_ALLOC_PD };

	return create(d, &cmd);
}

uint8_t drv_create_mkey(struct drv *d, const struct mynic_create_mkey *body,
			uint8_t flags, uint32_t *key)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_CREATE_MKEY,
		.flags = flags,
		.create_mkey = *body,
	};
	struct mynic_admin_cpl cpl;
	uint8_t status = drv_admin(d, &cmd, &cpl);

	*key = cpl.number;
	return status;
}

struct drv_mr *drv_reg_mr(struct drv *d, uint32_t pdn, size_t len,
			  uint32_t access)
{
	struct drv_mr *mr = tap_alloc(sizeof(*mr));
	struct mynic_create_mkey body = {
		.length = len,
		.pdn = pdn,
		.access = access,
	};

	mr->ptr = sim_alloc(d->n, len, 64);
	mr->len = len;
	mr->addr = MR_ADDR + (mr->ptr - d->n->mem);
	body.buf.addr = sim_iova(d->n, mr->ptr);
	body.iova = mr->addr;
	CHECK_EQ(drv_create_mkey(d, &body, 0, &mr->key), MYNIC_AQ_OK);
	return mr;
}

struct mynic_sge drv_sge(const struct drv_mr *mr, uint64_t offset, uint32_t len)
{
	return (struct mynic_sge){ mr->addr + offset, len, mr->key };
}

size_t drv_cq_ring_bytes(uint8_t log_size)
{
	return ALIGN(sizeof(struct mynic_cqe) << log_size,
		     sizeof(struct mynic_cq_dbrec));
}

struct drv_cq *drv_create_cq(struct drv *d, uint8_t log_size)
{
	struct drv_cq *cq = tap_alloc(sizeof(*cq));
	size_t ring = drv_cq_ring_bytes(log_size);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_CQ };

	cq->d = d;
	cq->log_size = log_size;
	cq->uarn = 1;
	drv_buf_init(d, &cq->buf, ring + sizeof(*cq->rec));
	cq->rec = drv_buf_at(&cq->buf, ring);
	cmd.create_cq.buf = cq->buf.desc;
	cmd.create_cq.dbrec_offset = ring;
	cmd.create_cq.uarn = cq->uarn;
	cmd.create_cq.eqn = d->comp.number;
	cmd.create_cq.log_size = log_size;
	cq->number = create(d, &cmd);
	return cq;
}

bool drv_peek(struct drv_cq *cq, struct mynic_cqe *cqe)
{
	uint32_t index = cq->ci - cq->base;
	uint32_t slot = index & ((1u << cq->log_size) - 1);
	struct mynic_cqe *c = drv_buf_at(&cq->buf, slot * sizeof(*c));

	if ((c->phase & 1) == (index >> cq->log_size & 1))
		return false;
	*cqe = *c;
	return true;
}

bool drv_poll(struct drv_cq *cq, struct mynic_cqe *cqe)
{
	if (!drv_peek(cq, cqe))
		return false;
	cq->rec->ci = ++cq->ci;
	return true;
}

struct mynic_cqe drv_expect(struct drv_cq *cq, uint64_t wr_id,
			    enum ibv_wc_status status)
{
	struct mynic_cqe cqe;

	SIM_WAIT(cq->d->sim, drv_poll(cq, &cqe));
	if (cqe.wr_id != wr_id || cqe.status != status)
		FAIL("got completion 0x%llx, status %u, syndrome %u, not 0x%llx, status %u",
		     (unsigned long long)cqe.wr_id, cqe.status, cqe.vendor_err,
		     (unsigned long long)wr_id, status);
	return cqe;
}

void drv_expect_none(struct drv_cq *cq, uint64_t ns)
{
	struct mynic_cqe cqe;

	sim_run(cq->d->sim, ns);
	if (drv_peek(cq, &cqe))
		FAIL("unexpected completion of 0x%llx with status %u",
		     (unsigned long long)cqe.wr_id, cqe.status);
}

void drv_request(struct drv_cq *cq, uint32_t seq, uint32_t index,
		 bool solicited)
{
	uint64_t request = MYNIC_ARM_VALID | index |
			   (uint64_t)(seq & MYNIC_ARM_SEQ_MASK)
				   << MYNIC_ARM_SEQ_SHIFT |
			   (uint64_t)cq->vector << MYNIC_ARM_VECTOR_SHIFT;

	if (solicited)
		request |= MYNIC_ARM_SOLICITED;
	__atomic_store_n(&cq->rec->arm, request, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void drv_arm(struct drv_cq *cq, bool solicited)
{
	uint64_t last = cq->rec->arm;
	bool taken = __atomic_load_n(&cq->rec->taken, __ATOMIC_RELAXED) == last;
	bool again = !taken && (uint32_t)last == cq->ci;
	struct mynic_cqe cqe;

	if (again && (solicited || !(last & MYNIC_ARM_SOLICITED)))
		return;
	drv_request(cq, (last >> MYNIC_ARM_SEQ_SHIFT) + !again, cq->ci,
		    solicited);
	if (!__atomic_load_n(&cq->rec->db_suppress, __ATOMIC_RELAXED) ||
	    drv_peek(cq, &cqe))
		sim_doorbell(cq->d->n, cq->uarn, MYNIC_UAR_CQ_DB, cq->number,
			     cq->ci);
}

static struct drv_srq *create_srq(struct drv *d, struct mynic_create_srq mbox,
				  uint8_t log_size)
{
	struct drv_srq *srq = tap_alloc(sizeof(*srq));
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_SRQ };
	struct mynic_admin_cpl cpl;
	size_t ring = ALIGN(64ul << log_size, sizeof(*srq->rec));

	mbox.log_size = log_size;
	mbox.log_stride = 6;
	srq->d = d;
	srq->log_size = log_size;
	srq->log_stride = mbox.log_stride;
	drv_buf_init(d, &srq->buf, ring + sizeof(*srq->rec));
	srq->rec = drv_buf_at(&srq->buf, ring);
	mbox.buf = srq->buf.desc;
	mbox.dbrec_offset = ring;
	CHECK_EQ(drv_admin_in(d, &cmd, &cpl, &mbox, sizeof(mbox)), 0);
	srq->number = cpl.number;
	return srq;
}

struct drv_srq *drv_create_srq(struct drv *d, uint32_t pdn, uint8_t log_size)
{
	struct mynic_create_srq mbox = { .pdn = pdn };

	return create_srq(d, mbox, log_size);
}

uint32_t drv_alloc_xrcd(struct drv *d)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_ALLOC_XRCD };

	return create(d, &cmd);
}

uint32_t drv_create_counters(struct drv *d)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_COUNTERS };
	struct mynic_admin_cpl cpl;

	CHECK_EQ(drv_admin(d, &cmd, &cpl), MYNIC_AQ_OK);
	return cpl.number;
}

uint8_t drv_bind_counters(struct drv_qp *qp, uint32_t set)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_BIND_COUNTERS,
		.number = qp->number,
		.bind_counters.counters = set,
	};

	return drv_admin(qp->d, &cmd, NULL);
}

uint64_t drv_counter(struct drv *d, uint32_t set, enum mynic_stat stat)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_QUERY_COUNTERS,
		.number = set,
	};
	uint64_t values[MYNIC_NUM_STATS];

	CHECK_EQ(drv_admin_out(d, &cmd, values, sizeof(values)), MYNIC_AQ_OK);
	return values[stat];
}

struct drv_srq *drv_create_xrc_srq(struct drv *d, uint32_t pdn, uint32_t xrcdn,
				   struct drv_cq *cq, uint8_t log_size)
{
	struct mynic_create_srq mbox = {
		.pdn = pdn,
		.type = MYNIC_SRQ_XRC,
		.xrcdn = xrcdn,
		.cqn = cq->number,
	};

	return create_srq(d, mbox, log_size);
}

struct drv_srq *drv_create_tm_srq(struct drv *d, uint32_t pdn,
				  struct drv_cq *cq, uint8_t log_size,
				  uint32_t max_tags)
{
	struct mynic_create_srq mbox = {
		.pdn = pdn,
		.type = MYNIC_SRQ_TM,
		.cqn = cq->number,
		.log_tag_size = 5,
		.max_tags = max_tags,
	};
	size_t ring = sizeof(struct mynic_tag_wqe) << mbox.log_tag_size;
	struct drv_buf buf;
	struct drv_srq *srq;

	drv_buf_init(d, &buf, ring + sizeof(*srq->tag_rec));
	mbox.tag_buf = buf.desc;
	srq = create_srq(d, mbox, log_size);
	srq->tag_buf = buf;
	srq->tag_rec = drv_buf_at(&srq->tag_buf, ring);
	srq->log_tag_size = mbox.log_tag_size;
	srq->uarn = cq->uarn;
	return srq;
}

void drv_post_tag(struct drv_srq *srq, const struct mynic_tag_wqe *wqe)
{
	uint32_t slot = srq->tag_pi & ((1u << srq->log_tag_size) - 1);

	memcpy(drv_buf_at(&srq->tag_buf, slot * sizeof(*wqe)), wqe,
	       sizeof(*wqe));
	srq->tag_rec->pi = ++srq->tag_pi;
	sim_doorbell(srq->d->n, srq->uarn, MYNIC_UAR_TAG_DB, srq->number,
		     srq->tag_pi);
}

static void write_recv(void *slot, uint64_t wr_id, const struct mynic_sge *sge,
		       unsigned int num_sge)
{
	struct mynic_recv_wqe *wqe = slot;
	struct mynic_sge *to = (void *)(wqe + 1);

	*wqe = (struct mynic_recv_wqe){ .wr_id = wr_id, .num_sge = num_sge };
	for (unsigned int i = 0; i < num_sge; i++)
		to[i] = sge[i];
}

void drv_post_srq_recv(struct drv_srq *srq, uint64_t wr_id,
		       const struct mynic_sge *sge, unsigned int num_sge)
{
	uint32_t slot = srq->pi & ((1u << srq->log_size) - 1);

	write_recv(drv_buf_at(&srq->buf, (size_t)slot << srq->log_stride),
		   wr_id, sge, num_sge);
	srq->rec->pi = ++srq->pi;
}

uint8_t drv_modify_srq(struct drv_srq *srq, uint32_t limit)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_SRQ,
		.number = srq->number,
		.modify_srq.limit = limit,
	};

	return drv_admin(srq->d, &cmd, NULL);
}

uint32_t drv_srq_limit(struct drv_srq *srq)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_QUERY_SRQ,
		.number = srq->number,
	};
	struct mynic_admin_cpl cpl;

	CHECK_EQ(drv_admin(srq->d, &cmd, &cpl), MYNIC_AQ_OK);
	return cpl.query_srq.limit;
}

void drv_qp_layout(struct drv *d, struct drv_qp *qp,
		   const struct drv_qp_init *init)
{
	struct mynic_create_qp *c = &qp->create;
	bool has_rq = !init->srq && init->type != MYNIC_QP_XRC_INI &&
		      init->type != MYNIC_QP_DRIVER;
	size_t sq, rq;

	*c = (struct mynic_create_qp){
		.uarn = init->uarn ? init->uarn : 1,
		.pdn = init->pdn,
		.send_cqn = init->send_cq->number,
		.recv_cqn = init->recv_cq->number,
		.srqn = init->srq ? init->srq->number : MYNIC_NO_SRQ,
		.type = init->type,
		.flags = init->flags,
	};
	if (!init->no_sq) {
		c->log_sq_size = init->log_sq_size ? init->log_sq_size : 6;
		c->log_sq_stride = init->log_sq_stride ? init->log_sq_stride :
							 8;
	}
	if (has_rq) {
		c->log_rq_size = init->log_rq_size ? init->log_rq_size : 6;
		c->log_rq_stride = init->log_rq_stride ? init->log_rq_stride :
							 8;
	}
	sq = init->no_sq ? 0 : 1ul << c->log_sq_size << c->log_sq_stride;
	rq = has_rq ? 1ul << c->log_rq_size << c->log_rq_stride : 0;
	/* the larger stride first, so that all are aligned */
	if (c->log_rq_stride > c->log_sq_stride)
		c->sq_offset = rq;
	else
		c->rq_offset = has_rq ? sq : 0;
	c->dbrec_offset = ALIGN(sq + rq, sizeof(*qp->rec));
	qp->d = d;
	drv_buf_init(d, &qp->buf, c->dbrec_offset + sizeof(*qp->rec));
	qp->rec = drv_buf_at(&qp->buf, c->dbrec_offset);
	c->buf = qp->buf.desc;
}

struct drv_qp *drv_create_qp(struct drv *d, const struct drv_qp_init *init)
{
	struct drv_qp *qp = tap_alloc(sizeof(*qp));
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_QP };
	struct mynic_admin_cpl cpl;

	drv_qp_layout(d, qp, init);
	CHECK_EQ(drv_admin_in(d, &cmd, &cpl, &qp->create, sizeof(qp->create)),
		 MYNIC_AQ_OK);
	qp->number = cpl.number;
	return qp;
}

struct drv_qp *drv_create_flushing_qp(struct drv *d, struct drv_cq *cq)
{
	struct drv_qp_init init = {
		.type = MYNIC_QP_RC,
		.pdn = drv_alloc_pd(d),
		.send_cq = cq,
		.recv_cq = cq,
		.log_sq_size = 8,
	};
	struct drv_qp *qp = drv_create_qp(d, &init);

	CHECK_EQ(drv_set_state(qp, IBV_QPS_ERR), MYNIC_AQ_OK);
	return qp;
}

struct drv_qp *drv_create_target(struct drv *d, uint32_t xrcdn)
{
	struct drv_qp *qp = tap_alloc(sizeof(*qp));
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_QP };
	struct mynic_admin_cpl cpl;

	qp->d = d;
	qp->create = (struct mynic_create_qp){
		.srqn = MYNIC_NO_SRQ,
		.xrcdn = xrcdn,
		.type = MYNIC_QP_XRC_TGT,
	};
	CHECK_EQ(drv_admin_in(d, &cmd, &cpl, &qp->create, sizeof(qp->create)),
		 MYNIC_AQ_OK);
	qp->number = cpl.number;
	return qp;
}

uint8_t drv_modify_qp(struct drv_qp *qp, const struct mynic_qp_attr *attr)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_QP,
		.number = qp->number,
	};

	return drv_admin_in(qp->d, &cmd, NULL, attr, sizeof(*attr));
}

uint8_t drv_set_state(struct drv_qp *qp, enum ibv_qp_state state)
{
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE,
		.qp_state = state,
	};

	return drv_modify_qp(qp, &attr);
}

struct mynic_qp_attr drv_query_qp(struct drv_qp *qp)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_QUERY_QP,
		.number = qp->number,
	};
	struct mynic_qp_attr attr;

	CHECK_EQ(drv_admin_out(qp->d, &cmd, &attr, sizeof(attr)), MYNIC_AQ_OK);
	return attr;
}

void drv_reset_qp(struct drv_qp *qp)
{
	CHECK_EQ(drv_set_state(qp, IBV_QPS_RESET), MYNIC_AQ_OK);
	if (qp->rec)
		memset(qp->rec, 0, sizeof(*qp->rec));
	qp->sq_pi = 0;
	qp->rq_pi = 0;
}

struct mynic_av drv_av(struct drv *d, unsigned int peer, unsigned int index)
{
	struct mynic_av av = { .sgid_index = index, .hop_limit = 64 };

	drv_gid(peer, index, av.dgid);
	memcpy(av.dmac, nic_mac(d->sim->nics[peer].nic), 6);
	return av;
}

static void modify_ok(struct drv_qp *qp, const struct mynic_qp_attr *attr)
{
	uint8_t status = drv_modify_qp(qp, attr);

	if (status)
		FAIL("MODIFY_QP to state %u: status %u", attr->qp_state,
		     status);
}

void drv_connect_to(struct drv_qp *qp, unsigned int peer, uint32_t peer_qpn,
		    const struct drv_path *path, enum ibv_qp_state state)
{
	uint8_t type = qp->create.type;
	bool requester = type == MYNIC_QP_RC || type == MYNIC_QP_XRC_INI;
	bool responder = type == MYNIC_QP_RC || type == MYNIC_QP_XRC_TGT;
	struct drv_path p = *path;
	struct mynic_qp_attr attr;

	p.mtu = p.mtu ? p.mtu : IBV_MTU_1024;
	p.timeout = p.timeout ? p.timeout : 14;
	p.retry_cnt = p.retry_cnt ? p.retry_cnt : 7;
	p.rnr_retry = p.rnr_retry ? p.rnr_retry : 7;
	p.min_rnr_timer = p.min_rnr_timer ? p.min_rnr_timer : 12;
	p.max_rd_atomic = p.max_rd_atomic ? p.max_rd_atomic : 4;
	if (p.no_retry) {
		p.retry_cnt = 0;
		p.rnr_retry = 0;
	}
	attr = (struct mynic_qp_attr){
		.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			     IBV_QP_ACCESS_FLAGS,
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.access_flags = p.no_access ? 0 : ACCESS_ALL,
	};
	modify_ok(qp, &attr);
	if (state == IBV_QPS_INIT)
		return;
	attr = (struct mynic_qp_attr){
		.attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
		.qp_state = IBV_QPS_RTR,
		.path_mtu = p.mtu,
		.dest_qpn = peer_qpn,
		.rq_psn = p.rq_psn,
		.max_dest_rd_atomic = p.max_rd_atomic,
		.min_rnr_timer = p.min_rnr_timer,
		.av = drv_av(qp->d, peer, p.gid_index),
	};
	attr.av.traffic_class = p.traffic_class;
	if (responder)
		attr.attr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_MIN_RNR_TIMER;
	modify_ok(qp, &attr);
	if (state == IBV_QPS_RTR)
		return;
	attr = (struct mynic_qp_attr){
		.attr_mask = IBV_QP_STATE | IBV_QP_SQ_PSN,
		.qp_state = IBV_QPS_RTS,
		.timeout = p.timeout,
		.retry_cnt = p.retry_cnt,
		.rnr_retry = p.rnr_retry,
		.sq_psn = p.sq_psn,
		.max_rd_atomic = p.max_rd_atomic,
	};
	if (requester)
		attr.attr_mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_MAX_QP_RD_ATOMIC;
	if (requester || responder)
		attr.attr_mask |= IBV_QP_TIMEOUT;
	modify_ok(qp, &attr);
}

void drv_connect(struct drv_qp *a, struct drv_qp *b,
		 const struct drv_path *path)
{
	struct drv_path back = *path;

	back.rq_psn = path->sq_psn;
	back.sq_psn = path->rq_psn;
	drv_connect_to(a, b->d->n->index, b->number, path, IBV_QPS_RTS);
	drv_connect_to(b, a->d->n->index, a->number, &back, IBV_QPS_RTS);
}

void drv_ud_up(struct drv_qp *qp, uint32_t qkey, enum ibv_qp_state state)
{
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			     IBV_QP_QKEY,
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = qkey,
	};

	/* like the verbs layer, which sets no port of a GSI QP */
	if (qp->create.type == MYNIC_QP_GSI)
		attr.attr_mask &= ~IBV_QP_PORT;
	modify_ok(qp, &attr);
	if (state == IBV_QPS_INIT)
		return;
	CHECK_EQ(drv_set_state(qp, IBV_QPS_RTR), MYNIC_AQ_OK);
	if (state == IBV_QPS_RTR)
		return;
	attr = (struct mynic_qp_attr){
		.attr_mask = IBV_QP_STATE | IBV_QP_SQ_PSN,
		.qp_state = IBV_QPS_RTS,
	};
	modify_ok(qp, &attr);
}

void *drv_write_wqe(struct drv_qp *qp, const struct drv_wr *wr)
{
	const struct mynic_create_qp *c = &qp->create;
	uint32_t slot = qp->sq_pi & ((1u << c->log_sq_size) - 1);
	bool atomic = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		      wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	bool ext = c->type != MYNIC_QP_RC && c->type != MYNIC_QP_UC;
	struct mynic_xrc_ext xrc = { .remote_srqn = wr->remote_srqn };
	struct mynic_eth_ext eth = { .vlan = wr->vlan };
	uint8_t *data = drv_buf_at(
		&qp->buf, c->sq_offset + ((size_t)slot << c->log_sq_stride));
	struct mynic_send_wqe *wqe = (void *)data;

	memset(wqe, 0, 1ul << c->log_sq_stride);
	wqe->wr_id = wr->wr_id;
	wqe->ctrl = wr->opcode | wr->flags << MYNIC_WQE_FLAGS_SHIFT;
	wqe->imm_data = wr->imm;
	wqe->len = wr->num_sge;
	if (c->type == MYNIC_QP_XRC_INI)
		memcpy(data + MYNIC_WQE_EXT, &xrc, sizeof(xrc));
	if (c->type == MYNIC_QP_RAW_PACKET)
		memcpy(data + MYNIC_WQE_EXT, &eth, sizeof(eth));
	if (ext && c->type != MYNIC_QP_XRC_INI && c->type != MYNIC_QP_DRIVER) {
		wqe->remote_qpn = wr->remote_qpn;
		wqe->remote_qkey = wr->remote_qkey;
		if (c->type != MYNIC_QP_RAW_PACKET)
			memcpy(data + MYNIC_WQE_EXT, &wr->av, sizeof(wr->av));
	} else {
		wqe->remote_addr = wr->remote_addr;
		wqe->rkey = wr->rkey;
	}
	data += ext ? MYNIC_WQE_DATA_EXT : MYNIC_WQE_DATA_RC;
	if (wr->flags & IBV_SEND_INLINE) {
		wqe->len = wr->inline_len;
		if (wr->inline_len)
			memcpy(data, wr->inline_data, wr->inline_len);
	} else if (wr->num_sge) {
		memcpy(data, wr->sge, wr->num_sge * sizeof(wr->sge[0]));
	}
	if (wr->opcode == IBV_WR_FLUSH)
		memcpy(data, &wr->flush, sizeof(wr->flush));
	if (wr->opcode == IBV_WR_BIND_MW)
		memcpy(data, &wr->bind, sizeof(wr->bind));
	if (wr->opcode == MYNIC_WR_REG_MR)
		memcpy(data, &wr->reg_mr, sizeof(wr->reg_mr));
	if (atomic) {
		struct mynic_atomic_operands *op =
			(void *)(data + MYNIC_WQE_ATOMIC);

		op->compare_add = wr->compare_add;
		op->swap = wr->swap;
	}
	qp->sq_pi++;
	return wqe;
}

void drv_ring(struct drv_qp *qp)
{
	qp->rec->sq_pi = qp->sq_pi;
	/* The device may be another process that is about to stop watching */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (qp->d->features & MYNIC_FEATURE_DB_SUPPRESS &&
	    __atomic_load_n(&qp->rec->sq_db_suppress, __ATOMIC_RELAXED))
		return;
	sim_doorbell(qp->d->n, qp->create.uarn, MYNIC_UAR_QP_DB, qp->number,
		     qp->sq_pi);
}

void drv_post_send(struct drv_qp *qp, const struct drv_wr *wr)
{
	drv_write_wqe(qp, wr);
	drv_ring(qp);
}

void drv_post_recv(struct drv_qp *qp, uint64_t wr_id,
		   const struct mynic_sge *sge, unsigned int num_sge)
{
	const struct mynic_create_qp *c = &qp->create;
	uint32_t slot = qp->rq_pi & ((1u << c->log_rq_size) - 1);

	write_recv(drv_buf_at(&qp->buf, c->rq_offset + ((size_t)slot
							<< c->log_rq_stride)),
		   wr_id, sge, num_sge);
	qp->rec->rq_pi = ++qp->rq_pi;
	if (qp->rec->rq_ring)
		drv_ring(qp);
}

static void init_end(struct drv_end *e, struct drv_qp_init init)
{
	e->pdn = drv_alloc_pd(e->d);
	e->cq = drv_create_cq(e->d, 8);
	e->recv_cq = drv_create_cq(e->d, 8);
	e->mr = drv_reg_mr(e->d, e->pdn, DRV_PAIR_MEM, ACCESS_ALL);
	init.pdn = e->pdn;
	init.send_cq = e->cq;
	init.recv_cq = e->recv_cq;
	e->qp = drv_create_qp(e->d, &init);
}

struct drv_pair drv_pair_on(struct drv *a, struct drv *b,
			    const struct drv_qp_init *init)
{
	struct drv_pair p = { .sim = a->sim, .a.d = a, .b.d = b };

	/* numbers that differ between the two NICs */
	drv_alloc_pd(p.b.d);
	drv_create_cq(p.b.d, 1);
	init_end(&p.a, *init);
	init_end(&p.b, *init);
	return p;
}

struct drv_pair drv_pair_unconnected(const struct drv_qp_init *init)
{
	struct sim *sim = sim_new(2);
	struct drv *a = drv_up(&sim->nics[0]);
	struct drv *b = drv_up(&sim->nics[1]);

	return drv_pair_on(a, b, init);
}

static struct drv_pair connected_pair(enum mynic_qp_type type,
				      const struct drv_path *path)
{
	static const struct drv_path standard = { 0 };
	struct drv_qp_init init = { .type = type };
	struct drv_pair p = drv_pair_unconnected(&init);

	drv_connect(p.a.qp, p.b.qp, path ? path : &standard);
	return p;
}

struct drv_pair drv_rc_pair(const struct drv_path *path)
{
	return connected_pair(MYNIC_QP_RC, path);
}

struct drv_pair drv_uc_pair(const struct drv_path *path)
{
	return connected_pair(MYNIC_QP_UC, path);
}

struct drv_pair drv_ud_pair(void)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_UD };
	struct drv_pair p = drv_pair_unconnected(&init);

	drv_ud_up(p.a.qp, 0x11111111, IBV_QPS_RTS);
	drv_ud_up(p.b.qp, 0x11111111, IBV_QPS_RTS);
	return p;
}

void drv_reconnect(struct drv_pair *p)
{
	drv_reset_qp(p->a.qp);
	drv_reset_qp(p->b.qp);
	drv_connect(p->a.qp, p->b.qp, &(struct drv_path){ 0 });
}

struct drv_wr drv_send_wr(const struct drv_end *from, uint32_t len)
{
	return (struct drv_wr){
		.wr_id = DRV_WR_ID,
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(from->mr, 0, len) },
	};
}

struct drv_wr drv_pair_wr(const struct drv_pair *p, enum ibv_wr_opcode opcode,
			  uint32_t len)
{
	struct drv_wr wr = drv_send_wr(&p->a, len);

	wr.opcode = opcode;
	wr.remote_addr = p->b.mr->addr;
	wr.rkey = p->b.mr->key;
	return wr;
}

struct drv_wr drv_inv_wr(uint64_t wr_id, uint32_t key)
{
	return (struct drv_wr){
		.wr_id = wr_id,
		.opcode = IBV_WR_LOCAL_INV,
		.flags = IBV_SEND_SIGNALED,
		.imm = key,
	};
}

void drv_send_recv(struct drv_end *from, struct drv_end *to, uint32_t len)
{
	struct mynic_sge sge = drv_sge(to->mr, 0, len);
	struct drv_wr wr = drv_send_wr(from, len);
	struct mynic_cqe cqe;

	wr.wr_id = 0x5e4d;
	drv_fill(from->mr->ptr, len, len);
	memset(to->mr->ptr, 0, len);
	drv_post_recv(to->qp, 0x4ec5, &sge, 1);
	drv_post_send(from->qp, &wr);
	cqe = drv_expect(to->recv_cq, 0x4ec5, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.byte_len, len);
	CHECK_EQ(cqe.opcode, IBV_WC_RECV);
	CHECK_EQ(cqe.qp_num, to->qp->number);
	CHECK_MEM(to->mr->ptr, from->mr->ptr, len);
	cqe = drv_expect(from->cq, 0x5e4d, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, IBV_WC_SEND);
	CHECK_EQ(cqe.qp_num, from->qp->number);
}

void drv_fill(void *ptr, size_t len, unsigned int seed)
{
	uint8_t *p = ptr;

	for (size_t i = 0; i < len; i++)
		p[i] = (seed * 31 + i * 7 + (i >> 8)) ^ 0x5a;
}
