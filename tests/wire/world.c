// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The world of harness_sim.h in real time, around a NIC of another process:
 * the unit tests' driver runs against it unchanged.
 */
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "harness_vfu.h"
#include "world.h"

/* Of all that a puppet ever makes; pages that are not used cost nothing */
#define MEM_SIZE (1ull << 30)
#define MEM_IOVA (1ull << 33)

/* Generous: the device answers at once, if it does */
#define LIMIT (100 * SEC)

#define STEP (20 * USEC)

struct nic {
	uint8_t mac[6];
};

static struct nic nic;
static int session;
static uint32_t regs[MYNIC_BAR_REGS_SIZE / 4];

const uint8_t *nic_mac(const struct nic *n)
{
	return n->mac;
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SEC + now.tv_nsec;
}

static void let_pass(uint64_t ns)
{
	struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
}

static void find_mac(struct sim_nic *n)
{
	struct drv *d = drv_enable(n, 1);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_QUERY_PORT };
	struct mynic_port_attr attr;

	CHECK_EQ(drv_admin_out(d, &cmd, &attr, sizeof(attr)), MYNIC_AQ_OK);
	memcpy(nic.mac, attr.mac, sizeof(nic.mac));
}

struct sim_nic *world_open(const char *socket)
{
	struct sim *sim = tap_alloc(sizeof(*sim));
	struct sim_nic *n = &sim->nics[0];
	struct device dev = {};
	int file;

	CHECK(strlen(socket) < sizeof(dev.path[0]));
	strcpy(dev.path[0], socket);
	session = vfu_open(&dev, 0);
	file = memfd_create("memory", MFD_CLOEXEC);
	CHECK(file >= 0);
	CHECK_EQ(ftruncate(file, MEM_SIZE), 0);
	*n = (struct sim_nic){ .sim = sim, .nic = &nic, .iova = MEM_IOVA };
	n->mem = mmap(NULL, MEM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file,
		      0);
	CHECK(n->mem != MAP_FAILED);
	CHECK_EQ(vfu_map(session, MEM_IOVA, MEM_SIZE, file, 0), 0);
	vfu_put(session, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND,
		PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
	sim->num_nics = 1;
	sim->now = clock_ns();
	find_mac(n);
	return n;
}

uint64_t world_map_page(struct sim_nic *n)
{
	static uint64_t next;
	int file = memfd_create("page", MFD_CLOEXEC);

	CHECK(file >= 0);
	CHECK_EQ(ftruncate(file, DRV_PAGE), 0);
	next += DRV_PAGE;
	CHECK_EQ(vfu_map(session, n->iova + MEM_SIZE + next, DRV_PAGE, file, 0),
		 0);
	close(file);
	return n->iova + MEM_SIZE + next;
}

void world_unmap_page(uint64_t iova)
{
	CHECK_EQ(vfu_unmap(session, iova, DRV_PAGE), 0);
}

void *sim_alloc(struct sim_nic *n, size_t size, size_t align)
{
	size_t at = (n->used + align - 1) & ~(align - 1);

	if (at + size > MEM_SIZE)
		FAIL("the machine's memory is used up");
	n->used = at + size;
	return n->mem + at;
}

uint64_t sim_iova(const struct sim_nic *n, const void *ptr)
{
	return n->iova + ((const uint8_t *)ptr - n->mem);
}

uint32_t sim_read32(struct sim_nic *n, unsigned int reg)
{
	(void)n;
	return vfu_get(session, MYNIC_BAR_REGS, reg, 4);
}

void sim_write32(struct sim_nic *n, unsigned int reg, uint32_t value)
{
	(void)n;
	regs[reg / 4] = value;
	if (reg == MYNIC_REG_CONTROL && value & MYNIC_CONTROL_RESET)
		regs[MYNIC_REG_AQ_DOORBELL / 4] = 0;
	vfu_put(session, MYNIC_BAR_REGS, reg, value, 4);
}

void sim_doorbell(struct sim_nic *n, uint32_t uarn, unsigned int offset,
		  uint32_t number, uint8_t flags, uint32_t index)
{
	uint64_t value = index | (uint64_t)number << MYNIC_DB_NUMBER_SHIFT |
			 (uint64_t)flags << MYNIC_DB_FLAGS_SHIFT;

	(void)n;
	CHECK_EQ(vfu_region_write(session, MYNIC_BAR_UAR,
				  (uint64_t)uarn * MYNIC_UAR_SIZE + offset,
				  &value, sizeof(value)),
		 0);
}

/* Whether the last admin command that was announced has its completion */
static bool admin_idle(const struct sim_nic *n)
{
	const volatile struct mynic_admin_cpl *cpl;
	uint32_t last = regs[MYNIC_REG_AQ_DOORBELL / 4] - 1;
	uint32_t log_size = regs[MYNIC_REG_AQ_LOG_SIZE / 4];
	uint64_t ring = (uint64_t)regs[MYNIC_REG_AQ_CPL_HI / 4] << 32 |
			regs[MYNIC_REG_AQ_CPL_LO / 4];

	if (last == UINT32_MAX)
		return true;
	cpl = (const void *)(n->mem + (ring - n->iova));
	return (cpl[last & ((1u << log_size) - 1)].phase & 1) !=
	       (last >> log_size & 1);
}

/* All there is to wait for in a world that goes on by itself */
void sim_settle(struct sim *sim)
{
	uint64_t until = clock_ns() + LIMIT;

	while (!admin_idle(&sim->nics[0])) {
		if (clock_ns() > until)
			FAIL("an admin command is not completed");
		let_pass(STEP);
	}
	sim->now = clock_ns();
}

bool sim_step(struct sim *sim, uint64_t until)
{
	let_pass(STEP);
	sim_settle(sim);
	return sim->now < until;
}

void sim_run(struct sim *sim, uint64_t ns)
{
	uint64_t until = clock_ns() + ns;

	while (sim_step(sim, until))
		;
}

struct sim *sim_new(unsigned int nics)
{
	FAIL("there is one NIC in this world, not %u", nics);
}
