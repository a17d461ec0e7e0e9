// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a process has left when objects are gone, or were refused: no memory, no
 * mapping and no file more than before
 */
#include <dirent.h>
#include <malloc.h>

#include "world.h"

/* Until caches of malloc() and of the verbs library are full */
#define WARM_ROUNDS 16
#define ROUNDS 64

/* Kinds that are only made here */

static struct ibv_td *td_of_domain;

static void *make_parent_domain(struct world *w)
{
	struct ibv_parent_domain_init_attr init = { .pd = w->e.pd };

	td_of_domain = make_td(w);
	init.td = td_of_domain;
	return init.td ? ibv_alloc_parent_domain(w->e.ctx, &init) : NULL;
}

static int unmake_parent_domain(struct world *w, void *object)
{
	int err = unmake_pd(w, object);

	return err ? err : unmake_td(w, td_of_domain);
}

static void *rereg_access(struct world *w)
{
	return made(w, ibv_rereg_mr(w->e.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL,
				    NULL, 0, IBV_ACCESS_LOCAL_WRITE));
}

static void *make_changed_mr(struct world *w)
{
	struct ibv_mr *mr = make_mr(w);

	return mr && !ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL,
				   0, IBV_ACCESS_LOCAL_WRITE) ?
		       mr :
		       NULL;
}

static void *make_resized_cq(struct world *w)
{
	struct ibv_cq *cq = make_cq(w);

	return cq && !ibv_resize_cq(cq, 2000) ? cq : NULL;
}

static void *make_resized_srq(struct world *w)
{
	struct ibv_srq_attr attr = { .max_wr = 2000 };
	struct ibv_srq *srq = make_srq(w);

	return srq && !ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR) ? srq : NULL;
}

static void *make_mw_type_1(struct world *w)
{
	return ibv_alloc_mw(w->e.pd, IBV_MW_TYPE_1);
}

/* The first access may map it. */
static void *make_used_dm(struct world *w)
{
	struct ibv_dm *dm = make_dm(w);

	return dm && !ibv_memcpy_to_dm(dm, 0, w->e.buf, 64) ? dm : NULL;
}

static void *make_attached_counters(struct world *w)
{
	struct ibv_counter_attach_attr packets = {
		.counter_desc = IBV_COUNTER_PACKETS,
	};
	struct ibv_counters *counters = make_counters(w);

	return counters && !ibv_attach_counters_point_flow(counters, &packets,
							   NULL) ?
		       counters :
		       NULL;
}

static void *make_cq_ex(struct world *w)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16,
		.wc_flags = IBV_WC_STANDARD_FLAGS |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(w->e.ctx, &attr);

	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

static void *make_tags(struct world *w)
{
	return make_tm_srq(&w->e, 16, 16);
}

static void *make_uc(struct world *w)
{
	return make_qp(&w->e, IBV_QPT_UC);
}

static void *make_xrc_send(struct world *w)
{
	return make_qp(&w->e, IBV_QPT_XRC_SEND);
}

static void *make_xrc_recv(struct world *w)
{
	return make_tgt_in(&w->e, w->xrcd);
}

static void *make_qp_ex(struct world *w)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
		.pd = w->e.pd,
		.send_cq = w->e.cq,
		.recv_cq = w->e.cq,
		.cap = { .max_send_wr = 16, .max_send_sge = 1 },
	};

	return ibv_create_qp_ex(w->e.ctx, &attr);
}

static void *connect_and_write(struct world *w)
{
	return made(w, to_rts(&w->e, &w->e) ?: check_write(&w->e, &w->e, 4096));
}

/* Kinds that are refused, most of them by the kernel */

static void *refuse_mr(struct world *w)
{
	/* No page is mapped there */
	return ibv_reg_mr(w->e.pd, (void *)4096, 4096, IBV_ACCESS_LOCAL_WRITE);
}

static void *refuse_dm(struct world *w)
{
	return ibv_alloc_dm(
		w->e.ctx, &(struct ibv_alloc_dm_attr){ .length = UINT32_MAX });
}

static void *refuse_mw(struct world *w)
{
	return ibv_alloc_mw(w->e.pd, IBV_MW_TYPE_2 + 1);
}

static void *refuse_ah(struct world *w)
{
	struct ibv_ah_attr attr = rc_attr(&w->e, &w->e).ah_attr;

	attr.grh.sgid_index = 255;
	return ibv_create_ah(w->e.pd, &attr);
}

static void *refuse_cq(struct world *w)
{
	return ibv_create_cq(w->e.ctx, 16, NULL, NULL, 1000);
}

static void *refuse_tags(struct world *w)
{
	return make_tm_srq(&w->e, UINT32_MAX, 16);
}

static void *refuse_rc(struct world *w)
{
	/* More than a NIC has */
	struct ibv_qp_cap cap = { .max_send_wr = 1 << 24, .max_send_sge = 1 };

	return make_qp_with(&w->e, IBV_QPT_RC, NULL, cap);
}

static void *refuse_driver_qp(struct world *w)
{
	return make_qp(&w->e, IBV_QPT_DRIVER);
}

static void *refuse_flow(struct world *w)
{
	struct ibv_flow_attr attr = { .size = sizeof(attr), .port = 9 };

	return ibv_create_flow(w->raw.qp, &attr);
}

/*
 * struct held - what the process has
 * @memory: bytes from malloc()
 * @mapped: bytes of address space
 * @files: file descriptors
 */
struct held {
	size_t memory;
	size_t mapped;
	unsigned int files;
};

