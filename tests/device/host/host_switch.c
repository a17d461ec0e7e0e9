// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The switch, with functions in place of NICs and wires */
#include "core/nic.h"
#include "harness_tap.h"
#include "host/log.h"
#include "host/switch.h"

#define MAX_LOG 64

/**
 * struct nic - a stand-in for the NIC core
 * @mac: its MAC
 * @permanent: its MAC after a reset
 * @port: its port
 * @respond: called for each received packet
 * @busy: it is inside nic_receive() or transmit()
 * @log: first byte of each received packet
 * @num: number of received packets
 * @units: work for each packet
 * @link: link state that it was told
 * @overruns: overruns that it was told
 * @resumed: ways that it was told to try again, a bit each
 * @closed: it takes no packets
 */
struct nic {
	uint8_t mac[6];
	uint8_t permanent[6];
	struct switch_port port;
	void (*respond)(struct nic *nic, const struct packet *pkt);
	bool busy;
	uint8_t log[MAX_LOG];
	unsigned int num;
	uint32_t units;
	bool link;
	unsigned int overruns;
	uint64_t resumed;
	bool closed;
};

static struct log test_log = { .name = "test" };
static struct net_switch sw;
static struct nic nics[3];

const uint8_t *nic_mac(const struct nic *nic)
{
	return nic->mac;
}

const uint8_t *nic_permanent_mac(const struct nic *nic)
{
	return nic->permanent;
}

uint32_t nic_receive(struct nic *nic, const struct packet *pkt)
{
	CHECK(!nic->busy);
	nic->busy = true;
	if (nic->num < MAX_LOG && pkt->niov)
		nic->log[nic->num] = *(uint8_t *)pkt->iov[0].iov_base;
	nic->num++;
	if (nic->respond)
		nic->respond(nic, pkt);
	nic->busy = false;
	return nic->units;
}

void nic_set_link(struct nic *nic, bool up)
{
	nic->link = up;
}

void nic_overrun(struct nic *nic)
{
	nic->overruns++;
}

bool nic_can_receive(const struct nic *nic)
{
	return !nic->closed;
}

void nic_resume(struct nic *nic, unsigned int way)
{
	nic->resumed |= 1ull << way;
}

static int try_connect(struct switch_port *port, struct nic *nic)
{
	*port = (struct switch_port){
		.name = "test",
		.log = &test_log,
		.nic = nic,
	};
	return switch_connect(&sw, port);
}

static void connect_nic(struct switch_port *port, struct nic *nic)
{
	CHECK_EQ(try_connect(port, nic), 0);
}

static void setup(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		nics[i].mac[0] = 2;
		nics[i].mac[5] = i;
		memcpy(nics[i].permanent, nics[i].mac, 6);
		connect_nic(&nics[i].port, &nics[i]);
	}
}

static struct packet make_packet(const uint8_t *dmac, const void *data,
				 size_t len)
{
	struct packet pkt = {
		.kind = PACKET_ROCE,
		.vlan = PACKET_NO_VLAN,
		.payload_len = len,
		.niov = 1,
		.iov = { { (void *)data, len } },
	};

	memcpy(pkt.dmac, dmac, sizeof(pkt.dmac));
	return pkt;
}

static void send_byte(struct nic *from, const uint8_t *dmac, uint8_t byte)
{
	struct packet pkt = make_packet(dmac, &byte, 1);
	bool busy = from->busy;

	from->busy = true;
	switch_transmit(&from->port, &pkt);
	from->busy = busy;
}

static void deliver_all(void)
{
	bool more;

	do {
		more = false;
		for (unsigned int i = 0; i < sw.num; i++)
			if (sw.ports[i]->nic)
				more |= switch_deliver(sw.ports[i]);
	} while (more);
}

TEST(unicast_goes_to_its_owner_at_once)
{
	setup(3);
	send_byte(&nics[0], nics[2].mac, 7);
	CHECK_EQ(nics[0].num, 0);
	CHECK_EQ(nics[1].num, 0);
	CHECK_EQ(nics[2].num, 1);
	CHECK_EQ(nics[2].log[0], 7);
}

