// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fake kernel: answers to the commands of libibverbs, and memory of queues.
 */
#include <config.h>

#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../lib/harness_tap.h"
#include "fake.h"
#include "mynic-abi.h"

/* Memory of all objects of a test; none is given back. */
#define FAKE_MEMORY (64 << 20)
#define FAKE_UAR_OFFSET 1024

struct fake_state fake;
struct fake_qp fake_qp;
struct fake_cq fake_cq;
struct fake_srq fake_srq;
struct fake_wq fake_wq;
struct mynic_clock_info *fake_clock;
struct mynic_gid_info *fake_gids;

static int fake_fd;
static void *fake_memory;
static size_t fake_used;
static uint32_t fake_handle;

/* The driver's struct behind the RDMA core's in a response of the kernel. */
#define DRV_RESP(resp, resp_size, type)                                     \
	({                                                                  \
		if ((resp_size) != sizeof(*(resp)) + sizeof(struct type))   \
			FAIL("response of %zu bytes", (size_t)(resp_size)); \
		(struct type *)((resp) + 1);                                \
	})

static uint8_t log2_up(uint32_t n)
{
	uint8_t log = 0;

	while (1U << log < n)
		log++;
	return log;
}

/* Zeroed memory of @size bytes; the key is its offset in the file. */
static void *fake_alloc(uint64_t *key, uint32_t *map_size, size_t size)
{
	void *p = fake_memory + fake_used;

	size = (size + 4095) & ~4095UL;
	if (size > FAKE_MEMORY - fake_used)
		FAIL("fake device: no memory");
	*key = fake_used;
	*map_size = fake.bad_map ? 0 : size;
	fake_used += size;
	return p;
}

static int fake_fails(void)
{
	int err = fake.fail;

	if (err && fake.fail_after) {
		fake.fail_after--;
		return 0;
	}
	fake.fail = 0;
	return err;
}

static int fake_state_command(void)
{
	void (*meanwhile)(void) = fake.meanwhile;
	int err = fake_fails();

	fake.meanwhile = NULL;
	if (meanwhile)
		meanwhile();
	return err;
}

static int fake_destroy(void)
{
	int err = fake_fails();

	if (!err)
		fake.live--;
	return err;
}

static int fake_create(uint32_t *handle)
{
	int err = fake_fails();

	if (!err) {
		*handle = ++fake_handle;
		fake.live++;
	}
	return err;
}

static struct verbs_context *alloc_context(struct ibv_device *device,
					   int cmd_fd, void *private_data)
{
	return verbs_provider_mynic.alloc_context(device, dup(fake_fd),
						  private_data);
}

static void close_context(void *context)
{
	ibv_close_device(context);
	close(fake_fd);
}

struct ibv_context *fake_open(void)
{
	static struct verbs_device_ops ops;
	static struct verbs_device device;
	struct ibv_context *context;

	fake_fd = memfd_create("fake", 0);
	if (fake_fd < 0 || ftruncate(fake_fd, FAKE_MEMORY))
		FAIL("memfd: %s", strerror(errno));
	fake_memory = mmap(NULL, FAKE_MEMORY, PROT_READ | PROT_WRITE,
			   MAP_SHARED, fake_fd, 0);
	if (fake_memory == MAP_FAILED)
		FAIL("mmap: %s", strerror(errno));

	ops = verbs_provider_mynic;
	ops.alloc_context = alloc_context;
	device.ops = &ops;
	atomic_init(&device.refcount, 1);
	context = verbs_open_device(&device.device, NULL);
	if (!context)
		return NULL;
	tap_at_end(close_context, context);
	return context;
}

uint64_t *fake_uar(unsigned int offset)
{
	return fake_memory + FAKE_UAR_OFFSET + offset;
}

void fake_complete(struct fake_cq *cq, const struct mynic_cqe *cqe)
{
	uint32_t size = 1U << cq->resp.log_size;
	uint32_t index = cq->pi - cq->base;
	struct mynic_cqe *slot = &cq->ring[index & (size - 1)];

	memcpy(slot, cqe, offsetof(struct mynic_cqe, phase));
	/* the bits beside bit 0 mean nothing yet */
	atomic_store_explicit((_Atomic(uint8_t) *)&slot->phase,
			      0xa4 | !(index & size), memory_order_release);
	cq->pi++;
}

