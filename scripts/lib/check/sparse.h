/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Read by sparse before the driver's sources. What linux 7.3's headers use and
 * sparse 0.6.4, the newest there is in Debian 13, does not know.
 */
#define __typeof_unqual__ __typeof__

/* MODULE_INFO() asserts that its strings hold no NUL */
#define __builtin_strlen(string) (sizeof(string) - 1)
