// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The PCI function as a vfio-user client sees it: configuration space,
 * interrupts, DMA
 */
#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness_tap.h"
#include "harness_vfu.h"
#include "mynic_regs.h"

#define CONFIG VFIO_PCI_CONFIG_REGION_INDEX
#define PAGE 4096
#define PBA 0x800

#define RING_SIZE 16

/* More than fit into a MiB */
#define MANY_XRCDS 40000

/* Share of a NIC in DMA_MAPS_TOTAL of host/dma_maps.h */
#define MAX_MAPS (61440 / VFU_TEST_NICS)

#define SET_FDS (VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER)
#define TRIGGER (VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER)

static uint32_t config(int fd, uint32_t offset, uint32_t len)
{
	return vfu_get(fd, CONFIG, offset, len);
}

static void config_put(int fd, uint32_t offset, uint32_t value, uint32_t len)
{
	vfu_put(fd, CONFIG, offset, value, len);
}

static uint32_t find_cap(int fd, uint8_t id)
{
	uint32_t at = config(fd, PCI_CAPABILITY_LIST, 1);

	for (int i = 0; at && i < 48; i++) {
		CHECK(at >= 0x40);
		CHECK_EQ(at % 4, 0);
		if (config(fd, at, 1) == id)
			return at;
		at = config(fd, at + PCI_CAP_LIST_NEXT, 1);
	}
	FAIL("no capability 0x%02x", id);
}

static void enable_msix(int fd)
{
	uint32_t flags = find_cap(fd, PCI_CAP_ID_MSIX) + PCI_MSIX_FLAGS;

	config_put(fd, flags, config(fd, flags, 2) | PCI_MSIX_FLAGS_ENABLE, 2);
}

static int new_event(void)
{
	int event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	CHECK(event >= 0);
	return event;
}

TEST(identity)
{
	int fd = vfu_open(device_start(), 0);

	CHECK_EQ(config(fd, PCI_VENDOR_ID, 2), 0x1af4);
	CHECK_EQ(config(fd, PCI_DEVICE_ID, 2), 0x10f0);
	CHECK_EQ(config(fd, PCI_SUBSYSTEM_VENDOR_ID, 2), 0x1af4);
	CHECK_EQ(config(fd, PCI_SUBSYSTEM_ID, 2), 0x10f0);
	CHECK_EQ(config(fd, PCI_CLASS_REVISION, 4), 0x02000001);
	CHECK_EQ(config(fd, PCI_HEADER_TYPE, 1), 0);
	CHECK_EQ(config(fd, PCI_INTERRUPT_PIN, 1), 0);
	CHECK_EQ(config(fd, PCI_STATUS, 2), PCI_STATUS_CAP_LIST);
	CHECK_EQ(config(fd, PCI_COMMAND, 2), 0);
	/* no extended capabilities */
	CHECK_EQ(config(fd, 0x100, 4), 0);
}

TEST(capabilities)
{
	int fd = vfu_open(device_start(), 0);
	uint32_t pm = find_cap(fd, PCI_CAP_ID_PM);
	uint32_t exp = find_cap(fd, PCI_CAP_ID_EXP);
	uint32_t msix = find_cap(fd, PCI_CAP_ID_MSIX);

	CHECK_EQ(config(fd, pm + PCI_PM_PMC, 2) & PCI_PM_CAP_VER_MASK, 3);
	CHECK_EQ(config(fd, exp + PCI_EXP_FLAGS, 2), 0x0002);
	CHECK(config(fd, exp + PCI_EXP_DEVCAP, 4) & PCI_EXP_DEVCAP_FLR);
	CHECK_EQ(config(fd, msix + PCI_MSIX_FLAGS, 2), 31);
	CHECK_EQ(config(fd, msix + PCI_MSIX_TABLE, 4), 4);
	CHECK_EQ(config(fd, msix + PCI_MSIX_PBA, 4), PBA | 4);
}

