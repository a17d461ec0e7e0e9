/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_PD_H
#define MYNIC_PD_H

#include <stdbool.h>
#include <stdint.h>

struct nic;

/**
 * struct pd - protection domain
 * @number: PDN
 * @users: memory keys, QPs and SRQs in it
 */
struct pd {
	uint32_t number;
	uint32_t users;
};

/** pds_free_one() - in a reset: the next from @number on; false: no more */
bool pds_free_one(struct nic *nic, uint32_t *number);

#endif /* MYNIC_PD_H */
