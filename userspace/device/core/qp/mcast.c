// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast groups: attaching and detaching of QPs. Packets to a group are
 * delivered in rdma/ud.c.
 */

#include "qp/mcast.h"

#include <endian.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mac.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "function/gid.h"
#include "mynic_regs.h"
#include "packet/ip_gid.h"
#include "packet/packet.h"
#include "qp/qp.h"
#include "state/delivery_types.h"
#include "state/nic_types.h"
#include "state/qp_types.h"

/* Purpose of the secret, for the hash of groups */
#define MCAST_DOMAIN 0x6d636173

/* The hash is keyed, so that no guest can choose groups that share a bucket */
static unsigned int mcast_hash(const struct nic *nic, const uint8_t gid[16])
{
	struct siphash_key secret = { nic->config.seed, MCAST_DOMAIN };
	uint64_t halves[2];

	memcpy(halves, gid, sizeof(halves));
	secret.k1 ^= halves[0];
	return siphash(&secret, halves[1]) % MCAST_BUCKETS;
}

static struct mcast_group *mcast_find_group(const struct nic *nic,
					    const uint8_t gid[16])
{
	struct mcast_group *group;

	LIST_FOREACH(group, &nic->mcast.buckets[mcast_hash(nic, gid)], link)
	{
		if (!memcmp(group->gid, gid, sizeof(group->gid)))
			return group;
	}
	return NULL;
}

const struct mcast_group *mcast_find(const struct nic *nic,
				     const uint8_t gid[16])
{
	return mcast_find_group(nic, gid);
}

static void mcast_group_mac(const uint8_t gid[16], uint8_t mac[MAC_LEN])
{
	if (gid_is_ipv4(gid)) {
		memcpy(mac, (uint8_t[]){ 0x01, 0x00, 0x5e }, 3);
		memcpy(mac + 3, gid + 13, 3);
		mac[3] &= 0x7f;
	} else {
		memcpy(mac, (uint8_t[]){ 0x33, 0x33 }, 2);
		memcpy(mac + 2, gid + 12, 4);
	}
}

bool mcast_takes(const struct nic *nic, const struct packet *pkt)
{
	uint8_t mac[MAC_LEN];

	mcast_group_mac(pkt->roce.dgid, mac);
	return mac_equal(pkt->dmac, mac) &&
	       mcast_find_group(nic, pkt->roce.dgid) && gid_on_vlan(nic, pkt);
}

static struct mcast_group *mcast_create(struct nic *nic, const uint8_t gid[16])
{
	struct mcast_group *group;

	if (nic->mcast.num_groups == MCAST_MAX_GROUPS)
		return NULL;
	group = mem_alloc(&nic->mem, sizeof(*group));
	if (!group)
		return NULL;
	memcpy(group->gid, gid, sizeof(group->gid));
	LIST_INSERT_HEAD(&nic->mcast.buckets[mcast_hash(nic, gid)], group,
			 link);
	nic->mcast.num_groups++;
	return group;
}

static void mcast_destroy(struct nic *nic, struct mcast_group *group)
{
	LIST_REMOVE(group, link);
	nic->mcast.num_groups--;
	mem_free(&nic->mem, group);
}

/* Index of the QP in the group; @num_qps if it is not attached */
static unsigned int mcast_find_member(const struct mcast_group *group,
				      const struct qp *qp)
{
	unsigned int i = 0;

	while (i < group->num_qps && group->members[i]->qp != qp)
		i++;
	return i;
}

static int mcast_attach(struct nic *nic, struct mcast_group *group,
			struct qp *qp)
{
	struct mcast_member *member;

	if (group->num_qps == MCAST_MAX_QPS)
		return MYNIC_AQ_NO_RESOURCE;
	member = mem_alloc(&nic->mem, sizeof(*member));
	if (!member)
		return MYNIC_AQ_NO_RESOURCE;
	member->group = group;
	member->qp = qp;
	group->members[group->num_qps++] = member;
	LIST_INSERT_HEAD(&qp->mcast_groups, member, link);
	return MYNIC_AQ_OK;
}

static bool mcast_detach(struct nic *nic, struct mcast_group *group,
			 struct qp *qp)
{
	unsigned int i = mcast_find_member(group, qp);

	if (i == group->num_qps)
		return false;
	LIST_REMOVE(group->members[i], link);
	mem_free(&nic->mem, group->members[i]);
	group->members[i] = group->members[--group->num_qps];
	if (!group->num_qps)
		mcast_destroy(nic, group);
	return true;
}

static int mcast_check(struct nic *nic, const struct admin_call *call,
		       struct qp **qp)
{
	*qp = qp_find(nic, le32toh(call->cmd.number));
	if (!*qp)
		return MYNIC_AQ_BAD_NUMBER;
	if ((*qp)->type != MYNIC_QP_UD ||
	    !gid_is_multicast(call->cmd.mcast.gid))
		return MYNIC_AQ_BAD_PARAM;
	return MYNIC_AQ_OK;
}

int admin_attach_mcast(struct nic *nic, struct admin_call *call)
{
	const uint8_t *gid = call->cmd.mcast.gid;
	struct mcast_group *group;
	struct qp *qp;
	int status;

	status = mcast_check(nic, call, &qp);
	if (status)
		return status;
	group = mcast_find_group(nic, gid);
	if (!group)
		group = mcast_create(nic, gid);
	if (!group)
		return MYNIC_AQ_NO_RESOURCE;
	if (mcast_find_member(group, qp) < group->num_qps)
		return MYNIC_AQ_OK;
	status = mcast_attach(nic, group, qp);
	if (!group->num_qps)
		mcast_destroy(nic, group);
	return status;
}

int admin_detach_mcast(struct nic *nic, struct admin_call *call)
{
	struct mcast_group *group;
	struct qp *qp;
	int status;

	status = mcast_check(nic, call, &qp);
	if (status)
		return status;
	group = mcast_find_group(nic, call->cmd.mcast.gid);
	if (!group || !mcast_detach(nic, group, qp))
		return MYNIC_AQ_BAD_PARAM;
	return MYNIC_AQ_OK;
}

bool mcast_detach_some(struct nic *nic, struct qp *qp)
{
	while (!LIST_EMPTY(&qp->mcast_groups)) {
		if (nic_turn_is_over(nic))
			return true;
		nic_charge(nic, 1);
		mcast_detach(nic, LIST_FIRST(&qp->mcast_groups)->group, qp);
	}
	return false;
}
