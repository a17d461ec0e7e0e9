// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What the device's events are about: found by number, and kept while in use */
#include <linux/xarray.h>

#include "mynic.h"

/**
 * mynic_res_add() - let events find an object
 * @xa: objects of its kind
 * @number: its number
 * @res: the object's &struct mynic_res. From now on all of the object may be used
 *
 * Return: 0, -ENOMEM, or -EBUSY if the device gave out a number twice.
 */
int mynic_res_add(struct xarray *xa, u32 number, struct mynic_res *res)
{
	refcount_set(&res->refs, 1);
	init_completion(&res->unused);
	return xa_insert_irq(xa, number, res, GFP_KERNEL);
}

/**
 * mynic_res_get() - find an object, and keep it until mynic_res_put()
 * @xa: objects of its kind
 * @number: its number, which comes from the device and may be anything
 *
 * Context: any.
 * Return: the object, or NULL.
 */
struct mynic_res *mynic_res_get(struct xarray *xa, u32 number)
{
	struct mynic_res *res;
	unsigned long flags;

	xa_lock_irqsave(xa, flags);
	res = xa_load(xa, number);
	if (res)
		refcount_inc(&res->refs);
	xa_unlock_irqrestore(xa, flags);
	return res;
}

/**
 * mynic_res_put() - let go of an object
 * @res: the object
 *
 * Context: any.
 */
void mynic_res_put(struct mynic_res *res)
{
	if (refcount_dec_and_test(&res->refs))
		complete(&res->unused);
}

/**
 * mynic_res_remove() - hide an object from events, and wait for those under way
 * @xa: objects of its kind
 * @number: its number
 * @res: the object
 */
void mynic_res_remove(struct xarray *xa, u32 number, struct mynic_res *res)
{
	xa_erase_irq(xa, number);
	mynic_res_put(res);
	wait_for_completion(&res->unused);
}
