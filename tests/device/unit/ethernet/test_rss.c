// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The hash of frames, without a NIC, against values that others publish */
#include <endian.h>
#include <string.h>

#include "core/ethernet/eth_rx.h"
#include "core/ethernet/rss.h"
#include "core/packet/headers.h"
#include "core/state/ethernet_types.h"
#include "harness_tap.h"
#include "mynic_regs.h"

/* Key and values of Microsoft's suite to verify the hash */
static const uint8_t key[MYNIC_RX_HASH_KEY_LEN] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
	0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
	0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
	0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

#define ADDRESSES (MYNIC_RX_HASH_SRC_IPV4 | MYNIC_RX_HASH_DST_IPV4)
#define TCP_PORTS (MYNIC_RX_HASH_SRC_PORT_TCP | MYNIC_RX_HASH_DST_PORT_TCP)
#define UDP_PORTS (MYNIC_RX_HASH_SRC_PORT_UDP | MYNIC_RX_HASH_DST_PORT_UDP)

/* From 66.9.149.187, port 2794, to 161.142.100.80, port 1766 */
static const uint8_t ipv4[20] = {
	[12] = 66, 9, 149, 187, 161, 142, 100, 80,
};

static const uint8_t ports[4] = { 2794 >> 8, 2794 & 0xff, 1766 >> 8,
				  1766 & 0xff };

static uint32_t hash(uint32_t fields, const struct layer *outer)
{
	const struct eth_frame frame = { .headers.outer = *outer };
	struct rss rss = { .fields = fields };

	memcpy(rss.key, key, sizeof(key));
	return rss_hash(&rss, &frame);
}

TEST(rss_published_values)
{
	const struct layer tcp = { .ipv4 = ipv4, .tcp = ports };
	const struct layer udp = { .ipv4 = ipv4, .udp = ports };

	CHECK_EQ(hash(ADDRESSES, &tcp), 0x323e8fc2);
	CHECK_EQ(hash(ADDRESSES | TCP_PORTS, &tcp), 0x51ccc178);
	CHECK_EQ(hash(ADDRESSES | UDP_PORTS, &udp), 0x51ccc178);
}

/* Fields of other protocols, and those that are not wanted, do not count. */
TEST(rss_only_what_is_wanted)
{
	const struct layer udp = { .ipv4 = ipv4, .udp = ports };
	const struct layer other = { 0 };

	CHECK_EQ(hash(ADDRESSES | TCP_PORTS, &udp), 0x323e8fc2);
	CHECK_EQ(hash(0, &udp), 0);
	CHECK_EQ(hash(ADDRESSES | TCP_PORTS | UDP_PORTS, &other), 0);
}

/* All fragments of a datagram go to the same WQ, though one has the ports. */
TEST(rss_fragments_stay_together)
{
	const struct layer first = { .ipv4 = ipv4,
				     .udp = ports,
				     .fragment = true };
	const struct layer later = { .ipv4 = ipv4, .fragment = true };

	CHECK_EQ(hash(ADDRESSES | UDP_PORTS, &first), 0x323e8fc2);
	CHECK_EQ(hash(ADDRESSES | UDP_PORTS, &later), 0x323e8fc2);
}

TEST(rss_requests)
{
	struct mynic_create_qp rss = {
		.srqn = htole32(MYNIC_NO_SRQ),
		.type = MYNIC_QP_RAW_PACKET,
		.rx_hash_function = MYNIC_RX_HASH_TOEPLITZ,
		.rwq_tablen = htole32(1),
		.rx_hash_fields = htole32(ADDRESSES),
	};
	struct mynic_create_qp plain = { .type = MYNIC_QP_UD };

	memcpy(rss.rx_hash_key, key, sizeof(key));
	CHECK(rss_is_valid(&rss));
	rss.rx_hash_fields = htole32(1u << 31);
	CHECK(!rss_is_valid(&rss));
	rss.rx_hash_fields = 0;
	rss.log_sq_size = 1;
	CHECK(!rss_is_valid(&rss));
	/* without a table, nothing of it may be set */
	CHECK(rss_is_valid(&plain));
	plain.rx_hash_key[39] = 1;
	CHECK(!rss_is_valid(&plain));
}
