/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* mynic-ctl top: rates of ports, and what queue pairs wait for. */
#ifndef MYNIC_CTL_TOP_H
#define MYNIC_CTL_TOP_H

/**
 * top_run() - the command "top"
 * @socket: the socket of mynic-device
 * @words: its arguments, up to a NULL
 */
void top_run(const char *socket, char **words);

#endif /* MYNIC_CTL_TOP_H */
