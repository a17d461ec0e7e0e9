// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* BAR0, BAR2, bring-up, reset and fatal errors */
#include <errno.h>

#include "harness_driver.h"

#define ALL_ONES 0xffffffff

static struct sim_nic *one_nic(void)
{
	return &sim_new(1)->nics[0];
}

static uint32_t status(struct sim_nic *n)
{
	return sim_read32(n, MYNIC_REG_STATUS);
}

TEST(regs_identity)
{
	struct sim_nic *n = one_nic();

	drv_reset(n);
	CHECK_EQ(sim_read32(n, MYNIC_REG_MAGIC), MYNIC_MAGIC);
	CHECK_EQ(sim_read32(n, MYNIC_REG_VERSION) >> 16, MYNIC_VERSION_MAJOR);
	CHECK_EQ(sim_read32(n, MYNIC_REG_CONTROL), 0);
	CHECK_EQ(sim_read32(n, MYNIC_REG_FATAL), MYNIC_FATAL_NONE);
}

TEST(regs_bad_access_is_ignored_and_counted)
{
	struct drv *d = drv_up(one_nic());
	struct sim_nic *n = d->n;
	const struct {
		uint64_t offset;
		size_t len;
	} bad[] = {
		{ MYNIC_REG_MAGIC, 1 },
		{ MYNIC_REG_MAGIC, 2 },
		{ MYNIC_REG_MAGIC, 8 },
		{ MYNIC_REG_MAGIC + 1, 4 },
		{ MYNIC_REG_MAGIC + 2, 4 },
		{ MYNIC_REG_AQ_CMD_LO, 8 },
		{ 0x14, 4 },
		{ MYNIC_REG_AQ_ARM + 4, 4 },
		{ 0xffc, 4 },
		{ 0xffd, 4 },
		{ MYNIC_BAR_REGS_SIZE, 4 },
		{ 1ull << 32, 4 },
		{ ~0ull - 3, 4 },
		{ ~0ull, 1 },
	};
	const unsigned int read_only[] = {
		MYNIC_REG_MAGIC, MYNIC_REG_VERSION,	MYNIC_REG_STATUS,
		MYNIC_REG_FATAL, MYNIC_REG_FEATURES_LO, MYNIC_REG_CLOCK_LO,
	};
	uint64_t count = drv_stat(d, MYNIC_STAT_BAD_REGISTER);
	uint64_t value;

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		value = ~0ull;
		nic_bar_read(n->nic, MYNIC_BAR_REGS, bad[i].offset, &value,
			     bad[i].len);
		CHECK_EQ(value << (64 - 8 * bad[i].len), 0);
		CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_REGISTER), ++count);
		value = ~0ull;
		nic_bar_write(n->nic, MYNIC_BAR_REGS, bad[i].offset, &value,
			      bad[i].len);
		CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_REGISTER), ++count);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(read_only); i++) {
		sim_write32(n, read_only[i], 0xffffffff);
		CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_REGISTER), ++count);
	}
	CHECK_EQ(sim_read32(n, MYNIC_REG_MAGIC), MYNIC_MAGIC);
	CHECK_EQ(status(n), MYNIC_STATUS_READY | MYNIC_STATUS_ENABLED);
	CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_REGISTER), count);
}

TEST(regs_queue_registers_are_fixed_while_enabled)
{
	struct drv *d = drv_up(one_nic());
	const unsigned int fixed[] = {
		MYNIC_REG_AQ_CMD_LO,	   MYNIC_REG_AQ_CMD_HI,
		MYNIC_REG_AQ_CPL_LO,	   MYNIC_REG_AQ_CPL_HI,
		MYNIC_REG_AQ_LOG_SIZE,	   MYNIC_REG_DRV_FEATURES_LO,
		MYNIC_REG_DRV_FEATURES_HI,
	};
	uint64_t count = drv_stat(d, MYNIC_STAT_BAD_REGISTER);

	for (unsigned int i = 0; i < ARRAY_SIZE(fixed); i++) {
		uint32_t before = sim_read32(d->n, fixed[i]);

		sim_write32(d->n, fixed[i], before ^ 1);
		CHECK_EQ(sim_read32(d->n, fixed[i]), before);
		CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_REGISTER), ++count);
	}
	/* only a reset stops the device */
	sim_write32(d->n, MYNIC_REG_CONTROL, 0);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_NOP, 0), MYNIC_AQ_OK);
}

