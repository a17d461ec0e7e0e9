// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The MAC table of the switch: a hash table of fixed size. */

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "mac_table.h"

/* Multiplicative hashing: all bits of the address affect the upper bits. */
#define HASH_FACTOR 0x9e3779b97f4a7c15ULL

static unsigned int mac_table_hash(const uint8_t mac[6])
{
	uint64_t value = 0;

	memcpy(&value, mac, 6);
	return (value * HASH_FACTOR >> 32) % MAC_TABLE_SETS;
}

static bool mac_table_is_live(const struct mac_entry *entry, uint64_t now)
{
	return entry->port && now < entry->seen + MAC_TABLE_AGE;
}

static bool mac_table_is_at(const struct mac_entry *entry, const uint8_t mac[6])
{
	return entry->port && !memcmp(entry->mac, mac, sizeof(entry->mac));
}

static unsigned int mac_table_num_of(const struct mac_entry *set,
				     const struct switch_port *port,
				     uint64_t now)
{
	unsigned int num = 0;

	for (unsigned int i = 0; i < MAC_TABLE_WAYS; i++)
		num += set[i].port == port && mac_table_is_live(&set[i], now);
	return num;
}

/* How much an address of @port should rather replace @entry than others */
static unsigned int mac_table_rank(const struct mac_entry *set,
				   const struct mac_entry *entry,
				   const struct switch_port *port, uint64_t now)
{
	if (!mac_table_is_live(entry, now))
		return 2 * MAC_TABLE_WAYS + 2;
	return 2 * mac_table_num_of(set, entry->port, now) +
	       (entry->port == port);
}

/* The entry for a new address; among several, the one seen least recently */
static struct mac_entry *mac_table_replace(struct mac_entry *set,
					   const struct switch_port *port,
					   uint64_t now)
{
	struct mac_entry *best = set;
	unsigned int most = 0;

	for (unsigned int i = 0; i < MAC_TABLE_WAYS; i++) {
		unsigned int rank = mac_table_rank(set, &set[i], port, now);

		if (rank < most || (rank == most && set[i].seen >= best->seen))
			continue;
		best = &set[i];
		most = rank;
	}
	return best;
}

/* The place of an address in its set, or MAC_TABLE_WAYS */
static unsigned int mac_table_place(const struct mac_entry *set,
				    const uint8_t mac[6])
{
	unsigned int i = 0;

	while (i < MAC_TABLE_WAYS && !mac_table_is_at(&set[i], mac))
		i++;
	return i;
}

void mac_table_learn(struct mac_table *table, const uint8_t mac[6],
		     struct switch_port *port, uint64_t now)
{
	static const uint8_t zero[6];
	struct mac_entry *set = table->sets[mac_table_hash(mac)];
	struct mac_entry *entry;
	unsigned int place;

	if (mac[0] & 1 || !memcmp(mac, zero, sizeof(zero)))
		return;
	place = mac_table_place(set, mac);
	entry = place < MAC_TABLE_WAYS ? &set[place] :
					 mac_table_replace(set, port, now);
	entry->port = port;
	entry->seen = now;
	memcpy(entry->mac, mac, sizeof(entry->mac));
}

struct switch_port *mac_table_find(const struct mac_table *table,
				   const uint8_t mac[6], uint64_t now)
{
	const struct mac_entry *set = table->sets[mac_table_hash(mac)];
	unsigned int place = mac_table_place(set, mac);

	return place < MAC_TABLE_WAYS && mac_table_is_live(&set[place], now) ?
		       set[place].port :
		       NULL;
}

void mac_table_forget(struct mac_table *table, const struct switch_port *port)
{
	for (unsigned int i = 0; i < MAC_TABLE_SETS; i++)
		for (unsigned int j = 0; j < MAC_TABLE_WAYS; j++)
			if (table->sets[i][j].port == port)
				table->sets[i][j].port = NULL;
}
