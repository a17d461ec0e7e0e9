/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memcpy QPs (type DRIVER): copies within the host. */
#ifndef MYNIC_MEMCPY_H
#define MYNIC_MEMCPY_H

#include <stdbool.h>

struct qp;

/**
 * memcpy_run() - copy some pieces
 * @qp: memcpy QP in RTS or SQD
 *
 * Return: true if there is more to do now.
 */
bool memcpy_run(struct qp *qp);

#endif /* MYNIC_MEMCPY_H */
