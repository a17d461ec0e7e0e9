// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues: creation, polling, arming, resizing. */
#define _GNU_SOURCE
#include <config.h>

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <util/mmio.h>

#include "mynic.h"
#include "mynic-abi.h"

/* Fields that the extended CQ can read */
#define MYNIC_WC_FLAGS                                                 \
	(IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | \
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK |               \
	 IBV_WC_EX_WITH_CVLAN | IBV_WC_EX_WITH_FLOW_TAG |              \
	 IBV_WC_EX_WITH_TM_INFO)
#define MYNIC_CQ_FLAGS \
	(IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)

/*
 * Whether an entry was written on the lap with @phase. The device writes the
 * phase last. The acquire load keeps later reads behind it, and needs no fence
 * instruction on x86.
 */
static inline bool mynic_cqe_valid(struct mynic_cqe *cqe, uint32_t phase)
{
	uint32_t seen = atomic_load_explicit((_Atomic(uint8_t) *)&cqe->phase,
					     memory_order_acquire);

	return !((seen ^ phase) & 1);
}

static_assert(offsetof(struct mynic_cqe, wr_id) ==
			      offsetof(struct ibv_wc, wr_id) &&
		      offsetof(struct mynic_cqe, imm_data) ==
			      offsetof(struct ibv_wc, imm_data) &&
		      offsetof(struct mynic_cqe, wc_flags) ==
			      offsetof(struct ibv_wc, wc_flags) &&
		      offsetof(struct mynic_cqe, dlid_path_bits) ==
			      offsetof(struct ibv_wc, dlid_path_bits) &&
		      offsetof(struct mynic_cqe, timestamp) ==
			      sizeof(struct ibv_wc),
	      "an entry begins with the image of struct ibv_wc");

/*
 * Immediate data are in network byte order, an invalidated key in the host's.
 */
static inline __be32 mynic_cqe_imm_data(const struct mynic_cqe *cqe)
{
	if (__BYTE_ORDER == __LITTLE_ENDIAN)
		return cqe->imm_data;
	if (le32toh(cqe->wc_flags) & IBV_WC_WITH_INV)
		return (__force __be32)le32toh(cqe->invalidated_rkey);
	return cqe->imm_data;
}

static inline void mynic_cqe_to_wc(struct ibv_wc *wc,
				   const struct mynic_cqe *cqe)
{
	if (__BYTE_ORDER == __LITTLE_ENDIAN) {
		memcpy(wc, cqe, sizeof(*wc));
		return;
	}
	wc->wr_id = le64toh(cqe->wr_id);
	wc->status = le32toh(cqe->status);
	wc->opcode = le32toh(cqe->opcode);
	wc->vendor_err = le32toh(cqe->vendor_err);
	wc->byte_len = le32toh(cqe->byte_len);
	wc->imm_data = mynic_cqe_imm_data(cqe);
	wc->qp_num = le32toh(cqe->qp_num);
	wc->src_qp = le32toh(cqe->src_qp);
	wc->wc_flags = le32toh(cqe->wc_flags);
	wc->pkey_index = le16toh(cqe->pkey_index);
	wc->slid = le16toh(cqe->slid);
	wc->sl = cqe->sl;
	wc->dlid_path_bits = cqe->dlid_path_bits;
}

static inline ALWAYS_INLINE int mynic_poll_cq_body(struct ibv_cq *ibcq,
						   int num_entries,
						   struct ibv_wc *wc,
						   bool locked)
{
	struct mynic_cq *cq = to_mcq(ibcq);
	struct mynic_cqe *cqe, *end;
	uint32_t phase;
	int n;

	if (locked)
		mynic_lock(&cq->lock);
	cqe = cq->next;
	end = cq->end;
	phase = cq->phase;
	for (n = 0; n < num_entries && mynic_cqe_valid(cqe, phase); n++) {
		mynic_cqe_to_wc(&wc[n], cqe);
		if (unlikely(++cqe == end)) {
			cqe = cq->ring;
			phase ^= 1;
		}
	}
	if (n) {
		cq->next = cqe;
		cq->phase = phase;
		cq->ci += n;
		mynic_publish(&cq->dbrec->ci, cq->ci);
	}
	if (locked)
		mynic_unlock(&cq->lock);
	return n;
}

