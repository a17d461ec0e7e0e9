// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The admin queue: commands to the device, several at a time. A command that
 * is not answered means that the device is dead.
 */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/sched/clock.h>

#include "mynic.h"

/* A device that stops to answer is noticed within this time */
#define MYNIC_ADMIN_POLL HZ
/* Seconds; a machine without virtualisation hardware may be very slow */
#define MYNIC_ADMIN_TIMEOUT 30
/*
 * The device answers most commands within 10 to 30 us, and within 100 us if it
 * and its memory are cold; but until a sleeper has been woken up by its interrupt
 * takes longer than this, most of all where processors are emulated. If there is
 * no answer by then, what runs the device waits perhaps for this processor.
 */
#define MYNIC_ADMIN_SPIN_NS (150 * NSEC_PER_USEC)

/**
 * mynic_admin_init() - set up the rings, and tell the device where they are
 * @mdev: device, reset and READY
 *
 * Return: 0 or -ENOMEM.
 */
int mynic_admin_init(struct mynic_dev *mdev)
{
	struct mynic_admin *admin = &mdev->admin;
	struct device *dev = &mdev->pdev->dev;
	unsigned int i;

	memset(admin, 0, sizeof(*admin));
	sema_init(&admin->free, MYNIC_AQ_SIZE);
	spin_lock_init(&admin->lock);
	for (i = 0; i < MYNIC_AQ_SIZE; i++)
		init_completion(&admin->slots[i].done);

	admin->cmds = dma_alloc_coherent(dev,
					 MYNIC_AQ_SIZE * sizeof(*admin->cmds),
					 &admin->cmds_dma, GFP_KERNEL);
	if (!admin->cmds)
		return -ENOMEM;
	admin->cpls = dma_alloc_coherent(dev,
					 MYNIC_AQ_SIZE * sizeof(*admin->cpls),
					 &admin->cpls_dma, GFP_KERNEL);
	if (!admin->cpls)
		goto err_cmds;
	admin->mboxes = dma_alloc_coherent(dev, MYNIC_AQ_SIZE * MYNIC_MBOX_SIZE,
					   &admin->mboxes_dma, GFP_KERNEL);
	if (!admin->mboxes)
		goto err_cpls;

	writel(lower_32_bits(admin->cmds_dma),
	       mdev->regs + MYNIC_REG_AQ_CMD_LO);
	writel(upper_32_bits(admin->cmds_dma),
	       mdev->regs + MYNIC_REG_AQ_CMD_HI);
	writel(lower_32_bits(admin->cpls_dma),
	       mdev->regs + MYNIC_REG_AQ_CPL_LO);
	writel(upper_32_bits(admin->cpls_dma),
	       mdev->regs + MYNIC_REG_AQ_CPL_HI);
	writel(MYNIC_AQ_LOG_SIZE, mdev->regs + MYNIC_REG_AQ_LOG_SIZE);
	return 0;

err_cpls:
	dma_free_coherent(dev, MYNIC_AQ_SIZE * sizeof(*admin->cpls),
			  admin->cpls, admin->cpls_dma);
err_cmds:
	dma_free_coherent(dev, MYNIC_AQ_SIZE * sizeof(*admin->cmds),
			  admin->cmds, admin->cmds_dma);
	return -ENOMEM;
}

/**
 * mynic_admin_fini() - free the rings
 * @mdev: device, which no longer uses them; no command is under way
 */
void mynic_admin_fini(struct mynic_dev *mdev)
{
	struct mynic_admin *admin = &mdev->admin;
	struct device *dev = &mdev->pdev->dev;

	dma_free_coherent(dev, MYNIC_AQ_SIZE * MYNIC_MBOX_SIZE, admin->mboxes,
			  admin->mboxes_dma);
	dma_free_coherent(dev, MYNIC_AQ_SIZE * sizeof(*admin->cpls),
			  admin->cpls, admin->cpls_dma);
	dma_free_coherent(dev, MYNIC_AQ_SIZE * sizeof(*admin->cmds),
			  admin->cmds, admin->cmds_dma);
}

