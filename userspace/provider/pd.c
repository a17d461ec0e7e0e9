// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection domains, thread domains, and parent domains that combine both. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include <infiniband/cmd_ioctl.h>

#include "mynic.h"
#include "mynic-abi.h"

struct ibv_pd *mynic_alloc_pd(struct ibv_context *context)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ibv_alloc_pd cmd;
	struct mynic_pd *pd;
	int err;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	err = ibv_cmd_alloc_pd(context, &pd->ibv_pd, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (err) {
		free(pd);
		errno = err;
		return NULL;
	}
	return &pd->ibv_pd;
}

/*
 * The kernel does not know parent domains: they have the handle of their
 * protection domain. EINVAL: there is no protection domain, or only one of the
 * two allocators. EOPNOTSUPP: unknown attributes.
 */
struct ibv_pd *
mynic_alloc_parent_domain(struct ibv_context *context,
			  struct ibv_parent_domain_init_attr *attr)
{
	struct mynic_pd *pd;

	if (ibv_check_alloc_parent_domain(attr))
		return NULL;
	if (!check_comp_mask(attr->comp_mask,
			     IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
				     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)) {
		verbs_debug(verbs_get_ctx(context),
			    "parent domain: comp_mask 0x%x\n", attr->comp_mask);
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS &&
	    (!attr->alloc || !attr->free)) {
		verbs_debug(
			verbs_get_ctx(context),
			"parent domain: one of alloc and free is missing\n");
		errno = EINVAL;
		return NULL;
	}

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	ibv_initialize_parent_domain(&pd->ibv_pd, attr->pd);
	pd->protection = to_mpd(attr->pd);
	mynic_use(&pd->protection->users);
	if (attr->td) {
		pd->td = to_mtd(attr->td);
		mynic_use(&pd->td->users);
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		pd->alloc = attr->alloc;
		pd->free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		pd->pd_context = attr->pd_context;
	return &pd->ibv_pd;
}

/* Also for parent domains. EBUSY: it is in use. */
int mynic_dealloc_pd(struct ibv_pd *ibpd)
{
	struct mynic_pd *pd = to_mpd(ibpd);
	int err;

	if (mynic_in_use(&pd->users)) {
		verbs_debug(verbs_get_ctx(ibpd->context),
			    "PD %u: it is in use\n", ibpd->handle);
		return EBUSY;
	}
	if (pd->protection) {
		mynic_unuse(&pd->protection->users);
		if (pd->td)
			mynic_unuse(&pd->td->users);
	} else {
		err = ibv_cmd_dealloc_pd(ibpd);
		if (err)
			return err;
	}
	free(pd);
	return 0;
}

/* @handle names a protection domain of @context's file descriptor. */
struct ibv_pd *mynic_import_pd(struct ibv_context *context, uint32_t handle)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_PD, MYNIC_METHOD_PD_QUERY, 1);
	struct mynic_pd *pd;
	int err;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	fill_attr_in_obj(cmd, MYNIC_ATTR_QUERY_PD_HANDLE, handle);
	err = execute_ioctl(context, cmd);
	if (err) {
		free(pd);
		errno = err;
		return NULL;
	}
	pd->ibv_pd.context = context;
	pd->ibv_pd.handle = handle;
	return &pd->ibv_pd;
}

/* The kernel keeps the protection domain. */
void mynic_unimport_pd(struct ibv_pd *pd)
{
	free(to_mpd(pd));
}

struct ibv_td *mynic_alloc_td(struct ibv_context *context,
			      struct ibv_td_init_attr *attr)
{
	struct mynic_td *td;

	if (attr->comp_mask) {
		verbs_debug(verbs_get_ctx(context),
			    "thread domain: comp_mask 0x%x\n", attr->comp_mask);
		errno = EOPNOTSUPP;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->ibv_td.context = context;
	return &td->ibv_td;
}

/* EBUSY: a parent domain uses it. */
int mynic_dealloc_td(struct ibv_td *ibtd)
{
	struct mynic_td *td = to_mtd(ibtd);

	if (mynic_in_use(&td->users)) {
		verbs_debug(verbs_get_ctx(ibtd->context),
			    "thread domain: a parent domain uses it\n");
		return EBUSY;
	}
	free(td);
	return 0;
}

/**
 * mynic_alloc_object() - allocate an object that shares no cache line with others
 * @home: records how to free the object; the caller copies it into the object
 * @ibpd: domain that the object is created in, or NULL
 * @size: bytes
 * @type: kind of object, enum mynicdv_res_type
 *
 * In a parent domain, its allocator is used. The object keeps the parent domain
 * in use until mynic_free_object().
 *
 * Return: zeroed memory, or NULL with errno set.
 */
void *mynic_alloc_object(struct mynic_home *home, struct ibv_pd *ibpd,
			 size_t size, enum mynicdv_res_type type)
{
	struct mynic_pd *pd = ibpd && to_mpd(ibpd)->protection ? to_mpd(ibpd) :
								 NULL;
	void *p = IBV_ALLOCATOR_USE_DEFAULT;

	if (pd && pd->alloc)
		p = pd->alloc(&pd->ibv_pd, pd->pd_context, size,
			      MYNIC_CACHE_LINE, type);
	home->pd = pd;
	home->custom = p != IBV_ALLOCATOR_USE_DEFAULT;
	if (!home->custom)
		p = mynic_alloc(size);
	else if (p)
		memset(p, 0, size);
	else
		errno = ENOMEM;
	if (p && pd)
		mynic_use(&pd->users);
	return p;
}

/* @home is the record of mynic_alloc_object(), and may be in the object. */
void mynic_free_object(const struct mynic_home *home, void *p,
		       enum mynicdv_res_type type)
{
	struct mynic_pd *pd = home->pd;

	if (home->custom)
		pd->free(&pd->ibv_pd, pd->pd_context, p, type);
	else
		free(p);
	if (pd)
		mynic_unuse(&pd->users);
}
