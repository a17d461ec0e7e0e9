// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles. The kernel resolves the destination's MAC, and keeps the
 * source GID in its table. A multicast group's MAC follows from its GID. For
 * groups, one address handle of the kernel is enough to keep a source GID, and
 * ours share it.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mynic.h"
#include "mynic-abi.h"

#define MYNIC_PORT 1

void mynic_ah_init(struct mynic_context *ctx,
		   const struct mynic_alloc_ucontext_resp *resp)
{
	pthread_mutex_init(&ctx->ah_lock, NULL);
	ctx->gid_mmap_key = resp->gid_mmap_key;
	ctx->gid_mmap_size = resp->gid_mmap_size;
}

void mynic_ah_fini(struct mynic_context *ctx)
{
	if (ctx->gids)
		munmap((void *)ctx->gids, ctx->gid_mmap_size);
	pthread_mutex_destroy(&ctx->ah_lock);
}

static bool mynic_map_gids(struct mynic_context *ctx)
{
	void *page;

	if (ctx->gids)
		return true;
	if (!ctx->gid_mmap_size)
		return false;
	page = mmap(NULL, ctx->gid_mmap_size, PROT_READ, MAP_SHARED,
		    ctx->ibv_ctx.context.cmd_fd, ctx->gid_mmap_key);
	if (page == MAP_FAILED)
		return false;
	ctx->gids = page;
	return true;
}

static bool mynic_gid_valid(const struct mynic_context *ctx, uint8_t index)
{
	const uint8_t *valid = &ctx->gids->valid[index];

	return atomic_load_explicit((_Atomic(uint8_t) *)valid,
				    memory_order_relaxed);
}

/*
 * Whether the kernel would accept these attributes of a multicast group. If
 * not, the kernel gets them and refuses.
 */
static bool mynic_ah_acceptable(struct mynic_context *ctx,
				const struct ibv_ah_attr *attr)
{
	return attr->is_global && attr->port_num == MYNIC_PORT &&
	       attr->sl <= MYNIC_MAX_SL && mynic_map_gids(ctx) &&
	       mynic_gid_valid(ctx, attr->grh.sgid_index);
}

static struct mynic_kern_ah *mynic_find_kern_ah(struct mynic_context *ctx,
						const struct ibv_pd *pd,
						uint8_t sgid_index)
{
	struct mynic_kern_ah *kern = ctx->kern_ahs;

	while (kern && (kern->pd_handle != pd->handle ||
			kern->sgid_index != sgid_index))
		kern = kern->next;
	return kern;
}

/* Return: the address handle, in the list, or NULL with errno set. */
static struct mynic_kern_ah *mynic_new_kern_ah(struct ibv_pd *pd,
					       struct ibv_ah_attr *attr)
{
	struct mynic_context *ctx = to_mctx(pd->context);
	struct umynic_create_ah_resp resp = {};
	struct mynic_kern_ah *kern;
	int err;

	kern = calloc(1, sizeof(*kern));
	if (!kern)
		return NULL;
	err = ibv_cmd_create_ah(pd, &kern->ibv_ah, attr, &resp.ibv_resp,
				sizeof(resp));
	if (err) {
		free(kern);
		errno = err;
		return NULL;
	}
	kern->pd_handle = pd->handle;
	kern->sgid_index = attr->grh.sgid_index;
	kern->next = ctx->kern_ahs;
	ctx->kern_ahs = kern;
	return kern;
}

static bool mynic_is_ipv4(const uint8_t *gid)
{
	static const uint8_t prefix[12] = { [10] = 0xff, 0xff };

	return !memcmp(gid, prefix, sizeof(prefix));
}

static bool mynic_is_multicast(const uint8_t *gid)
{
	return gid[0] == 0xff || (mynic_is_ipv4(gid) && gid[12] >> 4 == 0xe);
}

