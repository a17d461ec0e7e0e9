/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Whose turn it is: the QPs that have work, and those that may get some. */
#ifndef MYNIC_QP_RUN_H
#define MYNIC_QP_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct nic;

/**
 * qp_doorbell() - there is something in the send queue, or (ERR) either
 * @nic: the NIC
 * @uarn: the page that it was rung on
 * @number: QPN from the doorbell, any value
 *
 * Return: whether it was accepted.
 */
bool qp_doorbell(struct nic *nic, uint32_t uarn, uint32_t number);

/** qps_run() - a bounded piece of the QPs' work; true if there is more */
bool qps_run(struct nic *nic);

/** qps_run_each() - let each QP that has work do one piece of it */
void qps_run_each(struct nic *nic);

/** qps_poll() - see nic_poll() */
bool qps_poll(struct nic *nic);

/** qps_stop_polling() - see nic_stop_polling() */
bool qps_stop_polling(struct nic *nic);

#endif /* MYNIC_QP_RUN_H */