/* The commands */

int ibv_cmd_get_context(struct verbs_context *context,
			struct ibv_get_context *cmd, size_t cmd_size,
			struct ib_uverbs_get_context_resp *resp,
			size_t resp_size)
{
	struct mynic_alloc_ucontext_resp *drv =
		DRV_RESP(resp, resp_size, mynic_alloc_ucontext_resp);
	uint64_t key;
	int err = fake_fails();

	if (err)
		return err;
	fake_alloc(&key, &drv->uar_mmap_size, 8192);
	drv->uar_mmap_key = key;
	drv->null_lkey = 0x5a;
	drv->uar_offset = FAKE_UAR_OFFSET;
	fake_clock = fake_alloc(&key, &drv->clock_mmap_size, 4096);
	drv->clock_mmap_key = key;
	fake_gids = fake_alloc(&key, &drv->gid_mmap_size, 4096);
	drv->gid_mmap_key = key;
	drv->log_max_sq_stride = fake.log_max_sq_stride;
	drv->log_max_rq_stride = fake.log_max_rq_stride;
	drv->log_max_memcpy = fake.log_max_memcpy;
	if (fake.db_suppress)
		drv->flags = MYNIC_UCONTEXT_DB_SUPPRESS;
	if (fake.no_gid_page)
		drv->gid_mmap_size = 0;
	return 0;
}

int ibv_cmd_query_device_any(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     struct ib_uverbs_ex_query_device_resp *resp,
			     size_t *resp_size)
{
	memset(attr, 0, attr_size);
	memset(resp, 0, sizeof(*resp));
	resp->base.fw_ver = FAKE_FW_VER;
	return fake_fails();
}

int ibv_cmd_query_port(struct ibv_context *context, uint8_t port_num,
		       struct ibv_port_attr *attr, struct ibv_query_port *cmd,
		       size_t cmd_size)
{
	memset(attr, 0, sizeof(*attr));
	attr->state = IBV_PORT_ACTIVE;
	return fake_fails();
}

int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd,
		     struct ibv_alloc_pd *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size)
{
	pd->context = context;
	return fake_create(&pd->handle);
}

int ibv_cmd_dealloc_pd(struct ibv_pd *pd)
{
	return fake_destroy();
}

int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
		   uint64_t hca_va, int access, struct verbs_mr *vmr,
		   struct ibv_reg_mr *cmd, size_t cmd_size,
		   struct ib_uverbs_reg_mr_resp *resp, size_t resp_size)
{
	vmr->ibv_mr.context = pd->context;
	vmr->ibv_mr.lkey = 0xabc00 + fake_handle;
	vmr->mr_type = IBV_MR_TYPE_MR;
	vmr->access = access;
	return fake_create(&vmr->ibv_mr.handle);
}

/* libibverbs notes the access flags in the one above only. */
int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
			  uint64_t iova, int fd, int access,
			  struct verbs_mr *vmr,
			  struct ibv_command_buffer *driver)
{
	vmr->ibv_mr.context = pd->context;
	vmr->ibv_mr.lkey = 0xabc00 + fake_handle;
	vmr->ibv_mr.pd = pd;
	vmr->ibv_mr.length = length;
	vmr->mr_type = IBV_MR_TYPE_DMABUF_MR;
	return fake_create(&vmr->ibv_mr.handle);
}

int ibv_cmd_rereg_mr(struct verbs_mr *vmr, uint32_t flags, void *addr,
		     size_t length, uint64_t hca_va, int access,
		     struct ibv_pd *pd, struct ibv_rereg_mr *cmd, size_t cmd_sz,
		     struct ib_uverbs_rereg_mr_resp *resp, size_t resp_sz)
{
	return fake_fails();
}

