/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Which state may follow which, and with which attributes. Changes that the
 * host asks for are in engine/qp_attr.c, and those after errors in qp_error.c.
 */
#ifndef MYNIC_QP_STATE_H
#define MYNIC_QP_STATE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * qp_transition_is_legal() - check a change of state and attributes
 * @type: enum mynic_qp_type of an existing QP
 * @from: enum ibv_qp_state
 * @to: any value
 * @mask: enum ibv_qp_attr_mask, any value
 *
 * The rules are those of IBTA 10.3.1 and of the tables in 11.2.5.2 (Modify
 * Queue Pair). RAW_PACKET has those of the verbs API.
 *
 * Return: true if it is legal.
 */
bool qp_transition_is_legal(uint8_t type, uint8_t from, uint8_t to,
			    uint32_t mask);

#endif /* MYNIC_QP_STATE_H */
