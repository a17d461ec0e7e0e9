/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Names of values of verbs. A guest may have chosen any value; one without a
 * name is "unknown".
 */
#ifndef MYNIC_HOST_VERBS_NAME_H
#define MYNIC_HOST_VERBS_NAME_H

#include <stddef.h>

#define NAME_AT(names, number) name_at(names, ARRAY_SIZE(names), number)

/* The element @number of a table with @num elements */
const char *name_at(const char *const *names, size_t num, unsigned int number);

/* Name of an enum ibv_wr_opcode, without IBV_WR_ */
const char *verbs_request_name(unsigned int opcode);

/* Name of an enum ibv_qp_state, without IBV_QPS_ */
const char *verbs_state_name(unsigned int state);

/* Name of an enum ibv_wc_status, without IBV_WC_ */
const char *verbs_status_name(unsigned int status);

#endif /* MYNIC_HOST_VERBS_NAME_H */
