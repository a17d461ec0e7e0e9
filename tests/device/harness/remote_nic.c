// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The interface of the NIC core, implemented by messages to device processes.
 */
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness_driver.h"
#include "harness_vfu.h"
#include "remote_nic.h"

/* Pause of the world while nothing happens, us */
#define PAUSE 200

/* Upper bound of the maps of a machine's memory */
#define MAX_MAPS 4

/**
 * struct map - memory that the process may access
 * @iova: DMA address of the first byte
 * @len: bytes
 * @file: the memory
 */
struct map {
	uint64_t iova;
	uint64_t len;
	int file;
};

/**
 * struct nic - a NIC in another process
 * @config: argument of nic_create()
 * @fd: connection
 * @maps: memory of the machine that it may access
 * @num_maps: number of @maps
 * @written: a register was written after the last reply of the process
 */
struct nic {
	struct nic_config config;
	int fd;
	struct map maps[MAX_MAPS];
	unsigned int num_maps;
	bool written;
};

static const char *paths[SIM_MAX_NICS];

/* Directories of their memory; NULL: memory without a file */
static const char *dirs[SIM_MAX_NICS];

/* A register of some NIC was written since the last pause of the world */
static bool busy;

void remote_nic(unsigned int index, const char *path)
{
	CHECK(index < SIM_MAX_NICS);
	paths[index] = path;
}

const char *remote_nic_arg(unsigned int index)
{
	char *path = tap_alloc(48);
	char *arg = tap_alloc(96);

	snprintf(path, 48, "%s/nic", device_dir());
	snprintf(arg, 96, "socket=%s,mac=02:6d:79:6e:69:%02x", path, index + 1);
	remote_nic(index, path);
	return arg;
}

void remote_nic_file(unsigned int index, const char *dir)
{
	CHECK(index < SIM_MAX_NICS);
	dirs[index] = dir;
}

int remote_nic_fd(struct nic *nic)
{
	return nic->fd;
}

void remote_wait_link(struct drv *d)
{
	SIM_WAIT(d->sim, drv_has_link(d));
}

struct nic *nic_create(const struct nic_config *config)
{
	unsigned int index = config->mac[5] - 1;
	struct nic *nic = calloc(1, sizeof(*nic));

	CHECK(nic);
	CHECK(index < SIM_MAX_NICS && paths[index]);
	nic->config = *config;
	nic->fd = vfu_open_path(paths[index]);
	return nic;
}

void nic_destroy(struct nic *nic)
{
	for (unsigned int i = 0; i < nic->num_maps; i++)
		close(nic->maps[i].file);
	close(nic->fd);
	free(nic);
}

void nic_set_bus_master(struct nic *nic, bool on)
{
	vfu_put(nic->fd, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND,
		PCI_COMMAND_MEMORY | (on ? PCI_COMMAND_MASTER : 0), 2);
}

/* The process finds that out by itself. */
void nic_set_link(struct nic *nic, bool up)
{
	(void)nic;
	(void)up;
}

void nic_bar_read(struct nic *nic, int bar, uint64_t offset, void *data,
		  size_t len)
{
	CHECK_EQ(vfu_region_read(nic->fd, bar, offset, data, len), 0);
}

void nic_bar_write(struct nic *nic, int bar, uint64_t offset, const void *data,
		   size_t len)
{
	struct {
		struct vfu_region_access access;
		uint8_t data[8];
	} message = { .access = { offset, bar, len } };

	memcpy(message.data, data, len);
	vfu_post(nic->fd, VFU_REGION_WRITE, &message,
		 sizeof(message.access) + len);
	nic->written = true;
	busy = true;
}

/* Opens a file without a name for the memory */
static int open_memory(const struct nic *nic)
{
	const char *dir = dirs[nic->config.mac[5] - 1];

	if (dir)
		return open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return memfd_create("guest", MFD_CLOEXEC);
}

int nic_dma_map(struct nic *nic, uint64_t iova, uint64_t len, void *ptr,
		bool writable)
{
	int file = open_memory(nic);

	CHECK(writable);
	CHECK(file >= 0);
	CHECK(nic->num_maps < MAX_MAPS);
	CHECK_EQ(ftruncate(file, len), 0);
	CHECK(mmap(ptr, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		   file, 0) == ptr);
	nic->maps[nic->num_maps++] = (struct map){ iova, len, file };
	return vfu_map(nic->fd, iova, len, file, 0);
}

int nic_dma_unmap(struct nic *nic, uint64_t iova, uint64_t len)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < nic->num_maps; i++) {
		struct map *map = &nic->maps[i];

		if (map->iova >= iova && map->iova - iova < len)
			close(map->file);
		else
			nic->maps[kept++] = *map;
	}
	nic->num_maps = kept;
	return vfu_unmap(nic->fd, iova, len);
}

void remote_nic_remap(struct nic *nic)
{
	for (unsigned int i = 0; i < nic->num_maps; i++) {
		const struct map *map = &nic->maps[i];

		CHECK_EQ(vfu_unmap(nic->fd, map->iova, map->len), 0);
		CHECK_EQ(vfu_map(nic->fd, map->iova, map->len, map->file, 0),
			 0);
	}
}

/*
 * The process answers a read when it looks at its clients. On a busy machine it
 * does so after the turn of each NIC. After one look for each NIC and one more,
 * a write before the first read has had its effect. A command may take longer
 * if the NIC has had more time than its neighbours.
 */
static void sync_registers(struct nic *nic)
{
	for (int i = 0; i < SIM_MAX_NICS + 2; i++)
		vfu_get(nic->fd, MYNIC_BAR_REGS, MYNIC_REG_MAGIC, 4);
}

bool nic_run(struct nic *nic)
{
	if (nic->written)
		sync_registers(nic);
	else if (!busy)
		usleep(PAUSE);
	else
		busy = false;
	nic->written = false;
	return false;
}

bool nic_watch(struct nic *nic)
{
	(void)nic;
	return false;
}

bool nic_stop_watching(struct nic *nic)
{
	(void)nic;
	return false;
}

/* There is always a next event, so that time passes while a test waits. */
uint64_t nic_next_event(const struct nic *nic)
{
	return nic->config.ops->now(nic->config.ctx) + PAUSE * USEC;
}

uint32_t nic_receive(struct nic *nic, const struct packet *pkt)
{
	(void)nic;
	(void)pkt;
	FAIL("a packet of this process");
}

const uint8_t *nic_mac(const struct nic *nic)
{
	return nic->config.mac;
}

uint64_t nic_memory(const struct nic *nic)
{
	(void)nic;
	return 0;
}

void nic_persisted(struct nic *nic, int err)
{
	(void)nic;
	(void)err;
}

const uint8_t *nic_permanent_mac(const struct nic *nic)
{
	return nic->config.mac;
}

bool nic_can_receive(const struct nic *nic)
{
	(void)nic;
	return true;
}

void nic_resume(struct nic *nic, unsigned int way)
{
	(void)nic;
	(void)way;
}
