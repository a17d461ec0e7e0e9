// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Checks that resizing a CQ and resizing an SRQ have in common. */
#include "queue/resize.h"

#include "core.h"

int resize_check(struct nic *nic, const struct mynic_resize *cmd,
		 uint8_t log_stride, uint32_t dbrec_size, bool write,
		 struct buf *buf, struct ring *ring)
{
	int status;

	status = buf_parse(buf, &cmd->buf);
	if (status)
		return status;
	status = ring_init(nic, ring, buf, le32toh(cmd->ring_offset),
			   cmd->log_size, log_stride, write);
	if (status)
		return status;
	return buf_check(nic, buf, le32toh(cmd->dbrec_offset), dbrec_size,
			 dbrec_size, true);
}