TEST(unknown_unicast_goes_to_all_others)
{
	setup(3);
	send_byte(&nics[1], (uint8_t[]){ 2, 0, 0, 0, 0, 99 }, 7);
	deliver_all();
	CHECK_EQ(nics[0].num, 1);
	CHECK_EQ(nics[1].num, 0);
	CHECK_EQ(nics[2].num, 1);
}

TEST(multicast_goes_to_all_others)
{
	setup(3);
	send_byte(&nics[1], (uint8_t[]){ 0x33, 0x33, 0, 0, 0, 1 }, 7);
	deliver_all();
	CHECK_EQ(nics[0].num, 1);
	CHECK_EQ(nics[1].num, 0);
	CHECK_EQ(nics[2].num, 1);
}

static bool sends_from(struct nic *from, const uint8_t *mac)
{
	struct packet pkt = make_packet(nics[1].mac, "x", 1);
	unsigned int before = nics[1].num;

	memcpy(pkt.smac, mac, sizeof(pkt.smac));
	switch_transmit(&from->port, &pkt);
	return nics[1].num > before;
}

TEST(nic_is_no_other_nic)
{
	static const uint8_t free_mac[6] = { 2, 9, 9, 9, 9, 9 };

	setup(3);
	/* the present MAC of nic 2, and its permanent one */
	nics[2].mac[4] = 1;
	for (unsigned int i = 0; i < 2; i++) {
		bool off = i;

		nics[0].port.trusted = off;
		CHECK(sends_from(&nics[0], nics[0].mac));
		CHECK(sends_from(&nics[0], free_mac));
		CHECK_EQ(sends_from(&nics[0], nics[2].mac), off);
		CHECK_EQ(sends_from(&nics[0], nics[2].permanent), off);
		CHECK(switch_may_have_mac(&nics[0].port, nics[0].mac));
		CHECK(switch_may_have_mac(&nics[0].port, free_mac));
		CHECK_EQ(switch_may_have_mac(&nics[0].port, nics[2].mac), off);
		CHECK_EQ(switch_may_have_mac(&nics[0].port, nics[2].permanent),
			 off);
	}
	CHECK_EQ(nics[0].port.spoofed, 2);
}

TEST(own_packet_comes_back_later)
{
	setup(1);
	send_byte(&nics[0], nics[0].mac, 1);
	send_byte(&nics[0], nics[0].mac, 2);
	CHECK_EQ(nics[0].num, 0);
	switch_deliver(&nics[0].port);
	CHECK_EQ(nics[0].num, 2);
	CHECK_MEM(nics[0].log, "\1\2", 2);
}

static void answer(struct nic *nic, const struct packet *pkt)
{
	uint8_t byte = *(uint8_t *)pkt->iov[0].iov_base;

	if (byte < 20)
		send_byte(nic, pkt->smac, byte + 1);
}

/*
 * An answer from within the receive call must wait until transmit() of its
 * receiver has ended.
 */
TEST(answer_to_a_sender_is_queued)
{
	setup(2);
	nics[1].respond = answer;
	for (uint8_t byte = 1; byte <= 3; byte++) {
		struct packet pkt = make_packet(nics[1].mac, &byte, 1);

		memcpy(pkt.smac, nics[0].mac, 6);
		nics[0].busy = true;
		switch_transmit(&nics[0].port, &pkt);
		nics[0].busy = false;
	}
	CHECK_EQ(nics[1].num, 3);
	CHECK_EQ(nics[0].num, 0);
	deliver_all();
	CHECK_EQ(nics[0].num, 3);
	CHECK_MEM(nics[0].log, "\2\3\4", 3);
}

/* Packets must not overtake those in the queue of a NIC. */
TEST(queued_packets_are_not_overtaken)
{
	setup(2);
	send_byte(&nics[0], nics[0].mac, 1);
	send_byte(&nics[1], nics[0].mac, 2);
	CHECK_EQ(nics[0].num, 0);
	deliver_all();
	CHECK_MEM(nics[0].log, "\1\2", 2);
	send_byte(&nics[1], nics[0].mac, 3);
	CHECK_EQ(nics[0].num, 3);
}

static void echo_to_self(struct nic *nic, const struct packet *pkt)
{
	uint8_t byte = *(uint8_t *)pkt->iov[0].iov_base;

	if (byte < 10)
		send_byte(nic, nic->mac, byte + 10);
}

