/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The version of the device model, which is that of the release: CHANGELOG.rst. */
#ifndef MYNIC_VERSION_H
#define MYNIC_VERSION_H

#define VERSION_MAJOR 1
#define VERSION_MINOR 0
#define VERSION_PATCH 0

#endif /* MYNIC_VERSION_H */
