// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* BAR0: the registers. */

#include "regs.h"

#include <stdbool.h>

#include "admin.h"
#include "base/journal.h"
#include "function/fatal.h"
#include "function/fault.h"
#include "memory/dma.h"
#include "mynic_regs.h"
#include "nic.h"
#include "state/nic_types.h"

#define OFFERED_FEATURES MYNIC_FEATURE_DB_SUPPRESS

#define RING_ALIGN 64

static uint32_t regs_read_clock_lo(struct nic *nic)
{
	uint64_t now = nic_now(nic);

	nic->regs.clock_hi = now >> 32;
	return now;
}

static void regs_bad_register(struct nic *nic)
{
	nic_count(nic, MYNIC_STAT_BAD_REGISTER);
}

uint32_t regs_read(struct nic *nic, uint64_t offset, size_t len)
{
	const struct regs *regs = &nic->regs;
	const struct admin *aq = &nic->admin;

	if (len != sizeof(uint32_t)) {
		regs_bad_register(nic);
		return 0;
	}
	switch (offset) {
	case MYNIC_REG_MAGIC:
		return MYNIC_MAGIC;
	case MYNIC_REG_VERSION:
		return MYNIC_VERSION_MAJOR << 16 | MYNIC_VERSION_MINOR;
	case MYNIC_REG_CONTROL:
		return regs->control;
	case MYNIC_REG_STATUS:
		return regs->status;
	case MYNIC_REG_FATAL:
		return regs->fatal;
	case MYNIC_REG_FEATURES_LO:
		return (uint32_t)OFFERED_FEATURES;
	case MYNIC_REG_FEATURES_HI:
		return OFFERED_FEATURES >> 32;
	case MYNIC_REG_DRV_FEATURES_LO:
		return regs->drv_features;
	case MYNIC_REG_DRV_FEATURES_HI:
		return regs->drv_features >> 32;
	case MYNIC_REG_AQ_CMD_LO:
		return aq->cmd_addr;
	case MYNIC_REG_AQ_CMD_HI:
		return aq->cmd_addr >> 32;
	case MYNIC_REG_AQ_CPL_LO:
		return aq->cpl_addr;
	case MYNIC_REG_AQ_CPL_HI:
		return aq->cpl_addr >> 32;
	case MYNIC_REG_AQ_LOG_SIZE:
		return aq->log_size;
	case MYNIC_REG_AQ_DOORBELL:
		return aq->pi;
	case MYNIC_REG_CLOCK_LO:
		return regs_read_clock_lo(nic);
	case MYNIC_REG_CLOCK_HI:
		return regs->clock_hi;
	case MYNIC_REG_AQ_ARM:
		return aq->arm;
	default:
		regs_bad_register(nic);
		return 0;
	}
}

static void regs_set_lo(uint64_t *reg, uint32_t value)
{
	*reg = (*reg & ~(uint64_t)UINT32_MAX) | value;
}

static void regs_set_hi(uint64_t *reg, uint32_t value)
{
	*reg = (*reg & UINT32_MAX) | (uint64_t)value << 32;
}

static void regs_enable(struct nic *nic)
{
	const struct admin *aq = &nic->admin;
	uint64_t ring;

	if (nic->regs.status != MYNIC_STATUS_READY ||
	    nic->regs.drv_features & ~OFFERED_FEATURES || !aq->log_size ||
	    aq->log_size > MYNIC_AQ_MAX_LOG_SIZE || aq->cmd_addr % RING_ALIGN ||
	    aq->cpl_addr % RING_ALIGN) {
		regs_bad_register(nic);
		return;
	}
	nic->regs.control = MYNIC_CONTROL_ENABLE;
	ring = sizeof(struct mynic_admin_cmd) << aq->log_size;
	if (!dma_ptr(nic, aq->cmd_addr, ring, false) ||
	    !dma_ptr(nic, aq->cpl_addr, ring, true)) {
		nic_fatal(nic, MYNIC_FATAL_AQ_DMA);
		return;
	}
	nic->regs.status |= MYNIC_STATUS_ENABLED;
	nic_fault_wake(nic, 0);
	nic_note(nic, &(struct journal_entry){ .kind = JOURNAL_ENABLED });
}

_Static_assert(sizeof(struct mynic_admin_cmd) == sizeof(struct mynic_admin_cpl),
	       "both admin rings have the same size");

static void regs_write_control(struct nic *nic, uint32_t value)
{
	if (value & MYNIC_CONTROL_RESET) {
		nic_reset(nic);
		return;
	}
	if (value & ~MYNIC_CONTROL_ENABLE)
		regs_bad_register(nic);
	if (value & MYNIC_CONTROL_ENABLE && !nic->regs.control)
		regs_enable(nic);
}

/* Registers that may be written only between reset and ENABLE */
static bool regs_write_setup(struct nic *nic, uint64_t offset, uint32_t value)
{
	if (nic->regs.status != MYNIC_STATUS_READY)
		return false;
	switch (offset) {
	case MYNIC_REG_DRV_FEATURES_LO:
		regs_set_lo(&nic->regs.drv_features, value);
		return true;
	case MYNIC_REG_DRV_FEATURES_HI:
		regs_set_hi(&nic->regs.drv_features, value);
		return true;
	case MYNIC_REG_AQ_CMD_LO:
		regs_set_lo(&nic->admin.cmd_addr, value);
		return true;
	case MYNIC_REG_AQ_CMD_HI:
		regs_set_hi(&nic->admin.cmd_addr, value);
		return true;
	case MYNIC_REG_AQ_CPL_LO:
		regs_set_lo(&nic->admin.cpl_addr, value);
		return true;
	case MYNIC_REG_AQ_CPL_HI:
		regs_set_hi(&nic->admin.cpl_addr, value);
		return true;
	case MYNIC_REG_AQ_LOG_SIZE:
		nic->admin.log_size = value;
		return true;
	default:
		return false;
	}
}

void regs_write(struct nic *nic, uint64_t offset, uint32_t value, size_t len)
{
	if (len != sizeof(uint32_t))
		regs_bad_register(nic);
	else if (offset == MYNIC_REG_CONTROL)
		regs_write_control(nic, value);
	else if (offset == MYNIC_REG_AQ_DOORBELL && nic_enabled(nic))
		admin_doorbell(nic, value);
	else if (offset == MYNIC_REG_AQ_ARM && nic_enabled(nic))
		admin_arm(nic, value);
	else if (!regs_write_setup(nic, offset, value))
		regs_bad_register(nic);
}
