/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* RAW_PACKET QPs that spread what they receive over the WQs of a table. */
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
 * struct rss - how frames are spread
 * @table: the WQs
 * @fields: MYNIC_RX_HASH_*
 * @key: Toeplitz key
 */
struct rss {
	struct rwq_table *table;
	uint32_t fields;
	uint8_t key[MYNIC_RX_HASH_KEY_LEN];
};

/** rss_is_valid() - the fields of CREATE_QP fit each other, as far as RSS goes */
bool rss_is_valid(const struct mynic_create_qp *cmd);

/**
 * rss_init() - give a QP its table
 * @nic: the NIC
 * @qp: QP that is being created
 * @cmd: with a table; rss_is_valid()
 *
 * It receives from now on.
 *
 * Return: enum mynic_aq_status.
 */
int rss_init(struct nic *nic, struct qp *qp, const struct mynic_create_qp *cmd);

/** rss_fini() - undo rss_init(), if there has been one */
void rss_fini(struct qp *qp);

/**
 * rss_hash() - the hash of what counts in a frame
 * @rss: which fields do
 * @frame: the frame
 *
 * Return: the hash; 0 if nothing does.
 */
uint32_t rss_hash(const struct rss *rss, const struct eth_frame *frame);

/** rss_wq() - the WQ that receives a frame */
struct qp *rss_wq(const struct rss *rss, const struct eth_frame *frame);

#endif /* MYNIC_RSS_H */
