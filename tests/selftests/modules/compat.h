/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Names of Linux 7.3, for which the modules are written, on older kernels. */
#ifndef MYNIC_SELFTEST_COMPAT_H
#define MYNIC_SELFTEST_COMPAT_H

#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
/* The name of a namespace is no string */
#define EXPORTER_IMPORT_NS MODULE_IMPORT_NS(DMA_BUF)
#else
#define EXPORTER_IMPORT_NS MODULE_IMPORT_NS("DMA_BUF")
#endif

/* Older kernels cannot require coherent memory */
#ifndef DMA_ATTR_REQUIRE_COHERENT
#define DMA_ATTR_REQUIRE_COHERENT 0
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 3, 0)
/* The driver's functions have these as arguments. */
struct ib_comp_cntr_caps;
struct ib_dmah;
struct ib_qp_attach_comp_cntr_attr;

struct ib_comp_cntr {
	struct ib_device *device;
};

enum ib_comp_cntr_entry { IB_COMP_CNTR_ENTRY_COMP };
enum ib_comp_cntr_modify_op { IB_COMP_CNTR_MODIFY_OP_SET };

#define dma_buf_invalidate_mappings dma_buf_move_notify
#endif

#endif /* MYNIC_SELFTEST_COMPAT_H */