TEST(bar_sizing)
{
	static const struct {
		uint32_t flags;
		uint64_t size;
	} bars[] = {
		{ PCI_BASE_ADDRESS_MEM_TYPE_64, 4096 },
		{ PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH,
		  64 << 20 },
		{ PCI_BASE_ADDRESS_MEM_TYPE_64, 4096 },
	};
	int fd = vfu_open(device_start(), 0);

	for (uint32_t i = 0; i < ARRAY_SIZE(bars); i++) {
		uint32_t at = PCI_BASE_ADDRESS_0 + 8 * i;
		uint64_t mask;

		CHECK_EQ(config(fd, at, 4), bars[i].flags);
		config_put(fd, at, UINT32_MAX, 4);
		config_put(fd, at + 4, UINT32_MAX, 4);
		mask = (uint64_t)config(fd, at + 4, 4) << 32 |
		       config(fd, at, 4);
		CHECK_EQ(mask, -bars[i].size | bars[i].flags);
		config_put(fd, at, 0xe8000000, 4);
		CHECK_EQ(config(fd, at, 4), 0xe8000000 | bars[i].flags);
	}
}

TEST(only_what_is_writable_is_written)
{
	uint8_t before[PAGE], after[PAGE], ones[PAGE];
	int fd = vfu_open(device_start(), 0);
	uint32_t flr = find_cap(fd, PCI_CAP_ID_EXP) + PCI_EXP_DEVCTL + 1;

	CHECK_EQ(vfu_region_read(fd, CONFIG, 0, before, PAGE), 0);
	memset(ones, 0xff, sizeof(ones));
	ones[flr] = 0x7f;
	CHECK_EQ(vfu_region_write(fd, CONFIG, 0, ones, PAGE), 0);
	CHECK_EQ(config(fd, PCI_VENDOR_ID, 4), 0x10f01af4);
	CHECK_EQ(config(fd, PCI_STATUS, 2), PCI_STATUS_CAP_LIST);
	CHECK_EQ(config(fd, PCI_COMMAND, 2), 0x0546);
	CHECK_EQ(config(fd, PCI_CLASS_REVISION, 4), 0x02000001);
	CHECK_EQ(config(fd, PCI_INTERRUPT_LINE, 1), 0xff);
	CHECK_EQ(vfu_region_read(fd, CONFIG, 0, after, PAGE), 0);
	/* Bytes that could be read together were not lost. */
	for (size_t i = 0; i < PAGE; i++)
		CHECK_EQ(before[i] & ~after[i], 0);
	CHECK_EQ(after[0x100], 0);
}

TEST(power_states)
{
	int fd = vfu_open(device_start(), 0);
	uint32_t ctrl = find_cap(fd, PCI_CAP_ID_PM) + PCI_PM_CTRL;

	for (uint32_t state = 0; state < 4; state++) {
		uint32_t want = state == 3 ? 3 : 0;

		config_put(fd, ctrl, state, 2);
		CHECK_EQ(config(fd, ctrl, 2) & PCI_PM_CTRL_STATE_MASK, want);
	}
	config_put(fd, ctrl, 1, 2);
	CHECK_EQ(config(fd, ctrl, 2) & PCI_PM_CTRL_STATE_MASK, 3);
	config_put(fd, ctrl, 0, 2);
	CHECK_EQ(config(fd, ctrl, 2) & PCI_PM_CTRL_STATE_MASK, 0);
}