int ibv_cmd_query_mr(struct ibv_pd *pd, struct verbs_mr *vmr, uint32_t handle)
{
	vmr->ibv_mr.context = pd->context;
	vmr->ibv_mr.handle = handle;
	vmr->ibv_mr.pd = pd;
	vmr->mr_type = IBV_MR_TYPE_IMPORTED_MR;
	return fake_fails();
}

int ibv_cmd_dereg_mr(struct verbs_mr *vmr)
{
	return fake_destroy();
}

int ibv_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type,
		     struct ibv_mw *mw, struct ibv_alloc_mw *cmd,
		     size_t cmd_size, struct ib_uverbs_alloc_mw_resp *resp,
		     size_t resp_size)
{
	mw->context = pd->context;
	mw->pd = pd;
	mw->type = type;
	mw->rkey = 0x123400fe;
	return fake_create(&mw->handle);
}

int ibv_cmd_dealloc_mw(struct ibv_mw *mw)
{
	return fake_destroy();
}

int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah,
		      struct ibv_ah_attr *attr,
		      struct ib_uverbs_create_ah_resp *resp, size_t resp_size)
{
	*DRV_RESP(resp, resp_size, mynic_create_ah_resp) =
		(struct mynic_create_ah_resp){ .dmac = FAKE_DMAC };
	ah->context = pd->context;
	return fake_create(&ah->handle);
}

int ibv_cmd_destroy_ah(struct ibv_ah *ah)
{
	return fake_destroy();
}

static int create_cq(struct ibv_context *context, int cqe, struct ibv_cq *cq,
		     struct mynic_create_cq_resp *drv)
{
	uint64_t key;
	void *memory;
	size_t ring;

	drv->log_size = log2_up(cqe);
	ring = sizeof(struct mynic_cqe) << drv->log_size;
	drv->ring_offset = 128;
	drv->dbrec_offset = 128 + ring;
	drv->cqn = 0xc00 + fake_handle;
	drv->num_vectors = fake.num_vectors;
	memory = fake_alloc(&key, &drv->mmap_size,
			    128 + ring + sizeof(struct mynic_cq_dbrec));
	drv->mmap_key = key;

	fake_cq = (struct fake_cq){
		.ring = memory + drv->ring_offset,
		.dbrec = memory + drv->dbrec_offset,
		.resp = *drv,
	};
	cq->context = context;
	cq->cqe = 1 << drv->log_size;
	return fake_create(&cq->handle);
}

int ibv_cmd_create_cq(struct ibv_context *context, int cqe,
		      struct ibv_comp_channel *channel, int comp_vector,
		      struct ibv_cq *cq, struct ibv_create_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_create_cq_resp *resp,
		      size_t resp_size)
{
	return create_cq(context, cqe, cq,
			 DRV_RESP(resp, resp_size, mynic_create_cq_resp));
}

int ibv_cmd_create_cq_ex(struct ibv_context *context,
			 const struct ibv_cq_init_attr_ex *attr,
			 struct verbs_cq *cq, struct ibv_create_cq_ex *cmd,
			 size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp,
			 size_t resp_size, uint32_t cmd_flags)
{
	return create_cq(context, attr->cqe, &cq->cq,
			 DRV_RESP(resp, resp_size, mynic_create_cq_resp));
}

/* Memory that the last object of a kind may move to */
struct fake_move {
	struct mynic_resize_resp resp;
	void *memory;
};

static void make_ring(struct fake_move *move, size_t ring, size_t dbrec,
		      uint8_t log_size)
{
	uint64_t key;

	move->resp = (struct mynic_resize_resp){
		.ring_offset = 4096,
		.dbrec_offset = 4096 + ring,
		.log_size = log_size,
	};
	move->memory =
		fake_alloc(&key, &move->resp.mmap_size, 4096 + ring + dbrec);
	move->resp.mmap_key = key;
}

