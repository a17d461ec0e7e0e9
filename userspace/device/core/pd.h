/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_PD_H
#define MYNIC_PD_H

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

void pds_free(struct nic *nic);

#endif /* MYNIC_PD_H */
