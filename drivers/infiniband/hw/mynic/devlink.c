// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * devlink health: reports why the device is dead, and lets administrators
 * control its recovery.
 */
#include <net/devlink.h>

#include "mynic.h"

/**
 * struct mynic_devlink - private part of the devlink instance
 * @mdev: device
 * @fatal: reporter of fatal errors, found by the device or the driver
 * @hang: reporter of commands without an answer
 * @last: the last failure; protected by the instance's lock
 * @ill: reporter of a failure that has not been recovered, or NULL; likewise
 */
struct mynic_devlink {
	struct mynic_dev *mdev;
	struct devlink_health_reporter *fatal;
	struct devlink_health_reporter *hang;
	struct mynic_failure last;
	struct devlink_health_reporter *ill;
};

static const struct devlink_ops mynic_devlink_ops = {};

/*
 * devlink's own calls cannot report an error. For them the driver recovers in
 * the background, and reports when it has succeeded.
 */
static int mynic_reporter_recover(struct devlink_health_reporter *reporter,
				  void *ctx, struct netlink_ext_ack *extack)
{
	struct mynic_devlink *md = devlink_health_reporter_priv(reporter);
	int ret;

	if (!extack) {
		mynic_recover_soon(md->mdev);
		return -EINPROGRESS;
	}
	ret = mynic_recover(md->mdev);
	if (!ret)
		md->ill = NULL;
	if (ret == -EAGAIN) {
		mynic_recover_soon(md->mdev);
		NL_SET_ERR_MSG(
			extack,
			"The device does not recover; it is tried again");
	}
	return ret;
}

static void mynic_fmsg_failure(struct devlink_fmsg *fmsg,
			       const struct mynic_failure *failure)
{
	devlink_fmsg_string_pair_put(fmsg, "cause", failure->why);
	devlink_fmsg_bool_pair_put(fmsg, "hung", failure->hung);
	devlink_fmsg_u32_pair_put(fmsg, "FATAL", failure->fatal);
	devlink_fmsg_string_pair_put(fmsg, "FATAL meaning",
				     mynic_fatal_name(failure->fatal));
}

static int mynic_reporter_dump(struct devlink_health_reporter *reporter,
			       struct devlink_fmsg *fmsg, void *ctx,
			       struct netlink_ext_ack *extack)
{
	struct mynic_devlink *md = devlink_health_reporter_priv(reporter);

	mynic_fmsg_failure(fmsg, ctx ?: &md->last);
	return 0;
}

static int mynic_reporter_diagnose(struct devlink_health_reporter *reporter,
				   struct devlink_fmsg *fmsg,
				   struct netlink_ext_ack *extack)
{
	struct mynic_devlink *md = devlink_health_reporter_priv(reporter);

	devlink_fmsg_bool_pair_put(fmsg, "alive", !mynic_dead(md->mdev));
	if (md->last.why[0])
		mynic_fmsg_failure(fmsg, &md->last);
	return 0;
}

static int mynic_reporter_test(struct devlink_health_reporter *reporter,
			       struct netlink_ext_ack *extack)
{
	struct mynic_devlink *md = devlink_health_reporter_priv(reporter);

	if (mynic_dead(md->mdev))
		return -ENODEV;
	mynic_admin_provoke(md->mdev, reporter == md->hang);
	return 0;
}

static const struct devlink_health_reporter_ops mynic_fatal_ops = {
	.name = "fatal",
	.recover = mynic_reporter_recover,
	.dump = mynic_reporter_dump,
	.diagnose = mynic_reporter_diagnose,
	.test = mynic_reporter_test,
};

static const struct devlink_health_reporter_ops mynic_hang_ops = {
	.name = "hang",
	.recover = mynic_reporter_recover,
	.dump = mynic_reporter_dump,
	.diagnose = mynic_reporter_diagnose,
	.test = mynic_reporter_test,
};

static void mynic_devlink_healthy(struct mynic_devlink *md)
{
	const enum devlink_health_reporter_state healthy =
		DEVLINK_HEALTH_REPORTER_STATE_HEALTHY;

	devlink_health_reporter_state_update(md->fatal, healthy);
	devlink_health_reporter_state_update(md->hang, healthy);
}

void mynic_devlink_recovered(struct mynic_dev *mdev)
{
	struct mynic_devlink *md = devlink_priv(mdev->devlink);

	devl_lock(mdev->devlink);
	/* If it has failed again, that failure is reported separately. */
	if (READ_ONCE(mdev->state) == MYNIC_UP) {
		if (md->ill) {
			devlink_health_reporter_recovery_done(md->ill);
			dev_info(&mdev->pdev->dev, "device works again\n");
			md->ill = NULL;
		}
		mynic_devlink_healthy(md);
	}
	devl_unlock(mdev->devlink);
}

/*
 * Report that a device is dead. Recovery begins here, unless the administrator
 * has disabled automatic recovery.
 */
void mynic_devlink_report(struct mynic_dev *mdev, struct mynic_failure *failure)
{
	struct mynic_devlink *md = devlink_priv(mdev->devlink);
	struct devlink_health_reporter *ill;

	ill = failure->hung ? md->hang : md->fatal;
	devl_lock(mdev->devlink);
	/*
	 * The device has been up since the last failure, but that may not have
	 * been reported.
	 */
	mynic_devlink_healthy(md);
	md->last = *failure;
	md->ill = ill;
	devl_unlock(mdev->devlink);
	devlink_health_report(ill, failure->why, failure);
	/* Somebody may have brought the device up before that. */
	mynic_devlink_recovered(mdev);
}

int mynic_devlink_alloc(struct mynic_dev *mdev)
{
	struct mynic_devlink *md;
	struct devlink *devlink;
	int ret;

	devlink = devlink_alloc(&mynic_devlink_ops, sizeof(*md),
				&mdev->pdev->dev);
	if (!devlink)
		return -ENOMEM;
	md = devlink_priv(devlink);
	md->mdev = mdev;
	md->fatal =
		devlink_health_reporter_create(devlink, &mynic_fatal_ops, md);
	if (IS_ERR(md->fatal)) {
		ret = PTR_ERR(md->fatal);
		goto err_free;
	}
	md->hang = devlink_health_reporter_create(devlink, &mynic_hang_ops, md);
	if (IS_ERR(md->hang)) {
		ret = PTR_ERR(md->hang);
		goto err_fatal;
	}
	mdev->devlink = devlink;
	return 0;

err_fatal:
	devlink_health_reporter_destroy(md->fatal);
err_free:
	devlink_free(devlink);
	return ret;
}

/* Nothing is reported any more. */
void mynic_devlink_free(struct mynic_dev *mdev)
{
	struct mynic_devlink *md = devlink_priv(mdev->devlink);

	devlink_health_reporter_destroy(md->hang);
	devlink_health_reporter_destroy(md->fatal);
	devlink_free(mdev->devlink);
}