/* Only called with a count of admin->free, so that there is a free slot */
static unsigned int mynic_admin_take_slot(struct mynic_admin *admin)
{
	unsigned int id = 0;

	lockdep_assert_held(&admin->lock);
	while (admin->slots[id].busy)
		id++;
	admin->slots[id].busy = true;
	admin->slots[id].completed = false;
	admin->slots[id].asleep = false;
	reinit_completion(&admin->slots[id].done);
	return id;
}

/* Without the lock this is no more than a hint, as others may take them */
static bool mynic_admin_pending(const struct mynic_admin *admin)
{
	u32 ci = READ_ONCE(admin->ci);

	return (READ_ONCE(admin->cpls[ci % MYNIC_AQ_SIZE].phase) & 1) ==
	       mynic_phase(ci, MYNIC_AQ_LOG_SIZE);
}

/* Take the completions that the device has written, whosever they are */
static void mynic_admin_take(struct mynic_dev *mdev)
{
	struct mynic_admin *admin = &mdev->admin;
	struct mynic_admin_slot *slot;
	struct mynic_admin_cpl cpl;
	bool broken = false;
	unsigned long flags;
	unsigned int n;
	u16 id;

	spin_lock_irqsave(&admin->lock, flags);
	for (n = 0; n < MYNIC_AQ_SIZE && mynic_admin_pending(admin); n++) {
		dma_rmb();
		/* What is checked must not change until it is kept. */
		cpl = admin->cpls[admin->ci % MYNIC_AQ_SIZE];
		barrier();
		WRITE_ONCE(admin->ci, admin->ci + 1);
		id = le16_to_cpu(cpl.id);
		slot = id < MYNIC_AQ_SIZE ? &admin->slots[id] : NULL;
		if (!slot || !slot->busy || slot->completed) {
			broken = true;
			break;
		}
		slot->cpl = cpl;
		slot->completed = true;
		admin->sleepers -= slot->asleep;
		complete(&slot->done);
	}
	spin_unlock_irqrestore(&admin->lock, flags);
	if (broken)
		mynic_die(mdev, "it completed a command that it was not given");
}

/*
 * Look for the completion for a short while. The clock is one that costs no
 * access to a device, and the lock, behind which interrupts are off, is taken
 * only when there is something.
 */
static bool mynic_admin_spin(struct mynic_dev *mdev,
			     struct mynic_admin_slot *slot)
{
	u64 end = local_clock() + MYNIC_ADMIN_SPIN_NS;

	do {
		if (mynic_admin_pending(&mdev->admin))
			mynic_admin_take(mdev);
		/* Or somebody else took it, or the device died */
		if (completion_done(&slot->done))
			return true;
		cpu_relax();
	} while (!need_resched() && local_clock() < end);
	return false;
}

/* Ask for one interrupt, as soon as there is a completion not yet taken */
static void mynic_admin_arm(struct mynic_dev *mdev)
{
	struct mynic_admin *admin = &mdev->admin;

	lockdep_assert_held(&admin->lock);
	admin->armed = true;
	admin->arm = admin->ci;
	writel(admin->arm, mdev->regs + MYNIC_REG_AQ_ARM);
}

/* From now on there will be an interrupt behind the completion */
static void mynic_admin_fall_asleep(struct mynic_dev *mdev,
				    struct mynic_admin_slot *slot)
{
	struct mynic_admin *admin = &mdev->admin;
	unsigned long flags;

	spin_lock_irqsave(&admin->lock, flags);
	if (!slot->completed && !mynic_dead(mdev)) {
		slot->asleep = true;
		admin->sleepers++;
		if (!admin->armed)
			mynic_admin_arm(mdev);
	}
	spin_unlock_irqrestore(&admin->lock, flags);
}

static void mynic_admin_wait(struct mynic_dev *mdev,
			     struct mynic_admin_slot *slot)
{
	unsigned int i;

	mynic_admin_fall_asleep(mdev, slot);
	for (i = 0; i < MYNIC_ADMIN_TIMEOUT; i++) {
		if (wait_for_completion_timeout(&slot->done, MYNIC_ADMIN_POLL))
			return;
		mynic_check_status(mdev);
	}
	mynic_die(mdev, "it does not answer a command");
}

