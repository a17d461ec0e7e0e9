/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Protection domains: only the objects. The look-up of a key compares domains
 * (mkey.h).
 */
#ifndef MYNIC_PD_H
#define MYNIC_PD_H

#include <stdbool.h>
#include <stdint.h>

struct admin_call;
struct nic;

/**
 * struct pd - a protection domain
 * @number: its number, the PDN
 * @users: memory keys, QPs and SRQs that belong to it
 */
struct pd {
	uint32_t number;
	uint32_t users;
};

/*
 * Part of a reset: frees the next PD from @number on. Returns false if there is
 * none.
 */
bool pds_free_one(struct nic *nic, uint32_t *number);

/* Commands of the host; see admin.h */
int admin_alloc_pd(struct nic *nic, struct admin_call *call);
int admin_dealloc_pd(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_PD_H */