static size_t mapped(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long begin, end;
	size_t sum = 0;

	while (maps && fscanf(maps, "%lx-%lx%*[^\n]", &begin, &end) == 2)
		sum += end - begin;
	if (maps)
		fclose(maps);
	return sum;
}

static unsigned int files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static struct held held_now(void)
{
	struct held held = { .mapped = mapped(), .files = files() };

	held.memory = mallinfo2().uordblks;
	return held;
}

FIXTURE(leaks)
{
	struct world w;
};

/*
 * @make: makes an object, or changes one
 * @unmake: undoes it; NULL: there is nothing to undo
 * @refused: it cannot be made
 */
FIXTURE_VARIANT(leaks)
{
	void *(*make)(struct world *w);
	int (*unmake)(struct world *w, void *object);
	bool refused;
};

#define KINDS leaks
#include "kinds.h"

/* Kinds that only this test makes, or in another way */

FIXTURE_VARIANT_ADD(leaks, context){
	.make = make_context,
	.unmake = unmake_context,
};

FIXTURE_VARIANT_ADD(leaks, parent_domain){
	.make = make_parent_domain,
	.unmake = unmake_parent_domain,
};

FIXTURE_VARIANT_ADD(leaks, window_of_type_1){
	.make = make_mw_type_1,
	.unmake = unmake_mw,
};

FIXTURE_VARIANT_ADD(leaks, device_memory){
	.make = make_used_dm,
	.unmake = unmake_dm,
};

FIXTURE_VARIANT_ADD(leaks, address_handle){
	.make = make_ah,
	.unmake = unmake_ah,
};

FIXTURE_VARIANT_ADD(leaks, extended_cq){
	.make = make_cq_ex,
	.unmake = unmake_cq,
};

FIXTURE_VARIANT_ADD(leaks, tags){
	.make = make_tags,
	.unmake = unmake_srq,
};

FIXTURE_VARIANT_ADD(leaks, uc_qp){
	.make = make_uc,
	.unmake = unmake_qp,
};

FIXTURE_VARIANT_ADD(leaks, xrc_send_qp){
	.make = make_xrc_send,
	.unmake = unmake_qp,
};

FIXTURE_VARIANT_ADD(leaks, xrc_recv_qp){
	.make = make_xrc_recv,
	.unmake = unmake_qp,
};

FIXTURE_VARIANT_ADD(leaks, extended_qp){
	.make = make_qp_ex,
	.unmake = unmake_qp,
};

FIXTURE_VARIANT_ADD(leaks, table){
	.make = make_table,
	.unmake = unmake_table,
};

FIXTURE_VARIANT_ADD(leaks, counters){
	.make = make_attached_counters,
	.unmake = unmake_counters,
};

FIXTURE_VARIANT_ADD(leaks, rereg_access){
	.make = rereg_access,
};

FIXTURE_VARIANT_ADD(leaks, changed_region){
	.make = make_changed_mr,
	.unmake = unmake_mr,
};

FIXTURE_VARIANT_ADD(leaks, resized_cq){
	.make = make_resized_cq,
	.unmake = unmake_cq,
};

FIXTURE_VARIANT_ADD(leaks, resized_srq){
	.make = make_resized_srq,
	.unmake = unmake_srq,
};

FIXTURE_VARIANT_ADD(leaks, connection){
	.make = connect_and_write,
	.unmake = reset_qp,
};

FIXTURE_VARIANT_ADD(leaks, refused_region){
	.make = refuse_mr,
	.refused = true,
};

FIXTURE_VARIANT_ADD(leaks, refused_window){
	.make = refuse_mw,
	.refused = true,
};

FIXTURE_VARIANT_ADD(leaks, refused_device_memory){
	.make = refuse_dm,
	.refused = true,
};

FIXTURE_VARIANT_ADD(leaks, refused_address_handle){
	.make = refuse_ah,
	.refused = true,
};

FIXTURE_VARIANT_ADD(leaks, refused_cq){
	.make = refuse_cq,
	.refused = true,
};

FIXTURE_VARIANT_ADD(leaks, refused_tags){
	.make = refuse_tags,
	.refused = true,
};

FIXTURE_VARIANT_ADD(leaks, refused_rc_qp){
	.make = refuse_rc,
	.refused = true,
};

FIXTURE_VARIANT_ADD(leaks, refused_driver_qp){
	.make = refuse_driver_qp,
	.refused = true,
};

FIXTURE_VARIANT_ADD(leaks, refused_flow_rule){
	.make = refuse_flow,
	.refused = true,
};

FIXTURE_SETUP(leaks)
{
	ASSERT_TRUE(make_world(&self->w));
}

FIXTURE_TEARDOWN(leaks)
{
	EXPECT_EQ(free_world(&self->w), 0);
}

static bool make_and_unmake(const FIXTURE_VARIANT(leaks) * variant,
			    struct world *w, unsigned int rounds)
{
	for (unsigned int i = 0; i < rounds; i++) {
		void *object = variant->make(w);

		if (variant->refused ? !!object : !object)
			return false;
		if (variant->unmake && variant->unmake(w, object))
			return false;
	}
	return true;
}

TEST_F(leaks, none)
{
	struct held before, after;

	ASSERT_TRUE(make_and_unmake(variant, &self->w, WARM_ROUNDS));
	before = held_now();
	/* Otherwise nothing could grow. */
	ASSERT_TRUE(before.memory && before.mapped && before.files);
	ASSERT_TRUE(make_and_unmake(variant, &self->w, ROUNDS));
	after = held_now();
	EXPECT_EQ(before.memory, after.memory);
	EXPECT_EQ(before.mapped, after.mapped);
	EXPECT_EQ(before.files, after.files);
}

TEST_HARNESS_MAIN
