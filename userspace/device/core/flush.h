/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* FLUSH: that what was written before is placed for good (IBTA annex A19). */
#ifndef MYNIC_FLUSH_H
#define MYNIC_FLUSH_H

#include <stdbool.h>
#include <stdint.h>

#include "message.h"
#include "mynic_regs.h"

struct qp;
struct response;
struct roce_hdr;

/**
 * flush_feth() - make a FETH
 * @placement: enum ib_placement_type, any value
 * @selectivity: enum ib_selectivity_level, any value
 * @feth: out: see &struct roce_hdr.feth
 *
 * Return: whether there are such a placement and such a selectivity.
 */
bool flush_feth(uint32_t placement, uint32_t selectivity, uint32_t *feth);

/**
 * flush_check() - may a FLUSH be executed?
 * @qp: the queue pair
 * @hdr: the packet's headers
 * @response: @srqn and @rkey are set; gets @addr and @flush_left
 *
 * Return: MESSAGE_OK, or what is wrong.
 */
enum message_fault flush_check(struct qp *qp, const struct roce_hdr *hdr,
			       struct response *response);

/**
 * flush_run() - do a bounded piece of a FLUSH
 * @qp: the queue pair
 * @response: @addr and @flush_left are moved on
 * @stage: what waits if a page is not there
 *
 * Return: 0, or what mkey_check_remote() or mkey_iov() said; -EFAULT also if the
 * memory cannot be made persistent.
 */
int flush_run(struct qp *qp, struct response *response,
	      enum mynic_page_stage stage);

#endif /* MYNIC_FLUSH_H */
