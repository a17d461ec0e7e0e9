// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The device clock, and its conversion to the time of day. */
#include <config.h>

#include <errno.h>
#include <sys/mman.h>

#include <util/mmio.h>

#include "mynic.h"

void mynic_clock_init(struct mynic_context *ctx,
		      const struct mynic_alloc_ucontext_resp *resp)
{
	pthread_mutex_init(&ctx->clock_lock, NULL);
	ctx->clock_mmap_key = resp->clock_mmap_key;
	ctx->clock_mmap_size = resp->clock_mmap_size;
}

void mynic_clock_fini(struct mynic_context *ctx)
{
	if (ctx->clock)
		munmap((void *)ctx->clock, ctx->clock_mmap_size);
	pthread_mutex_destroy(&ctx->clock_lock);
}

/*
 * The kernel compares the clocks only while a process maps the page. So map it
 * only when it is needed. Return: 0, EOPNOTSUPP without a clock page, or
 * another positive errno.
 */
int mynic_clock_open(struct mynic_context *ctx)
{
	void *page;
	int err = 0;

	if (!ctx->clock_mmap_size) {
		verbs_debug(&ctx->ibv_ctx, "the clock has no frequency\n");
		return EOPNOTSUPP;
	}
	pthread_mutex_lock(&ctx->clock_lock);
	if (!ctx->clock) {
		page = mmap(NULL, ctx->clock_mmap_size, PROT_READ, MAP_SHARED,
			    ctx->ibv_ctx.context.cmd_fd, ctx->clock_mmap_key);
		if (page == MAP_FAILED)
			err = errno;
		else
			ctx->clock = page;
	}
	pthread_mutex_unlock(&ctx->clock_lock);
	return err;
}

static uint32_t mynic_clock_seq(const struct mynic_clock_info *info)
{
	return atomic_load_explicit((_Atomic(uint32_t) *)&info->seq,
				    memory_order_acquire);
}

/*
 * Return nanoseconds of CLOCK_REALTIME. mynic_clock_open() has succeeded
 * before.
 */
uint64_t mynic_clock_to_ns(const struct mynic_context *ctx, uint64_t cycles)
{
	const struct mynic_clock_info *info = ctx->clock;
	uint32_t first, mult, shift;
	uint64_t nsec, start;

	do {
		first = mynic_clock_seq(info);
		nsec = info->nsec;
		start = info->cycles;
		mult = info->mult;
		shift = info->shift;
		atomic_thread_fence(memory_order_acquire);
	} while (first & 1 || first != mynic_clock_seq(info));

	if ((int64_t)(cycles - start) < 0)
		return nsec - ((start - cycles) * mult >> shift);
	return nsec + ((cycles - start) * mult >> shift);
}

/*
 * The clock must be read with one load of 8 bytes. mynic_new_context() checks
 * that the processor has it.
 */
static uint64_t mynic_clock_read(const struct mynic_context *ctx)
{
#if SIZEOF_LONG == 8
	return le64toh(mmio_read64_le(ctx->uar + MYNIC_UAR_CLOCK));
#else
	return 0;
#endif
}

/* Return: 0, EINVAL for unknown values, or EIO if the device is gone. */
int mynic_query_rt_values(struct ibv_context *context,
			  struct ibv_values_ex *values)
{
	uint64_t cycles;

	if (!check_comp_mask(values->comp_mask, IBV_VALUES_MASK_RAW_CLOCK)) {
		verbs_debug(verbs_get_ctx(context), "values: comp_mask 0x%x\n",
			    values->comp_mask);
		return EINVAL;
	}
	if (!(values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK))
		return 0;
	cycles = mynic_clock_read(to_mctx(context));
	if (!cycles || cycles == UINT64_MAX)
		return EIO;
	/*
	 * The raw clock counts in units of the device, so tv_nsec is no time.
	 */
	values->raw_clock.tv_sec = 0;
	values->raw_clock.tv_nsec = cycles;
	return 0;
}
