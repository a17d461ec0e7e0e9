/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The admin queue. admin.c has a table of all commands and does what they have
 * in common. The function of a command is in the file of its object, and returns
 * enum mynic_aq_status; some also return ADMIN_AGAIN.
 */
#ifndef MYNIC_ADMIN_H
#define MYNIC_ADMIN_H

#include <stdbool.h>
#include <stdint.h>

struct nic;

/* Handles a write to the AQ_DOORBELL register. */
void admin_doorbell(struct nic *nic, uint32_t pi);

/* Handles a write to the AQ_ARM register. */
void admin_arm(struct nic *nic, uint32_t ci);

/* Whether there are commands, and none of them is delayed. */
bool admin_has_work(const struct nic *nic);

/* Executes some commands. Returns true if there are more. */
bool admin_run(struct nic *nic);

#endif /* MYNIC_ADMIN_H */
