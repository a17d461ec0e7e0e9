// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Interrupt moderation of the network interface. The device delays the events of
 * a CQ. How long is what ethtool(8) says or, if that is adaptive, what the
 * kernel's DIM finds best for the traffic.
 */
#include "cmd.h"
#include "netdev.h"

static int mynic_moder_set(struct mynic_moder *moder, u32 usecs, u32 frames)
{
	/* Without a limit of frames, only the time counts. */
	u16 count = frames ? frames : U16_MAX;

	return mynic_cmd_modify_cq(moder->mdev, moder->cq->cqn,
				   usecs ? count : 0, usecs);
}

/* Apply what the kernel has found best. */
static int mynic_moder_adapt(struct mynic_moder *moder)
{
	const struct dim *dim = &moder->dim;
	struct dim_cq_moder best;

	best = moder->rx ?
		       net_dim_get_rx_moderation(dim->mode, dim->profile_ix) :
		       net_dim_get_tx_moderation(dim->mode, dim->profile_ix);
	return mynic_moder_set(moder, best.usec, best.pkts);
}

static void mynic_moder_work(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);

	/* It fails only if the device does, which is told elsewhere. */
	mynic_moder_adapt(container_of(dim, struct mynic_moder, dim));
	dim->state = DIM_START_MEASURE;
}

void mynic_moder_init(struct mynic_moder *moder, struct mynic_dev *mdev,
		      struct mynic_cq *cq, bool rx)
{
	moder->mdev = mdev;
	moder->cq = cq;
	moder->rx = rx;
	moder->setting.adaptive = true;
	moder->dim.mode = DIM_CQ_PERIOD_MODE_START_FROM_EQE;
	INIT_WORK(&moder->dim.work, mynic_moder_work);
	disable_work(&moder->dim.work);
}

/* Nothing is measured meanwhile. */
static int mynic_moder_apply(struct mynic_moder *moder,
			     const struct mynic_moder_setting *setting)
{
	moder->dim.state = DIM_START_MEASURE;
	moder->dim.profile_ix = 0;
	return setting->adaptive ?
		       mynic_moder_adapt(moder) :
		       mynic_moder_set(moder, setting->usecs, setting->frames);
}

/* Apply the settings to a new CQ. NAPI is disabled. */
int mynic_moder_start(struct mynic_moder *moder)
{
	int ret = mynic_moder_apply(moder, &moder->setting);

	if (!ret)
		enable_work(&moder->dim.work);
	return ret;
}

/* Balances mynic_moder_start(). NAPI is disabled. */
void mynic_moder_stop(struct mynic_moder *moder)
{
	disable_work_sync(&moder->dim.work);
}

/* Called by NAPI for all that it polls. */
void mynic_moder_count(struct mynic_moder *moder,
		       const struct mynic_polled *polled)
{
	moder->frames += polled->num;
	moder->bytes += polled->bytes;
}

/* Called by NAPI once for each interrupt, when it has polled all. */
void mynic_moder_sample(struct mynic_moder *moder)
{
	struct dim_sample sample = {};

	moder->events++;
	if (!READ_ONCE(moder->setting.adaptive))
		return;
	dim_update_sample(moder->events, moder->frames, moder->bytes, &sample);
	net_dim(&moder->dim, &sample);
}

/* Change the settings. The RTNL is held. */
int mynic_moder_change(struct mynic_moder *moder, bool running,
		       const struct mynic_moder_setting *setting)
{
	struct mynic_moder_setting old = moder->setting;
	int ret = 0;

	if (running) {
		WRITE_ONCE(moder->setting.adaptive, false);
		/* NAPI may have seen the old value. */
		synchronize_net();
		cancel_work_sync(&moder->dim.work);
		ret = mynic_moder_apply(moder, setting);
	}
	moder->setting = ret ? old : *setting;
	return ret;
}

/* Go back to these settings; if the device refuses, once its CQ is made anew. */
void mynic_moder_undo(struct mynic_moder *moder, bool running,
		      const struct mynic_moder_setting *setting)
{
	mynic_moder_change(moder, running, setting);
	moder->setting = *setting;
}
