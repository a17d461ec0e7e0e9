/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_CORE_RESIZE_H
#define MYNIC_CORE_RESIZE_H

#include "memory/buf.h"

struct mynic_resize;

/**
 * resize_check() - check the memory that a CQ or an SRQ is to move to
 * @nic: the NIC
 * @cmd: from the guest, already copied; its log_size has been checked
 * @log_stride: log2 of the bytes in a slot
 * @dbrec_size: bytes of the doorbell record, a power of two; the NIC writes it
 * @write: the NIC is going to write the ring
 * @buf: result
 * @ring: result; its memory is @buf, for as long as that stays where it is
 *
 * Return: enum mynic_aq_status.
 */
int resize_check(struct nic *nic, const struct mynic_resize *cmd,
		 uint8_t log_stride, uint32_t dbrec_size, bool write,
		 struct buf *buf, struct ring *ring);

#endif /* MYNIC_CORE_RESIZE_H */
