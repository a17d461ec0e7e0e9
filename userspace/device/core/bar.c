// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Access to the BARs: BAR0 has registers, and BAR2 has doorbells and device
 * memory.
 */

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "memory/dm.h"
#include "mynic_regs.h"
#include "nic.h"
#include "nic_faults.h"
#include "regs.h"
#include "uar.h"

void nic_bar_read(struct nic *nic, int bar, uint64_t offset, void *data,
		  size_t len)
{
	uint64_t value = 0;

	if (nic_fault_is_gone(nic)) {
		memset(data, 0xff, len);
		return;
	}
	if (bar == MYNIC_BAR_UAR && dm_bar_read(nic, offset, data, len))
		return;
	memset(data, 0, len);
	if (bar == MYNIC_BAR_REGS)
		value = regs_read(nic, offset, len);
	else if (bar == MYNIC_BAR_UAR)
		value = uar_read(nic, offset, len);
	value = htole64(value);
	memcpy(data, &value, len < sizeof(value) ? len : sizeof(value));
}

void nic_bar_write(struct nic *nic, int bar, uint64_t offset, const void *data,
		   size_t len)
{
	uint64_t value = 0;

	if (nic_fault_is_gone(nic))
		return;
	if (bar == MYNIC_BAR_UAR && dm_bar_write(nic, offset, data, len))
		return;
	memcpy(&value, data, len);
	value = le64toh(value);
	if (bar == MYNIC_BAR_REGS)
		regs_write(nic, offset, value, len);
	else if (bar == MYNIC_BAR_UAR)
		uar_write(nic, offset, value, len);
}
