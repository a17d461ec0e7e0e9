/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Scheduling of QPs: those with work, and those whose doorbell records are
 * watched.
 */
#ifndef MYNIC_QP_RUN_H
#define MYNIC_QP_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct nic;

/**
 * qp_doorbell() - note new send requests, or in state ERR any new requests
 * @nic: the NIC
 * @uarn: UAR page of the doorbell
 * @number: QPN from the doorbell, any value
 *
 * Return: true if the doorbell was accepted.
 */
bool qp_doorbell(struct nic *nic, uint32_t uarn, uint32_t number);

/* Does a limited amount of work. Returns true if there is more. */
bool qps_run(struct nic *nic);

/* Lets each QP that has work do some of it, once. */
void qps_run_each(struct nic *nic);

/* See nic_watch(). */
bool qps_watch(struct nic *nic);

/* See nic_stop_watching(). */
bool qps_stop_watching(struct nic *nic);

#endif /* MYNIC_QP_RUN_H */
