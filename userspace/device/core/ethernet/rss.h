/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* RAW_PACKET QPs that spread frames over the WQs of a table. */
#ifndef MYNIC_RSS_H
#define MYNIC_RSS_H

#include <stdbool.h>
#include <stdint.h>

#include "mynic_regs.h"

struct eth_frame;
struct nic;
struct qp;
struct rwq_table;

/**
 * struct rss - receive-side scaling of a QP
 * @table: the WQs
 * @fields: MYNIC_RX_HASH_* of the hash's input
 * @key: Toeplitz key
 */
struct rss {
	struct rwq_table *table;
	uint32_t fields;
	uint8_t key[MYNIC_RX_HASH_KEY_LEN];
};

/* Whether the RSS fields of CREATE_QP are consistent. */
bool rss_is_valid(const struct mynic_create_qp *cmd);

/**
 * rss_init() - bind a QP to its table
 * @nic: the NIC
 * @qp: QP that is being created
 * @cmd: a command with a table, for which rss_is_valid() is true
 *
 * The QP receives from now on.
 *
 * Return: enum mynic_aq_status.
 */
int rss_init(struct nic *nic, struct qp *qp, const struct mynic_create_qp *cmd);

/* Undoes rss_init(), if it was called. */
void rss_fini(struct qp *qp);

/**
 * rss_hash() - hash a frame
 * @rss: selects the fields
 * @frame: the frame
 *
 * Return: the hash; 0 if the frame has none of the fields.
 */
uint32_t rss_hash(const struct rss *rss, const struct eth_frame *frame);

/* The WQ for a frame. */
struct qp *rss_wq(const struct rss *rss, const struct eth_frame *frame);

#endif /* MYNIC_RSS_H */
