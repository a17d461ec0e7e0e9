// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "mcast.h"

#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "mac.h"

/* Groups differ in their last bytes above all */
static unsigned int hash(const uint8_t gid[16])
{
	unsigned int h = 0;

	for (int i = 0; i < 16; i++)
		h = h * 31 + gid[i];
	return h % MCAST_BUCKETS;
}

static struct mcast_group *find(const struct nic *nic, const uint8_t gid[16])
{
	struct mcast_group *group;

	LIST_FOREACH(group, &nic->mcast.buckets[hash(gid)], link)
	{
		if (!memcmp(group->gid, gid, sizeof(group->gid)))
			return group;
	}
	return NULL;
}

const struct mcast_group *mcast_find(const struct nic *nic,
				     const uint8_t gid[16])
{
	return find(nic, gid);
}

static void group_mac(const uint8_t gid[16], uint8_t mac[MAC_LEN])
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

	group_mac(pkt->roce.dgid, mac);
	return mac_equal(pkt->dmac, mac) && find(nic, pkt->roce.dgid) &&
	       gid_on_vlan(nic, pkt);
}

static struct mcast_group *create(struct nic *nic, const uint8_t gid[16])
{
	struct mcast_group *group;

	if (nic->mcast.num_groups == MCAST_MAX_GROUPS)
		return NULL;
	group = calloc(1, sizeof(*group));
	if (!group)
		return NULL;
	memcpy(group->gid, gid, sizeof(group->gid));
	LIST_INSERT_HEAD(&nic->mcast.buckets[hash(gid)], group, link);
	nic->mcast.num_groups++;
	return group;
}

static void destroy(struct nic *nic, struct mcast_group *group)
{
	LIST_REMOVE(group, link);
	nic->mcast.num_groups--;
	free(group);
}

/* The QP's place in the group, or @num_qps */
static unsigned int find_member(const struct mcast_group *group,
				const struct qp *qp)
{
	unsigned int i = 0;

	while (i < group->num_qps && group->qps[i] != qp)
		i++;
	return i;
}

static bool detach(struct nic *nic, struct mcast_group *group, struct qp *qp)
{
	unsigned int i = find_member(group, qp);

	if (i == group->num_qps)
		return false;
	group->qps[i] = group->qps[--group->num_qps];
	qp->mcast_groups--;
	if (!group->num_qps)
		destroy(nic, group);
	return true;
}

static int check(struct nic *nic, const struct admin_call *call, struct qp **qp)
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

	status = check(nic, call, &qp);
	if (status)
		return status;
	group = find(nic, gid);
	if (!group)
		group = create(nic, gid);
	if (!group)
		return MYNIC_AQ_NO_RESOURCE;
	if (find_member(group, qp) < group->num_qps)
		return MYNIC_AQ_OK;
	if (group->num_qps == MCAST_MAX_QPS)
		return MYNIC_AQ_NO_RESOURCE;
	group->qps[group->num_qps++] = qp;
	qp->mcast_groups++;
	return MYNIC_AQ_OK;
}

int admin_detach_mcast(struct nic *nic, struct admin_call *call)
{
	struct mcast_group *group;
	struct qp *qp;
	int status;

	status = check(nic, call, &qp);
	if (status)
		return status;
	group = find(nic, call->cmd.mcast.gid);
	if (!group || !detach(nic, group, qp))
		return MYNIC_AQ_BAD_PARAM;
	return MYNIC_AQ_OK;
}

void mcast_detach_all(struct nic *nic, struct qp *qp)
{
	for (int i = 0; i < MCAST_BUCKETS && qp->mcast_groups; i++) {
		struct mcast_group *group, *next;

		group = LIST_FIRST(&nic->mcast.buckets[i]);
		for (; group; group = next) {
			next = LIST_NEXT(group, link);
			detach(nic, group, qp);
		}
	}
}
