// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The GID table, without a NIC: what it takes, and which packets it finds */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "core/function/gid.h"
#include "core/packet/packet.h"
#include "core/state/admin_types.h"
#include "core/state/nic_types.h"
#include "harness_tap.h"

static const uint8_t gid_a[16] = { 0xfd, [15] = 1 };
static const uint8_t mac_a[6] = { 2, 1, 1, 1, 1, 1 };
static const uint8_t port_mac[6] = { 2, 9, 9, 9, 9, 9 };

static struct nic *make_nic(void)
{
	struct nic *nic = calloc(1, sizeof(*nic));

	CHECK(nic);
	memcpy(nic->port.mac, port_mac, sizeof(port_mac));
	return nic;
}

static int set(struct nic *nic, uint32_t index, const uint8_t gid[16],
	       const uint8_t mac[6], uint16_t vlan)
{
	struct admin_call call = { .cmd = { .number = htole32(index) } };

	memcpy(call.cmd.set_gid.gid, gid, 16);
	memcpy(call.cmd.set_gid.mac, mac, 6);
	call.cmd.set_gid.vlan = htole16(vlan);
	return admin_set_gid(nic, &call);
}

static struct packet packet_to(const uint8_t gid[16], const uint8_t mac[6],
			       uint16_t vlan)
{
	struct packet pkt = { .kind = PACKET_ROCE, .vlan = vlan };

	memcpy(pkt.roce.dgid, gid, 16);
	memcpy(pkt.dmac, mac, 6);
	return pkt;
}

TEST(gids_that_are_refused)
{
	static const uint8_t group_gid[16] = { 0xff, 2 }, none[16];
	static const uint8_t group_mac[6] = { 1 };
	struct nic *nic = make_nic();

	CHECK_EQ(set(nic, GID_TABLE_SIZE, gid_a, mac_a, MYNIC_NO_VLAN),
		 MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(set(nic, 0, group_gid, mac_a, MYNIC_NO_VLAN),
		 MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(set(nic, 0, gid_a, group_mac, MYNIC_NO_VLAN),
		 MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(set(nic, 0, gid_a, mac_a, 4095), MYNIC_AQ_BAD_PARAM);
	CHECK(!gid_at(nic, 0));
	/* an empty entry may have anything else */
	CHECK_EQ(set(nic, 0, none, group_mac, 4095), MYNIC_AQ_OK);
	CHECK(!gid_at(nic, 0));
	free(nic);
}

TEST(gids_at_the_end_are_forgotten)
{
	static const uint8_t none[16];
	struct nic *nic = make_nic();

	CHECK_EQ(set(nic, 1, gid_a, mac_a, MYNIC_NO_VLAN), MYNIC_AQ_OK);
	CHECK_EQ(set(nic, 5, gid_a, mac_a, MYNIC_NO_VLAN), MYNIC_AQ_OK);
	CHECK_EQ(nic->gids.used, 6);
	CHECK(!gid_at(nic, 0));
	CHECK(gid_at(nic, 5));
	CHECK(!gid_at(nic, 6));
	CHECK_EQ(set(nic, 5, none, mac_a, MYNIC_NO_VLAN), MYNIC_AQ_OK);
	CHECK_EQ(nic->gids.used, 2);
	free(nic);
}

TEST(gids_of_packets)
{
	static const uint8_t other_mac[6] = { 2, 3, 3, 3, 3, 3 };
	struct nic *nic = make_nic();
	struct packet pkt;

	CHECK_EQ(set(nic, 3, gid_a, mac_a, 10), MYNIC_AQ_OK);
	pkt = packet_to(gid_a, mac_a, 10);
	CHECK(gid_find(nic, &pkt) == gid_at(nic, 3));
	/* the priority of a tag does not count, but its VLAN does */
	pkt.vlan = 5 << 13 | 10;
	CHECK(gid_find(nic, &pkt));
	CHECK(gid_on_vlan(nic, &pkt));
	pkt.vlan = 11;
	CHECK(!gid_find(nic, &pkt));
	CHECK(!gid_on_vlan(nic, &pkt));
	pkt.vlan = MYNIC_NO_VLAN;
	CHECK(!gid_find(nic, &pkt));
	CHECK(gid_on_vlan(nic, &pkt));
	/* the port's own MAC, or that of the entry */
	pkt = packet_to(gid_a, port_mac, 10);
	CHECK(gid_find(nic, &pkt));
	pkt = packet_to(gid_a, other_mac, 10);
	CHECK(!gid_find(nic, &pkt));
	free(nic);
}
