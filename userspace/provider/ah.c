// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Address handles. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mynic.h"
#include "mynic-abi.h"

/**
 * mynic_create_ah() - ibv_create_ah(3)
 * @pd: protection domain
 * @attr: the destination; it has to have a GRH
 *
 * The kernel checks the attributes and resolves the destination's MAC.
 *
 * Return: the address handle, or NULL with errno set.
 */
struct ibv_ah *mynic_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct umynic_create_ah_resp resp = {};
	struct mynic_ah *ah;
	int err;

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	err = ibv_cmd_create_ah(pd, &ah->ibv_ah, attr, &resp.ibv_resp,
				sizeof(resp));
	if (err) {
		free(ah);
		errno = err;
		return NULL;
	}

	memcpy(ah->av.dgid, attr->grh.dgid.raw, sizeof(ah->av.dgid));
	memcpy(ah->av.dmac, resp.dmac, sizeof(ah->av.dmac));
	ah->av.hop_limit = attr->grh.hop_limit;
	ah->av.traffic_class = attr->grh.traffic_class;
	ah->av.flow_label = htole32(attr->grh.flow_label);
	ah->av.sgid_index = htole16(attr->grh.sgid_index);
	ah->av.sl = attr->sl;
	ah->av.static_rate = attr->static_rate;
	return &ah->ibv_ah;
}

/**
 * mynic_destroy_ah() - ibv_destroy_ah(3)
 * @ibah: the address handle
 *
 * Return: 0 or a positive errno.
 */
int mynic_destroy_ah(struct ibv_ah *ibah)
{
	int err;

	err = ibv_cmd_destroy_ah(ibah);
	if (err)
		return err;
	free(to_mah(ibah));
	return 0;
}
