/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The start of the tests: an open device with a PD and a CQ. */
#ifndef MYNIC_FIXTURE_H
#define MYNIC_FIXTURE_H

#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>

#include "../../lib/harness_tap.h"
#include "fake.h"

struct fixture {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct fake_cq fake_cq;
};

/**
 * fixture_open() - open the device until the end of the test
 * @cqe: entries of the CQ
 *
 * Return: the fixture.
 */
struct fixture *fixture_open(int cqe);

/**
 * fixture_qp() - create a QP in RTS, with functions for ibv_wr_*()
 * @f: fixture
 * @type: type of QP
 * @max_wr: requests in each queue
 * @max_sge: SGEs of a request in each queue
 *
 * Return: the QP.
 */
struct ibv_qp *fixture_qp(struct fixture *f, enum ibv_qp_type type,
			  uint32_t max_wr, uint32_t max_sge);

/**
 * fixture_set_state() - modify the state of a QP and no other attribute
 * @qp: the QP
 * @state: the state
 */
void fixture_set_state(struct ibv_qp *qp, enum ibv_qp_state state);

/**
 * fixture_ah() - create an address handle with different values in all fields
 * @f: fixture
 *
 * Return: the address handle.
 */
struct ibv_ah *fixture_ah(struct fixture *f);

/**
 * fixture_check_av() - check that an address vector is that of fixture_ah()
 * @av: address vector
 */
void fixture_check_av(const struct mynic_av *av);

/**
 * fixture_sq_slot() - the slot of a request in the send queue
 * @index: free-running index of the request
 *
 * Return: the slot, of the QP that was created last.
 */
struct mynic_send_wqe *fixture_sq_slot(uint32_t index);

/**
 * fixture_check_doorbell() - check that requests were announced by a doorbell
 * @qp: the QP, created last
 * @index: producer index in the doorbell and in the record
 *
 * Forgets the doorbell.
 */
void fixture_check_doorbell(struct ibv_qp *qp, uint32_t index);

/**
 * fixture_check_not_rung() - check that no doorbell was rung
 * @index: producer index in the record of the QP that was created last
 */
void fixture_check_not_rung(uint32_t index);

/**
 * fixture_is_atomic() - tell an atomic operation with operands in the request
 * @opcode: the operation
 *
 * Return: whether it is COMPARE SWAP or FETCH ADD.
 */
bool fixture_is_atomic(enum ibv_wr_opcode opcode);

/**
 * fixture_page_end() - allocate memory at the end of a mapping, so that reading
 * on faults
 * @size: bytes
 *
 * Return: the memory.
 */
void *fixture_page_end(size_t size);

#endif /* MYNIC_FIXTURE_H */
