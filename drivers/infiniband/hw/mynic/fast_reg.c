// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fast registration: memory regions of the kernel that get their memory by a
 * request, REG_MR.
 */
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "cmd.h"

struct ib_mr *mynic_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type,
			     u32 max_num_sg)
{
	struct mynic_dev *mdev = to_mdev(ibpd->device);
	struct mynic_create_mkey body = {
		.length = cpu_to_le64(max_num_sg),
		.pdn = cpu_to_le32(to_mpd(ibpd)->pdn),
	};
	struct mynic_fast_reg *fr;
	struct mynic_mr *mr;
	u32 key;
	int ret;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > mdev->caps.max_fast_reg_pages)
		return ERR_PTR(-EINVAL);
	mr = kzalloc_obj(*mr);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	fr = &mr->fast_reg;
	fr->max_pages = max_num_sg;
	fr->lists = dma_alloc_coherent(&mdev->pdev->dev,
				       2 * mynic_fast_reg_bytes(fr), &fr->dma,
				       GFP_KERNEL);
	if (!fr->lists) {
		ret = -ENOMEM;
		goto err;
	}
	ret = mynic_cmd_create_mkey(mdev, MYNIC_MKEY_FAST_REG, &body, &key);
	if (ret)
		goto err;
	mr->ibmr.lkey = key;
	mr->ibmr.rkey = key;
	return &mr->ibmr;

err:
	mynic_mr_free(ibpd->device, mr);
	return ERR_PTR(ret);
}

static int mynic_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct mynic_fast_reg *fr = &to_mmr(ibmr)->fast_reg;

	if (fr->num_pages == fr->max_pages)
		return -ENOMEM;
	fr->lists[fr->current_list * fr->max_pages + fr->num_pages++] =
		cpu_to_le64(addr);
	return 0;
}

/*
 * REG_MR registers what was mapped last. The result is the number of elements
 * mapped, which may be less than @sg_nents.
 */
int mynic_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		    unsigned int *sg_offset)
{
	struct mynic_dev *mdev = to_mdev(ibmr->device);
	struct mynic_fast_reg *fr = &to_mmr(ibmr)->fast_reg;
	int num;

	if (!fr->lists || !is_power_of_2(ibmr->page_size) ||
	    !(ibmr->page_size & mdev->caps.page_size_cap))
		return -EINVAL;
	fr->current_list ^= 1;
	fr->num_pages = 0;
	num = ib_sg_to_pages(ibmr, sg, sg_nents, sg_offset, mynic_set_page);
	/* Keep the offset: the consumer may change the iova afterwards. */
	fr->offset = ibmr->iova & (ibmr->page_size - 1);
	return num;
}

/* Fill in all operands of REG_MR except the access flags. */
void mynic_fast_reg_operands(const struct mynic_mr *mr,
			     struct mynic_reg_mr_operands *op)
{
	const struct mynic_fast_reg *fr = &mr->fast_reg;

	*op = (struct mynic_reg_mr_operands){
		.buf = {
			.addr = cpu_to_le64(fr->dma + fr->current_list *
							      mynic_fast_reg_bytes(fr)),
			.levels = 1,
			.log_page_size = ilog2(mr->ibmr.page_size),
			.offset = cpu_to_le32(fr->offset),
		},
		.length = cpu_to_le64(mr->ibmr.length),
	};
}