int mynic_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	return mynic_poll_cq_body(ibcq, num_entries, wc, true);
}

static int mynic_poll_cq_single(struct ibv_cq *ibcq, int num_entries,
				struct ibv_wc *wc)
{
	return mynic_poll_cq_body(ibcq, num_entries, wc, false);
}

static int mynic_poll_cq_any(struct ibv_cq *ibcq, int num_entries,
			     struct ibv_wc *wc)
{
	if (!to_mcq(ibcq)->single_threaded)
		return mynic_poll_cq_body(ibcq, num_entries, wc, true);
	return mynic_poll_cq_body(ibcq, num_entries, wc, false);
}

/* For mynic_choose_queue_ops() */
static const struct verbs_context_ops mynic_poll_forms[MYNIC_BOTH + 1] = {
	[MYNIC_MANY_THREADS] = { .poll_cq = mynic_poll_cq },
	[MYNIC_SINGLE_THREADS] = { .poll_cq = mynic_poll_cq_single },
	[MYNIC_BOTH] = { .poll_cq = mynic_poll_cq_any },
};

/*
 * Return the entry with a free-running index if it is valid, else NULL. Slots
 * and laps count from the entry with which the ring began.
 */
static struct mynic_cqe *mynic_cq_entry(struct mynic_cq *cq, uint32_t index)
{
	uint32_t size = cq->end - cq->ring;
	struct mynic_cqe *cqe;

	index -= cq->base;
	cqe = &cq->ring[index & (size - 1)];
	return mynic_cqe_valid(cqe, !(index & size)) ? cqe : NULL;
}

/*
 * Return the index of the first completion that has not been written yet. It
 * cannot be too new. The index in the record is never newer than what was
 * polled, and an entry that the device has overwritten ends the search. The
 * same holds if the device already writes to another ring.
 */
static uint32_t mynic_cq_written(struct mynic_cq *cq)
{
	uint32_t size = cq->end - cq->ring;
	uint32_t ci = mynic_observe(&cq->dbrec->ci);
	uint32_t i;

	for (i = ci; i - ci < size; i++)
		if (!mynic_cq_entry(cq, i))
			break;
	return i;
}

static inline uint64_t mynic_observe_request(__le64 *request)
{
	uint64_t word = atomic_load_explicit((_Atomic(uint64_t) *)request,
					     memory_order_relaxed);

	return le64toh((__force __le64)word);
}

/* Vector of this processor, or 0 for the one of the CQ's EQ. */
static uint64_t mynic_cq_vector(const struct mynic_cq *cq)
{
	int cpu;

	if (!cq->num_vectors)
		return 0;
	cpu = sched_getcpu();
	return cpu < 0 ? 0 : cpu % cq->num_vectors + 1;
}

/*
 * Return the request to store, or 0 if the device has not yet taken an equal
 * one.
 */
static uint64_t mynic_cq_request(struct mynic_cq *cq, uint32_t index,
				 int solicited_only)
{
	struct mynic_cq_dbrec *dbrec = cq->dbrec;
	uint64_t last = mynic_observe_request(&dbrec->arm);
	uint64_t seq = last >> MYNIC_ARM_SEQ_SHIFT & MYNIC_ARM_SEQ_MASK;
	uint64_t request = MYNIC_ARM_VALID | index |
			   mynic_cq_vector(cq) << MYNIC_ARM_VECTOR_SHIFT;

	if (solicited_only)
		request |= MYNIC_ARM_SOLICITED;
	if (mynic_observe_request(&dbrec->taken) == last ||
	    (uint32_t)last != index)
		seq = (seq + 1) & MYNIC_ARM_SEQ_MASK;
	else if (solicited_only || !(last & MYNIC_ARM_SOLICITED))
		return 0;
	return request | seq << MYNIC_ARM_SEQ_SHIFT;
}

