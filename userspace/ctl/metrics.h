/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* mynic-ctl metrics: counters and queue pairs for Prometheus. */
#ifndef MYNIC_CTL_METRICS_H
#define MYNIC_CTL_METRICS_H

/**
 * metrics_run() - the command "metrics"
 * @socket: the socket of mynic-device, which has room for few connections.
 *	There is none before an HTTP request is complete
 * @words: its arguments, up to a NULL
 */
void metrics_run(const char *socket, char **words);

#endif /* MYNIC_CTL_METRICS_H */
