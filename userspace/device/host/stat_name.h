/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_HOST_STAT_NAME_H
#define MYNIC_HOST_STAT_NAME_H

/** stat_name() - what people call an enum mynic_stat; as the driver does */
const char *stat_name(unsigned int stat);

#endif /* MYNIC_HOST_STAT_NAME_H */
