/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The services of all types of queue pairs. */
#ifndef MYNIC_SERVICES_H
#define MYNIC_SERVICES_H

#include <stdbool.h>
#include <stdint.h>

struct qp_service;

/* Whether QPs of a type can be created; @type: any value. */
bool services_has(uint8_t type);

/* @type: one that services_has() has, or QP_TYPE_RWQ. */
const struct qp_service *services_of(uint8_t type);

#endif /* MYNIC_SERVICES_H */
