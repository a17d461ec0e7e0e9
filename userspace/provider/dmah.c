// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* DMA handles, and memory regions that use them. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "mynic.h"

#define MYNIC_DMAH_MASK                                                \
	(IBV_DMAH_INIT_ATTR_MASK_CPU_ID | IBV_DMAH_INIT_ATTR_MASK_PH | \
	 IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE)

/* ibv_alloc_dmah(3). The kernel checks the combination of fields. */
static struct ibv_dmah *mynic_alloc_dmah(struct ibv_context *context,
					 struct ibv_dmah_init_attr *attr)
{
	struct verbs_dmah *dmah;
	int err;

	if (!check_comp_mask(attr->comp_mask, MYNIC_DMAH_MASK)) {
		verbs_debug(verbs_get_ctx(context),
			    "DMA handle: comp_mask 0x%x\n", attr->comp_mask);
		errno = EOPNOTSUPP;
		return NULL;
	}
	dmah = calloc(1, sizeof(*dmah));
	if (!dmah)
		return NULL;
	err = ibv_cmd_alloc_dmah(context, dmah, attr);
	if (err) {
		free(dmah);
		errno = err;
		return NULL;
	}
	return &dmah->dmah;
}

/* ibv_dealloc_dmah(3) */
static int mynic_dealloc_dmah(struct ibv_dmah *ibdmah)
{
	struct verbs_dmah *dmah = verbs_get_dmah(ibdmah);
	int err;

	err = ibv_cmd_free_dmah(dmah);
	if (err)
		return err;
	free(dmah);
	return 0;
}

static struct ibv_mr *mynic_reg_mr_ex(struct ibv_pd *pd,
				      struct ibv_mr_init_attr *attr)
{
	struct verbs_mr *vmr;
	int err;

	vmr = mynic_new_mr(pd, attr->access);
	if (!vmr)
		return NULL;
	err = ibv_cmd_reg_mr_ex(pd, vmr, attr);
	if (err) {
		mynic_free_mr(vmr);
		errno = err;
		return NULL;
	}
	return &vmr->ibv_mr;
}

const struct verbs_context_ops mynic_dmah_ops = {
	.alloc_dmah = mynic_alloc_dmah,
	.dealloc_dmah = mynic_dealloc_dmah,
	.reg_mr_ex = mynic_reg_mr_ex,
};