static int move_cq(struct fake_move *move)
{
	struct mynic_cq_dbrec *old = fake_cq.dbrec;
	uint32_t ci = le32toh(old->ci);
	int err = EINVAL;

	if (fake_cq.pi - ci > 1U << move->resp.log_size)
		return err;
	fake_cq.ring = move->memory + move->resp.ring_offset;
	fake_cq.dbrec = move->memory + move->resp.dbrec_offset;
	fake_cq.dbrec->ci = htole32(ci);
	fake_cq.dbrec->taken = old->taken;
	fake_cq.dbrec->db_suppress = old->db_suppress;
	fake_cq.base = ci;
	fake_cq.resp.log_size = move->resp.log_size;
	return 0;
}

int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_resize_cq_resp *resp,
		      size_t resp_size)
{
	struct mynic_resize_resp *drv =
		DRV_RESP(resp, resp_size, mynic_resize_resp);
	const struct mynic_resize_cq_req *req = (void *)(cmd + 1);
	static struct fake_move move;
	uint8_t log_size = log2_up(cqe);
	int err = fake_fails();

	CHECK_EQ(cmd_size, sizeof(*cmd) + sizeof(*req));
	if (err)
		return err;
	if (!req->mmap_key) {
		make_ring(&move, sizeof(struct mynic_cqe) << log_size,
			  sizeof(struct mynic_cq_dbrec), log_size);
		*drv = move.resp;
		return 0;
	}
	CHECK_EQ(req->mmap_key, move.resp.mmap_key);
	CHECK_EQ(log_size, move.resp.log_size);
	err = move_cq(&move);
	if (!err)
		cq->cqe = 1 << log_size;
	return err;
}

int ibv_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr,
		      struct ibv_modify_cq *cmd, size_t cmd_size)
{
	CHECK_EQ(cmd_size, sizeof(*cmd));
	return fake_fails();
}

int ibv_cmd_destroy_cq(struct ibv_cq *cq)
{
	return fake_destroy();
}

static int create_srq(struct ibv_context *context, struct ibv_srq *srq,
		      struct ibv_srq_attr *attr,
		      struct mynic_create_srq_resp *drv)
{
	uint64_t key;
	void *memory;

	drv->log_size = log2_up(attr->max_wr);
	drv->log_stride = log2_up(16 + 16 * attr->max_sge);
	drv->ring_offset = 4096;
	drv->dbrec_offset = 64;
	drv->srqn = 7;
	memory = fake_alloc(&key, &drv->mmap_size,
			    4096 + (1UL << drv->log_size << drv->log_stride));
	drv->mmap_key = key;
	attr->max_wr = 1U << drv->log_size;
	attr->max_sge = ((1U << drv->log_stride) - 16) / 16;

	fake_srq = (struct fake_srq){
		.ring = memory + drv->ring_offset,
		.dbrec = memory + drv->dbrec_offset,
		.resp = *drv,
	};
	srq->context = context;
	return fake_create(&srq->handle);
}

int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq,
		       struct ibv_srq_init_attr *attr,
		       struct ibv_create_srq *cmd, size_t cmd_size,
		       struct ib_uverbs_create_srq_resp *resp, size_t resp_size)
{
	return create_srq(pd->context, srq, &attr->attr,
			  DRV_RESP(resp, resp_size, mynic_create_srq_resp));
}

int ibv_cmd_create_srq_ex(struct ibv_context *context, struct verbs_srq *srq,
			  struct ibv_srq_init_attr_ex *attr,
			  struct ibv_create_xsrq *cmd, size_t cmd_size,
			  struct ib_uverbs_create_srq_resp *resp,
			  size_t resp_size)
{
	struct mynic_create_srq_resp *drv =
		DRV_RESP(resp, resp_size, mynic_create_srq_resp);
	const struct mynic_create_srq_req *req = (void *)(cmd + 1);
	void *memory = NULL;
	uint64_t key;
	int err;

	CHECK_EQ(cmd_size, sizeof(*cmd) + sizeof(*req));
	CHECK_EQ(req->reserved_04, 0);
	srq->srq_type = attr->srq_type;
	srq->cq = attr->cq;
	if (attr->srq_type == IBV_SRQT_TM) {
		drv->log_tag_size = log2_up(req->max_ops);
		drv->tag_dbrec_offset = 64UL << drv->log_tag_size;
		memory = fake_alloc(&key, &drv->tag_mmap_size,
				    drv->tag_dbrec_offset +
					    sizeof(struct mynic_tag_dbrec));
		drv->tag_mmap_key = key;
	} else {
		CHECK_EQ(req->max_ops, 0);
	}
	err = create_srq(context, &srq->srq, &attr->attr, drv);
	if (memory) {
		fake_srq.tags = memory;
		fake_srq.tag_dbrec = memory + drv->tag_dbrec_offset;
	}
	return err;
}