static void mynic_cq_ring(struct mynic_cq *cq, uint32_t index)
{
	uint64_t number = (uint64_t)cq->cqn << MYNIC_DB_NUMBER_SHIFT;

	/* The device must see the request before the doorbell. */
	udma_to_device_barrier();
	mmio_write64_le(cq->doorbell, htole64(number | index));
}

/* Whether the device watches the request that has just been stored. */
static bool mynic_cq_is_watched(struct mynic_cq *cq, uint32_t index)
{
	/*
	 * Store the request before reading these. The device writes an entry
	 * before it reads the request, so one side sees the other.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	return mynic_observe(&cq->dbrec->db_suppress) &&
	       !mynic_cq_entry(cq, index);
}

static void mynic_cq_arm(struct mynic_cq *cq, int solicited_only)
{
	uint32_t index = mynic_cq_written(cq);
	uint64_t request = mynic_cq_request(cq, index, solicited_only);

	if (!request)
		return;
	atomic_store_explicit((_Atomic(uint64_t) *)&cq->dbrec->arm,
			      (__force uint64_t)htole64(request),
			      memory_order_relaxed);
	if (!to_mctx(cq->vcq.cq.context)->db_suppress ||
	    !mynic_cq_is_watched(cq, index))
		mynic_cq_ring(cq, index);
}

/**
 * mynic_req_notify_cq() - ibv_req_notify_cq(3)
 * @ibcq: the CQ
 * @solicited_only: whether only solicited completions and errors count
 *
 * The event is for the next completion that is added. Programs rely on getting
 * none for those already there: they take an event for the completion of their
 * last request. With completion vector 0 the event interrupts the calling
 * processor, on which the caller will most likely wait.
 *
 * Context: may be called between ibv_start_poll() and ibv_end_poll(), as it
 * does not take the lock of polling.
 * Return: 0.
 */
int mynic_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct mynic_cq *cq = to_mcq(ibcq);

	if (!cq->single_threaded)
		mynic_lock(&cq->ring_lock);
	mynic_cq_arm(cq, solicited_only);
	if (!cq->single_threaded)
		mynic_unlock(&cq->ring_lock);
	return 0;
}

static inline struct mynic_cq *mynic_cq_ex(struct ibv_cq_ex *cq)
{
	return container_of(cq, struct mynic_cq, vcq.cq_ex);
}

/* Make the next entry the current one if it is valid. */
static inline ALWAYS_INLINE int mynic_cq_advance(struct mynic_cq *cq)
{
	struct mynic_cqe *cqe = cq->next;

	if (unlikely(!mynic_cqe_valid(cqe, cq->phase)))
		return ENOENT;
	cq->cur = cqe;
	cq->vcq.cq_ex.wr_id = le64toh(cqe->wr_id);
	cq->vcq.cq_ex.status = le32toh(cqe->status);
	cq->ci++;
	if (unlikely(++cqe == cq->end)) {
		cqe = cq->ring;
		cq->phase ^= 1;
	}
	cq->next = cqe;
	return 0;
}

static __attribute__((cold, noinline)) int
mynic_poll_refuse(struct mynic_cq *cq, uint32_t comp_mask)
{
	verbs_debug(verbs_get_ctx(cq->vcq.cq.context),
		    "CQ 0x%x: comp_mask 0x%x\n", cq->cqn, comp_mask);
	return EINVAL;
}

static inline ALWAYS_INLINE int
mynic_start_poll_body(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr,
		      bool locked)
{
	struct mynic_cq *cq = mynic_cq_ex(ibcq);
	int err;

	if (unlikely(attr->comp_mask))
		return mynic_poll_refuse(cq, attr->comp_mask);
	if (locked)
		mynic_lock(&cq->lock);
	err = mynic_cq_advance(cq);
	if (unlikely(err) && locked)
		mynic_unlock(&cq->lock);
	return err;
}