/* ENABLE with one wrong register is refused, and the next attempt works */
static void check_refused(struct sim_nic *n, unsigned int reg, uint32_t value)
{
	drv_reset(n);
	sim_write32(n, MYNIC_REG_AQ_CMD_LO, 0x1000);
	sim_write32(n, MYNIC_REG_AQ_CMD_HI, n->iova >> 32);
	sim_write32(n, MYNIC_REG_AQ_CPL_LO, 0x2000);
	sim_write32(n, MYNIC_REG_AQ_CPL_HI, n->iova >> 32);
	sim_write32(n, MYNIC_REG_AQ_LOG_SIZE, 4);
	sim_write32(n, reg, value);
	sim_write32(n, MYNIC_REG_CONTROL, MYNIC_CONTROL_ENABLE);
	SIM_WAIT(n->sim,
		 !(sim_read32(n, MYNIC_REG_CONTROL) & MYNIC_CONTROL_ENABLE));
	CHECK_EQ(status(n), MYNIC_STATUS_READY);
	CHECK_EQ(sim_read32(n, MYNIC_REG_FATAL), MYNIC_FATAL_NONE);
	drv_enable(n, 4);
}

TEST(regs_enable_refused)
{
	struct sim_nic *n = one_nic();

	check_refused(n, MYNIC_REG_DRV_FEATURES_HI, 0x80000000);
	check_refused(n, MYNIC_REG_DRV_FEATURES_LO, 0x40000000);
	check_refused(n, MYNIC_REG_AQ_CMD_LO, 0x1020);
	check_refused(n, MYNIC_REG_AQ_CPL_LO, 0x2001);
	check_refused(n, MYNIC_REG_AQ_LOG_SIZE, 0);
	check_refused(n, MYNIC_REG_AQ_LOG_SIZE, MYNIC_AQ_MAX_LOG_SIZE + 1);
	check_refused(n, MYNIC_REG_AQ_LOG_SIZE, ALL_ONES);
}

TEST(regs_no_dma_before_enable)
{
	struct sim_nic *n = one_nic();

	drv_reset(n);
	sim_write32(n, MYNIC_REG_AQ_DOORBELL, 1);
	sim_doorbell(n, 1, MYNIC_UAR_QP_DB, 1, 1);
	sim_doorbell(n, 1, MYNIC_UAR_CQ_DB, 0, 0);
	sim_doorbell(n, 0, MYNIC_UAR_EQ_DB, 0, 0);
	sim_settle(n->sim);
	CHECK_EQ(status(n), MYNIC_STATUS_READY);
	drv_up(n);
}

TEST(regs_reset_forgets_everything)
{
	struct sim_nic *n = one_nic();
	struct drv *d = drv_up(n);
	uint32_t pdn = drv_alloc_pd(d);

	drv_create_cq(d, 4);
	drv_reg_mr(d, pdn, 4096, ACCESS_ALL);
	sim_write32(n, MYNIC_REG_CONTROL, MYNIC_CONTROL_RESET);
	CHECK_EQ(sim_read32(n, MYNIC_REG_CONTROL), 0);
	SIM_WAIT(n->sim, status(n) == MYNIC_STATUS_READY);
	CHECK_EQ(sim_read32(n, MYNIC_REG_AQ_CMD_LO), 0);
	CHECK_EQ(sim_read32(n, MYNIC_REG_AQ_LOG_SIZE), 0);
	d = drv_up(n);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DEALLOC_PD, pdn),
		 MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_COMMAND), 1);
}

TEST(regs_function_level_reset)
{
	struct sim_nic *n = one_nic();

	for (int i = 0; i < 3; i++) {
		struct drv *d = drv_up(n);

		drv_reg_mr(d, drv_alloc_pd(d), 4096, ACCESS_ALL);
		nic_reset(n->nic);
		CHECK(!(status(n) & MYNIC_STATUS_ENABLED));
	}
	drv_up(n);
}

/* Check that the device is dead for the reason @why, until a reset */
static void check_fatal(struct sim_nic *n, enum mynic_fatal why)
{
	SIM_WAIT(n->sim, status(n) & MYNIC_STATUS_FATAL);
	CHECK_EQ(sim_read32(n, MYNIC_REG_FATAL), why);
	sim_write32(n, MYNIC_REG_AQ_DOORBELL, 1);
	sim_write32(n, MYNIC_REG_CONTROL, MYNIC_CONTROL_ENABLE);
	sim_run(n->sim, 10 * MSEC);
	CHECK(status(n) & MYNIC_STATUS_FATAL);
	drv_reset(n);
	CHECK_EQ(sim_read32(n, MYNIC_REG_FATAL), MYNIC_FATAL_NONE);
	drv_up(n);
}