TEST(packets_sent_while_delivering)
{
	setup(1);
	nics[0].respond = echo_to_self;
	for (uint8_t byte = 1; byte <= 3; byte++)
		send_byte(&nics[0], nics[0].mac, byte);
	switch_deliver(&nics[0].port);
	CHECK_EQ(nics[0].num, 3);
	deliver_all();
	CHECK_EQ(nics[0].num, 6);
	CHECK_MEM(nics[0].log, "\1\2\3\13\14\15", 6);
}

static uint8_t expected[3000];

static void check_copy(struct nic *nic, const struct packet *pkt)
{
	(void)nic;
	CHECK_EQ(pkt->payload_len, sizeof(expected));
	CHECK_EQ(pkt->niov, 1);
	CHECK_EQ(pkt->iov[0].iov_len, sizeof(expected));
	CHECK_MEM(pkt->iov[0].iov_base, expected, sizeof(expected));
	CHECK_EQ(pkt->roce.psn, 0xabcdef);
	CHECK_EQ(pkt->vlan, PACKET_NO_VLAN);
}

TEST(copies_are_whole)
{
	uint8_t data[sizeof(expected)];
	struct packet pkt;

	setup(1);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i * 7;
	memcpy(expected, data, sizeof(data));
	pkt = make_packet(nics[0].mac, data, sizeof(data));
	pkt.niov = 3;
	pkt.iov[0] = (struct iovec){ data, 1 };
	pkt.iov[1] = (struct iovec){ data + 1, 2000 };
	pkt.iov[2] = (struct iovec){ data + 2001, 999 };
	pkt.roce.psn = 0xabcdef;
	nics[0].respond = check_copy;
	for (int i = 0; i < 5; i++)
		switch_transmit(&nics[0].port, &pkt);
	memset(data, 0, sizeof(data));
	deliver_all();
	CHECK_EQ(nics[0].num, 5);
}

TEST(packet_without_payload)
{
	struct packet pkt;

	setup(1);
	pkt = make_packet(nics[0].mac, NULL, 0);
	pkt.niov = 0;
	switch_transmit(&nics[0].port, &pkt);
	switch_transmit(&nics[0].port, &pkt);
	deliver_all();
	CHECK_EQ(nics[0].num, 2);
}

TEST(full_queue_drops)
{
	static uint8_t data[4096];
	unsigned int sent = 0;
	struct packet pkt;

	setup(1);
	pkt = make_packet(nics[0].mac, data, sizeof(data));
	while (!nics[0].port.stats.rx_dropped) {
		switch_transmit(&nics[0].port, &pkt);
		sent++;
		CHECK(sent < 100000);
	}
	CHECK(sent > 900);
	deliver_all();
	CHECK_EQ(nics[0].num, sent - nics[0].port.stats.rx_dropped);
	CHECK_EQ(nics[0].overruns, nics[0].port.stats.rx_dropped);
	switch_transmit(&nics[0].port, &pkt);
	deliver_all();
	CHECK_EQ(nics[0].num, sent);
}

TEST(ports_come_and_go)
{
	struct switch_port ports[SWITCH_MAX_PORTS];

	for (int i = 0; i < SWITCH_MAX_PORTS; i++)
		connect_nic(&ports[i], &nics[0]);
	CHECK(try_connect(&nics[1].port, &nics[1]) < 0);
	for (int i = 0; i < SWITCH_MAX_PORTS; i++)
		switch_disconnect(&ports[i]);
	CHECK_EQ(sw.num, 0);
	setup(2);
	send_byte(&nics[0], nics[1].mac, 1);
	CHECK_EQ(nics[1].num, 1);
}

/**
 * struct wire - a stand-in for a wire
 * @port: its port
 * @num: number of sent packets
 * @full: it is congested after one packet
 */
struct wire {
	struct switch_port port;
	unsigned int num;
	bool full;
};

static struct wire wires[3];

static void wire_send(struct switch_port *port, const struct packet *pkt)
{
	struct wire *wire = (struct wire *)port;

	(void)pkt;
	wire->num++;
	switch_set_congested(port, wire->full);
}

static void setup_wires(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		wires[i].port.name = "wire";
		wires[i].port.log = &test_log;
		wires[i].port.send = wire_send;
		CHECK_EQ(switch_connect(&sw, &wires[i].port), 0);
		CHECK(!wires[i].port.up);
		switch_set_up(&wires[i].port, true);
	}
}

