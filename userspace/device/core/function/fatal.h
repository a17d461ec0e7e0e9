/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Errors that end all work of the NIC until a reset. An error of one object is
 * an event of that object (eq.h).
 */
#ifndef MYNIC_CORE_FATAL_H
#define MYNIC_CORE_FATAL_H

#include "mynic_regs.h"

struct nic;

/* Stops the device until the next reset. */
void nic_fatal(struct nic *nic, enum mynic_fatal why);

#endif /* MYNIC_CORE_FATAL_H */