TEST(regs_fatal_admin_index)
{
	struct drv *d = drv_up(one_nic());

	sim_write32(d->n, MYNIC_REG_AQ_DOORBELL,
		    d->aq_pi + (1u << d->aq_log_size) + 1);
	check_fatal(d->n, MYNIC_FATAL_AQ_INDEX);
}

TEST(regs_fatal_admin_index_behind)
{
	struct drv *d = drv_up(one_nic());

	sim_write32(d->n, MYNIC_REG_AQ_DOORBELL, d->aq_pi - 1);
	check_fatal(d->n, MYNIC_FATAL_AQ_INDEX);
}

TEST(regs_fatal_interrupts)
{
	struct drv *d = drv_up(one_nic());
	uint64_t irqs = d->n->irqs[0];

	sim_write32(d->n, MYNIC_REG_AQ_DOORBELL, d->aq_pi + 1000);
	sim_settle(d->sim);
	CHECK(d->n->irqs[0] > irqs);
}

TEST(regs_fatal_admin_ring_not_mapped)
{
	struct sim_nic *n = one_nic();
	struct drv *d = drv_up(n);

	sim_unmap(n);
	sim_write32(n, MYNIC_REG_AQ_DOORBELL, d->aq_pi + 1);
	sim_settle(n->sim);
	sim_map(n);
	check_fatal(n, MYNIC_FATAL_AQ_DMA);
}

TEST(regs_fatal_no_bus_master)
{
	struct sim_nic *n = one_nic();
	struct drv *d = drv_up(n);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_NOP };
	struct mynic_admin_cpl cpl;

	nic_set_bus_master(n->nic, false);
	drv_admin_post(d, &cmd);
	drv_admin_ring(d);
	sim_settle(n->sim);
	CHECK(!drv_admin_poll(d, &cpl));
	nic_set_bus_master(n->nic, true);
	check_fatal(n, MYNIC_FATAL_AQ_DMA);
}

TEST(regs_fatal_event_ring_not_mapped)
{
	struct sim_nic *n = one_nic();
	struct drv *d = drv_up(n);

	sim_unmap(n);
	nic_set_link(n->nic, false);
	sim_settle(n->sim);
	sim_map(n);
	check_fatal(d->n, MYNIC_FATAL_EQ_DMA);
}

TEST(regs_fatal_event_record_not_mapped)
{
	struct sim_nic *n = one_nic();
	struct drv *d = drv_up(n);

	sim_unmap(n);
	drv_eq_ring(&d->comp);
	sim_map(n);
	check_fatal(d->n, MYNIC_FATAL_EQ_DMA);
}

TEST(regs_enable_with_ring_outside_memory)
{
	struct sim_nic *n = one_nic();

	drv_reset(n);
	sim_write32(n, MYNIC_REG_AQ_CMD_LO, 0x1000);
	sim_write32(n, MYNIC_REG_AQ_CPL_LO, 0x2000);
	sim_write32(n, MYNIC_REG_AQ_LOG_SIZE, 4);
	sim_write32(n, MYNIC_REG_CONTROL, MYNIC_CONTROL_ENABLE);
	sim_settle(n->sim);
	/* at ENABLE or when the first command is to be fetched */
	sim_write32(n, MYNIC_REG_AQ_DOORBELL, 1);
	check_fatal(n, MYNIC_FATAL_AQ_DMA);
}

TEST(regs_clock)
{
	struct drv *d = drv_up(one_nic());
	uint64_t first, second;
	uint32_t hi;

	CHECK(d->attr.clock_khz > 0);
	d->sim->now = (7ull << 32) - 5 * USEC;
	first = sim_read32(d->n, MYNIC_REG_CLOCK_LO);
	sim_run(d->sim, 10 * USEC);
	/* HI belongs to the LO that was read */
	hi = sim_read32(d->n, MYNIC_REG_CLOCK_HI);
	first |= (uint64_t)hi << 32;
	second = sim_read32(d->n, MYNIC_REG_CLOCK_LO);
	second |= (uint64_t)sim_read32(d->n, MYNIC_REG_CLOCK_HI) << 32;
	CHECK_EQ((second - first) * 1000000 / d->attr.clock_khz, 10 * USEC);
}