/* Check which NICs and wires have got a packet since the last call */
static void check_got(unsigned int nic_mask, unsigned int wire_mask)
{
	deliver_all();
	for (unsigned int i = 0; i < ARRAY_SIZE(nics); i++) {
		CHECK_EQ(nics[i].num, nic_mask >> i & 1);
		nics[i].num = 0;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(wires); i++) {
		CHECK_EQ(wires[i].num, wire_mask >> i & 1);
		wires[i].num = 0;
	}
}

static const uint8_t far[6] = { 2, 0, 0, 0, 1, 0 };
static const uint8_t other[6] = { 2, 0, 0, 0, 1, 1 };
static const uint8_t group[6] = { 0x33, 0x33, 0, 0, 0, 1 };

/* A frame arrives from a wire. */
static void wire_brings(unsigned int i, const uint8_t *smac,
			const uint8_t *dmac)
{
	struct packet pkt = make_packet(dmac, "x", 1);

	memcpy(pkt.smac, smac, sizeof(pkt.smac));
	switch_transmit(&wires[i].port, &pkt);
}

TEST(wires_bring_to_nics_and_back)
{
	setup(2);
	setup_wires(2);
	wire_brings(0, far, nics[1].mac);
	check_got(2, 0);
	send_byte(&nics[1], far, 1);
	check_got(0, 1);
}

TEST(wires_take_no_address_of_a_nic)
{
	setup(2);
	setup_wires(1);
	wire_brings(0, nics[0].mac, nics[1].mac);
	check_got(2, 0);
	send_byte(&nics[1], nics[0].mac, 1);
	check_got(1, 0);
}

TEST(unknown_addresses_are_flooded)
{
	setup(2);
	setup_wires(3);
	send_byte(&nics[0], far, 1);
	check_got(2, 7);
	wire_brings(1, far, other);
	check_got(3, 5);
	wire_brings(1, far, group);
	check_got(3, 5);
	send_byte(&nics[0], group, 1);
	check_got(2, 7);
}

/* The sender of a packet to many ports pays for each copy */
TEST(copies_count)
{
	setup(3);
	setup_wires(2);
	nics[2].units = 7;
	send_byte(&nics[0], nics[1].mac, 1);
	CHECK_EQ(sw.units, 0);
	send_byte(&nics[0], group, 1);
	CHECK_EQ(sw.units, 4 + 7);
	send_byte(&nics[0], far, 1);
	CHECK_EQ(sw.units, 2 * (4 + 7));
}

TEST(what_is_learned_goes_to_one_wire)
{
	setup(1);
	setup_wires(3);
	wire_brings(2, far, group);
	check_got(1, 3);
	wire_brings(0, other, far);
	check_got(0, 4);
	send_byte(&nics[0], far, 1);
	check_got(0, 4);
	/* The station has moved. */
	wire_brings(1, far, group);
	check_got(1, 5);
	send_byte(&nics[0], far, 1);
	check_got(0, 2);
}

TEST(nothing_goes_back_to_its_wire)
{
	setup(1);
	setup_wires(2);
	wire_brings(0, far, group);
	check_got(1, 2);
	wire_brings(0, other, far);
	check_got(0, 0);
}

TEST(addresses_are_forgotten)
{
	setup(1);
	setup_wires(2);
	sw.now = 1000;
	wire_brings(0, far, group);
	check_got(1, 2);
	sw.now += MAC_TABLE_AGE - 1;
	send_byte(&nics[0], far, 1);
	check_got(0, 1);
	sw.now += 1;
	send_byte(&nics[0], far, 1);
	check_got(0, 3);
	/* When a wire goes down, the addresses behind it are forgotten. */
	wire_brings(0, far, group);
	check_got(1, 2);
	switch_set_up(&wires[0].port, false);
	send_byte(&nics[0], far, 1);
	check_got(0, 3);
}

/* A multicast address cannot be that of a station; IEEE 802.1D 7.8 */
TEST(multicast_sources_are_not_learned)
{
	setup(1);
	setup_wires(2);
	wire_brings(0, group, other);
	check_got(1, 2);
	send_byte(&nics[0], group, 1);
	check_got(0, 3);
	wire_brings(0, (uint8_t[6]){ 0 }, other);
	check_got(1, 2);
	send_byte(&nics[0], (uint8_t[6]){ 0 }, 1);
	check_got(0, 3);
}

