/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_UTIL_H
#define MYNIC_UTIL_H

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif /* MYNIC_UTIL_H */
