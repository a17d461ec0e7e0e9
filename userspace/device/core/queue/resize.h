/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A CQ or SRQ moves to other memory: the checks of this memory. The move is in
 * the file of the object, and the host copies the entries.
 */
#ifndef MYNIC_CORE_RESIZE_H
#define MYNIC_CORE_RESIZE_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct mynic_resize;
struct nic;
struct ring;

/**
 * resize_check() - check the new memory of a CQ or an SRQ
 * @nic: the NIC
 * @cmd: copy of the command; its log_size has been checked
 * @dbrec_size: bytes of the doorbell record, a power of two; the NIC writes to
 *	it
 * @write: the NIC is going to write to the ring
 * @buf: out: the memory
 * @ring: in: its stride, and otherwise zeroes; out: the ring, which refers to
 *	@buf
 *
 * Return: enum mynic_aq_status.
 */
int resize_check(struct nic *nic, const struct mynic_resize *cmd,
		 uint32_t dbrec_size, bool write, struct buf *buf,
		 struct ring *ring);

#endif /* MYNIC_CORE_RESIZE_H */