static inline ALWAYS_INLINE void mynic_end_poll_body(struct ibv_cq_ex *ibcq,
						     bool locked)
{
	struct mynic_cq *cq = mynic_cq_ex(ibcq);

	mynic_publish(&cq->dbrec->ci, cq->ci);
	if (locked)
		mynic_unlock(&cq->lock);
}

static int mynic_start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	return mynic_start_poll_body(cq, attr, true);
}

static int mynic_start_poll_unlocked(struct ibv_cq_ex *cq,
				     struct ibv_poll_cq_attr *attr)
{
	return mynic_start_poll_body(cq, attr, false);
}

static int mynic_next_poll(struct ibv_cq_ex *cq)
{
	return mynic_cq_advance(mynic_cq_ex(cq));
}

static void mynic_end_poll(struct ibv_cq_ex *cq)
{
	mynic_end_poll_body(cq, true);
}

static void mynic_end_poll_unlocked(struct ibv_cq_ex *cq)
{
	mynic_end_poll_body(cq, false);
}

static enum ibv_wc_opcode mynic_read_opcode(struct ibv_cq_ex *cq)
{
	return le32toh(mynic_cq_ex(cq)->cur->opcode);
}

static uint32_t mynic_read_vendor_err(struct ibv_cq_ex *cq)
{
	return le32toh(mynic_cq_ex(cq)->cur->vendor_err);
}

static unsigned int mynic_read_wc_flags(struct ibv_cq_ex *cq)
{
	return le32toh(mynic_cq_ex(cq)->cur->wc_flags);
}

static uint32_t mynic_read_byte_len(struct ibv_cq_ex *cq)
{
	return le32toh(mynic_cq_ex(cq)->cur->byte_len);
}

static __be32 mynic_read_imm_data(struct ibv_cq_ex *cq)
{
	return mynic_cqe_imm_data(mynic_cq_ex(cq)->cur);
}

static uint32_t mynic_read_qp_num(struct ibv_cq_ex *cq)
{
	return le32toh(mynic_cq_ex(cq)->cur->qp_num);
}

static uint32_t mynic_read_src_qp(struct ibv_cq_ex *cq)
{
	return le32toh(mynic_cq_ex(cq)->cur->src_qp);
}

static uint32_t mynic_read_slid(struct ibv_cq_ex *cq)
{
	return le16toh(mynic_cq_ex(cq)->cur->slid);
}

static uint8_t mynic_read_sl(struct ibv_cq_ex *cq)
{
	return mynic_cq_ex(cq)->cur->sl;
}

static uint8_t mynic_read_dlid_path_bits(struct ibv_cq_ex *cq)
{
	return mynic_cq_ex(cq)->cur->dlid_path_bits;
}

static uint64_t mynic_read_completion_ts(struct ibv_cq_ex *cq)
{
	return le64toh(mynic_cq_ex(cq)->cur->timestamp);
}

static uint64_t mynic_read_wallclock_ns(struct ibv_cq_ex *cq)
{
	return mynic_clock_to_ns(to_mctx(cq->context),
				 mynic_read_completion_ts(cq));
}

static uint16_t mynic_read_cvlan(struct ibv_cq_ex *cq)
{
	return le16toh(mynic_cq_ex(cq)->cur->cvlan);
}

static uint32_t mynic_read_flow_tag(struct ibv_cq_ex *cq)
{
	return le32toh(mynic_cq_ex(cq)->cur->flow_tag);
}

static void mynic_read_tm_info(struct ibv_cq_ex *cq,
			       struct ibv_wc_tm_info *tm_info)
{
	const struct mynic_cqe *cqe = mynic_cq_ex(cq)->cur;

	tm_info->tag = le64toh(cqe->tag);
	tm_info->priv = le32toh(cqe->tag_priv);
}