TEST(many_invented_addresses)
{
	uint8_t mac[6] = { 2, 1 };

	setup(1);
	setup_wires(2);
	for (uint32_t i = 0; i < 300000; i++) {
		memcpy(mac + 2, &i, sizeof(i));
		sw.now++;
		wire_brings(0, mac, nics[0].mac);
		/* Stations that keep sending are not replaced. */
		if (i % 100 == 0)
			wire_brings(1, far, nics[0].mac);
	}
	nics[0].num = 0;
	send_byte(&nics[0], far, 1);
	check_got(0, 2);
	/* Frames to replaced addresses are flooded. */
	memcpy(mac + 2, (uint8_t[4]){}, 4);
	send_byte(&nics[0], mac, 1);
	check_got(0, 3);
}

TEST(links_follow_the_other_ports)
{
	setup(1);
	switch_update_links(&sw);
	CHECK(nics[0].link);

	/* There is only a wire besides, which is down. */
	setup_wires(1);
	switch_set_up(&wires[0].port, false);
	switch_update_links(&sw);
	CHECK(!nics[0].link);
	switch_set_up(&wires[0].port, true);
	switch_update_links(&sw);
	CHECK(nics[0].link);
	switch_set_cut(&wires[0].port, true);
	switch_update_links(&sw);
	CHECK(!nics[0].link);
	switch_set_cut(&wires[0].port, false);
	switch_update_links(&sw);
	CHECK(nics[0].link);

	/* Its own cable */
	switch_set_cut(&nics[0].port, true);
	switch_update_links(&sw);
	CHECK(!nics[0].link);
	switch_set_cut(&nics[0].port, false);

	/* Another NIC is a possible peer, too. */
	connect_nic(&nics[1].port, &nics[1]);
	switch_set_up(&wires[0].port, false);
	switch_update_links(&sw);
	CHECK(nics[0].link);
	CHECK(nics[1].link);
	switch_set_cut(&nics[1].port, true);
	switch_update_links(&sw);
	CHECK(!nics[0].link);
	CHECK(!nics[1].link);
}

