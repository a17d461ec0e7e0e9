// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The GID table: its command, and look-up for packets that arrive. */

#include "function/gid.h"

#include <endian.h>
#include <string.h>

#include "base/mac.h"
#include "mynic_regs.h"
#include "packet/ip_gid.h"
#include "packet/packet.h"
#include "state/admin_types.h"
#include "state/function_types.h"
#include "state/nic_types.h"

#define MAX_VLAN 4094
#define VLAN_ID_MASK 0xfff

static const uint8_t no_gid[16];

static bool gid_is_empty(const struct gid_entry *entry)
{
	return !memcmp(entry->gid, no_gid, sizeof(no_gid));
}

const struct gid_entry *gid_at(const struct nic *nic, uint32_t index)
{
	if (index >= nic->gids.used || gid_is_empty(&nic->gids.entries[index]))
		return NULL;
	return &nic->gids.entries[index];
}

/* VLAN id of a tag or an entry; an untagged packet counts as VLAN 0 */
static uint16_t gid_vlan_id(uint16_t vlan)
{
	return vlan == MYNIC_NO_VLAN ? 0 : vlan & VLAN_ID_MASK;
}

bool gid_takes(const struct nic *nic, const struct gid_entry *entry,
	       const struct packet *pkt)
{
	return !memcmp(entry->gid, pkt->roce.dgid, sizeof(entry->gid)) &&
	       gid_vlan_id(entry->vlan) == gid_vlan_id(pkt->vlan) &&
	       (mac_equal(pkt->dmac, nic->port.mac) ||
		mac_equal(pkt->dmac, entry->mac));
}

const struct gid_entry *gid_find(const struct nic *nic,
				 const struct packet *pkt)
{
	for (unsigned int i = 0; i < nic->gids.used; i++) {
		const struct gid_entry *entry = &nic->gids.entries[i];

		if (gid_takes(nic, entry, pkt) && !gid_is_empty(entry))
			return entry;
	}
	return NULL;
}

bool gid_on_vlan(const struct nic *nic, const struct packet *pkt)
{
	uint16_t vlan = gid_vlan_id(pkt->vlan);

	if (!vlan)
		return true;
	for (unsigned int i = 0; i < nic->gids.used; i++) {
		const struct gid_entry *entry = &nic->gids.entries[i];

		if (gid_vlan_id(entry->vlan) == vlan && !gid_is_empty(entry))
			return true;
	}
	return false;
}

void gid_from_ipv4(const uint8_t address[4], uint8_t gid[16])
{
	memcpy(gid, gid_ipv4_prefix, sizeof(gid_ipv4_prefix));
	memcpy(gid + sizeof(gid_ipv4_prefix), address, 4);
}

int admin_set_gid(struct nic *nic, struct admin_call *call)
{
	const struct mynic_set_gid *cmd = &call->cmd.set_gid;
	uint32_t index = le32toh(call->cmd.number);
	uint16_t vlan = le16toh(cmd->vlan);
	struct gid_table *table = &nic->gids;
	struct gid_entry entry = { .vlan = vlan };

	if (index >= GID_TABLE_SIZE)
		return MYNIC_AQ_BAD_NUMBER;
	memcpy(entry.gid, cmd->gid, sizeof(entry.gid));
	memcpy(entry.mac, cmd->mac, sizeof(entry.mac));
	if (!gid_is_empty(&entry) &&
	    (gid_is_multicast(entry.gid) || mac_is_multicast(entry.mac) ||
	     (vlan > MAX_VLAN && vlan != MYNIC_NO_VLAN)))
		return MYNIC_AQ_BAD_PARAM;
	table->entries[index] = entry;
	if (index >= table->used)
		table->used = index + 1;
	while (table->used && gid_is_empty(&table->entries[table->used - 1]))
		table->used--;
	return MYNIC_AQ_OK;
}
