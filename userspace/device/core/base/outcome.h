/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What comes of a request or of a packet. All functions on the way of data
 * return it, from the look-up of a key to the service of a QP. It is converted
 * where it is reported: outcome_result() for a completion, responses_fail() for
 * a NAK, and uc_refuse() for a counter.
 */
#ifndef MYNIC_OUTCOME_H
#define MYNIC_OUTCOME_H

#include <stdint.h>

/**
 * enum outcome - what comes of a request or of a packet
 * @OUTCOME_OK: it was done
 *
 * It is not done yet:
 *
 * @OUTCOME_WAIT: it has to wait. The QP is scheduled when it can go on, and
 *	what has to wait is tried again
 * @OUTCOME_MORE: a part was done, and the rest can follow at once
 * @OUTCOME_NO_PAGE: a page of a paged region is missing, and the host does not
 *	know. odp_wait() makes OUTCOME_WAIT of it
 *
 * Memory of a region:
 *
 * @OUTCOME_DMA: it is not mapped, or cannot be made persistent
 * @OUTCOME_SCATTERED: it is in more pieces than the scatter list has room for
 * @OUTCOME_RKEY: the peer's key is unknown, of another PD, or does not allow it
 * @OUTCOME_LKEY: likewise, a key in a request of the host
 * @OUTCOME_LKEY_BOUNDS: the range is not inside the region, likewise
 * @OUTCOME_LKEY_DMA: OUTCOME_DMA or OUTCOME_SCATTERED, likewise
 *
 * Requests of the host:
 *
 * @OUTCOME_NO_ENTRY: the entry of the ring is not mapped
 * @OUTCOME_BAD_ENTRY: the slot has no room for what the entry says, or its TCP
 *	header cannot be found
 * @OUTCOME_BAD_OPCODE: the QP does not allow the opcode
 * @OUTCOME_BAD_FLAGS: the opcode does not allow the flags
 * @OUTCOME_BAD_LEN: the opcode does not allow the length
 * @OUTCOME_BAD_GID: there is no path to the destination
 * @OUTCOME_MKEY: the key that a BIND_MW, REG_MR or LOCAL_INV is about is
 *	unknown, of another PD, or in a wrong state
 * @OUTCOME_MKEY_ACCESS: BIND_MW, REG_MR: the rights are illegal
 * @OUTCOME_MKEY_BOUNDS: BIND_MW, REG_MR: the range or its pages are illegal
 * @OUTCOME_FLUSHED: it was flushed, because the QP is in an error state
 * @OUTCOME_CUT: a message with rendezvous did not fit, see TM_INCOMPLETE
 *
 * Packets of a peer that make a request:
 *
 * @OUTCOME_NO_RECV: there is no receive request
 * @OUTCOME_TOO_LONG: the message does not fit in the receive request
 * @OUTCOME_INVALID: it breaks the rules of the protocol
 * @OUTCOME_NOT_ALLOWED: the QP's access flags do not allow it
 *
 * Answers of a peer, or the lack of them:
 *
 * @OUTCOME_BAD_RESPONSE: it does not match the request
 * @OUTCOME_REMOTE_INVALID: NAK: invalid request
 * @OUTCOME_REMOTE_ACCESS: NAK: remote access error
 * @OUTCOME_REMOTE_OP: NAK: remote operational error
 * @OUTCOME_RETRY: there was none, after all retries
 * @OUTCOME_RNR_RETRY: RNR NAK, after all retries
 *
 * @OUTCOMES: number of outcomes
 */
enum outcome {
	OUTCOME_OK,
	OUTCOME_WAIT,
	OUTCOME_MORE,
	OUTCOME_NO_PAGE,
	OUTCOME_DMA,
	OUTCOME_SCATTERED,
	OUTCOME_RKEY,
	OUTCOME_LKEY,
	OUTCOME_LKEY_BOUNDS,
	OUTCOME_LKEY_DMA,
	OUTCOME_NO_ENTRY,
	OUTCOME_BAD_ENTRY,
	OUTCOME_BAD_OPCODE,
	OUTCOME_BAD_FLAGS,
	OUTCOME_BAD_LEN,
	OUTCOME_BAD_GID,
	OUTCOME_MKEY,
	OUTCOME_MKEY_ACCESS,
	OUTCOME_MKEY_BOUNDS,
	OUTCOME_FLUSHED,
	OUTCOME_CUT,
	OUTCOME_NO_RECV,
	OUTCOME_TOO_LONG,
	OUTCOME_INVALID,
	OUTCOME_NOT_ALLOWED,
	OUTCOME_BAD_RESPONSE,
	OUTCOME_REMOTE_INVALID,
	OUTCOME_REMOTE_ACCESS,
	OUTCOME_REMOTE_OP,
	OUTCOME_RETRY,
	OUTCOME_RNR_RETRY,
	OUTCOMES,
};

/**
 * struct outcome_result - an outcome in a completion
 * @status: enum ibv_wc_status
 * @syndrome: enum mynic_syndrome
 */
struct outcome_result {
	uint8_t status;
	uint8_t syndrome;
};

/* An outcome in the completion of a send or receive request that it ends. */
struct outcome_result outcome_result(enum outcome outcome);

#endif /* MYNIC_OUTCOME_H */
