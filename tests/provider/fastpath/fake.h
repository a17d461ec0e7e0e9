/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A kernel driver and a device for the provider, in the same process. fake.c
 * defines libibverbs' ibv_cmd_*() functions, which replace those of the
 * library. Tests play the device: they write to the memory of queues.
 */
#ifndef MYNIC_FAKE_H
#define MYNIC_FAKE_H

#include <infiniband/driver.h>
#include <rdma/mynic-abi.h>
#include <rdma/mynic-hw.h>

/**
 * struct fake_state - settings and state of the fake kernel
 * @fail: positive errno with which a command fails, or 0
 * @fail_after: number of commands that succeed before
 * @bad_map: the memory of objects created from now on cannot be mapped
 * @no_gid_page: contexts opened from now on have no GID page
 * @db_suppress: contexts opened from now on have doorbell suppression
 * @log_max_sq_stride: limit of contexts opened from now on
 * @log_max_rq_stride: likewise
 * @log_max_memcpy: likewise
 * @num_vectors: vectors of CQs created from now on
 * @qp_state: result of ibv_query_qp()
 * @meanwhile: called once, within the next command that queries or changes the
 * state of a QP or WQ, after its execution. May be NULL
 * @live: number of objects that have not been destroyed
 */
struct fake_state {
	int fail;
	int fail_after;
	bool bad_map;
	bool no_gid_page;
	bool db_suppress;
	uint8_t log_max_sq_stride;
	uint8_t log_max_rq_stride;
	uint8_t log_max_memcpy;
	uint8_t num_vectors;
	enum ibv_qp_state qp_state;
	void (*meanwhile)(void);
	int live;
};

extern struct fake_state fake;

/* The provider; verbs.h declares it for static programs only. */
extern const struct verbs_device_ops verbs_provider_mynic;

#define FAKE_FW_VER (1ULL << 32 | 22 << 16 | 333)
#define FAKE_DMAC { 2, 4, 6, 8, 10, 12 }

/**
 * fake_open() - open the fake device; the running test closes it when it ends
 *
 * Return: the context, or NULL with errno set.
 */
struct ibv_context *fake_open(void);

/**
 * fake_uar() - last doorbell
 * @offset: offset of the doorbell
 *
 * Return: its 8 bytes.
 */
uint64_t *fake_uar(unsigned int offset);

/**
 * struct fake_qp - the device's view of a QP
 * @sq: send ring
 * @rq: receive ring
 * @dbrec: doorbell record
 * @qpn: number
 * @cap: capacities of the rings
 * @resp: what the kernel said
 */
struct fake_qp {
	void *sq;
	void *rq;
	struct mynic_qp_dbrec *dbrec;
	uint32_t qpn;
	struct ibv_qp_cap cap;
	struct mynic_create_qp_resp resp;
};

/**
 * struct fake_cq - the device's view of a CQ
 * @ring: ring
 * @dbrec: doorbell record
 * @resp: what the kernel said
 * @pi: producer index
 * @base: index of the entry that went to the first slot
 */
struct fake_cq {
	struct mynic_cqe *ring;
	struct mynic_cq_dbrec *dbrec;
	struct mynic_create_cq_resp resp;
	uint32_t pi;
	uint32_t base;
};

/**
 * struct fake_srq - the device's view of an SRQ
 * @ring: ring
 * @dbrec: doorbell record
 * @tags: tag ring, if it is for tag matching
 * @tag_dbrec: doorbell record of that
 * @resp: what the kernel said
 */
struct fake_srq {
	void *ring;
	struct mynic_srq_dbrec *dbrec;
	struct mynic_tag_wqe *tags;
	struct mynic_tag_dbrec *tag_dbrec;
	struct mynic_create_srq_resp resp;
};

/**
 * struct fake_wq - the device's view of a WQ
 * @ring: ring
 * @dbrec: doorbell record
 * @resp: what the kernel said
 */
struct fake_wq {
	void *ring;
	struct mynic_qp_dbrec *dbrec;
	struct mynic_create_wq_resp resp;
};

/*
 * The object that was created last, which is also the one that can be resized
 */
extern struct fake_qp fake_qp;
extern struct fake_cq fake_cq;
extern struct fake_srq fake_srq;
extern struct fake_wq fake_wq;

/* The clock page of the context that was opened last */
extern struct mynic_clock_info *fake_clock;

/* ... and its GID page */
extern struct mynic_gid_info *fake_gids;

/**
 * fake_complete() - write a completion as the device does
 * @cq: the CQ
 * @cqe: the completion, except for the phase
 */
void fake_complete(struct fake_cq *cq, const struct mynic_cqe *cqe);

#endif /* MYNIC_FAKE_H */
