// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The bytes that messages come from and go to */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "runner.h"

/* Longer than a device may take on a busy machine */
#define LATE_SECONDS 60

/* The file that a dma-buf is made of may not shrink. */
static int make_dmabuf(int memfd)
{
	struct udmabuf_create create = {
		.memfd = memfd,
		.flags = UDMABUF_FLAGS_CLOEXEC,
		.size = ARENA_SIZE,
	};
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), dmabuf = -1;

	if (dev < 0)
		return -1;
	if (!fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		dmabuf = ioctl(dev, UDMABUF_CREATE, &create);
	close(dev);
	return dmabuf;
}

/**
 * arena_make() - the memory of a device
 * @dmabuf: is set to a dma-buf of it, or to -1
 *
 * Return: ARENA_SIZE bytes, or NULL.
 */
uint8_t *arena_make(int *dmabuf)
{
	int memfd = memfd_create("arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *mem;

	if (memfd < 0 || ftruncate(memfd, ARENA_SIZE))
		return NULL;
	mem = mmap(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memfd,
		   0);
	*dmabuf = make_dmabuf(memfd);
	close(memfd);
	return mem == MAP_FAILED ? NULL : mem;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint8_t table[65536];

/* The model has the same table: see model.py */
__attribute__((constructor)) static void make_table(void)
{
	uint64_t state = 88172645463325252u;

	for (size_t i = 0; i < sizeof(table); i++)
		table[i] = next_random(&state) >> 24;
}

/** pattern() - fill memory with bytes that a number stands for */
void pattern(uint8_t *mem, size_t len, unsigned int seed)
{
	memcpy(mem, table + seed, len);
}

/** crc32() - what the model compares memory by */
uint32_t crc32(const uint8_t *data, size_t len)
{
	uint32_t crc = ~0u;

	while (len--) {
		crc ^= *data++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static uint8_t *range(const struct line *line, size_t *len)
{
	unsigned long node = strtoul(line->target, NULL, 0);
	uint64_t at = number(line, "at", 0);

	*len = number(line, "len", 0);
	if (node >= NUM_NODES || at > ARENA_SIZE || *len > ARENA_SIZE - at)
		fail(line, "is beyond the memory");
	return program->nodes[node].arena + at;
}

static void fill(const struct line *line)
{
	size_t len;
	uint8_t *mem = range(line, &len);

	pattern(mem, len, number(line, "seed", 0));
}

/*
 * late: a WRITE of an unreliable QP completes when it has been sent, and may
 * arrive afterwards
 */
static void compare(const struct line *line)
{
	uint32_t expected = strtoul(line->expect, NULL, 0);
	time_t end = time(NULL) + (number(line, "late", 0) ? LATE_SECONDS : 0);
	size_t len;
	uint8_t *mem = range(line, &len);
	uint32_t found = crc32(mem, len);

	while (found != expected && time(NULL) < end) {
		sched_yield();
		found = crc32(mem, len);
	}
	if (found == expected)
		return;
	for (size_t i = 0; i < len; i++)
		printf("%s%02x%s", i % 32 ? "" : "# ", mem[i],
		       i % 32 == 31 || i + 1 == len ? "\n" : "");
	fail(line, "the bytes have CRC %#x, expected %#x", found, expected);
}

static void write_bytes(const struct line *line)
{
	const char *text = must(line, "hex");
	unsigned long node = strtoul(line->target, NULL, 0);
	uint64_t at = number(line, "at", 0);

	if (node >= NUM_NODES || at > ARENA_SIZE)
		fail(line, "is beyond the memory");
	unhex(text, program->nodes[node].arena + at, ARENA_SIZE - at);
}

bool memory_call(const struct line *line)
{
	if (!strcmp(line->verb, "fill"))
		fill(line);
	else if (!strcmp(line->verb, "write"))
		write_bytes(line);
	else if (!strcmp(line->verb, "compare"))
		compare(line);
	else
		return false;
	return true;
}
