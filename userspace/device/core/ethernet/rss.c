// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receive-side scaling: the choice of a WQ by the Toeplitz hash of a frame. */

#include "ethernet/rss.h"

#include <endian.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "base/verbs.h"
#include "ethernet/eth_rx.h"
#include "ethernet/rwq.h"
#include "packet/headers.h"
#include "state/nic_types.h"
#include "state/qp_types.h"

#define ALL_FIELDS                                                 \
	(MYNIC_RX_HASH_SRC_IPV4 | MYNIC_RX_HASH_DST_IPV4 |         \
	 MYNIC_RX_HASH_SRC_IPV6 | MYNIC_RX_HASH_DST_IPV6 |         \
	 MYNIC_RX_HASH_SRC_PORT_TCP | MYNIC_RX_HASH_DST_PORT_TCP | \
	 MYNIC_RX_HASH_SRC_PORT_UDP | MYNIC_RX_HASH_DST_PORT_UDP)

/* Bytes of two IPv6 addresses and two ports */
#define MAX_INPUT 36

bool rss_is_valid(const struct mynic_create_qp *cmd)
{
	struct mynic_create_qp rss = {
		.pdn = cmd->pdn,
		.srqn = htole32(MYNIC_NO_SRQ),
		.type = MYNIC_QP_RAW_PACKET,
		.rx_hash_function = MYNIC_RX_HASH_TOEPLITZ,
		.rwq_tablen = cmd->rwq_tablen,
		.rx_hash_fields = cmd->rx_hash_fields,
	};
	uint8_t rest = 0;

	if (cmd->rwq_tablen) {
		memcpy(rss.rx_hash_key, cmd->rx_hash_key,
		       sizeof(rss.rx_hash_key));
		return !memcmp(cmd, &rss, sizeof(rss)) &&
		       !(le32toh(cmd->rx_hash_fields) & ~ALL_FIELDS);
	}
	for (size_t i = 0; i < sizeof(cmd->rx_hash_key); i++)
		rest |= cmd->rx_hash_key[i];
	return !rest && !cmd->rx_hash_function && !cmd->reserved_3b &&
	       !cmd->rx_hash_fields;
}

int rss_init(struct nic *nic, struct qp *qp, const struct mynic_create_qp *cmd)
{
	struct rwq_table *table =
		table_lookup(&nic->rwq_tables, le32toh(cmd->rwq_tablen));
	struct rss *rss;

	if (!table)
		return MYNIC_AQ_BAD_NUMBER;
	rss = mem_alloc(&nic->mem, sizeof(*rss));
	if (!rss)
		return MYNIC_AQ_NO_RESOURCE;
	rss->table = table;
	rss->fields = le32toh(cmd->rx_hash_fields);
	memcpy(rss->key, cmd->rx_hash_key, sizeof(rss->key));
	table->num_qps++;
	qp->rss = rss;
	qp->state = IBV_QPS_RTR;
	return MYNIC_AQ_OK;
}

void rss_fini(struct qp *qp)
{
	if (!qp->rss)
		return;
	qp->rss->table->num_qps--;
	mem_free(&qp->nic->mem, qp->rss);
}

/* Input of the hash, in the field order of other implementations */
struct input {
	uint8_t bytes[MAX_INPUT];
	unsigned int len;
};

static void rss_add(struct input *input, bool wanted, const uint8_t *p,
		    unsigned int len)
{
	if (!wanted)
		return;
	memcpy(input->bytes + input->len, p, len);
	input->len += len;
}

static void rss_add_ports(struct input *input, bool src, bool dst,
			  const uint8_t *l4)
{
	rss_add(input, src, l4, 2);
	rss_add(input, dst, l4 + 2, 2);
}

static uint32_t rss_toeplitz(const uint8_t key[MYNIC_RX_HASH_KEY_LEN],
			     const struct input *input)
{
	uint32_t window = headers_load_be32(key);
	uint32_t hash = 0;

	for (unsigned int i = 0; i < 8 * input->len; i++) {
		unsigned int next = i + 32;

		if (input->bytes[i / 8] & 0x80 >> i % 8)
			hash ^= window;
		window = window << 1 | (key[next / 8] >> (7 - next % 8) & 1);
	}
	return hash;
}

_Static_assert(MAX_INPUT + 4 <= MYNIC_RX_HASH_KEY_LEN, "bits of the key");

uint32_t rss_hash(const struct rss *rss, const struct eth_frame *frame)
{
	const struct layer *layer = &frame->headers.outer;
	uint32_t fields = rss->fields;
	struct input input = { 0 };

	if (layer->ipv4) {
		rss_add(&input, fields & MYNIC_RX_HASH_SRC_IPV4,
			layer->ipv4 + 12, 4);
		rss_add(&input, fields & MYNIC_RX_HASH_DST_IPV4,
			layer->ipv4 + 16, 4);
	} else if (layer->ipv6) {
		rss_add(&input, fields & MYNIC_RX_HASH_SRC_IPV6,
			layer->ipv6 + 8, 16);
		rss_add(&input, fields & MYNIC_RX_HASH_DST_IPV6,
			layer->ipv6 + 24, 16);
	}
	/*
	 * Later fragments have no ports, and all fragments must go to the same
	 * WQ
	 */
	if (layer->tcp && !layer->fragment)
		rss_add_ports(&input, fields & MYNIC_RX_HASH_SRC_PORT_TCP,
			      fields & MYNIC_RX_HASH_DST_PORT_TCP, layer->tcp);
	else if (layer->udp && !layer->fragment)
		rss_add_ports(&input, fields & MYNIC_RX_HASH_SRC_PORT_UDP,
			      fields & MYNIC_RX_HASH_DST_PORT_UDP, layer->udp);
	return rss_toeplitz(rss->key, &input);
}

struct qp *rss_wq(const struct rss *rss, const struct eth_frame *frame)
{
	const struct rwq_table *table = rss->table;

	return table->wqs[rss_hash(rss, frame) & (table->num_wqs - 1)];
}
