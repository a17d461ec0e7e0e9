/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Access to BAR0, the registers. Arguments are those of nic_bar_read(). */
#ifndef MYNIC_CORE_REGS_H
#define MYNIC_CORE_REGS_H

#include <stddef.h>
#include <stdint.h>

struct nic;

uint32_t regs_read(struct nic *nic, uint64_t offset, size_t len);
void regs_write(struct nic *nic, uint64_t offset, uint32_t value, size_t len);

#endif /* MYNIC_CORE_REGS_H */