static void mynic_cq_ex_setup(struct mynic_cq *mcq, uint64_t wc_flags)
{
	struct ibv_cq_ex *cq = &mcq->vcq.cq_ex;

	if (mcq->single_threaded) {
		cq->start_poll = mynic_start_poll_unlocked;
		cq->end_poll = mynic_end_poll_unlocked;
	} else {
		cq->start_poll = mynic_start_poll;
		cq->end_poll = mynic_end_poll;
	}
	cq->next_poll = mynic_next_poll;

	cq->read_opcode = mynic_read_opcode;
	cq->read_vendor_err = mynic_read_vendor_err;
	cq->read_wc_flags = mynic_read_wc_flags;
	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		cq->read_byte_len = mynic_read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		cq->read_imm_data = mynic_read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		cq->read_qp_num = mynic_read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		cq->read_src_qp = mynic_read_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		cq->read_slid = mynic_read_slid;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		cq->read_sl = mynic_read_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		cq->read_dlid_path_bits = mynic_read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cq->read_completion_ts = mynic_read_completion_ts;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		cq->read_completion_wallclock_ns = mynic_read_wallclock_ns;
	if (wc_flags & IBV_WC_EX_WITH_CVLAN)
		cq->read_cvlan = mynic_read_cvlan;
	if (wc_flags & IBV_WC_EX_WITH_FLOW_TAG)
		cq->read_flow_tag = mynic_read_flow_tag;
	if (wc_flags & IBV_WC_EX_WITH_TM_INFO)
		cq->read_tm_info = mynic_read_tm_info;
}

static void mynic_cq_seek(struct mynic_cq *cq, uint32_t ci)
{
	uint32_t size = cq->end - cq->ring;
	uint32_t index = ci - cq->base;

	cq->ci = ci;
	cq->next = &cq->ring[index & (size - 1)];
	cq->phase = !(index & size);
}

/* @pd: parent domain of the CQ, or NULL */
static struct mynic_cq *mynic_cq_alloc(struct ibv_context *context,
				       struct ibv_pd *pd, bool single_threaded)
{
	struct mynic_home home;
	struct mynic_cq *cq;

	cq = mynic_alloc_object(&home, pd, sizeof(*cq), MYNICDV_RES_CQ);
	if (!cq)
		return NULL;
	cq->home = home;
	cq->single_threaded = single_threaded || mynic_single_threaded(pd);
	mynic_choose_queue_ops(context, MYNIC_QUEUE_CQ, mynic_poll_forms,
			       cq->single_threaded);
	pthread_mutex_init(&cq->resize_lock, NULL);
	return cq;
}

static void mynic_cq_free(struct mynic_cq *cq)
{
	pthread_mutex_destroy(&cq->resize_lock);
	mynic_free_object(&cq->home, cq, MYNICDV_RES_CQ);
}

static int mynic_cq_map(struct mynic_cq *cq, struct ibv_context *context,
			const struct mynic_create_cq_resp *resp)
{
	int err;

	err = mynic_mmap(context, &cq->map, resp->mmap_key, resp->mmap_size);
	if (err)
		return err;

	cq->ring = cq->map.addr + resp->ring_offset;
	cq->end = cq->ring + (1UL << resp->log_size);
	cq->dbrec = cq->map.addr + resp->dbrec_offset;
	cq->cqn = resp->cqn;
	cq->num_vectors = resp->num_vectors;
	cq->doorbell = to_mctx(context)->uar + MYNIC_UAR_CQ_DB;
	mynic_cq_seek(cq, 0);
	return 0;
}

struct ibv_cq *mynic_create_cq(struct ibv_context *context, int cqe,
			       struct ibv_comp_channel *channel,
			       int comp_vector)
{
	struct umynic_create_cq_resp resp = {};
	struct ibv_create_cq cmd;
	struct mynic_cq *cq;
	int err;

	cq = mynic_cq_alloc(context, NULL, false);
	if (!cq)
		return NULL;
	err = ibv_cmd_create_cq(context, cqe, channel, comp_vector, &cq->vcq.cq,
				&cmd, sizeof(cmd), &resp.ibv_resp,
				sizeof(resp));
	if (err)
		goto err_free;
	err = mynic_cq_map(cq, context, &resp.drv_payload);
	if (err)
		goto err_destroy;
	return &cq->vcq.cq;

err_destroy:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
err_free:
	mynic_cq_free(cq);
	errno = err;
	return NULL;
}