TEST(regs_clock_on_every_uar_page)
{
	struct drv *d = drv_up(one_nic());
	const uint64_t page[] = { 0, 1, 8191 };
	uint64_t count = drv_stat(d, MYNIC_STAT_BAD_DOORBELL);
	uint64_t offset, value, reg;
	uint32_t part;

	for (unsigned int i = 0; i < ARRAY_SIZE(page); i++) {
		offset = page[i] * MYNIC_UAR_SIZE + MYNIC_UAR_CLOCK;
		sim_run(d->sim, 5 * SEC);
		nic_bar_read(d->n->nic, MYNIC_BAR_UAR, offset, &value, 8);
		reg = sim_read32(d->n, MYNIC_REG_CLOCK_LO);
		reg |= (uint64_t)sim_read32(d->n, MYNIC_REG_CLOCK_HI) << 32;
		CHECK_EQ(value, reg);
		/* it can only be read as a whole */
		nic_bar_read(d->n->nic, MYNIC_BAR_UAR, offset, &part, 4);
		CHECK_EQ(part, 0);
		/* it cannot be written */
		nic_bar_write(d->n->nic, MYNIC_BAR_UAR, offset, &value, 8);
		CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_DOORBELL), ++count);
	}
	nic_bar_read(d->n->nic, MYNIC_BAR_UAR,
		     8192ull * MYNIC_UAR_SIZE + MYNIC_UAR_CLOCK, &value, 8);
	CHECK_EQ(value, 0);
}

TEST(regs_uar_bad_access_is_ignored_and_counted)
{
	struct drv *d = drv_up(one_nic());
	const struct {
		uint64_t offset;
		size_t len;
	} bad[] = {
		{ MYNIC_UAR_SIZE, 4 },
		{ MYNIC_UAR_SIZE + 4, 4 },
		{ MYNIC_UAR_SIZE, 1 },
		{ MYNIC_UAR_SIZE + 1, 8 },
		{ MYNIC_UAR_SIZE + 4, 8 },
		{ MYNIC_UAR_SIZE + 0x20, 8 },
		{ 2 * MYNIC_UAR_SIZE - 4, 8 },
		/* EQ doorbells on page 0 only */
		{ MYNIC_UAR_SIZE + MYNIC_UAR_EQ_DB, 8 },
		{ 8192ull * MYNIC_UAR_SIZE, 8 },
		{ 1ull << 62, 8 },
		{ ~0ull, 8 },
	};
	uint64_t count = drv_stat(d, MYNIC_STAT_BAD_DOORBELL);
	uint64_t value;

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		value = (uint64_t)d->event.number << MYNIC_DB_NUMBER_SHIFT;
		nic_bar_write(d->n->nic, MYNIC_BAR_UAR, bad[i].offset, &value,
			      bad[i].len);
		sim_settle(d->sim);
		CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_DOORBELL), ++count);
		value = ~0ull;
		nic_bar_read(d->n->nic, MYNIC_BAR_UAR, bad[i].offset, &value,
			     bad[i].len);
		CHECK_EQ(value << (64 - 8 * bad[i].len), 0);
	}
}

TEST(regs_dma_map_rules)
{
	struct sim_nic *n = one_nic();
	static uint8_t mem[8192];

	CHECK_EQ(nic_dma_map(n->nic, n->iova, 4096, mem, true), -EEXIST);
	CHECK_EQ(nic_dma_map(n->nic, n->iova - 4096, 8192, mem, true), -EEXIST);
	CHECK_EQ(nic_dma_map(n->nic, 0, 0, mem, true), -EINVAL);
	CHECK_EQ(nic_dma_map(n->nic, ~0ull - 4095, 8192, mem, true), -EINVAL);
	CHECK_EQ(nic_dma_map(n->nic, ~0ull - 4095, 4096, mem, true), 0);
	CHECK_EQ(nic_dma_unmap(n->nic, ~0ull - 4095, 4096), 0);
	CHECK_EQ(nic_dma_map(n->nic, 0, 8192, mem, true), 0);
	CHECK_EQ(nic_dma_unmap(n->nic, 0, 4096), -EINVAL);
	CHECK_EQ(nic_dma_unmap(n->nic, 0, 8192), 0);
	/* there is no map to remove */
	CHECK_EQ(nic_dma_unmap(n->nic, 0, 8192), 0);
	drv_up(n);
}
