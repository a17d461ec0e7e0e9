// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory regions that the kernel's consumers register with requests */
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "cmd.h"

/**
 * mynic_alloc_mr() - &ib_device_ops.alloc_mr
 * @ibpd: protection domain
 * @type: IB_MR_TYPE_MEM_REG
 * @max_num_sg: pages that it is to have room for
 *
 * Return: a region without memory, or ERR_PTR().
 */
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

/**
 * mynic_map_mr_sg() - &ib_device_ops.map_mr_sg
 * @ibmr: region of mynic_alloc_mr()
 * @sg: memory, mapped for the device
 * @sg_nents: elements of @sg
 * @sg_offset: where in the first element to begin
 *
 * REG_MR gives the region what was mapped last.
 *
 * Return: elements mapped, which may be fewer than @sg_nents, or -EINVAL.
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
	/* Before the consumer chooses another iova */
	fr->offset = ibmr->iova & (ibmr->page_size - 1);
	return num;
}

/**
 * mynic_fast_reg_operands() - what a REG_MR says of the memory
 * @mr: region of mynic_alloc_mr(), mapped
 * @op: operands; all but the access flags are set
 */
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