static void check_reset(void (*reset)(int fd))
{
	uint8_t before[PAGE], after[PAGE];
	int fd = vfu_open(device_start(), 0);
	int event = new_event();

	CHECK_EQ(vfu_region_read(fd, CONFIG, 0, before, PAGE), 0);
	config_put(fd, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
	config_put(fd, PCI_BASE_ADDRESS_0, 0xfe000000, 4);
	config_put(fd, PCI_INTERRUPT_LINE, 11, 1);
	enable_msix(fd);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 1, &event, 1), 0);
	CHECK_EQ(vfu_map(fd, 0, PAGE, -1, 0), 0);
	/* An interrupt that waits for its eventfd is lost. */
	CHECK_EQ(vfu_set_irqs(fd, TRIGGER, 3, 1, NULL, 0), 0);
	CHECK_EQ(vfu_get(fd, MYNIC_BAR_MSIX, PBA, 4), 1 << 3);
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_LOG_SIZE, 5, 4);
	CHECK_EQ(vfu_get(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_LOG_SIZE, 4), 5);

	reset(fd);
	CHECK_EQ(vfu_get(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_LOG_SIZE, 4), 0);
	CHECK_EQ(vfu_region_read(fd, CONFIG, 0, after, PAGE), 0);
	CHECK_MEM(after, before, PAGE);
	CHECK_EQ(vfu_get(fd, MYNIC_BAR_MSIX, PBA, 4), 0);
	/* Eventfds and maps belong to the client, and stay. */
	CHECK_EQ(vfu_map(fd, 0, PAGE, -1, 0), -EEXIST);
	CHECK_EQ(vfu_set_irqs(fd, TRIGGER, 0, 1, NULL, 0), 0);
	CHECK_EQ(vfu_signals(event), 0);
	enable_msix(fd);
	CHECK_EQ(vfu_set_irqs(fd, TRIGGER, 0, 1, NULL, 0), 0);
	CHECK_EQ(vfu_signals(event), 1);
}

static void reset_by_flr(int fd)
{
	uint32_t at = find_cap(fd, PCI_CAP_ID_EXP) + PCI_EXP_DEVCTL;

	config_put(fd, at, config(fd, at, 2) | PCI_EXP_DEVCTL_BCR_FLR, 2);
}

static void reset_by_message(int fd)
{
	CHECK_EQ(vfu_call(fd, VFU_DEVICE_RESET, NULL, 0, NULL, 0), 0);
}

TEST(flr)
{
	check_reset(reset_by_flr);
}

TEST(device_reset)
{
	check_reset(reset_by_message);
}

TEST(interrupts)
{
	int fd = vfu_open(device_start(), 0);
	int events[MYNIC_MAX_VECTORS];

	enable_msix(fd);
	for (int i = 0; i < MYNIC_MAX_VECTORS; i++)
		events[i] = new_event();
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 16, events, 16), 0);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 16, 16, events + 16, 16), 0);
	CHECK_EQ(vfu_set_irqs(fd, TRIGGER, 30, 2, NULL, 0), 0);
	/* If signals are slow, the helper sends them a little later. */
	for (int i = 30; i < MYNIC_MAX_VECTORS; i++) {
		struct pollfd pfd = { .fd = events[i], .events = POLLIN };

		CHECK_EQ(poll(&pfd, 1, -1), 1);
	}
	for (int i = 0; i < MYNIC_MAX_VECTORS; i++)
		CHECK_EQ(vfu_signals(events[i]), i >= 30);

	/* Removed without a file descriptor */
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 31, 1, NULL, 0), 0);
	CHECK_EQ(vfu_set_irqs(fd, TRIGGER, 30, 2, NULL, 0), 0);
	CHECK_EQ(vfu_signals(events[30]), 1);
	CHECK_EQ(vfu_signals(events[31]), 0);
}

/* To enable one more eventfd, QEMU removes all and sets them again. */
TEST(interrupt_while_it_has_no_eventfd)
{
	int fd = vfu_open(device_start(), 0);
	int events[2] = { new_event(), new_event() };

	enable_msix(fd);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 2, events, 2), 0);
	CHECK_EQ(vfu_set_irqs(fd, TRIGGER, 0, 0, NULL, 0), 0);
	CHECK_EQ(vfu_set_irqs(fd, TRIGGER, 1, 1, NULL, 0), 0);
	CHECK_EQ(vfu_set_irqs(fd, TRIGGER, 1, 1, NULL, 0), 0);
	CHECK_EQ(vfu_get(fd, MYNIC_BAR_MSIX, PBA, 4), 1 << 1);
	CHECK_EQ(vfu_get(fd, MYNIC_BAR_MSIX, PBA + 4, 4), 0);
	CHECK_EQ(vfu_signals(events[1]), 0);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 2, events, 2), 0);
	CHECK_EQ(vfu_signals(events[0]), 0);
	CHECK_EQ(vfu_signals(events[1]), 1);
	CHECK_EQ(vfu_get(fd, MYNIC_BAR_MSIX, PBA, 4), 0);
}

