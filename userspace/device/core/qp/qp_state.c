// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of legal state transitions and their attributes. It changes no QP.
 */

#include "qp/qp_state.h"

#include <sys/queue.h>

#include "base/util.h"
#include "base/verbs.h"
#include "mynic_regs.h"

/* Short names make the table readable */
#define CUR IBV_QP_CUR_STATE
#define NOTIFY IBV_QP_EN_SQD_ASYNC_NOTIFY
#define ACCESS IBV_QP_ACCESS_FLAGS
#define PKEY IBV_QP_PKEY_INDEX
#define PORT IBV_QP_PORT
#define QKEY IBV_QP_QKEY
#define AV IBV_QP_AV
#define MTU IBV_QP_PATH_MTU
#define TIMEOUT IBV_QP_TIMEOUT
#define RETRY IBV_QP_RETRY_CNT
#define RNR_RETRY IBV_QP_RNR_RETRY
#define RQ_PSN IBV_QP_RQ_PSN
#define RD IBV_QP_MAX_QP_RD_ATOMIC
#define RNR_TIMER IBV_QP_MIN_RNR_TIMER
#define SQ_PSN IBV_QP_SQ_PSN
#define DEST_RD IBV_QP_MAX_DEST_RD_ATOMIC
#define DEST IBV_QP_DEST_QPN
#define RATE IBV_QP_RATE_LIMIT
#define ECE MYNIC_QP_ATTR_ECE

#define ON(type) (1 << MYNIC_QP_##type)
#define INI ON(XRC_INI)
#define TGT ON(XRC_TGT)
#define ALL                                                                \
	(ON(RC) | ON(UC) | ON(UD) | ON(GSI) | ON(RAW_PACKET) | INI | TGT | \
	 ON(DRIVER))

/**
 * struct rule - a transition for some types of QP
 * @from: enum ibv_qp_state
 * @to: enum ibv_qp_state
 * @types: one bit, 1 << enum mynic_qp_type, for each type
 * @required: attributes that must be given besides the state
 * @optional: attributes that may be given
 */
struct rule {
	uint8_t from;
	uint8_t to;
	uint16_t types;
	uint32_t required;
	uint32_t optional;
};

#define RESET IBV_QPS_RESET
#define INIT IBV_QPS_INIT
#define RTR IBV_QPS_RTR
#define RTS IBV_QPS_RTS
#define SQD IBV_QPS_SQD
#define SQE IBV_QPS_SQE

/* Transitions to RESET and ERR are always legal, and not in the table */
static const struct rule rules[] = {
	{ RESET, INIT, ON(RC) | ON(UC) | INI | TGT, PKEY | PORT | ACCESS, 0 },
	{ RESET, INIT, ON(UD), PKEY | PORT | QKEY, 0 },
	{ RESET, INIT, ON(GSI), PKEY | QKEY, 0 },
	{ RESET, INIT, ON(RAW_PACKET), PORT, 0 },
	{ RESET, INIT, ON(DRIVER), 0, 0 },

	{ INIT, INIT, ON(RC) | ON(UC) | INI | TGT, 0, PKEY | PORT | ACCESS },
	{ INIT, INIT, ON(UD), 0, PKEY | PORT | QKEY },
	{ INIT, INIT, ON(GSI), 0, PKEY | QKEY },
	{ INIT, INIT, ON(RAW_PACKET) | ON(DRIVER), 0, 0 },

	{ INIT, RTR, ON(RC) | TGT,
	  AV | MTU | DEST | RQ_PSN | DEST_RD | RNR_TIMER, ACCESS | PKEY | ECE },
	{ INIT, RTR, ON(UC) | INI, AV | MTU | DEST | RQ_PSN,
	  ACCESS | PKEY | ECE },
	{ INIT, RTR, ON(UD) | ON(GSI), 0, PKEY | QKEY },
	{ INIT, RTR, ON(RAW_PACKET) | ON(DRIVER), 0, 0 },

	{ RTR, RTS, ON(RC), TIMEOUT | RETRY | RNR_RETRY | SQ_PSN | RD,
	  CUR | ACCESS | RNR_TIMER | RATE },
	{ RTR, RTS, INI, TIMEOUT | RETRY | RNR_RETRY | SQ_PSN | RD,
	  CUR | ACCESS | RATE },
	{ RTR, RTS, TGT, TIMEOUT | SQ_PSN, CUR | ACCESS | RNR_TIMER },
	{ RTR, RTS, ON(UC), SQ_PSN, CUR | ACCESS | RATE },
	{ RTR, RTS, ON(UD), SQ_PSN, CUR | QKEY | RATE },
	{ RTR, RTS, ON(GSI), SQ_PSN, CUR | QKEY },
	{ RTR, RTS, ON(RAW_PACKET), 0, RATE },
	{ RTR, RTS, ON(DRIVER), 0, 0 },

	{ RTS, RTS, ON(RC), 0, CUR | ACCESS | RNR_TIMER | RATE },
	{ RTS, RTS, TGT, 0, CUR | ACCESS | RNR_TIMER },
	{ RTS, RTS, ON(UC) | INI, 0, CUR | ACCESS | RATE },
	{ RTS, RTS, ON(UD), 0, CUR | QKEY | RATE },
	{ RTS, RTS, ON(GSI), 0, CUR | QKEY },
	{ RTS, RTS, ON(RAW_PACKET), 0, RATE },
	{ RTS, RTS, ON(DRIVER), 0, 0 },

	{ RTS, SQD, ALL, 0, NOTIFY },

	{ SQD, RTS, ON(RC) | TGT, 0, CUR | ACCESS | RNR_TIMER },
	{ SQD, RTS, ON(UC) | INI, 0, CUR | ACCESS },
	{ SQD, RTS, ON(UD) | ON(GSI), 0, CUR | QKEY },
	{ SQD, RTS, ON(RAW_PACKET) | ON(DRIVER), 0, 0 },

	{ SQD, SQD, ON(RC), 0,
	  PORT | AV | TIMEOUT | RETRY | RNR_RETRY | RD | DEST_RD | ACCESS |
		  PKEY | RNR_TIMER },
	{ SQD, SQD, INI, 0,
	  PORT | AV | TIMEOUT | RETRY | RNR_RETRY | RD | ACCESS | PKEY },
	{ SQD, SQD, TGT, 0,
	  PORT | AV | TIMEOUT | DEST_RD | ACCESS | PKEY | RNR_TIMER },
	{ SQD, SQD, ON(UC), 0, AV | ACCESS | PKEY },
	{ SQD, SQD, ON(UD) | ON(GSI), 0, PKEY | QKEY },
	{ SQD, SQD, ON(RAW_PACKET) | ON(DRIVER), 0, 0 },

	{ SQE, RTS, ON(UC), 0, CUR | ACCESS },
	{ SQE, RTS, ON(UD) | ON(GSI), 0, CUR | QKEY },
	{ SQE, RTS, ON(RAW_PACKET) | ON(DRIVER), 0, 0 },
};

bool qp_transition_is_legal(uint8_t type, uint8_t from, uint8_t to,
			    uint32_t mask)
{
	const struct rule *end = rules + ARRAY_SIZE(rules);

	mask &= ~(uint32_t)IBV_QP_STATE;
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return !mask;
	for (const struct rule *rule = rules; rule != end; rule++) {
		if (rule->from == from && rule->to == to &&
		    rule->types & 1 << type)
			return !(rule->required & ~mask) &&
			       !(mask & ~(rule->required | rule->optional));
	}
	return false;
}
