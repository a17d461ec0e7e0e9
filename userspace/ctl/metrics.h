/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* mynic-ctl metrics: counters and queue pairs for Prometheus. */
#ifndef MYNIC_CTL_METRICS_H
#define MYNIC_CTL_METRICS_H

#include <stdio.h>

/**
 * metrics_run() - the command "metrics"
 * @file: the connection
 * @words: its arguments, up to a NULL
 */
void metrics_run(FILE *file, char **words);

#endif /* MYNIC_CTL_METRICS_H */