TEST(interrupts_need_msix_enable)
{
	int fd = vfu_open(device_start(), 0);
	int event = new_event();

	CHECK_EQ(vfu_set_irqs(fd, TRIGGER, 0, 1, NULL, 0), 0);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 1, &event, 1), 0);
	CHECK_EQ(vfu_set_irqs(fd, TRIGGER, 0, 1, NULL, 0), 0);
	CHECK_EQ(vfu_signals(event), 0);
}

TEST(interrupts_chosen_by_bools)
{
	struct {
		struct vfio_irq_set set;
		uint8_t bools[4];
	} message = {
		.set = VFU_IRQ_SET(VFIO_IRQ_SET_DATA_BOOL |
					   VFIO_IRQ_SET_ACTION_TRIGGER,
				   2, 4),
		.bools = { 1, 0, 0, 1 },
	};
	int fd = vfu_open(device_start(), 0);

	enable_msix(fd);
	CHECK_EQ(vfu_call(fd, VFU_DEVICE_SET_IRQS, &message, sizeof(message),
			  NULL, 0),
		 0);
	CHECK_EQ(vfu_get(fd, MYNIC_BAR_MSIX, PBA, 4), 1 << 2 | 1 << 5);
	CHECK_EQ(vfu_call(fd, VFU_DEVICE_SET_IRQS, &message,
			  sizeof(message.set) + 3, NULL, 0),
		 -EINVAL);
}

TEST(interrupts_bad)
{
	int fd = vfu_open(device_start(), 0);
	int events[16];

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		events[i] = new_event();
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 32, 1, events, 1), -EINVAL);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 31, 2, events, 2), -EINVAL);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 33, events, 16), -EINVAL);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 3, events, 2), -EINVAL);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 1, events, 2), -EINVAL);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 0, events, 1), -EINVAL);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, UINT32_MAX, 2, events, 2), -EINVAL);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 2, UINT32_MAX, events, 1), -EINVAL);
	CHECK_EQ(vfu_set_irqs(fd, TRIGGER, 1, 0, NULL, 0), -EINVAL);
	for (uint32_t flags = 0; flags < 64; flags++)
		if (flags != TRIGGER && flags != SET_FDS)
			CHECK_EQ(vfu_set_irqs(fd, flags, 0, 1, NULL, 0),
				 -EINVAL);
}

/*
 * Nobody waits for an eventfd with a full counter, which is signalled already.
 */
TEST(interrupt_with_a_full_counter)
{
	const uint64_t most = UINT64_MAX - 1;
	int fd = vfu_open(device_start(), 0);
	int event = eventfd(0, EFD_CLOEXEC);

	enable_msix(fd);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 1, &event, 1), 0);
	CHECK_EQ(write(event, &most, sizeof(most)), sizeof(most));
	for (int i = 0; i < 3; i++)
		CHECK_EQ(vfu_set_irqs(fd, TRIGGER, 0, 1, NULL, 0), 0);
	CHECK(vfu_signals(event) >= most);
}

