// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects that events of the device name. Events find them by number, and hold
 * a reference while they use them.
 */
#include <linux/xarray.h>

#include "mynic.h"

/* Give the object its number. Events do not find it before mynic_res_show(). */
int mynic_res_add(struct mynic_dev *mdev, struct xarray *xa, u32 number,
		  struct mynic_res *res)
{
	int ret;

	refcount_set(&res->refs, 1);
	init_completion(&res->unused);
	res->shown = false;
	ret = xa_insert_irq(xa, number, res, GFP_KERNEL);
	if (ret == -EBUSY) {
		/* Do not destroy the object that had the number first. */
		mynic_fail_device(mdev, "it gives out the number %#x twice",
				  number);
		return -EIO;
	}
	return ret;
}

/*
 * From now on events may use the whole object. What a process creates must not
 * be able to fail any more: the RDMA core would free it with its events queued.
 */
void mynic_res_show(struct mynic_res *res)
{
	/* Pairs with the acquire in mynic_res_get() */
	smp_store_release(&res->shown, true);
}

/* Take a reference. @number comes from the device and is not trusted. */
struct mynic_res *mynic_res_get(struct xarray *xa, u32 number)
{
	struct mynic_res *res;
	unsigned long flags;

	xa_lock_irqsave(xa, flags);
	res = xa_load(xa, number);
	/* Pairs with the release in mynic_res_show() */
	if (res && !smp_load_acquire(&res->shown))
		res = NULL;
	if (res)
		refcount_inc(&res->refs);
	xa_unlock_irqrestore(xa, flags);
	return res;
}

void mynic_res_put(struct mynic_res *res)
{
	if (refcount_dec_and_test(&res->refs))
		complete(&res->unused);
}

/* Hide an object from events, and wait for those that are using it. */
void mynic_res_remove(struct xarray *xa, u32 number, struct mynic_res *res)
{
	xa_erase_irq(xa, number);
	mynic_res_put(res);
	wait_for_completion(&res->unused);
}
