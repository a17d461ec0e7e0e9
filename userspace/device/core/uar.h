/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Access to the doorbell pages of BAR2. Arguments are those of nic_bar_read().
 */
#ifndef MYNIC_UAR_H
#define MYNIC_UAR_H

#include <stddef.h>
#include <stdint.h>

struct nic;

uint64_t uar_read(struct nic *nic, uint64_t offset, size_t len);
void uar_write(struct nic *nic, uint64_t offset, uint64_t value, size_t len);

#endif /* MYNIC_UAR_H */