int ibv_cmd_create_wq(struct ibv_context *context,
		      struct ibv_wq_init_attr *attr, struct ibv_wq *wq,
		      struct ibv_create_wq *cmd, size_t cmd_size,
		      struct ib_uverbs_ex_create_wq_resp *resp,
		      size_t resp_size)
{
	struct mynic_create_wq_resp *drv =
		DRV_RESP(resp, resp_size, mynic_create_wq_resp);
	uint64_t key;
	void *memory;

	drv->log_size = log2_up(attr->max_wr);
	drv->log_stride = log2_up(16 + 16 * attr->max_sge);
	drv->rq_offset = 4096;
	drv->dbrec_offset = 256;
	memory = fake_alloc(&key, &drv->mmap_size,
			    4096 + (1UL << drv->log_size << drv->log_stride));
	drv->mmap_key = key;
	attr->max_wr = 1U << drv->log_size;
	attr->max_sge = ((1U << drv->log_stride) - 16) / 16;

	fake_wq = (struct fake_wq){
		.ring = memory + drv->rq_offset,
		.dbrec = memory + drv->dbrec_offset,
		.resp = *drv,
	};
	wq->context = context;
	wq->wq_num = 0x123;
	return fake_create(&wq->handle);
}

int ibv_cmd_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr,
		      struct ibv_modify_wq *cmd, size_t cmd_size)
{
	CHECK_EQ(cmd_size, sizeof(*cmd));
	return fake_state_command();
}

int ibv_cmd_destroy_wq(struct ibv_wq *wq)
{
	return fake_destroy();
}

int ibv_cmd_open_xrcd(struct ibv_context *context, struct verbs_xrcd *xrcd,
		      int vxrcd_size, struct ibv_xrcd_init_attr *attr,
		      struct ibv_open_xrcd *cmd, size_t cmd_size,
		      struct ib_uverbs_open_xrcd_resp *resp, size_t resp_size)
{
	xrcd->xrcd.context = context;
	return fake_create(&xrcd->handle);
}

int ibv_cmd_close_xrcd(struct verbs_xrcd *xrcd)
{
	return fake_destroy();
}

int ibv_cmd_alloc_dm(struct ibv_context *context,
		     const struct ibv_alloc_dm_attr *attr, struct verbs_dm *dm,
		     struct ibv_command_buffer *link)
{
	struct mynic_alloc_dm_resp *resp = NULL;
	const struct ib_uverbs_attr *out;
	uint64_t key;
	int err;

	for (out = link->hdr.attrs; out < link->next_attr; out++)
		if (out->attr_id == MYNIC_ATTR_ALLOC_DM_RESP)
			resp = (void *)(uintptr_t)out->data;
	if (!resp)
		FAIL("no response to UVERBS_METHOD_DM_ALLOC");
	err = fake_create(&dm->handle);
	fake_alloc(&key, &resp->mmap_size, attr->length);
	resp->mmap_key = key;
	dm->dm.context = context;
	return err;
}

int ibv_cmd_free_dm(struct verbs_dm *dm)
{
	return fake_destroy();
}

int ibv_cmd_reg_dm_mr(struct ibv_pd *pd, struct verbs_dm *dm, uint64_t offset,
		      size_t length, unsigned int access, struct verbs_mr *vmr,
		      struct ibv_command_buffer *link)
{
	vmr->ibv_mr.context = pd->context;
	vmr->ibv_mr.pd = pd;
	vmr->ibv_mr.length = length;
	vmr->mr_type = IBV_MR_TYPE_MR;
	return fake_create(&vmr->ibv_mr.handle);
}

