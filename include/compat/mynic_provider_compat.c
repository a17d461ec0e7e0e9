// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What is built instead of files of the provider that are about things which
 * an older release lacks as a whole.
 */
#include <infiniband/driver.h>

/* dmah.c */
extern const struct verbs_context_ops mynic_dmah_ops;
const struct verbs_context_ops mynic_dmah_ops = {};
