// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The hash of frames, without a NIC, against values that others publish */
#include <endian.h>
#include <string.h>

#include "core/ethernet/eth_rx.h"
#include "core/ethernet/rss.h"
#include "core/packet/headers.h"
#include "core/state/ethernet_types.h"
#include "harness_rss.h"
#include "harness_tap.h"
#include "mynic_regs.h"

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

	memcpy(rss.key, rss_known_key, sizeof(rss_known_key));
	return rss_hash(&rss, &frame);
}

TEST(rss_published_values)
{
	const struct layer tcp = { .ipv4 = ipv4, .tcp = ports };
	const struct layer udp = { .ipv4 = ipv4, .udp = ports };

	CHECK_EQ(hash(ADDRESSES, &tcp), RSS_KNOWN_ADDRESSES);
	CHECK_EQ(hash(ADDRESSES | TCP_PORTS, &tcp), RSS_KNOWN_WITH_PORTS);
	CHECK_EQ(hash(ADDRESSES | UDP_PORTS, &udp), RSS_KNOWN_WITH_PORTS);
}

/* Fields of other protocols, and those that are not wanted, do not count. */
TEST(rss_only_what_is_wanted)
{
	const struct layer udp = { .ipv4 = ipv4, .udp = ports };
	const struct layer other = { 0 };

	CHECK_EQ(hash(ADDRESSES | TCP_PORTS, &udp), RSS_KNOWN_ADDRESSES);
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

	CHECK_EQ(hash(ADDRESSES | UDP_PORTS, &first), RSS_KNOWN_ADDRESSES);
	CHECK_EQ(hash(ADDRESSES | UDP_PORTS, &later), RSS_KNOWN_ADDRESSES);
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

	memcpy(rss.rx_hash_key, rss_known_key, sizeof(rss_known_key));
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