/* Return: 0 or a positive errno. */
static int mynic_cq_check(struct ibv_context *context,
			  const struct ibv_cq_init_attr_ex *attr,
			  uint32_t flags)
{
	if (!check_comp_mask(attr->comp_mask,
			     IBV_CQ_INIT_ATTR_MASK_FLAGS |
				     IBV_CQ_INIT_ATTR_MASK_PD) ||
	    !check_comp_mask(attr->wc_flags, MYNIC_WC_FLAGS) ||
	    !check_comp_mask(flags, MYNIC_CQ_FLAGS)) {
		verbs_debug(
			verbs_get_ctx(context),
			"CQ: comp_mask 0x%x, wc_flags 0x%llx or flags 0x%x\n",
			attr->comp_mask, (unsigned long long)attr->wc_flags,
			flags);
		return EOPNOTSUPP;
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD &&
	    (!attr->parent_domain ||
	     !to_mpd(attr->parent_domain)->protection)) {
		verbs_debug(verbs_get_ctx(context),
			    "CQ: the PD is not a parent domain\n");
		return EINVAL;
	}
	if (attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		return mynic_clock_open(to_mctx(context));
	return 0;
}

struct ibv_cq_ex *mynic_create_cq_ex(struct ibv_context *context,
				     struct ibv_cq_init_attr_ex *attr)
{
	struct umynic_create_cq_ex_resp resp = {};
	struct ibv_create_cq_ex cmd;
	struct ibv_pd *pd = NULL;
	struct mynic_cq *cq;
	uint32_t flags = 0;
	int err;

	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS)
		flags = attr->flags;
	err = mynic_cq_check(context, attr, flags);
	if (err) {
		errno = err;
		return NULL;
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD)
		pd = attr->parent_domain;

	cq = mynic_cq_alloc(context, pd,
			    flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	if (!cq)
		return NULL;
	err = ibv_cmd_create_cq_ex(context, attr, NULL, &cq->vcq, &cmd,
				   sizeof(cmd), &resp.ibv_resp, sizeof(resp),
				   0);
	if (err)
		goto err_free;
	err = mynic_cq_map(cq, context, &resp.drv_payload);
	if (err)
		goto err_destroy;
	mynic_cq_ex_setup(cq, attr->wc_flags);
	return &cq->vcq.cq_ex;

err_destroy:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
err_free:
	mynic_cq_free(cq);
	errno = err;
	return NULL;
}

/*
 * EBUSY: a QP or WQ uses the CQ. The kernel would refuse, too, but not if the
 * device is gone.
 */
int mynic_destroy_cq(struct ibv_cq *ibcq)
{
	struct mynic_cq *cq = to_mcq(ibcq);
	int err;

	if (mynic_in_use(&cq->users)) {
		verbs_debug(verbs_get_ctx(ibcq->context),
			    "CQ 0x%x: a QP or WQ uses it\n", cq->cqn);
		return EBUSY;
	}
	err = ibv_cmd_destroy_cq(ibcq);
	if (err)
		return err;
	mynic_munmap(&cq->map);
	mynic_cq_free(cq);
	return 0;
}

int mynic_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = {};

	return ibv_cmd_modify_cq(cq, attr, &cmd, sizeof(cmd));
}

/* The device writes to the new ring, behind the slots of the copied entries. */
static void mynic_cq_change_ring(struct mynic_cq *cq, struct mynic_map *map,
				 const struct mynic_resize_resp *resp)
{
	struct mynic_cq_dbrec *dbrec = map->addr + resp->dbrec_offset;
	struct mynic_cqe *ring = map->addr + resp->ring_offset;
	uint32_t size = 1U << resp->log_size;
	struct mynic_map old = cq->map;
	struct mynic_cqe *cqe;
	uint32_t n;

	for (n = 0; n < size; n++) {
		cqe = mynic_cq_entry(cq, cq->ci + n);
		if (!cqe)
			break;
		memcpy(&ring[n], cqe, sizeof(*cqe));
		ring[n].phase = 1;
	}

	mynic_lock(&cq->ring_lock);
	/* Earlier requests went to the old record. */
	dbrec->arm = cq->dbrec->arm;
	cq->map = *map;
	cq->ring = ring;
	cq->end = ring + size;
	cq->dbrec = dbrec;
	cq->base = cq->ci;
	mynic_cq_seek(cq, cq->ci);
	if (dbrec->arm != dbrec->taken)
		mynic_cq_ring(cq, cq->ci);
	mynic_unlock(&cq->ring_lock);
	*map = old;
}

