// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Checks that resizing a CQ and resizing an SRQ have in common. */

#include "queue/resize.h"

#include <endian.h>

#include "memory/buf.h"
#include "state/memory_types.h"
#include "state/nic_types.h"

int resize_check(struct nic *nic, const struct mynic_resize *cmd,
		 uint32_t dbrec_size, bool write, struct buf *buf,
		 struct ring *ring)
{
	int status;

	status = buf_parse(buf, &cmd->buf);
	if (status)
		return status;
	ring->buf = buf;
	ring->offset = le32toh(cmd->ring_offset);
	ring->log_size = cmd->log_size;
	status = ring_check(nic, ring, write);
	if (status)
		return status;
	return buf_check(nic, buf, le32toh(cmd->dbrec_offset), dbrec_size,
			 dbrec_size, true);
}
