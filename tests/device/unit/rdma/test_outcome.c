// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tables by outcome. A row that is missing reads as zeroes, which mean success,
 * or a NAK for a gap.
 */
#include "core/base/outcome.h"
#include "core/base/verbs.h"
#include "core/packet/aeth.h"
#include "core/rdma/response_queue.h"
#include "core/state/transport_types.h"
#include "harness_tap.h"

/*
 * Where an outcome may end. There is no default, so the compiler complains
 * about an outcome that is not listed.
 */
enum end {
	END_COMPLETION = 1 << 0,
	END_NAK = 1 << 1,
};

static unsigned int ends_of(enum outcome outcome)
{
	switch (outcome) {
	case OUTCOME_OK:
	case OUTCOME_WAIT:
	case OUTCOME_MORE:
	case OUTCOME_NO_PAGE:
	case OUTCOME_NO_RECV:
	case OUTCOMES:
		return 0;
	case OUTCOME_BAD_OPCODE:
	case OUTCOME_BAD_FLAGS:
	case OUTCOME_BAD_LEN:
	case OUTCOME_BAD_GID:
	case OUTCOME_MKEY:
	case OUTCOME_MKEY_ACCESS:
	case OUTCOME_MKEY_BOUNDS:
	case OUTCOME_FLUSHED:
	case OUTCOME_CUT:
	case OUTCOME_BAD_RESPONSE:
	case OUTCOME_REMOTE_INVALID:
	case OUTCOME_REMOTE_ACCESS:
	case OUTCOME_REMOTE_OP:
	case OUTCOME_RETRY:
	case OUTCOME_RNR_RETRY:
		return END_COMPLETION;
	case OUTCOME_DMA:
	case OUTCOME_SCATTERED:
	case OUTCOME_RKEY:
	case OUTCOME_LKEY:
	case OUTCOME_LKEY_BOUNDS:
	case OUTCOME_LKEY_DMA:
	case OUTCOME_NO_ENTRY:
	case OUTCOME_BAD_ENTRY:
	case OUTCOME_TOO_LONG:
	case OUTCOME_INVALID:
	case OUTCOME_NOT_ALLOWED:
		return END_COMPLETION | END_NAK;
	}
	FAIL("outcome %u is not in the enum", outcome);
}

TEST(tables_completions_of_outcomes)
{
	CHECK_EQ(outcome_result(OUTCOME_OK).status, IBV_WC_SUCCESS);
	for (enum outcome o = 0; o < OUTCOMES; o++)
		if (ends_of(o) & END_COMPLETION && !outcome_result(o).status)
			FAIL("outcome %u completes a request with success", o);
}

TEST(tables_naks_of_outcomes)
{
	for (enum outcome o = 0; o < OUTCOMES; o++) {
		struct responder r = { 0 };

		if (!(ends_of(o) & END_NAK))
			continue;
		responses_fail(&r, 7, o);
		CHECK_EQ(r.nak, RESPONDER_NAK_FATAL);
		CHECK_EQ(r.nak_psn, 7);
		if (r.nak_syndrome == (AETH_NAK | AETH_NAK_SEQUENCE))
			FAIL("outcome %u looks like a gap", o);
	}
}
