/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_DATAGRAM_H
#define MYNIC_DATAGRAM_H

#include <stdbool.h>

struct qp;

/* Like requester_run(), for UD, GSI and RAW_PACKET QPs. */
bool datagram_run(struct qp *qp);

#endif /* MYNIC_DATAGRAM_H */
