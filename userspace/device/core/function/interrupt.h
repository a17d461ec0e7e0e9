/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Interrupts, which rules of NIC faults may delay or lose. */
#ifndef MYNIC_INTERRUPT_H
#define MYNIC_INTERRUPT_H

struct nic;

/* Signals an MSI-X vector. */
void interrupt_raise(struct nic *nic, unsigned int vector);

#endif /* MYNIC_INTERRUPT_H */
