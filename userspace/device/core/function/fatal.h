/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_CORE_FATAL_H
#define MYNIC_CORE_FATAL_H

#include "mynic_regs.h"

struct nic;

/* Stops the device until the next reset. */
void nic_fatal(struct nic *nic, enum mynic_fatal why);

#endif /* MYNIC_CORE_FATAL_H */