static int move_srq(struct fake_move *move)
{
	struct mynic_srq_dbrec *dbrec = move->memory + move->resp.dbrec_offset;
	uint32_t ci = le32toh(fake_srq.dbrec->ci);
	int err = EINVAL;

	if (le32toh(dbrec->pi) - ci > 1U << move->resp.log_size)
		return err;
	dbrec->ci = htole32(ci);
	fake_srq.ring = move->memory + move->resp.ring_offset;
	fake_srq.dbrec = dbrec;
	fake_srq.resp.log_size = move->resp.log_size;
	return 0;
}

int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		       int attr_mask, struct ibv_modify_srq *cmd,
		       size_t cmd_size)
{
	const struct mynic_modify_srq_req *req = (void *)(cmd + 1);
	static struct fake_move move;
	int err = fake_fails();

	if (err || !(attr_mask & IBV_SRQ_MAX_WR)) {
		CHECK(err || cmd_size == sizeof(*cmd));
		return err;
	}
	CHECK_EQ(cmd_size, sizeof(*cmd) + sizeof(*req));
	if (req->mmap_key) {
		CHECK_EQ(req->mmap_key, move.resp.mmap_key);
		return move_srq(&move);
	}
	CHECK_EQ(attr_mask, IBV_SRQ_MAX_WR);
	make_ring(&move,
		  1UL << log2_up(attr->max_wr) << fake_srq.resp.log_stride,
		  sizeof(struct mynic_srq_dbrec), log2_up(attr->max_wr));
	memcpy((void *)(uintptr_t)req->resp, &move.resp, sizeof(move.resp));
	return 0;
}

int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		      struct ibv_query_srq *cmd, size_t cmd_size)
{
	return fake_fails();
}

int ibv_cmd_destroy_srq(struct ibv_srq *srq)
{
	return fake_destroy();
}

int ibv_cmd_create_qp(struct ibv_pd *pd, struct ibv_qp *qp,
		      struct ibv_qp_init_attr *attr, struct ibv_create_qp *cmd,
		      size_t cmd_size, struct ib_uverbs_create_qp_resp *resp,
		      size_t resp_size)
{
	struct mynic_create_qp_resp *drv =
		DRV_RESP(resp, resp_size, mynic_create_qp_resp);
	bool rc = attr->qp_type == IBV_QPT_RC || attr->qp_type == IBV_QPT_UC;
	uint32_t head = rc ? 32 : 64;
	struct ibv_qp_cap *cap = &attr->cap;
	uint32_t data = cap->max_send_sge < 2 ? 32 : cap->max_send_sge * 16;
	size_t sq = 0, rq = 0;
	uint64_t key;
	void *memory;

	if (cap->max_send_wr) {
		if (data < cap->max_inline_data)
			data = cap->max_inline_data;
		drv->log_sq_size = log2_up(cap->max_send_wr);
		drv->log_sq_stride =
			log2_up(data + head < 64 ? 64 : data + head);
		data = (1U << drv->log_sq_stride) - head;
		cap->max_send_wr = 1U << drv->log_sq_size;
		cap->max_send_sge = data / 16;
		cap->max_inline_data = data;
		sq = 1UL << drv->log_sq_size << drv->log_sq_stride;
	}
	if (cap->max_recv_wr && !attr->srq) {
		drv->log_rq_size = log2_up(cap->max_recv_wr);
		drv->log_rq_stride = log2_up(16 + 16 * cap->max_recv_sge);
		cap->max_recv_wr = 1U << drv->log_rq_size;
		cap->max_recv_sge = ((1U << drv->log_rq_stride) - 16) / 16;
		rq = 1UL << drv->log_rq_size << drv->log_rq_stride;
	}
	drv->rq_offset = sq;
	drv->dbrec_offset = (sq + rq + 63) & ~63UL;
	memory = fake_alloc(&key, &drv->mmap_size,
			    drv->dbrec_offset + sizeof(struct mynic_qp_dbrec));
	drv->mmap_key = key;

	fake_qp = (struct fake_qp){
		.sq = memory + drv->sq_offset,
		.rq = memory + drv->rq_offset,
		.dbrec = memory + drv->dbrec_offset,
		.qpn = 0x5a0000 + fake_handle,
		.cap = *cap,
		.resp = *drv,
	};
	qp->context = pd->context;
	qp->pd = pd;
	qp->send_cq = attr->send_cq;
	qp->recv_cq = attr->recv_cq;
	qp->srq = attr->srq;
	qp->qp_type = attr->qp_type;
	qp->qp_num = fake_qp.qpn;
	qp->state = IBV_QPS_RESET;
	return fake_create(&qp->handle);
}