static int mynic_cq_move(struct mynic_cq *cq, int cqe, struct mynic_map *map,
			 const struct mynic_resize_resp *ring)
{
	struct umynic_resize_cq_resp resp = {};
	struct umynic_resize_cq cmd = { .mmap_key = ring->mmap_key };
	int err;

	if (!cq->single_threaded)
		mynic_lock(&cq->lock);
	err = ibv_cmd_resize_cq(&cq->vcq.cq, cqe, &cmd.ibv_cmd, sizeof(cmd),
				&resp.ibv_resp, sizeof(resp));
	if (!err)
		mynic_cq_change_ring(cq, map, ring);
	if (!cq->single_threaded)
		mynic_unlock(&cq->lock);
	return err;
}

static int mynic_cq_resize(struct mynic_cq *cq, int cqe)
{
	struct umynic_resize_cq_resp resp = {};
	struct umynic_resize_cq cmd = {};
	struct mynic_map map;
	int err;

	err = ibv_cmd_resize_cq(&cq->vcq.cq, cqe, &cmd.ibv_cmd, sizeof(cmd),
				&resp.ibv_resp, sizeof(resp));
	if (err)
		return err;
	err = mynic_mmap(cq->vcq.cq.context, &map, resp.mmap_key,
			 resp.mmap_size);
	if (err)
		return err;
	err = mynic_cq_move(cq, cqe, &map, &resp.drv_payload);
	/* Unmap the old memory, or the new memory after an error. */
	mynic_munmap(&map);
	return err;
}

/*
 * Polling waits while the device moves the CQ, but not while memory is
 * allocated and mapped. Must not be called between ibv_start_poll() and
 * ibv_end_poll(). Return: 0; EINVAL if there are more completions than would
 * fit; or another positive errno. After an error, the CQ is unchanged.
 */
int mynic_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct mynic_cq *cq = to_mcq(ibcq);
	int err;

	pthread_mutex_lock(&cq->resize_lock);
	err = mynic_cq_resize(cq, cqe);
	pthread_mutex_unlock(&cq->resize_lock);
	return err;
}

/*
 * Remove the completions of a QP that has been reset or destroyed, and so gets
 * no more. Completions of other QPs may arrive meanwhile, behind those examined
 * here.
 */
void mynic_cq_clean(struct mynic_cq *cq, uint32_t qpn)
{
	uint32_t n = 0, removed = 0;
	uint32_t size, first;

	mynic_lock(&cq->lock);
	size = cq->end - cq->ring;
	first = cq->ci - cq->base;
	while (n < size && mynic_cq_entry(cq, cq->ci + n))
		n++;

	/*
	 * Begin at the newest entry, and move those that stay over those that
	 * go.
	 */
	while (n--) {
		uint32_t index = first + n;
		struct mynic_cqe *cqe = &cq->ring[index & (size - 1)];

		if (le32toh(cqe->qp_num) == qpn)
			removed++;
		else if (removed)
			/*
			 * The phase belongs to the slot, because it tells the
			 * lap.
			 */
			memcpy(&cq->ring[(index + removed) & (size - 1)], cqe,
			       offsetof(struct mynic_cqe, phase));
	}
	if (removed) {
		mynic_cq_seek(cq, cq->ci + removed);
		mynic_publish(&cq->dbrec->ci, cq->ci);
	}
	mynic_unlock(&cq->lock);
}