TEST(dma_maps)
{
	int fd = vfu_open(device_start(), 0);
	int file = vfu_memory(16 * PAGE);

	CHECK_EQ(vfu_map(fd, 8 * PAGE, 4 * PAGE, file, 0), 0);
	CHECK_EQ(vfu_map(fd, 4 * PAGE, 4 * PAGE, file, 4 * PAGE), 0);
	CHECK_EQ(vfu_map(fd, 12 * PAGE, PAGE, -1, 0), 0);
	CHECK_EQ(vfu_map(fd, -PAGE, PAGE, file, 0), 0);

	CHECK_EQ(vfu_map(fd, 11 * PAGE, PAGE, file, 0), -EEXIST);
	CHECK_EQ(vfu_map(fd, 0, 5 * PAGE, file, 0), -EEXIST);
	CHECK_EQ(vfu_map(fd, 0, 32 * PAGE, file, 0), -EEXIST);
	CHECK_EQ(vfu_map(fd, 12 * PAGE, PAGE, file, 0), -EEXIST);

	CHECK_EQ(vfu_unmap(fd, 8 * PAGE, PAGE), -EINVAL);
	CHECK_EQ(vfu_unmap(fd, 5 * PAGE, 32 * PAGE), -EINVAL);
	CHECK_EQ(vfu_map(fd, 11 * PAGE, PAGE, file, 0), -EEXIST);
	CHECK_EQ(vfu_unmap(fd, 8 * PAGE, 4 * PAGE), 0);
	CHECK_EQ(vfu_map(fd, 11 * PAGE, PAGE, file, 0), 0);
	/* several at once, holes included; and none at all */
	CHECK_EQ(vfu_unmap(fd, 0, 32 * PAGE), 0);
	CHECK_EQ(vfu_unmap(fd, 0, 32 * PAGE), 0);
	CHECK_EQ(vfu_map(fd, 0, 16 * PAGE, file, 0), 0);
}

TEST(dma_unmap_all)
{
	struct vfu_dma_unmap all = {
		.argsz = sizeof(all),
		.flags = VFIO_DMA_UNMAP_FLAG_ALL,
	};
	int fd = vfu_open(device_start(), 0);
	int file = vfu_memory(PAGE);

	CHECK_EQ(vfu_map(fd, 0, PAGE, file, 0), 0);
	CHECK_EQ(vfu_map(fd, PAGE, PAGE, -1, 0), 0);
	all.size = PAGE;
	CHECK_EQ(vfu_call(fd, VFU_DMA_UNMAP, &all, sizeof(all), NULL, 0),
		 -EINVAL);
	all.size = 0;
	CHECK_EQ(vfu_call(fd, VFU_DMA_UNMAP, &all, sizeof(all), &all,
			  sizeof(all)),
		 sizeof(all));
	CHECK_EQ(vfu_map(fd, 0, 2 * PAGE, -1, 0), 0);
}

TEST(dma_maps_bad)
{
	struct vfu_dma_map map = { .argsz = sizeof(map), .size = PAGE };
	int fd = vfu_open(device_start(), 0);
	int file = vfu_memory(4 * PAGE);
	int files[2] = { file, file };

	CHECK_EQ(vfu_map(fd, 0, 0, file, 0), -EINVAL);
	CHECK_EQ(vfu_map(fd, -PAGE, 2 * PAGE, file, 0), -EINVAL);
	CHECK_EQ(vfu_map(fd, PAGE, UINT64_MAX, file, 0), -EINVAL);
	CHECK_EQ(vfu_map(fd, 0, UINT64_MAX, file, 0), -EINVAL);
	CHECK_EQ(vfu_map(fd, 0, PAGE, file, 4 * PAGE), -EINVAL);
	CHECK_EQ(vfu_map(fd, 0, 5 * PAGE, file, 0), -EINVAL);
	CHECK_EQ(vfu_map(fd, 0, PAGE, file, UINT64_MAX - PAGE + 1), -EINVAL);
	CHECK_EQ(vfu_map(fd, 0, PAGE, file, 1), -EINVAL);
	CHECK(vfu_map(fd, 0, PAGE, fd, 0) < 0);
	for (uint32_t flags = 0; flags < 16; flags++) {
		map.flags = flags;
		if (flags == 0 || flags == VFIO_DMA_MAP_FLAG_WRITE)
			CHECK_EQ(vfu_call(fd, VFU_DMA_MAP, &map, sizeof(map),
					  NULL, 0),
				 -EOPNOTSUPP);
		if (flags > 3)
			CHECK_EQ(vfu_call(fd, VFU_DMA_MAP, &map, sizeof(map),
					  NULL, 0),
				 -EINVAL);
	}
	map.flags = VFIO_DMA_MAP_FLAG_READ;
	CHECK_EQ(vfu_call_fds(fd, VFU_DMA_MAP, &map, sizeof(map), files, 2),
		 -EINVAL);
	CHECK_EQ(vfu_unmap(fd, 0, 0), -EINVAL);
	CHECK_EQ(vfu_unmap(fd, PAGE, UINT64_MAX), -EINVAL);
	/* None of these calls has left a map. */
	CHECK_EQ(vfu_map(fd, 0, 4 * PAGE, file, 0), 0);
}

