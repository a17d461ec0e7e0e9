/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queue pairs that are kept full of one request. Its results are not checked.
 */
#ifndef MYNIC_HARNESS_LOAD_H
#define MYNIC_HARNESS_LOAD_H

#include "harness_driver.h"

/**
 * struct load - queue pairs of one NIC
 * @pdn: PD of the queue pairs
 * @peer_pdn: PD of the QPs that they are connected to
 * @num: queue pairs
 * @depth: slots of each, a power of two
 * @qp: the queue pairs
 * @done: requests of each that are completed
 * @cq: all completions
 * @path: argument of load_connect()
 * @peer: NIC that they are connected to
 * @peer_qpn: QPs that they are connected to
 */
struct load {
	uint32_t pdn;
	uint32_t peer_pdn;
	unsigned int num;
	unsigned int depth;
	struct drv_qp **qp;
	uint32_t *done;
	struct drv_cq *cq;
	struct drv_path path;
	unsigned int peer;
	uint32_t *peer_qpn;
};

/** load_new() - create queue pairs; @init has their type, PD and stride */
struct load *load_new(struct drv *d, struct drv_qp_init init, unsigned int num,
		      unsigned int depth);

/*
 * load_connect() - connect them to QPs of another NIC, or to QPs that do not
 * exist
 */
void load_connect(struct load *load, struct drv *to,
		  const struct drv_path *path, bool nobody);

/** load_fill() - write a request to all slots; posts none */
void load_fill(struct load *load, const struct drv_wr *wr);

/*
 * load_poll() - poll completions, and reconnect queue pairs that have failed
 */
void load_poll(struct load *load);

/** load_again() - load_poll(), and post to all free slots */
void load_again(struct load *load);

#endif /* MYNIC_HARNESS_LOAD_H */
