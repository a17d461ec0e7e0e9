/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A kernel driver and a device that the provider cannot tell from the real
 * ones, in the process that uses the provider: fake.c defines libibverbs'
 * ibv_cmd_*() functions, which in a program come before those of the library.
 * What a test does to a queue's memory here is what the device would do.
 */
#ifndef MYNIC_FAKE_H
#define MYNIC_FAKE_H

#include <infiniband/driver.h>
#include <rdma/mynic-abi.h>
#include <rdma/mynic-hw.h>

/**
 * struct fake_state - what the fake kernel is told and tells
 * @fail: positive errno with which a command fails, or 0
 * @fail_after: how many succeed before that
 * @bad_map: the memory of objects created from now on cannot be mapped
 * @no_gid_page: contexts opened from now on have none
 * @db_suppress: contexts opened from now on have it
 * @log_max_sq_stride: as contexts opened from now on are told
 * @log_max_rq_stride: likewise
 * @log_max_memcpy: likewise
 * @num_vectors: from which CQs created from now on may choose
 * @qp_state: what ibv_query_qp() finds
 * @meanwhile: if not NULL, what happens, once, after the next command that asks
 *	for the state of a QP, or changes that of a QP or WQ, has been carried
 *	out and before it returns
 * @live: objects created and not destroyed
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
 * fake_uar() - what was rung
 * @offset: of the doorbell
 *
 * Return: the 8 bytes of the last doorbell rung there.
 */
uint64_t *fake_uar(unsigned int offset);

/**
 * struct fake_qp - the device's view of a QP
 * @sq: send ring
 * @rq: receive ring
 * @dbrec: doorbell record
 * @qpn: number
 * @cap: what the rings hold
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

/* The object that was created last, which is also the one that is resized */
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
 * @cqe: the completion, but for the phase
 */
void fake_complete(struct fake_cq *cq, const struct mynic_cqe *cqe);

#endif /* MYNIC_FAKE_H */