/* As libibverbs does: all that was named, whether it counts or not */
static void set_bare_qp(struct ibv_context *context, struct verbs_qp *qp,
			const struct ibv_qp_init_attr_ex *attr)
{
	qp->qp.context = context;
	qp->qp.pd = attr->pd;
	qp->qp.send_cq = attr->send_cq;
	qp->qp.recv_cq = attr->recv_cq;
	qp->qp.srq = attr->srq;
	qp->qp.qp_type = attr->qp_type;
	qp->qp.qp_num = 0x5a0000 + fake_handle;
}

/* Only XRC_RECV QPs come here; they have nothing that can be mapped. */
int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *qp,
			 struct ibv_qp_init_attr_ex *attr,
			 struct ibv_create_qp *cmd, size_t cmd_size,
			 struct ib_uverbs_create_qp_resp *resp,
			 size_t resp_size)
{
	set_bare_qp(context, qp, attr);
	return fake_create(&qp->qp.handle);
}

/* Only QPs with a table of WQs come here; they have no queues either. */
int ibv_cmd_create_qp_ex2(struct ibv_context *context, struct verbs_qp *qp,
			  struct ibv_qp_init_attr_ex *attr,
			  struct ibv_create_qp_ex *cmd, size_t cmd_size,
			  struct ib_uverbs_ex_create_qp_resp *resp,
			  size_t resp_size)
{
	CHECK(attr->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE);
	set_bare_qp(context, qp, attr);
	return fake_create(&qp->qp.handle);
}

int ibv_cmd_create_rwq_ind_table(
	struct ibv_context *context, struct ibv_rwq_ind_table_init_attr *attr,
	struct ibv_rwq_ind_table *table,
	struct ib_uverbs_ex_create_rwq_ind_table_resp *resp, size_t resp_size)
{
	uint32_t handle = 0;
	int err = fake_create(&handle);

	table->context = context;
	table->ind_tbl_handle = handle;
	return err;
}

int ibv_cmd_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table)
{
	return fake_destroy();
}

int ibv_cmd_open_qp(struct ibv_context *context, struct verbs_qp *qp,
		    int vqp_size, struct ibv_qp_open_attr *attr,
		    struct ibv_open_qp *cmd, size_t cmd_size,
		    struct ib_uverbs_create_qp_resp *resp, size_t resp_size)
{
	qp->qp.context = context;
	qp->qp.qp_type = attr->qp_type;
	qp->qp.qp_num = attr->qp_num;
	return fake_create(&qp->qp.handle);
}

int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
		      int attr_mask, struct ibv_modify_qp *cmd, size_t cmd_size)
{
	return fake_state_command();
}

int ibv_cmd_modify_qp_ex(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			 int attr_mask, struct ibv_modify_qp_ex *cmd,
			 size_t cmd_size,
			 struct ib_uverbs_ex_modify_qp_resp *resp,
			 size_t resp_size)
{
	return fake_state_command();
}

int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		     struct ibv_qp_init_attr *init_attr,
		     struct ibv_query_qp *cmd, size_t cmd_size)
{
	attr->qp_state = fake.qp_state;
	attr->cap = fake_qp.cap;
	init_attr->cap = fake_qp.cap;
	return fake_state_command();
}

int ibv_cmd_destroy_qp(struct ibv_qp *qp)
{
	return fake_destroy();
}