/* The MAC of a multicast group: RFC 1112 and RFC 2464 */
static void mynic_multicast_mac(uint8_t *mac, const uint8_t *gid)
{
	if (mynic_is_ipv4(gid)) {
		mac[0] = 0x01;
		mac[1] = 0x00;
		mac[2] = 0x5e;
		mac[3] = gid[13] & 0x7f;
		mac[4] = gid[14];
		mac[5] = gid[15];
	} else {
		mac[0] = 0x33;
		mac[1] = 0x33;
		memcpy(&mac[2], &gid[12], 4);
	}
}

/* Return: 0 or a positive errno. */
static int mynic_resolve_multicast(struct mynic_ah *ah, struct ibv_pd *pd,
				   struct ibv_ah_attr *attr)
{
	struct mynic_context *ctx = to_mctx(pd->context);
	struct mynic_kern_ah *kern;
	int err = 0;

	pthread_mutex_lock(&ctx->ah_lock);
	kern = mynic_find_kern_ah(ctx, pd, attr->grh.sgid_index);
	if (!kern || !mynic_ah_acceptable(ctx, attr))
		kern = mynic_new_kern_ah(pd, attr);
	if (kern) {
		kern->users++;
		ah->kern = kern;
		ah->ibv_ah.handle = kern->ibv_ah.handle;
		mynic_multicast_mac(ah->av.dmac, attr->grh.dgid.raw);
	} else {
		err = errno;
	}
	pthread_mutex_unlock(&ctx->ah_lock);
	return err;
}

/* Return: 0 or a positive errno. */
static int mynic_resolve_unicast(struct mynic_ah *ah, struct ibv_pd *pd,
				 struct ibv_ah_attr *attr)
{
	struct umynic_create_ah_resp resp = {};
	int err;

	err = ibv_cmd_create_ah(pd, &ah->ibv_ah, attr, &resp.ibv_resp,
				sizeof(resp));
	if (!err)
		memcpy(ah->av.dmac, resp.dmac, sizeof(ah->av.dmac));
	return err;
}

struct ibv_ah *mynic_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct mynic_ah *ah;
	int err;

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	if (mynic_is_multicast(attr->grh.dgid.raw))
		err = mynic_resolve_multicast(ah, pd, attr);
	else
		err = mynic_resolve_unicast(ah, pd, attr);
	if (err) {
		free(ah);
		errno = err;
		return NULL;
	}

	memcpy(ah->av.dgid, attr->grh.dgid.raw, sizeof(ah->av.dgid));
	ah->av.hop_limit = attr->grh.hop_limit;
	ah->av.traffic_class = attr->grh.traffic_class;
	ah->av.flow_label = htole32(attr->grh.flow_label);
	ah->av.sgid_index = htole16(attr->grh.sgid_index);
	ah->av.sl = attr->sl;
	ah->av.static_rate = attr->static_rate;
	return &ah->ibv_ah;
}

/* Return: 0 or a positive errno. */
static int mynic_put_kern_ah(struct mynic_context *ctx,
			     struct mynic_kern_ah *kern)
{
	struct mynic_kern_ah **link = &ctx->kern_ahs;
	int err = 0;

	pthread_mutex_lock(&ctx->ah_lock);
	if (kern->users == 1)
		err = ibv_cmd_destroy_ah(&kern->ibv_ah);
	if (!err && !--kern->users) {
		while (*link != kern)
			link = &(*link)->next;
		*link = kern->next;
		free(kern);
	}
	pthread_mutex_unlock(&ctx->ah_lock);
	return err;
}

int mynic_destroy_ah(struct ibv_ah *ibah)
{
	struct mynic_ah *ah = to_mah(ibah);
	int err;

	if (ah->kern)
		err = mynic_put_kern_ah(to_mctx(ibah->context), ah->kern);
	else
		err = ibv_cmd_destroy_ah(ibah);
	if (err)
		return err;
	free(ah);
	return 0;
}
