// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Guest memory in this process: its unmapping, its loss, and who waits for them
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/nic.h"
#include "harness_tap.h"
#include "harness_vfu.h"
#include "host/dma_maps.h"
#include "host/helper.h"

#define MB (1u << 20)
#define IOVA 0x100000u

/* Upper bound of the bytes that are unmapped or replaced at a time */
#define MOST (8 * MB)

static struct events events;
static struct helper helper;
static struct dma_maps maps = { .helper = &helper, .max = 16 };
static size_t given_back;
static bool in_pieces = true;

int nic_dma_map(struct nic *nic, uint64_t iova, uint64_t len, void *ptr,
		bool writable)
{
	(void)nic;
	(void)iova;
	(void)len;
	(void)ptr;
	(void)writable;
	return 0;
}

int nic_dma_unmap(struct nic *nic, uint64_t iova, uint64_t len)
{
	(void)nic;
	(void)iova;
	(void)len;
	return 0;
}

/* Replaces the function of libc */
int madvise(void *ptr, size_t len, int advice)
{
	if (advice == MADV_DONTNEED && len > MOST)
		in_pieces = false;
	if (advice == MADV_DONTNEED)
		given_back += len;
	return syscall(SYS_madvise, ptr, len, advice);
}

static void ready(void *owner)
{
	(void)owner;
}

static void setup(void)
{
	CHECK_EQ(events_init(&events), 0);
	helper.events = &events;
	helper.ready = ready;
	CHECK_EQ(helper_init(&helper), 0);
	CHECK_EQ(helper_start(&helper), 0);
	dma_maps_init(&maps);
}

/* Return: address at which the file is mapped */
static uint8_t *map(int file, size_t len)
{
	CHECK_EQ(dma_maps_add(&maps, IOVA, len, file, 0,
			      PROT_READ | PROT_WRITE),
		 0);
	return maps.regions[maps.num - 1].ptr;
}

static bool is_mapped(void *ptr)
{
	unsigned char resident;

	return !mincore(ptr, 4096, &resident);
}

static void wait_for_helper(void)
{
	while (!helper_is_idle(&helper))
		events_wait(&events, EVENTS_FOREVER);
}

TEST(memory_goes_in_pieces)
{
	size_t len = 33 * MB;
	uint8_t *ptr;

	setup();
	ptr = map(vfu_memory(len), len);
	memset(ptr, 1, len);
	CHECK_EQ(dma_maps_remove(&maps, IOVA, len), 0);
	wait_for_helper();
	CHECK(!is_mapped(ptr));
	CHECK(in_pieces);
	CHECK_EQ(given_back, len);
}

static int gate[2];

static void wait_at_gate(struct helper_job *job)
{
	char byte;

	(void)job;
	if (read(gate[0], &byte, 1) < 0)
		return;
}

static void nothing(struct helper_job *job)
{
	(void)job;
}

/* Earlier jobs of the helper may still use that memory */
TEST(small_memory_waits_for_the_helper)
{
	struct helper_job job = { .work = wait_at_gate, .done = nothing };
	uint8_t *ptr;

	setup();
	CHECK_EQ(pipe(gate), 0);
	ptr = map(vfu_memory(4096), 4096);
	helper_submit(&helper, &job);
	CHECK_EQ(dma_maps_remove(&maps, IOVA, 4096), 0);
	CHECK_EQ(maps.num, 0);
	CHECK(is_mapped(ptr));
	CHECK_EQ(write(gate[1], "", 1), 1);
	wait_for_helper();
	CHECK(!is_mapped(ptr));
	CHECK_EQ(maps.unmapping, 0);
}

/* If a client removes the end of its file, only accessed blocks are replaced */
TEST(lost_memory_is_replaced_in_blocks)
{
	size_t len = 64 * MB;
	int file = vfu_memory(len);
	uint8_t *ptr;
	char byte;

	setup();
	ptr = map(file, len);
	ptr[0] = 1;
	CHECK_EQ(ftruncate(file, 4096), 0);
	CHECK(!maps.spoilt);
	*(volatile uint8_t *)(ptr + len - 1) = 2;
	CHECK(maps.spoilt);
	CHECK_EQ(ptr[len - 1], 2);
	/* All before the block is still the file */
	CHECK_EQ(ftruncate(file, len), 0);
	ptr[len - 1 - MOST] = 3;
	CHECK_EQ(pread(file, &byte, 1, len - 1 - MOST), 1);
	CHECK_EQ(byte, 3);
	CHECK_EQ(pread(file, &byte, 1, len - 1), 1);
	CHECK_EQ(byte, 0);
	CHECK_EQ(dma_maps_remove(&maps, IOVA, len), 0);
	wait_for_helper();
	CHECK(!is_mapped(ptr));
}
