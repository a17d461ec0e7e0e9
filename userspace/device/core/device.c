// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Description of the device to its host: limits, capabilities and counters. */

#include "device.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/version.h"
#include "ethernet/tso.h"
#include "memory/buf.h"
#include "memory/fast_reg.h"
#include "memory/mkey.h"
#include "memory/mkey_table.h"
#include "mynic_regs.h"
#include "qp/mcast.h"
#include "queue/cq.h"
#include "queue/tm.h"
#include "state/function_types.h"
#include "state/memory_types.h"
#include "state/nic_types.h"
#include "state/queue_types.h"

#define FIRMWARE_VERSION \
	((uint64_t)VERSION_MAJOR << 32 | VERSION_MINOR << 16 | VERSION_PATCH)

#define CLOCK_KHZ 1000000

#define CAPS                                                   \
	(MYNIC_CAP_ODP | MYNIC_CAP_DRIVER_QP | MYNIC_CAP_ECE | \
	 MYNIC_CAP_ATOMIC_WRITE | MYNIC_CAP_FLUSH_GLOBAL |     \
	 MYNIC_CAP_FLUSH_PERSISTENT | MYNIC_CAP_WQ_KERNEL |    \
	 MYNIC_CAP_VLAN_INSERT)

/* EUI-64 of a MAC: ff:fe in the middle, and the universal/local bit inverted */
static void device_set_guid(__be64 *guid, const uint8_t mac[6])
{
	const uint8_t bytes[8] = {
		mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5],
	};

	memcpy(guid, bytes, sizeof(bytes));
}

int admin_query_device(struct nic *nic, struct admin_call *call)
{
	struct mynic_device_attr *attr = &call->device_attr;

	*attr = (struct mynic_device_attr){
		.fw_ver = htole64(FIRMWARE_VERSION),
		.max_mr_size = htole64(MKEY_MAX_LENGTH),
		.page_size_cap = htole64((2ULL << BUF_MAX_LOG_PAGE_SIZE) -
					 (1ULL << BUF_MIN_LOG_PAGE_SIZE)),
		.max_qp = htole32(nic->qps.limit),
		.max_qp_wr = htole32(1u << WQ_MAX_LOG_SIZE),
		.max_cq = htole32(nic->cqs.limit),
		.max_cqe = htole32(1u << CQ_MAX_LOG_SIZE),
		.max_mkey = htole32(nic->mkeys.limit),
		.max_pd = htole32(nic->pds.limit),
		.max_srq = htole32(nic->srqs.limit),
		.max_srq_wr = htole32(1u << WQ_MAX_LOG_SIZE),
		.max_eq = htole32(nic->eqs.limit),
		.max_rd_atomic = htole32(NIC_MAX_RD_ATOMIC),
		.max_mcast_grp = htole32(MCAST_MAX_GROUPS),
		.max_mcast_qp_attach = htole32(MCAST_MAX_QPS),
		.max_gid = htole32(GID_TABLE_SIZE),
		.num_uar = htole32(NIC_NUM_UAR),
		.dma_lkey = htole32(NIC_DMA_LKEY),
		.clock_khz = htole32(CLOCK_KHZ),
		.max_xrcd = htole32(nic->xrcds.limit),
		.max_mw = htole32(MKEY_TABLE_MAX_WINDOWS),
		.max_fast_reg_pages = htole32(FAST_REG_MAX_PAGES),
		.max_tso = htole32(TSO_MAX_LENGTH),
		.dm_size = htole64(DM_SIZE),
		.caps = htole64(CAPS),
		.null_lkey = htole32(NIC_NULL_LKEY),
		.max_wq = htole32(nic->qps.limit),
		.max_rwq_table = htole32(nic->rwq_tables.limit),
		.max_rwq_table_size =
			htole32(1u << MYNIC_RWQ_TABLE_MAX_LOG_SIZE),
		.max_flow = htole32(nic->flows.numbers.limit),
		.max_counters = htole32(nic->counters.limit),
		.max_comp_cntr = htole32(nic->comp_cntrs.limit),
		.max_rate_kbps = htole32(NIC_MAX_RATE_KBPS),
		.max_tags = htole32(TM_MAX_TAGS),
		.max_tag_ops = htole32(1u << TM_MAX_LOG_OPS),
		.max_rndv_hdr = htole32(TM_MAX_RNDV_HDR),
	};
	device_set_guid(&attr->node_guid, nic->config.mac);
	return MYNIC_AQ_OK;
}

int admin_query_stats(struct nic *nic, struct admin_call *call)
{
	bool unbound = call->cmd.flags & MYNIC_STATS_UNBOUND;

	for (int i = 0; i < MYNIC_NUM_STATS; i++) {
		uint64_t value = nic->stats[i];

		if (unbound)
			value -= nic->bound_stats[i];
		call->stats[i] = htole64(value);
	}
	return MYNIC_AQ_OK;
}
