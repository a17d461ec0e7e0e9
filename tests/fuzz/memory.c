// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The bytes that messages come from and go to */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The model has the same table: see model.py */
static const uint8_t *bytes(void)
{
	static uint8_t table[65536];
	static bool made;
	uint64_t state = 88172645463325252u;

	for (size_t i = 0; i < sizeof(table) && !made; i++)
		table[i] = next_random(&state) >> 24;
	made = true;
	return table;
}

/** pattern() - fill memory with bytes that a number stands for */
void pattern(uint8_t *mem, size_t len, unsigned int seed)
{
	memcpy(mem, bytes() + seed, len);
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
	return nodes[node].arena + at;
}

static void fill(const struct line *line)
{
	size_t len;
	uint8_t *mem = range(line, &len);

	pattern(mem, len, number(line, "seed", 0));
}

static void compare(const struct line *line)
{
	uint32_t expected = strtoul(line->expect, NULL, 0);
	size_t len;
	uint8_t *mem = range(line, &len);
	uint32_t found = crc32(mem, len);

	if (found == expected)
		return;
	for (size_t i = 0; i < len; i++)
		printf("%s%02x%s", i % 32 ? "" : "# ", mem[i],
		       i % 32 == 31 || i + 1 == len ? "\n" : "");
	fail(line, "the bytes have CRC %#x, expected %#x", found, expected);
}

bool memory_call(const struct line *line)
{
	if (!strcmp(line->verb, "fill"))
		fill(line);
	else if (!strcmp(line->verb, "compare"))
		compare(line);
	else
		return false;
	return true;
}