/**
 * mynic_admin_exec() - execute a command
 * @mdev: device
 * @cmd: command; id and mailbox are filled in here
 * @in: what to put into the mailbox, or NULL
 * @out: where to put what the device wrote into the mailbox, or NULL
 * @len: bytes of @in or @out, at most MYNIC_MBOX_SIZE
 * @cpl: where to put the completion
 *
 * Context: may sleep, for as long as it takes to declare a device dead.
 * Return: 0 when there is a completion, whatever its status; -EIO if the
 * device is dead.
 */
int mynic_admin_exec(struct mynic_dev *mdev, struct mynic_admin_cmd *cmd,
		     const void *in, void *out, size_t len,
		     struct mynic_admin_cpl *cpl)
{
	struct mynic_admin *admin = &mdev->admin;
	struct mynic_admin_slot *slot;
	unsigned long flags;
	unsigned int id;
	int ret = -EIO;
	u8 *mbox;

	might_sleep();
	down(&admin->free);

	spin_lock_irqsave(&admin->lock, flags);
	if (mynic_dead(mdev)) {
		spin_unlock_irqrestore(&admin->lock, flags);
		up(&admin->free);
		return -EIO;
	}
	id = mynic_admin_take_slot(admin);
	slot = &admin->slots[id];
	mbox = admin->mboxes + id * MYNIC_MBOX_SIZE;

	cmd->id = cpu_to_le16(id);
	if (len) {
		cmd->mbox_addr =
			cpu_to_le64(admin->mboxes_dma + id * MYNIC_MBOX_SIZE);
		cmd->mbox_len = cpu_to_le32(len);
		if (in)
			memcpy(mbox, in, len);
		else
			memset(mbox, 0, len);
	}
	admin->cmds[admin->pi++ % MYNIC_AQ_SIZE] = *cmd;
	writel(admin->pi, mdev->regs + MYNIC_REG_AQ_DOORBELL);
	spin_unlock_irqrestore(&admin->lock, flags);

	if (!mynic_admin_spin(mdev, slot))
		mynic_admin_wait(mdev, slot);

	spin_lock_irqsave(&admin->lock, flags);
	if (slot->completed) {
		*cpl = slot->cpl;
		if (out)
			memcpy(out, mbox, len);
		ret = 0;
	}
	slot->busy = false;
	spin_unlock_irqrestore(&admin->lock, flags);
	up(&admin->free);
	return ret;
}

/**
 * mynic_admin_irq() - handle the interrupt of admin completions
 * @mdev: device
 *
 * Who looks for a completion may have taken those of others, who asked for this
 * interrupt, and the device may have written none of theirs yet: as long as
 * somebody sleeps, it is asked for the next one.
 *
 * Context: interrupt handler of vector 0.
 * Return: whether there were completions since an interrupt was asked for, so
 * that the device had a reason for this one.
 */
bool mynic_admin_irq(struct mynic_dev *mdev)
{
	struct mynic_admin *admin = &mdev->admin;
	unsigned long flags;
	bool asked;

	mynic_admin_take(mdev);
	spin_lock_irqsave(&admin->lock, flags);
	asked = admin->armed && admin->ci != admin->arm;
	admin->armed = false;
	if (admin->sleepers && !mynic_dead(mdev))
		mynic_admin_arm(mdev);
	spin_unlock_irqrestore(&admin->lock, flags);
	return asked;
}

/**
 * mynic_admin_abort() - end all commands under way with an error
 * @mdev: device, already marked dead
 *
 * Context: any.
 */
void mynic_admin_abort(struct mynic_dev *mdev)
{
	struct mynic_admin *admin = &mdev->admin;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&admin->lock, flags);
	for (i = 0; i < MYNIC_AQ_SIZE; i++)
		if (admin->slots[i].busy)
			complete(&admin->slots[i].done);
	spin_unlock_irqrestore(&admin->lock, flags);
}