static const uint8_t all[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
static const uint8_t unknown[6] = { 2, 0, 0, 0, 9, 9 };

static bool is_full(const struct nic *from, const uint8_t *dmac)
{
	return switch_full_way(&from->port, dmac) >= 0;
}

TEST(senders_to_a_full_wire_wait)
{
	int way;

	setup(2);
	nics[0].mac[4] = 7;
	setup_wires(2);
	wire_brings(0, far, nics[0].mac);
	wire_brings(1, other, nics[0].mac);
	CHECK(!is_full(&nics[0], far));
	wires[0].full = true;
	wires[1].full = true;
	send_byte(&nics[0], far, 1);
	way = switch_full_way(&nics[0].port, far);
	CHECK(way >= 0);
	CHECK_EQ(switch_full_way(&nics[1].port, far), way);
	CHECK(!is_full(&nics[0], other));
	CHECK(!is_full(&nics[0], nics[1].mac));
	CHECK(!is_full(&nics[0], nics[0].mac));
	wire_brings(1, other, far);
	CHECK(switch_is_held(&wires[1].port));
	CHECK(!switch_is_held(&wires[0].port));
	send_byte(&nics[0], other, 1);
	CHECK(switch_full_way(&nics[0].port, other) >= 0);
	CHECK(switch_full_way(&nics[0].port, other) != way);
	for (unsigned int i = 0; i < 2; i++)
		nics[i].resumed = 0;
	switch_set_congested(&wires[0].port, false);
	CHECK(!is_full(&nics[0], far));
	CHECK(is_full(&nics[0], other));
	CHECK(!switch_is_held(&wires[1].port));
	for (unsigned int i = 0; i < 2; i++) {
		CHECK(nics[i].resumed & 1ull << way);
		CHECK(!(nics[i].resumed &
			1ull << switch_full_way(&nics[0].port, other)));
	}
}

#define NUM_ADDRESSES 2500

static const uint8_t *address(unsigned int i)
{
	static uint8_t mac[6] = { 2, [5] = 1 };

	mac[1] = i;
	mac[2] = i >> 8;
	return mac;
}

static unsigned int num_known(void)
{
	unsigned int num = 0;

	for (unsigned int i = 0; i < NUM_ADDRESSES; i++)
		num += mac_table_find(&sw.macs, address(i), sw.now) ==
		       &wires[0].port;
	return num;
}

static void bring_addresses(void)
{
	for (unsigned int i = 0; i < NUM_ADDRESSES; i++) {
		sw.now++;
		wire_brings(0, address(i), nics[0].mac);
	}
}

static void invent_addresses(void)
{
	uint8_t mac[6] = { 2 };

	for (uint32_t i = 0; i < 100000; i++) {
		sw.now++;
		memcpy(mac + 1, &i, sizeof(i));
		wire_brings(1, mac, nics[0].mac);
	}
}

/* Frames to a peer would go to all others if they made the switch forget it. */
TEST(invented_addresses_replace_their_own)
{
	setup(1);
	nics[0].mac[4] = 7;
	setup_wires(2);
	wire_brings(0, far, nics[0].mac);
	invent_addresses();
	wires[0].num = 0;
	wires[1].num = 0;
	send_byte(&nics[0], far, 1);
	CHECK_EQ(wires[0].num, 1);
	CHECK_EQ(wires[1].num, 0);
}

/* Wire 1 comes first, and has all of the table for some time. */
TEST(addresses_share_a_set)
{
	unsigned int num;

	setup(1);
	nics[0].mac[4] = 7;
	setup_wires(2);
	invent_addresses();
	bring_addresses();
	/* Half of all sets, but for those that have fewer of these addresses */
	num = num_known();
	CHECK(num > MAC_TABLE_SETS * 3 / 2);
	CHECK(num <= MAC_TABLE_SETS * 2);
	invent_addresses();
	CHECK_EQ(num_known(), num);
	/* Addresses that are not seen any more are in nobody's way. */
	sw.now += MAC_TABLE_AGE + 1;
	CHECK_EQ(num_known(), 0);
	bring_addresses();
	CHECK(num_known() > MAC_TABLE_SETS * 2);
}

/* A wire that is unplugged must not take another one's way. */
TEST(ways_of_wires_differ)
{
	setup(1);
	setup_wires(3);
	switch_disconnect(&wires[0].port);
	CHECK(wires[1].port.way != wires[2].port.way);
	CHECK_EQ(switch_connect(&sw, &wires[0].port), 0);
	CHECK(wires[0].port.way != wires[1].port.way);
	CHECK(wires[0].port.way != wires[2].port.way);
}

TEST(full_wire_is_unplugged)
{
	setup(1);
	nics[0].mac[4] = 7;
	setup_wires(2);
	wire_brings(0, far, nics[0].mac);
	wires[0].full = true;
	send_byte(&nics[0], far, 1);
	nics[0].resumed = 0;
	switch_disconnect(&wires[0].port);
	CHECK(nics[0].resumed & 1ull << wires[0].port.way);
	CHECK_EQ(sw.num_congested, 0);
}

/* An address that a NIC takes over is not behind the wire any more. */
TEST(nic_takes_an_address_from_a_full_wire)
{
	setup(1);
	nics[0].mac[4] = 7;
	setup_wires(1);
	wire_brings(0, far, nics[0].mac);
	wires[0].full = true;
	send_byte(&nics[0], far, 1);
	CHECK(is_full(&nics[0], far));
	memcpy(nics[0].mac, far, 6);
	CHECK(!is_full(&nics[0], far));
}

/* A slow peer must not stop what others are to get, too. */
TEST(packets_for_all_wait_for_the_fastest)
{
	int way;

	setup(1);
	nics[0].mac[4] = 7;
	setup_wires(2);
	wires[0].full = true;
	send_byte(&nics[0], all, 1);
	CHECK(wires[0].port.congested);
	CHECK(!is_full(&nics[0], all));
	CHECK(!is_full(&nics[0], unknown));
	wire_brings(1, other, all);
	CHECK(!switch_is_held(&wires[1].port));
	wires[1].full = true;
	send_byte(&nics[0], all, 1);
	CHECK(is_full(&nics[0], all));
	CHECK(is_full(&nics[0], unknown));
	way = switch_full_way(&nics[0].port, all);
	nics[0].resumed = 0;
	switch_set_congested(&wires[1].port, false);
	CHECK(!is_full(&nics[0], all));
	CHECK(nics[0].resumed & 1ull << way);
	/* Nobody is behind a wire that is down, or whose cable is pulled. */
	switch_set_cut(&wires[1].port, true);
	CHECK(is_full(&nics[0], all));
	switch_set_cut(&wires[1].port, false);
	switch_set_up(&wires[1].port, false);
	CHECK(is_full(&nics[0], all));
	nics[0].resumed = 0;
	switch_set_up(&wires[1].port, true);
	CHECK(!is_full(&nics[0], all));
	CHECK(nics[0].resumed & 1ull << way);
}

static void flood(const void *data, size_t len)
{
	struct packet pkt = make_packet(all, data, len);

	for (unsigned int i = 0; i < 1000; i++)
		switch_transmit(&nics[0].port, &pkt);
}

TEST(packets_for_all_do_not_fill_a_wire)
{
	static const uint8_t data[1024];
	unsigned int num;

	setup(2);
	setup_wires(1);
	wires[0].port.crowded = true;
	flood(data, sizeof(data));
	/* The NIC has got all, and the wire a part. */
	CHECK_EQ(nics[1].num, 1000);
	num = wires[0].num;
	CHECK(num > 40);
	CHECK(num < 100);
	CHECK_EQ(wires[0].port.stats.tx_dropped, 1000 - num);
	/* What is meant for the wire has the rest. */
	wire_brings(0, far, all);
	send_byte(&nics[0], far, 1);
	CHECK_EQ(wires[0].num, num + 1);
	/* A wire that gets shorter, but is still long, takes no more of them. */
	wires[0].port.crowded = false;
	switch_set_congested(&wires[0].port, true);
	wires[0].full = true;
	flood(data, sizeof(data));
	CHECK_EQ(wires[0].num, num + 1);
	wires[0].port.flood_room = SWITCH_FLOOD_ROOM;
	flood(data, sizeof(data));
	CHECK_EQ(wires[0].num, 2 * num + 1);
}

/* They can wait for it, and so they do. Nobody uses the other NIC. */
TEST(packets_for_all_that_only_one_gets)
{
	static const uint8_t data[1024];

	setup(2);
	nics[1].closed = true;
	setup_wires(1);
	wires[0].full = true;
	flood(data, sizeof(data));
	CHECK_EQ(wires[0].num, 1000);
	CHECK(is_full(&nics[0], all));
}

/* All peers of the wire are behind full ones. */
TEST(wire_whose_packets_for_all_have_no_room_is_held)
{
	setup_wires(3);
	wires[0].full = true;
	wires[2].full = true;
	wire_brings(1, other, all);
	CHECK(switch_is_held(&wires[1].port));
	/* The first one that has room will do. */
	switch_set_congested(&wires[0].port, false);
	CHECK(!switch_is_held(&wires[1].port));
}

static const uint8_t *frame_seen;

static void check_frame(struct nic *nic, const struct packet *pkt)
{
	(void)nic;
	if (!pkt->frame)
		return;
	CHECK_EQ(pkt->frame_len, 60);
	CHECK_EQ(pkt->payload_len, 46);
	CHECK(pkt->frame != frame_seen);
	CHECK_EQ(pkt->iov[0].iov_len, 46);
	CHECK(pkt->iov[0].iov_base == pkt->frame + 14);
	for (uint8_t i = 0; i < 60; i++)
		CHECK_EQ(pkt->frame[i], i);
	frame_seen = NULL;
}

/* Frames from a wire keep their bytes in a queue. */
TEST(queued_frames_are_whole)
{
	uint8_t data[60];
	struct packet pkt;

	setup(1);
	setup_wires(1);
	for (uint8_t i = 0; i < sizeof(data); i++)
		data[i] = i;
	pkt = make_packet(nics[0].mac, data + 14, 46);
	pkt.frame = data;
	pkt.frame_len = sizeof(data);
	frame_seen = data;
	nics[0].respond = check_frame;
	/* Something is queued already. */
	send_byte(&nics[0], nics[0].mac, 1);
	switch_transmit(&wires[0].port, &pkt);
	memset(data, 0, sizeof(data));
	switch_deliver(&nics[0].port);
	CHECK_EQ(nics[0].num, 2);
	CHECK(!frame_seen);
}
