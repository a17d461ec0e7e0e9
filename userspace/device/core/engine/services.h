/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The services of all types of queue pairs. */
#ifndef MYNIC_SERVICES_H
#define MYNIC_SERVICES_H

#include <stdint.h>

struct qp_service;

/* @type: enum mynic_qp_type that CREATE_QP accepts, or QP_TYPE_RWQ. */
const struct qp_service *services_get(uint8_t type);

#endif /* MYNIC_SERVICES_H */