TEST(dma_maps_are_limited)
{
	int fd = vfu_open(device_start(), 0);
	uint64_t i;

	for (i = 0; i < MAX_MAPS; i++)
		CHECK_EQ(vfu_map(fd, (i * 40503 & 0xffff) * 2 * PAGE, PAGE, -1,
				 0),
			 0);
	CHECK_EQ(vfu_map(fd, (i * 40503 & 0xffff) * 2 * PAGE, PAGE, -1, 0),
		 -ENOSPC);
	CHECK_EQ(vfu_unmap(fd, 0, 2 * PAGE), 0);
	CHECK_EQ(vfu_map(fd, PAGE, PAGE, -1, 0), 0);
}

/* A command in guest memory, with its completion and interrupt */

#define RING_CMD 0x100000
#define RING_CPL 0x101000

static uint32_t wait_status(int fd, uint32_t bits)
{
	uint32_t status;

	do
		status = vfu_get(fd, MYNIC_BAR_REGS, MYNIC_REG_STATUS, 4);
	while (!(status & bits));
	return status;
}

/* The NIC takes rings once it is ready, and may be in the reset of a session */
static void set_rings(int fd)
{
	wait_status(fd, MYNIC_STATUS_READY);
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_CMD_LO, RING_CMD, 4);
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_CPL_LO, RING_CPL, 4);
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_LOG_SIZE, 4, 4);
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_CONTROL, MYNIC_CONTROL_ENABLE, 4);
}

TEST(admin_command)
{
	int fd = vfu_open(device_start(), 0);
	int event = new_event();
	struct pollfd wait = { .fd = event, .events = POLLIN };
	int file = vfu_memory(2 * PAGE);
	uint8_t *mem = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			    file, 0);
	const struct mynic_admin_cpl *cpl = (void *)(mem + PAGE);
	struct mynic_admin_cmd *cmd = (void *)mem;

	CHECK(mem != MAP_FAILED);
	CHECK_EQ(vfu_map(fd, RING_CMD, 2 * PAGE, file, 0), 0);
	enable_msix(fd);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 1, &event, 1), 0);
	config_put(fd, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
	set_rings(fd);
	CHECK_EQ(wait_status(fd, MYNIC_STATUS_ENABLED | MYNIC_STATUS_FATAL),
		 MYNIC_STATUS_READY | MYNIC_STATUS_ENABLED);

	cmd->opcode = MYNIC_CMD_NOP;
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_ARM, 0, 4);
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_DOORBELL, 1, 4);
	CHECK_EQ(poll(&wait, 1, -1), 1);
	CHECK_EQ(cpl->phase & 1, 1);
	CHECK_EQ(cpl->status, MYNIC_AQ_OK);
}

