/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Names of port counters */
#ifndef MYNIC_HOST_STAT_NAME_H
#define MYNIC_HOST_STAT_NAME_H

/* Name of an enum mynic_stat. */
const char *stats_name(unsigned int stat);

#endif /* MYNIC_HOST_STAT_NAME_H */