/* How many XRC domains a NIC gives before its memory is used up, to @limit */
static unsigned int count_xrcds(const char *path, unsigned int limit)
{
	int fd = vfu_open_path(path);
	int file = vfu_memory(2 * PAGE);
	uint8_t *mem = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			    file, 0);
	struct mynic_admin_cmd *cmd = (void *)mem;
	const volatile struct mynic_admin_cpl *cpl = (void *)(mem + PAGE);
	uint8_t status = MYNIC_AQ_OK;
	unsigned int n = 0;

	CHECK(mem != MAP_FAILED);
	CHECK_EQ(vfu_map(fd, RING_CMD, 2 * PAGE, file, 0), 0);
	config_put(fd, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
	set_rings(fd);
	CHECK_EQ(wait_status(fd, MYNIC_STATUS_ENABLED | MYNIC_STATUS_FATAL),
		 MYNIC_STATUS_READY | MYNIC_STATUS_ENABLED);
	for (int i = 0; i < RING_SIZE; i++)
		cmd[i].opcode = MYNIC_CMD_ALLOC_XRCD;
	while (n < limit) {
		unsigned int slot = n % RING_SIZE;
		uint8_t phase = !(n / RING_SIZE % 2);

		vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_DOORBELL, n + 1, 4);
		while ((cpl[slot].phase & 1) != phase)
			;
		status = cpl[slot].status;
		if (status)
			break;
		n++;
	}
	CHECK_EQ(status, n < limit ? MYNIC_AQ_NO_RESOURCE : MYNIC_AQ_OK);
	munmap(mem, 2 * PAGE);
	close(file);
	close(fd);
	return n;
}

/* The limit of one NIC is not that of others, and holds in each session. */
TEST(memory_limit_of_a_nic)
{
	const char *dir = device_dir();
	char nics[2][96], path[2][64];
	const char *const args[] = { "--nic", nics[0], "--nic", nics[1], NULL };
	unsigned int num;

	for (int i = 0; i < 2; i++)
		snprintf(path[i], sizeof(path[i]), "%s/%d", dir, i);
	snprintf(nics[0], sizeof(nics[0]), "socket=%s,memory=1", path[0]);
	snprintf(nics[1], sizeof(nics[1]), "socket=%s", path[1]);
	device_spawn(args);
	num = count_xrcds(path[0], MANY_XRCDS);
	CHECK(num);
	CHECK(num < MANY_XRCDS);
	CHECK_EQ(count_xrcds(path[0], MANY_XRCDS), num);
	CHECK_EQ(count_xrcds(path[1], MANY_XRCDS), MANY_XRCDS);
}

TEST(no_dma_without_bus_master)
{
	int fd = vfu_open(device_start(), 0);
	int file = vfu_memory(2 * PAGE);

	CHECK_EQ(vfu_map(fd, RING_CMD, 2 * PAGE, file, 0), 0);
	config_put(fd, PCI_COMMAND, PCI_COMMAND_MEMORY, 2);
	set_rings(fd);
	CHECK(wait_status(fd, MYNIC_STATUS_ENABLED | MYNIC_STATUS_FATAL) &
	      MYNIC_STATUS_FATAL);
	CHECK_EQ(vfu_get(fd, MYNIC_BAR_REGS, MYNIC_REG_FATAL, 4),
		 MYNIC_FATAL_AQ_DMA);
}

TEST(no_dma_in_d3)
{
	int fd = vfu_open(device_start(), 0);
	int file = vfu_memory(2 * PAGE);

	CHECK_EQ(vfu_map(fd, RING_CMD, 2 * PAGE, file, 0), 0);
	config_put(fd, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
	config_put(fd, find_cap(fd, PCI_CAP_ID_PM) + PCI_PM_CTRL, 3, 2);
	set_rings(fd);
	CHECK(wait_status(fd, MYNIC_STATUS_ENABLED | MYNIC_STATUS_FATAL) &
	      MYNIC_STATUS_FATAL);
}

TEST(no_dma_after_unmap)
{
	int fd = vfu_open(device_start(), 0);
	int file = vfu_memory(2 * PAGE);

	CHECK_EQ(vfu_map(fd, RING_CMD, 2 * PAGE, file, 0), 0);
	config_put(fd, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
	CHECK_EQ(vfu_unmap(fd, RING_CMD, 2 * PAGE), 0);
	set_rings(fd);
	CHECK(wait_status(fd, MYNIC_STATUS_ENABLED | MYNIC_STATUS_FATAL) &
	      MYNIC_STATUS_FATAL);
}
